//! Branches, and the fixed functions that have the form of branches.

use crate::isa::bits::{bit_fields, enumeration, sign_extend, signed};
use crate::isa::{InvalidInstruction, Tag};

enumeration! {
    /// The kind of a branch.
    BranchOp {
        Unconditional = 1 "uncond" "A jump.";
        Conditional = 2 "cond" "A jump on a condition.";
        Discard = 4 "discard" "Ends the fragment on a condition.";
        TileBufferPending = 6 "tilebuffer" "A jump while the tile buffer is not ready.";
        Writeout = 7 "write" "Writes colour r0 to the tile buffer, with state in r1; jumps if that fails.";
    }
}

enumeration! {
    /// The condition of a branch.
    Condition {
        Write0 = 0 "write0" "Depends on the kind; never for jumps.";
        False = 1 "false" "The condition is false.";
        True = 2 "true" "The condition is true.";
        Always = 3 "always" "Always.";
    }
}

enumeration! {
    /// The effect of a branch on the return address.
    CallMode {
        Default = 1 "" "None.";
        Call = 2 ".call" "A call.";
        Return = 3 ".return" "A return.";
    }
}

/// A branch. Offsets count quadwords from the end of the bundle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Branch {
    /// A compact unconditional branch.
    Jump {
        /// The effect on the return address.
        mode: CallMode,
        /// The tag of the target.
        target: Tag,
        /// The distance, from -64 to 63.
        offset: i8,
    },
    /// A compact branch of another kind.
    Conditional {
        /// The kind.
        op: BranchOp,
        /// The condition.
        condition: Condition,
        /// The tag of the target.
        target: Tag,
        /// The distance, from -64 to 63.
        offset: i8,
    },
    /// An extended branch.
    Extended {
        /// The kind.
        op: BranchOp,
        /// The effect on the return address.
        mode: CallMode,
        /// A table of 16 bits, by four conditions in r31; [`repeat`] makes one for a simple condition.
        conditions: u16,
        /// The tag of the target.
        target: Tag,
        /// The distance, with 23 bits.
        offset: i32,
    },
}

bit_fields! {
    /// A compact unconditional branch.
    RawJump { op: 3, target: 4, mode: 2, offset: 7, }
}

bit_fields! {
    /// Another compact branch.
    RawConditional { op: 3, target: 4, offset: 7, condition: 2, }
}

bit_fields! {
    /// An extended branch.
    RawExtended { op: 3, target: 4, mode: 2, offset: 23, conditions: 16, }
}

/// The table of an extended branch with a simple condition.
pub fn repeat(condition: Condition) -> u16 {
    condition.code() as u16 * 0x5555
}

fn op(code: u32) -> Result<BranchOp, InvalidInstruction> {
    BranchOp::from_code(code).ok_or(InvalidInstruction::Opcode("branch", code))
}

fn tag(code: u32) -> Result<Tag, InvalidInstruction> {
    Tag::from_code(code).ok_or(InvalidInstruction::Field("tag", code))
}

fn mode(code: u32) -> Result<CallMode, InvalidInstruction> {
    CallMode::from_code(code).ok_or(InvalidInstruction::Field("call mode", code))
}

impl Branch {
    /// The tag of the target.
    pub fn target(&self) -> Tag {
        match *self {
            Branch::Jump { target, .. } | Branch::Conditional { target, .. } | Branch::Extended { target, .. } => {
                target
            }
        }
    }

    /// The distance to the target in quadwords, from the end of the bundle.
    pub fn offset(&self) -> i32 {
        match *self {
            Branch::Jump { offset, .. } | Branch::Conditional { offset, .. } => offset.into(),
            Branch::Extended { offset, .. } => offset,
        }
    }

    /// Whether the branch has the extended form.
    pub fn is_extended(&self) -> bool {
        matches!(self, Branch::Extended { .. })
    }

    pub(crate) fn decode_compact(bits: u16) -> Result<Branch, InvalidInstruction> {
        let raw = RawConditional::from_bits(bits);
        let op = op(raw.op)?;
        if op == BranchOp::Unconditional {
            let raw = RawJump::from_bits(bits);
            let offset = sign_extend(raw.offset, 7) as i8;
            return Ok(Branch::Jump { mode: mode(raw.mode)?, target: tag(raw.target)?, offset });
        }
        let condition =
            Condition::from_code(raw.condition).ok_or(InvalidInstruction::Field("branch condition", raw.condition))?;
        Ok(Branch::Conditional { op, condition, target: tag(raw.target)?, offset: sign_extend(raw.offset, 7) as i8 })
    }

    pub(crate) fn decode_extended(bits: u64) -> Result<Branch, InvalidInstruction> {
        let raw = RawExtended::from_bits(bits);
        Ok(Branch::Extended {
            op: op(raw.op)?,
            mode: mode(raw.mode)?,
            conditions: raw.conditions as u16,
            target: tag(raw.target)?,
            offset: sign_extend(raw.offset, 23),
        })
    }

    /// The bits: 48 for extended branches, otherwise 16.
    pub(crate) fn encode(&self) -> Result<u64, InvalidInstruction> {
        let target = self.target().code();
        let distance = |width| signed("branch offset", self.offset(), width);
        let bits = match *self {
            Branch::Jump { mode, .. } => {
                let op = BranchOp::Unconditional.code();
                RawJump { op, target, mode: mode.code(), offset: distance(7)? }.to_bits()
            }
            Branch::Conditional { op: BranchOp::Unconditional, .. } => {
                return Err(InvalidInstruction::Conflict("an unconditional branch with a condition"));
            }
            Branch::Conditional { op, condition, .. } => {
                let condition = condition.code();
                RawConditional { op: op.code(), target, offset: distance(7)?, condition }.to_bits()
            }
            Branch::Extended { op, mode, conditions, .. } => {
                let (op, mode) = (op.code(), mode.code());
                RawExtended { op, target, mode, offset: distance(23)?, conditions: conditions.into() }.to_bits()
            }
        };
        Ok(bits as u64)
    }
}
