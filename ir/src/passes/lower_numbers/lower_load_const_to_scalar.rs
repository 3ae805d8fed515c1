//! Splits vectors of constants into vectors of scalar constants.
//!
//! ```text
//! 32x2 %1 = load_const (1.0, 2.0)     =>     32   %2 = load_const (1.0)
//!                                            32   %3 = load_const (2.0)
//!                                            32x2 %1 = vec2 %2, %3
//! ```
//!
//! Equal components share a constant. After copy propagation, uses of a component read its constant directly.
//!
//! Cost: linear in components (at most 16 per vector).

use arrayvec::ArrayVec;

use crate::body::{Body, MAX_COMPONENTS};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::Inst;
use crate::shader::Shader;

/// See the [module](self).
pub fn lower_load_const_to_scalar(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= body.visit_insts(split);
    }
    progress
}

fn split(body: &mut Body, inst: Inst) -> bool {
    let (Some(values), Some(def)) = (body.constant(inst), body.inst_def(inst)) else { return false };
    if values.len() == 1 {
        return false;
    }
    let values: ArrayVec<u64, MAX_COMPONENTS> = values.iter().copied().collect();
    let bit_size = body.bit_size(def);
    let mut builder = Builder::new(body, Cursor::Before(inst));
    let mut parts: ArrayVec<AluSrc, MAX_COMPONENTS> = ArrayVec::new();
    for (number, &value) in values.iter().enumerate() {
        let part = match values[..number].iter().position(|&other| other == value) {
            Some(same) => parts[same],
            None => AluSrc::component(builder.constant(bit_size, &[value]), 0),
        };
        parts.push(part);
    }
    let vector = builder.vec(&parts);
    body.replace_all_uses(def, vector);
    body.remove_inst(inst);
    true
}
