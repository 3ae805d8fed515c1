//! Makes `shader_temp` variables that functions do not share local to their functions.
//!
//! ```text
//! before:                                         after:
//!     decl_var  vec4 a
//!     impl main {                                     impl main {
//!                                                         decl_var  vec4 a
//!         %0 = deref_var &a (shader_temp vec4)            %0 = deref_var &a (function_temp vec4)
//! ```
//!
//! - A variable that only the entry point uses becomes local to it.
//! - A variable that is used in several functions, or in one that may run more than once, carries no values between
//!   them if every path writes each component before reading it (`exposed_reads`): each function then gets its own
//!   copy.
//!
//! All other variables stay global, including unused ones (see
//! [`remove_dead_variables`](mod@crate::passes::variables::remove_dead_variables)).

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use hashbrown::HashMap;

use crate::body::{Body, DerefKind, InstData};
use crate::entities::{Def, Function, Variable};
use crate::passes::into_ssa::exposed_reads::not_exposed;
use crate::shader::Shader;
use crate::variable::{Initializer, VariableData, VariableModes};

/// See the [module](self).
pub fn lower_global_vars_to_local(shader: &mut Shader) -> bool {
    let Some(main) = shader.entry_point() else { return false };
    if !shader.globals.iter().any(|&v| shader.variables[v].mode == VariableModes::SHADER_TEMP) {
        return false;
    }
    // The entry point might be called like any other function.
    let mut users: SecondaryMap<Variable, (PackedOption<Function>, bool)> = SecondaryMap::new();
    for (id, function) in shader.functions.iter() {
        let Some(body) = &function.body else { continue };
        for inst in body.blocks().flat_map(|b| body.insts(b)) {
            match *body.inst(inst) {
                InstData::Deref { kind: DerefKind::Var(variable), .. } => {
                    let user = &mut users[variable];
                    user.1 |= user.0.expand().is_some_and(|other| other != id);
                    user.0 = id.into();
                }
                InstData::Call { callee, .. } if callee == main => return false,
                _ => {}
            }
        }
    }
    let mut is_pointed_to: SecondaryMap<Variable, bool> = SecondaryMap::new();
    for data in shader.variables.values() {
        mark_pointer_targets(data.initializer.as_ref(), &mut |variable| is_pointed_to[variable] = true);
    }
    let is_temp = |&v: &Variable| shader.variables[v].mode == VariableModes::SHADER_TEMP && !is_pointed_to[v];
    let globals = || shader.globals.iter().copied().filter(is_temp).filter(|&v| users[v].0.is_some());
    let (mut moved, others): (Vec<Variable>, Vec<Variable>) =
        globals().partition(|&v| users[v] == (main.into(), false));
    // With an initialiser it matters when the variable is set.
    let plain = others.into_iter().filter(|&v| shader.variables[v].initializer.is_none()).collect();
    moved.extend(not_exposed(shader, main, plain));
    if moved.is_empty() {
        return false;
    }
    let mut is_moved: SecondaryMap<Variable, bool> = SecondaryMap::new();
    for &variable in &moved {
        is_moved[variable] = true;
        shader.variables[variable].mode = VariableModes::FUNCTION_TEMP;
    }
    shader.globals.retain(|&v| !is_moved[v]);
    let mut is_taken: SecondaryMap<Variable, bool> = SecondaryMap::new();
    for function in shader.functions.values_mut() {
        let Some(body) = &mut function.body else { continue };
        change_modes(body, &mut shader.variables, &is_moved, &mut is_taken);
    }
    true
}

/// Calls `found` for each variable that an initialiser points to.
pub(crate) fn mark_pointer_targets(initializer: Option<&Initializer>, found: &mut impl FnMut(Variable)) {
    let mut pending: Vec<&Initializer> = initializer.into_iter().collect();
    while let Some(initializer) = pending.pop() {
        match initializer {
            Initializer::Pointer(variable) => found(*variable),
            Initializer::Elements(elements) => pending.extend(elements),
            Initializer::Null | Initializer::Vector(_) => {}
        }
    }
}

/// Makes the moved variables that a function uses local to it: the first function takes the variable itself, others get
/// a copy of its declaration.
fn change_modes(
    body: &mut Body,
    variables: &mut PrimaryMap<Variable, VariableData>,
    is_moved: &SecondaryMap<Variable, bool>,
    is_taken: &mut SecondaryMap<Variable, bool>,
) {
    let mut changed: SecondaryMap<Def, bool> = SecondaryMap::new();
    let mut own: HashMap<Variable, Variable> = HashMap::new();
    for block in body.blocks_vec() {
        for inst in body.insts_vec(block) {
            let (InstData::Deref { kind, modes, ty }, Some(def)) = (*body.inst(inst), body.inst_def(inst)) else {
                continue;
            };
            let kind = match kind {
                DerefKind::Var(variable) if is_moved[variable] => {
                    let own = *own.entry(variable).or_insert_with(|| {
                        let is_free = !std::mem::replace(&mut is_taken[variable], true);
                        let own = if is_free { variable } else { variables.push(variables[variable].clone()) };
                        body.locals.push(own);
                        own
                    });
                    DerefKind::Var(own)
                }
                DerefKind::Var(_) => continue,
                kind if changed[body.src(inst, 0)] => kind,
                _ => continue,
            };
            changed[def] = true;
            let modes = VariableModes(modes.0 & !VariableModes::SHADER_TEMP.0).union(VariableModes::FUNCTION_TEMP);
            body.set_inst(inst, InstData::Deref { kind, modes, ty });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::shader::ShaderStage;
    use crate::types::ScalarType;

    #[test]
    fn used_in_main_only() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let vector = shader.types.vector(ScalarType::Uint, 4);
        let array = shader.types.array(vector, 2);
        let used = shader.add_variable(VariableData::new("used", array, VariableModes::SHADER_TEMP));
        let unused = shader.add_variable(VariableData::new("unused", vector, VariableModes::SHADER_TEMP));
        let mut b = Builder::at_end(shader.main_mut());
        let root = b.deref_var(used, VariableModes::SHADER_TEMP, array);
        let zero = b.u32_const(0);
        let element = b.deref_array(root, zero, vector);
        assert!(lower_global_vars_to_local(&mut shader));
        assert!(!lower_global_vars_to_local(&mut shader));
        assert_eq!(shader.globals, [unused]);
        assert_eq!(shader.main().locals, [used]);
        assert_eq!(shader.main().deref_modes(element), VariableModes::FUNCTION_TEMP);
    }
}
