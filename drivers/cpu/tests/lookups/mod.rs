//! Lookups of all kinds, and textures and samplers for them.

use tgsi_driver_cpu::sampler::{Compare, Filter, Format, MipFilter, Sampler, Shape, Size, Texture, WrapMode};

/// A generator of pseudo-random words.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32
    }
}

/// A kind of lookup: the shape of its textures, its instruction with `$` for the operands after the coordinates, and
/// its target.
pub type LookupKind = (Shape, &'static str, &'static str);

/// Kinds of lookups.
pub const KINDS: [LookupKind; 48] = {
    use Shape::{Buffer, Cube, D1, D2, D3};
    [
        (D1, "TEX TEMP[0], TEMP[0], $", "1D"),
        (D1, "TXB TEMP[0], TEMP[0], $", "1D"),
        (D1, "TXD TEMP[0], TEMP[0], TEMP[0].yyyy, TEMP[0].zzzz, $", "1D"),
        (D1, "LODQ TEMP[0], TEMP[0], $", "1D"),
        (D1, "TEX TEMP[0], TEMP[0], $", "1D_ARRAY"),
        (D1, "TXL TEMP[0], TEMP[0], $", "1D_ARRAY"),
        (D1, "TEX TEMP[0], TEMP[0], $", "SHADOW1D"),
        (D1, "TEX TEMP[0], TEMP[0], $", "SHADOW1D_ARRAY"),
        (D2, "TEX TEMP[0], TEMP[0], $", "2D"),
        (D2, "TEX TEMP[0], TEMP[0], $, IMM[0].xyz", "2D"),
        (D2, "TEX TEMP[0], TEMP[0], $, IMM[0].yzx", "2D"),
        (D2, "TEX TEMP[0], TEMP[0], $, TEMP[1].xyz", "2D"),
        (D2, "TXP TEMP[0], TEMP[0], $", "2D"),
        (D2, "TXP TEMP[0], TEMP[0], $", "SHADOW2D"),
        (D2, "TEX TEMP[0], TEMP[0], $", "SHADOW2D"),
        (D2, "TXB TEMP[0], TEMP[0], $", "SHADOW2D"),
        (D2, "TXD TEMP[0], TEMP[0], TEMP[0].zwzw, TEMP[0].wyzx, $, IMM[0].xyz", "SHADOW2D"),
        (D2, "TEX TEMP[0], TEMP[0], $", "RECT"),
        (D2, "TEX TEMP[0], TEMP[0], $, IMM[0].xyz", "RECT"),
        (D2, "TEX TEMP[0], TEMP[0], $", "SHADOWRECT"),
        (D2, "TEX TEMP[0], TEMP[0], $", "2D_ARRAY"),
        (D2, "TXL TEMP[0], TEMP[0], $, IMM[0].zyx", "2D_ARRAY"),
        (D2, "LODQ TEMP[0], TEMP[0], $", "2D_ARRAY"),
        (D2, "TEX TEMP[0], TEMP[0], $", "SHADOW2D_ARRAY"),
        (D3, "TEX TEMP[0], TEMP[0], $", "3D"),
        (D3, "TXB TEMP[0], TEMP[0], $", "3D"),
        (D3, "TXP TEMP[0], TEMP[0], $", "3D"),
        (D3, "TEX TEMP[0], TEMP[0], $, IMM[0].xyz", "3D"),
        (D3, "TXD TEMP[0], TEMP[0], TEMP[0].zwzw, TEMP[0].wyzx, $", "3D"),
        (Cube, "TEX TEMP[0], TEMP[0], $", "CUBE"),
        (Cube, "TXL TEMP[0], TEMP[0], $", "CUBE"),
        (Cube, "TXD TEMP[0], TEMP[0], TEMP[0].zwzw, TEMP[0].wyzx, $", "CUBE"),
        (Cube, "LODQ TEMP[0], TEMP[0], $", "CUBE"),
        (Cube, "TEX TEMP[0], TEMP[0], $", "CUBEARRAY"),
        (Cube, "TEX TEMP[0], TEMP[0], $", "SHADOWCUBE"),
        (Cube, "TEX2 TEMP[0], TEMP[0], TEMP[1].wwww, $", "SHADOWCUBEARRAY"),
        (D1, "TXF TEMP[0], TEMP[1], $", "1D"),
        (D1, "TXF TEMP[0], TEMP[1], $", "1D_ARRAY"),
        (D2, "TXF TEMP[0], TEMP[1], $, IMM[0].xyz", "2D"),
        (D2, "TXF TEMP[0], TEMP[1], $", "2D_ARRAY"),
        (D3, "TXF TEMP[0], TEMP[1], $, IMM[0].xyz", "3D"),
        (D2, "TXF TEMP[0], TEMP[1], $", "2D_MSAA"),
        (Buffer, "TXF TEMP[0], TEMP[1], $", "BUFFER"),
        (D2, "TG4 TEMP[0], TEMP[0], IMM[0].yyyy, $", "2D"),
        (D2, "TG4 TEMP[0], TEMP[0], IMM[0].yyyy, $, IMM[0].xyz", "2D_ARRAY"),
        (D2, "TG4 TEMP[0], TEMP[0], IMM[0].wwww, $, IMM[0].xyz, IMM[0].xyz, IMM[0].xyz, IMM[0].xyz", "2D"),
        (D2, "TG4 TEMP[0], TEMP[0], IMM[0].wwww, $", "SHADOW2D"),
        (Cube, "TG4 TEMP[0], TEMP[0], IMM[0].yyyy, $", "CUBE"),
    ]
};

/// Returns a shader with `count` lookups, each of which uses the result of the previous one. `TEMP[0]` is the input,
/// `TEMP[1]` small integers.
pub fn text_of((_, instruction, target): LookupKind, count: usize) -> String {
    let operands = format!("SAMP[0], {target}");
    format!(
        "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL SAMP[0]\nDCL SVIEW[0], {target}, FLOAT\n\
         DCL TEMP[0..1]\nIMM[0] INT32 {{1, 2, -3, 0}}\nIMM[1] FLT32 {{3, 2, 1, 0.7}}\nMOV TEMP[0], IN[0]\n\
         MAD TEMP[1], IN[0].yzxw, IMM[1], IMM[1]\nF2I TEMP[1], TEMP[1]\n{}MOV OUT[0], TEMP[0]\nEND\n",
        (instruction.replace('$', &operands) + "\n").repeat(count)
    )
}

/// Returns a texture of a shape, with one of several sizes.
pub fn texture_of(shape: Shape, format: Format, number: u32) -> Texture {
    let size = match shape {
        Shape::Buffer => Size::of_image(11, 1),
        Shape::D1 => Size { layers: 3, ..Size::of_image([16, 5, 1][number as usize % 3], 1) },
        Shape::D2 => Size { layers: 1 + number % 3, ..Size::of_image([16, 5, 1, 8][number as usize % 4], 6) },
        Shape::D3 => Size { depth: [4, 3, 1][number as usize % 3], ..Size::of_image(8, 5) },
        Shape::Cube => {
            Size { layers: 2, ..Size::of_image([16, 5, 32][number as usize % 3], [16, 5, 32][number as usize % 3]) }
        }
    };
    filled(Texture::new(shape, format, size, 1 + number % 5).expect("a texture"))
}

/// Returns a random state of a sampler.
pub fn random_state(random: &mut Random) -> Sampler {
    let mut one_of = |count: u32| random.next() as usize % count as usize;
    let filters = [Filter::Nearest, Filter::Linear, Filter::Linear];
    let wraps = [
        WrapMode::Repeat,
        WrapMode::MirroredRepeat,
        WrapMode::ClampToEdge,
        WrapMode::ClampToBorder,
        WrapMode::MirrorClampToEdge,
    ];
    let borders = [[0; 4], [0x3f80_0000, 0x3e80_0000, 0xbf00_0000, 0x4000_0000], [7, 0x7f80_0000, 0x7fc0_0000, 1]];
    Sampler {
        min_filter: filters[one_of(3)],
        mag_filter: filters[one_of(3)],
        mip_filter: [MipFilter::None, MipFilter::Nearest, MipFilter::Linear][one_of(3)],
        wrap: [wraps[one_of(5)], wraps[one_of(5)], wraps[one_of(5)]],
        border: borders[one_of(3)],
        compare: COMPARES[one_of(8)],
        lod_bias: [0.0, 0.0, 0.75, -1.5][one_of(4)],
        min_lod: [-1000.0, 0.5][one_of(2)],
        max_lod: [1000.0, 1.25][one_of(2)],
        seamless: one_of(2) == 0,
        unnormalized: one_of(8) == 0,
    }
}

const COMPARES: [Compare; 8] = [
    Compare::Never,
    Compare::Less,
    Compare::Equal,
    Compare::LessOrEqual,
    Compare::Greater,
    Compare::NotEqual,
    Compare::GreaterOrEqual,
    Compare::Always,
];

/// Fills a texture with arbitrary texels; those of 32-bit floats have ordinary magnitudes.
pub fn filled(mut texture: Texture) -> Texture {
    use Format as F;
    let is_float = matches!(texture.format(), F::R32Float | F::Rg32Float | F::Rgba32Float);
    let is_depth = texture.format() == F::D32Float;
    let mut random = Random(u64::from(texture.levels()[0].width));
    for level in 0..texture.levels().len() {
        for bytes in texture.level_texels_mut(level).chunks_mut(4) {
            let bits = match random.next() {
                word if is_float => ((word & 0xffff) as f32 / 1000.0 - 9.0).to_bits(),
                word if is_depth => ((word & 0xff) as f32 / 255.0).to_bits(),
                word => word << 1 ^ word >> 20,
            };
            bytes.copy_from_slice(&bits.to_le_bytes()[..bytes.len()]);
        }
    }
    texture
}
