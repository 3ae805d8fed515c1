use super::*;
use crate::builtins::functions::{BuiltinOp as B, Detail};
use crate::symbol::Interner;
use crate::token::TokenRange;
use crate::types::{Field, StructType};
use pretty_assertions::assert_eq;

fn floats(values: &[f32]) -> Constant {
    let ty = TypeId::vector(Scalar::Float, values.len() as u8);
    Constant { ty, bits: values.iter().map(|value| value.to_bits().into()).collect() }
}

fn ints(values: &[i32]) -> Constant {
    let ty = TypeId::vector(Scalar::Int, values.len() as u8);
    Constant { ty, bits: values.iter().map(|&value| u64::from(value as u32)).collect() }
}

fn bools(values: &[bool]) -> Constant {
    let ty = TypeId::vector(Scalar::Bool, values.len() as u8);
    Constant { ty, bits: values.iter().map(|&value| value.into()).collect() }
}

/// A matrix from its components by column.
fn matrix(columns: u8, rows: u8, values: &[f32]) -> Constant {
    Constant { ty: TypeId::matrix(columns, rows), bits: floats(values).bits }
}

fn values(constant: &Constant) -> Vec<f32> {
    constant.bits.iter().map(|&bits| f32::from_bits(bits as u32)).collect()
}

fn folded(op: BinaryOp, ty: TypeId, left: &Constant, right: &Constant) -> Constant {
    binary(&Types::new(), op, ty, left, right).unwrap_or_else(|| panic!("{op:?}")).constant
}

fn called(op: B, ty: TypeId, arguments: &[&Constant]) -> Vec<f32> {
    values(&builtin(&Types::new(), op, ty, arguments).unwrap_or_else(|| panic!("{op:?}")))
}

const VEC2: TypeId = TypeId::vector(Scalar::Float, 2);
const VEC3: TypeId = TypeId::vector(Scalar::Float, 3);

#[test]
fn operators_on_vectors() {
    let sum = folded(BinaryOp::Add, VEC3, &floats(&[1.0, 2.0, 3.0]), &floats(&[0.5]));
    assert_eq!(sum, floats(&[1.5, 2.5, 3.5]));
    let less = folded(BinaryOp::LessEqual, TypeId::BOOL, &floats(&[1.0]), &floats(&[f32::NAN]));
    assert_eq!(less, bools(&[false]));
    let shifted = folded(BinaryOp::Shr, TypeId::INT, &ints(&[-8]), &ints(&[1]));
    assert_eq!(shifted, ints(&[-4]));
    let differs = folded(BinaryOp::NotEqual, TypeId::BOOL, &ints(&[1, 2, 3]), &ints(&[1, 2, 4]));
    assert_eq!(differs, bools(&[true]));
    assert_eq!(unary(&Types::new(), UnaryOp::Minus, &ints(&[i32::MIN])), Some(ints(&[i32::MIN])));
    assert_eq!(unary(&Types::new(), UnaryOp::Not, &floats(&[1.0])), None);
}

#[test]
fn division_of_integers_by_zero_is_reported() {
    let divide = |left, right| binary(&Types::new(), BinaryOp::Div, TypeId::INT, &left, &right).unwrap();
    assert!(divide(ints(&[7]), ints(&[0])).divides_by_zero);
    assert_eq!(divide(ints(&[-7]), ints(&[2])), Folded { constant: ints(&[-3]), divides_by_zero: false });
    assert!(!divide(floats(&[1.0]), floats(&[0.0])).divides_by_zero);
}

#[test]
fn products_of_matrices() {
    // Two columns of three rows.
    let m = matrix(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(folded(BinaryOp::Mul, VEC3, &m, &floats(&[1.0, 10.0])), floats(&[41.0, 52.0, 63.0]));
    assert_eq!(folded(BinaryOp::Mul, VEC2, &floats(&[1.0, 10.0, 100.0]), &m), floats(&[321.0, 654.0]));
    let square = folded(BinaryOp::Mul, TypeId::matrix(3, 3), &m, &matrix(3, 2, &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0]));
    assert_eq!(values(&square), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 5.0, 7.0, 9.0]);
    assert_eq!(values(&folded(BinaryOp::Sub, m.ty, &floats(&[1.0]), &m)), [0.0, -1.0, -2.0, -3.0, -4.0, -5.0]);
    assert_eq!(folded(BinaryOp::Equal, TypeId::BOOL, &m, &m), bools(&[true]));
    // Matrices of sizes that do not fit have no product.
    assert_eq!(binary(&Types::new(), BinaryOp::Add, m.ty, &m, &square), None);
}

#[test]
fn conversions() {
    let types = Types::new();
    assert_eq!(convert(&types, TypeId::vector(Scalar::Int, 2), &floats(&[-1.7, 2.9])), Some(ints(&[-1, 2])));
    assert_eq!(
        convert(&types, TypeId::vector(Scalar::Bool, 2), &floats(&[-0.0, f32::NAN])),
        Some(bools(&[false, true]))
    );
    assert_eq!(convert(&types, TypeId::FLOAT, &bools(&[true])), Some(floats(&[1.0])));
    assert_eq!(convert(&types, TypeId::UINT, &ints(&[-1])).unwrap().bits, [0xffff_ffff]);
    let double = convert(&types, TypeId::vector(Scalar::Double, 1), &floats(&[0.5])).unwrap();
    assert_eq!(double.bits, [0.5f64.to_bits()]);
}

#[test]
fn constructors_take_components_in_order() {
    let types = Types::new();
    let made = |ty, operands: &[&Constant]| construct(&types, ty, operands).map(|constant| values(&constant));
    assert_eq!(made(VEC3, &[&floats(&[2.0])]), Some(vec![2.0; 3]));
    assert_eq!(made(VEC3, &[&floats(&[1.0, 2.0]), &floats(&[3.0, 4.0])]), Some(vec![1.0, 2.0, 3.0]));
    assert_eq!(made(VEC3, &[&floats(&[1.0, 2.0])]), None);
    assert_eq!(made(TypeId::FLOAT, &[&floats(&[1.0, 2.0])]), Some(vec![1.0]));
    assert_eq!(made(TypeId::matrix(2, 3), &[&floats(&[2.0])]), Some(vec![2.0, 0.0, 0.0, 0.0, 2.0, 0.0]));
    let m = matrix(2, 2, &[1.0, 2.0, 3.0, 4.0]);
    assert_eq!(made(TypeId::matrix(3, 3), &[&m]), Some(vec![1.0, 2.0, 0.0, 3.0, 4.0, 0.0, 0.0, 0.0, 1.0]));
    assert_eq!(made(TypeId::VEC4, &[&m]), Some(vec![1.0, 2.0, 3.0, 4.0]));
    assert_eq!(made(m.ty, &[&floats(&[1.0, 2.0, 3.0]), &floats(&[4.0])]), Some(vec![1.0, 2.0, 3.0, 4.0]));
}

#[test]
fn functions_have_their_values() {
    let f = TypeId::FLOAT;
    let x = |value| floats(&[value]);
    assert_eq!(called(B::Mod, f, &[&x(-1.0), &x(3.0)]), [2.0]);
    assert_eq!(called(B::Clamp, VEC2, &[&floats(&[-1.0, 5.0]), &x(0.0), &x(2.0)]), [0.0, 2.0]);
    assert_eq!(called(B::Step, VEC2, &[&x(1.0), &floats(&[1.0, 0.9])]), [1.0, 0.0]);
    assert_eq!(called(B::Smoothstep, f, &[&x(0.0), &x(2.0), &x(1.0)]), [0.5]);
    assert_eq!(called(B::Mix, f, &[&x(f32::NAN), &x(3.0), &bools(&[true])]), [3.0]);
    assert_eq!(called(B::Length, f, &[&floats(&[3.0, 4.0])]), [5.0]);
    assert_eq!(called(B::Length, f, &[&x(-2.0)]), [2.0]);
    assert_eq!(called(B::Normalize, f, &[&x(-2.0)]), [-1.0]);
    assert_eq!(called(B::Cross, VEC3, &[&floats(&[1.0, 0.0, 0.0]), &floats(&[0.0, 1.0, 0.0])]), [0.0, 0.0, 1.0]);
    assert_eq!(called(B::Reflect, VEC2, &[&floats(&[1.0, -1.0]), &floats(&[0.0, 1.0])]), [1.0, 1.0]);
    // Total reflection.
    assert_eq!(called(B::Refract, VEC2, &[&floats(&[1.0, 0.0]), &floats(&[0.0, 1.0]), &x(2.0)]), [0.0, 0.0]);
    assert_eq!(
        called(B::FaceForward, VEC2, &[&floats(&[1.0, 2.0]), &floats(&[0.0, 1.0]), &floats(&[0.0, 1.0])]),
        [-1.0, -2.0]
    );
    assert_eq!(
        called(B::OuterProduct, TypeId::matrix(3, 2), &[&floats(&[1.0, 2.0]), &floats(&[1.0, 10.0, 100.0])]),
        [1.0, 2.0, 10.0, 20.0, 100.0, 200.0]
    );
    let types = Types::new();
    let b = TypeId::BOOL;
    assert_eq!(builtin(&types, B::Any, b, &[&bools(&[false, true])]), Some(bools(&[true])));
    assert_eq!(builtin(&types, B::All, b, &[&bools(&[false, true])]), Some(bools(&[false])));
    assert_eq!(builtin(&types, B::IsInf, b, &[&x(f32::NEG_INFINITY)]), Some(bools(&[true])));
    assert_eq!(builtin(&types, B::IsNan, b, &[&x(f32::NAN)]), Some(bools(&[true])));
    assert_eq!(builtin(&types, B::DFdx(Detail::Any), f, &[&x(1.0)]), Some(x(0.0)));
    // Not constant expressions.
    assert_eq!(builtin(&types, B::Noise, f, &[&x(1.0)]), None);
    assert_eq!(builtin(&types, B::Modf, f, &[&x(1.0)]), None);
}

#[test]
fn structs_and_arrays() {
    let (mut types, mut interner) = (Types::new(), Interner::new());
    let tokens = TokenRange::default();
    let field = |name, ty| Field { name, ty, precision: None, tokens };
    let fields = vec![field(interner.intern("a"), TypeId::FLOAT), field(interner.intern("b"), VEC2)];
    let ty = types.add_struct(StructType { name: None, fields, tokens, block: None });
    let array = types.array(ty, Some(2));
    let first = construct(&types, ty, &[&floats(&[0.0]), &floats(&[1.0, 2.0])]).unwrap();
    let second = construct(&types, ty, &[&floats(&[-0.0]), &floats(&[1.0, 2.0])]).unwrap();
    let both = construct(&types, array, &[&first, &second]).unwrap();
    let equal = |a, b| binary(&types, BinaryOp::Equal, TypeId::BOOL, a, b).unwrap().constant;
    // Zeros of both signs are equal as floats.
    assert_eq!(equal(&first, &second), bools(&[true]));
    let other = construct(&types, ty, &[&floats(&[0.0]), &floats(&[1.0, f32::NAN])]).unwrap();
    assert_eq!(equal(&other, &other), bools(&[false]));
    assert_eq!(both.bits.len(), 6);
    assert_eq!(super::field(&types, &first, 1), Some(floats(&[1.0, 2.0])));
    assert_eq!(index(&mut types, &both, 1), Some(second));
    assert_eq!(index(&mut types, &both, 2), None);
    let column = index(&mut types, &matrix(2, 2, &[1.0, 2.0, 3.0, 4.0]), 1);
    assert_eq!(column, Some(floats(&[3.0, 4.0])));
    assert_eq!(swizzle(&types, VEC2, &floats(&[1.0, 2.0, 3.0]), [2, 0, 0, 0]), Some(floats(&[3.0, 1.0])));
}
