//! Texture instructions and derivatives.
//!
//! Coordinates are in r28: the reference of a comparison and the sample in z, the layer in w. The level or bias, and
//! the numbers of texture and sampler that are known at run time, are in components of r29 that the offset leaves; it
//! is in y, z and w.

use tgsi_environment::SamplerDim;
use tgsi_ir::alu::BaseType;
use tgsi_ir::body::{TexData, TexOp, TexSrcKind};
use tgsi_ir::{Inst, ShaderStage, Use};
use tgsi_vec4::simple::{Destination, File, Instruction, Source};

use super::Selector;
use super::operands::{composed, lane};
use super::resources::{Element, Number};
use crate::MidgardError;
use crate::isa::alu::AluOp;
use crate::isa::load_store::{LoadStore, LoadStoreOp, Operand};
use crate::isa::texture::{
    Axis, Coordinates, Dimension, Handle, Lod, Mode, Offset, SamplerType, Select, Texture, TextureMode, TextureOp,
    TextureRegister,
};
use crate::isa::{LoadStoreRegister, Register, Swizzle};
use crate::machine::{COORDINATES, OPERANDS, Op, Operation};
use crate::program::{self, SystemRow};

const Z: u8 = 0b0100;
const W: u8 = 0b1000;

/// Numbers of textures in instructions.
const MAX_TEXTURES: u32 = (1 << 16) - 1;
/// The last level that has a size; queries of further levels have its size.
pub(crate) const LAST_LEVEL: u32 = 15;
/// Levels that have a size.
const LEVELS: u32 = LAST_LEVEL + 1;
/// Rows of sizes among which a run-time number selects.
const MAX_ROWS: u32 = 2048;

/// The components of r28 and r29 that hold operands.
struct Places([u8; 2]);

impl Places {
    /// Takes a component: first of r29, then one of r28 that coordinates do not have. Returns register and component.
    fn take(&mut self) -> Option<(u8, u8)> {
        let (register, component) = [(1, 0), (1, 1), (1, 2), (1, 3), (0, 2), (0, 3)]
            .into_iter()
            .find(|&(register, component)| self.0[usize::from(register)] >> component & 1 == 0)?;
        self.0[usize::from(register)] |= 1 << component;
        Some((register, component))
    }
}

/// The first operand register of the texture unit.
const FIRST: TextureRegister = TextureRegister::Full(0);
/// The second one.
const SECOND: TextureRegister = TextureRegister::Full(1);

impl Selector<'_> {
    pub(super) fn select_texture(&mut self, inst: Inst) -> Result<(), MidgardError> {
        let body = self.body;
        let (Some(&data), Some(def)) = (body.tex(inst), body.inst_def(inst)) else { return Ok(()) };
        let unit = self.texture(inst, &data)?;
        let target = self.target(def);
        match data.op {
            TexOp::Txs => {
                self.select_size(inst, unit, target);
                Ok(())
            }
            TexOp::QueryLevels => {
                let size = self.size_row(unit, Number::Constant(0));
                self.copy(target, lane(size, 3));
                Ok(())
            }
            TexOp::TextureSamples => {
                let samples = self.element_row(unit, self.textures_end(), SystemRow::TextureSamples);
                self.copy(target, lane(samples, 0));
                Ok(())
            }
            TexOp::Tex | TexOp::Txb | TexOp::Txl | TexOp::Txf | TexOp::TxfMs | TexOp::Tg4 if !data.is_sparse => {
                self.select_lookup(inst, &data, unit, target)
            }
            _ => Err(self.lacks(inst, &format!("texture instruction `{}`", data.op.name()))),
        }
    }

    /// The number of a texture. The textures that it may be are added to the table.
    fn texture(&mut self, inst: Inst, data: &TexData) -> Result<Number, MidgardError> {
        let element = self.unit(inst, TexSrcKind::TextureDeref, data.texture_index)?;
        for number in element.numbers().take_while(|&number| number < MAX_TEXTURES) {
            if !self.textures.iter().any(|known| known.number == number) {
                let dimensions = data.dim.into();
                self.textures.push(program::Texture { number, dimensions, is_array: data.is_array });
            }
        }
        Ok(self.number_of(element))
    }

    /// The number after that of the last texture.
    fn textures_end(&self) -> u32 {
        self.shader.info.num_textures.min(MAX_TEXTURES)
    }

    /// The element that a source points to, or the number of the instruction.
    fn unit(&self, inst: Inst, kind: TexSrcKind, number: u32) -> Result<Element, MidgardError> {
        use TexSrcKind as K;
        let body = self.body;
        let bindless = [K::TextureHandle, K::SamplerHandle, K::TextureOffset, K::SamplerOffset];
        if bindless.iter().any(|&kind| body.tex_src(inst, kind).is_some()) {
            return Err(self.lacks(inst, "bindless textures"));
        }
        match body.tex_src(inst, kind) {
            Some(source) => self.element_at(inst, body.src_def(source), "textures"),
            None => Ok(Element::single(number)),
        }
    }

    /// The row of system values with the size of a level of a texture.
    fn size_row(&mut self, unit: Number, level: Number) -> Source {
        let size = |texture, level| SystemRow::TextureSize { texture, level };
        let texture = match unit {
            Number::Constant(texture) => {
                if let Number::Constant(level) = level {
                    return self.system_row(size(texture, level));
                }
                return self.numbered_row(level, LEVELS, |level| size(texture, level));
            }
            Number::Dynamic(texture) => texture,
        };
        let end = self.textures_end().min(MAX_ROWS / LEVELS - 2);
        let texture = self.limited(texture, end);
        let bits = self.word(LEVELS.trailing_zeros());
        let first = lane(self.computed(AluOp::Ishl, 1, [texture, bits]), 0);
        let level = match level {
            Number::Constant(level) => self.word(level),
            Number::Dynamic(level) => level,
        };
        let row = lane(self.computed(AluOp::Iadd, 1, [first, level]), 0);
        let rows = (0..=end).flat_map(|texture| (0..LEVELS).map(move |level| size(texture, level)));
        self.row_at(row, rows.chain([SystemRow::Zero; LEVELS as usize]).collect())
    }

    /// The size of a texture at a level.
    fn select_size(&mut self, inst: Inst, unit: Number, target: Destination) {
        let level = match self.body.tex_src(inst, TexSrcKind::Lod) {
            None => Number::Constant(0),
            Some(level) => match self.constant_of(level) {
                Some(level) => Number::Constant(level.min(LAST_LEVEL)),
                None => {
                    let (level, last) = (lane(self.source_of(level), 0), self.word(LAST_LEVEL));
                    Number::Dynamic(lane(self.computed(AluOp::Umin, 1, [level, last]), 0))
                }
            },
        };
        let size = self.size_row(unit, level);
        self.copy(target, size);
    }

    fn select_lookup(
        &mut self,
        inst: Inst,
        data: &TexData,
        unit: Number,
        target: Destination,
    ) -> Result<(), MidgardError> {
        let is_fetch = matches!(data.op, TexOp::Txf | TexOp::TxfMs);
        let sampler = match (is_fetch, self.body.tex_src(inst, TexSrcKind::SamplerDeref)) {
            (true, _) => Number::Constant(0),
            (_, Some(sampler)) => {
                let texture = self.body.tex_src(inst, TexSrcKind::TextureDeref).map(|s| self.body.src_def(s));
                if texture == Some(self.body.src_def(sampler)) {
                    unit
                } else {
                    let element = self.unit(inst, TexSrcKind::SamplerDeref, 0)?;
                    self.number_of(element)
                }
            }
            _ => Number::Constant(data.sampler_index),
        };
        let is_vertex = self.shader.stage != ShaderStage::Fragment;
        let (op, mode) = match data.op {
            TexOp::Txf | TexOp::TxfMs => (TextureOp::Fetch, TextureMode::Normal),
            TexOp::Txl => (TextureOp::SampleGradient, shadow_mode(data)),
            TexOp::Tg4 if data.is_shadow => (TextureOp::Sample, TextureMode::GatherShadow),
            TexOp::Tg4 => {
                let modes = [TextureMode::GatherX, TextureMode::GatherY, TextureMode::GatherZ, TextureMode::GatherW];
                (TextureOp::Sample, modes[usize::from(data.component & 3)])
            }
            // Vertices have no differences.
            _ if is_vertex => (TextureOp::SampleGradient, shadow_mode(data)),
            _ => (TextureOp::Sample, shadow_mode(data)),
        };
        let mut texture = Texture {
            is_vertex,
            mode: Mode::Texture(mode),
            dimension: dimension(data.dim),
            sampler_type: Some(match data.dest_type.base {
                BaseType::Int => SamplerType::Signed,
                BaseType::Uint => SamplerType::Unsigned,
                _ => SamplerType::Float,
            }),
            coordinates: Coordinates { register: FIRST, swizzle: Swizzle::IDENTITY },
            ..Texture::new(op, 0, 0)
        };
        let mut places = Places([self.place_coordinates(inst, data)?, 0]);
        self.place_level(inst, data, &mut texture, &mut places)?;
        self.place_offset(inst, data, &mut texture, &mut places)?;
        texture.texture = self.place_handle(inst, unit, &mut places)?;
        let is_same = unit == sampler && matches!(unit, Number::Dynamic(_));
        texture.sampler = if is_same { texture.texture } else { self.place_handle(inst, sampler, &mut places)? };
        // Fetches read all components.
        let missing = !places.0[0] & if is_fetch { 15 } else { 0b0011 };
        if missing != 0 {
            let zero = self.word(0);
            self.set_coordinates(0, missing, zero);
        }
        let mut sources = vec![Source::new(File::Special, COORDINATES.into())];
        if places.0[1] != 0 {
            sources.push(Source::new(File::Special, i32::from(COORDINATES) + 1));
        }
        let result = self.next_texels();
        texture.destination = TextureRegister::Full(result as u8 & 1);
        let operation = self.operation(Operation::Texture(texture));
        let to = Destination::new(File::Special, result, target.mask);
        self.push(Instruction::new(Op::Texture, Some(to), std::iter::once(operation).chain(sources)));
        self.emit(Op::Mov, target, [Source::new(File::Special, result)]);
        Ok(())
    }

    /// Copies a component to the first place that is free.
    fn place(&mut self, inst: Inst, value: Source, places: &mut Places) -> Result<Select, MidgardError> {
        let (register, component) =
            places.take().ok_or_else(|| self.lacks(inst, "lookups with more operands than r28 and r29 hold"))?;
        self.set_coordinates(register, 1 << component, lane(value, 0));
        Ok(Select { register: if register == 0 { FIRST } else { SECOND }, component })
    }

    /// States the number of a texture or sampler.
    fn place_handle(&mut self, inst: Inst, number: Number, places: &mut Places) -> Result<Handle, MidgardError> {
        Ok(match number {
            Number::Constant(number) => {
                let number = u16::try_from(number);
                Handle::Immediate(number.map_err(|_| self.lacks(inst, "texture units beyond 65535"))?)
            }
            Number::Dynamic(number) => Handle::Register(self.place(inst, number, places)?),
        })
    }

    /// Copies coordinates, layer, reference and sample to r28. Returns the components that are written.
    fn place_coordinates(&mut self, inst: Inst, data: &TexData) -> Result<u8, MidgardError> {
        let body = self.body;
        let Some(coordinate) = body.tex_src(inst, TexSrcKind::Coord) else {
            return Err(self.lacks(inst, "lookups without coordinates"));
        };
        let mut coordinate = self.source_of(coordinate);
        let mut reference = body.tex_src(inst, TexSrcKind::Comparator).map(|source| self.source_of(source));
        if let Some(projector) = body.tex_src(inst, TexSrcKind::Projector) {
            let projector = self.source_of(projector);
            let factor = lane(self.computed(AluOp::Frcp, 1, [lane(projector, 0)]), 0);
            let all = ((1u32 << data.coord_components.min(4)) - 1) as u8;
            let divided = self.computed(AluOp::Fmul, all, [coordinate, factor]);
            if data.is_array {
                // Layers are not divided.
                let layer = data.coord_components.clamp(1, 4) - 1;
                let to = Destination::new(File::Temporary, divided.index, 1 << layer);
                self.emit(Op::Mov, to, [coordinate]);
            }
            coordinate = divided;
            reference = reference.map(|reference| self.computed(AluOp::Fmul, 1, [lane(reference, 0), factor]));
        }
        let count = data.dim.num_coords();
        let all = (1 << count) - 1;
        let mut written = all;
        if data.dim == SamplerDim::Cube {
            // Coordinates of a cube are computed by the load/store unit.
            let operand = self.next_operand();
            self.set_operand(operand, all, coordinate);
            let register = if operand == 0 { LoadStoreRegister::L0 } else { LoadStoreRegister::L1 };
            let load = LoadStore {
                argument: Operand { register, component: 0 },
                is_wide: true,
                ..LoadStore::new(LoadStoreOp::Cubemap, Register::UNUSED)
            };
            let operation = self.operation(Operation::LoadStore(load));
            let value = Source::new(File::Special, i32::from(OPERANDS + operand));
            let to = Destination::new(File::Special, COORDINATES.into(), 0b0011);
            // All three components are read.
            let rest = composed(value, [2; 4]);
            self.push(Instruction::new(Op::Load, Some(to), [operation, value, rest]));
            written = 0b0011;
        } else {
            self.set_coordinates(0, all, coordinate);
        }
        if data.is_array {
            self.set_coordinates(0, W, lane(coordinate, count.min(3)));
            written |= W;
        }
        let sample = body.tex_src(inst, TexSrcKind::MsIndex).map(|source| self.source_of(source));
        if let Some(value) = reference.or(sample) {
            self.set_coordinates(0, Z, lane(value, 0));
            written |= Z;
        }
        Ok(written)
    }

    /// States the level of detail or its bias.
    fn place_level(
        &mut self,
        inst: Inst,
        data: &TexData,
        texture: &mut Texture,
        places: &mut Places,
    ) -> Result<(), MidgardError> {
        let body = self.body;
        let level = match data.op {
            TexOp::Txb => body.tex_src(inst, TexSrcKind::Bias),
            TexOp::Txl | TexOp::Txf => body.tex_src(inst, TexSrcKind::Lod),
            _ => None,
        };
        let Some(level) = level else { return Ok(()) };
        texture.lod = match self.constant_of(level).and_then(|word| immediate_level(word, data.op)) {
            Some(immediate) => immediate,
            None => {
                let level = self.source_of(level);
                Lod::Register(self.place(inst, level, places)?)
            }
        };
        Ok(())
    }

    /// States the offset.
    fn place_offset(
        &mut self,
        inst: Inst,
        data: &TexData,
        texture: &mut Texture,
        places: &mut Places,
    ) -> Result<(), MidgardError> {
        let Some(offset) = self.body.tex_src(inst, TexSrcKind::Offset) else {
            if data.op == TexOp::Tg4 && data.tg4_offsets != tgsi_ir::body::DEFAULT_TG4_OFFSETS {
                return Err(self.lacks(inst, "gathers with four offsets"));
            }
            return Ok(());
        };
        let count = self.body.num_components(self.body.src_def(offset)).clamp(1, 3);
        if let Some(immediate) = self.immediate_offset(offset, count, data.op) {
            texture.offset = Offset::Immediate(immediate);
            return Ok(());
        }
        let source = self.source_of(offset);
        let last = count - 1;
        self.set_coordinates(1, 0b1110, composed(source, [0, 0, 1.min(last), 2.min(last)]));
        // Components that the offset lacks.
        if let Some(mask) = [0b1100, 0b1000].get(usize::from(last)) {
            let zero = self.word(0);
            self.set_coordinates(1, *mask, zero);
        }
        places.0[1] |= 0b1110;
        let swizzle = Swizzle::new([1, 2, 3, 1]);
        texture.offset = Offset::Register(Coordinates { register: SECOND, swizzle });
        Ok(())
    }

    /// The offset as an immediate: of fetches from -8 to 7, of others from 0 to 7.
    fn immediate_offset(&self, offset: Use, count: u8, op: TexOp) -> Option<[i8; 3]> {
        let def = self.body.src_def(offset);
        let mut immediate = [0; 3];
        let lowest = if matches!(op, TexOp::Txf | TexOp::TxfMs) { -8 } else { 0 };
        for (c, value) in immediate.iter_mut().enumerate().take(count.into()) {
            let number = self.body.constant_component(def, c)? as u32 as i32;
            *value = i8::try_from(number).ok().filter(|value| (lowest..8).contains(value))?;
        }
        Some(immediate)
    }

    pub(super) fn select_derivative(&mut self, inst: Inst, axis: Axis) -> Result<(), MidgardError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        if self.shader.stage != ShaderStage::Fragment {
            return Err(self.lacks(inst, "derivatives outside of fragment programs"));
        }
        let target = self.target(def);
        let source = self.source_of(body.source(inst, 0));
        let (to, late) = self.apart(target, &[source]);
        // Two components at a time.
        for first in [0, 2] {
            let mask = target.mask >> first & 3;
            if mask == 0 {
                continue;
            }
            self.set_coordinates(0, mask, composed(source, [first, first + 1, first, first + 1]));
            let result = self.next_texels();
            let texture = Texture {
                mode: Mode::Derivative(axis),
                destination: TextureRegister::Full(result as u8 & 1),
                coordinates: Coordinates { register: FIRST, swizzle: Swizzle::IDENTITY },
                ..Texture::new(TextureOp::Derivative, 0, 0)
            };
            let operation = self.operation(Operation::Texture(texture));
            let operation = composed(operation, [0, 1, 0, 1]);
            // One component has the other one's value in its channels, so that no other component is read.
            let only = if mask == 2 { 1 } else { 0 };
            let read = [0, 1, only, only].map(|c: u8| if mask >> c & 1 != 0 { c } else { only });
            let coordinates = Source::new(File::Special, COORDINATES.into()).swizzled(read);
            let written = Destination::new(File::Special, result, mask);
            self.push(Instruction::new(Op::Texture, Some(written), [operation, coordinates]));
            let value = Source::new(File::Special, result);
            let value = if first == 2 { composed(value, [0, 1, 0, 1]) } else { value };
            self.emit(Op::Mov, Destination { mask: mask << first, ..to }, [value]);
        }
        self.deliver(to, late);
        Ok(())
    }
}

/// The mode of a filtered lookup.
fn shadow_mode(data: &TexData) -> TextureMode {
    if data.is_shadow { TextureMode::Shadow } else { TextureMode::Normal }
}

fn dimension(dim: SamplerDim) -> Dimension {
    match dim {
        SamplerDim::Dim1D | SamplerDim::Buf => Dimension::D1,
        SamplerDim::Dim3D => Dimension::D3,
        SamplerDim::Cube => Dimension::Cube,
        _ => Dimension::D2,
    }
}

/// The level or bias as an immediate of 8 bits before and after the point; for fetches an integer of 8 bits.
fn immediate_level(word: u32, op: TexOp) -> Option<Lod> {
    if op == TexOp::Txf {
        return u8::try_from(word).ok().map(|fraction| Lod::Immediate { fraction, integer: 0 });
    }
    let scaled = f32::from_bits(word) * 256.0;
    let is_exact = scaled == scaled.trunc() && (-32768.0..=32767.0).contains(&scaled);
    let value = scaled as i32;
    is_exact.then_some(Lod::Immediate { fraction: value as u8, integer: (value >> 8) as i8 })
}
