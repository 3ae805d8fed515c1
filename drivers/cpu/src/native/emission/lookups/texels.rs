//! Texels of a lookup in code: loads, and decoding by format.
//!
//! A texel is one word, two or four for each lane, the lowest first; smaller ones are zero-extended. Numbers are those
//! of [`Format::numbers`]: they are divided by [`Format::divisor`] after filtering.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F32X4, F64, F64X2, I32, I32X4, I64};
use cranelift_codegen::ir::{InstBuilder, Value as Ir};

use super::LookupEmitter;
use super::levels::Levels;
use crate::native::emission::emitter::readonly_flags;
use crate::native::emission::rules::flags;
use crate::native::runtime::context::offsets;
use crate::sampler::{Compare, Format};

/// Bits of a word: `count` of them from bit `first` on.
#[derive(Clone, Copy)]
struct Field {
    first: u32,
    count: u32,
}

impl LookupEmitter<'_, '_> {
    /// Returns the addresses of texels of `1 << shift` bytes by their numbers in the image.
    pub(super) fn addresses(&mut self, levels: &Levels, texel: Ir, shift: u32) -> [Ir; 4] {
        let mut addresses = levels.start;
        for (lane, address) in (0..).zip(&mut addresses) {
            let number = self.lanes.builder.ins().extractlane(texel, lane);
            let number = self.lanes.builder.ins().uextend(I64, number);
            let distance = self.lanes.builder.ins().ishl_imm(number, i64::from(shift));
            *address = self.lanes.builder.ins().iadd(*address, distance);
        }
        addresses
    }

    /// Loads the words of the lanes' texels.
    pub(super) fn load(&mut self, levels: &Levels, texel: Ir) -> Vec<Ir> {
        let bytes = self.known.format.bytes();
        let addresses = self.addresses(levels, texel, bytes.ilog2());
        match bytes {
            16 => {
                let rows = addresses.map(|address| self.lanes.builder.ins().load(I32X4, readonly_flags(), address, 0));
                self.lanes.transpose(rows).to_vec()
            }
            8 => {
                let longs = addresses.map(|address| self.lanes.builder.ins().load(F64, readonly_flags(), address, 0));
                self.pairs_of_words(longs).to_vec()
            }
            bytes => {
                let mut words = texel;
                for (lane, address) in (0..).zip(addresses) {
                    let ins = self.lanes.builder.ins();
                    let word = match bytes {
                        1 => ins.uload8(I32, readonly_flags(), address, 0),
                        2 => ins.uload16(I32, readonly_flags(), address, 0),
                        _ => ins.load(I32, readonly_flags(), address, 0),
                    };
                    words = self.lanes.builder.ins().insertlane(words, word, lane);
                }
                vec![words]
            }
        }
    }

    /// Returns the low words and the high words of eight bytes of each lane.
    pub(super) fn pairs_of_words(&mut self, [a, b, c, d]: [Ir; 4]) -> [Ir; 2] {
        let [two, others] = [(a, b), (c, d)].map(|(even, odd)| {
            let vector = self.lanes.builder.ins().splat(F64X2, even);
            let vector = self.lanes.builder.ins().insertlane(vector, odd, 1);
            self.lanes.builder.ins().bitcast(I32X4, flags(), vector)
        });
        [[0, 2, 4, 6], [1, 3, 5, 7]].map(|lanes| self.lanes.shuffle_two(two, others, lanes))
    }

    fn field(&mut self, words: Ir, field: Field) -> Ir {
        let shifted =
            if field.first == 0 { words } else { self.lanes.builder.ins().ushr_imm(words, i64::from(field.first)) };
        if field.first + field.count == 32 {
            return shifted;
        }
        let mask = self.word((1 << field.count) - 1);
        self.lanes.builder.ins().band(shifted, mask)
    }

    fn number_of(&mut self, words: Ir, first: u32, count: u32) -> Ir {
        let field = self.field(words, Field { first, count });
        self.floats_of(field)
    }

    /// Extracts a signed byte, sign-extended.
    fn signed_byte(&mut self, words: Ir, at: u32) -> Ir {
        let shifted = self.lanes.builder.ins().ishl_imm(words, i64::from(24 - 8 * at));
        self.lanes.builder.ins().sshr_imm(shifted, 24)
    }

    /// Converts 16-bit floats.
    fn half(&mut self, bits: Ir) -> Ir {
        let rest_mask = self.word(0x7fff);
        let rest = self.lanes.builder.ins().band(bits, rest_mask);
        let sign = self.lanes.builder.ins().isub(bits, rest);
        let sign = self.lanes.builder.ins().ishl_imm(sign, 16);
        let shifted = self.lanes.builder.ins().ishl_imm(rest, 13);
        let normal = self.word(112 << 23);
        let normal = self.lanes.builder.ins().iadd(shifted, normal);
        // A denormal is a multiple of the smallest one.
        let (denormal, smallest) = (self.floats_of(rest), self.number(f32::from_bits(0x3380_0000)));
        let denormal = self.mul(denormal, smallest);
        let denormal = self.bits(denormal);
        let infinite = self.word(0x7f80_0000);
        let infinite = self.lanes.builder.ins().bor(shifted, infinite);
        let (first_normal, first_infinite) = (self.word(0x400), self.word(0x7c00));
        let b = &mut *self.lanes.builder;
        let is_denormal = b.ins().icmp(IntCC::SignedLessThan, rest, first_normal);
        let is_infinite = b.ins().icmp(IntCC::SignedGreaterThanOrEqual, rest, first_infinite);
        let magnitude = b.ins().bitselect(is_denormal, denormal, normal);
        let magnitude = b.ins().bitselect(is_infinite, infinite, magnitude);
        let value = b.ins().bor(magnitude, sign);
        self.float(value)
    }

    /// Converts bytes on the sRGB curve to linear values.
    fn linear_of_srgb(&mut self, words: Ir, at: u32) -> Ir {
        let byte = self.field(words, Field { first: 8 * at, count: 8 });
        let table = self.lanes.builder.ins().load(I64, readonly_flags(), self.context, offsets::SRGB as i32);
        let mut values = self.number(0.0);
        for lane in 0..4 {
            let number = self.lanes.builder.ins().extractlane(byte, lane);
            let number = self.lanes.builder.ins().uextend(I64, number);
            let distance = self.lanes.builder.ins().ishl_imm(number, 2);
            let address = self.lanes.builder.ins().iadd(table, distance);
            let value = self.lanes.builder.ins().load(F32, readonly_flags(), address, 0);
            values = self.lanes.builder.ins().insertlane(values, value, lane);
        }
        values
    }

    /// Returns the value of a component that the format lacks: a number, or the bits of an integer.
    pub(super) fn lacking(&self, component: usize) -> Option<f32> {
        let format = self.known.format;
        let one = if format.is_integer() { f32::from_bits(1) } else { format.divisor() };
        (component >= format.components()).then_some(if component == 3 { one } else { 0.0 })
    }

    /// Decodes a component of texels to numbers, or the bits of integers.
    fn decoded(&mut self, words: &[Ir], component: usize) -> Ir {
        use Format as F;
        if let Some(value) = self.lacking(component) {
            return self.number(value);
        }
        let low = words[0];
        let at = component as u32;
        let of_bgra = if component < 3 { 2 - at } else { at };
        match self.known.format {
            F::R8Unorm | F::Rg8Unorm | F::Rgba8Unorm => self.number_of(low, 8 * at, 8),
            F::Bgra8Unorm => self.number_of(low, 8 * of_bgra, 8),
            F::R8Snorm | F::Rg8Snorm | F::Rgba8Snorm => {
                let (value, least) = (self.signed_byte(low, at), self.word(-127i32 as u32));
                let value = self.lanes.builder.ins().smax(value, least);
                self.floats_of(value)
            }
            F::Rgba8Srgb | F::Bgra8Srgb if component == 3 => {
                let alpha = self.number_of(low, 24, 8);
                self.divided(alpha, 255.0)
            }
            F::Rgba8Srgb => self.linear_of_srgb(low, at),
            F::Bgra8Srgb => self.linear_of_srgb(low, of_bgra),
            F::Rgba8Uint => {
                let byte = self.field(low, Field { first: 8 * at, count: 8 });
                self.float(byte)
            }
            F::Rgba8Sint => {
                let byte = self.signed_byte(low, at);
                self.float(byte)
            }
            F::R16Float | F::Rg16Float | F::Rgba16Float => {
                let field = Field { first: 16 * (at & 1), count: 16 };
                let bits = self.field(words[component / 2], field);
                self.half(bits)
            }
            F::R11G11B10Float => {
                let (field, shift) = [
                    (Field { first: 0, count: 11 }, 4),
                    (Field { first: 11, count: 11 }, 4),
                    (Field { first: 22, count: 10 }, 5),
                ][component.min(2)];
                let bits = self.field(low, field);
                let bits = self.lanes.builder.ins().ishl_imm(bits, shift);
                self.half(bits)
            }
            F::Rgb10A2Unorm => {
                let count = if component < 3 { 10 } else { 2 };
                let number = self.number_of(low, 10 * at, count);
                self.divided(number, if component < 3 { 1023.0 } else { 3.0 })
            }
            F::Rgb565Unorm => {
                let (first, count, most) = [(11, 5, 31.0), (5, 6, 63.0), (0, 5, 31.0)][component.min(2)];
                let number = self.number_of(low, first, count);
                self.divided(number, most)
            }
            F::D16Unorm => self.floats_of(low),
            F::R32Float | F::Rg32Float | F::Rgba32Float | F::D32Float | F::R32Int | F::Rg32Int | F::Rgba32Int => {
                self.float(words[component])
            }
        }
    }

    /// Emits the computed components of the lanes' texels, or the results of their comparison. Where the mask is not
    /// set, uses the border.
    pub(super) fn tap(&mut self, levels: &Levels, texel: Ir, is_there: Option<Ir>, reference: Option<Ir>) -> Vec<Ir> {
        let words = self.load(levels, texel);
        let mut numbers: Vec<Ir> = (0..self.computed()).map(|component| self.decoded(&words, component)).collect();
        if let Some(is_there) = is_there {
            for (component, number) in numbers.iter_mut().enumerate() {
                let border = self.border(component);
                *number = self.choose(is_there, *number, border);
            }
        }
        self.compared(&mut numbers, reference);
        numbers
    }

    /// Emits `border` of the sampler.
    fn border(&mut self, component: usize) -> Ir {
        let word = self.known.state.border[component];
        if self.known.format.is_integer() {
            let word = self.word(word);
            return self.float(word);
        }
        self.number(f32::from_bits(word) * self.known.format.divisor())
    }

    /// Emits the border as the filter uses it.
    pub(super) fn border_tap(&mut self, reference: Option<Ir>) -> Vec<Ir> {
        let mut numbers: Vec<Ir> = (0..self.computed()).map(|component| self.border(component)).collect();
        self.compared(&mut numbers, reference);
        numbers
    }

    /// Emits `compared` of the sampler, if there is a reference value.
    fn compared(&mut self, numbers: &mut [Ir], reference: Option<Ir>) {
        let (Some(reference), [number, ..]) = (reference, numbers) else { return };
        let value = self.divided(*number, self.known.format.divisor());
        *number = self.holds(reference, value);
    }

    /// Emits 1 where a comparison with a value holds, else 0.
    fn holds(&mut self, reference: Ir, value: Ir) -> Ir {
        let condition = match self.known.state.compare {
            Compare::Never => return self.number(0.0),
            Compare::Always => return self.number(1.0),
            Compare::Less => FloatCC::LessThan,
            Compare::Equal => FloatCC::Equal,
            Compare::LessOrEqual => FloatCC::LessThanOrEqual,
            Compare::Greater => FloatCC::GreaterThan,
            Compare::NotEqual => FloatCC::NotEqual,
            Compare::GreaterOrEqual => FloatCC::GreaterThanOrEqual,
        };
        let mask = self.lanes.builder.ins().fcmp(condition, reference, value);
        let one = self.word(1f32.to_bits());
        let result = self.lanes.builder.ins().band(mask, one);
        self.float(result)
    }

    /// Emits `words` of the sampler: a component of texels as it is fetched, or the result of their comparison.
    pub(super) fn word_of_tap(
        &mut self,
        levels: &Levels,
        texel: Ir,
        is_there: Option<Ir>,
        component: usize,
        reference: Option<Ir>,
    ) -> Ir {
        let words = self.load(levels, texel);
        let component = if reference.is_some() { 0 } else { component };
        let number = self.decoded(&words, component);
        let mut value = self.divided(number, self.known.format.divisor());
        if let Some(is_there) = is_there {
            let border = self.number(f32::from_bits(self.known.state.border[component]));
            value = self.choose(is_there, value, border);
        }
        if let Some(reference) = reference {
            value = self.holds(reference, value);
        }
        self.bits(value)
    }

    /// Emits words of the lanes' texels where a mask is set, else 0.
    pub(super) fn fetched(&mut self, levels: &Levels, texel: Ir, is_there: Ir) -> Vec<Ir> {
        let words = self.load(levels, texel);
        let values = (0..self.components).map(|component| {
            let number = self.decoded(&words, component);
            let value = self.divided(number, self.known.format.divisor());
            let word = self.bits(value);
            self.lanes.builder.ins().band(word, is_there)
        });
        values.collect()
    }

    /// Loads texels of four floats for each lane.
    pub(super) fn rows(&mut self, levels: &Levels, texel: Ir) -> [Ir; 4] {
        self.addresses(levels, texel, 4)
            .map(|address| self.lanes.builder.ins().load(F32X4, readonly_flags(), address, 0))
    }
}
