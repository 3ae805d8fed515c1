//! Operands of all types, whether they fit or not, give valid code or errors.

use spirv::{FPRoundingMode, Op};
use tgsi_environment::Random;
use tgsi_ir::Def;
use tgsi_ir::types::ScalarType;

use super::pair::{Pair, check};
use super::{SCALARS, instructions, of_arithmetic};
use crate::alu::{Form, Term, Terms, arithmetic, compute};

/// A type: often one of two, so that some operands fit.
pub(crate) fn any_type(random: &mut Random, usual: &[(ScalarType, u8)]) -> (ScalarType, u8) {
    let mut below = |count: usize| (random.bits() % count as u64) as usize;
    match usual.get(below(usual.len() * 2 + 1)) {
        Some(&ty) => ty,
        None => (SCALARS[below(SCALARS.len())], below(4) as u8 + 1),
    }
}

/// A term of each type.
pub(crate) fn terms(pair: &mut Pair<'_>, types: &[(ScalarType, u8)]) -> Terms<Def> {
    let term =
        |&(scalar, count): &(ScalarType, u8)| Term { value: pair.vector(of_arithmetic(scalar), count).0, scalar };
    types.iter().map(term).collect()
}

#[test]
fn operands_of_any_type_give_valid_code() {
    let mut random = Random::new(7);
    for (op, count) in instructions() {
        check(random.bits(), |pair| {
            for _ in 0..400 {
                let usual = [any_type(&mut random, &[]), any_type(&mut random, &[])];
                let (scalar, components) = any_type(&mut random, &usual);
                let types: Vec<(ScalarType, u8)> = (0..count).map(|_| any_type(&mut random, &usual)).collect();
                let operands = terms(pair, &types);
                let form = Form {
                    packing: [None, Some(0), Some(1)][random.bits() as usize % 3],
                    saturates: random.bits() & 1 != 0,
                    rounding: FPRoundingMode::from_u32(random.bits() as u32 % 8),
                    ..Form::new(op, scalar, components)
                };
                let _ = compute(&mut pair.builder, &form, &operands);
            }
        });
    }
}

#[test]
fn results_in_structs_are_valid_code() {
    let mut random = Random::new(8);
    for op in [Op::IAddCarry, Op::ISubBorrow, Op::UMulExtended, Op::SMulExtended] {
        check(random.bits(), |pair| {
            for _ in 0..400 {
                let usual = [any_type(&mut random, &[])];
                let types = [any_type(&mut random, &usual), any_type(&mut random, &usual)];
                let operands = terms(pair, &types);
                let _ = arithmetic::two_results(&mut pair.builder, op, &operands);
            }
        });
    }
}
