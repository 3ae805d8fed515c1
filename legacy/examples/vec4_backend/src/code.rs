//! Code: four words for each instruction, then the rows of literals.

use tgsi_compiler::{Code, CodeSize};
use tgsi_registry::Disassembler;
use tgsi_vec4::allocate::{AllocationMode, allocate};
use tgsi_vec4::branches::{Step, branches};
use tgsi_vec4::dead_code::remove_dead_code;
use tgsi_vec4::merge::merge_instructions;
use tgsi_vec4::propagate_backward::propagate_backward;
use tgsi_vec4::propagate_copies::propagate_copies;
use tgsi_vec4::simple::{Destination, File, Instruction, Relative, Source, pack_constants};
use tgsi_vec4::vectorize::vectorize;
use tgsi_vec4::{ConstantPool, Program};

use crate::driver::{TEMPORARIES, Vec4Error};
use crate::machine::{Machine, Op};

const MAGIC: u32 = u32::from_le_bytes(*b"VEC4");
const FILES: [File; 6] = [File::Temporary, File::Output, File::Special, File::Input, File::Uniform, File::Constant];

/// Optimises a program of virtual temporaries, and assigns registers to them.
fn optimize(program: &mut Program<Machine>) -> Result<(), Vec4Error> {
    while propagate_copies(program)
        | remove_dead_code(program)
        | propagate_backward(program)
        | merge_instructions(program)
        | vectorize(program)
    {}
    let temporaries = allocate(program, AllocationMode::Pack, false);
    if temporaries > TEMPORARIES { Err(Vec4Error::Temporaries(temporaries, None)) } else { Ok(()) }
}

/// The code of a program. With `registers`, its temporaries are registers of the machine already.
pub(crate) fn encode(mut program: Program<Machine>, registers: bool) -> Result<Vec<u8>, Vec4Error> {
    if !registers {
        optimize(&mut program)?;
    }
    let mut pool = ConstantPool::default();
    pack_constants(&mut program, &mut pool).map_err(Vec4Error::Literals)?;
    let steps = branches((0..program.instructions().len()).map(|number| program.flow(number)))?;
    let mut words = vec![MAGIC, steps.len() as u32 - 1];
    for step in steps {
        match step {
            Step::Instruction(number) => encode_instruction(&program.instructions()[number], 0, &mut words),
            Step::Unless(number, target) => {
                let condition = program.instructions()[number].sources.clone();
                encode_instruction(&Instruction::new(Op::Brz, None, condition), target, &mut words);
            }
            Step::Always(_, target) => encode_instruction(&Instruction::new(Op::Bra, None, []), target, &mut words),
            Step::End(_) => {}
        }
    }
    words.extend(pool.rows().flatten());
    Ok(words.into_iter().flat_map(u32::to_le_bytes).collect())
}

fn encode_instruction(instruction: &Instruction<Op>, target: usize, words: &mut Vec<u32>) {
    let op = Op::CODES.iter().position(|&op| op == instruction.op).unwrap_or_default() as u32;
    let (file, index) = instruction.destination.map_or((File::Temporary, target as i32), |to| (to.file, to.index));
    let flags = u32::from(instruction.mask()) << 8 | (file as u32) << 12 | u32::from(instruction.saturate) << 15;
    words.push(op | flags | (index as u32) << 16);
    words.extend((0..3).map(|number| instruction.sources.get(number).map_or(u32::MAX, encode_source)));
}

fn encode_source(source: &Source) -> u32 {
    let modifiers = u32::from(source.negate) << 3 | u32::from(source.absolute) << 4;
    let swizzle = source.swizzle.iter().rev().fold(0, |bits, &c| bits << 2 | u32::from(c));
    let relative = u32::from(source.relative.is_some()) << 5;
    source.file as u32 | modifiers | relative | swizzle << 8 | (source.index as u32) << 16
}

/// Decoded code: the instructions, each with the target of a branch, and the rows of literals.
pub(crate) struct Decoded {
    pub(crate) instructions: Vec<(Instruction<Op>, usize)>,
    pub(crate) rows: Vec<[u32; 4]>,
}

/// Decodes code; none if it is not of this driver.
pub(crate) fn decode(code: &Code) -> Option<Decoded> {
    let Code::Binary(bytes) = code else { return None };
    let words: Vec<u32> = bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
    let (&[MAGIC, count], words) = words.split_first_chunk()? else { return None };
    let (instructions, rows) = words.as_chunks::<4>().0.split_at_checked(count as usize)?;
    let instructions = instructions.iter().map(decode_instruction).collect::<Option<_>>()?;
    Some(Decoded { instructions, rows: rows.to_vec() })
}

fn decode_instruction(&[word, ref sources @ ..]: &[u32; 4]) -> Option<(Instruction<Op>, usize)> {
    let op = *Op::CODES.get((word & 0xff) as usize)?;
    let (index, mask) = (word >> 16, (word >> 8 & 0xf) as u8);
    let file = *FILES.get((word >> 12 & 7) as usize)?;
    let to = (mask != 0).then(|| Destination::new(file, index as i32, mask));
    let sources: Vec<Source> = sources.iter().map_while(|&source| decode_source(source)).collect();
    Some((Instruction { saturate: word >> 15 & 1 != 0, ..Instruction::new(op, to, sources) }, index as usize))
}

fn decode_source(word: u32) -> Option<Source> {
    let swizzle = [8, 10, 12, 14].map(|shift| (word >> shift & 3) as u8);
    let relative = (word >> 5 & 1 != 0).then_some(Relative { register: 0, component: 0 });
    let source = Source::new(*FILES.get((word & 7) as usize)?, (word as i32) >> 16).swizzled(swizzle);
    Some(Source { relative, negate: word >> 3 & 1 != 0, absolute: word >> 4 & 1 != 0, ..source })
}

pub(crate) const DISASSEMBLER: Disassembler = |code| {
    let Decoded { instructions, rows } = decode(code)?;
    let line = |(number, (instruction, target)): (usize, &(Instruction<Op>, usize))| match instruction.op {
        Op::Brz | Op::Bra => format!("{number:4}: {instruction} -> {target}\n"),
        _ => format!("{number:4}: {instruction}\n"),
    };
    let literals = rows.iter().enumerate().map(|(n, row)| format!("Constant[{n}] = {:?}\n", row.map(f32::from_bits)));
    Some(Ok(instructions.iter().enumerate().map(line).chain(literals).collect()))
};

/// The size of code.
pub(crate) fn size(code: &Code) -> Option<CodeSize> {
    let Decoded { instructions, rows } = decode(code)?;
    let to = instructions.iter().filter_map(|(instruction, _)| instruction.destination);
    let temporaries = to.filter(|to| to.file == File::Temporary).map(|to| to.index as u32 + 1).max().unwrap_or(0);
    Some(CodeSize { instructions: instructions.len() as u32, temporaries, immediates: rows.len() as u32 })
}
