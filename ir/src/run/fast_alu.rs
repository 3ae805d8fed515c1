//! The table of ALU opcodes that are executed by loops over lanes.

use crate::alu::AluOp;

#[inline]
pub(super) fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

#[inline]
pub(super) fn fneg(bits: u32) -> u32 {
    bits ^ 0x8000_0000
}

#[inline]
pub(super) fn one(truth: bool) -> u32 {
    u32::from(truth)
}

#[inline]
pub(super) fn all(truth: bool) -> u32 {
    if truth { u32::MAX } else { 0 }
}

#[inline]
pub(super) fn float(truth: bool) -> u32 {
    if truth { 1f32.to_bits() } else { 0 }
}

#[inline]
pub(super) fn fmin(a: f32, b: f32) -> f32 {
    if a < b || b.is_nan() || (a == b && (a.to_bits() as i32) < b.to_bits() as i32) { a } else { b }
}

#[inline]
pub(super) fn fmax(a: f32, b: f32) -> f32 {
    if a > b || b.is_nan() || (a == b && (a.to_bits() as i32) > b.to_bits() as i32) { a } else { b }
}

/// The opcodes with a loop over lanes. `float` opcodes are exact only without flushing of denormals and rounding toward
/// zero; `word` opcodes are 32-bit; `bits` opcodes work in any size up to 32 bits.
macro_rules! fast_table {
    ($callback:ident $($argument:tt)*) => {
        $callback! { ($($argument)*)
            bits Mov |a| a;
            word B2f32 |a| float(a != 0);
            bits B2i32 |a| one(a != 0);
            bits B2b1 |a| one(a != 0);
            bits B2b32 |a| all(a != 0);
            word Fneg |a| fneg(a);
            word Fabs |a| a & 0x7fff_ffff;
            float Fsat |a| fmin(fmax(f(a), 0.0), 1.0).to_bits();
            float Ffloor |a| f(a).floor().to_bits();
            float Ffract |a| (f(a) - f(a).floor()).to_bits();
            float Frcp |a| (1.0 / f(a)).to_bits();
            word Ineg |a| a.wrapping_neg();
            word Inot |a| !a;
            word I2f32 |a| (a as i32 as f32).to_bits();
            word U2f32 |a| (a as f32).to_bits();
            float Fadd |a, b| (f(a) + f(b)).to_bits();
            float Fmul |a, b| (f(a) * f(b)).to_bits();
            float Fmin |a, b| fmin(f(a), f(b)).to_bits();
            float Fmax |a, b| fmax(f(a), f(b)).to_bits();
            float Fdiv |a, b| (f(a) / f(b)).to_bits();
            word Slt |a, b| float(f(a) < f(b));
            word Sge |a, b| float(f(a) >= f(b));
            word Seq |a, b| float(f(a) == f(b));
            word Sne |a, b| float(f(a) != f(b));
            word Flt |a, b| one(f(a) < f(b));
            word Fge |a, b| one(f(a) >= f(b));
            word Feq |a, b| one(f(a) == f(b));
            word Fneu |a, b| one(f(a) != f(b));
            word Flt32 |a, b| all(f(a) < f(b));
            word Fge32 |a, b| all(f(a) >= f(b));
            word Feq32 |a, b| all(f(a) == f(b));
            word Fneu32 |a, b| all(f(a) != f(b));
            word Ilt |a, b| one((a as i32) < b as i32);
            word Ige |a, b| one(a as i32 >= b as i32);
            word Ult |a, b| one(a < b);
            word Uge |a, b| one(a >= b);
            bits Ieq |a, b| one(a == b);
            bits Ine |a, b| one(a != b);
            word Ilt32 |a, b| all((a as i32) < b as i32);
            word Ige32 |a, b| all(a as i32 >= b as i32);
            word Ult32 |a, b| all(a < b);
            word Uge32 |a, b| all(a >= b);
            bits Ieq32 |a, b| all(a == b);
            bits Ine32 |a, b| all(a != b);
            word Iadd |a, b| a.wrapping_add(b);
            word Isub |a, b| a.wrapping_sub(b);
            word Imul |a, b| a.wrapping_mul(b);
            word Imin |a, b| (a as i32).min(b as i32) as u32;
            word Imax |a, b| (a as i32).max(b as i32) as u32;
            word Umin |a, b| a.min(b);
            word Umax |a, b| a.max(b);
            bits Iand |a, b| a & b;
            bits Ior |a, b| a | b;
            bits Ixor |a, b| a ^ b;
            word Ishl |a, b| a.wrapping_shl(b);
            word Ishr |a, b| (a as i32).wrapping_shr(b) as u32;
            word Ushr |a, b| a.wrapping_shr(b);
            bits Bcsel |a, b, c| if a != 0 { b } else { c };
            bits B32csel |a, b, c| if a != 0 { b } else { c };
            float Ffma |a, b, c| fma_single(f(a), f(b), f(c)).to_bits();
            float Fmulz |a, b| if f(a) == 0.0 || f(b) == 0.0 { 0 } else { (f(a) * f(b)).to_bits() };
            float Fmad |a, b, c| (f(a) * f(b) + f(c)).to_bits();
            float FlrpMad |a, b, c| (f(a) * (f(b) - f(c)) + f(c)).to_bits();
            float Flrp |a, b, c| (f(a) * (1.0 - f(c)) + f(b) * f(c)).to_bits();
            float Fcsel |a, b, c| if f(a) != 0.0 { b } else { c };
        }
    };
}

pub(super) use fast_table;

/// The requirements of a loop over lanes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LaneRequirement {
    Bits,
    Word,
    Float,
}

macro_rules! needs {
    (bits) => {
        LaneRequirement::Bits
    };
    (word) => {
        LaneRequirement::Word
    };
    (float) => {
        LaneRequirement::Float
    };
}

macro_rules! make_needs {
    (($op:ident) $($needs:ident $variant:ident |$($argument:ident),*| $value:expr;)*) => {
        match $op {
            $(AluOp::$variant => needs!($needs),)*
            op if op.is_vec() => LaneRequirement::Bits,
            AluOp::Fdot2
            | AluOp::Fdot3
            | AluOp::Fdot4
            | AluOp::Fdot2Replicated
            | AluOp::Fdot3Replicated
            | AluOp::Fdot4Replicated => LaneRequirement::Float,
            _ => return false,
        }
    };
}

/// Whether there is a loop over lanes for an opcode with unsized types of `bit_size` bits, and without 64-bit
/// components. `plain` means that 32-bit floats are neither flushed nor rounded toward zero.
pub(super) fn is_fast(op: AluOp, bit_size: u8, plain: bool) -> bool {
    match fast_table!(make_needs op) {
        LaneRequirement::Bits => true,
        // `bit_size` of an opcode without unsized types is 0 or the size of a boolean.
        LaneRequirement::Word => bit_size == 32 || bit_size == 0 || op == AluOp::B2f32,
        LaneRequirement::Float => plain && (bit_size == 32 || bit_size == 0),
    }
}
