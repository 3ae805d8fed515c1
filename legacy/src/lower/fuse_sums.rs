//! Fuses a product that only one sum uses with the sum.
//!
//! ```text
//! 32x4 %3 = fmul %0, %1.xxxx                 32x4 %5 = fmad -%0, %1.xxxx, %2
//! 32x4 %4 = fneg %3                   =>
//! 32x4 %5 = fadd %4, %2
//! ```
//!
//! `fmad` rounds both results, as the two instructions do; `ffma` rounds once. Nothing marked exact is fused, because
//! some machines round once in either case. If both operands of a sum are such products, the later one is fused.
//! Linear.

use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::{Body, Builder, Cursor, Inst, Shader, Swizzle};

use super::lower_float_comparisons::operand;

/// Fuses sums of 32-bit floats into `op`: [`Fmad`](AluOp::Fmad) or [`Ffma`](AluOp::Ffma). Must run on values in SSA
/// form. Returns whether anything changed.
pub fn fuse_sums(shader: &mut Shader, op: AluOp) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= body.visit_insts(|body, inst| fuse(body, inst, op));
    }
    progress
}

/// A product that is an operand of a sum.
struct Product {
    inst: Inst,
    /// The operand of the sum with its swizzle composed with that of the negation.
    components: AluSrc,
    /// Whether the sum subtracts it.
    is_negated: bool,
}

/// The product that a source reads, directly or through a negation, if nothing else reads it.
fn product(body: &Body, inst: Inst, number: usize) -> Option<Product> {
    let mut source = operand(body, inst, number);
    let mut is_negated = false;
    body.single_use(source.def)?;
    let mut producer = body.def_inst(source.def);
    if body.alu_op(producer) == Some(AluOp::Fneg) {
        let inner = operand(body, producer, 0);
        source = AluSrc::new(inner.def, source.swizzle.compose(inner.swizzle));
        is_negated = true;
        body.single_use(source.def)?;
        producer = body.def_inst(source.def);
    }
    let (op, flags) = body.alu(producer)?;
    let is_here = op == AluOp::Fmul && !flags.is_exact() && body.inst_block(producer) == body.inst_block(inst);
    is_here.then_some(Product { inst: producer, components: source, is_negated })
}

fn fuse(body: &mut Body, inst: Inst, op: AluOp) -> bool {
    let Some((AluOp::Fadd, flags)) = body.alu(inst) else { return false };
    let Some(def) = body.inst_def(inst).filter(|&def| body.bit_size(def) == 32) else { return false };
    if flags.is_exact() {
        return false;
    }
    // The second operand is usually the later one.
    let Some((number, product)) = [1, 0].into_iter().find_map(|n| Some((n, product(body, inst, n)?))) else {
        return false;
    };
    let factors = [0, 1].map(|n| {
        let factor = operand(body, product.inst, n);
        AluSrc::new(factor.def, product.components.swizzle.compose(factor.swizzle))
    });
    let addend = operand(body, inst, 1 - number);
    let count = body.num_components(def);
    let mut builder = Builder::new(body, Cursor::Before(inst));
    builder.flags = flags;
    let mut first = factors[0];
    if product.is_negated {
        first = AluSrc::new(builder.alu_sized(AluOp::Fneg, count, &[first]), Swizzle::IDENTITY);
    }
    let sum = builder.alu_sized(op, count, &[first, factors[1], addend]);
    body.replace_all_uses(def, sum);
    body.remove_inst(inst);
    true
}
