//! System values.

use tgsi::shader::Register;
use tgsi::tables::{File, Semantic};
use tgsi_ir::Inst;
use tgsi_ir::intrinsics::IntrinsicOp;

use super::{Selector, Value};
use crate::dialect::rules;
use crate::options::Dialect;

/// The semantic of a system value intrinsic.
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

impl Selector<'_> {
    pub(super) fn system_value(&mut self, inst: Inst, semantic: Semantic) {
        let Some(def) = self.body.inst_def(inst) else { return };
        let index = self.declared.system_value(semantic);
        let value = Value::new(Register::new(File::SystemValue, index));
        if self.options.dialect == Dialect::Virgl && rules::must_be_copied(semantic) {
            self.copy_to(def, value);
        } else {
            self.bind_or_move(def, value);
        }
    }
}
