//! The derefs of a body as trees, shared by the passes over variables.
//!
//! Each tracked variable is the root of a tree. Below an array are its elements: by constant index, by an SSA value, or
//! all at once (a wildcard). Equal paths are one node, so two derefs with the same node refer to the same memory
//! wherever both are available.
//!
//! To find possible overlaps without comparing paths, each node refers to two others:
//! - [`Node::merged`]: the same path with run-time indices and wildcards as the same kind of step ("some element"),
//! - [`Node::widened`]: the same path with every step as "some element".
//!
//! Writable variables are tracked if they are vectors or arrays of vectors, as TGSI registers are, and all their uses
//! are non-volatile loads, stores and copies of these vectors: then no other code of the function can access them
//! through a pointer. Variables that no shader writes are tracked whatever their uses, and may be arrays of arrays.

use arrayvec::ArrayVec;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use rustc_hash::FxHashMap;

use crate::body::{Body, DerefKind, InstData, Shape, SourceSpec};
use crate::builder::Builder;
use crate::entities::{Def, Inst, Type, User, Variable};
use crate::intrinsics::indices::AccessFlags;
use crate::intrinsics::{IndexKind, IntrinsicKind, IntrinsicOp};
use crate::passes::variables::memory_versions::{COMPONENT_WORDS, FIRST_WORD, NODE_WORDS};
use crate::shader::ShaderStage;
use crate::types::{TypeData, TypeTable};
use crate::variable::{VariableData, VariableModes};

/// Maximum length of a path.
const MAX_PATH: usize = 3;

/// Modes of variables that are never written and always read the same.
pub(crate) const CONSTANT_MODES: VariableModes =
    VariableModes(VariableModes::READ_ONLY.0 & !VariableModes::SYSTEM_VALUE.0);
/// Modes of variables that only the invocation itself writes.
const PRIVATE_MODES: VariableModes =
    VariableModes(VariableModes::FUNCTION_TEMP.0 | VariableModes::SHADER_TEMP.0 | VariableModes::SHADER_OUT.0);

/// A step from an array to its elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ArrayStep {
    Element(u32),
    /// The element at a run-time index.
    Index(Def),
    /// All elements, or some element in merged and widened paths.
    Any,
}

/// The steps from the variable.
pub(crate) type DerefPath = ArrayVec<ArrayStep, MAX_PATH>;

/// A variable or elements of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// `None` for a variable.
    pub parent: Option<u32>,
    /// The step from the parent.
    pub step: ArrayStep,
    pub root: Variable,
    pub mode: VariableModes,
    pub ty: Type,
    /// Components of a vector, 0 for an array.
    pub components: u8,
    pub has_wildcard: bool,
    pub has_index: bool,
    pub merged: u32,
    pub widened: u32,
    /// The first of its words in [`MemoryVersions`](crate::passes::variables::memory_versions::MemoryVersions).
    pub words: u32,
    depth: u8,
}

/// The memory to which a deref refers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Target {
    /// Memory that is not tracked.
    #[default]
    Unknown,
    Node(u32),
    /// An element past the end of an array.
    OutOfBounds(Variable),
}

/// The derefs of a body.
pub(crate) struct DerefTree {
    pub nodes: Vec<Node>,
    children: FxHashMap<(u32, ArrayStep), u32>,
    roots: SecondaryMap<Variable, Option<u32>>,
    targets: SecondaryMap<Def, Target>,
    complex: SecondaryMap<Variable, bool>,
    /// Number of words of all nodes.
    pub num_words: u32,
}

impl DerefTree {
    pub fn new(
        body: &Body,
        types: &TypeTable,
        variables: &PrimaryMap<Variable, VariableData>,
        stage: ShaderStage,
    ) -> DerefTree {
        let mut tree = DerefTree {
            nodes: Vec::new(),
            children: FxHashMap::default(),
            roots: SecondaryMap::new(),
            targets: SecondaryMap::new(),
            complex: SecondaryMap::new(),
            num_words: FIRST_WORD,
        };
        let derefs = || {
            let insts = body.blocks().flat_map(|block| body.insts(block));
            insts.filter(|&inst| matches!(body.inst(inst), InstData::Deref { .. }))
        };
        derefs().for_each(|inst| tree.enter(body, types, variables, stage, inst));
        derefs().for_each(|inst| tree.note_complex_uses(body, types, inst));
        tree
    }

    /// Returns whether tracked code may write to one of the nodes.
    pub fn has_private(&self) -> bool {
        self.nodes.iter().any(|node| !node.mode.intersects(CONSTANT_MODES) && !self.complex[node.root])
    }

    /// Returns the memory to which a deref refers.
    pub fn target(&self, def: Def) -> Target {
        let target = self.targets[def];
        match self.root_of(target) {
            Some(root) if !self.complex[root] => target,
            _ => Target::Unknown,
        }
    }

    /// Returns the variable of a target.
    pub fn root_of(&self, target: Target) -> Option<Variable> {
        match target {
            Target::Unknown => None,
            Target::Node(node) => Some(self.node(node).root),
            Target::OutOfBounds(root) => Some(root),
        }
    }

    pub fn node(&self, id: u32) -> &Node {
        &self.nodes[id as usize]
    }

    /// Returns the child at a step, if it exists.
    pub fn child(&self, parent: u32, step: ArrayStep) -> Option<u32> {
        self.children.get(&(parent, step)).copied()
    }

    /// Returns the node of a variable, if any deref refers to it.
    pub fn root(&self, variable: Variable) -> Option<u32> {
        self.roots[variable]
    }

    /// Returns whether all accesses of the function to a variable are known.
    pub fn is_followed(&self, variable: Variable) -> bool {
        self.roots[variable].is_some() && !self.complex[variable]
    }

    /// Returns the steps to a node.
    pub fn path(&self, mut id: u32) -> DerefPath {
        let mut path = DerefPath::new();
        while let Some(parent) = self.node(id).parent {
            path.push(self.node(id).step);
            id = parent;
        }
        path.reverse();
        path
    }

    /// Returns the nodes of a writable variable that contain all of a node, whatever its run-time index: the node, all
    /// elements, and the variable.
    pub fn containing(&self, id: u32) -> impl Iterator<Item = u32> + use<> {
        let node = self.node(id);
        [Some(id), Some(node.widened).filter(|&widened| widened != id), node.parent].into_iter().flatten()
    }

    /// Returns the child at a step, creating it if necessary; `None` if the path gets too long.
    fn add_child(&mut self, types: &TypeTable, parent: u32, step: ArrayStep, ty: Type) -> Option<u32> {
        if let Some(id) = self.child(parent, step) {
            return Some(id);
        }
        let above = *self.node(parent);
        if usize::from(above.depth) >= MAX_PATH {
            return None;
        }
        // Recursion depth is bounded by the path length: merged and widened paths are their own merged and widened
        // paths.
        let merged = if matches!(step, ArrayStep::Index(_)) { ArrayStep::Any } else { step };
        let is_merged = above.merged == parent && merged == step;
        let is_widened = above.widened == parent && step == ArrayStep::Any;
        let merged = if is_merged { None } else { Some(self.add_child(types, above.merged, merged, ty)?) };
        let widened = if is_widened { None } else { Some(self.add_child(types, above.widened, ArrayStep::Any, ty)?) };
        let id = self.push(
            types,
            Node {
                parent: Some(parent),
                step,
                ty,
                has_wildcard: above.has_wildcard || step == ArrayStep::Any,
                has_index: above.has_index || matches!(step, ArrayStep::Index(_)),
                depth: above.depth + 1,
                ..above
            },
        );
        let node = &mut self.nodes[id as usize];
        (node.merged, node.widened) = (merged.unwrap_or(id), widened.unwrap_or(id));
        self.children.insert((parent, step), id);
        Some(id)
    }

    fn add_root(&mut self, types: &TypeTable, root: Variable, mode: VariableModes, ty: Type) -> u32 {
        if let Some(id) = self.roots[root] {
            return id;
        }
        let id = self.nodes.len() as u32;
        self.roots[root] = Some(id);
        self.push(
            types,
            Node {
                parent: None,
                step: ArrayStep::Any,
                root,
                mode,
                ty,
                components: 0,
                has_wildcard: false,
                has_index: false,
                merged: id,
                widened: id,
                words: 0,
                depth: 0,
            },
        )
    }

    fn push(&mut self, types: &TypeTable, node: Node) -> u32 {
        let components = vector_shape(types, node.ty).map_or(0, |shape| shape.num_components);
        self.nodes.push(Node { components, words: self.num_words, ..node });
        self.num_words += NODE_WORDS + COMPONENT_WORDS * u32::from(components);
        self.nodes.len() as u32 - 1
    }

    /// Returns the node at a path from a variable; `None` if its type has no such elements.
    pub fn follow(&mut self, types: &TypeTable, variable: Variable, steps: &[ArrayStep]) -> Option<u32> {
        let mut node = self.root(variable)?;
        for &step in steps {
            let TypeData::Array { element, length, .. } = *types.get(self.node(node).ty) else { return None };
            if matches!(step, ArrayStep::Element(i) if i >= length) {
                return None;
            }
            node = self.add_child(types, node, step, element)?;
        }
        Some(node)
    }

    /// Emits derefs that lead to a node.
    pub fn build(&mut self, b: &mut Builder<'_>, variables: &PrimaryMap<Variable, VariableData>, id: u32) -> Def {
        let mut nodes: ArrayVec<u32, { MAX_PATH + 1 }> = ArrayVec::new();
        let mut next = Some(id);
        while let Some(node) = next {
            nodes.push(node);
            next = self.node(node).parent;
        }
        let root = self.node(id).root;
        let mut current = b.deref_var(root, self.node(id).mode, variables[root].ty);
        self.targets[current] = nodes.pop().map_or(Target::Unknown, Target::Node);
        while let Some(number) = nodes.pop() {
            let Node { step, ty, mode, .. } = *self.node(number);
            current = match step {
                ArrayStep::Element(element) => {
                    let index = b.u32_const(element);
                    b.deref_array(current, index, ty)
                }
                ArrayStep::Index(index) => b.deref_array(current, index, ty),
                ArrayStep::Any => {
                    let data = InstData::Deref { kind: DerefKind::ArrayWildcard, modes: mode, ty };
                    let inst = b.build(data, &[SourceSpec::plain(current)], Some(Shape::new(1, 32)));
                    b.body.inst_def(inst).unwrap_or(current)
                }
            };
            self.targets[current] = Target::Node(number);
        }
        current
    }

    fn enter(
        &mut self,
        body: &Body,
        types: &TypeTable,
        variables: &PrimaryMap<Variable, VariableData>,
        stage: ShaderStage,
        inst: Inst,
    ) {
        let (InstData::Deref { kind, ty, .. }, Some(def)) = (*body.inst(inst), body.inst_def(inst)) else { return };
        if let DerefKind::Var(variable) = kind {
            if can_follow(types, &variables[variable], stage) {
                self.targets[def] = Target::Node(self.add_root(types, variable, variables[variable].mode, ty));
            }
            return;
        }
        self.targets[def] = match self.targets[body.src(inst, 0)] {
            Target::Node(node) => {
                let step = match (kind, types.get(self.node(node).ty)) {
                    (DerefKind::ArrayWildcard, TypeData::Array { .. }) => Some(ArrayStep::Any),
                    (DerefKind::Array, &TypeData::Array { length, .. }) => {
                        let index = body.src(inst, 1);
                        match body.constant_component(index, 0) {
                            Some(i) if i >= u64::from(length) => {
                                self.targets[def] = Target::OutOfBounds(self.node(node).root);
                                return;
                            }
                            Some(i) => Some(ArrayStep::Element(i as u32)),
                            None => Some(ArrayStep::Index(index)),
                        }
                    }
                    // Part of something else: the use is complex at its parent.
                    _ => None,
                };
                let child = step.and_then(|step| self.add_child(types, node, step, ty));
                child.map_or(Target::Unknown, Target::Node)
            }
            parent => parent,
        };
    }

    fn note_complex_uses(&mut self, body: &Body, types: &TypeTable, deref: Inst) {
        let Some(def) = body.inst_def(deref) else { return };
        let target = self.targets[def];
        let Some(root) = self.root_of(target) else { return };
        let is_constant = matches!(target, Target::Node(node) if self.node(node).mode.intersects(CONSTANT_MODES));
        if !self.complex[root] && !is_constant {
            self.complex[root] = !body
                .uses_of(def)
                .all(|u| self.is_simple_use(body, types, def, target, body.user(u), body.source_number(u)));
        }
    }

    fn is_simple_use(
        &self,
        body: &Body,
        types: &TypeTable,
        deref: Def,
        target: Target,
        user: User,
        number: usize,
    ) -> bool {
        let User::Inst(user) = user else { return false };
        let shape = body.deref_type(deref).and_then(|ty| vector_shape(types, ty));
        let fits = |accessed: Shape| matches!(target, Target::OutOfBounds(_)) || shape == Some(accessed);
        let is_plain = |kind: IndexKind| !AccessFlags::from_i32(body.index(user, kind)).contains(AccessFlags::VOLATILE);
        match *body.inst(user) {
            InstData::Deref { .. } => {
                number == 0 && body.inst_def(user).is_some_and(|def| self.targets[def] != Target::Unknown)
            }
            InstData::Intrinsic { op: IntrinsicOp::LoadDeref, .. } => {
                body.inst_def(user).is_some_and(|d| fits(body.shape(d))) && is_plain(IndexKind::Access)
            }
            InstData::Intrinsic { op: IntrinsicOp::StoreDeref, .. } => {
                number == 0 && fits(body.shape(body.src(user, 1))) && is_plain(IndexKind::Access)
            }
            InstData::Intrinsic { op: IntrinsicOp::CopyDeref, .. } => {
                shape.is_some() && is_plain(IndexKind::SrcAccess) && is_plain(IndexKind::DstAccess)
            }
            _ => false,
        }
    }
}

/// Returns the shape of values of a vector type.
pub(crate) fn vector_shape(types: &TypeTable, ty: Type) -> Option<Shape> {
    types.as_vector(ty).filter(|(scalar, _)| scalar.bit_size() > 0).map(|(s, n)| Shape::new(n, s.bit_size()))
}

/// Returns whether only tracked code can change a variable.
fn can_follow(types: &TypeTable, variable: &VariableData, stage: ShaderStage) -> bool {
    if variable.fb_fetch_output || variable.access.contains(AccessFlags::VOLATILE) {
        return false;
    }
    // Other invocations write the outputs of tessellation control shaders.
    let is_shared = variable.mode == VariableModes::SHADER_OUT && stage == ShaderStage::TessCtrl;
    let is_private = variable.mode.intersects(PRIVATE_MODES) && !is_shared;
    let element = match *types.get(variable.ty) {
        TypeData::Array { element, .. } => element,
        _ => variable.ty,
    };
    is_private && vector_shape(types, element).is_some() || variable.mode.intersects(CONSTANT_MODES)
}

/// Returns the modes with variables that an instruction other than an access by deref may access; `by_slot` lists the
/// relevant accesses to outputs without derefs.
pub(crate) fn global_modes(body: &Body, inst: Inst, by_slot: &[IntrinsicOp]) -> VariableModes {
    match *body.inst(inst) {
        InstData::Call { .. } => VariableModes::SHADER_TEMP.union(VariableModes::SHADER_OUT),
        InstData::Intrinsic { op, .. } => match (op, op.info().kind) {
            (IntrinsicOp::Barrier, _) => VariableModes(body.index(inst, IndexKind::MemoryModes) as u32),
            (IntrinsicOp::EndPrimitive | IntrinsicOp::EndPrimitiveWithCounter, _) => VariableModes::NONE,
            (IntrinsicOp::SetVertexAndPrimitiveCount, _) => VariableModes::NONE,
            // Emitting a vertex or primitive reads all outputs.
            (_, IntrinsicKind::Geometry) => VariableModes::SHADER_OUT,
            _ if by_slot.contains(&op) => VariableModes::SHADER_OUT,
            _ => VariableModes::NONE,
        },
        _ => VariableModes::NONE,
    }
}
