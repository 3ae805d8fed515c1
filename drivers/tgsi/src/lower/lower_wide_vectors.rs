//! Splits ALU instructions on more than two 64-bit components into one per component: a TGSI register holds two.
//!
//! ```text
//! 64x3 %3 = fadd %1, %2     =>     64 %4 = fadd %1.x, %2.x
//!                                  64 %5 = fadd %1.y, %2.y
//!                                  64 %6 = fadd %1.z, %2.z
//!                                  64x3 %3 = vec3 %4, %5, %6
//! ```
//!
//! Later uses of components of such a vector read the scalars. A dot product becomes products and sums, a comparison of
//! vectors comparisons of their components.

use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::{Body, Builder, Cursor, Def, Inst, Shader};

/// Splits all such instructions. Returns whether anything changed.
pub(crate) fn lower_wide_vectors(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        // Few shaders have 64-bit values at all.
        let is_wide = |inst: Inst| body.inst_def(inst).is_some_and(|def| body.bit_size(def) == 64);
        if !body.blocks().any(|block| body.insts(block).any(is_wide)) {
            continue;
        }
        for block in body.blocks_vec() {
            for inst in body.insts_vec(block) {
                progress |= split(body, inst);
            }
        }
    }
    progress
}

/// Finds the scalar of a component through vectors.
fn scalar(body: &Body, mut def: Def, mut component: u8) -> AluSrc {
    for _ in 0..8 {
        let producer = body.def_inst(def);
        match body.alu_op(producer) {
            Some(op) if op.is_vec() && usize::from(component) < body.num_sources(producer) => {
                let source = body.source(producer, usize::from(component));
                component = body.swizzle(source).get(0);
                def = body.src_def(source);
            }
            Some(AluOp::Mov) => {
                let source = body.source(producer, 0);
                component = body.swizzle(source).get(usize::from(component));
                def = body.src_def(source);
            }
            _ => break,
        }
    }
    AluSrc::component(def, component)
}

fn split(body: &mut Body, inst: Inst) -> bool {
    let (Some(op), Some(def)) = (body.alu_op(inst), body.inst_def(inst)) else { return false };
    let flags = body.alu(inst).map(|(_, flags)| flags).unwrap_or_default();
    let count = body.num_components(def);
    let wide = body.bit_size(def) == 64 || body.sources(inst).any(|s| body.bit_size(body.src_def(s)) == 64);
    if wide && matches!(op, AluOp::Fdot3 | AluOp::Fdot4) {
        return split_dot(body, inst, def);
    }
    if let Some((compare, combine, count)) = comparison(op).filter(|_| wide) {
        let mut result = None;
        for component in 0..count {
            let sources: Vec<AluSrc> =
                body.sources(inst).map(|s| scalar(body, body.src_def(s), body.swizzle(s).get(component))).collect();
            let mut builder = Builder::new(body, Cursor::Before(inst));
            builder.flags = flags;
            let own = builder.alu_sized(compare, 1, &sources);
            result = Some(result.map_or(own, |before| builder.alu(combine, &[before, own])));
        }
        result.into_iter().for_each(|result| body.replace_all_uses(def, result));
        body.remove_inst(inst);
        return true;
    }
    if !wide || count <= 2 || !op.is_componentwise() || op.is_vec_or_mov() {
        return false;
    }
    let mut scalars = Vec::new();
    for c in 0..usize::from(count) {
        let sources: Vec<AluSrc> =
            body.sources(inst).map(|s| scalar(body, body.src_def(s), body.swizzle(s).get(c))).collect();
        let mut builder = Builder::new(body, Cursor::Before(inst));
        builder.flags = flags;
        scalars.push(builder.alu_sized(op, 1, &sources));
    }
    let vector = Builder::new(body, Cursor::Before(inst)).vec_of(&scalars);
    body.replace_all_uses(def, vector);
    body.remove_inst(inst);
    true
}

/// The comparison of components, the combination of the results, and the number of components of a comparison of
/// vectors.
fn comparison(op: AluOp) -> Option<(AluOp, AluOp, usize)> {
    use AluOp::*;
    Some(match op {
        BallFequal2 => (Feq, Iand, 2),
        BallFequal3 => (Feq, Iand, 3),
        BallFequal4 => (Feq, Iand, 4),
        BanyFnequal2 => (Fneu, Ior, 2),
        BanyFnequal3 => (Fneu, Ior, 3),
        BanyFnequal4 => (Fneu, Ior, 4),
        BallIequal2 => (Ieq, Iand, 2),
        BallIequal3 => (Ieq, Iand, 3),
        BallIequal4 => (Ieq, Iand, 4),
        BanyInequal2 => (Ine, Ior, 2),
        BanyInequal3 => (Ine, Ior, 3),
        BanyInequal4 => (Ine, Ior, 4),
        _ => return None,
    })
}

fn split_dot(body: &mut Body, inst: Inst, def: Def) -> bool {
    let flags = body.alu(inst).map(|(_, flags)| flags).unwrap_or_default();
    let components = body.alu_op(inst).map_or(0, |op| op.input_components(0, 1));
    let mut sum = None;
    // The table of opcodes adds from the last one on.
    for c in (0..usize::from(components)).rev() {
        let sources: Vec<AluSrc> =
            body.sources(inst).map(|s| scalar(body, body.src_def(s), body.swizzle(s).get(c))).collect();
        let mut builder = Builder::new(body, Cursor::Before(inst));
        builder.flags = flags;
        let product = builder.alu_sized(AluOp::Fmul, 1, &sources);
        sum = Some(match sum {
            Some(sum) => builder.alu(AluOp::Fadd, &[sum, product]),
            None => product,
        });
    }
    let Some(sum) = sum else { return false };
    body.replace_all_uses(def, sum);
    body.remove_inst(inst);
    true
}
