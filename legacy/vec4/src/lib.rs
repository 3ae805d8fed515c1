//! Passes after instruction selection for machines with registers of four components.
//!
//! A backend that uses the `chase` helpers of `tgsi-registers` selects instructions over virtual temporaries, with
//! write masks, swizzles and modifiers. The remaining work is much the same for all such machines (TGSI, r300, etnaviv,
//! Midgard, Intel's vec4). It is implemented here for any instruction type that implements [`Machine`]:
//!
//! | module | effect | trait |
//! |---|---|---|
//! | [`liveness`] | computes the components live at block boundaries | [`Machine`] |
//! | [`propagate_copies`] | replaces uses of a copy by its source | [`PropagateCopies`] |
//! | [`propagate_backward`] | writes results directly to the destination of a copy | [`PropagateBackward`] |
//! | [`dead_code`] | removes instructions and components without uses | [`Machine`] |
//! | [`merge`] | merges masked writes of one register | [`Merge`] |
//! | [`vectorize`] | merges equal operations on separate values | [`Vectorize`] |
//! | [`hoist_constants`] | replaces copies of a constant in branches by one before them | [`HoistConstants`] |
//! | [`allocate`] | packs temporaries into the components of few registers | [`Allocate`] |
//!
//! [`simple`] has an instruction type with all of these traits, for machines that are described by a table of opcodes,
//! with passes for guarded copies and for copies of operands. [`constant_pool`] packs constants into rows, and
//! [`branches`] turns structured control flow into branches, for encoders.
//!
//! # The program
//!
//! A [`Program`] is a list of instructions. Control flow is structured and part of the list ([`Flow`]); the passes
//! derive blocks and edges from it. Each instruction has a [`RegisterAccess`], its reads and writes by component,
//! computed once when it is created. Passes mostly use accesses, and a machine mostly provides them. Everything is
//! generic over the machine: there is no dynamic dispatch.
//!
//! # Registers
//!
//! * *Virtual temporaries* are addressed directly. Each has up to four components, and any number of writes.
//! * *Special registers* (address registers, condition codes, predicates) are tracked like temporaries, and never
//!   allocated. Instructions may write components of their result under a condition ([`Traits::GUARDED`]).
//! * *Fixed registers* are temporaries with a fixed location: elements of arrays, and registers that functions share. A
//!   write to one of them, or through an index register, may alias any other.
//! * *Outputs* are visible outside at the end, or at an [output barrier](Traits::OUTPUT_BARRIER).
//!
//! The content of a component of a temporary before its first write is undefined: passes may put another value there.
//!
//! All other operands (inputs, constants, immediates) do not change while the program runs.

pub mod access;
pub mod allocate;
pub mod blocks;
pub mod branches;
pub mod constant_pool;
pub mod dead_code;
pub mod hoist_constants;
pub mod last_accesses;
pub mod liveness;
pub mod merge;
pub mod program;
pub mod propagate_backward;
pub mod propagate_copies;
pub mod reaching_definitions;
mod regions;
pub mod simple;
pub mod vectorize;

use std::fmt::Debug;

pub use access::{AccessCounts, Components, Reg, RegisterAccess, Traits};
pub use allocate::{Allocate, Location, SwizzleConstraint};
pub use constant_pool::ConstantPool;
pub use hoist_constants::HoistConstants;
pub use merge::Merge;
pub use program::{Constants, Program};
pub use propagate_backward::PropagateBackward;
pub use propagate_copies::PropagateCopies;
pub use vectorize::Vectorize;

/// Structured control flow. Each of these instructions ends a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Flow {
    /// Begins a conditional construct.
    If,
    /// Begins the other side.
    Else,
    /// Ends it.
    EndIf,
    /// Begins a loop.
    Loop,
    /// Ends it, and jumps back to its beginning.
    EndLoop,
    /// Leaves the innermost loop.
    Break,
    /// Continues with the next iteration of the innermost loop.
    Continue,
    /// Ends the program.
    End,
    /// A call: it may access all fixed registers, outputs and special registers.
    Call,
}

/// A copy from register to register, component by component, without modifiers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisterCopy {
    /// The register written.
    pub to: Reg,
    /// The register read.
    pub from: Reg,
    /// The components written.
    pub mask: u8,
    /// The component of the source for each of them.
    pub swizzle: [u8; 4],
    /// The result is clamped to 0..1, so it is not a true copy.
    pub saturates: bool,
}

impl RegisterCopy {
    /// The components written, each with the component it is a copy of.
    pub fn components(self) -> impl Iterator<Item = (usize, usize)> {
        (0..4).filter(move |c| self.mask >> c & 1 != 0).map(move |c| (c, usize::from(self.swizzle[c] & 3)))
    }

    /// Whether the copy has no effect.
    pub fn is_empty(self) -> bool {
        !self.saturates && self.to == self.from && self.components().all(|(to, from)| to == from)
    }
}

/// The instructions of a machine: their reads, writes and control flow.
pub trait Machine: Sized {
    /// An instruction, operands included.
    type Instruction: Clone + Debug;
    /// The operation of an instruction.
    type Opcode: Copy + Eq + Debug;

    /// Returns the registers that an instruction reads and writes. Temporaries below `first_temp` are fixed
    /// ([`Reg::numbered`]).
    fn access(&self, instruction: &Self::Instruction, first_temp: u32) -> RegisterAccess<Self::Opcode>;

    /// Returns the kind of control flow of an opcode. Called for instructions with [`Traits::FLOW`] only.
    fn flow(opcode: Self::Opcode) -> Option<Flow>;

    /// Returns the copy performed by an instruction, if it copies a register without modifiers, both of them addressed
    /// directly. Called for instructions with [`Traits::COPY`] only.
    fn register_copy(&self, instruction: &Self::Instruction, first_temp: u32) -> Option<RegisterCopy>;

    /// Returns the reduced write mask of an instruction if only the components of `needed` are used afterwards; none if
    /// it stays unchanged. Called for instructions with [`Traits::NARROWS`] only.
    fn narrowed(&self, instruction: &Self::Instruction, needed: u8) -> Option<u8>;

    /// Restricts the write mask of an instruction to `mask`.
    fn set_mask(&self, instruction: &mut Self::Instruction, mask: u8);

    /// Whether an instruction stores all components of its register, regardless of its mask. Masks are still valid
    /// before allocation: allocation ensures that the other components are not live.
    #[inline]
    fn stores_whole(&self, _access: &RegisterAccess<Self::Opcode>) -> bool {
        false
    }
}
