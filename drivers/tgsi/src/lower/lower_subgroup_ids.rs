//! Computes the number of a subgroup and of subgroups, for which TGSI has no system values, from the size of a subgroup.
//! All consumers number the invocations of a workgroup by their position, x first, and fill subgroups in that order.
//!
//! ```text
//! 32 %1 = @load_subgroup_id     =>     32x3 %2 = @load_local_invocation_id
//!                                      32   %3 = (%2.z * size.y + %2.y) * size.x + %2.x
//!                                      32   %4 = @load_subgroup_size
//!                                      32   %1 = udiv %3, %4
//! ```

use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Shape;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::{Builder, Cursor, Def, Shader};

/// Replaces `load_subgroup_id` and `load_num_subgroups`. Returns whether there were any.
pub(super) fn lower_subgroup_ids(shader: &mut Shader) -> bool {
    let info = &shader.info;
    let size = (!info.workgroup_size_variable).then_some(info.workgroup_size);
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= body.visit_insts(|body, inst| {
            let (Some(op), Some(def)) = (body.intrinsic(inst), body.inst_def(inst)) else { return false };
            if !matches!(op, IntrinsicOp::LoadSubgroupId | IntrinsicOp::LoadNumSubgroups) {
                return false;
            }
            let mut b = Builder::new(body, Cursor::Before(inst));
            let [x, y, z] = workgroup_size(&mut b, size);
            let subgroup = b.intrinsic_def(IntrinsicOp::LoadSubgroupSize, &[], &[], Shape::new(1, 32));
            let number = if op == IntrinsicOp::LoadSubgroupId {
                let id = b.intrinsic_def(IntrinsicOp::LoadLocalInvocationId, &[], &[], Shape::new(3, 32));
                let [id_x, id_y, id_z] = [0, 1, 2].map(|component| b.channel(id, component));
                let planes = b.alu(AluOp::Imul, &[id_z, y]);
                let rows = b.alu(AluOp::Iadd, &[planes, id_y]);
                let before = b.alu(AluOp::Imul, &[rows, x]);
                b.alu(AluOp::Iadd, &[before, id_x])
            } else {
                let plane = b.alu(AluOp::Imul, &[x, y]);
                let all = b.alu(AluOp::Imul, &[plane, z]);
                let minus_one = b.i32_const(-1);
                let rest = b.alu(AluOp::Iadd, &[subgroup, minus_one]);
                b.alu(AluOp::Iadd, &[all, rest])
            };
            let number = b.alu(AluOp::Udiv, &[number, subgroup]);
            body.replace_all_uses(def, number);
            body.remove_inst(inst);
            true
        });
    }
    progress
}

/// The dimensions of the workgroup: constants if they are known.
fn workgroup_size(b: &mut Builder<'_>, size: Option<[u32; 3]>) -> [Def; 3] {
    match size {
        Some(size) => size.map(|length| b.u32_const(length)),
        None => {
            let size = b.intrinsic_def(IntrinsicOp::LoadWorkgroupSize, &[], &[], Shape::new(3, 32));
            [0, 1, 2].map(|component| b.channel(size, component))
        }
    }
}
