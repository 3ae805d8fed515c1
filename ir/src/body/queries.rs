//! Queries about instructions and uses, shared by analyses and passes.

use crate::body::Body;
use crate::entities::{Block, Inst, Use, User};
use crate::intrinsics::indices::AccessFlags;
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::variable::VariableModes;

impl Body {
    /// Whether the result of an intrinsic depends on its sources only.
    pub fn can_reorder(&self, inst: Inst, op: IntrinsicOp) -> bool {
        let info = op.info();
        if info.index_slot(IndexKind::Access).is_some() {
            let access = AccessFlags::from_i32(self.index(inst, IndexKind::Access));
            if access.contains(AccessFlags::VOLATILE) {
                return false;
            }
            if access.contains(AccessFlags::CAN_REORDER) {
                return true;
            }
        }
        if op == IntrinsicOp::LoadDeref {
            // Some system values change during execution (whether the invocation is a helper).
            let modes = self.deref_modes(self.src(inst, 0));
            return modes != VariableModes::NONE
                && VariableModes::READ_ONLY.contains(modes)
                && !modes.intersects(VariableModes::SYSTEM_VALUE);
        }
        info.can_reorder
    }

    /// The block that reads a source: the block of the user, or the predecessor of a phi source.
    pub fn use_block(&self, source: Use) -> Option<Block> {
        match self.user(source) {
            User::Inst(user) if self.is_phi(user) => Some(self.phi_predecessor(source)),
            User::Inst(user) => self.inst_block(user),
            User::If(id) => Some(self.block_before_if(id)),
        }
    }
}
