//! Programs as text, in the syntax of NVIDIA's extensions: `NV_vertex_program3` and `NV_fragment_program2`, or those of
//! GeForce FX.
//!
//! A slot of a vertex program with several results becomes several lines, all except the first with the comment
//! `# paired`. Comments also state fields that the syntax lacks. Words that are not an instruction are a comment.

mod fragment;
mod vertex;

pub use fragment::{TextureTarget, fragment};
pub use vertex::vertex;

use crate::isa::{LETTERS, Mask, Swizzle};

/// Returns an operand with its modifiers. Of a scalar one, only the first component is named.
fn operand(register: &str, swizzle: Swizzle, abs: bool, negate: bool, is_scalar: bool) -> String {
    let sign = if negate { "-" } else { "" };
    let bar = if abs { "|" } else { "" };
    let swizzle = if is_scalar { format!(".{}", LETTERS[usize::from(swizzle.0[0] & 3)]) } else { swizzle.to_string() };
    format!("{sign}{bar}{register}{swizzle}{bar}")
}

/// Returns a destination with its mask; an empty mask has no syntax and is a note.
fn masked(register: &str, mask: Mask, notes: &mut Vec<String>) -> String {
    if mask.is_empty() {
        notes.push("no component".to_owned());
        return register.to_owned();
    }
    format!("{register}{mask}")
}

/// Returns an instruction with its operands and notes.
fn line(name: &str, operands: &[String], notes: &[String]) -> String {
    let space = if operands.iter().all(String::is_empty) { "" } else { " " };
    let comment = if notes.is_empty() { String::new() } else { format!(" # {}", notes.join(", ")) };
    format!("{name}{space}{};{comment}\n", operands.join(", "))
}
