//! Splits accesses of 64-bit inputs and outputs, which [`lower_io`](super::lower_io()) has lowered to slots, into
//! accesses of 32-bit words, for targets whose slots have four 32-bit components.
//!
//! ```text
//! 64x2 %3 = @load_input (%i) (base=2, component=0, dest_type=float64, ...)
//! =>
//! 32x4 %4 = @load_input (%i) (base=2, component=0, dest_type=uint32, ...)
//! 64   %5 = pack_64_2x32_split %4.x, %4.y
//! 64   %6 = pack_64_2x32_split %4.z, %4.w
//! 64x2 %3 = vec2 %5, %6
//! ```
//!
//! Cost: linear.

use arrayvec::ArrayVec;

use crate::alu::{AluOp, AluType};
use crate::body::{Body, Shape};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::shader::Shader;

/// Components of a slot.
const COMPONENTS: usize = 4;

/// See the [module](self).
pub fn lower_wide_io(shader: &mut Shader) -> bool {
    shader.bodies_mut().fold(false, |progress, body| body.visit_insts(lower) | progress)
}

fn lower(body: &mut Body, inst: Inst) -> bool {
    use IntrinsicOp::*;
    match body.intrinsic(inst) {
        Some(op @ (LoadInput | LoadPerVertexInput | LoadOutput | LoadPerVertexOutput)) => lower_load(body, inst, op),
        Some(op @ (StoreOutput | StorePerVertexOutput)) => lower_store(body, inst, op),
        _ => false,
    }
}

/// The words of a vector of this shape, if it is 64-bit and its words fit into a slot.
fn words(shape: Shape) -> Option<usize> {
    let words = 2 * usize::from(shape.num_components);
    (shape.bit_size == 64 && words <= COMPONENTS).then_some(words)
}

/// The indices that an access and its replacement share.
fn shared_indices(body: &Body, inst: Inst) -> [(IndexKind, i32); 4] {
    [IndexKind::Base, IndexKind::Component, IndexKind::IoSemantics, IndexKind::Range]
        .map(|kind| (kind, body.index(inst, kind)))
}

fn lower_load(body: &mut Body, inst: Inst, op: IntrinsicOp) -> bool {
    let Some(old) = body.inst_def(inst) else { return false };
    let Some(words) = words(body.shape(old)) else { return false };
    let mut indices: ArrayVec<(IndexKind, i32), 8> = shared_indices(body, inst).into_iter().collect();
    indices.push((IndexKind::DestType, AluType::UINT32.to_i32()));
    let sources: ArrayVec<Def, 2> = body.sources(inst).take(2).map(|source| body.src_def(source)).collect();
    let mut b = Builder::new(body, Cursor::Before(inst));
    let loaded = b.intrinsic_def(op, &sources, &indices, Shape::new(words as u8, 32));
    let numbers: ArrayVec<Def, 2> = (0..words as u8)
        .step_by(2)
        .map(|low| {
            let word = |component| AluSrc::component(loaded, component);
            b.alu_sized(AluOp::Pack642x32Split, 1, &[word(low), word(low + 1)])
        })
        .collect();
    let value = b.vec_of(&numbers);
    body.replace_all_uses(old, value);
    body.remove_inst(inst);
    true
}

fn lower_store(body: &mut Body, inst: Inst, op: IntrinsicOp) -> bool {
    let value = body.src(inst, 0);
    let Some(words) = words(body.shape(value)) else { return false };
    let mask = body.index(inst, IndexKind::WriteMask);
    let wide_mask = (0..2).filter(|number| mask >> number & 1 != 0).fold(0, |mask, number| mask | 3 << (2 * number));
    let mut indices: ArrayVec<(IndexKind, i32), 8> = shared_indices(body, inst).into_iter().collect();
    indices.push((IndexKind::WriteMask, wide_mask));
    indices.push((IndexKind::SrcType, AluType::UINT32.to_i32()));
    let others: ArrayVec<Def, 2> = body.sources(inst).skip(1).take(2).map(|source| body.src_def(source)).collect();
    let mut b = Builder::new(body, Cursor::Before(inst));
    let parts: ArrayVec<Def, COMPONENTS> = (0..words as u8)
        .map(|word| {
            let half = if word % 2 == 0 { AluOp::Unpack642x32SplitX } else { AluOp::Unpack642x32SplitY };
            b.alu_sized(half, 1, &[AluSrc::component(value, word / 2)])
        })
        .collect();
    let mut sources: ArrayVec<Def, 3> = ArrayVec::new();
    sources.push(b.vec_of(&parts));
    sources.extend(others);
    b.intrinsic(op, &sources, &indices, None);
    body.remove_inst(inst);
    true
}
