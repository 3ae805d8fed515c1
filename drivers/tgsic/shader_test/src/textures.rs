//! Textures that commands create.

use tgsi_driver_cpu::sampler::{self, Compare, Filter, Format, MipFilter, Shape, Size, WrapMode};
use tgsi_raster::format::PixelFormat;
use tgsi_raster::{Channel, Texture};

use crate::formats::pixel_format;
use crate::words::Words;

/// The largest side of a texture of a command.
const MAX_SIDE: u32 = 2048;

/// Red, green, blue and white.
const WHEEL: [[f32; 4]; 4] = [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0], [1.0; 4]];

/// The kind of a texture, with its contents.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum TextureKind {
    /// Quarters: red, green, blue, white. Width, height.
    Quarters(u32, u32, PixelFormat),
    /// Integers: the column, plus the first factor times the row, plus the second factor.
    Integers { size: [u32; 2], factors: [i32; 2], format: PixelFormat },
    /// Zeros: width, height, layers.
    Zeros(Target, u32, u32, u32),
    /// Squares of four colours: those of even and odd columns of even rows, then of odd rows.
    Squares { size: [u32; 2], square: [u32; 2], colors: [[f32; 4]; 4] },
    /// Levels of 8 to 1 texels, each of one colour.
    Levels,
    /// Four texels.
    Row,
    /// Eight texels.
    Cuboid,
    /// Layers of one colour: width, height, layers.
    Layers(Target, u32, u32, u32),
    /// Depths that rise from the left to the right: width, height.
    Depth(Target, u32, u32, u32),
}

/// The targets of textures that have depths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    D1,
    D2,
    D3,
    Rect,
    D1Array,
    D2Array,
    Cube,
}

impl Target {
    fn parse(name: &str) -> Option<Target> {
        Some(match name {
            "1D" => Target::D1,
            "2D" => Target::D2,
            "3D" => Target::D3,
            "Rect" => Target::Rect,
            "1DArray" => Target::D1Array,
            "2DArray" => Target::D2Array,
            "CubeMap" | "Cube" => Target::Cube,
            _ => return None,
        })
    }
}

impl TextureKind {
    /// Reads the unit and the kind after `texture`.
    pub(crate) fn parse(words: &mut Words) -> Option<(u32, TextureKind)> {
        let kind = words.next()?;
        let side = |words: &mut Words| {
            let side = u32::try_from(words.index()?).ok()?;
            (1..=MAX_SIDE).contains(&side).then_some(side)
        };
        let unit = |words: &mut Words| u32::try_from(words.index()?).ok().filter(|unit| *unit < 32);
        Some(match kind.as_str() {
            "rgbw" if words.eat("1D") => (unit(words)?, TextureKind::Row),
            "rgbw" if words.eat("3D") => (unit(words)?, TextureKind::Cuboid),
            "rgbw" if words.eat("2DArray") => {
                (unit(words)?, TextureKind::Layers(Target::D2Array, side(words)?, side(words)?, side(words)?))
            }
            "rgbw" if words.eat("1DArray") => {
                (unit(words)?, TextureKind::Layers(Target::D1Array, side(words)?, 1, side(words)?))
            }
            "rgbw" => {
                let (unit, width, height) = (unit(words)?, side(words)?, side(words)?);
                // Formats with other results than RGBA are not here.
                let format = pixel_format(words.next().as_deref().unwrap_or("GL_RGBA"))?;
                (!format.is_integer()).then_some((unit, TextureKind::Quarters(width, height, format)))?
            }
            "integer" => {
                let (unit, size) = (unit(words)?, [side(words)?, side(words)?]);
                let factors = [words.integer()?, words.integer()?];
                let format = pixel_format(&words.next()?).filter(PixelFormat::is_integer)?;
                (unit, TextureKind::Integers { size, factors, format })
            }
            "junk" if words.eat("2DArray") => {
                (unit(words)?, TextureKind::Zeros(Target::D2Array, side(words)?, side(words)?, side(words)?))
            }
            "checkerboard" => {
                let (unit, 0) = (unit(words)?, words.index()?) else { return None };
                let size = [side(words)?, side(words)?];
                let [first, second] = [words.floats()?, words.floats()?];
                let square = size.map(|side| (side / 2).max(1));
                (unit, TextureKind::Squares { size, square, colors: [first, second, second, first] })
            }
            "quads" => {
                let (unit, 0) = (unit(words)?, words.index()?) else { return None };
                let (size, square) = ([side(words)?, side(words)?], [side(words)?, side(words)?]);
                let colors = [words.floats()?, words.floats()?, words.floats()?, words.floats()?];
                (unit, TextureKind::Squares { size, square, colors })
            }
            "miptree" => (unit(words)?, TextureKind::Levels),
            "shadow1D" => (unit(words)?, TextureKind::Depth(Target::D1, side(words)?, 1, 1)),
            "shadow2D" => (unit(words)?, TextureKind::Depth(Target::D2, side(words)?, side(words)?, 1)),
            "shadowRect" => (unit(words)?, TextureKind::Depth(Target::Rect, side(words)?, side(words)?, 1)),
            "shadow1DArray" => (unit(words)?, TextureKind::Depth(Target::D1Array, side(words)?, 1, side(words)?)),
            "shadow2DArray" => {
                (unit(words)?, TextureKind::Depth(Target::D2Array, side(words)?, side(words)?, side(words)?))
            }
            _ => return None,
        })
    }

    /// The target.
    pub(crate) fn target(&self) -> Target {
        match *self {
            TextureKind::Quarters(..) | TextureKind::Integers { .. } => Target::D2,
            TextureKind::Squares { .. } | TextureKind::Levels => Target::D2,
            TextureKind::Row => Target::D1,
            TextureKind::Cuboid => Target::D3,
            TextureKind::Zeros(target, ..) | TextureKind::Layers(target, ..) => target,
            TextureKind::Depth(target, ..) => target,
        }
    }

    /// Creates the texture.
    pub(crate) fn create(&self) -> Option<Texture> {
        let filtered = |mut texture: Texture, wrap: WrapMode, mip_filter: MipFilter| {
            texture.sampler.wrap = [wrap; 3];
            (texture.sampler.min_filter, texture.sampler.mag_filter) = (Filter::Nearest, Filter::Nearest);
            texture.sampler.mip_filter = mip_filter;
            texture
        };
        let texture = match *self {
            TextureKind::Quarters(width, height, ref format) => {
                let color = |x: u32, y: u32| WHEEL[usize::from(x >= width / 2) + 2 * usize::from(y >= height / 2)];
                let texture = of_words(format, width, height, |x, y| color(x, y).map(f32::to_bits))?;
                filtered(texture, WrapMode::ClampToEdge, MipFilter::None)
            }
            TextureKind::Integers { size: [width, height], factors: [of_row, first], ref format } => {
                let texture = of_words(format, width, height, |x, y| {
                    [(x as i32).wrapping_add(of_row.wrapping_mul(y as i32)).wrapping_add(first) as u32; 4]
                })?;
                filtered(texture, WrapMode::ClampToEdge, MipFilter::None)
            }
            TextureKind::Zeros(target, width, height, layers) => {
                let (shape, size) = (shape(target), Size { layers, ..Size::of_image(width, height) });
                let texture = of_texels(shape, size, 1, |_, _, _, _| [0.0; 4])?;
                filtered(texture, WrapMode::ClampToEdge, MipFilter::None)
            }
            TextureKind::Squares { size: [width, height], square: [across, down], colors } => {
                let texture = of_texels(Shape::D2, Size::of_image(width, height), 1, |_, x, y, _| {
                    colors[(x / across % 2 + 2 * (y / down % 2)) as usize]
                })?;
                let mut texture = filtered(texture, WrapMode::ClampToBorder, MipFilter::None);
                texture.sampler.border = [1.0f32, 0.0, 0.0, 1.0].map(f32::to_bits);
                texture
            }
            TextureKind::Levels => {
                let texture = of_texels(Shape::D2, Size::of_image(8, 8), 4, |level, _, _, _| WHEEL[level % 4])?;
                filtered(texture, WrapMode::ClampToEdge, MipFilter::Nearest)
            }
            TextureKind::Row => {
                let texture = of_texels(Shape::D1, Size::of_image(4, 1), 1, |_, x, _, _| WHEEL[x as usize % 4])?;
                filtered(texture, WrapMode::ClampToEdge, MipFilter::None)
            }
            TextureKind::Cuboid => {
                let size = Size { depth: 2, ..Size::of_image(2, 2) };
                let rest = [[1.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]];
                let texture = of_texels(Shape::D3, size, 1, |_, x, y, z| {
                    let at = (x + 2 * y) as usize % 4;
                    if z == 0 { WHEEL[at] } else { rest[at] }
                })?;
                filtered(texture, WrapMode::ClampToEdge, MipFilter::None)
            }
            TextureKind::Layers(target, width, height, layers) => {
                let (shape, size) = (shape(target), Size { layers, ..Size::of_image(width, height) });
                let texture = of_texels(shape, size, 1, |_, _, _, layer| WHEEL[layer as usize % 4])?;
                filtered(texture, WrapMode::ClampToEdge, MipFilter::None)
            }
            TextureKind::Depth(target, width, height, layers) => {
                let (shape, size) = (shape(target), Size { layers, ..Size::of_image(width, height) });
                // Comparisons with normalised depths limit the reference.
                let texture = of_format(Format::D16Unorm, shape, size, 1, |_, x, _, _| {
                    let depth = x as f32 / (width - 1).max(1) as f32;
                    ((depth * 65535.0).round() as u16).to_le_bytes().to_vec()
                })?;
                let mut texture = filtered(texture, WrapMode::ClampToEdge, MipFilter::None);
                texture.sampler.compare = Compare::Greater;
                texture.sampler.unnormalized = target == Target::Rect;
                texture.swizzle = DepthMode::Luminance.swizzle();
                texture
            }
        };
        Some(texture)
    }
}

fn shape(target: Target) -> Shape {
    match target {
        Target::D1 | Target::D1Array => Shape::D1,
        Target::D2 | Target::Rect | Target::D2Array => Shape::D2,
        Target::D3 => Shape::D3,
        Target::Cube => Shape::Cube,
    }
}

/// A texture of bytes. `texel` gives the colour for a level, column, row and image.
fn of_texels(
    shape: Shape,
    size: Size,
    levels: u32,
    texel: impl Fn(usize, u32, u32, u32) -> [f32; 4],
) -> Option<Texture> {
    let byte = |value: f32| (value.clamp(0.0, 1.0) * 255.0).round() as u8;
    of_format(Format::Rgba8Unorm, shape, size, levels, |level, x, y, image| {
        texel(level, x, y, image).map(byte).to_vec()
    })
}

/// A texture of one level. `texel` gives the words of a column and row.
fn of_words(format: &PixelFormat, width: u32, height: u32, texel: impl Fn(u32, u32) -> [u32; 4]) -> Option<Texture> {
    of_format(format.sampled()?, Shape::D2, Size::of_image(width, height), 1, |_, x, y, _| {
        let mut bytes = vec![0; format.bytes];
        format.encode(texel(x, y), &mut bytes);
        bytes
    })
}

/// A texture of a format. `texel` gives the bytes of a texel.
fn of_format(
    format: Format,
    shape: Shape,
    size: Size,
    levels: u32,
    texel: impl Fn(usize, u32, u32, u32) -> Vec<u8>,
) -> Option<Texture> {
    let mut texture = sampler::Texture::new(shape, format, size, levels)?;
    for number in 0..texture.levels().len() {
        let Some(&level) = texture.levels().get(number) else { continue };
        let images = 0..level.images;
        let places = images.flat_map(|image| {
            (0..level.height).flat_map(move |row| (0..level.width).map(move |column| (column, row, image)))
        });
        let texels = places.map(|(column, row, image)| texel(number, column, row, image));
        for (bytes, value) in texture.level_texels_mut(number).chunks_exact_mut(format.bytes()).zip(texels) {
            bytes.copy_from_slice(&value);
        }
    }
    Some(Texture::new(texture))
}

/// The components of a lookup in a texture of depths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DepthMode {
    Luminance,
    Intensity,
    Alpha,
    Red,
}

impl DepthMode {
    fn swizzle(self) -> Option<[Channel; 4]> {
        let (depth, zero, one) = (Channel::Component(0), Channel::Zero, Channel::One);
        Some(match self {
            DepthMode::Luminance => [depth, depth, depth, one],
            DepthMode::Intensity => [depth; 4],
            DepthMode::Alpha => [zero, zero, zero, depth],
            DepthMode::Red => [depth, zero, zero, one],
        })
    }
}

/// A change of a texture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Parameter {
    /// The target.
    pub(crate) target: Target,
    change: Change,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Change {
    Compare(Compare),
    Depth(DepthMode),
    Min(Filter, MipFilter),
    Mag(Filter),
    Wrap(usize, WrapMode),
    MinLod(f32),
    MaxLod(f32),
    LodBias(f32),
    BaseLevel(usize),
    Border([f32; 4]),
    /// Levels beyond this one do not exist.
    MaxLevel(usize),
    Swizzle(usize, Channel),
}

impl Parameter {
    /// Reads the words after `texparameter`.
    pub(crate) fn parse(words: &mut Words) -> Option<Parameter> {
        let target = Target::parse(&words.next()?)?;
        if words.eat("border_color") {
            return Some(Parameter { target, change: Change::Border(words.floats()?) });
        }
        let (name, value) = (words.next()?, words.next()?);
        let number = || value.parse::<f32>().ok();
        let change = match name.as_str() {
            "compare_func" => Change::Compare(match value.as_str() {
                "greater" => Compare::Greater,
                "gequal" => Compare::GreaterOrEqual,
                "less" => Compare::Less,
                "lequal" => Compare::LessOrEqual,
                "equal" => Compare::Equal,
                "notequal" => Compare::NotEqual,
                "never" => Compare::Never,
                "always" => Compare::Always,
                _ => return None,
            }),
            "depth_mode" => Change::Depth(match value.as_str() {
                "luminance" => DepthMode::Luminance,
                "intensity" => DepthMode::Intensity,
                "alpha" => DepthMode::Alpha,
                "red" => DepthMode::Red,
                _ => return None,
            }),
            "min" => match value.as_str() {
                "nearest" => Change::Min(Filter::Nearest, MipFilter::None),
                "linear" => Change::Min(Filter::Linear, MipFilter::None),
                "nearest_mipmap_nearest" => Change::Min(Filter::Nearest, MipFilter::Nearest),
                "nearest_mipmap_linear" => Change::Min(Filter::Nearest, MipFilter::Linear),
                "linear_mipmap_nearest" => Change::Min(Filter::Linear, MipFilter::Nearest),
                "linear_mipmap_linear" => Change::Min(Filter::Linear, MipFilter::Linear),
                _ => return None,
            },
            "mag" => match value.as_str() {
                "nearest" => Change::Mag(Filter::Nearest),
                "linear" => Change::Mag(Filter::Linear),
                _ => return None,
            },
            "wrap_s" | "wrap_t" | "wrap_r" => {
                let axis = ["wrap_s", "wrap_t", "wrap_r"].iter().position(|other| *other == name)?;
                Change::Wrap(
                    axis,
                    match value.as_str() {
                        "repeat" | "GL_REPEAT" => WrapMode::Repeat,
                        "mirrored_repeat" | "GL_MIRRORED_REPEAT" => WrapMode::MirroredRepeat,
                        "clamp_to_edge" | "GL_CLAMP_TO_EDGE" => WrapMode::ClampToEdge,
                        "clamp_to_border" | "GL_CLAMP_TO_BORDER" => WrapMode::ClampToBorder,
                        _ => return None,
                    },
                )
            }
            "min_lod" => Change::MinLod(number()?),
            "max_lod" => Change::MaxLod(number()?),
            "lod_bias" => Change::LodBias(number()?),
            "max_level" => Change::MaxLevel(value.parse().ok()?),
            "base_level" => Change::BaseLevel(value.parse().ok()?),
            "swizzle_r" | "swizzle_g" | "swizzle_b" | "swizzle_a" => {
                let at =
                    ["swizzle_r", "swizzle_g", "swizzle_b", "swizzle_a"].iter().position(|other| *other == name)?;
                Change::Swizzle(
                    at,
                    match value.as_str() {
                        "red" => Channel::Component(0),
                        "green" => Channel::Component(1),
                        "blue" => Channel::Component(2),
                        "alpha" => Channel::Component(3),
                        "zero" => Channel::Zero,
                        "one" => Channel::One,
                        _ => return None,
                    },
                )
            }
            _ => return None,
        };
        Some(Parameter { target, change })
    }

    /// Changes a texture of a kind. Comparisons of new versions have their result in the first component in each mode.
    pub(crate) fn apply(&self, kind: &TextureKind, texture: &mut Texture, is_new: bool) {
        let sampler = &mut texture.sampler;
        match self.change {
            Change::Compare(compare) => sampler.compare = compare,
            Change::Depth(DepthMode::Alpha) if is_new => texture.swizzle = DepthMode::Intensity.swizzle(),
            Change::Depth(mode) => texture.swizzle = mode.swizzle(),
            Change::Min(filter, mip) => (sampler.min_filter, sampler.mip_filter) = (filter, mip),
            Change::Mag(filter) => sampler.mag_filter = filter,
            Change::Wrap(axis, mode) => sampler.wrap[axis] = mode,
            Change::MinLod(lod) => sampler.min_lod = lod,
            Change::MaxLod(lod) => sampler.max_lod = lod,
            Change::LodBias(bias) => sampler.lod_bias = bias,
            Change::Border(color) => sampler.border = color.map(f32::to_bits),
            Change::BaseLevel(level) => {
                if let Some(mut whole) = kind.create() {
                    whole.remove_levels(level);
                    (whole.sampler, whole.swizzle) = (texture.sampler, texture.swizzle);
                    *texture = whole;
                }
            }
            Change::MaxLevel(level) => texture.keep_levels(level.saturating_add(1)),
            Change::Swizzle(at, channel) => {
                let same = [0, 1, 2, 3].map(Channel::Component);
                texture.swizzle.get_or_insert(same)[at] = channel;
            }
        }
    }
}
