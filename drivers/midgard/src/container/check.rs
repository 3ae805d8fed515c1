//! Consistency of programs, which may come from a file.

use std::collections::HashSet;

use tgsi_environment::MAX_LANES;

use super::ReadError;
use crate::isa::Tag;
use crate::program::{FragmentResult, Program, Slot, Stage, SystemRow, Texture, Varying};

const WORK_REGISTERS: u64 = 16;
const REGISTER_UNIFORMS: u64 = 16;
/// Registers for work and uniforms together.
const SHARED_REGISTERS: u64 = 24;
/// Numbers of uniform buffers in instructions, and rows of 16 bytes in a buffer of 64 KiB.
const BUFFERS: u64 = 256;
const ROWS: u64 = 4096;
/// Numbers of attributes, varyings and images in instructions.
const ENTRIES: u64 = 256;
/// Registers of the interface.
const REGISTERS: u64 = 4096;
const TEXTURES: u64 = 1 << 16;
/// Levels with a row of system values.
const LEVELS: u64 = 16;
/// Storage buffers with an address for the runner.
const STORAGE_BUFFERS: u64 = u16::MAX as u64;
const RENDER_TARGETS: u64 = 8;
const SAMPLES: u64 = 8;
/// Bytes of storage that a thread or a workgroup can have.
const STORAGE: u64 = 1 << 20;

/// Checks a number.
fn below(what: &'static str, number: impl Into<u64>, limit: u64) -> Result<(), ReadError> {
    let number = number.into();
    if number < limit { Ok(()) } else { Err(ReadError::Range(what, number, limit)) }
}

/// Returns an error if two parts contradict each other.
fn require(holds: bool, conflict: &'static str) -> Result<(), ReadError> {
    if holds { Ok(()) } else { Err(ReadError::Conflict(conflict)) }
}

/// Checks that all numbers are in their range, and that no part contradicts another one.
pub(super) fn program(program: &Program) -> Result<(), ReadError> {
    words(&program.words)?;
    uniforms(program)?;
    program.system_rows.iter().try_for_each(system_row)?;
    interface(program)?;
    textures("textures", "the number of a texture", &program.textures, TEXTURES)?;
    textures("images", "the number of an image", &program.images, ENTRIES)?;
    below("the storage of a thread", program.stack, STORAGE + 1)?;
    below("the storage of a workgroup", program.shared, STORAGE + 1)?;
    let is_compute = program.stage == Stage::Compute;
    require(is_compute || program.shared == 0, "storage of a workgroup in another stage")?;
    require(is_compute || program.workgroup.is_none(), "a workgroup in another stage")?;
    let Some(size) = program.workgroup else { return Ok(()) };
    require(!size.contains(&0), "a workgroup without threads")?;
    let threads = size.iter().fold(1_u64, |product, &size| product.saturating_mul(size.into()));
    below("the size of a workgroup", threads, MAX_LANES as u64 + 1)
}

fn words(words: &[u32]) -> Result<(), ReadError> {
    let first = words.first().ok_or(ReadError::Conflict("the program has no words"))?;
    require(words.len().is_multiple_of(4), "the words end within a quadword")?;
    let tag = Tag::from_code(first & 15).and_then(Tag::quadwords);
    require(tag.is_some(), "the first word has no tag of a bundle")
}

fn uniforms(program: &Program) -> Result<(), ReadError> {
    let count = program.uniforms.len() as u64;
    below("the number of work registers", program.work_registers, WORK_REGISTERS + 1)?;
    below("the number of uniforms in registers", count, REGISTER_UNIFORMS + 1)?;
    require(u64::from(program.work_registers) + count <= SHARED_REGISTERS, "uniforms occupy work registers")?;
    below("the buffer of system values", program.system_buffer, BUFFERS)?;
    let system_rows = program.system_rows.len() as u64;
    below("the number of rows of system values", system_rows, ROWS + 1)?;
    for uniform in &program.uniforms {
        below("the buffer of a uniform", uniform.buffer, BUFFERS)?;
        below("the row of a uniform", uniform.row, ROWS)?;
        if uniform.buffer == program.system_buffer {
            below("the row of a system value", uniform.row, system_rows)?;
        }
    }
    Ok(())
}

fn system_row(row: &SystemRow) -> Result<(), ReadError> {
    match *row {
        SystemRow::StorageBuffer(number) | SystemRow::Counters(number) => {
            below("the number of a storage buffer", number, STORAGE_BUFFERS)
        }
        SystemRow::TextureSize { texture, level } => {
            below("the number of a texture", texture, TEXTURES)?;
            below("the level of a texture", level, LEVELS)
        }
        SystemRow::TextureSamples(number) => below("the number of a texture", number, TEXTURES),
        SystemRow::ImageSize(number) => below("the number of an image", number, ENTRIES),
        SystemRow::SamplePosition(number) => below("the number of a sample", number, SAMPLES),
        SystemRow::Workgroups | SystemRow::WorkgroupSize | SystemRow::Draw | SystemRow::Zero => Ok(()),
    }
}

/// Checks inputs and outputs.
fn interface(program: &Program) -> Result<(), ReadError> {
    varyings("inputs", "the number of an input", &program.inputs)?;
    varyings("outputs", "the number of an output", &program.outputs)?;
    let is_of_stage = |input: &Varying| match input.slot {
        Slot::Register(_) => program.stage != Stage::Compute,
        Slot::FragCoord | Slot::FrontFace | Slot::PointCoord | Slot::PrimitiveId => program.stage == Stage::Fragment,
        Slot::VertexId | Slot::InstanceId => program.stage == Stage::Vertex,
    };
    require(program.inputs.iter().all(is_of_stage), "an input of another stage")?;
    require(program.stage == Stage::Vertex || program.outputs.is_empty(), "outputs of another stage")?;
    let is_register = |output: &Varying| matches!(output.slot, Slot::Register(_));
    require(program.outputs.iter().all(is_register), "an output that is not a register")?;
    let has_results = program.discards || !program.results.is_empty();
    require(program.stage == Stage::Fragment || !has_results, "results of another stage")?;
    for result in &program.results {
        below("the register", result.register, REGISTERS)?;
        below("the component", result.component, 4)?;
        below("the mask", result.mask, 16)?;
        if let FragmentResult::Colour(number) = result.result {
            below("the number of a render target", number, RENDER_TARGETS)?;
        }
    }
    Ok(())
}

fn varyings(table: &'static str, what: &'static str, list: &[Varying]) -> Result<(), ReadError> {
    for varying in list {
        below(what, varying.number, ENTRIES)?;
        below("the mask", varying.mask, 16)?;
        if let Slot::Register(register) = varying.slot {
            below("the register", register, REGISTERS)?;
        }
    }
    distinct(table, list.iter().map(|varying| varying.number))
}

fn textures(table: &'static str, what: &'static str, list: &[Texture], limit: u64) -> Result<(), ReadError> {
    list.iter().try_for_each(|texture| below(what, texture.number, limit))?;
    distinct(table, list.iter().map(|texture| texture.number))
}

/// Checks that a table has no two entries for a number.
fn distinct(table: &'static str, numbers: impl Iterator<Item = u32>) -> Result<(), ReadError> {
    let mut seen = HashSet::new();
    for number in numbers {
        if !seen.insert(number) {
            return Err(ReadError::Duplicate(table, number));
        }
    }
    Ok(())
}
