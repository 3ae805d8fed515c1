//! Instructions of the ALU on the registers of a thread.

use super::float::{self, Rounding};
use super::integer::{extend, narrow};
use super::operation::{
    float as float_operation, float_comparison, float_to_integer, has_signed_result, integer, integer_comparison,
    integer_to_float, needs_all, rounding,
};
use super::registers::{component, ones, set_component};
use crate::isa::Width;
use crate::isa::alu::{
    AluOp, Clamp, Component, Extension, OutputModifier, Scalar, ScalarSource, Shrink, SourceModifier, Vector,
    VectorSource,
};

use half::f16;

/// A component of a source: its bits, and its value as a float with modifiers.
#[derive(Clone, Copy, Default)]
pub(super) struct Operand {
    bits: u64,
    value: f64,
}

/// A component of a result.
#[derive(Clone, Copy)]
enum Outcome {
    Float(f64),
    Integer(u64),
}

/// The components of a vector source.
pub(super) type Operands = [Operand; 16];

/// The written bytes of a register.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Write {
    /// The value; bytes that are not written are 0.
    pub(super) bits: u128,
    /// The written bits.
    pub(super) mask: u128,
}

impl Write {
    fn set(&mut self, width: Width, index: u32, value: u64) {
        set_component(&mut self.bits, width, index, value);
        set_component(&mut self.mask, width, index, u64::MAX);
    }

    /// Writes the bytes to a register.
    pub(super) fn apply(&self, bits: &mut u128) {
        *bits = *bits & !self.mask | self.bits;
    }
}

impl Operand {
    /// A component that may be expanded. `None` for floats of 8 bits.
    fn new(bits: u64, width: Width, expands: bool, modifier: SourceModifier) -> Option<Operand> {
        let from = if expands { width.half()? } else { width };
        match modifier {
            SourceModifier::Integer(extension) => {
                let bits = if expands { extend(bits, from, extension) } else { bits };
                Some(Operand { bits, value: 0.0 })
            }
            SourceModifier::Float { .. } if from == Width::W8 => None,
            SourceModifier::Float { abs, negate } => {
                let value = float::from_bits(bits, from);
                let value = if abs { value.abs() } else { value };
                Some(Operand { bits, value: if negate { -value } else { value } })
            }
        }
    }

    /// An immediate: a half float, or a signed integer.
    fn immediate(value: u16, width: Width) -> Operand {
        Operand { bits: i64::from(value as i16) as u64 & ones(width), value: f16::from_bits(value).to_f64() }
    }
}

/// The components of an immediate.
pub(super) fn immediate(value: u16, width: Width) -> Operands {
    [Operand::immediate(value, width); 16]
}

/// Selects the bits of a component, before expansion.
fn select(bits: u128, source: &VectorSource, width: Width, index: u32) -> u64 {
    let (part, [low, high]) = source.parts(width, index);
    match width {
        Width::W64 if !source.expand.expands() => component(bits, part, low) | component(bits, part, high) << 32,
        _ => component(bits, part, low),
    }
}

/// Returns the components of a source. `None` if they have no known definition.
pub(super) fn vector_source(bits: u128, source: &VectorSource, width: Width) -> Option<Operands> {
    let mut operands = Operands::default();
    for index in 0..width.components() {
        let bits = select(bits, source, width, index);
        operands[index as usize] = Operand::new(bits, width, source.expand.expands(), source.modifier)?;
    }
    Some(operands)
}

/// Returns a source of a scalar unit.
pub(super) fn scalar_source(bits: u128, source: &ScalarSource) -> Option<Operand> {
    let (from, expands) = match source.component {
        Component::Half(_) => (Width::W16, true),
        Component::Full(_) => (Width::W32, false),
    };
    let bits = component(bits, from, source.component.index().into());
    Operand::new(bits, Width::W32, expands, source.modifier)
}

/// The immediate of a scalar unit.
pub(super) fn scalar_immediate(value: u16) -> Operand {
    Operand::immediate(value, Width::W32)
}

/// Applies an opcode to a component. `None` if it has no known definition.
fn apply(op: AluOp, a: Operand, b: Operand, condition: u64, width: Width) -> Option<Outcome> {
    let truth = |value: bool| Outcome::Integer(if value { ones(width) } else { 0 });
    if op.row().input.is_integer() {
        if let Some((is_signed, compare)) = integer_comparison(op) {
            let value = |bits| if is_signed { super::integer::signed(bits, width) } else { i128::from(bits) };
            return Some(truth(compare(value(a.bits), value(b.bits))));
        }
        return match op {
            AluOp::IcselV | AluOp::Icsel => {
                Some(Outcome::Integer((a.bits & condition | b.bits & !condition) & ones(width)))
            }
            _ => match integer_to_float(op, a.bits, width) {
                Some(_) if width == Width::W8 => None,
                Some(value) => Some(Outcome::Float(value)),
                None => integer(op, a.bits, b.bits, width).map(Outcome::Integer),
            },
        };
    }
    if let Some(compare) = float_comparison(op) {
        return Some(truth(compare(a.value, b.value)));
    }
    match op {
        AluOp::FcselV | AluOp::Fcsel => Some(Outcome::Float(if condition != 0 { a.value } else { b.value })),
        _ => match float_to_integer(op, a.value, width) {
            Some(value) => Some(Outcome::Integer(value)),
            None => float_operation(op, a.value, b.value, width).map(Outcome::Float),
        },
    }
}

/// Reduces components to one.
fn reduce(op: AluOp, a: &Operands, b: &Operands, width: Width) -> Option<Outcome> {
    let count = usize::from(op.row().reduces);
    if count > width.components() as usize || width == Width::W8 {
        return None;
    }
    let pairs = a.iter().zip(b).take(count);
    match op {
        AluOp::Fdot3 | AluOp::Fdot4 => {
            // The sum begins with the last product, as that of the IR.
            let products = pairs.rev().map(|(a, b)| float::multiply(a.value, b.value, width, Rounding::Even));
            products.reduce(|sum, product| float::add(sum, product, width, Rounding::Even)).map(Outcome::Float)
        }
        AluOp::Fdot3r => None,
        _ => {
            let mut results = Vec::with_capacity(count);
            for (&a, &b) in pairs {
                results.push(matches!(apply(op, a, b, 0, width)?, Outcome::Integer(bits) if bits != 0));
            }
            let passes = |&result: &bool| result;
            let is_true = if needs_all(op) { results.iter().all(passes) } else { results.iter().any(passes) };
            Some(Outcome::Integer(if is_true { ones(width) } else { 0 }))
        }
    }
}

/// Limits a float; NaN becomes the lower bound.
pub(super) fn clamp(value: f64, clamp: Clamp) -> f64 {
    match clamp {
        Clamp::None => value,
        Clamp::Positive => float::maximum(value, 0.0),
        Clamp::Signed => float::minimum(float::maximum(value, -1.0), 1.0),
        Clamp::Unit => float::minimum(float::maximum(value, 0.0), 1.0),
    }
}

/// Converts a result to bits of the written component, which may have half of the width.
fn finish(op: AluOp, outcome: Outcome, width: Width, is_narrowed: bool, output: OutputModifier) -> Option<u64> {
    let target = if is_narrowed { width.half()? } else { width };
    match (outcome, output) {
        (Outcome::Float(_), _) if target == Width::W8 => None,
        (Outcome::Float(value), OutputModifier::Float(limit)) => {
            Some(float::to_bits(clamp(value, limit), target, rounding(op)))
        }
        (Outcome::Integer(bits), OutputModifier::Integer(mode)) if is_narrowed => {
            Some(narrow(bits, width, has_signed_result(op), mode))
        }
        (Outcome::Integer(bits), OutputModifier::Integer(_)) => Some(bits),
        _ => None,
    }
}

/// Executes an instruction of a vector unit; `condition` is r31.
pub(super) fn vector(vector: &Vector, a: &Operands, b: &Operands, condition: u128) -> Option<Write> {
    let (op, width) = (vector.op, vector.width);
    let mut write = Write::default();
    let mask = vector.components();
    let count = width.components();
    let shrink = vector.shrink;
    let reduced = if op.row().reduces == 0 { None } else { Some(reduce(op, a, b, width)?) };
    let target = if shrink.is_some() { width.half()? } else { width };
    let first = if shrink == Some(Shrink::Upper) { count } else { 0 };
    for index in (0..count).filter(|index| mask >> index & 1 != 0) {
        let (x, y) = (a[index as usize], b[index as usize]);
        let outcome = match (reduced, op) {
            (Some(outcome), _) => outcome,
            (_, AluOp::Ffma | AluOp::FfmaRtz | AluOp::FfmaRtn | AluOp::FfmaRtp) => {
                Outcome::Float(float::multiply_add(a[0].value, a[1].value, y.value, width, rounding(op)))
            }
            (_, AluOp::Ichoose) => Outcome::Integer(a[(y.bits % u64::from(count)) as usize].bits),
            (_, AluOp::IcselV | AluOp::FcselV) => apply(op, x, y, component(condition, width, index), width)?,
            _ => apply(op, x, y, scalar_condition(condition, width), width)?,
        };
        write.set(target, first + index, finish(op, outcome, width, shrink.is_some(), vector.output)?);
    }
    Some(write)
}

/// The condition of a scalar selection, r31.w, in the width of components.
fn scalar_condition(condition: u128, width: Width) -> u64 {
    let bits = component(condition, Width::W32, 3);
    if width == Width::W64 { extend(bits, Width::W32, Extension::Signed) } else { bits & ones(width) }
}

/// Executes an instruction of a scalar unit; `condition` is r31.
pub(super) fn scalar(scalar: &Scalar, a: Operand, b: Operand, condition: u128) -> Option<Write> {
    let op = scalar.op;
    // Forms on vectors have no components here.
    if op.row().reduces != 0 || matches!(op, AluOp::IcselV | AluOp::FcselV | AluOp::Ichoose) {
        return None;
    }
    let outcome = apply(op, a, b, scalar_condition(condition, Width::W32), Width::W32)?;
    let is_narrowed = !scalar.component.is_full();
    let mut write = Write::default();
    let target = if is_narrowed { Width::W16 } else { Width::W32 };
    let bits = finish(op, outcome, Width::W32, is_narrowed, scalar.output)?;
    write.set(target, scalar.component.index().into(), bits);
    Some(write)
}
