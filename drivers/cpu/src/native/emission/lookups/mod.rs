//! Lookups in code: textures of known units are read without a call. This file combines the results of levels to the
//! result of the lookup.
//!
//! | file | holds |
//! |---|---|
//! | `outlined` | selection of those that become separate functions |
//! | `operands` | operands of the instruction |
//! | `levels` | levels of detail, and the corresponding mip levels |
//! | `filters` | from coordinates to texels, and their weighted sums |
//! | `texels` | decoding of texels, by format |
//! | `faces` | directions, and the faces of cubes |
//!
//! The steps are those of [`crate::sampler`], in the same order and with the same roundings, so that the results are
//! bit-identical. A value is a vector of one float for each lane of the quad.
//!
//! Every texel that is read is in bounds, whatever the coordinates are: columns, rows, images and levels are clamped to
//! bounds from the texture itself. Rare cases (the taps of a lookup lie on several faces of a cube, an offset spans the
//! texture more than once) are left to the host.

mod faces;
mod filters;
mod levels;
mod operands;
pub(super) mod outlined;
mod texels;

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::types::{F32X4, I32, I32X4, I64};
use cranelift_codegen::ir::{Block, InstBuilder, Value as Ir};
use cranelift_frontend::Variable;
use tgsi_environment::SamplerDim;
use tgsi_environment::TextureLookup;
use tgsi_ir::body::DEFAULT_TG4_OFFSETS;
use tgsi_ir::run::native::Texture;

use crate::native::emission::emitter::{Emitter, readonly_flags};
use crate::native::emission::rules::{Lanes, flags};
use crate::native::runtime::context::offsets;
use crate::sampler::{Filter, KnownUnitState, MipFilter, WrapMode};

use operands::Operands;

/// The places that the lanes look up.
pub(super) struct TexturePosition {
    /// Coordinates for the filters: folded, or in texels; on the face, for cubes.
    pub at: [Ir; 3],
    /// The number of the image, if it is not the first.
    pub image: Option<Ir>,
    /// An offset in texels.
    pub offset: Option<[Ir; 3]>,
    /// The reference value of comparisons.
    pub reference: Option<Ir>,
}

/// Emits the code of a lookup.
pub(super) struct LookupEmitter<'b, 'f> {
    pub lanes: Lanes<'b, 'f>,
    pub known: KnownUnitState,
    pub dim: SamplerDim,
    pub is_array: bool,
    pub is_shadow: bool,
    pub lookup: TextureLookup,
    /// Components of the result.
    pub components: usize,
    /// The number of coordinates in an image, plus one for 3D textures.
    pub axes: usize,
    pub wrap: [WrapMode; 3],
    /// Whether coordinates are in texels.
    pub unnormalized: bool,
    /// Whether the code is for x86-64.
    pub is_x86: bool,
    /// The addresses of the texels and of the levels.
    pub texels: Ir,
    pub levels: Ir,
    /// The number of the last level, in all lanes.
    pub last: Ir,
    /// The address of the context.
    pub context: Ir,
    /// The index of the known unit.
    pub unit: usize,
    /// The block that leaves the lookup to the host.
    pub host: Block,
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

    pub(super) fn above(&mut self, a: Ir, b: Ir) -> Ir {
        self.lanes.builder.ins().fcmp(FloatCC::GreaterThan, a, b)
    }

    /// Selects floats of `a` where a mask is set, else of `b`.
    pub(super) fn choose(&mut self, mask: Ir, a: Ir, b: Ir) -> Ir {
        let mask = self.float(mask);
        self.lanes.builder.ins().bitselect(mask, a, b)
    }

    /// Emits the larger operand, or the second if either is NaN.
    pub(super) fn at_least(&mut self, a: Ir, low: Ir) -> Ir {
        // This form is a single x86 instruction.
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

    /// Converts floats to integers, rounding towards zero; the result is unspecified for floats out of range.
    pub(super) fn whole_of(&mut self, value: Ir) -> Ir {
        if self.is_x86 {
            self.lanes.builder.ins().x86_cvtt2dq(I32X4, value)
        } else {
            self.lanes.builder.ins().fcvt_to_sint_sat(I32X4, value)
        }
    }

    /// Emits `mix` of the sampler.
    pub(super) fn mix(&mut self, a: Ir, b: Ir, weight: Ir) -> Ir {
        let difference = self.sub(b, a);
        let part = self.mul(difference, weight);
        self.add(a, part)
    }

    /// Emits a quotient, unless the divisor is 1.
    pub(super) fn divided(&mut self, value: Ir, divisor: f32) -> Ir {
        if divisor == 1.0 {
            return value;
        }
        let divisor = self.number(divisor);
        self.lanes.builder.ins().fdiv(value, divisor)
    }

    /// Leaves the lookup to the host if a mask is set in any lane.
    pub(super) fn leave_if(&mut self, mask: Ir) {
        let b = &mut *self.lanes.builder;
        let next = b.create_block();
        let any = b.ins().vany_true(mask);
        b.ins().brif(any, self.host, &[], next, &[]);
        b.switch_to_block(next);
        b.seal_block(next);
    }

    /// Returns whether filters cross the edges of a cube's face.
    pub(super) fn is_seamless(&self) -> bool {
        self.dim == SamplerDim::Cube && self.known.state.seamless
    }

    /// Returns the number of components to compute: a comparison has one, which is repeated in all components of the
    /// result.
    pub(super) fn computed(&self) -> usize {
        if self.is_shadow { 1 } else { self.components }
    }

    /// Emits `side` of the values if a condition holds, else the values.
    pub(super) fn only_if(
        &mut self,
        condition: Ir,
        values: Vec<Ir>,
        side: impl FnOnce(&mut Self, &[Ir]) -> Vec<Ir>,
    ) -> Vec<Ir> {
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

    /// Emits `place` of the sampler.
    fn place(&mut self, operands: &Operands) -> TexturePosition {
        let coordinates = operands.coordinates;
        let reference = operands
            .reference
            .map(|reference| if self.known.format.is_normalized_depth() { self.clamped(reference) } else { reference });
        let mut place = TexturePosition {
            at: [coordinates[0], coordinates[1], coordinates[2]],
            image: None,
            offset: operands.offset,
            reference,
        };
        if self.dim == SamplerDim::Cube {
            let direction = self.direction(place.at);
            place.at[..2].copy_from_slice(&self.on_face(&direction));
            let mut image = direction.face;
            if self.is_array {
                let layers = self.unit_field(offsets::KNOWN_LAYERS);
                let cube = self.layer(coordinates[3], layers);
                let six = self.word(6);
                let first = self.lanes.builder.ins().imul(cube, six);
                image = self.lanes.builder.ins().iadd(first, image);
            }
            place.image = Some(image);
            return place;
        }
        if !self.unnormalized {
            for axis in 0..self.axes {
                place.at[axis] = self.fold(place.at[axis], self.wrap[axis]);
            }
        }
        if self.is_array {
            let images = self.base_images();
            place.image = Some(self.layer(coordinates[self.axes & 3], images));
        }
        place
    }

    /// Loads a field of the unit, in all lanes.
    fn unit_field(&mut self, field: usize) -> Ir {
        let offset = offsets::KNOWN + self.unit * offsets::KNOWN_UNIT + field;
        let value = self.lanes.builder.ins().load(I32, readonly_flags(), self.context, offset as i32);
        self.lanes.splat_value(value)
    }

    /// Emits `layer` of the sampler.
    fn layer(&mut self, coordinate: Ir, layers: Ir) -> Ir {
        let one = self.word(1);
        let last = self.lanes.builder.ins().isub(layers, one);
        let (zero, last) = (self.number(0.0), self.floats_of(last));
        let nearest = self.lanes.builder.ins().nearest(coordinate);
        let nearest = self.at_least(nearest, zero);
        let nearest = self.at_most(nearest, last);
        self.whole_of(nearest)
    }

    /// Clamps to 0..1; keeps NaN.
    fn clamped(&mut self, value: Ir) -> Ir {
        let (zero, one) = (self.number(0.0), self.number(1.0));
        let below = self.lanes.builder.ins().fcmp(FloatCC::LessThan, value, zero);
        let value = self.choose(below, zero, value);
        let above = self.above(value, one);
        self.choose(above, one, value)
    }

    /// Emits the numbers at a level of detail, with one filter in all lanes.
    fn at_lod(&mut self, place: &TexturePosition, lod: Option<Ir>, filter: Filter) -> Vec<Ir> {
        let (numbers, weight) = lod.map_or((None, None), |lod| self.levels_of(lod));
        let level = self.level_of_each(numbers);
        let values = self.filtered(place, &level, filter);
        let weight = weight.filter(|_| !self.known.format.is_integer());
        let (Some(numbers), Some(weight)) = (numbers, weight) else { return values };
        let zero = self.number(0.0);
        let mixed = self.above(weight, zero);
        let any = self.lanes.builder.ins().vany_true(mixed);
        self.only_if(any, values, |emitter, values| {
            let one = emitter.word(1);
            let next = emitter.lanes.builder.ins().iadd(numbers, one);
            let level = emitter.level_of_each(Some(next));
            let next = emitter.filtered(place, &level, filter);
            let both = values.iter().zip(next).map(|(&value, next)| {
                let mix = emitter.mix(value, next, weight);
                emitter.choose(mixed, mix, value)
            });
            both.collect()
        })
    }

    /// Emits `sample` of the sampler: words of the computed components.
    fn sample(&mut self, operands: &Operands) -> Vec<Ir> {
        let state = self.known.state;
        let place = self.place(operands);
        let is_integer = self.known.format.is_integer();
        let (minified, magnified) =
            if is_integer { (Filter::Nearest, Filter::Nearest) } else { (state.min_filter, state.mag_filter) };
        let values = if minified == magnified && state.mip_filter == MipFilter::None {
            self.at_lod(&place, None, minified)
        } else {
            let lod = self.unlimited(operands);
            let lod = self.limited(lod);
            let zero = self.number(0.0);
            if minified == magnified {
                self.at_lod(&place, Some(lod), minified)
            } else {
                // Magnified lanes read the largest level.
                let values = self.at_lod(&place, None, magnified);
                let is_minified = self.above(lod, zero);
                let any = self.lanes.builder.ins().vany_true(is_minified);
                self.only_if(any, values, |emitter, values| {
                    let others = emitter.at_lod(&place, Some(lod), minified);
                    let both = values.iter().zip(others);
                    both.map(|(&value, other)| emitter.choose(is_minified, other, value)).collect()
                })
            }
        };
        let words = values.into_iter().enumerate().map(|(component, value)| {
            let divisor = self.divisor(component);
            let value = self.divided(value, divisor);
            self.bits(value)
        });
        words.collect()
    }

    /// Emits the whole lookup: words of the components.
    fn look_up(&mut self, operands: &Operands, gather_offsets: Option<[[i8; 2]; 4]>) -> Vec<Ir> {
        if self.is_seamless() && !matches!(self.lookup, TextureLookup::Fetch | TextureLookup::QueryLod) {
            self.leave_unless_square();
        }
        let mut words = match self.lookup {
            TextureLookup::QueryLod => self.query(operands),
            TextureLookup::Fetch => self.fetch(operands),
            TextureLookup::Gather { component } => {
                let place = self.place(operands);
                self.gather(&place, usize::from(component & 3), gather_offsets)
            }
            _ => self.sample(operands),
        };
        // A comparison is the result in all components.
        if let &[only] = &words[..] {
            words.resize(self.components, only);
        }
        words
    }
}

impl Emitter<'_, '_> {
    /// Emits a lookup in a known unit. `operands` are the vectors that the callback would get after the mask.
    /// `otherwise` emits the results for runs in which the unit differs from the known one.
    pub(super) fn emit_specialized_lookup(
        &mut self,
        unit: usize,
        texture: &Texture,
        operands: &[Ir],
        otherwise: impl FnOnce(&mut Self) -> Vec<Ir>,
    ) -> Vec<Ir> {
        let (Some(&known), Some(lookup)) = (self.function.known.get(unit), texture.lookup()) else {
            return otherwise(self);
        };
        let fields = [offsets::KNOWN_IS_THERE, offsets::KNOWN_TEXELS, offsets::KNOWN_LEVELS];
        let place = offsets::KNOWN + unit * offsets::KNOWN_UNIT;
        let [is_there, texels, levels] = fields
            .map(|field| self.builder.ins().load(I64, readonly_flags(), self.region.context, (place + field) as i32));
        let components = usize::from(texture.dest.components);
        let variables: Vec<Variable> = (0..components).map(|_| self.builder.declare_var(I32X4)).collect();
        let (inside, host, merge) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(is_there, inside, &[], host, &[]);
        self.builder.switch_to_block(inside);
        self.builder.seal_block(inside);
        let (dim, is_cube) = (texture.data.dim, texture.data.dim == SamplerDim::Cube);
        let state = known.state;
        let mut emitter = LookupEmitter {
            known,
            dim,
            is_array: texture.data.is_array,
            is_shadow: texture.data.is_shadow && lookup != TextureLookup::Fetch,
            lookup,
            components,
            axes: if is_cube { 2 } else { dim.num_coords().into() },
            wrap: if is_cube { [WrapMode::ClampToEdge; 3] } else { state.wrap },
            unnormalized: state.unnormalized || dim == SamplerDim::Rect,
            is_x86: self.function.is_x86,
            texels,
            levels,
            last: texels,
            context: self.region.context,
            unit,
            host,
            lanes: Lanes { builder: &mut self.builder },
        };
        emitter.last = emitter.unit_field(offsets::KNOWN_LAST);
        let read = emitter.operands(texture, operands);
        let offsets = (texture.data.tg4_offsets != DEFAULT_TG4_OFFSETS).then_some(texture.data.tg4_offsets);
        let results = emitter.look_up(&read, offsets);
        let finish = |emitter: &mut Self, results: Vec<Ir>| {
            for (&variable, result) in variables.iter().zip(results) {
                emitter.builder.def_var(variable, result);
            }
            emitter.builder.ins().jump(merge, &[]);
        };
        finish(self, results);
        self.builder.switch_to_block(host);
        self.builder.seal_block(host);
        self.builder.set_cold_block(host);
        let results = otherwise(self);
        finish(self, results);
        self.builder.switch_to_block(merge);
        self.builder.seal_block(merge);
        variables.into_iter().map(|variable| self.builder.use_var(variable)).collect()
    }
}

#[cfg(test)]
mod tests {
    use tgsi_compiler::{Compiler, Driver, Stage};
    use tgsi_ir::run::Program;

    use crate::native::analysis::regions;
    use crate::native::emission::translator::FunctionTranslator;
    use crate::native::processor;
    use crate::sampler::{Format, KnownUnitState, MipFilter, Sampler, WrapMode};

    /// Compiles lookups of all kinds and formats for other processors, too. Their results are only compared on this
    /// one.
    #[test]
    fn lookups_are_code_for_other_processors() {
        let compiler = Compiler::for_target(crate::DRIVER.target(&[]).expect("no options").into());
        let processors = ["aarch64-unknown-linux-gnu", "x86_64-unknown-linux-gnu"]
            .map(|triple| processor(Some(triple), None).expect("a processor"));
        let wraps = [WrapMode::Repeat, WrapMode::MirroredRepeat, WrapMode::ClampToBorder];
        let state = Sampler { wrap: wraps, mip_filter: MipFilter::Linear, ..Sampler::default() };
        let lookups = ["TEX 2D", "TEX 1D_ARRAY", "TEX 3D", "TXB CUBE", "TXP SHADOW2D", "TXF 2D_ARRAY", "LODQ CUBE"];
        for lookup in lookups {
            let (opcode, target) = lookup.split_once(' ').expect("an opcode and a target");
            let text = format!(
                "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL SAMP[0]\n\
                 DCL SVIEW[0], {target}, FLOAT\n{opcode} OUT[0], IN[0], SAMP[0], {target}\nEND\n"
            );
            let shader = tgsi::text::parse(text.as_bytes()).expect("a shader").shader;
            let program = Program::new(&compiler.ir_at(Stage::Registers, &shader).expect("IR")).expect("a program");
            let regions = regions::find(&program, false, 4000);
            for (format, processor) in
                Format::ALL.into_iter().flat_map(|format| processors.iter().map(move |processor| (format, processor)))
            {
                let known = [KnownUnitState { texture: 0, sampler: 0, format, state }];
                let mut functions = 0;
                let translator = FunctionTranslator::new(&program, false, &known, &**processor.isa());
                let made = translator.for_each(&regions, |_, context| {
                    let calls_host_only = context.func.dfg.num_insts() < 60;
                    assert!(!calls_host_only, "{lookup} {format:?} is not code");
                    functions += 1;
                    processor.compile(context, false)
                });
                made.unwrap_or_else(|error| panic!("{lookup} {format:?}: {error}"));
                assert!(functions > 0);
            }
        }
    }
}
