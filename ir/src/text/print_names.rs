//! Names of variables in the text form: a unique name for each, their order, and the name that an I/O intrinsic
//! accesses.

use hashbrown::{HashMap, HashSet};
use std::fmt::Write;

use cranelift_entity::SecondaryMap;

use super::print::push_word;
use super::type_names::element_data;
use crate::entities::Variable;
use crate::shader::Shader;
use crate::types::TypeData;
use crate::variable::VariableModes;

/// Modes of inputs and outputs.
pub(super) const INPUTS_AND_OUTPUTS: VariableModes =
    VariableModes(VariableModes::SHADER_IN.0 | VariableModes::SHADER_OUT.0);

/// The variables of the shader in print order.
pub(super) fn ordered_globals(shader: &Shader) -> Vec<Variable> {
    let mut globals: Vec<Variable> =
        shader.globals.iter().copied().filter(|&v| shader.variables[v].mode.0 != 0).collect();
    globals.sort_by_key(|&v| {
        let data = &shader.variables[v];
        let location =
            if data.mode.intersects(INPUTS_AND_OUTPUTS) { (data.location as u32, data.location_frac) } else { (0, 0) };
        (data.mode.0.trailing_zeros(), location)
    });
    globals
}

/// Unique names of variables in the text form.
pub(super) struct Names {
    names: SecondaryMap<Variable, String>,
}

impl Names {
    pub(super) fn new(shader: &Shader, globals: &[Variable]) -> Names {
        let mut names: SecondaryMap<Variable, String> = SecondaryMap::with_default(String::new());
        let mut done: HashSet<Variable> = HashSet::new();
        // Generated names must not collide with existing ones.
        let taken: HashSet<&str> = shader.variables.values().map(|v| v.name.as_str()).collect();
        let mut used: HashSet<String> = HashSet::new();
        let mut counter = 0usize;
        let locals = shader.functions.values().filter_map(|f| f.body.as_ref()).flat_map(|b| b.locals.iter().copied());
        // Variables in no list come last: derefs may still refer to them.
        let order = globals.iter().copied().chain(locals).chain(shader.variables.keys());
        for variable in order {
            let Some(data) = shader.variables.get(variable) else { continue };
            if !done.insert(variable) {
                continue;
            }
            let mut name = String::new();
            push_word(&mut name, &data.name);
            if name.is_empty() || used.contains(&name) {
                let stem = name.len();
                loop {
                    let _ = write!(name, "#{counter}");
                    counter += 1;
                    if !used.contains(&name) && !taken.contains(name.as_str()) {
                        break;
                    }
                    name.truncate(stem);
                }
            }
            used.insert(name.clone());
            names[variable] = name;
        }
        Names { names }
    }

    pub(super) fn get(&self, variable: Variable) -> &str {
        &self.names[variable]
    }
}

/// The variable that an I/O intrinsic accesses, by driver location and component.
#[derive(Default)]
pub(super) struct IoVariables {
    exact: HashMap<(u32, u32, u8), Variable>,
    /// First variable with the component in any location: inputs, outputs.
    fallback: [[Option<Variable>; 16]; 2],
}

impl IoVariables {
    /// Maximum number of slots of one variable that are looked up by number.
    const MAX_SLOTS: u32 = 128;

    pub(super) fn new(shader: &Shader, globals: &[Variable]) -> IoVariables {
        let mut io = IoVariables::default();
        for &variable in globals {
            let data = &shader.variables[variable];
            if data.name.is_empty() {
                continue;
            }
            if data.mode == VariableModes::UNIFORM {
                // Loads cannot access atomic counters as uniforms.
                if matches!(shader.types.get(shader.types.without_arrays(data.ty)), TypeData::AtomicCounter) {
                    continue;
                }
                io.exact.entry((data.mode.0, data.driver_location, 0)).or_insert(variable);
                continue;
            }
            if !data.mode.intersects(INPUTS_AND_OUTPUTS) {
                continue;
            }
            let Some(element) = element_data(&shader.types, data.ty) else { continue };
            let components = match *element {
                TypeData::Vector { components, .. } => components,
                TypeData::Matrix { rows, .. } => rows,
                _ => 4,
            };
            let range = data.location_frac..data.location_frac.saturating_add(components).min(16);
            let slots = shader.types.slots(data.ty).clamp(1, Self::MAX_SLOTS);
            for slot in 0..slots {
                let number = data.driver_location.saturating_add(slot);
                for component in range.clone() {
                    io.exact.entry((data.mode.0, number, component)).or_insert(variable);
                }
            }
            if std::ptr::eq(element, shader.types.get(data.ty)) {
                let side = usize::from(data.mode == VariableModes::SHADER_OUT);
                for component in range {
                    if let Some(entry) = io.fallback[side].get_mut(usize::from(component)) {
                        entry.get_or_insert(variable);
                    }
                }
            }
        }
        io
    }

    pub(super) fn find(&self, mode: VariableModes, base: i32, component: i32, mesa: bool) -> Option<Variable> {
        let component = u8::try_from(component).ok()?;
        let found = self.exact.get(&(mode.0, base as u32, component)).copied();
        if !mesa || mode == VariableModes::UNIFORM {
            return found;
        }
        // Without a match, Mesa takes the first variable that has the component.
        let side = usize::from(mode == VariableModes::SHADER_OUT);
        found.or_else(|| self.fallback[side].get(usize::from(component)).copied().flatten())
    }
}
