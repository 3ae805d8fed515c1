//! Mutations of given shaders: those that keep what a shader means ([`keep_meaning`]), those that keep its expressions
//! and change what stands around them ([`change_surroundings`]), and those that may break it ([`spoil`]).
//! [`round_otherwise`] is a consumer that rounds otherwise, as a shader.
//!
//! The first kind finds out whether two ways to say the same come out the same; the second whether the same expression
//! has the same bits in two programs; the third whether whatever comes in is either refused or translated.

mod keep;
mod rounding;
mod spoil;
mod surroundings;
#[cfg(test)]
mod tests;

pub use rounding::round_otherwise;
pub use surroundings::{Variant, change_surroundings};

use super::choices::Choices;
use tgsi::shader::{Instruction, Shader};
use tgsi::tables::{File, Opcode};

/// The shader with some changes that a seed chooses, none of which changes what it computes. Shaders with a broken
/// control structure stay as they are.
pub fn keep_meaning(shader: &Shader, seed: u64) -> Shader {
    let mut choices = Choices::from_seed(seed);
    let mut result = shader.clone();
    result.forget_encoding();
    for _ in 0..1 + choices.below(4) {
        keep::mutate(&mut result, &mut choices);
    }
    result.order_by_kind();
    crate::reduce::relabel(&mut result);
    result
}

/// The shader with some changes that a seed chooses, which may make anything of it but another kind of item.
pub fn spoil(shader: &Shader, seed: u64) -> Shader {
    let mut choices = Choices::from_seed(seed);
    let mut result = shader.clone();
    result.forget_encoding();
    for _ in 0..1 + choices.below(4) {
        spoil::mutate(&mut result, &mut choices);
    }
    result.order_by_kind();
    result
}

/// Puts instructions in front of number `at`; calls still find their subroutines.
fn insert(shader: &mut Shader, at: usize, new: Vec<Instruction>) {
    let count = new.len() as u32;
    let at = at.min(shader.instructions.len());
    shader.instructions.splice(at..at, new);
    for instruction in shader.instructions.iter_mut().filter(|i| i.opcode == Opcode::Cal) {
        if let Some(label) = instruction.label.as_mut().filter(|label| **label as usize >= at) {
            *label += count;
        }
    }
}

/// The first number of a file that no declaration and no operand has.
fn free_number(shader: &Shader, file: File) -> i32 {
    let declared = shader.declarations.iter().filter(|d| d.file == file).map(|d| i32::from(d.last) + 1);
    declared.max().unwrap_or(0)
}
