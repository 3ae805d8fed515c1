//! Lookups in code: textures of known units, looked up without a call. Here levels are chosen; [`super::filters`] has
//! what is done in each.
//!
//! The steps are those of [`crate::sampler`], in the same order and with the same roundings, so the results have the
//! same bits. A value is a vector of one float for each lane of the quad.
//!
//! Every texel that is read is inside its level, whatever the coordinates are: columns and rows end in a clamp, levels
//! too, and both bounds come from the texture itself.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32X4, I32, I32X4, I64};
use cranelift_codegen::ir::{InstBuilder, Value as Ir};
use cranelift_frontend::Variable;
use tgsi_ir::alu::BaseType;
use tgsi_ir::body::TexSrcKind;
use tgsi_ir::intrinsics::indices::SamplerDim;
use tgsi_ir::run::TextureLookup;
use tgsi_ir::run::program::{Program, Texture};

use super::alu::{Lanes, flags};
use super::context::{MAX_KNOWN, offsets};
use super::emit::{Emitter, fixed};
use crate::sampler::level_of_detail::{ROOT, SERIES};
use crate::sampler::{Filter, Known, Level, MipFilter};

/// Most lookups of a stretch that are made in its code, each some hundreds of instructions.
pub(super) const MAX_LOOKUPS: usize = 48;

/// The number among known units of those that a texture instruction names, if code can be made for it.
pub(super) fn known_unit(program: &Program, texture: &Texture, known: &[Known]) -> Option<usize> {
    use TexSrcKind as K;
    let data = &texture.data;
    let plain = [K::Comparator, K::Offset, K::MinLod, K::MsIndex, K::Plane];
    let float = |kind: K, components: u8| {
        texture.source(kind).is_none_or(|value| value.bits == 32 && value.components >= components)
    };
    let fits = plain.into_iter().all(|kind| texture.source(kind).is_none())
        && float(K::Coord, 2)
        && float(K::Lod, 1)
        && float(K::Bias, 1)
        && float(K::Projector, 1)
        && float(K::Ddx, 2)
        && float(K::Ddy, 2)
        && texture.source(K::Coord).is_some()
        && matches!(data.dim, SamplerDim::Dim2D | SamplerDim::Rect)
        && data.coord_components >= 2
        && !(data.is_array || data.is_shadow || data.is_sparse)
        && data.dest_type.base == BaseType::Float
        && texture.dest.bits == 32
        && texture.dest.components <= 4
        && match texture.lookup() {
            Some(TextureLookup::Implicit | TextureLookup::Explicit | TextureLookup::Bias | TextureLookup::QueryLod) => {
                true
            }
            Some(TextureLookup::Gradient) => [K::Ddx, K::Ddy].into_iter().all(|kind| texture.source(kind).is_some()),
            _ => false,
        };
    let (unit, sampler) = program.constant_units(texture).filter(|_| fits)?;
    let known = known.iter().take(MAX_KNOWN);
    known.enumerate().find(|(_, known)| (known.texture, known.sampler) == (unit, sampler)).map(|(number, _)| number)
}

/// The level that each lane reads.
pub(super) struct Levels {
    /// Size in texels, as integers.
    pub size: [Ir; 2],
    /// The address of the first texel for each lane.
    pub start: [Ir; 4],
}

/// Where the lanes look.
struct Place {
    coordinates: [Ir; 2],
    /// Derivatives of the coordinates by x and y, where the shader gives them.
    gradients: Option<[[Ir; 2]; 2]>,
}

/// Makes the code of a lookup.
pub(super) struct LookupEmitter<'b, 'f> {
    pub lanes: Lanes<'b, 'f>,
    pub known: Known,
    pub components: usize,
    /// Address of the texels, of the levels, number of the last level.
    texels: Ir,
    levels: Ir,
    last: Ir,
    /// Folded coordinates, or those that count texels.
    pub folded: [Ir; 2],
    /// Whether coordinates count texels.
    pub unnormalized: bool,
    /// Whether the code is for x86-64.
    is_x86: bool,
}

impl LookupEmitter<'_, '_> {
    pub(super) fn word(&mut self, word: u32) -> Ir {
        self.lanes.splat(word)
    }

    pub(super) fn number(&mut self, value: f32) -> Ir {
        let word = self.lanes.splat(value.to_bits());
        self.float(word)
    }

    pub(super) fn float(&mut self, value: Ir) -> Ir {
        self.lanes.builder.ins().bitcast(F32X4, flags(), value)
    }

    pub(super) fn bits(&mut self, value: Ir) -> Ir {
        self.lanes.builder.ins().bitcast(I32X4, flags(), value)
    }

    pub(super) fn add(&mut self, a: Ir, b: Ir) -> Ir {
        self.lanes.builder.ins().fadd(a, b)
    }

    pub(super) fn sub(&mut self, a: Ir, b: Ir) -> Ir {
        self.lanes.builder.ins().fsub(a, b)
    }

    pub(super) fn mul(&mut self, a: Ir, b: Ir) -> Ir {
        self.lanes.builder.ins().fmul(a, b)
    }

    fn above(&mut self, a: Ir, b: Ir) -> Ir {
        self.lanes.builder.ins().fcmp(FloatCC::GreaterThan, a, b)
    }

    /// Floats where a mask is set, others elsewhere.
    fn choose(&mut self, mask: Ir, a: Ir, b: Ir) -> Ir {
        let mask = self.float(mask);
        self.lanes.builder.ins().bitselect(mask, a, b)
    }

    /// The larger one, the second if one is no number.
    pub(super) fn at_least(&mut self, a: Ir, low: Ir) -> Ir {
        // In this form it is one instruction of x86.
        let mask = self.lanes.builder.ins().fcmp(FloatCC::LessThan, low, a);
        self.choose(mask, a, low)
    }

    pub(super) fn at_most(&mut self, a: Ir, high: Ir) -> Ir {
        let mask = self.lanes.builder.ins().fcmp(FloatCC::LessThan, a, high);
        self.choose(mask, a, high)
    }

    pub(super) fn floats_of(&mut self, value: Ir) -> Ir {
        self.lanes.builder.ins().fcvt_from_sint(F32X4, value)
    }

    /// Floats that integers can hold as such, rounded towards zero; any integers for others.
    pub(super) fn whole_of(&mut self, value: Ir) -> Ir {
        if self.is_x86 {
            self.lanes.builder.ins().x86_cvtt2dq(I32X4, value)
        } else {
            self.lanes.builder.ins().fcvt_to_sint_sat(I32X4, value)
        }
    }

    /// As `mix` of the sampler.
    pub(super) fn mix(&mut self, a: Ir, b: Ir, weight: Ir) -> Ir {
        let difference = self.sub(b, a);
        let part = self.mul(difference, weight);
        self.add(a, part)
    }

    // ---- levels of detail

    /// As `log2` of the sampler.
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

    /// As `differences` of the sampler.
    fn differences(&mut self, coordinate: Ir) -> [Ir; 2] {
        [([1, 1, 3, 3], [0, 0, 2, 2]), ([2, 3, 2, 3], [0, 1, 0, 1])].map(|(plus, minus)| {
            let bits = self.bits(coordinate);
            let (plus, minus) = (self.lanes.shuffle(bits, plus), self.lanes.shuffle(bits, minus));
            let (plus, minus) = (self.float(plus), self.float(minus));
            self.sub(plus, minus)
        })
    }

    /// As `natural` of the sampler.
    fn natural(&mut self, place: &Place) -> Ir {
        let base = self.level_of_all(None);
        let mut sums: [Option<Ir>; 2] = [None; 2];
        for (axis, size) in base.size.into_iter().enumerate() {
            let size = if self.unnormalized { self.number(1.0) } else { self.floats_of(size) };
            let derivatives = match place.gradients {
                Some(gradients) => gradients.map(|gradient| gradient[axis]),
                None => self.differences(place.coordinates[axis]),
            };
            for (sum, derivative) in sums.iter_mut().zip(derivatives) {
                let texels = self.mul(derivative, size);
                let square = self.mul(texels, texels);
                *sum = Some(match *sum {
                    Some(sum) => self.add(sum, square),
                    None => square,
                });
            }
        }
        let [x, y] = sums.map(|sum| sum.unwrap_or(place.coordinates[0]));
        let longer = self.at_least(x, y);
        let logarithm = self.log2(longer);
        let half = self.number(0.5);
        self.mul(half, logarithm)
    }

    /// As `unlimited` of the sampler.
    fn unlimited(&mut self, lookup: TextureLookup, place: &Place, given: Option<Ir>) -> Ir {
        let bias = self.number(self.known.state.lod_bias);
        let given = given.map(|given| self.float(given));
        let zero = self.number(0.0);
        let given = given.unwrap_or(zero);
        match lookup {
            TextureLookup::Explicit => self.add(given, bias),
            TextureLookup::Bias => {
                let (natural, bias) = (self.natural(place), self.add(bias, given));
                self.add(natural, bias)
            }
            _ => {
                let natural = self.natural(place);
                self.add(natural, bias)
            }
        }
    }

    /// As `limited` of the sampler.
    fn limited(&mut self, lod: Ir) -> Ir {
        let state = self.known.state;
        let (low, high) = (self.number(state.min_lod), self.number(state.max_lod));
        let lod = self.at_least(lod, low);
        self.at_most(lod, high)
    }

    /// As `query` of the sampler: words of the components.
    fn query(&mut self, place: &Place) -> Vec<Ir> {
        let lod = self.unlimited(TextureLookup::QueryLod, place, None);
        let (last, limited) = (self.last, self.limited(lod));
        let zero = self.number(0.0);
        let used = match self.levels(limited, last) {
            (None, _) => zero,
            (Some(level), None) => self.floats_of(level),
            (Some(level), Some(weight)) => {
                let level = self.floats_of(level);
                self.add(level, weight)
            }
        };
        [used, lod, zero, zero].into_iter().take(self.components).map(|value| self.bits(value)).collect()
    }

    /// As `levels` of the sampler: numbers of levels, and weights of the next ones if there are two.
    fn levels(&mut self, lod: Ir, last: Ir) -> (Option<Ir>, Option<Ir>) {
        if self.known.state.mip_filter == MipFilter::None {
            return (None, None);
        }
        let (zero, last) = (self.number(0.0), self.floats_of(last));
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

    // ---- levels

    /// A field of a level at an address.
    fn size_at(&mut self, level: Ir, field: usize) -> Ir {
        self.lanes.builder.ins().load(I32, fixed(), level, field as i32)
    }

    fn start_at(&mut self, level: Ir) -> Ir {
        let start = self.lanes.builder.ins().load(I64, fixed(), level, offset_of!(Level, start) as i32);
        self.lanes.builder.ins().iadd(self.texels, start)
    }

    /// The address of a level by its number, which is at most that of the last.
    fn level_address(&mut self, number: Ir) -> Ir {
        let number = self.lanes.builder.ins().uextend(I64, number);
        let distance = self.lanes.builder.ins().imul_imm(number, size_of::<Level>() as i64);
        self.lanes.builder.ins().iadd(self.levels, distance)
    }

    /// The same level in all lanes: one by its number, or the largest.
    fn level_of_all(&mut self, number: Option<Ir>) -> Levels {
        let level = number.map_or(self.levels, |number| self.level_address(number));
        let size = [offset_of!(Level, width), offset_of!(Level, height)].map(|field| {
            let size = self.size_at(level, field);
            self.lanes.splat_value(size)
        });
        let start = self.start_at(level);
        Levels { size, start: [start; 4] }
    }

    /// The levels of the lanes. Nearly always they are the same.
    fn level_of_each(&mut self, numbers: Option<Ir>, last: Ir) -> Levels {
        let Some(numbers) = numbers else { return self.level_of_all(None) };
        let numbers = self.lanes.builder.ins().umin(numbers, last);
        let b = &mut *self.lanes.builder;
        let (same, different, merge) = (b.create_block(), b.create_block(), b.create_block());
        let parameters = [I32X4, I32X4, I64, I64, I64, I64];
        let parameters = parameters.map(|ty| b.append_block_param(merge, ty));
        let first = self.lanes.shuffle(numbers, [0; 4]);
        let equal = self.lanes.builder.ins().icmp(IntCC::Equal, numbers, first);
        let all = self.lanes.builder.ins().vall_true(equal);
        self.lanes.builder.ins().brif(all, same, &[], different, &[]);
        let finish = |emitter: &mut Self, levels: &Levels| {
            let [width, height] = levels.size;
            let [a, b, c, d] = levels.start;
            let arguments = [width, height, a, b, c, d].map(Into::into);
            emitter.lanes.builder.ins().jump(merge, &arguments);
        };
        self.lanes.builder.switch_to_block(same);
        self.lanes.builder.seal_block(same);
        let number = self.lanes.builder.ins().extractlane(numbers, 0);
        let levels = self.level_of_all(Some(number));
        finish(self, &levels);
        self.lanes.builder.switch_to_block(different);
        self.lanes.builder.seal_block(different);
        let mut levels = Levels { size: [numbers; 2], start: [self.texels; 4] };
        for lane in 0..4u8 {
            let number = self.lanes.builder.ins().extractlane(numbers, lane);
            let level = self.level_address(number);
            for (at, field) in [offset_of!(Level, width), offset_of!(Level, height)].into_iter().enumerate() {
                let size = self.size_at(level, field);
                levels.size[at] = self.lanes.builder.ins().insertlane(levels.size[at], size, lane);
            }
            levels.start[usize::from(lane)] = self.start_at(level);
        }
        finish(self, &levels);
        self.lanes.builder.switch_to_block(merge);
        self.lanes.builder.seal_block(merge);
        let [width, height, a, b, c, d] = parameters;
        Levels { size: [width, height], start: [a, b, c, d] }
    }

    // ---- lookups

    /// The numbers at a level of detail, one filter in all lanes.
    fn at_lod(&mut self, lod: Option<Ir>, filter: Filter) -> Vec<Ir> {
        let last = self.last;
        let (numbers, weight) = lod.map_or((None, None), |lod| self.levels(lod, last));
        let levels = self.level_of_each(numbers, last);
        let values = self.filtered(&levels, filter);
        let (Some(numbers), Some(weight)) = (numbers, weight) else { return values };
        let zero = self.number(0.0);
        let mixed = self.above(weight, zero);
        let any = self.lanes.builder.ins().vany_true(mixed);
        self.only_if(any, values, |emitter, values| {
            let one = emitter.word(1);
            let next = emitter.lanes.builder.ins().iadd(numbers, one);
            let levels = emitter.level_of_each(Some(next), last);
            let next = emitter.filtered(&levels, filter);
            let both = values.iter().zip(next).map(|(&value, next)| {
                let mix = emitter.mix(value, next, weight);
                emitter.choose(mixed, mix, value)
            });
            both.collect()
        })
    }

    /// Values, or under a condition what a side makes of them.
    fn only_if(&mut self, condition: Ir, values: Vec<Ir>, side: impl FnOnce(&mut Self, &[Ir]) -> Vec<Ir>) -> Vec<Ir> {
        let b = &mut *self.lanes.builder;
        let variables: Vec<Variable> = values.iter().map(|_| b.declare_var(F32X4)).collect();
        let (then, merge) = (b.create_block(), b.create_block());
        for (&variable, &value) in variables.iter().zip(&values) {
            b.def_var(variable, value);
        }
        b.ins().brif(condition, then, &[], merge, &[]);
        b.switch_to_block(then);
        b.seal_block(then);
        let changed = side(self, &values);
        let b = &mut *self.lanes.builder;
        for (&variable, value) in variables.iter().zip(changed) {
            b.def_var(variable, value);
        }
        b.ins().jump(merge, &[]);
        b.switch_to_block(merge);
        b.seal_block(merge);
        variables.into_iter().map(|variable| b.use_var(variable)).collect()
    }

    /// The whole lookup: words of the components.
    fn look_up(&mut self, lookup: TextureLookup, place: &Place, given: Option<Ir>) -> Vec<Ir> {
        let state = self.known.state;
        self.folded = place.coordinates;
        if !self.unnormalized {
            self.folded = [0, 1].map(|axis| self.fold(place.coordinates[axis], state.wrap[axis]));
        }
        let (minified, magnified) = (state.min_filter, state.mag_filter);
        let values = if minified == magnified && state.mip_filter == MipFilter::None {
            self.at_lod(None, minified)
        } else {
            let lod = self.unlimited(lookup, place, given);
            let lod = self.limited(lod);
            let zero = self.number(0.0);
            if minified == magnified {
                self.at_lod(Some(lod), minified)
            } else {
                // Magnified lanes are in the largest level.
                let values = self.at_lod(None, magnified);
                let is_minified = self.above(lod, zero);
                let any = self.lanes.builder.ins().vany_true(is_minified);
                self.only_if(any, values, |emitter, values| {
                    let others = emitter.at_lod(Some(lod), minified);
                    let both = values.iter().zip(others);
                    both.map(|(&value, other)| emitter.choose(is_minified, other, value)).collect()
                })
            }
        };
        let words = values.into_iter().enumerate().map(|(component, value)| {
            let divisor = self.divisor(component);
            let value = if divisor == 1.0 {
                value
            } else {
                let divisor = self.number(divisor);
                self.lanes.builder.ins().fdiv(value, divisor)
            };
            self.bits(value)
        });
        words.collect()
    }
}

impl Emitter<'_, '_> {
    /// A lookup in a known unit. `operands` are the vectors that the callback would get, behind the mask; if the unit
    /// of a run is not what was known, `otherwise` is called for the results.
    pub(super) fn look_up_known(
        &mut self,
        number: usize,
        texture: &Texture,
        operands: &[Ir],
        otherwise: impl FnOnce(&mut Self) -> Vec<Ir>,
    ) -> Vec<Ir> {
        let Some(&known) = self.known.get(number) else { return otherwise(self) };
        let unit = offsets::KNOWN + number * offsets::KNOWN_UNIT;
        let fields = [offsets::KNOWN_IS_THERE, offsets::KNOWN_TEXELS, offsets::KNOWN_LEVELS, offsets::KNOWN_LAST];
        let [is_there, texels, levels, last] =
            fields.map(|field| self.builder.ins().load(I64, fixed(), self.context, (unit + field) as i32));
        let components = usize::from(texture.dest.components);
        let variables: Vec<Variable> = (0..components).map(|_| self.builder.declare_var(I32X4)).collect();
        let (inside, outside, merge) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(is_there, inside, &[], outside, &[]);
        self.builder.switch_to_block(inside);
        self.builder.seal_block(inside);
        let last = self.builder.ins().ireduce(I32, last);
        // The vectors of a source among the operands.
        let source = |kind: TexSrcKind| {
            let value = texture.source(kind)?;
            let before = texture.sources.iter().take(kind as usize).map(|value| value.planes()).sum::<u32>() as usize;
            operands.get(before..before + value.planes() as usize)
        };
        let unnormalized = texture.data.dim == SamplerDim::Rect;
        let is_x86 = self.is_x86;
        let lanes = Lanes { builder: &mut self.builder };
        let none = texels;
        let mut emitter = LookupEmitter {
            lanes,
            known,
            components,
            texels,
            levels,
            last: none,
            folded: [none; 2],
            unnormalized,
            is_x86,
        };
        emitter.last = emitter.lanes.splat_value(last);
        let zero = emitter.number(0.0);
        let two = |emitter: &mut LookupEmitter<'_, '_>, words: &[Ir]| {
            [0, 1].map(|axis| words.get(axis).map_or(zero, |&word| emitter.float(word)))
        };
        let mut coordinates = two(&mut emitter, source(TexSrcKind::Coord).unwrap_or_default());
        if let Some(&[projector]) = source(TexSrcKind::Projector) {
            let projector = emitter.float(projector);
            coordinates = coordinates.map(|coordinate| emitter.lanes.builder.ins().fdiv(coordinate, projector));
        }
        let gradients = [TexSrcKind::Ddx, TexSrcKind::Ddy].map(source);
        let gradients = match gradients {
            [Some(ddx), Some(ddy)] => Some([ddx, ddy].map(|words| two(&mut emitter, words))),
            _ => None,
        };
        let given = source(TexSrcKind::Lod).or(source(TexSrcKind::Bias)).and_then(|words| words.first().copied());
        let lookup = texture.lookup().unwrap_or(TextureLookup::Implicit);
        let place = Place { coordinates, gradients };
        let results = match lookup {
            TextureLookup::QueryLod => emitter.query(&place),
            _ => emitter.look_up(lookup, &place, given),
        };
        let finish = |emitter: &mut Self, results: Vec<Ir>| {
            for (&variable, result) in variables.iter().zip(results) {
                emitter.builder.def_var(variable, result);
            }
            emitter.builder.ins().jump(merge, &[]);
        };
        finish(self, results);
        self.builder.switch_to_block(outside);
        self.builder.seal_block(outside);
        self.builder.set_cold_block(outside);
        let results = otherwise(self);
        finish(self, results);
        self.builder.switch_to_block(merge);
        self.builder.seal_block(merge);
        variables.into_iter().map(|variable| self.builder.use_var(variable)).collect()
    }
}
