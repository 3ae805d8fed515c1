//! Backward propagation of copies within blocks: results go where a copy puts them.
//!
//! ```text
//! MUL TEMP[7].x, a, b                      MUL OUT[0].yw, a.xxxx, b.xxxx
//! ...                               =>     ...
//! MOV_SAT OUT[0].yw, TEMP[7].xxxx          (saturated)
//! ```
//!
//! A copy vanishes if it alone reads what it copies, if all of that was produced in its block, by instructions that can
//! write the components wanted, and if nothing in between touches the destination.
//!
//! What is copied to several outputs is computed for each of them:
//!
//! ```text
//! MAD TEMP[7].xyz, a, b, c                 MAD OUT[1].w, a.xxxx, b.xxxx, c.xxxx
//! ...                               =>     MAD OUT[2].xy, a.yzyy, b.yzyy, c.yzyy
//! MOV OUT[1].w, TEMP[7].xxxx               ...
//! MOV OUT[2].xy, TEMP[7].yzyy
//! ```

use arrayvec::ArrayVec;

use super::access::{Access, Counts, Reg, Traits};
use super::blocks::block_from;
use super::{Machine, Program, RegisterCopy};

/// Farthest that a producer may be away from the copy; keeps the pass linear.
const REACH: usize = 256;

/// Results that are split in a block at most. Each is looked at for each copy after it.
const MAX_SPLITS: usize = 64;

/// Results that may go elsewhere.
pub trait PropagateBackward: Machine {
    /// Whether an instruction can do what a copy of its result does: channel `c` of the copy, for the channels of
    /// `mask`, is channel `from[c]` of the result. All that it writes is copied.
    fn may_take_copy(&self, producer: &Self::Instruction, copy: &Self::Instruction, mask: u8, from: [u8; 4]) -> bool;

    /// Whether two instructions for parts of a result cost no more than one for all of it and a copy.
    fn may_split(&self, producer: &Self::Instruction) -> bool;

    /// Makes it do what a copy of its result does.
    fn take_copy(&self, producer: &mut Self::Instruction, copy: &Self::Instruction, mask: u8, from: [u8; 4]);
}

/// Knowledge about a virtual temporary or special register.
#[derive(Clone, Copy, Default)]
struct State {
    reads: Counts,
    writes: Counts,
    /// Components that copies to outputs read.
    to_outputs: u8,
    /// The last writes to the components, as indices plus one.
    last_write: [u32; 4],
}

impl State {
    fn write(&mut self, mask: u8, index: usize) {
        for (c, last) in self.last_write.iter_mut().enumerate() {
            if mask & 1 << c != 0 {
                *last = index as u32 + 1;
            }
        }
    }
}

/// Makes producers write the destinations of copies. Returns whether anything changed.
pub fn propagate_backward<M: PropagateBackward>(program: &mut Program<M>) -> bool {
    let is_candidate = |(access, copy): (&Access<M::Opcode>, &M::Instruction)| {
        access.traits.any(Traits::COPY) && is_plain(program.machine.register_copy(copy, program.first_temp())).is_some()
    };
    if !program.access.iter().zip(&program.instructions).any(is_candidate) {
        return false;
    }
    let mut states = vec![State::default(); program.registers()];
    for (index, access) in program.access.iter().enumerate() {
        let is_to_output = access.traits.any(Traits::COPY)
            && program
                .machine
                .register_copy(&program.instructions[index], program.first_temp())
                .is_some_and(|copy| copy.to.as_output().is_some());
        for read in access.reads() {
            if let Some(register) = read.dense() {
                states[register].reads.add(read.mask());
                if is_to_output {
                    states[register].to_outputs |= read.mask();
                }
            }
        }
        if let Some((register, mask)) = dense_result(access) {
            states[register].writes.add(mask);
        }
    }
    let mut dead: Vec<bool> = Vec::new();
    // Parts of results, and before what they go.
    let mut splits: Vec<(usize, M::Instruction)> = Vec::new();
    let mut next = 0;
    while let Some(block) = block_from(program, next) {
        next = block.end;
        let mut in_block: Vec<(usize, Access<M::Opcode>)> = Vec::new();
        for index in block.clone() {
            let access = &program.access[index];
            if access.traits.any(Traits::COPY)
                && let Some((plan, to)) = plan(program, &states, &in_block, block.start, index)
            {
                let copy = program.instructions[index].clone();
                for &(producer, mask, from) in &plan {
                    let rest = rest_of(&program.access[producer], mask, from);
                    if rest != 0 {
                        let mut part = part_of(program, producer, mask, from);
                        program.edit_with(producer, |machine, instruction| machine.set_mask(instruction, rest));
                        program.machine.take_copy(&mut part, &copy, mask, from);
                        in_block.push((producer, program.machine.access(&part, program.first_temp())));
                        splits.push((producer, part));
                        continue;
                    }
                    program.edit_with(producer, |machine, instruction| {
                        machine.take_copy(instruction, &copy, mask, from);
                    });
                }
                dead.resize(program.instructions.len(), false);
                dead[index] = true;
                if let Some(register) = to.dense() {
                    for &(producer, mask, _) in &plan {
                        states[register].write(mask, producer);
                    }
                }
                continue;
            }
            if let Some((register, mask)) = dense_result(access) {
                states[register].write(mask, index);
            }
        }
    }
    if !dead.is_empty() {
        program.remove_and_insert(&dead, splits);
    }
    !dead.is_empty()
}

/// The components of a result that a copy takes.
fn taken(mask: u8, from: [u8; 4]) -> u8 {
    (0..4).filter(|c| mask & 1 << c != 0).fold(0, |taken, c| taken | 1 << from[c])
}

/// The components of a result that a copy leaves.
fn rest_of<Opcode>(access: &Access<Opcode>, mask: u8, from: [u8; 4]) -> u8 {
    access.written().map_or(0, |written| written.mask()) & !taken(mask, from)
}

/// An instruction that computes only what a copy takes.
fn part_of<M: PropagateBackward>(program: &Program<M>, producer: usize, mask: u8, from: [u8; 4]) -> M::Instruction {
    let mut part = program.instructions[producer].clone();
    program.machine.set_mask(&mut part, taken(mask, from));
    part
}

/// The special register or virtual temporary that is written, and the components.
#[inline]
fn dense_result<Opcode>(access: &Access<Opcode>) -> Option<(usize, u8)> {
    access.written().and_then(|w| Some((w.dense()?, w.mask())))
}

/// A copy of a temporary, fixed ones included, to another one or to an output.
#[inline]
fn is_plain(copy: Option<RegisterCopy>) -> Option<RegisterCopy> {
    let is_temporary = |register: Reg| register.as_temp().is_some() || register.as_fixed().is_some();
    copy.filter(|copy| {
        is_temporary(copy.from) && (is_temporary(copy.to) || copy.to.as_output().is_some()) && copy.from != copy.to
    })
}

/// Producers with the channels that each is to write, and the channel of the old result that each new channel is.
type Plan = ArrayVec<(usize, u8, [u8; 4]), 4>;

fn plan<M: PropagateBackward>(
    program: &Program<M>,
    states: &[State],
    splits: &[(usize, Access<M::Opcode>)],
    block_start: usize,
    index: usize,
) -> Option<(Plan, Reg)> {
    let instruction = &program.instructions[index];
    let copy = is_plain(program.machine.register_copy(instruction, program.first_temp()))?;
    let state = states.get(copy.from.dense()?)?;
    let mut plan: Plan = Plan::new();
    for (c, component) in copy.components() {
        let producer = (state.last_write[component] as usize).checked_sub(1)?;
        let is_single = state.reads.are_one(1 << component) && state.writes.are_one(1 << component);
        if !is_single || producer < block_start || index - producer > REACH {
            return None;
        }
        match plan.iter_mut().find(|p| p.0 == producer) {
            Some(entry) => {
                entry.1 |= 1 << c;
                entry.2[c] = component as u8;
            }
            None => {
                let mut from = [0; 4];
                from[c] = component as u8;
                plan.push((producer, 1 << c, from));
            }
        }
    }
    for &(producer, mask, from) in &plan {
        let access = &program.access[producer];
        let rest = rest_of(access, mask, from);
        // The rest is worth an instruction of its own where that makes a copy of it vanish.
        let may_split = || {
            copy.to.as_output().is_some()
                && splits.len() < MAX_SPLITS
                && access.traits.any(Traits::COMPONENTWISE)
                && program.machine.may_split(&program.instructions[producer])
                && rest & !state.to_outputs == 0
                && (0..4).all(|c| rest & 1 << c == 0 || state.reads.are_one(1 << c) && state.writes.are_one(1 << c))
        };
        if rest != 0 && !may_split() {
            return None;
        }
        let takes = if rest == 0 {
            program.machine.may_take_copy(&program.instructions[producer], instruction, mask, from)
        } else {
            program.machine.may_take_copy(&part_of(program, producer, mask, from), instruction, mask, from)
        };
        if !takes {
            return None;
        }
    }
    let first = plan.iter().map(|p| p.0).min()?;
    let clean = program.access[first + 1..index].iter().all(|between| !touches(between, copy.to, copy.mask));
    let clean = clean && splits.iter().all(|(at, part)| *at <= first || !touches(part, copy.to, copy.mask));
    clean.then_some((plan, copy.to))
}

/// Whether an instruction reads or writes components of a register, or makes outputs visible.
fn touches<Opcode>(access: &Access<Opcode>, register: Reg, mask: u8) -> bool {
    if register.as_fixed().is_some() {
        return access.traits.any(Traits::READS_FIXED.with(Traits::WRITES_FIXED));
    }
    if register.as_output().is_some() && access.traits.any(Traits::OUTPUT_BARRIER.with(Traits::READS_OUTPUT)) {
        return true;
    }
    let mut accessed = access.reads().iter().copied().chain(access.written());
    accessed.any(|a| a.register() == register && a.mask() & mask != 0)
}
