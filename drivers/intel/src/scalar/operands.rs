//! Operands: registers of the machine for those of a program.

use tgsi_vec4::simple::{Destination, File, Source};

use super::layout::Layout;
use super::operation::PAYLOAD_VECTORS;
use crate::isa::{self, Immediate, Operand, Region, Register, Swizzle, Type, VerticalStride};
use crate::select::words_of;

/// The place of a component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// A register with a value for each lane.
    Lanes(u8),
    /// A dword of a register, by its number, for all lanes.
    Word(u8, u8),
}

/// The places of operands.
pub(super) struct Operands<'a> {
    pub(super) layout: &'a Layout,
    pub(super) push: &'a [u16],
    pub(super) constants: &'a tgsi_vec4::Constants,
}

impl Operands<'_> {
    /// The place of a component of a register.
    pub(super) fn place(&self, file: File, index: i32, component: u8) -> Option<Place> {
        let component = component & 3;
        let number = u8::try_from(index).ok();
        Some(match file {
            File::Temporary => {
                let number = number?;
                let fixed = PAYLOAD_VECTORS as u8;
                Place::Lanes(match number.checked_sub(fixed) {
                    None => self.layout.header + 1 + 4 * number + component,
                    Some(number) => self.layout.temporaries.checked_add(number.checked_mul(4)?)? + component,
                })
            }
            File::Input => {
                let register =
                    self.layout.attributes.checked_add(number?.checked_mul(2)?)?.checked_add(component / 2)?;
                Place::Word(register, component % 2 * 4 + 3)
            }
            File::Output => Place::Lanes(self.layout.output(number?, component)?),
            File::Uniform => {
                let place = self.push.binary_search(&u16::try_from(index).ok()?).ok()?;
                Place::Word(self.layout.push + (place / 2) as u8, (place % 2) as u8 * 4 + component)
            }
            File::Special | File::Constant => return None,
        })
    }

    /// The place of a channel of a source.
    pub(super) fn source_place(&self, source: &Source, channel: u8) -> Option<Place> {
        self.place(source.file, source.index, source.swizzle[usize::from(channel & 3)])
    }

    /// A register operand.
    fn operand(&self, source: &Source, ty: Type, channel: u8) -> Option<Operand> {
        let operand = match self.source_place(source, channel)? {
            Place::Lanes(register) => Operand::linear(register, ty),
            Place::Word(register, word) => Operand::scalar(register, word * 4, ty),
        };
        Some(Operand { absolute: source.absolute, negate: source.negate, ..operand })
    }

    /// A register operand of an align16 instruction. Those with three sources have another form of scalars.
    pub(super) fn vector_operand(&self, source: &Source, ty: Type, channel: u8, is_ternary: bool) -> Option<Operand> {
        let operand = match self.source_place(source, channel)? {
            Place::Lanes(register) => Operand::vectors(register, ty, Swizzle::IDENTITY),
            Place::Word(register, word) if is_ternary => Operand::scalar(register, word * 4, ty),
            Place::Word(register, word) => {
                let swizzle = Swizzle::replicate(word % 4);
                let region = Region::Align16 { vertical: VerticalStride::S0, swizzle };
                Operand::new(Register::general(register).at(word / 4 * 16), ty, region)
            }
        };
        Some(Operand { absolute: source.absolute, negate: source.negate, ..operand })
    }

    /// The word of a constant for a channel.
    pub(super) fn word(&self, source: &Source, channel: u8) -> u32 {
        words_of(self.constants, source)[usize::from(channel & 3)]
    }

    /// A source of an align1 instruction.
    pub(super) fn source(&self, source: &Source, ty: Type, channel: u8) -> Option<isa::Source> {
        if source.file == File::Constant {
            return Some(immediate(self.word(source, channel), ty).into());
        }
        self.operand(source, ty, channel).map(Into::into)
    }

    /// The register of a component of a destination.
    pub(super) fn register(&self, to: &Destination, channel: u8) -> Option<u8> {
        match self.place(to.file, to.index, channel)? {
            Place::Lanes(register) => Some(register),
            Place::Word(..) => None,
        }
    }
}

/// A constant of a type.
pub(super) fn immediate(word: u32, ty: Type) -> Immediate {
    match ty {
        Type::F => Immediate::F(word),
        Type::D => Immediate::D(word as i32),
        Type::Uw => Immediate::Uw(word as u16),
        _ => Immediate::Ud(word),
    }
}
