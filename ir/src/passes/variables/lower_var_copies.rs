//! Turns copies between vectors into loads and stores.
//!
//! ```text
//! before:                                  after:
//!     @copy_deref (&a[*].x, &b[*])             %1 = @load_deref (&b[0])
//!                                              @store_deref (&a[0].x, %1) (wrmask=xyzw)
//!                                              ... the same for each element
//! ```
//!
//! Wildcards of the two sides run in step over all elements. Access flags go to the load and the store. Copies of
//! structs, arrays and matrices are left alone: [`split_var_copies`](mod@crate::passes::variables::split_var_copies)
//! goes before.
//!
//! The size of the result is the number of vectors that are copied.

use crate::body::{Body, DerefKind, InstData, Shape, SourceSpec};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::into_ssa::lower_vars_to_ssa::vector_shape;
use crate::passes::variables::split_var_copies::copies;
use crate::shader::Shader;
use crate::types::{TypeData, TypeTable};

/// See the [module](self).
pub fn lower_var_copies(shader: &mut Shader) -> bool {
    let mut progress = false;
    let Shader { functions, types, .. } = shader;
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        for copy in copies(body) {
            progress |= lower(body, types, copy);
        }
    }
    progress
}

pub(crate) fn lower(body: &mut Body, types: &TypeTable, copy: Inst) -> bool {
    let (to, from) = (body.src(copy, 0), body.src(copy, 1));
    let Some(shape) = body.deref_type(to).and_then(|ty| vector_shape(types, ty)) else { return false };
    let (to_path, from_path) = (path(body, to), path(body, from));
    let lengths: Vec<u32> = wildcards(body, types, &to_path);
    if lengths.len() != wildcards(body, types, &from_path).len() {
        return false;
    }
    let to_access = body.index(copy, IndexKind::DstAccess);
    let from_access = body.index(copy, IndexKind::SrcAccess);
    let mask = (1 << shape.num_components) - 1;
    let mut indices = vec![0u32; lengths.len()];
    let mut b = Builder::new(body, Cursor::Before(copy));
    // An array without elements has nothing to copy.
    let mut more = !lengths.contains(&0);
    while more {
        let source = element(&mut b, &from_path, &indices);
        let access = [(IndexKind::Access, from_access)];
        let value = b.intrinsic_def(IntrinsicOp::LoadDeref, &[source], &access, shape);
        let dest = element(&mut b, &to_path, &indices);
        let access = [(IndexKind::WriteMask, mask), (IndexKind::Access, to_access)];
        b.intrinsic(IntrinsicOp::StoreDeref, &[dest, value], &access, None);
        // The next combination, the last wildcard fastest.
        more = false;
        for (index, &length) in indices.iter_mut().zip(&lengths).rev() {
            *index += 1;
            if *index < length {
                more = true;
                break;
            }
            *index = 0;
        }
    }
    body.remove_inst(copy);
    true
}

/// The derefs from the root to a leaf.
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

/// Number of elements of each wildcard of a path.
fn wildcards(body: &Body, types: &TypeTable, path: &[Inst]) -> Vec<u32> {
    path.iter()
        .filter(|&&inst| matches!(body.inst(inst), InstData::Deref { kind: DerefKind::ArrayWildcard, .. }))
        .map(|&inst| match body.deref_type(body.src(inst, 0)).map(|ty| types.get(ty)) {
            Some(&TypeData::Array { length, .. }) => length,
            Some(&TypeData::Matrix { columns, .. }) => u32::from(columns),
            _ => 0,
        })
        .collect()
}

/// The path with its wildcards replaced by indices; nothing is made up to the first wildcard.
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
            // Behind a wildcard the rest of the path is made anew.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::split_var_copies;
    use crate::shader::Stage;
    use crate::types::{Field, ScalarType};
    use crate::variable::VariableModes;

    #[test]
    fn structs_of_arrays() {
        let mut shader = Shader::new(Stage::Compute);
        let vector = shader.types.vector(ScalarType::Float, 4);
        let inner = shader.types.array(vector, 2);
        let outer = shader.types.array(inner, 3);
        let field = |name: &str, ty| Field { name: name.to_string(), ty, offset: -1 };
        let fields = vec![field("x", vector), field("y", outer)];
        let ty = shader.types.intern(TypeData::Struct { name: "s".to_string(), fields, interface: false });
        let main = shader.entry_point().unwrap();
        let (to, from) = (shader.add_local(main, "to", ty), shader.add_local(main, "from", ty));
        let mut b = Builder::at_end(shader.main_mut());
        let to = b.deref_var(to, VariableModes::FUNCTION_TEMP, ty);
        let from = b.deref_var(from, VariableModes::FUNCTION_TEMP, ty);
        b.intrinsic(IntrinsicOp::CopyDeref, &[to, from], &[], None);
        assert!(split_var_copies(&mut shader));
        assert!(!split_var_copies(&mut shader));
        assert_eq!(copies(shader.main()).len(), 2);
        assert!(lower_var_copies(&mut shader));
        assert!(!lower_var_copies(&mut shader));
        let body = shader.main();
        let count = |op| body.insts(body.start_block()).filter(|&i| body.intrinsic(i) == Some(op)).count();
        assert_eq!((count(IntrinsicOp::LoadDeref), count(IntrinsicOp::StoreDeref)), (7, 7));
        assert!(crate::passes::lower_vars_to_ssa(&mut shader));
    }
}
