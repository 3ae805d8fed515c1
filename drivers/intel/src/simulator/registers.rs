//! The general registers of a thread.

use crate::isa::GENERAL_REGISTERS;

/// The size of a register in bytes.
pub(super) const REGISTER: usize = 32;

/// The 128 general registers of 32 bytes. Registers beyond the last one read as zeros, and writes to them are dropped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Registers {
    bytes: Vec<u8>,
}

impl Default for Registers {
    fn default() -> Self {
        Registers { bytes: vec![0; usize::from(GENERAL_REGISTERS) * REGISTER] }
    }
}

impl Registers {
    /// Returns a word of a register, 0 to 7.
    pub fn word(&self, register: u8, index: usize) -> u32 {
        self.words(register).get(index).copied().unwrap_or(0)
    }

    /// Sets a word of a register, 0 to 7.
    pub fn set_word(&mut self, register: u8, index: usize, value: u32) {
        let place = usize::from(register) * REGISTER + index * 4;
        if index < REGISTER / 4
            && let Some(bytes) = self.bytes.get_mut(place..place + 4)
        {
            bytes.copy_from_slice(&value.to_le_bytes());
        }
    }

    /// Returns the eight words of a register.
    pub fn words(&self, register: u8) -> [u32; 8] {
        let place = usize::from(register) * REGISTER;
        let bytes = self.bytes.get(place..place + REGISTER).unwrap_or(&[0; REGISTER]);
        std::array::from_fn(|index| word(&bytes[index * 4..]))
    }

    /// Sets the eight words of a register.
    pub fn set_words(&mut self, register: u8, words: [u32; 8]) {
        for (index, word) in words.into_iter().enumerate() {
            self.set_word(register, index, word);
        }
    }

    /// The bytes of all registers.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of all registers.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

/// Returns the word at the start of bytes; missing bytes are zeros.
pub(super) fn word(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
}
