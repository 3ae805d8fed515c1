//! A shader in executable form: a program of the IR's interpreter, with machine code where possible.

use tgsi_compiler::CodeSize;
use tgsi_environment::{Inputs, LaneRegisters, Outputs, Resources, RunLimits};
use tgsi_ir::run::RunError;
use tgsi_ir::run::native::Op;
use tgsi_ir::{Shader, ShaderStage};

use crate::error::CpuError;
use crate::options::{Options, Report};
use crate::sampler::{KnownUnitState, Sampled};

/// A shader in executable form. It is immutable, and several threads may use it at once.
#[derive(Debug)]
pub struct Program {
    pub(crate) program: tgsi_ir::run::Program,
    pub(crate) report: Report,
    /// Invocations of a workgroup in each dimension; 0 if the shader does not declare it.
    workgroup: [u32; 3],
}

/// Compiles a shader that the driver lowered (`Target::lower`).
///
/// # Errors
/// [`CpuError`].
pub fn compile(shader: &Shader, options: Options) -> Result<Program, CpuError> {
    compile_with(shader, options, &[])
}

/// Compiles a shader with inline lookups for textures and samplers of known state. The program also runs with any
/// others; [`Program::known_units`] returns the units of a host.
///
/// # Errors
/// As [`compile`].
pub fn compile_with(shader: &Shader, options: Options, known: &[KnownUnitState]) -> Result<Program, CpuError> {
    let mut program = tgsi_ir::run::Program::new(shader)?;
    let report = add_machine_code(&mut program, options, known);
    let size = shader.info.workgroup_size;
    let is_fixed = !shader.info.workgroup_size_variable && size.iter().all(|&size| size > 0);
    let is_compute = matches!(shader.stage, ShaderStage::Compute | ShaderStage::Kernel);
    Ok(Program { program, report, workgroup: if is_fixed && is_compute { size } else { [0; 3] } })
}

#[cfg(feature = "machine-code")]
fn add_machine_code(program: &mut tgsi_ir::run::Program, options: Options, known: &[KnownUnitState]) -> Report {
    if options.machine_code {
        crate::native::compile(program, options, known)
    } else {
        Report { total: program.ops().len(), ..Report::default() }
    }
}

#[cfg(not(feature = "machine-code"))]
fn add_machine_code(program: &mut tgsi_ir::run::Program, _: Options, _: &[KnownUnitState]) -> Report {
    Report { total: program.ops().len(), ..Report::default() }
}

impl Program {
    /// Runs all lanes of the inputs at once, as one block.
    ///
    /// # Errors
    /// The run exceeds a limit.
    pub fn run(&self, inputs: &Inputs, resources: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, RunError> {
        self.program.run(inputs, resources, limits)
    }

    /// The same, except that independent lanes are split into blocks with lane vectors that stay in the cache.
    ///
    /// # Errors
    /// As [`run`](Self::run), with the limits for each block.
    pub fn run_together(
        &self,
        inputs: &Inputs,
        resources: &mut dyn Resources,
        limits: RunLimits,
    ) -> Result<Outputs, RunError> {
        let alone = matches!(self.stage(), ShaderStage::Vertex | ShaderStage::TessEval | ShaderStage::Fragment)
            && !self.writes_memory();
        let block = if alone { self.block_lanes() } else { inputs.lanes };
        self.program.run_blocks(inputs, 0..inputs.lanes, block, resources, limits, LaneRegisters::default())
    }

    /// Returns the stage of the shader.
    pub fn stage(&self) -> ShaderStage {
        self.program.stage()
    }

    /// Returns the invocations of a workgroup in each dimension, if a compute shader declares it; else 0.
    pub fn workgroup(&self) -> [u32; 3] {
        self.workgroup
    }

    /// Returns the number of output registers.
    pub fn output_registers(&self) -> usize {
        self.program.output_registers()
    }

    /// Returns whether a run may write buffers, counters or images. Blocks of such a program run in sequence.
    pub fn writes_memory(&self) -> bool {
        self.program.writes_memory()
    }

    /// Returns the known state of the textures and samplers that the program uses, from the resources.
    pub fn known_units(&self, resources: &mut dyn Resources) -> Vec<KnownUnitState> {
        let mut known: Vec<KnownUnitState> = Vec::new();
        let textures = self.program.textures().iter();
        for (texture, sampler) in textures.filter_map(|texture| self.program.constant_units(texture)) {
            if known.iter().any(|known| (known.texture, known.sampler) == (texture, sampler)) {
                continue;
            }
            let sampled = resources.known(texture, sampler).and_then(|found| found.downcast::<Sampled>().ok());
            known.extend(sampled.map(|sampled| KnownUnitState::of(texture, sampler, &sampled)));
        }
        known
    }

    /// Returns the size of the program.
    pub(crate) fn size(&self) -> CodeSize {
        let program = &self.program;
        let immediates = program.constants().len() as u32;
        let vectors = program.num_value_vectors() + program.num_register_vectors();
        CodeSize {
            instructions: program.ops().len() as u32,
            temporaries: vectors.saturating_sub(immediates),
            immediates,
        }
    }

    /// Returns the names of the interpreted operations, without control flow.
    pub fn interpreted(&self) -> Vec<&'static str> {
        let program = &self.program;
        let mut names = Vec::new();
        let mut at = 0;
        while let Some(&op) = program.ops().get(at) {
            at += 1;
            match op {
                Op::Native { end, .. } => at = end as usize,
                Op::Alu(number) => names.push(program.alus()[number as usize].op.name()),
                Op::Intrinsic(number) => names.push(program.intrinsics()[number as usize].op.name()),
                Op::Texture(_) => names.push("tex"),
                Op::Deref(_) => names.push("deref"),
                Op::Copies { .. } => names.push("copies"),
                _ => {}
            }
        }
        names
    }

    /// Returns the statistics of machine code.
    pub fn report(&self) -> &Report {
        &self.report
    }
}
