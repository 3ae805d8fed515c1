//! Removes variables of given modes that are never read, with the stores and copies into them.
//!
//! ```text
//! before:                                 after:
//!     decl_var  vec4 a
//!     %0 = deref_var &a
//!     @store_deref (%0, %x)
//! ```
//!
//! A variable is alive if there is a deref of it; a temporary or shared one only if a deref of it, or of a part of it,
//! has a use other than as the destination of a store or copy. Variables that the initialiser of another one points to
//! are kept. A removed variable is removed from the lists of the shader and the function, and its mode is cleared.

use cranelift_entity::SecondaryMap;

use crate::body::{Body, DerefKind, InstData};
use crate::entities::{Inst, User, Variable};
use crate::intrinsics::IntrinsicOp;
use crate::passes::into_ssa::lower_global_vars_to_local::mark_pointer_targets;
use crate::shader::Shader;
use crate::variable::VariableModes;

/// Modes in which only variables that are read are alive.
const WRITE_ONLY_IS_DEAD: VariableModes =
    VariableModes(VariableModes::FUNCTION_TEMP.0 | VariableModes::SHADER_TEMP.0 | VariableModes::MEM_SHARED.0);

/// See the [module](self).
pub fn remove_dead_variables(shader: &mut Shader, modes: VariableModes) -> bool {
    if !shader.variables.values().any(|data| data.mode.intersects(modes)) {
        return false;
    }
    let mut live: SecondaryMap<Variable, bool> = SecondaryMap::new();
    let Shader { functions, variables, globals, .. } = shader;
    for body in functions.values().filter_map(|f| f.body.as_ref()) {
        for inst in body.blocks().flat_map(|b| body.insts(b)) {
            if let InstData::Deref { kind: DerefKind::Var(variable), .. } = *body.inst(inst)
                && !live[variable]
            {
                live[variable] = !variables[variable].mode.intersects(WRITE_ONLY_IS_DEAD) || uses(body, inst).is_none();
            }
        }
    }
    for data in variables.values() {
        mark_pointer_targets(data.initializer.as_ref(), &mut |variable| live[variable] = true);
    }
    let is_dead = |variable: Variable, mode: VariableModes| mode.intersects(modes) && !live[variable];
    let mut dead: Vec<Variable> = Vec::new();
    globals.retain(|&v| {
        let dies = is_dead(v, variables[v].mode);
        dead.extend(dies.then_some(v));
        !dies
    });
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        body.locals.retain(|&v| {
            let dies = is_dead(v, variables[v].mode);
            dead.extend(dies.then_some(v));
            !dies
        });
    }
    if dead.is_empty() {
        return false;
    }
    let mut is_dead: SecondaryMap<Variable, bool> = SecondaryMap::new();
    for &variable in &dead {
        is_dead[variable] = true;
        variables[variable].mode = VariableModes::NONE;
    }
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        let mut insts: Vec<Inst> = Vec::new();
        for inst in body.blocks().flat_map(|b| body.insts(b)) {
            if let InstData::Deref { kind: DerefKind::Var(variable), .. } = *body.inst(inst)
                && is_dead[variable]
            {
                insts.extend(uses(body, inst).into_iter().flatten());
            }
        }
        // A copy from one dead variable to another is visited only through its destination.
        body.remove_insts(&insts);
    }
    true
}

/// Returns the deref, all derefs derived from it, and the stores and copies into them; `None` if any of them has
/// another use.
fn uses(body: &Body, deref: Inst) -> Option<Vec<Inst>> {
    let mut insts = vec![deref];
    let mut next = 0;
    while let Some(&inst) = insts.get(next) {
        next += 1;
        let Some(def) = body.inst_def(inst) else { continue };
        for source in body.uses_of(def) {
            let User::Inst(user) = body.user(source) else { return None };
            if body.source_number(source) != 0 {
                return None;
            }
            match *body.inst(user) {
                InstData::Deref { .. }
                | InstData::Intrinsic { op: IntrinsicOp::StoreDeref | IntrinsicOp::CopyDeref, .. } => insts.push(user),
                _ => return None,
            }
        }
    }
    Some(insts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::body::Shape;
    use crate::shader::ShaderStage;
    use crate::types::ScalarType;
    use crate::variable::VariableData;

    #[test]
    fn written_only() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let vector = shader.types.vector(ScalarType::Uint, 4);
        let array = shader.types.array(vector, 2);
        let main = shader.entry_point().unwrap();
        let written = shader.add_local(main, "written", array);
        let read = shader.add_variable(VariableData::new("read", vector, VariableModes::SHADER_TEMP));
        let output = shader.add_variable(VariableData::new("output", vector, VariableModes::SHADER_OUT));
        let mut b = Builder::at_end(shader.main_mut());
        let root = b.deref_var(written, VariableModes::FUNCTION_TEMP, array);
        let zero = b.u32_const(0);
        let element = b.deref_array(root, zero, vector);
        let source = b.deref_var(read, VariableModes::SHADER_TEMP, vector);
        let value = b.load_deref(source, Shape::new(4, 32));
        b.store_deref(element, value, 15);
        let out = b.deref_var(output, VariableModes::SHADER_OUT, vector);
        b.store_deref(out, value, 15);
        let temps = VariableModes::FUNCTION_TEMP.union(VariableModes::SHADER_TEMP).union(VariableModes::SHADER_OUT);
        assert!(remove_dead_variables(&mut shader, temps));
        assert!(!remove_dead_variables(&mut shader, temps));
        assert!(shader.main().locals.is_empty());
        assert_eq!(shader.globals, [read, output]);
        assert!(!shader.main().is_def_live(element) && !shader.main().is_def_live(root));
        assert_eq!(shader.main().uses_of(value).count(), 1);
    }
}
