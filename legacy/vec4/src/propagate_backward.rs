//! Backward copy propagation within blocks: producers write directly to the destination of a copy.
//!
//! ```text
//! MUL TEMP[7].x, a, b                      MUL OUT[0].yw, a.xxxx, b.xxxx
//! ...                               =>     ...
//! MOV_SAT OUT[0].yw, TEMP[7].xxxx          (saturated)
//! ```
//!
//! A copy is removed if it is the only use of its source, if all of the source was produced in its block, by
//! instructions that can write the components wanted, and if nothing in between accesses the destination, which may
//! also be a special register: condition codes, a predicate or an address register.
//!
//! A value copied to several outputs or fixed registers is computed separately for each of them, as a whole or in
//! parts:
//!
//! ```text
//! MAD TEMP[7].xyz, a, b, c                 MAD OUT[1].w, a.xxxx, b.xxxx, c.xxxx
//! ...                               =>     MAD OUT[2].xyz, a, b, c
//! MOV OUT[1].w, TEMP[7].xxxx               ...
//! MOV OUT[2].xyz, TEMP[7]
//! ```

use arrayvec::ArrayVec;

use super::access::{AccessCounts, Reg, RegisterAccess, Traits};
use super::blocks::block_from;
use super::{Machine, Program, RegisterCopy};

/// The maximum distance between producer and copy; keeps the pass linear.
const REACH: usize = 256;

/// The maximum number of results split in a block. Each is visited for each later copy.
const MAX_SPLITS: usize = 64;

/// Retargeting of results.
pub trait PropagateBackward: Machine {
    /// Whether an instruction can absorb a copy of its result to a temporary, an output or a special register: channel
    /// `c` of the copy, for the channels of `mask`, is channel `from[c]` of the result. Everything that it writes is
    /// copied.
    fn may_take_copy(&self, producer: &Self::Instruction, copy: &Self::Instruction, mask: u8, from: [u8; 4]) -> bool;

    /// Whether two instructions for parts of a result cost no more than one for the whole result and a copy.
    fn may_split(&self, producer: &Self::Instruction) -> bool;

    /// Makes an instruction absorb a copy of its result.
    fn take_copy(&self, producer: &mut Self::Instruction, copy: &Self::Instruction, mask: u8, from: [u8; 4]);
}

/// The accesses of a virtual temporary or special register.
#[derive(Clone, Copy, Default)]
struct RegisterAccesses {
    reads: AccessCounts,
    writes: AccessCounts,
    /// For each component the number of remaining copies to outputs and fixed registers that read it.
    copies: [u8; 4],
    /// Components with other uses.
    others: u8,
    /// The last writes to the components, as index plus one.
    last_write: [u32; 4],
}

impl RegisterAccesses {
    fn copy(&mut self, mask: u8) {
        for (c, copies) in self.copies.iter_mut().enumerate() {
            *copies = copies.saturating_add(mask >> c & 1);
        }
    }

    /// The components of `mask` that are used only by several copies.
    fn shared(&self, mask: u8) -> u8 {
        let is_shared = |c: &usize| self.copies[*c] > 1 && self.others & 1 << c == 0;
        (0..4usize).filter(is_shared).fold(0, |shared, c| shared | 1 << c) & mask
    }

    /// Whether each of these components has exactly one write and one use.
    fn are_single(&self, mask: u8) -> bool {
        let is_copied_once = |c: usize| self.copies[c] == 1 && self.others & 1 << c == 0;
        let is_read_once = |c: usize| is_copied_once(c) || self.reads.are_one(1 << c);
        self.writes.are_one(mask) && (0..4).all(|c| mask & 1 << c == 0 || is_read_once(c))
    }

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
    let is_candidate = |(access, copy): (&RegisterAccess<M::Opcode>, &M::Instruction)| {
        access.traits.any(Traits::COPY) && is_plain(program.machine.register_copy(copy, program.first_temp())).is_some()
    };
    if !program.access.iter().zip(&program.instructions).any(is_candidate) {
        return false;
    }
    let mut states = vec![RegisterAccesses::default(); program.registers()];
    for (index, access) in program.access.iter().enumerate() {
        let is_copy = access.traits.any(Traits::COPY)
            && program
                .machine
                .register_copy(&program.instructions[index], program.first_temp())
                .is_some_and(|copy| stays(copy.to));
        for read in access.reads() {
            if let Some(register) = read.dense() {
                states[register].reads.add(read.mask());
                if is_copy {
                    states[register].copy(read.mask());
                } else {
                    states[register].others |= read.mask();
                }
            }
        }
        if let Some((register, mask)) = dense_result(access) {
            states[register].writes.add(mask);
        }
    }
    let mut dead: Vec<bool> = Vec::new();
    // Parts of results, and the instruction before which they are inserted.
    let mut splits: Vec<(usize, M::Instruction)> = Vec::new();
    let mut next = 0;
    while let Some(block) = block_from(program, next) {
        next = block.end;
        let mut in_block: Vec<(usize, RegisterAccess<M::Opcode>)> = Vec::new();
        for index in block.clone() {
            let access = &program.access[index];
            if access.traits.any(Traits::COPY)
                && let Some((plan, copied)) = plan(program, &states, &in_block, block.start, index)
            {
                let copy = program.instructions[index].clone();
                for &CopiedComponents { producer, mask, from, rest } in &plan {
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
                if let Some(register) = copied.to.dense() {
                    for part in &plan {
                        states[register].write(part.mask, part.producer);
                    }
                }
                if let Some(register) = copied.from.dense() {
                    for &CopiedComponents { mask, from, .. } in &plan {
                        for c in (0..4).filter(|c| taken(mask, from) & 1 << c != 0) {
                            let copies = &mut states[register].copies[c];
                            *copies = copies.saturating_sub(1);
                        }
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

/// The components of a result that a copy reads.
fn taken(mask: u8, from: [u8; 4]) -> u8 {
    (0..4).filter(|c| mask & 1 << c != 0).fold(0, |taken, c| taken | 1 << from[c])
}

/// The components of a result that a copy does not read.
fn rest_of<Opcode>(access: &RegisterAccess<Opcode>, mask: u8, from: [u8; 4]) -> u8 {
    access.written().map_or(0, |written| written.mask()) & !taken(mask, from)
}

/// Creates an instruction that computes only the components that a copy reads.
fn part_of<M: PropagateBackward>(program: &Program<M>, producer: usize, mask: u8, from: [u8; 4]) -> M::Instruction {
    let mut part = program.instructions[producer].clone();
    program.machine.set_mask(&mut part, taken(mask, from));
    part
}

/// The special register or virtual temporary that is written, and its components.
#[inline]
fn dense_result<Opcode>(access: &RegisterAccess<Opcode>) -> Option<(usize, u8)> {
    access.written().and_then(|w| Some((w.dense()?, w.mask())))
}

/// Filters copies of a temporary (including fixed ones) to another register.
#[inline]
fn is_plain(copy: Option<RegisterCopy>) -> Option<RegisterCopy> {
    let is_temporary = |register: Reg| register.as_temp().is_some() || register.as_fixed().is_some();
    copy.filter(|copy| is_temporary(copy.from) && copy.from != copy.to)
}

/// The part of a producer's result that a copy reads.
struct CopiedComponents {
    producer: usize,
    /// The channels to write.
    mask: u8,
    /// For each of them the channel of the old result.
    from: [u8; 4],
    /// The components that the producer still computes. If there are any, the part becomes a separate instruction.
    rest: u8,
}

/// One part for each producer.
type Plan = ArrayVec<CopiedComponents, 4>;

/// Whether allocation does not move a register.
fn stays(register: Reg) -> bool {
    register.as_output().is_some() || register.as_fixed().is_some()
}

fn plan<M: PropagateBackward>(
    program: &Program<M>,
    states: &[RegisterAccesses],
    splits: &[(usize, RegisterAccess<M::Opcode>)],
    block_start: usize,
    index: usize,
) -> Option<(Plan, RegisterCopy)> {
    let instruction = &program.instructions[index];
    let copy = is_plain(program.machine.register_copy(instruction, program.first_temp()))?;
    let state = states.get(copy.from.dense()?)?;
    let mut plan: Plan = Plan::new();
    for (c, component) in copy.components() {
        let producer = (state.last_write[component] as usize).checked_sub(1)?;
        let is_shared = || state.writes.are_one(1 << component) && state.shared(1 << component) != 0;
        if !(state.are_single(1 << component) || is_shared()) || producer < block_start || index - producer > REACH {
            return None;
        }
        match plan.iter_mut().find(|part| part.producer == producer) {
            Some(part) => {
                part.mask |= 1 << c;
                part.from[c] = component as u8;
            }
            None => {
                let mut from = [0; 4];
                from[c] = component as u8;
                plan.push(CopiedComponents { producer, mask: 1 << c, from, rest: 0 });
            }
        }
    }
    for part in &mut plan {
        let &mut CopiedComponents { producer, mask, from, .. } = part;
        let access = &program.access[producer];
        let rest = rest_of(access, mask, from) | state.shared(taken(mask, from));
        part.rest = rest;
        // Splitting pays if the copies of the remaining components can be removed as well.
        let may_split = || {
            let is_copied = |c: usize| state.copies[c] != 0 && state.others & 1 << c == 0;
            stays(copy.to)
                && splits.len() < MAX_SPLITS
                && access.traits.any(Traits::COMPONENTWISE)
                && program.machine.may_split(&program.instructions[producer])
                && state.writes.are_one(rest)
                && (0..4).all(|c| rest & 1 << c == 0 || is_copied(c))
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
    let first = plan.iter().map(|part| part.producer).min()?;
    let clean = program.access[first + 1..index].iter().all(|between| !touches(between, copy.to, copy.mask));
    let clean = clean && splits.iter().all(|(at, part)| *at <= first || !touches(part, copy.to, copy.mask));
    clean.then_some((plan, copy))
}

/// Whether an instruction reads or writes components of a register, or makes outputs visible.
fn touches<Opcode>(access: &RegisterAccess<Opcode>, register: Reg, mask: u8) -> bool {
    let somewhere = Traits::READS_FIXED.with(Traits::WRITES_INDIRECT).with(Traits::STORES_WHOLE);
    if register.as_fixed().is_some() && access.traits.any(somewhere) {
        return true;
    }
    if register.as_output().is_some() && access.traits.any(Traits::OUTPUT_BARRIER.with(Traits::READS_OUTPUT)) {
        return true;
    }
    let mut accessed = access.reads().iter().copied().chain(access.written());
    accessed.any(|a| a.register() == register && a.mask() & mask != 0)
}
