//! The target for runs: its code is a compute shader with its environment in a storage buffer.

use std::any::Any;

use tgsi_compiler::{Code, CodeSize, Fidelity, SlotLocations, Target, TargetError};
use tgsi_driver_spirv::{SpirvError, SpirvOptions};
use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::shader::ShaderStage;
use tgsi_spirv_harness::{Unsupported, lift};

/// The SPIR-V driver's target for code that the [runner](crate::runner) runs. Lowered shaders are those of the driver;
/// emission lifts them.
#[derive(Clone, Debug)]
pub struct HarnessTarget(SpirvOptions);

impl HarnessTarget {
    /// Returns the target for runs with the options of the driver.
    pub fn new(mut options: SpirvOptions) -> HarnessTarget {
        // The code is compared with an interpreter.
        options.no_contraction = true;
        options.denorm_preserve = true;
        options.analytic_textures = true;
        HarnessTarget(options)
    }
}

/// Returns the target for runs of code of a target; `None` if the target belongs to another driver.
pub fn run_target(target: &dyn Target) -> Option<Box<dyn Target>> {
    let mut options = (target as &dyn Any).downcast_ref::<SpirvOptions>()?.clone();
    // The runner removes float controls that the device does not support.
    options.float_controls = true;
    Some(Box::new(HarnessTarget::new(options)))
}

impl Target for HarnessTarget {
    fn compiler_options(&self, stage: ShaderStage) -> CompilerOptions {
        self.0.compiler_options(stage)
    }

    fn fidelity(&self, stage: ShaderStage) -> Fidelity {
        self.0.fidelity(stage)
    }

    fn with_locations(
        &self,
        inputs: Option<&SlotLocations>,
        outputs: Option<&SlotLocations>,
    ) -> Option<Box<dyn Target>> {
        let mut target = self.clone();
        target.0.set_locations(inputs, outputs);
        Some(Box::new(target))
    }

    fn captured_outputs(&self) -> Vec<u32> {
        self.0.captured_outputs()
    }

    fn lower(&self, shader: &mut tgsi_ir::Shader, passes: &mut Passes<'_>) -> Result<(), Box<dyn TargetError>> {
        self.0.lower(shader, passes)
    }

    fn emit(
        &self,
        mut lowered: tgsi_ir::Shader,
        _source: Option<&tgsi::Shader>,
        _passes: &mut Passes<'_>,
    ) -> Result<Code, Box<dyn TargetError>> {
        let layout = lift(&mut lowered)
            .map_err(|Unsupported { inst, what }| SpirvError::Harness { inst, what }.located(&lowered))?;
        let emitted = self.0.emit_module(&lowered, None, Some(&layout.to_json()))?;
        Ok(emitted.into_code())
    }

    fn size(&self, code: &Code) -> CodeSize {
        self.0.size(code)
    }
}
