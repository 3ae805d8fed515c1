//! A shader made ready for one executor.

use tgsi_compiler::{Runner, Stage};
use tgsi_ir::run::environment::{AnalyticResources, Inputs, Outputs, Resources, RunLimits};

use crate::executor_kind::ExecutorKind;
use crate::input::ShaderError;
use crate::input_shader::InputShader;
use crate::plan::Plan;

/// A shader made ready for one executor.
pub enum Executor {
    /// For the TGSI interpreter.
    Tgsi(Box<tgsi::run::Program>),
    /// For the IR interpreter.
    Ir(Box<tgsi_ir::Shader>),
    /// The code that a driver emits.
    Code(Box<dyn Runner>),
}

/// The executors for a shader in the order of the stages. The first one runs the input itself.
pub fn kinds_for(subject: &InputShader, plan: &Plan) -> impl Iterator<Item = ExecutorKind> + use<> {
    let stages = Stage::ALL.map(ExecutorKind::Stage);
    let all = [ExecutorKind::Tgsi].into_iter().chain(stages).chain([ExecutorKind::Driver(plan.driver.name())]);
    let first = input_kind(subject);
    all.skip_while(move |&kind| kind != first)
}

/// The executor that runs the input itself.
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
    /// The same as [`new`](Self::new), but `None` for code of a driver that nothing can run: there is nothing to
    /// compare.
    pub fn if_any(subject: &InputShader, via: ExecutorKind, plan: &Plan) -> Result<Option<Executor>, ShaderError> {
        if let ExecutorKind::Driver(name) = via
            && name == plan.driver.name()
        {
            let code = subject.code(plan)?;
            let runner = tgsi_drivers::runner(plan.compiler.target(), &code).transpose();
            return Ok(runner.map_err(ShaderError::Other)?.map(Executor::Code));
        }
        Executor::new(subject, via, plan).map(Some)
    }

    /// Takes a checked shader as far as the executor needs it.
    pub fn new(subject: &InputShader, via: ExecutorKind, plan: &Plan) -> Result<Executor, ShaderError> {
        match (via, subject) {
            (ExecutorKind::Tgsi, InputShader::Tgsi(shader)) => Executor::tgsi(shader),
            (ExecutorKind::Tgsi, InputShader::Ir { .. }) => {
                Err(ShaderError::Other("there is no TGSI to run, the shader is IR".into()))
            }
            (ExecutorKind::Stage(stage), _) => subject.to_stage(stage, plan).map(|s| Executor::Ir(Box::new(s))),
            (ExecutorKind::Driver(name), _) if name == plan.driver.name() => {
                let code = subject.code(plan)?;
                let runner = tgsi_drivers::runner(plan.compiler.target(), &code);
                let runner = runner.unwrap_or_else(|| Err(format!("nothing can run the code of {name}")));
                runner.map(Executor::Code).map_err(ShaderError::Other)
            }
            (ExecutorKind::Driver(name), _) => Err(ShaderError::Other(format!(
                "to run code of the driver {name} takes --driver {name}; it is {}",
                plan.driver.name()
            ))),
        }
    }

    /// For a TGSI shader as it is.
    pub fn tgsi(shader: &tgsi::Shader) -> Result<Executor, ShaderError> {
        tgsi::run::Program::new(shader)
            .map(|p| Executor::Tgsi(Box::new(p)))
            .map_err(|e| ShaderError::Coded(e.code(), e.to_string()))
    }

    /// Whether a run took too long on a device and was given up, so that later ones are not tried.
    pub fn is_unended(&self) -> bool {
        matches!(self, Executor::Code(runner) if runner.is_unended())
    }

    /// Runs it with the analytic textures.
    pub fn run(&self, inputs: &Inputs, limits: RunLimits) -> Result<RunResult, ShaderError> {
        let mut resources = AnalyticResources::default();
        let outputs = self.run_with(inputs, &mut resources, limits)?;
        Ok(RunResult { outputs, resources })
    }

    /// Runs it with these textures and images.
    pub fn run_with(
        &self,
        inputs: &Inputs,
        resources: &mut dyn Resources,
        limits: RunLimits,
    ) -> Result<Outputs, ShaderError> {
        match self {
            Executor::Tgsi(program) => tgsi::run::run(program, inputs, resources, limits)
                .map_err(|e| ShaderError::Coded(e.code(), e.to_string())),
            Executor::Code(runner) => runner.run(inputs, resources, limits).map_err(ShaderError::Other),
            Executor::Ir(shader) => tgsi_ir::run::run(shader, inputs, resources, limits)
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
    /// Stored texels, in order.
    pub fn texels(&self) -> Vec<(tgsi_ir::run::environment::ImageTexel, [u32; 4])> {
        self.resources.stored_texels().into_iter().collect()
    }
}
