//! The target: a SPIR-V module, translated by a library.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tgsi_compiler::{Code, CodeSize, Located, SlotLocations, Subject, Target, TargetError};
use tgsi_driver_spirv::SpirvOptions;

use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::shader::ShaderStage;

use crate::error::TextError;
use crate::error_source::{source_of_instruction, source_of_missing_feature};
use crate::language::Language;
use crate::options::TextOptions;
use crate::unsupported::check_support;

/// A driver with its options set.
#[derive(Clone, Debug)]
pub struct TextTarget {
    /// The options for the translation of the module.
    pub options: TextOptions,
    /// The options for the SPIR-V driver.
    pub spirv: SpirvOptions,
}

impl Target for TextTarget {
    fn compiler_options(&self, stage: ShaderStage) -> CompilerOptions {
        self.spirv.compiler_options(stage)
    }

    fn with_locations(
        &self,
        inputs: Option<&SlotLocations>,
        outputs: Option<&SlotLocations>,
    ) -> Option<Box<dyn Target>> {
        let mut target = self.clone();
        target.spirv.set_locations(inputs, outputs);
        Some(Box::new(target))
    }

    fn following(&self, code: &Code) -> Option<Box<dyn Target>> {
        match (self.options.language, code) {
            (Language::Glsl | Language::Essl, Code::Text(text)) => {
                let mut target = self.clone();
                target.options.first_bindings = target.options.first_bindings.following(text);
                Some(Box::new(target))
            }
            _ => None,
        }
    }

    fn lower(&self, shader: &mut tgsi_ir::Shader, passes: &mut Passes<'_>) -> Result<(), Box<dyn TargetError>> {
        if !self.options.language.has_stage(shader.stage) {
            return Err(TextError::Stage(shader.stage, self.options.language.name()).into());
        }
        Target::lower(&self.spirv, shader, passes)
    }

    fn emit(
        &self,
        lowered: tgsi_ir::Shader,
        interface: Option<&tgsi::Shader>,
        _passes: &mut Passes<'_>,
    ) -> Result<Code, Box<dyn TargetError>> {
        let module = self.spirv.emit_module(&lowered, interface, None)?;
        let (words, origins) = (&module.words, &module.origins);
        check_support(words, &self.options).map_err(|(error, at)| {
            let subject = source_of_instruction(words, at, origins);
            Located { error, subject }
        })?;
        let text = translate(words, &self.options).map_err(|error| {
            let subject = match &error {
                TextError::Lacks(_, what) => source_of_missing_feature(words, what, origins),
                _ => Subject::Shader,
            };
            Located { error, subject }
        })?;
        Ok(Code::Text(text))
    }

    fn size(&self, code: &Code) -> CodeSize {
        let Code::Text(text) = code else { return CodeSize::default() };
        let statements = text.lines().filter(|line| line.trim_end().ends_with(';')).count();
        CodeSize { instructions: u32::try_from(statements).unwrap_or(u32::MAX), ..CodeSize::default() }
    }
}

/// Translates a module that the language supports.
///
/// # Errors
/// [`TextError`].
pub fn translate(words: &[u32], options: &TextOptions) -> Result<String, TextError> {
    match options.language {
        Language::Wgsl => caught("naga", || crate::naga_wgsl::translate(words, options)),
        #[cfg(feature = "spirv-cross")]
        _ => caught("SPIRV-Cross", || crate::spirv_cross::translate(words, options)),
        #[cfg(not(feature = "spirv-cross"))]
        _ => Err(TextError::Writer("this build", "it is without SPIRV-Cross".to_owned())),
    }
}

/// Runs a library, turning a panic into an error.
fn caught(library: &'static str, run: impl FnOnce() -> Result<String, TextError>) -> Result<String, TextError> {
    // No state that a panic leaves behind is used again.
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
        let message = payload
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| payload.downcast_ref::<&str>().map(|&text| text.to_owned()))
            .unwrap_or_default();
        Err(TextError::Panic(library, message))
    })
}
