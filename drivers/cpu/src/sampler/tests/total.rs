//! Every lookup has a result, whatever its operands.

use super::*;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32
    }

    fn below(&mut self, count: usize) -> usize {
        self.next() as usize % count
    }

    /// Words of all kinds.
    fn word(&mut self) -> u32 {
        const SPECIAL: [u32; 10] =
            [0, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x7f7f_ffff, 1, 0x4f00_0000, 0xcf00_0001, u32::MAX];
        match self.next() % 4 {
            0 => SPECIAL[self.below(SPECIAL.len())],
            1 => self.next() << 1,
            _ => ((self.next() & 0xffff) as f32 / 8192.0 - 4.0).to_bits(),
        }
    }

    fn row(&mut self) -> [u32; 4] {
        [self.word(), self.word(), self.word(), self.word()]
    }
}

#[test]
fn any_lookup_has_a_result() {
    use TextureLookup as L;
    const DIMS: [SamplerDim; 8] = [
        SamplerDim::Dim1D,
        SamplerDim::Dim2D,
        SamplerDim::Dim3D,
        SamplerDim::Cube,
        SamplerDim::Rect,
        SamplerDim::Buf,
        SamplerDim::External,
        SamplerDim::Ms,
    ];
    const WRAPS: [WrapMode; 5] = [
        WrapMode::Repeat,
        WrapMode::MirroredRepeat,
        WrapMode::ClampToEdge,
        WrapMode::ClampToBorder,
        WrapMode::MirrorClampToEdge,
    ];
    let mut random = Random(7);
    for round in 0..40_000 {
        let shape = [Shape::D1, Shape::D2, Shape::D3, Shape::Cube, Shape::Buffer][random.below(5)];
        let [w, h, d] = [1 + random.below(9) as u32, 1 + random.below(9) as u32, 1 + random.below(4) as u32];
        let size = match shape {
            Shape::D1 => Size { layers: d, ..Size::of_image(w, 1) },
            Shape::D2 => Size { layers: d, ..Size::of_image(w, h) },
            Shape::D3 => Size { depth: d, ..Size::of_image(w, h) },
            Shape::Cube => Size { layers: d, ..Size::of_image(w, w) },
            Shape::Buffer => Size::of_image(w, 1),
        };
        let mut texture =
            Texture::new(shape, Format::ALL[random.below(Format::ALL.len())], size, d).expect("it is small");
        for level in 0..texture.levels().len() {
            texture.level_texels_mut(level).iter_mut().for_each(|byte| *byte = random.next() as u8);
        }
        let filters = [Filter::Nearest, Filter::Linear];
        let sampler = Sampler {
            min_filter: filters[random.below(2)],
            mag_filter: filters[random.below(2)],
            mip_filter: [MipFilter::None, MipFilter::Nearest, MipFilter::Linear][random.below(3)],
            wrap: [0; 3].map(|_| WRAPS[random.below(5)]),
            border: random.row(),
            lod_bias: f32::from_bits(random.word()),
            min_lod: f32::from_bits(random.word()),
            max_lod: f32::from_bits(random.word()),
            seamless: random.below(2) == 0,
            unnormalized: random.below(4) == 0,
            ..Sampler::default()
        };
        let component = random.below(4) as u8;
        let lookups = [L::Implicit, L::Bias, L::Explicit, L::Gradient, L::Gather { component }, L::Fetch, L::QueryLod];
        let offset = |random: &mut Random| if random.below(2) == 0 { 0 } else { random.below(64) as i32 - 32 };
        let request = TextureRequest {
            texture: 0,
            sampler: 0,
            lookup: lookups[random.below(7)],
            dim: DIMS[random.below(8)],
            is_array: random.below(2) == 0,
            is_shadow: random.below(4) == 0,
            coordinate: [0; 4].map(|_| random.row()),
            comparator: random.row(),
            lod: random.row(),
            ddx: [0; 3].map(|_| random.row()),
            ddy: [0; 3].map(|_| random.row()),
            offset: [0; 3]
                .map(|_| [0; 4].map(|_| if random.below(9) == 0 { random.next() as i32 } else { offset(&mut random) })),
            gather_offsets: (random.below(3) == 0).then_some([[[3, -9, i32::MAX, i32::MIN]; 2]; 4]),
        };
        let textures = with(texture, sampler);
        let found = HostResources::texture(&textures, &request);
        // Lookups leave no state behind.
        assert_eq!(found, HostResources::texture(&textures, &request), "round {round}");
        let _ = HostResources::texture_size(&textures, random.word(), random.word(), request.dim, request.is_array);
    }
}

#[test]
fn textures_that_cannot_be_are_refused() {
    let none = |shape, size| assert_eq!(Texture::new(shape, Format::R8Unorm, size, 1), None, "{shape:?} {size:?}");
    none(Shape::D2, Size::of_image(0, 1));
    none(Shape::D2, Size::of_image(1 << 16, 1));
    none(Shape::D1, Size::of_image(2, 2));
    none(Shape::Cube, Size::of_image(2, 4));
    none(Shape::D3, Size { layers: 2, ..Size::of_image(2, 2) });
    none(Shape::D2, Size { layers: 0, ..Size::of_image(2, 2) });
    let size = Size { layers: 1 << 15, ..Size::of_image(1 << 15, 1 << 15) };
    assert_eq!(Texture::new(Shape::D2, Format::Rgba32Float, size, 20), None);
    assert_eq!(Texture::with_texels(Shape::D2, Format::R8Unorm, Size::of_image(2, 2), 1, vec![0; 3]), None);
}
