//! Exponentials and logarithms. Those to base 2 are opcodes.

use tgsi_ir::alu::AluOp;

use crate::Sink;
use crate::common::times;
use crate::sink::in_single;

/// `e` to the power of a value. The error is that of the 32-bit `fexp2` and of its argument, which is rounded: relative
/// to the result, about `|x|` units in the last place.
pub fn exp<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    in_single(sink, [x], |sink, [x]| {
        let scaled = times(sink, x, std::f64::consts::LOG2_E);
        sink.one(AluOp::Fexp2, scaled)
    })
}

/// The natural logarithm, with the error of the 32-bit `flog2` and of one product.
pub fn log<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    in_single(sink, [x], |sink, [x]| {
        let binary = sink.one(AluOp::Flog2, x);
        times(sink, binary, std::f64::consts::LN_2)
    })
}
