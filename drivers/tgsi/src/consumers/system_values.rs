//! The system values of TGSI, by the intrinsic that loads them.

use tgsi::tables::Semantic;
use tgsi_ir::intrinsics::IntrinsicOp;

/// The semantic loaded by a system value intrinsic.
pub(crate) const fn semantic(op: IntrinsicOp) -> Option<Semantic> {
    use IntrinsicOp::*;
    Some(match op {
        LoadVertexId => Semantic::VertexId,
        LoadVertexIdZeroBase => Semantic::VertexIdNoBase,
        LoadBaseVertex => Semantic::BaseVertex,
        LoadBaseInstance => Semantic::BaseInstance,
        LoadInstanceId => Semantic::InstanceId,
        LoadDrawId => Semantic::DrawId,
        LoadInvocationId => Semantic::InvocationId,
        LoadFragCoord => Semantic::Position,
        LoadPointCoord => Semantic::PointCoord,
        LoadFrontFace => Semantic::Face,
        LoadSampleId => Semantic::SampleId,
        LoadSamplePos => Semantic::SamplePosition,
        LoadSampleMaskIn => Semantic::SampleMask,
        LoadHelperInvocation => Semantic::HelperInvocation,
        LoadTessCoord => Semantic::TessCoord,
        LoadPatchVerticesIn => Semantic::VerticesIn,
        LoadPrimitiveId => Semantic::PrimitiveId,
        LoadTessLevelOuter => Semantic::TessOuter,
        LoadTessLevelInner => Semantic::TessInner,
        LoadTessLevelOuterDefault => Semantic::TessDefaultOuterLevel,
        LoadTessLevelInnerDefault => Semantic::TessDefaultInnerLevel,
        LoadLocalInvocationId => Semantic::ThreadId,
        LoadWorkgroupId => Semantic::BlockId,
        LoadNumWorkgroups => Semantic::GridSize,
        LoadWorkgroupSize => Semantic::BlockSize,
        LoadWorkDim => Semantic::WorkDim,
        LoadSubgroupSize => Semantic::SubgroupSize,
        LoadSubgroupInvocation => Semantic::SubgroupInvocation,
        LoadSubgroupEqMask => Semantic::SubgroupEqMask,
        LoadSubgroupGeMask => Semantic::SubgroupGeMask,
        LoadSubgroupGtMask => Semantic::SubgroupGtMask,
        LoadSubgroupLeMask => Semantic::SubgroupLeMask,
        LoadSubgroupLtMask => Semantic::SubgroupLtMask,
        LoadUserDataAmd => Semantic::CsUserDataAmd,
        _ => return None,
    })
}
