//! The result of a check.

use std::fmt;

use tgsi_ir::passes::pass_manager::Round;

use crate::executor::ExecutorKind;

/// The result of a check of one shader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// All results agree.
    Equal,
    /// The check does not apply to the shader, or the shader terminates with no generated inputs: there is nothing to
    /// compare.
    WithoutResult,
    /// The first failure.
    Failed(Defect),
}

/// A failure of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Defect {
    /// The step that failed.
    pub step: CheckStep,
    /// The number of the generated inputs, if the failure is one of a run.
    pub inputs: Option<u64>,
    /// The kind of failure.
    pub kind: DefectKind,
    /// The first word that differs, or the error.
    pub message: String,
}

/// The kind of a [`Defect`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DefectKind {
    /// The results differ.
    Difference,
    /// The shader cannot be compiled or run.
    Error,
    /// The target's machine [lacks something](tgsi_compiler::TargetError::is_limit) that the shader needs.
    Limit,
    /// A run took too long on a device and was abandoned.
    TimedOut,
    /// The compiler, the driver or the runner panicked.
    Panic,
}

/// A step of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CheckStep {
    /// The check of the source, or its conversion to text or tokens and back, by name.
    Source(&'static str),
    /// The shader at a stage, or the code of the driver.
    Executor(ExecutorKind),
    /// The IR after a pass.
    Pass(&'static str, Round),
    /// A variant of the shader, by number.
    Variant(u64),
    /// The second of two shaders.
    Changed,
}

impl Verdict {
    /// Returns the defect, if there is one.
    pub fn defect(self) -> Option<Defect> {
        match self {
            Verdict::Equal | Verdict::WithoutResult => None,
            Verdict::Failed(defect) => Some(defect),
        }
    }
}

/// Whether any results were compared, or the defect.
impl From<Result<bool, Defect>> for Verdict {
    fn from(result: Result<bool, Defect>) -> Verdict {
        match result {
            Ok(true) => Verdict::Equal,
            Ok(false) => Verdict::WithoutResult,
            Err(defect) => Verdict::Failed(defect),
        }
    }
}

impl Defect {
    /// An error of a step.
    pub(crate) fn error(step: CheckStep, error: impl ToString) -> Defect {
        Defect { step, inputs: None, kind: DefectKind::Error, message: error.to_string() }
    }

    /// A difference of the results for generated inputs.
    pub(crate) fn difference(step: CheckStep, inputs: u64, mismatch: impl ToString) -> Defect {
        Defect { step, inputs: Some(inputs), kind: DefectKind::Difference, message: mismatch.to_string() }
    }

    /// The same failure of a run with generated inputs.
    pub(crate) fn with_inputs(self, seed: u64) -> Defect {
        Defect { inputs: Some(seed), ..self }
    }

    /// Returns whether this looks like the same defect, maybe of another shader.
    pub fn resembles(&self, other: &Defect) -> bool {
        // Instruction numbers change with the shader, so they are not compared.
        let beginning =
            |defect: &Defect| defect.message.chars().filter(|c| !c.is_ascii_digit()).take(24).collect::<String>();
        self.step == other.step
            && self.kind == other.kind
            && (self.kind == DefectKind::Difference || beginning(self) == beginning(other))
    }
}

impl fmt::Display for CheckStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckStep::Source(name) => write!(f, "{name} of the source"),
            CheckStep::Executor(kind) => write!(f, "stage {kind}"),
            CheckStep::Pass(name, round) => write!(f, "after {name}, round {round}"),
            CheckStep::Variant(number) => write!(f, "variant {number}"),
            CheckStep::Changed => f.write_str("changed shader"),
        }
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Defect { step, inputs, kind, message } = self;
        write!(f, "{step}")?;
        if let Some(seed) = inputs {
            write!(f, ", inputs {seed}")?;
        }
        let panic = if *kind == DefectKind::Panic { "panic: " } else { "" };
        write!(f, ": {panic}{message}")
    }
}
