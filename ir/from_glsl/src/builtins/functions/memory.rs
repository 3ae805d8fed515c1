//! Atomic operations on memory, and atomic counters.

use super::Row;
use super::op::{AtomicKind as A, BuiltinOp as Op, CounterOp};
use crate::extension::Extension as E;
use crate::version::{NEVER, Since};

const ATOMICS: Since = Since::new(430, 310).or(&[E::ARBComputeShader, E::ARBShaderStorageBufferObject]);
const FLOAT_ADD: Since = Since::new(NEVER, NEVER).or(&[E::NVShaderAtomicFloat]);
const FLOAT_EXCHANGE: Since = Since::new(NEVER, NEVER).or(&[E::NVShaderAtomicFloat, E::INTELShaderAtomicFloatMinmax]);
const FLOAT_MIN_MAX: Since = Since::new(NEVER, NEVER).or(&[E::INTELShaderAtomicFloatMinmax]);
const COUNTERS: Since = Since::new(420, 310).or(&[E::ARBShaderAtomicCounters]);
const COUNTER_OPS: Since = Since::new(460, NEVER);
const COUNTER_OPS_ARB: Since = Since::new(NEVER, NEVER).or(&[E::ARBShaderAtomicCounterOps]);

const fn atomic(name: &'static str, kind: A, signatures: &'static [&'static str], since: Since) -> Row {
    Row::new(name, Op::Atomic(kind), signatures, since)
}

const fn counter(name: &'static str, op: CounterOp, signatures: &'static [&'static str], since: Since) -> Row {
    Row::new(name, Op::Counter(op), signatures, since)
}

/// An operation on integers.
const INTEGERS: &[&str] = &["u <>u u", "i <>i i"];
/// An operation on floats.
const FLOATS: &[&str] = &["f <>f f"];

pub(super) const ROWS: &[Row] = &[
    atomic("atomicAdd", A::Add, INTEGERS, ATOMICS),
    atomic("atomicAdd", A::Add, FLOATS, FLOAT_ADD),
    atomic("atomicMin", A::Min, INTEGERS, ATOMICS),
    atomic("atomicMin", A::Min, FLOATS, FLOAT_MIN_MAX),
    atomic("atomicMax", A::Max, INTEGERS, ATOMICS),
    atomic("atomicMax", A::Max, FLOATS, FLOAT_MIN_MAX),
    atomic("atomicAnd", A::And, INTEGERS, ATOMICS),
    atomic("atomicOr", A::Or, INTEGERS, ATOMICS),
    atomic("atomicXor", A::Xor, INTEGERS, ATOMICS),
    atomic("atomicExchange", A::Exchange, INTEGERS, ATOMICS),
    atomic("atomicExchange", A::Exchange, FLOATS, FLOAT_EXCHANGE),
    atomic("atomicCompSwap", A::CompSwap, &["u <>u u u", "i <>i i i"], ATOMICS),
    atomic("atomicCompSwap", A::CompSwap, &["f <>f f f"], FLOAT_MIN_MAX),
    counter("atomicCounter", CounterOp::Read, &["u c"], COUNTERS),
    counter("atomicCounterIncrement", CounterOp::Increment, &["u c"], COUNTERS),
    counter("atomicCounterDecrement", CounterOp::Decrement, &["u c"], COUNTERS),
    counter("atomicCounterAdd", CounterOp::Change(A::Add), &["u c u"], COUNTER_OPS),
    counter("atomicCounterSubtract", CounterOp::Subtract, &["u c u"], COUNTER_OPS),
    counter("atomicCounterMin", CounterOp::Change(A::Min), &["u c u"], COUNTER_OPS),
    counter("atomicCounterMax", CounterOp::Change(A::Max), &["u c u"], COUNTER_OPS),
    counter("atomicCounterAnd", CounterOp::Change(A::And), &["u c u"], COUNTER_OPS),
    counter("atomicCounterOr", CounterOp::Change(A::Or), &["u c u"], COUNTER_OPS),
    counter("atomicCounterXor", CounterOp::Change(A::Xor), &["u c u"], COUNTER_OPS),
    counter("atomicCounterExchange", CounterOp::Change(A::Exchange), &["u c u"], COUNTER_OPS),
    counter("atomicCounterCompSwap", CounterOp::Change(A::CompSwap), &["u c u u"], COUNTER_OPS),
    counter("atomicCounterAddARB", CounterOp::Change(A::Add), &["u c u"], COUNTER_OPS_ARB),
    counter("atomicCounterSubtractARB", CounterOp::Subtract, &["u c u"], COUNTER_OPS_ARB),
    counter("atomicCounterMinARB", CounterOp::Change(A::Min), &["u c u"], COUNTER_OPS_ARB),
    counter("atomicCounterMaxARB", CounterOp::Change(A::Max), &["u c u"], COUNTER_OPS_ARB),
    counter("atomicCounterAndARB", CounterOp::Change(A::And), &["u c u"], COUNTER_OPS_ARB),
    counter("atomicCounterOrARB", CounterOp::Change(A::Or), &["u c u"], COUNTER_OPS_ARB),
    counter("atomicCounterXorARB", CounterOp::Change(A::Xor), &["u c u"], COUNTER_OPS_ARB),
    counter("atomicCounterExchangeARB", CounterOp::Change(A::Exchange), &["u c u"], COUNTER_OPS_ARB),
    counter("atomicCounterCompSwapARB", CounterOp::Change(A::CompSwap), &["u c u u"], COUNTER_OPS_ARB),
];
