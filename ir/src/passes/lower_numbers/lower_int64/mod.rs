//! Lowers operations on 64-bit integers to operations on pairs of 32-bit words, for targets that lack them
//! ([`CompilerOptions::lower_int64`]).
//!
//! ```text
//! 64 %3 = iadd %1, %2     =>     32 %4 = unpack_64_2x32_split_x %1     32 %6 = unpack_64_2x32_split_y %1
//!                                32 %5 = unpack_64_2x32_split_x %2     32 %7 = unpack_64_2x32_split_y %2
//!                                32 %8 = iadd %4, %5                   1  %9 = ult %8, %4
//!                                32 %a = iadd %6, %7                   32 %b = b2i32 %9
//!                                32 %c = iadd %a, %b                   64 %3 = pack_64_2x32_split %8, %c
//! ```
//!
//! Values keep their type: loads, phis, moves and vectors have 64 bits, and the algebraic rules remove the packing and
//! unpacking between operations. Components are lowered separately; no control flow is emitted. Results are those of
//! the opcode table: 0 for a division by 0, saturating conversions, floats rounded to the nearest, ties to even,
//! whatever the shader's rounding mode. The emitted code has 1-bit booleans, so the pass must run before these are
//! lowered; divisions use 32-bit `udiv`, which [`lower_idiv`](mod@crate::passes::lower_numbers::lower_idiv) lowers.
//!
//! - `pair.rs`: sums, products, shifts, comparisons; `divide.rs`; `convert.rs`; `subgroup.rs`: intrinsics that exchange
//!   integers between invocations.
//!
//! Cost: linear; a division takes about 150 instructions, all others fewer than 40.

pub(crate) mod convert;
mod divide;
pub(crate) mod pair;
mod subgroup;

use crate::alu::AluOp;
use crate::entities::Def;
use crate::options::{CompilerOptions, Int64Ops};
use crate::passes::lower_numbers::arithmetic::{Arithmetic, replace_alu};
use crate::shader::Shader;
use pair::Pair;

/// See the [module](self).
pub fn lower_int64(shader: &mut Shader, options: &CompilerOptions) -> bool {
    let wanted = options.lower_int64;
    if wanted == Int64Ops::NONE {
        return false;
    }
    let subgroup = subgroup::lower_intrinsics(shader, wanted);
    let alu = replace_alu(shader, |op, m| {
        let family = family(op, m)?;
        wanted.contains(family).then(|| lower(op, m))?
    });
    subgroup | alu
}

/// Returns the family of an instruction if it works on 64-bit integers.
fn family(op: AluOp, m: &Arithmetic<'_>) -> Option<Int64Ops> {
    use AluOp as O;
    let makes = m.result_bits() == 64;
    let takes = m.source_bits(0) == 64;
    let (family, works) = match op {
        O::Imul | O::Amul | O::Imad => (Int64Ops::MUL, makes),
        O::Imul2x3264 | O::Umul2x3264 => (Int64Ops::MUL_2X32_64, makes),
        O::ImulHigh | O::UmulHigh => (Int64Ops::MUL_HIGH, makes),
        O::Isign => (Int64Ops::SIGN, makes),
        O::Idiv | O::Udiv | O::Irem | O::Imod | O::Umod => (Int64Ops::DIVMOD, makes),
        O::I2i64 | O::U2u64 | O::B2i64 | O::F2i64 | O::F2u64 => (Int64Ops::CONVERSION, makes),
        O::I2i1 | O::I2i8 | O::I2i16 | O::I2i32 | O::U2u1 | O::U2u8 | O::U2u16 | O::U2u32 => {
            (Int64Ops::CONVERSION, takes)
        }
        O::I2f16 | O::I2f32 | O::I2f64 | O::U2f16 | O::U2f32 | O::U2f64 => (Int64Ops::CONVERSION, takes),
        O::Bcsel | O::B8csel | O::B16csel | O::B32csel | O::IcselEqz => (Int64Ops::SELECT, makes),
        O::Bitnz | O::Bitnz8 | O::Bitnz16 | O::Bitnz32 | O::Bitz | O::Bitz8 | O::Bitz16 | O::Bitz32 => {
            (Int64Ops::COMPARISON, takes)
        }
        O::Iadd | O::Isub | O::UaddCarry | O::UsubBorrow | O::UabsIsub | O::UabsUsub => (Int64Ops::ADD, makes),
        O::Ihadd | O::Uhadd | O::Irhadd | O::Urhadd => (Int64Ops::ADD, makes),
        O::Iabs => (Int64Ops::ABS, makes),
        O::Ineg => (Int64Ops::NEG, makes),
        O::Iand | O::Ior | O::Ixor | O::Inot | O::BitfieldSelect => (Int64Ops::LOGIC, makes),
        O::Imin | O::Imax | O::Umin | O::Umax => (Int64Ops::MIN_MAX, makes),
        O::Ishl | O::Ishr | O::Ushr | O::Urol | O::Uror | O::UdivAligned4 => (Int64Ops::SHIFT, makes),
        O::ExtractU8 | O::ExtractI8 | O::ExtractU16 | O::ExtractI16 | O::InsertU8 | O::InsertU16 => {
            (Int64Ops::EXTRACT, makes)
        }
        O::FindLsb => (Int64Ops::FIND_LSB, takes),
        O::BitCount => (Int64Ops::BIT_COUNT, takes),
        O::UfindMsb | O::UfindMsbRev => (Int64Ops::FIND_MSB, takes),
        O::IaddSat | O::IsubSat => (Int64Ops::IADD_SAT, makes),
        O::UaddSat => (Int64Ops::UADD_SAT, makes),
        O::UsubSat => (Int64Ops::USUB_SAT, makes),
        O::Iadd3 => (Int64Ops::IADD3, makes),
        _ if comparison(op).is_some() || vector_comparison(op) => (Int64Ops::COMPARISON, takes),
        _ => return None,
    };
    works.then_some(family)
}

/// Returns the comparison that an opcode performs, and the opcode that converts a 1-bit boolean to its result size.
const fn comparison(op: AluOp) -> Option<(AluOp, AluOp)> {
    use AluOp as O;
    Some(match op {
        O::Ieq | O::Ine | O::Ilt | O::Ige | O::Ult | O::Uge => (op, O::Mov),
        O::Ieq8 => (O::Ieq, O::B2b8),
        O::Ine8 => (O::Ine, O::B2b8),
        O::Ilt8 => (O::Ilt, O::B2b8),
        O::Ige8 => (O::Ige, O::B2b8),
        O::Ult8 => (O::Ult, O::B2b8),
        O::Uge8 => (O::Uge, O::B2b8),
        O::Ieq16 => (O::Ieq, O::B2b16),
        O::Ine16 => (O::Ine, O::B2b16),
        O::Ilt16 => (O::Ilt, O::B2b16),
        O::Ige16 => (O::Ige, O::B2b16),
        O::Ult16 => (O::Ult, O::B2b16),
        O::Uge16 => (O::Uge, O::B2b16),
        O::Ieq32 => (O::Ieq, O::B2b32),
        O::Ine32 => (O::Ine, O::B2b32),
        O::Ilt32 => (O::Ilt, O::B2b32),
        O::Ige32 => (O::Ige, O::B2b32),
        O::Ult32 => (O::Ult, O::B2b32),
        O::Uge32 => (O::Uge, O::B2b32),
        _ => return None,
    })
}

/// Returns whether the opcode compares whole vectors of integers.
fn vector_comparison(op: AluOp) -> bool {
    let info = op.info();
    info.group == "compare-horizontal" && info.input_types.first() == Some(&crate::alu::AluType::INT)
}

fn lower(op: AluOp, m: &mut Arithmetic<'_>) -> Option<Def> {
    use AluOp as O;
    if let Some((question, widen)) = comparison(op) {
        let (a, b) = (m.pair(0), m.pair(1));
        let truth = compare(m, question, a, b);
        return Some(if widen == O::Mov { truth } else { m.op(widen, &[truth]) });
    }
    if vector_comparison(op) {
        // Numbers are equal if no bit differs.
        let result = std::mem::replace(&mut m.components, op.input_components(0, 1));
        let (a, b) = (m.pair(0), m.pair(1));
        let difference = m.difference(a, b);
        let zeros = m.builder.constant(32, &vec![0; m.components.into()]);
        m.components = result;
        return Some(m.builder.alu(op, &[difference, zeros]));
    }
    let pair = match op {
        O::Imul | O::Amul => {
            let (a, b) = (m.pair(0), m.pair(1));
            m.mul64(a, b)
        }
        O::Imad => {
            let (a, b, c) = (m.pair(0), m.pair(1), m.pair(2));
            let product = m.mul64(a, b);
            m.add64(product, c)
        }
        O::Imul2x3264 | O::Umul2x3264 => {
            let (a, b) = (m.source(0), m.source(1));
            let lo = m.imul(a, b);
            let hi = if op == O::Imul2x3264 { m.imul_high(a, b) } else { m.umul_high(a, b) };
            Pair { lo, hi }
        }
        O::ImulHigh | O::UmulHigh => {
            let (a, b) = (m.pair(0), m.pair(1));
            let high = m.umul_high64(a, b);
            if op == O::ImulHigh { m.signed_high64(a, b, high) } else { high }
        }
        O::Isign => {
            let a = m.pair(0);
            let hi = m.ishr_imm(a.hi, 31);
            let any = m.ior(a.lo, a.hi);
            let zero = m.int(0);
            let truth = m.ine(any, zero);
            let one = m.b2i32(truth);
            Pair { lo: m.ior(hi, one), hi }
        }
        O::Idiv | O::Udiv | O::Irem | O::Imod | O::Umod => divide::divide(m, op),
        O::Bcsel | O::B8csel | O::B16csel | O::B32csel => {
            let condition = m.source(0);
            let (a, b) = (m.pair(1), m.pair(2));
            Pair { lo: m.op(op, &[condition, a.lo, b.lo]), hi: m.op(op, &[condition, a.hi, b.hi]) }
        }
        O::IcselEqz => {
            let (condition, a, b) = (m.pair(0), m.pair(1), m.pair(2));
            let any = m.ior(condition.lo, condition.hi);
            Pair { lo: m.op(op, &[any, a.lo, b.lo]), hi: m.op(op, &[any, a.hi, b.hi]) }
        }
        O::Iadd => {
            let (a, b) = (m.pair(0), m.pair(1));
            m.add64(a, b)
        }
        O::Isub => {
            let (a, b) = (m.pair(0), m.pair(1));
            m.sub64(a, b)
        }
        O::Iadd3 => {
            let (a, b, c) = (m.pair(0), m.pair(1), m.pair(2));
            let sum = m.add64(a, b);
            m.add64(sum, c)
        }
        O::UaddCarry | O::UsubBorrow => {
            let (a, b) = (m.pair(0), m.pair(1));
            let truth = if op == O::UaddCarry {
                let sum = m.add64(a, b);
                m.ult64(sum, a)
            } else {
                m.ult64(a, b)
            };
            Pair { lo: m.b2i32(truth), hi: m.int(0) }
        }
        O::UabsIsub | O::UabsUsub => {
            let (a, b) = (m.pair(0), m.pair(1));
            let is_less = if op == O::UabsIsub { m.ilt64(a, b) } else { m.ult64(a, b) };
            let (positive, negative) = (m.sub64(a, b), m.sub64(b, a));
            m.select64(is_less, negative, positive)
        }
        O::Ihadd | O::Uhadd | O::Irhadd | O::Urhadd => {
            let (a, b) = (m.pair(0), m.pair(1));
            let differing = m.each64(O::Ixor, a, b);
            let shift = m.int(1);
            let half = m.shr64(differing, shift, matches!(op, O::Ihadd | O::Irhadd));
            if matches!(op, O::Ihadd | O::Uhadd) {
                let common = m.each64(O::Iand, a, b);
                m.add64(common, half)
            } else {
                let any = m.each64(O::Ior, a, b);
                m.sub64(any, half)
            }
        }
        O::Iabs => {
            let a = m.pair(0);
            m.abs64(a)
        }
        O::Ineg => {
            let a = m.pair(0);
            m.neg64(a)
        }
        O::Iand | O::Ior | O::Ixor => {
            let (a, b) = (m.pair(0), m.pair(1));
            m.each64(op, a, b)
        }
        O::Inot => {
            let a = m.pair(0);
            Pair { lo: m.inot(a.lo), hi: m.inot(a.hi) }
        }
        O::BitfieldSelect => {
            let (a, b, c) = (m.pair(0), m.pair(1), m.pair(2));
            Pair { lo: m.op(op, &[a.lo, b.lo, c.lo]), hi: m.op(op, &[a.hi, b.hi, c.hi]) }
        }
        O::Imin | O::Imax | O::Umin | O::Umax => {
            let (a, b) = (m.pair(0), m.pair(1));
            let is_less = if matches!(op, O::Imin | O::Imax) { m.ilt64(a, b) } else { m.ult64(a, b) };
            if matches!(op, O::Imin | O::Umin) { m.select64(is_less, a, b) } else { m.select64(is_less, b, a) }
        }
        O::Ishl | O::Ishr | O::Ushr => {
            let (a, count) = (m.pair(0), m.source(1));
            if op == O::Ishl { m.shl64(a, count) } else { m.shr64(a, count, op == O::Ishr) }
        }
        O::Urol | O::Uror => {
            let (a, count) = (m.pair(0), m.source(1));
            let back = m.ineg(count);
            let (left, right) = if op == O::Urol { (count, back) } else { (back, count) };
            let (left, right) = (m.shl64(a, left), m.shr64(a, right, false));
            m.each64(O::Ior, left, right)
        }
        O::UdivAligned4 => {
            let (a, two) = (m.pair(0), m.int(2));
            m.shr64(a, two, false)
        }
        O::ExtractU8 | O::ExtractI8 | O::ExtractU16 | O::ExtractI16 => extract(m, op),
        O::InsertU8 | O::InsertU16 => insert(m, op),
        O::IaddSat | O::IsubSat => saturated(m, op),
        O::UaddSat => {
            let (a, b) = (m.pair(0), m.pair(1));
            let sum = m.add64(a, b);
            let overflows = m.ult64(sum, a);
            let most = m.int(u32::MAX);
            m.select64(overflows, Pair { lo: most, hi: most }, sum)
        }
        O::UsubSat => {
            let (a, b) = (m.pair(0), m.pair(1));
            let difference = m.sub64(a, b);
            let overflows = m.ult64(a, b);
            let zero = m.int(0);
            m.select64(overflows, Pair { lo: zero, hi: zero }, difference)
        }
        O::I2i64 | O::U2u64 | O::B2i64 | O::F2i64 | O::F2u64 => convert::to_int64(m, op),
        _ => return word(m, op),
    };
    Some(m.join(pair))
}

/// Lowers operations with a result that is not a 64-bit integer.
fn word(m: &mut Arithmetic<'_>, op: AluOp) -> Option<Def> {
    use AluOp as O;
    let a = m.pair(0);
    Some(match op {
        O::I2i32 | O::U2u32 => a.lo,
        O::I2i1 | O::I2i8 | O::I2i16 | O::U2u1 | O::U2u8 | O::U2u16 => m.op(op, &[a.lo]),
        O::I2f16 | O::I2f32 | O::I2f64 | O::U2f16 | O::U2f32 | O::U2f64 => convert::to_float(m, op, a),
        O::Bitnz | O::Bitnz8 | O::Bitnz16 | O::Bitnz32 | O::Bitz | O::Bitz8 | O::Bitz16 | O::Bitz32 => {
            let count = m.source(1);
            let high = m.is_high(count);
            let half = m.bcsel(high, a.hi, a.lo);
            m.op(op, &[half, count])
        }
        O::BitCount => {
            let (lo, hi) = (m.op(op, &[a.lo]), m.op(op, &[a.hi]));
            m.iadd(lo, hi)
        }
        O::FindLsb => {
            // The high half gives -1 if it is 0 too; adding 32 to that would give 31.
            let (lo, hi) = (m.op(op, &[a.lo]), m.op(op, &[a.hi]));
            let beyond = m.iadd_imm(hi, 32);
            let none = m.is_negative(hi);
            let high = m.bcsel(none, hi, beyond);
            let is_high = m.is_zero(a.lo);
            m.bcsel(is_high, high, lo)
        }
        O::UfindMsb => m.find_msb64(a),
        O::UfindMsbRev => {
            let bit = m.find_msb64(a);
            let none = m.is_negative(bit);
            let top = m.int(63);
            let from_top = m.isub(top, bit);
            m.bcsel(none, bit, from_top)
        }
        _ => return None,
    })
}

fn compare(m: &mut Arithmetic<'_>, op: AluOp, a: Pair, b: Pair) -> Def {
    match op {
        AluOp::Ieq => {
            let difference = m.difference(a, b);
            m.is_zero(difference)
        }
        AluOp::Ine => {
            let difference = m.difference(a, b);
            let zero = m.int(0);
            m.ine(difference, zero)
        }
        AluOp::Ult => m.ult64(a, b),
        AluOp::Ilt => m.ilt64(a, b),
        AluOp::Uge => {
            let less = m.ult64(a, b);
            m.inot(less)
        }
        _ => {
            let less = m.ilt64(a, b);
            m.inot(less)
        }
    }
}

/// `iadd_sat`, `isub_sat`
fn saturated(m: &mut Arithmetic<'_>, op: AluOp) -> Pair {
    let (a, b) = (m.pair(0), m.pair(1));
    let (result, differs) = if op == AluOp::IaddSat {
        let sum = m.add64(a, b);
        (sum, m.ixor(sum.hi, b.hi))
    } else {
        (m.sub64(a, b), m.ixor(a.hi, b.hi))
    };
    // The result's sign differs from that of both summands (or from that of a, which is also the sign of -b).
    let changes = m.ixor(result.hi, a.hi);
    let both = m.iand(changes, differs);
    let overflows = m.is_negative(both);
    let sign = m.ishr_imm(a.hi, 31);
    let most = m.int(0x7fff_ffff);
    let limit = Pair { lo: m.inot(sign), hi: m.ixor(sign, most) };
    m.select64(overflows, limit, result)
}

/// Returns the size of the part that an opcode extracts or inserts.
const fn part_bits(op: AluOp) -> u32 {
    if matches!(op, AluOp::ExtractU8 | AluOp::ExtractI8 | AluOp::InsertU8) { 8 } else { 16 }
}

/// Returns the position of the part, and whether it is within the number.
fn part_position(m: &mut Arithmetic<'_>, bits: u32) -> (Def, Def) {
    let index = m.pair(1);
    let parts = m.int(64 / bits);
    let small = m.ult(index.lo, parts);
    let no_more = m.is_zero(index.hi);
    let exists = m.iand(small, no_more);
    (m.ishl_imm(index.lo, bits.trailing_zeros()), exists)
}

fn extract(m: &mut Arithmetic<'_>, op: AluOp) -> Pair {
    let bits = part_bits(op);
    let a = m.pair(0);
    let (position, exists) = part_position(m, bits);
    let shifted = m.shr64(a, position, false);
    if matches!(op, AluOp::ExtractU8 | AluOp::ExtractU16) {
        let zero = m.int(0);
        let present = m.bcsel(exists, shifted.lo, zero);
        return Pair { lo: m.iand_imm(present, (1 << bits) - 1), hi: zero };
    }
    // Parts beyond the number are filled with its sign.
    let sign = m.ishr_imm(a.hi, 31);
    let present = m.bcsel(exists, shifted.lo, sign);
    let top = m.ishl_imm(present, 32 - bits);
    let lo = m.ishr_imm(top, 32 - bits);
    Pair { lo, hi: m.ishr_imm(lo, 31) }
}

fn insert(m: &mut Arithmetic<'_>, op: AluOp) -> Pair {
    let bits = part_bits(op);
    let a = m.pair(0);
    let (position, exists) = part_position(m, bits);
    let part = m.iand_imm(a.lo, (1 << bits) - 1);
    let zero = m.int(0);
    let present = m.bcsel(exists, part, zero);
    m.shl64(Pair { lo: present, hi: zero }, position)
}
