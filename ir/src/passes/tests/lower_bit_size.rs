//! Lowers operations on small numbers to wider ones, for targets that lack the small size. A callback selects the
//! instructions and the width.
//!
//! ```text
//! 8 %3 = umul_high %1, %2     =>     32 %4 = u2u32 %1
//!                                    32 %5 = u2u32 %2
//!                                    32 %6 = imul %4, %5
//!                                    32 %7 = ushr %6, 8
//!                                    8  %3 = u2u8 %7
//! ```
//!
//! Operands are widened as the opcode interprets them: sign-extended, zero-extended, or as floats; the result is
//! truncated or rounded. Where the size affects more than the operands, another form is used: high halves of products,
//! shifts and rotations (counts are modulo the small size), saturation, carries, bits counted from the top, classes of
//! floats. Conversions between sizes are used by all forms and are never changed.
//!
//! Besides ALU instructions, this handles phis, reads of other invocations, votes of equality, and reductions of
//! integers (with minima and maxima of floats).
//!
//! All integer forms are exact. Floats are computed in the wider size and rounded once more, which is exact for sums,
//! products, quotients and roots of 16-bit floats in 32 bits if both sizes round to the nearest.
//!
//! Cost: linear.

use arrayvec::ArrayVec;

use super::arithmetic::{Arithmetic, replace_alu};
use crate::alu::{AluOp, AluType, BaseType};
use crate::body::{Body, InstData, Shape, SourceSpec};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Inst};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::shader::Shader;

/// Returns the number of bits that an instruction should work on (32 or 64); 0, or at most its current number, to leave
/// it alone.
pub type Callback<'a> = &'a dyn Fn(&Body, Inst) -> u8;

/// See the [module](self).
pub fn lower_bit_size(shader: &mut Shader, callback: Callback<'_>) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        for block in body.blocks_vec() {
            progress |= lower_phis(body, block, callback);
            let mut next = body.first_inst(block);
            while let Some(inst) = next {
                next = body.next_inst(inst);
                if let InstData::Intrinsic { op, .. } = *body.inst(inst) {
                    progress |= lower_intrinsic(body, inst, op, callback);
                }
            }
        }
    }
    progress | replace_alu(shader, |op, m| lower(m, op, callback(m.builder.body, m.inst())))
}

/// Returns the opcode that converts to a size.
fn conversion(base: BaseType, bits: u8) -> Option<AluOp> {
    Some(match (base, bits) {
        (BaseType::Int, 8) => AluOp::I2i8,
        (BaseType::Int, 16) => AluOp::I2i16,
        (BaseType::Int, 32) => AluOp::I2i32,
        (BaseType::Int, 64) => AluOp::I2i64,
        (BaseType::Uint, 8) => AluOp::U2u8,
        (BaseType::Uint, 16) => AluOp::U2u16,
        (BaseType::Uint, 32) => AluOp::U2u32,
        (BaseType::Uint, 64) => AluOp::U2u64,
        (BaseType::Float, 16) => AluOp::F2f16,
        (BaseType::Float, 32) => AluOp::F2f32,
        (BaseType::Float, 64) => AluOp::F2f64,
        (BaseType::Bool, 8) => AluOp::B2b8,
        (BaseType::Bool, 16) => AluOp::B2b16,
        (BaseType::Bool, 32) => AluOp::B2b32,
        _ => return None,
    })
}

/// Returns whether an opcode only changes the size of a number.
fn is_resizing(op: AluOp) -> bool {
    let info = op.info();
    info.numeric_conversion && info.input_types.iter().all(|ty| ty.base == info.output_type.base)
}

fn lower(m: &mut Arithmetic<'_>, op: AluOp, wide: u8) -> Option<Def> {
    let bits = m.small_bits();
    if !matches!(wide, 32 | 64) || bits >= wide || bits < 8 || is_resizing(op) {
        return None;
    }
    let info = op.info();
    let mut types = info.input_types.iter().chain([&info.output_type]).filter(|ty| ty.is_unsized());
    if info.bit_sizes.is_empty()
        || types.any(|ty| conversion(ty.base, bits).is_none() || conversion(ty.base, wide).is_none())
    {
        return None;
    }
    m.builder.flags = m.flags();
    let mut sources: ArrayVec<Def, 16> = ArrayVec::new();
    for (number, ty) in info.input_types.iter().enumerate() {
        sources.push(if ty.is_unsized() {
            // With its swizzle: a `mov` would be another operation of the small size.
            let (operand, components) = m.operand(number);
            m.builder.alu_sized(conversion(ty.base, wide)?, components, &[operand])
        } else {
            m.source(number)
        });
    }
    let result = special(m, op, &sources, bits).unwrap_or_else(|| {
        let operands: ArrayVec<AluSrc, 16> = sources.iter().map(|&def| def.into()).collect();
        m.builder.alu_sized(op, m.components, &operands)
    });
    if !info.output_type.is_unsized() {
        return Some(result);
    }
    // The extension does not matter, as the result is truncated.
    let base = if info.output_type.base == BaseType::Int { BaseType::Uint } else { info.output_type.base };
    Some(m.builder.alu(conversion(base, bits)?, &[result]))
}

/// Lowers operations that have another form. The operands are wide.
fn special(m: &mut Arithmetic<'_>, op: AluOp, sources: &[Def], bits: u8) -> Option<Def> {
    use AluOp as O;
    let (&a, b) = (sources.first()?, sources.get(1).copied());
    let bits32 = u32::from(bits);
    let wide = m.bits(a);
    let mask = (1u64 << bits) - 1;
    Some(match (op, b) {
        (O::ImulHigh | O::UmulHigh, Some(b)) => {
            // The whole product fits.
            let product = m.imul(a, b);
            m.ushr_imm(product, bits32)
        }
        (O::Ishl | O::Ishr | O::Ushr, Some(count)) => {
            let count = m.iand_imm(count, u64::from(bits) - 1);
            m.op(op, &[a, count])
        }
        (O::Urol | O::Uror, Some(count)) => {
            let back = m.ineg(count);
            let [count, back] = [count, back].map(|count| m.iand_imm(count, u64::from(bits) - 1));
            let (left, right) = if op == O::Urol { (count, back) } else { (back, count) };
            let (left, right) = (m.ishl(a, left), m.ushr(a, right));
            m.ior(left, right)
        }
        (_, Some(count)) if op.info().group == "compare-bit" => {
            let count = m.iand_imm(count, u64::from(bits) - 1);
            m.op(op, &[a, count])
        }
        (O::IaddSat | O::IsubSat, Some(b)) => {
            let sum = if op == O::IaddSat { m.iadd(a, b) } else { m.isub(a, b) };
            let most = m.constant(wide, mask >> 1);
            let least = m.constant(wide, !(mask >> 1));
            let sum = m.op(O::Imin, &[sum, most]);
            m.op(O::Imax, &[sum, least])
        }
        (O::UaddSat, Some(b)) => {
            let sum = m.iadd(a, b);
            let most = m.constant(wide, mask);
            m.op(O::Umin, &[sum, most])
        }
        (O::UaddCarry, Some(b)) => {
            let sum = m.iadd(a, b);
            m.ushr_imm(sum, bits32)
        }
        (O::UfindMsbRev, _) => {
            let from_top = m.op(op, &[a]);
            let none = m.is_negative(from_top);
            let less = m.iadd_imm(from_top, (i64::from(bits) - i64::from(wide)) as u64);
            m.bcsel(none, from_top, less)
        }
        (O::Fisnormal, _) => {
            let (least, infinity) = match (bits, wide) {
                (16, 32) => ((1.0f32 / 16384.0).to_bits().into(), f32::INFINITY.to_bits().into()),
                (16, _) => ((1.0f64 / 16384.0).to_bits(), f64::INFINITY.to_bits()),
                _ => (f64::from(f32::MIN_POSITIVE).to_bits(), f64::INFINITY.to_bits()),
            };
            let (least, infinity) = (m.constant(wide, least), m.constant(wide, infinity));
            let magnitude = m.fabs(a);
            let large = m.fge(magnitude, least);
            let finite = m.flt(magnitude, infinity);
            m.iand(large, finite)
        }
        _ => return None,
    })
}

/// Returns the requested width of an instruction that forwards bits, if it differs from the current one.
fn wanted(body: &Body, inst: Inst, def: Def, callback: Callback<'_>) -> Option<u8> {
    let bits = body.bit_size(def);
    if !matches!(bits, 8 | 16 | 32) {
        return None;
    }
    let wide = callback(body, inst);
    (matches!(wide, 32 | 64) && wide > bits).then_some(wide)
}

fn lower_phis(body: &mut Body, block: Block, callback: Callback<'_>) -> bool {
    let phis: Vec<Inst> = body.phis(block).collect();
    let mut replaced = Vec::new();
    for phi in phis {
        let Some(def) = body.inst_def(phi) else { continue };
        let Some(wide) = wanted(body, phi, def, callback) else { continue };
        let Some(widen) = conversion(BaseType::Uint, wide) else { continue };
        let sources: Vec<(Block, Def)> =
            body.phi_sources(phi).map(|(block, source)| (block, body.src_def(source))).collect();
        let sources: Vec<(Block, Def)> = sources
            .into_iter()
            .map(|(predecessor, value)| {
                let cursor = Cursor::before_jump(body, predecessor);
                (predecessor, Builder::new(body, cursor).alu(widen, &[value]))
            })
            .collect();
        let shape = Shape { bit_size: wide, ..body.shape(def) };
        let new = Builder::new(body, Cursor::BlockStart(block)).phi(shape, &sources);
        replaced.push((phi, def, new));
    }
    let progress = !replaced.is_empty();
    let cursor = Cursor::after_phis(body, block);
    let mut builder = Builder::new(body, cursor);
    for (phi, def, new) in replaced {
        let Some(narrow) = conversion(BaseType::Uint, builder.body.bit_size(def)) else { continue };
        let value = builder.alu(narrow, &[new]);
        builder.body.replace_all_uses(def, value);
        // The cursor may be right after the phi that is removed.
        let after = builder.body.def_inst(value);
        builder.cursor = Cursor::After(after);
        builder.body.remove_inst(phi);
    }
    progress
}

/// Returns the type of the first operand of an intrinsic on numbers of other invocations; `None` for other intrinsics.
fn operand_type(body: &Body, inst: Inst, op: IntrinsicOp) -> Option<AluType> {
    use IntrinsicOp as I;
    Some(match op {
        I::ReadInvocation | I::ReadFirstInvocation | I::Shuffle | I::ShuffleXor | I::ShuffleUp | I::ShuffleDown => {
            AluType::UINT
        }
        I::Rotate | I::QuadBroadcast | I::QuadSwapHorizontal | I::QuadSwapVertical | I::QuadSwapDiagonal => {
            AluType::UINT
        }
        I::VoteIeq => AluType::UINT,
        I::VoteFeq => AluType::FLOAT,
        I::Reduce | I::InclusiveScan | I::ExclusiveScan => match reduction(body, inst)? {
            AluOp::Iadd | AluOp::Imul | AluOp::Iand | AluOp::Ior | AluOp::Ixor | AluOp::Umin | AluOp::Umax => {
                AluType::UINT
            }
            AluOp::Imin | AluOp::Imax => AluType::INT,
            AluOp::Fmin | AluOp::Fmax => AluType::FLOAT,
            // A sum that is rounded once differs from the sum of the small size.
            _ => return None,
        },
        _ => return None,
    })
}

fn reduction(body: &Body, inst: Inst) -> Option<AluOp> {
    AluOp::ALL.get(body.index(inst, IndexKind::ReductionOp) as usize).copied()
}

fn lower_intrinsic(body: &mut Body, inst: Inst, op: IntrinsicOp, callback: Callback<'_>) -> bool {
    let Some(ty) = operand_type(body, inst, op) else { return false };
    let (value, Some(def)) = (body.src(inst, 0), body.inst_def(inst)) else { return false };
    let Some(wide) = wanted(body, inst, value, callback) else { return false };
    let bits = body.bit_size(value);
    let (Some(widen), Some(narrow)) = (conversion(ty.base, wide), conversion(ty.base, bits)) else { return false };
    let data = *body.inst(inst);
    let others: ArrayVec<Def, 4> = body.sources(inst).skip(1).take(4).map(|source| body.src_def(source)).collect();
    let is_vote = matches!(op, IntrinsicOp::VoteIeq | IntrinsicOp::VoteFeq);
    let scan = (op == IntrinsicOp::ExclusiveScan).then(|| reduction(body, inst)).flatten();
    let shape = body.shape(def);
    let mut m = Arithmetic::before(body, inst, shape.num_components);
    let widened = m.builder.alu(widen, &[value]);
    let sources: ArrayVec<SourceSpec, 5> = std::iter::once(widened).chain(others).map(SourceSpec::plain).collect();
    let shape = if is_vote { shape } else { Shape { bit_size: wide, ..shape } };
    let made = m.builder.build(data, &sources, Some(shape));
    let Some(mut result) = m.builder.body.inst_def(made) else { return false };
    if !is_vote {
        // The first invocation has the neutral element: the limits of the small type differ from those of the wide one.
        let most = ((1u64 << bits) - 1) >> 1;
        let limit = match scan {
            Some(AluOp::Imin) => Some((AluOp::Imin, most)),
            Some(AluOp::Imax) => Some((AluOp::Imax, !most)),
            _ => None,
        };
        if let Some((op, limit)) = limit {
            let limit = m.constant(wide, limit);
            result = m.op(op, &[result, limit]);
        }
        result = m.builder.alu(narrow, &[result]);
    }
    body.replace_all_uses(def, result);
    body.remove_inst(inst);
    true
}
