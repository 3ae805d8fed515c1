//! Levels of detail of a lookup in code, and the corresponding mip levels.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{I32, I32X4, I64};
use cranelift_codegen::ir::{InstBuilder, Type, Value as Ir};
use tgsi_environment::SamplerDim;
use tgsi_environment::TextureLookup;

use super::LookupEmitter;
use super::operands::Operands;
use crate::native::emission::emitter::readonly_flags;
use crate::sampler::level_of_detail::{ROOT, SERIES};
use crate::sampler::{Level, MipFilter};

/// The mip level that each lane reads.
#[derive(Clone, Copy)]
pub(super) struct Levels {
    /// The size in texels, as integers.
    pub size: [Ir; 2],
    /// The address of the first texel for each lane.
    pub start: [Ir; 4],
    /// Its images, if images other than the first are read.
    pub images: Option<Images>,
}

/// The images of a level.
#[derive(Clone, Copy)]
pub(super) struct Images {
    /// Their number, as integers.
    pub count: Ir,
    /// The bytes of each, by lane.
    pub bytes: [Ir; 4],
}

impl LookupEmitter<'_, '_> {
    /// Emits `log2` of the sampler.
    fn log2(&mut self, value: Ir) -> Ir {
        let bits = self.bits(value);
        let rest = self.word(0x7fff_ffff);
        let bits = self.lanes.builder.ins().band(bits, rest);
        let root = self.word(ROOT as u32);
        let exponent = self.lanes.builder.ins().isub(bits, root);
        let exponent = self.lanes.builder.ins().sshr_imm(exponent, 23);
        let shifted = self.lanes.builder.ins().ishl_imm(exponent, 23);
        let mantissa = self.lanes.builder.ins().isub(bits, shifted);
        let mantissa = self.float(mantissa);
        let one = self.number(1.0);
        let (below, above) = (self.sub(mantissa, one), self.add(mantissa, one));
        let ratio = self.lanes.builder.ins().fdiv(below, above);
        let square = self.mul(ratio, ratio);
        let mut series = self.number(SERIES[3]);
        for coefficient in [SERIES[2], SERIES[1], SERIES[0]] {
            let coefficient = self.number(coefficient);
            let product = self.mul(square, series);
            series = self.add(coefficient, product);
        }
        let exponent = self.floats_of(exponent);
        let fraction = self.mul(ratio, series);
        self.add(exponent, fraction)
    }

    /// Emits `differences` of the sampler.
    fn differences(&mut self, coordinate: Ir) -> [Ir; 2] {
        [([1, 1, 3, 3], [0, 0, 2, 2]), ([2, 3, 2, 3], [0, 1, 0, 1])].map(|(plus, minus)| {
            let bits = self.bits(coordinate);
            let (plus, minus) = (self.lanes.shuffle(bits, plus), self.lanes.shuffle(bits, minus));
            let (plus, minus) = (self.float(plus), self.float(minus));
            self.sub(plus, minus)
        })
    }

    /// Emits `natural` of the sampler.
    fn natural(&mut self, operands: &Operands) -> Ir {
        let axes = usize::from(self.dim.num_coords());
        let coordinates = operands.coordinates;
        // By direction on the screen and coordinate.
        let mut change = [[coordinates[0]; 3]; 2];
        for axis in 0..axes {
            let derivatives = match operands.gradients {
                Some(gradients) => gradients.map(|gradient| gradient[axis]),
                None => self.differences(coordinates[axis]),
            };
            for (change, derivative) in change.iter_mut().zip(derivatives) {
                change[axis] = derivative;
            }
        }
        let base = self.level_of_all(None);
        let mut sizes = vec![base.size[0]; axes];
        if self.dim == SamplerDim::Cube {
            let direction = self.direction([coordinates[0], coordinates[1], coordinates[2]]);
            for change in &mut change {
                let [s, t] = self.derivative(&direction, *change);
                (change[0], change[1]) = (s, t);
            }
            sizes = vec![base.size[0], base.size[1]];
        } else if axes > 1 {
            sizes[1] = base.size[1];
            if let (3, Some(images)) = (axes, base.images) {
                sizes[2] = images.count;
            }
        }
        let sizes: Vec<Ir> = sizes
            .into_iter()
            .map(|size| if self.unnormalized { self.number(1.0) } else { self.floats_of(size) })
            .collect();
        let [x, y] = change.map(|change| {
            let squares = sizes.iter().zip(change).map(|(&size, change)| {
                let texels = self.mul(change, size);
                self.mul(texels, texels)
            });
            let squares: Vec<Ir> = squares.collect();
            squares.into_iter().reduce(|sum, square| self.add(sum, square)).unwrap_or(change[0])
        });
        let longer = self.at_least(x, y);
        let logarithm = self.log2(longer);
        let half = self.number(0.5);
        self.mul(half, logarithm)
    }

    /// Emits `unlimited` of the sampler.
    pub(super) fn unlimited(&mut self, operands: &Operands) -> Ir {
        let bias = self.number(self.known.state.lod_bias);
        let given = match operands.lod {
            Some(lod) => self.float(lod),
            None => self.number(0.0),
        };
        match self.lookup {
            TextureLookup::Explicit => self.add(given, bias),
            TextureLookup::Bias => {
                let (natural, bias) = (self.natural(operands), self.add(bias, given));
                self.add(natural, bias)
            }
            _ => {
                let natural = self.natural(operands);
                self.add(natural, bias)
            }
        }
    }

    /// Emits `limited` of the sampler.
    pub(super) fn limited(&mut self, lod: Ir) -> Ir {
        let state = self.known.state;
        let (low, high) = (self.number(state.min_lod), self.number(state.max_lod));
        let lod = self.at_least(lod, low);
        self.at_most(lod, high)
    }

    /// Emits `query` of the sampler: words of the components.
    pub(super) fn query(&mut self, operands: &Operands) -> Vec<Ir> {
        let lod = self.unlimited(operands);
        let limited = self.limited(lod);
        let zero = self.number(0.0);
        let used = match self.levels_of(limited) {
            (None, _) => zero,
            (Some(level), None) => self.floats_of(level),
            (Some(level), Some(weight)) => {
                let level = self.floats_of(level);
                self.add(level, weight)
            }
        };
        [used, lod, zero, zero].into_iter().take(self.components).map(|value| self.bits(value)).collect()
    }

    /// Emits `levels` of the sampler: numbers of levels, and weights of the next ones if there are two.
    pub(super) fn levels_of(&mut self, lod: Ir) -> (Option<Ir>, Option<Ir>) {
        if self.known.state.mip_filter == MipFilter::None {
            return (None, None);
        }
        let (zero, last) = (self.number(0.0), self.floats_of(self.last));
        let lod = self.at_least(lod, zero);
        let lod = self.at_most(lod, last);
        if self.known.state.mip_filter == MipFilter::Nearest {
            let half = self.number(0.5);
            let above = self.add(lod, half);
            let whole = self.whole_of(above);
            let again = self.floats_of(whole);
            let tie = self.lanes.builder.ins().fcmp(FloatCC::Equal, again, above);
            return (Some(self.lanes.builder.ins().iadd(whole, tie)), None);
        }
        let whole = self.whole_of(lod);
        let again = self.floats_of(whole);
        let weight = self.sub(lod, again);
        (Some(whole), Some(weight))
    }

    /// Returns whether images of a level other than the first may be read.
    fn has_images(&self) -> bool {
        self.is_array || matches!(self.dim, SamplerDim::Dim3D | SamplerDim::Cube)
    }

    /// Loads a field of a level at an address.
    fn field_at(&mut self, level: Ir, ty: Type, field: usize) -> Ir {
        self.lanes.builder.ins().load(ty, readonly_flags(), level, field as i32)
    }

    fn start_at(&mut self, level: Ir) -> Ir {
        let start = self.field_at(level, I64, offset_of!(Level, start));
        self.lanes.builder.ins().iadd(self.texels, start)
    }

    /// Returns the address of a level by its number, which is at most that of the last.
    fn level_address(&mut self, number: Ir) -> Ir {
        let number = self.lanes.builder.ins().uextend(I64, number);
        let distance = self.lanes.builder.ins().imul_imm(number, size_of::<Level>() as i64);
        self.lanes.builder.ins().iadd(self.levels, distance)
    }

    /// Returns the number of images of the largest level, in all lanes.
    pub(super) fn base_images(&mut self) -> Ir {
        let images = self.field_at(self.levels, I32, offset_of!(Level, images));
        self.lanes.splat_value(images)
    }

    /// Returns the same level for all lanes: the one with a number, or the largest.
    pub(super) fn level_of_all(&mut self, number: Option<Ir>) -> Levels {
        let level = number.map_or(self.levels, |number| self.level_address(number));
        let size = [offset_of!(Level, width), offset_of!(Level, height)].map(|field| {
            let size = self.field_at(level, I32, field);
            self.lanes.splat_value(size)
        });
        let start = self.start_at(level);
        let images = self.has_images().then(|| {
            let count = self.field_at(level, I32, offset_of!(Level, images));
            let bytes = self.field_at(level, I64, offset_of!(Level, image_bytes));
            Images { count: self.lanes.splat_value(count), bytes: [bytes; 4] }
        });
        Levels { size, start: [start; 4], images }
    }

    /// Returns the levels of the lanes by their numbers, or the largest. Usually they are the same.
    pub(super) fn level_of_each(&mut self, numbers: Option<Ir>) -> Levels {
        let Some(numbers) = numbers else { return self.level_of_all(None) };
        let numbers = self.lanes.builder.ins().umin(numbers, self.last);
        let has_images = self.has_images();
        let b = &mut *self.lanes.builder;
        let (same, different, merge) = (b.create_block(), b.create_block(), b.create_block());
        let parameters = [I32X4, I32X4, I64, I64, I64, I64];
        let parameters = parameters.map(|ty| b.append_block_param(merge, ty));
        let of_images = [I32X4, I64, I64, I64, I64];
        let of_images = has_images.then(|| of_images.map(|ty| b.append_block_param(merge, ty)));
        let first = self.lanes.shuffle(numbers, [0; 4]);
        let equal = self.lanes.builder.ins().icmp(IntCC::Equal, numbers, first);
        let all = self.lanes.builder.ins().vall_true(equal);
        self.lanes.builder.ins().brif(all, same, &[], different, &[]);
        let finish = |emitter: &mut Self, levels: &Levels| {
            let mut arguments = levels.size.to_vec();
            arguments.extend(levels.start);
            if let Some(images) = levels.images {
                arguments.push(images.count);
                arguments.extend(images.bytes);
            }
            let arguments: Vec<_> = arguments.into_iter().map(Into::into).collect();
            emitter.lanes.builder.ins().jump(merge, &arguments);
        };
        self.lanes.builder.switch_to_block(same);
        self.lanes.builder.seal_block(same);
        let number = self.lanes.builder.ins().extractlane(numbers, 0);
        let levels = self.level_of_all(Some(number));
        finish(self, &levels);
        self.lanes.builder.switch_to_block(different);
        self.lanes.builder.seal_block(different);
        let mut levels = Levels { size: [numbers; 2], start: [self.texels; 4], images: None };
        let mut images = Images { count: numbers, bytes: [self.texels; 4] };
        for lane in 0..4u8 {
            let number = self.lanes.builder.ins().extractlane(numbers, lane);
            let level = self.level_address(number);
            for (axis, field) in [offset_of!(Level, width), offset_of!(Level, height)].into_iter().enumerate() {
                let size = self.field_at(level, I32, field);
                levels.size[axis] = self.lanes.builder.ins().insertlane(levels.size[axis], size, lane);
            }
            levels.start[usize::from(lane)] = self.start_at(level);
            if has_images {
                let count = self.field_at(level, I32, offset_of!(Level, images));
                images.count = self.lanes.builder.ins().insertlane(images.count, count, lane);
                images.bytes[usize::from(lane)] = self.field_at(level, I64, offset_of!(Level, image_bytes));
            }
        }
        levels.images = has_images.then_some(images);
        finish(self, &levels);
        self.lanes.builder.switch_to_block(merge);
        self.lanes.builder.seal_block(merge);
        let [width, height, a, b, c, d] = parameters;
        let images = of_images.map(|[count, a, b, c, d]| Images { count, bytes: [a, b, c, d] });
        Levels { size: [width, height], start: [a, b, c, d], images }
    }

    /// Selects the image with the given index in each level; the index may be out of range.
    pub(super) fn with_image(&mut self, levels: &Levels, image: Option<Ir>) -> Levels {
        let (Some(images), Some(image)) = (levels.images, image) else { return *levels };
        let one = self.word(1);
        let last = self.lanes.builder.ins().isub(images.count, one);
        let image = self.lanes.builder.ins().umin(image, last);
        let mut start = levels.start;
        for (lane, (start, bytes)) in (0..).zip(start.iter_mut().zip(images.bytes)) {
            let number = self.lanes.builder.ins().extractlane(image, lane);
            let number = self.lanes.builder.ins().uextend(I64, number);
            let distance = self.lanes.builder.ins().imul(number, bytes);
            *start = self.lanes.builder.ins().iadd(*start, distance);
        }
        Levels { start, ..*levels }
    }
}
