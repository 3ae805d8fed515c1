//! Spilling: temporaries move to the scratch space.
//!
//! An instruction that reads a spilled temporary loads its components before, and one that writes it stores them after.
//! Those that are live for long and accessed rarely are spilled first.

use std::cmp::Reverse;

use tgsi_vec4::Flow;
use tgsi_vec4::access::swizzled;
use tgsi_vec4::simple::{Destination, File, Instruction, SimpleMachine, Source};

use super::operation::FragmentOp;
use crate::machine::{Machine, MachineInstruction, Op, Program};

/// The accesses of a temporary.
#[derive(Clone, Copy, Default)]
struct Usage {
    first: u32,
    last: u32,
    /// The number of accesses; those in loops count more.
    weight: u32,
}

/// The state of spilling.
#[derive(Default)]
pub(super) struct Spills {
    /// The number of rounds.
    pub(super) rounds: usize,
    /// The number of registers in scratch space.
    pub(super) registers: u16,
    /// Temporaries from this number on belong to spills; 0 before the first round.
    first_new: i32,
}

/// The weight of accesses in a loop, relative to those outside.
const LOOP_WEIGHT: u32 = 8;
/// The number of loops around an access that count.
const MOST_LOOPS: u32 = 4;

impl Spills {
    /// Spills about as many temporaries. Returns whether there were any.
    pub(super) fn spill(&mut self, program: &mut Program, count: usize) -> bool {
        self.rounds += 1;
        if self.first_new == 0 {
            self.first_new = program.num_temps() as i32;
        }
        let first = program.first_temp() as i32;
        let usages = usages(program);
        let mut candidates: Vec<(u64, i32)> = Vec::new();
        for (temp, usage) in (0..).zip(&usages) {
            let span = u64::from(usage.last - usage.first);
            if temp >= first && temp < self.first_new && usage.weight != 0 && span > 2 {
                candidates.push((span * 64 / u64::from(usage.weight), temp));
            }
        }
        candidates.sort_unstable_by_key(|&(benefit, temp)| (Reverse(benefit), temp));
        candidates.truncate(count.max(1));
        let mut places: Vec<Option<u16>> = vec![None; usages.len()];
        for &(_, temp) in &candidates {
            let Some(next) = self.registers.checked_add(4) else { break };
            places[temp as usize] = Some(self.registers);
            self.registers = next;
        }
        rewrite(program, &places);
        !candidates.is_empty()
    }
}

/// The accesses of all temporaries.
fn usages(program: &Program) -> Vec<Usage> {
    let mut usages = vec![Usage::default(); program.num_temps() as usize];
    let mut depth = 0u32;
    for (index, instruction) in (1u32..).zip(program.instructions()) {
        match Machine::info(instruction.op).flow {
            Some(Flow::Loop) => depth += 1,
            Some(Flow::EndLoop) => depth = depth.saturating_sub(1),
            _ => {}
        }
        let read = instruction.sources.iter().map(|source| (source.file, source.index));
        let written = instruction.destination.iter().map(|to| (to.file, to.index));
        for (_, temp) in read.chain(written).filter(|(file, _)| *file == File::Temporary) {
            let Some(usage) = usize::try_from(temp).ok().and_then(|temp| usages.get_mut(temp)) else { continue };
            if usage.weight == 0 {
                usage.first = index;
            }
            usage.last = index;
            usage.weight = usage.weight.saturating_add(LOOP_WEIGHT.pow(depth.min(MOST_LOOPS)));
        }
    }
    usages
}

/// Loads and stores temporaries with places.
fn rewrite(program: &mut Program, places: &[Option<u16>]) {
    let place_of = |file: File, index: i32| {
        let number = usize::try_from(index).ok().filter(|_| file == File::Temporary)?;
        places.get(number).copied().flatten()
    };
    for mut instruction in program.take_instructions() {
        let info = Machine::info(instruction.op);
        let mut loaded: Vec<(i32, i32, u8)> = Vec::new();
        for number in 0..instruction.sources.len() {
            let source = instruction.sources[number];
            let Some(place) = place_of(source.file, source.index) else { continue };
            let mask = swizzled(instruction.channels(&info, number), source.swizzle);
            let known = loaded.iter().position(|&(old, ..)| old == source.index);
            let known = known.unwrap_or_else(|| {
                loaded.push((source.index, program.new_temp() as i32, 0));
                loaded.len() - 1
            });
            let (_, temp, have) = &mut loaded[known];
            for component in (0..4u8).filter(|c| (mask & !*have) >> c & 1 != 0) {
                let to = Destination::new(File::Temporary, *temp, 1 << component);
                let fill = Op::Fragment(FragmentOp::Fill(place + u16::from(component)));
                program.push(Instruction::new(fill, Some(to), []));
            }
            *have |= mask;
            instruction.sources[number].index = *temp;
        }
        let stored = instruction.destination.and_then(|to| Some((to, place_of(to.file, to.index)?)));
        let Some((to, place)) = stored else {
            program.push(instruction);
            continue;
        };
        let temp = program.new_temp() as i32;
        instruction.destination = Some(Destination { index: temp, ..to });
        program.push(instruction);
        for component in (0..4u8).filter(|c| to.mask >> c & 1 != 0) {
            let source = Source::new(File::Temporary, temp).swizzled([component; 4]);
            let spill = Op::Fragment(FragmentOp::Spill(place + u16::from(component)));
            let spill: MachineInstruction = Instruction::new(spill, None, [source]);
            program.push(spill);
        }
    }
}
