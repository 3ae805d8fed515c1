//! `verify`: checks that every stage of a translation computes the same.
//!
//! There are two modes: with generated inputs, the interpretation of the input (TGSI or IR) is the reference for all
//! stages; with recorded results, these are the reference.

pub mod compare;
mod each_pass;
pub mod executor;
pub mod generated;
pub mod inputs;
mod invariance;
mod open;
mod precision;
#[cfg(test)]
mod profiles;
pub mod recorded;
mod stages;
mod translated;
mod without_integers;

use crate::args::{Color, VerifyArguments};
use crate::status::{Failure, Status};

pub use stages::Verdict;
pub use translated::compare_translated;

/// Verifies shaders.
pub fn verify(arguments: &VerifyArguments, color: Color) -> Result<Status, Failure> {
    match &arguments.vectors {
        Some(vectors) => recorded::verify(vectors, arguments),
        None => stages::verify(arguments, color),
    }
}
