//! Turns accesses to single components of vectors in variables into accesses to the vectors.
//!
//! ```text
//! before:                                          after:
//!     %2 = deref_array &(*%1)[%i] (float)
//!     %3 = @load_deref (%2)                            %4 = @load_deref (%1)
//!                                                      %5 = ieq %i, 0
//!                                                      %6 = bcsel %5, %4.x, 0
//!                                                      ... the same for each component
//! ```
//!
//! A store to a component at a run-time index loads the vector, replaces the component and stores the vector. Other
//! invocations may write the other components of an output of a tessellation control shader: there, each component is
//! stored in a separate branch. An index beyond the vector reads zero and writes nothing.
//!
//! Handles temporaries, outputs and inputs, whose registers cannot be addressed by component; memory can
//! ([`lower_explicit_access`](mod@crate::passes::lower_resources::lower_explicit_access)). Unused derefs are left to dead
//! code elimination. Cost: linear.

use arrayvec::ArrayVec;

use crate::alu::AluOp;
use crate::body::{Body, DerefKind, InstData, MAX_COMPONENTS, RareInst, Shape};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::lower_indirects::index_tree::zero;
use crate::passes::variables::deref_tree::vector_shape;
use crate::shader::{Shader, ShaderStage};
use crate::types::{TypeData, TypeTable};
use crate::variable::VariableModes;

/// The modes of variables in registers.
const MODES: VariableModes = VariableModes(
    VariableModes::FUNCTION_TEMP.0
        | VariableModes::SHADER_TEMP.0
        | VariableModes::SHADER_IN.0
        | VariableModes::SHADER_OUT.0,
);

/// See the [module](self).
pub fn lower_array_deref_of_vec(shader: &mut Shader) -> bool {
    let Shader { functions, types, stage, .. } = shader;
    let mut progress = false;
    let bodies = functions.values_mut().filter_map(|function| function.body.as_mut());
    for body in bodies.filter(|body| body.may_have(RareInst::ArrayDeref)) {
        // Stores in branches split blocks: from the last instruction on, the moved code needs no work.
        for block in body.blocks_vec().into_iter().rev() {
            for inst in body.insts_vec(block).into_iter().rev() {
                progress |= lower(body, types, *stage, inst);
            }
        }
    }
    progress
}

/// A component of a vector that an instruction accesses.
struct Component {
    /// The deref of the vector.
    vector: Def,
    shape: Shape,
    index: Def,
    /// A constant index; `None` at run time.
    constant: Option<u64>,
}

impl Component {
    fn of(body: &Body, types: &TypeTable, access: Inst) -> Option<Component> {
        let deref = body.try_def_inst(body.src(access, 0))?;
        let InstData::Deref { kind: DerefKind::Array, modes, .. } = *body.inst(deref) else { return None };
        let (vector, index) = (body.src(deref, 0), body.src(deref, 1));
        let ty = body.is_def_live(vector).then(|| body.deref_type(vector))??;
        let is_vector = matches!(types.get(ty), TypeData::Vector { .. });
        let shape = vector_shape(types, ty).filter(|_| is_vector && MODES.contains(modes))?;
        Some(Component { vector, shape, index, constant: body.constant_component(index, 0) })
    }

    fn is_beyond(&self) -> bool {
        self.constant.is_some_and(|index| index >= u64::from(self.shape.num_components))
    }
}

fn lower(body: &mut Body, types: &TypeTable, stage: ShaderStage, inst: Inst) -> bool {
    let Some(op) = body.intrinsic(inst).filter(|op| op.is_deref_access()) else { return false };
    let Some(component) = Component::of(body, types, inst) else { return false };
    match (op, body.inst_def(inst)) {
        (IntrinsicOp::StoreDeref, _) => store(body, stage, inst, &component),
        (_, Some(def)) => load(body, op, inst, def, &component),
        _ => return false,
    }
    body.remove_inst(inst);
    true
}

/// Replaces a load, or an interpolation of an input.
fn load(body: &mut Body, op: IntrinsicOp, inst: Inst, def: Def, component: &Component) {
    let mut sources: ArrayVec<Def, 4> = body.sources(inst).take(4).map(|source| body.src_def(source)).collect();
    let access: ArrayVec<(IndexKind, i32), 1> = (op == IntrinsicOp::LoadDeref)
        .then(|| (IndexKind::Access, body.index(inst, IndexKind::Access)))
        .into_iter()
        .collect();
    sources[0] = component.vector;
    let mut b = Builder::new(body, Cursor::Before(inst));
    let value = if component.is_beyond() {
        zero(&mut b, Shape::new(1, component.shape.bit_size))
    } else {
        let vector = b.intrinsic_def(op, &sources, &access, component.shape);
        match component.constant {
            Some(index) => b.channel(vector, index as u8),
            None => {
                let mut value = zero(&mut b, Shape::new(1, component.shape.bit_size));
                for number in 0..component.shape.num_components {
                    let is_this = is_component(&mut b, component.index, number);
                    let channel = b.channel(vector, number);
                    value = b.alu(AluOp::Bcsel, &[is_this, channel, value]);
                }
                value
            }
        }
    };
    body.replace_all_uses(def, value);
}

/// Emits the comparison of an index.
fn is_component(b: &mut Builder<'_>, index: Def, number: u8) -> Def {
    let number = b.constant(b.body.bit_size(index), &[number.into()]);
    b.alu(AluOp::Ieq, &[index, number])
}

fn store(body: &mut Body, stage: ShaderStage, inst: Inst, component: &Component) {
    let value = body.src(inst, 1);
    let access = (IndexKind::Access, body.index(inst, IndexKind::Access));
    let is_shared = stage == ShaderStage::TessCtrl && body.deref_modes(component.vector) == VariableModes::SHADER_OUT;
    if component.is_beyond() || body.index(inst, IndexKind::WriteMask) & 1 == 0 {
        return;
    }
    let count = component.shape.num_components;
    let mut b = Builder::new(body, Cursor::Before(inst));
    let store = |b: &mut Builder<'_>, value: Def, mask: i32| {
        let indices = [(IndexKind::WriteMask, mask), access];
        b.intrinsic(IntrinsicOp::StoreDeref, &[component.vector, value], &indices, None);
    };
    if let Some(index) = component.constant {
        let values: ArrayVec<Def, MAX_COMPONENTS> = (0..count).map(|_| value).collect();
        let value = b.vec_of(&values);
        return store(&mut b, value, 1 << index);
    }
    if is_shared {
        let values: ArrayVec<Def, MAX_COMPONENTS> = (0..count).map(|_| value).collect();
        let value = b.vec_of(&values);
        for number in 0..count {
            let is_this = is_component(&mut b, component.index, number);
            let branch = b.push_if(is_this);
            store(&mut b, value, 1 << number);
            b.end_if(branch);
        }
        return;
    }
    let old = b.intrinsic_def(IntrinsicOp::LoadDeref, &[component.vector], &[access], component.shape);
    let mut values: ArrayVec<Def, MAX_COMPONENTS> = ArrayVec::new();
    for number in 0..count {
        let is_this = is_component(&mut b, component.index, number);
        let channel = b.channel(old, number);
        values.push(b.alu(AluOp::Bcsel, &[is_this, value, channel]));
    }
    let new = b.vec_of(&values);
    store(&mut b, new, (1 << count) - 1);
}
