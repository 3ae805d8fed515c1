//! Values that are computed in the payload of their message.
//!
//! ```text
//! MOV t1.xy, a                     MOV payload1.xy, a
//! MOV t1.zw, 0              =>     MOV payload1.zw, 0
//! SAMPLE t2, t1, t3                SAMPLE t2, payload1, t3
//! ```
//!
//! The message is the only use of the value, all writes are in its block, and no other message precedes it after them.

use tgsi_vec4::blocks::block_from;
use tgsi_vec4::simple::File;

use crate::isa::Chip;
use crate::machine::{MachineInstruction, Op, PAYLOAD, Program};
use crate::message::{BufferAccess, Message};

/// The uses of a temporary.
#[derive(Clone, Copy, Default)]
struct Uses {
    reads: u32,
    writes: u32,
    /// The block of all writes, and the first one in it; none if there are several blocks or a message writes it.
    place: Option<(usize, usize)>,
}

/// The register of the payload of a source, from 0 on, and the channels; none if the source is not copied there.
fn register_of(instruction: &MachineInstruction, number: usize, chip: Chip) -> Option<(i32, u8)> {
    let Op::Message(message) = instruction.op else { return None };
    match message {
        Message::Sampler(sampler) if number < sampler.payload_sources() => {
            let header = i32::from(sampler.header.is_some());
            Some((header + number as i32, sampler.payload[number]))
        }
        Message::ScratchWrite { mask } if number == 1 => Some((2, mask)),
        Message::Buffer(buffer) => {
            let has_vectors = chip != Chip::Gen7 || matches!(buffer.access, BufferAccess::Read { .. });
            let [_, data] = buffer.access.payload();
            match number {
                0 => Some((0, 1)),
                1 if data != 0 && has_vectors => Some((1, data)),
                _ => None,
            }
        }
        Message::ControlData if number == 0 => Some((1, 15)),
        _ => None,
    }
}

/// Whether an instruction writes registers of payloads.
fn uses_payload(op: Op) -> bool {
    matches!(op, Op::Message(_) | Op::Header(_))
}

/// Replaces temporaries by registers of payloads.
pub(super) fn place_in_payloads(program: &mut Program) {
    let mut uses = vec![Uses::default(); program.num_temps() as usize];
    let mut next = 0;
    let mut blocks = Vec::new();
    while let Some(block) = block_from(program, next) {
        next = block.end;
        for at in block.clone() {
            let instruction = &program.instructions()[at];
            for source in instruction.sources.iter().filter(|source| source.file == File::Temporary) {
                if let Some(uses) = usize::try_from(source.index).ok().and_then(|index| uses.get_mut(index)) {
                    uses.reads += 1;
                }
            }
            let written = instruction.destination.filter(|to| to.file == File::Temporary);
            let index = written.and_then(|to| usize::try_from(to.index).ok());
            if let Some(uses) = index.and_then(|index| uses.get_mut(index)) {
                let is_known = !uses_payload(instruction.op) && (uses.writes == 0 || uses.place.is_some());
                uses.place = match uses.place {
                    None if is_known => Some((block.start, at)),
                    Some((start, first)) if is_known && start == block.start => Some((start, first)),
                    _ => None,
                };
                uses.writes += 1;
            }
        }
        blocks.push(block);
    }
    let chip = program.machine.chip;
    let mut renamed: Vec<Option<i32>> = vec![None; uses.len()];
    for block in blocks {
        // The last instruction that writes payloads.
        let mut last = None;
        for at in block.clone() {
            let instruction = &program.instructions()[at];
            if !uses_payload(instruction.op) {
                continue;
            }
            for (number, source) in instruction.sources.iter().enumerate() {
                let Some((register, channels)) = register_of(instruction, number, chip) else { continue };
                let is_in_place = (0..4).all(|c| channels >> c & 1 == 0 || usize::from(source.swizzle[c]) == c);
                let index = match usize::try_from(source.index) {
                    Ok(index) if source.file == File::Temporary && is_in_place => index,
                    _ => continue,
                };
                let Some(Uses { reads: 1, place: Some((start, first)), .. }) = uses.get(index) else { continue };
                if *start == block.start && last.is_none_or(|last| last < *first) && index >= PAYLOAD as usize {
                    renamed[index] = Some(register);
                }
            }
            last = Some(at);
        }
    }
    for at in 0..program.instructions().len() {
        let new = |index: i32| usize::try_from(index).ok().and_then(|index| renamed.get(index).copied().flatten());
        let instruction = &program.instructions()[at];
        let is_renamed = |file: File, index: i32| file == File::Temporary && new(index).is_some();
        let concerned = instruction.sources.iter().any(|source| is_renamed(source.file, source.index))
            || instruction.destination.is_some_and(|to| is_renamed(to.file, to.index));
        if !concerned {
            continue;
        }
        program.edit(at, |instruction| {
            for source in instruction.sources.iter_mut().filter(|source| source.file == File::Temporary) {
                source.index = new(source.index).unwrap_or(source.index);
            }
            if let Some(to) = instruction.destination.as_mut().filter(|to| to.file == File::Temporary) {
                to.index = new(to.index).unwrap_or(to.index);
            }
        });
    }
}
