//! Lowers optimised SSA for selection: IR of 32-bit words in which register accesses are trivial.
//!
//! The order is that of backends that chase registers: phis, then arrays and vectors become registers, with uses of
//! the components of a vector moved to the vector first; the remaining accesses become trivial last.

use tgsi_ir::body::Body;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::options::{CompilerOptions, DoubleOps, Int64Ops};
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::passes::pipeline::finish;
use tgsi_ir::passes::{
    lower_alu, lower_bool_to_int32, lower_doubles, lower_frexp, lower_gradients, lower_idiv, lower_int64, lower_pack,
    lower_sample_positions, lower_samples_identical, lower_small_types, lower_wide_io, opt_copy_prop, opt_cse, opt_dce,
    remove_dead_variables,
};
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Def, Shader, ShaderStage};
use tgsi_registers::convert_from_ssa::ConvertFromSsaOptions;
use tgsi_registers::lower::{LowerError, Vec4Target, lower_structure};
use tgsi_registers::modifiers::ModifierPolicy;
use tgsi_registers::move_vec_src_uses_to_dest::MoveVecSrcOptions;
use tgsi_registers::{
    convert_from_ssa, lower_locals_to_regs, lower_vec_to_regs, move_vec_src_uses_to_dest, trivialize_registers,
};

use crate::options::MidgardOptions;

impl MidgardOptions {
    /// The properties of the machine for the optimiser.
    pub(crate) fn compiler_options(&self, _: ShaderStage) -> CompilerOptions {
        CompilerOptions {
            source_modifiers: true,
            has_isub: true,
            has_uclz: true,
            has_bfe: false,
            has_bfi: false,
            has_bfm: false,
            lower_fmod: true,
            lower_fsign: true,
            lower_ffract: true,
            lower_ffma: true,
            lower_fmulz: true,
            lower_isign: true,
            lower_ineg: true,
            lower_uadd_carry: true,
            lower_usub_borrow: true,
            lower_bitfield_insert: true,
            lower_bitfield_extract: true,
            lower_ifind_msb: true,
            lower_find_lsb: true,
            lower_bitfield_reverse: true,
            lower_bit_count: true,
            lower_mul_high: true,
            lower_idiv: true,
            lower_frexp: true,
            lower_frexp_32: true,
            lower_pack_vectors: true,
            lower_pack_unorm_4x8: true,
            lower_pack_snorm_4x8: true,
            lower_pack_snorm_2x16: true,
            lower_unpack_unorm_4x8: true,
            lower_unpack_snorm_4x8: true,
            lower_unpack_snorm_2x16: true,
            lower_int64: Int64Ops::ALL,
            lower_doubles: DoubleOps::ALL,
            software_doubles: true,
            no_indirect: VariableModes::SHADER_IN.union(VariableModes::SHADER_OUT),
            ..CompilerOptions::default()
        }
    }

    /// Lowers a shader for selection.
    ///
    /// # Errors
    /// [`LowerError`].
    pub(crate) fn lower(&self, shader: &mut Shader, passes: &mut Passes<'_>) -> Result<(), LowerError> {
        let compiler = self.compiler_options(shader.stage);
        lower_words(shader, &compiler, passes);
        let target = Vec4Target {
            compiler: compiler.clone(),
            optimize: self.optimize,
            // Selections and comparisons of integers stay.
            has_cmp: false,
            modifiers: ModifierPolicy::ALL,
            ..Vec4Target::default()
        };
        lower_structure(shader, &target, passes)?;
        if passes.run_on(shader, "midgard:lower_wide_io", lower_wide_io) {
            lower_words(shader, &compiler, passes);
        }
        // Late, so that checks of optimised shaders see powers and quotients.
        let late = CompilerOptions { lower_fdiv: true, lower_fpow: true, ..compiler };
        passes.run_on(shader, "midgard:finish", |s| finish(s, &late));
        passes.run_on(shader, "midgard:lower_bool_to_int32", lower_bool_to_int32);
        while passes.run_on(shader, "midgard:opt_copy_prop", opt_copy_prop) {
            passes.run_on(shader, "midgard:opt_dce", opt_dce);
        }
        passes.run_on(shader, "midgard:opt_cse", opt_cse);
        passes.run_on(shader, "midgard:opt_dce", opt_dce);
        lower_to_registers(shader, passes);
        Ok(())
    }
}

/// Lowers numbers of 8, 16 and 64 bits, packed numbers, and texture instructions to those of the machine.
fn lower_words(shader: &mut Shader, options: &CompilerOptions, passes: &mut Passes<'_>) {
    let mut progress = passes.run_on(shader, "midgard:lower_small_types", lower_small_types);
    progress |= passes.run_on(shader, "midgard:lower_gradients", lower_gradients);
    progress |= passes.run_on(shader, "midgard:lower_frexp", |s| lower_frexp(s, options));
    progress |= passes.run_on(shader, "midgard:lower_sample_positions", lower_sample_positions);
    progress |= passes.run_on(shader, "midgard:lower_samples_identical", lower_samples_identical);
    progress |= passes.run_on(shader, "midgard:lower_doubles", |s| lower_doubles(s, options));
    progress |= passes.run_on(shader, "midgard:lower_int64", |s| lower_int64(s, options));
    progress |= passes.run_on(shader, "midgard:lower_idiv", |s| lower_idiv(s, options));
    progress |= passes.run_on(shader, "midgard:lower_alu", |s| lower_alu(s, options));
    progress |= passes.run_on(shader, "midgard:lower_pack", |s| lower_pack(s, options));
    if progress {
        passes.run_on(shader, "midgard:finish", |s| finish(s, options));
    }
}

/// Takes a shader out of SSA form.
fn lower_to_registers(shader: &mut Shader, passes: &mut Passes<'_>) {
    let temporaries = VariableModes::FUNCTION_TEMP.union(VariableModes::SHADER_TEMP);
    passes.run_on(shader, "midgard:remove_dead_variables", |s| remove_dead_variables(s, temporaries));
    let phi_webs = ConvertFromSsaOptions::default();
    passes.run_on(shader, "registers:convert_from_ssa", |s| convert_from_ssa(s, phi_webs));
    passes.run_on(shader, "registers:lower_locals_to_regs", |s| lower_locals_to_regs(s, 32));
    passes.run_on(shader, "registers:move_vec_src_uses_to_dest", |s| {
        move_vec_src_uses_to_dest(s, MoveVecSrcOptions::default())
    });
    passes.run_on(shader, "registers:lower_vec_to_regs", |s| lower_vec_to_regs(s, None));
    passes.run_on(shader, "midgard:opt_dce", opt_dce);
    passes.run_on(shader, "registers:trivialize_registers", |s| trivialize_registers(s, &is_operand));
}

/// Whether instructions read a value in place: uniforms without run-time index.
pub(crate) fn is_operand(body: &Body, def: Def) -> bool {
    let inst = body.def_inst(def);
    let constant = |number: usize| body.constant_component(body.src(inst, number), 0);
    match body.intrinsic(inst) {
        Some(IntrinsicOp::LoadUniform) => constant(0).is_some(),
        Some(IntrinsicOp::LoadUboVec4) => constant(0).is_some() && constant(1).is_some(),
        Some(IntrinsicOp::LoadUbo) => {
            let is_in_row = |offset: u64| {
                offset.is_multiple_of(4)
                    && offset / 4 % 4 + u64::from(body.num_components(def)) <= 4
                    && offset < 1 << 16
            };
            constant(0).is_some() && constant(1).is_some_and(is_in_row)
        }
        _ => false,
    }
}
