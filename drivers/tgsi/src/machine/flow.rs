//! Blocks of the instruction list.

use std::num::NonZeroU32;
use std::ops::Range;

use tgsi::tables::Opcode;

use super::Program;
use super::access::{Access, Traits};

/// A run of instructions `start..end`. Every flow instruction ends the block that it is in.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The first block follows none.
    successors: [Option<NonZeroU32>; 2],
}

impl Block {
    /// The blocks that follow.
    pub(crate) fn successors(&self) -> impl Iterator<Item = usize> + use<> {
        self.successors.into_iter().flatten().map(|block| block.get() as usize)
    }
}

/// The instructions of the block that begins at a place; none at the end of the program. A walk over all blocks needs no list of them.
pub(crate) fn block_from(program: &Program, start: usize) -> Option<Range<usize>> {
    let rest = program.access.get(start..)?;
    let count = rest.iter().position(|access| access.traits.any(Traits::FLOW)).map_or(rest.len(), |last| last + 1);
    (count > 0).then_some(start..start + count)
}

/// Cuts a program into blocks and joins them by their edges. A program whose constructs do not nest gives edges to the end.
pub(crate) fn blocks(program: &Program) -> Vec<Block> {
    let is_flow = |access: &&Access| access.traits.any(Traits::FLOW);
    let mut blocks: Vec<Block> = Vec::with_capacity(program.access.iter().filter(is_flow).count() + 1);
    let mut start = 0;
    while let Some(block) = block_from(program, start) {
        start = block.end;
        blocks.push(Block { start: block.start, end: block.end, successors: [None; 2] });
    }
    // What jumps to the end leads somewhere.
    if program.access.last().is_none_or(|access| is_flow(&access)) {
        blocks.push(Block { start, end: start, successors: [None; 2] });
    }
    if blocks.len() > 1 {
        join(program, &mut blocks);
    }
    blocks
}

fn join(program: &Program, blocks: &mut [Block]) {
    // Blocks of the open constructs.
    struct Open {
        /// Block that ends in `IF` and waits for the other side.
        condition: Option<usize>,
        /// The last block that jumps to the end of the construct; each has the one before as its successor until the end is known.
        to_end: Option<NonZeroU32>,
        /// First block of a loop.
        head: Option<NonZeroU32>,
    }
    let mut open: Vec<Open> = Vec::new();
    let successor = |number: usize| NonZeroU32::new(number as u32);
    for number in 0..blocks.len() {
        let next = (number + 1 < blocks.len()).then(|| successor(number + 1)).flatten();
        let last =
            blocks[number].end.checked_sub(1).filter(|&l| l >= blocks[number].start).map(|l| program.access[l].opcode);
        match last {
            Some(Opcode::If | Opcode::Uif) => {
                blocks[number].successors[0] = next;
                open.push(Open { condition: Some(number), to_end: None, head: None });
            }
            Some(Opcode::Else) => {
                if let Some(construct) = open.last_mut() {
                    blocks[number].successors[0] = std::mem::replace(&mut construct.to_end, successor(number));
                    if let Some(condition) = construct.condition.take() {
                        blocks[condition].successors[1] = next;
                    }
                }
            }
            Some(Opcode::Endif) => {
                blocks[number].successors[0] = next;
                if let (Some(construct), Some(next)) = (open.pop(), next) {
                    if let Some(condition) = construct.condition {
                        blocks[condition].successors[1] = Some(next);
                    }
                    lead(blocks, construct.to_end, Some(next));
                }
            }
            Some(Opcode::Bgnloop) => {
                blocks[number].successors[0] = next;
                open.push(Open { condition: None, to_end: None, head: next });
            }
            Some(Opcode::Endloop) => {
                if let Some(construct) = open.pop() {
                    blocks[number].successors[0] = construct.head;
                    lead(blocks, construct.to_end, next);
                }
            }
            Some(Opcode::Brk) => {
                if let Some(construct) = open.iter_mut().rev().find(|o| o.head.is_some()) {
                    blocks[number].successors[0] = std::mem::replace(&mut construct.to_end, successor(number));
                }
            }
            Some(Opcode::Cont) => {
                blocks[number].successors[0] = open.iter().rev().find_map(|o| o.head);
            }
            Some(Opcode::End) => {}
            _ => blocks[number].successors[0] = next,
        }
    }
    for construct in open {
        lead(blocks, construct.to_end, None);
    }
}

/// Gives blocks, each of which has the one before as its successor, another one.
fn lead(blocks: &mut [Block], mut last: Option<NonZeroU32>, to: Option<NonZeroU32>) {
    while let Some(block) = last {
        last = std::mem::replace(&mut blocks[block.get() as usize].successors[0], to);
    }
}

/// A set of components, four bits to a temporary.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ComponentSet(Vec<u64>);

impl ComponentSet {
    pub(crate) fn new(temps: usize) -> ComponentSet {
        ComponentSet(vec![0; temps.div_ceil(16)])
    }

    pub(crate) fn get(&self, temp: usize) -> u8 {
        self.0.get(temp / 16).map_or(0, |w| (w >> (temp % 16 * 4)) as u8 & 0xf)
    }

    pub(crate) fn insert(&mut self, temp: usize, mask: u8) {
        if let Some(word) = self.0.get_mut(temp / 16) {
            *word |= u64::from(mask) << (temp % 16 * 4);
        }
    }

    pub(crate) fn remove(&mut self, temp: usize, mask: u8) {
        if let Some(word) = self.0.get_mut(temp / 16) {
            *word &= !(u64::from(mask) << (temp % 16 * 4));
        }
    }

    /// `self |= other`; whether anything was new.
    pub(crate) fn unite(&mut self, other: &ComponentSet) -> bool {
        let mut changed = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            changed |= *b & !*a != 0;
            *a |= b;
        }
        changed
    }
}
