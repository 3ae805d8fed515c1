//! Results go where a copy puts them.
//!
//! ```text
//! MUL TEMP[7].x, a, b                      MUL OUT[0].yw, a.xxxx, b.xxxx
//! ...                               =>     ...
//! MOV_SAT OUT[0].yw, TEMP[7].xxxx          (saturated)
//! ```
//!
//! A `MOV` vanishes if it alone reads what it copies, if all of that was made in its block, by instructions that can write the components wanted,
//! and if nothing in between touches the destination.

use tgsi::shader::{Instruction, Register};
use tgsi::tables::{File, Opcode, OperandType};

use super::Program;
use super::flow::{Numbering, blocks};
use super::operands::{for_each_read, is_componentwise, is_permutable, permute, written};

/// Farthest that a maker may be away from the copy; keeps the pass linear.
const REACH: usize = 256;

/// Forwards results into the destinations of copies. Returns whether anything changed.
pub(crate) fn forward_results(program: &mut Program) -> bool {
    let numbering = Numbering::of(program);
    let mut reads = vec![0u32; numbering.len() * 4];
    let mut writes = vec![0u32; numbering.len() * 4];
    for instruction in &program.instructions {
        for_each_read(instruction, |file, index, mask| count(&mut reads, numbering, file, index, mask));
        if let Some((file, index, mask)) = written(instruction) {
            count(&mut writes, numbering, file, index, mask);
        }
    }
    let mut last_write = vec![0u32; numbering.len() * 4];
    let mut copies: Vec<usize> = Vec::new();
    let mut changed = false;
    for block in blocks(&program.instructions) {
        for place in block.start..block.end {
            if let Some(plan) = plan(program, numbering, &reads, &writes, &last_write, block.start, place) {
                let copy = program.instructions[place].clone();
                apply(program, &plan, &copy);
                copies.push(place);
                changed = true;
                if let Some(register) = numbering.number(copy.dst[0].register.file, copy.dst[0].register.index) {
                    for (&(maker, mask, _), c) in plan.iter().flat_map(|p| (0..4).map(move |c| (p, c))) {
                        if mask & 1 << c != 0 {
                            last_write[register * 4 + c] = maker as u32 + 1;
                        }
                    }
                }
                continue;
            }
            if let Some((file, index, mask)) = written(&program.instructions[place])
                && let Some(register) = numbering.number(file, index)
            {
                for c in (0..4).filter(|c| mask & 1 << c != 0) {
                    last_write[register * 4 + c] = place as u32 + 1;
                }
            }
        }
    }
    if changed {
        let mut dead = vec![false; program.instructions.len()];
        for place in copies {
            dead[place] = true;
        }
        program.remove(&dead);
    }
    changed
}

fn count(counts: &mut [u32], numbering: Numbering, file: File, index: i32, mask: u8) {
    if let Some(register) = numbering.number(file, index) {
        for c in (0..4).filter(|c| mask & 1 << c != 0) {
            counts[register * 4 + c] += 1;
        }
    }
}

/// Makers with the channels that each is to write, and the channel of the old result that each new channel is.
type Plan = Vec<(usize, u8, [u8; 4])>;

fn plan(
    program: &Program,
    numbering: Numbering,
    reads: &[u32],
    writes: &[u32],
    last_write: &[u32],
    block_start: usize,
    place: usize,
) -> Option<Plan> {
    let copy = &program.instructions[place];
    if copy.opcode != Opcode::Mov {
        return None;
    }
    let (dst, src) = (copy.dst.first()?, copy.src.first()?);
    if src.negate
        || src.absolute
        || src.register.file != File::Temporary
        || src.register.indirect.is_some()
        || dst.register.indirect.is_some()
        || dst.register.dimension.is_some()
        || !matches!(dst.register.file, File::Temporary | File::Output)
        || dst.register == src.register
    {
        return None;
    }
    let source = numbering.number(File::Temporary, src.register.index)?;
    let mut plan: Plan = Vec::new();
    let mut consumed = 0u8;
    for c in (0..4usize).filter(|c| dst.write_mask & 1 << c != 0) {
        let component = usize::from(src.swizzle[c] & 3);
        let slot = source * 4 + component;
        let maker = (last_write[slot] as usize).checked_sub(1)?;
        if reads[slot] != 1 || writes[slot] != 1 || maker < block_start || place - maker > REACH {
            return None;
        }
        consumed |= 1 << component;
        match plan.iter_mut().find(|p| p.0 == maker) {
            Some(entry) => {
                entry.1 |= 1 << c;
                entry.2[c] = component as u8;
            }
            None => {
                let mut from = [0; 4];
                from[c] = component as u8;
                plan.push((maker, 1 << c, from));
            }
        }
    }
    for &(maker, mask, from) in &plan {
        let instruction = &program.instructions[maker];
        let written_mask = instruction.dst.first()?.write_mask;
        if written_mask & !consumed != 0 {
            return None;
        }
        let in_place = mask == written_mask && (0..4u8).all(|c| mask & 1 << c == 0 || from[usize::from(c)] == c);
        if !in_place && !is_permutable(instruction.opcode) {
            return None;
        }
        let info = instruction.opcode.info();
        if info.is_store {
            return None;
        }
        let saturable = is_permutable(instruction.opcode)
            && (info.dst_type == OperandType::Float || instruction.opcode == Opcode::Mov);
        if copy.saturate && !saturable {
            return None;
        }
    }
    let first = plan.iter().map(|p| p.0).min()?;
    let clean = program.instructions[first + 1..place]
        .iter()
        .all(|between| !touches(program, between, &dst.register, dst.write_mask));
    clean.then_some(plan)
}

/// Whether an instruction reads or writes components of a register, or makes outputs visible.
fn touches(program: &Program, instruction: &Instruction, register: &Register, mask: u8) -> bool {
    let in_array =
        |r: &Register| r.file == File::Temporary && (r.indirect.is_some() || r.index < program.first_temp as i32);
    if in_array(register) {
        return instruction.src.iter().any(|s| in_array(&s.register))
            || instruction.dst.iter().any(|d| in_array(&d.register));
    }
    if register.file == File::Output
        && (matches!(instruction.opcode, Opcode::Emit | Opcode::Endprim | Opcode::Barrier | Opcode::Fbfetch)
            || instruction.src.iter().any(|s| s.register.file == File::Output)
            || instruction.dst.iter().any(|d| {
                d.register.file == File::Output && (d.register.indirect.is_some() || d.register.dimension.is_some())
            }))
    {
        return true;
    }
    let mut found = false;
    for_each_read(instruction, |file, index, m| {
        found |= file == register.file && index == register.index && m & mask != 0;
    });
    found
        || written(instruction)
            .is_some_and(|(file, index, m)| file == register.file && index == register.index && m & mask != 0)
}

fn apply(program: &mut Program, plan: &Plan, copy: &Instruction) {
    for &(maker, mask, from) in plan {
        let instruction = &mut program.instructions[maker];
        if is_componentwise(instruction.opcode) {
            permute(instruction, mask, from);
        }
        instruction.dst[0].register = copy.dst[0].register;
        instruction.dst[0].write_mask = mask;
        instruction.saturate |= copy.saturate;
    }
}
