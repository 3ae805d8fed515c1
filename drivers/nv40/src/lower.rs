//! The chips as targets of the optimiser and of [`lower_for_floats`](tgsi_registers::lower::lower_for_floats).

use tgsi_ir::alu::AluOp;
use tgsi_ir::body::JumpKind;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::passes::{lower_loop_jumps, lower_reg_intrinsics_to_ssa};
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Body, Def, InstData, Shader, ShaderStage};
use tgsi_registers::legalize_operands;
use tgsi_registers::legalize_operands::OperandLimits;
use tgsi_registers::lower::{LowerError, Vec4Target, lower_for_floats};
use tgsi_registers::modifiers::ModifierPolicy;

use crate::isa::Chip;
use crate::options::Nv40Options;

impl Nv40Options {
    /// Whether fragment programs have the opcodes and the flow of GeForce 6.
    fn is_curie(&self) -> bool {
        self.chip != Chip::Nv30
    }

    /// The modifiers of operands and results: GeForce FX cannot saturate results of vertex programs.
    pub(crate) fn modifiers(&self, stage: ShaderStage) -> ModifierPolicy<'static> {
        if stage == ShaderStage::Vertex && !self.is_curie() { ModifierPolicy::NO_SATURATE } else { ModifierPolicy::ALL }
    }

    /// The properties of the chip for the optimiser.
    pub(crate) fn compiler_options(&self, stage: ShaderStage) -> CompilerOptions {
        let is_vertex = stage == ShaderStage::Vertex;
        let has_fragment_flow = self.is_curie();
        let temporaries = VariableModes::FUNCTION_TEMP.union(VariableModes::SHADER_TEMP);
        let interface = VariableModes::SHADER_IN.union(VariableModes::SHADER_OUT);
        let constants = VariableModes::UNIFORM.union(VariableModes::MEM_UBO);
        let no_indirect = interface.union(temporaries);
        CompilerOptions {
            source_modifiers: true,
            fuse_scmp: true,
            fuse_mad: true,
            lower_bitops: true,
            lower_vector_cmp: true,
            has_bfe: false,
            has_bfi: false,
            has_bfm: false,
            lower_ffma: true,
            lower_fmulz: true,
            lower_fdot_mad: false,
            lower_fsign: !is_vertex,
            lower_fsqrt: true,
            lower_fmod: true,
            lower_fceil: true,
            lower_ftrunc: true,
            lower_fround_even: true,
            lower_fdiv: is_vertex || !self.is_curie(),
            lower_fsat: is_vertex && !self.is_curie(),
            lower_flrp_mad: is_vertex || !self.has_lrp,
            lower_fdph: !is_vertex,
            lower_pack_unorm_4x8: true,
            lower_pack_snorm_4x8: true,
            lower_pack_snorm_2x16: true,
            lower_unpack_unorm_4x8: true,
            lower_unpack_snorm_4x8: true,
            lower_unpack_snorm_2x16: true,
            fdot_replicates: self.chase,
            lower_control_flow: !is_vertex && !has_fragment_flow,
            no_indirect: if is_vertex { no_indirect } else { no_indirect.union(constants) },
            ..CompilerOptions::default()
        }
    }

    /// The machine that shaders of a stage are lowered for.
    pub(crate) fn vec4_target(&self, stage: ShaderStage) -> Vec4Target<'static> {
        let compiler = self.compiler_options(stage);
        let keep_rounding = compiler.keeps_rounding(stage);
        Vec4Target {
            optimize: self.optimize,
            keep_rounding,
            has_branches: !compiler.lower_control_flow,
            compiler,
            modifiers: self.modifiers(stage),
            is_operand: &is_operand,
            single_constant_operand: true,
            single_input_operand: true,
            // The condition, and a move for each side, of which one is the producer of its value.
            selection_cost: 2,
            fuses_sums: !keep_rounding,
            forms_multiply_adds: true,
            has_vector_registers: self.chase,
            ..Vec4Target::default()
        }
    }

    /// Lowers a shader for selection.
    pub(crate) fn lower(&self, shader: &mut Shader, passes: &mut Passes<'_>) -> Result<(), LowerError> {
        let target = self.vec4_target(shader.stage);
        // Loops of fragment programs have no jump to the next iteration.
        if shader.stage == ShaderStage::Fragment && target.has_branches && has_continue(shader) {
            passes.run_on(shader, "nv40:lower_loop_jumps", |s| lower_loop_jumps(s) | lower_reg_intrinsics_to_ssa(s));
        }
        lower_for_floats(shader, &target, passes)?;
        if self.chase {
            let limits = OperandLimits::ONE_OF_EACH;
            passes.run_on(shader, "registers:legalize_operands", |s| legalize_operands(s, &limits, target.modifiers));
        }
        Ok(())
    }
}

/// Whether a loop continues before its end.
fn has_continue(shader: &mut Shader) -> bool {
    shader.bodies_mut().any(|body| {
        let mut jumps = body.blocks().flat_map(|block| body.insts(block));
        jumps.any(|inst| matches!(body.inst(inst), InstData::Jump(JumpKind::Continue)))
    })
}

/// Whether instructions read a value in place: uniforms and inputs without run-time index.
pub(crate) fn is_operand(body: &Body, def: Def) -> bool {
    let inst = body.def_inst(def);
    let Some(op @ (IntrinsicOp::LoadUniform | IntrinsicOp::LoadInput)) = body.intrinsic(inst) else { return false };
    let offset = if op == IntrinsicOp::LoadUniform { 0 } else { body.num_sources(inst).saturating_sub(1) };
    body.constant_component(body.src(inst, offset), 0).is_some()
}

/// Whether a value is always a whole number, so that its floor is its truncation.
pub(crate) fn is_whole(op: AluOp) -> bool {
    matches!(op, AluOp::Ftrunc | AluOp::Ffloor | AluOp::Fceil | AluOp::FroundEven)
}
