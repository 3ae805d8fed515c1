//! The state of a sampler: the choice and weights of texels.

/// The filter within a level.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Filter {
    /// The texel at the place.
    Nearest,
    /// The texels around the place, weighted by distance.
    #[default]
    Linear,
}

/// The filter between levels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MipFilter {
    /// Uses only the largest level.
    None,
    /// Uses the nearest level.
    Nearest,
    /// Uses the two levels around the level of detail, weighted by distance.
    #[default]
    Linear,
}

/// The continuation beyond the edges of a texture.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum WrapMode {
    /// Repeats the texture.
    #[default]
    Repeat,
    /// Repeats the texture, mirrored every second time.
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
    /// Never holds.
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
    /// Always holds.
    Always,
}

impl Compare {
    /// Returns whether it holds.
    #[inline]
    pub(crate) fn holds(self, reference: f32, texel: f32) -> bool {
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
    /// The filter for minification.
    pub min_filter: Filter,
    /// The filter for magnification, when the level of detail is 0 or less.
    pub mag_filter: Filter,
    /// The filter between levels.
    pub mip_filter: MipFilter,
    /// The wrap modes of the three coordinates.
    pub wrap: [WrapMode; 3],
    /// The border colour: floats, or integers for integer textures.
    pub border: [u32; 4],
    /// The comparison of shadow lookups.
    pub compare: Compare,
    /// The bias added to every level of detail.
    pub lod_bias: f32,
    /// The smallest level of detail.
    pub min_lod: f32,
    /// The largest level of detail.
    pub max_lod: f32,
    /// Whether filters cross the edges of a cube's faces; otherwise they are clamped.
    pub seamless: bool,
    /// Whether coordinates are in texels.
    pub unnormalized: bool,
}

impl Default for Sampler {
    fn default() -> Self {
        Sampler {
            min_filter: Filter::Linear,
            mag_filter: Filter::Linear,
            mip_filter: MipFilter::Linear,
            wrap: [WrapMode::Repeat; 3],
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
