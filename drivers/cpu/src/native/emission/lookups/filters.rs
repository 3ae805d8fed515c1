//! The texels of a lookup in code, and their weighted sums.
//!
//! Two adjacent texels of a row are loaded together if they have four bytes each. Only where one of them is at an end
//! of its row, and therefore wrapped to the other end or clamped, each is loaded separately.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32X4, F64, I32X4};
use cranelift_codegen::ir::{InstBuilder, Value as Ir};
use tgsi_environment::SamplerDim;

use super::levels::Levels;
use super::operands::Operands;
use super::{LookupEmitter, TexturePosition};
use crate::native::emission::emitter::trusted_flags;
use crate::sampler::wrap::FARTHEST;
use crate::sampler::{Filter, Format, MipFilter, WrapMode};

/// Bytes keep their position in a word when they are converted to numbers, which are then too large by this factor. It
/// is a power of two, so that all their sums are exactly scaled, too. The last byte is shifted.
const SCALES: [f32; 4] = [1.0, 256.0, 65_536.0, 1.0];

/// The number of a texel in a row or column, in bounds.
#[derive(Clone, Copy)]
struct Texel {
    number: Ir,
    /// Set where the texel exists; elsewhere it is the border.
    is_there: Option<Ir>,
}

/// The two texels of a row or column that a filter uses.
struct Neighbours {
    texels: [Texel; 2],
    /// Set where the second does not follow the first, if that is possible.
    apart: Option<Ir>,
    /// The weight of the second.
    weight: Ir,
}

impl LookupEmitter<'_, '_> {
    /// Emits `fold` of the sampler.
    pub(super) fn fold(&mut self, coordinate: Ir, wrap: WrapMode) -> Ir {
        let folded = match wrap {
            WrapMode::Repeat => {
                let whole = self.lanes.builder.ins().floor(coordinate);
                self.sub(coordinate, whole)
            }
            WrapMode::MirroredRepeat => {
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

    /// Emits `position` of the sampler.
    fn position(&mut self, folded: Ir, scale: Ir, wrap: WrapMode) -> Ir {
        if !self.unnormalized {
            return self.mul(folded, scale);
        }
        if !matches!(wrap, WrapMode::Repeat | WrapMode::MirroredRepeat) {
            return folded;
        }
        let part = self.lanes.builder.ins().fdiv(folded, scale);
        let part = self.fold(part, wrap);
        self.mul(part, scale)
    }

    /// Emits `split` of the sampler: texels, and the distances from their starts.
    fn split(&mut self, position: Ir, wrap: WrapMode) -> (Ir, Ir) {
        let mut position = position;
        if !matches!(wrap, WrapMode::Repeat | WrapMode::MirroredRepeat) {
            // Folded ones are within bounds already.
            let (low, high) = (self.number(-FARTHEST), self.number(FARTHEST));
            position = self.at_least(position, low);
            position = self.at_most(position, high);
        }
        let start = self.lanes.builder.ins().floor(position);
        let texel = self.whole_of(start);
        (texel, self.sub(position, start))
    }

    /// Emits `wrapped` of the sampler. The numbers are those of folded coordinates: from -1 to the size, or twice the
    /// size for mirrored ones; or they have been `moved`.
    fn wrapped(&mut self, texel: Ir, size: Ir, wrap: WrapMode, moved: bool) -> Texel {
        let (zero, one) = (self.word(0), self.word(1));
        let last = self.lanes.builder.ins().isub(size, one);
        let mut is_there = None;
        let number = match wrap {
            WrapMode::Repeat if moved => self.brought_back(texel, size),
            WrapMode::Repeat => {
                let beyond = self.lanes.builder.ins().icmp(IntCC::Equal, texel, size);
                self.lanes.builder.ins().band_not(texel, beyond)
            }
            WrapMode::MirroredRepeat => {
                let double = self.lanes.builder.ins().iadd(size, size);
                let texel = if moved { self.brought_back(texel, double) } else { texel };
                let b = &mut *self.lanes.builder;
                let beyond = b.ins().icmp(IntCC::SignedGreaterThan, texel, last);
                let mirrored = b.ins().bnot(texel);
                let mirrored = b.ins().iadd(double, mirrored);
                let texel = b.ins().bitselect(beyond, mirrored, texel);
                b.ins().smax(texel, zero)
            }
            WrapMode::ClampToEdge => self.lanes.builder.ins().smax(texel, zero),
            WrapMode::ClampToBorder => {
                is_there = Some(self.lanes.builder.ins().icmp(IntCC::UnsignedLessThan, texel, size));
                texel
            }
            WrapMode::MirrorClampToEdge => {
                let sign = self.lanes.builder.ins().sshr_imm(texel, 31);
                self.lanes.builder.ins().bxor(texel, sign)
            }
        };
        // As unsigned numbers, negative ones are the largest.
        Texel { number: self.lanes.builder.ins().umin(number, last), is_there }
    }

    /// Wraps numbers that are less than a period outside of one. Others are left to the host.
    fn brought_back(&mut self, texel: Ir, period: Ir) -> Ir {
        let zero = self.word(0);
        let b = &mut *self.lanes.builder;
        let below = b.ins().icmp(IntCC::SignedLessThan, texel, zero);
        let next = b.ins().iadd(texel, period);
        let texel = b.ins().bitselect(below, next, texel);
        let above = b.ins().icmp(IntCC::SignedGreaterThanOrEqual, texel, period);
        let previous = b.ins().isub(texel, period);
        let texel = b.ins().bitselect(above, previous, texel);
        let outside = b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, texel, period);
        self.leave_if(outside);
        texel
    }

    /// Adds an offset, if there is one.
    fn moved(&mut self, texel: Ir, offset: Option<[Ir; 3]>, axis: usize) -> Ir {
        offset.map_or(texel, |offset| self.lanes.builder.ins().iadd(texel, offset[axis]))
    }

    /// Returns the texel at a place along an axis of `size` texels.
    fn texel_along(&mut self, place: &TexturePosition, axis: usize, size: Ir) -> Texel {
        let (wrap, scale) = (self.wrap[axis], self.floats_of(size));
        let position = self.position(place.at[axis], scale, wrap);
        let (texel, _) = self.split(position, wrap);
        let texel = self.moved(texel, place.offset, axis);
        self.wrapped(texel, size, wrap, place.offset.is_some())
    }

    /// Returns the two texels around a place along an axis of `size` texels.
    fn neighbours_along(&mut self, place: &TexturePosition, axis: usize, size: Ir) -> Neighbours {
        let (wrap, scale) = (self.wrap[axis], self.floats_of(size));
        let position = self.position(place.at[axis], scale, wrap);
        let half = self.number(0.5);
        let position = self.sub(position, half);
        let (texel, weight) = self.split(position, wrap);
        let texel = self.moved(texel, place.offset, axis);
        let one = self.word(1);
        let last = self.lanes.builder.ins().isub(size, one);
        if self.is_seamless() {
            let outside = self.lanes.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, texel, last);
            self.leave_if(outside);
            let next = self.lanes.builder.ins().iadd(texel, one);
            let texels =
                [texel, next].map(|texel| Texel { number: self.lanes.builder.ins().umin(texel, last), is_there: None });
            return Neighbours { texels, apart: None, weight };
        }
        let moved = place.offset.is_some();
        if wrap == WrapMode::Repeat && !moved {
            let b = &mut *self.lanes.builder;
            let first = b.ins().umin(texel, last);
            let apart = b.ins().icmp(IntCC::Equal, first, last);
            let next = b.ins().iadd(first, one);
            let texels = [first, b.ins().band_not(next, apart)].map(|number| Texel { number, is_there: None });
            return Neighbours { texels, apart: Some(apart), weight };
        }
        let first = self.wrapped(texel, size, wrap, moved);
        let next = self.lanes.builder.ins().iadd(texel, one);
        let second = self.wrapped(next, size, wrap, moved);
        let next = self.lanes.builder.ins().iadd(first.number, one);
        let apart = self.lanes.builder.ins().icmp(IntCC::NotEqual, second.number, next);
        Neighbours { texels: [first, second], apart: Some(apart), weight }
    }

    /// Leaves lookups in non-square faces to the host.
    pub(super) fn leave_unless_square(&mut self) {
        let [width, height] = self.level_of_all(None).size;
        let different = self.lanes.builder.ins().icmp(IntCC::NotEqual, width, height);
        self.leave_if(different);
    }

    /// Loads four bytes of each lane's texel, and of the next one. The caller guarantees that the next one is in the
    /// row.
    fn pairs(&mut self, levels: &Levels, texel: Ir) -> [Ir; 2] {
        let addresses = self.addresses(levels, texel, 2);
        // These loads must not be hoisted: they are valid only under a condition.
        let longs = addresses.map(|address| self.lanes.builder.ins().load(F64, trusted_flags(), address, 0));
        self.pairs_of_words(longs)
    }

    /// Returns the components of the lanes' rows.
    fn components(&mut self, rows: [Ir; 4]) -> Vec<Ir> {
        let rows = rows.map(|row| self.bits(row));
        let columns = self.lanes.transpose(rows);
        columns.into_iter().take(self.components).map(|column| self.float(column)).collect()
    }

    /// Returns whether all taps are texels, without conversion: the usual lookup, in two dimensions or more.
    fn is_plain(&self) -> bool {
        let is_border = self.wrap.iter().take(self.axes).any(|&wrap| wrap == WrapMode::ClampToBorder);
        self.axes > 1 && !self.is_shadow && !is_border
    }

    /// Returns whether numbers are bytes at their positions in a word, see [`SCALES`].
    fn has_scaled_bytes(&self) -> bool {
        matches!(self.known.format, Format::Rgba8Unorm | Format::Bgra8Unorm) && self.is_plain()
    }

    /// Returns the byte of a component.
    fn byte_of(&self, component: usize) -> usize {
        if self.known.format == Format::Bgra8Unorm && component < 3 { 2 - component } else { component }
    }

    /// Converts a component of four bytes to a number, see [`SCALES`].
    fn unpacked(&mut self, words: Ir, component: usize) -> Ir {
        let byte = self.byte_of(component);
        let part = if byte < 3 {
            let mask = self.word(0xff << (8 * byte));
            self.lanes.builder.ins().band(words, mask)
        } else {
            self.lanes.builder.ins().ushr_imm(words, 24)
        };
        self.floats_of(part)
    }

    /// Returns the divisor for the numbers of a component.
    pub(super) fn divisor(&self, component: usize) -> f32 {
        if self.is_shadow {
            return 1.0;
        }
        let is_scaled = self.has_scaled_bytes() && self.known.state.mip_filter != MipFilter::Linear;
        self.known.format.divisor() * if is_scaled { SCALES[self.byte_of(component) & 3] } else { 1.0 }
    }

    /// Prepares scaled numbers for further filtering. Between levels, weights can be so small that products with them
    /// are denormal, and would be rounded differently without the scale.
    fn finished(&mut self, mut values: Vec<Ir>) -> Vec<Ir> {
        if self.known.state.mip_filter == MipFilter::Linear {
            for (component, value) in values.iter_mut().enumerate() {
                let scale = SCALES[self.byte_of(component) & 3];
                if scale != 1.0 {
                    let factor = self.number(scale.recip());
                    *value = self.mul(*value, factor);
                }
            }
        }
        values
    }

    /// Returns the number of a texel in its image.
    fn texel_at(&mut self, levels: &Levels, column: Ir, row: Option<Ir>) -> Ir {
        let Some(row) = row else { return column };
        let start = self.lanes.builder.ins().imul(row, levels.size[0]);
        self.lanes.builder.ins().iadd(start, column)
    }

    /// Returns the conjunction of two masks; a missing one counts as set.
    fn both(&mut self, a: Option<Ir>, b: Option<Ir>) -> Option<Ir> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.lanes.builder.ins().band(a, b)),
            (one, other) => one.or(other),
        }
    }

    /// Returns the number of the texel in its image, and where it exists.
    fn texel_in_image(&mut self, levels: &Levels, column: Texel, row: Option<Texel>) -> Texel {
        let number = self.texel_at(levels, column.number, row.map(|row| row.number));
        Texel { number, is_there: self.both(column.is_there, row.and_then(|row| row.is_there)) }
    }

    /// Loads the words of the four texels around the lanes' places, as the corners (0, 0), (1, 0), (0, 1), (1, 1); also
    /// returns the weights of the second columns and rows.
    fn corner_words(&mut self, levels: &Levels, columns: &Neighbours, rows: &Neighbours) -> ([Ir; 4], [Ir; 2]) {
        let pairs = |emitter: &mut Self| {
            let [above, below] = rows.texels.map(|row| {
                let texel = emitter.texel_at(levels, columns.texels[0].number, Some(row.number));
                emitter.pairs(levels, texel)
            });
            [above[0], above[1], below[0], below[1]]
        };
        let Some(apart) = columns.apart else { return (pairs(self), [columns.weight, rows.weight]) };
        let b = &mut *self.lanes.builder;
        let (together, single, merge) = (b.create_block(), b.create_block(), b.create_block());
        let words = [I32X4; 4].map(|ty| b.append_block_param(merge, ty));
        // Passing the weights as parameters prevents their rematerialisation in the merge block.
        let weights = [F32X4; 2].map(|ty| b.append_block_param(merge, ty));
        let any = b.ins().vany_true(apart);
        b.ins().brif(any, single, &[], together, &[]);
        b.switch_to_block(together);
        b.seal_block(together);
        let corners = pairs(self);
        let finish = |emitter: &mut Self, [a, b, c, d]: [Ir; 4]| {
            let arguments = [a, b, c, d, columns.weight, rows.weight].map(Into::into);
            emitter.lanes.builder.ins().jump(merge, &arguments);
        };
        finish(self, corners);
        self.lanes.builder.switch_to_block(single);
        self.lanes.builder.seal_block(single);
        let corners = [0, 1, 2, 3].map(|corner| {
            let [column, row] = [columns.texels[corner & 1], rows.texels[corner >> 1]];
            let texel = self.texel_at(levels, column.number, Some(row.number));
            self.load(levels, texel)[0]
        });
        finish(self, corners);
        self.lanes.builder.switch_to_block(merge);
        self.lanes.builder.seal_block(merge);
        (words, weights)
    }

    /// Emits the weighted sums of the texels around the lanes' places, in an image. 1D images have no rows.
    fn linear(
        &mut self,
        levels: &Levels,
        columns: &Neighbours,
        rows: Option<&Neighbours>,
        reference: Option<Ir>,
    ) -> Vec<Ir> {
        match rows {
            Some(rows) if self.has_scaled_bytes() => self.linear_of_bytes(levels, columns, rows),
            Some(rows) if self.known.format == Format::Rgba32Float && self.is_plain() => {
                self.linear_of_floats(levels, columns, rows)
            }
            rows => self.linear_of_any(levels, columns, rows, reference),
        }
    }

    fn linear_of_bytes(&mut self, levels: &Levels, columns: &Neighbours, rows: &Neighbours) -> Vec<Ir> {
        let (corners, [s, t]) = self.corner_words(levels, columns, rows);
        let sums = (0..self.components).map(|component| {
            let [a, b, c, d] = corners.map(|words| self.unpacked(words, component));
            let (above, below) = (self.mix(a, b, s), self.mix(c, d, s));
            self.mix(above, below, t)
        });
        let sums = sums.collect();
        self.finished(sums)
    }

    /// Filters each lane separately, all components at once.
    fn linear_of_floats(&mut self, levels: &Levels, columns: &Neighbours, rows: &Neighbours) -> Vec<Ir> {
        let corners = rows.texels.map(|row| {
            columns.texels.map(|column| {
                let texel = self.texel_at(levels, column.number, Some(row.number));
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

    /// Filters any format, with borders and comparisons.
    fn linear_of_any(
        &mut self,
        levels: &Levels,
        columns: &Neighbours,
        rows: Option<&Neighbours>,
        reference: Option<Ir>,
    ) -> Vec<Ir> {
        let taps = |emitter: &mut Self, row: Option<Texel>| {
            columns.texels.map(|column| {
                let texel = emitter.texel_in_image(levels, column, row);
                emitter.tap(levels, texel.number, texel.is_there, reference)
            })
        };
        let above = taps(self, rows.map(|rows| rows.texels[0]));
        let below = rows.map(|rows| (taps(self, Some(rows.texels[1])), rows.weight));
        let has_border = columns.texels[0].is_there.or(rows.and_then(|rows| rows.texels[0].is_there)).is_some();
        let sums = (0..self.computed()).map(|component| {
            // All taps have the same value there.
            if self.lacking(component).is_some() && !has_border && reference.is_none() {
                return above[0][component];
            }
            let upper = self.mix(above[0][component], above[1][component], columns.weight);
            let Some((below, weight)) = &below else { return upper };
            let lower = self.mix(below[0][component], below[1][component], columns.weight);
            self.mix(upper, lower, *weight)
        });
        sums.collect()
    }

    /// Emits the filtered numbers in levels.
    pub(super) fn filtered(&mut self, place: &TexturePosition, levels: &Levels, filter: Filter) -> Vec<Ir> {
        let [width, height] = levels.size;
        let levels = self.with_image(levels, place.image);
        let slices = levels.images.filter(|_| self.axes == 3);
        let has_rows = self.axes > 1;
        if filter == Filter::Nearest {
            let column = self.texel_along(place, 0, width);
            let row = has_rows.then(|| self.texel_along(place, 1, height));
            let mut texel = self.texel_in_image(&levels, column, row);
            let mut levels = levels;
            if let Some(slices) = slices {
                let slice = self.texel_along(place, 2, slices.count);
                texel.is_there = self.both(texel.is_there, slice.is_there);
                levels = self.with_image(&levels, Some(slice.number));
            }
            return self.nearest(&levels, texel.number, texel.is_there, place.reference);
        }
        let columns = self.neighbours_along(place, 0, width);
        let rows = has_rows.then(|| self.neighbours_along(place, 1, height));
        let Some(slices) = slices else {
            return self.linear(&levels, &columns, rows.as_ref(), place.reference);
        };
        let slices = self.neighbours_along(place, 2, slices.count);
        let [first, second] = slices.texels.map(|slice| {
            let levels = self.with_image(&levels, Some(slice.number));
            let values = self.linear(&levels, &columns, rows.as_ref(), place.reference);
            let Some(is_there) = slice.is_there else { return values };
            let border = self.border_tap(place.reference);
            let both = values.into_iter().zip(border);
            both.map(|(value, border)| self.choose(is_there, value, border)).collect()
        });
        first.into_iter().zip(second).map(|(first, second)| self.mix(first, second, slices.weight)).collect()
    }

    /// Emits the numbers of the lanes' texels.
    fn nearest(&mut self, levels: &Levels, texel: Ir, is_there: Option<Ir>, reference: Option<Ir>) -> Vec<Ir> {
        if self.has_scaled_bytes() {
            let words = self.load(levels, texel)[0];
            let numbers = (0..self.components).map(|component| self.unpacked(words, component)).collect();
            return self.finished(numbers);
        }
        self.tap(levels, texel, is_there, reference)
    }

    /// Emits `gather` of the sampler: words of one component of four texels.
    pub(super) fn gather(
        &mut self,
        place: &TexturePosition,
        component: usize,
        offsets: Option<[[i8; 2]; 4]>,
    ) -> Vec<Ir> {
        let levels = self.level_of_all(None);
        let levels = self.with_image(&levels, place.image);
        let around = |emitter: &mut Self, place: &TexturePosition| {
            [0, 1].map(|axis| emitter.neighbours_along(place, axis, levels.size[axis]))
        };
        let word = |emitter: &mut Self, [columns, rows]: &[Neighbours; 2], corner: usize| {
            let (column, row) = (columns.texels[corner & 1], rows.texels[corner >> 1]);
            let texel = emitter.texel_in_image(&levels, column, Some(row));
            emitter.word_of_tap(&levels, texel.number, texel.is_there, component, place.reference)
        };
        let words = match offsets {
            Some(offsets) => offsets.map(|[x, y]| {
                let zero = self.word(0);
                let offset = [self.word(x as u32), self.word(y as u32), zero];
                let around = around(self, &TexturePosition { offset: Some(offset), ..*place });
                word(self, &around, 0)
            }),
            None => {
                let around = around(self, place);
                [2, 3, 1, 0].map(|corner| word(self, &around, corner))
            }
        };
        words.into_iter().take(self.components).collect()
    }

    /// Emits `fetch` of the sampler: words of texels by their numbers.
    pub(super) fn fetch(&mut self, operands: &Operands) -> Vec<Ir> {
        let is_multisampled = matches!(self.dim, SamplerDim::Ms | SamplerDim::SubpassMs);
        let zero = self.word(0);
        let number = if is_multisampled { zero } else { operands.lod.unwrap_or(zero) };
        let mut is_there = self.lanes.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, number, self.last);
        let levels = self.level_of_each((!is_multisampled).then_some(number));
        let axes = usize::from(self.dim.num_coords()).min(3);
        let mut along = |emitter: &mut Self, axis: usize, size: Ir| {
            let offset = operands.offset.filter(|_| axis < axes);
            let at = emitter.moved(operands.coordinates[axis & 3], offset, axis.min(2));
            let one = emitter.word(1);
            let b = &mut *emitter.lanes.builder;
            let inside = b.ins().icmp(IntCC::UnsignedLessThan, at, size);
            is_there = b.ins().band(is_there, inside);
            let last = b.ins().isub(size, one);
            b.ins().umin(at, last)
        };
        let column = along(self, 0, levels.size[0]);
        let row = (axes > 1).then(|| along(self, 1, levels.size[1]));
        let image = levels.images.filter(|_| self.is_array || axes == 3);
        let image = image.map(|images| along(self, axes + usize::from(self.is_array) - 1, images.count));
        let levels = self.with_image(&levels, image);
        let texel = self.texel_at(&levels, column, row);
        self.fetched(&levels, texel, is_there)
    }
}
