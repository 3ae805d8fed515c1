//! Turns initialisers of variables into stores.
//!
//! ```text
//! before:                                     after:
//! decl_var vec2[2] a = { { 1.0, 2.0 }, null }     decl_var vec2[2] a
//!                                                 %1 = deref_var &a
//!                                                 %2 = deref_array &(*%1)[0]
//!                                                 @store_deref (%2, %3) (wrmask=xy)   (%3 = 1.0, 2.0)
//!                                                 ... the same for each vector
//! ```
//!
//! The stores are at the start of the function of a local variable, and at that of the entry point for temporaries of
//! the shader and outputs. Initialisers of zeros are dropped for temporaries, which start as zero. Those of other modes,
//! addresses of variables, and more than [`MAX_VECTORS`](crate::passes::variables::lower_var_copies::MAX_VECTORS) vectors
//! are left alone. Runs after inlining, which stores the initial values of the variables of each call itself.
//!
//! The number of stores is that of the vectors.

use crate::body::Body;
use crate::builder::Builder;
use crate::entities::{Function, Variable};
use crate::passes::into_ssa::inline_functions::reset_variable;
use crate::passes::variables::lower_var_copies::{MAX_VECTORS, is_data};
use crate::shader::{Shader, ShaderStage};
use crate::types::TypeTable;
use crate::variable::{Initializer, VariableData, VariableModes};

/// See the [module](self).
pub fn lower_variable_initializers(shader: &mut Shader) -> bool {
    let mut modes = VariableModes::SHADER_TEMP;
    // Each invocation would initialise the outputs of the others.
    if shader.stage != ShaderStage::TessCtrl {
        modes = modes.union(VariableModes::SHADER_OUT);
    }
    let globals: Vec<Variable> = shader.globals_with(modes).map(|(variable, _)| variable).collect();
    let mut progress = false;
    if let Some(entry) = shader.entry_point() {
        progress |= lower(shader, entry, &globals);
    }
    let functions: Vec<Function> = shader.functions.keys().collect();
    for function in functions {
        let locals = shader.functions[function].body.as_ref().map(|body| body.locals.clone());
        progress |= locals.is_some_and(|locals| lower(shader, function, &locals));
    }
    progress
}

/// Whether the pass may have work.
pub(crate) fn has_initializers(shader: &Shader) -> bool {
    shader.variables.values().any(|data| data.initializer.is_some() && data.mode != VariableModes::NONE)
}

/// Initialises variables at the start of a function.
fn lower(shader: &mut Shader, function: Function, variables: &[Variable]) -> bool {
    let Shader { functions, types, variables: all, .. } = shader;
    let Some(body) = functions[function].body.as_mut() else { return false };
    let mut progress = false;
    for &variable in variables {
        let data = &all[variable];
        let Some(initializer) = data.initializer.as_ref().filter(|initializer| is_lowered(types, data, initializer))
        else {
            continue;
        };
        if data.mode == VariableModes::SHADER_OUT || !is_zero(initializer) {
            store(body, types, variable, data);
        }
        all[variable].initializer = None;
        progress = true;
    }
    progress
}

fn store(body: &mut Body, types: &mut TypeTable, variable: Variable, data: &VariableData) {
    reset_variable(&mut Builder::at_start(body), types, variable, data);
}

/// Whether an initialiser becomes stores.
fn is_lowered(types: &TypeTable, data: &VariableData, initializer: &Initializer) -> bool {
    let fits = types.slots(data.ty) <= MAX_VECTORS && is_data(types, data.ty);
    fits && all_of(initializer, |part| !matches!(part, Initializer::Pointer(_)))
}

/// Whether all numbers of an initialiser are zero.
fn is_zero(initializer: &Initializer) -> bool {
    all_of(initializer, |part| match part {
        Initializer::Vector(values) => values.iter().all(|&value| value == 0),
        _ => true,
    })
}

/// Whether a property holds for an initialiser and all its parts.
fn all_of(initializer: &Initializer, holds: impl Fn(&Initializer) -> bool) -> bool {
    let mut pending = vec![initializer];
    while let Some(part) = pending.pop() {
        if !holds(part) {
            return false;
        }
        if let Initializer::Elements(parts) = part {
            pending.extend(parts);
        }
    }
    true
}
