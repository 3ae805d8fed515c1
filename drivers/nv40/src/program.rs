//! Compiled programs: words, and the facts that a loader needs.
//!
//! Registers of the interface have the numbers of the compiler's input (TGSI's registers). A uniform is a register of
//! constant buffer 0.

use serde::{Deserialize, Serialize};

use crate::isa::{Chip, Mask, fragment};
use crate::listing::TextureTarget;

/// The register of inputs that languages have as system values: position, point coordinate, face.
pub const SYSTEM_VALUE: u32 = u32::MAX;

/// An input or output of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Varying {
    /// The register of the interface; [`SYSTEM_VALUE`] for an input that is not one.
    pub register: u32,
    /// The slot ([`tgsi_ir::slots`]): of vertex inputs an attribute, of fragment outputs a result.
    pub location: i32,
    /// The number in the chip's instructions. Of fragment outputs the number of the R register, or of the H register if
    /// [`FragmentProgram::exports_full`] is not set and the output is a colour.
    pub number: u8,
    /// Component c of the interface's register is component (c + this) modulo 4 of the chip's: 0, except for clip
    /// distances.
    pub component: u8,
    /// Components of the interface's register that are read or written, bit 0 = x.
    pub mask: u8,
}

/// A row of constants that is part of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Literal {
    /// The number of the constant.
    pub constant: u16,
    /// The words.
    pub words: [u32; 4],
}

/// The dimension of a texture.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TextureKind {
    /// One dimension.
    D1,
    /// Two dimensions.
    D2,
    /// Three dimensions.
    D3,
    /// A cube.
    Cube,
    /// A rectangle, with coordinates in texels.
    Rect,
}

/// A texture unit that a program samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Texture {
    /// The unit.
    pub unit: u8,
    /// The dimension.
    pub kind: TextureKind,
    /// Whether the sample is compared with a reference.
    pub is_shadow: bool,
}

/// A vertex program. Its first instruction is in slot 0. A uniform has the number of its register as the number of the
/// constant; literals follow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct VertexProgram {
    /// The chip.
    pub chip: Chip,
    /// The words of each slot.
    pub slots: Vec<[u32; 4]>,
    /// Temporary registers that are used.
    pub temporaries: u8,
    /// The inputs, by register.
    pub inputs: Vec<Varying>,
    /// The outputs, by register.
    pub outputs: Vec<Varying>,
    /// Constants that are used, literals included: one more than the greatest number.
    pub constants: u16,
    /// The literals, by constant.
    pub literals: Vec<Literal>,
    /// The slots with absolute branch targets, which a loader adjusts if it moves the program.
    pub branches: Vec<u16>,
    /// The slots with numbers of constants, which a loader adjusts if it moves the constants.
    pub constant_slots: Vec<u16>,
    /// The textures, by unit.
    pub textures: Vec<Texture>,
}

impl VertexProgram {
    /// The attributes that are read, one bit each.
    pub fn input_mask(&self) -> u32 {
        self.inputs.iter().fold(0, |mask, input| mask | 1 << input.number)
    }

    /// The outputs that are written, in the bits of method 0x1ff4, which enables outputs. The position has no bit.
    pub fn output_mask(&self) -> u32 {
        self.outputs.iter().fold(0, |mask, output| mask | output_bits(self.chip, output))
    }
}

/// The bits of an output in the mask of a vertex program: front colours 0 and 1, back colours 2 and 3, fog 4, point
/// size 5, clip distances 6 to 11, texture coordinates 8 and 9 in 12 and 13, 0 to 7 in 14 to 21.
fn output_bits(chip: Chip, output: &Varying) -> u32 {
    let components = u32::from(output.chip_mask().0);
    // The number of the first texture coordinate, and the first bits of colours 1 and 2, 3 and 4.
    let (texcoord, colours) = if chip == Chip::Nv30 { (8, [2, 0]) } else { (7, [0, 2]) };
    match output.number {
        number @ 1..=2 => 1 << (number - 1 + colours[0]),
        number @ 3..=4 => 1 << (number - 3 + colours[1]),
        // Clip distances are components of fog and point size, except on GeForce FX.
        5 => (components & 1) << 4 | components >> 1 << 6,
        6 => (components & 1) << 5 | components >> 1 << 9,
        number @ 17..=22 if chip == Chip::Nv30 => 1 << (number - 17 + 6),
        number if (texcoord..texcoord + 8).contains(&number) => 1 << (number - texcoord + 14),
        number @ 15..=16 => 1 << (number - 15 + 12),
        _ => 0,
    }
}

/// A fragment program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FragmentProgram {
    /// The chip.
    pub chip: Chip,
    /// The words, and the constant slots of uniforms, by register.
    pub program: fragment::Program,
    /// R registers that are used; two H registers count as one R register. At least 2.
    pub registers: u8,
    /// The inputs, by register.
    pub inputs: Vec<Varying>,
    /// The outputs, by register.
    pub outputs: Vec<Varying>,
    /// Whether colours are exported from R registers (R0, R2, R3, R4), and not from H registers (H0, H4, H6, H8).
    pub exports_full: bool,
    /// Whether the program writes the depth, to z of R1.
    pub writes_depth: bool,
    /// Whether the program kills fragments.
    pub kills: bool,
    /// The textures, by unit.
    pub textures: Vec<Texture>,
}

impl FragmentProgram {
    /// The texture coordinates that are read, one bit each.
    pub fn texcoords(&self) -> u16 {
        texcoords(self.inputs.iter())
    }

    /// The texture coordinates of which only x and y are read, one bit each.
    pub fn texcoords_2d(&self) -> u16 {
        let others = self.inputs.iter().filter(|input| input.chip_mask().0 & 0xc != 0);
        self.texcoords() & !texcoords(others)
    }

    /// The dimensions of the textures, by unit, for a listing.
    pub fn texture_targets(&self) -> [TextureTarget; 16] {
        let mut targets = [TextureTarget::default(); 16];
        for texture in &self.textures {
            if let Some(target) = targets.get_mut(usize::from(texture.unit)) {
                *target = match texture.kind {
                    TextureKind::D1 => TextureTarget::D1,
                    TextureKind::D2 => TextureTarget::D2,
                    TextureKind::D3 => TextureTarget::D3,
                    TextureKind::Cube => TextureTarget::Cube,
                    TextureKind::Rect => TextureTarget::Rectangle,
                };
            }
        }
        targets
    }

    /// The value of the control register for the program: depth (0xe), 32-bit export (0x40), kill (0x80), and the
    /// number of registers from bit 24. GeForce FX takes the number elsewhere.
    pub fn control(&self) -> u32 {
        let flag = |is_set: bool, value: u32| if is_set { value } else { 0 };
        let registers = if self.chip == Chip::Nv30 { 0 } else { u32::from(self.registers.max(2)) << 24 };
        flag(self.writes_depth, 0xe) | flag(self.exports_full, 0x40) | flag(self.kills, 0x80) | registers
    }
}

/// The texture coordinates among inputs of a fragment program.
fn texcoords<'a>(inputs: impl Iterator<Item = &'a Varying>) -> u16 {
    const FIRST: u8 = 4;
    let numbers = inputs.filter_map(|input| input.number.checked_sub(FIRST));
    numbers.filter(|&number| number < 10).fold(0, |mask, number| mask | 1 << number)
}

/// A program of either stage.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "lowercase")]
pub enum Program {
    /// A vertex program.
    Vertex(VertexProgram),
    /// A fragment program.
    Fragment(FragmentProgram),
}

impl Varying {
    /// The components of the chip's register.
    pub fn chip_mask(&self) -> Mask {
        let shift = self.component & 3;
        Mask((self.mask << shift | self.mask >> (4 - shift)) & 15)
    }
}
