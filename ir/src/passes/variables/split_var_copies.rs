//! Splits copies of structs, arrays and matrices into copies of vectors.
//!
//! ```text
//! before (a, b: struct { vec4 x; float[3] y }):     after:
//!     @copy_deref (&a, &b)                              @copy_deref (&a.x, &b.x)
//!                                                       @copy_deref (&a.y[*], &b.y[*])
//! ```
//!
//! Arrays and matrices get a wildcard on both sides: the size of the code does not depend on lengths. Access flags go
//! along. [`lower_var_copies`](mod@crate::passes::variables::lower_var_copies) makes loads and stores of the result.

use crate::body::{Body, DerefKind, InstData, Shape, SourceSpec};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Inst, Type};
use crate::intrinsics::IntrinsicOp;
use crate::shader::Shader;
use crate::types::{TypeData, TypeTable};

/// See the [module](self).
pub fn split_var_copies(shader: &mut Shader) -> bool {
    let mut progress = false;
    let Shader { functions, types, .. } = shader;
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        for copy in copies(body) {
            progress |= split(body, types, copy);
        }
    }
    progress
}

/// The copies of a body.
pub(crate) fn copies(body: &Body) -> Vec<Inst> {
    if !body.may_have_copies() {
        return Vec::new();
    }
    body.blocks()
        .flat_map(|block| body.insts(block))
        .filter(|&inst| body.intrinsic(inst) == Some(IntrinsicOp::CopyDeref))
        .collect()
}

pub(crate) fn split(body: &mut Body, types: &mut TypeTable, copy: Inst) -> bool {
    let (to, from) = (body.src(copy, 0), body.src(copy, 1));
    let InstData::Intrinsic { indices, .. } = *body.inst(copy) else { return false };
    let (Some(to_type), Some(from_type)) = (body.deref_type(to), body.deref_type(from)) else { return false };
    if !is_composite(types, to_type) {
        return false;
    }
    let mut b = Builder::new(body, Cursor::Before(copy));
    let mut pending = vec![(to, to_type, from, from_type)];
    while let Some((to, to_type, from, from_type)) = pending.pop() {
        // The two types are equal but for names and explicit strides: each side follows its own.
        match (types.get(to_type).clone(), types.get(from_type).clone()) {
            (TypeData::Struct { fields: to_fields, .. }, TypeData::Struct { fields: from_fields, .. }) => {
                let derefs: Vec<_> = to_fields
                    .iter()
                    .zip(&from_fields)
                    .enumerate()
                    .map(|(i, (to_field, from_field))| {
                        let kind = DerefKind::Struct(i as u32);
                        let to = child(&mut b, to, kind, to_field.ty);
                        (to, to_field.ty, child(&mut b, from, kind, from_field.ty), from_field.ty)
                    })
                    .collect();
                pending.extend(derefs.into_iter().rev());
            }
            (TypeData::Array { .. } | TypeData::Matrix { .. }, _) => {
                let (Some((to_element, _)), Some((from_element, _))) =
                    (types.element(to_type), types.element(from_type))
                else {
                    continue;
                };
                let to = child(&mut b, to, DerefKind::ArrayWildcard, to_element);
                let from = child(&mut b, from, DerefKind::ArrayWildcard, from_element);
                pending.push((to, to_element, from, from_element));
            }
            _ => {
                let data = InstData::Intrinsic { op: IntrinsicOp::CopyDeref, num_components: 0, indices };
                b.build(data, &[SourceSpec::plain(to), SourceSpec::plain(from)], None);
            }
        }
    }
    body.remove_inst(copy);
    true
}

fn is_composite(types: &TypeTable, ty: Type) -> bool {
    matches!(types.get(ty), TypeData::Struct { .. } | TypeData::Array { .. } | TypeData::Matrix { .. })
}

/// A deref of a part that needs no index.
pub(crate) fn child(b: &mut Builder<'_>, parent: Def, kind: DerefKind, ty: Type) -> Def {
    let modes = b.body.deref_modes(parent);
    let inst = b.build(InstData::Deref { kind, modes, ty }, &[SourceSpec::plain(parent)], Some(Shape::new(1, 32)));
    b.body.inst_def(inst).unwrap_or(parent)
}
