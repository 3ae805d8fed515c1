//! Instructions of vertex programs.
//!
//! A slot issues one operation of the vector unit and one of the scalar unit. It reads one input, one constant and any
//! temporaries, and forms three operands of them. The vector unit reads S0 to S2, the scalar unit S2. All reads precede
//! all writes.

mod decode;
mod encode;
mod layout;
mod opcode;

pub use decode::decode;
pub use encode::encode;
pub use opcode::{BranchFields, ScaOp, ScaRow, VecOp, VecRow};

use super::{Mask, Predicate, Swizzle};

/// The file of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SourceKind {
    /// A temporary register.
    Temporary(u8),
    /// The input of the slot.
    Input,
    /// The constant of the slot.
    Constant,
}

/// An operand: the swizzled register, then its absolute value, then the negation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Source {
    /// The file.
    pub kind: SourceKind,
    /// The components.
    pub swizzle: Swizzle,
    /// Whether the operand is the absolute value.
    pub abs: bool,
    /// Whether the operand is negated.
    pub negate: bool,
}

impl Source {
    /// The operand without swizzle and modifiers.
    pub const fn new(kind: SourceKind) -> Source {
        Source { kind, swizzle: Swizzle::IDENTITY, abs: false, negate: false }
    }

    /// A temporary.
    pub const fn temporary(number: u8) -> Source {
        Source::new(SourceKind::Temporary(number))
    }

    /// The input of the slot.
    pub const fn input() -> Source {
        Source::new(SourceKind::Input)
    }

    /// The constant of the slot.
    pub const fn constant() -> Source {
        Source::new(SourceKind::Constant)
    }

    /// The same operand with another swizzle.
    pub const fn swizzled(self, swizzle: Swizzle) -> Source {
        Source { swizzle, ..self }
    }
}

/// The operation of one unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Part<O> {
    /// The opcode.
    pub op: O,
    /// The register: a temporary, or an address register for `ARL`, `ARR` and `ARA`. On GeForce FX, both parts have the
    /// same.
    pub register: Option<u8>,
    /// The components of register and condition register.
    pub mask: Mask,
    /// The components of the output, which [`Slot::output`] names. Except on GeForce FX, they are those of `mask` or
    /// none, only one part writes the output, and a scalar part that writes it has no register.
    pub output_mask: Mask,
}

impl<O> Part<O> {
    /// An operation that writes a register.
    pub const fn to_register(op: O, register: u8, mask: Mask) -> Part<O> {
        Part { op, register: Some(register), mask, output_mask: Mask::NONE }
    }

    /// An operation that writes the output of the slot. GeForce FX ignores `mask` without a register.
    pub const fn to_output(op: O, mask: Mask) -> Part<O> {
        Part { op, register: None, mask, output_mask: mask }
    }

    /// An operation that writes nothing, or the condition register if the slot does.
    pub const fn to_condition(op: O, mask: Mask) -> Part<O> {
        Part { op, register: None, mask, output_mask: Mask::NONE }
    }
}

/// The operation of the vector unit.
pub type VecPart = Part<VecOp>;
/// The operation of the scalar unit.
pub type ScaPart = Part<ScaOp>;

/// A component of an address register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Address {
    /// The address register, 0 or 1.
    pub register: u8,
    /// The component.
    pub component: u8,
}

/// The immediate fields of a branch or call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Branch {
    /// The target slot.
    pub target: u16,
    /// The boolean that decides, for `BRB` and `CLB`.
    pub boolean: Option<Boolean>,
}

/// The condition of a branch by a boolean.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Boolean {
    /// The number of the boolean, below 32.
    pub number: u8,
    /// The value that takes the branch.
    pub taken_if: bool,
}

/// A unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unit {
    /// The vector unit.
    Vec,
    /// The scalar unit.
    Sca,
}

/// An update of a condition register by the result of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConditionWrite {
    /// The unit. GeForce FX has no choice: it is the vector unit if that is in use.
    pub unit: Unit,
    /// The condition register; a predicate of the slot reads the same one.
    pub register: u8,
}

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Slot {
    /// The vector operation.
    pub vec: Option<VecPart>,
    /// The scalar operation.
    pub sca: Option<ScaPart>,
    /// The operands S0, S1, S2: `Some` if an opcode reads them.
    pub sources: [Option<Source>; 3],
    /// The input, if an operand is one.
    pub input: Option<u8>,
    /// The constant, if an operand is one.
    pub constant: Option<u16>,
    /// The output. Parts with an output mask write it.
    pub output: Option<u8>,
    /// The address component, for indices and for opcodes that use it.
    pub address: Option<Address>,
    /// Whether the address component is added to the number of the input.
    pub indexes_input: bool,
    /// Whether the address component is added to the number of the constant.
    pub indexes_constant: bool,
    /// Whether the address component is added to the number of the output.
    pub indexes_output: bool,
    /// The texture unit of `TXL`.
    pub texture: Option<u8>,
    /// The fields of a branch, in the bits of S2.
    pub branch: Option<Branch>,
    /// The test that guards the writes of both units, or the branch.
    pub predicate: Option<Predicate>,
    /// The update of a condition register.
    pub writes_condition: Option<ConditionWrite>,
    /// Whether the results of both units are clamped to [0, 1].
    pub saturate: bool,
    /// Whether the program ends after this instruction.
    pub end: bool,
}

impl Slot {
    /// Returns the operands that the opcodes read, a bit for each.
    pub fn reads(&self) -> u8 {
        let vec = self.vec.map_or(0, |part| part.op.row().sources);
        vec | self.sca.map_or(0, |part| part.op.row().sources)
    }

    /// Returns the branch fields in use.
    pub fn branch_fields(&self) -> BranchFields {
        self.sca.map_or(BranchFields::None, |part| part.op.row().branch)
    }

    /// Whether an operand is of this kind.
    pub(crate) fn has_source(&self, kind: SourceKind) -> bool {
        self.sources.iter().flatten().any(|source| source.kind == kind)
    }

    /// Whether an index or opcode uses the address component.
    pub(crate) fn uses_address(&self) -> bool {
        self.indexes_input
            || self.indexes_constant
            || self.indexes_output
            || self.vec.is_some_and(|part| part.op.reads_address())
            || self.sca.is_some_and(|part| part.op.uses_address())
    }
}
