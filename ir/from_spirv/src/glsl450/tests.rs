//! Values, agreement of both sinks, and operands of all types.

use spirv::GlslStd450Op as G;
use tgsi_arithmetic::fold::{Folder, Known};
use tgsi_arithmetic::{Operand, Sink};
use tgsi_environment::Random;
use tgsi_ir::Def;
use tgsi_ir::types::ScalarType;

use super::num_operands;
use super::values::{compute, parts, trinary};
use crate::alu::tests::misfits::{any_type, terms};
use crate::alu::tests::pair::{Pair, check};
use crate::alu::tests::rows::rows;
use crate::alu::tests::{SCALARS, of_arithmetic};
use crate::alu::{Fault, Term, Terms};

const VALUES: &str = "
    Round f32: f32 1.5 2.5 -0.4 = 2 2 -0
    RoundEven f64: f64 1.5 2.5 = 2 2
    Trunc f32: f32 1.9 -1.9 = 1 -1
    FAbs f16: f16 -1.5 = 1.5
    SAbs i32: i32 -5 5 0x80000000 = 5 5 0x80000000
    FSign f32: f32 -5 0 7 = -1 0 1
    SSign i16: i16 -5 0 7 = -1 0 1
    Floor f32: f32 1.9 -1.1 = 1 -2
    Ceil f32: f32 1.1 -1.9 = 2 -1
    Fract f32: f32 1.25 -1.25 = 0.25 0.75
    Radians f32: f32 180 ~ 3.14159
    Degrees f32: f32 3.14159 ~ 180
    Sin f32: f32 0.5 ~ 0.479426
    Cos f32: f32 0.5 ~ 0.877583
    Tan f32: f32 0.5 ~ 0.546302
    Asin f32: f32 0.5 -1 ~ 0.523599 -1.570796
    Acos f32: f32 0.5 -1 ~ 1.047198 3.141593
    Atan f32: f32 0.5 -10 ~ 0.463648 -1.471128
    Sinh f32: f32 1 ~ 1.175201
    Cosh f32: f32 1 ~ 1.543081
    Tanh f32: f32 1 100 ~ 0.761594 1
    Asinh f32: f32 1 -1 ~ 0.881374 -0.881374
    Acosh f32: f32 2 ~ 1.316958
    Atanh f32: f32 0.5 ~ 0.549306
    Atan2 f32: f32 1 1 -1 0, f32 1 -1 -1 -1 ~ 0.785398 2.356194 -2.356194 3.141593
    Pow f32: f32 2 9, f32 10 0.5 ~ 1024 3
    Exp f32: f32 1 ~ 2.718282
    Log f32: f32 10 ~ 2.302585
    Exp2 f32: f32 3 -1 = 8 0.5
    Log2 f32: f32 8 = 3
    Sqrt f64: f64 2.25 = 1.5
    InverseSqrt f32: f32 4 = 0.5
    FMin f32: f32 1 2, f32 2 1 = 1 1
    UMin u32: u32 0xffffffff, u32 1 = 1
    SMin i32: i32 -1, i32 1 = -1
    FMax f32: f32 1 2, f32 2 1 = 2 2
    UMax u8: u8 0xff, u8 1 = 255
    SMax i64: i64 -1, i64 1 = 1
    NMin f32: f32 nan 1, f32 1 nan = 1 1
    NMax f32: f32 nan 1, f32 2 nan = 2 1
    FClamp f32: f32 -1 0.5 2, f32 0 0 0, f32 1 1 1 = 0 0.5 1
    UClamp u32: u32 0 5 0xffffffff, u32 2 2 2, u32 7 7 7 = 2 5 7
    SClamp i32: i32 -1 5 9, i32 2 2 2, i32 7 7 7 = 2 5 7
    NClamp f32: f32 nan 0.5, f32 0 0, f32 1 1 = 0 0.5
    FMix f32: f32 1, f32 3, f32 0.25 = 1.5
    FMix f64: f64 1, f64 3, f64 0.25 = 1.5
    Step f32: f32 1 1 1, f32 0.5 1 2 = 0 1 1
    SmoothStep f32: f32 0 0 0, f32 2 2 2, f32 -1 1 3 = 0 0.5 1
    Fma f32: f32 2, f32 3, f32 4 = 10
    Ldexp f32: f32 1 1.5 -1 0, i32 3 -2 0 5 = 8 0.375 -1 0
    Ldexp f32: f32 1 0x00000001 1, i32 -149 149 200 = 0x00000001 1 inf
    Ldexp f32: f32 0x7f7fffff, i32 -276 = 0x00000002
    Ldexp f64: f64 1 1, i32 -1074 1023 = 0x1 8.98846567431158e307
    Ldexp f64: f64 3, i64 -9223372036854775808 = 0
    Ldexp f32: f32 3, u32 0xffffffff = inf
    Ldexp f16: f16 1 1, i32 -24 15 = 0x0001 32768
    Ldexp f16: f16 1.5, i8 -1 = 0.75
    PackSnorm4x8 u32: f32 -1 0 1 2 = 0x7f7f0081
    PackUnorm4x8 u32: f32 -1 0 1 2 = 0xffff0000
    PackSnorm2x16 u32: f32 -1 1 = 0x7fff8001
    PackUnorm2x16 u32: f32 0 1 = 0xffff0000
    PackHalf2x16 u32: f32 1 2 = 0x40003c00
    PackDouble2x32 f64: u32 0 0x3ff00000 = 1
    UnpackSnorm2x16 f32: u32 0x7fff8001 = -1 1
    UnpackUnorm2x16 f32: u32 0xffff0000 = 0 1
    UnpackHalf2x16 f32: u32 0x40003c00 = 1 2
    UnpackSnorm4x8 f32: u32 0x7f7f0081 = -1 0 1 1
    UnpackUnorm4x8 f32: u32 0xffff0000 = 0 0 1 1
    UnpackDouble2x32 u32: f64 1 = 0 0x3ff00000
    Length f32: f32 3 4 = 5
    Length f32: f32 -3 = 3
    Distance f32: f32 1 2, f32 4 6 = 5
    Distance f64: f64 1, f64 4 = 3
    Cross f32: f32 1 0 0, f32 0 1 0 = 0 0 1
    Normalize f32: f32 3 4 ~ 0.6 0.8
    Normalize f32: f32 -3 = -1
    FaceForward f32: f32 1 2, f32 1 0, f32 1 0 = -1 -2
    FaceForward f32: f32 1 2, f32 1 0, f32 -1 0 = 1 2
    Reflect f32: f32 1 -1, f32 0 1 = 1 1
    Refract f32: f32 0 -1, f32 0 1, f32 0.5 ~ 0 -1
    Refract f32: f32 1 0, f32 0 1, f32 2 = 0 0
    Refract f64: f64 0 -1, f64 0 1, f32 0.5 ~ 0 -1
    FindILsb i32: u32 0 1 0x80000000 = -1 0 31
    FindILsb i64: i64 0x100000000 = 32
    FindSMsb i32: i32 0 -1 5 -6 = -1 -1 2 2
    FindSMsb i8: i8 -128 0x40 = 6 6
    FindSMsb i64: i64 0x100000000 -1 = 32 -1
    FindUMsb i32: u32 0 1 0x80000000 = -1 0 31
    FindUMsb u16: u16 0 0x100 = 0xffff 8
";

fn of_vectors() -> impl Iterator<Item = (G, usize)> {
    (0..100).filter_map(G::from_u32).filter_map(|op| Some((op, num_operands(op)?)))
}

#[test]
fn values_are_those_of_the_specification() {
    let mut seen = Vec::new();
    for row in rows(VALUES) {
        let (op, _) = of_vectors().find(|(op, _)| format!("{op:?}") == row.name).expect(row.name);
        seen.push(op);
        let value = compute(&mut Folder, op, row.scalar, Folder.components(row.expected), &row.terms);
        row.check(value.unwrap_or_else(|error| panic!("{} {:?}: {error:?}", row.name, row.terms)));
    }
    for (op, _) in of_vectors() {
        assert!(seen.contains(&op), "{op:?}");
    }
}

#[test]
fn parts_of_floats() {
    let table = "
        Modf f32: f32 1.25 -1.25 inf -inf = 0.25 -0.25 0 -0
        Modf f32: f32 nan = nan
        Modf f16: f16 2.5 = 0.5
        Frexp f32: f32 8 -0.75 0 = 0.5 -0.75 0
        Frexp f64: f64 8 = 0.5
    ";
    let second = "
        Modf f32: f32 1.25 -1.25 inf -inf = 1 -1 inf -inf
        Modf f32: f32 nan = nan
        Modf f16: f16 2.5 = 2
        Frexp i32: f32 8 -0.75 0 = 4 0 0
        Frexp i32: f64 8 = 4
    ";
    for (first, second) in rows(table).zip(rows(second)) {
        let op = if first.name == "Modf" { G::Modf } else { G::Frexp };
        let [a, b] = parts(&mut Folder, op, first.terms[0]).unwrap();
        first.check(a);
        second.check(b);
    }
}

#[test]
fn extremes_of_three() {
    let table = "
        1 f32: f32 3, f32 1, f32 2 = 1
        2 u32: u32 3, u32 0xffffffff, u32 2 = 2
        3 i32: i32 3, i32 0xffffffff, i32 2 = -1
        4 f32: f32 3, f32 1, f32 2 = 3
        5 u32: u32 3, u32 0xffffffff, u32 2 = 0xffffffff
        6 i32: i32 3, i32 0xffffffff, i32 2 = 3
        7 f32: f32 3, f32 1, f32 2 = 2
        8 u32: u32 3, u32 0xffffffff, u32 2 = 3
        9 i32: i32 3, i32 0xffffffff, i32 2 = 2
    ";
    for row in rows(table) {
        row.check(trinary(&mut Folder, row.name.parse().unwrap(), row.scalar, 1, &row.terms).unwrap());
    }
    assert_eq!(trinary(&mut Folder, 0, ScalarType::Float, 1, &[]), Err(Fault::Lacks("")));
    assert_eq!(trinary(&mut Folder, 10, ScalarType::Float, 1, &[]), Err(Fault::Lacks("")));
}

fn agree(pair: &mut Pair<'_>, op: G, result: (ScalarType, u8), types: &[(ScalarType, u8)]) -> Result<(), Fault> {
    let values: Vec<(Def, Known)> =
        types.iter().map(|&(scalar, count)| pair.vector(of_arithmetic(scalar), count)).collect();
    let known: Terms<Known> =
        values.iter().zip(types).map(|(value, &(scalar, _))| Term { value: value.1, scalar }).collect();
    let known = compute(&mut Folder, op, result.0, result.1, &known)?;
    let emitted: Terms<Def> =
        values.iter().zip(types).map(|(value, &(scalar, _))| Term { value: value.0, scalar }).collect();
    let emitted = compute(&mut pair.builder, op, result.0, result.1, &emitted)?;
    pair.compare(&format!("{op:?} {types:?}"), &Operand::Vector(emitted), &Operand::Vector(known));
    Ok(())
}

#[test]
fn constants_have_the_values_of_the_shader() {
    let mut seed = 0;
    for (op, number) in of_vectors() {
        let mut results = 0;
        for result in SCALARS.iter().flat_map(|&scalar| (1..=4).map(move |count| (scalar, count))) {
            seed += 1;
            check(seed, |pair| {
                for operand in SCALARS.iter().flat_map(|&scalar| (1..=4).map(move |count| (scalar, count))) {
                    let mut types = vec![operand; number];
                    for _ in 0..4 {
                        results += usize::from(agree(pair, op, result, &types).is_ok());
                    }
                    let second = match op {
                        G::Refract => (operand.0, 1),
                        G::Ldexp => (ScalarType::Int64, operand.1),
                        _ => continue,
                    };
                    *types.last_mut().unwrap() = second;
                    results += usize::from(agree(pair, op, result, &types).is_ok());
                }
            });
        }
        assert!(results > 0, "{op:?}");
    }
}

#[test]
fn operands_of_any_type_give_valid_code() {
    let mut random = Random::new(9);
    for (op, number) in of_vectors() {
        check(random.bits(), |pair| {
            for _ in 0..300 {
                let usual = [any_type(&mut random, &[]), any_type(&mut random, &[])];
                let (scalar, count) = any_type(&mut random, &usual);
                let types: Vec<(ScalarType, u8)> = (0..number).map(|_| any_type(&mut random, &usual)).collect();
                let operands = terms(pair, &types);
                let _ = compute(&mut pair.builder, op, scalar, count, &operands);
                let _ = parts(&mut pair.builder, G::Modf, operands[0]);
                let _ = parts(&mut pair.builder, G::Frexp, operands[0]);
                let _ = trinary(&mut pair.builder, random.bits() as u32 % 11, scalar, count, &operands);
            }
        });
    }
}
