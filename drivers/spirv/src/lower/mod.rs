//! Lowering: the IR passes that remove constructs the target lacks, and the passes of this driver.

mod lower_1d_textures;
mod lower_implicit_lod;
mod lower_projectors;
mod lower_rect_coordinates;
mod lower_texture_offsets;
mod lower_wide_masks;
mod mark_divergence;

use tgsi_ir::Shader;
use tgsi_ir::passes::lower_numbers::lower_alu;
use tgsi_ir::passes::lower_resources::{
    lower_io_where, lower_sample_positions, lower_samples_identical, lower_wide_io,
};
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::passes::pipeline::finish;
use tgsi_ir::passes::profiles::Profile;
use tgsi_ir::passes::table::rows::{lower_doubles, lower_small_types};
use tgsi_ir::types::{TypeData, TypeTable};
use tgsi_ir::variable::{VariableData, VariableModes};

use crate::error::SpirvError;
use crate::options::SpirvOptions;

use lower_1d_textures::lower_1d_textures;
use lower_implicit_lod::lower_implicit_lod;
use lower_projectors::lower_projectors;
use lower_rect_coordinates::lower_rect_coordinates;
use lower_texture_offsets::lower_texture_offsets;
use lower_wide_masks::lower_wide_masks;
use mark_divergence::mark_divergence;

/// Lowers optimised SSA to the form that [`emit`](crate::emit) expects.
///
/// # Errors
/// [`SpirvError`].
pub fn lower(shader: &mut Shader, options: &SpirvOptions, passes: &mut Passes<'_>) -> Result<(), SpirvError> {
    let compiler_options = options.compiler_options(shader.stage);
    passes.run_driver("lower_io", || lower_unusual_io(shader));
    // Modules with numbers of 8 and 16 bits would need features that few devices have.
    if passes.run(shader, lower_small_types, &compiler_options) {
        passes.run_driver("finish", || finish(shader, &compiler_options));
    }
    if !options.int64 {
        passes.run_driver("lower_wide_masks", || lower_wide_masks(shader));
    }
    if (!options.float64 || !options.int64)
        && let Some(narrow) = Profile::from_name("narrow")
    {
        narrow.run(shader, &compiler_options, passes);
    } else {
        passes.run(shader, lower_doubles, &compiler_options);
    }
    if compiler_options.lower_mul_high {
        passes.run_driver("lower_alu", || lower_alu(shader, &compiler_options));
    }
    lower_textures(shader, options, passes);
    passes.run_driver("mark_divergence", || mark_divergence(shader));
    Ok(())
}

/// Lowers accesses of inputs and outputs that are nested arrays or 64-bit numbers to slots of four words.
fn lower_unusual_io(shader: &mut Shader) -> bool {
    let io = VariableModes::SHADER_IN.union(VariableModes::SHADER_OUT);
    let is_unusual = |types: &TypeTable, data: &VariableData| {
        let of_vertex = match *types.get(data.ty) {
            TypeData::Array { element, .. } if data.per_vertex => element,
            _ => data.ty,
        };
        let is_nested = matches!(*types.get(of_vertex), TypeData::Array { element, .. }
            if matches!(types.get(element), TypeData::Array { .. }));
        is_nested || types.as_vector(types.without_arrays(of_vertex)).is_some_and(|(scalar, _)| scalar.bit_size() == 64)
    };
    let progress = lower_io_where(shader, io, is_unusual);
    if progress {
        lower_wide_io(shader);
    }
    progress
}

/// Lowers texture instructions to those of SPIR-V.
fn lower_textures(shader: &mut Shader, options: &SpirvOptions, passes: &mut Passes<'_>) {
    passes.run_driver("lower_samples_identical", || lower_samples_identical(shader));
    passes.run_driver("lower_sample_positions", || lower_sample_positions(shader));
    passes.run_driver("lower_projectors", || lower_projectors(shader));
    if !options.analytic_textures {
        passes.run_driver("lower_rect_coordinates", || lower_rect_coordinates(shader));
    }
    if !options.one_dimensional {
        passes.run_driver("lower_1d_textures", || lower_1d_textures(shader));
    }
    passes.run_driver("lower_texture_offsets", || lower_texture_offsets(shader, options));
    passes.run_driver("lower_implicit_lod", || lower_implicit_lod(shader));
}
