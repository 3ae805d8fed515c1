//! The table of lane operations: ALU opcodes that have a loop over lanes.
//!
//! A row is the class, the opcode of the IR, its operands and what a lane computes from their words. `float` rows hold
//! for 32-bit floats that are neither flushed nor rounded toward zero, `word` rows for 32-bit operands, `bits` rows for
//! operands of any size up to 32 bits. All other opcodes go through [`tgsi_ir::alu::evaluate`], lane by lane; the test
//! below compares the rows with it.

use tgsi_ir::alu::AluOp;

#[inline(always)]
pub(crate) fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

#[inline(always)]
pub(crate) fn one(truth: bool) -> u32 {
    u32::from(truth)
}

#[inline(always)]
pub(crate) fn all(truth: bool) -> u32 {
    if truth { u32::MAX } else { 0 }
}

#[inline(always)]
pub(crate) fn float(truth: bool) -> u32 {
    if truth { 1f32.to_bits() } else { 0 }
}

#[inline(always)]
pub(crate) fn fmin(a: f32, b: f32) -> f32 {
    if a < b || b.is_nan() || (a == b && (a.to_bits() as i32) < b.to_bits() as i32) { a } else { b }
}

#[inline(always)]
pub(crate) fn fmax(a: f32, b: f32) -> f32 {
    if a > b || b.is_nan() || (a == b && (a.to_bits() as i32) > b.to_bits() as i32) { a } else { b }
}

/// Calls a macro with the table.
macro_rules! lane_operations {
    ($callback:ident $($argument:tt)*) => {
        $callback! { ($($argument)*)
            bits Mov |a| a;
            word B2f32 |a| float(a != 0);
            bits B2i32 |a| one(a != 0);
            bits B2b1 |a| one(a != 0);
            bits B2b32 |a| all(a != 0);
            word Fneg |a| a ^ 0x8000_0000;
            word Fabs |a| a & 0x7fff_ffff;
            float Fsat |a| fmin(fmax(f(a), 0.0), 1.0).to_bits();
            float Ffloor |a| f(a).floor().to_bits();
            float Fceil |a| f(a).ceil().to_bits();
            float Ftrunc |a| f(a).trunc().to_bits();
            float FroundEven |a| f(a).round_ties_even().to_bits();
            float Ffract |a| (f(a) - f(a).floor()).to_bits();
            float Frcp |a| (1.0 / f(a)).to_bits();
            float Fsqrt |a| f(a).sqrt().to_bits();
            float Frsq |a| (1.0 / f(a).sqrt()).to_bits();
            float Fsin |a| f(a).sin().to_bits();
            float Fcos |a| f(a).cos().to_bits();
            word Ineg |a| a.wrapping_neg();
            word Inot |a| !a;
            word Iabs |a| (a as i32).wrapping_abs() as u32;
            word I2f32 |a| (a as i32 as f32).to_bits();
            word U2f32 |a| (a as f32).to_bits();
            float Fadd |a, b| (f(a) + f(b)).to_bits();
            float Fsub |a, b| (f(a) - f(b)).to_bits();
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
            float Fmulz |a, b| if f(a) == 0.0 || f(b) == 0.0 { 0 } else { (f(a) * f(b)).to_bits() };
            bits Bcsel |a, b, c| if a != 0 { b } else { c };
            bits B32csel |a, b, c| if a != 0 { b } else { c };
            float Fmad |a, b, c| (f(a) * f(b) + f(c)).to_bits();
            float FlrpMad |a, b, c| (f(a) * (f(b) - f(c)) + f(c)).to_bits();
            float Flrp |a, b, c| (f(a) * (1.0 - f(c)) + f(b) * f(c)).to_bits();
            float Fcsel |a, b, c| if f(a) != 0.0 { b } else { c };
        }
    };
}
pub(crate) use lane_operations;

/// What a row demands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Bits,
    Word,
    Float,
}

macro_rules! class {
    (bits) => {
        Class::Bits
    };
    (word) => {
        Class::Word
    };
    (float) => {
        Class::Float
    };
}

macro_rules! classes {
    (($op:ident) $($class:ident $variant:ident |$($argument:ident),*| $value:expr;)*) => {
        match $op {
            $(AluOp::$variant => class!($class),)*
            _ => return false,
        }
    };
}

/// Whether the table has a row for an opcode without 64-bit operands. `plain`: 32-bit floats are neither flushed nor
/// rounded toward zero.
pub(crate) fn has_row(op: AluOp, bit_size: u8, plain: bool) -> bool {
    match lane_operations!(classes op) {
        Class::Bits => true,
        // An opcode with sizes of its own is given 0 or the size of a boolean.
        Class::Word => bit_size == 32 || bit_size == 0 || op == AluOp::B2f32,
        Class::Float => plain && (bit_size == 32 || bit_size == 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tgsi_ir::alu::{ExecutionMode, evaluate};

    macro_rules! lane {
        (($sources:ident) $($class:ident $variant:ident |$($argument:ident),*| $value:expr;)*) => {
            [$((AluOp::$variant, {
                let mut sources = $sources.iter().copied();
                $(let $argument: u32 = sources.next().unwrap_or(0);)*
                $value
            }),)*]
        };
    }

    #[test]
    fn rows_compute_what_the_table_of_the_ir_says() {
        let words = [
            0,
            1,
            2,
            31,
            32,
            33,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            0x8000_0001,
            0x3f80_0000,
            0xbf80_0000,
            0x7f80_0000,
            0xff80_0000,
            0x3fc0_0000,
            0x4020_0000,
            0xc020_0000,
            0x0080_0000,
            0x007f_ffff,
            0x4b00_0001,
            0x4f00_0000,
            0x3f00_0000,
            0xbf00_0000,
            0x1234_5678,
            0xdead_beef,
            0x4049_0fdb,
            0x7fc0_0000,
        ];
        let mut compared = 0;
        for &a in &words {
            for &b in &words {
                for &c in &words {
                    let sources = [a, b, c];
                    for (op, result) in lane_operations!(lane sources) {
                        let info = op.info();
                        // A 32-bit boolean is all or nothing.
                        if info.input_types[0].base == tgsi_ir::alu::BaseType::Bool && a != 0 && a != u32::MAX {
                            continue;
                        }
                        let wide = sources.map(u64::from);
                        let arguments: Vec<&[u64]> =
                            wide.iter().take(info.num_inputs.into()).map(std::slice::from_ref).collect();
                        let mut expected = [0];
                        evaluate(op, 32, 1, &arguments, ExecutionMode::DEFAULT, &mut expected);
                        let both_nan = f(result).is_nan() && f(expected[0] as u32).is_nan();
                        let is_float = info.output_type.base == tgsi_ir::alu::BaseType::Float;
                        let same = u64::from(result) == expected[0] || (is_float && both_nan);
                        assert!(same, "{op} {a:#x} {b:#x} {c:#x}: {result:#x}, not {:#x}", expected[0]);
                        compared += 1;
                    }
                }
            }
        }
        assert!(compared > 100_000);
    }
}
