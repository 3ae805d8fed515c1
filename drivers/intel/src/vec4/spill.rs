//! Spilling: temporaries that do not fit are in the scratch space.
//!
//! ```text
//! ADD t1, a, b                     ADD t7, a, b
//!                                  store scratch[2], t7
//! ...                        =>    ...
//! MUL t3, t1, c                    t8 = load scratch[2]
//!                                  MUL t3, t8, c
//! ```
//!
//! The cheapest temporaries are chosen: those with few accesses, outside of loops, that live long. New temporaries live
//! for two instructions and are never spilled.

use tgsi_vec4::Flow;
use tgsi_vec4::allocate::{AllocationMode, allocate};
use tgsi_vec4::simple::{Destination, File, Instruction, Source};

use crate::machine::{MachineInstruction, Op, PAYLOAD, Program};
use crate::message::Message;

use super::payload::place_in_payloads;

/// The maximum number of rounds, each of which spills more temporaries than the one before.
const MAX_ROUNDS: u32 = 64;

/// The factor of costs of accesses for each loop around them, and the depth from which on it does not grow.
const LOOP_COST: f32 = 8.0;
const MAX_DEPTH: i32 = 6;

/// The least distance of the accesses of a temporary that is worth a spill.
const SHORTEST: usize = 4;

/// The optimisations of an allocation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    /// Values are computed in the payload of their message.
    pub(super) place_in_payloads: bool,
    /// Outputs are written before the end of the program.
    pub(super) write_outputs_early: bool,
}

/// Allocates registers. Spills temporaries until they fit into the registers, whose number may depend on the program; the number of
/// vectors of scratch space grows. Returns whether they fit.
pub(super) fn allocate_within(
    program: &mut Program,
    scratch: &mut u32,
    steps: Steps,
    room: impl Fn(&Program) -> u32,
) -> bool {
    // Temporaries from here on come from spills.
    let originals = program.num_temps();
    for round in 0..MAX_ROUNDS {
        let mut allocated = program.clone();
        if steps.place_in_payloads {
            // After spilling, as messages to the scratch space have payloads, too.
            place_in_payloads(&mut allocated);
        }
        allocate(&mut allocated, AllocationMode::Pack, steps.write_outputs_early);
        let excess = temporaries(&allocated).saturating_sub(room(&allocated));
        if excess == 0 {
            *program = allocated;
            return true;
        }
        let chosen = choose(program, originals, (excess + 1) * (1 + round));
        if chosen.is_empty() {
            return false;
        }
        spill(program, &chosen, scratch);
    }
    false
}

/// The registers of temporaries of a program.
pub(super) fn temporaries(program: &Program) -> u32 {
    program.num_temps().saturating_sub(PAYLOAD)
}

/// The accesses of a temporary.
#[derive(Clone, Copy, Default)]
struct Accesses {
    cost: f32,
    first: usize,
    last: usize,
}

/// Returns temporaries that are worth spilling, the best ones first.
fn choose(program: &Program, originals: u32, count: u32) -> Vec<u32> {
    let mut accesses: Vec<Option<Accesses>> = vec![None; originals as usize];
    let mut depth = 0;
    let mut loops: Vec<usize> = Vec::new();
    let mut touched: Vec<(usize, usize)> = Vec::new();
    for (at, instruction) in program.instructions().iter().enumerate() {
        match program.flow(at) {
            Some(Flow::Loop) => {
                depth += 1;
                loops.push(at);
            }
            Some(Flow::EndLoop) => {
                depth -= 1;
                loops.pop();
            }
            _ => {}
        }
        let cost = LOOP_COST.powi(depth.min(MAX_DEPTH));
        let read = instruction.sources.iter().map(|source| (source.file, source.index));
        let written = instruction.destination.iter().map(|to| (to.file, to.index));
        for (_, index) in read.chain(written).filter(|(file, _)| *file == File::Temporary) {
            let Some(entry) = usize::try_from(index).ok().and_then(|index| accesses.get_mut(index)) else { continue };
            let entry = entry.get_or_insert(Accesses { cost: 0.0, first: at, last: at });
            entry.cost += cost;
            entry.last = at;
            if let Some(&outer) = loops.first() {
                touched.push((index as usize, outer));
            }
        }
    }
    // Temporaries with accesses in a loop and outside of it live in all of it.
    for (temp, start) in touched {
        if let Some(entry) = &mut accesses[temp] {
            entry.first = entry.first.min(start);
        }
    }
    let mut candidates: Vec<(f32, u32)> = (0u32..)
        .zip(&accesses)
        .filter_map(|(temp, entry)| {
            let entry = entry.as_ref().filter(|_| temp >= PAYLOAD)?;
            let length = entry.last - entry.first;
            (length >= SHORTEST).then_some((length as f32 / entry.cost, temp))
        })
        .collect();
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    candidates.into_iter().take(count as usize).map(|(_, temp)| temp).collect()
}

/// Replaces temporaries by places in the scratch space.
fn spill(program: &mut Program, chosen: &[u32], scratch: &mut u32) {
    let mut places: Vec<Option<u32>> = vec![None; program.num_temps() as usize];
    for &temp in chosen {
        places[temp as usize] = Some(*scratch * 2);
        *scratch += 1;
    }
    let place_of = |file: File, index: i32| {
        if file != File::Temporary {
            return None;
        }
        usize::try_from(index).ok().and_then(|index| places.get(index).copied().flatten())
    };
    for mut instruction in program.take_instructions() {
        let mut loaded: Vec<(i32, i32)> = Vec::new();
        for number in 0..instruction.sources.len() {
            let source = instruction.sources[number];
            let Some(place) = place_of(source.file, source.index) else { continue };
            let known = loaded.iter().find(|(old, _)| *old == source.index).map(|&(_, new)| new);
            let new = known.unwrap_or_else(|| {
                let new = program.new_temp() as i32;
                let place = constant(program, place);
                let to = Destination::new(File::Temporary, new, 15);
                program.push(Instruction::new(Op::Message(Message::ScratchRead), Some(to), [place]));
                loaded.push((source.index, new));
                new
            });
            instruction.sources[number].index = new;
        }
        let stored = instruction.destination.and_then(|to| Some((to, place_of(to.file, to.index)?)));
        let Some((to, place)) = stored else {
            program.push(instruction);
            continue;
        };
        let new = program.new_temp() as i32;
        instruction.destination = Some(Destination { index: new, ..to });
        program.push(instruction);
        store(program, place, new, to.mask);
    }
}

fn store(program: &mut Program, place: u32, value: i32, mask: u8) {
    let place = constant(program, place);
    let message = Op::Message(Message::ScratchWrite { mask });
    let stored: MachineInstruction = Instruction::new(message, None, [place, Source::new(File::Temporary, value)]);
    program.push(stored);
}

/// A place as an operand.
fn constant(program: &mut Program, place: u32) -> Source {
    Source::new(File::Constant, program.constants.intern([place; 4])).swizzled([0; 4])
}
