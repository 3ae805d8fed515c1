//! 32-bit integers, bit fields, and conversions between 32-bit integers and floats.
//!
//! Arithmetic wraps; shift counts are masked to five bits. Conversions to integers truncate and saturate; NaN gives 0.

use super::kernel::{Kernel, boolean, f};
use tgsi::tables::Opcode;

/// Extracts a bit field; `shift_right` is the logical or the arithmetic shift.
fn bit_field_extract(value: u32, offset: u32, width: u32, shift_right: impl Fn(u32, u32) -> u32) -> u32 {
    let offset = offset & 31;
    if width == 32 && offset == 0 {
        return value;
    }
    let width = width & 31;
    if width == 0 {
        0
    } else if width + offset < 32 {
        shift_right(value << (32 - width - offset), 32 - width)
    } else {
        shift_right(value, offset)
    }
}

fn arithmetic_shift(value: u32, count: u32) -> u32 {
    ((value as i32) >> count) as u32
}

/// Index of the highest set bit, or -1 for 0.
fn find_msb(value: u32) -> u32 {
    31u32.wrapping_sub(value.leading_zeros())
}

pub(super) fn execute(kernel: Kernel<'_>, opcode: Opcode) -> u8 {
    match opcode {
        Opcode::Arl => kernel.map1(|a| f(a).floor() as i32 as u32),
        Opcode::Arr => kernel.map1(|a| (f(a) + 0.5).floor() as i32 as u32),
        Opcode::Uarl => kernel.map1(|a| a),
        Opcode::I2f => kernel.map1(|a| (a as i32 as f32).to_bits()),
        Opcode::U2f => kernel.map1(|a| (a as f32).to_bits()),
        Opcode::F2i => kernel.map1(|a| f(a) as i32 as u32),
        Opcode::F2u => kernel.map1(|a| f(a) as u32),
        Opcode::Uadd => kernel.map2(u32::wrapping_add),
        Opcode::Umul => kernel.map2(u32::wrapping_mul),
        Opcode::Umad => kernel.map3(|a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        Opcode::ImulHi => kernel.i2(|a, b| ((i64::from(a) * i64::from(b)) >> 32) as i32),
        Opcode::UmulHi => kernel.map2(|a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32),
        Opcode::Idiv => kernel.i2(|a, b| if b == 0 { 0 } else { a.wrapping_div(b) }),
        Opcode::Mod => kernel.i2(|a, b| if b == 0 { -1 } else { a.wrapping_rem(b) }),
        Opcode::Udiv => kernel.map2(|a, b| a.checked_div(b).unwrap_or(u32::MAX)),
        Opcode::Umod => kernel.map2(|a, b| a.checked_rem(b).unwrap_or(u32::MAX)),
        Opcode::Ineg => kernel.map1(u32::wrapping_neg),
        Opcode::Iabs => kernel.map1(|a| (a as i32).wrapping_abs() as u32),
        Opcode::Issg => kernel.map1(|a| (a as i32).signum() as u32),
        Opcode::Imin => kernel.i2(i32::min),
        Opcode::Imax => kernel.i2(i32::max),
        Opcode::Umin => kernel.map2(u32::min),
        Opcode::Umax => kernel.map2(u32::max),
        Opcode::And => kernel.map2(|a, b| a & b),
        Opcode::Or => kernel.map2(|a, b| a | b),
        Opcode::Xor => kernel.map2(|a, b| a ^ b),
        Opcode::Not => kernel.map1(|a| !a),
        Opcode::Shl => kernel.map2(u32::wrapping_shl),
        Opcode::Ishr => kernel.map2(|a, b| arithmetic_shift(a, b & 31)),
        Opcode::Ushr => kernel.map2(u32::wrapping_shr),
        Opcode::Islt => kernel.map2(|a, b| boolean((a as i32) < (b as i32))),
        Opcode::Isge => kernel.map2(|a, b| boolean((a as i32) >= (b as i32))),
        Opcode::Uslt => kernel.map2(|a, b| boolean(a < b)),
        Opcode::Usge => kernel.map2(|a, b| boolean(a >= b)),
        Opcode::Useq => kernel.map2(|a, b| boolean(a == b)),
        Opcode::Usne => kernel.map2(|a, b| boolean(a != b)),
        Opcode::Ucmp => kernel.map3(|a, b, c| if a != 0 { b } else { c }),
        Opcode::Ibfe => kernel.map3(|value, offset, width| bit_field_extract(value, offset, width, arithmetic_shift)),
        Opcode::Ubfe => kernel.map3(|value, offset, width| bit_field_extract(value, offset, width, |a, b| a >> b)),
        Opcode::Bfi => kernel.each_channel(|k, channel, lane| {
            let [base, insert, offset, width] = [0, 1, 2, 3].map(|source| k.word(source, channel, lane));
            let offset = offset & 31;
            if width == 32 {
                return insert;
            }
            let field = ((1u32 << (width & 31)) - 1) << offset;
            (insert << offset) & field | base & !field
        }),
        Opcode::Brev => kernel.map1(u32::reverse_bits),
        Opcode::Popc => kernel.map1(u32::count_ones),
        Opcode::Lsb => kernel.map1(|a| if a == 0 { u32::MAX } else { a.trailing_zeros() }),
        Opcode::Umsb => kernel.map1(find_msb),
        Opcode::Imsb => kernel.map1(|a| find_msb(if (a as i32) < 0 { !a } else { a })),
        // All other opcodes have another class.
        other => {
            other.lacks_code();
            0
        }
    }
}
