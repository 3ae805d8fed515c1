//! Makes `shader_temp` variables that only the entry point uses variables of that function.
//!
//! ```text
//! before:                                         after:
//!     decl_var  vec4 a
//!     impl main {                                     impl main {
//!                                                         decl_var  vec4 a
//!         %0 = deref_var &a (shader_temp vec4)            %0 = deref_var &a (function_temp vec4)
//! ```
//!
//! A function that is not the entry point may run several times, and its global variables then keep their values: these stay global. Variables
//! that nothing uses stay as well (see [`remove_dead_variables`](mod@crate::passes::remove_dead_variables)).

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use crate::body::{Body, DerefKind, InstData};
use crate::entities::{Def, Function, Variable};
use crate::shader::Shader;
use crate::variable::{Initializer, VariableModes};

/// See the [module](self).
pub fn lower_global_vars_to_local(shader: &mut Shader) -> bool {
    let Some(main) = shader.entry_point() else { return false };
    if !shader.globals.iter().any(|&v| shader.variables[v].mode == VariableModes::SHADER_TEMP) {
        return false;
    }
    // The entry point could be called like any other function.
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
    for data in shader.variables.values() {
        mark_pointer_targets(data.initializer.as_ref(), &mut |variable| users[variable].1 = true);
    }
    let moved: Vec<Variable> = shader
        .globals
        .iter()
        .copied()
        .filter(|&v| shader.variables[v].mode == VariableModes::SHADER_TEMP)
        .filter(|&v| users[v] == (main.into(), false))
        .collect();
    if moved.is_empty() {
        return false;
    }
    let mut is_moved: SecondaryMap<Variable, bool> = SecondaryMap::new();
    for &variable in &moved {
        is_moved[variable] = true;
        shader.variables[variable].mode = VariableModes::FUNCTION_TEMP;
    }
    shader.globals.retain(|&v| !is_moved[v]);
    if let Some(body) = &mut shader.functions[main].body {
        body.locals.extend(moved);
        change_modes(body, &is_moved);
    }
    true
}

/// Calls `found` for each variable whose address an initialiser takes.
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

fn change_modes(body: &mut Body, is_moved: &SecondaryMap<Variable, bool>) {
    let mut changed: SecondaryMap<Def, bool> = SecondaryMap::new();
    for block in body.blocks_vec() {
        for inst in body.insts_vec(block) {
            let (InstData::Deref { kind, modes, ty }, Some(def)) = (*body.inst(inst), body.inst_def(inst)) else {
                continue;
            };
            let affected = match kind {
                DerefKind::Var(variable) => is_moved[variable],
                _ => changed[body.src(inst, 0)],
            };
            if affected {
                changed[def] = true;
                let modes = VariableModes(modes.0 & !VariableModes::SHADER_TEMP.0).union(VariableModes::FUNCTION_TEMP);
                body.set_inst(inst, InstData::Deref { kind, modes, ty });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::shader::Stage;
    use crate::types::ScalarType;
    use crate::variable::VariableData;

    #[test]
    fn used_in_main_only() {
        let mut shader = Shader::new(Stage::Compute);
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
