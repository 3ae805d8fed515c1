//! Removes conversions of 32-bit booleans to integers and back.
//!
//! ```text
//! 32 %2 = b2i32 %1
//! 32 %3 = ineg %2                 =>   %1
//!
//! 32 %2 = ine32 %1, 0
//! if %2                           =>   if %1        (also b32csel, terminate_if)
//!
//! 32 %2 = b32csel %1, 1.0, 0.0    =>   32 %2 = b2f32 %1
//! 32 %2 = b32csel %1, ~0, 0       =>   %1
//!
//! 32 %2 = ieq32 %b, 0
//! 32 %4 = b32csel %2, ~0, udiv %a, %b      is what `UDIV` computes: see the selection
//! ```
//!
//! Must run after `lower_bool_to_int32`: a boolean is then 0 or all ones, and conditions test for non-zero.

use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::{Body, Builder, Cursor, Def, Inst, Shader, Swizzle, User};

const ONES: u64 = 0xffff_ffff;
const ONE: u64 = 0x3f80_0000;

/// Simplifies all functions. Returns whether anything changed.
pub(crate) fn lower_boolean_words(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= body.visit_insts(simplify);
    }
    progress
}

/// The operand and swizzle of source `number`.
fn source(body: &Body, inst: Inst, number: usize) -> (Def, Swizzle) {
    let source = body.source(inst, number);
    (body.src_def(source), body.swizzle(source))
}

/// Whether all components that a source reads are one constant.
fn is_constant(body: &Body, inst: Inst, number: usize, word: u64) -> bool {
    let (def, swizzle) = source(body, inst, number);
    let count = body.alu_src_components(inst, number);
    body.bit_size(def) == 32
        && (0..count).all(|c| body.constant_component(def, usize::from(swizzle.get(c))) == Some(word))
}

/// Whether a value is a boolean: every component is 0 or all ones.
fn is_boolean(body: &Body, def: Def) -> bool {
    let mut def = def;
    for _ in 0..8 {
        let Some(op) = body.alu_op(body.def_inst(def)) else { return false };
        match op {
            AluOp::Inot | AluOp::Mov => def = body.src(body.def_inst(def), 0),
            _ => return op.info().output_type == tgsi_ir::alu::AluType::BOOL32,
        }
    }
    false
}

fn simplify(body: &mut Body, inst: Inst) -> bool {
    let Some(op) = body.alu_op(inst) else { return false };
    let Some(def) = body.inst_def(inst) else { return false };
    let count = body.num_components(def);
    match op {
        AluOp::Ineg if body.bit_size(def) == 32 => {
            let (inner, swizzle) = source(body, inst, 0);
            let producer = body.def_inst(inner);
            if body.alu_op(producer) != Some(AluOp::B2i32) || body.bit_size(body.src(producer, 0)) != 32 {
                return false;
            }
            let (value, below) = source(body, producer, 0);
            replace(body, inst, def, AluSrc::new(value, swizzle.compose(below)))
        }
        AluOp::B32csel if body.bit_size(def) == 32 => {
            if is_constant(body, inst, 1, ONES) && is_constant(body, inst, 2, 0) {
                let (value, swizzle) = source(body, inst, 0);
                if is_boolean(body, value) {
                    return replace(body, inst, def, AluSrc::new(value, swizzle));
                }
                return false;
            }
            if is_constant(body, inst, 1, 0) && is_constant(body, inst, 2, ONES) {
                let (value, swizzle) = source(body, inst, 0);
                if !is_boolean(body, value) {
                    return false;
                }
                let mut builder = Builder::new(body, Cursor::Before(inst));
                let new = builder.alu_sized(AluOp::Inot, count, &[AluSrc::new(value, swizzle)]);
                return replace(body, inst, def, new.into());
            }
            if is_constant(body, inst, 1, ONE) && is_constant(body, inst, 2, 0) {
                let (value, swizzle) = source(body, inst, 0);
                if !is_boolean(body, value) {
                    return false;
                }
                let mut builder = Builder::new(body, Cursor::Before(inst));
                let new = builder.alu_sized(AluOp::B2f32, count, &[AluSrc::new(value, swizzle)]);
                return replace(body, inst, def, new.into());
            }
            false
        }
        AluOp::Ine32 => {
            let zero = if is_constant(body, inst, 1, 0) {
                0
            } else if is_constant(body, inst, 0, 0) {
                1
            } else {
                return false;
            };
            let (value, swizzle) = source(body, inst, zero);
            if body.bit_size(value) != 32 {
                return false;
            }
            if is_boolean(body, value) {
                return replace(body, inst, def, AluSrc::new(value, swizzle));
            }
            // Users that only test the value may test the integer itself.
            let mut changed = false;
            for reader in body.uses_vec(def) {
                let tests = match body.user(reader) {
                    User::Inst(user) => body.alu_op(user) == Some(AluOp::B32csel) && body.source_number(reader) == 0,
                    User::If(_) => count == 1 && body.num_components(value) == 1,
                };
                if !tests {
                    continue;
                }
                if matches!(body.user(reader), User::Inst(_)) {
                    let composed = body.swizzle(reader).compose(swizzle);
                    body.set_swizzle(reader, composed);
                }
                body.set_src(reader, value);
                changed = true;
            }
            changed
        }
        _ => false,
    }
}

fn replace(body: &mut Body, inst: Inst, def: Def, value: AluSrc) -> bool {
    if body.is_unused(def) {
        return false;
    }
    let count = body.num_components(def);
    let new = Builder::new(body, Cursor::Before(inst)).mov(value, count);
    body.replace_all_uses(def, new);
    true
}
