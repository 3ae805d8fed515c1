//! `verify`: every stage of a translation must compute the same.
//!
//! Two ways: with made-up inputs, where the interpreter on what was given (TGSI or IR) is the truth for all stages; and with recorded results, which are the truth
//! themselves.

pub mod compare;
mod each_pass;
pub mod executor;
pub mod generated;
pub mod inputs;
mod invariance;
pub mod recorded;
mod stages;
mod translated;

use std::str::FromStr;

use crate::args::{Color, VerifyArguments};
use crate::commands::{Failure, Status};
use crate::subject::Subject;

pub use stages::Verdict;
pub use translated::compare_translated;

/// An executor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Via {
    /// The TGSI interpreter on the source.
    Tgsi,
    /// The IR interpreter on what conversion gives.
    Ir,
    /// The IR interpreter on clean SSA.
    Ssa,
    /// The IR interpreter on optimised SSA.
    Opt,
    /// The IR interpreter on trivialised registers.
    Registers,
    /// The TGSI interpreter on the output of the TGSI driver.
    DriverTgsi,
}

impl Via {
    /// All executors in the order of the translation.
    pub const ALL: [(Via, &'static str); 6] = [
        (Via::Tgsi, "tgsi"),
        (Via::Ir, "ir"),
        (Via::Ssa, "ssa"),
        (Via::Opt, "opt"),
        (Via::Registers, "registers"),
        (Via::DriverTgsi, "driver:tgsi"),
    ];

    /// The executor that runs a shader as it was given.
    pub fn first_for(subject: &Subject) -> Via {
        match subject {
            Subject::Tgsi(_) => Via::Tgsi,
            Subject::Ir { .. } => Via::Ir,
        }
    }

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        Via::ALL[self as usize].1
    }
}

impl FromStr for Via {
    type Err = String;

    fn from_str(name: &str) -> Result<Via, String> {
        Via::ALL.iter().find(|(_, n)| *n == name).map(|&(via, _)| via).ok_or_else(|| {
            let names: Vec<&str> = Via::ALL.iter().map(|&(_, n)| n).collect();
            format!("no such executor; there are {}", names.join(", "))
        })
    }
}

/// Verifies shaders.
pub fn verify(arguments: &VerifyArguments, color: Color) -> Result<Status, Failure> {
    match &arguments.vectors {
        Some(vectors) => recorded::verify(vectors, arguments),
        None => stages::verify(arguments, color),
    }
}
