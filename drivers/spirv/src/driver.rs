//! The driver: implements the compiler's `Driver` and `Target`.

use tgsi_compiler::reflection::Reflection;
use tgsi_compiler::{
    Code, CodeSize, Driver, DriverOption, Fidelity, SlotLocations, Target, TargetError, UnknownOption,
};
use tgsi_diagnostics::ErrorCode;
use tgsi_ir::alu::AluOp;

use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::shader::ShaderStage;

use crate::emit::{Emitted, emit};
use crate::error::SpirvError;
use crate::lower::lower;
use crate::options::{Locations, SpirvOptions};

/// The SPIR-V driver.
#[derive(Clone, Copy, Debug)]
pub struct Spirv;

/// The SPIR-V driver's only instance.
pub static DRIVER: Spirv = Spirv;

impl Driver for Spirv {
    fn name(&self) -> &'static str {
        "spirv"
    }

    fn about(&self) -> &'static str {
        "SPIR-V for Vulkan and OpenGL"
    }

    fn file_extension(&self) -> &'static str {
        "spv"
    }

    fn is_binary(&self) -> bool {
        true
    }

    fn options(&self) -> &'static [DriverOption] {
        SpirvOptions::OPTIONS
    }

    fn profiles(&self) -> &'static [DriverOption] {
        SpirvOptions::PROFILES
    }

    fn error_codes(&self) -> &'static [ErrorCode] {
        SpirvError::CODES
    }

    fn explanations(&self) -> &'static str {
        include_str!("../explanations.txt")
    }

    fn target(&self, options: &[&str]) -> Result<Box<dyn Target>, UnknownOption> {
        let mut target = SpirvOptions::default();
        for name in options {
            target.set(name)?;
        }
        Ok(Box::new(target))
    }
}

impl Target for SpirvOptions {
    fn compiler_options(&self, stage: ShaderStage) -> CompilerOptions {
        SpirvOptions::compiler_options(self, stage)
    }

    fn fidelity(&self, _stage: ShaderStage) -> Fidelity {
        use AluOp::*;
        let mut fidelity = Fidelity::default();
        // Opcodes to which Vulkan gives a precision in ULP, and those derived from them.
        fidelity.device_ops = &[Frcp, Fdiv, Frsq, Fsqrt, Fexp2, Flog2, Fpow, Fsin, Fcos, Fmod, Frem, Flrp, Ffma];
        fidelity
    }

    fn with_locations(
        &self,
        inputs: Option<&SlotLocations>,
        outputs: Option<&SlotLocations>,
    ) -> Option<Box<dyn Target>> {
        let mut target = self.clone();
        target.set_locations(inputs, outputs);
        Some(Box::new(target))
    }

    fn captured_outputs(&self) -> Vec<u32> {
        self.stream_output.captures.iter().map(|capture| capture.register).collect()
    }

    fn keeps_source(&self) -> bool {
        self.debug_info
    }

    fn lower(&self, shader: &mut tgsi_ir::Shader, passes: &mut Passes<'_>) -> Result<(), Box<dyn TargetError>> {
        Ok(lower(shader, self, passes)?)
    }

    fn emit(
        &self,
        lowered: tgsi_ir::Shader,
        source: Option<&tgsi::Shader>,
        _passes: &mut Passes<'_>,
    ) -> Result<Code, Box<dyn TargetError>> {
        Ok(self.emit_module(&lowered, source, None)?.into_code())
    }

    fn reflect(&self, lowered: &tgsi_ir::Shader) -> Option<Result<Reflection, Box<dyn TargetError>>> {
        Some(self.emit_module(lowered, None, None).map(|emitted| emitted.reflection))
    }

    fn size(&self, code: &Code) -> CodeSize {
        let Code::Binary(bytes) = code else { return CodeSize::default() };
        CodeSize { instructions: count_instructions(bytes), ..CodeSize::default() }
    }
}

impl SpirvOptions {
    #[doc(hidden)]
    /// Sets the locations of a shader that was linked with its neighbours.
    pub fn set_locations(&mut self, inputs: Option<&SlotLocations>, outputs: Option<&SlotLocations>) {
        self.locations = Locations { inputs: inputs.cloned(), outputs: outputs.cloned() };
    }

    #[doc(hidden)]
    /// Emits the module of a shader that [`lower`](Target::lower) has lowered, for crates that process it further.
    /// `source` is given if its text and lines are to be in the module; the note is embedded as a string.
    ///
    /// # Errors
    /// [`SpirvError`], with the instruction it concerns.
    pub fn emit_module(
        &self,
        lowered: &tgsi_ir::Shader,
        source: Option<&tgsi::Shader>,
        note: Option<&str>,
    ) -> Result<Emitted, Box<dyn TargetError>> {
        emit(lowered, self, source, note).map_err(|error| error.located(lowered))
    }
}

/// Counts the instructions within functions.
fn count_instructions(bytes: &[u8]) -> u32 {
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let (mut at, mut count, mut within) = (5, 0, false);
    while let Some(&word) = words.get(at) {
        within |= word & 0xffff == spirv::Op::Function as u32;
        count += u32::from(within);
        at += (word >> 16).max(1) as usize;
    }
    count
}
