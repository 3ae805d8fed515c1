//! Basic blocks and the edges between them.
//!
//! Control flow is structured and encoded in the instruction list: one walk finds the blocks and edges.

use std::num::NonZeroU32;
use std::ops::Range;

use super::access::{RegisterAccess, Traits};
use super::{Flow, Machine, Program};

/// The instructions `start..end`. Every flow instruction ends its block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its first instruction.
    pub start: usize,
    /// One past its last instruction.
    pub end: usize,
    /// Non-zero, as the first block is never a successor.
    successors: [Option<NonZeroU32>; 2],
}

impl Block {
    /// The successors of the block.
    pub fn successors(&self) -> impl Iterator<Item = usize> + use<> {
        self.successors.into_iter().flatten().map(|block| block.get() as usize)
    }
}

/// Returns the instructions of the block that begins at an instruction; none at the end of the program. A walk over all
/// blocks needs no list of them.
#[inline]
pub fn block_from<M: Machine>(program: &Program<M>, start: usize) -> Option<Range<usize>> {
    let rest = program.access.get(start..)?;
    let count = rest.iter().position(|access| access.traits.any(Traits::FLOW)).map_or(rest.len(), |last| last + 1);
    (count > 0).then_some(start..start + count)
}

/// Splits a program into blocks and connects them. Constructs that do not nest get edges to the end.
pub fn blocks<M: Machine>(program: &Program<M>) -> Vec<Block> {
    let is_flow = |access: &&RegisterAccess<M::Opcode>| access.traits.any(Traits::FLOW);
    let mut blocks: Vec<Block> = Vec::with_capacity(program.access.iter().filter(is_flow).count() + 1);
    let mut start = 0;
    while let Some(block) = block_from(program, start) {
        start = block.end;
        blocks.push(Block { start: block.start, end: block.end, successors: [None; 2] });
    }
    // Jumps to the end need a block.
    if program.access.last().is_none_or(|access| is_flow(&access)) {
        blocks.push(Block { start, end: start, successors: [None; 2] });
    }
    if blocks.len() > 1 {
        join(program, &mut blocks);
    }
    blocks
}

/// An open construct.
struct OpenConstruct {
    /// The block that ends in [`Flow::If`], until its second successor is known.
    condition: Option<usize>,
    /// The last block that jumps to the end of the construct; until the end is known, each links to the previous one as
    /// its successor.
    to_end: Option<NonZeroU32>,
    /// The first block of a loop.
    head: Option<NonZeroU32>,
}

fn join<M: Machine>(program: &Program<M>, blocks: &mut [Block]) {
    let mut open: Vec<OpenConstruct> = Vec::new();
    let successor = |number: usize| NonZeroU32::new(number as u32);
    for number in 0..blocks.len() {
        let next = (number + 1 < blocks.len()).then(|| successor(number + 1)).flatten();
        let last = blocks[number].end.checked_sub(1).filter(|&l| l >= blocks[number].start);
        match last.and_then(|last| program.flow(last)) {
            Some(Flow::If) => {
                blocks[number].successors[0] = next;
                open.push(OpenConstruct { condition: Some(number), to_end: None, head: None });
            }
            Some(Flow::Else) => {
                if let Some(construct) = open.last_mut() {
                    blocks[number].successors[0] = std::mem::replace(&mut construct.to_end, successor(number));
                    if let Some(condition) = construct.condition.take() {
                        blocks[condition].successors[1] = next;
                    }
                }
            }
            Some(Flow::EndIf) => {
                blocks[number].successors[0] = next;
                if let (Some(construct), Some(next)) = (open.pop(), next) {
                    if let Some(condition) = construct.condition {
                        blocks[condition].successors[1] = Some(next);
                    }
                    lead(blocks, construct.to_end, Some(next));
                }
            }
            Some(Flow::Loop) => {
                blocks[number].successors[0] = next;
                open.push(OpenConstruct { condition: None, to_end: None, head: next });
            }
            Some(Flow::EndLoop) => {
                if let Some(construct) = open.pop() {
                    blocks[number].successors[0] = construct.head;
                    lead(blocks, construct.to_end, next);
                }
            }
            Some(Flow::Break) => {
                if let Some(construct) = open.iter_mut().rev().find(|o| o.head.is_some()) {
                    blocks[number].successors[0] = std::mem::replace(&mut construct.to_end, successor(number));
                }
            }
            Some(Flow::Continue) => {
                blocks[number].successors[0] = open.iter().rev().find_map(|o| o.head);
            }
            Some(Flow::End) => {}
            Some(Flow::Call) | None => blocks[number].successors[0] = next,
        }
    }
    for construct in open {
        lead(blocks, construct.to_end, None);
    }
}

/// Replaces the links of a chain of blocks by the real successor.
fn lead(blocks: &mut [Block], mut last: Option<NonZeroU32>, to: Option<NonZeroU32>) {
    while let Some(block) = last {
        last = std::mem::replace(&mut blocks[block.get() as usize].successors[0], to);
    }
}

/// A set of components, four bits per temporary.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ComponentSet(Vec<u64>);

impl ComponentSet {
    /// The empty set, for `temps` temporaries.
    pub fn new(temps: usize) -> ComponentSet {
        ComponentSet(vec![0; temps.div_ceil(16)])
    }

    /// The components of a temporary that are in the set.
    #[inline]
    pub fn get(&self, temp: usize) -> u8 {
        self.0.get(temp / 16).map_or(0, |w| (w >> (temp % 16 * 4)) as u8 & 0xf)
    }

    /// Adds components.
    #[inline]
    pub fn insert(&mut self, temp: usize, mask: u8) {
        if let Some(word) = self.0.get_mut(temp / 16) {
            *word |= u64::from(mask) << (temp % 16 * 4);
        }
    }

    /// Removes components.
    #[inline]
    pub fn remove(&mut self, temp: usize, mask: u8) {
        if let Some(word) = self.0.get_mut(temp / 16) {
            *word &= !(u64::from(mask) << (temp % 16 * 4));
        }
    }

    /// `self |= other`; returns whether the set changed.
    pub fn unite(&mut self, other: &ComponentSet) -> bool {
        let mut changed = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            changed |= *b & !*a != 0;
            *a |= b;
        }
        changed
    }
}
