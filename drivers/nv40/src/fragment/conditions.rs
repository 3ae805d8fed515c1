//! Results that are written to a register and a condition register by one instruction.
//!
//! ```text
//! ADDR R0.x, a, b            ADDRC R0.x, a, b
//! ...                  =>    ...
//! MOVRC RC.x, R0
//! ```
//!
//! Components of the result that the copy does not read may be written to the condition register if these are not
//! needed there.

use tgsi_vec4::simple::{Destination, File, SimpleMachine};

use super::allocate::{register_of, units};
use super::live::Live;
use crate::isa::fragment::Register;
use crate::machine::{ADDRESSES, Code, Machine, MachineInstruction};

/// The maximum distance between producer and copy; keeps the pass linear.
const REACH: usize = 64;

/// Whether an instruction copies a register to a condition register: the component of the condition register and of the
/// register are the same.
pub(super) fn copy_to_condition(instruction: &MachineInstruction) -> Option<(Destination, Destination)> {
    let to = instruction.destination.filter(|to| to.file == File::Special && to.index < i32::from(ADDRESSES))?;
    let from = instruction.sources.first()?;
    let is_copy = instruction.op == Machine::COPY && instruction.guard.is_none() && !instruction.saturate;
    let is_in_place = (0..4).all(|c| to.mask >> c & 1 == 0 || from.swizzle[c] == c as u8);
    (is_copy && from.file == File::Temporary && from.is_plain() && is_in_place)
        .then(|| (to, Destination::new(from.file, from.index, to.mask)))
}

/// Whether two registers share bits in some components.
fn overlap((a, of_a): (Register, u8), (b, of_b): (Register, u8)) -> bool {
    let components = |mask: u8| (0..4usize).filter(move |c| mask >> c & 1 != 0);
    components(of_a).any(|x| {
        let x = units(a, x);
        components(of_b).map(|y| units(b, y)).any(|y| x.start < y.end && y.start < x.end)
    })
}

/// Joins copies to condition registers with the instructions that compute their operands. Returns, for each
/// instruction, the condition register that it writes too, or `Removed`. Components of `reserved` are flags of loops.
pub(super) fn join(
    machine: Machine,
    instructions: &[MachineInstruction],
    live: &Live,
    reserved: [u8; ADDRESSES as usize],
    exports_full: bool,
) -> Vec<Condition> {
    let has_loops = instructions.iter().any(|instruction| instruction.op.code == Code::Loop);
    let reserved = if has_loops { reserved } else { Default::default() };
    let mut conditions = vec![Condition::None; instructions.len()];
    for index in 0..instructions.len() {
        let Some((to, from)) = copy_to_condition(&instructions[index]) else { continue };
        let Some(register @ Register::R(_)) = register_of(from.file, from.index, exports_full) else { continue };
        let mut touched = 0;
        let mut producer = None;
        for earlier in (index.saturating_sub(REACH)..index).rev() {
            let other = &instructions[earlier];
            if Machine::info(other.op).flow.is_some() {
                break;
            }
            // A copy that was removed marks the end of the time in which the condition register is not its own.
            if let Some(written) = other.destination
                && let Some(other_register) = register_of(written.file, written.index, exports_full)
                && overlap((other_register, written.mask), (register, from.mask))
            {
                let is_whole = other_register == register && from.mask & !written.mask == 0;
                producer = is_whole.then_some((earlier, written.mask));
                break;
            }
            touched |= touches(other, conditions[earlier], to.index);
        }
        let Some((earlier, mask)) = producer else { continue };
        let other = &instructions[earlier];
        let rest = mask & !to.mask;
        let needed = live.special_after(to.index as usize, earlier) | reserved[to.index as usize];
        let as_condition = Destination { mask, ..to };
        let mut alone = other.clone();
        alone.destination = Some(as_condition);
        let fits = other.guard.is_none()
            && conditions[earlier] == Condition::None
            && touched & mask == 0
            && needed & rest == 0
            && machine.accepts(&alone);
        if fits {
            conditions[earlier] = Condition::Written(to.index as u8, mask);
            conditions[index] = Condition::Removed;
        }
    }
    conditions
}

/// What becomes of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Condition {
    /// It stays.
    None,
    /// It writes components of a condition register too.
    Written(u8, u8),
    /// It is removed.
    Removed,
}

/// The components of a condition register that an instruction reads or writes.
fn touches(instruction: &MachineInstruction, also: Condition, register: i32) -> u8 {
    let mut mask = 0;
    if let Some(to) = instruction.destination.filter(|to| to.file == File::Special && to.index == register) {
        mask |= to.mask;
    }
    if let Condition::Written(other, of_other) = also
        && i32::from(other) == register
    {
        mask |= of_other;
    }
    if let Some(guard) = instruction.guard.filter(|guard| i32::from(guard.register) == register) {
        let channels = instruction.destination.map_or(15, |to| to.mask);
        mask |= (0..4).filter(|c| channels >> c & 1 != 0).fold(0, |mask, c| mask | 1 << (guard.swizzle[c] & 3));
    }
    mask
}
