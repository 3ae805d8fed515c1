//! Computes system values that follow from the size of the workgroup, where that is fixed.
//!
//! ```text
//! before (workgroups of 8 x 4 x 1):              after:
//!     32x3 %1 = @load_workgroup_size                 32x3 %1 = load_const (8, 4, 1)
//!     32x3 %2 = @load_local_invocation_id            32x3 %4 = @load_local_invocation_id
//!                                                    32x3 %2 = vec3 %4.x, %4.y, %zero
//! ```
//!
//! Cost: linear in the instructions.

use arrayvec::ArrayVec;

use crate::body::{Body, Shape};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst, User};
use crate::intrinsics::IntrinsicOp;
use crate::shader::Shader;

/// See the [module](self).
pub fn lower_system_values(shader: &mut Shader) -> bool {
    let size = shader.info.workgroup_size;
    if shader.info.workgroup_size_variable || size.contains(&0) {
        return false;
    }
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= body.visit_insts(|body, inst| lower(body, inst, size));
    }
    progress
}

fn lower(body: &mut Body, inst: Inst, size: [u32; 3]) -> bool {
    let (Some(op), Some(def)) = (body.intrinsic(inst), body.inst_def(inst)) else { return false };
    let bits = body.bit_size(def);
    let value = match op {
        IntrinsicOp::LoadWorkgroupSize => Builder::new(body, Cursor::Before(inst)).constant(bits, &size.map(u64::from)),
        IntrinsicOp::LoadLocalInvocationId if reads_zero(body, def, size) => {
            let mut b = Builder::new(body, Cursor::Before(inst));
            let id = b.intrinsic_def(op, &[], &[], Shape::new(3, bits));
            let zero = b.constant(bits, &[0]);
            let component = |c: u8| if size[usize::from(c)] == 1 { zero.into() } else { AluSrc::component(id, c) };
            let sources: ArrayVec<AluSrc, 3> = (0..3).map(component).collect();
            b.vec(&sources)
        }
        _ => return false,
    };
    body.replace_all_uses(def, value);
    body.remove_inst(inst);
    true
}

/// Returns whether a component of a local id that is always 0 is used.
fn reads_zero(body: &Body, id: Def, size: [u32; 3]) -> bool {
    let is_zero = |component: u8| size.get(usize::from(component)) == Some(&1);
    body.uses_of(id).any(|source| match body.user(source) {
        User::Inst(user) if body.alu_op(user).is_some() => {
            let count = body.alu_src_components(user, body.source_number(source));
            body.swizzle(source).iter(count).any(is_zero)
        }
        _ => (0..3).any(is_zero),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shader::ShaderStage;
    use crate::text::print;
    use crate::validate::validate;

    #[test]
    fn sizes_and_flat_ids() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let shape = Shape::new(3, 32);
        for op in [IntrinsicOp::LoadWorkgroupSize, IntrinsicOp::LoadLocalInvocationId] {
            let value = b.intrinsic_def(op, &[], &[], shape);
            b.alu(crate::alu::AluOp::Ineg, &[value]);
        }
        shader.info.workgroup_size_variable = true;
        assert!(!lower_system_values(&mut shader), "the size is not known");
        shader.info.workgroup_size_variable = false;
        shader.info.workgroup_size = [8, 4, 1];
        assert!(lower_system_values(&mut shader));
        validate(&shader).unwrap();
        let text = print(&shader);
        assert!(!text.contains("load_workgroup_size") && text.contains("vec3"), "{text}");
        assert!(!lower_system_values(&mut shader));
    }
}
