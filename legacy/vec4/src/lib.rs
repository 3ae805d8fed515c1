//! Machines whose registers are vectors of four components: what comes after instruction selection.
//!
//! A backend that has asked [`chase`](tgsi_registers::chase) what each operand is has instructions over virtual
//! temporaries, with write masks, swizzles and modifiers. What is left to do is much the same for all such machines
//! (TGSI, r300, etnaviv, Midgard, Intel's vec4), and is here, for any instruction type that implements [`Machine`]:
//!
//! | module | what it does | what it asks of a machine |
//! |---|---|---|
//! | [`liveness`] | which components are live where blocks meet | [`Machine`] |
//! | [`propagate_copies`] | readers of a copy read what it copies | [`PropagateCopies`] |
//! | [`propagate_backward`] | results go where a copy puts them | [`PropagateBackward`] |
//! | [`dead_code`] | instructions and components that nobody reads go | [`Machine`] |
//! | [`merge`] | masked writes of one register become one | [`Merge`] |
//! | [`vectorize`] | equal operations on values of their own become one | [`Vectorize`] |
//! | [`hoist_constants`] | one copy of a constant before branches instead of many in them | [`HoistConstants`] |
//! | [`allocate`] | temporaries are packed into the components of few registers | [`Allocate`] |
//!
//! # The program
//!
//! A [`Program`] is a list of instructions. Control flow is structured and stands in the list ([`Flow`]); the passes
//! find blocks and edges there. Next to each instruction stands what it reads and writes, component by component
//! ([`Access`]), found once when the instruction is made: this is most of what the passes look at, and most of what a
//! machine has to say. Everything is generic over the machine and compiled for it: no call is dynamic.
//!
//! # Registers
//!
//! * *Virtual temporaries* are named directly. Each has up to four components, and any number of writes.
//! * *Special registers* (address registers, flags) are followed as temporaries are, and never allocated.
//! * *Fixed registers* are temporaries that stay where they are: elements of arrays, and what functions share. Any
//!   write to one of them, or through an index register, may be to any other.
//! * *Outputs* are seen by others at the end, or where an instruction is an
//!   [output barrier](Traits::OUTPUT_BARRIER).
//!
//! What a component of a temporary holds before it is written does not matter: passes may put something else there.
//!
//! Whatever else an instruction reads (inputs, constants, immediates) does not change while the program runs.

pub mod access;
pub mod allocate;
pub mod blocks;
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
pub mod vectorize;

use std::fmt::Debug;

pub use access::{Access, Components, Counts, Reg, Traits};
pub use allocate::{Allocate, Freedom, Location};
pub use hoist_constants::HoistConstants;
pub use merge::Merge;
pub use program::{Constants, Program};
pub use propagate_backward::PropagateBackward;
pub use propagate_copies::PropagateCopies;
pub use vectorize::Vectorize;

/// Structured control flow. Instructions that are any of it end a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// Begins a conditional construct.
    If,
    /// Begins the other side.
    Else,
    /// Ends it.
    EndIf,
    /// Begins a loop.
    Loop,
    /// Ends it, and goes back to its beginning.
    EndLoop,
    /// Leaves the innermost loop.
    Break,
    /// Goes on with the next round of the innermost loop.
    Continue,
    /// Ends the program.
    End,
    /// A call: it may access all that is fixed, outputs and special registers.
    Call,
}

/// A copy from register to register, component by component, of the bits as they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisterCopy {
    /// The register that is written.
    pub to: Reg,
    /// The register that is read.
    pub from: Reg,
    /// The components that are written.
    pub mask: u8,
    /// The component that each of them is.
    pub swizzle: [u8; 4],
    /// The result is clamped to 0..1, so that it is no copy after all.
    pub saturates: bool,
}

impl RegisterCopy {
    /// The components that are written, each with the one that it is a copy of.
    pub fn components(self) -> impl Iterator<Item = (usize, usize)> {
        (0..4).filter(move |c| self.mask >> c & 1 != 0).map(move |c| (c, usize::from(self.swizzle[c] & 3)))
    }

    /// Whether nothing changes.
    pub fn is_empty(self) -> bool {
        !self.saturates && self.to == self.from && self.components().all(|(to, from)| to == from)
    }
}

/// A machine's instructions: what each reads and writes, and where control goes.
pub trait Machine: Sized {
    /// An instruction, operands included.
    type Instruction: Clone + Debug;
    /// The operation on them.
    type Opcode: Copy + Eq + Debug;

    /// Returns the registers that an instruction reads and writes. Temporaries below `first_temp` are fixed
    /// ([`Reg::numbered`]).
    fn access(&self, instruction: &Self::Instruction, first_temp: u32) -> Access<Self::Opcode>;

    /// Returns the kind of control flow of an opcode. It is asked of those with [`Traits::FLOW`] only.
    fn flow(opcode: Self::Opcode) -> Option<Flow>;

    /// Returns the copy that an instruction is, if it copies a register without modifiers, both of them named directly.
    /// It is asked of those with [`Traits::COPY`] only.
    fn register_copy(&self, instruction: &Self::Instruction, first_temp: u32) -> Option<RegisterCopy>;

    /// The components that an instruction may write instead of all that it writes, if only those of `needed` are read
    /// afterwards; none if it stays as it is. It is asked of those with [`Traits::NARROWS`] only.
    fn narrowed(&self, instruction: &Self::Instruction, needed: u8) -> Option<u8>;

    /// Makes an instruction write the components of a mask, of those that it writes.
    fn set_mask(&self, instruction: &mut Self::Instruction, mask: u8);

    /// Whether an instruction stores all components of its register, whatever its mask says. Before allocation masks
    /// hold nevertheless: allocation sees to it that nothing that is needed stands there.
    #[inline]
    fn stores_whole(&self, _access: &Access<Self::Opcode>) -> bool {
        false
    }
}
