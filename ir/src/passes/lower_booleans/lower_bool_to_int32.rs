//! Turns 1-bit booleans into the 32-bit integers 0 and all ones.
//!
//! ```text
//! 1  %3 = flt %1, %2                   32 %3 = flt32 %1, %2
//! 1  %4 = load_const (true)      =>    32 %4 = load_const (0xffffffff)
//! 1  %5 = iand %3, %4                  32 %5 = iand %3, %4
//! 32 %6 = bcsel %5, %1, %2             32 %6 = b32csel %5, %1, %2
//! ```
//!
//! Opcodes with a 32-bit form get it. Those that work on integers of any width (`iand`, `inot`, `mov`, phis, registers,
//! ...) only change their width, which is correct for 0 and all ones. Arithmetic, for which it is not, becomes
//! selections first. Conditions of `if`s and boolean operands of intrinsics read the 32-bit value.

use crate::alu::{AluOp, AluType};
use crate::body::{Body, InstData, Shape};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::lower_booleans::boolean_numbers;
use crate::shader::Shader;

/// Lowers all booleans. Returns whether there were any.
pub fn lower_bool_to_int32(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= boolean_numbers::lower(body);
        progress |= body.visit_insts(lower);
    }
    progress
}

/// Returns the 32-bit form of an opcode with a 1-bit boolean result or operand.
pub(super) fn wide_form(op: AluOp) -> Option<AluOp> {
    if op == AluOp::Bcsel {
        return Some(AluOp::B32csel);
    }
    let name = op.name();
    let parts = match name.split_at_checked(1) {
        Some(("b", rest)) if rest.starts_with("all_") || rest.starts_with("any_") => ["b32", rest],
        _ => [name, "32"],
    };
    let mut wide = arrayvec::ArrayString::<32>::new();
    for part in parts {
        wide.try_push_str(part).ok()?;
    }
    AluOp::from_name(&wide).filter(|w| w.info().input_types.len() == op.info().input_types.len())
}

fn lower(body: &mut Body, inst: Inst) -> bool {
    let is_bool = |body: &Body, def: Def| body.bit_size(def) == 1;
    let result = body.inst_def(inst);
    match *body.inst(inst) {
        InstData::Alu { op, flags } => {
            let makes = result.is_some_and(|def| is_bool(body, def));
            match op {
                AluOp::Bcsel => body.set_inst(inst, InstData::Alu { op: AluOp::B32csel, flags }),
                // A conversion to a boolean is a comparison with 0.
                AluOp::B2b1 => body.set_inst(inst, InstData::Alu { op: AluOp::B2b32, flags }),
                AluOp::I2i1 | AluOp::U2u1 | AluOp::F2i1 | AluOp::F2u1 | AluOp::B2i1 => {
                    return convert(body, inst, op);
                }
                // All other comparisons have a 1-bit result, whatever they compare.
                _ if makes && op.info().output_type.bit_size == 1 => match wide_form(op) {
                    Some(op) => body.set_inst(inst, InstData::Alu { op, flags }),
                    None => return false,
                },
                _ if !makes => return false,
                _ => {}
            }
            if let (true, Some(def)) = (makes, result) {
                widen(body, def);
            }
            makes || op == AluOp::Bcsel
        }
        InstData::LoadConst { .. } => {
            let Some(def) = result.filter(|&d| is_bool(body, d)) else { return false };
            let words: Vec<u64> = body
                .def_constant(def)
                .unwrap_or(&[])
                .iter()
                .map(|&w| if w & 1 != 0 { 0xffff_ffff } else { 0 })
                .collect();
            let start = body.push_constants(&words);
            body.set_inst(inst, InstData::LoadConst { start });
            widen(body, def);
            true
        }
        InstData::Intrinsic { op, .. } => {
            if op == IntrinsicOp::DeclReg {
                if body.index(inst, IndexKind::BitSize) != 1 {
                    return false;
                }
                body.set_index(inst, IndexKind::BitSize, 32);
                return true;
            }
            let Some(def) = result.filter(|&d| is_bool(body, d)) else { return false };
            widen(body, def);
            true
        }
        InstData::ParallelCopy(_) => {
            let dests: Vec<Def> = body.copies(inst).unwrap_or(&[]).iter().filter_map(|e| e.dest.expand()).collect();
            let narrow: Vec<Def> = dests.into_iter().filter(|&d| is_bool(body, d)).collect();
            for &def in &narrow {
                widen(body, def);
            }
            !narrow.is_empty()
        }
        _ => {
            let Some(def) = result.filter(|&d| is_bool(body, d)) else { return false };
            widen_texture(body, inst);
            widen(body, def);
            true
        }
    }
}

/// Gives a texture operation with a 1-bit result one of 32 bits.
pub(super) fn widen_texture(body: &mut Body, inst: Inst) -> bool {
    let tex = body.tex_mut(inst).filter(|tex| tex.dest_type == AluType::BOOL1);
    tex.map(|tex| tex.dest_type = AluType::BOOL32).is_some()
}

fn widen(body: &mut Body, def: Def) {
    let shape = body.shape(def);
    body.set_shape(def, Shape { bit_size: 32, ..shape });
}

/// `i2i1` and similar opcodes keep the lowest bit of an integer; those on floats convert first.
fn convert(body: &mut Body, inst: Inst, op: AluOp) -> bool {
    let Some(def) = body.inst_def(inst) else { return false };
    let count = body.num_components(def);
    let source = body.source(inst, 0);
    let value = AluSrc::new(body.src_def(source), body.swizzle(source));
    let bits = body.bit_size(value.def);
    let mut builder = Builder::new(body, Cursor::Before(inst));
    let value = match op {
        AluOp::F2i1 => builder.alu_sized(AluOp::F2i32, count, &[value]),
        AluOp::F2u1 => builder.alu_sized(AluOp::F2u32, count, &[value]),
        _ if bits == 1 => builder.alu_sized(AluOp::Mov, count, &[value]),
        _ => builder.alu_sized(AluOp::U2u32, count, &[value]),
    };
    let one = builder.u32_const(1);
    let zero = builder.u32_const(0);
    let low = builder.alu_sized(AluOp::Iand, count, &[value.into(), AluSrc::component(one, 0)]);
    let truth = builder.alu_sized(AluOp::Ine32, count, &[low.into(), AluSrc::component(zero, 0)]);
    body.replace_all_uses(def, truth);
    body.remove_inst(inst);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shader::ShaderStage;

    #[test]
    fn no_boolean_is_left() {
        let mut shader = Shader::new(ShaderStage::Vertex);
        let body = shader.main_mut();
        let mut b = Builder::at_end(body);
        let (x, y) = (b.f32_const(1.0), b.f32_const(2.0));
        let less = b.alu(AluOp::Flt, &[x, y]);
        let yes = b.bool_const(true);
        let both = b.alu(AluOp::Iand, &[less, yes]);
        let pair = b.vec_of(&[both, less]);
        let any = b.alu(AluOp::BanyInequal2, &[pair, pair]);
        let same = b.alu(AluOp::Ieq, &[any, yes]);
        let value = b.alu(AluOp::Bcsel, &[same, x, y]);
        let converted = b.alu(AluOp::I2i1, &[value]);
        let branch = b.push_if(converted);
        b.end_if(branch);
        assert!(lower_bool_to_int32(&mut shader));
        crate::validate::validate(&shader).expect("valid");
        let body = shader.main();
        for block in body.blocks() {
            for inst in body.insts(block) {
                assert!(body.inst_def(inst).is_none_or(|def| body.bit_size(def) == 32), "{inst}");
            }
        }
        let op = |def| body.alu_op(body.def_inst(def));
        assert_eq!(op(less), Some(AluOp::Flt32));
        assert_eq!(op(both), Some(AluOp::Iand));
        assert_eq!(op(any), Some(AluOp::B32anyInequal2));
        assert_eq!(op(same), Some(AluOp::Ieq32));
        assert_eq!(op(value), Some(AluOp::B32csel));
        assert_eq!(body.def_constant(yes), Some(&[0xffff_ffff][..]));
        assert!(!lower_bool_to_int32(&mut shader));
    }
}
