//! Inserts phis where changes of the control flow have left uses that their definition no longer dominates.
//!
//! ```text
//! before (broken):                       after:
//!     if %c { b1: %1 = fneg %0 }             if %c { b1: %1 = fneg %0 } else { b2: }
//!     %2 = fadd %1, %1                       %3 = phi b1: %1, b2: %undef
//!                                            %2 = fadd %3, %3
//! ```
//!
//! Paths that do not pass the definition contribute an undefined value: the code that moved a use must ensure that it
//! does not matter. Derefs, which may not go through phis, are cloned into the blocks that use them
//! ([`rematerialize_derefs_in_use_blocks`](mod@crate::passes::into_ssa::rematerialize_derefs_in_use_blocks)).
//!
//! Cost: linear in the uses, plus the phis.

use crate::analysis::Dominance;
use crate::body::{Body, InstData};
use crate::entities::{Block, Def};
use crate::passes::into_ssa::phi_builder::{Initial, PhiBuilder};
use crate::passes::into_ssa::rematerialize_derefs_in_use_blocks::rematerialize_body;
use crate::shader::Shader;

/// See the [module](self).
pub fn repair_ssa(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= repair_body(body);
    }
    progress
}

fn is_broken(body: &Body, dominance: &Dominance, def: Def, block: Block) -> bool {
    body.uses_of(def).any(|source| body.use_block(source).is_some_and(|user| !dominance.dominates(block, user)))
}

/// Runs the pass on one body.
pub(crate) fn repair_body(body: &mut Body) -> bool {
    let dominance = body.dominance();
    let mut broken: Vec<(Def, Block)> = Vec::new();
    let mut broken_derefs = false;
    for block in body.blocks() {
        for inst in body.insts(block) {
            if let Some(def) = body.inst_def(inst)
                && is_broken(body, &dominance, def, block)
            {
                broken_derefs |= matches!(body.inst(inst), InstData::Deref { .. });
                broken.push((def, block));
            }
        }
    }
    if broken.is_empty() {
        return false;
    }
    if broken_derefs {
        rematerialize_body(body);
        // The operands of derefs may now be used in other blocks.
        broken.clear();
        for block in body.blocks() {
            for inst in body.insts(block) {
                if let Some(def) = body.inst_def(inst)
                    && is_broken(body, &dominance, def, block)
                {
                    broken.push((def, block));
                }
            }
        }
    }
    let mut phis = PhiBuilder::new(body);
    for (def, block) in broken {
        phis.start(body.shape(def), Initial::Undefined, [block]);
        phis.set(block, def);
        for source in body.uses_vec(def) {
            let Some(user) = body.use_block(source) else { continue };
            if user != block && !dominance.dominates(block, user) {
                let value = phis.get(body, user);
                body.set_src(source, value);
            }
        }
        phis.finish(body);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::alu::AluOp;
    use crate::shader::ShaderStage;
    use crate::types::ScalarType;
    use crate::validate::validate;
    use crate::variable::{VariableData, VariableModes};

    #[test]
    fn values_and_derefs() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let vector = shader.types.vector(ScalarType::Uint, 1);
        let array = shader.types.array(vector, 4);
        let variable = shader.add_variable(VariableData::new("a", array, VariableModes::SHADER_TEMP));
        let mut b = Builder::at_end(shader.main_mut());
        let unknown = b.undef(1, 32);
        let condition = b.alu(AluOp::Ine, &[unknown, unknown]);
        let id = b.push_if(condition);
        let value = b.alu(AluOp::Ineg, &[unknown]);
        let root = b.deref_var(variable, VariableModes::SHADER_TEMP, array);
        let element = b.deref_array(root, value, vector);
        b.end_if(id);
        let sum = b.alu(AluOp::Iadd, &[value, unknown]);
        b.store_deref(element, sum, 1);
        assert!(validate(&shader).is_err());
        assert!(repair_ssa(&mut shader));
        validate(&shader).unwrap();
        assert!(!repair_ssa(&mut shader));
        let body = shader.main();
        assert!(body.is_phi(body.def_inst(body.src(body.def_inst(sum), 0))));
    }
}
