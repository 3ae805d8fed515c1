//! The variables of memory: places in shared memory, and the declarations of blocks for drivers.

use cranelift_entity::SecondaryMap;
use hashbrown::HashSet;

use crate::body::{DerefKind, InstData};
use crate::entities::{User, Variable};
use crate::memory_layout::align_up;
use crate::passes::lower_resources::lower_explicit_access::address::{Layouts, is_block};
use crate::passes::lower_resources::lower_explicit_access::{is_access, is_memory};
use crate::shader::Shader;
use crate::types::{ScalarType, TypeData};
use crate::variable::{VariableData, VariableModes};

/// The maximum number of variables that replace an array of blocks; no target has more blocks.
const MAX_BLOCKS: u32 = 4096;

/// Places each variable in shared memory whose accesses can all be lowered.
pub(super) fn place_shared_variables(shader: &mut Shader, layouts: &Layouts) -> SecondaryMap<Variable, Option<u32>> {
    let mut offsets: SecondaryMap<Variable, Option<u32>> = SecondaryMap::new();
    let (mut is_used, mut is_complex): (SecondaryMap<Variable, bool>, SecondaryMap<Variable, bool>) =
        Default::default();
    for body in shader.functions.values().filter_map(|function| function.body.as_ref()) {
        let mut roots = SecondaryMap::new();
        for inst in body.blocks().flat_map(|block| body.insts(block)) {
            let (InstData::Deref { kind, modes, .. }, Some(def)) = (*body.inst(inst), body.inst_def(inst)) else {
                continue;
            };
            if modes != VariableModes::MEM_SHARED {
                continue;
            }
            let root: Option<Variable> = match kind {
                DerefKind::Var(variable) => Some(variable),
                DerefKind::Array | DerefKind::Struct(_) => roots[body.src(inst, 0)],
                _ => None,
            };
            roots[def] = root;
            let Some(root) = root else { continue };
            is_used[root] = true;
            is_complex[root] |= !body.uses_of(def).all(|source| match body.user(source) {
                User::Inst(user) => {
                    let is_step = matches!(
                        body.inst(user),
                        InstData::Deref { kind: DerefKind::Array | DerefKind::Struct(_), .. }
                    );
                    body.source_number(source) == 0 && (is_step || body.intrinsic(user).is_some_and(is_access))
                }
                User::If(_) => false,
            });
        }
    }
    for &variable in &shader.globals {
        let data = &shader.variables[variable];
        if data.mode == VariableModes::MEM_SHARED
            && is_memory(&shader.types, data)
            && is_used[variable]
            && !is_complex[variable]
        {
            let size = layouts.memory.size(data.ty);
            let start = align_up(shader.info.shared_size, size.align.max(4));
            offsets[variable] = Some(start);
            shader.info.shared_size = align_up(start.saturating_add(size.bytes), 4);
        }
    }
    offsets
}

/// Returns the variables in memory to which derefs point.
pub(super) fn accessed(shader: &Shader) -> HashSet<Variable> {
    let bodies = shader.functions.values().filter_map(|function| function.body.as_ref());
    let insts = bodies.flat_map(|body| body.blocks().flat_map(|block| body.insts(block)).map(|inst| *body.inst(inst)));
    let variables = insts.filter_map(|data| match data {
        InstData::Deref { kind: DerefKind::Var(variable), .. } => Some(variable),
        _ => None,
    });
    variables.filter(|&variable| is_memory(&shader.types, &shader.variables[variable])).collect()
}

/// Declares accessed memory for drivers, after its accesses were lowered. Returns whether anything changed.
pub(super) fn finish(shader: &mut Shader, layouts: &Layouts, before: &HashSet<Variable>) -> bool {
    let after = accessed(shader);
    let mut progress = false;
    let mut globals = Vec::new();
    for variable in std::mem::take(&mut shader.globals) {
        if !before.contains(&variable) {
            globals.push(variable);
            continue;
        }
        let is_lowered = !after.contains(&variable);
        let data = shader.variables[variable].clone();
        let count = if is_block(&shader.types, data.ty) { shader.types.array_elements(data.ty) } else { 1 };
        let end = data.binding.saturating_add(count);
        let mut at_least = |number: &mut u32, least: u32| {
            progress |= *number < least;
            *number = (*number).max(least);
        };
        match data.mode {
            VariableModes::UNIFORM => {
                let registers = layouts.registers.of(data.ty);
                if registers > 0 {
                    at_least(&mut shader.num_uniforms, data.driver_location.saturating_add(registers));
                }
            }
            VariableModes::MEM_SSBO => at_least(&mut shader.info.num_ssbos, end),
            VariableModes::MEM_UBO => at_least(&mut shader.info.num_ubos, end),
            _ => {}
        }
        match data.mode {
            VariableModes::MEM_UBO if is_block(&shader.types, data.ty) && is_lowered && count <= MAX_BLOCKS => {
                progress = true;
                replace_block(shader, layouts, variable, &data, count, &mut globals);
            }
            VariableModes::MEM_SHARED if is_lowered => {
                progress = true;
                shader.variables[variable].mode = VariableModes::NONE;
            }
            _ => globals.push(variable),
        }
    }
    shader.globals = globals;
    progress
}

/// Replaces a block, or an array of blocks, by arrays of vec4 of the same size.
fn replace_block(
    shader: &mut Shader,
    layouts: &Layouts,
    variable: Variable,
    data: &VariableData,
    count: u32,
    globals: &mut Vec<Variable>,
) {
    let block = shader.types.without_arrays(data.ty);
    let length = layouts.memory.size(block).bytes.div_ceil(16);
    let vector = shader.types.vector(ScalarType::Float, 4);
    let ty = shader.types.intern(TypeData::Array { element: vector, length, stride: 16 });
    if count == 1 {
        shader.variables[variable].ty = ty;
        globals.push(variable);
        return;
    }
    shader.variables[variable].mode = VariableModes::NONE;
    for number in 0..count {
        let name = format!("{}[{number}]", data.name);
        let binding = data.binding.saturating_add(number);
        let block = VariableData { name, ty, binding, ..data.clone() };
        globals.push(shader.variables.push(block));
    }
}
