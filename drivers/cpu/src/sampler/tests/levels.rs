//! Levels of detail.

use super::super::level_of_detail::log2;
use super::*;

/// 16 x 8 texels with levels down to one texel; each texel is the number of its level.
fn numbered() -> Texture {
    let mut values = Vec::new();
    for (level, count) in [128, 32, 8, 2, 1].into_iter().enumerate() {
        values.extend(std::iter::repeat_n(level as f32, count));
    }
    floats(Shape::D2, Size::of_image(16, 8), 9, &values)
}

/// Returns a quad with coordinates that change by `x` and `y` texels of the largest level.
fn quad(lookup: TextureLookup, x: [f32; 2], y: [f32; 2]) -> TextureRequest {
    let mut quad = request(lookup, SamplerDim::Dim2D, &[]);
    for (component, size) in [16.0, 8.0].into_iter().enumerate() {
        let (dx, dy) = (x[component] / size, y[component] / size);
        quad.coordinate[component] = [0.0, dx, dy, dx + dy].map(f32::to_bits);
    }
    quad
}

#[test]
fn logarithms_are_exact_at_powers_of_two_and_near_elsewhere() {
    for exponent in -126..128 {
        assert_eq!(log2(2f32.powi(exponent)), exponent as f32);
    }
    let mut value = 1e-30f32;
    while value < 1e30 {
        assert!((f64::from(log2(value)) - f64::from(value).log2()).abs() < 1e-5, "{value}");
        value *= 1.000_3;
    }
    for value in [0.0, -0.0, f32::INFINITY, f32::NAN, -f32::NAN, 1e-40] {
        assert!(log2(value).is_finite());
    }
}

#[test]
fn the_number_of_levels_is_that_of_halvings() {
    assert_eq!(numbered().levels().len(), 5);
    let sizes: Vec<[u32; 2]> = numbered().levels().iter().map(|level| [level.width, level.height]).collect();
    assert_eq!(sizes, [[16, 8], [8, 4], [4, 2], [2, 1], [1, 1]]);
}

#[test]
fn levels_follow_from_the_longer_derivative() {
    let textures = with(numbered(), Sampler::default());
    let level = |x, y| first(&textures, &quad(TextureLookup::Implicit, x, y))[0];
    assert_eq!(level([1.0, 0.0], [0.0, 1.0]), 0.0);
    assert_eq!(level([2.0, 0.0], [0.0, 1.0]), 1.0);
    assert_eq!(level([0.0, 1.0], [0.0, 4.0]), 2.0);
    // Length 5: log2 is 2.321928.
    assert!((level([3.0, 4.0], [1.0, 1.0]) - 2.321_928).abs() < 1e-5);
    assert_eq!(level([1000.0, 0.0], [0.0, 0.0]), 4.0);
    assert_eq!(level([0.0, 0.0], [0.0, 0.0]), 0.0);
    // Each lane uses its own row: the lower one has twice the distance.
    let mut uneven = quad(TextureLookup::Implicit, [2.0, 0.0], [0.0, 0.0]);
    uneven.coordinate[0][3] = (4f32 / 16.0).to_bits();
    let rows: Vec<f32> = (0..4).map(|number| lane(&textures, &uneven, number)[0]).collect();
    assert_eq!(rows, [1.0, 1.0, 2.0, 2.0]);
}

#[test]
fn biases_limits_and_explicit_levels_count() {
    let implicit = quad(TextureLookup::Implicit, [2.0, 0.0], [0.0, 0.0]);
    let level = |sampler: Sampler, request: &TextureRequest| first(&with(numbered(), sampler), request)[0];
    let biased = Sampler { lod_bias: 0.5, ..Sampler::default() };
    assert_eq!(level(biased, &implicit), 1.5);
    let mut bias = quad(TextureLookup::Bias, [2.0, 0.0], [0.0, 0.0]);
    bias.lod = [1.25f32.to_bits(); 4];
    assert_eq!(level(Sampler::default(), &bias), 2.25);
    assert_eq!(level(biased, &bias), 2.75);
    assert_eq!(level(Sampler { max_lod: 2.5, ..biased }, &bias), 2.5);
    assert_eq!(level(Sampler { min_lod: 3.25, ..biased }, &bias), 3.25);
    let mut explicit = explicit(SamplerDim::Dim2D, &[0.5, 0.5]);
    explicit.lod = [1.75, -3.0, 99.0, f32::NAN].map(f32::to_bits);
    let lanes = |sampler| {
        let textures = with(numbered(), sampler);
        [0, 1, 2, 3].map(|number| lane(&textures, &explicit, number)[0])
    };
    assert_eq!(lanes(Sampler::default()), [1.75, 0.0, 4.0, 0.0]);
    let nearest_level = Sampler { mip_filter: MipFilter::Nearest, ..Sampler::default() };
    assert_eq!(lanes(nearest_level), [2.0, 0.0, 4.0, 0.0]);
    assert_eq!(lanes(Sampler { mip_filter: MipFilter::None, ..Sampler::default() }), [0.0; 4]);
    // Halves are rounded to the larger level.
    for (lod, expected) in [(0.5, 0.0), (0.51, 1.0), (1.5, 1.0), (2.5, 2.0), (3.75, 4.0)] {
        explicit.lod = [f32::to_bits(lod); 4];
        assert_eq!(level(nearest_level, &explicit), expected, "{lod}");
    }
}

#[test]
fn gradients_are_derivatives() {
    let mut lookup = request(TextureLookup::Gradient, SamplerDim::Dim2D, &[0.1, 0.9]);
    (lookup.ddx[0], lookup.ddy[1]) = ([(4f32 / 16.0).to_bits(); 4], [(8f32 / 8.0).to_bits(); 4]);
    assert_eq!(first(&with(numbered(), Sampler::default()), &lookup)[0], 3.0);
}

#[test]
fn magnified_textures_have_a_filter_of_their_own() {
    let texture = || floats(Shape::D2, Size::of_image(2, 1), 1, &[0.0, 1.0]);
    let sampler = Sampler { min_filter: Filter::Nearest, mag_filter: Filter::Linear, ..Sampler::default() };
    let mut lookup = explicit(SamplerDim::Dim2D, &[0.375, 0.5]);
    lookup.lod = [0.0, -1.0, 0.1, 5.0].map(f32::to_bits);
    let textures = with(texture(), sampler);
    assert_eq!([0, 1, 2, 3].map(|number| lane(&textures, &lookup, number)[0]), [0.25, 0.25, 0.0, 0.0]);
}

#[test]
fn levels_are_asked_for() {
    let query = quad(TextureLookup::QueryLod, [4.0, 0.0], [0.0, 0.0]);
    assert_eq!(first(&with(numbered(), Sampler::default()), &query), [2.0, 2.0, 0.0, 0.0]);
    let sampler = Sampler { max_lod: 1.25, lod_bias: 1.0, ..Sampler::default() };
    assert_eq!(first(&with(numbered(), sampler), &query)[..2], [1.25, 3.0]);
    let sampler = Sampler { mip_filter: MipFilter::Nearest, lod_bias: 0.75, ..Sampler::default() };
    assert_eq!(first(&with(numbered(), sampler), &query)[..2], [3.0, 2.75]);
}

#[test]
fn sizes_are_those_of_levels() {
    let textures = with(numbered(), Sampler::default());
    let size = |level, dim, is_array| HostResources::texture_size(&textures, 0, level, dim, is_array);
    assert_eq!(size(2, SamplerDim::Dim2D, false), TextureSize { size: [4, 2, 0], levels: 5, samples: 1 });
    assert_eq!(size(9, SamplerDim::Dim2D, false), TextureSize { size: [0; 3], levels: 5, samples: 0 });
    let array = Texture::new(Shape::Cube, Format::R8Unorm, Size { layers: 3, ..Size::of_image(4, 4) }, 1);
    let textures = with(array.expect("a texture"), Sampler::default());
    assert_eq!(HostResources::texture_size(&textures, 0, 0, SamplerDim::Cube, true).size, [4, 4, 3]);
    assert_eq!(HostResources::texture_size(&textures, 1, 0, SamplerDim::Cube, true), TextureSize::default());
}
