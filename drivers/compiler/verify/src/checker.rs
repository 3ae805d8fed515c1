//! The parameters of checks, and the facts about a target that comparisons depend on.

use tgsi::Shader;
use tgsi::tables::Processor;
use tgsi_compiler::{
    Code, CompileError, Compiler, Driver, InterfaceIntegers, RunError, Runner, RunnerFn, Source, Stage, TextureLimits,
};
use tgsi_environment::RunLimits;
use tgsi_ir::ShaderStage;
use tgsi_ir::alu::{AluOp, BaseType};
use tgsi_smith::{Config, Features, STAGES};
use tgsi_to_ir::slots::stage_of;

/// A compiler whose translations are checked, and the parameters of the checks.
#[derive(Clone, Debug)]
pub struct Checker {
    /// The compiler, for a target of the driver whose code `runner` runs ([`RunTargetFn`](tgsi_compiler::RunTargetFn)).
    pub compiler: Compiler,
    /// The driver.
    pub driver: &'static dyn Driver,
    /// Runs the driver's code. Without one, code is emitted and not run.
    pub runner: Option<RunnerFn>,
    /// The number of sets of generated inputs.
    pub seeds: u64,
    /// Whether words are compared bit by bit, except for NaN and the sign of zero. This fits shaders of [`tgsi_smith`],
    /// and targets that keep rounding. For the latter, [`verify`](Self::verify) also compares with the results of a
    /// consumer that rounds differently inside `MAD`, `LRP` and dot products.
    pub exact: bool,
    /// The limits of a run.
    pub limits: RunLimits,
}

impl Checker {
    /// Creates a checker with 12 sets of inputs and the limits of the compiler. Its comparisons are not exact.
    pub fn new(compiler: Compiler, driver: &'static dyn Driver, runner: Option<RunnerFn>) -> Checker {
        let limits = compiler.limits().of_runs();
        Checker { compiler, driver, runner, seeds: 12, exact: false, limits }
    }

    /// Returns the configuration of [`tgsi_smith`] for shaders whose results are defined for the target.
    pub fn generator_config(&self) -> Config {
        let target = self.compiler.target();
        let options = target.compiler_options(ShaderStage::Fragment);
        // A device may round more than once, and has no sine for large angles. Other targets may round products before
        // adding; their polynomials are for small angles.
        let is_device = self.is_run_by_device();
        let fragment = target.fidelity(ShaderStage::Fragment);
        let is_approximated = fragment.approximations.contains(&AluOp::Fsin);
        let fused = if is_device || options.lower_ffma { Features::FUSED } else { Features::NONE };
        let periodic = if is_device || is_approximated { Features::PERIODIC } else { Features::NONE };
        Config::default()
            .with_features(Features::ALL.without(fused).without(periodic))
            .with_integers(!fragment.lacks_integers)
            .with_vertex_flow(!target.fidelity(ShaderStage::Vertex).lacks_selections)
            .with_stages_without_textures(STAGES.into_iter().filter(|&stage| !target.has_textures(stage_of(stage))))
    }

    /// Creates the runner of code; `None` if nothing runs it.
    pub(crate) fn runner(&self, code: &Code) -> Result<Option<Box<dyn Runner>>, RunError> {
        self.runner.and_then(|runner| runner(self.compiler.target(), code)).transpose()
    }

    /// Returns the integers at the interface that the target reads and writes as floats; `None` if it has integers.
    pub(crate) fn interface_integers(
        &self,
        source: &Source<'_>,
        processor: Processor,
    ) -> Result<Option<InterfaceIntegers>, CompileError> {
        if !self.compiler.target().fidelity(stage_of(processor)).lacks_integers {
            return Ok(None);
        }
        let mut compilation = self.compiler.start(source.borrowed())?;
        compilation.advance(Stage::Opt)?;
        compilation.interface_integers()
    }

    /// Returns whether code of the driver is run by a device that may round some operations differently.
    pub(crate) fn is_run_by_device(&self) -> bool {
        !self.compiler.target().fidelity(ShaderStage::Fragment).device_ops.is_empty()
    }

    /// Returns whether code of the driver keeps the rounding of a source.
    pub(crate) fn keeps_rounding(&self, shader: &Shader) -> bool {
        self.compiler.keeps_rounding(stage_of(shader.processor))
    }

    /// Returns whether a shader has operations that the executor of the driver's code may round differently.
    pub(crate) fn is_approximate(&self, shader: &tgsi_ir::Shader) -> bool {
        has_any(shader, self.compiler.target().fidelity(shader.stage).device_ops)
    }

    /// Returns the limits of textures and images of the target.
    pub(crate) fn textures(&self, shader: &Shader) -> TextureLimits {
        self.compiler.target().fidelity(stage_of(shader.processor)).textures
    }

    /// Returns whether a shader has operations that lowering [approximates](tgsi_compiler::Fidelity::approximations).
    pub(crate) fn is_approximated(&self, shader: &tgsi_ir::Shader) -> bool {
        has_any(shader, self.compiler.target().fidelity(shader.stage).approximations)
    }

    /// Returns whether results of a shader may depend on the device for special operands. This is so for
    /// [approximate](Self::is_approximate) operations, and for operations that make bits of a NaN visible: on packed
    /// halves, and on 64-bit numbers, which are two words.
    pub(crate) fn depends_on_device(&self, shader: &tgsi_ir::Shader) -> bool {
        let shows_nan = |op: AluOp, is_wide: bool| {
            op.info().output_type.base == BaseType::Float && is_wide || op.name().starts_with("pack_half")
        };
        alu_ops(shader).any(|(op, is_wide)| shows_nan(op, is_wide)) || self.is_approximate(shader)
    }
}

/// Returns whether a shader has one of these operations.
fn has_any(shader: &tgsi_ir::Shader, ops: &[AluOp]) -> bool {
    !ops.is_empty() && alu_ops(shader).any(|(op, _)| ops.contains(&op))
}

/// Returns the ALU operations of a shader, and whether each has a 64-bit result.
fn alu_ops(shader: &tgsi_ir::Shader) -> impl Iterator<Item = (AluOp, bool)> {
    let bodies = shader.functions.values().filter_map(|function| function.body.as_ref());
    bodies.flat_map(|body| {
        let insts = body.blocks().flat_map(|block| body.insts(block));
        insts.filter_map(|inst| {
            Some((body.alu_op(inst)?, body.inst_def(inst).is_some_and(|def| body.bit_size(def) == 64)))
        })
    })
}
