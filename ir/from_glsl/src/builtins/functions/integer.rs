//! Bits of integers and extended arithmetic.

use super::op::BuiltinOp as Op;
use super::{Row, V400_INTEGERS};

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
];
