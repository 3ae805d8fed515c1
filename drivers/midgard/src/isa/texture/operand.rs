//! Operands of texture instructions.

use crate::isa::bits::{bit_fields, sign_extend, signed, unsigned, zero};
use crate::isa::{InvalidInstruction, Swizzle};

/// One of two registers, as a whole or half of it; r28 and r29 on most chips, see
/// [`Chip::aliases_texture_registers`](crate::isa::Chip::aliases_texture_registers).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TextureRegister {
    /// Four components of 32 bits of register 0 or 1.
    Full(u8),
    /// The lower four components of 16 bits of register 0 or 1.
    Lower(u8),
    /// The upper four components of 16 bits of register 0 or 1.
    Upper(u8),
}

impl TextureRegister {
    /// Whether components have 32 bits.
    pub fn is_full(self) -> bool {
        matches!(self, TextureRegister::Full(_))
    }

    /// Whether the register is an upper half.
    pub fn is_upper(self) -> bool {
        matches!(self, TextureRegister::Upper(_))
    }

    /// The register, 0 or 1.
    pub fn index(self) -> u8 {
        match self {
            TextureRegister::Full(index) | TextureRegister::Lower(index) | TextureRegister::Upper(index) => index,
        }
    }

    /// From the bits "full", register and "upper".
    pub(super) fn from_bits(bits: u32) -> Result<TextureRegister, InvalidInstruction> {
        let index = bits as u8 >> 1 & 1;
        match (bits & 1, bits >> 2 & 1) {
            (0, 0) => Ok(TextureRegister::Lower(index)),
            (0, _) => Ok(TextureRegister::Upper(index)),
            (_, 0) => Ok(TextureRegister::Full(index)),
            _ => Err(InvalidInstruction::Conflict("the upper half of components of 32 bits")),
        }
    }

    pub(super) fn to_bits(self) -> Result<u32, InvalidInstruction> {
        let index = unsigned("texture register", self.index(), 1)?;
        Ok(u32::from(self.is_full()) | index << 1 | u32::from(self.is_upper()) << 2)
    }
}

/// Components of a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Coordinates {
    /// The register.
    pub register: TextureRegister,
    /// The selectors.
    pub swizzle: Swizzle,
}

/// One component of a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Select {
    /// The register.
    pub register: TextureRegister,
    /// The component, from 0 to 3.
    pub component: u8,
}

bit_fields! {
    /// The bits of a component of a register.
    RawSelect { register: 3, component: 2, zero: 27, }
}

bit_fields! {
    /// The bits of an offset in a register.
    RawOffset { register: 3, swizzle: 8, zero: 1, }
}

impl Select {
    fn from_bits(bits: u32) -> Result<Select, InvalidInstruction> {
        let raw = RawSelect::from_bits(bits);
        zero("a texture operand", raw.zero)?;
        Ok(Select { register: TextureRegister::from_bits(raw.register)?, component: raw.component as u8 })
    }

    fn to_bits(self) -> Result<u32, InvalidInstruction> {
        let component = unsigned("component", self.component, 2)?;
        Ok(RawSelect { register: self.register.to_bits()?, component, zero: 0 }.to_bits() as u32)
    }
}

/// The number of a texture or sampler.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Handle {
    /// A number.
    Immediate(u16),
    /// A component of a register.
    Register(Select),
}

impl Handle {
    pub(super) fn from_bits(is_register: bool, bits: u32) -> Result<Handle, InvalidInstruction> {
        if is_register { Select::from_bits(bits).map(Handle::Register) } else { Ok(Handle::Immediate(bits as u16)) }
    }

    pub(super) fn to_bits(self) -> Result<u32, InvalidInstruction> {
        match self {
            Handle::Immediate(number) => Ok(number.into()),
            Handle::Register(select) => select.to_bits(),
        }
    }

    pub(super) fn is_register(self) -> bool {
        matches!(self, Handle::Register(_))
    }
}

/// The level of detail, or for [`TextureOp::Sample`](super::TextureOp::Sample) its bias.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Lod {
    /// A number.
    Immediate {
        /// The fraction in units of 1/256. For fetches, the level.
        fraction: u8,
        /// The integer part. For fetches, 0.
        integer: i8,
    },
    /// A component of a register.
    Register(Select),
}

impl Lod {
    /// Zero.
    pub const NONE: Lod = Lod::Immediate { fraction: 0, integer: 0 };

    pub(super) fn from_bits(is_register: bool, bits: u32) -> Result<Lod, InvalidInstruction> {
        if is_register {
            Select::from_bits(bits).map(Lod::Register)
        } else {
            Ok(Lod::Immediate { fraction: bits as u8, integer: (bits >> 8) as i8 })
        }
    }

    pub(super) fn to_bits(self) -> Result<u32, InvalidInstruction> {
        match self {
            Lod::Immediate { fraction, integer } => Ok(u32::from(fraction) | u32::from(integer as u8) << 8),
            Lod::Register(select) => select.to_bits(),
        }
    }

    pub(super) fn is_register(self) -> bool {
        matches!(self, Lod::Register(_))
    }
}

/// An offset of coordinates, in texels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Offset {
    /// Numbers from -8 to 7 for fetches, otherwise from 0 to 7.
    Immediate([i8; 3]),
    /// Components of a register.
    Register(Coordinates),
}

impl Offset {
    /// Zero.
    pub const NONE: Offset = Offset::Immediate([0; 3]);

    pub(super) fn from_bits(is_register: bool, bits: u32) -> Result<Offset, InvalidInstruction> {
        if !is_register {
            return Ok(Offset::Immediate([0, 4, 8].map(|low| sign_extend(bits >> low & 15, 4) as i8)));
        }
        let raw = RawOffset::from_bits(bits);
        zero("a texture offset", raw.zero)?;
        let register = TextureRegister::from_bits(raw.register)?;
        Ok(Offset::Register(Coordinates { register, swizzle: Swizzle(raw.swizzle as u8) }))
    }

    pub(super) fn to_bits(self) -> Result<u32, InvalidInstruction> {
        match self {
            Offset::Immediate(offsets) => offsets
                .iter()
                .rev()
                .try_fold(0, |bits, &offset| Ok(bits << 4 | signed("texture offset", offset.into(), 4)?)),
            Offset::Register(Coordinates { register, swizzle }) => {
                Ok(RawOffset { register: register.to_bits()?, swizzle: swizzle.0.into(), zero: 0 }.to_bits() as u32)
            }
        }
    }

    pub(super) fn is_register(self) -> bool {
        matches!(self, Offset::Register(_))
    }
}
