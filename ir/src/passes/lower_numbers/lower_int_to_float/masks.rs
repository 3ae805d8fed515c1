//! Turns logic on masks into logic on booleans.

use super::{Components, all_components, constants, forwarded_mask, is_transparent, operand};
use crate::alu::AluOp;
use crate::body::{Body, InstData};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst, User};

/// Returns the boolean of which the components of an operand are masks: `c` of `ineg(b2i32 c)` and `bcsel c, ~0, 0`.
fn bool_operand(body: &Body, source: AluSrc) -> Option<AluSrc> {
    let producer = body.def_inst(source.def);
    let inner = match body.alu_op(producer)? {
        AluOp::Ineg => {
            let number = operand(body, producer, 0);
            let below = body.def_inst(number.def);
            if body.alu_op(below) != Some(AluOp::B2i32) {
                return None;
            }
            let truth = operand(body, below, 0);
            AluSrc::new(truth.def, number.swizzle.compose(truth.swizzle))
        }
        AluOp::Bcsel => {
            let is_constant = |number: usize, value: u32| {
                constants(body, producer, number).is_some_and(|words| words.iter().all(|&word| word == value))
            };
            if !is_constant(1, u32::MAX) || !is_constant(2, 0) {
                return None;
            }
            operand(body, producer, 0)
        }
        _ => return None,
    };
    let truth = AluSrc::new(inner.def, source.swizzle.compose(inner.swizzle));
    (body.bit_size(truth.def) == 1).then_some(truth)
}

const fn is_logic(op: AluOp) -> bool {
    matches!(op, AluOp::Iand | AluOp::Ior | AluOp::Ixor | AluOp::Inot)
}

/// Returns the components that are always 0 or `~0`.
///
/// Optimistic: every value that could be a mask starts as one, and stops being one when a component that it is computed
/// from is not a mask. So phis of loops are handled.
fn masks(body: &Body) -> Components {
    let mut is_mask = Components::new();
    let mut refuted: Vec<(Def, u8)> = Vec::new();
    for block in body.blocks() {
        for inst in body.insts(block) {
            let Some(def) = body.inst_def(inst).filter(|&def| body.bit_size(def) == 32) else { continue };
            let count = body.num_components(def);
            let all = all_components(count);
            is_mask[def] = match body.inst(inst) {
                InstData::LoadConst { .. } => body
                    .def_constant(def)
                    .unwrap_or(&[])
                    .iter()
                    .enumerate()
                    .filter(|(_, word)| matches!(**word, 0 | 0xffff_ffff))
                    .fold(0, |mask, (c, _)| mask | 1 << c),
                InstData::Undef => all,
                InstData::Alu { op: AluOp::Ineg, .. } => {
                    let is_b2i = body.alu_op(body.src_inst(body.source(inst, 0))) == Some(AluOp::B2i32);
                    if is_b2i { all } else { 0 }
                }
                InstData::Alu { op, .. } if is_logic(*op) => all,
                _ if is_transparent(body, inst) => all,
                _ => 0,
            };
            refuted.extend((0..count).filter(|c| is_mask[def] & 1 << c == 0).map(|c| (def, c)));
        }
    }
    while let Some((def, component)) = refuted.pop() {
        for reader in body.uses_of(def) {
            let User::Inst(user) = body.user(reader) else { continue };
            let Some(result) = body.inst_def(user) else { continue };
            let mut reached = forwarded_mask(body, user, reader, component);
            if body.alu_op(user).is_some_and(is_logic) && body.bit_size(result) == 32 {
                let swizzle = body.swizzle(reader);
                reached = (0..body.num_components(result))
                    .filter(|&c| swizzle.get(usize::from(c)) == component)
                    .fold(0, |mask, c| mask | 1 << c);
            }
            let lost = reached & is_mask[result];
            is_mask[result] &= !lost;
            refuted.extend((0..16).filter(|c| lost & 1 << c != 0).map(|c| (result, c)));
        }
    }
    is_mask
}

/// Turns logic on masks into logic on booleans.
pub(super) fn lower_masks(body: &mut Body) -> bool {
    let mut is_mask = masks(body);
    let mut progress = false;
    for block in body.blocks_vec() {
        for inst in body.insts_vec(block) {
            let (Some(op), Some(def)) = (body.alu_op(inst), body.inst_def(inst)) else { continue };
            progress |= compare_as_float(body, inst, op);
            if !is_logic(op) || body.bit_size(def) != 32 {
                continue;
            }
            let count = body.num_components(def);
            let a = operand(body, inst, 0);
            let b = if op == AluOp::Inot { a } else { operand(body, inst, 1) };
            let all_masks =
                |s: AluSrc| (0..usize::from(count)).all(|c| is_mask[s.def] & 1 << (s.swizzle.get(c) & 15) != 0);
            let (mask_a, mask_b) = (all_masks(a), all_masks(b));
            let has_form = match op {
                AluOp::Inot => mask_a,
                AluOp::Iand => mask_a || mask_b || (is_zero_or_one(body, a, count) && is_zero_or_one(body, b, count)),
                _ => mask_a && mask_b,
            };
            if !has_form {
                continue;
            }
            let mut builder = Builder::new(body, Cursor::Before(inst));
            let zero = AluSrc::component(builder.u32_const(0), 0);
            let test = |builder: &mut Builder<'_>, mask: AluSrc| -> AluSrc {
                bool_operand(builder.body, mask)
                    .unwrap_or_else(|| builder.alu_sized(AluOp::Ine, count, &[mask, zero]).into())
            };
            let new = if op != AluOp::Inot && mask_a != mask_b {
                let (mask, value) = if mask_a { (a, b) } else { (b, a) };
                let condition = test(&mut builder, mask);
                builder.alu_sized(AluOp::Bcsel, count, &[condition, value, zero])
            } else if op == AluOp::Iand && !mask_a {
                // Both are 0.0 or 1.0.
                builder.alu_sized(AluOp::Fmul, count, &[a, b])
            } else {
                let first = test(&mut builder, a);
                let truth = if op == AluOp::Inot {
                    builder.alu_sized(AluOp::Inot, count, &[first])
                } else {
                    let second = test(&mut builder, b);
                    builder.alu_sized(op, count, &[first, second])
                };
                let ones = AluSrc::component(builder.u32_const(u32::MAX), 0);
                builder.alu_sized(AluOp::Bcsel, count, &[truth.into(), ones, zero])
            };
            is_mask[new] = is_mask[def];
            body.replace_all_uses(def, new);
            body.remove_inst(inst);
            progress = true;
        }
    }
    progress
}

/// Returns whether an operand is a float that is known to be 0.0 or 1.0.
fn is_zero_or_one(body: &Body, source: AluSrc, count: u8) -> bool {
    let is_known = |c: u8| {
        let word = body.constant_component(source.def, usize::from(source.swizzle.get(usize::from(c))));
        word.is_some_and(|word| word == 0 || word == u64::from(1f32.to_bits()))
    };
    match body.alu_op(body.def_inst(source.def)) {
        Some(AluOp::Slt | AluOp::Sge | AluOp::Seq | AluOp::Sne | AluOp::B2f32) => true,
        Some(_) => false,
        None => (0..count).all(is_known),
    }
}

/// Turns comparisons of the bits of 0.0 or 1.0 with 0 into comparisons of floats.
fn compare_as_float(body: &mut Body, inst: Inst, op: AluOp) -> bool {
    let form = match op {
        AluOp::Ieq => AluOp::Feq,
        AluOp::Ine => AluOp::Fneu,
        _ => return false,
    };
    let is_zero = |number: usize| constants(body, inst, number).is_some_and(|words| words.iter().all(|&w| w == 0));
    let is_float = |number: usize| {
        body.bit_size(body.src(inst, number)) == 32 && {
            let source = operand(body, inst, number);
            body.def_constant(source.def).is_none() && is_zero_or_one(body, source, 1)
        }
    };
    let fits = (is_zero(0) && is_float(1)) || (is_zero(1) && is_float(0));
    if fits {
        let flags = body.alu(inst).map(|(_, flags)| flags).unwrap_or_default();
        body.set_inst(inst, InstData::Alu { op: form, flags });
    }
    fits
}
