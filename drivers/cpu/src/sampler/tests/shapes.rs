//! Slices, layers and faces.

use super::*;

#[test]
fn slices_are_filtered_too() {
    let texture = || floats(Shape::D3, Size { depth: 2, ..Size::of_image(1, 2) }, 1, &[0.0, 1.0, 10.0, 11.0]);
    let sampler = Sampler { wrap: [WrapMode::ClampToEdge; 3], ..Sampler::default() };
    let at = |sampler, t: f32, r: f32| first(&with(texture(), sampler), &explicit(SamplerDim::Dim3D, &[0.5, t, r]))[0];
    assert_eq!(at(sampler, 0.25, 0.25), 0.0);
    assert_eq!(at(sampler, 0.5, 0.375), 0.5 + 2.5);
    assert_eq!(at(sampler, 0.0, 7.0), 10.0);
    let border = Sampler { wrap: [WrapMode::ClampToBorder; 3], border: [20f32.to_bits(); 4], ..sampler };
    // Halfway between the last slice and the border.
    let halfway = Sampler { wrap: [WrapMode::ClampToEdge, WrapMode::ClampToEdge, WrapMode::ClampToBorder], ..border };
    assert_eq!(at(halfway, 0.25, 1.0), 15.0);
    assert_eq!(at(Sampler { min_filter: Filter::Nearest, mag_filter: Filter::Nearest, ..halfway }, 0.25, 1.1), 20.0);
}

#[test]
fn layers_are_rounded_and_clamped() {
    let texture = floats(Shape::D2, Size { layers: 4, ..Size::of_image(1, 1) }, 1, &[0.0, 1.0, 2.0, 3.0]);
    let textures = with(texture, Sampler::default());
    for (layer, expected) in
        [(0.0, 0.0), (0.5, 0.0), (0.6, 1.0), (1.5, 2.0), (2.5, 2.0), (9.0, 3.0), (-7.0, 0.0), (f32::NAN, 0.0)]
    {
        let mut lookup = explicit(SamplerDim::Dim2D, &[0.5, 0.5, layer]);
        lookup.is_array = true;
        assert_eq!(first(&textures, &lookup)[0], expected, "layer {layer}");
    }
    let mut fetch = request(TextureLookup::Fetch, SamplerDim::Dim2D, &[]);
    (fetch.is_array, fetch.coordinate[2]) = (true, [3, 4, u32::MAX, 1]);
    let fetched = HostResources::texture(&textures, &fetch)[0].map(f32::from_bits);
    assert_eq!(fetched, [3.0, 0.0, 0.0, 1.0]);
    let texture = floats(Shape::D1, Size { layers: 2, ..Size::of_image(2, 1) }, 1, &[0.0, 1.0, 2.0, 3.0]);
    let mut lookup = explicit(SamplerDim::Dim1D, &[0.75, 1.0]);
    lookup.is_array = true;
    assert_eq!(first(&with(texture, nearest()), &lookup)[0], 3.0);
}

#[test]
fn buffers_are_fetched_by_number() {
    let values: Vec<f32> = (0..100_000).map(|number| number as f32).collect();
    let textures = with(floats(Shape::Buffer, Size::of_image(100_000, 1), 1, &values), nearest());
    let mut fetch = request(TextureLookup::Fetch, SamplerDim::Buf, &[]);
    fetch.coordinate[0] = [0, 99_999, 100_000, u32::MAX];
    assert_eq!(HostResources::texture(&textures, &fetch)[0].map(f32::from_bits), [0.0, 99_999.0, 0.0, 0.0]);
}

/// Returns cubes with faces of 2 x 2 texels: ten times the face, plus the texel by rows.
fn cube(layers: u32) -> Texture {
    let values: Vec<f32> = (0..24 * layers).map(|number| (number / 4 * 10 + number % 4) as f32).collect();
    floats(Shape::Cube, Size { layers, ..Size::of_image(2, 2) }, 1, &values)
}

#[test]
fn directions_have_the_faces_of_the_table() {
    let textures = with(cube(1), nearest());
    let at = |direction: [f32; 3]| first(&textures, &explicit(SamplerDim::Cube, &direction))[0];
    // On each face s and t are a quarter: the first texel of the first row. By the table of the OpenGL and Vulkan
    // specifications, s and t are (-z, -y), (z, -y), (x, z), (x, -z), (x, -y), (-x, -y).
    assert_eq!(at([1.0, 0.5, 0.5]), 0.0);
    assert_eq!(at([-1.0, 0.5, -0.5]), 10.0);
    assert_eq!(at([-0.5, 1.0, -0.5]), 20.0);
    assert_eq!(at([-0.5, -1.0, 0.5]), 30.0);
    assert_eq!(at([-0.5, 0.5, 1.0]), 40.0);
    assert_eq!(at([0.5, 0.5, -1.0]), 50.0);
    // The second texel, and the first of the second row, of +x.
    assert_eq!(at([2.0, 1.0, -1.0]), 1.0);
    assert_eq!(at([2.0, -1.0, 1.0]), 2.0);
    // The length does not matter.
    assert_eq!(at([1e-20, -5e-21, 5e-21]), 2.0);
    let arrays = with(cube(3), nearest());
    let mut lookup = explicit(SamplerDim::Cube, &[-1.0, 0.5, -0.5, 2.0]);
    lookup.is_array = true;
    assert_eq!(first(&arrays, &lookup)[0], 2.0 * 60.0 + 10.0);
}

/// Across any edge, a seamless cube has the same value on both sides; others have a step.
#[test]
fn cubes_have_no_seams() {
    let size = 4u32;
    let mut state = 1u32;
    let values: Vec<f32> = (0..6 * size * size)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as f32
        })
        .collect();
    let texture = || floats(Shape::Cube, Size::of_image(size, size), 1, &values);
    let (seamless, clamped) =
        (with(texture(), Sampler::default()), with(texture(), Sampler { seamless: false, ..Sampler::default() }));
    let mut steps = 0;
    for axis in 0..3 {
        for other in (0..3).filter(|&other| other != axis) {
            for signs in 0..4 {
                for along in [-0.9f32, -0.7, -0.3, 0.0, 0.2, 0.6, 0.95] {
                    let mut direction = [along; 3];
                    direction[axis] = if signs & 1 == 0 { 1.0 } else { -1.0 };
                    let edge = if signs & 2 == 0 { 1.0 } else { -1.0 };
                    let sides = [0.9999f32, 1.0001].map(|distance| {
                        direction[other] = edge * distance;
                        explicit(SamplerDim::Cube, &direction)
                    });
                    let [a, b] = sides.each_ref().map(|lookup| first(&seamless, lookup)[0]);
                    assert!((a - b).abs() < 0.5, "{direction:?}: {a} and {b}");
                    let [a, b] = sides.each_ref().map(|lookup| first(&clamped, lookup)[0]);
                    steps += usize::from((a - b).abs() > 0.5);
                }
            }
        }
    }
    assert!(steps > 100, "{steps}");
}

#[test]
fn corners_of_cubes_are_means_of_three() {
    let values: Vec<f32> = (0..6).map(|face| [3.0, 0.0, 6.0, 0.0, 9.0, 0.0][face]).collect();
    let textures = with(floats(Shape::Cube, Size::of_image(1, 1), 1, &values), Sampler::default());
    // +x, +y and +z meet; the place is the corner itself, so its four texels have equal weights, and one is the mean.
    let found = first(&textures, &explicit(SamplerDim::Cube, &[1.0, 1.0, 1.0]))[0];
    assert!((found - 6.0).abs() < 1e-5, "{found}");
}

#[test]
fn levels_of_cubes_are_found_on_the_face() {
    let mut values = Vec::new();
    for (level, count) in [6 * 64, 6 * 16, 6 * 4, 6].into_iter().enumerate() {
        values.extend(std::iter::repeat_n(level as f32, count));
    }
    let textures = with(floats(Shape::Cube, Size::of_image(8, 8), 4, &values), Sampler::default());
    // A step of 1/2 along s on +z is 0.25 of the coordinate: two texels, level 1.
    let mut lookup = request(TextureLookup::Implicit, SamplerDim::Cube, &[]);
    lookup.coordinate[0] = [-0.25f32, 0.25, -0.25, 0.25].map(f32::to_bits);
    lookup.coordinate[2] = [1f32.to_bits(); 4];
    assert!((first(&textures, &lookup)[0] - 1.0).abs() < 1e-5);
    let mut gradient = request(TextureLookup::Gradient, SamplerDim::Cube, &[0.0, 0.0, 2.0]);
    // Twice as far from the middle, the same step counts half.
    gradient.ddy[1] = [2f32.to_bits(); 4];
    assert!((first(&textures, &gradient)[0] - 2.0).abs() < 1e-5);
}

#[test]
fn rectangles_count_texels() {
    let texture = floats(Shape::D2, Size::of_image(4, 2), 1, &[0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 13.0]);
    let textures = with(texture, Sampler { wrap: [WrapMode::ClampToEdge; 3], ..Sampler::default() });
    assert_eq!(first(&textures, &explicit(SamplerDim::Rect, &[2.5, 1.5]))[0], 12.0);
    assert_eq!(first(&textures, &explicit(SamplerDim::Rect, &[2.0, 1.0]))[0], 6.5);
}

/// A 2D image serves as any layer and any face.
#[test]
fn an_image_stands_for_what_is_missing() {
    let textures = with(floats(Shape::D2, Size::of_image(2, 2), 1, &[0.0, 1.0, 2.0, 3.0]), nearest());
    assert_eq!(first(&textures, &explicit(SamplerDim::Cube, &[-1.0, 0.5, -0.5]))[0], 0.0);
    assert_eq!(first(&textures, &explicit(SamplerDim::Dim3D, &[0.75, 0.75, 0.3]))[0], 3.0);
    assert_eq!(first(&textures, &explicit(SamplerDim::Dim1D, &[0.75, 0.75]))[0], 1.0);
    let mut lookup = explicit(SamplerDim::Dim2D, &[0.75, 0.75, 5.0]);
    lookup.is_array = true;
    assert_eq!(first(&textures, &lookup)[0], 3.0);
}
