//! Propagates copies through variables that cannot become SSA values, because an array has run-time indices or is
//! copied as a whole.
//!
//! ```text
//! before:                                          after:
//!     @store_deref (&a[0], %x) (wrmask=xyzw)           @store_deref (&a[0], %x) (wrmask=xyzw)
//!     @store_deref (&a[%i], %y) (wrmask=x)             @store_deref (&a[%i], %y) (wrmask=x)
//!     %1 = @load_deref (&a[0])
//!     %2 = fneg %1.yz                                  %2 = fneg %x.yz
//!     @copy_deref (&b[*], &a[*])                       @copy_deref (&b[*], &a[*])
//!     %3 = @load_deref (&b[%j])                        %3 = @load_deref (&a[%j])
//! ```
//!
//! A walk in program order tracks the value of each component of a vector, and for each vector the source of the last
//! copy to it, with their validity (`MemoryVersions`).
//! - A load of known values is replaced by these values; but values stored at a run-time index are known only if it is
//!   certainly in range. If several values would have to be assembled for a target with vector operands, or if not all
//!   are known, only uses that read known components of one value (or constants) are replaced.
//! - Temporaries start as zero.
//! - A load from a copy becomes a load from the original, unless that needs a run-time index and the target [cannot
//!   index it](crate::options::CompilerOptions::no_indirect). Wildcards of the copy become the indices of the load.
//!   Copies from copies are handled in the same way.
//! - A store or copy that does not change the memory is removed, and so is a store past the end of an array.
//! - A copy of known values becomes a store.
//!
//! The pass tracks variables that only the invocation itself writes: temporaries, and outputs except those of
//! tessellation control shaders. Copies may also come from inputs and uniforms. Calls and barriers invalidate facts
//! about variables that other functions access, `emit_vertex` those about outputs. Facts found in a side of an `if` or
//! in the body of a loop hold only there, and variables written there are unknown afterwards; those written in a loop
//! are unknown from its start.
//!
//! Cost: linear in the accesses. (The length of paths and the number of values checked per access are bounded.)

use arrayvec::ArrayVec;
use cranelift_entity::PrimaryMap;

use crate::alu::AluOp;
use crate::body::{Body, CfParent, InstData, Swizzle};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst, Type, Use, Variable};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::options::CompilerOptions;
use crate::passes::scalar::opt_narrow_selects::chase_component;
use crate::passes::variables::deref_tree::{ArrayStep, CONSTANT_MODES, DerefTree, Target, global_modes};
use crate::passes::variables::memory_versions::{ALL, ClobberSet, ClobberSets, MemoryVersions, list_begun, list_ended};
use crate::shader::{Shader, ShaderStage};
use crate::types::{TypeData, TypeTable};
use crate::variable::{Initializer, VariableData, VariableModes};

/// Accesses without derefs that change outputs.
const STORES: [IntrinsicOp; 2] = [IntrinsicOp::StoreOutput, IntrinsicOp::StorePerVertexOutput];

/// Maximum number of copies of copies to follow for one access.
const MAX_COPIES: usize = 8;
/// Added to the component number of a value stored at a run-time index that may be out of range, so that a load could
/// give 0. Such a fact still shows that another store is redundant.
const MAY_BE_OUTSIDE: u8 = 0x80;

/// See the [module](self).
pub fn opt_copy_prop_vars(shader: &mut Shader, options: &CompilerOptions) -> bool {
    let mut progress = false;
    let Shader { functions, types, variables, stage, .. } = shader;
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()).filter(|body| body.structured) {
        progress |= propagate(body, types, variables, *stage, options);
    }
    progress
}

fn propagate(
    body: &mut Body,
    types: &mut TypeTable,
    variables: &PrimaryMap<Variable, VariableData>,
    stage: ShaderStage,
    options: &CompilerOptions,
) -> bool {
    let tree = DerefTree::new(body, types, variables, stage);
    if !tree.has_private() {
        return false;
    }
    let sets = ClobberSets::new(body, &tree, |inst, set| note_writes(body, &tree, inst, set));
    let versions = MemoryVersions::new(&tree);
    let mut pass = Propagation { body, types, variables, options, tree, versions, progress: false };
    pass.walk(&sets);
    pass.progress
}

/// Adds the writes of an instruction to a set.
fn note_writes(body: &Body, tree: &DerefTree, inst: Inst, set: &mut ClobberSet) {
    match *body.inst(inst) {
        InstData::Intrinsic { op: op @ (IntrinsicOp::StoreDeref | IntrinsicOp::CopyDeref), .. } => {
            if let Target::Node(node) = tree.target(body.src(inst, 0)) {
                let is_store = op == IntrinsicOp::StoreDeref;
                let mask = if is_store { body.write_mask(inst) } else { ALL };
                set.clobber(tree, node, mask);
            }
        }
        _ => set.clobber_modes(global_modes(body, inst, &STORES)),
    }
}

/// The value of a component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    Of(Def, u8),
    /// The initial value of temporaries.
    Zero,
}

type Values = ArrayVec<Option<Value>, 16>;

struct Propagation<'a> {
    body: &'a mut Body,
    types: &'a mut TypeTable,
    variables: &'a PrimaryMap<Variable, VariableData>,
    options: &'a CompilerOptions,
    tree: DerefTree,
    versions: MemoryVersions,
    progress: bool,
}

impl Propagation<'_> {
    fn walk(&mut self, sets: &ClobberSets) {
        for block in self.body.blocks_vec() {
            if let Some(list) = list_begun(self.body, block) {
                if let CfParent::Body(id) = list {
                    self.versions.clobber_set(&self.tree, &sets.loops[id]);
                }
                self.versions.begin_scope();
            }
            let mut next = self.body.first_inst(block);
            while let Some(inst) = next {
                next = self.body.next_inst(inst);
                self.instruction(inst);
            }
            if let Some(list) = list_ended(self.body, block) {
                self.versions.end_scope();
                if let CfParent::Else(id) = list {
                    self.versions.clobber_set(&self.tree, &sets.ifs[id]);
                }
            }
        }
    }

    fn instruction(&mut self, inst: Inst) {
        match self.body.intrinsic(inst) {
            Some(IntrinsicOp::LoadDeref) => self.load(inst),
            Some(IntrinsicOp::StoreDeref) => self.store(inst),
            Some(IntrinsicOp::CopyDeref) => self.copy(inst),
            _ => self.versions.clobber_modes(global_modes(self.body, inst, &STORES)),
        }
    }

    fn is_constant(&self, node: u32) -> bool {
        self.tree.node(node).mode.intersects(CONSTANT_MODES)
    }

    /// Returns the value of a component of a node, if it is known.
    fn value(&self, node: u32, component: u8) -> Option<Value> {
        if let Some((def, number)) = self.versions.component_fact(&self.tree, node, component) {
            return (number & MAY_BE_OUTSIDE == 0).then_some(Value::Of(def, number));
        }
        let data = self.tree.node(node);
        let starts_as_zero = data.mode == VariableModes::FUNCTION_TEMP
            && matches!(self.variables[data.root].initializer, None | Some(Initializer::Null));
        (starts_as_zero && self.versions.last_clobber(&self.tree, node, 1 << component) == 0).then_some(Value::Zero)
    }

    /// Returns the node from which the contents of a node were copied, if it is unchanged since.
    fn original(&mut self, node: u32, mask: u32) -> Option<u32> {
        let facts = self.tree.containing(node).filter_map(|id| self.versions.fact(&self.tree, id));
        let mut copies: ArrayVec<(u32, u32), 3> = facts.collect();
        if copies.is_empty() {
            return None;
        }
        let clobbered = self.versions.last_clobber(&self.tree, node, mask);
        let index = self.tree.node(node).step;
        copies.sort_unstable();
        while let Some((version, source)) = copies.pop() {
            if version <= clobbered {
                return None;
            }
            // The index of the node replaces the wildcard of the copy.
            let mut steps = self.tree.path(source);
            steps.iter_mut().filter(|s| **s == ArrayStep::Any).for_each(|s| *s = index);
            let Some(original) = self.tree.follow(self.types, self.tree.node(source).root, &steps) else { continue };
            let is_constant = self.is_constant(original);
            let is_there = is_constant || self.versions.last_clobber(&self.tree, original, mask) < version;
            if original != node && is_there {
                return Some(original);
            }
        }
        None
    }

    /// Returns whether a run-time index in the path of a node may be out of range.
    fn may_be_outside(&self, node: u32) -> bool {
        let data = self.tree.node(node);
        matches!((data.step, data.parent), (ArrayStep::Index(index), Some(parent))
            if !self.is_below(index, self.tree.node(parent).ty))
    }

    /// Returns whether a mask or a minimum keeps an index within an array.
    fn is_below(&self, index: Def, array: Type) -> bool {
        let length = match *self.types.get(array) {
            TypeData::Array { length, .. } => u64::from(length),
            _ => 0,
        };
        let (inst, number) = chase_component(self.body, index, 0);
        let inst = self.body.def_inst(inst);
        matches!(self.body.alu_op(inst), Some(AluOp::Iand | AluOp::Umin))
            && (0..2).any(|s| {
                let source = self.body.source(inst, s);
                let component = self.body.swizzle(source).get(number.into());
                let constant = self.body.constant_component(self.body.src_def(source), component.into());
                constant.is_some_and(|limit| limit < length)
            })
    }

    /// Returns whether the target supports a load of the node, which may have a run-time index.
    fn may_load(&self, node: u32) -> bool {
        !(self.tree.node(node).has_index && self.options.no_indirect.intersects(self.tree.node(node).mode))
    }

    fn is_same(&self, known: Value, def: Def, component: u8) -> bool {
        let Value::Of(known, number) = known else { return false };
        let (known, new) = (chase_component(self.body, known, number), chase_component(self.body, def, component));
        known == new || {
            let constant = |(def, c): (Def, u8)| self.body.constant_component(def, c.into());
            constant(known).is_some() && constant(known) == constant(new)
        }
    }

    fn load(&mut self, load: Inst) {
        let Some(def) = self.body.inst_def(load) else { return };
        let node = match self.tree.target(self.body.src(load, 0)) {
            Target::Unknown => return,
            Target::OutOfBounds(_) => {
                let shape = self.body.shape(def);
                let mut b = Builder::new(self.body, Cursor::Before(load));
                let zero = b.constant(shape.bit_size, &[0; 16][..usize::from(shape.num_components)]);
                return self.replace(load, def, zero);
            }
            Target::Node(node) => node,
        };
        if self.is_constant(node) {
            return;
        }
        let components = 0..self.tree.node(node).components;
        let mut current = node;
        let mut best = node;
        let mut values = self.values(current, components.clone());
        for _ in 0..MAX_COPIES {
            if values.iter().all(Option::is_some) {
                break;
            }
            let Some(original) = self.original(current, ALL) else { break };
            current = original;
            if self.may_load(current) {
                best = current;
            }
            if self.is_constant(current) {
                break;
            }
            let found = self.values(current, components.clone());
            if found.iter().flatten().count() >= values.iter().flatten().count() {
                values = found;
            }
        }
        if self.replace_known(load, def, &values) {
            return;
        }
        self.replace_in_users(def, &values);
        if best != node {
            self.redirect(load, 0, best);
        }
        for component in components {
            for known in [node, best] {
                if !self.is_constant(known) && self.versions.component_fact(&self.tree, known, component).is_none() {
                    self.versions.note_component(&self.tree, known, component, (def, component));
                }
                if best == node {
                    break;
                }
            }
        }
    }

    fn values(&self, node: u32, components: std::ops::Range<u8>) -> Values {
        components.map(|c| self.value(node, c)).collect()
    }

    fn replace(&mut self, load: Inst, def: Def, value: Def) {
        self.body.replace_all_uses(def, value);
        self.body.remove_inst(load);
        self.progress = true;
    }

    /// Replaces a load of known components by a move, a constant or, for scalar targets, a new vector. Returns whether
    /// it did.
    fn replace_known(&mut self, load: Inst, def: Def, values: &[Option<Value>]) -> bool {
        let shape = self.body.shape(def);
        let mut known: ArrayVec<Value, 16> = ArrayVec::new();
        for &value in values {
            let Some(value) = value else { return false };
            known.push(value);
        }
        let constants: Option<ArrayVec<u64, 16>> = known.iter().map(|&v| self.constant(v)).collect();
        let one = match known.first() {
            Some(&Value::Of(first, _)) => {
                known.iter().all(|v| matches!(*v, Value::Of(d, _) if d == first)).then_some(first)
            }
            _ => None,
        };
        let mut b = Builder::new(self.body, Cursor::Before(load));
        let value = match (one, constants) {
            (Some(one), _) => {
                let selectors: ArrayVec<u8, 16> =
                    known.iter().map(|v| if let Value::Of(_, c) = *v { c } else { 0 }).collect();
                b.mov(AluSrc::new(one, Swizzle::new(&selectors)), shape.num_components)
            }
            (None, Some(constants)) => b.constant(shape.bit_size, &constants),
            (None, None) if !self.options.vector_target => {
                let zero = known.contains(&Value::Zero).then(|| b.constant(shape.bit_size, &[0]));
                let sources: ArrayVec<AluSrc, 16> = known
                    .iter()
                    .filter_map(|&v| match v {
                        Value::Of(def, c) => Some(AluSrc::component(def, c)),
                        Value::Zero => zero.map(AluSrc::from),
                    })
                    .collect();
                b.vec(&sources)
            }
            (None, None) => return false,
        };
        self.replace(load, def, value);
        true
    }

    fn constant(&self, value: Value) -> Option<u64> {
        match value {
            Value::Zero => Some(0),
            Value::Of(def, component) => self.body.constant_component(def, component.into()),
        }
    }

    /// Replaces uses that only read known components.
    fn replace_in_users(&mut self, def: Def, values: &[Option<Value>]) {
        if values.iter().all(Option::is_none) {
            return;
        }
        for source in self.body.uses_vec(def) {
            self.replace_in_user(source, values);
        }
    }

    fn replace_in_user(&mut self, source: Use, values: &[Option<Value>]) {
        let Some(user) = self.body.user(source).inst().filter(|&user| self.body.alu_op(user).is_some()) else { return };
        let count = self.body.alu_src_components(user, self.body.source_number(source));
        let swizzle = self.body.swizzle(source);
        let read: Option<ArrayVec<Value, 16>> =
            swizzle.iter(count).map(|c| values.get(usize::from(c)).copied().flatten()).collect();
        let Some(read) = read else { return };
        let Some(&first) = read.first() else { return };
        let constants: Option<ArrayVec<u64, 16>> = read.iter().map(|&v| self.constant(v)).collect();
        let (value, selectors) = if let Value::Of(one, _) = first
            && read.iter().all(|v| matches!(*v, Value::Of(d, _) if d == one))
        {
            (one, read.iter().map(|v| if let Value::Of(_, c) = *v { c } else { 0 }).collect::<ArrayVec<u8, 16>>())
        } else if let Some(constants) = constants {
            let bits = self.body.bit_size(self.body.src_def(source));
            let value = Builder::new(self.body, Cursor::Before(user)).constant(bits, &constants);
            (value, (0..count as u8).collect())
        } else {
            return;
        };
        self.body.set_src(source, value);
        self.body.set_swizzle(source, Swizzle::new(&selectors));
        self.progress = true;
    }

    /// Makes an access read another node.
    fn redirect(&mut self, access: Inst, source: usize, node: u32) {
        let mut b = Builder::new(self.body, Cursor::Before(access));
        let deref = self.tree.build(&mut b, self.variables, node);
        let source = self.body.source(access, source);
        self.body.set_src(source, deref);
        self.progress = true;
    }

    fn store(&mut self, store: Inst) {
        let stored = self.body.src(store, 1);
        let mask = self.body.write_mask(store);
        let node = match self.tree.target(self.body.src(store, 0)) {
            Target::Unknown => return,
            Target::OutOfBounds(_) => return self.remove(store),
            Target::Node(node) => node,
        };
        let components = (0..self.tree.node(node).components).filter(|c| mask >> c & 1 != 0);
        let is_there = components.clone().all(|c| {
            let known = self.versions.component_fact(&self.tree, node, c);
            let known = known.map(|(def, number)| Value::Of(def, number & !MAY_BE_OUTSIDE));
            known.is_some_and(|known| self.is_same(known, stored, c))
        });
        if is_there {
            return self.remove(store);
        }
        let flag = if self.may_be_outside(node) { MAY_BE_OUTSIDE } else { 0 };
        self.versions.clobber(&self.tree, node, mask);
        for c in components {
            self.versions.note_component(&self.tree, node, c, (stored, c | flag));
        }
    }

    fn remove(&mut self, inst: Inst) {
        self.body.remove_inst(inst);
        self.progress = true;
    }

    fn copy(&mut self, copy: Inst) {
        let dest = match self.tree.target(self.body.src(copy, 0)) {
            Target::Unknown => return,
            Target::OutOfBounds(_) => return self.remove(copy),
            Target::Node(node) => node,
        };
        let copied = self.tree.target(self.body.src(copy, 1));
        let Target::Node(mut source) = copied else { return self.versions.clobber(&self.tree, dest, ALL) };
        for _ in 0..MAX_COPIES {
            let Some(original) = self.original(source, ALL) else { break };
            if !self.may_load(original) || original == dest {
                // A copy changes nothing if its source was copied from its destination, or both from the same node.
                if original == dest {
                    return self.remove(copy);
                }
                break;
            }
            source = original;
        }
        if source == dest || self.versions.fact(&self.tree, dest).is_some() && self.original(dest, ALL) == Some(source)
        {
            return self.remove(copy);
        }
        if self.copy_known(copy, dest, source) {
            return;
        }
        if copied != Target::Node(source) {
            self.redirect(copy, 1, source);
        }
        self.versions.clobber(&self.tree, dest, ALL);
        let now = self.versions.advance();
        // A copy that changes its own source does not copy the new value of that.
        let overlaps = !self.is_constant(source) && self.versions.last_clobber(&self.tree, source, ALL) + 1 == now;
        if !overlaps && !self.may_be_outside(dest) {
            self.versions.note(&self.tree, dest, source);
        }
    }

    /// Replaces a copy of one vector by a store if its value is known. Returns whether it did.
    fn copy_known(&mut self, copy: Inst, dest: u32, source: u32) -> bool {
        let (to, from) = (*self.tree.node(dest), *self.tree.node(source));
        if to.has_wildcard || from.has_wildcard || self.is_constant(source) {
            return false;
        }
        let mut stored: Option<Def> = None;
        for component in 0..from.components {
            match self.versions.component_fact(&self.tree, source, component) {
                Some((def, number)) if number == component && stored.is_none_or(|s| s == def) => stored = Some(def),
                _ => return false,
            }
        }
        let Some(stored) = stored.filter(|&s| self.body.num_components(s) == from.components) else { return false };
        let deref = self.body.src(copy, 0);
        let access = [
            (IndexKind::WriteMask, (1 << to.components) - 1),
            (IndexKind::Access, self.body.index(copy, IndexKind::DstAccess)),
        ];
        let mut b = Builder::new(self.body, Cursor::Before(copy));
        let store = b.intrinsic(IntrinsicOp::StoreDeref, &[deref, stored], &access, None);
        self.remove(copy);
        self.store(store);
        true
    }
}
