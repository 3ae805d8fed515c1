//! Packing and unpacking of words.
//!
//! A 64-bit number is packed by casting a vector of two words. Operands are read in the class in which they are
//! available, and results are made in the class of their users: packing two integers into a float takes one cast.

use smallvec::SmallVec;
use spirv::{GlslStd450Op, Op};
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Swizzle;

use super::{Alu, Emitter, TypedId};
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

impl Emitter<'_> {
    /// Emits packing and unpacking.
    pub(super) fn packing(&mut self, alu: &Alu) -> Result<TypedId, SpirvError> {
        use AluOp::*;
        match alu.op {
            Pack642x32 => {
                let words = self.source_class(alu, 0);
                let a = self.source(alu, 0, words)?;
                let class = self.classes.get(alu.def);
                Ok((self.pure_of(Op::Bitcast, self.type_of(alu.def, class), &[a]), class))
            }
            Pack642x32Split => self.joined_words(alu),
            Unpack642x32 => {
                let number = self.source_class(alu, 0);
                let a = self.source(alu, 0, number)?;
                let class = self.classes.get(alu.def);
                Ok((self.pure_of(Op::Bitcast, self.type_of(alu.def, class), &[a]), class))
            }
            Unpack642x32SplitX => self.word_of(alu, 0),
            Unpack642x32SplitY => self.word_of(alu, 1),
            PackHalf2x16 => {
                let a = self.source(alu, 0, Class::Float)?;
                Ok((self.glsl(GlslStd450Op::PackHalf2x16, ValueType::UINT, &[a]), Class::Uint))
            }
            PackHalf2x16Split => {
                let (a, b) = (self.source(alu, 0, Class::Float)?, self.source(alu, 1, Class::Float)?);
                let pair = self.construct(ValueType::FLOAT, &[a, b]);
                Ok((self.glsl(GlslStd450Op::PackHalf2x16, ValueType::UINT, &[pair]), Class::Uint))
            }
            UnpackHalf2x16 => self.unpacked(alu, GlslStd450Op::UnpackHalf2x16),
            UnpackSnorm2x16 => self.unpacked(alu, GlslStd450Op::UnpackSnorm2x16),
            UnpackSnorm4x8 => self.unpacked(alu, GlslStd450Op::UnpackSnorm4x8),
            UnpackUnorm2x16 => self.unpacked(alu, GlslStd450Op::UnpackUnorm2x16),
            UnpackUnorm4x8 => self.unpacked(alu, GlslStd450Op::UnpackUnorm4x8),
            UnpackHalf2x16SplitX => self.half(alu, 0),
            UnpackHalf2x16SplitY => self.half(alu, 1),
            PackSnorm2x16 => self.normalized(alu, GlslStd450Op::PackSnorm2x16, -1.0, 16),
            PackSnorm4x8 => self.normalized(alu, GlslStd450Op::PackSnorm4x8, -1.0, 8),
            PackUnorm2x16 => self.normalized(alu, GlslStd450Op::PackUnorm2x16, 0.0, 16),
            PackUnorm4x8 => self.normalized(alu, GlslStd450Op::PackUnorm4x8, 0.0, 8),
            PackUint2x16 => {
                let ty = self.source_type(alu, 0, Class::Uint);
                let (a, most) = (self.source(alu, 0, Class::Uint)?, self.splat(ty, 0xffff));
                let a = self.glsl(GlslStd450Op::UMin, ty, &[a, most]);
                Ok((self.side_by_side(a, ty, 16, false), Class::Uint))
            }
            PackSint2x16 => {
                let ty = self.source_type(alu, 0, Class::Int);
                let a = self.source(alu, 0, Class::Int)?;
                let (least, most) = (self.splat(ty, (-0x8000i64) as u64), self.splat(ty, 0x7fff));
                let a = self.glsl(GlslStd450Op::SClamp, ty, &[a, least, most]);
                let a = self.recast(a, ty, Class::Uint);
                Ok((self.side_by_side(a, ValueType { class: Class::Uint, ..ty }, 16, true), Class::Uint))
            }
            PackUvec2ToUint => {
                let a = self.source(alu, 0, Class::Uint)?;
                let ty = self.source_type(alu, 0, Class::Uint);
                Ok((self.side_by_side(a, ty, 16, true), Class::Uint))
            }
            PackUvec4ToUint => {
                let a = self.source(alu, 0, Class::Uint)?;
                let ty = self.source_type(alu, 0, Class::Uint);
                Ok((self.side_by_side(a, ty, 8, false), Class::Uint))
            }
            _ => Err(self.no_form(alu)),
        }
    }

    /// Returns the class in which source `number` was made.
    fn source_class(&self, alu: &Alu, number: usize) -> Class {
        self.values[self.body.src(alu.inst, number)].map_or(Class::Uint, |(_, class)| class)
    }

    /// Emits `pack_64_2x32_split`.
    fn joined_words(&mut self, alu: &Alu) -> Result<TypedId, SpirvError> {
        let class = self.classes.get(alu.def);
        let ty = self.type_of(alu.def, class);
        let constant = |number| self.source_constant(alu, number).is_some();
        let words = self.source_class(alu, usize::from(constant(0)));
        let [low, high] = [0, 1].map(|number| self.body.source(alu.inst, number));
        if ty.components == 1 && self.body.src_def(low) == self.body.src_def(high) {
            let both = Swizzle::new(&[self.body.swizzle(low).get(0), self.body.swizzle(high).get(0)]);
            let pair = self.swizzled(self.body.src_def(low), both, 2, words)?;
            return Ok((self.pure_of(Op::Bitcast, ty, &[pair]), class));
        }
        let (low, high) = (self.source(alu, 0, words)?, self.source(alu, 1, words)?);
        let words = self.source_type(alu, 0, words);
        let parts: SmallVec<[Id; 4]> = (0..ty.components)
            .map(|number| {
                let pair = [low, high].map(|id| self.part(id, words, number));
                let pair = self.construct(words.scalar(), &pair);
                self.pure_of(Op::Bitcast, ty.scalar(), &[pair])
            })
            .collect();
        Ok((self.construct(ty.scalar(), &parts), class))
    }

    /// Emits `unpack_64_2x32_split_x` and `_y`.
    fn word_of(&mut self, alu: &Alu, word: u8) -> Result<TypedId, SpirvError> {
        let class = self.source_class(alu, 0);
        let (a, numbers) = (self.source(alu, 0, class)?, self.source_type(alu, 0, class));
        let class = self.classes.get(alu.def);
        let ty = self.type_of(alu.def, class);
        let pair = ty.with_components(2);
        let parts: SmallVec<[Id; 4]> = (0..ty.components)
            .map(|number| {
                let number = self.part(a, numbers, number);
                let words = self.pure_of(Op::Bitcast, pair, &[number]);
                self.part(words, pair, word)
            })
            .collect();
        Ok((self.construct(ty.scalar(), &parts), class))
    }

    fn unpacked(&mut self, alu: &Alu, op: GlslStd450Op) -> Result<TypedId, SpirvError> {
        let a = self.source(alu, 0, Class::Uint)?;
        Ok((self.glsl(op, self.type_of(alu.def, Class::Float), &[a]), Class::Float))
    }

    /// Emits `unpack_half_2x16_split_x` and `_y`.
    fn half(&mut self, alu: &Alu, number: u8) -> Result<TypedId, SpirvError> {
        let (a, ty) = (self.source(alu, 0, Class::Uint)?, self.source_type(alu, 0, Class::Uint));
        let pair = ValueType::FLOAT.with_components(2);
        let parts: SmallVec<[Id; 4]> = (0..ty.components)
            .map(|component| {
                let word = self.part(a, ty, component);
                let halves = self.glsl(GlslStd450Op::UnpackHalf2x16, pair, &[word]);
                self.part(halves, pair, number)
            })
            .collect();
        Ok((self.construct(ValueType::FLOAT, &parts), Class::Float))
    }

    /// Converts numbers from `least` to 1 to normalised integers of `bits` bits. Vulkan does not specify how a device
    /// rounds halves.
    fn normalized(&mut self, alu: &Alu, op: GlslStd450Op, least: f64, bits: u8) -> Result<TypedId, SpirvError> {
        let ty = self.source_type(alu, 0, Class::Float);
        if ty.bits != 32 {
            return Err(self.no_form(alu));
        }
        let signed = least < 0.0;
        let (a, low, high) = (self.source(alu, 0, Class::Float)?, self.real(ty, least), self.real(ty, 1.0));
        let clamped = self.glsl(GlslStd450Op::NClamp, ty, &[a, low, high]);
        if !alu.exact {
            return Ok((self.glsl(op, ValueType::UINT, &[clamped]), Class::Uint));
        }
        let scale = self.real(ty, 2f64.powi(i32::from(bits) - i32::from(signed)) - 1.0);
        let scaled = self.rounded(true, Op::FMul, ty, &[clamped, scale]);
        let whole = self.glsl(GlslStd450Op::RoundEven, ty, &[scaled]);
        let int = ValueType { class: if signed { Class::Int } else { Class::Uint }, ..ty };
        let whole = self.pure_of(if signed { Op::ConvertFToS } else { Op::ConvertFToU }, int, &[whole]);
        let whole = self.recast(whole, int, Class::Uint);
        Ok((self.side_by_side(whole, ValueType { class: Class::Uint, ..ty }, bits, signed), Class::Uint))
    }

    /// Packs the components of an unsigned vector `bits` bits apart, the first lowest. With `cut`, keeps only the low
    /// `bits` bits of each.
    fn side_by_side(&mut self, id: Id, ty: ValueType, bits: u8, cut: bool) -> Id {
        let mut word = None;
        for number in 0..ty.components {
            let mut part = self.part(id, ty, number);
            let shift = u32::from(bits) * u32::from(number);
            // The excess bits of the last component are shifted out.
            if cut && shift + u32::from(bits) < 32 {
                let mask = self.module.uint((1 << bits) - 1);
                part = self.pure_of(Op::BitwiseAnd, ValueType::UINT, &[part, mask]);
            }
            if shift > 0 {
                let count = self.module.uint(shift);
                part = self.pure_of(Op::ShiftLeftLogical, ValueType::UINT, &[part, count]);
            }
            word = Some(match word {
                None => part,
                Some(word) => self.pure_of(Op::BitwiseOr, ValueType::UINT, &[word, part]),
            });
        }
        word.unwrap_or_else(|| self.module.uint(0))
    }
}
