//! Rules of divergence: whether an instruction computes the same value in all invocations.

use cranelift_entity::PrimaryMap;

use super::DivergenceOptions;
use crate::alu::AluOp;
use crate::body::{Body, DerefKind, InstData, TexSrcKind};
use crate::entities::{Inst, Variable};
use crate::intrinsics::indices::{AccessFlags, InterpMode};
use crate::intrinsics::{IndexKind, IntrinsicKind, IntrinsicOp};
use crate::shader::ShaderStage;
use crate::variable::{VariableData, VariableModes};
use tgsi_environment::SystemValue;

/// Pointers into these modes are uniform if their sources are.
const SHARED_MODES: VariableModes = VariableModes(
    VariableModes::UNIFORM.0
        | VariableModes::IMAGE.0
        | VariableModes::MEM_UBO.0
        | VariableModes::MEM_SSBO.0
        | VariableModes::MEM_SHARED.0
        | VariableModes::MEM_TASK_PAYLOAD.0
        | VariableModes::MEM_GLOBAL.0,
);

/// The stage and options that the rules depend on.
pub(super) struct Rules<'a> {
    pub(super) stage: ShaderStage,
    pub(super) options: &'a DivergenceOptions,
    pub(super) variables: &'a PrimaryMap<Variable, VariableData>,
}

impl Rules<'_> {
    /// Whether the result of an instruction is divergent. `source` tells whether the source with a number is divergent.
    /// Not for phis.
    pub(super) fn inst(&self, body: &Body, inst: Inst, source: impl Fn(usize) -> bool) -> bool {
        let any = || (0..body.num_sources(inst)).any(&source);
        match *body.inst(inst) {
            InstData::LoadConst { .. } | InstData::Undef => false,
            InstData::Alu { .. } => any(),
            InstData::Deref { kind, modes, .. } => match kind {
                DerefKind::Var(id) => self.variable(&self.variables[id]),
                DerefKind::Cast { .. } => !SHARED_MODES.contains(modes) || modes == VariableModes::NONE || any(),
                _ => any(),
            },
            InstData::Tex(_) => {
                let Some(tex) = body.tex(inst) else { return true };
                body.sources(inst).enumerate().any(|(number, s)| {
                    use TexSrcKind as K;
                    let counts = match body.tex_src_kind(s) {
                        K::TextureDeref | K::TextureHandle | K::TextureOffset => tex.texture_non_uniform,
                        K::SamplerDeref | K::SamplerHandle | K::SamplerOffset => tex.sampler_non_uniform,
                        _ => true,
                    };
                    counts && source(number)
                })
            }
            InstData::Intrinsic { op, .. } => self.intrinsic(body, inst, op, source),
            InstData::Phi | InstData::Call { .. } | InstData::Jump(_) | InstData::ParallelCopy(_) => true,
        }
    }

    /// Whether invocations of a group may belong to different primitives (patches, for tessellation).
    fn many_primitives(&self) -> bool {
        match self.stage {
            ShaderStage::TessCtrl => !self.options.single_patch_per_tcs_subgroup,
            ShaderStage::TessEval => !self.options.single_patch_per_tes_subgroup,
            _ => !self.options.single_primitive_per_subgroup,
        }
    }

    fn variable(&self, data: &VariableData) -> bool {
        if SHARED_MODES.contains(data.mode) {
            return false;
        }
        match data.mode {
            VariableModes::SYSTEM_VALUE => {
                let value = usize::try_from(data.location).ok().and_then(|number| SystemValue::ALL.get(number));
                let op = value.and_then(|value| IntrinsicOp::load_of(*value));
                op.is_none_or(|op| self.system_value(op).unwrap_or(true))
            }
            VariableModes::SHADER_IN if self.stage == ShaderStage::Fragment => {
                data.interpolation != InterpMode::Flat || self.many_primitives()
            }
            VariableModes::SHADER_IN if self.stage == ShaderStage::TessEval => !data.patch || self.many_primitives(),
            VariableModes::SHADER_OUT if self.stage == ShaderStage::TessCtrl => !data.patch || self.many_primitives(),
            _ => true,
        }
    }

    fn intrinsic(&self, body: &Body, inst: Inst, op: IntrinsicOp, source: impl Fn(usize) -> bool) -> bool {
        use IntrinsicOp as I;
        let any = || (0..body.num_sources(inst)).any(&source);
        let has_access = op.info().index_slot(IndexKind::Access).is_some();
        let access =
            if has_access { AccessFlags::from_i32(body.index(inst, IndexKind::Access)) } else { AccessFlags::NONE };
        let non_uniform = access.contains(AccessFlags::NON_UNIFORM);
        // Another invocation may write between the loads of two invocations.
        let tears = self.options.uniform_load_tears
            && !access.contains(AccessFlags::NON_WRITEABLE)
            && !access.contains(AccessFlags::CAN_REORDER);
        let vertex = self.options.between_vertices;
        match op {
            I::ShaderClock
            | I::Ballot
            | I::BallotRelaxed
            | I::AsUniform
            | I::ReadInvocation
            | I::ReadFirstInvocation
            | I::VoteAny
            | I::VoteAll
            | I::VoteFeq
            | I::VoteIeq
            | I::FirstInvocation
            | I::LastInvocation => vertex,
            I::Reduce if body.index(inst, IndexKind::ClusterSize) == 0 => vertex,
            // An idempotent reduction of a uniform source gives the source itself in every cluster and prefix.
            I::Reduce | I::InclusiveScan => {
                let idempotent = [
                    AluOp::Umin,
                    AluOp::Imin,
                    AluOp::Fmin,
                    AluOp::Umax,
                    AluOp::Imax,
                    AluOp::Fmax,
                    AluOp::Iand,
                    AluOp::Ior,
                ];
                let reduction = body.index(inst, IndexKind::ReductionOp);
                vertex || source(0) || !idempotent.iter().any(|&op| op as i32 == reduction)
            }
            I::LoadPreamble => false,
            I::Shuffle => source(0) && source(1),
            I::Ddx
            | I::DdxFine
            | I::DdxCoarse
            | I::Ddy
            | I::DdyFine
            | I::DdyCoarse
            | I::ConvertAluTypes
            | I::BallotBitfieldExtract
            | I::BallotFindLsb
            | I::BallotFindMsb
            | I::BallotBitCountReduce
            | I::ShuffleXor
            | I::ShuffleUp
            | I::ShuffleDown
            | I::Rotate
            | I::QuadBroadcast
            | I::QuadSwapHorizontal
            | I::QuadSwapVertical
            | I::QuadSwapDiagonal
            | I::QuadVoteAny
            | I::QuadVoteAll
            | I::LoadUniform
            | I::LoadConstant
            | I::LoadPushConstant
            | I::LoadGlobalConstant
            | I::LoadGlobalConstantOffset
            | I::LoadGlobalConstantBounded
            | I::LoadKernelInput
            | I::LoadTaskPayload
            | I::AtomicCounterRead
            | I::AtomicCounterReadDeref
            | I::IsSparseTexelsResident
            | I::SparseResidencyCodeAnd
            | I::GetUboSize
            | I::LoadSsboAddress
            | I::DerefBufferArrayLength
            | I::LoadReg
            | I::LoadRegIndirect => any(),
            I::LoadUbo | I::LoadUboVec4 => source(0) && non_uniform || source(1),
            I::LoadSsbo => source(0) && non_uniform || source(1) || tears,
            I::GetSsboSize => source(0) && non_uniform,
            I::LoadShared => source(0) || self.options.uniform_load_tears,
            I::LoadGlobal | I::LoadGlobal2x32 | I::LoadDeref => {
                let written =
                    op != I::LoadDeref || !VariableModes::READ_ONLY.contains(body.deref_modes(body.src(inst, 0)));
                any() || written && tears
            }
            I::DeclReg => body.index(inst, IndexKind::Divergent) != 0,
            I::LoadInput => match self.stage {
                ShaderStage::Fragment => source(0) || self.many_primitives(),
                ShaderStage::TessEval => !vertex && (source(0) || self.many_primitives()),
                _ => true,
            },
            I::LoadPerPrimitiveInput => any() || self.many_primitives(),
            I::LoadPerVertexInput => self.stage != ShaderStage::TessEval || any() || self.many_primitives(),
            I::LoadOutput | I::LoadPerVertexOutput => match self.stage {
                ShaderStage::TessCtrl => any() || self.many_primitives(),
                ShaderStage::Task | ShaderStage::Mesh => any(),
                _ => true,
            },
            _ => match op.info().kind {
                IntrinsicKind::Resource => any(),
                // Loads, with and without residency, and queries. Stores have no result, and results of atomics differ.
                IntrinsicKind::Image if op.info().can_eliminate => {
                    let is_query = op.info().can_reorder;
                    let others = (1..body.num_sources(inst)).any(&source);
                    source(0) && non_uniform || others || !is_query && tears
                }
                _ => self.system_value(op).unwrap_or(true),
            },
        }
    }

    /// Whether a system value is divergent; `None` if it is unknown or not a system value.
    fn system_value(&self, op: IntrinsicOp) -> Option<bool> {
        use IntrinsicOp as I;
        let vertex = self.options.between_vertices;
        Some(match op {
            I::LoadWorkDim
            | I::LoadNumWorkgroups
            | I::LoadWorkgroupSize
            | I::LoadNumSubgroups
            | I::LoadSubgroupSize
            | I::LoadBaseInstance
            | I::LoadBaseVertex
            | I::LoadFirstVertex
            | I::LoadDrawId
            | I::LoadIsIndexedDraw
            | I::LoadViewportXScale
            | I::LoadViewportYScale
            | I::LoadViewportZScale
            | I::LoadViewportXOffset
            | I::LoadViewportYOffset
            | I::LoadViewportZOffset
            | I::LoadViewportScale
            | I::LoadViewportOffset
            | I::LoadUserClipPlane
            | I::LoadBlendConstColorRFloat
            | I::LoadBlendConstColorGFloat
            | I::LoadBlendConstColorBFloat
            | I::LoadBlendConstColorAFloat
            | I::LoadBlendConstColorRgba
            | I::LoadBlendConstColorRgba8888Unorm
            | I::LoadBlendConstColorAaaa8888Unorm
            | I::LoadLineWidth
            | I::LoadAaLineWidth
            | I::LoadPatchVerticesIn
            | I::LoadNumVertices
            | I::LoadTessLevelOuterDefault
            | I::LoadTessLevelInnerDefault
            | I::LoadUserDataAmd
            | I::LoadBaseGlobalInvocationId
            | I::LoadBaseWorkgroupId
            | I::LoadGlobalSize
            | I::LoadConstantBasePtr => false,
            I::LoadSubgroupId => vertex,
            I::LoadInstanceId => !vertex,
            I::LoadWorkgroupId | I::LoadWorkgroupIndex => {
                self.stage.has_workgroups() && self.options.multiple_workgroups_per_subgroup
            }
            I::LoadFrontFace | I::LoadFrontFaceFsign | I::LoadLayerId => self.many_primitives(),
            I::LoadViewIndex if self.options.view_index_uniform => false,
            I::LoadViewIndex => self.stage != ShaderStage::Fragment || self.many_primitives(),
            I::LoadPrimitiveId => match self.stage {
                ShaderStage::Fragment => self.many_primitives(),
                ShaderStage::TessCtrl | ShaderStage::TessEval => !vertex && self.many_primitives(),
                ShaderStage::Vertex | ShaderStage::Geometry => !vertex,
                _ => true,
            },
            I::LoadFragShadingRate => !self.options.single_shading_rate_per_subgroup,
            I::LoadTessLevelOuter | I::LoadTessLevelInner => self.many_primitives(),
            _ => return None,
        })
    }
}
