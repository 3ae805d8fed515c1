//! Consistency of programs, which may come from a file.

use crate::isa::EncodeError;
use crate::program::{FragmentProgram, Program, Texture, Varying, VertexProgram};

const UNITS: u8 = 16;
/// Numbers of fragment outputs: registers.
const REGISTERS: u8 = 64;

/// Checks that all numbers are in the range of the chip.
pub(super) fn program(program: &Program) -> Result<(), EncodeError> {
    match program {
        Program::Vertex(program) => vertex(program),
        Program::Fragment(program) => fragment(program),
    }
}

/// As [`program`].
pub(super) fn vertex(program: &VertexProgram) -> Result<(), EncodeError> {
    let limits = program.chip.limits().vertex;
    let slots = count("slots", program.slots.len(), limits.slots)?;
    EncodeError::below("number of temporary registers", program.temporaries, limits.temporaries + 1)?;
    EncodeError::below("number of constants", program.constants, limits.constants + 1)?;
    varyings(&program.inputs, "input", limits.inputs)?;
    varyings(&program.outputs, "output", limits.outputs)?;
    for literal in &program.literals {
        EncodeError::below("constant of a literal", literal.constant, program.constants)?;
    }
    for &slot in program.branches.iter().chain(&program.constant_slots) {
        EncodeError::below("slot", slot, slots)?;
    }
    textures(&program.textures)
}

/// As [`program`].
pub(super) fn fragment(program: &FragmentProgram) -> Result<(), EncodeError> {
    let limits = program.chip.limits().fragment;
    let words = &program.program.words;
    let slots = count("slots", words.len().div_ceil(4), limits.slots)?;
    EncodeError::below("number of words in the last slot", (words.len() % 4) as u32, 1u8)?;
    for patch in &program.program.patches {
        EncodeError::below("slot of a uniform", patch.slot, slots)?;
    }
    EncodeError::below("number of registers", program.registers, limits.full + 1)?;
    varyings(&program.inputs, "input", limits.inputs)?;
    varyings(&program.outputs, "output", REGISTERS)?;
    textures(&program.textures)
}

fn count(what: &'static str, number: usize, limit: impl Into<u32>) -> Result<u32, EncodeError> {
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    let limit = limit.into();
    if number > limit { Err(EncodeError::Range(what, number, limit + 1)) } else { Ok(number) }
}

fn varyings(list: &[Varying], what: &'static str, limit: u8) -> Result<(), EncodeError> {
    for varying in list {
        EncodeError::below(what, varying.number, limit)?;
        EncodeError::below("component", varying.component, 4u8)?;
        EncodeError::below("mask", varying.mask, 16u8)?;
    }
    Ok(())
}

fn textures(list: &[Texture]) -> Result<(), EncodeError> {
    list.iter().try_for_each(|texture| EncodeError::below("texture unit", texture.unit, UNITS).map(drop))
}
