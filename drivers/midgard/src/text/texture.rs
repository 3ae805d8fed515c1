//! Texture instructions as text.

use super::Printer;
use super::alu::{component_name, swizzle};
use crate::isa::alu::Expand;
use crate::isa::texture::{
    Barrier, Coordinates, Handle, Lod, Mode, Offset, SamplerType, Select, Texture, TextureOp, TextureRegister,
};
use crate::isa::{Swizzle, Width};

use std::fmt::{Result, Write};

fn selectors(selectors: Swizzle, is_upper: bool) -> String {
    swizzle(selectors, if is_upper { Expand::High } else { Expand::None }, Width::W32, 0xff)
}

fn out_of_order(bundles: u8) -> String {
    if bundles == 0 { String::new() } else { format!(".ooo{bundles}") }
}

fn width(register: TextureRegister) -> u32 {
    if register.is_full() { 32 } else { 16 }
}

/// The mask of the result.
fn mask(texture: &Texture) -> String {
    let is_upper = texture.destination.is_upper();
    if texture.mask == 15 {
        return if is_upper { "'".to_owned() } else { String::new() };
    }
    let first = if is_upper { 4 } else { 0 };
    let written = (0..4).filter(|index| texture.mask >> index & 1 != 0);
    format!(".{}", written.map(|index| component_name(first + index)).collect::<String>())
}

impl Printer {
    /// The name of a register that the texture unit reads.
    fn texture_source(&self, register: TextureRegister) -> String {
        let name = if self.options.chip.aliases_texture_registers() { "R" } else { "AT" };
        format!("{name}{}", register.index())
    }

    /// The name of a register that the texture unit writes.
    fn texture_destination(&self, register: TextureRegister) -> String {
        let name = if self.options.chip.aliases_texture_registers() { "AL" } else { "TA" };
        format!("{name}{}", register.index())
    }

    fn coordinates(&self, coordinates: &Coordinates) -> String {
        let Coordinates { register, swizzle } = *coordinates;
        let selectors = selectors(swizzle, register.is_upper());
        format!("{}{selectors}.{}", self.texture_source(register), width(register))
    }

    fn select(&self, select: &Select) -> String {
        let first = if select.register.is_upper() { 4 } else { 0 };
        let component = component_name(first + u32::from(select.component));
        format!("{}.{component}.{}", self.texture_source(select.register), width(select.register))
    }

    fn offset(&self, offset: &Offset) -> String {
        match offset {
            Offset::Register(coordinates) => format!(" + {}, ", self.coordinates(coordinates)),
            Offset::Immediate([0, 0, 0]) => ", ".to_owned(),
            Offset::Immediate([x, y, z]) => format!(" + <{x}, {y}, {z}>, "),
        }
    }

    fn lod(&self, op: TextureOp, lod: &Lod) -> String {
        let is_bias = op == TextureOp::Sample;
        match *lod {
            Lod::Register(ref select) => {
                format!("lod {} {}, ", if is_bias { '+' } else { '=' }, self.select(select))
            }
            Lod::Immediate { fraction, .. } if op == TextureOp::Fetch => format!("lod = {fraction}, "),
            Lod::Immediate { fraction: 0, integer: 0 } => String::new(),
            Lod::Immediate { fraction, integer } => {
                let value = f32::from(integer) + f32::from(fraction) / 256.0;
                let operator = match is_bias {
                    false => '=',
                    true if value >= 0.0 => '+',
                    true => '-',
                };
                format!("lod {operator} {:.6}, ", value.abs())
            }
        }
    }

    pub(super) fn barrier(&mut self, f: &mut dyn Write, barrier: &Barrier) -> Result {
        writeln!(f, "{}{}", TextureOp::Barrier.name(), out_of_order(barrier.out_of_order))
    }

    pub(super) fn texture(&mut self, f: &mut dyn Write, texture: &Texture) -> Result {
        let mode = match texture.mode {
            Mode::Derivative(axis) => axis.name(),
            Mode::Texture(mode) => mode.name(),
        };
        write!(
            f,
            "{}{}{mode}.{}{}{} ",
            texture.op.name(),
            if texture.is_vertex { ".vtx" } else { "" },
            texture.dimension.name(),
            texture.execution.name(),
            out_of_order(texture.out_of_order)
        )?;
        let is_float = texture.sampler_type == Some(SamplerType::Float);
        write!(
            f,
            "{}{}.{}{}{}, ",
            self.texture_destination(texture.destination),
            mask(texture),
            if is_float { 'f' } else { 'i' },
            width(texture.destination),
            if is_float { texture.clamp.name() } else { "" }
        )?;
        match &texture.texture {
            Handle::Immediate(number) => write!(f, "texture{number}, ")?,
            Handle::Register(select) => write!(f, "texture[{}], ", self.select(select))?,
        }
        write!(f, "{}sampler", texture.sampler_type.map_or("?", SamplerType::name))?;
        match &texture.sampler {
            Handle::Immediate(number) => write!(f, "{number}")?,
            Handle::Register(select) => write!(f, "[{}]", self.select(select))?,
        }
        writeln!(
            f,
            "{}, {}{}{}",
            selectors(texture.swizzle, false),
            self.coordinates(&texture.coordinates),
            self.offset(&texture.offset),
            self.lod(texture.op, &texture.lod)
        )?;
        if texture.unknown4 != 0 || texture.unknown8 != 0 {
            writeln!(f, "// unknown4 = 0x{:x}\n// unknown8 = 0x{:x}", texture.unknown4, texture.unknown8)?;
        }
        Ok(())
    }
}
