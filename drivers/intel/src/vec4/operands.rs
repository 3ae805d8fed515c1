//! Operands: registers of the machine for those of a program.

use tgsi_vec4::simple::{Destination, File, Source};

use super::layout::Layout;
use crate::isa::{self, Immediate, Operand, Region, Register, Swizzle, Type, VerticalStride, WriteMask};
use crate::machine::{FLAG, PAYLOAD};
use crate::select::words_of;

/// The places of operands.
pub(super) struct Operands<'a> {
    pub(super) layout: &'a Layout,
    pub(super) push: &'a [u16],
    pub(super) constants: &'a tgsi_vec4::Constants,
}

/// The swizzle of a source, with a component that is read anyway in channels without use.
fn swizzle(source: &Source, channels: u8) -> Swizzle {
    let first = (0..4).find(|c| channels >> c & 1 != 0).unwrap_or(0);
    Swizzle::new([0, 1, 2, 3].map(|c: usize| source.swizzle[if channels >> c & 1 != 0 { c } else { first }]))
}

impl Operands<'_> {
    /// The register and the first byte of a source, and whether both vertices read the same vector.
    fn place(&self, source: &Source) -> Option<(u8, u8, bool)> {
        let index = u8::try_from(source.index).ok();
        Some(match source.file {
            File::Temporary => {
                let index = u32::try_from(source.index).ok()?;
                let register = match index.checked_sub(PAYLOAD) {
                    Some(temporary) => u32::from(self.layout.temporaries) + temporary,
                    None => u32::from(self.layout.payload) + index,
                };
                (u8::try_from(register).ok()?, 0, false)
            }
            File::Input if self.layout.has_half_inputs => {
                let index = u32::try_from(source.index).ok()?;
                let register = u8::try_from(u32::from(self.layout.attributes) + index / 2).ok()?;
                (register, (index % 2) as u8 * 16, true)
            }
            File::Input => (self.layout.attributes.checked_add(index?)?, 0, false),
            File::Output => (self.layout.slot(index?)?, 0, false),
            File::Uniform => {
                let place = self.push.binary_search(&u16::try_from(source.index).ok()?).ok()?;
                (self.layout.push + (place / 2) as u8, (place % 2) as u8 * 16, true)
            }
            File::Special | File::Constant => return None,
        })
    }

    /// The general register of a source.
    pub(super) fn register(&self, source: &Source) -> Option<u8> {
        self.place(source).map(|(register, ..)| register)
    }

    /// A register operand of an align16 instruction.
    pub(super) fn operand(&self, source: &Source, ty: Type, channels: u8) -> Option<Operand> {
        let (register, offset, is_uniform) = self.place(source)?;
        let vertical = if is_uniform { VerticalStride::S0 } else { VerticalStride::S4 };
        let region = Region::Align16 { vertical, swizzle: swizzle(source, channels) };
        let operand = Operand::new(Register::general(register).at(offset), ty, region);
        Some(Operand { absolute: source.absolute, negate: source.negate, ..operand })
    }

    /// A register operand of an instruction with three sources: of a uniform one component for all channels.
    pub(super) fn ternary_operand(&self, source: &Source, ty: Type, channels: u8) -> Option<Operand> {
        let (register, offset, is_uniform) = self.place(source)?;
        if !is_uniform {
            return self.operand(source, ty, channels);
        }
        let component = swizzle(source, channels).get(0);
        let operand = Operand::new(Register::general(register).at(offset + 4 * component), ty, Region::SCALAR);
        Some(Operand { absolute: source.absolute, negate: source.negate, ..operand })
    }

    /// The words of a constant.
    pub(super) fn words(&self, source: &Source) -> [u32; 4] {
        words_of(self.constants, source)
    }

    /// A source of an align16 instruction: a register or a constant that is the same in all channels.
    pub(super) fn source(&self, source: &Source, ty: Type, channels: u8) -> Option<isa::Source> {
        if source.file != File::Constant {
            return self.operand(source, ty, channels).map(Into::into);
        }
        let first = (0..4).find(|c| channels >> c & 1 != 0).unwrap_or(0);
        let word = self.words(source)[first];
        Some(immediate(word, ty).into())
    }

    /// The destination of an align16 instruction.
    pub(super) fn destination(&self, to: &Destination, ty: Type) -> Option<isa::Destination> {
        let mask = WriteMask(to.mask & 15);
        if to.file == File::Special && to.index == i32::from(FLAG) {
            return Some(isa::Destination::null(ty).masked(mask));
        }
        let (register, ..) = self.place(&Source::new(to.file, to.index))?;
        Some(isa::Destination::vectors(register, ty, mask))
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
