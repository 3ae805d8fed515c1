//! The executors for `--via`.

use std::borrow::Cow;
use std::str::FromStr;

use tgsi_compiler::Stage;

/// An interpreter or driver, and the form of the shader that it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExecutorKind {
    /// The TGSI interpreter on the source.
    Tgsi,
    /// The IR interpreter at a stage.
    Stage(Stage),
    /// The runner of a driver, on its code.
    Driver(&'static str),
}

impl ExecutorKind {
    /// Returns the name on the command line.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            ExecutorKind::Tgsi => "tgsi".into(),
            ExecutorKind::Stage(Stage::Parsed) => "ir".into(),
            ExecutorKind::Stage(stage) => stage.name().into(),
            ExecutorKind::Driver(name) => format!("driver:{name}").into(),
        }
    }
}

impl FromStr for ExecutorKind {
    type Err = String;

    fn from_str(name: &str) -> Result<ExecutorKind, String> {
        let drivers = tgsi_registry::drivers().map(|driver| ExecutorKind::Driver(driver.name()));
        let all: Vec<ExecutorKind> =
            [ExecutorKind::Tgsi].into_iter().chain(Stage::ALL.map(ExecutorKind::Stage)).chain(drivers).collect();
        all.iter().copied().find(|via| via.name() == name).ok_or_else(|| {
            let names: Vec<_> = all.iter().map(|via| via.name()).collect();
            format!("no such executor; there are {}", names.join(", "))
        })
    }
}
