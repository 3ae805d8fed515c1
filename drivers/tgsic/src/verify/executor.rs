//! A shader prepared for one executor.

use tgsi_compiler::{InterfaceIntegers, Runner, Stage};
use tgsi_environment::{AnalyticResources, Inputs, Outputs, Resources, RunLimits};

use crate::executor_kind::ExecutorKind;
use crate::input::ShaderError;
use crate::input_shader::InputShader;
use crate::plan::Plan;

/// A shader prepared for one executor.
pub struct Executor {
    program: Program,
    /// The integers that the program reads and writes as floats, for a target without integers.
    integers: Option<InterfaceIntegers>,
    is_code: bool,
}

/// The form of the shader that an executor runs.
enum Program {
    /// For the TGSI interpreter.
    Tgsi(Box<tgsi_run::Program>),
    /// For the IR interpreter.
    Ir(Box<tgsi_ir::Shader>),
    /// The code that a driver emits.
    Code(Box<dyn Runner>),
}

/// Returns the executors for a shader, in the order of the stages. The first one runs the input itself.
pub fn kinds_for(subject: &InputShader, plan: &Plan) -> impl Iterator<Item = ExecutorKind> + use<> {
    let stages = Stage::ALL.map(ExecutorKind::Stage);
    let all = [ExecutorKind::Tgsi].into_iter().chain(stages).chain([ExecutorKind::Driver(plan.driver.name())]);
    let first = input_kind(subject);
    all.skip_while(move |&kind| kind != first)
}

/// Returns the executor that runs the input itself.
pub fn input_kind(subject: &InputShader) -> ExecutorKind {
    match subject {
        InputShader::Tgsi(_) => ExecutorKind::Tgsi,
        InputShader::Ir { .. } => ExecutorKind::Stage(Stage::Parsed),
    }
}

/// The outputs of a run, stored texels included.
pub struct RunResult {
    /// Registers, memory, emitted vertices.
    pub outputs: Outputs,
    /// Stored texels.
    pub resources: AnalyticResources,
}

impl Executor {
    /// Like [`new`](Self::new), but returns `None` for code of a driver that nothing can run.
    pub fn if_any(subject: &InputShader, via: ExecutorKind, plan: &Plan) -> Result<Option<Executor>, ShaderError> {
        let program = match (via, subject) {
            (ExecutorKind::Tgsi, InputShader::Tgsi(shader)) => return Executor::tgsi(shader).map(Some),
            (ExecutorKind::Tgsi, InputShader::Ir { .. }) => {
                return Err(ShaderError::Other("there is no TGSI to run, the shader is IR".into()));
            }
            (ExecutorKind::Stage(stage), _) => Program::Ir(Box::new(subject.to_stage(stage, plan)?)),
            (ExecutorKind::Driver(name), _) if name == plan.driver.name() => {
                let code = subject.code(plan)?;
                let runner = tgsi_registry::runner(plan.compiler.target(), &code).transpose();
                let Some(runner) = runner.map_err(ShaderError::Other)? else { return Ok(None) };
                Program::Code(runner)
            }
            (ExecutorKind::Driver(name), _) => {
                return Err(ShaderError::Other(format!(
                    "running code of the driver {name} needs --driver {name}; it is {}",
                    plan.driver.name()
                )));
            }
        };
        let is_code = matches!(via, ExecutorKind::Driver(_));
        let is_lowered = is_code || via == ExecutorKind::Stage(Stage::Registers);
        let integers = if is_lowered { subject.interface_integers(plan)? } else { None };
        Ok(Some(Executor { program, integers, is_code }))
    }

    /// Compiles a checked shader to the stage that the executor needs.
    pub fn new(subject: &InputShader, via: ExecutorKind, plan: &Plan) -> Result<Executor, ShaderError> {
        let none = || ShaderError::Other(format!("nothing can run the code of {}", plan.driver.name()));
        Executor::if_any(subject, via, plan)?.ok_or_else(none)
    }

    /// Prepares a TGSI shader as it is.
    pub fn tgsi(shader: &tgsi::Shader) -> Result<Executor, ShaderError> {
        let program =
            tgsi_run::Program::new(shader).map_err(|error| ShaderError::Coded(error.code(), error.to_string()))?;
        Ok(Executor { program: Program::Tgsi(Box::new(program)), integers: None, is_code: false })
    }

    /// Returns whether it runs the code of a driver.
    pub fn is_code(&self) -> bool {
        self.is_code
    }

    /// Returns whether a run took too long on a device and was abandoned, so that later ones are not tried.
    pub fn is_unended(&self) -> bool {
        matches!(&self.program, Program::Code(runner) if runner.is_unended())
    }

    /// Converts outputs that the target writes as floats, but that may be integers in the source, to integers where the
    /// source writes integers.
    pub fn settle(&self, found: &mut RunResult, source: &RunResult) {
        if let Some(integers) = &self.integers {
            integers.mixed_to_integers(&mut found.outputs, &source.outputs);
        }
    }

    /// Runs the shader with the analytic textures.
    pub fn run(&self, inputs: &Inputs, limits: RunLimits) -> Result<RunResult, ShaderError> {
        let mut resources = AnalyticResources::default();
        let outputs = self.run_with(inputs, &mut resources, limits)?;
        Ok(RunResult { outputs, resources })
    }

    /// Runs the shader with these textures and images. Integers at the interface are those of the source, even if the
    /// target has floats instead.
    pub fn run_with(
        &self,
        inputs: &Inputs,
        resources: &mut dyn Resources,
        limits: RunLimits,
    ) -> Result<Outputs, ShaderError> {
        let Some(integers) = &self.integers else { return self.program.run(inputs, resources, limits) };
        let mut inputs = inputs.clone();
        integers.to_floats(&mut inputs);
        let mut outputs = self.program.run(&inputs, resources, limits)?;
        integers.to_integers(&mut outputs);
        Ok(outputs)
    }
}

impl Program {
    fn run(&self, inputs: &Inputs, resources: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, ShaderError> {
        match self {
            Program::Tgsi(program) => tgsi_run::run(program, inputs, resources, limits)
                .map_err(|e| ShaderError::Coded(e.code(), e.to_string())),
            Program::Code(runner) => runner.run(inputs, resources, limits).map_err(ShaderError::Other),
            Program::Ir(shader) => tgsi_ir::run::run(shader, inputs, resources, limits)
                .map_err(|e| ShaderError::Coded(e.code(), e.to_string())),
        }
    }
}

/// Runs IR with the analytic textures.
pub fn run_ir(shader: &tgsi_ir::Shader, inputs: &Inputs, limits: RunLimits) -> Result<RunResult, ShaderError> {
    let mut resources = AnalyticResources::default();
    let outputs = tgsi_ir::run::run(shader, inputs, &mut resources, limits)
        .map_err(|e| ShaderError::Coded(e.code(), e.to_string()))?;
    Ok(RunResult { outputs, resources })
}

impl RunResult {
    /// Returns the stored texels, in order.
    pub fn texels(&self) -> Vec<(tgsi_environment::ImageTexel, [u32; 4])> {
        self.resources.stored_texels().into_iter().collect()
    }
}
