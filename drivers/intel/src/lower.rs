//! The machine as a target of the optimiser, and the order of lowering.
//!
//! | step | reason for its place |
//! |---|---|
//! | numbers of 8, 16 and 64 bits to words | they are packed and unpacked by operations that later steps optimise |
//! | structure (`tgsi_registers::lower`) | control flow and variables |
//! | of fragments: operations and phis to scalars | control flow and variables are values |
//! | booleans to integers of 32 bits | comparisons write all bits |
//! | arrays to registers | before SSA is left, so that elements are not copied by phis |
//! | phis to registers, apart by divergence | loop-closed SSA has been analysed |
//! | other than of fragments: vectors to registers | results are written to components of vectors at once |
//! | trivial accesses | selection finds registers by the chase functions |

use tgsi_ir::alu::AluOp;
use tgsi_ir::analysis::divergence::{DivergenceOptions, analyze_divergence};
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::options::{CompilerOptions, DoubleOps, Int64Ops};
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::passes::pipeline::finish;
use tgsi_ir::passes::{
    convert_to_lcssa, lower_alu, lower_alu_to_scalar, lower_bool_to_int32, lower_doubles, lower_frexp, lower_int64,
    lower_pack, lower_phis_to_scalar, lower_small_types, opt_copy_prop, opt_cse, opt_dce, opt_rematerialize_compares,
    remove_dead_variables,
};
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Body, Def, Shader, ShaderStage};
use tgsi_registers::convert_from_ssa::ConvertFromSsaOptions;
use tgsi_registers::lower::{LowerError, Vec4Target, fuse_sums, lower_structure};
use tgsi_registers::modifiers::ModifierPolicy;
use tgsi_registers::move_vec_src_uses_to_dest::MoveVecSrcOptions;
use tgsi_registers::{
    convert_from_ssa, legacy_trivialize, lower_locals_to_regs, lower_vec_to_regs, move_vec_src_uses_to_dest,
};

use crate::options::IntelOptions;

impl IntelOptions {
    /// The modifiers of operands and results.
    pub(crate) fn modifiers(&self) -> ModifierPolicy<'static> {
        ModifierPolicy::ALL
    }

    /// The properties of the machine for the optimiser.
    pub(crate) fn compiler_options(&self, stage: ShaderStage) -> CompilerOptions {
        let interface = VariableModes::SHADER_IN.union(VariableModes::SHADER_OUT);
        let is_scalar = is_scalar(stage);
        CompilerOptions {
            source_modifiers: true,
            has_isub: true,
            lower_fsign: true,
            lower_isign: true,
            lower_fmod: true,
            lower_fceil: true,
            lower_fmulz: true,
            lower_doubles: DoubleOps::ALL,
            software_doubles: true,
            lower_fdph: is_scalar,
            fdot_replicates: !is_scalar,
            lower_vector_cmp: true,
            lower_uadd_carry: true,
            lower_usub_borrow: true,
            lower_bitfield_insert: true,
            lower_bitfield_extract: true,
            lower_ifind_msb: true,
            lower_ufind_msb_to_rev: true,
            has_find_msb_rev: true,
            has_uclz: true,
            lower_pack_unorm_4x8: true,
            lower_pack_snorm_4x8: true,
            lower_pack_snorm_2x16: true,
            lower_unpack_unorm_4x8: true,
            lower_unpack_snorm_4x8: true,
            lower_unpack_snorm_2x16: true,
            no_indirect: interface,
            ..CompilerOptions::default()
        }
    }

    /// The machine that shaders of a stage are lowered for.
    pub(crate) fn vec4_target(&self, stage: ShaderStage) -> Vec4Target<'static> {
        let compiler = self.compiler_options(stage);
        Vec4Target {
            optimize: self.optimize,
            keep_rounding: compiler.keeps_rounding(stage),
            has_cmp: false,
            compiler,
            modifiers: self.modifiers(),
            is_operand: if is_scalar(stage) { &is_uniform } else { &is_operand },
            has_vector_registers: true,
            ..Vec4Target::default()
        }
    }

    /// Lowers a shader for selection.
    pub(crate) fn lower(&self, shader: &mut Shader, passes: &mut Passes<'_>) -> Result<(), LowerError> {
        let target = self.vec4_target(shader.stage);
        lower_unknown_words(shader, &target.compiler, passes);
        lower_structure(shader, &target, passes)?;
        if is_scalar(shader.stage) {
            to_scalars(shader, &target, passes);
            // Late, so that checks of optimised shaders see products and sums.
            if self.optimize && self.fuse_mad {
                passes.run_on(shader, "intel:fuse_sums", |s| fuse_sums(s, AluOp::Ffma));
                passes.run_on(shader, "intel:opt_dce", opt_dce);
            }
        }
        passes.run_on(shader, "intel:lower_bool_to_int32", lower_bool_to_int32);
        while passes.run_on(shader, "intel:opt_copy_prop", opt_copy_prop) {
            passes.run_on(shader, "intel:opt_dce", opt_dce);
        }
        passes.run_on(shader, "intel:opt_cse", opt_cse);
        if self.optimize {
            passes.run_on(shader, "intel:opt_rematerialize_compares", opt_rematerialize_compares);
        }
        passes.run_on(shader, "intel:opt_dce", opt_dce);
        let temporaries = VariableModes::FUNCTION_TEMP.union(VariableModes::SHADER_TEMP);
        passes.run_on(shader, "intel:remove_dead_variables", |s| remove_dead_variables(s, temporaries));
        to_registers(shader, &target, passes);
        Ok(())
    }
}

/// Lowers numbers of 8, 16 and 64 bits, and operations on packed numbers.
fn lower_unknown_words(shader: &mut Shader, compiler: &CompilerOptions, passes: &mut Passes<'_>) {
    let lowering = CompilerOptions {
        lower_int64: Int64Ops::ALL,
        lower_frexp: true,
        lower_pack_vectors: true,
        lower_pack_32_4x8_split: true,
        ..compiler.clone()
    };
    let mut progress = passes.run_on(shader, "intel:lower_small_types", lower_small_types);
    progress |= passes.run_on(shader, "intel:lower_frexp", |s| lower_frexp(s, &lowering));
    progress |= passes.run_on(shader, "intel:lower_doubles", |s| lower_doubles(s, &lowering));
    progress |= passes.run_on(shader, "intel:lower_int64", |s| lower_int64(s, &lowering));
    progress |= passes.run_on(shader, "intel:lower_pack", |s| lower_pack(s, &lowering));
    progress |= passes.run_on(shader, "intel:lower_alu", |s| lower_alu(s, &lowering));
    if progress {
        passes.run_on(shader, "intel:finish", |s| finish(s, compiler));
    }
}

/// Whether programs of a stage are scalar: others have vectors.
pub(crate) fn is_scalar(stage: ShaderStage) -> bool {
    stage == ShaderStage::Fragment
}

/// Splits operations and phis into scalar ones.
fn to_scalars(shader: &mut Shader, target: &Vec4Target<'_>, passes: &mut Passes<'_>) {
    let compiler = &target.compiler;
    passes.run_on(shader, "intel:lower_alu_to_scalar", |s| lower_alu_to_scalar(s, compiler));
    passes.run_on(shader, "intel:lower_phis_to_scalar", lower_phis_to_scalar);
    // Splitting of vectors leaves copies, and operations on components without uses.
    passes.run_on(shader, "intel:lower_alu_to_scalar", |s| lower_alu_to_scalar(s, compiler));
    if target.optimize {
        passes.run_on(shader, "intel:finish", |s| finish(s, compiler));
        passes.run_on(shader, "intel:lower_alu_to_scalar", |s| lower_alu_to_scalar(s, compiler));
    }
}

/// Converts arrays, phis and vectors to registers, and makes accesses to them trivial.
fn to_registers(shader: &mut Shader, target: &Vec4Target<'_>, passes: &mut Passes<'_>) {
    passes.run_on(shader, "registers:lower_locals_to_regs", |s| lower_locals_to_regs(s, 32));
    passes.run_on(shader, "registers:convert_to_lcssa", convert_to_lcssa);
    passes.run_on(shader, "registers:analyze_divergence", |s| {
        analyze_divergence(s, &DivergenceOptions::default());
        false
    });
    let by_divergence = ConvertFromSsaOptions { consider_divergence: true };
    passes.run_on(shader, "registers:convert_from_ssa", |s| convert_from_ssa(s, by_divergence));
    // Components of a vector hold 32 bits now. Constants are immediates.
    let uses = MoveVecSrcOptions { skip_constants: true, max_bit_size: 32 };
    let has_vectors = !is_scalar(shader.stage);
    if target.optimize && has_vectors {
        passes.run_on(shader, "registers:move_vec_src_uses_to_dest", |s| move_vec_src_uses_to_dest(s, uses));
    }
    if has_vectors {
        passes.run_on(shader, "registers:lower_vec_to_regs", |s| lower_vec_to_regs(s, None));
    }
    passes.run_on(shader, "registers:opt_dce", opt_dce);
    passes.run_on(shader, "registers:compact", |s| {
        s.bodies_mut().fold(false, |progress, body| body.compact(true) | progress)
    });
    passes.run_on(shader, "registers:legacy_trivialize", |s| legacy_trivialize(s, target.modifiers, target.is_operand));
    #[cfg(debug_assertions)]
    if let Err(violations) = tgsi_registers::check::check(shader, target.modifiers, target.is_operand) {
        debug_assert!(false, "register accesses are not trivial: {violations:?}");
    }
}

/// Whether instructions read a value in place: uniforms and inputs without run-time index.
pub(crate) fn is_operand(body: &Body, def: Def) -> bool {
    let inst = body.def_inst(def);
    let is_known = |number: usize| body.constant_component(body.src(inst, number), 0).is_some();
    match body.intrinsic(inst) {
        Some(IntrinsicOp::LoadUniform | IntrinsicOp::LoadInput) => is_known(0),
        Some(IntrinsicOp::LoadPerVertexInput) => is_known(0) && is_known(1),
        _ => false,
    }
}

/// Whether a value is a uniform without run-time index.
pub(crate) fn is_uniform(body: &Body, def: Def) -> bool {
    body.intrinsic(body.def_inst(def)) == Some(IntrinsicOp::LoadUniform) && is_operand(body, def)
}
