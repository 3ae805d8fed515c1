//! Lowers copies between vectors to loads and stores.
//!
//! ```text
//! before:                                  after:
//!     @copy_deref (&a[*], &b[*])               %1 = @load_deref (&b[0])
//!                                              @store_deref (&a[0], %1) (wrmask=xyzw)
//!                                              ... the same for each element
//! ```
//!
//! The two wildcards iterate over all elements in step. Access flags move to the load and the store. Copies of anything
//! larger, which TGSI does not contain, are left alone.
//!
//! The size of the result is the number of vectors that are copied.

use crate::body::{Body, DerefKind, InstData, RareInst, Shape, SourceSpec};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::variables::deref_tree::vector_shape;
use crate::shader::Shader;
use crate::types::{TypeData, TypeTable};

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

fn lower(body: &mut Body, types: &TypeTable, copy: Inst) -> bool {
    let (to, from) = (body.src(copy, 0), body.src(copy, 1));
    let Some(shape) = body.deref_type(to).and_then(|ty| vector_shape(types, ty)) else { return false };
    let (to_path, from_path) = (path(body, to), path(body, from));
    let (Some(count), Some(from_count)) = (elements(body, types, &to_path), elements(body, types, &from_path)) else {
        return false;
    };
    if count != from_count {
        return false;
    }
    let to_access = body.index(copy, IndexKind::DstAccess);
    let from_access = body.index(copy, IndexKind::SrcAccess);
    let mask = (1 << shape.num_components) - 1;
    let mut b = Builder::new(body, Cursor::Before(copy));
    for index in 0..count {
        let source = element(&mut b, &from_path, index);
        let access = [(IndexKind::Access, from_access)];
        let value = b.intrinsic_def(IntrinsicOp::LoadDeref, &[source], &access, shape);
        let dest = element(&mut b, &to_path, index);
        let access = [(IndexKind::WriteMask, mask), (IndexKind::Access, to_access)];
        b.intrinsic(IntrinsicOp::StoreDeref, &[dest, value], &access, None);
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

/// Returns the number of vectors that a path refers to, according to its wildcard; `None` if it has several wildcards.
fn elements(body: &Body, types: &TypeTable, path: &[Inst]) -> Option<u32> {
    let is_wildcard = |inst| matches!(body.inst(inst), InstData::Deref { kind: DerefKind::ArrayWildcard, .. });
    let mut wildcards = path.iter().copied().filter(|&inst| is_wildcard(inst));
    let Some(wildcard) = wildcards.next() else { return Some(1) };
    match *types.get(body.deref_type(body.src(wildcard, 0))?) {
        TypeData::Array { length, .. } => wildcards.next().is_none().then_some(length),
        _ => None,
    }
}

/// Emits the path with an index for its wildcard; reuses the derefs above the wildcard.
fn element(b: &mut Builder<'_>, path: &[Inst], index: u32) -> Def {
    let mut current: Option<Def> = None;
    let mut last = None;
    for &inst in path {
        let def = b.body.inst_def(inst);
        let InstData::Deref { kind, modes, ty } = *b.body.inst(inst) else { continue };
        let parent = current.or(last);
        current = match (kind, parent) {
            (DerefKind::ArrayWildcard, Some(parent)) => {
                let index = b.u32_const(index);
                Some(b.deref_array(parent, index, ty))
            }
            // Below the wildcard the rest of the path is cloned.
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
