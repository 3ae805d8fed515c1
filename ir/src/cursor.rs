//! Positions between instructions.

use crate::body::Body;
use crate::entities::{Block, Inst, Use, User};

/// An insertion point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cursor {
    /// Before the first instruction of a block.
    BlockStart(Block),
    /// After the last instruction of a block.
    BlockEnd(Block),
    /// Before an instruction.
    Before(Inst),
    /// After an instruction.
    After(Inst),
}

impl Cursor {
    /// After the phis of a block.
    pub fn after_phis(body: &Body, block: Block) -> Cursor {
        match body.phis(block).last() {
            Some(phi) => Cursor::After(phi),
            None => Cursor::BlockStart(block),
        }
    }

    /// At the end of a block, before its jump if there is one.
    pub fn before_jump(body: &Body, block: Block) -> Cursor {
        match body.block_jump(block) {
            Some((jump, _)) => Cursor::Before(jump),
            None => Cursor::BlockEnd(block),
        }
    }

    /// The latest point at which the definition of a source can be inserted: before its instruction, at the end of the
    /// predecessor of a phi source, or at the end of the block before an `if`.
    pub fn before_use(body: &Body, source: Use) -> Cursor {
        match body.user(source) {
            User::Inst(inst) if body.is_phi(inst) => Cursor::before_jump(body, body.phi_predecessor(source)),
            User::Inst(inst) => Cursor::Before(inst),
            User::If(id) => Cursor::before_jump(body, body.block_before_if(id)),
        }
    }

    /// After an instruction; after all phis of its block if it is a phi.
    pub fn after_inst(body: &Body, inst: Inst) -> Cursor {
        match body.inst_block(inst) {
            Some(block) if body.is_phi(inst) => Cursor::after_phis(body, block),
            _ => Cursor::After(inst),
        }
    }

    /// The block that contains the cursor.
    pub fn block(self, body: &Body) -> Block {
        match self {
            Cursor::BlockStart(block) | Cursor::BlockEnd(block) => block,
            Cursor::Before(inst) | Cursor::After(inst) => {
                body.inst_block(inst).expect("the instruction of a cursor is in a block")
            }
        }
    }
}
