//! Programs with the list of their constant slots, and the order of bytes in memory.

use serde::{Deserialize, Serialize};

use super::{FragmentOp, Instruction, decode, encode};
use crate::isa::{Chip, EncodeError};

/// A constant slot that receives the value of a uniform at run time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Patch {
    /// The number of the uniform.
    pub constant: u32,
    /// The slot.
    pub slot: u32,
}

/// The words of a program, and its patches in the order of slots.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Program {
    /// The words.
    pub words: Vec<u32>,
    /// The constant slots of uniforms.
    pub patches: Vec<Patch>,
}

impl Program {
    /// Returns the number of slots.
    pub fn slots(&self) -> u32 {
        (self.words.len() / 4) as u32
    }

    /// Returns the number of instructions: slots that are not constants, without a `NOP` that only ends the program.
    pub fn instructions(&self, chip: Chip) -> u32 {
        let mut rest = self.words.as_slice();
        let mut count = 0;
        while let Ok(instruction) = decode(rest, chip) {
            count += u32::from(instruction.op != FragmentOp::Nop);
            rest = rest.get(instruction.slots() as usize * 4..).unwrap_or_default();
        }
        count
    }

    /// Appends an instruction. Its constant slot, if `uniform` has a number, is listed under this number.
    pub fn push(&mut self, instruction: &Instruction, uniform: Option<u32>, chip: Chip) -> Result<(), EncodeError> {
        let slot = self.slots() + 1;
        if uniform.is_some() && instruction.constant.is_none() {
            return Err(EncodeError::Missing("a constant"));
        }
        let limit = chip.limits().fragment.slots;
        if self.slots() + instruction.slots() > limit {
            return Err(EncodeError::Range("slot", self.slots() + instruction.slots() - 1, limit));
        }
        encode(instruction, chip, &mut self.words)?;
        self.patches.extend(uniform.map(|constant| Patch { constant, slot }));
        Ok(())
    }

    /// Returns the byte offsets of a uniform's constant slots.
    pub fn offsets(&self, constant: u32) -> impl Iterator<Item = u32> {
        self.patches.iter().filter(move |patch| patch.constant == constant).map(|patch| patch.slot * 16)
    }

    /// Writes the value of a uniform to its constant slots.
    pub fn set_constant(&mut self, constant: u32, value: [u32; 4]) {
        for patch in self.patches.iter().filter(|patch| patch.constant == constant) {
            self.words[patch.slot as usize * 4..][..4].copy_from_slice(&value);
        }
    }
}

/// Swaps the 16-bit halves of a word.
pub fn swap_halves(word: u32) -> u32 {
    word.rotate_left(16)
}

/// Returns the bytes of words, constants too, as a PC stores them: little-endian.
pub fn pc_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns the bytes of words, constants too, as a PlayStation 3 stores them: with swapped halves, big-endian.
pub fn ps3_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|&word| swap_halves(word).to_be_bytes()).collect()
}
