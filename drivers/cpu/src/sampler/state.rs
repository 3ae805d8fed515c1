//! The state of a sampler: how texels are chosen and weighted.

/// How the texels of a level make a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Filter {
    /// The texel at the place.
    Nearest,
    /// The texels around the place, by their distances.
    #[default]
    Linear,
}

/// How levels make a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MipFilter {
    /// Only the largest counts.
    None,
    /// The nearest.
    Nearest,
    /// The two around the level of detail, by their distances.
    #[default]
    Linear,
}

/// What lies beyond the edges of a texture.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Wrap {
    /// The texture again.
    #[default]
    Repeat,
    /// The texture, each second time mirrored.
    MirroredRepeat,
    /// The outermost texels.
    ClampToEdge,
    /// The border colour.
    ClampToBorder,
    /// The texture mirrored once, then the outermost texels.
    MirrorClampToEdge,
}

/// A comparison of the reference value, on the left, with a texel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Compare {
    /// Does not hold.
    Never,
    /// `<`
    Less,
    /// `==`
    Equal,
    /// `<=`
    #[default]
    LessOrEqual,
    /// `>`
    Greater,
    /// `!=`
    NotEqual,
    /// `>=`
    GreaterOrEqual,
    /// Holds.
    Always,
}

impl Compare {
    /// Whether it holds.
    #[inline]
    pub fn holds(self, reference: f32, texel: f32) -> bool {
        match self {
            Compare::Never => false,
            Compare::Less => reference < texel,
            Compare::Equal => reference == texel,
            Compare::LessOrEqual => reference <= texel,
            Compare::Greater => reference > texel,
            Compare::NotEqual => reference != texel,
            Compare::GreaterOrEqual => reference >= texel,
            Compare::Always => true,
        }
    }
}

/// The state of a sampler. The default is trilinear, repeats, and compares with `<=`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sampler {
    /// Filter where the texture is minified.
    pub min_filter: Filter,
    /// Filter where it is magnified, that is where the level of detail is 0 or less.
    pub mag_filter: Filter,
    /// Filter between levels.
    pub mip_filter: MipFilter,
    /// Wrap modes of the three coordinates.
    pub wrap: [Wrap; 3],
    /// The border colour: floats, or integers for textures of integers.
    pub border: [u32; 4],
    /// The comparison of shadow lookups.
    pub compare: Compare,
    /// What is added to every level of detail.
    pub lod_bias: f32,
    /// Smallest level of detail.
    pub min_lod: f32,
    /// Largest level of detail.
    pub max_lod: f32,
    /// Whether lookups go on across the edges of a cube's faces; else these are clamped.
    pub seamless: bool,
    /// Whether coordinates count texels.
    pub unnormalized: bool,
}

impl Default for Sampler {
    fn default() -> Self {
        Sampler {
            min_filter: Filter::Linear,
            mag_filter: Filter::Linear,
            mip_filter: MipFilter::Linear,
            wrap: [Wrap::Repeat; 3],
            border: [0; 4],
            compare: Compare::LessOrEqual,
            lod_bias: 0.0,
            min_lod: -1000.0,
            max_lod: 1000.0,
            seamless: true,
            unnormalized: false,
        }
    }
}
