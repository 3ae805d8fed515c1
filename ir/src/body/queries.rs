//! Queries about instructions and uses, shared by analyses and passes.

use crate::body::Body;
use crate::entities::{Block, Inst, Use, User};
use crate::intrinsics::indices::AccessFlags;
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::variable::VariableModes;

/// The maximum number of instructions searched for an origin.
const MAX_NEIGHBOURS: usize = 64;

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

    /// The [origin](Self::origin) of an instruction, or else the first one found among its users and operands: for an
    /// error about an instruction that a pass created.
    pub fn nearest_origin(&self, inst: Inst) -> Option<u32> {
        let mut known = vec![inst];
        let mut next = 0;
        while let Some(&inst) = known.get(next) {
            if let Some(origin) = self.origin(inst) {
                return Some(origin);
            }
            next += 1;
            let users = self.inst_def(inst).into_iter().flat_map(|def| self.uses_of(def));
            let users = users.filter_map(|source| self.user(source).inst());
            let operands = self.sources(inst).map(|source| self.src_inst(source));
            let group = MAX_NEIGHBOURS.saturating_sub(known.len());
            known.extend(users.chain(operands).take(group));
        }
        None
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
