//! Replaces `samples_identical` by false, for targets without it. False is a valid result for every texel.
//!
//! ```text
//! 1    %2 = samples_identical %1 (coord), 3 (texture)    =>    1    %2 = load_const (false)
//! ```
//!
//! Cost: linear.

use crate::body::{Body, TexOp};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::Inst;
use crate::shader::Shader;

/// See the [module](self).
pub fn lower_samples_identical(shader: &mut Shader) -> bool {
    shader.bodies_mut().fold(false, |progress, body| body.visit_insts(lower) | progress)
}

fn lower(body: &mut Body, inst: Inst) -> bool {
    let is_comparison = body.tex(inst).is_some_and(|tex| tex.op == TexOp::SamplesIdentical);
    let Some(old) = body.inst_def(inst).filter(|_| is_comparison) else { return false };
    let bits = body.bit_size(old);
    let result = Builder::new(body, Cursor::Before(inst)).constant(bits, &[0]);
    body.replace_all_uses(old, result);
    body.remove_inst(inst);
    true
}
