//! Lookups and queries of textures.
//!
//! The payload of a lookup is one to three vectors. Lookups with implicit level have level 0.

use tgsi_environment::SamplerDim;
use tgsi_ir::body::{DEFAULT_TG4_OFFSETS, DerefKind, TexData, TexOp, TexSrcKind};
use tgsi_ir::{Def, Inst, InstData};
use tgsi_vec4::simple::{Destination, File, Instruction, Source};

use super::operands::{Target, lane};
use super::{Selector, alu};
use crate::error::IntelError;
use crate::isa::{Chip, MathFunction, Opcode, Type};
use crate::machine::{Alu, COPY, Op};
use crate::message::{Message, SamplerMessage, SamplerOp};
use crate::program::{Texture, TextureKind};

/// A unit: its number, and a run-time index that is added.
pub(super) type Unit = (u32, Option<Source>);

/// The bits of word 2 of a header with offsets of texels, if they have four bits.
pub(super) fn offset_bits(offsets: [i32; 3]) -> Option<u32> {
    let mut bits = 0;
    for (offset, low) in offsets.into_iter().zip([8, 4, 0]) {
        if !(-8..8).contains(&offset) {
            return None;
        }
        bits |= (offset as u32 & 15) << low;
    }
    Some(bits)
}

impl Selector<'_> {
    pub(super) fn tex_operand(&mut self, inst: Inst, kind: TexSrcKind) -> Option<Source> {
        let source = self.body.tex_src(inst, kind)?;
        Some(self.source_of(source))
    }

    pub(super) fn select_texture(&mut self, inst: Inst) -> Result<(), IntelError> {
        let body = self.body;
        let (Some(&data), Some(def)) = (body.tex(inst), body.inst_def(inst)) else { return Ok(()) };
        if data.is_sparse || body.tex_src(inst, TexSrcKind::MinLod).is_some() {
            return Err(self.lacks(inst, "residency and minimum levels"));
        }
        let texture = self.unit(inst, &data, true)?;
        self.note_texture(inst, &data, texture)?;
        match data.op {
            TexOp::Txs | TexOp::QueryLevels => return self.select_size(inst, def, &data, texture),
            TexOp::TextureSamples => {
                let info = self.sampler_message(inst, SamplerOp::SampleInfo, texture, (0, None), Some(0))?;
                let value = self.lookup(info, texture.1, &[]);
                let target = self.target(def);
                self.copy(target, lane(value, 0));
                return Ok(());
            }
            TexOp::Tex | TexOp::Txb | TexOp::Txl | TexOp::Txd | TexOp::Txf | TexOp::TxfMs | TexOp::Tg4 => {}
            op => return Err(self.lacks(inst, &format!("form of `{}` in vertex programs", op.name()))),
        }
        let def_of = |kind: TexSrcKind| body.tex_src(inst, kind).map(|source| body.src_def(source));
        let is_same = def_of(TexSrcKind::TextureDeref) == def_of(TexSrcKind::SamplerDeref)
            && def_of(TexSrcKind::TextureOffset) == def_of(TexSrcKind::SamplerOffset)
            && data.texture_index == data.sampler_index;
        let sampler = match data.op.needs_sampler() {
            true if is_same => texture,
            true => self.unit(inst, &data, false)?,
            false => (0, None),
        };
        let coordinate =
            self.tex_operand(inst, TexSrcKind::Coord).ok_or_else(|| self.lacks(inst, "lookup without coordinates"))?;
        let count = data.coord_components.min(4);
        let mut lanes = [None; 4];
        for (part, c) in lanes.iter_mut().zip(0..count) {
            *part = Some(lane(coordinate, c));
        }
        let mut comparator = self.tex_operand(inst, TexSrcKind::Comparator).map(|source| lane(source, 0));
        if let Some(divisor) = self.tex_operand(inst, TexSrcKind::Projector) {
            let divisor = lane(divisor, 0);
            let divided = |s: &mut Self, part: Source| {
                lane(s.computed(Alu::math(MathFunction::Fdiv, Type::F), 1, [part, divisor]), 0)
            };
            let dimensions = usize::from(count - u8::from(data.is_array));
            for part in lanes.iter_mut().take(dimensions) {
                *part = part.map(|part| divided(self, part));
            }
            comparator = comparator.map(|part| divided(self, part));
        }
        let value = match data.op {
            TexOp::Txf | TexOp::TxfMs => self.select_fetch(inst, &data, texture, lanes)?,
            TexOp::Tg4 => self.select_gather(inst, &data, texture, sampler, lanes, comparator)?,
            _ => self.select_sample(inst, &data, texture, sampler, lanes, comparator)?,
        };
        let target = self.target(def);
        self.copy(target, value);
        Ok(())
    }

    /// A message to the sampler without payload.
    fn sampler_message(
        &self,
        inst: Inst,
        op: SamplerOp,
        texture: Unit,
        sampler: Unit,
        header: Option<u32>,
    ) -> Result<SamplerMessage, IntelError> {
        let too_many = || self.lacks(inst, "units beyond the last one");
        let limit = if self.chip == Chip::Gen7 { 16 } else { 80 };
        let surface = u8::try_from(texture.0).ok().filter(|&unit| unit < 80).ok_or_else(too_many)?;
        let sampler_number = u8::try_from(sampler.0).ok().filter(|&unit| unit < limit).ok_or_else(too_many)?;
        let is_indexed = texture.1.is_some();
        let has_sampler = !matches!(
            op,
            SamplerOp::Load
                | SamplerOp::LoadMcs
                | SamplerOp::LoadMultisample
                | SamplerOp::ResourceInfo
                | SamplerOp::SampleInfo
        );
        if has_sampler
            && (texture.1.is_some() || sampler.1.is_some())
            && (sampler.0 != texture.0 || sampler.1 != texture.1)
        {
            return Err(self.lacks(inst, "separate run-time indices of textures and samplers"));
        }
        let header = if sampler_number > 15 { Some(header.unwrap_or(0)) } else { header };
        Ok(SamplerMessage { op, surface, sampler: sampler_number, header, payload: [0; 3], has_sampler, is_indexed })
    }

    /// A lookup with vectors as payload. Components of them that are `None` are zeros.
    fn lookup(&mut self, message: SamplerMessage, index: Option<Source>, vectors: &[[Option<Source>; 4]]) -> Source {
        let mut message = message;
        let mut sources: Vec<Source> = Vec::with_capacity(4);
        for (payload, vector) in message.payload.iter_mut().zip(vectors) {
            let last = vector.iter().rposition(Option::is_some).unwrap_or(0);
            *payload = (2u8 << last) - 1;
            sources.push(self.packed(*vector));
        }
        if message.is_indexed {
            sources.extend(index.map(|index| self.in_x(index)));
        }
        let temp = self.new_temp();
        let to = Destination::new(File::Temporary, temp.index, 15);
        self.push(Instruction::new(Op::Message(Message::Sampler(message)), Some(to), sources));
        temp
    }

    /// Sizes and the number of levels.
    fn select_size(&mut self, inst: Inst, def: Def, data: &TexData, texture: Unit) -> Result<(), IntelError> {
        let level = match self.tex_operand(inst, TexSrcKind::Lod) {
            Some(level) => lane(level, 0),
            None => self.word(0),
        };
        let message = self.sampler_message(inst, SamplerOp::ResourceInfo, texture, (0, None), None)?;
        let value = self.lookup(message, texture.1, &[[Some(level), None, None, None]]);
        if data.op == TexOp::QueryLevels {
            let target = self.target(def);
            self.copy(target, lane(value, 3));
            return Ok(());
        }
        if data.dim == SamplerDim::Cube && data.is_array {
            // The hardware counts faces.
            let six = self.word(6);
            let faces = lane(value, 2);
            let to = Target { to: Destination::new(File::Temporary, value.index, 0b0100), saturate: false };
            self.emit_to(Alu::math(MathFunction::IntDiv, Type::Ud), to, [faces, six]);
        }
        let target = self.target(def);
        self.copy(target, value);
        Ok(())
    }

    /// The constant offsets of an instruction: those of texels, in three dimensions.
    pub(super) fn constant_offsets(&self, inst: Inst) -> Option<[i32; 3]> {
        let Some(source) = self.body.tex_src(inst, TexSrcKind::Offset) else { return Some([0; 3]) };
        let def = self.body.src_def(source);
        let count = usize::from(self.body.num_components(def));
        let mut offsets = [0; 3];
        for (c, offset) in offsets.iter_mut().enumerate().take(count) {
            *offset = self.body.constant_component(def, c)? as i32;
        }
        Some(offsets)
    }

    /// A lookup with filter.
    fn select_sample(
        &mut self,
        inst: Inst,
        data: &TexData,
        texture: Unit,
        sampler: Unit,
        coordinates: [Option<Source>; 4],
        comparator: Option<Source>,
    ) -> Result<Source, IntelError> {
        let offsets = self.constant_offsets(inst).and_then(offset_bits);
        let offsets = offsets.ok_or_else(|| self.lacks(inst, "lookup with run-time offsets"))?;
        let header = (offsets != 0).then_some(offsets);
        if data.op == TexOp::Txd {
            let gradients = [TexSrcKind::Ddx, TexSrcKind::Ddy].map(|kind| self.tex_operand(inst, kind));
            let [Some(x), Some(y)] = gradients else { return Err(self.lacks(inst, "lookup without gradients")) };
            if comparator.is_some() && self.chip == Chip::Gen7 {
                return Err(self.lacks(inst, "lookup with gradients and a comparison"));
            }
            let op = if comparator.is_some() { SamplerOp::GradientCompare } else { SamplerOp::Gradient };
            let dimensions = data.coord_components - u8::from(data.is_array);
            let of = |source: Source, c: u8| (c < dimensions).then(|| lane(source, c));
            let message = self.sampler_message(inst, op, texture, sampler, header)?;
            let plane = [of(x, 0), of(y, 0), of(x, 1), of(y, 1)];
            let third = [of(x, 2), of(y, 2), comparator, None];
            let has_third = third.iter().any(Option::is_some);
            let vectors = [coordinates, plane, third];
            return Ok(self.lookup(message, texture.1, &vectors[..if has_third { 3 } else { 2 }]));
        }
        // A bias is added to level 0.
        let level = self.tex_operand(inst, TexSrcKind::Lod).or_else(|| self.tex_operand(inst, TexSrcKind::Bias));
        let level = match level {
            Some(level) => lane(level, 0),
            None => self.word(0),
        };
        let (op, second) = match comparator {
            Some(reference) => (SamplerOp::LevelCompare, [Some(reference), Some(level), None, None]),
            None => (SamplerOp::Level, [Some(level), None, None, None]),
        };
        let message = self.sampler_message(inst, op, texture, sampler, header)?;
        Ok(self.lookup(message, texture.1, &[coordinates, second]))
    }

    /// A texel.
    fn select_fetch(
        &mut self,
        inst: Inst,
        data: &TexData,
        texture: Unit,
        coordinates: [Option<Source>; 4],
    ) -> Result<Source, IntelError> {
        let mut coordinates = coordinates;
        if let Some(offset) = self.tex_operand(inst, TexSrcKind::Offset) {
            let dimensions = data.coord_components - u8::from(data.is_array);
            let constant = self.constant_offsets(inst);
            for (part, c) in coordinates.iter_mut().zip(0..dimensions.min(3)) {
                if let Some(coordinate) = *part {
                    // Offsets have eight bits.
                    let offset = match constant {
                        Some(offsets) => self.word(i32::from(offsets[usize::from(c)] as i8) as u32),
                        None => {
                            let bits = self.word(24);
                            let high = self.computed(alu(Opcode::Shl, Type::D), 1, [lane(offset, c), bits]);
                            lane(self.computed(alu(Opcode::Asr, Type::D), 1, [lane(high, 0), bits]), 0)
                        }
                    };
                    let sum = self.computed(alu(Opcode::Add, Type::D), 1, [coordinate, offset]);
                    *part = Some(lane(sum, 0));
                }
            }
        }
        if data.op == TexOp::TxfMs {
            let number = match self.tex_operand(inst, TexSrcKind::MsIndex) {
                Some(number) => lane(number, 0),
                None => self.word(0),
            };
            let control = self.sampler_message(inst, SamplerOp::LoadMcs, texture, (0, None), None)?;
            let control = self.lookup(control, texture.1, &[coordinates]);
            let message = self.sampler_message(inst, SamplerOp::LoadMultisample, texture, (0, None), None)?;
            let second = [Some(number), Some(lane(control, 0)), None, None];
            return Ok(self.lookup(message, texture.1, &[coordinates, second]));
        }
        let level = self.tex_operand(inst, TexSrcKind::Lod).map(|level| lane(level, 0));
        let message = self.sampler_message(inst, SamplerOp::Load, texture, (0, None), None)?;
        let [u, v, r, _] = coordinates;
        Ok(self.lookup(message, texture.1, &[[u, v, r, level]]))
    }

    /// Four texels of a component.
    fn select_gather(
        &mut self,
        inst: Inst,
        data: &TexData,
        texture: Unit,
        sampler: Unit,
        coordinates: [Option<Source>; 4],
        comparator: Option<Source>,
    ) -> Result<Source, IntelError> {
        let component = u32::from(data.component & 3) << 16;
        let compared = [comparator, None, None, None];
        let simple = if comparator.is_some() { SamplerOp::GatherCompare } else { SamplerOp::Gather };
        let gather = |s: &mut Self, offsets: u32| -> Result<Source, IntelError> {
            let message = s.sampler_message(inst, simple, texture, sampler, Some(component | offsets))?;
            let vectors = [coordinates, compared];
            Ok(s.lookup(message, texture.1, &vectors[..if comparator.is_some() { 2 } else { 1 }]))
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
        let op = if comparator.is_some() { SamplerOp::GatherOffsetCompare } else { SamplerOp::GatherOffset };
        let message = self.sampler_message(inst, op, texture, sampler, Some(component))?;
        let [u, v, r, w] = coordinates;
        let first = [u, v, r, comparator.or(w)];
        let second = [Some(lane(offset, 0)), Some(lane(offset, 1)), None, None];
        Ok(self.lookup(message, texture.1, &[first, second]))
    }

    /// The unit of the texture or sampler.
    pub(super) fn unit(&mut self, inst: Inst, data: &TexData, is_texture: bool) -> Result<Unit, IntelError> {
        let body = self.body;
        let (deref, handle, offset, number) = if is_texture {
            (TexSrcKind::TextureDeref, TexSrcKind::TextureHandle, TexSrcKind::TextureOffset, data.texture_index)
        } else {
            (TexSrcKind::SamplerDeref, TexSrcKind::SamplerHandle, TexSrcKind::SamplerOffset, data.sampler_index)
        };
        if body.tex_src(inst, handle).is_some() {
            return Err(self.lacks(inst, "handles of textures"));
        }
        let Some(source) = body.tex_src(inst, deref) else {
            let index = self.tex_operand(inst, offset).map(|index| lane(index, 0));
            return Ok((number, index));
        };
        self.unit_of_deref(inst, body.src_def(source))
    }

    /// The unit that a deref refers to.
    fn unit_of_deref(&mut self, inst: Inst, deref: Def) -> Result<Unit, IntelError> {
        let body = self.body;
        let (mut at, mut base, mut dynamic) = (deref, 0u32, None);
        for _ in 0..16 {
            let producer = body.def_inst(at);
            match *body.inst(producer) {
                InstData::Deref { kind: DerefKind::Var(variable), .. } => {
                    return Ok((base.wrapping_add(self.shader.variables[variable].binding), dynamic));
                }
                InstData::Deref { kind: DerefKind::Array, .. } => {
                    let stride = body.deref_type(at).map_or(1, |ty| self.shader.types.array_elements(ty).max(1));
                    let index = body.src(producer, 1);
                    match body.constant_component(index, 0) {
                        Some(index) => base = base.wrapping_add((index as u32).wrapping_mul(stride)),
                        None => {
                            let index = lane(self.loaded_value(index), 0);
                            let mut sum = self.multiplied(index, stride);
                            if let Some(outer) = dynamic {
                                sum = self.computed(alu(Opcode::Add, Type::D), 1, [lane(sum, 0), outer]);
                            }
                            dynamic = Some(lane(sum, 0));
                        }
                    }
                    at = body.src(producer, 0);
                }
                _ => break,
            }
        }
        Err(self.lacks(inst, "reference to textures of this kind"))
    }

    /// Records the kind of the textures that an instruction accesses.
    pub(super) fn note_texture(&mut self, inst: Inst, data: &TexData, unit: Unit) -> Result<(), IntelError> {
        let kind = TextureKind::of(data.dim).ok_or_else(|| self.lacks(inst, "textures of this dimension"))?;
        let count = if unit.1.is_some() { u32::from(self.bindings.textures).saturating_sub(unit.0) } else { 1 };
        for number in unit.0..unit.0.saturating_add(count) {
            let Ok(number) = u8::try_from(number) else { break };
            if !self.textures.iter().any(|known| known.unit == number) {
                self.textures.push(Texture { unit: number, kind, is_array: data.is_array });
            }
        }
        Ok(())
    }

    /// A component in x of a register, for a payload.
    pub(super) fn in_x(&mut self, source: Source) -> Source {
        self.computed(COPY, 1, [lane(source, 0)])
    }
}
