//! Which variables pointers may lead to.
//!
//! A search over the module, in which the order of instructions does not matter. A *path* leads from a variable or a
//! parameter by members of structs and by indices, whose numbers do not matter. Paths flow from access chains to the
//! phis, selections and variables that take the pointers. Variables of one type of pointers, and results of functions
//! of the type, share their paths. Paths that get there lead from variables of the module: those from a parameter
//! continue from the arguments of all calls.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use spirv::Op;

use crate::module::{Id, Module};
use crate::types::{TypeData, TypeId};
use crate::words::Inst;

/// Where a path begins.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Root {
    /// The null pointer.
    Null,
    /// A variable or a parameter.
    Id(u32),
}

/// The steps of a path: the number of a member, or `None` for an index.
type Steps = SmallVec<[Option<u32>; 4]>;

/// A way to memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Path {
    pub(crate) root: Root,
    pub(crate) steps: Steps,
}

/// Owners of paths.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Node {
    /// A pointer.
    Id(u32),
    /// The variables of pointers with a storage class to a type.
    Memory(u32, TypeId),
}

/// The paths of pointers.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    sets: FxHashMap<Node, Vec<Path>>,
    /// By class and type: the most indices of a pointer in a variable.
    indices: FxHashMap<(u32, TypeId), usize>,
}

/// Longer paths belong to damaged modules: types do not nest deeper.
const MAX_STEPS: usize = 256;

/// A vector has a word for the number of the variable, and these for indices.
const MAX_INDICES: usize = 3;

impl Paths {
    /// The paths of a node.
    pub(crate) fn of(&self, node: Node) -> &[Path] {
        self.sets.get(&node).map_or(&[], Vec::as_slice)
    }

    /// The most indices of a pointer in a variable.
    pub(crate) fn memory_indices(&self, class: u32, pointee: TypeId) -> usize {
        self.indices.get(&(class, pointee)).copied().unwrap_or(0)
    }
}

/// The search.
#[derive(Debug, Default)]
struct Search {
    paths: Paths,
    edges: FxHashMap<Node, Vec<(Node, Steps)>>,
    known_edges: FxHashSet<(Node, Node, Steps)>,
    /// By parameter: the arguments of all calls.
    arguments: FxHashMap<u32, Vec<u32>>,
    work: Vec<(Node, Path)>,
    /// The most paths of a node. One more is kept, so that the excess is noticed.
    limit: usize,
    /// Steps of the search that are left.
    budget: usize,
}

/// Finds the paths of pointers in a module; `None` if all pointers lead to one variable.
pub(crate) fn find_paths(module: &mut Module, limit: u32) -> Option<Rc<Paths>> {
    if !has_choices(module) {
        return None;
    }
    let mut search =
        Search { limit: limit as usize, budget: module.words.words.len().saturating_mul(64), ..Search::default() };
    search.collect(module);
    search.run(module);
    let mut paths = search.paths;
    let Paths { sets, indices } = &mut paths;
    for (node, set) in sets.iter_mut() {
        let &Node::Memory(class, pointee) = node else { continue };
        let count = |path: &Path| path.steps.iter().filter(|step| step.is_none()).count();
        let most = set.iter().map(count).max().unwrap_or(0);
        if most > MAX_INDICES {
            set.clear();
        } else {
            indices.insert((class, pointee), most);
        }
    }
    for (&(class, pointee), &most) in indices.iter() {
        module.types.set_pointer_words(class, pointee, most as u8 + 1);
    }
    Some(Rc::new(paths))
}

fn functions(module: &Module) -> impl Iterator<Item = Inst<'_>> {
    module.functions.iter().flat_map(|function| &function.blocks).flat_map(|block| module.instructions(block))
}

/// Whether an instruction has a pointer that may lead to several variables.
fn has_choices(module: &Module) -> bool {
    functions(module).any(|inst| {
        matches!(
            Op::from_u32(inst.op.into()),
            Some(Op::Phi | Op::Select | Op::Load | Op::FunctionCall | Op::CompositeExtract)
        ) && module.types.pointee(module.result_type(&inst)).is_some()
    }) || functions(module).any(|inst| inst.op == Op::Store as u16 && pointer_type(module, inst.word(1)).is_some())
}

/// The storage class and the type to which a value points.
fn pointer_type(module: &Module, id: u32) -> Option<(u32, TypeId)> {
    module.types.pointee(module.type_of(id))
}

impl Search {
    fn add_edge(&mut self, from: Node, to: Node, steps: Steps) {
        if self.known_edges.insert((from, to, steps.clone())) {
            self.edges.entry(from).or_default().push((to, steps));
        }
    }

    fn add(&mut self, node: Node, path: Path) {
        let set = self.paths.sets.entry(node).or_default();
        if set.len() <= self.limit && !set.contains(&path) && path.steps.len() <= MAX_STEPS {
            set.push(path.clone());
            self.work.push((node, path));
        }
    }

    fn root(&mut self, id: u32) {
        self.add(Node::Id(id), Path { root: Root::Id(id), steps: Steps::new() });
    }

    /// A pointer that flows to a node.
    fn flow(&mut self, module: &Module, id: u32, to: Node) {
        match module.id(id) {
            Id::Constant(_) => self.add(to, Path { root: Root::Null, steps: Steps::new() }),
            _ => self.add_edge(Node::Id(id), to, Steps::new()),
        }
    }

    /// A value that is stored to variables, if it is a pointer.
    fn store(&mut self, module: &Module, id: u32) {
        if let Some((class, pointee)) = pointer_type(module, id) {
            self.flow(module, id, Node::Memory(class, pointee));
        }
    }

    fn collect(&mut self, module: &Module) {
        for global in &module.globals {
            self.root(global.id);
        }
        for function in &module.functions {
            for &(id, ty) in &function.parameters {
                if module.types.pointee(ty).is_some() {
                    self.root(id);
                }
            }
        }
        // Constants with null pointers in them may be stored.
        let constants = (0..module.ids.len() as u32).filter(|&id| matches!(module.id(id), Id::Constant(_)));
        for (class, pointee) in pointers_in(module, constants.map(|id| module.type_of(id)).collect()) {
            self.add(Node::Memory(class, pointee), Path { root: Root::Null, steps: Steps::new() });
        }
        for inst in functions(module) {
            self.instruction(module, &inst);
        }
    }

    fn instruction(&mut self, module: &Module, inst: &Inst<'_>) {
        let Some(op) = Op::from_u32(inst.op.into()) else { return };
        let result = inst.word(1);
        match op {
            Op::Store => self.store(module, inst.word(1)),
            Op::ReturnValue => self.store(module, inst.word(0)),
            Op::CompositeConstruct => inst.rest(2).iter().for_each(|&id| self.store(module, id)),
            Op::CompositeInsert => self.store(module, inst.word(2)),
            Op::Variable => {
                self.root(result);
                inst.rest(3).iter().for_each(|&id| self.store(module, id));
            }
            Op::FunctionCall => {
                if let Id::Function(function) = module.id(inst.word(2))
                    && let Some(function) = module.functions.get(function as usize)
                {
                    for (&(parameter, ty), &argument) in function.parameters.iter().zip(inst.rest(3)) {
                        if module.types.pointee(ty).is_some() {
                            self.arguments.entry(parameter).or_default().push(argument);
                        }
                    }
                }
                self.read(module, inst);
            }
            Op::Load | Op::CompositeExtract => self.read(module, inst),
            Op::Undef if module.types.pointee(module.result_type(inst)).is_some() => {
                self.add(Node::Id(result), Path { root: Root::Null, steps: Steps::new() });
            }
            Op::Select if module.types.pointee(module.result_type(inst)).is_some() => {
                for word in [3, 4] {
                    self.flow(module, inst.word(word), Node::Id(result));
                }
            }
            Op::Phi if module.types.pointee(module.result_type(inst)).is_some() => {
                for operand in inst.rest(2).iter().step_by(2) {
                    self.flow(module, *operand, Node::Id(result));
                }
            }
            Op::CopyObject if module.types.pointee(module.result_type(inst)).is_some() => {
                self.flow(module, inst.word(2), Node::Id(result));
            }
            Op::AccessChain | Op::InBoundsAccessChain => self.chain(module, inst, 3),
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => self.chain(module, inst, 4),
            _ => {}
        }
    }

    /// A pointer that is read from variables.
    fn read(&mut self, module: &Module, inst: &Inst<'_>) {
        if let Some((class, pointee)) = module.types.pointee(module.result_type(inst)) {
            self.add_edge(Node::Memory(class, pointee), Node::Id(inst.word(1)), Steps::new());
        }
    }

    /// An access chain, whose indices are the words from `first` on.
    fn chain(&mut self, module: &Module, inst: &Inst<'_>, first: usize) {
        enum At {
            Type(TypeId),
            /// A column.
            Vector,
            Scalar,
        }
        let base = inst.word(2);
        let Some((_, ty)) = pointer_type(module, base) else { return };
        let mut at = At::Type(ty);
        let mut steps = Steps::new();
        for &index in inst.rest(first) {
            let (step, next) = match at {
                At::Type(ty) => match module.types.get(ty) {
                    TypeData::Array { element, .. } => (None, At::Type(*element)),
                    TypeData::Matrix { .. } => (None, At::Vector),
                    TypeData::Vector { .. } => (None, At::Scalar),
                    TypeData::Struct { members, .. } => {
                        let Some(number) = module.integer(index).map(|number| number as u32) else { return };
                        let Some(member) = members.get(number as usize) else { return };
                        (Some(number), At::Type(member.ty))
                    }
                    _ => return,
                },
                At::Vector => (None, At::Scalar),
                At::Scalar => return,
            };
            steps.push(step);
            at = next;
        }
        self.add_edge(Node::Id(base), Node::Id(inst.word(1)), steps);
    }

    fn run(&mut self, module: &Module) {
        while let Some((node, path)) = self.work.pop() {
            for number in 0.. {
                let Some((to, steps)) = self.edges.get(&node).and_then(|edges| edges.get(number)).cloned() else {
                    break;
                };
                let Some(budget) = self.budget.checked_sub(1) else { return };
                self.budget = budget;
                self.advance(module, &path, to, &steps);
            }
        }
    }

    /// A path that continues to a node.
    fn advance(&mut self, module: &Module, path: &Path, to: Node, steps: &Steps) {
        let mut path = path.clone();
        path.steps.extend_from_slice(steps);
        let (Node::Memory(..), Root::Id(root)) = (to, path.root) else { return self.add(to, path) };
        if let Id::Variable(_) = module.id(root) {
            return self.add(to, path);
        }
        // Variables of functions do not outlive them.
        for argument in self.arguments.get(&root).cloned().unwrap_or_default() {
            let from = Node::Id(argument);
            if !self.known_edges.contains(&(from, to, path.steps.clone())) {
                self.add_edge(from, to, path.steps.clone());
                // The paths that were there before continue, too.
                let before = self.paths.sets.get(&from).cloned().unwrap_or_default();
                self.work.extend(before.into_iter().map(|path| (from, path)));
            }
        }
    }
}

/// What pointers in values of types lead to.
fn pointers_in(module: &Module, mut pending: Vec<TypeId>) -> Vec<(u32, TypeId)> {
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    while let Some(ty) = pending.pop() {
        if !seen.insert(ty) {
            continue;
        }
        match module.types.get(ty) {
            TypeData::Pointer { class, pointee, .. } => found.push((*class, *pointee)),
            TypeData::Array { element, .. } => pending.push(*element),
            TypeData::Struct { members, .. } => pending.extend(members.iter().map(|member| member.ty)),
            _ => {}
        }
    }
    found
}
