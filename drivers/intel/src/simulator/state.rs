//! The registers of a thread, and the elements of operands.

use super::registers::{REGISTER, word};
use super::value::{Value, immediate};
use super::{Registers, Trap};
use crate::isa::{Chip, Destination, File, Flag, Operand, Region, Register, Source, Type, arf};

/// The number of channels of a thread.
pub(super) const CHANNELS: u32 = 32;

/// The registers of a thread.
pub(super) struct State {
    pub(super) chip: Chip,
    pub(super) registers: Registers,
    pub(super) flags: [u32; 2],
    /// The elements of both accumulators by channels.
    pub(super) accumulators: [i64; CHANNELS as usize],
    /// The bytes of the address register.
    address: [u8; 16],
    /// The notification counters.
    pub(super) notifications: [u32; 3],
    /// The bytes of the state register and of the control register.
    control: [[u8; 16]; 2],
    /// The number of the executed instruction, and its position in bytes.
    pub(super) at: usize,
    pub(super) position: u32,
    /// The channels that are enabled.
    pub(super) active: u32,
}

/// The first byte of an operand.
#[derive(Clone, Copy)]
pub(super) enum Place {
    General(i64),
    Architecture(u8, i64),
}

/// The bits of an element.
fn element(bytes: &[u8], place: usize, size: usize) -> Option<u32> {
    Some(word(bytes.get(place..place + size)?))
}

fn set_element(bytes: &mut [u8], place: usize, size: usize, bits: u32) -> Option<()> {
    bytes.get_mut(place..place + size)?.copy_from_slice(&bits.to_le_bytes()[..size]);
    Some(())
}

impl State {
    pub(super) fn new(chip: Chip, registers: Registers, dispatch_mask: u32) -> State {
        let mut control = [[0; 16]; 2];
        control[0][8..12].copy_from_slice(&dispatch_mask.to_le_bytes());
        State {
            chip,
            registers,
            flags: [0; 2],
            accumulators: [0; CHANNELS as usize],
            address: [0; 16],
            notifications: [0; 3],
            control,
            at: 0,
            position: 0,
            active: dispatch_mask,
        }
    }

    /// The bits of a flag register from a half on, in the order of channels.
    pub(super) fn flag(&self, flag: Flag) -> u32 {
        let register = self.flags[usize::from(flag.register & 1)];
        register.rotate_right(16 * u32::from(flag.half & 1))
    }

    /// Replaces bits of a flag register, in the order of [`State::flag`].
    pub(super) fn set_flag(&mut self, flag: Flag, mask: u32, bits: u32) {
        let turn = 16 * u32::from(flag.half & 1);
        let (mask, bits) = (mask.rotate_left(turn), bits.rotate_left(turn));
        let register = &mut self.flags[usize::from(flag.register & 1)];
        *register = *register & !mask | bits & mask;
    }

    fn address_word(&self, index: u32) -> Result<i64, Trap> {
        let place = index as usize * 2;
        element(&self.address, place, 2)
            .map(i64::from)
            .ok_or(Trap::Undefined(self.at, "a word beyond the address register"))
    }

    /// The first byte of a register operand. `row` counts the words of the address register of indexed regions.
    pub(super) fn place(&self, register: Register, row: u32) -> Result<Place, Trap> {
        Ok(match register {
            Register::Direct { file: File::Grf, number, offset } => {
                Place::General(i64::from(number) * REGISTER as i64 + i64::from(offset))
            }
            Register::Direct { file: File::Arf, number, offset } => Place::Architecture(number, offset.into()),
            Register::Indirect { address, offset } => {
                Place::General(self.address_word(u32::from(address) + row)? + i64::from(offset))
            }
        })
    }

    /// Returns the bits of the element of a type at a distance in bytes.
    pub(super) fn bits(&self, place: Place, distance: i64, ty: Type) -> Result<u32, Trap> {
        if ty == Type::Df {
            return Err(Trap::Undefined(self.at, "a float of 64 bits"));
        }
        let size = ty.size() as usize;
        let (number, offset) = match place {
            Place::General(first) => {
                let byte = first + distance;
                let place = usize::try_from(byte).ok();
                return place
                    .and_then(|place| element(self.registers.bytes(), place, size))
                    .ok_or(Trap::Register(self.at, byte));
            }
            Place::Architecture(number, first) => (number, (first + distance).max(0) as usize),
        };
        let index = usize::from(number & 15);
        let get = |bytes: &[u8]| element(bytes, offset, size);
        let found = match number & 0xf0 {
            arf::NULL => Some(0),
            arf::ADDRESS => get(&self.address),
            arf::ACCUMULATOR => {
                let channel = accumulator_element(index, offset, ty);
                channel.and_then(|channel| self.accumulators.get(channel)).map(|&value| value as u32)
            }
            arf::FLAG => self.flags.get(index).and_then(|flags| get(&flags.to_le_bytes())),
            arf::MASK => get(&self.active.to_le_bytes()),
            arf::STATE => get(&self.control[0]),
            arf::CONTROL => get(&self.control[1]),
            arf::NOTIFICATION => self.notifications.get(index).and_then(|count| get(&count.to_le_bytes())),
            arf::IP => get(&self.position.to_le_bytes()),
            _ => None,
        };
        found.ok_or(Trap::Undefined(self.at, "a read of the architecture register"))
    }

    /// Sets the bits of the element of a type at a distance in bytes. Accumulators also get the upper bits of `wide`.
    fn set_bits(&mut self, place: Place, distance: i64, ty: Type, bits: u32, wide: i64) -> Result<(), Trap> {
        if ty == Type::Df {
            return Err(Trap::Undefined(self.at, "a float of 64 bits"));
        }
        let size = ty.size() as usize;
        let (number, offset) = match place {
            Place::General(first) => {
                let byte = first + distance;
                let place = usize::try_from(byte).ok();
                return place
                    .and_then(|place| set_element(self.registers.bytes_mut(), place, size, bits))
                    .ok_or(Trap::Register(self.at, byte));
            }
            Place::Architecture(number, first) => (number, (first + distance).max(0) as usize),
        };
        let index = usize::from(number & 15);
        let set_word = |word: &mut u32| {
            let mut bytes = word.to_le_bytes();
            let found = set_element(&mut bytes, offset, size, bits);
            *word = u32::from_le_bytes(bytes);
            found
        };
        let found = match number & 0xf0 {
            arf::NULL => Some(()),
            arf::ADDRESS => set_element(&mut self.address, offset, size, bits),
            arf::ACCUMULATOR => {
                let channel = accumulator_element(index, offset, ty);
                channel.and_then(|channel| self.accumulators.get_mut(channel)).map(|element| *element = wide)
            }
            arf::FLAG => self.flags.get_mut(index).and_then(set_word),
            arf::STATE => set_element(&mut self.control[0], offset, size, bits),
            arf::CONTROL => set_element(&mut self.control[1], offset, size, bits),
            arf::NOTIFICATION => self.notifications.get_mut(index).and_then(set_word),
            _ => None,
        };
        found.ok_or(Trap::Undefined(self.at, "a write of the architecture register"))
    }

    /// The place of the element that a channel reads: the first byte, and the distance in bytes.
    fn source_place(&self, operand: &Operand, channel: u32) -> Result<(Place, i64), Trap> {
        let size = i64::from(operand.ty.size());
        if let Some(element) = operand.region.element(channel) {
            return Ok((self.place(operand.register, 0)?, i64::from(element) * size));
        }
        let (row, element) = match operand.region {
            Region::Align1 { width, horizontal, .. } => {
                let width = width.elements();
                (channel / width, channel % width * horizontal.elements())
            }
            Region::Align16 { swizzle, .. } => (channel / 4, swizzle.get((channel & 3) as u8).into()),
        };
        Ok((self.place(operand.register, row)?, i64::from(element) * size))
    }

    /// Returns the bits that a channel reads, without modifiers.
    pub(super) fn source_bits(&self, operand: &Operand, channel: u32) -> Result<u32, Trap> {
        let (place, distance) = self.source_place(operand, channel)?;
        self.bits(place, distance, operand.ty)
    }

    /// Returns the number that a channel reads.
    pub(super) fn source(&self, source: &Source, channel: u32) -> Result<Value, Trap> {
        match source {
            Source::Register(operand) => {
                let value = Value::from_bits(self.source_bits(operand, channel)?, operand.ty);
                Ok(value.modified(operand.absolute, operand.negate))
            }
            Source::Immediate(constant) => Ok(immediate(constant.ty(), constant.word(), channel)),
        }
    }

    /// Returns the number at a distance in bytes from the first element of an operand.
    pub(super) fn source_at(&self, operand: &Operand, distance: i64) -> Result<Value, Trap> {
        let bits = self.bits(self.place(operand.register, 0)?, distance, operand.ty)?;
        Ok(Value::from_bits(bits, operand.ty).modified(operand.absolute, operand.negate))
    }

    /// Writes the element of a channel, unless the mask excludes it. Accumulators get all bits of `wide`.
    pub(super) fn write(&mut self, destination: &Destination, channel: u32, bits: u32, wide: i64) -> Result<(), Trap> {
        if !destination.mask.contains((channel & 3) as u8) {
            return Ok(());
        }
        let place = self.place(destination.register, 0)?;
        let distance = i64::from(channel * destination.stride.elements() * destination.ty.size());
        self.set_bits(place, distance, destination.ty, bits, wide)
    }

    /// The element of the accumulators that a channel accesses implicitly. Integers of 32 bits have the first eight
    /// elements only: Gen7.5 uses them for any group of channels, Gen7 accesses elements that do not exist.
    pub(super) fn accumulator(&mut self, group: u32, channel: u32, elements: u32) -> Result<&mut i64, Trap> {
        let index = match self.chip {
            Chip::Gen75 if elements < 16 => channel,
            Chip::Gen7 | Chip::Gen75 => group % 16 + channel,
        };
        let is_valid = index < elements;
        let element = self.accumulators.get_mut(index as usize).filter(|_| is_valid);
        element.ok_or(Trap::Undefined(self.at, "the second accumulator with integers"))
    }
}

/// The element of the accumulators at a place of a type. The second accumulator has floats only.
fn accumulator_element(index: usize, offset: usize, ty: Type) -> Option<usize> {
    let element = offset / ty.size() as usize;
    match (ty, index) {
        (_, 0) if offset < REGISTER => Some(element),
        (Type::F, 0 | 1) => Some(element + 8 * index),
        _ => None,
    }
}
