//! Bits of integers, extended arithmetic, and 64-bit integers.

use super::op::BuiltinOp as Op;
use super::{INT64, Row, V400_INTEGERS};
use crate::extension::Extension as E;
use crate::version::{NEVER, Since};

/// Averages, saturation and counts of zeros.
const FUNCTIONS2: Since = Since::new(NEVER, NEVER).or(&[E::INTELShaderIntegerFunctions2]);

/// Functions of two integers of any type.
const TWO_OF_ANY: &[&str] = &["I I I", "U U U", "L L L", "K K K"];

pub(super) const ROWS: &[Row] = &[
    Row::new("bitfieldExtract", Op::BitfieldExtract, &["I I i i", "U U i i"], V400_INTEGERS),
    Row::new("bitfieldInsert", Op::BitfieldInsert, &["I I I i i", "U U U i i"], V400_INTEGERS),
    Row::new("bitfieldReverse", Op::BitfieldReverse, &["I I", "U U"], V400_INTEGERS),
    Row::new("bitCount", Op::BitCount, &["I I", "I U"], V400_INTEGERS),
    Row::new("findLSB", Op::FindLsb, &["I I", "I U"], V400_INTEGERS),
    Row::new("findMSB", Op::FindMsb, &["I I", "I U"], V400_INTEGERS),
    Row::new("uaddCarry", Op::UaddCarry, &["U U U >U"], V400_INTEGERS),
    Row::new("usubBorrow", Op::UsubBorrow, &["U U U >U"], V400_INTEGERS),
    Row::new("umulExtended", Op::MulExtended, &["v U U >U >U"], V400_INTEGERS),
    Row::new("imulExtended", Op::MulExtended, &["v I I >I >I"], V400_INTEGERS),
    Row::new("absoluteDifference", Op::AbsoluteDifference, &["U I I", "U U U", "K L L", "K K K"], FUNCTIONS2),
    Row::new("addSaturate", Op::AddSaturate, TWO_OF_ANY, FUNCTIONS2),
    Row::new("subtractSaturate", Op::SubtractSaturate, TWO_OF_ANY, FUNCTIONS2),
    Row::new("average", Op::Average, TWO_OF_ANY, FUNCTIONS2),
    Row::new("averageRounded", Op::AverageRounded, TWO_OF_ANY, FUNCTIONS2),
    Row::new("multiply32x16", Op::Multiply32x16, &["I I I", "U U U"], FUNCTIONS2),
    Row::new("countLeadingZeros", Op::CountLeadingZeros, &["U U"], FUNCTIONS2),
    Row::new("countTrailingZeros", Op::CountTrailingZeros, &["U U"], FUNCTIONS2),
    Row::new("abs", Op::Abs, &["L L"], INT64),
    Row::new("sign", Op::Sign, &["L L"], INT64),
    Row::new("min", Op::Min, &["L L L", "L L l", "K K K", "K K k"], INT64),
    Row::new("max", Op::Max, &["L L L", "L L l", "K K K", "K K k"], INT64),
    Row::new("clamp", Op::Clamp, &["L L L L", "L L l l", "K K K K", "K K k k"], INT64),
    Row::new("mix", Op::Mix, &["L L L B", "K K K B"], INT64),
    Row::new("lessThan", Op::LessThan, &["Bv Lv Lv", "Bv Kv Kv"], INT64),
    Row::new("lessThanEqual", Op::LessThanEqual, &["Bv Lv Lv", "Bv Kv Kv"], INT64),
    Row::new("greaterThan", Op::GreaterThan, &["Bv Lv Lv", "Bv Kv Kv"], INT64),
    Row::new("greaterThanEqual", Op::GreaterThanEqual, &["Bv Lv Lv", "Bv Kv Kv"], INT64),
    Row::new("equal", Op::Equal, &["Bv Lv Lv", "Bv Kv Kv"], INT64),
    Row::new("notEqual", Op::NotEqual, &["Bv Lv Lv", "Bv Kv Kv"], INT64),
    Row::new("doubleBitsToInt64", Op::Bitcast, &["L D"], INT64),
    Row::new("doubleBitsToUint64", Op::Bitcast, &["K D"], INT64),
    Row::new("int64BitsToDouble", Op::Bitcast, &["D L"], INT64),
    Row::new("uint64BitsToDouble", Op::Bitcast, &["D K"], INT64),
    Row::new("packInt2x32", Op::PackDouble2x32, &["l i2"], INT64),
    Row::new("packUint2x32", Op::PackDouble2x32, &["k u2"], INT64),
    Row::new("unpackInt2x32", Op::UnpackDouble2x32, &["i2 l"], INT64),
    Row::new("unpackUint2x32", Op::UnpackDouble2x32, &["u2 k"], INT64),
];
