//! Values of instructions.

use spirv::Op;
use tgsi_arithmetic::Sink;
use tgsi_arithmetic::fold::Folder;

use super::rows::rows;
use super::{instructions, pair::check};
use crate::alu::{Form, compute};

const VALUES: &str = "
    SNegate i32: i32 5 -7 0x80000000 = -5 7 0x80000000
    FNegate f32: f32 0 -1.5 inf = -0 1.5 -inf
    IAdd u8: u8 200, u8 100 = 44
    IAdd i64: i64 0x7fffffffffffffff, i64 1 = 0x8000000000000000
    IAdd u32: i32 -1, u32 2 = 1
    FAdd f16: f16 1.5, f16 2.25 = 3.75
    ISub u16: u16 1, u16 2 = 65535
    FSub f64: f64 1e300, f64 1 = 1e300
    IMul i32: i32 -3 65536, i32 7 65536 = -21 0
    FMul f32: f32 0 inf, f32 5 0 = 0 nan
    UDiv u32: u32 0xffffffff 7, u32 2 0 = 0x7fffffff 0
    SDiv i32: i32 -7 7 0x80000000, i32 2 -2 -1 = -3 -3 0x80000000
    SDiv i8: i8 -128, i8 3 = -42
    FDiv f32: f32 1 -1 0, f32 0 0 0 = inf -inf nan
    UMod u32: u32 0xffffffff 5, u32 10 0 = 5 0
    SRem i32: i32 -7 7, i32 3 -3 = -1 1
    SMod i32: i32 -7 7 -6, i32 3 -3 3 = 2 -2 0
    FRem f32: f32 -7 7, f32 3 -3 = -1 1
    FMod f32: f32 -7 7, f32 3 -3 = 2 -2
    VectorTimesScalar f32: f32 1 2 3, f32 2 = 2 4 6
    Dot f32: f32 1 2 3, f32 4 5 6 = 32
    Dot f64: f64 1 2, f64 4 5 = 14
    FmaKHR f32: f32 2, f32 3, f32 4 = 10
    ShiftRightLogical u32: u32 0x80000000, u64 31 = 1
    ShiftRightLogical u8: u8 0x80, u32 7 = 1
    ShiftRightLogical i64: i64 -1, u8 60 = 15
    ShiftRightArithmetic i32: i32 -8 8, u32 1 1 = -4 4
    ShiftRightArithmetic u16: u16 0x8000, u16 15 = 0xffff
    ShiftLeftLogical u64: u64 1, i8 40 = 0x10000000000
    BitwiseOr u32: u32 0xf0, u32 0x0f = 0xff
    BitwiseXor u32: u32 0xff, u32 0x0f = 0xf0
    BitwiseAnd u32: i32 0xff, u32 0x0f = 0x0f
    Not u8: u8 0x0f = 0xf0
    BitFieldInsert u32: u32 0xffffffff, u32 0, u32 4, u32 8 = 0xfffff00f
    BitFieldInsert u32: u32 0x12345678, u32 0xabcd, u32 0, u32 32 = 0xabcd
    BitFieldInsert u32: u32 0x12345678, u32 0xabcd, u32 9, u32 0 = 0x12345678
    BitFieldInsert u16: u16 0xffff 0, u16 0x5 0x5, u8 4, i64 4 = 0xff5f 0x50
    BitFieldInsert u64: u64 0xffffffffffffffff, u64 0, u32 40, u32 8 = 0xffff00ffffffffff
    BitFieldInsert u64: u64 1 1, u64 0x123456789abcdef0 5, u32 0, u32 64 = 0x123456789abcdef0 5
    BitFieldInsert u64: u64 77, u64 5, u32 64, u32 0 = 77
    BitFieldSExtract i32: i32 0xf0, u32 4, u32 4 = -1
    BitFieldSExtract i32: i32 0x70, u32 4, u32 4 = 7
    BitFieldSExtract i32: i32 0x70, u32 4, u32 0 = 0
    BitFieldSExtract i8: i8 0x3c, u32 2, u32 4 = -1
    BitFieldSExtract i64: i64 0xf00000000000, u32 44, u32 4 = -1
    BitFieldUExtract u32: u32 0xf0, u32 4, u32 4 = 15
    BitFieldUExtract u32: u32 0xdeadbeef, u32 0, u32 32 = 0xdeadbeef
    BitFieldUExtract u16: u16 0xabcd, u16 8, u16 8 = 0xab
    BitFieldUExtract u64: u64 0xabcdef0123456789, u32 32, u32 32 = 0xabcdef01
    BitFieldUExtract u64: u64 0xabcdef0123456789, u32 0, u32 64 = 0xabcdef0123456789
    BitFieldUExtract u64: u64 0xabcdef0123456789, u32 5, u32 0 = 0
    BitReverse u32: u32 1 0x80000000 = 0x80000000 1
    BitReverse u8: u8 0x13 = 0xc8
    BitReverse u16: u16 0x0001 = 0x8000
    BitReverse u64: u64 0x0000000100000002 = 0x4000000080000000
    BitCount i32: u32 0xffffffff 0 0x101 = 32 0 2
    BitCount u8: u64 0xffffffffffffffff = 64
    IsNan b: f32 nan inf 1 = 1 0 0
    IsNan b: f16 nan 1 = 1 0
    IsInf b: f32 nan -inf 1 = 0 1 0
    IsInf b: f64 inf 1e300 = 1 0
    IsFinite b: f32 nan inf 1 0 = 0 0 1 1
    IsNormal b: f32 nan 0x1 1 0 = 0 0 1 0
    SignBitSet b: f32 -0 0 -1 = 1 0 1
    SignBitSet b: f64 -inf = 1
    LessOrGreater b: f32 1 1 nan, f32 2 1 1 = 1 0 0
    Ordered b: f32 1 nan, f32 2 2 = 1 0
    Unordered b: f32 1 nan, f32 2 2 = 0 1
    IEqual b: i32 1 2, u32 1 1 = 1 0
    INotEqual b: u8 1 2, u8 1 1 = 0 1
    UGreaterThan b: u32 0xffffffff, u32 1 = 1
    SGreaterThan b: i32 -1, i32 1 = 0
    SGreaterThan b: u8 0xff, u8 1 = 0
    UGreaterThanEqual b: u32 5 4, u32 5 5 = 1 0
    SGreaterThanEqual b: i64 -5 -6, i64 -5 -5 = 1 0
    ULessThan b: u32 1, u32 0xffffffff = 1
    SLessThan b: i32 1, i32 -1 = 0
    ULessThanEqual b: u16 5 6, u16 5 5 = 1 0
    SLessThanEqual b: i16 -5 6, i16 -5 5 = 1 0
    FOrdEqual b: f32 1 nan 0, f32 1 nan -0 = 1 0 1
    FUnordEqual b: f32 1 nan 1, f32 1 nan 2 = 1 1 0
    FOrdNotEqual b: f32 1 nan 1, f32 1 nan 2 = 0 0 1
    FUnordNotEqual b: f32 1 nan 1, f32 1 nan 2 = 0 1 1
    FOrdLessThan b: f32 1 nan 2, f32 2 1 1 = 1 0 0
    FUnordLessThan b: f32 1 nan 2, f32 2 1 1 = 1 1 0
    FOrdGreaterThan b: f32 1 nan 2, f32 2 1 1 = 0 0 1
    FUnordGreaterThan b: f32 1 nan 2, f32 2 1 1 = 0 1 1
    FOrdLessThanEqual b: f32 1 nan 2 1, f32 1 1 1 2 = 1 0 0 1
    FUnordLessThanEqual b: f32 1 nan 2 1, f32 1 1 1 2 = 1 1 0 1
    FOrdGreaterThanEqual b: f16 1 nan 2 1, f16 1 1 1 2 = 1 0 1 0
    FUnordGreaterThanEqual b: f64 1 nan 2 1, f64 1 1 1 2 = 1 1 1 0
    Any b: b 0 0 1 = 1
    Any b: b 0 0 = 0
    All b: b 1 1 1 1 = 1
    All b: b 1 0 = 0
    LogicalNot b: b 1 0 = 0 1
    LogicalEqual b: b 1 0, b 1 1 = 1 0
    LogicalNotEqual b: b 1 0, b 1 1 = 0 1
    LogicalOr b: b 1 0 0, b 1 1 0 = 1 1 0
    LogicalAnd b: b 1 0 0, b 1 1 0 = 1 0 0
    Select f32: b 1, f32 1 2, f32 3 4 = 1 2
    Select u64: b 1 0, u64 1 2, u64 3 4 = 1 4
    ConvertFToU u32: f32 3.9 4294967040 = 3 4294967040
    ConvertFToU u8: f32 255.5 = 255
    ConvertFToS i32: f32 -3.9 = -3
    ConvertFToS i64: f64 -3e10 = -30000000000
    ConvertFToS i16: f16 -3.5 = -3
    ConvertSToF f32: i32 -3 = -3
    ConvertSToF f64: i8 -3 = -3
    ConvertSToF f16: u16 0xffff = -1
    ConvertUToF f32: i32 -1 = 4294967296
    ConvertUToF f32: u8 255 = 255
    UConvert u32: i8 -1 = 255
    UConvert u8: u32 0x1234 = 0x34
    UConvert i64: u32 0xffffffff = 0xffffffff
    SConvert i32: u8 0xff = -1
    SConvert i64: i32 -5 = -5
    SConvert i8: i16 0x1ff = -1
    FConvert f64: f32 1.5 = 1.5
    FConvert f16: f32 65536 1.0009765625 = inf 1.0009765625
    QuantizeToF16 f32: f32 1.00048828125 1e9 1e-9 -1e-9 = 1 inf 0 -0
    SatConvertSToU u8: i32 -5 300 77 = 0 255 77
    SatConvertSToU u32: i32 -5 5 = 0 5
    SatConvertSToU u64: i8 -5 5 = 0 5
    SatConvertUToS i8: u32 300 7 = 127 7
    SatConvertUToS i32: u32 0xffffffff = 0x7fffffff
    SatConvertUToS i64: u32 0xffffffff = 0xffffffff
    Bitcast u32: f32 1 = 0x3f800000
    Bitcast f64: u32 0 0x3ff00000 = 1
    Bitcast f64: u32 0 0x3ff00000 0 0x40000000 = 1 2
    Bitcast u32: f64 1 2 = 0 0x3ff00000 0 0x40000000
    Bitcast u16: u64 0x4444333322221111 = 0x1111 0x2222 0x3333 0x4444
    Bitcast u64: u16 0x1111 0x2222 0x3333 0x4444 = 0x4444333322221111
    Bitcast u32: f16 1 2 = 0x40003c00
    Bitcast f16: u32 0x40003c00 = 1 2
    Bitcast u32: u16 1 2 3 4 = 0x00020001 0x00040003
    Bitcast u32: u8 1 2 3 4 = 0x04030201
    Bitcast u8: i32 0x04030201 = 1 2 3 4
    Bitcast u16: u8 1 2 = 0x0201
    Bitcast u16: u8 1 2 3 4 = 0x0201 0x0403
    Bitcast u8: u16 0x0201 = 1 2
    Bitcast u8: u16 0x0201 0x0403 = 1 2 3 4
    SDot i32: i8 -1 2 3 4, i8 5 6 7 8 = 60
    SDot i32: i16 -1 2, i16 5 6 = 7
    SDot i64: i32 -1 2 3, i32 5 6 7 = 28
    SDot i32: u32 0x040302ff, u32 0x08070605 = 60
    SDot i16: u32 0x040302ff, u32 0x08070605 = 60
    SDot i64: u32 0x040302ff, u32 0x08070605 = 60
    UDot u32: u8 255 1 1 1, u8 255 1 1 1 = 65028
    UDot u32: u32 0x010101ff, u32 0x010101ff = 65028
    UDot u32: u32 3 4, u32 5 6 = 39
    UDot u64: u16 3 4 5, u16 5 6 7 = 74
    SUDot i32: i8 -1 0 0 0, u8 255 0 0 0 = -255
    SUDot i32: u32 0xff, u32 0xff = -255
    SUDot i32: i16 -1 1, u16 65535 1 = -65534
    SDotAccSat i32: u32 0x01010101, u32 0x01010101, i32 0x7fffffff = 0x7fffffff
    SDotAccSat i32: u32 0x01010101, u32 0xffffffff, i32 10 = 6
    SDotAccSat i8: i8 1 1, i8 1 1, i8 127 = 127
    SDotAccSat i32: i16 1 1, i16 1 1, i32 0x7fffffff = 0x7fffffff
    SDotAccSat i64: u32 0x01010101, u32 0x01010101, i64 0x7fffffffffffffff = 0x7fffffffffffffff
    UDotAccSat u32: u32 0x01010101, u32 0x01010101, u32 0xffffffff = 0xffffffff
    UDotAccSat u32: u32 1 1 1, u32 1 1 1, u32 5 = 8
    UDotAccSat u16: u16 1 1, u16 1 1, u16 0xffff = 0xffff
    SUDotAccSat i32: i8 -1 -1 -1 -1, u8 1 1 1 1, i32 0x80000000 = 0x80000000
    SUDotAccSat i32: i16 1 1, u16 1 1, i32 5 = 7
";

#[test]
fn values_are_those_of_the_specification() {
    let mut seen = Vec::new();
    for row in rows(VALUES) {
        let (op, _) = instructions().find(|(op, _)| format!("{op:?}") == row.name).expect(row.name);
        seen.push(op);
        let count = Folder.components(row.expected);
        let form = Form { packing: Some(0), ..Form::new(op, row.scalar, count) };
        let value = compute(&mut Folder, &form, &row.terms);
        row.check(value.unwrap_or_else(|error| panic!("{} {:?}: {error:?}", row.name, row.terms)));
    }
    for (op, _) in instructions() {
        assert!(seen.contains(&op), "{op:?}");
    }
}

#[test]
fn conversions_with_decorations() {
    let saturated = "
        ConvertFToU u8: f32 -5 300 77.5 nan = 0 255 77 0
        ConvertFToU u32: f32 -5 5e9 = 0 0xffffffff
        ConvertFToU u64: f32 1e30 = 0xffffffffffffffff
        ConvertFToU u32: f16 inf 65504 = 0xffffffff 65504
        ConvertFToS i8: f32 -500 300 -77.5 nan = -128 127 -77 0
        ConvertFToS i32: f64 -5e9 5e9 2147483647 = 0x80000000 0x7fffffff 0x7fffffff
        ConvertFToS i64: f32 -1e30 1e30 = 0x8000000000000000 0x7fffffffffffffff
        UConvert u8: u32 300 7 = 255 7
        SConvert i8: i32 300 -300 7 = 127 -128 7
        SConvert i64: i32 -300 = -300
    ";
    for row in rows(saturated) {
        let op = instructions().find(|(op, _)| format!("{op:?}") == row.name).expect(row.name).0;
        let form = Form { saturates: true, ..Form::new(op, row.scalar, Folder.components(row.expected)) };
        row.check(compute(&mut Folder, &form, &row.terms).unwrap());
    }
    let toward_zero = "
        FConvert f16: f32 1.0009 65535 -65535 = 1 65504 -65504
        FConvert f16: f64 1.0009 = 1
        FConvert f64: f32 1.5 = 1.5
    ";
    let rounding = Some(spirv::FPRoundingMode::RTZ);
    for row in rows(toward_zero) {
        let form = Form { rounding, ..Form::new(Op::FConvert, row.scalar, Folder.components(row.expected)) };
        row.check(compute(&mut Folder, &form, &row.terms).unwrap());
    }
    let row = rows("FConvert f32: f64 1.5 = 1.5").next().unwrap();
    let form = Form { rounding, ..Form::new(Op::FConvert, row.scalar, 1) };
    assert!(compute(&mut Folder, &form, &row.terms).is_err());
}

/// A product that is added is one instruction, unless both must be rounded as they are written.
#[test]
fn a_product_that_is_added_is_one_instruction() {
    use tgsi_ir::alu::AluOp;
    use tgsi_ir::types::ScalarType;
    for is_exact in [false, true] {
        check(0, |pair| {
            let [a, b, c] = [0; 3].map(|_| super::misfits::terms(pair, &[(ScalarType::Float, 2)])[0]);
            let former = pair.builder.set_exact(is_exact);
            let product = compute(&mut pair.builder, &Form::new(Op::FMul, ScalarType::Float, 2), &[a, b]).unwrap();
            let product = crate::alu::Term { value: product, scalar: ScalarType::Float };
            let sum = compute(&mut pair.builder, &Form::new(Op::FAdd, ScalarType::Float, 2), &[product, c]).unwrap();
            pair.builder.set_exact(former);
            let inst = pair.builder.body.try_def_inst(sum).unwrap();
            assert!(
                matches!(pair.builder.body.inst(inst), tgsi_ir::InstData::Alu { op: AluOp::Fmad, flags } if flags.is_exact() == is_exact)
            );
        });
    }
}
