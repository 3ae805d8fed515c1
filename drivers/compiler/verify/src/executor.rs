//! A shader prepared for one executor.

use std::fmt;

use tgsi_compiler::{CompileError, InterfaceIntegers, RunError, Runner, Source, Stage, TextureLimits};
use tgsi_diagnostics::ErrorCode;
use tgsi_environment::{AnalyticResources, ImageTexel, Inputs, Outputs, Resources, RunLimits};
use tgsi_ir::variable::VariableModes;
use thiserror::Error;

use crate::checker::Checker;
use crate::interface::interface;
use crate::limited::LimitedResources;

/// An interpreter or driver, and the form of the shader that it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExecutorKind {
    /// The TGSI interpreter on the source.
    Tgsi,
    /// The IR interpreter at a stage.
    Stage(Stage),
    /// The runner of the driver with this name, on its code.
    Driver(&'static str),
}

impl ExecutorKind {
    /// Returns the executor that runs a source as it is.
    pub fn of_source(source: &Source<'_>) -> ExecutorKind {
        match source {
            Source::Tgsi(_) => ExecutorKind::Tgsi,
            Source::Ir(..) => ExecutorKind::Stage(Stage::Parsed),
        }
    }
}

impl fmt::Display for ExecutorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExecutorKind::Tgsi => f.write_str("tgsi"),
            ExecutorKind::Stage(Stage::Parsed) => f.write_str("ir"),
            ExecutorKind::Stage(stage) => f.write_str(stage.name()),
            ExecutorKind::Driver(name) => write!(f, "driver:{name}"),
        }
    }
}

/// The error of an executor.
#[derive(Debug, Error)]
pub enum ExecutorError {
    /// The shader cannot be compiled to the form that the executor runs.
    #[error("{}", brief(.0))]
    Compile(#[from] CompileError),
    /// An interpreter cannot run the shader, or the run does not terminate.
    #[error("{message} [{code}]")]
    Run {
        /// The code of the error.
        code: ErrorCode,
        /// The error.
        message: String,
    },
    /// The driver's code cannot be run, or its run failed.
    #[error(transparent)]
    Code(#[from] RunError),
    /// There is nothing to run.
    #[error("{0}")]
    Other(String),
}

/// Returns the error in one line.
fn brief(error: &CompileError) -> String {
    match error.span() {
        Some(_) => error.diagnostic().to_string(),
        None => format!("{error} [{}]", error.code()),
    }
}

impl ExecutorError {
    /// Returns whether a run took too long on a device and was abandoned. Later runs then fail at once.
    pub(crate) fn is_device_lost(&self) -> bool {
        matches!(self, ExecutorError::Code(RunError::DeviceLost(_)))
    }
}

impl From<tgsi_run::RunError> for ExecutorError {
    fn from(error: tgsi_run::RunError) -> ExecutorError {
        ExecutorError::Run { code: error.code(), message: error.to_string() }
    }
}

impl From<tgsi_ir::run::RunError> for ExecutorError {
    fn from(error: tgsi_ir::run::RunError) -> ExecutorError {
        ExecutorError::Run { code: error.code(), message: error.to_string() }
    }
}

/// A shader prepared for one executor.
pub struct Executor {
    program: Program,
    /// The integers that the program reads and writes as floats, for a target without integers.
    integers: Option<InterfaceIntegers>,
    /// The limits of textures and images.
    textures: TextureLimits,
    /// Whether the shader has variables in the memory of the workgroup.
    has_shared_variables: bool,
}

/// The form of the shader that an executor runs.
enum Program {
    /// For the TGSI interpreter.
    Tgsi(Box<tgsi_run::Program>),
    /// For the IR interpreter. The error is that of every run.
    Ir(Box<Result<tgsi_ir::run::Program, tgsi_ir::run::RunError>>),
    /// The code that a driver emits.
    Code(Box<dyn Runner>),
}

/// The outputs of a run, stored texels included.
pub struct RunResult {
    /// Registers, memory, emitted vertices.
    pub outputs: Outputs,
    pub(crate) resources: AnalyticResources,
    /// Whether the memory of the workgroup is that of the code. Variables in it have places only after they are
    /// lowered.
    pub(crate) has_shared_bytes: bool,
}

impl Checker {
    /// Compiles a valid shader to the form that an executor runs.
    ///
    /// # Errors
    /// It cannot be compiled, or there is nothing to run.
    pub fn executor(&self, source: &Source<'_>, kind: ExecutorKind) -> Result<Executor, ExecutorError> {
        let executor = match (kind, source) {
            (ExecutorKind::Tgsi, Source::Tgsi(shader)) => return Executor::tgsi(shader),
            (ExecutorKind::Tgsi, Source::Ir(..)) => {
                return Err(ExecutorError::Other("there is no TGSI to run, the shader is IR".into()));
            }
            (ExecutorKind::Stage(stage), _) => {
                let executor = Executor::ir(&self.compiler.ir_at(stage, source.borrowed())?);
                if stage < Stage::Registers {
                    return Ok(executor);
                }
                executor
            }
            (ExecutorKind::Driver(name), _) if name == self.driver.name() => {
                let code = self.compiler.compile(source.borrowed())?;
                let none = || ExecutorError::Other(format!("nothing can run the code of {name}"));
                Executor::code(self.runner(&code)?.ok_or_else(none)?)
            }
            (ExecutorKind::Driver(name), _) => {
                let driver = self.driver.name();
                return Err(ExecutorError::Other(format!(
                    "running code of the driver {name} needs --driver {name}; it is {driver}"
                )));
            }
        };
        Ok(executor.with_integers(self.interface_integers(source, interface(source).processor)?))
    }
}

impl Executor {
    /// Prepares a TGSI shader as it is.
    ///
    /// # Errors
    /// The interpreter cannot run it.
    pub(crate) fn tgsi(shader: &tgsi::Shader) -> Result<Executor, ExecutorError> {
        let program = tgsi_run::Program::new(shader).map_err(CompileError::from)?;
        Ok(Executor {
            program: Program::Tgsi(Box::new(program)),
            integers: None,
            textures: TextureLimits::default(),
            has_shared_variables: false,
        })
    }

    /// Prepares IR as it is.
    pub(crate) fn ir(shader: &tgsi_ir::Shader) -> Executor {
        let program = Program::Ir(Box::new(tgsi_ir::run::Program::new(shader)));
        let has_shared_variables = shader.globals_with(VariableModes::MEM_SHARED).next().is_some();
        Executor { program, integers: None, textures: TextureLimits::default(), has_shared_variables }
    }

    /// An executor of code.
    pub(crate) fn code(runner: Box<dyn Runner>) -> Executor {
        Executor {
            program: Program::Code(runner),
            integers: None,
            textures: TextureLimits::default(),
            has_shared_variables: false,
        }
    }

    /// Sets the limits of textures and images.
    pub(crate) fn with_textures(self, textures: TextureLimits) -> Executor {
        Executor { textures, ..self }
    }

    /// Sets the integers that the program reads and writes as floats.
    pub(crate) fn with_integers(self, integers: Option<InterfaceIntegers>) -> Executor {
        Executor { integers, ..self }
    }

    /// Converts outputs that the target writes as floats, but that may be integers in the source, to integers where the
    /// source writes integers.
    pub(crate) fn settle(&self, found: &mut RunResult, source: &RunResult) {
        if let Some(integers) = &self.integers {
            integers.mixed_to_integers(&mut found.outputs, &source.outputs);
        }
    }

    /// Runs the shader with the analytic textures, within the limits of textures.
    ///
    /// # Errors
    /// The shader cannot be run, or does not terminate.
    pub fn run(&self, inputs: &Inputs, limits: RunLimits) -> Result<RunResult, ExecutorError> {
        let mut resources = AnalyticResources::default();
        let mut limited = LimitedResources { resources: &mut resources, limits: self.textures };
        let outputs = self.run_with(inputs, &mut limited, limits)?;
        Ok(RunResult { outputs, resources, has_shared_bytes: !self.has_shared_variables })
    }

    /// Runs the shader with these textures and images. Integers at the interface are those of the source, even if the
    /// target has floats instead.
    ///
    /// # Errors
    /// The shader cannot be run, or does not terminate.
    pub fn run_with(
        &self,
        inputs: &Inputs,
        resources: &mut dyn Resources,
        limits: RunLimits,
    ) -> Result<Outputs, ExecutorError> {
        let Some(integers) = &self.integers else { return self.program.run(inputs, resources, limits) };
        let mut inputs = inputs.clone();
        integers.to_floats(&mut inputs);
        let mut outputs = self.program.run(&inputs, resources, limits)?;
        integers.to_integers(&mut outputs);
        Ok(outputs)
    }
}

impl Program {
    fn run(&self, inputs: &Inputs, resources: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, ExecutorError> {
        match self {
            Program::Tgsi(program) => Ok(tgsi_run::run(program, inputs, resources, limits)?),
            Program::Ir(program) => Ok((**program).as_ref().map_err(Clone::clone)?.run(inputs, resources, limits)?),
            Program::Code(runner) => Ok(runner.run(inputs, resources, limits)?),
        }
    }
}

impl RunResult {
    /// Returns the stored texels, in order.
    pub fn texels(&self) -> Vec<(ImageTexel, [u32; 4])> {
        self.resources.stored_texels().into_iter().collect()
    }
}
