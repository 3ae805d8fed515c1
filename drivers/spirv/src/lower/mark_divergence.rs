//! Runs the divergence analysis if the shader indexes textures or images dynamically: divergent indices must be
//! decorated.
//!
//! Cost: linear in the instructions, plus the analysis if there is such an index.

use tgsi_ir::analysis::analyze_divergence;
use tgsi_ir::analysis::divergence::DivergenceOptions;
use tgsi_ir::body::DerefKind;
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{InstData, Shader};

/// See the [module](self).
pub fn mark_divergence(shader: &mut Shader) -> bool {
    let resources = VariableModes::UNIFORM.union(VariableModes::IMAGE);
    let chooses = shader.bodies_mut().any(|body| {
        body.blocks().flat_map(|block| body.insts(block)).any(|inst| match *body.inst(inst) {
            InstData::Deref { kind: DerefKind::Array, modes, .. } => {
                resources.intersects(modes) && body.def_constant(body.src(inst, 1)).is_none()
            }
            _ => false,
        })
    });
    chooses && analyze_divergence(shader, &DivergenceOptions::default())
}
