//! Makes vectors and arrays of vectors as small as what is both written and read of them.
//!
//! ```text
//! before:                                              after:
//!     decl_var  vec4[8][2] a                               decl_var  vec2[3][2] a
//!     @store_deref (&a[2][%i], %x) (wrmask=xz)             %1 = vec2 %x.x, %x.z
//!                                                          @store_deref (&a[2][%i], %1) (wrmask=xy)
//!     %2 = @load_deref (&a[2][0])                          %2 = @load_deref (&a[2][0])
//!     %3 = fadd %2.x, %2.z                                 %3 = fadd %2.x, %2.y
//! ```
//!
//! Variables of a function that are vectors, or arrays (of arrays) of vectors, without initialiser, and of which
//! nothing is copied as a whole. A component that nothing reads is not stored; one that nothing writes reads as 0,
//! which is what variables start with. A level of arrays that only constants index ends behind the last element that is
//! both read and written: beyond the end a load gives 0 and a store does nothing. One that is indexed at run time keeps
//! its length: a target that has no such rule must not be made to write elsewhere.
//!
//! Components stay as they are in variables that are accessed by component, and in those of which nothing is both
//! written and read: [`opt_dead_write_vars`](mod@crate::passes::variables::opt_dead_write_vars) does away with these.
//!
//! Cost: linear in the accesses.

use arrayvec::ArrayVec;
use cranelift_entity::{PrimaryMap, SecondaryMap};

use crate::body::{Body, InstData, Shape, SourceSpec};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Inst, Type, Variable};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::variables::access_times::FIRST_WORD;
use crate::passes::variables::deref_tree::{DerefTree, MAX_PATH, Place, Step};
use crate::passes::variables::opt_dead_write_vars::read_components;
use crate::shader::{Shader, Stage};
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

/// What is accessed of a variable.
#[derive(Clone)]
struct Extent {
    scalar: ScalarType,
    components: u8,
    lengths: ArrayVec<u32, MAX_PATH>,
    /// One more than the last element of each level that is read, and written.
    read: ArrayVec<u32, MAX_PATH>,
    written: ArrayVec<u32, MAX_PATH>,
    read_mask: u32,
    write_mask: u32,
    is_fixed: bool,
    /// The types from the variable to the vector, once it is known what they become.
    types: ArrayVec<Type, { MAX_PATH + 1 }>,
}

impl Extent {
    fn of(types: &TypeTable, mut ty: Type) -> Option<Extent> {
        let mut lengths = ArrayVec::new();
        while let TypeData::Array { element, length, .. } = *types.get(ty) {
            lengths.try_push(length).ok()?;
            ty = element;
        }
        let (scalar, components) = types.as_vector(ty).filter(|(scalar, _)| scalar.bit_size() > 0)?;
        let none: ArrayVec<u32, MAX_PATH> = lengths.iter().map(|_| 0).collect();
        Some(Extent {
            scalar,
            components,
            lengths,
            read: none.clone(),
            written: none,
            read_mask: 0,
            write_mask: 0,
            is_fixed: false,
            types: ArrayVec::new(),
        })
    }

    /// Components that stay.
    fn kept(&self) -> u32 {
        let both = self.read_mask & self.write_mask;
        // There are no vectors of six or seven.
        let exists = matches!(both.count_ones(), 1..=5 | 8 | 16);
        if both == 0 || !exists { (1 << self.components) - 1 } else { both }
    }

    /// Whether the vector gets smaller.
    fn is_narrowed(&self) -> bool {
        self.kept().count_ones() != u32::from(self.components)
    }

    /// Finds the types that it becomes. Whether they are smaller.
    fn decide(&mut self, types: &mut TypeTable) -> bool {
        let lengths: ArrayVec<u32, MAX_PATH> = self
            .lengths
            .iter()
            .zip(self.read.iter().zip(&self.written))
            // An array without elements would be one without a known size.
            .map(|(&length, (&read, &written))| length.min(read.min(written).max(1)))
            .collect();
        let kept = self.kept().count_ones() as u8;
        if kept == self.components && lengths == self.lengths {
            return false;
        }
        let mut ty = types.vector(self.scalar, kept);
        self.types.push(ty);
        for &length in lengths.iter().rev() {
            ty = types.array(ty, length);
            self.types.push(ty);
        }
        self.types.reverse();
        true
    }
}

fn shrink(
    body: &mut Body,
    types: &mut TypeTable,
    variables: &mut PrimaryMap<Variable, VariableData>,
    stage: Stage,
) -> bool {
    if body.locals.is_empty() {
        return false;
    }
    let tree = DerefTree::new(body, types, variables, stage, FIRST_WORD);
    let mut extents: SecondaryMap<Variable, Option<Extent>> = SecondaryMap::new();
    for &variable in &body.locals {
        let data = &variables[variable];
        if data.initializer.is_none() && data.mode == VariableModes::FUNCTION_TEMP && tree.is_followed(variable) {
            extents[variable] = Extent::of(types, data.ty);
        }
    }
    for inst in body.blocks().flat_map(|block| body.insts(block)) {
        note_access(body, &tree, inst, &mut extents);
    }
    let mut progress = false;
    for &variable in &body.locals {
        let Some(extent) = &mut extents[variable] else { continue };
        if extent.is_fixed || !extent.decide(types) {
            extents[variable] = None;
            continue;
        }
        variables[variable].ty = extent.types[0];
        progress = true;
    }
    if progress {
        rewrite(body, &tree, &extents);
    }
    progress
}

fn note_access(body: &Body, tree: &DerefTree, inst: Inst, extents: &mut SecondaryMap<Variable, Option<Extent>>) {
    let op = match body.intrinsic(inst) {
        Some(op @ (IntrinsicOp::LoadDeref | IntrinsicOp::StoreDeref)) => op,
        Some(IntrinsicOp::CopyDeref) => {
            for source in [0, 1] {
                if let Some(root) = root(tree, tree.place(body.src(inst, source))) {
                    extents[root] = None;
                }
            }
            return;
        }
        _ => return,
    };
    let place = tree.place(body.src(inst, 0));
    let (Place::Node(node) | Place::Component(node, _)) = place else { return };
    let Some(extent) = &mut extents[tree.node(node).root] else { return };
    let full = (1u32 << extent.components) - 1;
    let mut mask = match (op, body.inst_def(inst)) {
        (IntrinsicOp::LoadDeref, Some(def)) => read_components(body, def),
        _ => body.index(inst, IndexKind::WriteMask) as u32 & full,
    };
    if mask == 0 {
        return;
    }
    if matches!(place, Place::Component(..)) {
        (extent.read_mask, extent.write_mask) = (full, full);
        mask = full;
    }
    let is_load = op == IntrinsicOp::LoadDeref;
    *(if is_load { &mut extent.read_mask } else { &mut extent.write_mask }) |= mask;
    for (level, step) in tree.path(node).into_iter().enumerate() {
        match step {
            Step::Element(element) => {
                let end = if is_load { &mut extent.read[level] } else { &mut extent.written[level] };
                *end = (*end).max(element + 1);
            }
            // Registers of a target need not be guarded: what was inside of the array must stay so.
            _ => (extent.read[level], extent.written[level]) = (extent.lengths[level], extent.lengths[level]),
        }
    }
}

fn root(tree: &DerefTree, place: Place) -> Option<Variable> {
    match place {
        Place::Node(node) | Place::Component(node, _) => Some(tree.node(node).root),
        Place::Outside(root) => Some(root),
        Place::Unknown => None,
    }
}

/// Gives derefs their new types, loads and stores their new shapes.
fn rewrite(body: &mut Body, tree: &DerefTree, extents: &SecondaryMap<Variable, Option<Extent>>) {
    let mut dead: Vec<Inst> = Vec::new();
    for block in body.blocks_vec() {
        for inst in body.insts_vec(block) {
            let place = match *body.inst(inst) {
                InstData::Deref { .. } => body.inst_def(inst).map_or(Place::Unknown, |def| tree.place(def)),
                InstData::Intrinsic { op: IntrinsicOp::LoadDeref | IntrinsicOp::StoreDeref, .. } => {
                    tree.place(body.src(inst, 0))
                }
                _ => continue,
            };
            let Some(extent) = root(tree, place).and_then(|root| extents[root].as_ref()) else { continue };
            match (*body.inst(inst), place) {
                (InstData::Deref { kind, modes, .. }, Place::Node(node)) => {
                    let Some(&ty) = extent.types.get(tree.path_len(tree.node(node))) else { continue };
                    body.set_inst(inst, InstData::Deref { kind, modes, ty });
                }
                // The vector is as it was.
                (_, Place::Component(..)) if !extent.is_narrowed() => {}
                // Components of one that is not: nothing is read or written through them, or the vector would have been
                // kept.
                (InstData::Intrinsic { op: IntrinsicOp::LoadDeref, .. }, Place::Outside(_) | Place::Component(..)) => {
                    if let Some(def) = body.inst_def(inst) {
                        let shape = body.shape(def);
                        let mut b = Builder::new(body, Cursor::Before(inst));
                        let zero = b.constant(shape.bit_size, &[0; 16][..usize::from(shape.num_components)]);
                        body.replace_all_uses(def, zero);
                    }
                    dead.push(inst);
                }
                (_, Place::Outside(_) | Place::Component(..)) => dead.push(inst),
                (InstData::Intrinsic { op: IntrinsicOp::LoadDeref, .. }, _) => shrink_load(body, inst, extent),
                _ => shrink_store(body, inst, extent),
            }
        }
    }
    body.remove_insts(&dead);
}

fn shrink_load(body: &mut Body, load: Inst, extent: &Extent) {
    let kept = extent.kept();
    let Some(def) = body.inst_def(load).filter(|_| extent.is_narrowed()) else { return };
    let bits = body.bit_size(def);
    let mut b = Builder::new(body, Cursor::Before(load));
    let InstData::Intrinsic { op, indices, .. } = *b.body.inst(load) else { return };
    let num_components = kept.count_ones() as u8;
    let data = InstData::Intrinsic { op, num_components, indices };
    let deref = SourceSpec::plain(b.body.src(load, 0));
    let narrow = b.build(data, &[deref], Some(Shape::new(num_components, bits)));
    let Some(narrow) = b.body.inst_def(narrow) else { return };
    let zero = b.constant(bits, &[0]);
    let sources: ArrayVec<AluSrc, 16> = (0..extent.components)
        .map(|c| match kept >> c & 1 {
            0 => zero.into(),
            _ => AluSrc::component(narrow, (kept & ((1 << c) - 1)).count_ones() as u8),
        })
        .collect();
    let wide = b.vec(&sources);
    body.replace_all_uses(def, wide);
    body.remove_inst(load);
}

fn shrink_store(body: &mut Body, store: Inst, extent: &Extent) {
    let kept = extent.kept();
    if !extent.is_narrowed() {
        return;
    }
    let value = body.src(store, 1);
    let InstData::Intrinsic { op, .. } = *body.inst(store) else { return };
    let mask = body.index(store, IndexKind::WriteMask) as u32;
    let access = body.index(store, IndexKind::Access);
    let components = (0..extent.components).filter(|c| kept >> c & 1 != 0);
    let new_mask = components.clone().enumerate().fold(0, |m, (place, c)| m | (mask >> c & 1) << place);
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
