//! Removes stores and copies into variables that nothing reads before they are overwritten, component by component.
//!
//! ```text
//! before:                                          after:
//!     @store_deref (&a[0], %x) (wrmask=xyzw)           @store_deref (&a[0], %x) (wrmask=w)
//!     @store_deref (&a[0], %y) (wrmask=xyz)            @store_deref (&a[0], %y) (wrmask=xyz)
//! ```
//!
//! Two parts:
//! - Components of temporaries that no load and no copy of the function may read are not written.
//! - A walk against the text knows what will be overwritten before anything reads it (`AccessTimes`): what a store
//!   writes that surely comes, and at the end of the function all its variables.
//!
//! Followed are variables that only the invocation itself sees before the end: temporaries, and outputs but those of
//! tessellation control shaders. Calls and barriers read variables that other functions see, `emit_vertex` reads
//! outputs. Code after an `if` counts before it unless a side reads it or jumps elsewhere. Code after a
//! loop counts before and in it unless the loop reads it, ends the function, or the place depends on an index that may
//! be another one in each iteration.
//!
//! Cost: linear in the accesses.

use cranelift_entity::{PrimaryMap, SecondaryMap};

use crate::body::{Body, CfParent, InstData, JumpKind};
use crate::entities::{Def, If, Inst, Loop, Variable};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::variables::access_times::{
    ALL, AccessTimes, FIRST_WORD, TouchSet, TouchSets, list_begun, list_ended,
};
use crate::passes::variables::deref_tree::{CONSTANT_MODES, DerefTree, Place, global_modes};
use crate::shader::{Shader, Stage};
use crate::types::TypeTable;
use crate::variable::{VariableData, VariableModes};

/// Accesses without deref that read outputs.
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
    stage: Stage,
) -> bool {
    let tree = DerefTree::new(body, types, variables, stage, FIRST_WORD);
    if !tree.has_private() {
        return false;
    }
    let mut progress = remove_unread(body, &tree);
    let sets = TouchSets::new(body, &tree, |inst, set| note_reads(body, &tree, inst, set));
    let times = AccessTimes::new(&tree);
    let jumps = Jumps::new(body);
    let mut pass = Backward { body, tree, times, loop_starts: Vec::new(), progress: false };
    pass.walk(&sets, &jumps);
    progress |= pass.progress;
    progress
}

/// Components that are read of a value.
pub(crate) fn read_components(body: &Body, def: Def) -> u32 {
    let full = (1u32 << body.num_components(def)) - 1;
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
                mask |= body.index(user, IndexKind::WriteMask) as u32;
            }
            _ => return full,
        }
        if mask & full == full {
            return full;
        }
    }
    mask & full
}

/// Calls `read` with what an instruction reads of the places of variables: node and components.
fn reads(body: &Body, tree: &DerefTree, inst: Inst, mut read: impl FnMut(u32, u32)) {
    let (deref, is_copy) = match body.intrinsic(inst) {
        Some(IntrinsicOp::LoadDeref) => (body.src(inst, 0), false),
        Some(IntrinsicOp::CopyDeref) => (body.src(inst, 1), true),
        _ => return,
    };
    match tree.place(deref) {
        Place::Node(node) if is_copy => read(node, ALL),
        Place::Component(node, _) if is_copy => read(node, ALL),
        Place::Node(node) => read(node, body.inst_def(inst).map_or(0, |def| read_components(body, def))),
        Place::Component(node, component) => {
            if body.inst_def(inst).is_some_and(|def| !body.is_unused(def)) {
                read(node, component.map_or(ALL, |c| 1 << c));
            }
        }
        Place::Unknown | Place::Outside(_) => {}
    }
}

fn note_reads(body: &Body, tree: &DerefTree, inst: Inst, set: &mut TouchSet) {
    set.touch_modes(global_modes(body, inst, &LOADS));
    reads(body, tree, inst, |node, mask| {
        if mask != 0 {
            set.touch(tree, node, mask);
        }
    });
}

/// Writes to components of temporaries that the function never reads.
fn remove_unread(body: &mut Body, tree: &DerefTree) -> bool {
    let mut times = AccessTimes::new(tree);
    let mut writes: Vec<Inst> = Vec::new();
    for inst in body.blocks().flat_map(|block| body.insts(block)) {
        reads(body, tree, inst, |node, mask| times.touch(tree, node, mask));
        if matches!(body.intrinsic(inst), Some(IntrinsicOp::StoreDeref | IntrinsicOp::CopyDeref)) {
            writes.push(inst);
        }
    }
    let is_unread = |node: u32, mask: u32| {
        tree.node(node).mode == VariableModes::FUNCTION_TEMP && times.last_touch(tree, node, mask) == 0
    };
    let mut progress = false;
    for inst in writes {
        progress |= drop_components(body, tree, inst, is_unread).0;
    }
    progress
}

/// Takes from a write what is dead. Whether that changed anything, and the components and node that it still writes.
fn drop_components(
    body: &mut Body,
    tree: &DerefTree,
    write: Inst,
    is_dead: impl Fn(u32, u32) -> bool,
) -> (bool, Option<(u32, u32)>) {
    let place = tree.place(body.src(write, 0));
    let is_store = body.intrinsic(write) == Some(IntrinsicOp::StoreDeref);
    let (node, mask) = match place {
        Place::Unknown | Place::Outside(_) => return (false, None),
        Place::Component(node, Some(component)) => {
            let mask = if is_store { body.index(write, IndexKind::WriteMask) as u32 & 1 } else { 1 };
            (node, mask << component)
        }
        Place::Node(node) if is_store => (node, body.index(write, IndexKind::WriteMask) as u32),
        Place::Node(node) | Place::Component(node, None) => (node, ALL),
    };
    if tree.node(node).mode.intersects(CONSTANT_MODES) {
        return (false, None);
    }
    let components = tree.node(node).components;
    let live = if components == 0 || mask == ALL {
        let all_dead =
            is_dead(node, ALL) || components > 0 && (0..components).all(|component| is_dead(node, 1 << component));
        if all_dead { 0 } else { mask }
    } else {
        (0..components).filter(|c| mask >> c & 1 != 0 && !is_dead(node, 1 << c)).fold(0, |live, c| live | 1 << c)
    };
    if live == 0 {
        body.remove_inst(write);
        return (true, None);
    }
    let is_smaller = is_store && matches!(place, Place::Node(_)) && live != mask;
    if is_smaller {
        body.set_index(write, IndexKind::WriteMask, live as i32);
    }
    // A component that is known at run time only overwrites none for sure.
    let written = !matches!(place, Place::Component(_, None));
    (is_smaller, written.then_some((node, live)))
}

/// Ifs and loops with jumps to somewhere else than right behind them (or the begin of the loop).
struct Jumps {
    ifs: SecondaryMap<If, bool>,
    loops: SecondaryMap<Loop, bool>,
}

impl Jumps {
    fn new(body: &Body) -> Jumps {
        let mut jumps = Jumps { ifs: SecondaryMap::new(), loops: SecondaryMap::new() };
        // Of each open list: whether it leaves the innermost loop's iteration, the function.
        let mut open = vec![(false, false)];
        for block in body.blocks() {
            if list_begun(body, block).is_some() {
                open.push((false, false));
            }
            if let (Some(top), Some((_, kind))) = (open.last_mut(), body.block_jump(block)) {
                match kind {
                    JumpKind::Break | JumpKind::Continue => top.0 = true,
                    _ => top.1 = true,
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

/// Whether all of these components will be overwritten before something reads one of them.
fn is_dead(tree: &DerefTree, times: &AccessTimes, loop_start: u32, node: u32, mask: u32) -> bool {
    // The same index is another one in the next iteration.
    let since = |id: u32| if tree.node(id).has_index { loop_start } else { 0 };
    let mut components = (0..tree.node(node).components).filter(|c| mask >> c & 1 != 0).peekable();
    let is_vector = components.peek().is_some();
    if is_vector && components.all(|c| times.component_fact_time(tree, node, c).is_some_and(|time| time > since(node)))
    {
        return true;
    }
    let touched = times.last_touch(tree, node, mask);
    let outlives = |id: u32| times.fact(tree, id).is_some_and(|(time, _)| time > touched.max(since(id)));
    tree.containing(node).iter().any(|&(id, _)| outlives(id))
}

struct Backward<'a> {
    body: &'a mut Body,
    tree: DerefTree,
    times: AccessTimes,
    /// When the walk entered the loops that are open.
    loop_starts: Vec<u32>,
    progress: bool,
}

impl Backward<'_> {
    fn walk(&mut self, sets: &TouchSets, jumps: &Jumps) {
        for &variable in &self.body.locals {
            if self.tree.is_followed(variable)
                && let Some(root) = self.tree.root(variable)
                && self.tree.node(root).mode == VariableModes::FUNCTION_TEMP
            {
                self.times.note(&self.tree, root, 0);
            }
        }
        for block in self.body.blocks_vec().into_iter().rev() {
            if let Some(list) = list_ended(self.body, block) {
                if let CfParent::Body(id) | CfParent::Continue(id) = list {
                    self.times.touch_set(&self.tree, &sets.loops[id]);
                    if jumps.loops[id] {
                        self.times.touch_everything();
                    }
                    let now = self.times.tick();
                    self.loop_starts.push(now);
                }
                self.times.begin_scope();
            }
            let mut next = self.body.last_inst(block);
            while let Some(inst) = next {
                next = self.body.prev_inst(inst);
                self.instruction(inst);
            }
            let Some(list) = list_begun(self.body, block) else { continue };
            self.times.end_scope();
            match list {
                CfParent::Then(id) => {
                    self.times.touch_set(&self.tree, &sets.ifs[id]);
                    if jumps.ifs[id] {
                        self.times.touch_everything();
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
            self.times.touch_everything();
            return;
        }
        match self.body.intrinsic(inst) {
            Some(IntrinsicOp::StoreDeref | IntrinsicOp::CopyDeref) => self.write(inst),
            _ => {
                self.times.touch_modes(global_modes(self.body, inst, &LOADS));
                self.read(inst);
            }
        }
    }

    fn read(&mut self, inst: Inst) {
        let (tree, times) = (&self.tree, &mut self.times);
        reads(self.body, tree, inst, |node, mask| times.touch(tree, node, mask));
    }

    fn write(&mut self, write: Inst) {
        let is_store = self.body.intrinsic(write) == Some(IntrinsicOp::StoreDeref);
        let (tree, times) = (&self.tree, &self.times);
        let loop_start = self.loop_starts.last().copied().unwrap_or(0);
        let (changed, written) =
            drop_components(self.body, tree, write, |node, mask| is_dead(tree, times, loop_start, node, mask));
        self.progress |= changed;
        if changed && written.is_none() {
            return;
        }
        if let Some((node, mask)) = written {
            if is_store {
                for c in (0..self.tree.node(node).components).filter(|c| mask >> c & 1 != 0) {
                    self.times.note_component(&self.tree, node, c, (Def::from_u32(0), 0));
                }
            } else {
                self.times.note(&self.tree, node, 0);
            }
        }
        self.read(write);
    }
}
