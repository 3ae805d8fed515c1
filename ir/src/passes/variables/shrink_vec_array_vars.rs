//! Shrinks vectors and arrays of vectors to the parts that are both written and read.
//!
//! ```text
//! before:                                              after:
//!     decl_var  vec4[8] a                                  decl_var  vec2[3] a
//!     @store_deref (&a[2], %x) (wrmask=xz)                 %1 = vec2 %x.x, %x.z
//!                                                          @store_deref (&a[2], %1) (wrmask=xy)
//!     %2 = @load_deref (&a[2])                             %2 = @load_deref (&a[2])
//!     %3 = fadd %2.x, %2.z                                 %3 = fadd %2.x, %2.y
//! ```
//!
//! The pass handles variables of a function that are vectors or arrays of vectors, without initialiser, and are never
//! copied as a whole. A component that is never read is not stored; one that is never written reads as 0, the initial
//! value of variables. An array with constant indices only is cut after the last element that is both read and written:
//! out-of-range loads give 0 and stores have no effect. An array with run-time indices keeps its length, as targets
//! without such a rule must not be made to write elsewhere.
//!
//! Variables in which no component is both written and read are left to
//! [`opt_dead_write_vars`](mod@crate::passes::variables::opt_dead_write_vars), which removes their accesses.
//!
//! Cost: linear in the accesses.

use arrayvec::ArrayVec;
use cranelift_entity::{PrimaryMap, SecondaryMap};

use crate::body::{Body, InstData, Shape, SourceSpec};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Inst, Type, Variable};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::variables::deref_tree::{ArrayStep, DerefTree, Target};
use crate::passes::variables::opt_dead_write_vars::read_components;
use crate::shader::{Shader, ShaderStage};
use crate::types::{ScalarType, TypeData, TypeTable};
use crate::variable::{VariableData, VariableModes};

/// See the [module](self).
pub fn shrink_vec_array_vars(shader: &mut Shader) -> bool {
    let mut progress = false;
    let Shader { functions, types, variables, stage, .. } = shader;
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        progress |= shrink(body, types, variables, *stage);
    }
    progress
}

/// The accessed part of a variable.
#[derive(Clone)]
struct UsedRange {
    scalar: ScalarType,
    components: u8,
    /// The length of an array.
    length: Option<u32>,
    /// One more than the last element read, and the last one written.
    read: u32,
    written: u32,
    read_mask: u32,
    write_mask: u32,
    /// The new types of the variable and of its vectors, once they are known.
    types: Option<(Type, Type)>,
}

impl UsedRange {
    fn of(types: &TypeTable, ty: Type) -> Option<UsedRange> {
        let (length, vector) = match *types.get(ty) {
            TypeData::Array { element, length, .. } => (Some(length), element),
            _ => (None, ty),
        };
        let (scalar, components) = types.as_vector(vector)?;
        let (read, written, read_mask, write_mask) = (0, 0, 0, 0);
        Some(UsedRange { scalar, components, length, read, written, read_mask, write_mask, types: None })
    }

    /// Returns the mask of components to keep.
    fn kept(&self) -> u32 {
        let both = self.read_mask & self.write_mask;
        // Vectors of six or seven components do not exist.
        let exists = matches!(both.count_ones(), 1..=5 | 8 | 16);
        if both == 0 || !exists { (1 << self.components) - 1 } else { both }
    }

    /// Returns whether the vector gets smaller.
    fn is_narrowed(&self) -> bool {
        self.kept().count_ones() != u32::from(self.components)
    }

    /// Determines the new types, if they are smaller.
    fn decide(&mut self, types: &mut TypeTable) {
        // An array without elements would have unknown size.
        let length = self.length.map(|length| length.min(self.read.min(self.written).max(1)));
        let kept = self.kept().count_ones() as u8;
        if kept == self.components && length == self.length {
            return;
        }
        let vector = types.vector(self.scalar, kept);
        self.types = Some((length.map_or(vector, |length| types.array(vector, length)), vector));
    }
}

fn shrink(
    body: &mut Body,
    types: &mut TypeTable,
    variables: &mut PrimaryMap<Variable, VariableData>,
    stage: ShaderStage,
) -> bool {
    if body.locals.is_empty() {
        return false;
    }
    let tree = DerefTree::new(body, types, variables, stage);
    let mut ranges: SecondaryMap<Variable, Option<UsedRange>> = SecondaryMap::new();
    for &variable in &body.locals {
        let data = &variables[variable];
        if data.initializer.is_none() && data.mode == VariableModes::FUNCTION_TEMP && tree.is_followed(variable) {
            ranges[variable] = UsedRange::of(types, data.ty);
        }
    }
    for inst in body.blocks().flat_map(|block| body.insts(block)) {
        note_access(body, &tree, inst, &mut ranges);
    }
    let mut progress = false;
    for &variable in &body.locals {
        let Some(range) = &mut ranges[variable] else { continue };
        range.decide(types);
        match range.types {
            Some((ty, _)) => {
                variables[variable].ty = ty;
                progress = true;
            }
            None => ranges[variable] = None,
        }
    }
    if progress {
        rewrite(body, &tree, &ranges);
    }
    progress
}

fn note_access(body: &Body, tree: &DerefTree, inst: Inst, ranges: &mut SecondaryMap<Variable, Option<UsedRange>>) {
    let op = match body.intrinsic(inst) {
        Some(op @ (IntrinsicOp::LoadDeref | IntrinsicOp::StoreDeref)) => op,
        Some(IntrinsicOp::CopyDeref) => {
            for source in [0, 1] {
                if let Some(root) = tree.root_of(tree.target(body.src(inst, source))) {
                    ranges[root] = None;
                }
            }
            return;
        }
        _ => return,
    };
    let Target::Node(node) = tree.target(body.src(inst, 0)) else { return };
    let Some(range) = &mut ranges[tree.node(node).root] else { return };
    let is_load = op == IntrinsicOp::LoadDeref;
    let mask = match body.inst_def(inst) {
        Some(def) => read_components(body, def),
        None => body.write_mask(inst) & ((1u32 << range.components) - 1),
    };
    if mask == 0 {
        return;
    }
    *(if is_load { &mut range.read_mask } else { &mut range.write_mask }) |= mask;
    match (tree.node(node).step, range.length) {
        (_, None) => {}
        (ArrayStep::Element(element), Some(_)) => {
            let end = if is_load { &mut range.read } else { &mut range.written };
            *end = (*end).max(element + 1);
        }
        // The target may not check bounds of its registers: indices that were in range must stay in range.
        (ArrayStep::Index(_) | ArrayStep::Any, Some(length)) => (range.read, range.written) = (length, length),
    }
}

/// Updates the types of derefs and the shapes of loads and stores.
fn rewrite(body: &mut Body, tree: &DerefTree, ranges: &SecondaryMap<Variable, Option<UsedRange>>) {
    let mut dead: Vec<Inst> = Vec::new();
    for block in body.blocks_vec() {
        for inst in body.insts_vec(block) {
            let target = match *body.inst(inst) {
                InstData::Deref { .. } => body.inst_def(inst).map_or(Target::Unknown, |def| tree.target(def)),
                InstData::Intrinsic { op: IntrinsicOp::LoadDeref | IntrinsicOp::StoreDeref, .. } => {
                    tree.target(body.src(inst, 0))
                }
                _ => continue,
            };
            let Some(range) = tree.root_of(target).and_then(|root| ranges[root].as_ref()) else { continue };
            match (*body.inst(inst), target) {
                (InstData::Deref { kind, modes, .. }, Target::Node(node)) => {
                    let Some((whole, vector)) = range.types else { continue };
                    let ty = if tree.node(node).parent.is_none() { whole } else { vector };
                    body.set_inst(inst, InstData::Deref { kind, modes, ty });
                }
                (InstData::Intrinsic { op: IntrinsicOp::LoadDeref, .. }, Target::OutOfBounds(_)) => {
                    if let Some(def) = body.inst_def(inst) {
                        let shape = body.shape(def);
                        let mut b = Builder::new(body, Cursor::Before(inst));
                        let zero = b.constant(shape.bit_size, &[0; 16][..usize::from(shape.num_components)]);
                        body.replace_all_uses(def, zero);
                    }
                    dead.push(inst);
                }
                (_, Target::OutOfBounds(_)) => dead.push(inst),
                (InstData::Intrinsic { op: IntrinsicOp::LoadDeref, .. }, _) => shrink_load(body, inst, range),
                _ => shrink_store(body, inst, range),
            }
        }
    }
    body.remove_insts(&dead);
}

fn shrink_load(body: &mut Body, load: Inst, range: &UsedRange) {
    let kept = range.kept();
    let Some(def) = body.inst_def(load).filter(|_| range.is_narrowed()) else { return };
    let bits = body.bit_size(def);
    let mut b = Builder::new(body, Cursor::Before(load));
    let InstData::Intrinsic { op, indices, .. } = *b.body.inst(load) else { return };
    let num_components = kept.count_ones() as u8;
    let data = InstData::Intrinsic { op, num_components, indices };
    let deref = SourceSpec::plain(b.body.src(load, 0));
    let narrow = b.build(data, &[deref], Some(Shape::new(num_components, bits)));
    let Some(narrow) = b.body.inst_def(narrow) else { return };
    let zero = b.constant(bits, &[0]);
    let sources: ArrayVec<AluSrc, 16> = (0..range.components)
        .map(|c| match kept >> c & 1 {
            0 => zero.into(),
            _ => AluSrc::component(narrow, (kept & ((1 << c) - 1)).count_ones() as u8),
        })
        .collect();
    let wide = b.vec(&sources);
    body.replace_all_uses(def, wide);
    body.remove_inst(load);
}

fn shrink_store(body: &mut Body, store: Inst, range: &UsedRange) {
    let kept = range.kept();
    if !range.is_narrowed() {
        return;
    }
    let value = body.src(store, 1);
    let InstData::Intrinsic { op, .. } = *body.inst(store) else { return };
    let mask = body.write_mask(store);
    let access = body.index(store, IndexKind::Access);
    let components = (0..range.components).filter(|c| kept >> c & 1 != 0);
    let new_mask = components.clone().enumerate().fold(0, |m, (new, c)| m | (mask >> c & 1) << new);
    if new_mask != 0 {
        let deref = body.src(store, 0);
        let mut b = Builder::new(body, Cursor::Before(store));
        let selectors: ArrayVec<u8, 16> = components.collect();
        let narrow = b.mov(AluSrc::new(value, crate::body::Swizzle::new(&selectors)), selectors.len() as u8);
        let indices = [(IndexKind::WriteMask, new_mask as i32), (IndexKind::Access, access)];
        b.intrinsic(op, &[deref, narrow], &indices, None);
    }
    body.remove_inst(store);
}
