//! Numbering of blocks and instructions in program order.

use cranelift_entity::SecondaryMap;

use crate::body::Body;
use crate::entities::{Block, Inst};

/// The blocks in program order (pre-order of the tree), with the end block last.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct BlockOrder {
    /// The blocks, including the end block.
    pub blocks: Vec<Block>,
    index: SecondaryMap<Block, u32>,
}

impl BlockOrder {
    pub(super) fn compute(body: &Body) -> BlockOrder {
        let mut blocks: Vec<Block> = body.blocks().collect();
        blocks.push(body.end_block());
        let mut index = SecondaryMap::with_default(u32::MAX);
        index.resize(body.num_blocks());
        for (i, &block) in blocks.iter().enumerate() {
            index[block] = i as u32;
        }
        BlockOrder { blocks, index }
    }

    /// Number of a block in the order; `u32::MAX` for a block that is not in the tree.
    pub fn index(&self, block: Block) -> u32 {
        self.index[block]
    }
}

/// Numbers of instructions, ascending in program order. The start and end of each block have distinct numbers, too.
#[derive(Clone, PartialEq, Debug)]
pub struct InstOrder {
    index: SecondaryMap<Inst, u32>,
    /// Start and end number of each block.
    block_bounds: SecondaryMap<Block, (u32, u32)>,
}

impl InstOrder {
    pub(super) fn compute(body: &Body) -> InstOrder {
        let mut index = SecondaryMap::with_default(u32::MAX);
        let mut block_bounds = SecondaryMap::default();
        index.resize(body.num_insts());
        block_bounds.resize(body.num_blocks());
        let mut next = 0;
        for block in body.blocks() {
            let start = next;
            next += 1;
            for inst in body.insts(block) {
                index[inst] = next;
                next += 1;
            }
            block_bounds[block] = (start, next);
            next += 1;
        }
        block_bounds[body.end_block()] = (next, next + 1);
        InstOrder { index, block_bounds }
    }

    /// Number of an instruction; `u32::MAX` if it is in no block.
    pub fn index(&self, inst: Inst) -> u32 {
        self.index[inst]
    }

    /// Number of the start of a block.
    pub fn block_start(&self, block: Block) -> u32 {
        self.block_bounds[block].0
    }

    /// Number of the end of a block.
    pub fn block_end(&self, block: Block) -> u32 {
        self.block_bounds[block].1
    }
}
