//! Programs as sequences of instructions.

use super::{
    Branch, Chip, DecodeError, Detail, Form, Instruction, InvalidInstruction, Opcode, compact, decode, encode,
};

use thiserror::Error;

/// A branch without a valid target, by the index of the instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The target is not the beginning of an instruction or the end of the program; the second number is the distance
    /// in units of 64 bits.
    #[error("instruction {0}: no instruction begins at the target {1}")]
    Target(usize, i16),
    /// The distance needs more than 16 bits.
    #[error("instruction {0}: the target is too far")]
    TooFar(usize),
}

/// An instruction that has no words, by its index.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("instruction {index}: {reason}")]
pub struct EncodeError {
    /// The index of the instruction.
    pub index: usize,
    /// The broken rule.
    pub reason: InvalidInstruction,
}

/// Converts instructions to words.
pub fn encode_program(instructions: &[Instruction], chip: Chip) -> Result<Vec<u32>, EncodeError> {
    let mut words = Vec::with_capacity(instructions.len() * 4);
    for (index, instruction) in instructions.iter().enumerate() {
        encode(instruction, chip, &mut words).map_err(|reason| EncodeError { index, reason })?;
    }
    Ok(words)
}

/// Converts all words to instructions.
pub fn decode_program(words: &[u32], chip: Chip) -> Result<Vec<Instruction>, DecodeError> {
    let mut instructions = Vec::new();
    let mut word = 0;
    while let Some(rest) = words.get(word..).filter(|rest| !rest.is_empty()) {
        let (instruction, length) = decode(rest, chip).map_err(|reason| DecodeError { word, reason })?;
        word += length;
        instructions.push(instruction);
    }
    Ok(instructions)
}

/// Returns the number of words up to the end of a program: its last message or an illegal instruction.
///
/// Words after the end of a program in memory belong to other programs or are data.
pub fn find_end(words: &[u32], chip: Chip) -> Result<usize, DecodeError> {
    let mut word = 0;
    while let Some(rest) = words.get(word..).filter(|rest| !rest.is_empty()) {
        let (instruction, length) = decode(rest, chip).map_err(|reason| DecodeError { word, reason })?;
        word += length;
        if instruction.opcode == Opcode::Illegal || instruction.message().is_some_and(|message| message.end_of_thread) {
            break;
        }
    }
    Ok(word)
}

/// The positions of instructions and of the end, in units of 64 bits.
pub(crate) fn positions(instructions: &[Instruction]) -> Vec<i64> {
    let mut position = 0;
    let mut positions = Vec::with_capacity(instructions.len() + 1);
    for instruction in instructions {
        positions.push(position);
        position += instruction.words() as i64 / 2;
    }
    positions.push(position);
    positions
}

/// Returns the index of the instruction at a distance of an instruction; the number of instructions for the end.
pub(crate) fn target(positions: &[i64], index: usize, distance: i16) -> Option<usize> {
    positions.binary_search(&(positions.get(index)? + i64::from(distance))).ok()
}

/// Checks that all branches lead to instructions or the end.
pub fn check_program(instructions: &[Instruction]) -> Result<(), ProgramError> {
    let positions = positions(instructions);
    for (index, instruction) in instructions.iter().enumerate() {
        let Some(Branch { jip, uip }) = instruction.branch() else { continue };
        let uip = if instruction.opcode.has_uip() { uip } else { jip };
        for distance in [jip, uip] {
            target(&positions, index, distance).ok_or(ProgramError::Target(index, distance))?;
        }
    }
    Ok(())
}

/// Compacts all instructions that have a compacted form, and adapts the targets of branches. Jumps by registers or
/// constants (`jmpi`, or an addition to `ip`) and calls are not adapted: a program with them is returned as it is.
pub fn compact_program(instructions: &[Instruction], chip: Chip) -> Result<Vec<Instruction>, ProgramError> {
    let has_other_jumps = instructions.iter().any(|instruction| {
        let writes_ip = instruction
            .destination
            .is_some_and(|destination| destination.register == super::Register::architecture(super::arf::IP));
        writes_ip && instruction.opcode.form() != Form::Branch
            || matches!(
                instruction.opcode,
                Opcode::Jmpi | Opcode::Brd | Opcode::Brc | Opcode::Call | Opcode::Calla | Opcode::Ret
            )
    });
    if has_other_jumps {
        return Ok(instructions.to_vec());
    }
    let old = positions(instructions);
    let mut compacted: Vec<_> = instructions
        .iter()
        .map(|instruction| match instruction.opcode.form() {
            // Distances may grow where compacted instructions are expanded, so that branches keep their form.
            Form::Branch | Form::Nop => instruction.clone(),
            _ if instruction.compacted => instruction.clone(),
            _ => compact(instruction, chip).unwrap_or_else(|| instruction.clone()),
        })
        .collect();
    let new = positions(&compacted);
    for (index, instruction) in compacted.iter_mut().enumerate() {
        let has_uip = instruction.opcode.has_uip();
        let Detail::Branch(branch) = &mut instruction.detail else { continue };
        let adapt = |distance| {
            let target = target(&old, index, distance).ok_or(ProgramError::Target(index, distance))?;
            i16::try_from(new[target] - new[index]).map_err(|_| ProgramError::TooFar(index))
        };
        branch.jip = adapt(branch.jip)?;
        if has_uip {
            branch.uip = adapt(branch.uip)?;
        }
    }
    Ok(compacted)
}
