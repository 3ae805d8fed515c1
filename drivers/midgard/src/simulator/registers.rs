//! The registers of a thread.

use crate::isa::{Register, Width};

/// The registers of a thread: r0 to r31 as the ALU reads them, and the operands of the texture unit, which the ALU
/// writes as r28 and r29.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Registers {
    values: [u128; 32],
    texture_operands: [u128; 2],
}

impl Registers {
    /// Returns the bits of a register, the first component in the lowest bits.
    pub fn get(&self, register: Register) -> u128 {
        self.values[usize::from(register.number()) % 32]
    }

    /// Sets the bits of a register.
    pub fn set(&mut self, register: Register, bits: u128) {
        self.values[usize::from(register.number()) % 32] = bits;
    }

    /// Returns the four words of a register.
    pub fn words(&self, register: Register) -> [u32; 4] {
        words(self.get(register))
    }

    /// Sets the four words of a register.
    pub fn set_words(&mut self, register: Register, words: [u32; 4]) {
        self.set(register, from_words(words));
    }

    /// Returns an operand of the texture unit, 0 or 1.
    pub(super) fn texture_operand(&self, index: u8) -> u128 {
        self.texture_operands[usize::from(index & 1)]
    }

    /// The bits of an operand of the texture unit.
    pub(super) fn texture_operand_mut(&mut self, index: u8) -> &mut u128 {
        &mut self.texture_operands[usize::from(index & 1)]
    }

    /// The bits of a register.
    pub(super) fn get_mut(&mut self, register: Register) -> &mut u128 {
        &mut self.values[usize::from(register.number()) % 32]
    }
}

/// Splits a register into words.
pub(super) fn words(bits: u128) -> [u32; 4] {
    [0, 32, 64, 96].map(|low| (bits >> low) as u32)
}

/// Joins words to a register.
pub(super) fn from_words(words: [u32; 4]) -> u128 {
    words.iter().rev().fold(0, |bits, &word| bits << 32 | u128::from(word))
}

/// The bits of a component that has all bits set.
pub(super) fn ones(width: Width) -> u64 {
    u64::MAX >> (64 - width.bits())
}

/// Returns a component.
pub(super) fn component(bits: u128, width: Width, index: u32) -> u64 {
    (bits >> (index % width.components() * width.bits())) as u64 & ones(width)
}

/// Sets a component.
pub(super) fn set_component(bits: &mut u128, width: Width, index: u32, value: u64) {
    let low = index % width.components() * width.bits();
    let mask = u128::from(ones(width)) << low;
    *bits = *bits & !mask | u128::from(value) << low & mask;
}
