//! Instructions of fragment programs.
//!
//! An instruction is one slot of four words. If any operand is a constant, the next slot has its four values. Numbers
//! of slots count both.

mod decode;
mod encode;
mod opcode;
mod program;

pub use decode::decode;
pub use encode::encode;
pub use opcode::{Class, FragmentOp, FragmentRow, Read, Unit};
pub use program::{Patch, Program, pc_bytes, ps3_bytes, swap_halves};

use super::{Mask, Predicate, Swizzle};

/// A register. R registers have four 32-bit components; each R register holds the 16-bit components of two H registers:
/// Rn.x is H2n.xy, Rn.y is H2n.zw, Rn.z is H(2n+1).xy, Rn.w is H(2n+1).zw.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Register {
    /// 32 bits.
    R(u8),
    /// 16 bits.
    H(u8),
}

/// The precision of a result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Precision {
    /// 32-bit floats.
    #[default]
    Fp32,
    /// 16-bit floats.
    Fp16,
    /// 12-bit fixed point in [-2, 2).
    Fx12,
    /// 9-bit fixed point in [-1, 1).
    Fx9,
}

/// A factor of the result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Scale {
    /// 1
    #[default]
    One,
    /// 2
    Two,
    /// 4
    Four,
    /// 8
    Eight,
    /// 1/2
    Half,
    /// 1/4
    Quarter,
    /// 1/8
    Eighth,
}

impl Scale {
    const TABLE: [(Scale, u32, f32); 7] = [
        (Scale::One, 0, 1.0),
        (Scale::Two, 1, 2.0),
        (Scale::Four, 2, 4.0),
        (Scale::Eight, 3, 8.0),
        (Scale::Half, 5, 0.5),
        (Scale::Quarter, 6, 0.25),
        (Scale::Eighth, 7, 0.125),
    ];

    /// Returns the factor.
    pub fn factor(self) -> f32 {
        Scale::TABLE[self as usize].2
    }

    pub(super) fn code(self) -> u32 {
        Scale::TABLE[self as usize].1
    }

    pub(super) fn from_code(code: u32) -> Option<Scale> {
        Scale::TABLE.iter().find(|row| row.1 == code).map(|row| row.0)
    }
}

/// A conversion of an operand, between absolute value and negation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Clamp {
    /// None.
    #[default]
    None,
    /// Rounded to a 16-bit float.
    Fp16,
    /// Clamped to [-2, 2).
    Two,
    /// Clamped to [-1, 1).
    One,
    /// Clamped to [0, 1].
    Unit,
    /// Number 5, which occurs in compiled programs without a known effect.
    Five,
}

impl Clamp {
    pub(super) const ALL: [Clamp; 6] = [Clamp::None, Clamp::Fp16, Clamp::Two, Clamp::One, Clamp::Unit, Clamp::Five];
}

/// The file of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SourceKind {
    /// A register.
    Register(Register),
    /// The input of the instruction.
    Input,
    /// The constant of the instruction.
    Constant,
}

/// An operand: the swizzled register, then its absolute value, then the clamp, then the negation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Source {
    /// The file.
    pub kind: SourceKind,
    /// The components.
    pub swizzle: Swizzle,
    /// Whether the operand is negated.
    pub negate: bool,
    /// Whether the operand is the absolute value.
    pub abs: bool,
    /// The conversion.
    pub clamp: Clamp,
}

impl Source {
    /// The operand without swizzle and modifiers.
    pub const fn new(kind: SourceKind) -> Source {
        Source { kind, swizzle: Swizzle::IDENTITY, negate: false, abs: false, clamp: Clamp::None }
    }

    /// An R register.
    pub const fn full(number: u8) -> Source {
        Source::new(SourceKind::Register(Register::R(number)))
    }

    /// An H register.
    pub const fn half(number: u8) -> Source {
        Source::new(SourceKind::Register(Register::H(number)))
    }

    /// The input of the instruction.
    pub const fn input() -> Source {
        Source::new(SourceKind::Input)
    }

    /// The constant of the instruction.
    pub const fn constant() -> Source {
        Source::new(SourceKind::Constant)
    }

    /// The same operand with another swizzle.
    pub const fn swizzled(self, swizzle: Swizzle) -> Source {
        Source { swizzle, ..self }
    }
}

/// An operand that is not read is R0.
impl Default for Source {
    fn default() -> Source {
        Source::full(0)
    }
}

/// The targets of flow instructions, as numbers of slots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Flow {
    /// `IF`: the first slot of the else part, and the first slot after it. Without an else part, both are the same.
    If {
        /// The first slot of the else part.
        otherwise: u32,
        /// The first slot after both parts.
        end: u32,
    },
    /// `LOOP` or `REP`.
    Repeat {
        /// The number of iterations.
        count: u8,
        /// The first value of the counter. Compilers set it to the count for `REP`.
        start: u8,
        /// The increment of the counter. Compilers set it to the count for `REP`.
        step: u8,
        /// The first slot after the loop.
        end: u32,
    },
    /// `CAL`: the first slot of the subroutine.
    Call {
        /// The target.
        target: u32,
    },
}

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Instruction {
    /// The opcode.
    pub op: FragmentOp,
    /// The destination.
    pub destination: Option<Register>,
    /// The components of destination and condition register.
    pub mask: Mask,
    /// The condition register that is updated.
    pub writes_condition: Option<u8>,
    /// The precision of the result.
    pub precision: Precision,
    /// The factor of the result, before saturation.
    pub scale: Scale,
    /// Whether the result is clamped to [0, 1].
    pub saturate: bool,
    /// Whether the result of a texture fetch is 2 * result - 1.
    pub expands: bool,
    /// The test that guards the writes, or the flow.
    pub predicate: Predicate,
    /// The operands.
    pub sources: [Source; 3],
    /// The input, if an operand is one.
    pub input: Option<u8>,
    /// The constant, if an operand is one.
    pub constant: Option<[u32; 4]>,
    /// Eleven bits: the number that is added to the loop counter if the input is indexed.
    pub input_offset: u16,
    /// Whether the input is the texture coordinate with the number `input_offset` plus loop counter.
    pub indexes_input: bool,
    /// Whether the input remains divided by w.
    pub disables_perspective: bool,
    /// The texture unit of fetches.
    pub texture: Option<u8>,
    /// The targets of flow opcodes that have some.
    pub flow: Option<Flow>,
    /// Whether the program ends after this instruction.
    pub end: bool,
}

impl Instruction {
    /// An instruction that writes nothing and reads R0.
    pub fn new(op: FragmentOp) -> Instruction {
        Instruction {
            op,
            destination: None,
            mask: Mask::ALL,
            writes_condition: None,
            precision: Precision::Fp32,
            scale: Scale::One,
            saturate: false,
            expands: false,
            predicate: Predicate::ALWAYS,
            sources: [Source::default(); 3],
            input: None,
            constant: None,
            input_offset: 0,
            indexes_input: false,
            disables_perspective: false,
            texture: None,
            flow: None,
            end: false,
        }
    }

    /// Returns the number of slots: 2 with a constant.
    pub fn slots(&self) -> u32 {
        1 + u32::from(self.constant.is_some())
    }

    /// Whether an operand is of this kind, read or not.
    pub(crate) fn has_source(&self, kind: SourceKind) -> bool {
        self.sources.iter().any(|source| source.kind == kind)
    }
}

mod layout {
    //! The positions of the fields that encoder and decoder share.

    use crate::isa::bits::Field;

    pub(super) const END: Field = Field::bit(0, 0);
    pub(super) const DESTINATION: Field = Field::new(0, 1, 6);
    pub(super) const DESTINATION_IS_HALF: Field = Field::bit(0, 7);
    pub(super) const WRITES_CONDITION: Field = Field::bit(0, 8);
    pub(super) const MASK: Field = Field::new(0, 9, 4);
    pub(super) const INPUT: Field = Field::new(0, 13, 4);
    pub(super) const TEXTURE: Field = Field::new(0, 17, 4);
    pub(super) const EXPANDS: Field = Field::bit(0, 21);
    pub(super) const PRECISION: Field = Field::new(0, 22, 2);
    pub(super) const OPCODE: Field = Field::new(0, 24, 6);
    pub(super) const NO_DESTINATION: Field = Field::bit(0, 30);
    pub(super) const SATURATE: Field = Field::bit(0, 31);
    pub(super) const CONDITION: Field = Field::new(1, 18, 3);
    pub(super) const CONDITION_SWIZZLE: Field = Field::new(1, 21, 8);
    pub(super) const ABS: [Field; 3] = [Field::bit(1, 29), Field::bit(2, 18), Field::bit(3, 18)];
    pub(super) const WRITTEN_CONDITION: Field = Field::bit(1, 30);
    pub(super) const TESTED_CONDITION: Field = Field::bit(1, 31);
    pub(super) const SOURCES: [Field; 3] = [Field::new(1, 0, 18), Field::new(2, 0, 18), Field::new(3, 0, 18)];
    pub(super) const CLAMPS: [Field; 3] = [Field::new(2, 19, 3), Field::new(2, 22, 3), Field::new(2, 25, 3)];
    pub(super) const SCALE: Field = Field::new(2, 28, 3);
    pub(super) const IS_FLOW: Field = Field::bit(2, 31);
    pub(super) const INPUT_OFFSET: Field = Field::new(3, 19, 11);
    pub(super) const INDEXES_INPUT: Field = Field::bit(3, 30);
    pub(super) const DISABLES_PERSPECTIVE: Field = Field::bit(3, 31);
    /// Of flow instructions: the slot of the else part or of the subroutine, times four.
    pub(super) const FIRST_TARGET: Field = Field::new(2, 0, 31);
    pub(super) const COUNT: Field = Field::new(2, 2, 8);
    pub(super) const START: Field = Field::new(2, 10, 8);
    pub(super) const STEP: Field = Field::new(2, 19, 8);
    /// Of flow instructions: the slot after it, times four.
    pub(super) const END_TARGET: Field = Field::new(3, 0, 32);
    /// The slots that a target can name.
    pub(super) const TARGETS: u32 = 1 << 29;
    /// The number of a destination that is absent.
    pub(super) const NO_REGISTER: u32 = 63;
}
