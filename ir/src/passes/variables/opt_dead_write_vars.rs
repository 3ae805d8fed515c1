//! Removes stores and copies into variables that are overwritten before they are read, component by component.
//!
//! ```text
//! before:                                          after:
//!     @store_deref (&a[0], %x) (wrmask=xyzw)           @store_deref (&a[0], %x) (wrmask=w)
//!     @store_deref (&a[0], %y) (wrmask=xyz)            @store_deref (&a[0], %y) (wrmask=xyz)
//! ```
//!
//! The pass has two parts:
//! - Components of temporaries that no load or copy of the function may read are not written.
//! - A backward walk tracks the memory that is overwritten before it is read (`MemoryVersions`): by a store that
//!   certainly follows or, for the function's own variables, by the end of the function.
//!
//! The pass tracks variables that only the invocation itself reads before the end: temporaries, and outputs except
//! those of tessellation control shaders. Calls and barriers read variables that other functions access, `emit_vertex`
//! reads outputs. Facts about the code after an `if` hold before it unless a side reads the memory or jumps elsewhere.
//! Facts about the code after a loop hold before and in it unless the loop reads the memory or ends the function, or
//! the element has an index that may differ between iterations.
//!
//! Cost: linear in the accesses.

use cranelift_entity::{PrimaryMap, SecondaryMap};

use crate::body::{Body, CfParent, InstData, JumpKind};
use crate::entities::{Def, If, Inst, Loop, Variable};
use crate::intrinsics::IntrinsicOp;
use crate::passes::variables::deref_tree::{CONSTANT_MODES, DerefTree, Target, global_modes};
use crate::passes::variables::memory_versions::{ALL, ClobberSet, ClobberSets, MemoryVersions, list_begun, list_ended};
use crate::shader::{Shader, ShaderStage};
use crate::types::TypeTable;
use crate::variable::{VariableData, VariableModes};

/// Accesses without derefs that read outputs.
const LOADS: [IntrinsicOp; 2] = [IntrinsicOp::LoadOutput, IntrinsicOp::LoadPerVertexOutput];

/// See the [module](self).
pub fn opt_dead_write_vars(shader: &mut Shader) -> bool {
    let mut progress = false;
    let Shader { functions, types, variables, stage, .. } = shader;
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()).filter(|body| body.structured) {
        progress |= remove_dead_writes(body, types, variables, *stage);
    }
    progress
}

fn remove_dead_writes(
    body: &mut Body,
    types: &TypeTable,
    variables: &PrimaryMap<Variable, VariableData>,
    stage: ShaderStage,
) -> bool {
    let tree = DerefTree::new(body, types, variables, stage);
    if !tree.has_private() {
        return false;
    }
    let mut progress = remove_unread(body, &tree);
    let sets = ClobberSets::new(body, &tree, |inst, set| note_reads(body, &tree, inst, set));
    let versions = MemoryVersions::new(&tree);
    let jumps = Jumps::new(body);
    let mut pass = Backward { body, tree, versions, loop_starts: Vec::new(), progress: false };
    pass.walk(&sets, &jumps);
    progress |= pass.progress;
    progress
}

/// Returns the components of a value that are used.
pub(crate) fn read_components(body: &Body, def: Def) -> u32 {
    let full = body.full_mask(def);
    let mut mask = 0;
    for source in body.uses_of(def) {
        let Some(user) = body.user(source).inst() else { return full };
        let number = body.source_number(source);
        match *body.inst(user) {
            InstData::Alu { .. } => {
                let count = body.alu_src_components(user, number);
                mask |= body.swizzle(source).iter(count).fold(0, |mask, c| mask | 1 << c);
            }
            InstData::Intrinsic { op: IntrinsicOp::StoreDeref, .. } if number == 1 => {
                mask |= body.write_mask(user);
            }
            _ => return full,
        }
        if mask & full == full {
            return full;
        }
    }
    mask & full
}

/// Returns the node that an instruction reads, and its components.
fn read_by(body: &Body, tree: &DerefTree, inst: Inst) -> Option<(u32, u32)> {
    let (deref, mask) = match body.intrinsic(inst)? {
        IntrinsicOp::LoadDeref => (body.src(inst, 0), body.inst_def(inst).map_or(0, |def| read_components(body, def))),
        IntrinsicOp::CopyDeref => (body.src(inst, 1), ALL),
        _ => return None,
    };
    match tree.target(deref) {
        Target::Node(node) => Some((node, mask)),
        Target::Unknown | Target::OutOfBounds(_) => None,
    }
}

fn note_reads(body: &Body, tree: &DerefTree, inst: Inst, set: &mut ClobberSet) {
    set.clobber_modes(global_modes(body, inst, &LOADS));
    if let Some((node, mask)) = read_by(body, tree, inst).filter(|&(_, mask)| mask != 0) {
        set.clobber(tree, node, mask);
    }
}

/// Removes writes to components of temporaries that the function never reads.
fn remove_unread(body: &mut Body, tree: &DerefTree) -> bool {
    let mut versions = MemoryVersions::new(tree);
    let mut writes: Vec<Inst> = Vec::new();
    for inst in body.blocks().flat_map(|block| body.insts(block)) {
        if let Some((node, mask)) = read_by(body, tree, inst) {
            versions.clobber(tree, node, mask);
        }
        if matches!(body.intrinsic(inst), Some(IntrinsicOp::StoreDeref | IntrinsicOp::CopyDeref)) {
            writes.push(inst);
        }
    }
    let is_unread = |node: u32, mask: u32| {
        tree.node(node).mode == VariableModes::FUNCTION_TEMP && versions.last_clobber(tree, node, mask) == 0
    };
    let mut progress = false;
    for inst in writes {
        progress |= drop_components(body, tree, inst, is_unread).0;
    }
    progress
}

/// Removes dead components from a write. Returns whether that changed anything, and the node and components that it
/// still writes.
fn drop_components(
    body: &mut Body,
    tree: &DerefTree,
    write: Inst,
    is_dead: impl Fn(u32, u32) -> bool,
) -> (bool, Option<(u32, u32)>) {
    let Target::Node(node) = tree.target(body.src(write, 0)) else { return (false, None) };
    let is_store = body.intrinsic(write) == Some(IntrinsicOp::StoreDeref);
    if tree.node(node).mode.intersects(CONSTANT_MODES) {
        return (false, None);
    }
    let mask = if is_store { body.write_mask(write) } else { ALL };
    let components = 0..tree.node(node).components;
    let live = if is_store {
        components.filter(|c| mask >> c & 1 != 0 && !is_dead(node, 1 << c)).fold(0, |live, c| live | 1 << c)
    } else {
        let all_dead = is_dead(node, ALL) || components.into_iter().all(|component| is_dead(node, 1 << component));
        if all_dead { 0 } else { mask }
    };
    if live == 0 {
        body.remove_inst(write);
        return (true, None);
    }
    if live != mask {
        body.set_write_mask(write, live);
    }
    (live != mask, Some((node, live)))
}

/// Ifs and loops with jumps to targets other than the code right after them (or the start of the loop).
struct Jumps {
    ifs: SecondaryMap<If, bool>,
    loops: SecondaryMap<Loop, bool>,
}

impl Jumps {
    fn new(body: &Body) -> Jumps {
        let mut jumps = Jumps { ifs: SecondaryMap::new(), loops: SecondaryMap::new() };
        // For each open list: whether it leaves the iteration of the innermost loop, and whether it leaves the
        // function.
        let mut open = vec![(false, false)];
        for block in body.blocks() {
            if list_begun(body, block).is_some() {
                open.push((false, false));
            }
            if let (Some(top), Some((_, kind))) = (open.last_mut(), body.block_jump(block)) {
                match kind {
                    JumpKind::Break | JumpKind::Continue => top.0 = true,
                    JumpKind::Return | JumpKind::Halt | JumpKind::Goto(_) | JumpKind::GotoIf { .. } => top.1 = true,
                }
            }
            let Some(list) = list_ended(body, block) else { continue };
            let Some((leaves_iteration, leaves_function)) = open.pop() else { continue };
            let Some(around) = open.last_mut() else { continue };
            around.1 |= leaves_function;
            match list {
                CfParent::Then(id) | CfParent::Else(id) => {
                    jumps.ifs[id] |= leaves_iteration || leaves_function;
                    around.0 |= leaves_iteration;
                }
                CfParent::Body(id) | CfParent::Continue(id) => jumps.loops[id] |= leaves_function,
                CfParent::Function => {}
            }
        }
        jumps
    }
}

/// Returns whether all of these components are overwritten before one of them is read.
fn is_dead(tree: &DerefTree, versions: &MemoryVersions, loop_start: u32, node: u32, mask: u32) -> bool {
    // The same index may have another value in the next iteration.
    let since = |id: u32| if tree.node(id).has_index { loop_start } else { 0 };
    let mut components = (0..tree.node(node).components).filter(|c| mask >> c & 1 != 0);
    let is_overwritten =
        |c| versions.component_fact_version(tree, node, c).is_some_and(|version| version > since(node));
    if components.all(is_overwritten) {
        return true;
    }
    let clobbered = versions.last_clobber(tree, node, mask);
    let outlives = |id: u32| versions.fact(tree, id).is_some_and(|(version, _)| version > clobbered.max(since(id)));
    tree.containing(node).any(outlives)
}

struct Backward<'a> {
    body: &'a mut Body,
    tree: DerefTree,
    versions: MemoryVersions,
    /// When the walk entered the open loops.
    loop_starts: Vec<u32>,
    progress: bool,
}

impl Backward<'_> {
    fn walk(&mut self, sets: &ClobberSets, jumps: &Jumps) {
        for &variable in &self.body.locals {
            if self.tree.is_followed(variable)
                && let Some(root) = self.tree.root(variable)
                && self.tree.node(root).mode == VariableModes::FUNCTION_TEMP
            {
                self.versions.note(&self.tree, root, 0);
            }
        }
        for block in self.body.blocks_vec().into_iter().rev() {
            if let Some(list) = list_ended(self.body, block) {
                if let CfParent::Body(id) | CfParent::Continue(id) = list {
                    self.versions.clobber_set(&self.tree, &sets.loops[id]);
                    if jumps.loops[id] {
                        self.versions.clobber_everything();
                    }
                    let now = self.versions.advance();
                    self.loop_starts.push(now);
                }
                self.versions.begin_scope();
            }
            let mut next = self.body.last_inst(block);
            while let Some(inst) = next {
                next = self.body.prev_inst(inst);
                self.instruction(inst);
            }
            let Some(list) = list_begun(self.body, block) else { continue };
            self.versions.end_scope();
            match list {
                CfParent::Then(id) => {
                    self.versions.clobber_set(&self.tree, &sets.ifs[id]);
                    if jumps.ifs[id] {
                        self.versions.clobber_everything();
                    }
                }
                CfParent::Body(_) | CfParent::Continue(_) => {
                    self.loop_starts.pop();
                }
                CfParent::Else(_) | CfParent::Function => {}
            }
        }
    }

    fn instruction(&mut self, inst: Inst) {
        if self.body.jump(inst).is_some() {
            self.versions.clobber_everything();
            return;
        }
        match self.body.intrinsic(inst) {
            Some(IntrinsicOp::StoreDeref | IntrinsicOp::CopyDeref) => self.write(inst),
            _ => {
                self.versions.clobber_modes(global_modes(self.body, inst, &LOADS));
                self.read(inst);
            }
        }
    }

    fn read(&mut self, inst: Inst) {
        if let Some((node, mask)) = read_by(self.body, &self.tree, inst) {
            self.versions.clobber(&self.tree, node, mask);
        }
    }

    fn write(&mut self, write: Inst) {
        let is_store = self.body.intrinsic(write) == Some(IntrinsicOp::StoreDeref);
        let (tree, versions) = (&self.tree, &self.versions);
        let loop_start = self.loop_starts.last().copied().unwrap_or(0);
        let (changed, written) =
            drop_components(self.body, tree, write, |node, mask| is_dead(tree, versions, loop_start, node, mask));
        self.progress |= changed;
        if changed && written.is_none() {
            return;
        }
        if let Some((node, mask)) = written {
            if is_store {
                for c in (0..self.tree.node(node).components).filter(|c| mask >> c & 1 != 0) {
                    self.versions.note_component(&self.tree, node, c, (Def::from_u32(0), 0));
                }
            } else {
                self.versions.note(&self.tree, node, 0);
            }
        }
        self.read(write);
    }
}
