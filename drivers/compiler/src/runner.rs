//! Runners of code.

use tgsi_environment::{Inputs, Outputs, Resources, RunLimits};
use thiserror::Error;

use crate::driver::{Code, Target};

/// Creates the [`Runner`] for code of a target; returns `None` if the target belongs to another driver.
///
/// This is a function of a driver's package and not a method of [`Target`], so that programs that only compile are not
/// linked with interpreters.
pub type RunnerFn = fn(&dyn Target, &Code) -> Option<Result<Box<dyn Runner>, RunError>>;

/// Returns the target for runs that corresponds to a target: a [`RunnerFn`] runs its code, for example because it is a
/// compute shader with the interface in buffers. Returns `None` if the target belongs to another driver.
///
/// Lowered shaders of both targets must compute the same. Drivers whose runner runs all code have no such function.
pub type RunTargetFn = fn(&dyn Target) -> Option<Box<dyn Target>>;

/// Runs code.
pub trait Runner: Send + Sync {
    /// Runs the code once for all lanes.
    ///
    /// # Errors
    /// The run failed, or did not terminate.
    fn run(&self, inputs: &Inputs, resources: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, RunError>;
}

/// The error of a [`Runner`].
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The code is malformed, or the runner cannot execute it.
    #[error("{0}")]
    Code(String),
    /// The run failed.
    #[error("{0}")]
    Failed(String),
    /// The run reached the limit of steps: the code may not terminate.
    #[error("{0}")]
    StepLimit(String),
    /// The run took too long on a device and was abandoned, or lost the device. Later runs of the code fail at once.
    #[error("{0}")]
    DeviceLost(String),
}

impl From<String> for RunError {
    fn from(message: String) -> RunError {
        RunError::Failed(message)
    }
}

impl From<tgsi_ir::run::RunError> for RunError {
    fn from(error: tgsi_ir::run::RunError) -> RunError {
        match error {
            tgsi_ir::run::RunError::StepLimit { .. } => RunError::StepLimit(error.to_string()),
            _ => RunError::Failed(error.to_string()),
        }
    }
}
