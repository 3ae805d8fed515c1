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

use arrayvec::ArrayVec;
use tgsi::shader::{Instruction, Register};
use tgsi::tables::{File, Opcode, OperandType};

use crate::machine::Program;
use crate::machine::access::{Access, Counts, Traits, number};
use crate::machine::flow::block_from;
use crate::machine::operands::permute;
use crate::target::opcodes::{is_componentwise, is_narrowing, is_permutable};

/// Farthest that a maker may be away from the copy; keeps the pass linear.
const REACH: usize = 256;

/// What is known of a virtual temporary or address register.
#[derive(Clone, Copy, Default)]
struct State {
    reads: Counts,
    writes: Counts,
    /// The last writes to the components, as places plus one.
    last_write: [u32; 4],
}

impl State {
    fn write(&mut self, mask: u8, place: usize) {
        for (c, last) in self.last_write.iter_mut().enumerate() {
            if mask & 1 << c != 0 {
                *last = place as u32 + 1;
            }
        }
    }
}

/// Forwards results into the destinations of copies. Returns whether anything changed.
pub(crate) fn forward_results(program: &mut Program) -> bool {
    let is_candidate = |(access, copy): (&Access, &Instruction)| access.opcode == Opcode::Mov && is_plain(copy);
    if !program.access.iter().zip(&program.instructions).any(is_candidate) {
        return false;
    }
    let mut states = vec![State::default(); program.registers()];
    for access in &program.access {
        for read in access.reads().iter().filter(|r| r.is_dense()) {
            states[read.register()].reads.add(read.mask());
        }
        if let Some(written) = access.written().filter(|w| w.is_dense()) {
            states[written.register()].writes.add(written.mask());
        }
    }
    let mut dead: Vec<bool> = Vec::new();
    let mut next = 0;
    while let Some(block) = block_from(program, next) {
        next = block.end;
        for place in block.clone() {
            let access = &program.access[place];
            if access.opcode == Opcode::Mov
                && let Some(plan) = plan(program, &states, block.start, place)
            {
                let copy = program.instructions[place].clone();
                apply(program, &plan, &copy);
                dead.resize(program.instructions.len(), false);
                dead[place] = true;
                if let Some(register) = program.register(copy.dst[0].register.file, copy.dst[0].register.index) {
                    for &(maker, mask, _) in &plan {
                        states[register].write(mask, maker);
                    }
                }
                continue;
            }
            if let Some(written) = access.written().filter(|w| w.is_dense()) {
                states[written.register()].write(written.mask(), place);
            }
        }
    }
    if !dead.is_empty() {
        program.remove(&dead);
    }
    !dead.is_empty()
}

/// Whether an instruction copies a temporary as it is.
fn is_plain(copy: &Instruction) -> bool {
    let (Some(dst), Some(src)) = (copy.dst.first(), copy.src.first()) else { return false };
    !src.negate
        && !src.absolute
        && src.register.file == File::Temporary
        && src.register.indirect.is_none()
        && dst.register.indirect.is_none()
        && dst.register.dimension.is_none()
        && matches!(dst.register.file, File::Temporary | File::Output)
        && dst.register != src.register
}

/// Makers with the channels that each is to write, and the channel of the old result that each new channel is.
type Plan = ArrayVec<(usize, u8, [u8; 4]), 4>;

fn plan(program: &Program, states: &[State], block_start: usize, place: usize) -> Option<Plan> {
    let copy = &program.instructions[place];
    if !is_plain(copy) {
        return None;
    }
    let (dst, src) = (copy.dst.first()?, copy.src.first()?);
    let state = states.get(program.register(File::Temporary, src.register.index)?)?;
    let mut plan: Plan = Plan::new();
    let mut consumed = 0u8;
    for c in (0..4usize).filter(|c| dst.write_mask & 1 << c != 0) {
        let component = usize::from(src.swizzle[c] & 3);
        let maker = (state.last_write[component] as usize).checked_sub(1)?;
        let is_single = state.reads.are_one(1 << component) && state.writes.are_one(1 << component);
        if !is_single || maker < block_start || place - maker > REACH {
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
        let is_one = mask.count_ones() == 1 && written_mask.count_ones() == 1;
        let may_move = is_permutable(instruction.opcode) || is_one && is_narrowing(instruction.opcode);
        if !in_place && !may_move {
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
    let is_allowed = |&(maker, mask, from): &(usize, u8, [u8; 4])| {
        program.rules.allow_all() || program.rules.allows(&forwarded(&program.instructions[maker], mask, from, copy))
    };
    if !plan.iter().all(is_allowed) {
        return None;
    }
    let first = plan.iter().map(|p| p.0).min()?;
    let clean = program.access[first + 1..place]
        .iter()
        .all(|between| !touches(between, &dst.register, dst.write_mask, program.first_temp));
    clean.then_some(plan)
}

/// Whether an instruction reads or writes components of a register, or makes outputs visible.
fn touches(access: &Access, register: &Register, mask: u8, first_temp: u32) -> bool {
    if register.file == File::Temporary && register.index < first_temp as i32 {
        return access.traits.any(Traits::READS_ARRAY.with(Traits::WRITES_ARRAY));
    }
    if register.file == File::Output && access.traits.any(Traits::OUTPUT_BARRIER.with(Traits::READS_OUTPUT)) {
        return true;
    }
    let Some(number) = number(register.file, register.index, first_temp).map(|n| n as usize) else { return true };
    let mut accessed = access.reads().iter().copied().chain(access.written());
    accessed.any(|a| a.register() == number && a.mask() & mask != 0)
}

fn apply(program: &mut Program, plan: &Plan, copy: &Instruction) {
    for &(maker, mask, from) in plan {
        program.edit(maker, |instruction| forward(instruction, mask, from, copy));
    }
}

/// Makes an instruction write what a copy of its result writes.
fn forward(instruction: &mut Instruction, mask: u8, from: [u8; 4], copy: &Instruction) {
    if is_componentwise(instruction.opcode) {
        permute(instruction, mask, from);
    }
    instruction.dst[0].register = copy.dst[0].register;
    instruction.dst[0].write_mask = mask;
    instruction.saturate |= copy.saturate;
}

/// The instruction that does so.
fn forwarded(instruction: &Instruction, mask: u8, from: [u8; 4], copy: &Instruction) -> Instruction {
    let mut new = instruction.clone();
    forward(&mut new, mask, from, copy);
    new
}
