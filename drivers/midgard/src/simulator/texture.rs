//! Instructions of the texture unit on the threads of a quad.

use super::alu::clamp;
use super::cube::{self, Directions};
use super::float::{self, Rounding};
use super::registers::{component, set_component};
use super::{Derivatives, Environment, Registers, TextureFetch, TextureLane, Trap, Vec4};
use crate::isa::alu::Clamp;
use crate::isa::texture::{
    Axis, Coordinates, Dimension, Handle, Lod, Mode, Offset, SamplerType, Select, Texture, TextureMode, TextureOp,
    TextureRegister,
};
use crate::isa::{Register, Resources, Width};

use half::f16;

/// A quad that executes a texture instruction.
pub(super) struct TextureUnit<'a> {
    /// The index of the bundle.
    pub(super) index: usize,
    /// The number of the first thread.
    pub(super) first_lane: usize,
    /// The threads whose results are written.
    pub(super) active: [bool; 4],
    /// The registers of the program.
    pub(super) resources: Resources,
    /// The kind of derivatives.
    pub(super) derivatives: Derivatives,
    /// Whether the first active thread states texture and sampler.
    pub(super) has_uniform_textures: bool,
    /// The directions of cube coordinates.
    pub(super) directions: &'a Directions,
    /// The surroundings.
    pub(super) environment: &'a mut dyn Environment,
}

/// The kind of numbers in operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Float,
    Integer,
}

/// Widens 16 bits.
fn widen(bits: u64, kind: Kind) -> u32 {
    match kind {
        Kind::Float => f16::from_bits(bits as u16).to_f32().to_bits(),
        Kind::Integer => bits as i16 as u32,
    }
}

/// The width and the first component of a register or half of one.
fn place(register: TextureRegister) -> (Width, u32) {
    match register {
        TextureRegister::Full(_) => (Width::W32, 0),
        TextureRegister::Lower(_) => (Width::W16, 0),
        TextureRegister::Upper(_) => (Width::W16, 4),
    }
}

impl TextureUnit<'_> {
    /// The bits of an operand register.
    fn operand(&self, registers: &Registers, index: u8) -> u128 {
        match Register::new(Register::CONSTANTS.number() + (index & 1)) {
            Some(register) if self.resources.chip.aliases_texture_registers() => registers.get(register),
            _ => registers.texture_operand(index),
        }
    }

    fn component(&self, registers: &Registers, register: TextureRegister, index: u32, kind: Kind) -> u32 {
        let bits = self.operand(registers, register.index());
        let (width, first) = place(register);
        let bits = component(bits, width, first + index % 4);
        if width == Width::W32 { bits as u32 } else { widen(bits, kind) }
    }

    fn select(&self, registers: &Registers, select: Select, kind: Kind) -> u32 {
        self.component(registers, select.register, select.component.into(), kind)
    }

    fn swizzled(&self, registers: &Registers, coordinates: Coordinates, kind: Kind) -> Vec4 {
        let Coordinates { register, swizzle } = coordinates;
        [0, 1, 2, 3].map(|index| self.component(registers, register, swizzle.get(index), kind))
    }

    fn handle(&self, registers: &Registers, handle: Handle) -> u32 {
        match handle {
            Handle::Immediate(number) => number.into(),
            Handle::Register(select) => self.select(registers, select, Kind::Integer),
        }
    }

    /// The operands of a thread.
    fn lane(&self, texture: &Texture, number: usize, registers: &Registers) -> TextureLane {
        let is_fetch = texture.op == TextureOp::Fetch;
        let kind = if is_fetch { Kind::Integer } else { Kind::Float };
        let mut lane = TextureLane {
            is_active: self.active[number],
            coordinates: self.swizzled(registers, texture.coordinates, kind),
            lod: match texture.lod {
                Lod::Immediate { fraction, .. } if is_fetch => fraction.into(),
                Lod::Immediate { fraction, integer } => (f32::from(integer) + f32::from(fraction) / 256.0).to_bits(),
                Lod::Register(select) => self.select(registers, select, kind),
            },
            offset: match texture.offset {
                Offset::Immediate(offset) => offset.map(i32::from),
                Offset::Register(coordinates) => {
                    let [x, y, z, _] = self.swizzled(registers, coordinates, Kind::Integer);
                    [x, y, z].map(|word| word as i32)
                }
            },
            ..TextureLane::default()
        };
        if texture.dimension == Dimension::Cube {
            let [x, y, ..] = lane.coordinates;
            let (face, [s, t], direction) = cube::decode(self.directions, self.first_lane + number, [x, y]);
            (lane.face, lane.direction) = (face, direction);
            (lane.coordinates[0], lane.coordinates[1]) = (s.to_bits(), t.to_bits());
        }
        lane
    }

    /// Executes an instruction on the registers of the quad.
    pub(super) fn run(&mut self, texture: &Texture, quad: &mut [&mut Registers; 4]) -> Result<(), Trap> {
        let undefined = Trap::Undefined(self.index, texture.op.name());
        let results = match (texture.op, texture.mode) {
            (TextureOp::Derivative, Mode::Derivative(axis)) => self.derivative(texture, axis, quad),
            (TextureOp::Move, _) => {
                if texture.coordinates.register.is_full() != texture.destination.is_full() {
                    return Err(undefined);
                }
                [0, 1, 2, 3].map(|lane| self.swizzled(quad[lane], texture.coordinates, Kind::Integer))
            }
            (TextureOp::Sample | TextureOp::SampleGradient | TextureOp::Fetch, Mode::Texture(mode)) => {
                self.fetch(texture, mode, quad)
            }
            _ => return Err(undefined),
        };
        for (lane, registers) in quad.iter_mut().enumerate().filter(|&(lane, _)| self.active[lane]) {
            self.write(texture, registers, results[lane]);
        }
        Ok(())
    }

    /// Executes a fetch, for each texture and sampler that threads have.
    fn fetch(&mut self, texture: &Texture, mode: TextureMode, quad: &[&mut Registers; 4]) -> [Vec4; 4] {
        let numbers = [0, 1, 2, 3]
            .map(|lane: usize| (self.handle(quad[lane], texture.texture), self.handle(quad[lane], texture.sampler)));
        let lanes = [0, 1, 2, 3].map(|lane| self.lane(texture, lane, quad[lane]));
        let mut results = [[0; 4]; 4];
        let mut is_done = self.active.map(|is_active| !is_active);
        while let Some(next) = is_done.iter().position(|&is_done| !is_done) {
            let is_next = |lane: usize| self.has_uniform_textures || numbers[lane] == numbers[next];
            let is_same = [0, 1, 2, 3].map(|lane: usize| !is_done[lane] && is_next(lane));
            let fetch = TextureFetch {
                first_lane: self.first_lane,
                op: texture.op,
                is_vertex: texture.is_vertex,
                mode,
                dimension: texture.dimension,
                sampler_type: texture.sampler_type.unwrap_or(SamplerType::Float),
                texture: numbers[next].0,
                sampler: numbers[next].1,
                lanes: [0, 1, 2, 3].map(|lane: usize| TextureLane { is_active: is_same[lane], ..lanes[lane] }),
            };
            let values = self.environment.texture(&fetch);
            for lane in (0..4).filter(|&lane| is_same[lane]) {
                results[lane] = values[lane];
                is_done[lane] = true;
            }
        }
        results
    }

    /// The differences of the first two coordinates.
    fn derivative(&self, texture: &Texture, axis: Axis, quad: &[&mut Registers; 4]) -> [Vec4; 4] {
        let values = [0, 1, 2, 3].map(|lane: usize| {
            let [x, y, ..] = self.swizzled(quad[lane], texture.coordinates, Kind::Float);
            [x, y].map(f32::from_bits)
        });
        [0, 1, 2, 3].map(|lane: usize| {
            let (from, to) = match (axis, self.derivatives) {
                (Axis::X, Derivatives::Quad) => (2, 3),
                (Axis::Y, Derivatives::Quad) => (0, 2),
                (Axis::X, Derivatives::Line) => (lane & 2, lane & 2 | 1),
                (Axis::Y, Derivatives::Line) => (lane & 1, lane & 1 | 2),
            };
            let [x, y] = [0, 1].map(|index| (values[to][index] - values[from][index]).to_bits());
            [x, y, 0, 0]
        })
    }

    /// Writes a result to the masked components.
    fn write(&self, texture: &Texture, registers: &mut Registers, result: Vec4) {
        let index = texture.destination.index() & 1;
        // Of the aliased registers, those of results are r0 and r1.
        let number = if self.resources.chip.aliases_texture_registers() { index } else { 28 + index };
        let Some(register) = Register::new(number) else { return };
        let (width, first) = place(texture.destination);
        let bits = registers.get_mut(register);
        for index in (0..4).filter(|index| texture.mask >> index & 1 != 0) {
            let word = result[texture.swizzle.get(index) as usize];
            let value = match texture.sampler_type {
                Some(SamplerType::Float) if width != Width::W32 || texture.clamp != Clamp::None => {
                    float::to_bits(clamp(f32::from_bits(word).into(), texture.clamp), width, Rounding::Even)
                }
                _ => word.into(),
            };
            set_component(bits, width, first + index, value);
        }
    }
}
