//! Mutations of given shaders: those that preserve the meaning ([`keep_meaning`]), those that preserve its expressions
//! and change the surrounding code ([`change_surroundings`]), and those that may break it ([`spoil`]).
//! [`round_otherwise`] models a consumer with other rounding, as a shader.
//!
//! The first kind tests that equivalent forms give the same results; the second, that the same expression has the same
//! bits in two programs; the third, that any input is either rejected or translated.

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

/// Returns the shader with some mutations chosen by a seed, none of which changes its results. Shaders with a malformed
/// control structure are unchanged.
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

/// Returns the shader with some arbitrary mutations chosen by a seed; only the kinds of items are preserved.
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

/// Inserts instructions before number `at`; the labels of calls are updated.
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

/// Returns the first number of a file that is neither declared nor used.
fn free_number(shader: &Shader, file: File) -> i32 {
    let declared = shader.declarations.iter().filter(|d| d.file == file).map(|d| i32::from(d.last) + 1);
    declared.max().unwrap_or(0)
}
