//! Moves values to the storage of the thread, if there are not enough work registers.
//!
//! Each instruction that reads a spilled value loads it to a new temporary, and each that writes it stores the
//! components written. Those temporaries are not spilled again.

use std::collections::HashSet;

use tgsi_vec4::simple::{Destination, File, Instruction, SimpleMachine, Source};

use crate::isa::load_store::{LoadStore, LoadStoreOp, Operand};
use crate::isa::{LoadStoreRegister, Register};
use crate::machine::{Machine, MachineInstruction, MachineProgram, OPERANDS, Op, Operation, Selected};

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
    pub(super) fn spill(&mut self, selected: &mut Selected, count: usize) -> bool {
        let operands = free_operands(&mut selected.program);
        let chosen = self.choose(selected, &operands, count);
        if chosen.is_empty() {
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

    /// The temporaries with the longest ranges and the fewest accesses.
    fn choose(&self, selected: &Selected, operands: &[Option<u8>], count: usize) -> Vec<i32> {
        let program = &selected.program;
        let first_temp = program.first_temp();
        let mut has_operand = vec![true; program.temps()];
        for (access, operand) in program.accesses().iter().zip(operands) {
            if let Some(temp) = access.written().and_then(|written| written.temp()) {
                has_operand[temp] &= operand.is_some();
            }
        }
        // The first and the last access, and the number of accesses; those in loops count more.
        let mut ranges = vec![(usize::MAX, 0usize, 0f32); program.temps()];
        let mut weight = 1f32;
        for (index, access) in program.accesses().iter().enumerate() {
            match program.flow(index) {
                Some(tgsi_vec4::Flow::Loop) => weight *= 8.0,
                Some(tgsi_vec4::Flow::EndLoop) => weight /= 8.0,
                _ => {}
            }
            for temp in access.reads().iter().copied().chain(access.written()).filter_map(|c| c.temp()) {
                let range = &mut ranges[temp];
                *range = (range.0.min(index), range.1.max(index), range.2 + weight);
            }
        }
        let mut candidates: Vec<(f32, i32)> = ranges
            .iter()
            .enumerate()
            .filter(|&(temp, _)| has_operand[temp])
            .map(|(temp, &(start, end, uses))| {
                (end.saturating_sub(start) as f32 / uses.max(1.0), temp as i32 + first_temp as i32)
            })
            .filter(|&(value, temp)| value > 1.0 && !self.short.contains(&temp))
            .collect();
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
        candidates.into_iter().take(count.max(1)).map(|(_, temp)| temp).collect()
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
                let to = Destination::new(File::Temporary, temp, 15);
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
        let value = Source::new(File::Special, operand);
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
