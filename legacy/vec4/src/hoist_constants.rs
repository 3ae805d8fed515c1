//! Hoists constants: one copy of a constant before a construct instead of copies in many of its branches.
//!
//! ```text
//! IF a                                   MOV TEMP[1], 0
//!   IF b                                 IF a
//!     TEX TEMP[1], ...                     IF b
//!   ELSE                                     TEX TEMP[1], ...
//!     MOV TEMP[1], 0              =>       ENDIF
//!   ENDIF                                ENDIF
//! ELSE
//!   MOV TEMP[1], 0
//! ENDIF
//! ```
//!
//! Phis with the same constant as the operand of many sides leave such copies. Before register allocation, phis of phis
//! are different temporaries; [`coalesce_copies`] merges them first. As a consequence values can no longer be
//! propagated across copies in the result.
//!
//! The copy of a temporary is inserted before all its accesses, in the innermost body that contains them all, where the
//! temporary is not live: it dominates every read. The copies below are then dropped if their components hold the
//! constant already on every path. The cost shows only after allocation: the constants occupy their registers for
//! longer.
//!
//! A single copy is hoisted if it is the only instruction of an `ELSE`, which is then removed as well.

use super::access::{SPECIAL_REGISTERS, Traits};
use super::allocate::{Allocate, coalesce_copies};
use super::blocks::{ComponentSet, blocks};
use super::{Constants, Flow, Program};

/// The copies of constants of a machine.
pub trait HoistConstants: Allocate {
    /// The words that a copy of a constant writes, by component; none for other copies. Called for instructions with
    /// [`Traits::COPY`] only.
    fn constant_copy(&self, constants: &Constants, copy: &Self::Instruction) -> Option<[u32; 4]>;

    /// Creates a copy of words to components of a temporary (numbered with the fixed ones).
    fn new_constant_copy(&self, constants: &mut Constants, temp: u32, mask: u8, words: [u32; 4]) -> Self::Instruction;
}

/// Longer programs are not transformed: two copies of them do not fit the caches.
const MAX_INSTRUCTIONS: usize = 50_000;

/// Programs nested deeper are not transformed, which bounds the search for a common body.
const MAX_DEPTH: u32 = 64;

/// Returns the program with constants hoisted, if that saves instructions, and the minimum number of temporaries of a
/// program without hoisting.
pub fn hoist_constants<M: HoistConstants + Clone>(program: &mut Program<M>) -> Option<(Program<M>, u32)> {
    let branches = (0..program.access.len()).any(|index| program.flow(index) == Some(Flow::If));
    if !branches || program.access.len() > MAX_INSTRUCTIONS || !can_spare_copies(program) {
        return None;
    }
    // Computed here so that the clone has it too.
    program.liveness();
    let mut hoisted = program.clone();
    coalesce_copies(&mut hoisted);
    let candidates = find_candidates(&mut hoisted)?;
    if candidates.is_empty() {
        return None;
    }
    let inserted = insert(&mut hoisted, &candidates);
    let changed = drop_copies(&mut hoisted, &candidates, &inserted);
    changed.then(|| (hoisted, program.first_temp() + most_live_components(program).div_ceil(4)))
}

/// The maximum number of live components of virtual temporaries at any index.
fn most_live_components<M: HoistConstants>(program: &mut Program<M>) -> u32 {
    let liveness = program.liveness();
    let mut live = vec![0u8; program.temps()];
    let (mut count, mut most) = (0, 0);
    let mut set = |live: &mut u8, mask: u8| {
        count = count + mask.count_ones() - live.count_ones();
        *live = mask;
        most = most.max(count);
    };
    for (number, block) in liveness.blocks.iter().enumerate().rev() {
        for &(register, mask) in liveness.changes(number) {
            if let Some(temp) = register.checked_sub(SPECIAL_REGISTERS) {
                set(&mut live[temp as usize], mask);
            }
        }
        for access in program.access[block.start..block.end].iter().rev() {
            if let Some((temp, mask)) = access.written().and_then(|w| Some((w.temp()?, w.mask()))) {
                let left = live[temp] & !mask;
                set(&mut live[temp], left);
            }
            for read in access.reads() {
                if let Some(temp) = read.temp() {
                    let more = live[temp] | read.mask();
                    set(&mut live[temp], more);
                }
            }
        }
    }
    most
}

/// Whether an instruction is the only one in the `ELSE` side of a branch.
fn is_alone_in_else<M: HoistConstants>(program: &Program<M>, index: usize) -> bool {
    index > 0
        && program.flow(index - 1) == Some(Flow::Else)
        && index + 1 < program.access.len()
        && program.flow(index + 1) == Some(Flow::EndIf)
}

/// Whether there are at least two copies of the same constant, or one that is alone in an `ELSE`: otherwise nothing can
/// be saved.
fn can_spare_copies<M: HoistConstants>(program: &Program<M>) -> bool {
    let copies = (0..program.access.len()).filter_map(|index| Some((index, constant_copy(program, index)?)));
    let mut words: Vec<u32> = Vec::new();
    for (index, (_, mask, row)) in copies {
        if is_alone_in_else(program, index) {
            return true;
        }
        // Any component will do, since all components of a copy must be saved.
        words.push(row[mask.trailing_zeros() as usize & 3]);
    }
    words.sort_unstable();
    words.len() > 2 && words.windows(2).any(|pair| pair[0] == pair[1])
}

/// The virtual temporary, the components and the words that a copy of a constant writes.
fn constant_copy<M: HoistConstants>(program: &Program<M>, index: usize) -> Option<(usize, u8, [u32; 4])> {
    let access = &program.access[index];
    if !access.traits.any(Traits::COPY) {
        return None;
    }
    let written = access.written()?;
    let words = program.machine.constant_copy(&program.constants, &program.instructions[index])?;
    Some((written.temp()?, written.mask(), words))
}

/// A temporary with components, in `mask`, that several instructions set to the same constants.
struct Candidate {
    temp: usize,
    mask: u8,
    words: [u32; 4],
    /// The instruction before which the new copy is inserted.
    index: usize,
}

/// Instructions under the same conditions: the program, a branch, the body of a loop.
struct Region {
    parent: usize,
    depth: u32,
    /// The index in the parent at which the construct begins.
    construct: usize,
}

/// The constants and accesses of a temporary.
#[derive(Clone, Default)]
struct TempAccesses {
    words: [Option<u32>; 4],
    /// Components that are set to different constants.
    differ: u8,
    /// Components with more than one copy, or one that is alone in an `ELSE`.
    repeated: u8,
    /// The region and index of the first access, and the innermost region of all accesses.
    accessed: Option<(usize, usize, usize)>,
}

fn common(regions: &[Region], mut a: usize, mut b: usize) -> usize {
    while a != b {
        if regions[a].depth >= regions[b].depth { a = regions[a].parent } else { b = regions[b].parent }
    }
    a
}

/// Finds temporaries to hoist; none if the program nests too deeply.
fn find_candidates<M: HoistConstants>(program: &mut Program<M>) -> Option<Vec<Candidate>> {
    let mut temps = vec![TempAccesses::default(); program.temps()];
    let mut regions = vec![Region { parent: 0, depth: 0, construct: 0 }];
    let mut region = 0;
    for (index, access) in program.access.iter().enumerate() {
        for temp in access.reads().iter().copied().chain(access.written()).filter_map(|a| a.temp()) {
            temps[temp].accessed = Some(match temps[temp].accessed {
                None => (region, index, region),
                Some((first, at, inner)) => (first, at, common(&regions, inner, region)),
            });
        }
        if let Some((temp, mask, words)) = constant_copy(program, index) {
            let temp_accesses = &mut temps[temp];
            if is_alone_in_else(program, index) {
                temp_accesses.repeated |= mask;
            }
            for c in (0..4).filter(|c| mask & 1 << c != 0) {
                match temp_accesses.words[c].replace(words[c]) {
                    Some(old) if old != words[c] => temp_accesses.differ |= 1 << c,
                    Some(_) => temp_accesses.repeated |= 1 << c,
                    None => {}
                }
            }
        }
        match program.flow(index) {
            Some(Flow::If | Flow::Loop) => {
                let depth = regions[region].depth + 1;
                if depth > MAX_DEPTH {
                    return None;
                }
                regions.push(Region { parent: region, depth, construct: index });
                region = regions.len() - 1;
            }
            Some(Flow::Else) => {
                let Region { parent, depth, construct } = regions[region];
                regions.push(Region { parent, depth, construct });
                region = regions.len() - 1;
            }
            Some(Flow::EndIf | Flow::EndLoop) => region = regions[region].parent,
            _ => {}
        }
    }
    let mut candidates = Vec::new();
    for (temp, temp_accesses) in temps.iter().enumerate() {
        let mask = temp_accesses.repeated & !temp_accesses.differ;
        let Some((mut first, mut index, inner)) = temp_accesses.accessed.filter(|_| mask != 0) else { continue };
        while first != inner {
            index = regions[first].construct;
            first = regions[first].parent;
        }
        candidates.push(Candidate { temp, mask, words: temp_accesses.words.map(Option::unwrap_or_default), index });
    }
    candidates.sort_by_key(|candidate| candidate.index);
    leave_live_out(program, &mut candidates);
    Some(candidates)
}

/// Excludes components that are live where their copy would be inserted.
fn leave_live_out<M: HoistConstants>(program: &mut Program<M>, candidates: &mut Vec<Candidate>) {
    if candidates.is_empty() {
        return;
    }
    let liveness = program.liveness();
    let mut live = vec![0u8; program.registers()];
    let mut next = candidates.len();
    for (number, block) in liveness.blocks.iter().enumerate().rev() {
        for &(register, mask) in liveness.changes(number) {
            live[register as usize] = mask;
        }
        for index in (block.start..block.end).rev() {
            let access = &program.access[index];
            if let Some((register, mask)) = access.written().and_then(|w| Some((w.dense()?, w.mask()))) {
                live[register] &= !mask;
            }
            for read in access.reads() {
                if let Some(register) = read.dense() {
                    live[register] |= read.mask();
                }
            }
            while let Some(before) = next.checked_sub(1).filter(|&n| candidates[n].index == index) {
                candidates[before].mask &= !live[candidates[before].temp + SPECIAL_REGISTERS as usize];
                next = before;
            }
        }
    }
    candidates.retain(|candidate| candidate.mask != 0);
}

/// Inserts the new copies. Returns for each instruction whether it is new.
fn insert<M: HoistConstants>(program: &mut Program<M>, candidates: &[Candidate]) -> Vec<bool> {
    let (old, access) = program.take_all();
    program.reserve(old.len() + candidates.len());
    let mut inserted = Vec::with_capacity(old.len() + candidates.len());
    let mut next = candidates.iter().peekable();
    for (index, (instruction, access)) in old.into_iter().zip(access).enumerate() {
        while let Some(candidate) = next.next_if(|c| c.index == index) {
            let temp = program.first_temp() + candidate.temp as u32;
            let Program { machine, constants, .. } = &mut *program;
            let copy = machine.new_constant_copy(constants, temp, candidate.mask, candidate.words);
            program.push(copy);
            inserted.push(true);
        }
        program.push_known(instruction, access);
        inserted.push(false);
    }
    inserted
}

/// Drops redundant copies, and new copies that save nothing. Returns whether a copy was saved.
fn drop_copies<M: HoistConstants>(program: &mut Program<M>, candidates: &[Candidate], inserted: &[bool]) -> bool {
    let mut number_of = vec![usize::MAX; program.temps()];
    for (number, candidate) in candidates.iter().enumerate() {
        number_of[candidate.temp] = number;
    }
    // The candidate that an instruction writes, the components, and whether it sets them to the constant.
    let effect = |program: &Program<M>, index: usize| -> Option<(usize, u8, bool)> {
        let written = program.access[index].written()?;
        let number = number_of[written.temp()?];
        let mask = written.mask() & candidates.get(number)?.mask;
        Some((number, mask, constant_copy(program, index).is_some()))
    };
    // Forward: the components that may hold another value.
    let blocks = blocks(program);
    let mut other = vec![ComponentSet::new(candidates.len()); blocks.len()];
    for (number, candidate) in candidates.iter().enumerate() {
        other[0].insert(number, candidate.mask);
    }
    let mut pending = vec![true; blocks.len()];
    let mut work: Vec<usize> = (0..blocks.len()).rev().collect();
    while let Some(block) = work.pop() {
        pending[block] = false;
        let mut set = other[block].clone();
        for index in blocks[block].start..blocks[block].end {
            if let Some((number, mask, is_constant)) = effect(program, index) {
                if is_constant { set.remove(number, mask) } else { set.insert(number, mask) }
            }
        }
        for successor in blocks[block].successors() {
            if other[successor].unite(&set) && !pending[successor] {
                pending[successor] = true;
                work.push(successor);
            }
        }
    }
    let mut spared = vec![0usize; candidates.len()];
    let mut masks: Vec<Option<u8>> = vec![None; program.instructions.len()];
    for (block, set) in blocks.iter().zip(&mut other) {
        for index in block.start..block.end {
            let Some((number, mask, is_constant)) = effect(program, index) else { continue };
            if !is_constant {
                set.insert(number, mask);
                continue;
            }
            if !inserted[index] {
                let whole = program.access[index].written().map_or(0, |written| written.mask());
                let left = whole & !(mask & !set.get(number));
                masks[index] = Some(left);
                if left == 0 {
                    spared[number] += if is_alone_in_else(program, index) { 2 } else { 1 };
                }
            }
            set.remove(number, mask);
        }
    }
    let mut dead = vec![false; program.instructions.len()];
    let mut changed = false;
    for index in 0..program.instructions.len() {
        let Some((number, _, true)) = effect(program, index) else { continue };
        // Saving one copy for one new copy gains nothing.
        if spared[number] < 2 {
            dead[index] = inserted[index];
        } else if let Some(left) = masks[index] {
            dead[index] = left == 0;
            changed = true;
            if left != 0 {
                program.edit_with(index, |machine, instruction| machine.set_mask(instruction, left));
            }
        }
    }
    program.remove(&dead);
    changed
}
