//! Copies a constant that several instructions read next to another one once, for targets that would copy it each time.
//!
//! ```text
//! MAD TEMP[0].x, CONST[0], TEMP[0].x, CONST[1].x        MOV TEMP[2].xy, CONST[1]
//! MAD TEMP[1].x, CONST[0], TEMP[1].x, CONST[1].y   =>   MAD TEMP[0].x, CONST[0], TEMP[0].x, TEMP[2].x
//!                                                       MAD TEMP[1].x, CONST[0], TEMP[1].x, TEMP[2].y
//! ```
//!
//! An instruction of such targets reads one constant register. The copy is inserted before the first instruction of the
//! block that needs it. Conflicts between immediates need no copies: they may share a register in the end.

use rustc_hash::FxHashMap;
use tgsi::shader::{Dst, Instruction, Register, Src};
use tgsi::tables::{File, Opcode};
use tgsi_vec4::blocks::block_from;

use crate::machine::Program;
use crate::machine::operands::immediate_words;

/// A register of constants: file, dimension and index.
type Constant = (File, i32, i32);

/// An instruction that reads more than one constant.
struct Conflict {
    index: usize,
    constants: Vec<Constant>,
}

/// A copy to insert.
struct Copy {
    /// The instruction before which it is inserted.
    before: usize,
    temp: u32,
    mask: u8,
    register: Register,
}

/// The constant that a source reads.
fn constant(src: &Src) -> Option<Constant> {
    let register = &src.register;
    match register.file {
        File::Immediate => Some((File::Immediate, 0, register.index)),
        File::Constant if register.indirect.is_none() => {
            let dimension = register.dimension.as_ref();
            let buffer = dimension.map_or(Some(0), |d| d.indirect.is_none().then_some(d.index))?;
            Some((File::Constant, buffer, register.index))
        }
        _ => None,
    }
}

/// Shares constants. With `inline_zero_and_one` 0.0 and 1.0 need no register. Returns whether anything changed.
pub(crate) fn share_constants(program: &mut Program, inline_zero_and_one: bool) -> bool {
    let mut copies: Vec<Copy> = Vec::new();
    let mut next = 0;
    while let Some(block) = block_from(program, next) {
        next = block.end;
        let conflicts: Vec<Conflict> =
            block.filter_map(|index| conflict(program, index, inline_zero_and_one)).collect();
        if conflicts.len() > 1 {
            share(program, conflicts, &mut copies);
        }
    }
    if copies.is_empty() {
        return false;
    }
    let instruction = |copy: Copy| {
        let dst = Dst::new(Register::new(File::Temporary, copy.temp as i32)).masked(copy.mask);
        (copy.before, Instruction::with_operands(Opcode::Mov, dst, &[Src::new(copy.register)]))
    };
    program.remove_and_insert(&[], copies.into_iter().map(instruction).collect());
    true
}

fn conflict(program: &Program, index: usize, inline_zero_and_one: bool) -> Option<Conflict> {
    let instruction = &program.instructions()[index];
    let access = &program.accesses()[index];
    let mut constants: Vec<Constant> = Vec::new();
    for (number, src) in instruction.src.iter().enumerate() {
        let Some(constant) = constant(src) else { continue };
        let channels = access.channels(number);
        let is_free = |words: [u32; 4]| {
            let is_free = |word: u32| word == 0 || word == 1f32.to_bits();
            (0..4).filter(|c| channels & 1 << c != 0).all(|c| is_free(words[c]))
        };
        let words = immediate_words(&program.constants, &Src { negate: false, absolute: false, ..*src });
        let is_free = inline_zero_and_one && words.is_some_and(is_free);
        if !is_free && !constants.contains(&constant) {
            constants.push(constant);
        }
    }
    let has_several = constants.len() > 1 && constants.iter().any(|constant| constant.0 == File::Constant);
    has_several.then_some(Conflict { index, constants })
}

/// Copies the constant with the most conflicts, then the next one, as long as that saves copies.
fn share(program: &mut Program, mut conflicts: Vec<Conflict>, copies: &mut Vec<Copy>) {
    let mut readers: FxHashMap<Constant, Vec<usize>> = FxHashMap::default();
    for (number, conflict) in conflicts.iter().enumerate() {
        for &constant in &conflict.constants {
            readers.entry(constant).or_default().push(number);
        }
    }
    let mut by_count: Vec<(Constant, Vec<usize>)> = readers.into_iter().filter(|(_, all)| all.len() > 1).collect();
    by_count.sort_unstable_by_key(|((file, buffer, index), all)| {
        (std::cmp::Reverse(all.len()), *file as u32, *buffer, *index)
    });
    for (shared, mut numbers) in by_count {
        numbers.retain(|&number| conflicts[number].constants.len() > 1);
        if numbers.len() < 2 {
            continue;
        }
        let temp = program.new_temp();
        let mut copy: Option<Copy> = None;
        for number in numbers {
            let Conflict { index, constants } = &mut conflicts[number];
            constants.retain(|constant| *constant != shared);
            let index = *index;
            let access = program.accesses()[index].clone();
            program.edit(index, |instruction| {
                for (number, src) in instruction.src.iter_mut().enumerate().filter(|s| constant(s.1) == Some(shared)) {
                    let copy = copy.get_or_insert(Copy { before: index, temp, mask: 0, register: src.register });
                    copy.mask |= access.mask(number);
                    src.register = Register::new(File::Temporary, temp as i32);
                }
            });
        }
        copies.extend(copy);
    }
}
