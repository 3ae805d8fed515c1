//! Slots and branches.

use super::VertexOptions;
use super::blocks::{Block, Exit, inverse};
use super::conditions::Conditions;
use super::operation::Operation;
use super::pairs;
use crate::Nv40Error;
use crate::isa::vertex::{Branch, Slot, encode};
use crate::isa::{Chip, Predicate};

/// Words, with the slots that a loader adjusts.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    pub(super) slots: Vec<[u32; 4]>,
    pub(super) branches: Vec<u16>,
    pub(super) constant_slots: Vec<u16>,
}

/// A list of slots, some of which branch to blocks.
#[derive(Default)]
struct Layout {
    slots: Vec<Slot>,
    /// Slots with a branch, and the blocks.
    branches: Vec<(usize, usize)>,
    /// The first slot of each block.
    starts: Vec<usize>,
}

impl Layout {
    /// Appends operations that end with a branch to a block.
    fn branch(&mut self, operations: Vec<Operation>, block: usize) {
        self.slots.extend(operations.into_iter().map(|operation| operation.slot));
        self.branches.push((self.slots.len() - 1, block));
    }
}

/// Encodes blocks. `operation` returns the operation of an instruction.
pub(super) fn emit(
    blocks: &[Block],
    operation: impl Fn(usize) -> Result<Operation, Nv40Error>,
    conditions: &Conditions,
    options: &VertexOptions,
    chip: Chip,
) -> Result<Code, Nv40Error> {
    let mut layout = Layout::default();
    let end = blocks.len();
    for (number, block) in blocks.iter().enumerate() {
        layout.starts.push(layout.slots.len());
        let mut operations = block.instructions.iter().map(|&line| operation(line)).collect::<Result<Vec<_>, _>>()?;
        if options.optimize {
            pairs::write_twice(&mut operations, chip);
        }
        // The branch that ends the block, and one after it for a condition without inverse.
        let (first, second) = exits(block.exit, number + 1, end, conditions);
        let branch = first.map(|(predicate, target)| (Operation::branch(predicate), target));
        if let Some((branch, _)) = branch.as_ref().filter(|_| options.vector_beside_branch) {
            operations.push(branch.clone());
        }
        if options.pairs {
            pairs::pair(&mut operations, chip);
        }
        match branch {
            Some((branch, target)) => {
                if !options.vector_beside_branch {
                    operations.push(branch);
                }
                layout.branch(operations, target);
            }
            None => layout.slots.extend(operations.into_iter().map(|operation| operation.slot)),
        }
        if let Some(target) = second {
            layout.branch(vec![Operation::branch(None)], target);
        }
    }
    // The last instruction ends the program: it is not a branch, and no branch has a target after it.
    let is_branch = layout.slots.last().is_none_or(|slot| slot.branch.is_some());
    let mut is_target = layout.branches.iter().map(|&(_, block)| layout.starts.get(block).copied());
    let length = layout.slots.len();
    if is_branch || is_target.any(|start| start.is_none_or(|start| start >= length)) {
        layout.starts.push(length);
        layout.slots.push(Slot::default());
    }
    let limit = chip.limits().vertex.slots;
    if layout.slots.len() > usize::from(limit) {
        let found = layout.slots.len() as u32;
        return Err(Nv40Error::TooMany { what: "instructions", found, limit: limit.into(), chip });
    }
    for &(slot, block) in &layout.branches {
        let target = layout.starts.get(block).copied().unwrap_or(length).min(length);
        layout.slots[slot].branch = Some(Branch { target: target as u16, boolean: None });
    }
    if let Some(last) = layout.slots.last_mut() {
        last.end = true;
    }
    let mut code = Code::default();
    for (number, slot) in (0u16..).zip(&layout.slots) {
        code.slots.push(encode(slot, chip)?);
        if slot.branch.is_some() {
            code.branches.push(number);
        }
        if slot.constant.is_some() {
            code.constant_slots.push(number);
        }
    }
    Ok(code)
}

/// The branches at the end of a block: one with its test, and an unconditional one.
fn exits(
    exit: Exit,
    next: usize,
    end: usize,
    conditions: &Conditions,
) -> (Option<(Option<Predicate>, usize)>, Option<usize>) {
    let unless_next = |block: usize| (block != next).then_some(block);
    match exit {
        Exit::End => (unless_next(end).map(|end| (None, end)), None),
        Exit::To(block) => (unless_next(block).map(|block| (None, block)), None),
        Exit::If { predicate, taken, otherwise } if taken == next => {
            match inverse(predicate, conditions.may_test_nan(predicate)) {
                Some(inverse) => (Some((Some(inverse), otherwise)), None),
                None => (Some((Some(predicate), taken)), Some(otherwise)),
            }
        }
        Exit::If { predicate, taken, otherwise } => (Some((Some(predicate), taken)), unless_next(otherwise)),
    }
}
