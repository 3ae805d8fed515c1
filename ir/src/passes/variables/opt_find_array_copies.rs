//! Finds arrays that are copied element by element and makes one copy of it.
//!
//! ```text
//! before (b: vec4[2]):                             after:
//!     %1 = @load_deref (&a[0])                         ...
//!     @store_deref (&b[0], %1) (wrmask=xyzw)
//!     %2 = @load_deref (&a[1])
//!     @store_deref (&b[1], %2) (wrmask=xyzw)           @store_deref (&b[1], %2) (wrmask=xyzw)
//!                                                      @copy_deref (&b[*], &a[*])
//! ```
//!
//! The stores stay: the copy says the same once more, so that
//! [`opt_copy_prop_vars`](mod@crate::passes::variables::opt_copy_prop_vars) can load from the original by an index that
//! is known at run time only, and [`opt_dead_write_vars`](mod@crate::passes::variables::opt_dead_write_vars) removes
//! what nothing reads any more. What is left of the copies becomes loads and stores again by
//! [`lower_var_copies`](mod@crate::passes::variables::lower_var_copies).
//!
//! The elements may come in any order, within one block; the last array step of both sides is the one that counts, and
//! both arrays have the same length. All elements of the original must still be what was loaded, all of the copy what
//! was stored. Copies of inner arrays count as elements of outer ones. A block that copies to the whole array anyway is
//! left alone.
//!
//! Cost: linear in the stores: after as many stores as an array has elements, all are looked at once.

use cranelift_entity::{PrimaryMap, SecondaryMap};

use crate::body::Body;
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Inst, Variable};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::variables::access_times::{ALL, AccessTimes, FIRST_WORD};
use crate::passes::variables::deref_tree::{CONSTANT_MODES, DerefTree, Path, Place, Step};
use crate::shader::{Shader, Stage};
use crate::types::TypeTable;
use crate::variable::{VariableData, VariableModes};

/// See the [module](self).
pub fn opt_find_array_copies(shader: &mut Shader) -> bool {
    let mut progress = false;
    let Shader { functions, types, variables, stage, .. } = shader;
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        progress |= find_copies(body, types, variables, *stage);
    }
    progress
}

/// Stores to elements of a place with a wildcard.
#[derive(Clone, Copy, Default)]
struct Progress {
    /// Elements stored since they were last looked at.
    stored: u32,
    /// The block this is about, by its number in the walk.
    block: u32,
}

/// An element of an array: the place, the steps to it, and which of them is that to the element.
struct Side<'a> {
    node: u32,
    path: &'a Path,
    at: usize,
}

struct Finder<'a> {
    body: &'a mut Body,
    types: &'a mut TypeTable,
    variables: &'a PrimaryMap<Variable, VariableData>,
    tree: DerefTree,
    times: AccessTimes,
    /// Of each node with a wildcard.
    arrays: Vec<Progress>,
    /// When each load was made, and the block.
    loads: SecondaryMap<Def, (u32, u32)>,
    block: u32,
    /// Of each node, the last block with a copy to it.
    copied: Vec<u32>,
    progress: bool,
}

fn find_copies(
    body: &mut Body,
    types: &mut TypeTable,
    variables: &PrimaryMap<Variable, VariableData>,
    stage: Stage,
) -> bool {
    let tree = DerefTree::new(body, types, variables, stage, FIRST_WORD);
    let has_arrays =
        tree.nodes.iter().any(|n| n.mode == VariableModes::FUNCTION_TEMP && matches!(n.step, Step::Element(_)));
    if !has_arrays {
        return false;
    }
    let times = AccessTimes::new(&tree);
    let loads = SecondaryMap::new();
    let (arrays, copied) = (Vec::new(), Vec::new());
    let mut finder = Finder { body, types, variables, tree, times, arrays, loads, block: 0, copied, progress: false };
    for block in finder.body.blocks_vec() {
        finder.block += 1;
        finder.times.touch_everything();
        let insts = finder.body.insts_vec(block);
        for &inst in &insts {
            if finder.body.intrinsic(inst) == Some(IntrinsicOp::CopyDeref)
                && let Place::Node(node) = finder.tree.place(finder.body.src(inst, 0))
            {
                finder.note_copied(node);
            }
        }
        for inst in insts {
            finder.instruction(inst);
        }
    }
    finder.progress
}

impl Finder<'_> {
    fn instruction(&mut self, inst: Inst) {
        match self.body.intrinsic(inst) {
            Some(IntrinsicOp::LoadDeref) => {
                if let Some(def) = self.body.inst_def(inst) {
                    self.loads[def] = (self.times.tick(), self.block);
                }
            }
            Some(IntrinsicOp::StoreDeref) => {
                let mask = self.body.index(inst, IndexKind::WriteMask) as u32;
                match self.tree.place(self.body.src(inst, 0)) {
                    Place::Node(node) => {
                        self.times.touch(&self.tree, node, mask);
                        if let Some((source, time)) = self.loaded_from(inst, node, mask) {
                            self.element(inst, node, source, time);
                        }
                    }
                    Place::Component(node, component) => {
                        self.times.touch(&self.tree, node, component.map_or(ALL, |c| 1 << c));
                    }
                    Place::Unknown | Place::Outside(_) => {}
                }
            }
            Some(IntrinsicOp::CopyDeref) => {
                let (to, from) = (self.body.src(inst, 0), self.body.src(inst, 1));
                match (self.tree.place(to), self.tree.place(from)) {
                    (Place::Node(node), Place::Node(source)) => {
                        self.times.touch(&self.tree, node, ALL);
                        let time = self.times.tick();
                        let is_other = self.tree.node(node).root != self.tree.node(source).root;
                        if is_other {
                            self.element(inst, node, source, time);
                        }
                    }
                    (Place::Node(node) | Place::Component(node, _), _) => self.times.touch(&self.tree, node, ALL),
                    _ => {}
                }
            }
            // Of the variables that are looked for, only sources can be changed by others.
            Some(
                IntrinsicOp::EmitVertex
                | IntrinsicOp::EmitVertexWithCounter
                | IntrinsicOp::Barrier
                | IntrinsicOp::StoreOutput
                | IntrinsicOp::StorePerVertexOutput,
            ) => self.times.touch_everything(),
            _ if matches!(self.body.inst(inst), crate::body::InstData::Call { .. }) => self.times.touch_everything(),
            _ => {}
        }
    }

    /// The place that a whole vector was loaded from, and when.
    fn loaded_from(&self, store: Inst, node: u32, mask: u32) -> Option<(u32, u32)> {
        let full = (1u32 << self.tree.node(node).components) - 1;
        let value = self.body.src(store, 1);
        let load = self.body.def_inst(value);
        let (time, block) = self.loads[value];
        if mask & full != full || self.body.intrinsic(load) != Some(IntrinsicOp::LoadDeref) || block != self.block {
            return None;
        }
        match self.tree.place(self.body.src(load, 0)) {
            Place::Node(source) => Some((source, time)),
            _ => None,
        }
    }

    /// An element was copied.
    fn element(&mut self, inst: Inst, node: u32, source: u32, time: u32) {
        if self.tree.node(node).mode != VariableModes::FUNCTION_TEMP
            || self.tree.node(node).root == self.tree.node(source).root
        {
            return;
        }
        let (to, from) = (self.tree.path(node), self.tree.path(source));
        let last = |path: &Path| path.iter().rposition(|step| matches!(step, Step::Element(_)));
        let (Some(to_at), Some(from_at)) = (last(&to), last(&from)) else { return };
        // Wildcards of the two sides go together in their order.
        let wildcards = |steps: &[Step]| steps.iter().filter(|&&step| step == Step::Any).count();
        if to[to_at] != from[from_at]
            || wildcards(&to[..to_at]) != wildcards(&from[..from_at])
            || self.tree.node(node).ty != self.tree.node(source).ty
        {
            return;
        }
        // The fact of an element: where it is from. The time of the load is before it.
        if !self.is_unchanged(source, time) {
            return;
        }
        self.times.note(&self.tree, node, source);
        let Some((to_array, length)) = self.with_wildcard(node, &to, to_at) else { return };
        let Some((from_array, from_length)) = self.with_wildcard(source, &from, from_at) else { return };
        if length != from_length {
            return;
        }
        if self.arrays.len() <= to_array as usize {
            self.arrays.resize(to_array as usize + 1, Progress::default());
        }
        let array = &mut self.arrays[to_array as usize];
        if array.block != self.block {
            *array = Progress { stored: 0, block: self.block };
        }
        array.stored += 1;
        if array.stored < length {
            return;
        }
        array.stored = 0;
        let (to, from) = (Side { node, path: &to, at: to_at }, Side { node: source, path: &from, at: from_at });
        let is_copy = (0..length).all(|element| self.holds(&to, &from, element));
        if !is_copy || self.copied.get(to_array as usize) == Some(&self.block) {
            return;
        }
        self.note_copied(to_array);
        let mut b = Builder::new(self.body, Cursor::after_inst(self.body, inst));
        let dest = self.tree.build(&mut b, self.variables, to_array);
        let original = self.tree.build(&mut b, self.variables, from_array);
        b.intrinsic(IntrinsicOp::CopyDeref, &[dest, original], &[], None);
        self.progress = true;
    }

    /// This block copies to a whole array.
    fn note_copied(&mut self, to_array: u32) {
        if self.copied.len() <= to_array as usize {
            self.copied.resize(to_array as usize + 1, 0);
        }
        self.copied[to_array as usize] = self.block;
    }

    /// Nothing has written to a place since.
    fn is_unchanged(&self, node: u32, time: u32) -> bool {
        self.tree.node(node).mode.intersects(CONSTANT_MODES) || self.times.last_touch(&self.tree, node, ALL) < time
    }

    /// Whether an element of the copy is what that of the original is.
    fn holds(&self, to: &Side, from: &Side, element: u32) -> bool {
        let find = |side: &Side| {
            let mut id = self.tree.root(self.tree.node(side.node).root)?;
            for (number, &step) in side.path.iter().enumerate() {
                id = self.tree.child(id, if number == side.at { Step::Element(element) } else { step })?;
            }
            Some(id)
        };
        let (Some(dest), Some(original)) = (find(to), find(from)) else { return false };
        self.times.fact(&self.tree, dest).is_some_and(|(time, of)| {
            of == original && self.times.last_touch(&self.tree, dest, ALL) < time && self.is_unchanged(original, time)
        })
    }

    /// The place with a wildcard at one step, and the length of the array there.
    fn with_wildcard(&mut self, node: u32, path: &Path, at: usize) -> Option<(u32, u32)> {
        let root = self.tree.root(self.tree.node(node).root)?;
        let array = self.tree.follow(self.types, root, &path[..at])?;
        let (_, length) = self.types.element(self.tree.node(array).ty)?;
        let mut steps = path.clone();
        steps[at] = Step::Any;
        Some((self.tree.follow(self.types, root, &steps)?, length))
    }
}
