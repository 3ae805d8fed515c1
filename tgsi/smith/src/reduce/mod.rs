//! The reducer: makes a shader as small as possible while it stays interesting, in the manner of `bugpoint` and
//! `wasm-shrink`.
//!
//! A function decides whether a candidate is interesting, usually that it still fails. Every candidate is valid (without
//! errors of the [check](tgsi::check)) if the first shader was. The steps are deterministic: they remove ranges of
//! instructions first, then blocks around others, then parts of instructions, operands and declarations. Each step
//! simplifies, so the reduction terminates. The result is minimal: no single step applies any more.
//!
//! ```
//! use tgsi_smith::reduce::{Limits, reduce};
//! use tgsi::tables::Opcode;
//!
//! let text = b"FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL TEMP[0]\n\
//!              IF IN[0].xxxx\nSIN_SAT TEMP[0], -IN[0].zyxx\nENDIF\nMOV OUT[0], TEMP[0]\nEND\n";
//! let shader = tgsi::text::parse(text).expect("valid text").shader;
//! let small = reduce(&shader, Limits::default(), &mut |shader| shader.instructions.iter().any(|i| i.opcode == Opcode::Sin));
//! assert_eq!(small.instructions.len(), 2);
//! ```

mod blocks;
mod declarations;
mod edit;
mod operands;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use edit::relabel;
pub use text::reduce_text;

use tgsi::check::check;
use tgsi::shader::Shader;

/// Bounds on the work of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of candidates to try.
    pub candidates: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { candidates: 1_000_000 }
    }
}

/// Returns the smallest interesting shader that was found, or the shader itself if nothing can be removed. The function
/// is never called with the shader itself.
pub fn reduce(shader: &Shader, limits: Limits, interesting: &mut dyn FnMut(&Shader) -> bool) -> Shader {
    let must_be_valid = !check(shader).has_errors();
    let mut best = shader.clone();
    best.forget_encoding();
    let mut reducer = Reducer { best, must_be_valid, left: limits.candidates, interesting };
    while reducer.round() {}
    reducer.best
}

/// Returns half of a number, half of that, and so on to 1: the sizes of the ranges to remove.
fn halved(count: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(count.div_ceil(2).max(1)), |&size| (size > 1).then(|| size.div_ceil(2)))
}

/// A reduction in progress.
struct Reducer<'a> {
    /// The smallest interesting shader so far.
    best: Shader,
    must_be_valid: bool,
    /// Remaining number of candidates to try.
    left: u64,
    interesting: &'a mut dyn FnMut(&Shader) -> bool,
}

impl Reducer<'_> {
    /// Runs all steps once; returns whether one made progress.
    fn round(&mut self) -> bool {
        let mut smaller = self.delete_ranges();
        smaller |= self.unwrap_blocks();
        smaller |= self.simplify_instructions();
        smaller |= self.simplify_declarations();
        smaller
    }

    /// Makes a candidate the best one if it is interesting.
    fn try_candidate(&mut self, mut candidate: Shader) -> bool {
        if self.left == 0 {
            return false;
        }
        relabel(&mut candidate);
        if candidate == self.best || self.must_be_valid && check(&candidate).has_errors() {
            return false;
        }
        self.left -= 1;
        if !(self.interesting)(&candidate) {
            return false;
        }
        self.best = candidate;
        true
    }

    /// Tries the shader with an edit applied.
    fn try_edit(&mut self, edit: impl FnOnce(&mut Shader)) -> bool {
        let mut candidate = self.best.clone();
        edit(&mut candidate);
        self.try_candidate(candidate)
    }
}
