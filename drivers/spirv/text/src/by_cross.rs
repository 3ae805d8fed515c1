//! By SPIRV-Cross: GLSL, ESSL, MSL, HLSL. Bindings are those of the module.

use spirv_cross2::compile::CompilableTarget;
use spirv_cross2::compile::glsl::GlslVersion;
use spirv_cross2::compile::hlsl::HlslShaderModel;
use spirv_cross2::targets::{Glsl, Hlsl, Msl};
use spirv_cross2::{Compiler, Module, SpirvCrossError};
use tgsi_ir::Stage;

use crate::driver::TextTarget;
use crate::error::TextError;
use crate::language::Language;

const CROSS: &str = "SPIRV-Cross";

fn reader(error: SpirvCrossError) -> TextError {
    TextError::Reader(CROSS, error.to_string())
}

fn writer(error: SpirvCrossError) -> TextError {
    TextError::Writer(CROSS, error.to_string())
}

/// The text of a module.
///
/// # Errors
/// [`TextError`].
pub fn translate(module: &[u8], target: &TextTarget, stage: Stage) -> Result<String, TextError> {
    let _ = stage;
    let words: Vec<u32> =
        module.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let module = Module::from_words(&words);
    match target.language {
        Language::Msl => {
            let compiler = Compiler::<Msl>::new(module).map_err(reader)?;
            let mut options = Msl::options();
            options.version = (u32::from(target.version / 100), u32::from(target.version % 100)).into();
            Ok(compiler.compile(&options).map_err(writer)?.to_string())
        }
        Language::Hlsl => {
            let compiler = Compiler::<Hlsl>::new(module).map_err(reader)?;
            let mut options = Hlsl::options();
            options.shader_model = match target.version {
                501 => HlslShaderModel::ShaderModel5_1,
                607 => HlslShaderModel::ShaderModel6_7,
                _ => HlslShaderModel::ShaderModel6_0,
            };
            // The sizes of points are the rasteriser's business, as all of Direct3D has it.
            options.point_size_compat = true;
            options.point_coord_compat = true;
            Ok(compiler.compile(&options).map_err(writer)?.to_string())
        }
        Language::Glsl | Language::Essl | Language::Wgsl => {
            let mut compiler = Compiler::<Glsl>::new(module).map_err(reader)?;
            let sampler = compiler.create_dummy_sampler_for_combined_images().map_err(reader)?;
            compiler.build_combined_image_samplers(sampler).map_err(reader)?;
            let mut options = Glsl::options();
            options.version = match (target.language, target.version) {
                (Language::Essl, 310) => GlslVersion::Glsl310Es,
                (Language::Essl, _) => GlslVersion::Glsl320Es,
                (_, 430) => GlslVersion::Glsl430,
                (_, 460) => GlslVersion::Glsl460,
                _ => GlslVersion::Glsl450,
            };
            options.es_default_float_precision_highp = true;
            options.es_default_int_precision_highp = true;
            Ok(compiler.compile(&options).map_err(writer)?.to_string())
        }
    }
}
