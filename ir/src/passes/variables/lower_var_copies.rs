//! Lowers copies of variables, whole or in part, to loads and stores of their vectors.
//!
//! ```text
//! before:                                  after:
//!     @copy_deref (&a[*], &b[*])               %1 = @load_deref (&b[0])
//!                                              @store_deref (&a[0], %1) (wrmask=xyzw)
//!                                              ... the same for each element
//! ```
//!
//! The wildcards of both sides iterate over all elements in step. A struct is copied by fields, an array by elements, a
//! matrix by columns; the layouts of both sides may differ. Access flags move to the loads and stores. If wildcards may
//! refer to the same elements on both sides, everything is loaded before the first store.
//!
//! Copies of more than [`MAX_VECTORS`] vectors and of types that are not data are left alone.
//!
//! The size of the result is the number of vectors that are copied.

use hashbrown::HashSet;

use crate::body::{Body, DerefKind, InstData, RareInst, Shape, SourceSpec};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Inst, Type};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::variables::deref_tree::vector_shape;
use crate::shader::Shader;
use crate::types::{TypeData, TypeTable};

/// Maximum number of vectors of a copy. Larger arrays do not fit the registers of any target.
pub const MAX_VECTORS: u32 = 1 << 16;

/// See the [module](self).
pub fn lower_var_copies(shader: &mut Shader) -> bool {
    let mut progress = false;
    let Shader { functions, types, .. } = shader;
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        if body.may_have(RareInst::Copy) {
            let insts = body.blocks().flat_map(|block| body.insts(block));
            let copies = insts.filter(|&inst| body.intrinsic(inst) == Some(IntrinsicOp::CopyDeref));
            let mut is_copy_left = false;
            for copy in copies.collect::<Vec<Inst>>() {
                let is_lowered = lower(body, types, copy);
                progress |= is_lowered;
                is_copy_left |= !is_lowered;
            }
            if !is_copy_left {
                body.set_has_none(RareInst::Copy);
            }
        }
    }
    progress
}

fn lower(body: &mut Body, types: &mut TypeTable, copy: Inst) -> bool {
    let (to, from) = (body.src(copy, 0), body.src(copy, 1));
    let (Some(to_type), Some(from_type)) = (body.deref_type(to), body.deref_type(from)) else { return false };
    let (to_path, from_path) = (path(body, to), path(body, from));
    let (Some(counts), Some(from_counts)) = (wildcards(body, types, &to_path), wildcards(body, types, &from_path))
    else {
        return false;
    };
    let copies = counts.iter().fold(1u32, |product, &count| product.saturating_mul(count));
    // Every vector takes a slot.
    let fits = copies.saturating_mul(types.slots(to_type)) <= MAX_VECTORS;
    if counts != from_counts || !fits || !is_data(types, to_type) || !is_data(types, from_type) {
        return false;
    }
    let mut emission = Emission {
        dst_access: body.index(copy, IndexKind::DstAccess),
        src_access: body.index(copy, IndexKind::SrcAccess),
        // Equal elements of both sides are the same memory.
        waiting: (!counts.is_empty() && may_overlap(body, &to_path, &from_path)).then(Vec::new),
        b: Builder::new(body, Cursor::Before(copy)),
        types,
    };
    let mut indices = vec![0u32; counts.len()];
    for _ in 0..copies {
        emission.copy(&to_path, &from_path, &indices);
        for (index, &count) in indices.iter_mut().zip(&counts).rev() {
            *index += 1;
            if *index < count {
                break;
            }
            *index = 0;
        }
    }
    for (dest, value) in emission.waiting.take().into_iter().flatten() {
        emission.store(dest, value);
    }
    body.remove_inst(copy);
    true
}

/// Returns the derefs from the root to a leaf.
fn path(body: &Body, leaf: Def) -> Vec<Inst> {
    let mut path = Vec::new();
    let mut inst = body.def_inst(leaf);
    while let InstData::Deref { kind, .. } = body.inst(inst) {
        path.push(inst);
        if matches!(kind, DerefKind::Var(_) | DerefKind::Cast { .. }) {
            break;
        }
        inst = body.def_inst(body.src(inst, 0));
    }
    path.reverse();
    path
}

/// Returns the number of elements of each wildcard of a path; `None` if one is unknown.
fn wildcards(body: &Body, types: &mut TypeTable, path: &[Inst]) -> Option<Vec<u32>> {
    let is_wildcard = |&inst: &Inst| matches!(body.inst(inst), InstData::Deref { kind: DerefKind::ArrayWildcard, .. });
    let lengths = path.iter().copied().filter(is_wildcard).map(|inst| {
        let parent = body.deref_type(body.src(inst, 0))?;
        types.element(parent).map(|(_, length)| length)
    });
    lengths.collect()
}

/// Returns whether two paths with wildcards may lead to the same memory by different indices.
fn may_overlap(body: &Body, to: &[Inst], from: &[Inst]) -> bool {
    let root = |path: &[Inst]| match path.first().map(|&inst| body.inst(inst)) {
        Some(&InstData::Deref { kind: DerefKind::Var(variable), .. }) => Some(variable),
        _ => None,
    };
    match (root(to), root(from)) {
        (Some(to), Some(from)) => to == from,
        _ => true,
    }
}

/// Returns whether a type consists of numbers and booleans only, and has a size.
pub(crate) fn is_data(types: &TypeTable, ty: Type) -> bool {
    let mut seen = HashSet::new();
    let mut pending = vec![ty];
    while let Some(ty) = pending.pop() {
        match types.get(ty) {
            _ if !seen.insert(ty) => {}
            TypeData::Vector { scalar, .. } | TypeData::Matrix { scalar, .. } if scalar.bit_size() > 0 => {}
            TypeData::Array { length: 0, .. } => return false,
            TypeData::Array { element, .. } => pending.push(*element),
            TypeData::Struct { fields, .. } => pending.extend(fields.iter().map(|field| field.ty)),
            _ => return false,
        }
    }
    true
}

/// A step from a value to a part of it.
#[derive(Clone, Copy)]
enum Step {
    Element(u32),
    Field(u32),
}

/// The state of the emission of a copy.
struct Emission<'a, 'b> {
    b: Builder<'a>,
    types: &'b mut TypeTable,
    dst_access: i32,
    src_access: i32,
    /// Loaded values and where they are stored later.
    waiting: Option<Vec<(Def, Def)>>,
}

impl Emission<'_, '_> {
    /// Copies the value that the paths lead to, with these indices for the wildcards.
    fn copy(&mut self, to: &[Inst], from: &[Inst], indices: &[u32]) {
        let body = &*self.b.body;
        let end = |path: &[Inst]| path.last().and_then(|&inst| body.deref_type(body.inst_def(inst)?));
        let (Some(to_type), Some(from_type)) = (end(to), end(from)) else { return };
        if let Some(shape) = vector_shape(self.types, to_type) {
            let source = element(&mut self.b, from, indices);
            let value = self.load(source, shape);
            let dest = element(&mut self.b, to, indices);
            return self.store_or_wait(dest, value);
        }
        let (source, dest) = (element(&mut self.b, from, indices), element(&mut self.b, to, indices));
        // Parts in reverse order: parent derefs and types of both sides, and the step.
        let mut pending: Vec<(Def, Def, Type, Type, Step)> = Vec::new();
        self.push_parts(&mut pending, dest, source, to_type, from_type);
        while let Some((dest, source, to_type, from_type, step)) = pending.pop() {
            let (Some(to_part), Some(from_part)) = (self.part(to_type, step), self.part(from_type, step)) else {
                continue;
            };
            // Empty structs may be arbitrarily many.
            if self.types.slots(to_part) == 0 {
                continue;
            }
            let source = self.deref(source, step, from_part);
            if let Some(shape) = vector_shape(self.types, to_part) {
                let value = self.load(source, shape);
                let dest = self.deref(dest, step, to_part);
                self.store_or_wait(dest, value);
            } else {
                let dest = self.deref(dest, step, to_part);
                self.push_parts(&mut pending, dest, source, to_part, from_part);
            }
        }
    }

    fn push_parts(
        &mut self,
        pending: &mut Vec<(Def, Def, Type, Type, Step)>,
        dest: Def,
        source: Def,
        to_type: Type,
        from_type: Type,
    ) {
        if self.types.slots(to_type) == 0 {
            return;
        }
        if let TypeData::Struct { fields, .. } = self.types.get(to_type) {
            let fields = (0..fields.len() as u32).rev().map(Step::Field);
            pending.extend(fields.map(|step| (dest, source, to_type, from_type, step)));
        } else if let Some((_, length)) = self.types.element(to_type) {
            let elements = (0..length).rev().map(Step::Element);
            pending.extend(elements.map(|step| (dest, source, to_type, from_type, step)));
        }
    }

    /// The type of a part.
    fn part(&mut self, ty: Type, step: Step) -> Option<Type> {
        match step {
            Step::Field(number) => match self.types.get(ty) {
                TypeData::Struct { fields, .. } => fields.get(number as usize).map(|field| field.ty),
                _ => None,
            },
            Step::Element(_) => self.types.element(ty).map(|(element, _)| element),
        }
    }

    fn deref(&mut self, parent: Def, step: Step, ty: Type) -> Def {
        match step {
            Step::Element(index) => {
                let index = self.b.u32_const(index);
                self.b.deref_array(parent, index, ty)
            }
            Step::Field(number) => self.b.deref_struct(parent, number, ty),
        }
    }

    fn load(&mut self, source: Def, shape: Shape) -> Def {
        let access = [(IndexKind::Access, self.src_access)];
        self.b.intrinsic_def(IntrinsicOp::LoadDeref, &[source], &access, shape)
    }

    fn store_or_wait(&mut self, dest: Def, value: Def) {
        match &mut self.waiting {
            Some(waiting) => waiting.push((dest, value)),
            None => self.store(dest, value),
        }
    }

    fn store(&mut self, dest: Def, value: Def) {
        let mask = (1 << self.b.body.num_components(value)) - 1;
        let indices = [(IndexKind::WriteMask, mask), (IndexKind::Access, self.dst_access)];
        self.b.intrinsic(IntrinsicOp::StoreDeref, &[dest, value], &indices, None);
    }
}

/// Emits the path with indices for its wildcards; reuses the derefs above the first one.
fn element(b: &mut Builder<'_>, path: &[Inst], indices: &[u32]) -> Def {
    let mut indices = indices.iter();
    let mut current: Option<Def> = None;
    let mut last = None;
    for &inst in path {
        let def = b.body.inst_def(inst);
        let InstData::Deref { kind, modes, ty } = *b.body.inst(inst) else { continue };
        let parent = current.or(last);
        current = match (kind, parent) {
            (DerefKind::ArrayWildcard, Some(parent)) => {
                let index = b.u32_const(indices.next().copied().unwrap_or(0));
                Some(b.deref_array(parent, index, ty))
            }
            // Below a wildcard the rest of the path is cloned.
            (_, Some(_)) if current.is_some() => {
                let parent = current.unwrap_or(Def::from_u32(0));
                let mut sources: Vec<SourceSpec> =
                    b.body.sources(inst).map(|s| SourceSpec::plain(b.body.src_def(s))).collect();
                sources[0] = SourceSpec::plain(parent);
                let new = b.build(InstData::Deref { kind, modes, ty }, &sources, Some(Shape::new(1, 32)));
                b.body.inst_def(new)
            }
            _ => None,
        };
        last = def;
    }
    current.or(last).unwrap_or(Def::from_u32(0))
}
