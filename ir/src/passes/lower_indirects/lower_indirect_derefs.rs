//! Turns loads and stores with a run-time array index into a balanced tree of `if`s over loads and stores with constant
//! indices.
//!
//! ```text
//! 32   %2 = deref_array &(*%1)[%i]            1  %4 = ilt %i, %n
//! 32x4 %3 = @load_deref (%2)                  if %4 {
//!                                                 ... elements below n
//!                                    =>       } else {
//!                                                 ... the others
//!                                             }
//!                                             32x4 %9 = phi b1: %7, b2: %8
//! ```
//!
//! This is for targets that cannot address a kind of variable by a register. An out-of-range read gives zero, and an
//! out-of-range write is dropped. An access with several such indices becomes a tree of trees. Matrices are arrays of
//! columns, and vectors are arrays of components where derefs index them.
//!
//! The tree is as large as the array is long. Arrays longer than a maximum are left alone, and so is a shader that
//! would get more than [`MAX_LEAVES`] accesses. The derefs with run-time indices become dead.

use std::ops::RangeInclusive;

use arrayvec::ArrayVec;

use crate::body::{Body, DerefKind, InstData, Shape, SourceSpec};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Inst, Type};
use crate::passes::lower_indirects::index_tree::{index_tree, wide_index, zero};
use crate::shader::Shader;
use crate::types::{TypeData, TypeTable};
use crate::variable::VariableModes;

/// Maximum number of direct accesses that replace the indirect ones of a shader; enough for thirty accesses to the
/// largest constant buffer. If more are needed, all accesses stay indirect.
pub const MAX_LEAVES: u64 = 1 << 17;

/// Maximum number of derefs to follow.
const MAX_PATH: usize = 16;

/// Lowers accesses to variables of the given modes through arrays of at most `max_length` elements. Returns whether
/// anything changed.
pub fn lower_indirect_derefs(shader: &mut Shader, modes: VariableModes, max_length: u32) -> bool {
    lower_some_indirect_derefs(shader, modes, max_length, &|_, _, _| true)
}

/// Like [`lower_indirect_derefs`], but lowers only the run-time indices of the array derefs that `is_lowered` accepts.
pub(crate) fn lower_some_indirect_derefs(
    shader: &mut Shader,
    modes: VariableModes,
    max_length: u32,
    is_lowered: &dyn Fn(&TypeTable, &Body, Inst) -> bool,
) -> bool {
    if modes == VariableModes::NONE {
        return false;
    }
    let Shader { functions, types, .. } = shader;
    let path = |body: &Body, inst: Inst| {
        body.intrinsic(inst).filter(|&op| op.is_deref_access())?;
        let is_lowered = |body: &Body, deref: Inst| is_lowered(types, body, deref);
        let modes_fit = body.deref_modes(body.src(inst, 0)).intersects(modes);
        modes_fit.then(|| DerefPath::of(body, types, inst, max_length, &is_lowered))?
    };
    let bodies = functions.values().filter_map(|f| f.body.as_ref());
    let insts = bodies.flat_map(|body| body.blocks().flat_map(|b| body.insts(b)).map(move |inst| (body, inst)));
    let mut paths = insts.filter_map(|(body, inst)| path(body, inst)).peekable();
    if paths.peek().is_none() {
        return false;
    }
    let leaves = paths.fold(0u64, |n, p| n.saturating_add(p.num_leaves()));
    if leaves > MAX_LEAVES {
        return false;
    }
    let mut progress = false;
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        // Each access splits its block. From the last to the first, the code after a split contains no more accesses to
        // lower, so it is moved only once.
        for block in body.blocks_vec().into_iter().rev() {
            for inst in body.insts_vec(block).into_iter().rev() {
                if let Some(path) = path(body, inst) {
                    path.lower(body, inst);
                    progress = true;
                }
            }
        }
    }
    progress
}

/// Returns the number of elements of a type that an array deref indexes.
fn length(types: &TypeTable, ty: Type) -> Option<u32> {
    match *types.get(ty) {
        TypeData::Array { length, .. } => Some(length).filter(|&n| n > 0),
        TypeData::Matrix { columns, .. } => Some(u32::from(columns)),
        TypeData::Vector { components, .. } => Some(u32::from(components)),
        _ => None,
    }
}

/// A deref on the path from the variable to the vector.
#[derive(Clone, Copy)]
struct PathDeref {
    deref: Inst,
    kind: DerefKind,
    ty: Type,
    /// A run-time index, and the number of elements that it selects from.
    dynamic: Option<(Def, u32)>,
}

/// The derefs of an access with a run-time index.
struct DerefPath {
    root: Inst,
    steps: ArrayVec<PathDeref, MAX_PATH>,
}

impl DerefPath {
    /// Returns the path of an access; `None` if there is nothing to lower or it cannot be lowered.
    fn of(
        body: &Body,
        types: &TypeTable,
        access: Inst,
        max_length: u32,
        is_lowered: &dyn Fn(&Body, Inst) -> bool,
    ) -> Option<DerefPath> {
        let mut steps = ArrayVec::new();
        let mut root = body.def_inst(body.src(access, 0));
        let mut any = false;
        while let InstData::Deref { kind: kind @ (DerefKind::Array | DerefKind::Struct(_)), ty, .. } = *body.inst(root)
        {
            let parent = body.src(root, 0);
            let index = (matches!(kind, DerefKind::Array) && is_lowered(body, root)).then(|| body.src(root, 1));
            let dynamic = match index.filter(|&i| body.constant_component(i, 0).is_none()) {
                Some(index) => {
                    let length =
                        body.deref_type(parent).and_then(|ty| length(types, ty)).filter(|&n| n <= max_length)?;
                    Some((index, length))
                }
                None => None,
            };
            any |= dynamic.is_some();
            steps.try_push(PathDeref { deref: root, kind, ty, dynamic }).ok()?;
            root = body.def_inst(parent);
        }
        steps.reverse();
        let is_root = matches!(body.inst(root), InstData::Deref { .. });
        (any && is_root).then_some(DerefPath { root, steps })
    }

    /// Returns the number of direct accesses needed.
    fn num_leaves(&self) -> u64 {
        self.steps.iter().filter_map(|s| s.dynamic).fold(1, |n, (_, length)| n.saturating_mul(u64::from(length)))
    }

    fn lower(&self, body: &mut Body, access: Inst) {
        let result = body.inst_def(access);
        let shape = result.map(|def| body.shape(def));
        let mut b = Builder::new(body, Cursor::Before(access));
        let mut chosen: ArrayVec<u32, MAX_PATH> = ArrayVec::new();
        let value = self.tree(&mut b, access, shape, &mut chosen);
        if let (Some(result), Some(value)) = (result, value) {
            body.replace_all_uses(result, value);
        }
        body.remove_inst(access);
    }

    /// Emits the tree for the next run-time index. Recursion depth is the number of such indices.
    fn tree(
        &self,
        b: &mut Builder<'_>,
        access: Inst,
        shape: Option<Shape>,
        chosen: &mut ArrayVec<u32, MAX_PATH>,
    ) -> Option<Def> {
        let Some((index, length)) = self.steps.iter().filter_map(|s| s.dynamic).nth(chosen.len()) else {
            return self.leaf(b, access, shape, chosen);
        };
        let candidates: RangeInclusive<i64> = 0..=i64::from(length) - 1;
        let index = wide_index(b, index);
        index_tree(b, index, 1, candidates, &mut |b, element| match element {
            Some(element) => {
                chosen.push(element as u32);
                let value = self.tree(b, access, shape, chosen);
                chosen.pop();
                value
            }
            None => shape.map(|shape| zero(b, shape)),
        })
    }

    /// Emits the access to the chosen elements.
    fn leaf(&self, b: &mut Builder<'_>, access: Inst, shape: Option<Shape>, chosen: &[u32]) -> Option<Def> {
        let mut chosen = chosen.iter().copied();
        // Derefs are emitted where they are used.
        let mut parent = match *b.body.inst(self.root) {
            InstData::Deref { kind: DerefKind::Var(variable), modes, ty } => b.deref_var(variable, modes, ty),
            _ => b.body.inst_def(self.root)?,
        };
        for step in &self.steps {
            parent = match (step.kind, step.dynamic) {
                (DerefKind::Array, Some(_)) => {
                    let index = b.u32_const(chosen.next().unwrap_or_default());
                    b.deref_array(parent, index, step.ty)
                }
                (DerefKind::Array, None) => {
                    let index = b.body.src(step.deref, 1);
                    b.deref_array(parent, index, step.ty)
                }
                (kind, _) => {
                    let modes = b.body.deref_modes(parent);
                    let data = InstData::Deref { kind, modes, ty: step.ty };
                    let inst = b.build(data, &[SourceSpec::plain(parent)], Some(Shape::new(1, 32)));
                    b.body.inst_def(inst)?
                }
            };
        }
        let access = copy_access(b, access, shape, |number, def| if number == 0 { parent } else { def });
        b.body.inst_def(access)
    }
}

/// Copies an intrinsic to the cursor, with each source mapped by `source`.
pub(crate) fn copy_access(
    b: &mut Builder<'_>,
    access: Inst,
    shape: Option<Shape>,
    source: impl Fn(usize, Def) -> Def,
) -> Inst {
    let sources: ArrayVec<SourceSpec, 16> = b
        .body
        .sources(access)
        .take(16)
        .enumerate()
        .map(|(number, s)| SourceSpec::plain(source(number, b.body.src_def(s))))
        .collect();
    let data = *b.body.inst(access);
    b.build(data, &sources, shape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intrinsics::IntrinsicOp;
    use crate::run::run;
    use crate::shader::ShaderStage;
    use crate::types::{Field, ScalarType};
    use crate::variable::VariableData;
    use tgsi_environment::{AnalyticResources, Inputs, RunLimits};

    const OUT: VariableModes = VariableModes::SHADER_OUT;
    const TEMP: VariableModes = VariableModes::FUNCTION_TEMP;

    /// Builds a compute-like vertex shader that writes `stored` to `t[i].y[j]` of 2 x 3 floats. Its two outputs are the
    /// sum of all six elements, each multiplied by a power of ten, and the value of `t[k].y[l]`.
    fn shader(write: [i32; 2], read: [i32; 2]) -> Shader {
        let mut shader = Shader::new(ShaderStage::Vertex);
        let float = shader.types.vector(ScalarType::Float, 1);
        let inner = shader.types.array(float, 3);
        let field = |name: &str, ty| Field { name: name.into(), ty, offset: -1 };
        let fields = vec![field("x", float), field("y", inner)];
        let item = shader.types.intern(TypeData::Struct { name: "s".into(), fields, interface: false });
        let outer = shader.types.array(item, 2);
        let main = shader.entry_point().unwrap();
        let variable = shader.add_local(main, "t", outer);
        let outs: Vec<_> = (0..2)
            .map(|n| {
                let mut data = VariableData::new(format!("out_{n}"), float, OUT);
                data.driver_location = n;
                shader.add_variable(data)
            })
            .collect();
        let mut b = Builder::at_end(shader.main_mut());
        let id = b.intrinsic_def(IntrinsicOp::LoadVertexId, &[], &[], Shape::new(1, 32));
        let element = |b: &mut Builder<'_>, at: [Def; 2]| {
            let root = b.deref_var(variable, TEMP, outer);
            let item = b.deref_array(root, at[0], item);
            let data = InstData::Deref { kind: DerefKind::Struct(1), modes: TEMP, ty: inner };
            let field = b.build(data, &[SourceSpec::plain(item)], Some(Shape::new(1, 32)));
            let field = b.body.inst_def(field).unwrap();
            b.deref_array(field, at[1], float)
        };
        let scalar = Shape::new(1, 32);
        for i in 0..2 {
            for j in 0..3 {
                let at = [b.u32_const(i), b.u32_const(j)];
                let deref = element(&mut b, at);
                let value = b.f32_const((1 + 3 * i + j) as f32);
                b.store_deref(deref, value, 1);
            }
        }
        // The vertex number is 0 in the runs below, which the passes cannot determine.
        let unknown = |b: &mut Builder<'_>, at: [i32; 2]| {
            at.map(|n| {
                let n = b.i32_const(n);
                b.alu(crate::alu::AluOp::Iadd, &[id, n])
            })
        };
        let at = unknown(&mut b, write);
        let deref = element(&mut b, at);
        let nine = b.f32_const(9.0);
        b.store_deref(deref, nine, 1);
        let at = unknown(&mut b, read);
        let deref = element(&mut b, at);
        let found = b.load_deref(deref, scalar);
        let mut sum = b.f32_const(0.0);
        for i in 0..2 {
            for j in 0..3 {
                let at = [b.u32_const(i), b.u32_const(j)];
                let deref = element(&mut b, at);
                let value = b.load_deref(deref, scalar);
                let ten = b.f32_const(10.0);
                sum = b.alu(crate::alu::AluOp::Fmul, &[sum, ten]);
                sum = b.alu(crate::alu::AluOp::Fadd, &[sum, value]);
            }
        }
        for (variable, value) in outs.into_iter().zip([sum, found]) {
            let deref = b.deref_var(variable, OUT, float);
            b.store_deref(deref, value, 1);
        }
        shader
    }

    fn indirect(shader: &Shader) -> usize {
        let body = shader.main();
        let is_indirect = |&inst: &Inst| {
            body.intrinsic(inst).is_some_and(|op| op.is_deref_access())
                && DerefPath::of(body, &shader.types, inst, u32::MAX, &|_, _| true).is_some()
        };
        body.blocks().flat_map(|b| body.insts(b)).filter(is_indirect).count()
    }

    fn outputs(shader: &Shader) -> [f32; 2] {
        let inputs = Inputs { lanes: 1, ..Inputs::default() };
        let outputs = run(shader, &inputs, &mut AnalyticResources::default(), RunLimits::default()).unwrap();
        [0, 1].map(|register| f32::from_bits(outputs.outputs.get(register, 0, 0)))
    }

    #[test]
    fn elements_of_arrays_in_structs_in_arrays() {
        let inside = [[0, 0], [1, 2], [0, 2], [1, 1]];
        let outside = [[0, 3], [2, 0], [-1, 0], [1, -1], [i32::MAX, i32::MIN], [0, 1000]];
        for write in inside.into_iter().chain(outside) {
            for read in inside.into_iter().chain(outside) {
                let mut shader = shader(write, read);
                let is_inside = |[i, j]: [i32; 2]| (0..2).contains(&i) && (0..3).contains(&j);
                let mut table = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
                if is_inside(write) {
                    table[(3 * write[0] + write[1]) as usize] = 9.0;
                }
                let sum = table.iter().fold(0.0, |sum, value| sum * 10.0 + value);
                let found = if is_inside(read) { table[(3 * read[0] + read[1]) as usize] } else { 0.0 };
                assert_eq!(indirect(&shader), 2);
                assert!(lower_indirect_derefs(&mut shader, TEMP, u32::MAX));
                crate::validate::validate(&shader).expect("valid");
                assert_eq!(indirect(&shader), 0);
                assert!(!lower_indirect_derefs(&mut shader, TEMP, u32::MAX));
                assert_eq!(outputs(&shader), [sum, found], "{write:?} {read:?}");
            }
        }
    }

    #[test]
    fn only_what_is_asked_for() {
        let mut kept = shader([0, 0], [0, 0]);
        assert!(!lower_indirect_derefs(&mut kept, OUT, u32::MAX));
        assert!(!lower_indirect_derefs(&mut kept, TEMP, 2), "an array of three is too long");
        assert_eq!(indirect(&kept), 2);
        assert!(lower_indirect_derefs(&mut kept, TEMP, 3));
    }

    #[test]
    fn there_is_a_limit_on_all_accesses_together() {
        let stores = |count: usize| {
            let mut shader = Shader::new(ShaderStage::Vertex);
            let float = shader.types.vector(ScalarType::Float, 1);
            let array = shader.types.array(float, (MAX_LEAVES / 4) as u32);
            let main = shader.entry_point().unwrap();
            let variable = shader.add_local(main, "t", array);
            let mut b = Builder::at_end(shader.main_mut());
            let id = b.intrinsic_def(IntrinsicOp::LoadVertexId, &[], &[], Shape::new(1, 32));
            for _ in 0..count {
                let root = b.deref_var(variable, TEMP, array);
                let deref = b.deref_array(root, id, float);
                let value = b.f32_const(1.0);
                b.store_deref(deref, value, 1);
            }
            shader
        };
        assert!(lower_indirect_derefs(&mut stores(4), TEMP, u32::MAX));
        let mut shader = stores(5);
        assert!(!lower_indirect_derefs(&mut shader, TEMP, u32::MAX));
        assert_eq!(indirect(&shader), 5);
    }
}
