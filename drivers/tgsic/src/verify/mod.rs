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
#[cfg(test)]
mod profiles;
pub mod recorded;
mod stages;
mod translated;

use std::borrow::Cow;
use std::str::FromStr;

use tgsi_compiler::Stage;
use tgsi_drivers::DRIVERS;

use crate::args::{Color, VerifyArguments};
use crate::commands::{Failure, Status};
use crate::plan::Plan;
use crate::subject::Subject;

pub use stages::Verdict;
pub use translated::compare_translated;

/// An executor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Via {
    /// The TGSI interpreter on the source.
    Tgsi,
    /// The IR interpreter at a stage.
    Stage(Stage),
    /// What runs the code of a driver.
    Driver(&'static str),
}

impl Via {
    /// The executors for a shader in the order of the way, the first for what was given.
    pub fn all_for(subject: &Subject, plan: &Plan) -> impl Iterator<Item = Via> + use<> {
        let stages = Stage::ALL.map(Via::Stage);
        let all = [Via::Tgsi].into_iter().chain(stages).chain([Via::Driver(plan.driver.name())]);
        let first = Via::first_for(subject);
        all.skip_while(move |&via| via != first)
    }

    /// The executor that runs a shader as it was given.
    pub fn first_for(subject: &Subject) -> Via {
        match subject {
            Subject::Tgsi(_) => Via::Tgsi,
            Subject::Ir { .. } => Via::Stage(Stage::Parsed),
        }
    }

    /// Name on the command line.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Via::Tgsi => "tgsi".into(),
            Via::Stage(Stage::Parsed) => "ir".into(),
            Via::Stage(stage) => stage.name().into(),
            Via::Driver(name) => format!("driver:{name}").into(),
        }
    }
}

impl FromStr for Via {
    type Err = String;

    fn from_str(name: &str) -> Result<Via, String> {
        let drivers = DRIVERS.iter().map(|driver| Via::Driver(driver.name()));
        let all: Vec<Via> = [Via::Tgsi].into_iter().chain(Stage::ALL.map(Via::Stage)).chain(drivers).collect();
        all.iter().copied().find(|via| via.name() == name).ok_or_else(|| {
            let names: Vec<_> = all.iter().map(|via| via.name()).collect();
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
