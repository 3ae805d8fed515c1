//! A shader made ready for one executor.

use tgsi::Shader;
use tgsi_ir::run::environment::{AnalyticResources, Inputs, Outputs, Resources, RunLimits};

use super::Via;
use crate::args::Stage;
use crate::input::Problem;
use crate::stages;

/// A shader made ready for one executor.
pub enum Executor {
    /// For the TGSI interpreter.
    Tgsi(Box<tgsi::run::Program>),
    /// For the IR interpreter.
    Ir(Box<tgsi_ir::Shader>),
}

/// What a run left, textures and images included.
pub struct Leftover {
    /// Registers, memory, emitted vertices.
    pub outputs: Outputs,
    /// Stored texels.
    pub resources: AnalyticResources,
}

impl Executor {
    /// Takes a checked shader as far as the executor needs it.
    pub fn new(shader: &Shader, via: Via) -> Result<Executor, String> {
        let message = |problem: Problem| match problem {
            Problem::Other(message) => message,
            Problem::Tokens(error) => error.to_string(),
            Problem::Text(findings) => findings.first().map(ToString::to_string).unwrap_or_default(),
        };
        let ir = |stage| stages::to_stage(shader, stage).map(|s| Executor::Ir(Box::new(s))).map_err(message);
        match via {
            Via::Tgsi => Executor::tgsi(shader),
            Via::Ir => ir(Stage::Parsed),
            Via::Ssa => ir(Stage::Ssa),
            Via::Registers => ir(Stage::Registers),
            Via::DriverTgsi => Executor::tgsi(&stages::translate(shader).map_err(message)?),
        }
    }

    fn tgsi(shader: &Shader) -> Result<Executor, String> {
        tgsi::run::Program::new(shader).map(|p| Executor::Tgsi(Box::new(p))).map_err(|e| e.to_string())
    }

    /// Runs it with the analytic textures.
    pub fn run(&self, inputs: &Inputs, limits: RunLimits) -> Result<Leftover, String> {
        let mut resources = AnalyticResources::default();
        let outputs = match self {
            Executor::Tgsi(program) => {
                tgsi::run::run(program, inputs, &mut resources, limits).map_err(|e| e.to_string())?
            }
            Executor::Ir(shader) => {
                tgsi_ir::run::run(shader, inputs, &mut resources, limits).map_err(|e| e.to_string())?
            }
        };
        Ok(Leftover { outputs, resources })
    }
}

impl Leftover {
    /// Stored texels, in order.
    pub fn texels(&self) -> Vec<(tgsi_ir::run::environment::ImageTexel, [u32; 4])> {
        self.resources.stored_texels().into_iter().collect()
    }
}
