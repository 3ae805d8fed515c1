//! Adds array copies where arrays are copied element by element.
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
//! The stores are kept: the copy is redundant, but lets
//! [`opt_copy_prop_vars`](mod@crate::passes::variables::opt_copy_prop_vars) load from the original with a run-time
//! index, and [`opt_dead_write_vars`](mod@crate::passes::variables::opt_dead_write_vars) then removes unneeded stores.
//! [`lower_var_copies`](mod@crate::passes::variables::lower_var_copies) turns remaining copies into loads and stores
//! again.
//!
//! The elements may come in any order, within one block; both arrays have the same length. All elements of the original
//! must be unchanged since their loads, and all elements of the copy since their stores. A block that already copies to
//! the whole array is left alone.
//!
//! Cost: linear in the stores: all elements are checked once per as many stores as the array has elements.

use cranelift_entity::{PrimaryMap, SecondaryMap};

use crate::body::{Body, InstData};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Inst, Variable};
use crate::intrinsics::IntrinsicOp;
use crate::passes::variables::deref_tree::{ArrayStep, CONSTANT_MODES, DerefTree, Node, Target};
use crate::passes::variables::memory_versions::{ALL, MemoryVersions};
use crate::shader::{Shader, ShaderStage};
use crate::types::{TypeData, TypeTable};
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

/// Stores to elements of an array.
#[derive(Clone, Copy, Default)]
struct CopyProgress {
    /// Number of elements stored since the last check.
    stored: u32,
    /// The number of the block in the walk to which this applies.
    block: u32,
}

struct Finder<'a> {
    body: &'a mut Body,
    types: &'a TypeTable,
    variables: &'a PrimaryMap<Variable, VariableData>,
    tree: DerefTree,
    versions: MemoryVersions,
    /// For each node with a wildcard.
    arrays: Vec<CopyProgress>,
    /// The version and the block of each load.
    loads: SecondaryMap<Def, (u32, u32)>,
    block: u32,
    /// For each node, the last block with a copy to it.
    copied: Vec<u32>,
    progress: bool,
}

fn find_copies(
    body: &mut Body,
    types: &TypeTable,
    variables: &PrimaryMap<Variable, VariableData>,
    stage: ShaderStage,
) -> bool {
    let tree = DerefTree::new(body, types, variables, stage);
    let has_arrays =
        tree.nodes.iter().any(|n| n.mode == VariableModes::FUNCTION_TEMP && matches!(n.step, ArrayStep::Element(_)));
    if !has_arrays {
        return false;
    }
    let versions = MemoryVersions::new(&tree);
    let loads = SecondaryMap::new();
    let (arrays, copied) = (Vec::new(), Vec::new());
    let mut finder =
        Finder { body, types, variables, tree, versions, arrays, loads, block: 0, copied, progress: false };
    for block in finder.body.blocks_vec() {
        finder.block += 1;
        finder.versions.clobber_everything();
        let insts = finder.body.insts_vec(block);
        for &inst in &insts {
            if finder.body.intrinsic(inst) == Some(IntrinsicOp::CopyDeref)
                && let Target::Node(node) = finder.tree.target(finder.body.src(inst, 0))
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
                    self.loads[def] = (self.versions.advance(), self.block);
                }
            }
            Some(IntrinsicOp::StoreDeref) => {
                let mask = self.body.write_mask(inst);
                if let Target::Node(node) = self.tree.target(self.body.src(inst, 0)) {
                    self.versions.clobber(&self.tree, node, mask);
                    if let Some((source, version)) = self.loaded_from(inst, node, mask) {
                        self.element(inst, node, source, version);
                    }
                }
            }
            Some(IntrinsicOp::CopyDeref) => {
                let (to, from) = (self.body.src(inst, 0), self.body.src(inst, 1));
                if let Target::Node(node) = self.tree.target(to) {
                    self.versions.clobber(&self.tree, node, ALL);
                    if let Target::Node(source) = self.tree.target(from) {
                        let version = self.versions.advance();
                        self.element(inst, node, source, version);
                    }
                }
            }
            // Of the tracked variables, others can change only sources.
            Some(
                IntrinsicOp::EmitVertex
                | IntrinsicOp::EmitVertexWithCounter
                | IntrinsicOp::Barrier
                | IntrinsicOp::StoreOutput
                | IntrinsicOp::StorePerVertexOutput,
            ) => self.versions.clobber_everything(),
            _ if matches!(self.body.inst(inst), InstData::Call { .. }) => self.versions.clobber_everything(),
            _ => {}
        }
    }

    /// Returns the node from which a whole vector was loaded, and the version of the load.
    fn loaded_from(&self, store: Inst, node: u32, mask: u32) -> Option<(u32, u32)> {
        let full = (1u32 << self.tree.node(node).components) - 1;
        let value = self.body.src(store, 1);
        let load = self.body.def_inst(value);
        let (version, block) = self.loads[value];
        if mask & full != full || self.body.intrinsic(load) != Some(IntrinsicOp::LoadDeref) || block != self.block {
            return None;
        }
        match self.tree.target(self.body.src(load, 0)) {
            Target::Node(source) => Some((source, version)),
            _ => None,
        }
    }

    /// Records a copy of an element.
    fn element(&mut self, inst: Inst, node: u32, source: u32, version: u32) {
        if self.tree.node(node).mode != VariableModes::FUNCTION_TEMP
            || self.tree.node(node).root == self.tree.node(source).root
        {
            return;
        }
        let Node { step, parent: Some(to_array), .. } = *self.tree.node(node) else { return };
        let Node { parent: Some(from_array), .. } = *self.tree.node(source) else { return };
        // Both elements have the same index.
        if !matches!(step, ArrayStep::Element(_))
            || self.tree.node(source).step != step
            || self.tree.node(node).ty != self.tree.node(source).ty
        {
            return;
        }
        // The fact of an element is its source. The version of the load precedes it.
        if !self.is_unchanged(source, version) {
            return;
        }
        self.versions.note(&self.tree, node, source);
        let Some((to_all, length)) = self.all_elements(node) else { return };
        let Some((from_all, from_length)) = self.all_elements(source) else { return };
        if length != from_length {
            return;
        }
        if self.arrays.len() <= to_all as usize {
            self.arrays.resize(to_all as usize + 1, CopyProgress::default());
        }
        let array = &mut self.arrays[to_all as usize];
        if array.block != self.block {
            *array = CopyProgress { stored: 0, block: self.block };
        }
        array.stored += 1;
        if array.stored < length {
            return;
        }
        array.stored = 0;
        let is_copy = (0..length).all(|element| self.holds(to_array, from_array, element));
        if !is_copy || self.copied.get(to_all as usize) == Some(&self.block) {
            return;
        }
        self.note_copied(to_all);
        let mut b = Builder::new(self.body, Cursor::after_inst(self.body, inst));
        let dest = self.tree.build(&mut b, self.variables, to_all);
        let original = self.tree.build(&mut b, self.variables, from_all);
        b.intrinsic(IntrinsicOp::CopyDeref, &[dest, original], &[], None);
        self.progress = true;
    }

    /// Records that this block copies to a whole array.
    fn note_copied(&mut self, to_all: u32) {
        if self.copied.len() <= to_all as usize {
            self.copied.resize(to_all as usize + 1, 0);
        }
        self.copied[to_all as usize] = self.block;
    }

    /// Returns whether a node has not been written since a version.
    fn is_unchanged(&self, node: u32, version: u32) -> bool {
        self.tree.node(node).mode.intersects(CONSTANT_MODES)
            || self.versions.last_clobber(&self.tree, node, ALL) < version
    }

    /// Returns whether an element of the copy is equal to that of the original.
    fn holds(&self, to: u32, from: u32, element: u32) -> bool {
        let find = |array| self.tree.child(array, ArrayStep::Element(element));
        let (Some(dest), Some(original)) = (find(to), find(from)) else { return false };
        self.versions.fact(&self.tree, dest).is_some_and(|(version, of)| {
            of == original
                && self.versions.last_clobber(&self.tree, dest, ALL) < version
                && self.is_unchanged(original, version)
        })
    }

    /// Returns the node of all elements of the array that contains an element, and their number.
    fn all_elements(&mut self, element: u32) -> Option<(u32, u32)> {
        let Node { parent, root, .. } = *self.tree.node(element);
        let TypeData::Array { length, .. } = *self.types.get(self.tree.node(parent?).ty) else { return None };
        let mut steps = self.tree.path(element);
        *steps.last_mut()? = ArrayStep::Any;
        Some((self.tree.follow(self.types, root, &steps)?, length))
    }
}
