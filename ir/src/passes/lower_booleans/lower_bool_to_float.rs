//! Turns 1-bit booleans into the floats 0.0 and 1.0.
//!
//! ```text
//! 1  %3 = flt %1, %2                   32 %3 = slt %1, %2
//! 1  %4 = load_const (true)      =>    32 %4 = load_const (1.0)
//! 1  %5 = iand %3, %4                  32 %5 = fmul %3, %4
//! 32 %6 = bcsel %5, %1, %2             32 %6 = fcsel %5, %1, %2
//! ```
//!
//! "Or" is the maximum, "not" is equality with 0.0, "exclusive or" is inequality. Conditions of `if`s and
//! `terminate_if` read the float and test for inequality with 0. On targets without integers, run this after
//! [`lower_int_to_float`](mod@crate::passes::lower_numbers::lower_int_to_float). Operations without a float form
//! (comparisons of integers or 64-bit floats, intrinsics with boolean results or operands, 64-bit selections) use
//! 32-bit booleans and conversions, so that every shader keeps its meaning. Arithmetic on 1-bit numbers becomes
//! selections first.

use cranelift_entity::SecondaryMap;

use crate::alu::AluOp;
use crate::body::{Body, InstData, Shape};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::lower_booleans::boolean_numbers;
use crate::passes::lower_booleans::lower_bool_to_int32::{wide_form, widen_texture};
use crate::shader::Shader;

type Booleans = SecondaryMap<Def, bool>;

/// Lowers all booleans. Returns whether there were any.
pub fn lower_bool_to_float(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= boolean_numbers::lower(body);
        let mut booleans = Booleans::new();
        let mut insts = Vec::new();
        for block in body.blocks() {
            for inst in body.insts(block) {
                insts.push(inst);
                if let Some(def) = body.inst_def(inst) {
                    booleans[def] = body.bit_size(def) == 1;
                }
                for entry in body.copies(inst).unwrap_or(&[]) {
                    if let Some(def) = entry.dest.expand() {
                        booleans[def] = body.bit_size(def) == 1;
                    }
                }
            }
        }
        for inst in insts {
            progress |= lower(body, inst, &mut booleans);
        }
    }
    progress
}

fn widen(body: &mut Body, def: Def) {
    let shape = body.shape(def);
    body.set_shape(def, Shape { bit_size: 32, ..shape });
}

/// Returns the float form of an opcode with a boolean result and boolean or 32-bit float operands.
const fn comparison(op: AluOp, of_booleans: bool) -> Option<AluOp> {
    Some(match (op, of_booleans) {
        (AluOp::Flt, false) => AluOp::Slt,
        (AluOp::Fge, false) => AluOp::Sge,
        (AluOp::Feq, false) | (AluOp::Ieq, true) => AluOp::Seq,
        (AluOp::Fneu, false) | (AluOp::Ine | AluOp::Ixor, true) => AluOp::Sne,
        (AluOp::BallFequal2, false) | (AluOp::BallIequal2, true) => AluOp::FallEqual2,
        (AluOp::BallFequal3, false) | (AluOp::BallIequal3, true) => AluOp::FallEqual3,
        (AluOp::BallFequal4, false) | (AluOp::BallIequal4, true) => AluOp::FallEqual4,
        (AluOp::BanyFnequal2, false) | (AluOp::BanyInequal2, true) => AluOp::FanyNequal2,
        (AluOp::BanyFnequal3, false) | (AluOp::BanyInequal3, true) => AluOp::FanyNequal3,
        (AluOp::BanyFnequal4, false) | (AluOp::BanyInequal4, true) => AluOp::FanyNequal4,
        (AluOp::Iand, true) => AluOp::Fmul,
        (AluOp::Ior, true) => AluOp::Fmax,
        _ => return None,
    })
}

fn lower(body: &mut Body, inst: Inst, booleans: &mut Booleans) -> bool {
    let result = body.inst_def(inst).filter(|&def| booleans[def]);
    let takes = body.sources(inst).any(|s| booleans[body.src_def(s)]);
    match *body.inst(inst) {
        InstData::Alu { .. } if result.is_none() && !takes => false,
        InstData::Alu { op, .. } => {
            lower_alu(body, inst, op, result, booleans);
            true
        }
        InstData::LoadConst { .. } => {
            let Some(def) = result else { return false };
            let truth = |&word: &u64| if word & 1 != 0 { u64::from(1f32.to_bits()) } else { 0 };
            let words: Vec<u64> = body.def_constant(def).unwrap_or(&[]).iter().map(truth).collect();
            let start = body.push_constants(&words);
            body.set_inst(inst, InstData::LoadConst { start });
            widen(body, def);
            true
        }
        InstData::ParallelCopy(_) => {
            let dests: Vec<Def> = body.copies(inst).unwrap_or(&[]).iter().filter_map(|e| e.dest.expand()).collect();
            let mut progress = false;
            for def in dests.into_iter().filter(|&d| booleans[d]) {
                widen(body, def);
                progress = true;
            }
            progress
        }
        InstData::Intrinsic { op, .. } => lower_intrinsic(body, inst, op, result, booleans),
        _ => {
            let Some(def) = result else { return false };
            if widen_texture(body, inst) {
                from_word(body, inst, def, booleans);
            } else {
                widen(body, def);
            }
            true
        }
    }
}

/// Converts a boolean operand to a 32-bit boolean.
fn as_word(body: &mut Body, inst: Inst, number: usize) {
    let source = body.source(inst, number);
    let def = body.src_def(source);
    let mut builder = Builder::new(body, Cursor::Before(inst));
    let zero = builder.f32_const(0.0);
    let count = builder.body.num_components(def);
    let word = builder.alu_sized(AluOp::Fneu32, count, &[def.into(), AluSrc::component(zero, 0)]);
    body.set_src(source, word);
}

/// Converts the result, a 32-bit boolean, to a float for all its uses.
fn from_word(body: &mut Body, inst: Inst, def: Def, booleans: &mut Booleans) {
    widen(body, def);
    if body.is_unused(def) {
        return;
    }
    let truth = Builder::new(body, Cursor::After(inst)).alu(AluOp::B2f32, &[def]);
    let producer = body.def_inst(truth);
    booleans[truth] = true;
    body.replace_uses_except(def, truth, producer);
}

fn lower_intrinsic(body: &mut Body, inst: Inst, op: IntrinsicOp, result: Option<Def>, booleans: &mut Booleans) -> bool {
    if op == IntrinsicOp::DeclReg {
        if body.index(inst, IndexKind::BitSize) != 1 {
            return false;
        }
        body.set_index(inst, IndexKind::BitSize, 32);
        return true;
    }
    let is_transparent = matches!(
        op,
        IntrinsicOp::LoadReg
            | IntrinsicOp::LoadRegIndirect
            | IntrinsicOp::StoreReg
            | IntrinsicOp::StoreRegIndirect
            | IntrinsicOp::TerminateIf
            | IntrinsicOp::DemoteIf
    );
    let mut progress = false;
    for number in 0..body.num_sources(inst) {
        if booleans[body.src(inst, number)] {
            if !is_transparent {
                as_word(body, inst, number);
            }
            progress = true;
        }
    }
    if let Some(def) = result {
        if is_transparent {
            widen(body, def)
        } else {
            from_word(body, inst, def, booleans)
        }
        progress = true;
    }
    progress
}

fn lower_alu(body: &mut Body, inst: Inst, op: AluOp, result: Option<Def>, booleans: &mut Booleans) {
    let flags = body.alu(inst).map(|(_, flags)| flags).unwrap_or_default();
    let count = body.inst_def(inst).map_or(1, |def| body.num_components(def));
    let set = |body: &mut Body, op: AluOp| body.set_inst(inst, InstData::Alu { op, flags });
    let first = (body.num_sources(inst) > 0).then(|| {
        let source = body.source(inst, 0);
        AluSrc::new(body.src_def(source), body.swizzle(source))
    });
    let Some(def) = result else {
        // Boolean operands, other result.
        match op {
            AluOp::B2f32 => set(body, AluOp::Mov),
            AluOp::B2i32 => set(body, AluOp::F2i32),
            AluOp::Bcsel if body.inst_def(inst).is_some_and(|def| body.bit_size(def) == 32) => set(body, AluOp::Fcsel),
            _ => {
                for number in 0..body.num_sources(inst) {
                    if booleans[body.src(inst, number)] {
                        as_word(body, inst, number);
                    }
                }
                if op == AluOp::Bcsel {
                    set(body, AluOp::B32csel);
                }
            }
        }
        return;
    };
    if op.is_vec_or_mov() {
        widen(body, def);
        return;
    }
    let of_booleans = first.is_some_and(|s| booleans[s.def]);
    let narrow = first.is_some_and(|s| body.bit_size(s.def) == 32);
    match op {
        _ if let Some(form) = comparison(op, of_booleans).filter(|_| of_booleans || narrow) => set(body, form),
        AluOp::Bcsel => set(body, AluOp::Fcsel),
        AluOp::Inot => {
            let Some(source) = first else { return };
            let mut builder = Builder::new(body, Cursor::Before(inst));
            builder.flags = flags;
            let zero = builder.f32_const(0.0);
            let new = builder.alu_sized(AluOp::Seq, count, &[source, AluSrc::component(zero, 0)]);
            booleans[new] = true;
            body.replace_all_uses(def, new);
            body.remove_inst(inst);
            return;
        }
        AluOp::B2b1 => set(body, if of_booleans { AluOp::Mov } else { AluOp::B2f32 }),
        AluOp::I2i1 | AluOp::U2u1 | AluOp::F2i1 | AluOp::F2u1 | AluOp::B2i1 => {
            let Some(source) = first else { return };
            let mut builder = Builder::new(body, Cursor::Before(inst));
            let new = if of_booleans {
                builder.alu_sized(AluOp::Mov, count, &[source])
            } else {
                // The lowest bit of an integer.
                let word = match op {
                    AluOp::F2i1 => builder.alu_sized(AluOp::F2i32, count, &[source]),
                    AluOp::F2u1 => builder.alu_sized(AluOp::F2u32, count, &[source]),
                    _ => builder.alu_sized(AluOp::U2u32, count, &[source]),
                };
                let one = builder.u32_const(1);
                let low = builder.alu_sized(AluOp::Iand, count, &[word.into(), AluSrc::component(one, 0)]);
                builder.alu_sized(AluOp::I2f32, count, &[low.into()])
            };
            booleans[new] = true;
            body.replace_all_uses(def, new);
            body.remove_inst(inst);
            return;
        }
        _ => {
            for number in 0..body.num_sources(inst) {
                if booleans[body.src(inst, number)] {
                    as_word(body, inst, number);
                }
            }
            if let Some(wide) = wide_form(op) {
                set(body, wide);
            }
            from_word(body, inst, def, booleans);
            return;
        }
    }
    widen(body, def);
}
