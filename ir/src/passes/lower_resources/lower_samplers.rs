//! Makes samplers and images in structs and in arrays of arrays separate variables, each a sampler or an array of
//! samplers.
//!
//! ```text
//! before:                                             after:
//! type S: struct {vec4 a, sampler2D t}
//! decl_var uniform S[2] s                             decl_var uniform S[2] s, sampler2D[2] s.t
//!     %1 = deref_var &s                                   %4 = deref_var &s.t
//!     %2 = deref_array &(*%1)[%i]                         %3 = deref_array &(*%4)[%i]
//!     %3 = deref_struct &%2->t
//!     tex %3 (texture_deref), ...                         tex %3 (texture_deref), ...
//! ```
//!
//! The units of a variable begin at its binding: first those of the first sampler of a struct, for all elements of the
//! arrays around it, then those of the next one. Images are counted separately. A variable that has nothing else is
//! removed when no deref points to it any more. Counters are left alone.
//!
//! Cost: linear in the derefs of samplers and images, and nothing without such variables.

use cranelift_entity::SecondaryMap;
use hashbrown::{HashMap, HashSet};

use crate::alu::AluOp;
use crate::body::{Body, DerefKind, InstData};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Inst, Type, Variable};
use crate::shader::Shader;
use crate::type_counts::{TypeCounts, UnitCounts, Units};
use crate::types::{TypeData, TypeTable};
use crate::variable::{VariableData, VariableModes};

/// The modes of samplers and images.
const MODES: VariableModes = VariableModes(VariableModes::UNIFORM.0 | VariableModes::IMAGE.0);

/// See the [module](self).
pub fn lower_samplers(shader: &mut Shader) -> bool {
    if !has_nested_samplers(shader) {
        return false;
    }
    let mut lowering =
        Lowering { counts: UnitCounts::new(&shader.types), parts: HashMap::new(), is_lowered: SecondaryMap::new() };
    let functions: Vec<_> = shader.functions.keys().collect();
    let mut progress = false;
    for function in functions {
        let Some(mut body) = shader.functions[function].body.take() else { continue };
        progress |= body.visit_insts(|body, inst| lowering.lower(shader, body, inst));
        shader.functions[function].body = Some(body);
    }
    if progress {
        remove_whole_variables(shader, &lowering);
    }
    progress
}

/// Whether the pass may have work.
pub(crate) fn has_nested_samplers(shader: &Shader) -> bool {
    let types = &shader.types;
    let mut variables = shader.globals_with(MODES).filter(|(_, data)| match types.get(data.ty) {
        TypeData::Array { element, .. } => {
            let is_nested = matches!(types.get(*element), TypeData::Array { .. } | TypeData::Struct { .. });
            is_nested && !matches!(types.get(types.without_arrays(data.ty)), TypeData::AtomicCounter)
        }
        data => matches!(data, TypeData::Struct { .. }),
    });
    if variables.next().is_none() {
        return false;
    }
    let counts = UnitCounts::new(types);
    shader.globals_with(MODES).any(|(_, data)| {
        let inner = types.without_arrays(data.ty);
        let dimensions = matches!(*types.get(data.ty), TypeData::Array { element, .. } if element != inner);
        counts.has_units(data.ty) && (dimensions || matches!(types.get(inner), TypeData::Struct { .. }))
    })
}

struct Lowering {
    counts: UnitCounts,
    /// New variables by variable and fields.
    parts: HashMap<(Variable, Vec<u32>), Variable>,
    /// Variables with parts.
    is_lowered: SecondaryMap<Variable, bool>,
}

impl Lowering {
    /// Lowers a deref of a sampler or image.
    fn lower(&mut self, shader: &mut Shader, body: &mut Body, inst: Inst) -> bool {
        let (InstData::Deref { modes, ty, .. }, Some(def)) = (*body.inst(inst), body.inst_def(inst)) else {
            return false;
        };
        let is_unit = |data: &TypeData| {
            matches!(data, TypeData::Sampler { .. } | TypeData::Texture { .. } | TypeData::Image { .. })
        };
        if !modes.intersects(MODES) || body.is_unused(def) || !is_unit(shader.types.get(ty)) {
            return false;
        }
        let Some((variable, path, indices)) = path(body, inst) else { return false };
        let fields: Vec<u32> = path.iter().copied().flatten().collect();
        if fields.is_empty() && indices.len() < 2 {
            return false;
        }
        let whole = shader.variables[variable].ty;
        let Some(units) = self.counts.units(&shader.types, whole, &path) else { return false };
        let part = self.part(shader, variable, fields, &units, ty, !indices.is_empty());
        let data = &shader.variables[part];
        let mut b = Builder::new(body, Cursor::Before(inst));
        let mut new = b.deref_var(part, data.mode, data.ty);
        if !indices.is_empty() {
            let index = linear_index(&mut b, &indices, &units.strides);
            new = b.deref_array(new, index, ty);
        }
        body.replace_all_uses(def, new);
        remove_chain(body, inst);
        true
    }

    /// Returns the variable of a part.
    fn part(
        &mut self,
        shader: &mut Shader,
        variable: Variable,
        fields: Vec<u32>,
        units: &Units,
        ty: Type,
        is_array: bool,
    ) -> Variable {
        self.is_lowered[variable] = true;
        if let Some(&part) = self.parts.get(&(variable, fields.clone())) {
            return part;
        }
        let types = &mut shader.types;
        let whole = &shader.variables[variable];
        let ty = if is_array { types.array(ty, units.count) } else { ty };
        let binding = whole.binding.saturating_add(units.first);
        let driver_location = if fields.is_empty() { whole.driver_location } else { binding };
        let name = name_of(types, whole, &fields);
        let data = VariableData { name, ty, binding, driver_location, initializer: None, ..whole.clone() };
        let part = shader.add_variable(data);
        self.parts.insert((variable, fields), part);
        part
    }
}

/// The variable of a deref; the fields and `None` for arrays, and the indices, both from the outermost one on.
fn path(body: &Body, inst: Inst) -> Option<(Variable, Vec<Option<u32>>, Vec<Def>)> {
    let (mut path, mut indices) = (Vec::new(), Vec::new());
    let mut at = inst;
    let variable = loop {
        match *body.inst(at) {
            InstData::Deref { kind: DerefKind::Var(variable), .. } => break variable,
            InstData::Deref { kind: DerefKind::Struct(field), .. } => path.push(Some(field)),
            InstData::Deref { kind: DerefKind::Array, .. } => {
                path.push(None);
                indices.push(body.src(at, 1));
            }
            _ => return None,
        }
        at = body.try_def_inst(body.src(at, 0))?;
    };
    path.reverse();
    indices.reverse();
    Some((variable, path, indices))
}

/// Emits the number of an element of nested arrays.
fn linear_index(b: &mut Builder<'_>, indices: &[Def], strides: &[u32]) -> Def {
    let mut constant = 0u32;
    let mut sum: Option<Def> = None;
    for (&index, &stride) in indices.iter().zip(strides) {
        if let Some(number) = b.body.constant_component(index, 0) {
            constant = constant.saturating_add((number as u32).saturating_mul(stride));
            continue;
        }
        let term = match stride {
            1 => index,
            _ => {
                let stride = b.constant(b.body.bit_size(index), &[stride.into()]);
                b.alu(AluOp::Imul, &[index, stride])
            }
        };
        sum = Some(match sum {
            Some(sum) => b.alu(AluOp::Iadd, &[sum, term]),
            None => term,
        });
    }
    match sum {
        None => b.u32_const(constant),
        Some(sum) if constant == 0 => sum,
        Some(sum) => {
            let constant = b.constant(b.body.bit_size(sum), &[constant.into()]);
            b.alu(AluOp::Iadd, &[sum, constant])
        }
    }
}

fn name_of(types: &TypeTable, whole: &VariableData, fields: &[u32]) -> String {
    let mut name = whole.name.clone();
    let mut ty = types.without_arrays(whole.ty);
    for &field in fields {
        let TypeData::Struct { fields, .. } = types.get(ty) else { break };
        let Some(data) = fields.get(field as usize) else { break };
        name.push('.');
        name.push_str(&data.name);
        ty = types.without_arrays(data.ty);
    }
    name
}

/// Removes a deref without uses, and the parents that lose their last use with it.
fn remove_chain(body: &mut Body, mut inst: Inst) {
    while matches!(body.inst(inst), InstData::Deref { .. })
        && body.inst_def(inst).is_some_and(|def| body.is_unused(def))
    {
        let parent = (body.num_sources(inst) > 0).then(|| body.src(inst, 0)).and_then(|def| body.try_def_inst(def));
        body.remove_inst(inst);
        match parent {
            Some(parent) => inst = parent,
            None => break,
        }
    }
}

/// Removes lowered variables without derefs and without data.
fn remove_whole_variables(shader: &mut Shader, lowering: &Lowering) {
    let data = TypeCounts::new(&shader.types, |data| {
        let is_unit = matches!(data, TypeData::Sampler { .. } | TypeData::Texture { .. } | TypeData::Image { .. });
        u32::from(!is_unit)
    });
    let mut used: HashSet<Variable> = HashSet::new();
    for body in shader.functions.values().filter_map(|function| function.body.as_ref()) {
        for inst in body.blocks().flat_map(|block| body.insts(block)) {
            if let InstData::Deref { kind: DerefKind::Var(variable), .. } = *body.inst(inst) {
                used.insert(variable);
            }
        }
    }
    let variables = &mut shader.variables;
    shader.globals.retain(|&variable| {
        let is_removed =
            lowering.is_lowered[variable] && !used.contains(&variable) && data.of(variables[variable].ty) == 0;
        if is_removed {
            variables[variable].mode = VariableModes::NONE;
        }
        !is_removed
    });
}
