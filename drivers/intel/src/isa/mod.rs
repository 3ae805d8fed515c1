//! Instructions as data, the table of opcodes, and conversions from and to words.
//!
//! An [`Instruction`] has one field for each fact that its words state. Which fields an opcode has is its [`Form`]:
//!
//! | form | destination | sources | [`Detail`] |
//! |---|---|---|---|
//! | [`Form::Nop`], [`Form::Plain`] | no | 0 | `None` |
//! | [`Form::Unary`] | yes | 1 | `None` |
//! | [`Form::Binary`] | yes | 2 | `None` |
//! | [`Form::Ternary`] | yes | 3, general registers | `None` |
//! | [`Form::Math`] | yes | 2, the second null where unused | `Math` |
//! | [`Form::Send`] | yes, null without response | 1, the payload | `Message` |
//! | [`Form::Branch`] | yes, null or ip | 1, null or ip | `Branch` |
//!
//! An operand is a [`Register`] with a [`Type`] and a [`Region`]. The region states the [`AccessMode`] of the
//! instruction again: [`Region::Align1`] has strides, [`Region::Align16`] has a swizzle. Only instructions with three
//! sources, which are always align16, read one element for all channels as [`Region::SCALAR`]. Offsets in registers
//! are in bytes. [`Region::element`] states the element that a channel reads.
//!
//! [`Instruction::new`] and the functions beside it construct instructions, which a compiler then changes by the
//! `with_*` functions or by the fields.
//!
//! [`decode`] accepts the words of valid instructions only, and `encode(decode(words))` returns the same words.
//! [`encode`] accepts the same instructions. Compacted instructions are the same data with
//! [`Instruction::compacted`] set. [`crate::validate`] checks the rules of hardware beyond the encoding.

pub(crate) mod bits;
mod build;
mod chip;
mod compact;
mod compact_table;
mod control;
mod decode;
mod encode;
mod error;
mod immediate;
mod message;
mod opcode;
mod operand;
mod program;

pub use chip::Chip;
pub use compact::compact;
pub use control::{
    AccessMode, Condition, Dependency, ExecutionSize, Flag, Group, Predicate, PredicateControl, ThreadControl,
};
pub use decode::decode;
pub use encode::encode;
pub(crate) use encode::message_word;
pub use error::{DecodeError, InvalidInstruction};
pub use immediate::{Immediate, ImmediateType, expand_restricted_float, restricted_float};
pub use message::{Branch, Descriptor, Detail, MathFunction, Message, SharedFunction, descriptor};
pub use opcode::{Form, Opcode, Row};
pub use operand::{
    Destination, File, GENERAL_REGISTERS, HorizontalStride, Operand, Region, Register, Source, Swizzle, Type,
    VerticalStride, Width, WriteMask, arf,
};

pub use program::{
    EncodeError, ProgramError, check_program, compact_program, decode_program, encode_program, find_end,
};
pub(crate) use program::{positions, target};

use arrayvec::ArrayVec;

/// An instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// The opcode.
    pub opcode: Opcode,
    /// How operands select components.
    pub access: AccessMode,
    /// The number of channels.
    pub size: ExecutionSize,
    /// The channels of the thread that the instruction works on.
    pub group: Group,
    /// Whether disabled channels are written too (`WE_all`). Predicates still apply.
    pub no_mask: bool,
    /// Checks of the scoreboard that are left out.
    pub dependency: Dependency,
    /// What happens to other threads.
    pub thread: ThreadControl,
    /// The predicate.
    pub predicate: Option<Predicate>,
    /// The flags that the predicate reads and the condition writes.
    pub flag: Flag,
    /// The condition on the result. `math` and messages have none.
    pub condition: Option<Condition>,
    /// Whether the result is limited: floats to 0 and 1, integers to the range of their type. Messages have no limit.
    pub saturate: bool,
    /// Whether the result is also written to the accumulator (`AccWrEnable`).
    pub accumulator_write: bool,
    /// Whether the instruction raises an exception for a debugger.
    pub breakpoint: bool,
    /// Whether the words are the compacted form of 64 bits.
    pub compacted: bool,
    /// The written register.
    pub destination: Option<Destination>,
    /// The sources.
    pub sources: ArrayVec<Source, 3>,
    /// Function, message or targets.
    pub detail: Detail,
}

impl Instruction {
    /// The message of `send` and `sendc`.
    pub fn message(&self) -> Option<&Message> {
        match &self.detail {
            Detail::Message(message) => Some(message),
            _ => None,
        }
    }

    /// The function of `math`.
    pub fn math_function(&self) -> Option<MathFunction> {
        match self.detail {
            Detail::Math(function) => Some(function),
            _ => None,
        }
    }

    /// The targets of a branch.
    pub fn branch(&self) -> Option<Branch> {
        match self.detail {
            Detail::Branch(branch) => Some(branch),
            _ => None,
        }
    }

    /// The sources that the instruction reads, which of `math` may be one only.
    pub fn read_sources(&self) -> &[Source] {
        let count = self.math_function().map_or(self.sources.len(), |function| function.sources());
        &self.sources[..count.min(self.sources.len())]
    }

    /// The number of 32-bit words: 2 or 4.
    pub fn words(&self) -> usize {
        if self.compacted { 2 } else { 4 }
    }
}
