//! Lookups of textures in fragment programs: each parameter is a register of the message.

use arrayvec::ArrayVec;
use tgsi_ir::body::{DEFAULT_TG4_OFFSETS, TexData, TexOp, TexSrcKind};
use tgsi_ir::{Def, Inst};
use tgsi_vec4::simple::{Destination, File, Instruction, Source};

use super::super::operands::lane;
use super::super::texture::{Unit, offset_bits};
use super::super::{Selector, alu};
use crate::error::IntelError;
use crate::isa::{Chip, MathFunction, Opcode, Type};
use crate::machine::{Alu, COPY, Op};
use crate::scalar::{FragmentOp, Lookup, PAYLOAD_VECTORS};
use crate::simulator::SampleOp;
use tgsi_environment::SamplerDim;

/// The parameters of a message.
pub(super) type Parameters = ArrayVec<Source, 12>;

/// The operands of a lookup.
struct Operands {
    texture: Unit,
    sampler: Unit,
    coordinates: ArrayVec<Source, 4>,
    /// The number of coordinates without the layer.
    dimensions: usize,
    comparator: Option<Source>,
}

impl Selector<'_> {
    /// Copies parameters to the vectors with a fixed location. A single one is read where it is.
    pub(super) fn load_parameters(&mut self, parameters: &[Source]) -> ArrayVec<Source, 4> {
        let mut sources = ArrayVec::new();
        if let [single] = parameters {
            sources.push(self.in_x(*single));
            return sources;
        }
        for (number, &parameter) in parameters.iter().enumerate() {
            let to = Destination::new(File::Temporary, number as i32 / 4, 1 << (number % 4));
            self.emit(COPY, to, [lane(parameter, 0)]);
        }
        let vectors = parameters.len().div_ceil(4).min(PAYLOAD_VECTORS as usize) as i32;
        sources.extend((0..vectors).map(|vector| Source::new(File::Temporary, vector)));
        sources
    }

    /// Sends a message to the sampler. The response is in a new temporary.
    pub(super) fn send_lookup(&mut self, lookup: Lookup, index: Option<Source>, parameters: &[Source]) -> Source {
        let index = index.filter(|_| lookup.is_indexed).map(|index| self.in_x(index));
        let mut sources = self.load_parameters(parameters);
        let _ = index.map(|index| sources.try_push(index));
        let lookup = Lookup { parameters: parameters.len() as u8, ..lookup };
        let temp = self.new_temp();
        let to = Destination::new(File::Temporary, temp.index, 15);
        self.push(Instruction::new(Op::Fragment(FragmentOp::Lookup(lookup)), Some(to), sources));
        temp
    }

    fn lookup_message(
        &self,
        inst: Inst,
        op: SampleOp,
        texture: Unit,
        sampler: Option<Unit>,
        header: Option<u32>,
    ) -> Result<Lookup, IntelError> {
        let too_many = || self.lacks(inst, "units beyond the last one");
        let limit = if self.chip == Chip::Gen7 { 16 } else { 80 };
        let surface = u8::try_from(texture.0).ok().filter(|&unit| unit < 80).ok_or_else(too_many)?;
        let is_indexed = texture.1.is_some();
        let number = sampler.map_or(0, |sampler| sampler.0);
        let number = u8::try_from(number).ok().filter(|&unit| unit < limit).ok_or_else(too_many)?;
        if sampler.is_some_and(|sampler| (is_indexed || sampler.1.is_some()) && sampler != texture) {
            return Err(self.lacks(inst, "separate run-time indices of textures and samplers"));
        }
        let header = if number > 15 { Some(header.unwrap_or(0)) } else { header };
        let surface = surface.saturating_add(self.bindings.textures_start);
        // In runs, indices have more bits than numbers of samplers.
        let has_sampler = sampler.is_some() && !self.has_lanes;
        Ok(Lookup { op, surface, sampler: number, header, parameters: 0, is_indexed, has_sampler })
    }

    pub(in super::super) fn select_lookup(&mut self, inst: Inst) -> Result<(), IntelError> {
        let body = self.body;
        let (Some(&data), Some(def)) = (body.tex(inst), body.inst_def(inst)) else { return Ok(()) };
        if data.is_sparse || body.tex_src(inst, TexSrcKind::MinLod).is_some() {
            return Err(self.lacks(inst, "residency and minimum levels"));
        }
        let texture = self.unit(inst, &data, true)?;
        self.note_texture(inst, &data, texture)?;
        let value = match data.op {
            TexOp::Txs | TexOp::QueryLevels => return self.size_lookup(inst, def, &data, texture),
            TexOp::TextureSamples => {
                let message = self.lookup_message(inst, SampleOp::SampleInfo, texture, None, Some(0))?;
                let value = self.send_lookup(message, texture.1, &[]);
                lane(value, 0)
            }
            TexOp::Tex | TexOp::Txb | TexOp::Txl | TexOp::Txd | TexOp::Lod => {
                let operands = self.lookup_operands(inst, &data, texture)?;
                self.filtered_lookup(inst, &data, &operands)?
            }
            TexOp::Txf | TexOp::TxfMs => {
                let operands = self.lookup_operands(inst, &data, texture)?;
                self.fetch_lookup(inst, &data, operands)?
            }
            TexOp::Tg4 => {
                let operands = self.lookup_operands(inst, &data, texture)?;
                self.gather_lookup(inst, &data, &operands)?
            }
            op => return Err(self.lacks(inst, &format!("form of `{}`", op.name()))),
        };
        let target = self.target(def);
        self.copy(target, value);
        Ok(())
    }

    /// The operands, with coordinates divided by the projector.
    fn lookup_operands(&mut self, inst: Inst, data: &TexData, texture: Unit) -> Result<Operands, IntelError> {
        let body = self.body;
        let def_of = |kind: TexSrcKind| body.tex_src(inst, kind).map(|source| body.src_def(source));
        let is_same = def_of(TexSrcKind::TextureDeref) == def_of(TexSrcKind::SamplerDeref)
            && def_of(TexSrcKind::TextureOffset) == def_of(TexSrcKind::SamplerOffset)
            && data.texture_index == data.sampler_index;
        let sampler = match data.op.needs_sampler() {
            true if is_same => texture,
            true => self.unit(inst, data, false)?,
            false => (0, None),
        };
        let coordinate =
            self.tex_operand(inst, TexSrcKind::Coord).ok_or_else(|| self.lacks(inst, "lookup without coordinates"))?;
        let count = data.coord_components.min(4);
        let mut coordinates: ArrayVec<Source, 4> = (0..count).map(|c| lane(coordinate, c)).collect();
        let dimensions = usize::from(count - u8::from(data.is_array).min(count));
        let mut comparator = self.tex_operand(inst, TexSrcKind::Comparator).map(|source| lane(source, 0));
        if let Some(divisor) = self.tex_operand(inst, TexSrcKind::Projector) {
            let divisor = lane(divisor, 0);
            let divided = |s: &mut Self, part: Source| {
                lane(s.computed(Alu::math(MathFunction::Fdiv, Type::F), 1, [part, divisor]), 0)
            };
            for part in coordinates.iter_mut().take(dimensions) {
                *part = divided(self, *part);
            }
            comparator = comparator.map(|part| divided(self, part));
        }
        Ok(Operands { texture, sampler, coordinates, dimensions, comparator })
    }

    /// Sizes and the number of levels.
    fn size_lookup(&mut self, inst: Inst, def: Def, data: &TexData, texture: Unit) -> Result<(), IntelError> {
        let level = match self.tex_operand(inst, TexSrcKind::Lod) {
            Some(level) => lane(level, 0),
            None => self.word(0),
        };
        let message = self.lookup_message(inst, SampleOp::ResourceInfo, texture, None, None)?;
        let value = self.send_lookup(message, texture.1, &[level]);
        if data.op == TexOp::QueryLevels {
            let target = self.target(def);
            self.copy(target, lane(value, 3));
            return Ok(());
        }
        let mut value = value;
        if data.dim == SamplerDim::Cube && data.is_array {
            // The hardware counts faces.
            let six = self.word(6);
            let layers = self.computed(Alu::math(MathFunction::IntDiv, Type::Ud), 1, [lane(value, 2), six]);
            let sizes = [0, 1].map(|c| Some(lane(value, c)));
            value = self.packed([sizes[0], sizes[1], Some(lane(layers, 0)), None]);
        }
        let target = self.target(def);
        self.copy(target, value);
        Ok(())
    }

    /// A lookup with filter.
    fn filtered_lookup(&mut self, inst: Inst, data: &TexData, operands: &Operands) -> Result<Source, IntelError> {
        let offsets = self.constant_offsets(inst).and_then(offset_bits);
        let offsets = offsets.ok_or_else(|| self.lacks(inst, "lookup with run-time offsets"))?;
        let header = (offsets != 0).then_some(offsets);
        let &Operands { texture, sampler, comparator, dimensions, .. } = operands;
        let scalar = |s: &mut Self, kind: TexSrcKind| s.tex_operand(inst, kind).map(|source| lane(source, 0));
        let mut parameters = Parameters::new();
        parameters.extend(comparator.filter(|_| data.op != TexOp::Lod));
        let is_compared = !parameters.is_empty();
        let op = match (data.op, is_compared) {
            (TexOp::Tex, false) => SampleOp::Sample,
            (TexOp::Tex, true) => SampleOp::Compare,
            (TexOp::Txb, false) => SampleOp::Bias,
            (TexOp::Txb, true) => SampleOp::BiasCompare,
            (TexOp::Txl, false) => SampleOp::Level,
            (TexOp::Txl, true) => SampleOp::LevelCompare,
            (TexOp::Lod, _) => SampleOp::Lod,
            (_, false) => SampleOp::Gradient,
            (_, true) => SampleOp::GradientCompare,
        };
        match data.op {
            TexOp::Txb => parameters.extend(scalar(self, TexSrcKind::Bias)),
            TexOp::Txl => parameters.extend(scalar(self, TexSrcKind::Lod)),
            _ => {}
        }
        if data.op == TexOp::Txd {
            if is_compared && self.chip == Chip::Gen7 {
                return Err(self.lacks(inst, "lookup with gradients and a comparison"));
            }
            let gradients = [TexSrcKind::Ddx, TexSrcKind::Ddy].map(|kind| self.tex_operand(inst, kind));
            let [Some(x), Some(y)] = gradients else { return Err(self.lacks(inst, "lookup without gradients")) };
            for (c, &coordinate) in (0u8..).zip(&operands.coordinates) {
                let has_gradients = usize::from(c) < dimensions;
                let all = [coordinate, lane(x, c), lane(y, c)];
                for part in all.into_iter().take(if has_gradients { 3 } else { 1 }) {
                    parameters.try_push(part).map_err(|_| self.lacks(inst, "lookup with more than 12 operands"))?;
                }
            }
        } else {
            // The level does not depend on the layer.
            let count = if data.op == TexOp::Lod { dimensions } else { operands.coordinates.len() };
            parameters.extend(operands.coordinates.iter().copied().take(count));
        }
        let message = self.lookup_message(inst, op, texture, Some(sampler), header)?;
        let value = self.send_lookup(message, texture.1, &parameters);
        Ok(value)
    }

    /// A texel.
    fn fetch_lookup(&mut self, inst: Inst, data: &TexData, operands: Operands) -> Result<Source, IntelError> {
        let Operands { texture, mut coordinates, dimensions, .. } = operands;
        if let Some(offset) = self.tex_operand(inst, TexSrcKind::Offset) {
            let constant = self.constant_offsets(inst);
            for (c, part) in (0u8..).zip(coordinates.iter_mut()).take(dimensions.min(3)) {
                // Offsets have eight bits.
                let offset = match constant {
                    Some(offsets) => self.word(i32::from(offsets[usize::from(c)] as i8) as u32),
                    None => {
                        let bits = self.word(24);
                        let high = self.computed(alu(Opcode::Shl, Type::D), 1, [lane(offset, c), bits]);
                        lane(self.computed(alu(Opcode::Asr, Type::D), 1, [lane(high, 0), bits]), 0)
                    }
                };
                *part = lane(self.computed(alu(Opcode::Add, Type::D), 1, [*part, offset]), 0);
            }
        }
        let zero = self.word(0);
        if data.op == TexOp::TxfMs {
            let sample = match self.tex_operand(inst, TexSrcKind::MsIndex) {
                Some(sample) => lane(sample, 0),
                None => zero,
            };
            let control = self.lookup_message(inst, SampleOp::LoadMcs, texture, None, None)?;
            let control = self.send_lookup(control, texture.1, &coordinates);
            let message = self.lookup_message(inst, SampleOp::LoadMultisample, texture, None, None)?;
            let mut parameters = Parameters::from_iter([sample, lane(control, 0)]);
            parameters.extend(coordinates);
            return Ok(self.send_lookup(message, texture.1, &parameters));
        }
        let level = match self.tex_operand(inst, TexSrcKind::Lod) {
            Some(level) => lane(level, 0),
            None => zero,
        };
        let message = self.lookup_message(inst, SampleOp::Load, texture, None, None)?;
        let mut coordinates = coordinates.into_iter();
        let mut parameters = Parameters::from_iter([coordinates.next().unwrap_or(zero), level]);
        parameters.extend(coordinates);
        Ok(self.send_lookup(message, texture.1, &parameters))
    }

    /// Four texels of a component.
    fn gather_lookup(&mut self, inst: Inst, data: &TexData, operands: &Operands) -> Result<Source, IntelError> {
        let &Operands { texture, sampler, comparator, .. } = operands;
        let component = u32::from(data.component & 3) << 16;
        let simple = if comparator.is_some() { SampleOp::GatherCompare } else { SampleOp::Gather };
        let gather = |s: &mut Self, offsets: u32| -> Result<Source, IntelError> {
            let message = s.lookup_message(inst, simple, texture, Some(sampler), Some(component | offsets))?;
            let mut parameters = Parameters::new();
            parameters.extend(comparator);
            parameters.extend(operands.coordinates.iter().copied());
            Ok(s.send_lookup(message, texture.1, &parameters))
        };
        if data.tg4_offsets != DEFAULT_TG4_OFFSETS {
            // The texel at each offset is w of a gather there.
            let mut texels = [None; 4];
            for (texel, [x, y]) in texels.iter_mut().zip(data.tg4_offsets) {
                let bits = offset_bits([x.into(), y.into(), 0]);
                let bits = bits.ok_or_else(|| self.lacks(inst, "offsets of more than four bits"))?;
                *texel = Some(lane(gather(self, bits)?, 3));
            }
            return Ok(self.packed(texels));
        }
        if let Some(bits) = self.constant_offsets(inst).and_then(offset_bits) {
            return gather(self, bits);
        }
        let Some(offset) = self.tex_operand(inst, TexSrcKind::Offset) else {
            return Err(self.lacks(inst, "offsets of this kind"));
        };
        let op = if comparator.is_some() { SampleOp::GatherOffsetCompare } else { SampleOp::GatherOffset };
        let message = self.lookup_message(inst, op, texture, Some(sampler), Some(component))?;
        let mut parameters = Parameters::new();
        parameters.extend(comparator);
        let mut coordinates = operands.coordinates.iter().copied();
        parameters.extend(coordinates.by_ref().take(2));
        parameters.extend([lane(offset, 0), lane(offset, 1)]);
        parameters.extend(coordinates);
        Ok(self.send_lookup(message, texture.1, &parameters))
    }
}
