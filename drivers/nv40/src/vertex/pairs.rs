//! Co-issue: operations of both units in one slot.
//!
//! ```text
//! MUL R0.xyz, v[0], c[0];              MUL R0.xyz, v[0], c[0];
//! RCP R1.w, R2.x;               =>     RCP R1.w, R2.x; # paired
//! ```
//!
//! An operation moves up to an earlier one of the other unit, or down to a later one, past operations that it neither
//! depends on nor affects. A vector operation also takes a copy of its result to an output.

use super::operation::Operation;
use super::registers::Registers;
use crate::isa::Chip;

/// The maximum distance between operations that become one; keeps the steps linear.
const REACH: usize = 48;

/// The registers that a list of operations reads and writes.
#[derive(Default)]
struct Between {
    reads: Registers,
    writes: Registers,
}

impl Between {
    fn add(&mut self, operation: &Operation) {
        self.reads = self.reads.with(&operation.reads);
        self.writes = self.writes.with(&operation.writes);
    }

    /// Whether an operation may move past the list.
    fn allows(&self, operation: &Operation) -> bool {
        !self.writes.meets(&operation.reads)
            && !self.writes.meets(&operation.writes)
            && !self.reads.meets(&operation.writes)
    }
}

/// Removes copies of results to outputs: the operations write both.
pub(super) fn write_twice(operations: &mut Vec<Operation>, chip: Chip) {
    let mut is_dead = vec![false; operations.len()];
    for copy in 0..operations.len() {
        if operations[copy].exact_copy().is_none() {
            continue;
        }
        // The last operation that writes an operand of the copy, if the result of the copy can move there.
        let mut between = Between::default();
        for at in (copy.saturating_sub(REACH)..copy).rev().filter(|&at| !is_dead[at]) {
            let producer = &operations[at];
            if producer.writes.meets(&operations[copy].reads) {
                let both = producer.with_copy(&operations[copy], chip);
                let writes = &operations[copy].writes;
                let is_free = !between.reads.meets(writes) && !between.writes.meets(writes);
                if let Some(both) = both.filter(|_| is_free) {
                    operations[at] = both;
                    is_dead[copy] = true;
                }
                break;
            }
            between.add(producer);
        }
    }
    retain(operations, &is_dead);
}

/// Joins operations. The last one may be a branch, which stays the last.
pub(super) fn pair(operations: &mut Vec<Operation>, chip: Chip) {
    let mut is_dead = vec![false; operations.len()];
    for first in 0..operations.len() {
        if is_dead[first] || operations[first].is_pair() {
            continue;
        }
        let mut between = Between::default();
        for other in first + 1..operations.len().min(first + 1 + REACH) {
            if is_dead[other] {
                continue;
            }
            let (a, b) = (&operations[first], &operations[other]);
            let moves_up = b.slot.branch.is_none() && between.allows(b);
            let moves_down = between.allows(a);
            if let Some(both) = (moves_up || moves_down).then(|| a.paired(b, chip)).flatten() {
                let (kept, dead) = if moves_up { (first, other) } else { (other, first) };
                operations[kept] = both;
                is_dead[dead] = true;
                break;
            }
            between.add(&operations[other]);
        }
    }
    retain(operations, &is_dead);
}

fn retain(operations: &mut Vec<Operation>, is_dead: &[bool]) {
    let mut dead = is_dead.iter();
    operations.retain(|_| !dead.next().copied().unwrap_or(false));
}
