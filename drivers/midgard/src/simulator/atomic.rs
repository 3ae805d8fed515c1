//! Atomic operations on values of memory.

use crate::isa::Width;
use crate::isa::load_store::LoadStoreOp;

use super::integer::signed;
use super::registers::ones;

/// The function of an atomic operation, in the order of the opcodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Function {
    Add,
    And,
    Or,
    Xor,
    Imin,
    Umin,
    Imax,
    Umax,
    Exchange,
    CompareExchange,
}

/// An atomic operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Operation {
    function: Function,
    /// Whether values have 64 bits.
    pub(super) is_wide: bool,
    /// Whether values in memory are big-endian.
    pub(super) is_big_endian: bool,
}

impl Operation {
    /// The operation of an opcode.
    pub(super) fn of(op: LoadStoreOp) -> Operation {
        use Function::*;
        let number = op.row().code.wrapping_sub(0x40);
        let all = [Add, And, Or, Xor, Imin, Umin, Imax, Umax, Exchange, CompareExchange];
        let function = all.get(usize::from(number / 4)).copied().unwrap_or(Exchange);
        Operation { function, is_wide: number & 1 != 0, is_big_endian: number & 2 != 0 }
    }

    /// Returns the new value.
    pub(super) fn apply(self, old: u64, value: u64, compared: u64) -> u64 {
        let width = if self.is_wide { Width::W64 } else { Width::W32 };
        let least = |is_first: bool| if is_first { old } else { value };
        let value = match self.function {
            Function::Add => old.wrapping_add(value),
            Function::And => old & value,
            Function::Or => old | value,
            Function::Xor => old ^ value,
            Function::Imin => least(signed(old, width) < signed(value, width)),
            Function::Umin => least(old < value),
            Function::Imax => least(signed(old, width) > signed(value, width)),
            Function::Umax => least(old > value),
            Function::Exchange => value,
            Function::CompareExchange => least(old != compared),
        };
        value & ones(width)
    }
}
