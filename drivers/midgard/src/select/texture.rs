//! Texture instructions and derivatives.
//!
//! Coordinates are in r28: the reference of a comparison and the sample in z, the layer in w. The level or bias is in x
//! of r29, offsets in y, z and w.

use tgsi_environment::SamplerDim;
use tgsi_ir::alu::BaseType;
use tgsi_ir::body::{DerefKind, TexData, TexOp, TexSrcKind};
use tgsi_ir::{Inst, InstData, ShaderStage, Use};
use tgsi_vec4::simple::{Destination, File, Instruction, Source};

use super::Selector;
use super::operands::{lane, swizzled};
use crate::MidgardError;
use crate::isa::alu::AluOp;
use crate::isa::load_store::{LoadStore, LoadStoreOp, Operand};
use crate::isa::texture::{
    Axis, Coordinates, Dimension, Lod, Mode, Offset, SamplerType, Select, Texture, TextureMode, TextureOp,
    TextureRegister,
};
use crate::isa::{LoadStoreRegister, Register, Swizzle};
use crate::machine::{COORDINATES, OPERANDS, Op, Operation};
use crate::program::{self, SystemRow};

const Z: u8 = 0b0100;
const W: u8 = 0b1000;

/// The first operand register of the texture unit.
const FIRST: TextureRegister = TextureRegister::Full(0);
/// The second one.
const SECOND: TextureRegister = TextureRegister::Full(1);

impl Selector<'_> {
    pub(super) fn select_texture(&mut self, inst: Inst) -> Result<(), MidgardError> {
        let body = self.body;
        let (Some(&data), Some(def)) = (body.tex(inst), body.inst_def(inst)) else { return Ok(()) };
        let unit = self.texture_unit(inst, &data, TexSrcKind::TextureDeref)?;
        if !self.textures.iter().any(|known| known.number == unit) {
            let dimensions = data.dim.into();
            self.textures.push(program::Texture { number: unit, dimensions, is_array: data.is_array });
        }
        let target = self.target(def);
        match data.op {
            TexOp::Txs => self.select_size(inst, &data, unit, target),
            TexOp::QueryLevels => {
                let size = self.system_row(SystemRow::TextureSize(unit));
                self.copy(target, lane(size, 3));
                Ok(())
            }
            TexOp::TextureSamples => {
                let samples = self.system_row(SystemRow::TextureSamples(unit));
                self.copy(target, lane(samples, 0));
                Ok(())
            }
            TexOp::Tex | TexOp::Txb | TexOp::Txl | TexOp::Txf | TexOp::TxfMs | TexOp::Tg4 if !data.is_sparse => {
                self.select_lookup(inst, &data, unit, target)
            }
            _ => Err(self.lacks(inst, &format!("texture instruction `{}`", data.op.name()))),
        }
    }

    /// The number of the unit of a texture or a sampler.
    fn texture_unit(&self, inst: Inst, data: &TexData, kind: TexSrcKind) -> Result<u32, MidgardError> {
        let body = self.body;
        let is_texture = kind == TexSrcKind::TextureDeref;
        let Some(source) = body.tex_src(inst, kind) else {
            return Ok(if is_texture { data.texture_index } else { data.sampler_index });
        };
        let dynamic = || self.lacks(inst, "run-time index of textures");
        let deref = body.def_inst(body.src_def(source));
        let (root, element) = match *body.inst(deref) {
            InstData::Deref { kind: DerefKind::Array, .. } => {
                let index = body.constant_component(body.src(deref, 1), 0).ok_or_else(dynamic)?;
                (body.def_inst(body.src(deref, 0)), index as u32)
            }
            _ => (deref, 0),
        };
        match *body.inst(root) {
            InstData::Deref { kind: DerefKind::Var(variable), .. } => {
                Ok(self.shader.variables[variable].binding.wrapping_add(element))
            }
            _ => Err(dynamic()),
        }
    }

    /// The size of a texture at a level.
    fn select_size(
        &mut self,
        inst: Inst,
        data: &TexData,
        unit: u32,
        target: Destination,
    ) -> Result<(), MidgardError> {
        let size = self.system_row(SystemRow::TextureSize(unit));
        let level = self.body.tex_src(inst, TexSrcKind::Lod).filter(|&level| self.constant_of(level) != Some(0));
        let Some(level) = level else {
            self.copy(target, size);
            return Ok(());
        };
        let level = self.source_of(level);
        let layer = if data.is_array { 1 << data.dim.num_coords().saturating_sub(u8::from(data.dim == SamplerDim::Cube)) } else { 0 };
        let one = self.word(1);
        let (to, late) = self.apart(target, &[level]);
        let scaled = Destination { mask: target.mask & !layer, ..to };
        let shifted = self.computed(AluOp::Ilsr, scaled.mask, [size, lane(level, 0)]);
        self.emit(AluOp::Umax, scaled, [shifted, one]);
        if target.mask & layer != 0 {
            self.emit(Op::Mov, Destination { mask: target.mask & layer, ..to }, [size]);
        }
        self.deliver(to, late);
        Ok(())
    }

    fn select_lookup(
        &mut self,
        inst: Inst,
        data: &TexData,
        unit: u32,
        target: Destination,
    ) -> Result<(), MidgardError> {
        let is_fetch = matches!(data.op, TexOp::Txf | TexOp::TxfMs);
        let sampler = if is_fetch { 0 } else { self.texture_unit(inst, data, TexSrcKind::SamplerDeref)? };
        let is_vertex = self.shader.stage != ShaderStage::Fragment;
        let (op, mode) = match data.op {
            TexOp::Txf | TexOp::TxfMs => (TextureOp::Fetch, TextureMode::Normal),
            TexOp::Txl => (TextureOp::SampleGradient, shadow_mode(data)),
            TexOp::Tg4 if data.is_shadow => (TextureOp::Sample, TextureMode::GatherShadow),
            TexOp::Tg4 => {
                let modes =
                    [TextureMode::GatherX, TextureMode::GatherY, TextureMode::GatherZ, TextureMode::GatherW];
                (TextureOp::Sample, modes[usize::from(data.component & 3)])
            }
            // Vertices have no differences.
            _ if is_vertex => (TextureOp::SampleGradient, shadow_mode(data)),
            _ => (TextureOp::Sample, shadow_mode(data)),
        };
        let numbers = |number: u32, what: &str| {
            u16::try_from(number).map_err(|_| self.lacks(inst, &format!("{what} unit {number}")))
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
            ..Texture::new(op, numbers(unit, "texture")?, numbers(sampler, "sampler")?)
        };
        self.place_coordinates(inst, data, is_fetch)?;
        let mut sources = vec![Source::new(File::Special, COORDINATES.into())];
        if self.place_level(inst, data, &mut texture) | self.place_offset(inst, data, &mut texture)? {
            sources.push(Source::new(File::Special, i32::from(COORDINATES) + 1));
        }
        let result = self.next_texels();
        texture.destination = TextureRegister::Full(result as u8 & 1);
        let operation = self.operation(Operation::Texture(texture));
        let operation = if data.is_shadow && data.op != TexOp::Tg4 { lane(operation, 0) } else { operation };
        let to = Destination::new(File::Special, result, target.mask);
        self.push(Instruction::new(Op::Texture, Some(to), std::iter::once(operation).chain(sources)));
        self.emit(Op::Mov, target, [Source::new(File::Special, result)]);
        Ok(())
    }

    /// Copies coordinates, layer, reference and sample to r28.
    fn place_coordinates(&mut self, inst: Inst, data: &TexData, is_fetch: bool) -> Result<(), MidgardError> {
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
            coordinate = self.computed(AluOp::Fmul, all, [coordinate, factor]);
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
            let rest = swizzled(value, [2; 4]);
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
        // Fetches read all components.
        let missing = !written & 15;
        if is_fetch && missing != 0 || missing & 0b0011 != 0 {
            let zero = self.word(0);
            self.set_coordinates(0, if is_fetch { missing } else { missing & 0b0011 }, zero);
        }
        Ok(())
    }

    /// States the level of detail or its bias. Returns whether r29 has it.
    fn place_level(&mut self, inst: Inst, data: &TexData, texture: &mut Texture) -> bool {
        let body = self.body;
        let level = match data.op {
            TexOp::Txb => body.tex_src(inst, TexSrcKind::Bias),
            TexOp::Txl | TexOp::Txf => body.tex_src(inst, TexSrcKind::Lod),
            _ => None,
        };
        let Some(level) = level else { return false };
        if let Some(immediate) = self.constant_of(level).and_then(|word| immediate_level(word, data.op)) {
            texture.lod = immediate;
            return false;
        }
        let level = self.source_of(level);
        self.set_coordinates(1, 1, lane(level, 0));
        texture.lod = Lod::Register(Select { register: SECOND, component: 0 });
        true
    }

    /// States the offset. Returns whether r29 has it.
    fn place_offset(&mut self, inst: Inst, data: &TexData, texture: &mut Texture) -> Result<bool, MidgardError> {
        let Some(offset) = self.body.tex_src(inst, TexSrcKind::Offset) else { return Ok(false) };
        if data.op == TexOp::Tg4 && data.tg4_offsets != tgsi_ir::body::DEFAULT_TG4_OFFSETS {
            return Err(self.lacks(inst, "gathers with four offsets"));
        }
        let count = self.body.num_components(self.body.src_def(offset)).clamp(1, 3);
        if let Some(immediate) = self.immediate_offset(offset, count, data.op) {
            texture.offset = Offset::Immediate(immediate);
            return Ok(false);
        }
        let source = self.source_of(offset);
        let last = count - 1;
        let source = swizzled(source, [0, 0, 1.min(last), 2.min(last)]);
        self.set_coordinates(1, 0b1110, source);
        let zero = self.word(0);
        // Components that the offset lacks.
        if let Some(mask) = [0b1100, 0b1000].get(usize::from(last)) {
            self.set_coordinates(1, *mask, zero);
        }
        let swizzle = Swizzle::new([1, 2, 3, 1]);
        texture.offset = Offset::Register(Coordinates { register: SECOND, swizzle });
        Ok(true)
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
            self.set_coordinates(0, mask, swizzled(source, [first, first + 1, first, first + 1]));
            let result = self.next_texels();
            let texture = Texture {
                mode: Mode::Derivative(axis),
                destination: TextureRegister::Full(result as u8 & 1),
                coordinates: Coordinates { register: FIRST, swizzle: Swizzle::IDENTITY },
                ..Texture::new(TextureOp::Derivative, 0, 0)
            };
            let operation = self.operation(Operation::Texture(texture));
            let operation = swizzled(operation, [0, 1, 0, 1]);
            // One component has the other one's value in its channels, so that no other component is read.
            let only = if mask == 2 { 1 } else { 0 };
            let read = [0, 1, only, only].map(|c: u8| if mask >> c & 1 != 0 { c } else { only });
            let coordinates = Source::new(File::Special, COORDINATES.into()).swizzled(read);
            let written = Destination::new(File::Special, result, mask);
            self.push(Instruction::new(Op::Texture, Some(written), [operation, coordinates]));
            let value = Source::new(File::Special, result);
            let value = if first == 2 { swizzled(value, [0, 1, 0, 1]) } else { value };
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
    is_exact.then(|| Lod::Immediate { fraction: value as u8, integer: (value >> 8) as i8 })
}
