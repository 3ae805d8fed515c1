//! Estimates for consumers that allocate temporaries and constants themselves: how many are live at once, and how many
//! are read.

use std::collections::HashSet;

use tgsi::Shader;
use tgsi::shader::Register;
use tgsi::tables::{File, Opcode};

use super::registers::{DeclaredRegisters, buffer, number};
use super::usage::{Resource, Usage};

/// Counts the constants and immediates that instructions read. Immediates read for free values only are not counted. If
/// constants are addressed indirectly, all declared ones count.
pub(crate) fn count_constants(shader: &Shader, is_free: impl Fn(f32) -> bool, usage: &mut Usage) {
    let mut read: HashSet<(File, u32, u32)> = HashSet::new();
    let declared = DeclaredRegisters::of(shader, File::Constant);
    let (mut all, mut immediates) = (false, 0u32);
    for instruction in &shader.instructions {
        for src in &instruction.src {
            let register = &src.register;
            match register.file {
                File::Constant if register.indirect.is_some() => all = true,
                File::Constant => {}
                File::Immediate => {
                    let immediate = shader.immediates.get(number(register) as usize);
                    let value =
                        |&component: &u8| immediate.map_or(0.0, |i| f32::from_bits(i.word(usize::from(component))));
                    if src.swizzle.iter().map(value).all(&is_free) {
                        continue;
                    }
                }
                _ => continue,
            }
            let is_new = read.insert((register.file, buffer(register), number(register)));
            immediates += u32::from(is_new && register.file == File::Immediate);
            let used = if all { declared.end.saturating_add(immediates) } else { read.len() as u32 };
            usage.at_least(Resource::Constants, used, src.span);
        }
    }
}

/// The instructions from the first to the last use of a register.
#[derive(Clone, Copy)]
struct Range {
    first: u32,
    last: u32,
}

/// Counts the temporaries that are live at once: from the first to the last instruction that uses them, and in the
/// whole of a loop in which they are used. In fragment programs, inputs are in temporaries from the start.
pub(crate) fn count_live(shader: &Shader, has_inputs: bool, usage: &mut Usage) {
    let mut temporaries = Ranges::new(DeclaredRegisters::of(shader, File::Temporary).end);
    let mut inputs = Ranges::new(if has_inputs { DeclaredRegisters::of(shader, File::Input).end } else { 0 });
    let loops = outermost_loops(shader);
    let mut next_loop = loops.iter().peekable();
    for (at, instruction) in (0u32..).zip(&shader.instructions) {
        while next_loop.peek().is_some_and(|range| range.last < at) {
            next_loop.next();
        }
        let around = next_loop.peek().filter(|range| range.first <= at);
        let range = around.map_or(Range { first: at, last: at }, |range| **range);
        for register in instruction.registers() {
            match register.file {
                File::Temporary => temporaries.name(register, range),
                File::Input => inputs.name(register, Range { first: 0, ..range }),
                _ => {}
            }
        }
    }
    // The number of ranges that begin and end at each instruction.
    let mut changes = vec![(0u32, 0u32); shader.instructions.len() + 1];
    for range in temporaries.0.iter().chain(&inputs.0).flatten() {
        if let Some((begin, _)) = changes.get_mut(range.first as usize) {
            *begin += 1;
        }
        if let Some((_, end)) = changes.get_mut(range.last as usize) {
            *end += 1;
        }
    }
    let mut live = 0u32;
    for (instruction, &(begin, end)) in shader.instructions.iter().zip(&changes) {
        live = live.saturating_add(begin);
        usage.at_least(Resource::Temporaries, live, instruction.span);
        live = live.saturating_sub(end);
    }
}

/// By register: the range of its uses.
struct Ranges(Vec<Option<Range>>);

impl Ranges {
    fn new(count: u32) -> Ranges {
        Ranges(vec![None; count as usize])
    }

    fn name(&mut self, register: &Register, range: Range) {
        if let Some(slot) = self.0.get_mut(number(register) as usize) {
            let known = slot.unwrap_or(range);
            *slot = Some(Range { first: known.first.min(range.first), last: known.last.max(range.last) });
        }
    }
}

/// The loops that are not inside another one.
fn outermost_loops(shader: &Shader) -> Vec<Range> {
    let mut loops = Vec::new();
    let (mut depth, mut first) = (0u32, 0);
    for (at, instruction) in (0u32..).zip(&shader.instructions) {
        match instruction.opcode {
            Opcode::Bgnloop => {
                if depth == 0 {
                    first = at;
                }
                depth += 1;
            }
            Opcode::Endloop if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    loops.push(Range { first, last: at });
                }
            }
            _ => {}
        }
    }
    loops
}
