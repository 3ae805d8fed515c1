//! `.vpo` and `.fpo`, the files of PSL1GHT's library for the PlayStation 3. All numbers are big-endian.
//!
//! | part | bytes | contents |
//! |---|---|---|
//! | header | 36 | magic, numbers of registers and entries, offsets of the tables, masks |
//! | attributes | 12 each | inputs and samplers: name, number, type |
//! | tables of offsets (`.fpo`) | 4 + 4 n each | where the code has the uniform's register |
//! | constants | 28 each | one for each register of a uniform, and for each literal of a vertex program |
//! | names | | each ends with a zero byte |
//! | code | 16 for each slot | at a multiple of 16; words of fragment programs have swapped halves |
//!
//! Of a matrix or array, the first entry has the name, the type and the number of entries; those of the others are 0.

mod model;
mod read;
mod write;

pub(super) use model::{both_sides, check_chip};
pub use read::{read_fpo, read_vpo};
pub use write::{write_fpo, write_vpo};

use super::names::Type;
use crate::listing::TextureTarget;
use crate::program::TextureKind;

/// Bytes of a header.
const HEADER: u32 = 36;
/// Bytes of an attribute.
const ATTRIBUTE: u32 = 12;
/// Bytes of a constant.
const CONSTANT: u32 = 28;
/// Bytes of a slot.
const SLOT: u32 = 16;
/// The table of a uniform that the code does not use.
const UNUSED: u32 = u32::MAX;

/// The type of a parameter, as files number it. Other numbers are types that the library does not know.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ParameterType(pub u8);

impl ParameterType {
    const NAMES: [&str; 19] = [
        "bool",
        "bool1",
        "bool2",
        "bool3",
        "bool4",
        "float",
        "float1",
        "float2",
        "float3",
        "float4",
        "float3x4",
        "float4x4",
        "float3x3",
        "float4x3",
        "sampler1D",
        "sampler2D",
        "sampler3D",
        "samplerCUBE",
        "samplerRECT",
    ];
    /// The number of `sampler1D`.
    const SAMPLERS: u8 = 14;
    /// `float4`.
    pub const FLOAT4: ParameterType = ParameterType(9);

    /// Returns the name in Cg, if the library knows the type.
    pub fn name(self) -> Option<&'static str> {
        ParameterType::NAMES.get(usize::from(self.0)).copied()
    }

    /// Returns the target of a sampler.
    pub fn texture_target(self) -> Option<TextureTarget> {
        use TextureTarget::{Cube, D1, D2, D3, Rectangle};
        let number = self.0.checked_sub(ParameterType::SAMPLERS)?;
        [D1, D2, D3, Cube, Rectangle].get(usize::from(number)).copied()
    }

    /// The number of a type, if the format has it.
    fn new(ty: Type) -> Option<ParameterType> {
        let number = match ty {
            Type::Vector { is_bool: true, size } => [0, 2, 3, 4].get(usize::from(size) - 1).copied()?,
            Type::Vector { is_bool: false, size } => [5, 7, 8, 9].get(usize::from(size) - 1).copied()?,
            Type::Matrix { rows: 3, size: 4 } => 10,
            Type::Matrix { rows: 4, size: 4 } => 11,
            Type::Matrix { rows: 3, size: 3 } => 12,
            Type::Matrix { rows: 4, size: 3 } => 13,
            Type::Matrix { .. } => return None,
            Type::Sampler(TextureKind::D1) => 14,
            Type::Sampler(TextureKind::D2) => 15,
            Type::Sampler(TextureKind::D3) => 16,
            Type::Sampler(TextureKind::Cube) => 17,
            Type::Sampler(TextureKind::Rect) => 18,
        };
        Some(ParameterType(number))
    }
}

/// An input or a sampler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attribute {
    /// The name.
    pub name: Option<String>,
    /// The number of the input, or the texture unit.
    pub index: u32,
    /// The type.
    pub ty: ParameterType,
}

/// A register of a uniform, or a literal. `I` locates it: the number of a constant of a vertex program, or that of a
/// table of offsets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constant<I> {
    /// The name, of the first register of a uniform.
    pub name: Option<String>,
    /// The location.
    pub index: I,
    /// The type, of the first register of a uniform.
    pub ty: ParameterType,
    /// Whether it is a literal, which the library loads with the program.
    pub is_internal: bool,
    /// Registers of the uniform, or 0 for all registers except the first.
    pub count: u8,
    /// The initial value.
    pub value: [u32; 4],
}

/// The contents of a `.vpo` file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VertexFile {
    /// Temporary registers that are used.
    pub registers: u16,
    /// The inputs that are read, one bit each.
    pub input_mask: u32,
    /// The outputs that are written, in the bits of method 0x1ff4.
    pub output_mask: u32,
    /// The number that the library adds to those of constants.
    pub first_constant: u16,
    /// The slot of the first instruction.
    pub first_slot: u16,
    /// Inputs and samplers.
    pub attributes: Vec<Attribute>,
    /// Uniforms and literals.
    pub constants: Vec<Constant<u32>>,
    /// The words of each slot.
    pub slots: Vec<[u32; 4]>,
}

/// The contents of a `.fpo` file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FragmentFile {
    /// R registers that are used.
    pub registers: u16,
    /// The control register, without the number of registers.
    pub control: u32,
    /// The texture coordinates that are read, one bit each.
    pub texcoords: u16,
    /// The texture coordinates with two components.
    pub texcoords_2d: u16,
    /// The texture coordinates with more components.
    pub texcoords_3d: u16,
    /// Inputs and samplers.
    pub attributes: Vec<Attribute>,
    /// Uniforms. The index is that of a table, or `None` if the code does not use the register.
    pub constants: Vec<Constant<Option<usize>>>,
    /// The offsets in the code, in bytes, that receive the value of a register.
    pub tables: Vec<Vec<u32>>,
    /// The words, with halves in the usual order.
    pub words: Vec<u32>,
}

impl FragmentFile {
    /// Returns the targets of the texture units, for a listing.
    pub fn texture_targets(&self) -> [TextureTarget; 16] {
        let mut targets = [TextureTarget::default(); 16];
        for attribute in &self.attributes {
            if let (Some(target), Some(place)) =
                (attribute.ty.texture_target(), targets.get_mut(attribute.index as usize))
            {
                *place = target;
            }
        }
        targets
    }
}
