//! The texels of a lookup in code, and their weighted sums.
//!
//! Two texels of a row that lie side by side are loaded together where they are four bytes each. Only where one of them
//! is at an end of its row, and so wrapped to the other end or clamped, each is loaded by itself.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32X4, F64, F64X2, I32, I32X4, I64};
use cranelift_codegen::ir::{InstBuilder, Value as Ir};

use super::alu::flags;
use super::emit::{fixed, trusted};
use super::lookups::{Levels, LookupEmitter};
use crate::sampler::wrap::FARTHEST;
use crate::sampler::{Filter, Format, MipFilter, Wrap};

/// Bytes stay where they are in a word when they become numbers, which are then the larger by this factor. It is a
/// power of two, so that all sums of them are as well. The last byte is shifted.
const SCALES: [f32; 4] = [1.0, 256.0, 65_536.0, 1.0];

/// The two texels that a filter takes of a row or a column.
struct Neighbours {
    first: Ir,
    second: Ir,
    /// Set where the second does not follow the first.
    apart: Ir,
    /// The weight of the second.
    weight: Ir,
}

impl LookupEmitter<'_, '_> {
    /// As `fold` of the sampler.
    pub(super) fn fold(&mut self, coordinate: Ir, wrap: Wrap) -> Ir {
        let folded = match wrap {
            Wrap::Repeat => {
                let whole = self.lanes.builder.ins().floor(coordinate);
                self.sub(coordinate, whole)
            }
            Wrap::MirroredRepeat => {
                let (half, two) = (self.number(0.5), self.number(2.0));
                let half = self.mul(coordinate, half);
                let whole = self.lanes.builder.ins().floor(half);
                let whole = self.mul(two, whole);
                self.sub(coordinate, whole)
            }
            _ => return coordinate,
        };
        let zero = self.number(0.0);
        self.at_least(folded, zero)
    }

    /// As `position` of the sampler.
    fn position(&mut self, folded: Ir, scale: Ir, wrap: Wrap) -> Ir {
        if !self.unnormalized {
            return self.mul(folded, scale);
        }
        if !matches!(wrap, Wrap::Repeat | Wrap::MirroredRepeat) {
            return folded;
        }
        let part = self.lanes.builder.ins().fdiv(folded, scale);
        let part = self.fold(part, wrap);
        self.mul(part, scale)
    }

    /// As `split` of the sampler: texels, and the distances from their starts.
    fn split(&mut self, position: Ir, wrap: Wrap) -> (Ir, Ir) {
        let mut position = position;
        if !matches!(wrap, Wrap::Repeat | Wrap::MirroredRepeat) {
            // Folded ones are near already.
            let (low, high) = (self.number(-FARTHEST), self.number(FARTHEST));
            position = self.at_least(position, low);
            position = self.at_most(position, high);
        }
        let start = self.lanes.builder.ins().floor(position);
        let texel = self.whole_of(start);
        (texel, self.sub(position, start))
    }

    /// As `wrapped` of the sampler, for the numbers that folded coordinates give: from -1 to the size, or twice the
    /// size for mirrored ones. The result is inside for all numbers.
    fn wrapped(&mut self, texel: Ir, size: Ir, wrap: Wrap) -> Ir {
        let (zero, one) = (self.word(0), self.word(1));
        let b = &mut *self.lanes.builder;
        let last = b.ins().isub(size, one);
        match wrap {
            Wrap::Repeat => {
                let beyond = b.ins().icmp(IntCC::Equal, texel, size);
                let texel = b.ins().band_not(texel, beyond);
                // -1 is the largest one as an unsigned number.
                b.ins().umin(texel, last)
            }
            _ => {
                let texel = if wrap == Wrap::MirroredRepeat {
                    let beyond = b.ins().icmp(IntCC::SignedGreaterThan, texel, last);
                    let double = b.ins().iadd(size, last);
                    let mirrored = b.ins().isub(double, texel);
                    b.ins().bitselect(beyond, mirrored, texel)
                } else {
                    texel
                };
                let texel = b.ins().smax(texel, zero);
                b.ins().smin(texel, last)
            }
        }
    }

    /// A texel and the next one, both wrapped.
    fn neighbours(&mut self, texel: Ir, weight: Ir, size: Ir, wrap: Wrap) -> Neighbours {
        let one = self.word(1);
        if wrap == Wrap::Repeat {
            let b = &mut *self.lanes.builder;
            let last = b.ins().isub(size, one);
            let first = b.ins().umin(texel, last);
            let apart = b.ins().icmp(IntCC::Equal, first, last);
            let next = b.ins().iadd(first, one);
            return Neighbours { first, second: b.ins().band_not(next, apart), apart, weight };
        }
        let first = self.wrapped(texel, size, wrap);
        let next = self.lanes.builder.ins().iadd(texel, one);
        let second = self.wrapped(next, size, wrap);
        let next = self.lanes.builder.ins().iadd(first, one);
        let apart = self.lanes.builder.ins().icmp(IntCC::NotEqual, second, next);
        Neighbours { first, second, apart, weight }
    }

    /// The addresses of texels of `1 << shift` bytes by their numbers in the level.
    fn addresses(&mut self, levels: &Levels, texel: Ir, shift: i64) -> [Ir; 4] {
        let mut addresses = levels.start;
        for (lane, address) in (0..).zip(&mut addresses) {
            let number = self.lanes.builder.ins().extractlane(texel, lane);
            let number = self.lanes.builder.ins().uextend(I64, number);
            let distance = self.lanes.builder.ins().ishl_imm(number, shift);
            *address = self.lanes.builder.ins().iadd(*address, distance);
        }
        addresses
    }

    /// Four bytes of each lane, at its texel.
    fn words(&mut self, levels: &Levels, texel: Ir) -> Ir {
        let mut words = texel;
        for (lane, address) in (0..).zip(self.addresses(levels, texel, 2)) {
            let word = self.lanes.builder.ins().load(I32, fixed(), address, 0);
            words = self.lanes.builder.ins().insertlane(words, word, lane);
        }
        words
    }

    /// The same and those of the next texel. The caller makes sure that there is one in the row.
    fn pairs(&mut self, levels: &Levels, texel: Ir) -> [Ir; 2] {
        let addresses = self.addresses(levels, texel, 2);
        // Not loads that may be made elsewhere: they are right under a condition only.
        let [a, b, c, d] = addresses.map(|address| self.lanes.builder.ins().load(F64, trusted(), address, 0));
        let [two, others] = [(a, b), (c, d)].map(|(even, odd)| {
            let vector = self.lanes.builder.ins().splat(F64X2, even);
            let vector = self.lanes.builder.ins().insertlane(vector, odd, 1);
            self.lanes.builder.ins().bitcast(I32X4, flags(), vector)
        });
        [[0, 2, 4, 6], [1, 3, 5, 7]].map(|lanes| self.lanes.shuffle_two(two, others, lanes))
    }

    /// Texels of four floats of each lane.
    fn rows(&mut self, levels: &Levels, texel: Ir) -> [Ir; 4] {
        self.addresses(levels, texel, 4).map(|address| self.lanes.builder.ins().load(F32X4, fixed(), address, 0))
    }

    /// The components of the lanes' rows.
    fn components(&mut self, rows: [Ir; 4]) -> Vec<Ir> {
        let rows = rows.map(|row| self.bits(row));
        let columns = self.lanes.transpose(rows);
        columns.into_iter().take(self.components).map(|column| self.float(column)).collect()
    }

    /// A component of four bytes as a number, see [`SCALES`].
    fn unpacked(&mut self, words: Ir, component: usize) -> Ir {
        let part = if component < 3 {
            let mask = self.word(0xff << (8 * component));
            self.lanes.builder.ins().band(words, mask)
        } else {
            self.lanes.builder.ins().ushr_imm(words, 24)
        };
        self.floats_of(part)
    }

    /// What the numbers of a component are divided by at last.
    pub(super) fn divisor(&self, component: usize) -> f32 {
        let is_scaled = self.known.format == Format::Rgba8Unorm && self.known.state.mip_filter != MipFilter::Linear;
        self.known.format.divisor() * if is_scaled { SCALES[component & 3] } else { 1.0 }
    }

    /// Numbers of bytes as they are filtered further. Between levels, weights can be so small that products with them
    /// are denormal, which are rounded otherwise without the scale.
    fn finished(&mut self, mut values: Vec<Ir>) -> Vec<Ir> {
        if self.known.state.mip_filter == MipFilter::Linear {
            for (value, scale) in values.iter_mut().zip(SCALES).filter(|(_, scale)| *scale != 1.0) {
                let factor = self.number(scale.recip());
                *value = self.mul(*value, factor);
            }
        }
        values
    }

    /// The words of the four texels around the lanes' places, as the corners (0, 0), (1, 0), (0, 1), (1, 1), and the
    /// weights of the second columns and rows.
    fn corner_words(&mut self, levels: &Levels, columns: &Neighbours, rows: &Neighbours) -> ([Ir; 4], [Ir; 2]) {
        let width = levels.size[0];
        let b = &mut *self.lanes.builder;
        let (together, apart, merge) = (b.create_block(), b.create_block(), b.create_block());
        let words = [I32X4; 4].map(|ty| b.append_block_param(merge, ty));
        // Weights are parameters lest they be computed once more, after what is computed with them on the way.
        let weights = [F32X4; 2].map(|ty| b.append_block_param(merge, ty));
        let any = b.ins().vany_true(columns.apart);
        b.ins().brif(any, apart, &[], together, &[]);
        b.switch_to_block(together);
        b.seal_block(together);
        let corners = [rows.first, rows.second].map(|row| {
            let start = self.lanes.builder.ins().imul(row, width);
            let texel = self.lanes.builder.ins().iadd(start, columns.first);
            self.pairs(levels, texel)
        });
        let finish = |emitter: &mut Self, [above, below]: [[Ir; 2]; 2]| {
            let corners = [above[0], above[1], below[0], below[1], columns.weight, rows.weight].map(Into::into);
            emitter.lanes.builder.ins().jump(merge, &corners);
        };
        finish(self, corners);
        self.lanes.builder.switch_to_block(apart);
        self.lanes.builder.seal_block(apart);
        let corners = [rows.first, rows.second].map(|row| {
            let start = self.lanes.builder.ins().imul(row, width);
            [columns.first, columns.second].map(|column| {
                let texel = self.lanes.builder.ins().iadd(start, column);
                self.words(levels, texel)
            })
        });
        finish(self, corners);
        self.lanes.builder.switch_to_block(merge);
        self.lanes.builder.seal_block(merge);
        (words, weights)
    }

    /// The weighted sums of the texels around the lanes' places.
    fn linear(&mut self, levels: &Levels, columns: &Neighbours, rows: &Neighbours) -> Vec<Ir> {
        if self.known.format == Format::Rgba8Unorm {
            let (corners, [s, t]) = self.corner_words(levels, columns, rows);
            let sums = (0..self.components).map(|component| {
                let [a, b, c, d] = corners.map(|words| self.unpacked(words, component));
                let (above, below) = (self.mix(a, b, s), self.mix(c, d, s));
                self.mix(above, below, t)
            });
            let sums = sums.collect();
            return self.finished(sums);
        }
        // Each lane by itself, all components at once.
        let corners = [rows.first, rows.second].map(|row| {
            let start = self.lanes.builder.ins().imul(row, levels.size[0]);
            [columns.first, columns.second].map(|column| {
                let texel = self.lanes.builder.ins().iadd(start, column);
                self.rows(levels, texel)
            })
        });
        let sums = [0u8, 1, 2, 3].map(|lane| {
            let [s, t] = [columns.weight, rows.weight].map(|weight| {
                let bits = self.bits(weight);
                let same = self.lanes.shuffle(bits, [lane; 4]);
                self.float(same)
            });
            let [[a, b], [c, d]] = corners.map(|row| row.map(|texels| texels[usize::from(lane)]));
            let (above, below) = (self.mix(a, b, s), self.mix(c, d, s));
            self.mix(above, below, t)
        });
        self.components(sums)
    }

    /// The filtered numbers in levels.
    pub(super) fn filtered(&mut self, levels: &Levels, filter: Filter) -> Vec<Ir> {
        let wraps = [self.known.state.wrap[0], self.known.state.wrap[1]];
        let places = [0, 1].map(|axis| {
            let scale = self.floats_of(levels.size[axis]);
            let mut position = self.position(self.folded[axis], scale, wraps[axis]);
            if filter == Filter::Linear {
                let half = self.number(0.5);
                position = self.sub(position, half);
            }
            self.split(position, wraps[axis])
        });
        if filter == Filter::Linear {
            let [columns, rows] =
                [0, 1].map(|axis| self.neighbours(places[axis].0, places[axis].1, levels.size[axis], wraps[axis]));
            return self.linear(levels, &columns, &rows);
        }
        let [column, row] = [0, 1].map(|axis| self.wrapped(places[axis].0, levels.size[axis], wraps[axis]));
        let start = self.lanes.builder.ins().imul(row, levels.size[0]);
        let texel = self.lanes.builder.ins().iadd(start, column);
        if self.known.format == Format::Rgba8Unorm {
            let words = self.words(levels, texel);
            let numbers = (0..self.components).map(|component| self.unpacked(words, component)).collect();
            return self.finished(numbers);
        }
        let rows = self.rows(levels, texel);
        self.components(rows)
    }
}
