//! Moves values to the storage of the thread, if there are not enough work registers.
//!
//! Each instruction that reads a spilled value loads it to a new temporary, and each that writes it stores the
//! components written. Those temporaries are not spilled again.

use std::collections::HashSet;

use tgsi_vec4::Flow;
use tgsi_vec4::access::swizzled;
use tgsi_vec4::liveness::Liveness;
use tgsi_vec4::simple::{Destination, File, Instruction, SimpleMachine, Source};

use crate::isa::load_store::{LoadStore, LoadStoreOp, Operand};
use crate::isa::{LoadStoreRegister, Register};
use crate::machine::{Machine, MachineInstruction, MachineProgram, OPERANDS, Op, Operation, Selected};
use crate::schedule::BundledProgram;

/// The greatest number of bytes in the storage of a thread: offsets are signed, with 18 bits.
const LARGEST_STACK: u32 = 1 << 17;

/// The temporaries that must not be spilled.
#[derive(Default)]
pub(super) struct Spilled {
    short: HashSet<i32>,
}

/// An access to a slot in the storage of the thread.
fn access(op: LoadStoreOp, offset: u32) -> LoadStore {
    LoadStore {
        argument: Operand { register: LoadStoreRegister::LocalStorage, component: 0 },
        is_wide: true,
        offset: offset as i32,
        ..LoadStore::new(op, Register::UNUSED)
    }
}

impl Spilled {
    /// Spills values. Returns whether there were any.
    pub(super) fn spill(&mut self, selected: &mut Selected, hot: &[u32], count: usize) -> bool {
        let operands = free_operands(&mut selected.program);
        let chosen = self.choose(selected, hot, &operands, count);
        let end = chosen.len() as u32 * 16 + selected.stack;
        if chosen.is_empty() || end > LARGEST_STACK {
            return false;
        }
        let first = selected.stack;
        let slot = |temp: i32| chosen.iter().position(|&known| known == temp).map(|slot| first + slot as u32 * 16);
        selected.stack += chosen.len() as u32 * 16;
        let instructions = selected.program.take_instructions();
        for (instruction, operand) in instructions.into_iter().zip(operands) {
            self.rewrite(selected, instruction, operand, &slot);
        }
        true
    }

    /// The temporaries that occupy registers where there are too few, compared with the accesses that spilling adds.
    fn choose(&self, selected: &Selected, hot: &[u32], operands: &[Option<u8>], count: usize) -> Vec<i32> {
        let program = &selected.program;
        let first_temp = program.first_temp();
        let mut has_operand = vec![true; program.temps()];
        // Accesses in loops count more.
        let mut uses = vec![0f32; program.temps()];
        let mut weight = 1f32;
        for (index, (access, operand)) in program.accesses().iter().zip(operands).enumerate() {
            match program.flow(index) {
                Some(Flow::Loop) => weight *= 8.0,
                Some(Flow::EndLoop) => weight /= 8.0,
                _ => {}
            }
            if let Some(temp) = access.written().and_then(|written| written.temp()) {
                has_operand[temp] &= operand.is_some();
                uses[temp] += weight;
            }
            for temp in access.reads().iter().filter_map(|read| read.temp()) {
                uses[temp] += weight;
            }
        }
        let candidates = hot.iter().zip(&uses).enumerate().filter(|&(temp, (&hot, _))| hot > 0 && has_operand[temp]);
        let mut candidates: Vec<(f32, i32)> = candidates
            .map(|(temp, (&hot, &uses))| (hot as f32 / uses.max(1.0), (temp as u32 + first_temp) as i32))
            .filter(|(_, temp)| !self.short.contains(temp))
            .collect();
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
        // A value occupies one register at most, and may be live at few of the places.
        let count = count.max(candidates.len() / 12).max(1);
        candidates.into_iter().take(count).map(|(_, temp)| temp).collect()
    }

    fn rewrite(
        &mut self,
        selected: &mut Selected,
        mut instruction: MachineInstruction,
        operand: Option<u8>,
        slot: &impl Fn(i32) -> Option<u32>,
    ) {
        let info = Machine::info(instruction.op);
        let mut loaded: Vec<(i32, i32)> = Vec::new();
        let original = instruction.clone();
        for number in 0..instruction.sources.len() {
            let source = instruction.sources[number];
            if source.file != File::Temporary || instruction.channels(&info, number) == 0 {
                continue;
            }
            let Some(offset) = slot(source.index) else { continue };
            let known = loaded.iter().find(|known| known.0 == source.index).map(|known| known.1);
            let temp = known.unwrap_or_else(|| {
                let temp = self.short_temp(selected);
                let operation = self.operation(selected, access(LoadStoreOp::Ld128, offset));
                let same = original.sources.iter().enumerate().filter(|(_, other)| other.is_same_register(&source));
                let read = same.map(|(number, other)| swizzled(original.channels(&info, number), other.swizzle));
                let to = Destination::new(File::Temporary, temp, read.fold(0, |all, mask| all | mask));
                selected.program.push(Instruction::new(Op::Load, Some(to), [operation]));
                loaded.push((source.index, temp));
                temp
            });
            instruction.sources[number].index = temp;
        }
        let to = instruction.destination.filter(|to| to.file == File::Temporary);
        let Some((to, offset)) = to.and_then(|to| Some((to, slot(to.index)?))) else {
            selected.program.push(instruction);
            return;
        };
        let temp = self.short_temp(selected);
        instruction.destination = Some(Destination { index: temp, ..to });
        selected.program.push(instruction);
        let number = operand.unwrap_or(0);
        let operand = i32::from(OPERANDS + number);
        let copy = Destination::new(File::Special, operand, to.mask);
        selected.program.push(Instruction::new(Op::Mov, Some(copy), [Source::new(File::Temporary, temp)]));
        let register = Register::new(number).unwrap_or(Register::UNUSED);
        let store = LoadStore { register, mask: to.mask, ..access(LoadStoreOp::St128, offset) };
        let operation = self.operation(selected, store);
        // Only components that are written are read.
        let first = to.mask.trailing_zeros() as u8 & 3;
        let components = [0, 1, 2, 3].map(|c: u8| if to.mask >> c & 1 != 0 { c } else { first });
        let value = Source::new(File::Special, operand).swizzled(components);
        selected.program.push(Instruction::new(Op::Store, None, [operation, value]));
    }

    fn short_temp(&mut self, selected: &mut Selected) -> i32 {
        let temp = selected.program.new_temp() as i32;
        self.short.insert(temp);
        temp
    }

    fn operation(&self, selected: &mut Selected, access: LoadStore) -> Source {
        selected.operations.push(Operation::LoadStore(access));
        Source::new(File::Input, (selected.operations.len() - 1) as i32)
    }
}

/// The live components of temporaries, from the end of a program to its start.
struct Pressure {
    live: Vec<u8>,
    count: u32,
    peak: u32,
    hot_places: u32,
    /// The number of hot places when a temporary became live.
    since: Vec<u32>,
    /// The number of hot places at which a temporary is live.
    hot: Vec<u32>,
}

impl Pressure {
    fn of(program: &BundledProgram, limit: u32) -> Pressure {
        let temps = program.temps();
        let (live, since, hot) = (vec![0; temps], vec![0; temps], vec![0; temps]);
        let mut pressure = Pressure { live, count: 0, peak: 0, hot_places: 0, since, hot };
        let liveness = Liveness::of(program);
        let first_row = tgsi_vec4::Reg::temp(0).dense().unwrap_or(0);
        for (number, block) in liveness.blocks.iter().enumerate().rev() {
            for &(row, mask) in liveness.changes(number) {
                if let Some(temp) = (row as usize).checked_sub(first_row).filter(|&temp| temp < temps) {
                    pressure.set(temp, mask);
                }
            }
            for access in program.accesses()[block.start..block.end].iter().rev() {
                if let Some(written) = access.written()
                    && let Some(temp) = written.temp()
                {
                    pressure.set(temp, pressure.live[temp] & !written.mask());
                }
                for read in access.reads() {
                    if let Some(temp) = read.temp() {
                        pressure.set(temp, pressure.live[temp] | read.mask());
                    }
                }
                pressure.peak = pressure.peak.max(pressure.count);
                pressure.hot_places += u32::from(pressure.count > limit);
            }
        }
        (0..temps).for_each(|temp| pressure.set(temp, 0));
        pressure
    }

    fn set(&mut self, temp: usize, mask: u8) {
        let old = std::mem::replace(&mut self.live[temp], mask);
        self.count = self.count + mask.count_ones() - old.count_ones();
        match (old, mask) {
            (0, 0) => {}
            (0, _) => self.since[temp] = self.hot_places,
            (_, 0) => self.hot[temp] += self.hot_places - self.since[temp],
            _ => {}
        }
    }
}

/// For each temporary the number of places with too many live components at which it is live.
pub(super) fn hot_temporaries(program: &BundledProgram, registers: u32) -> Vec<u32> {
    // Allocation does not pack values perfectly.
    let limit = registers.saturating_mul(4).saturating_sub(registers / 2);
    let pressure = Pressure::of(program, limit);
    if pressure.hot_places > 0 { pressure.hot } else { Pressure::of(program, pressure.peak.saturating_sub(2)).hot }
}

/// For each instruction a register of the load/store unit that holds no value after it.
fn free_operands(program: &mut MachineProgram) -> Vec<Option<u8>> {
    let liveness = program.liveness();
    let rows = [0, 1].map(|number| tgsi_vec4::Reg::special((OPERANDS + number).into()).and_then(tgsi_vec4::Reg::dense));
    let number_of = |row: usize| rows.iter().position(|&known| known == Some(row));
    let mut live = [0u8; 2];
    let mut free = vec![None; program.instructions().len()];
    for (number, block) in liveness.blocks.iter().enumerate().rev() {
        for &(row, mask) in liveness.changes(number) {
            if let Some(number) = number_of(row as usize) {
                live[number] = mask;
            }
        }
        for index in (block.start..block.end).rev() {
            free[index] = live.iter().position(|&mask| mask == 0).map(|number| number as u8);
            let access = &program.accesses()[index];
            if let Some(written) = access.written()
                && let Some(number) = written.dense().and_then(number_of)
            {
                live[number] &= !written.mask();
            }
            for read in access.reads() {
                if let Some(number) = read.dense().and_then(number_of) {
                    live[number] |= read.mask();
                }
            }
        }
    }
    free
}
