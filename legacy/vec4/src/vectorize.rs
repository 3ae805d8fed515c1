//! Merges instructions that do the same to separate values, and their values into one temporary.
//!
//! ```text
//! UADD TEMP[4].x, CONST[0].xxxx, IMM[0].xxxx        UADD TEMP[4].xy, CONST[0].xxxx, IMM[0].xyxx
//! I2F TEMP[5].x, TEMP[4].xxxx                 =>    I2F TEMP[5].xy, TEMP[4].xyxx
//! UADD TEMP[6].x, CONST[0].xxxx, IMM[0].yyyy        ... TEMP[4].yyyy for TEMP[6].xxxx, TEMP[5].yyyy for TEMP[7].xxxx
//! I2F TEMP[7].x, TEMP[6].xxxx
//! ```
//!
//! Only temporaries that are written by a single instruction and may be permuted take part. Operands must be the same
//! registers (or constants), so the merged values are components of a vector that was split. The later instruction
//! moves up to the earlier one.

use super::access::{RegisterAccess, Traits};
use super::allocate::{Allocate, Location, SwizzleConstraint, freedoms};
use super::blocks::block_from;
use super::last_accesses::LastAccesses;
use super::merge::{Merge, WINDOW};
use super::{Program, Reg};

const NONE: u32 = u32::MAX;

/// Comparison of operations and moving of results.
pub trait Vectorize: Merge + Allocate {
    /// A hash of the opcode and the operands, without swizzles and other differences that [`Merge::merged`] permits.
    fn hash(&self, instruction: &Self::Instruction) -> u32;

    /// The instruction with its result in the register that another one writes: channel `c` of it, for the channels of
    /// `mask`, was channel `from[c]`. Called for instructions with [`Traits::COMPONENTWISE`] only.
    fn moved_to(
        &self,
        instruction: &Self::Instruction,
        other: &Self::Instruction,
        mask: u8,
        from: [u8; 4],
    ) -> Self::Instruction;
}

/// Hash chains of instructions: the last instruction of each bucket, and for each instruction the previous one.
struct Chains {
    last: Vec<u32>,
    before: Vec<u32>,
    hashes: Vec<u32>,
}

impl Chains {
    fn new(instructions: usize) -> Chains {
        // More buckets than instructions within reach would not shorten the chains.
        let buckets = instructions.next_power_of_two().clamp(16, 4 * WINDOW.next_power_of_two());
        Chains { last: vec![NONE; buckets], before: vec![NONE; instructions], hashes: vec![0; instructions] }
    }

    fn bucket(&mut self, hash: u32) -> &mut u32 {
        let mask = self.last.len() - 1;
        &mut self.last[hash as usize & mask]
    }

    fn insert(&mut self, index: usize, hash: u32) {
        self.hashes[index] = hash;
        self.before[index] = std::mem::replace(self.bucket(hash), index as u32);
    }
}

/// The new locations of the temporaries that were merged into others.
struct Renames {
    locations: Vec<Option<Location>>,
    count: usize,
}

impl Renames {
    fn concerns<Opcode>(&self, access: &RegisterAccess<Opcode>) -> bool {
        self.count != 0 && access.reads().iter().any(|r| r.temp().is_some_and(|t| self.locations[t].is_some()))
    }

    /// Renames the reads of an instruction.
    fn apply<M: Vectorize>(&self, program: &mut Program<M>, index: usize) {
        if !self.concerns(&program.access[index]) {
            return;
        }
        let first_temp = program.first_temp();
        program.edit_with(index, |machine, instruction| {
            machine.rename_reads(instruction, first_temp, |temp| self.locations.get(temp).copied().flatten());
        });
    }
}

/// Vectorises. Returns whether anything changed.
pub fn vectorize<M: Vectorize>(program: &mut Program<M>) -> bool {
    let freedom = freedoms(program);
    let mut has_writer = vec![false; program.temps()];
    let moves =
        |&freedom: &SwizzleConstraint| matches!(freedom, SwizzleConstraint::Any | SwizzleConstraint::WithinHalves);
    let mut is_own: Vec<bool> = freedom.iter().map(moves).collect();
    for temp in program.access.iter().filter_map(|a| a.written()?.temp()) {
        is_own[temp] &= !has_writer[temp];
        has_writer[temp] = true;
    }
    // The temporary written only by this instruction, and its components.
    let own = |access: &RegisterAccess<M::Opcode>| {
        let written = access.written().filter(|_| access.traits.any(Traits::COMPONENTWISE))?;
        let temp = written.temp()?;
        is_own[temp].then_some((temp, written.mask()))
    };
    let mut renames = Renames { locations: vec![None; program.temps()], count: 0 };
    let mut dead: Vec<bool> = Vec::new();
    let mut accesses = LastAccesses::new(program);
    let mut chains = Chains::new(program.instructions.len());
    let first_temp = program.first_temp();
    let mut next = 0;
    while let Some(block) = block_from(program, next) {
        next = block.end;
        'instructions: for index in block.clone() {
            renames.apply(program, index);
            let Program { machine, constants, instructions, access: all, .. } = &mut *program;
            let Some((temp, mask)) = own(&all[index]) else {
                accesses.record(machine, &all[index], index);
                continue;
            };
            let hash = machine.hash(&instructions[index]);
            let first = block.start.max(index.saturating_sub(WINDOW));
            // Computed only if there is a candidate.
            let mut limit = None;
            let mut candidate = *chains.bucket(hash);
            while candidate != NONE && candidate as usize >= first {
                let earlier = candidate as usize;
                candidate = chains.before[earlier];
                if chains.hashes[earlier] != hash {
                    continue;
                }
                if earlier < *limit.get_or_insert_with(|| accesses.limit(&all[index])) {
                    break;
                }
                let (a, b) = (&instructions[earlier], &instructions[index]);
                let Some((into, taken)) = own(&all[earlier]) else { continue };
                if into == temp || taken.count_ones() + mask.count_ones() > 4 {
                    continue;
                }
                let FreeComponents { mask, from, to } = FreeComponents::of(taken, mask);
                let stays_in_half = freedom[into].and(freedom[temp]) == SwizzleConstraint::WithinHalves;
                if stays_in_half && (taken | mask) & 0b1100 != 0 {
                    continue;
                }
                let moved = machine.moved_to(b, a, mask, from);
                let Some(both) = machine.merged(constants, a, &all[earlier], &moved) else { continue };
                accesses.record(machine, &machine.access(&moved, first_temp), earlier);
                renames.locations[temp] = Some(Location { register: Reg::temp(into as u32), components: to });
                renames.count += 1;
                program.set(earlier, both);
                dead.resize(program.instructions.len(), false);
                dead[index] = true;
                continue 'instructions;
            }
            accesses.record(machine, &all[index], index);
            chains.insert(index, hash);
        }
    }
    if dead.is_empty() {
        return false;
    }
    // Earlier readers, in loops.
    for index in 0..program.instructions.len() {
        renames.apply(program, index);
    }
    program.remove(&dead);
    true
}

/// The free components of a register that hold those of another one.
struct FreeComponents {
    /// The components used.
    mask: u8,
    /// The original component of each of them.
    from: [u8; 4],
    /// The new place of each component.
    to: [u8; 4],
}

impl FreeComponents {
    /// Finds places for the components of `mask` beside those of `taken`.
    fn of(taken: u8, mask: u8) -> FreeComponents {
        let mut found = FreeComponents { mask: 0, from: [0; 4], to: [0; 4] };
        let mut free = (0..4u8).filter(|c| taken & 1 << c == 0);
        for c in (0..4u8).filter(|c| mask & 1 << c != 0) {
            if let Some(to) = free.next() {
                found.to[usize::from(c)] = to;
                found.from[usize::from(to)] = c;
                found.mask |= 1 << to;
            }
        }
        found
    }
}
