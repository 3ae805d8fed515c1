//! Every instruction has the same value in the interpreter of the IR and as a constant, for all sizes of components.

use smallvec::SmallVec;
use spirv::{FPRoundingMode, Op};
use tgsi_arithmetic::fold::{Folder, Known};
use tgsi_arithmetic::{Operand, Sink};
use tgsi_ir::Def;
use tgsi_ir::types::ScalarType;

use super::pair::{Pair, check};
use super::{SCALARS, instructions, of_arithmetic};
use crate::alu::{Fault, Form, Term, Terms, arithmetic, compute};

/// The number of results of one instruction on vectors with types.
fn agree(pair: &mut Pair<'_>, form: &Form, types: &[(ScalarType, u8)]) -> Result<(), Fault> {
    let values: SmallVec<[(Def, Known); 4]> =
        types.iter().map(|&(scalar, count)| pair.vector(of_arithmetic(scalar), count)).collect();
    let known: Terms<Known> =
        values.iter().zip(types).map(|(value, &(scalar, _))| Term { value: value.1, scalar }).collect();
    let known = compute(&mut Folder, form, &known)?;
    let emitted: Terms<Def> =
        values.iter().zip(types).map(|(value, &(scalar, _))| Term { value: value.0, scalar }).collect();
    let emitted = compute(&mut pair.builder, form, &emitted)?;
    pair.compare(&format!("{form:?} {types:?}"), &Operand::Vector(emitted), &Operand::Vector(known));
    Ok(())
}

/// The types of operands with which an instruction may have a result.
fn operand_types(op: Op, scalar: ScalarType, count: u8) -> Vec<Vec<(ScalarType, u8)>> {
    let n = super::super::num_operands(op).unwrap();
    let all_alike = SCALARS.iter().flat_map(|&scalar| (1..=4).map(move |count| vec![(scalar, count); n]));
    let mut types: Vec<Vec<(ScalarType, u8)>> = all_alike.collect();
    let (same, word) = ((scalar, count), (ScalarType::Uint, 1));
    match op {
        Op::VectorTimesScalar => types.push(vec![same, (scalar, 1)]),
        Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic => {
            types.extend([ScalarType::Int8, ScalarType::Uint64, ScalarType::Int].map(|size| vec![same, (size, count)]));
        }
        Op::BitFieldInsert => types.push(vec![same, same, word, (ScalarType::Int16, 1)]),
        Op::BitFieldSExtract | Op::BitFieldUExtract => types.push(vec![same, word, (ScalarType::Int64, 1)]),
        Op::Select => {
            types.push(vec![(ScalarType::Bool, 1), same, same]);
            types.push(vec![(ScalarType::Bool, count), same, same]);
        }
        Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat => {
            for factor in [ScalarType::Int8, ScalarType::Uint16, ScalarType::Uint] {
                types.extend((1..=4).map(|count| vec![(factor, count), (factor, count), (scalar, 1)]));
            }
        }
        _ => {}
    }
    types
}

#[test]
fn constants_have_the_values_of_the_shader() {
    let mut seed = 0;
    for (op, _) in instructions() {
        let mut results = 0;
        for scalar in SCALARS {
            for count in 1..=4 {
                seed += 1;
                check(seed, |pair| {
                    let form = Form { packing: Some(0), ..Form::new(op, scalar, count) };
                    for types in operand_types(op, scalar, count) {
                        for _ in 0..4 {
                            results += usize::from(agree(pair, &form, &types).is_ok());
                        }
                    }
                });
            }
        }
        assert!(results > 0, "{op:?}");
    }
}

#[test]
fn decorated_conversions_have_the_values_of_the_shader() {
    let mut results = 0;
    for (seed, op) in (0..).zip([Op::ConvertFToU, Op::ConvertFToS, Op::UConvert, Op::SConvert, Op::FConvert]) {
        check(seed, |pair| {
            for (from, to) in SCALARS.iter().flat_map(|&from| SCALARS.map(|to| (from, to))) {
                for rounding in [None, Some(FPRoundingMode::RTE), Some(FPRoundingMode::RTZ)] {
                    let form = Form { rounding, saturates: true, ..Form::new(op, to, 2) };
                    for _ in 0..8 {
                        results += usize::from(agree(pair, &form, &[(from, 2)]).is_ok());
                    }
                }
            }
        });
    }
    assert!(results > 1000, "{results}");
}

#[test]
fn both_results_have_the_values_of_the_shader() {
    for (seed, op) in (0..).zip([Op::IAddCarry, Op::ISubBorrow, Op::UMulExtended, Op::SMulExtended]) {
        check(seed, |pair| {
            for scalar in SCALARS.into_iter().filter(|&scalar| super::super::is_integer(scalar)) {
                for count in 1..=4 {
                    let (a, b) = (pair.vector(of_arithmetic(scalar), count), pair.vector(of_arithmetic(scalar), count));
                    let terms = [a.0, b.0].map(|value| Term { value, scalar });
                    let emitted = arithmetic::two_results(&mut pair.builder, op, &terms).unwrap();
                    let terms = [a.1, b.1].map(|value| Term { value, scalar });
                    let known = arithmetic::two_results(&mut Folder, op, &terms).unwrap();
                    for (emitted, known) in emitted.into_iter().zip(known) {
                        assert_eq!(Folder.components(known), count);
                        pair.compare(&format!("{op:?}"), &Operand::Vector(emitted), &Operand::Vector(known));
                    }
                }
            }
        });
    }
}
