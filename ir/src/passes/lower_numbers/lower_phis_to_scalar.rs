//! Splits phis of vectors into a phi for each component, combined into a vector.
//!
//! ```text
//! before:                                       after:
//!     block b2:                                     block b2:
//!     32x2 %4 = load_const (0, 1)                   32x2 %4 = load_const (0, 1)
//!     // succs: b3                                  32   %7 = mov %4.x
//!                                                   32   %8 = mov %4.y
//!                                                   // succs: b3
//!     block b3:                                     block b3:
//!     32x2 %5 = phi b1: %3, b2: %4                  32   %9 = phi b1: %10, b2: %7
//!                                                   32  %11 = phi b1: %12, b2: %8
//!                                                   32x2 %5 = vec2 %9, %11
//! ```
//!
//! Cost: linear in phi operands times components.

use arrayvec::ArrayVec;

use crate::body::{Body, InstData, MAX_COMPONENTS, Shape, SourceSpec};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Inst};
use crate::shader::Shader;

/// See the [module](self).
pub fn lower_phis_to_scalar(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        let phis = body.blocks().flat_map(|block| body.phis(block).map(move |phi| (block, phi)));
        let is_vector = |phi| body.inst_def(phi).is_some_and(|def| body.num_components(def) > 1);
        for (block, phi) in phis.filter(|&(_, phi)| is_vector(phi)).collect::<Vec<(Block, Inst)>>() {
            split(body, block, phi);
            progress = true;
        }
    }
    progress
}

/// Splits a phi into a phi for each component, combined into a vector.
fn split(body: &mut Body, block: Block, phi: Inst) {
    let Some(def) = body.inst_def(phi) else { return };
    let Shape { num_components, bit_size } = body.shape(def);
    let operands: Vec<(Block, Def)> =
        body.phi_sources(phi).map(|(from, source)| (from, body.src_def(source))).collect();
    let mut parts: ArrayVec<AluSrc, MAX_COMPONENTS> = ArrayVec::new();
    for component in 0..num_components {
        let mut sources = Vec::with_capacity(operands.len());
        for &(from, operand) in &operands {
            let cursor = Cursor::before_jump(body, from);
            let is_undef = matches!(body.inst(body.def_inst(operand)), InstData::Undef);
            let mut builder = Builder::new(body, cursor);
            let part = if is_undef {
                builder.undef(1, bit_size)
            } else {
                builder.mov(AluSrc::component(operand, component), 1)
            };
            sources.push(SourceSpec::phi(from, part));
        }
        let part = body.create_inst(InstData::Phi, &sources, Some(Shape::new(1, bit_size)));
        body.insert_inst(Cursor::Before(phi), part);
        parts.extend(body.inst_def(part).map(AluSrc::from));
    }
    let cursor = Cursor::after_phis(body, block);
    let vector = Builder::new(body, cursor).vec(&parts);
    body.replace_all_uses(def, vector);
    body.remove_inst(phi);
}
