//! Bundles of the texture unit: one instruction, or a barrier.

mod operand;

pub use operand::{Coordinates, Handle, Lod, Offset, Select, TextureRegister};

use super::alu::Clamp;
use super::bits::{bit_fields, enumeration, unsigned, zero};
use super::{InvalidInstruction, Swizzle, Tag};

enumeration! {
    /// An operation of the texture unit.
    TextureOp {
        Sample = 1 "TEX" "A sample, with a bias.";
        SampleGradient = 2 "TEX_GRAD" "A sample, with a level of detail or gradients.";
        Fetch = 4 "TEX_FETCH" "A texel without a filter.";
        GradientFromDerivative = 9 "DER_TO_GRAD" "Gradients from derivatives.";
        Move = 10 "MOV" "A copy.";
        Barrier = 11 "BARRIER" "A barrier, which has its own form: see [`Barrier`].";
        GradientFromCoordinates = 12 "COORDS_TO_GRAD" "Gradients from coordinates.";
        Derivative = 13 "DERIVATIVE" "Derivatives in blocks of 2 x 2 fragments.";
    }
}

enumeration! {
    /// The mode of operations other than derivatives.
    TextureMode {
        Normal = 1 "" "A filtered value.";
        Shadow = 5 ".shadow" "A comparison.";
        GatherShadow = 6 ".gather.shadow" "Four comparisons.";
        GatherX = 8 ".gatherX" "The first component of four texels.";
        GatherY = 9 ".gatherY" "The second component of four texels.";
        GatherZ = 10 ".gatherZ" "The third component of four texels.";
        GatherW = 11 ".gatherW" "The fourth component of four texels.";
    }
}

enumeration! {
    /// The direction of derivatives.
    Axis {
        X = 0 ".x" "Along x.";
        Y = 1 ".y" "Along y.";
    }
}

/// The mode of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mode {
    /// Of derivatives.
    Derivative(Axis),
    /// Of all others.
    Texture(TextureMode),
}

enumeration! {
    /// The dimensions of a texture.
    Dimension {
        Cube = 0 "cube" "A cube.";
        D1 = 1 "1d" "One.";
        D2 = 2 "2d" "Two.";
        D3 = 3 "3d" "Three, or two and a layer.";
    }
}

enumeration! {
    /// The treatment of helper invocations.
    PartialExecution {
        Skip = 1 ".skip" "They skip the operation.";
        Kill = 2 ".kill" "They end after it.";
        None = 3 "" "They take part.";
    }
}

enumeration! {
    /// The type of texels.
    SamplerType {
        Float = 1 "f" "Floats.";
        Unsigned = 2 "u" "Unsigned integers.";
        Signed = 3 "i" "Signed integers.";
    }
}

/// An instruction of the texture unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Texture {
    /// The operation; for barriers, see [`Barrier`].
    pub op: TextureOp,
    /// Whether the tag is that of vertex programs.
    pub is_vertex: bool,
    /// The mode.
    pub mode: Mode,
    /// The treatment of helper invocations.
    pub execution: PartialExecution,
    /// The dimensions.
    pub dimension: Dimension,
    /// The type of texels; only [`TextureOp::Move`] has none.
    pub sampler_type: Option<SamplerType>,
    /// The texture.
    pub texture: Handle,
    /// The sampler.
    pub sampler: Handle,
    /// The selectors of the texel.
    pub swizzle: Swizzle,
    /// The written register.
    pub destination: TextureRegister,
    /// The written components, one bit each.
    pub mask: u8,
    /// The limit of floats.
    pub clamp: Clamp,
    /// The coordinates.
    pub coordinates: Coordinates,
    /// The offset of coordinates.
    pub offset: Offset,
    /// The level of detail or its bias.
    pub lod: Lod,
    /// The number of following bundles that may execute before this one ends, from 0 to 15.
    pub out_of_order: u8,
    /// Eight bits without a known meaning, after the number of bundles.
    pub unknown4: u8,
    /// Two bits without a known meaning, after the coordinates.
    pub unknown8: u8,
}

/// A barrier of the texture unit.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Barrier {
    /// The number of following bundles that may execute before this one ends, from 0 to 15.
    pub out_of_order: u8,
}

bit_fields! {
    /// The bits of an instruction.
    Raw {
        tags: 8, op: 4, mode: 4, execution: 2, dimension: 2, is_sampler_register: 1, is_texture_register: 1,
        is_lod_register: 1, is_offset_register: 1, coordinates: 3, coordinates_swizzle: 8, unknown8: 2, is_full: 1,
        sampler_type: 2, register: 1, is_upper: 1, mask: 4, clamp: 2, swizzle: 8, out_of_order: 4, unknown4: 8,
        offset: 12, lod: 16, sampler: 16, texture: 16,
    }
}

bit_fields! {
    /// The bits of a barrier.
    RawBarrier {
        tags: 8, op: 6, zero1: 2, helpers: 2, zero2: 14, zero3: 24, out_of_order: 4, zero4: 4, zero5: 32, zero6: 32,
    }
}

/// The bits for helper invocations, of which barriers have none.
const NO_HELPERS: u32 = 3;

impl Mode {
    fn from_code(op: TextureOp, code: u32) -> Option<Mode> {
        if op == TextureOp::Derivative {
            Axis::from_code(code).map(Mode::Derivative)
        } else {
            TextureMode::from_code(code).map(Mode::Texture)
        }
    }

    fn encode(self, op: TextureOp) -> Result<u32, InvalidInstruction> {
        match self {
            Mode::Derivative(axis) if op == TextureOp::Derivative => Ok(axis.code()),
            Mode::Texture(mode) if op != TextureOp::Derivative => Ok(mode.code()),
            _ => Err(InvalidInstruction::Conflict("the mode of another operation")),
        }
    }
}

impl Texture {
    /// An operation on a two-dimensional texture of floats, at coordinates of 32 bits.
    pub fn new(op: TextureOp, texture: u16, sampler: u16) -> Texture {
        Texture {
            op,
            is_vertex: false,
            mode: match op {
                TextureOp::Derivative => Mode::Derivative(Axis::X),
                _ => Mode::Texture(TextureMode::Normal),
            },
            execution: PartialExecution::None,
            dimension: Dimension::D2,
            sampler_type: (op != TextureOp::Move).then_some(SamplerType::Float),
            texture: Handle::Immediate(texture),
            sampler: Handle::Immediate(sampler),
            swizzle: Swizzle::IDENTITY,
            destination: TextureRegister::Full(0),
            mask: 15,
            clamp: Clamp::None,
            coordinates: Coordinates { register: TextureRegister::Full(0), swizzle: Swizzle::IDENTITY },
            offset: Offset::NONE,
            lod: Lod::NONE,
            out_of_order: 0,
            unknown4: 0,
            unknown8: 0,
        }
    }

    /// The tag.
    pub fn tag(&self) -> Tag {
        if self.is_vertex { Tag::TextureVertex } else { Tag::Texture }
    }

    pub(super) fn decode(bits: u128, is_vertex: bool) -> Result<Texture, InvalidInstruction> {
        let raw = Raw::from_bits(bits);
        let op = TextureOp::from_code(raw.op).ok_or(InvalidInstruction::Opcode("texture", raw.op))?;
        let sampler_type = match raw.sampler_type {
            0 => None,
            code => SamplerType::from_code(code),
        };
        let texture = Texture {
            op,
            is_vertex,
            mode: Mode::from_code(op, raw.mode).ok_or(InvalidInstruction::Field("texture mode", raw.mode))?,
            execution: PartialExecution::from_code(raw.execution)
                .ok_or(InvalidInstruction::Field("treatment of helper invocations", raw.execution))?,
            dimension: Dimension::from_code(raw.dimension)
                .ok_or(InvalidInstruction::Field("dimension", raw.dimension))?,
            sampler_type,
            texture: Handle::from_bits(raw.is_texture_register != 0, raw.texture)?,
            sampler: Handle::from_bits(raw.is_sampler_register != 0, raw.sampler)?,
            swizzle: Swizzle(raw.swizzle as u8),
            destination: TextureRegister::from_bits(raw.is_full | raw.register << 1 | raw.is_upper << 2)?,
            mask: raw.mask as u8,
            clamp: Clamp::from_code(raw.clamp).ok_or(InvalidInstruction::Field("clamp", raw.clamp))?,
            coordinates: Coordinates {
                register: TextureRegister::from_bits(raw.coordinates)?,
                swizzle: Swizzle(raw.coordinates_swizzle as u8),
            },
            offset: Offset::from_bits(raw.is_offset_register != 0, raw.offset)?,
            lod: Lod::from_bits(raw.is_lod_register != 0, raw.lod)?,
            out_of_order: raw.out_of_order as u8,
            unknown4: raw.unknown4 as u8,
            unknown8: raw.unknown8 as u8,
        };
        // The encoder has the remaining rules.
        texture.encode(0)?;
        Ok(texture)
    }

    pub(super) fn encode(&self, tags: u32) -> Result<u128, InvalidInstruction> {
        self.check()?;
        let destination = self.destination.to_bits()?;
        let raw = Raw {
            tags,
            op: self.op.code(),
            mode: self.mode.encode(self.op)?,
            execution: self.execution.code(),
            dimension: self.dimension.code(),
            is_sampler_register: self.sampler.is_register().into(),
            is_texture_register: self.texture.is_register().into(),
            is_lod_register: self.lod.is_register().into(),
            is_offset_register: self.offset.is_register().into(),
            coordinates: self.coordinates.register.to_bits()?,
            coordinates_swizzle: self.coordinates.swizzle.0.into(),
            unknown8: unsigned("unknown field", self.unknown8, 2)?,
            is_full: destination & 1,
            sampler_type: self.sampler_type.map_or(0, SamplerType::code),
            register: destination >> 1 & 1,
            is_upper: destination >> 2,
            mask: unsigned("mask", self.mask, 4)?,
            clamp: self.clamp.code(),
            swizzle: self.swizzle.0.into(),
            out_of_order: unsigned("number of bundles", self.out_of_order, 4)?,
            unknown4: self.unknown4.into(),
            offset: self.offset.to_bits()?,
            lod: self.lod.to_bits()?,
            sampler: self.sampler.to_bits()?,
            texture: self.texture.to_bits()?,
        };
        Ok(raw.to_bits())
    }

    /// Checks rules between fields.
    fn check(&self) -> Result<(), InvalidInstruction> {
        if self.op == TextureOp::Barrier {
            return Err(InvalidInstruction::Conflict("a barrier with operands"));
        }
        if self.sampler_type.is_some() == (self.op == TextureOp::Move) {
            return Err(InvalidInstruction::Conflict("the type of texels and the operation"));
        }
        match (self.op, self.offset, self.lod) {
            (TextureOp::Fetch, _, Lod::Immediate { integer, .. }) if integer != 0 => {
                Err(InvalidInstruction::Conflict("a fetch with a level of detail in the integer part"))
            }
            (TextureOp::Fetch, ..) => Ok(()),
            (_, Offset::Immediate(offset), _) if offset.iter().any(|&offset| offset < 0) => {
                Err(InvalidInstruction::Conflict("a negative immediate offset outside of fetches"))
            }
            _ => Ok(()),
        }
    }
}

impl Barrier {
    pub(super) fn decode(bits: u128) -> Result<Barrier, InvalidInstruction> {
        let raw = RawBarrier::from_bits(bits);
        if raw.op != TextureOp::Barrier.code() {
            return Err(InvalidInstruction::Opcode("barrier", raw.op));
        }
        if raw.helpers != NO_HELPERS {
            return Err(InvalidInstruction::Field("treatment of helper invocations", raw.helpers));
        }
        for bits in [raw.zero1, raw.zero2, raw.zero3, raw.zero4, raw.zero5, raw.zero6] {
            zero("a barrier", bits)?;
        }
        Ok(Barrier { out_of_order: raw.out_of_order as u8 })
    }

    pub(super) fn encode(&self, tags: u32) -> Result<u128, InvalidInstruction> {
        let raw = RawBarrier {
            tags,
            op: TextureOp::Barrier.code(),
            helpers: NO_HELPERS,
            out_of_order: unsigned("number of bundles", self.out_of_order, 4)?,
            ..RawBarrier::default()
        };
        Ok(raw.to_bits())
    }
}
