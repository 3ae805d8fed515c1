//! Load/store instructions of a thread.

use super::atomic;
use super::bundle::texture_operand;
use super::cube::{self, Directions};
use super::registers::{from_words, words};
use super::{
    AttributeLoad, Environment, Format, ImageAccess, Registers, SpecialLoad, TileLoad, Trap, VaryingLoad, VaryingStore,
    Vec4,
};
use crate::isa::load_store::{Class, IndexFormat, LoadStore, LoadStoreOp, Operand};
use crate::isa::{LoadStoreRegister, Register, Resources, Role};

use half::f16;

/// A thread that executes load/store instructions of a bundle.
pub(super) struct LoadStoreUnit<'a> {
    /// The index of the bundle.
    pub(super) index: usize,
    /// The number of the thread.
    pub(super) lane: usize,
    /// Whether the thread has no effects.
    pub(super) is_killed: bool,
    /// The registers of the program.
    pub(super) resources: Resources,
    /// The registers of the thread.
    pub(super) registers: &'a mut Registers,
    /// The directions of cube coordinates.
    pub(super) directions: &'a mut Directions,
    /// The surroundings.
    pub(super) environment: &'a mut dyn Environment,
}

/// The selectors of the old tile buffer loads: a colour, and its bits.
const TILE_COLOUR: u32 = 1;
const TILE_RAW: u32 = 16;

/// The format of a typed instruction.
fn format(op: LoadStoreOp) -> Format {
    use LoadStoreOp::*;
    match op {
        LdAttrF32 | LdVaryF32 | LdSpecialF32 | LdImageF32 | LdTileBufferF32 | StVaryF32 | StImageF32 => Format::F32,
        LdAttrF16 | LdVaryF16 | LdSpecialF16 | LdImageF16 | LdTileBufferF16 | StVaryF16 | StImageF16 => Format::F16,
        LdAttrU32 | LdVaryU32 | LdSpecialU32 | LdImageU32 | StVaryU32 | StImageU32 => Format::U32,
        LdAttrS32 | LdVaryS32 | LdSpecialS32 | LdImageS32 | StVaryS32 | StImageS32 => Format::S32,
        _ => Format::Raw,
    }
}

/// The layout of an access to memory or uniforms: bytes, bytes of a big-endian unit, and whether the sign is extended.
fn layout(op: LoadStoreOp) -> (usize, usize, bool) {
    use LoadStoreOp::*;
    match op {
        LdU8 | LdUboU8 | StU8 | StI8 => (1, 1, false),
        LdI8 | LdUboI8 => (1, 1, true),
        LdU16 | LdUboU16 | StU16 | StI16 => (2, 1, false),
        LdI16 | LdUboI16 => (2, 1, true),
        LdU16Be | LdUboU16Be | StU16Be | StI16Be => (2, 2, false),
        LdI16Be | LdUboI16Be => (2, 2, true),
        Ld32 | LdUbo32 | St32 => (4, 1, false),
        Ld32Bswap2 | LdUbo32Bswap2 | St32Bswap2 => (4, 2, false),
        Ld32Bswap4 | LdUbo32Bswap4 | St32Bswap4 => (4, 4, false),
        Ld64 | LdUbo64 | St64 => (8, 1, false),
        Ld64Bswap2 | LdUbo64Bswap2 | St64Bswap2 => (8, 2, false),
        Ld64Bswap4 | LdUbo64Bswap4 | St64Bswap4 => (8, 4, false),
        Ld64Bswap8 | LdUbo64Bswap8 | St64Bswap8 => (8, 8, false),
        Ld128Bswap2 | LdUbo128Bswap2 | St128Bswap2 => (16, 2, false),
        Ld128Bswap4 | LdUbo128Bswap4 | St128Bswap4 => (16, 4, false),
        Ld128Bswap8 | LdUbo128Bswap8 | St128Bswap8 => (16, 8, false),
        _ => (16, 1, false),
    }
}

/// Exchanges the bytes of units.
fn swap(bytes: &mut [u8], unit: usize) {
    bytes.chunks_mut(unit.max(1)).for_each(<[u8]>::reverse);
}

/// Words of loaded bytes.
fn loaded(bytes: &[u8; 16], length: usize, is_signed: bool) -> Vec4 {
    let value = u128::from_le_bytes(*bytes);
    let bits = words(value);
    match length {
        1 if is_signed => [bits[0] as i8 as u32, 0, 0, 0],
        2 if is_signed => [bits[0] as i16 as u32, 0, 0, 0],
        _ => bits,
    }
}

/// Converts the floats of an environment to the form of registers: 16-bit floats have two words.
fn pack(value: Vec4, format: Format) -> Vec4 {
    if format != Format::F16 {
        return value;
    }
    let [x, y, z, w] = value.map(|word| u32::from(f16::from_f32(f32::from_bits(word)).to_bits()));
    [x | y << 16, z | w << 16, 0, 0]
}

/// The inverse of [`pack`].
fn unpack(value: Vec4, format: Format) -> Vec4 {
    if format != Format::F16 {
        return value;
    }
    [value[0], value[0] >> 16, value[1], value[1] >> 16].map(|word| f16::from_bits(word as u16).to_f32().to_bits())
}

/// Divides all components by one.
fn project(value: Vec4, component: usize) -> Vec4 {
    let divisor = f32::from_bits(value[component]);
    value.map(|word| (f32::from_bits(word) / divisor).to_bits())
}

impl LoadStoreUnit<'_> {
    /// Executes an instruction.
    pub(super) fn run(&mut self, instruction: &LoadStore) -> Result<(), Trap> {
        let row = instruction.op.row();
        let undefined = Trap::Undefined(self.index, row.name);
        match row.class {
            Class::Unpack | Class::Pack => Err(undefined),
            Class::Address => {
                let address = self.address(instruction);
                self.write(instruction, [address as u32, (address >> 32) as u32, 0, 0])
            }
            Class::ImageAddress => {
                let access = self.image(instruction);
                let address = self.environment.image_address(&access);
                self.write(instruction, [address as u32, (address >> 32) as u32, 0, 0])
            }
            Class::Cubemap | Class::Project => self.convert(instruction),
            Class::Move => {
                let value = self.register(instruction.argument.register);
                self.write(instruction, value)
            }
            Class::Atomic | Class::CompareExchange => self.atomic(instruction),
            Class::Load => self.load(instruction),
            Class::Store => self.store(instruction),
            Class::Uniform => self.uniform(instruction),
            Class::Attribute => self.attribute(instruction),
            Class::Varying => self.varying(instruction),
            Class::StoreVarying => {
                let (format, index) = (format(instruction.op), self.entry(instruction));
                let value = unpack(self.stored(instruction), format);
                let store = VaryingStore { lane: self.lane, index, format, value };
                self.environment.store_varying(&store);
                Ok(())
            }
            Class::Image => {
                let access = self.image(instruction);
                let value = self.environment.image_load(&access);
                self.write(instruction, pack(value, access.format))
            }
            Class::StoreImage => {
                let access = self.image(instruction);
                let value = unpack(self.stored(instruction), access.format);
                if !self.is_killed {
                    self.environment.image_store(&access, value);
                }
                Ok(())
            }
            Class::Special => self.special(instruction),
            Class::TileBuffer => self.tile_buffer(instruction),
            Class::Trap => Err(Trap::Instruction(self.index, instruction.offset)),
        }
    }

    /// Reads a register of the unit.
    fn register(&mut self, register: LoadStoreRegister) -> Vec4 {
        match register {
            LoadStoreRegister::Zero => [0; 4],
            LoadStoreRegister::L0 | LoadStoreRegister::L1 => {
                let number = Register::CONSTANTS.number() + register.code() as u8;
                Register::new(number).map_or([0; 4], |register| self.registers.words(register))
            }
            _ => self.environment.system_register(self.lane, register),
        }
    }

    /// Reads a word of a register.
    fn operand(&mut self, operand: Operand) -> u32 {
        self.register(operand.register)[usize::from(operand.component & 3)]
    }

    /// Reads two words of a register, from the component on.
    fn pair(&mut self, operand: Operand) -> u64 {
        let value = self.register(operand.register);
        let [low, high] = [0, 1].map(|next| u64::from(value[(usize::from(operand.component) + next) % 4]));
        low | high << 32
    }

    /// Writes words, selected by the swizzle, to the masked components.
    fn write(&mut self, instruction: &LoadStore, value: Vec4) -> Result<(), Trap> {
        self.write_words(instruction, [0, 1, 2, 3].map(|index| value[instruction.swizzle.get(index) as usize]))
    }

    fn write_words(&mut self, instruction: &LoadStore, value: Vec4) -> Result<(), Trap> {
        let register = instruction.register;
        let bits = match register.role() {
            _ if self.resources.is_work(register) => self.registers.get_mut(register),
            Role::LoadStore => self.registers.get_mut(register),
            Role::Texture => texture_operand(self.registers, register.index_in_role(), self.resources.chip),
            _ => return Err(Trap::Register(self.index, register.number())),
        };
        let old = words(*bits);
        let is_written = |index: usize| instruction.mask >> index & 1 != 0;
        *bits = from_words([0, 1, 2, 3].map(|index| if is_written(index) { value[index] } else { old[index] }));
        Ok(())
    }

    /// The value that a store writes.
    fn stored(&mut self, instruction: &LoadStore) -> Vec4 {
        let value = instruction.stored_register().map_or([0; 4], |register| self.register(register));
        [0, 1, 2, 3].map(|index| value[instruction.swizzle.get(index) as usize])
    }

    /// The address of an access.
    fn address(&mut self, instruction: &LoadStore) -> u64 {
        let base = if instruction.is_wide {
            self.pair(instruction.argument)
        } else {
            self.operand(instruction.argument).into()
        };
        let index = match instruction.index_format {
            // The index is the value to compare.
            _ if instruction.op.row().class == Class::CompareExchange => 0,
            IndexFormat::U64 => self.pair(instruction.index),
            IndexFormat::S32 => self.operand(instruction.index) as i32 as u64,
            IndexFormat::U32 | IndexFormat::Reserved => self.operand(instruction.index).into(),
        };
        base.wrapping_add(index << (instruction.shift & 15)).wrapping_add(instruction.offset as u64)
    }

    /// The number of an entry of a table: an attribute, a varying, an image or a special value.
    fn entry(&mut self, instruction: &LoadStore) -> u32 {
        let index = self.operand(instruction.index) << (instruction.shift & 15);
        index.wrapping_add((instruction.offset >> 9) as u32)
    }

    fn load(&mut self, instruction: &LoadStore) -> Result<(), Trap> {
        let (length, unit, is_signed) = layout(instruction.op);
        let address = self.address(instruction);
        let mut bytes = [0; 16];
        self.load_bytes(address, &mut bytes[..length])?;
        swap(&mut bytes[..length], unit);
        self.write(instruction, loaded(&bytes, length, is_signed))
    }

    fn load_bytes(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Trap> {
        // Addresses of helpers may be invalid.
        if self.environment.load(self.lane, address, bytes) || self.is_killed {
            Ok(())
        } else {
            Err(Trap::Memory(self.index, address))
        }
    }

    fn store_bytes(&mut self, address: u64, bytes: &[u8]) -> Result<(), Trap> {
        let has_effect = !self.is_killed || self.environment.is_private(address);
        if !has_effect || self.environment.store(self.lane, address, bytes) {
            Ok(())
        } else {
            Err(Trap::Memory(self.index, address))
        }
    }

    fn store(&mut self, instruction: &LoadStore) -> Result<(), Trap> {
        let (length, unit, _) = layout(instruction.op);
        let address = self.address(instruction);
        let mut bytes = from_words(self.stored(instruction)).to_le_bytes();
        swap(&mut bytes[..length], unit);
        // A bit of the mask is a quarter of the value, at least a byte.
        let part = (length / 4).max(1);
        let parts = length / part;
        let is_written = |index: usize| index < parts && instruction.mask >> index & 1 != 0;
        let mut first = 0;
        while first < parts {
            let count = (first..parts).take_while(|&index| is_written(index)).count();
            if count != 0 {
                let bytes = &bytes[first * part..(first + count) * part];
                self.store_bytes(address.wrapping_add((first * part) as u64), bytes)?;
            }
            first += count + 1;
        }
        Ok(())
    }

    fn uniform(&mut self, instruction: &LoadStore) -> Result<(), Trap> {
        let (length, unit, is_signed) = layout(instruction.op);
        let buffer = match instruction.uniform_buffer() {
            Some(buffer) => buffer,
            None => self.operand(instruction.argument),
        };
        let offset = instruction.offset >> 2;
        let position = if instruction.index.register == LoadStoreRegister::Zero {
            // Buffers have up to 2^16 bytes.
            u32::from(offset as u16)
        } else {
            (self.operand(instruction.index) << (instruction.shift & 15)).wrapping_add(offset as u32)
        };
        let mut bytes = [0; 16];
        for (index, byte) in bytes[..length].iter_mut().enumerate() {
            let position = position.wrapping_add(index as u32);
            let word = self.environment.uniform(self.lane, buffer, position / 4);
            *byte = (word >> (position % 4 * 8)) as u8;
        }
        swap(&mut bytes[..length], unit);
        self.write(instruction, loaded(&bytes, length, is_signed))
    }

    fn attribute(&mut self, instruction: &LoadStore) -> Result<(), Trap> {
        let format = format(instruction.op);
        let vertex = if instruction.is_wide {
            let low = instruction.offset << 23 >> 23;
            Some(self.operand(instruction.argument).wrapping_add(low as u32))
        } else {
            None
        };
        let bits = instruction.index_format.code();
        let load = AttributeLoad {
            lane: self.lane,
            index: self.entry(instruction),
            vertex,
            format,
            is_inferred: bits & 1 != 0,
            is_secondary: bits & 2 != 0,
        };
        let value = self.environment.attribute(&load);
        self.write(instruction, pack(value, format))
    }

    fn varying(&mut self, instruction: &LoadStore) -> Result<(), Trap> {
        let format = format(instruction.op);
        let parameters = self.operand(instruction.argument).wrapping_add((instruction.offset & 0x1ff) as u32);
        let load = VaryingLoad {
            lane: self.lane,
            index: self.entry(instruction),
            format,
            is_flat: parameters & 8 != 0,
            has_perspective: parameters & 16 != 0,
            is_centroid: parameters & 32 != 0,
            is_sample: parameters & 64 != 0,
            position: [(parameters >> 8) as u8 & 15, (parameters >> 12) as u8 & 15],
        };
        let value = self.environment.varying(&load);
        let value = match parameters & 7 {
            0 => value,
            modifier @ 1..=3 => project(value, modifier as usize),
            4 => self.cube(value),
            _ => return Err(Trap::Undefined(self.index, "the modifier of the varying")),
        };
        self.write(instruction, pack(value, format))
    }

    /// Coordinates of a cube from a direction.
    fn cube(&mut self, direction: Vec4) -> Vec4 {
        let [x, y, z, _] = direction.map(f32::from_bits);
        cube::encode(self.directions, self.lane, [x, y, z])
    }

    fn convert(&mut self, instruction: &LoadStore) -> Result<(), Trap> {
        let value = self.register(instruction.argument.register);
        let format = if instruction.is_wide { Format::F32 } else { Format::F16 };
        let value = unpack(value, format);
        let component = match instruction.op {
            LoadStoreOp::PerspectiveDivY => 1,
            LoadStoreOp::PerspectiveDivZ => 2,
            LoadStoreOp::PerspectiveDivW => 3,
            _ => {
                let value = self.cube(value);
                return self.write(instruction, value);
            }
        };
        self.write(instruction, pack(project(value, component), format))
    }

    fn image(&mut self, instruction: &LoadStore) -> ImageAccess {
        let bits = if instruction.is_wide {
            self.pair(instruction.argument)
        } else {
            self.operand(instruction.argument).into()
        };
        let coordinates = [0, 16, 32, 48].map(|low| u32::from((bits >> low) as u16));
        ImageAccess { lane: self.lane, image: self.entry(instruction), coordinates, format: format(instruction.op) }
    }

    fn special(&mut self, instruction: &LoadStore) -> Result<(), Trap> {
        use LoadStoreOp::{LdSpecialF16, LdSpecialF32, LdSpecialS32, LdSpecialU32};
        let undefined = Trap::Undefined(self.index, instruction.op.row().name);
        if !matches!(instruction.op, LdSpecialF32 | LdSpecialF16 | LdSpecialU32 | LdSpecialS32) {
            return Err(undefined);
        }
        let (lane, format) = (self.lane, format(instruction.op));
        let value = match self.entry(instruction) {
            TILE_COLOUR => self.environment.tile_buffer(&TileLoad { lane, target: 0, sample: 0, format }),
            TILE_RAW => self.environment.tile_buffer(&TileLoad { lane, target: 0, sample: 0, format: Format::Raw }),
            selector => self.environment.special(&SpecialLoad { lane, selector, format }).ok_or(undefined)?,
        };
        self.write(instruction, pack(value, format))
    }

    fn tile_buffer(&mut self, instruction: &LoadStore) -> Result<(), Trap> {
        use LoadStoreOp::{LdTileBufferF16, LdTileBufferF32, LdTileBufferRaw};
        if !matches!(instruction.op, LdTileBufferF32 | LdTileBufferF16 | LdTileBufferRaw) {
            return Err(Trap::Undefined(self.index, instruction.op.row().name));
        }
        let number = |operand: Operand| u32::from(operand.component) | operand.register.code() << 2;
        let sample = match instruction.offset & 1 {
            0 => number(instruction.argument),
            _ => self.operand(instruction.argument),
        };
        let format = format(instruction.op);
        let load = TileLoad { lane: self.lane, target: number(instruction.index), sample, format };
        let value = self.environment.tile_buffer(&load);
        self.write(instruction, pack(value, format))
    }

    fn atomic(&mut self, instruction: &LoadStore) -> Result<(), Trap> {
        let operation = atomic::Operation::of(instruction.op);
        if self.is_killed {
            return self.write_words(instruction, [0; 4]);
        }
        let address = self.address(instruction);
        let mut read = |operand: Operand| {
            if operation.is_wide { self.pair(operand) } else { self.operand(operand).into() }
        };
        let value = read(instruction.atomic_operand().unwrap_or(Operand::ZERO));
        let compared = read(instruction.index);
        let mut bytes = [0; 8];
        let length = if operation.is_wide { 8 } else { 4 };
        self.load_bytes(address, &mut bytes[..length])?;
        let unit = if operation.is_big_endian { length } else { 1 };
        swap(&mut bytes[..length], unit);
        let old = u64::from_le_bytes(bytes);
        let mut bytes = operation.apply(old, value, compared).to_le_bytes();
        swap(&mut bytes[..length], unit);
        self.store_bytes(address, &bytes[..length])?;
        // The swizzle states the operand, so that each component has the result.
        let [low, high] = [old as u32, if operation.is_wide { (old >> 32) as u32 } else { old as u32 }];
        self.write_words(instruction, [low, high, low, high])
    }
}
