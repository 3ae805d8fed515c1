//! What the derefs of a body name, as a forest of places: shared by the passes over variables.
//!
//! Each variable that can be followed is the root of a tree. A node is a place: the variable, a field, an element by
//! constant index, by an SSA value, or all elements at once (a wildcard); equal paths are one node. Two derefs with the
//! same node name the same memory wherever both are available.
//!
//! To ask what may overlap without comparing paths with each other, each node knows two others:
//! - [`Node::merged`]: the same path with run-time indices and wildcards as one kind of step ("some element"),
//! - [`Node::widened`]: the same path with every array step as "some element".
//!
//! A variable can be followed if all its uses are derefs, loads, stores and copies in the shape of its type that are
//! not volatile; variables that no shader writes can whatever else reads them. Then no other code of the function can
//! reach it through a pointer.

use hashbrown::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use arrayvec::ArrayVec;
use cranelift_entity::{PrimaryMap, SecondaryMap};

use crate::body::{Body, DerefKind, InstData, Shape, SourceSpec};
use crate::builder::Builder;
use crate::entities::{Def, Inst, Type, User, Variable};
use crate::intrinsics::indices::Access;
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::into_ssa::lower_vars_to_ssa::vector_shape;
use crate::shader::Stage;
use crate::types::{TypeData, TypeTable};
use crate::variable::{VariableData, VariableModes};

/// Longest path that is followed.
pub(crate) const MAX_PATH: usize = 12;
/// Most array steps of a path: what asks for all that may overlap looks at two nodes for each.
const MAX_ARRAYS: u8 = 3;
/// Nodes that may overlap a path, at one depth.
pub(crate) const MAX_VARIANTS: usize = 1 << MAX_ARRAYS;

/// Modes that no code writes and that always read the same.
pub(crate) const CONSTANT_MODES: VariableModes =
    VariableModes(VariableModes::READ_ONLY.0 & !VariableModes::SYSTEM_VALUE.0);
/// Modes that only the invocation itself writes.
pub(crate) const PRIVATE_MODES: VariableModes =
    VariableModes(VariableModes::FUNCTION_TEMP.0 | VariableModes::SHADER_TEMP.0 | VariableModes::SHADER_OUT.0);

/// From a place to a part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Field(u32),
    Element(u32),
    /// Element by a run-time index.
    Index(Def),
    /// All elements; some element in merged and widened paths.
    Any,
}

impl Step {
    fn key(self) -> u64 {
        let (kind, number) = match self {
            Step::Field(field) => (0, field),
            Step::Element(element) => (1, element),
            Step::Index(def) => (2, def.as_u32()),
            Step::Any => (3, 0),
        };
        kind << 32 | u64::from(number)
    }

    fn merged(self) -> Step {
        if matches!(self, Step::Index(_)) { Step::Any } else { self }
    }

    fn widened(self) -> Step {
        if matches!(self, Step::Field(_)) { self } else { Step::Any }
    }
}

/// Steps from the variable on.
pub(crate) type Path = ArrayVec<Step, MAX_PATH>;

/// A place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// None for a variable.
    pub parent: Option<u32>,
    /// From the parent.
    pub step: Step,
    pub root: Variable,
    pub mode: VariableModes,
    pub ty: Type,
    /// Components of a vector, 0 for anything else.
    pub components: u8,
    /// The path holds no run-time index and no wildcard.
    pub is_exact: bool,
    pub has_wildcard: bool,
    pub has_index: bool,
    pub merged: u32,
    pub widened: u32,
    /// Where what is known of the node stands in [`AccessTimes`](crate::passes::variables::access_times::AccessTimes).
    pub words: u32,
    arrays: u8,
    depth: u8,
}

/// What a deref names.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Place {
    /// Nothing that can be followed.
    #[default]
    Unknown,
    Node(u32),
    /// A component of a vector; none if the index is known at run time only.
    Component(u32, Option<u8>),
    /// Beyond the end of an array or vector.
    Outside(Variable),
}

/// The words of a node besides those of its components.
pub(crate) const NODE_WORDS: u32 = 5;
/// The words of a component.
pub(crate) const COMPONENT_WORDS: u32 = 5;

#[derive(Default)]
struct Mixing(u64);

impl Hasher for Mixing {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }
    fn write_u32(&mut self, value: u32) {
        self.write_u64(value.into());
    }
    fn write_u64(&mut self, value: u64) {
        let mixed = (self.0.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
        self.0 = mixed ^ mixed >> 32;
    }
}

/// The places of a body.
pub(crate) struct DerefTree {
    pub nodes: Vec<Node>,
    children: HashMap<(u32, u64), u32, BuildHasherDefault<Mixing>>,
    roots: SecondaryMap<Variable, Option<u32>>,
    places: SecondaryMap<Def, Place>,
    complex: SecondaryMap<Variable, bool>,
    /// Words that all nodes take.
    pub num_words: u32,
}

impl DerefTree {
    /// The places of the derefs of a body; `first_word` words are left to others.
    pub fn new(
        body: &Body,
        types: &TypeTable,
        variables: &PrimaryMap<Variable, VariableData>,
        stage: Stage,
        first_word: u32,
    ) -> DerefTree {
        let mut tree = DerefTree {
            nodes: Vec::new(),
            children: HashMap::default(),
            roots: SecondaryMap::new(),
            places: SecondaryMap::new(),
            complex: SecondaryMap::new(),
            num_words: first_word,
        };
        for block in body.blocks() {
            for inst in body.insts(block) {
                if matches!(body.inst(inst), InstData::Deref { .. }) {
                    tree.enter(body, types, variables, stage, inst);
                }
            }
        }
        for block in body.blocks() {
            for inst in body.insts(block) {
                if matches!(body.inst(inst), InstData::Deref { .. }) {
                    tree.note_complex_uses(body, types, inst);
                }
            }
        }
        tree
    }

    /// Whether code that is followed may write to one of the places.
    pub fn has_private(&self) -> bool {
        self.nodes.iter().any(|node| !node.mode.intersects(CONSTANT_MODES) && !self.complex[node.root])
    }

    /// What a deref names.
    pub fn place(&self, def: Def) -> Place {
        let place = self.places[def];
        let root = match place {
            Place::Unknown => return place,
            Place::Node(node) | Place::Component(node, _) => self.node(node).root,
            Place::Outside(root) => root,
        };
        if self.complex[root] { Place::Unknown } else { place }
    }

    pub fn node(&self, id: u32) -> &Node {
        &self.nodes[id as usize]
    }

    /// The child by a step, if there is one.
    pub fn child(&self, parent: u32, step: Step) -> Option<u32> {
        self.children.get(&(parent, step.key())).copied()
    }

    /// The node of a variable, if any deref names it.
    pub fn root(&self, variable: Variable) -> Option<u32> {
        self.roots[variable]
    }

    /// Whether all that the function does with a variable is known.
    pub fn is_followed(&self, variable: Variable) -> bool {
        self.roots[variable].is_some() && !self.complex[variable]
    }

    /// The steps to a node.
    pub fn path(&self, mut id: u32) -> Path {
        let mut path = Path::new();
        while let Some(parent) = self.node(id).parent {
            path.push(self.node(id).step);
            id = parent;
        }
        path.reverse();
        path
    }

    /// Steps to a node.
    pub fn path_len(&self, node: &Node) -> usize {
        node.depth.into()
    }

    /// The nodes that may overlap the merged path of a node, the root first, those of each depth one after the other;
    /// none if there is none at a depth.
    pub fn overlapping(&self, path: &Path, root: u32, mut found: impl FnMut(u32, bool)) {
        let mut level: ArrayVec<u32, MAX_VARIANTS> = ArrayVec::new();
        level.push(root);
        found(root, path.is_empty());
        for (depth, &step) in path.iter().enumerate() {
            let mut next: ArrayVec<u32, MAX_VARIANTS> = ArrayVec::new();
            for &node in &level {
                next.extend(self.child(node, step));
                if matches!(step, Step::Element(_)) {
                    next.extend(self.child(node, Step::Any));
                }
            }
            next.iter().for_each(|&node| found(node, depth + 1 == path.len()));
            level = next;
        }
    }

    /// The places that hold a place whatever its run-time indices are: it and those around it, and the same with
    /// wildcards instead of elements; with the number of steps to each.
    pub fn containing(&self, node: u32) -> ArrayVec<(u32, usize), { 2 * MAX_VARIANTS }> {
        let path = self.path(node);
        let mut found = ArrayVec::new();
        let mut level: ArrayVec<u32, MAX_VARIANTS> = self.root(self.node(node).root).into_iter().collect();
        for depth in 0..=path.len() {
            level.iter().for_each(|&id| found.extend(Some((id, depth)).filter(|_| !found.is_full())));
            let Some(&step) = path.get(depth) else { break };
            let mut next: ArrayVec<u32, MAX_VARIANTS> = ArrayVec::new();
            for &id in &level {
                let any = if matches!(step, Step::Field(_) | Step::Any) { None } else { self.child(id, Step::Any) };
                next.extend(self.child(id, step).into_iter().chain(any).take(next.remaining_capacity()));
            }
            level = next;
        }
        found
    }

    /// The child by a step, made if there is none. None if the path gets too long.
    pub fn add_child(&mut self, types: &TypeTable, parent: u32, step: Step, ty: Type) -> Option<u32> {
        if let Some(id) = self.child(parent, step) {
            return Some(id);
        }
        let above = *self.node(parent);
        let arrays = above.arrays + u8::from(!matches!(step, Step::Field(_)));
        if usize::from(above.depth) >= MAX_PATH || arrays > MAX_ARRAYS {
            return None;
        }
        // As deep as the path is long: the merged and widened paths are their own.
        let (merged, widened) = (step.merged(), step.widened());
        let is_merged = above.merged == parent && merged == step;
        let is_widened = above.widened == parent && widened == step;
        let merged = if is_merged { None } else { Some(self.add_child(types, above.merged, merged, ty)?) };
        let widened = if is_widened { None } else { Some(self.add_child(types, above.widened, widened, ty)?) };
        let id = self.nodes.len() as u32;
        let components = vector_shape(types, ty).map_or(0, |shape| shape.num_components);
        self.nodes.push(Node {
            parent: Some(parent),
            step,
            root: above.root,
            mode: above.mode,
            ty,
            components,
            is_exact: above.is_exact && !matches!(step, Step::Index(_) | Step::Any),
            has_wildcard: above.has_wildcard || step == Step::Any,
            has_index: above.has_index || matches!(step, Step::Index(_)),
            merged: merged.unwrap_or(id),
            widened: widened.unwrap_or(id),
            words: self.num_words,
            arrays,
            depth: above.depth + 1,
        });
        self.num_words += NODE_WORDS + COMPONENT_WORDS * u32::from(components);
        self.children.insert((parent, step.key()), id);
        Some(id)
    }

    /// The place that steps lead to from a node; none if there is no such place in its type.
    pub fn follow(&mut self, types: &mut TypeTable, mut node: u32, steps: &[Step]) -> Option<u32> {
        for &step in steps {
            let ty = match (step, types.get(self.node(node).ty)) {
                (Step::Field(field), TypeData::Struct { fields, .. }) => fields.get(field as usize)?.ty,
                (Step::Field(_), _) | (_, TypeData::Vector { .. }) => return None,
                (step, _) => {
                    let (element, length) = types.element(self.node(node).ty)?;
                    if matches!(step, Step::Element(i) if i >= length) {
                        return None;
                    }
                    element
                }
            };
            node = self.add_child(types, node, step, ty)?;
        }
        Some(node)
    }

    /// Makes derefs that lead to a node.
    pub fn build(&mut self, b: &mut Builder<'_>, variables: &PrimaryMap<Variable, VariableData>, id: u32) -> Def {
        let mut nodes: ArrayVec<u32, { MAX_PATH + 1 }> = ArrayVec::new();
        let mut next = Some(id);
        while let Some(node) = next {
            nodes.push(node);
            next = self.node(node).parent;
        }
        let root = self.node(id).root;
        let mut current = b.deref_var(root, self.node(id).mode, variables[root].ty);
        self.places[current] = nodes.pop().map_or(Place::Unknown, Place::Node);
        while let Some(number) = nodes.pop() {
            let Node { step, ty, mode, .. } = *self.node(number);
            current = match step {
                Step::Element(element) => {
                    let index = b.u32_const(element);
                    b.deref_array(current, index, ty)
                }
                Step::Index(index) => b.deref_array(current, index, ty),
                Step::Field(_) | Step::Any => {
                    let kind = match step {
                        Step::Field(field) => DerefKind::Struct(field),
                        _ => DerefKind::ArrayWildcard,
                    };
                    let data = InstData::Deref { kind, modes: mode, ty };
                    let inst = b.build(data, &[SourceSpec::plain(current)], Some(Shape::new(1, 32)));
                    b.body.inst_def(inst).unwrap_or(current)
                }
            };
            self.places[current] = Place::Node(number);
        }
        current
    }

    fn enter(
        &mut self,
        body: &Body,
        types: &TypeTable,
        variables: &PrimaryMap<Variable, VariableData>,
        stage: Stage,
        inst: Inst,
    ) {
        let (InstData::Deref { kind, ty, .. }, Some(def)) = (*body.inst(inst), body.inst_def(inst)) else { return };
        if let DerefKind::Var(variable) = kind {
            if can_follow(&variables[variable], stage) {
                self.places[def] = Place::Node(self.add_root(types, variable, variables[variable].mode, ty));
            }
            return;
        }
        let parent = self.places[body.src(inst, 0)];
        self.places[def] = match (parent, kind) {
            (Place::Outside(root), _) => Place::Outside(root),
            (Place::Node(node), DerefKind::Struct(field)) => self.enter_child(types, node, Step::Field(field), ty),
            (Place::Node(node), DerefKind::ArrayWildcard) => self.enter_child(types, node, Step::Any, ty),
            (Place::Node(node), DerefKind::Array) => {
                let index = body.src(inst, 1);
                let constant = body.constant_component(index, 0);
                let root = self.node(node).root;
                let length = match *types.get(self.node(node).ty) {
                    TypeData::Vector { components, .. } => {
                        self.places[def] = match constant {
                            Some(i) if i >= u64::from(components) => Place::Outside(root),
                            Some(i) => Place::Component(node, Some(i as u8)),
                            None => Place::Component(node, None),
                        };
                        return;
                    }
                    TypeData::Array { length, .. } => length,
                    TypeData::Matrix { columns, .. } => u32::from(columns),
                    _ => 0,
                };
                match constant {
                    Some(i) if i >= u64::from(length) => Place::Outside(root),
                    Some(i) => self.enter_child(types, node, Step::Element(i as u32), ty),
                    None => self.enter_child(types, node, Step::Index(index), ty),
                }
            }
            // A cast or pointer arithmetic: the use is complex at its parent.
            _ => Place::Unknown,
        };
    }

    fn enter_child(&mut self, types: &TypeTable, parent: u32, step: Step, ty: Type) -> Place {
        match self.add_child(types, parent, step, ty) {
            Some(node) => Place::Node(node),
            None => {
                let root = self.node(parent).root;
                self.complex[root] = true;
                Place::Unknown
            }
        }
    }

    fn add_root(&mut self, types: &TypeTable, variable: Variable, mode: VariableModes, ty: Type) -> u32 {
        if let Some(id) = self.roots[variable] {
            return id;
        }
        let id = self.nodes.len() as u32;
        let components = vector_shape(types, ty).map_or(0, |shape| shape.num_components);
        self.nodes.push(Node {
            parent: None,
            step: Step::Any,
            root: variable,
            mode,
            ty,
            components,
            is_exact: true,
            has_wildcard: false,
            has_index: false,
            merged: id,
            widened: id,
            words: self.num_words,
            arrays: 0,
            depth: 0,
        });
        self.num_words += NODE_WORDS + COMPONENT_WORDS * u32::from(components);
        self.roots[variable] = Some(id);
        id
    }

    fn note_complex_uses(&mut self, body: &Body, types: &TypeTable, deref: Inst) {
        let Some(def) = body.inst_def(deref) else { return };
        let place = self.places[def];
        let (root, mode) = match place {
            Place::Unknown => return,
            Place::Node(node) | Place::Component(node, _) => (self.node(node).root, self.node(node).mode),
            Place::Outside(root) => (root, VariableModes::NONE),
        };
        if self.complex[root] || mode.intersects(CONSTANT_MODES) {
            return;
        }
        let simple =
            body.uses_of(def).all(|u| is_simple_use(body, types, def, place, body.user(u), body.source_number(u)));
        self.complex[root] |= !simple;
    }
}

/// Whether only code of this kind changes a variable.
fn can_follow(variable: &VariableData, stage: Stage) -> bool {
    // Other invocations write the outputs of tessellation control shaders.
    let is_shared = variable.mode == VariableModes::SHADER_OUT && stage == Stage::TessCtrl;
    variable.mode.intersects(PRIVATE_MODES.union(CONSTANT_MODES))
        && !is_shared
        && !variable.fb_fetch_output
        && !variable.access.contains(Access::VOLATILE)
}

fn is_simple_use(body: &Body, types: &TypeTable, deref: Def, place: Place, user: User, number: usize) -> bool {
    let User::Inst(user) = user else { return false };
    let fits = |shape: Shape| {
        matches!(place, Place::Outside(_))
            || body.deref_type(deref).and_then(|ty| vector_shape(types, ty)) == Some(shape)
    };
    let is_plain = |kind: IndexKind| !Access::from_i32(body.index(user, kind)).contains(Access::VOLATILE);
    match *body.inst(user) {
        InstData::Deref { kind: DerefKind::Array | DerefKind::ArrayWildcard | DerefKind::Struct(_), .. } => {
            // The component of a vector has no parts.
            number == 0 && !matches!(place, Place::Component(..))
        }
        InstData::Intrinsic { op: IntrinsicOp::LoadDeref, .. } => {
            body.inst_def(user).is_some_and(|d| fits(body.shape(d))) && is_plain(IndexKind::Access)
        }
        InstData::Intrinsic { op: IntrinsicOp::StoreDeref, .. } => {
            number == 0 && fits(body.shape(body.src(user, 1))) && is_plain(IndexKind::Access)
        }
        InstData::Intrinsic { op: IntrinsicOp::CopyDeref, .. } => {
            is_plain(IndexKind::SrcAccess) && is_plain(IndexKind::DstAccess)
        }
        _ => false,
    }
}

/// Modes whose variables an instruction other than an access by deref may touch; `by_slot` are the accesses to outputs
/// without deref that count.
pub(crate) fn global_modes(body: &Body, inst: Inst, by_slot: &[IntrinsicOp]) -> VariableModes {
    match *body.inst(inst) {
        InstData::Call { .. } => VariableModes::SHADER_TEMP.union(VariableModes::SHADER_OUT),
        InstData::Intrinsic { op: IntrinsicOp::Barrier, .. } => {
            VariableModes(body.index(inst, IndexKind::MemoryModes) as u32)
        }
        InstData::Intrinsic { op: IntrinsicOp::EmitVertex | IntrinsicOp::EmitVertexWithCounter, .. } => {
            VariableModes::SHADER_OUT
        }
        InstData::Intrinsic { op, .. } if by_slot.contains(&op) => VariableModes::SHADER_OUT,
        _ => VariableModes::NONE,
    }
}
