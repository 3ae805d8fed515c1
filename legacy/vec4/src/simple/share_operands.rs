//! Sharing of copied operands, for machines that read few inputs or constants in an instruction.
//!
//! ```text
//! MOV TEMP[0], CONST[1]                           MOV TEMP[2].xy, CONST[0]
//! MUL TEMP[3], CONST[0].x, TEMP[0]         =>     MUL TEMP[3], TEMP[2].x, CONST[1]
//! MOV TEMP[1], CONST[2]                           MAD TEMP[3], TEMP[2].y, CONST[2], TEMP[3]
//! MAD TEMP[3], CONST[0].y, TEMP[1], TEMP[3]
//! ```
//!
//! Each instruction reads one register directly and others through copies. Within a block, the register that most
//! instructions read beside another one is copied once, then the next one. Copies without uses are left to
//! [dead code elimination](crate::dead_code).

use std::cmp::Reverse;

use arrayvec::ArrayVec;
use rustc_hash::FxHashMap;

use super::{Destination, File, Instruction, SOURCES, SimpleMachine, Source};
use crate::Program;
use crate::access::{AccessCounts, swizzled};
use crate::blocks::block_from;

/// A register that does not change.
type Operand = (File, i32);

/// An instruction that reads several such registers.
struct Conflict {
    index: usize,
    /// The operands as direct reads; `None` for others.
    direct: ArrayVec<Option<Source>, SOURCES>,
    /// The registers of one kind, that of the direct operand first.
    registers: ArrayVec<Operand, SOURCES>,
}

/// The register of an operand, if it does not change and is not indexed.
fn operand(source: &Source) -> Option<Operand> {
    let is_kept = matches!(source.file, File::Input | File::Uniform | File::Constant) && source.relative.is_none();
    is_kept.then_some((source.file, source.index))
}

/// Whether instructions read few registers of both files together.
fn are_alike(a: Operand, b: Operand) -> bool {
    (a.0 == File::Input) == (b.0 == File::Input)
}

/// Shares copies of inputs and constants. Returns whether anything changed.
pub fn share_operands<M: SimpleMachine>(program: &mut Program<M>) -> bool {
    let mut writes = vec![AccessCounts::default(); program.temps()];
    for written in program.accesses().iter().filter_map(|access| access.written()) {
        if let Some(temp) = written.temp() {
            // Copies write all components that they have at once.
            writes[temp].add(0xf);
        }
    }
    let mut copies: Vec<(usize, Instruction<M::Op>)> = Vec::new();
    let mut next = 0;
    while let Some(block) = block_from(program, next) {
        next = block.end;
        // The copies in the block, by temporary.
        let mut copied: FxHashMap<i32, Source> = FxHashMap::default();
        let mut conflicts: Vec<Conflict> = Vec::new();
        for index in block {
            let instruction = &program.instructions()[index];
            if let Some((temp, source)) = copy::<M>(instruction, program.first_temp(), &writes) {
                copied.insert(temp, source);
            } else {
                conflicts.extend(conflict(program, index, &copied));
            }
        }
        if conflicts.len() > 1 {
            share(program, conflicts, &mut copies);
        }
    }
    let changed = !copies.is_empty();
    if changed {
        program.remove_and_insert(&[], copies);
    }
    changed
}

/// The temporary that a copy of an unchanging register writes, if that is its only write.
fn copy<M: SimpleMachine>(
    instruction: &Instruction<M::Op>,
    first_temp: u32,
    writes: &[AccessCounts],
) -> Option<(i32, Source)> {
    let to = instruction.destination.filter(|to| to.relative.is_none())?;
    let temp = to.file.virtual_temp(to.index, first_temp)?;
    let source = instruction.sources.first().filter(|source| source.is_plain() && operand(source).is_some())?;
    let is_copy = instruction.op == M::COPY && instruction.guard.is_none() && !instruction.saturate;
    (is_copy && writes.get(temp)?.are_one(0xf)).then_some((to.index, *source))
}

/// The conflict of an instruction, if it reads a register directly and others through copies.
fn conflict<M: SimpleMachine>(program: &Program<M>, index: usize, copied: &FxHashMap<i32, Source>) -> Option<Conflict> {
    let instruction = &program.instructions()[index];
    let direct: ArrayVec<Option<Source>, SOURCES> = instruction
        .sources
        .iter()
        .map(|source| {
            if operand(source).is_some() {
                return Some(*source);
            }
            let is_temp = source.file == File::Temporary && source.relative.is_none();
            let from = copied.get(&source.index).filter(|_| is_temp)?;
            let swizzle = source.swizzle.map(|c| from.swizzle[usize::from(c & 3)]);
            Some(Source { absolute: source.absolute, negate: source.negate, ..from.swizzled(swizzle) })
        })
        .collect();
    let first = instruction.sources.iter().find_map(operand)?;
    let mut registers: ArrayVec<Operand, SOURCES> = ArrayVec::new();
    registers.push(first);
    for register in direct.iter().flatten().filter_map(operand) {
        if are_alike(first, register) && !registers.contains(&register) {
            registers.try_push(register).ok()?;
        }
    }
    (registers.len() > 1).then_some(Conflict { index, direct, registers })
}

/// Copies the register with the most conflicts, then the next one.
fn share<M: SimpleMachine>(
    program: &mut Program<M>,
    mut conflicts: Vec<Conflict>,
    copies: &mut Vec<(usize, Instruction<M::Op>)>,
) {
    let mut readers: FxHashMap<Operand, Vec<usize>> = FxHashMap::default();
    for (number, conflict) in conflicts.iter().enumerate() {
        for &register in &conflict.registers {
            readers.entry(register).or_default().push(number);
        }
    }
    let mut by_count: Vec<(Operand, Vec<usize>)> = readers.into_iter().filter(|(_, all)| all.len() > 1).collect();
    by_count.sort_unstable_by_key(|((file, index), all)| (Reverse(all.len()), *file as u32, *index));
    for (shared, mut numbers) in by_count {
        numbers.retain(|&number| conflicts[number].registers.len() > 1);
        if numbers.len() < 2 {
            continue;
        }
        let temp = program.new_temp() as i32;
        let mut mask = 0;
        let mut first = usize::MAX;
        for number in numbers {
            let Conflict { index, direct, registers } = &mut conflicts[number];
            registers.retain(|register| *register != shared);
            let mut new = program.instructions()[*index].clone();
            let mut read = 0;
            for (number, (source, direct)) in new.sources.iter_mut().zip(direct.iter()).enumerate() {
                let Some(direct) = direct else { continue };
                if operand(direct) == Some(shared) {
                    *source = Source { file: File::Temporary, index: temp, ..*direct };
                    read |= swizzled(program.accesses()[*index].channels(number), direct.swizzle);
                } else if operand(direct) == registers.first().copied() {
                    *source = *direct;
                }
            }
            if program.machine.accepts(&new) {
                mask |= read;
                first = first.min(*index);
                program.set(*index, new);
            }
        }
        if mask != 0 {
            let to = Destination::new(File::Temporary, temp, mask);
            copies.push((first, Instruction::new(M::COPY, Some(to), [Source::new(shared.0, shared.1)])));
        }
    }
}
