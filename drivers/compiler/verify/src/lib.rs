//! Compares the results of a shader before and after each stage of its compilation, and those of the code of a driver
//! that can be run.
//!
//! A [`Checker`] is a compiler with its driver. Its methods check a shader and return a [`Verdict`]; a [`Defect`] names
//! the first [`CheckStep`] that fails:
//!
//! | method | checks |
//! |---|---|
//! | [`verify`](Checker::verify) | every stage, and the code, of a TGSI or IR shader |
//! | [`verify_generated`](Checker::verify_generated) | the same for a shader of [`tgsi_smith`], and its text and tokens |
//! | [`first_broken_pass`](Checker::first_broken_pass) | the IR after each pass |
//! | [`compare_variants`](Checker::compare_variants) | that equal expressions have equal bits in other programs |
//! | [`compare_recorded`](Checker::compare_recorded) | recorded results |
//! | [`compare`] | two TGSI shaders, without compilation |
//!
//! [`reduce`](Checker::reduce) makes a shader with a defect smaller. Executors run a shader at one stage.

#![forbid(unsafe_code)]

mod approximations;
mod checker;
mod compare;
mod each_pass;
mod executor;
mod generated;
mod inputs;
mod interface;
mod invariance;
mod limited;
mod mismatch;
mod open;
mod precision;
#[cfg(test)]
mod profiles;
mod ranges;
mod recorded;
mod stages;
mod verdict;
mod without_integers;

pub use checker::Checker;
pub use compare::compare;
pub use executor::{Executor, ExecutorError, ExecutorKind, RunResult};
pub use inputs::make_inputs;
pub use interface::interface;
pub use limited::LimitedResources;
pub use mismatch::shortest;
pub use precision::OpcodeTotals;
pub use recorded::RecordedTotals;
pub use verdict::{CheckStep, Defect, DefectKind, Verdict};
