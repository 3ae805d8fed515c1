//! Wrap modes, filters, offsets, gathers and fetches.

use super::*;

/// Texels 0, 1, 2, 3 of a row.
fn row() -> Texture {
    floats(Shape::D1, Size::of_image(4, 1), 1, &[0.0, 1.0, 2.0, 3.0])
}

#[test]
fn what_lies_beyond_the_edges_is_the_wrap_modes() {
    // Texels -5 to 8, by the tables of the OpenGL and Vulkan specifications; 9 is the border.
    let expected = [
        (WrapMode::Repeat, [3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0]),
        (WrapMode::MirroredRepeat, [3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0, 0]),
        (WrapMode::ClampToEdge, [0, 0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3]),
        (WrapMode::ClampToBorder, [9, 9, 9, 9, 9, 0, 1, 2, 3, 9, 9, 9, 9, 9]),
        (WrapMode::MirrorClampToEdge, [3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3]),
    ];
    for (wrap, texels) in expected {
        let border = [9f32.to_bits(); 4];
        let sampler = Sampler { wrap: [wrap; 3], border, ..nearest() };
        let linear = Sampler { wrap: [wrap; 3], border, ..Sampler::default() };
        for (number, &texel) in (-5i32..).zip(&texels) {
            for within in [0.0, 0.25, 0.999] {
                let at = (number as f32 + within) / 4.0;
                let found = first(&with(row(), sampler), &explicit(SamplerDim::Dim1D, &[at]))[0];
                assert_eq!(found, texel as f32, "{wrap:?} at {at}");
                // The same with an offset from another place, and with coordinates in texels.
                let mut moved = explicit(SamplerDim::Dim1D, &[at - 0.75]);
                moved.offset[0] = [3; 4];
                assert_eq!(first(&with(row(), sampler), &moved)[0], texel as f32, "{wrap:?} at {at}, offset");
                let counted = Sampler { unnormalized: true, ..sampler };
                let found = first(&with(row(), counted), &explicit(SamplerDim::Dim1D, &[number as f32 + within]))[0];
                assert_eq!(found, texel as f32, "{wrap:?} at {at}, unnormalized");
            }
            // Three quarters of a texel and a quarter of the next.
            if let Some(&next) = texels.get((number + 6) as usize) {
                let at = (number as f32 + 0.75) / 4.0;
                let found = first(&with(row(), linear), &explicit(SamplerDim::Dim1D, &[at]))[0];
                let expected = 0.75 * texel as f32 + 0.25 * next as f32;
                assert!((found - expected).abs() < 1e-5, "{wrap:?} at {at}: {found}, not {expected}");
            }
        }
    }
}

/// Rows 0, 1 and 10, 11.
fn square() -> Texture {
    floats(Shape::D2, Size::of_image(2, 2), 1, &[0.0, 1.0, 10.0, 11.0])
}

#[test]
fn weights_are_distances() {
    let sampler = Sampler { wrap: [WrapMode::ClampToEdge; 3], ..Sampler::default() };
    let at = |s: f32, t: f32| first(&with(square(), sampler), &explicit(SamplerDim::Dim2D, &[s, t]))[0];
    assert_eq!(at(0.25, 0.25), 0.0);
    assert_eq!(at(0.5, 0.5), 5.5);
    // A quarter to the right, three quarters down.
    assert_eq!(at(0.375, 0.625), 0.25 + 7.5);
    assert_eq!(at(5.0, -5.0), 1.0);
    // NaN is the start, infinity an end.
    assert_eq!(at(f32::NAN, 0.25), 0.0);
    assert_eq!(at(f32::INFINITY, f32::NEG_INFINITY), 1.0);
    assert_eq!(at(f32::NEG_INFINITY, f32::INFINITY), 10.0);
}

#[test]
fn large_coordinates_repeat_exactly() {
    let repeated = |s: f32| first(&with(row(), nearest()), &explicit(SamplerDim::Dim1D, &[s]))[0];
    assert_eq!(repeated(1_000_000.25), 1.0);
    assert_eq!(repeated(-1_000_000.25), 3.0);
    assert_eq!(repeated(3e9), 0.0);
}

#[test]
fn gathers_go_around_against_the_clock_from_the_lower_left() {
    let sampler = Sampler { wrap: [WrapMode::ClampToEdge; 3], ..nearest() };
    let values: Vec<f32> = (0..16).map(|number| number as f32).collect();
    let texture = || floats(Shape::D2, Size::of_image(4, 4), 1, &values);
    let mut gather = request(TextureLookup::Gather { component: 0 }, SamplerDim::Dim2D, &[0.5, 0.5]);
    // Texels (1, 2), (2, 2), (2, 1), (1, 1) by rows of four.
    assert_eq!(first(&with(texture(), sampler), &gather), [9.0, 10.0, 6.0, 5.0]);
    gather.offset[0] = [1; 4];
    gather.offset[1] = [-1; 4];
    assert_eq!(first(&with(texture(), sampler), &gather), [6.0, 7.0, 3.0, 2.0]);
    gather.offset = [[0; 4]; 3];
    gather.gather_offsets = Some([[0, 0], [1, 0], [-1, 2], [0, -3]].map(|texel| texel.map(|offset| [offset; 4])));
    assert_eq!(first(&with(texture(), sampler), &gather), [5.0, 6.0, 12.0, 1.0]);
    // A component that the format lacks, and the last one.
    gather.lookup = TextureLookup::Gather { component: 3 };
    assert_eq!(first(&with(texture(), sampler), &gather), [1.0; 4]);
    // Comparisons: references of 5.5 are at most the texels 9, 10 and 6.
    let mut shadow = request(TextureLookup::Gather { component: 0 }, SamplerDim::Dim2D, &[0.5, 0.5]);
    (shadow.is_shadow, shadow.comparator) = (true, [5.5f32.to_bits(); 4]);
    assert_eq!(first(&with(texture(), sampler), &shadow), [1.0, 1.0, 1.0, 0.0]);
}

#[test]
fn fetches_end_at_the_edges() {
    let textures = with(square(), nearest());
    let fetch = |x: i32, y: i32, level: u32, offset: i32| {
        let mut fetch = request(TextureLookup::Fetch, SamplerDim::Dim2D, &[]);
        (fetch.coordinate[0], fetch.coordinate[1]) = ([x as u32; 4], [y as u32; 4]);
        (fetch.lod, fetch.offset[0]) = ([level; 4], [offset; 4]);
        first(&textures, &fetch)
    };
    assert_eq!(fetch(1, 1, 0, 0), [11.0, 0.0, 0.0, 1.0]);
    assert_eq!(fetch(2, 1, 0, -1), [11.0, 0.0, 0.0, 1.0]);
    for (x, y, level, offset) in
        [(2, 0, 0, 0), (0, -1, 0, 0), (0, 2, 0, 0), (0, 0, 1, 0), (0, 0, 0, -1), (i32::MAX, 0, 0, 1)]
    {
        assert_eq!(fetch(x, y, level, offset), [0.0; 4], "{x} {y} {level} {offset}");
    }
}

#[test]
fn comparisons_are_filtered() {
    let texture = || floats(Shape::D2, Size::of_image(2, 1), 1, &[0.25, 0.75]);
    let mut lookup = explicit(SamplerDim::Dim2D, &[0.4375, 0.5]);
    (lookup.is_shadow, lookup.comparator) = (true, [0.75f32.to_bits(); 4]);
    // The place is three eighths between the first and the second texel; the reference is the left operand.
    let expected = [
        (Compare::Never, 0.0),
        (Compare::Less, 0.0),
        (Compare::Equal, 0.375),
        (Compare::LessOrEqual, 0.375),
        (Compare::Greater, 0.625),
        (Compare::NotEqual, 0.625),
        (Compare::GreaterOrEqual, 1.0),
        (Compare::Always, 1.0),
    ];
    for (compare, value) in expected {
        let sampler = Sampler { compare, wrap: [WrapMode::ClampToEdge; 3], ..Sampler::default() };
        assert_eq!(first(&with(texture(), sampler), &lookup), [value; 4], "{compare:?}");
    }
    // References are clamped for normalised depths only.
    lookup.comparator = [1.5f32.to_bits(); 4];
    let depth = Texture::with_texels(Shape::D2, Format::D16Unorm, Size::of_image(1, 1), 1, vec![0xff, 0xff]);
    assert_eq!(first(&with(depth.expect("a texture"), nearest()), &lookup), [1.0; 4]);
    assert_eq!(first(&with(floats(Shape::D2, Size::of_image(1, 1), 1, &[1.0]), nearest()), &lookup), [0.0; 4]);
}

#[test]
fn eight_bits_are_filtered_as_floats() {
    let bytes = vec![0, 0, 0, 255, 255, 51, 0, 255];
    let texture =
        Texture::with_texels(Shape::D2, Format::Rgba8Unorm, Size::of_image(2, 1), 1, bytes).expect("a texture");
    let sampler = Sampler { wrap: [WrapMode::ClampToEdge; 3], ..Sampler::default() };
    // A third of the distance would be lost in eight bits.
    let [r, g, b, a] = first(&with(texture, sampler), &explicit(SamplerDim::Dim2D, &[0.25 + 1.0 / 6.0, 0.5]));
    assert!((r - 1.0 / 3.0).abs() < 1e-6 && (g - 0.2 / 3.0).abs() < 1e-6, "{r} {g}");
    assert_eq!((b, a), (0.0, 1.0));
}
