//! Embedded constants as text.

use super::number::general;
use crate::isa::Width;
use crate::isa::alu::{Constants, Extension, Input, SourceModifier};

use half::f16;

/// A kind of constants: how an instruction reads them.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    /// The width of the constant.
    pub(super) width: Width,
    /// Whether it is expanded to twice the width.
    pub(super) expands: bool,
    /// The modifier.
    pub(super) modifier: SourceModifier,
    /// The interpretation.
    pub(super) input: Input,
}

/// Returns a component; indices repeat after the last.
pub(super) fn component(constants: &Constants, width: Width, index: u32) -> u64 {
    let all = constants.0.iter().rev().fold(0, |bits, &word| bits << 32 | u128::from(word));
    let shift = index % width.components() * width.bits();
    (all >> shift) as u64 & (u64::MAX >> (64 - width.bits()))
}

/// Formats a component.
pub(super) fn constant(constants: &Constants, index: u32, reading: Reading) -> String {
    let Reading { width, expands, modifier, input } = reading;
    let bits = component(constants, width, index);
    if width == Width::W8 {
        return match modifier_bits(modifier) {
            0 => format!("0x{bits:X}"),
            modifier => format!("0x{bits:X} /* {modifier} */"),
        };
    }
    let shift = 64 - width.bits();
    let extended = match modifier {
        SourceModifier::Integer(Extension::ShiftLeft) if expands => bits << width.bits(),
        SourceModifier::Integer(Extension::Zero) if expands => bits,
        SourceModifier::Integer(_) if input == Input::Signed => ((bits << shift) as i64 >> shift) as u64,
        _ => bits,
    };
    match input {
        // A shifted constant of 16 bits is a number of 32 bits, which listings show with its sign.
        Input::Signed if width == Width::W16 => (extended as i32).to_string(),
        Input::Signed => (extended as i64).to_string(),
        Input::Unsigned => extended.to_string(),
        Input::Bits => format!("0x{extended:X}"),
        Input::Float => general(modified(float(bits, width), modifier)),
    }
}

/// The number of a modifier.
fn modifier_bits(modifier: SourceModifier) -> u32 {
    match modifier {
        SourceModifier::Float { abs, negate } => u32::from(abs) | u32::from(negate) << 1,
        SourceModifier::Integer(extension) => extension.code(),
    }
}

fn float(bits: u64, width: Width) -> f64 {
    match width {
        Width::W64 => f64::from_bits(bits),
        Width::W32 => f32::from_bits(bits as u32).into(),
        Width::W8 | Width::W16 => f16::from_bits(bits as u16).to_f64(),
    }
}

fn modified(value: f64, modifier: SourceModifier) -> f64 {
    let SourceModifier::Float { abs, negate } = modifier else { return value };
    let value = if abs { value.abs() } else { value };
    if negate { -value } else { value }
}
