//! Bundles of load/store instructions.

mod opcode;

pub use opcode::{Class, LoadStoreOp, LoadStoreRow};

use super::bits::{Packer, bit_fields, enumeration, sign_extend, signed, take, unsigned};
use super::{DecodeError, InvalidInstruction, LoadStoreRegister, Register, Swizzle};

enumeration! {
    /// The format of the index of an address. For attributes, bit 0 infers the type, bit 1 selects the second table.
    IndexFormat {
        Reserved = 0 "" "Not used by addresses.";
        U64 = 1 ".u64" "64 bits.";
        U32 = 2 ".u32" "32 bits, zero-extended.";
        S32 = 3 ".s32" "32 bits, sign-extended.";
    }
}

/// A component of a register that load/store instructions read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// The register.
    pub register: LoadStoreRegister,
    /// The component, from 0 to 3.
    pub component: u8,
}

impl Operand {
    /// Zero, as an unused operand.
    pub const ZERO: Operand = Operand { register: LoadStoreRegister::Zero, component: 0 };

    /// From a register in the bits above a component.
    fn from_bits(component: u32, register: u32) -> Result<Operand, InvalidInstruction> {
        let known = LoadStoreRegister::from_code(register);
        let register = known.ok_or(InvalidInstruction::Field("load/store register", register))?;
        Ok(Operand { register, component: component as u8 & 3 })
    }
}

/// A load/store instruction. The opcode's class decides on the use of fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoadStore {
    /// The opcode.
    pub op: LoadStoreOp,
    /// The written register, or for stores the read one: 0 is r26, 1 is r27.
    pub register: Register,
    /// The components, one bit each; those of stores are quarters of the stored value.
    pub mask: u8,
    /// The selectors; those of atomic operations state an operand, see [`LoadStore::atomic_operand`].
    pub swizzle: Swizzle,
    /// The base address, the vertex, coordinates of an image, the source of a conversion, or the number of a buffer.
    pub argument: Operand,
    /// Whether the base address or coordinates have 64 bits. For conversions, whether values have 32 bits instead of
    /// 16; for attributes, whether a vertex is stated.
    pub is_wide: bool,
    /// The format of the index.
    pub index_format: IndexFormat,
    /// The index; for compare and exchange, the value to compare.
    pub index: Operand,
    /// The number of bits by which the index is shifted left, from 0 to 15.
    pub shift: u8,
    /// The offset, with 18 bits. Some classes have several fields in it.
    pub offset: i32,
}

bit_fields! {
    /// The bits of an instruction.
    Raw {
        op: 8, register: 5, mask: 4, swizzle: 8, argument_component: 2, argument: 3, is_wide: 1, index_format: 2,
        index_component: 2, index: 3, shift: 4, offset: 18,
    }
}

/// The bits of an instruction.
const BITS: u32 = 60;

/// The bits of an instruction that does nothing.
const NOP: u128 = 3;

impl LoadStore {
    /// An instruction with 4 components and without offset and index.
    pub fn new(op: LoadStoreOp, register: Register) -> LoadStore {
        LoadStore {
            op,
            register,
            mask: 15,
            swizzle: Swizzle::IDENTITY,
            argument: Operand::ZERO,
            is_wide: false,
            index_format: IndexFormat::Reserved,
            index: Operand::ZERO,
            shift: 0,
            offset: 0,
        }
    }

    /// The register that a store reads.
    pub fn stored_register(&self) -> Option<LoadStoreRegister> {
        if self.op.row().class.is_store() { LoadStoreRegister::from_code(self.register.number().into()) } else { None }
    }

    /// The operand of an atomic operation.
    pub fn atomic_operand(&self) -> Option<Operand> {
        let bits = u32::from(self.swizzle.0);
        if self.op.row().class.is_atomic() { Operand::from_bits(bits, bits >> 2 & 7).ok() } else { None }
    }

    /// The number of the buffer of a load of uniforms, if an operand does not state it.
    pub fn uniform_buffer(&self) -> Option<u32> {
        let number = u32::from(self.argument.component)
            | self.argument.register.code() << 2
            | u32::from(self.is_wide) << 5
            | self.index_format.code() << 6;
        (self.op.row().class == Class::Uniform && self.offset & 1 != 0).then_some(number)
    }

    fn decode(bits: u128) -> Result<Option<LoadStore>, InvalidInstruction> {
        if bits == NOP {
            return Ok(None);
        }
        let raw = Raw::from_bits(bits);
        let instruction = LoadStore {
            op: LoadStoreOp::from_code(raw.op).ok_or(InvalidInstruction::Opcode("load/store", raw.op))?,
            register: Register::from_bits(raw.register),
            mask: raw.mask as u8,
            swizzle: Swizzle(raw.swizzle as u8),
            argument: Operand::from_bits(raw.argument_component, raw.argument)?,
            is_wide: raw.is_wide != 0,
            index_format: IndexFormat::from_code(raw.index_format)
                .ok_or(InvalidInstruction::Field("index format", raw.index_format))?,
            index: Operand::from_bits(raw.index_component, raw.index)?,
            shift: raw.shift as u8,
            offset: sign_extend(raw.offset, 18),
        };
        // The encoder has the remaining rules.
        instruction.encode()?;
        Ok(Some(instruction))
    }

    fn encode(&self) -> Result<u128, InvalidInstruction> {
        if self.op.row().class.is_store() && self.stored_register().is_none() {
            return Err(InvalidInstruction::Field("stored register", self.register.number().into()));
        }
        let raw = Raw {
            op: self.op.row().code.into(),
            register: self.register.number().into(),
            mask: unsigned("mask", self.mask, 4)?,
            swizzle: self.swizzle.0.into(),
            argument_component: unsigned("component", self.argument.component, 2)?,
            argument: self.argument.register.code(),
            is_wide: self.is_wide.into(),
            index_format: self.index_format.code(),
            index_component: unsigned("component", self.index.component, 2)?,
            index: self.index.register.code(),
            shift: unsigned("shift", self.shift, 4)?,
            offset: signed("offset", self.offset, 18)?,
        };
        Ok(raw.to_bits())
    }
}

/// A bundle of two instructions, executed in order.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct LoadStoreBundle(pub [Option<LoadStore>; 2]);

impl LoadStoreBundle {
    pub(super) fn decode(words: u128) -> Result<LoadStoreBundle, DecodeError> {
        // Instructions begin at bit 8 and bit 68.
        let mut bits = words >> 8;
        let mut next = |word| {
            let low = take(&mut bits, 30);
            let high = take(&mut bits, BITS - 30);
            LoadStore::decode(u128::from(high) << 30 | u128::from(low)).map_err(|error| error.at(word))
        };
        Ok(LoadStoreBundle([next(0)?, next(2)?]))
    }

    pub(super) fn encode(&self, tags: u32) -> Result<u128, InvalidInstruction> {
        let mut packer = Packer::default();
        packer.put(tags, 8);
        for slot in &self.0 {
            let bits = slot.as_ref().map_or(Ok(NOP), LoadStore::encode)?;
            packer.put(bits as u32, 30);
            packer.put((bits >> 30) as u32, BITS - 30);
        }
        Ok(packer.finish())
    }
}
