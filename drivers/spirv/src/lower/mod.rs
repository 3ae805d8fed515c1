//! Lowering: the passes of the IR that take away what the target lacks, and those of this driver.

mod lower_1d_textures;
mod lower_implicit_lod;
mod lower_projectors;
mod lower_rect_coordinates;
mod lower_texture_offsets;
mod mark_divergence;
mod texture_edit;

use tgsi_ir::Shader;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::passes::profiles::Profile;

use crate::error::SpirvError;
use crate::options::SpirvOptions;

/// Lowers optimised SSA to what [`emit`](crate::emit) takes.
///
/// # Errors
/// [`SpirvError`].
pub fn lower(shader: &mut Shader, options: &SpirvOptions, passes: &mut Passes<'_>) -> Result<(), SpirvError> {
    let compiler_options = options.compiler_options(shader.stage);
    if !options.float64 || !options.int64 {
        if let Some(narrow) = Profile::from_name("narrow") {
            narrow.run(shader, &compiler_options, passes);
        }
    }
    lower_textures(shader, options);
    mark_divergence::mark_divergence(shader);
    Ok(())
}

/// Lookups become what SPIR-V has.
fn lower_textures(shader: &mut Shader, options: &SpirvOptions) {
    lower_projectors::lower_projectors(shader);
    lower_rect_coordinates::lower_rect_coordinates(shader);
    if options.portable {
        lower_1d_textures::lower_1d_textures(shader);
    }
    lower_texture_offsets::lower_texture_offsets(shader, options.portable);
    lower_implicit_lod::lower_implicit_lod(shader);
}
