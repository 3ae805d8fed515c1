//! Turns `function_temp` variables, and the elements of arrays and structs of them, into SSA values wherever no
//! variable index is involved.
//!
//! ```text
//! before (function_temp vec4[2] a):            after:
//!     %1 = deref_var &a
//!     %2 = deref_array &(*%1)[1]
//!     @store_deref (%2, %x) (wrmask=xy)            %4 = vec4 %x.x, %x.y, %0.z, %0.w   (%0 = zero)
//!     %3 = @load_deref (%2)
//!     %5 = fneg %3                                 %5 = fneg %4
//! ```
//!
//! All derefs of a variable form a tree whose nodes are variable, fields and elements by constant index. A node that is
//! a vector becomes a value unless
//! - an element on its path has a sibling that is reached by a variable index or a wildcard, or
//! - the variable has a use that is no load or store through derefs (casts, calls, atomics, phis, copies: see
//!   [`split_var_copies`](mod@crate::passes::variables::split_var_copies) and
//!   [`lower_var_copies`](mod@crate::passes::variables::lower_var_copies)), or is accessed as `volatile` or in another
//!   shape.
//!
//! Corner cases:
//! - Variables start as zero, or as their initialiser says.
//! - Constant index out of the range of an array: a load gives 0, a store is dropped.
//! - A component of a vector by array deref: taken from or put into the vector; by a variable index with selections.
//! - Derefs that nothing uses any more are left to dead code elimination, variables to
//!   [`remove_dead_variables`](mod@crate::passes::variables::remove_dead_variables).
//!
//! Cost: linear in the accesses, plus the phis.

use hashbrown::HashMap;

use cranelift_entity::SecondaryMap;

use crate::alu::AluOp;
use crate::body::{Body, DerefKind, InstData, Shape};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Inst, Type, User, Variable};
use crate::intrinsics::indices::Access;
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::into_ssa::lower_reg_intrinsics_to_ssa::merge_components;
use crate::passes::into_ssa::phi_builder::{Initial, PhiBuilder};
use crate::shader::Shader;
use crate::types::{TypeData, TypeTable};
use crate::variable::{Initializer, VariableData, VariableModes};

/// See the [module](self).
pub fn lower_vars_to_ssa(shader: &mut Shader) -> bool {
    let mut progress = false;
    let Shader { functions, types, variables, .. } = shader;
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        progress |= lower_body(body, types, variables);
    }
    progress
}

/// What a step from a node to its child is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    Field(u32),
    Element(u64),
    /// Variable index or wildcard.
    Any,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    /// No place in a variable of interest.
    #[default]
    Unknown,
    Node(u32),
    /// A component of a vector node.
    Component(u32),
    /// Beyond the end of an array.
    Outside,
}

struct Node {
    parent: Option<(u32, Step)>,
    root: Variable,
    ty: Type,
    /// Reached by a variable index somewhere on the path.
    indirect: bool,
    /// Has a child reached by a variable index.
    has_any_child: bool,
    /// Loads and stores, in program order, and whether of a component of the vector.
    accesses: Vec<(Inst, bool)>,
}

#[derive(Default)]
struct Forest {
    nodes: Vec<Node>,
    roots: HashMap<Variable, u32>,
    children: HashMap<(u32, Step), u32>,
    places: SecondaryMap<Def, Place>,
    complex: HashMap<Variable, ()>,
    outside: Vec<Inst>,
}

impl Forest {
    fn add(&mut self, parent: Option<(u32, Step)>, root: Variable, ty: Type) -> u32 {
        let id = self.nodes.len() as u32;
        let inherited = parent.is_some_and(|(p, step)| self.nodes[p as usize].indirect || step == Step::Any);
        self.nodes.push(Node { parent, root, ty, indirect: inherited, has_any_child: false, accesses: Vec::new() });
        id
    }

    fn child(&mut self, parent: u32, step: Step, ty: Type) -> u32 {
        if let Some(&id) = self.children.get(&(parent, step)) {
            return id;
        }
        let root = self.nodes[parent as usize].root;
        let id = self.add(Some((parent, step)), root, ty);
        self.children.insert((parent, step), id);
        self.nodes[parent as usize].has_any_child |= step == Step::Any;
        id
    }

    /// Enters a deref instruction.
    fn enter(&mut self, body: &Body, types: &TypeTable, locals: &SecondaryMap<Variable, bool>, inst: Inst) {
        let (InstData::Deref { kind, ty, .. }, Some(def)) = (*body.inst(inst), body.inst_def(inst)) else { return };
        if let DerefKind::Var(variable) = kind {
            if locals[variable] {
                let id = match self.roots.get(&variable) {
                    Some(&id) => id,
                    None => {
                        let id = self.add(None, variable, ty);
                        self.roots.insert(variable, id);
                        id
                    }
                };
                self.places[def] = Place::Node(id);
            }
            return;
        }
        let parent = self.places[body.src(inst, 0)];
        self.places[def] = match (parent, kind) {
            (Place::Outside, _) => Place::Outside,
            (Place::Node(node), DerefKind::Struct(field)) => Place::Node(self.child(node, Step::Field(field), ty)),
            (Place::Node(node), DerefKind::ArrayWildcard) => Place::Node(self.child(node, Step::Any, ty)),
            (Place::Node(node), DerefKind::Array) => {
                let length = match *types.get(self.nodes[node as usize].ty) {
                    TypeData::Vector { .. } => {
                        self.places[def] = Place::Component(node);
                        return;
                    }
                    TypeData::Array { length, .. } => length,
                    TypeData::Matrix { columns, .. } => u32::from(columns),
                    _ => 0,
                };
                match body.constant_component(body.src(inst, 1), 0) {
                    Some(i) if i >= u64::from(length) => Place::Outside,
                    Some(i) => Place::Node(self.child(node, Step::Element(i), ty)),
                    None => Place::Node(self.child(node, Step::Any, ty)),
                }
            }
            // A cast or pointer arithmetic: the use was found to be complex at its parent.
            _ => Place::Unknown,
        };
    }

    /// Whether a use of a deref is one that the tree describes.
    fn is_simple_use(
        &self,
        body: &Body,
        types: &TypeTable,
        deref: Def,
        place: Place,
        user: User,
        number: usize,
    ) -> bool {
        let User::Inst(user) = user else { return false };
        match *body.inst(user) {
            InstData::Deref { kind: DerefKind::Array | DerefKind::ArrayWildcard | DerefKind::Struct(_), .. } => {
                // The component of a vector has no parts.
                number == 0 && !matches!(place, Place::Component(_))
            }
            InstData::Intrinsic { op: IntrinsicOp::LoadDeref, .. } => {
                body.inst_def(user).is_some_and(|d| self.fits(body, types, deref, place, body.shape(d)))
                    && is_plain_access(body, user)
            }
            InstData::Intrinsic { op: IntrinsicOp::StoreDeref, .. } => {
                number == 0
                    && self.fits(body, types, deref, place, body.shape(body.src(user, 1)))
                    && is_plain_access(body, user)
            }
            _ => false,
        }
    }

    /// Whether what is loaded or stored has the shape of the place.
    fn fits(&self, body: &Body, types: &TypeTable, deref: Def, place: Place, shape: Shape) -> bool {
        match place {
            Place::Outside => true,
            Place::Unknown => false,
            Place::Node(_) | Place::Component(_) => {
                body.deref_type(deref).and_then(|ty| vector_shape(types, ty)) == Some(shape)
            }
        }
    }

    /// Whether a node is a value of its own: neither it nor anything on its path may be reached by a variable index.
    fn is_direct(&self, mut id: u32) -> bool {
        loop {
            let node = &self.nodes[id as usize];
            if node.indirect {
                return false;
            }
            match node.parent {
                None => return true,
                Some((parent, _)) if self.nodes[parent as usize].has_any_child => return false,
                Some((parent, _)) => id = parent,
            }
        }
    }
}

fn is_plain_access(body: &Body, inst: Inst) -> bool {
    !Access::from_i32(body.index(inst, IndexKind::Access)).contains(Access::VOLATILE)
}

/// Shape of values of a vector type.
pub(crate) fn vector_shape(types: &TypeTable, ty: Type) -> Option<Shape> {
    types.as_vector(ty).filter(|(scalar, _)| scalar.bit_size() > 0).map(|(s, n)| Shape::new(n, s.bit_size()))
}

fn lower_body(
    body: &mut Body,
    types: &TypeTable,
    variables: &cranelift_entity::PrimaryMap<Variable, VariableData>,
) -> bool {
    if body.locals.is_empty() {
        return false;
    }
    let mut locals: SecondaryMap<Variable, bool> = SecondaryMap::new();
    for &variable in &body.locals {
        locals[variable] = variables[variable].mode == VariableModes::FUNCTION_TEMP;
    }
    let mut forest = Forest::default();
    for block in body.blocks() {
        for inst in body.insts(block) {
            if matches!(body.inst(inst), InstData::Deref { .. }) {
                forest.enter(body, types, &locals, inst);
            }
        }
    }
    // Accesses, in program order, and uses that rule a variable out.
    for block in body.blocks() {
        for inst in body.insts(block) {
            match *body.inst(inst) {
                InstData::Deref { .. } => note_complex_uses(&mut forest, body, types, inst),
                InstData::Intrinsic { op: IntrinsicOp::LoadDeref | IntrinsicOp::StoreDeref, .. } => {
                    match forest.places[body.src(inst, 0)] {
                        Place::Node(node) => forest.nodes[node as usize].accesses.push((inst, false)),
                        Place::Component(node) => forest.nodes[node as usize].accesses.push((inst, true)),
                        Place::Outside => forest.outside.push(inst),
                        Place::Unknown => {}
                    }
                }
                _ => {}
            }
        }
    }
    let mut phis = PhiBuilder::new(body);
    let mut progress = lower_outside(body, &mut phis, &forest);
    for id in 0..forest.nodes.len() as u32 {
        let node = &forest.nodes[id as usize];
        let Some(shape) = vector_shape(types, node.ty) else { continue };
        if node.accesses.is_empty() || forest.complex.contains_key(&node.root) || !forest.is_direct(id) {
            continue;
        }
        let initial = initial_value(&forest, id, variables[node.root].initializer.as_ref(), shape);
        lower_node(body, &mut phis, shape, &node.accesses, initial);
        progress = true;
    }
    progress
}

fn note_complex_uses(forest: &mut Forest, body: &Body, types: &TypeTable, deref: Inst) {
    let Some(def) = body.inst_def(deref) else { return };
    let place = forest.places[def];
    let root = match place {
        Place::Node(node) | Place::Component(node) => forest.nodes[node as usize].root,
        Place::Outside | Place::Unknown => return,
    };
    let simple =
        body.uses_of(def).all(|u| forest.is_simple_use(body, types, def, place, body.user(u), body.source_number(u)));
    if !simple {
        forest.complex.insert(root, ());
    }
}

/// Accesses beyond the end of an array.
fn lower_outside(body: &mut Body, phis: &mut PhiBuilder, forest: &Forest) -> bool {
    for &inst in &forest.outside {
        if let Some(def) = body.inst_def(inst) {
            let zero = phis.zero(body, body.shape(def));
            body.replace_all_uses(def, zero);
        }
    }
    body.remove_insts(&forest.outside);
    !forest.outside.is_empty()
}

/// What the initialiser of a variable gives a node; none for zero.
fn initial_value(forest: &Forest, node: u32, initializer: Option<&Initializer>, shape: Shape) -> Option<Vec<u64>> {
    let mut initializer = initializer?;
    let mut path = Vec::new();
    let mut id = node;
    while let Some((parent, step)) = forest.nodes[id as usize].parent {
        path.push(step);
        id = parent;
    }
    for step in path.iter().rev() {
        let index = match *step {
            Step::Field(field) => u64::from(field),
            Step::Element(element) => element,
            Step::Any => return None,
        };
        match initializer {
            Initializer::Elements(elements) => initializer = elements.get(usize::try_from(index).ok()?)?,
            _ => return None,
        }
    }
    match initializer {
        Initializer::Vector(values) => {
            let mut values = values.clone();
            values.resize(usize::from(shape.num_components), 0);
            Some(values)
        }
        _ => None,
    }
}

fn lower_node(
    body: &mut Body,
    phis: &mut PhiBuilder,
    shape: Shape,
    accesses: &[(Inst, bool)],
    initial: Option<Vec<u64>>,
) {
    let start = body.start_block();
    let initial = initial.map(|values| Builder::new(body, Cursor::BlockStart(start)).constant(shape.bit_size, &values));
    let writers: Vec<Block> = accesses
        .iter()
        .filter(|(inst, _)| body.inst_def(*inst).is_none())
        .filter_map(|(inst, _)| body.inst_block(*inst))
        .chain(initial.map(|_| start))
        .collect();
    phis.start(shape, Initial::Zero, writers);
    if let Some(initial) = initial {
        phis.set(start, initial);
    }
    for &(inst, is_component) in accesses {
        let Some(block) = body.inst_block(inst) else { continue };
        // Read only now: the index may be a value that has just been replaced itself.
        let component = is_component.then(|| body.src(body.def_inst(body.src(inst, 0)), 1));
        if let Some(def) = body.inst_def(inst) {
            let mut value = phis.get(body, block);
            if let Some(index) = component {
                value = take_component(&mut Builder::new(body, Cursor::Before(inst)), value, index, shape);
            }
            body.replace_all_uses(def, value);
            continue;
        }
        let stored = body.src(inst, 1);
        let mask = body.index(inst, IndexKind::WriteMask) as u32;
        let full = (1u32 << shape.num_components) - 1;
        let value = match component {
            Some(_) if mask & 1 == 0 => continue,
            Some(index) => {
                let old = phis.get(body, block);
                put_component(&mut Builder::new(body, Cursor::Before(inst)), stored, old, index, shape)
            }
            None if mask & full == 0 => continue,
            None if mask & full == full => stored,
            None => {
                let old = phis.get(body, block);
                merge_components(&mut Builder::new(body, Cursor::Before(inst)), stored, old, mask, shape)
            }
        };
        phis.set(block, value);
    }
    phis.finish(body);
    let insts: Vec<Inst> = accesses.iter().map(|&(inst, _)| inst).collect();
    body.remove_insts(&insts);
}

/// Component `index` of a vector, 0 outside of it.
pub(crate) fn take_component(b: &mut Builder<'_>, vector: Def, index: Def, shape: Shape) -> Def {
    if let Some(i) = b.body.constant_component(index, 0) {
        return if i < u64::from(shape.num_components) {
            b.channel(vector, i as u8)
        } else {
            b.constant(shape.bit_size, &[0])
        };
    }
    let mut value = b.constant(shape.bit_size, &[0]);
    for i in 0..shape.num_components {
        let is_it = is_index(b, index, i);
        value = b.alu_sized(AluOp::Bcsel, 1, &[is_it.into(), AluSrc::component(vector, i), value.into()]);
    }
    value
}

/// The vector with a component replaced; as it is if there is no such component.
pub(crate) fn put_component(b: &mut Builder<'_>, value: Def, vector: Def, index: Def, shape: Shape) -> Def {
    let constant = b.body.constant_component(index, 0);
    if constant.is_some_and(|i| i >= u64::from(shape.num_components)) {
        return vector;
    }
    let sources: arrayvec::ArrayVec<AluSrc, 16> = (0..shape.num_components)
        .map(|i| match constant {
            Some(at) if at == u64::from(i) => AluSrc::component(value, 0),
            Some(_) => AluSrc::component(vector, i),
            None => {
                let is_it = is_index(b, index, i);
                let old = AluSrc::component(vector, i);
                b.alu_sized(AluOp::Bcsel, 1, &[is_it.into(), AluSrc::component(value, 0), old]).into()
            }
        })
        .collect();
    b.vec(&sources)
}

fn is_index(b: &mut Builder<'_>, index: Def, i: u8) -> Def {
    let bits = b.body.bit_size(index);
    let number = b.constant(bits, &[u64::from(i)]);
    b.alu_sized(AluOp::Ieq, 1, &[AluSrc::component(index, 0), number.into()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shader::Stage;
    use crate::types::ScalarType;

    struct Fixture {
        shader: Shader,
        array: Variable,
        array_type: Type,
        vector_type: Type,
    }

    fn fixture(length: u32) -> Fixture {
        let mut shader = Shader::new(Stage::Compute);
        let vector_type = shader.types.vector(ScalarType::Uint, 4);
        let array_type = shader.types.array(vector_type, length);
        let main = shader.entry_point().unwrap();
        let array = shader.add_local(main, "a", array_type);
        Fixture { shader, array, array_type, vector_type }
    }

    impl Fixture {
        fn element(&self, b: &mut Builder<'_>, index: Def) -> Def {
            let root = b.deref_var(self.array, VariableModes::FUNCTION_TEMP, self.array_type);
            b.deref_array(root, index, self.vector_type)
        }
    }

    #[test]
    fn elements_by_constant_become_values() {
        let mut f = fixture(2);
        let mut shader = f.shader.clone();
        let mut b = Builder::at_end(shader.main_mut());
        let x = b.constant(32, &[1, 2, 3, 4]);
        let (one, nine) = (b.u32_const(1), b.u32_const(9));
        let to = f.element(&mut b, one);
        b.store_deref(to, x, 3);
        let outside = f.element(&mut b, nine);
        b.store_deref(outside, x, 15);
        let from = f.element(&mut b, one);
        let value = b.load_deref(from, Shape::new(4, 32));
        let kept = b.alu(AluOp::Ineg, &[value]);
        let nothing = b.load_deref(outside, Shape::new(4, 32));
        let kept_too = b.alu(AluOp::Ineg, &[nothing]);
        f.shader = shader;
        assert!(lower_vars_to_ssa(&mut f.shader));
        assert!(!lower_vars_to_ssa(&mut f.shader));
        let body = f.shader.main();
        let vec = body.def_inst(body.src(body.def_inst(kept), 0));
        assert_eq!(body.alu_op(vec), Some(AluOp::Vec4));
        assert_eq!((body.src(vec, 0), body.src(vec, 1)), (x, x));
        assert_eq!(body.def_constant(body.src(vec, 2)), Some(&[0u64; 4][..]));
        assert_eq!(body.def_constant(body.src(body.def_inst(kept_too), 0)), Some(&[0u64; 4][..]));
    }

    #[test]
    fn a_variable_index_keeps_the_array() {
        let mut f = fixture(2);
        let mut shader = f.shader.clone();
        let mut b = Builder::at_end(shader.main_mut());
        let x = b.constant(32, &[1, 2, 3, 4]);
        let index = b.undef(1, 32);
        let zero = b.u32_const(0);
        let to = f.element(&mut b, index);
        let store = b.store_deref(to, x, 15);
        let from = f.element(&mut b, zero);
        let value = b.load_deref(from, Shape::new(4, 32));
        f.shader = shader;
        assert!(!lower_vars_to_ssa(&mut f.shader));
        assert!(f.shader.main().inst_block(store).is_some() && f.shader.main().is_def_live(value));
    }

    #[test]
    fn components_by_deref_and_initialisers() {
        let mut f = fixture(1);
        let array = f.array;
        f.shader.variables[array].initializer =
            Some(Initializer::Elements(vec![Initializer::Vector(vec![10, 11, 12, 13])]));
        let scalar = f.shader.types.vector(ScalarType::Uint, 1);
        let mut shader = f.shader.clone();
        let mut b = Builder::at_end(shader.main_mut());
        let zero = b.u32_const(0);
        let two = b.u32_const(2);
        let x = b.u32_const(77);
        let vector = f.element(&mut b, zero);
        let component = b.deref_array(vector, two, scalar);
        b.store_deref(component, x, 1);
        let index = b.undef(1, 32);
        let some = b.deref_array(vector, index, scalar);
        let value = b.load_deref(some, Shape::new(1, 32));
        let kept = b.alu(AluOp::Ineg, &[value]);
        f.shader = shader;
        assert!(lower_vars_to_ssa(&mut f.shader));
        let body = f.shader.main();
        let last = body.def_inst(body.src(body.def_inst(kept), 0));
        assert_eq!(body.alu_op(last), Some(AluOp::Bcsel));
        let vec = body.def_inst(body.src(last, 1));
        assert_eq!(body.src(vec, 2), x);
        assert_eq!(body.def_constant(body.src(vec, 3)), Some(&[10u64, 11, 12, 13][..]));
    }
}
