//! The structured program as blocks with branches.
//!
//! ```text
//! block 0    if (NE.x) block 1, otherwise block 2
//! block 1    block 3
//! block 2    block 3
//! block 3    end
//! ```
//!
//! Empty blocks are skipped: a loop that leaves under a condition has one branch for that. Blocks without other
//! predecessors are joined to those before.

use tgsi_vec4::Flow;
use tgsi_vec4::branches::{BadNesting, Step, branches};

use crate::isa::{Condition, Predicate, Swizzle};

/// The end of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Exit {
    /// The next block.
    To(usize),
    /// One of two blocks.
    If {
        /// The test, which any component passes.
        predicate: Predicate,
        /// The block if it passes.
        taken: usize,
        /// The other block.
        otherwise: usize,
    },
    /// The end of the program.
    End,
}

/// Instructions without control flow, by number, and the block after them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Block {
    pub(super) instructions: Vec<usize>,
    pub(super) exit: Exit,
}

/// Lists the blocks of a program, in the order of their code. All can be reached. `flow` returns the control flow of an
/// instruction, and `predicate` the condition of a construct.
pub(super) fn blocks(
    flow: impl IntoIterator<Item = Option<Flow>>,
    predicate: impl Fn(usize) -> Predicate,
) -> Result<Vec<Block>, BadNesting> {
    let steps = branches(flow)?;
    let mut starts = vec![false; steps.len() + 1];
    starts[0] = true;
    for (number, step) in steps.iter().enumerate() {
        if let Step::Unless(_, target) | Step::Always(_, target) = *step {
            starts[target.min(steps.len())] = true;
        }
        starts[number + 1] |= !matches!(step, Step::Instruction(_));
    }
    let mut block_of = vec![0; steps.len() + 1];
    for step in 1..=steps.len() {
        block_of[step] = block_of[step - 1] + usize::from(starts[step]);
    }
    let count = block_of[steps.len()] + 1;
    let mut blocks: Vec<Block> =
        (0..count).map(|number| Block { instructions: Vec::new(), exit: Exit::To(number + 1) }).collect();
    let block_at = |step: usize| block_of[step.min(steps.len())];
    for (number, step) in steps.iter().enumerate() {
        let block = &mut blocks[block_of[number]];
        match *step {
            Step::Instruction(instruction) => block.instructions.push(instruction),
            Step::Unless(instruction, target) => {
                block.exit = choice(predicate(instruction), block_at(number + 1), block_at(target));
            }
            Step::Always(_, target) => block.exit = Exit::To(block_at(target)),
            Step::End(_) => block.exit = Exit::End,
        }
    }
    // The last block, or the block after the last instruction.
    blocks[count - 1].exit = match blocks[count - 1].exit {
        Exit::To(next) if next == count => Exit::End,
        exit => exit,
    };
    skip_empty(&mut blocks);
    Ok(joined(blocks))
}

/// The exit by a condition.
fn choice(predicate: Predicate, taken: usize, otherwise: usize) -> Exit {
    match predicate.condition {
        Condition::TR => Exit::To(taken),
        Condition::FL => Exit::To(otherwise),
        _ if taken == otherwise => Exit::To(taken),
        _ => Exit::If { predicate, taken, otherwise },
    }
}

impl Exit {
    /// The blocks that may follow.
    pub(super) fn successors(self) -> impl Iterator<Item = usize> {
        let both = match self {
            Exit::To(next) => [Some(next), None],
            Exit::If { taken, otherwise, .. } => [Some(taken), Some(otherwise)],
            Exit::End => [None, None],
        };
        both.into_iter().flatten()
    }

    fn map(self, target: impl Fn(usize) -> usize) -> Exit {
        match self {
            Exit::To(next) => Exit::To(target(next)),
            Exit::If { predicate, taken, otherwise } => choice(predicate, target(taken), target(otherwise)),
            Exit::End => Exit::End,
        }
    }
}

/// Replaces empty blocks by their successors.
fn skip_empty(blocks: &mut [Block]) {
    // The last block of each chain of empty blocks.
    let mut target: Vec<Option<usize>> = vec![None; blocks.len()];
    for start in 0..blocks.len() {
        let mut chain = Vec::new();
        let mut at = start;
        let last = loop {
            if let Some(known) = target[at] {
                break known;
            }
            // A chain that comes back to itself is an endless loop.
            target[at] = Some(at);
            chain.push(at);
            match blocks[at].exit {
                Exit::To(next) if blocks[at].instructions.is_empty() => at = next,
                _ => break at,
            }
        };
        chain.into_iter().for_each(|block| target[block] = Some(last));
    }
    for block in blocks.iter_mut() {
        block.exit = block.exit.map(|next| target[next].unwrap_or(next));
    }
    // Empty ends are one block.
    let is_empty_end = |block: &Block| block.instructions.is_empty() && block.exit == Exit::End;
    if let Some(last) = blocks.iter().rposition(is_empty_end) {
        let are_ends: Vec<bool> = blocks.iter().map(is_empty_end).collect();
        for block in blocks.iter_mut() {
            block.exit = block.exit.map(|next| if are_ends[next] { last } else { next });
        }
    }
}

/// Removes blocks without predecessors, and joins those with one to it if it precedes them.
fn joined(mut blocks: Vec<Block>) -> Vec<Block> {
    let mut predecessors = vec![0u32; blocks.len()];
    let mut stack = vec![0];
    predecessors[0] = 1;
    while let Some(block) = stack.pop() {
        for next in blocks[block].exit.successors() {
            if predecessors[next] == 0 {
                stack.push(next);
            }
            predecessors[next] += 1;
        }
    }
    let mut number_of = vec![0; blocks.len()];
    let mut kept: Vec<Block> = Vec::new();
    // The block before, by its old number.
    let mut before = None;
    for number in 0..blocks.len() {
        if predecessors[number] == 0 {
            continue;
        }
        let block = Block { instructions: std::mem::take(&mut blocks[number].instructions), exit: blocks[number].exit };
        match kept.last_mut() {
            Some(last) if last.exit == Exit::To(number) && predecessors[number] == 1 && before.is_some() => {
                last.instructions.extend(block.instructions);
                last.exit = block.exit;
            }
            _ => kept.push(block),
        }
        before = Some(number);
        number_of[number] = kept.len() - 1;
    }
    for block in &mut kept {
        block.exit = block.exit.map(|next| number_of[next]);
    }
    kept
}

/// The test that passes exactly if the other one fails. Tests of an order have none if values may be NaN, which fails
/// both.
pub(super) fn inverse(predicate: Predicate, has_nan: bool) -> Option<Predicate> {
    let is_replicated = predicate.swizzle == Swizzle::replicate(predicate.swizzle.0[0]);
    let is_exact = !has_nan || matches!(predicate.condition, Condition::EQ | Condition::NE);
    let condition = Condition(!predicate.condition.0 & 7);
    (is_replicated && is_exact).then_some(Predicate { condition, ..predicate })
}
