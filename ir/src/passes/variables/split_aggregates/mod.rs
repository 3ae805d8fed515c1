//! Splits variables of aggregate types into variables that are vectors or arrays of vectors.
//!
//! ```text
//! before:                                             after:
//! type S: struct {mat3 m, float f}
//! decl_var S[2] s                                     decl_var vec3[2] s.m[1]
//!     %1 = deref_var &s                                   %6 = deref_var &s.m[1]
//!     %2 = deref_array &(*%1)[%i]                         %7 = deref_array &(*%6)[%i]
//!     %3 = deref_struct &%2->m                            %5 = @load_deref (%7)
//!     %4 = deref_array &(*%3)[1]
//!     %5 = @load_deref (%4)
//! ```
//!
//! - A struct becomes a variable for each field, an array of structs an array for each field, a matrix an array of its
//!   columns.
//! - Of several array dimensions, those that are indexed by constants only become a variable for each element that is
//!   accessed: the parts can then become SSA values. One dimension alone stays an array, since
//!   [`lower_vars_to_ssa`](mod@crate::passes::into_ssa::lower_vars_to_ssa) takes single elements. With a constant
//!   beyond the end, loads give zero and stores are removed.
//! - A temporary vector of three or four 64-bit numbers becomes two, of which each fits a register.
//! - Inputs and outputs get the locations of their slots. The slots of a field of an array of structs are not adjacent,
//!   so the array is split into elements; run-time indices of it become trees of `if`s before, by
//!   [`lower_indirect_derefs`](mod@crate::passes::lower_indirects::lower_indirect_derefs).
//!
//! A variable is left alone if a part of it that is not a vector has another use than derefs of its fields and elements:
//! copies are lowered before, by [`lower_var_copies`](mod@crate::passes::variables::lower_var_copies), and pointers are
//! resolved by inlining. So are types that are not data, inputs and outputs of more than [`MAX_SLOTS`] slots, and those
//! without a location: a front end assigns it later, and the pass runs again.
//!
//! Cost: linear in the code and the fields of the types; nothing without such variables.

mod tree;

use arrayvec::ArrayVec;
use cranelift_entity::SecondaryMap;
use hashbrown::HashMap;

use crate::body::{Body, DerefKind, InstData, MAX_COMPONENTS, Shape};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Function, Inst, User, Variable};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::into_ssa::lower_global_vars_to_local::mark_pointer_targets;
use crate::passes::lower_indirects::index_tree::zero;
use crate::passes::lower_indirects::lower_indirect_derefs::lower_some_indirect_derefs;
use crate::shader::Shader;
use crate::types::TypeData;
use crate::variable::{VariableData, VariableModes};
use tree::{Kind, Node, Tree};

/// The maximum number of slots of an input or output to split, which is also that of its parts.
pub const MAX_SLOTS: u32 = 1 << 16;

/// The maximum number of elements of an array of structs in inputs and outputs with a run-time index.
const MAX_INDEXED: u32 = 256;

const INTERFACE: VariableModes = VariableModes(VariableModes::SHADER_IN.0 | VariableModes::SHADER_OUT.0);
const TEMPORARIES: VariableModes = VariableModes(VariableModes::FUNCTION_TEMP.0 | VariableModes::SHADER_TEMP.0);

/// See the [module](self).
pub fn split_aggregates(shader: &mut Shader) -> bool {
    if !has_aggregates(shader) {
        return false;
    }
    let mut progress = lower_indices_of_structs(shader);
    for body in shader.bodies_mut() {
        progress |= remove_unused_derefs(body);
    }
    let mut splitter = Splitter::new(shader);
    for (id, function) in &shader.functions {
        if let Some(body) = &function.body {
            splitter.visit(id, body);
        }
    }
    for tree in &mut splitter.trees {
        tree.is_split &= tree.choose_levels();
    }
    if !splitter.trees.iter().any(|tree| tree.is_split) {
        return progress;
    }
    splitter.create_interface(shader);
    let functions: Vec<Function> = shader.functions.keys().collect();
    for function in functions {
        if let Some(mut body) = shader.functions[function].body.take() {
            splitter.rewrite(shader, &mut body);
            shader.functions[function].body = Some(body);
        }
    }
    splitter.replace_variables(shader);
    true
}

/// Whether the pass may have work.
pub(crate) fn has_aggregates(shader: &Shader) -> bool {
    let types = &shader.types;
    let is_aggregate = |&variable: &Variable| {
        let data = &shader.variables[variable];
        let inner = types.get(types.without_arrays(data.ty));
        let is_wide = matches!(*inner, TypeData::Vector { scalar, components } if tree::is_wide(scalar, components));
        let is_array_of_arrays = match *types.get(data.ty) {
            TypeData::Array { element, .. } => matches!(types.get(element), TypeData::Array { .. }),
            _ => false,
        };
        can_split(data)
            && (matches!(inner, TypeData::Matrix { .. } | TypeData::Struct { .. })
                || (is_array_of_arrays || is_wide) && data.mode.intersects(TEMPORARIES))
    };
    let locals = shader.functions.values().filter_map(|function| function.body.as_ref()).flat_map(|body| &body.locals);
    shader.globals.iter().chain(locals).any(is_aggregate)
}

/// Whether the parts of a variable can be variables: those of inputs and outputs need locations.
fn can_split(data: &VariableData) -> bool {
    data.mode.intersects(TEMPORARIES) || data.mode.intersects(INTERFACE) && data.location >= 0
}

/// Makes the indices of arrays of structs in inputs and outputs constant.
fn lower_indices_of_structs(shader: &mut Shader) -> bool {
    let is_struct = |variable: Variable| {
        let data = &shader.variables[variable];
        let inner = shader.types.get(shader.types.without_arrays(data.ty));
        data.mode.intersects(INTERFACE) && can_split(data) && matches!(inner, TypeData::Struct { .. })
    };
    if !shader.globals.iter().any(|&variable| is_struct(variable)) {
        return false;
    }
    let mut by_vertex: SecondaryMap<Variable, bool> = SecondaryMap::new();
    for (variable, data) in &shader.variables {
        by_vertex[variable] = data.per_vertex;
    }
    lower_some_indirect_derefs(shader, INTERFACE, MAX_INDEXED, &|types, body, deref| {
        let parent = body.src(deref, 0);
        let is_vertex = match *body.inst(body.def_inst(parent)) {
            InstData::Deref { kind: DerefKind::Var(variable), .. } => by_vertex[variable],
            _ => false,
        };
        let element = match body.deref_type(parent).map(|ty| types.get(ty)) {
            Some(TypeData::Array { element, .. }) => *element,
            _ => return false,
        };
        !is_vertex && !tree::has_adjacent_slots(types, element)
    })
}

/// Removes derefs that no code uses: lowered accesses leave them. Returns whether there were any.
fn remove_unused_derefs(body: &mut Body) -> bool {
    let mut progress = false;
    for block in body.blocks_vec().into_iter().rev() {
        for inst in body.insts_vec(block).into_iter().rev() {
            if matches!(body.inst(inst), InstData::Deref { .. })
                && body.inst_def(inst).is_some_and(|def| body.is_unused(def))
            {
                body.remove_inst(inst);
                progress = true;
            }
        }
    }
    progress
}

/// The part of a variable that a deref points to.
type Place = Option<(u32, u32)>;

/// A vector or array of vectors of a split variable: its tree and node, the indices of the split dimensions, and the half
/// of a vector that is too wide.
type PartKey = (u32, u32, Vec<u32>, u8);

struct Splitter {
    trees: Vec<Tree>,
    by_variable: SecondaryMap<Variable, Option<u32>>,
    parts: HashMap<PartKey, Variable>,
    /// The parts of each tree in order of creation.
    created: Vec<Vec<Variable>>,
}

impl Splitter {
    fn new(shader: &Shader) -> Splitter {
        let mut splitter = Splitter {
            trees: Vec::new(),
            by_variable: SecondaryMap::new(),
            parts: HashMap::new(),
            created: Vec::new(),
        };
        let mut is_pointed_to: SecondaryMap<Variable, bool> = SecondaryMap::new();
        for data in shader.variables.values() {
            mark_pointer_targets(data.initializer.as_ref(), &mut |variable| is_pointed_to[variable] = true);
        }
        let locals = shader.functions.iter().flat_map(|(id, function)| {
            function.body.iter().flat_map(move |body| body.locals.iter().map(move |&variable| (variable, Some(id))))
        });
        for (variable, owner) in shader.globals.iter().map(|&variable| (variable, None)).chain(locals) {
            let data = &shader.variables[variable];
            if can_split(data)
                && !data.compact
                && !is_pointed_to[variable]
                && let Some(tree) = Tree::new(&shader.types, variable, data, owner)
            {
                splitter.by_variable[variable] = Some(splitter.trees.len() as u32);
                splitter.trees.push(tree);
                splitter.created.push(Vec::new());
            }
        }
        splitter
    }

    fn node(&self, (tree, node): (u32, u32)) -> &Node {
        &self.trees[tree as usize].nodes[node as usize]
    }

    /// Finds the part that a deref points to, from that of its parent.
    fn place(&self, body: &Body, inst: Inst, places: &SecondaryMap<Def, Place>) -> Place {
        let InstData::Deref { kind, .. } = *body.inst(inst) else { return None };
        if let DerefKind::Var(variable) = kind {
            return self.by_variable[variable].map(|tree| (tree, 0));
        }
        let (tree, node) = places[body.src(inst, 0)]?;
        match (kind, &self.node((tree, node)).kind) {
            (DerefKind::Array, Kind::Array { .. }) => Some((tree, node + 1)),
            (DerefKind::Struct(number), Kind::Struct { fields }) => Some((tree, fields.get(number as usize)?.1)),
            _ => None,
        }
    }

    /// Notes run-time indices, and variables that cannot be split.
    fn visit(&mut self, function: Function, body: &Body) {
        let mut places: SecondaryMap<Def, Place> = SecondaryMap::new();
        for inst in body.blocks().flat_map(|block| body.insts(block)) {
            let (InstData::Deref { kind, .. }, Some(def)) = (*body.inst(inst), body.inst_def(inst)) else { continue };
            let place = self.place(body, inst, &places);
            places[def] = place;
            if kind == DerefKind::Array
                && let Some((tree, node)) = places[body.src(inst, 0)]
                && body.constant_component(body.src(inst, 1), 0).is_none()
                && let Kind::Array { is_indexed, .. } = &mut self.trees[tree as usize].nodes[node as usize].kind
            {
                *is_indexed = true;
            }
            let Some(place) = place else { continue };
            let tree = &mut self.trees[place.0 as usize];
            // An invalid reference to a variable of another function.
            tree.is_split &= tree.owner.is_none_or(|owner| owner == function);
            if tree.is_halved(place.1) {
                tree.is_split &= body.uses_of(def).all(|source| match body.user(source) {
                    User::Inst(user) => {
                        let is_access = [Some(IntrinsicOp::LoadDeref), Some(IntrinsicOp::StoreDeref)];
                        body.source_number(source) == 0 && is_access.contains(&body.intrinsic(user))
                    }
                    User::If(_) => false,
                });
            } else if !matches!(tree.nodes[place.1 as usize].kind, Kind::Vector { .. }) {
                tree.is_split &= body.uses_of(def).all(|source| match body.user(source) {
                    User::Inst(user) => {
                        let is_parent = body.source_number(source) == 0;
                        is_parent
                            && matches!(
                                body.inst(user),
                                InstData::Deref { kind: DerefKind::Array | DerefKind::Struct(_), .. }
                            )
                    }
                    User::If(_) => false,
                });
            }
        }
    }

    /// Creates the parts of inputs and outputs: their slots belong to the interface of the shader, accessed or not.
    fn create_interface(&mut self, shader: &mut Shader) {
        for number in 0..self.trees.len() {
            let tree = &self.trees[number];
            if !tree.is_split || !shader.variables[tree.variable].mode.intersects(INTERFACE) {
                continue;
            }
            for (node, indices) in tree.all_parts() {
                self.part(shader, (number as u32, node, indices, 0));
            }
        }
    }

    /// Returns the variable of a part, creating it if necessary.
    fn part(&mut self, shader: &mut Shader, key: PartKey) -> Variable {
        if let Some(&variable) = self.parts.get(&key) {
            return variable;
        }
        let tree = &self.trees[key.0 as usize];
        let data = tree.part(&mut shader.types, &shader.variables[tree.variable], key.1, &key.2, key.3);
        let variable = shader.variables.push(data);
        self.created[key.0 as usize].push(variable);
        self.parts.insert(key, variable);
        variable
    }

    /// Replaces the derefs of split variables.
    fn rewrite(&mut self, shader: &mut Shader, body: &mut Body) {
        let mut places: SecondaryMap<Def, Place> = SecondaryMap::new();
        let mut replaced = Vec::new();
        let mut beyond = Vec::new();
        for block in body.blocks_vec() {
            for inst in body.insts_vec(block) {
                let Some(def) = body.inst_def(inst) else { continue };
                let Some(place) = self.place(body, inst, &places) else { continue };
                if !self.trees[place.0 as usize].is_split {
                    continue;
                }
                places[def] = Some(place);
                replaced.push(inst);
                if matches!(self.node(place).kind, Kind::Vector { .. }) {
                    self.rewrite_vector(shader, body, inst, place, &mut beyond);
                }
            }
        }
        replaced.reverse();
        remove_beyond(body, beyond);
        body.remove_insts(&replaced);
    }

    /// Replaces a deref of a vector. If its constant indices are beyond the end of a split dimension, it is added to
    /// `beyond`.
    fn rewrite_vector(
        &mut self,
        shader: &mut Shader,
        body: &mut Body,
        inst: Inst,
        place: (u32, u32),
        beyond: &mut Vec<Def>,
    ) {
        let Some(def) = body.inst_def(inst) else { return };
        // The indices of all dimensions, from the innermost one on.
        let mut indices = Vec::new();
        let mut at = inst;
        while body.num_sources(at) > 0 {
            if matches!(body.inst(at), InstData::Deref { kind: DerefKind::Array, .. }) {
                indices.push(body.src(at, 1));
            }
            at = body.def_inst(body.src(at, 0));
        }
        let (mut chosen, mut kept) = (Vec::new(), Vec::new());
        for (&index, (length, is_split)) in indices.iter().rev().zip(self.trees[place.0 as usize].dimensions(place.1)) {
            match body.constant_component(index, 0) {
                Some(constant) if is_split && constant >= u64::from(length) => return beyond.push(def),
                Some(constant) if is_split => chosen.push(constant as u32),
                _ => kept.push(index),
            }
        }
        if !self.trees[place.0 as usize].is_halved(place.1) {
            let mut b = Builder::new(body, Cursor::Before(inst));
            let new = self.deref(shader, &mut b, (place.0, place.1, chosen, 0), &kept);
            body.replace_all_uses(def, new);
            return;
        }
        let mut b = Builder::new(body, Cursor::Before(inst));
        let low = self.deref(shader, &mut b, (place.0, place.1, chosen.clone(), 0), &kept);
        let high = self.deref(shader, &mut b, (place.0, place.1, chosen, 1), &kept);
        for source in body.uses_vec(def) {
            if let User::Inst(user) = body.user(source) {
                access_halves(body, user, [low, high]);
            }
        }
    }

    /// Emits the deref of a part at the remaining indices.
    fn deref(&mut self, shader: &mut Shader, b: &mut Builder<'_>, key: PartKey, indices: &[Def]) -> Def {
        let variable = self.part(shader, key);
        let data = &shader.variables[variable];
        let mut ty = data.ty;
        let mut deref = b.deref_var(variable, data.mode, ty);
        for &index in indices {
            let Some((element, _)) = shader.types.element(ty) else { break };
            ty = element;
            deref = b.deref_array(deref, index, ty);
        }
        deref
    }

    /// Replaces the split variables by their parts in the lists of variables.
    fn replace_variables(&self, shader: &mut Shader) {
        let replacement = |variable: Variable| -> Vec<Variable> {
            match self.by_variable[variable] {
                Some(tree) if self.trees[tree as usize].is_split => self.created[tree as usize].clone(),
                _ => vec![variable],
            }
        };
        shader.globals = shader.globals.iter().flat_map(|&variable| replacement(variable)).collect();
        for body in shader.functions.values_mut().filter_map(|function| function.body.as_mut()) {
            body.locals = body.locals.iter().flat_map(|&variable| replacement(variable)).collect();
        }
        for tree in self.trees.iter().filter(|tree| tree.is_split) {
            shader.variables[tree.variable].mode = VariableModes::NONE;
        }
    }
}

/// Replaces a load or store of a vector by those of its first two components and of the others.
fn access_halves(body: &mut Body, inst: Inst, halves: [Def; 2]) {
    let access = (IndexKind::Access, body.index(inst, IndexKind::Access));
    let mask = body.index(inst, IndexKind::WriteMask);
    let old = body.inst_def(inst);
    let shape = body.shape(old.unwrap_or_else(|| body.src(inst, 1)));
    let counts = [2, shape.num_components.saturating_sub(2)];
    let mut b = Builder::new(body, Cursor::Before(inst));
    let mut components: ArrayVec<Def, MAX_COMPONENTS> = ArrayVec::new();
    for (half, first) in [(0, 0u8), (1, 2)] {
        let (deref, count) = (halves[half], counts[half]);
        if old.is_some() {
            let shape = Shape::new(count, shape.bit_size);
            let value = b.intrinsic_def(IntrinsicOp::LoadDeref, &[deref], &[access], shape);
            components.extend((0..count).map(|c| b.channel(value, c)));
            continue;
        }
        let mask = mask >> first & ((1 << count) - 1);
        if mask != 0 {
            let value = b.body.src(inst, 1);
            let parts: ArrayVec<Def, MAX_COMPONENTS> = (first..first + count).map(|c| b.channel(value, c)).collect();
            let value = b.vec_of(&parts);
            let indices = [(IndexKind::WriteMask, mask), access];
            b.intrinsic(IntrinsicOp::StoreDeref, &[deref, value], &indices, None);
        }
    }
    if let Some(old) = old {
        let value = b.vec_of(&components);
        body.replace_all_uses(old, value);
    }
    body.remove_inst(inst);
}

/// Removes the accesses through derefs that point to no element: loads give zero.
fn remove_beyond(body: &mut Body, mut derefs: Vec<Def>) {
    let mut inner = Vec::new();
    while let Some(deref) = derefs.pop() {
        for source in body.uses_vec(deref) {
            let User::Inst(user) = body.user(source) else { continue };
            let mut b = Builder::new(body, Cursor::Before(user));
            match (b.body.intrinsic(user), b.body.inst_def(user)) {
                (None, Some(part)) if matches!(b.body.inst(user), InstData::Deref { .. }) => {
                    derefs.push(part);
                    inner.push(user);
                }
                (Some(op), Some(value)) if op.is_deref_access() => {
                    let shape = b.body.shape(value);
                    let zero = zero(&mut b, shape);
                    body.replace_all_uses(value, zero);
                    body.remove_inst(user);
                }
                (Some(IntrinsicOp::StoreDeref), None) => body.remove_inst(user),
                _ => {
                    let undef = b.undef(1, 32);
                    body.set_src(source, undef);
                }
            }
        }
    }
    inner.reverse();
    body.remove_insts(&inner);
}
