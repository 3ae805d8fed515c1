//! Groups operands with the same run-time index, so that it is loaded into the address register once.
//!
//! ```text
//! ARL ADDR[0].x, TEMP[0].x                        ARL ADDR[0].x, TEMP[0].x
//! MUL TEMP[1], CONST[ADDR[0].x], IN[0].x          MUL TEMP[1], CONST[ADDR[0].x], IN[0].x
//! ARL ADDR[0].x, TEMP[0].y                        MUL TEMP[3], CONST[ADDR[0].x+1], IN[0].x
//! MUL TEMP[2], CONST[ADDR[0].x], IN[0].y     =>   ARL ADDR[0].x, TEMP[0].y
//! ARL ADDR[0].x, TEMP[0].x                        MUL TEMP[2], CONST[ADDR[0].x], IN[0].y
//! MUL TEMP[3], CONST[ADDR[0].x+1], IN[0].x
//! ```
//!
//! Where an index is loaded again, its users move up to where it was still loaded, and the second load is removed. They
//! move past at most [`WINDOW`] instructions, and only if they depend on none of them. Addresses that are live across
//! blocks are not changed.

use std::ops::Range;

use tgsi::shader::Instruction;
use tgsi::tables::Opcode;
use tgsi_vec4::access::SPECIAL_REGISTERS;
use tgsi_vec4::blocks::block_from;
use tgsi_vec4::{Components, Traits};

use crate::machine::{Program, RegisterAccess};

/// The distance that an instruction may move.
const WINDOW: usize = 64;

/// Properties of instructions that may move: they only compute a value from operands.
const MOVABLE: Traits = Traits::COMPONENTWISE.with(Traits::REPLICATED);

/// Properties of instructions that must not move, as [`RegisterAccess::reads`] and [`RegisterAccess::written`] do not
/// cover their accesses.
const FIXED: Traits = Traits::FLOW
    .with(Traits::EFFECT)
    .with(Traits::READS_FIXED)
    .with(Traits::WRITES_FIXED)
    .with(Traits::WRITES_INDIRECT)
    .with(Traits::READS_OUTPUT)
    .with(Traits::WRITES_OUTPUT);

/// Groups the users of addresses. Returns whether anything changed.
pub(crate) fn group_addresses(program: &mut Program) -> bool {
    if program.accesses().iter().filter(|access| is_load(access)).nth(1).is_none() {
        return false;
    }
    let across_blocks = across_blocks(program);
    let mut order = Vec::with_capacity(program.accesses().len());
    let mut progress = false;
    let mut next = 0;
    while let Some(block) = block_from(program, next) {
        next = block.end;
        progress |= group(program, block, &across_blocks, &mut order);
    }
    if progress {
        let instructions = program.take_instructions();
        for index in order {
            program.push(instructions[index].clone());
        }
    }
    progress
}

fn is_load(access: &RegisterAccess) -> bool {
    matches!(access.opcode, Opcode::Arl | Opcode::Arr | Opcode::Uarl)
}

/// The component of an address register that an instruction loads.
fn slot(access: &RegisterAccess) -> Option<Components> {
    let is_one = |written: &Components| written.dense().is_some() && written.mask().is_power_of_two();
    access.written().filter(|_| is_load(access)).filter(is_one)
}

fn overlap(a: Components, b: Components) -> bool {
    a.register() == b.register() && a.mask() & b.mask() != 0
}

fn reads(access: &RegisterAccess, components: Components) -> bool {
    access.reads().iter().any(|&read| overlap(read, components))
}

/// The components written, including those that may be clobbered outside the mask.
fn written(access: &RegisterAccess) -> Option<Components> {
    let mask = if access.traits.any(Traits::STORES_WHOLE) { 0xf } else { 0 };
    access.written().map(|w| Components::new(w.register(), w.mask() | mask))
}

/// The components of address registers that some block reads before writing.
fn across_blocks(program: &Program) -> [u8; SPECIAL_REGISTERS as usize] {
    let mut across = [0; SPECIAL_REGISTERS as usize];
    let mut loaded = [0; SPECIAL_REGISTERS as usize];
    for access in program.accesses() {
        for read in access.reads() {
            let Some(register) = read.dense().filter(|&register| register < across.len()) else { continue };
            across[register] |= read.mask() & !loaded[register];
        }
        let register = access.written().and_then(|w| Some((w.dense()?, w.mask())));
        if let Some((register, mask)) = register.filter(|&(register, _)| register < loaded.len()) {
            loaded[register] |= mask;
        }
        if access.traits.any(Traits::FLOW) {
            loaded = Default::default();
        }
    }
    across
}

/// Appends the remaining instructions of a block to `order`. Returns whether the order changed.
fn group(program: &Program, block: Range<usize>, across_blocks: &[u8], order: &mut Vec<usize>) -> bool {
    let accesses = program.accesses();
    let start = order.len();
    let mut moved = vec![false; block.len()];
    let mut progress = false;
    for index in block.clone() {
        if moved[index - block.start] {
            continue;
        }
        let is_local = |slot: &Components| {
            let across = slot.dense().and_then(|register| across_blocks.get(register));
            across.is_none_or(|mask| mask & slot.mask() == 0)
        };
        if let Some(slot) = slot(&accesses[index]).filter(is_local)
            && let Some(earlier) = earlier_load(program, index, slot, &order[start..])
        {
            let replaced = match earlier {
                EarlierLoad::Current => Some((order.len(), Vec::new())),
                EarlierLoad::ReplacedAt(position) => {
                    let position = start + position;
                    let readers =
                        readers(accesses, index + 1..block.end, &moved, block.start, slot, &order[position..]);
                    readers.map(|readers| (position, readers))
                }
            };
            if let Some((position, readers)) = replaced {
                readers.iter().for_each(|&reader| moved[reader - block.start] = true);
                order.splice(position..position, readers);
                progress = true;
                continue;
            }
        }
        order.push(index);
    }
    progress
}

/// An earlier load of an index.
enum EarlierLoad {
    /// The register still holds it.
    Current,
    /// Another index was loaded at this position.
    ReplacedAt(usize),
}

/// The last earlier load of the same index as the instruction at `index`.
fn earlier_load(program: &Program, index: usize, slot: Components, before: &[usize]) -> Option<EarlierLoad> {
    let (load, access) = (&program.instructions()[index], &program.accesses()[index]);
    let is_same = |other: &Instruction| {
        other.opcode == load.opcode && other.src == load.src && other.dst == load.dst && other.saturate == load.saturate
    };
    let mut replaced = None;
    for (position, &other) in before.iter().enumerate().rev().take(WINDOW) {
        let other_access = &program.accesses()[other];
        let Some(written) = written(other_access) else { continue };
        if reads(access, written) {
            return None;
        }
        if overlap(written, slot) {
            if is_same(&program.instructions()[other]) {
                return Some(replaced.map_or(EarlierLoad::Current, EarlierLoad::ReplacedAt));
            }
            replaced = Some(position);
        }
    }
    None
}

/// The instructions in `rest` that read an address before it is loaded again, if each of them may move past those in
/// `above` and those in between.
fn readers(
    accesses: &[RegisterAccess],
    rest: Range<usize>,
    moved: &[bool],
    first: usize,
    slot: Components,
    above: &[usize],
) -> Option<Vec<usize>> {
    let mut crossed: Vec<usize> = above.to_vec();
    let mut readers = Vec::new();
    for index in rest.filter(|&index| !moved[index - first]) {
        let access = &accesses[index];
        if reads(access, slot) {
            let is_movable = access.traits.any(MOVABLE) && !access.traits.any(FIXED);
            if !is_movable || !crossed.iter().all(|&other| may_pass(access, &accesses[other], slot)) {
                return None;
            }
            readers.push(index);
        } else {
            crossed.push(index);
        }
        if written(access).is_some_and(|written| overlap(written, slot)) {
            return Some(readers);
        }
        if crossed.len() > WINDOW {
            return None;
        }
    }
    Some(readers)
}

/// Whether an instruction may move up past another one, ignoring the address that this one may load.
fn may_pass(access: &RegisterAccess, other: &RegisterAccess, slot: Components) -> bool {
    let changes = |written: Components| access.reads().iter().any(|&r| overlap(r, written) && !overlap(r, slot));
    let is_needed =
        |result: Components| reads(other, result) || written(other).is_some_and(|written| overlap(written, result));
    !written(other).is_some_and(changes) && !written(access).is_some_and(is_needed)
}
