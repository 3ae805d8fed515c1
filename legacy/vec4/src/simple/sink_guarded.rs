//! Sinking of results into guarded copies.
//!
//! ```text
//! MUL TEMP[7].x, a, b                      (removed)
//! ...                               =>     ...
//! MOV (c.x) TEMP[1].y, TEMP[7].x           MUL (c.x) TEMP[1].y, a, b
//! ```
//!
//! The copy is the only use of the result, both are in one block, and nothing in between changes an operand. Backward
//! propagation handles copies without guard.

use super::{Destination, Info, Instruction, Results, SimpleMachine};
use crate::Program;
use crate::access::{AccessCounts, Reg, RegisterAccess, Traits, swizzled};
use crate::blocks::block_from;

/// The maximum distance between producer and copy; keeps the pass linear.
const REACH: usize = 256;

/// The accesses of a virtual temporary.
#[derive(Clone, Copy, Default)]
struct Accesses {
    reads: AccessCounts,
    writes: AccessCounts,
    /// The last writes to the components, as index plus one.
    last_write: [u32; 4],
}

/// Replaces guarded copies by guarded forms of their producers. Returns whether anything changed.
pub fn sink_guarded<M: SimpleMachine>(program: &mut Program<M>) -> bool {
    let is_copy = |instruction: &Instruction<M::Op>| instruction.op == M::COPY && instruction.guard.is_some();
    if !program.instructions().iter().any(is_copy) {
        return false;
    }
    let mut states = vec![Accesses::default(); program.registers()];
    for access in program.accesses() {
        for read in access.reads() {
            if let Some(state) = read.dense().and_then(|register| states.get_mut(register)) {
                state.reads.add(read.mask());
            }
        }
        if let Some((written, register)) = access.written().and_then(|written| Some((written, written.dense()?))) {
            states[register].writes.add(written.mask());
        }
    }
    let mut dead: Vec<bool> = Vec::new();
    let mut next = 0;
    while let Some(block) = block_from(program, next) {
        next = block.end;
        for index in block.clone() {
            if is_copy(&program.instructions()[index])
                && let Some((producer, sunk)) = plan(program, &states, block.start, index)
            {
                dead.resize(program.instructions().len(), false);
                dead[producer] = true;
                program.set(index, sunk);
            }
            if let Some(written) = program.accesses()[index].written()
                && let Some(register) = written.dense()
            {
                let last = &mut states[register].last_write;
                (0..4).filter(|c| written.mask() >> c & 1 != 0).for_each(|c| last[c] = index as u32 + 1);
            }
        }
    }
    if !dead.is_empty() {
        program.remove(&dead);
    }
    !dead.is_empty()
}

/// The producer of a guarded copy, and the instruction that replaces both.
fn plan<M: SimpleMachine>(
    program: &Program<M>,
    states: &[Accesses],
    block_start: usize,
    index: usize,
) -> Option<(usize, Instruction<M::Op>)> {
    let copy = &program.instructions()[index];
    let from = copy.sources.first().filter(|from| from.is_plain() && from.relative.is_none())?;
    let to = copy.destination.filter(|to| to.relative.is_none())?;
    let register = Reg::temp(from.file.virtual_temp(from.index, program.first_temp())? as u32);
    let state = states.get(register.dense()?)?;
    let last =
        (0..4).filter(|c| to.mask >> c & 1 != 0).map(|c| state.last_write[usize::from(from.swizzle[c] & 3)]).max()?;
    let number = (last as usize).checked_sub(1).filter(|&number| number >= block_start && index - number <= REACH)?;
    let producer = &program.instructions()[number];
    let Info { results, has_effect, flow, stores_whole, .. } = M::info(producer.op);
    if has_effect || flow.is_some() || stores_whole || producer.guard.is_some() {
        return None;
    }
    // The only write of the components that the copy reads, and only the copy reads them; no others are in use.
    let written = producer.mask();
    let copied = swizzled(to.mask, from.swizzle);
    let is_single = state.writes.are_one(copied) && state.reads.are_one(copied);
    if copied & !written != 0 || !is_single || state.reads.has_any(written & !copied) {
        return None;
    }
    let is_in_place = (0..4u8).all(|c| to.mask >> c & 1 == 0 || from.swizzle[usize::from(c)] & 3 == c);
    match results {
        Results::Componentwise | Results::Replicated => {}
        Results::Fixed if is_in_place => {}
        Results::Fixed | Results::Pairs => return None,
    }
    let operands = &program.accesses()[number];
    if program.accesses()[number + 1..index].iter().any(|between| changes(between, operands)) {
        return None;
    }
    let mut sunk = producer.clone();
    sunk.permute(&M::info(producer.op), to.mask, from.swizzle);
    sunk.destination = Some(Destination { mask: to.mask, ..to });
    sunk.saturate |= copy.saturate;
    sunk.guard = copy.guard;
    program.machine.accepts(&sunk).then_some((number, sunk))
}

/// Whether an instruction writes something that another one reads.
fn changes<Opcode>(writer: &RegisterAccess<Opcode>, reader: &RegisterAccess<Opcode>) -> bool {
    let writes_fixed = writer.traits.any(Traits::WRITES_FIXED.with(Traits::WRITES_INDIRECT));
    let writes_output = writer.traits.any(Traits::WRITES_OUTPUT.with(Traits::WRITES_OUTPUT_SOMEWHERE));
    if writes_fixed && reader.traits.any(Traits::READS_FIXED)
        || writes_output && reader.traits.any(Traits::READS_OUTPUT)
    {
        return true;
    }
    let Some(written) = writer.written() else { return false };
    // All of a register that is stored as a whole may change.
    let mask = if writer.traits.any(Traits::STORES_WHOLE) { 0xf } else { written.mask() };
    reader.reads().iter().any(|read| read.register() == written.register() && read.mask() & mask != 0)
}
