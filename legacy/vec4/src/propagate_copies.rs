//! Forward copy propagation within blocks: replaces uses of a copy by its source.
//!
//! ```text
//! MOV TEMP[5].xy, -CONST[1].zwzw
//! ADD TEMP[6].xy, TEMP[5].yxyx, TEMP[2]    =>    ADD TEMP[6].xy, -CONST[1].wzwz, TEMP[2]
//! ```
//!
//! The copies are kept: [dead code elimination](super::dead_code) removes them.

use super::access::Reg;
use super::blocks::block_from;
use super::reaching_definitions::ReachingDefinitions;
use super::{Machine, Program, Traits};

/// Replacement of the sources of instructions.
pub trait PropagateCopies: Machine {
    /// A source: register, swizzle, modifiers.
    type Source: Copy;

    /// The number of sources of an instruction.
    fn sources(&self, instruction: &Self::Instruction) -> usize;

    /// The register that a source reads directly, and its swizzle, if it may be replaced.
    fn replaceable(&self, instruction: &Self::Instruction, source: usize, first_temp: u32) -> Option<(Reg, [u8; 4])>;

    /// The component of its source that a copy, possibly with modifiers, reads for one component of its result; none
    /// for other instructions. Called for instructions with [`Traits::COPY`] only.
    fn copied_component(&self, copy: &Self::Instruction, component: u8) -> Option<u8>;

    /// Whether such a component still holds the value that the copy at `since` read.
    fn is_kept(
        &self,
        copy: &Self::Instruction,
        component: u8,
        since: usize,
        definitions: &ReachingDefinitions,
        first_temp: u32,
    ) -> bool;

    /// Returns a source that reads the copied values directly, if there is one and the target supports it. `copies`
    /// has, for each channel of the source that matters, the copy and the component of its source.
    fn propagated(
        &self,
        constants: &mut super::Constants,
        instruction: &Self::Instruction,
        source: usize,
        copies: &[Option<(&Self::Instruction, u8)>; 4],
    ) -> Option<Self::Source>;

    /// Replaces a source by another.
    fn set_source(&self, instruction: &mut Self::Instruction, source: usize, new: Self::Source);
}

/// Propagates copies. Returns whether anything changed.
pub fn propagate_copies<M: PropagateCopies>(program: &mut Program<M>) -> bool {
    if !program.access.iter().any(|access| access.traits.any(Traits::COPY)) {
        return false;
    }
    let mut definitions = ReachingDefinitions::new(program);
    let mut changed = false;
    let mut next = 0;
    while let Some(block) = block_from(program, next) {
        next = block.end;
        definitions.enter_block(block.start);
        for index in block {
            // Instructions that read no temporaries have no candidates.
            if program.access[index].reads().iter().any(|read| read.temp().is_some()) {
                for source in 0..program.machine.sources(&program.instructions[index]) {
                    if let Some(new) = propagated(program, &definitions, index, source) {
                        program.edit_with(index, |machine, instruction| machine.set_source(instruction, source, new));
                        changed = true;
                    }
                }
            }
            definitions.record(index, &program.access[index]);
        }
    }
    changed
}

fn propagated<M: PropagateCopies>(
    program: &mut Program<M>,
    definitions: &ReachingDefinitions,
    index: usize,
    source: usize,
) -> Option<M::Source> {
    let first_temp = program.first_temp();
    let Program { instructions, access, constants, machine, .. } = program;
    let instruction = &instructions[index];
    let (register, swizzle) = machine.replaceable(instruction, source, first_temp)?;
    let channels = access[index].channels(source);
    if channels == 0 {
        return None;
    }
    let mut copies = [None; 4];
    for c in (0..4usize).filter(|c| channels & 1 << c != 0) {
        let component = swizzle[c] & 3;
        let definition = definitions.definition(register, component)?;
        if !access.get(definition)?.traits.any(Traits::COPY) {
            return None;
        }
        let copy = instructions.get(definition)?;
        let selected = machine.copied_component(copy, component)?;
        if !machine.is_kept(copy, selected, definition, definitions, first_temp) {
            return None;
        }
        copies[c] = Some((copy, selected));
    }
    machine.propagated(constants, instruction, source, &copies)
}
