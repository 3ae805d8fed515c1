//! Textures and images, with a texture that records the requests.

use super::*;
use crate::alu::AluType;
use crate::body::{TexData, TexOp, TexSrcKind as K};
use crate::intrinsics::indices::AtomicOp;
use crate::passes::{lower_gradients, lower_sample_positions};
use crate::types::TypeData;
use std::collections::BTreeMap;
use tgsi_environment::SamplerDim;

/// Records the requests; the result of a lookup is its number in `x`, 100 in `y`, the unit in `z`, the sampler in `w`.
#[derive(Default)]
struct Recorder {
    requests: Vec<TextureRequest>,
    images: AnalyticResources,
}

impl Resources for Recorder {
    fn texture(&mut self, request: &TextureRequest) -> [[u32; 4]; 4] {
        self.requests.push(request.clone());
        [[self.requests.len() as u32; 4], [100; 4], [request.texture; 4], [request.sampler; 4]]
    }
    fn texture_size(&mut self, texture: u32, level: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        self.images.texture_size(texture, level, dim, is_array)
    }
    fn image_load(&mut self, texel: ImageTexel) -> Vec4 {
        self.images.image_load(texel)
    }
    fn image_store(&mut self, texel: ImageTexel, value: Vec4) {
        self.images.image_store(texel, value);
    }
    fn image_size(&mut self, image: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        self.images.image_size(image, dim, is_array)
    }
    fn stored_texels(&self) -> BTreeMap<ImageTexel, Vec4> {
        self.images.stored_texels()
    }
    fn unit_of_handle(&mut self, handle: u64) -> u32 {
        (handle >> 32) as u32
    }
}

fn recorded(shader: &Shader, inputs: &Inputs) -> (Outputs, Recorder) {
    let mut recorder = Recorder::default();
    match run(shader, inputs, &mut recorder, RunLimits::default()) {
        Ok(outputs) => (outputs, recorder),
        Err(error) => panic!("{error}"),
    }
}

fn data(op: TexOp, dim: SamplerDim, coordinates: u8) -> TexData {
    TexData {
        coord_components: coordinates,
        texture_index: 3,
        sampler_index: 4,
        ..TexData::new(op, dim, AluType::FLOAT32)
    }
}

/// The only request for a lookup with these constant sources.
fn request(data: TexData, sources: &[(K, &[f32])]) -> TextureRequest {
    request_after(|_| (), data, sources)
}

/// The only request after a change of the shader.
fn request_after(change: impl FnOnce(&mut Shader), data: TexData, sources: &[(K, &[f32])]) -> TextureRequest {
    let mut shader = shader(ShaderStage::Fragment, |b| {
        let sources: Vec<(K, Def)> = sources
            .iter()
            .map(|&(kind, values)| {
                let words: Vec<u64> = values.iter().map(|v| v.to_bits().into()).collect();
                (kind, b.constant(32, &words))
            })
            .collect();
        b.texture(data, &sources)
    });
    change(&mut shader);
    let (_, recorder) = recorded(&shader, &lanes(4));
    assert_eq!(recorder.requests.len(), 1);
    recorder.requests[0].clone()
}

fn f(value: f32) -> [u32; 4] {
    [value.to_bits(); 4]
}

#[test]
fn lookups() {
    let r = request(data(TexOp::Tex, SamplerDim::Dim2D, 2), &[(K::Coord, &[1.0, 2.0])]);
    assert_eq!((r.lookup, r.texture, r.sampler), (TextureLookup::Implicit, 3, 4));
    assert_eq!(r.coordinate, [f(1.0), f(2.0), [0; 4], [0; 4]]);
    let r = request(data(TexOp::Txb, SamplerDim::Dim2D, 2), &[(K::Coord, &[1.0, 2.0]), (K::Bias, &[0.5])]);
    assert_eq!((r.lookup, r.lod), (TextureLookup::Bias, f(0.5)));
    let r = request(data(TexOp::Txl, SamplerDim::Dim2D, 2), &[(K::Coord, &[1.0, 2.0]), (K::Lod, &[1.5])]);
    assert_eq!((r.lookup, r.lod), (TextureLookup::Explicit, f(1.5)));
    let sources: &[(K, &[f32])] = &[(K::Coord, &[1.0, 2.0]), (K::Ddx, &[3.0, 4.0]), (K::Ddy, &[5.0, 6.0])];
    let r = request(data(TexOp::Txd, SamplerDim::Dim2D, 2), sources);
    assert_eq!(r.lookup, TextureLookup::Gradient);
    assert_eq!((r.ddx, r.ddy), ([f(3.0), f(4.0), [0; 4]], [f(5.0), f(6.0), [0; 4]]));
    let r = request(data(TexOp::Lod, SamplerDim::Dim2D, 2), &[(K::Coord, &[1.0, 2.0])]);
    assert_eq!(r.lookup, TextureLookup::QueryLod);
}

/// Gradients become the level of the longer one. Level 0 has 64 by 32 by 7 texels.
#[test]
fn levels_of_gradients() {
    let level = |dim: SamplerDim, coordinate: &[f32], [x, y]: [&[f32]; 2], least: Option<f32>| {
        let least = least.map(|level| [level]);
        let mut sources: Vec<(K, &[f32])> = vec![(K::Coord, coordinate), (K::Ddx, x), (K::Ddy, y)];
        sources.extend(least.iter().map(|level| (K::MinLod, level.as_slice())));
        let lower = |shader: &mut Shader| {
            assert!(lower_gradients(shader));
            assert!(!lower_gradients(shader));
        };
        let r = request_after(lower, data(TexOp::Txd, dim, coordinate.len() as u8), &sources);
        assert_eq!((r.lookup, r.texture, r.ddx), (TextureLookup::Explicit, 3, [[0; 4]; 3]));
        f32::from_bits(r.lod[0])
    };
    assert_eq!(level(SamplerDim::Dim1D, &[0.5], [&[0.25], &[-0.5]], None), 5.0);
    assert_eq!(level(SamplerDim::Dim2D, &[0.5; 2], [&[0.0, 0.5], &[0.125, 0.0]], None), 4.0);
    assert_eq!(level(SamplerDim::Dim2D, &[0.5; 2], [&[0.0, 0.5], &[0.125, 0.0]], Some(4.5)), 4.5);
    assert_eq!(level(SamplerDim::Rect, &[0.5; 2], [&[0.0, 8.0], &[1.0, 0.0]], None), 3.0);
    assert_eq!(level(SamplerDim::Dim3D, &[0.5; 3], [&[0.0; 3], &[1.0, 0.0, 0.0]], None), 6.0);
    // The face of -z, -x, and +y: 1 along the first coordinate is 64 texels of a face that is 2 long.
    assert_eq!(level(SamplerDim::Cube, &[0.0, 0.0, -2.0], [&[1.0, 0.0, 0.0], &[0.0; 3]], None), 4.0);
    assert_eq!(level(SamplerDim::Cube, &[-1.0, 0.0, 0.0], [&[0.0; 3], &[0.0, 0.5, 0.0]], None), 4.0);
    assert_eq!(level(SamplerDim::Cube, &[0.0, 4.0, 0.0], [&[1.0, 9.0, 0.0], &[0.0; 3]], None), 3.0);
    // A step along the axis moves places beside the middle.
    assert_eq!(level(SamplerDim::Cube, &[0.5, 0.0, 1.0], [&[0.0, 0.0, 1.0], &[0.0; 3]], None), 4.0);
}

/// The projector divides the coordinates and the comparator, but not the layer.
#[test]
fn projection() {
    let array = TexData { is_array: true, is_shadow: true, ..data(TexOp::Tex, SamplerDim::Dim1D, 2) };
    let sources: &[(K, &[f32])] = &[(K::Coord, &[6.0, 5.0]), (K::Projector, &[2.0]), (K::Comparator, &[8.0])];
    let r = request(array, sources);
    assert_eq!((r.coordinate[0], r.coordinate[1], r.comparator), (f(3.0), f(5.0), f(4.0)));
    assert!(r.is_array && r.is_shadow);
}

#[test]
fn fetches_and_offsets() {
    let bits = |value: u32| f32::from_bits(value);
    let sources: &[(K, &[f32])] =
        &[(K::Coord, &[bits(7), bits(8)]), (K::Lod, &[bits(2)]), (K::Offset, &[bits(1), bits(u32::MAX)])];
    let r = request(data(TexOp::Txf, SamplerDim::Dim2D, 2), sources);
    assert_eq!((r.lookup, r.lod, r.coordinate[1]), (TextureLookup::Fetch, [2; 4], [8; 4]));
    assert_eq!(r.offset, [[1; 4], [-1; 4], [0; 4]]);
    let sources: &[(K, &[f32])] = &[(K::Coord, &[bits(7), bits(8)]), (K::MsIndex, &[bits(5)])];
    let r = request(data(TexOp::TxfMs, SamplerDim::Ms, 2), sources);
    assert_eq!((r.lookup, r.lod), (TextureLookup::Fetch, [5; 4]));
}

#[test]
fn gathers() {
    let gather = TexData { component: 2, ..data(TexOp::Tg4, SamplerDim::Dim2D, 2) };
    let r = request(gather, &[(K::Coord, &[1.0, 2.0])]);
    assert_eq!((r.lookup, r.gather_offsets), (TextureLookup::Gather { component: 2 }, None));
    let gather = TexData { tg4_offsets: [[1, 2], [3, 4], [-5, 6], [7, -8]], ..gather };
    let r = request(gather, &[(K::Coord, &[1.0, 2.0])]);
    assert_eq!(r.gather_offsets.map(|offsets| offsets[2]), Some([[-5; 4], [6; 4]]));
}

/// The level is queried first, then used if the minimum is not greater.
#[test]
fn minimum_of_the_level() {
    let shader = shader(ShaderStage::Fragment, |b| {
        let coord = b.constant(32, &[0, 0]);
        let minimum = b.f32_const(1.0);
        b.texture(data(TexOp::Tex, SamplerDim::Dim2D, 2), &[(K::Coord, coord), (K::MinLod, minimum)])
    });
    let (_, recorder) = recorded(&shader, &lanes(4));
    let lookups: Vec<TextureLookup> = recorder.requests.iter().map(|r| r.lookup).collect();
    assert_eq!(lookups, [TextureLookup::QueryLod, TextureLookup::Explicit]);
    assert_eq!(recorder.requests[1].lod, f(1.0));
}

/// Quads without active lanes sample nothing; the first active lane determines the unit; inactive lanes keep their
/// values.
#[test]
fn units_by_deref_and_handle() {
    for bindless in [false, true] {
        let mut shader = Shader::new(ShaderStage::Fragment);
        let sampler =
            TypeData::Sampler { dim: Some(SamplerDim::Dim2D), array: false, shadow: false, result: ScalarType::Float };
        let sampler = shader.types.intern(sampler);
        let array = shader.types.array(sampler, 3);
        let v = variable(&mut shader, VariableModes::UNIFORM, array, |data| data.binding = 10);
        let mut b = Builder::at_end(shader.main_mut());
        let x = lane(&mut b);
        let one = b.u32_const(1);
        let some = b.alu(AluOp::Uge, &[x, one]);
        let five = b.u32_const(5);
        let few = b.alu(AluOp::Ult, &[x, five]);
        let some = b.alu(AluOp::Iand, &[some, few]);
        let id = b.push_if(some);
        let coord = b.constant(32, &[0, 0]);
        let value = if bindless {
            let zero = b.u32_const(0);
            let handle = b.alu(AluOp::Pack642x32Split, &[zero, x]);
            let sources = [(K::Coord, coord), (K::TextureHandle, handle), (K::SamplerHandle, handle)];
            b.texture(data(TexOp::Tex, SamplerDim::Dim2D, 2), &sources)
        } else {
            let root = b.deref_var(v, VariableModes::UNIFORM, array);
            let element = b.deref_array(root, x, sampler);
            let sources = [(K::Coord, coord), (K::TextureDeref, element), (K::SamplerDeref, element)];
            b.texture(data(TexOp::Tex, SamplerDim::Dim2D, 2), &sources)
        };
        store_output(&mut b, 0, value);
        b.end_if(id);
        let (outputs, recorder) = recorded(&shader, &lanes(12));
        assert_eq!(recorder.requests.len(), 2);
        // Units beyond the array are valid units, too.
        let units = if bindless { [1, 4] } else { [11, 14] };
        assert_eq!(component(&outputs, 2), [0, units[0], units[0], units[0], units[1], 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(component(&outputs, 1)[..4], [0, 100, 100, 100]);
    }
}

#[test]
fn queries() {
    let shader = shader(ShaderStage::Fragment, |b| {
        let x = lane(b);
        let texture = |op| TexData {
            dest_type: AluType::UINT32,
            texture_index: 3,
            ..TexData::new(op, SamplerDim::Dim2D, AluType::UINT32)
        };
        let size = b.texture(texture(TexOp::Txs), &[(K::Lod, x)]);
        let levels = b.texture(texture(TexOp::QueryLevels), &[]);
        let samples = b.texture(texture(TexOp::TextureSamples), &[]);
        let (width, height) = (b.channel(size, 0), b.channel(size, 1));
        b.vec_of(&[width, height, levels, samples])
    });
    let outputs = ran(&shader, &lanes(4));
    assert_eq!(component(&outputs, 0), [64, 32, 16, 8]);
    assert_eq!(component(&outputs, 1), [32, 16, 8, 4]);
    assert_eq!((component(&outputs, 2), component(&outputs, 3)), (vec![7; 4], vec![4; 4]));
}

/// Positions of samples by number, sampled and computed.
#[test]
fn positions_of_samples() {
    for lowered in [false, true] {
        let mut shader = shader(ShaderStage::Fragment, |b| {
            let number = lane(b);
            b.texture(TexData::new(TexOp::SamplePos, SamplerDim::Ms, AluType::FLOAT32), &[(K::MsIndex, number)])
        });
        assert!(!lowered || lower_sample_positions(&mut shader));
        let outputs = ran(&shader, &lanes(5));
        let x = [0.375f32, 0.875, 0.125, 0.625, 0.5].map(f32::to_bits);
        let y = [0.125f32, 0.375, 0.625, 0.875, 0.5].map(f32::to_bits);
        assert_eq!((component(&outputs, 0), component(&outputs, 1)), (x.to_vec(), y.to_vec()), "{lowered}");
    }
}

/// Sparse results: the residency code is the last component. New-style shadow: one component.
#[test]
fn shapes_of_results() {
    let lookup = |is_sparse| {
        let shader = shader(ShaderStage::Fragment, |b| {
            let coord = b.constant(32, &[0, 0]);
            let texture = TexData {
                is_sparse,
                is_shadow: true,
                is_new_style_shadow: true,
                ..data(TexOp::Tex, SamplerDim::Dim2D, 2)
            };
            b.texture(texture, &[(K::Coord, coord), (K::Comparator, coord)])
        });
        let (outputs, _) = recorded(&shader, &lanes(4));
        (0..2).map(|c| outputs.outputs.get(0, c, 0)).collect::<Vec<_>>()
    };
    assert_eq!(lookup(false), [1, 0]);
    assert_eq!(lookup(true), [1, 1]);
}

/// Loads, stores and atomics of images by pointer, number and handle; coordinates beyond the dimensionality are
/// ignored.
#[test]
fn images() {
    use IntrinsicOp as I;
    for form in 0..3 {
        let mut shader = Shader::new(ShaderStage::Fragment);
        let image =
            shader.types.intern(TypeData::Image { dim: SamplerDim::Dim2D, array: false, result: ScalarType::Uint });
        let v = variable(&mut shader, VariableModes::IMAGE, image, |data| data.binding = 2);
        let mut b = Builder::at_end(shader.main_mut());
        let x = lane(&mut b);
        let zero = b.u32_const(0);
        let nine = b.u32_const(9);
        let coord = b.vec_of(&[x, nine, nine, nine]);
        let (name, load, store, atomic, size) = match form {
            0 => {
                let name = b.deref_var(v, VariableModes::IMAGE, image);
                (name, I::ImageDerefLoad, I::ImageDerefStore, I::ImageDerefAtomic, I::ImageDerefSize)
            }
            1 => (b.u32_const(2), I::ImageLoad, I::ImageStore, I::ImageAtomic, I::ImageSize),
            _ => {
                let name = b.constant(64, &[2 << 32]);
                (name, I::BindlessImageLoad, I::BindlessImageStore, I::BindlessImageAtomic, I::BindlessImageSize)
            }
        };
        let dim = (IndexKind::ImageDim, SamplerDim::Dim2D.to_i32());
        let value = b.intrinsic_def(load, &[name, coord, nine, zero], &[dim], VEC4);
        store_output(&mut b, 0, value);
        // Lane 1 is killed.
        let one = b.u32_const(1);
        let dead = b.alu(AluOp::Ieq, &[x, one]);
        b.intrinsic(I::TerminateIf, &[dead], &[], None);
        let stored = b.constant(32, &[5, 6, 7, 8]);
        b.intrinsic(store, &[name, coord, zero, stored, zero], &[dim], None);
        let indices = [dim, (IndexKind::AtomicOp, AtomicOp::Iadd.to_i32())];
        let old = b.intrinsic_def(atomic, &[name, coord, zero, nine], &indices, SCALAR);
        store_output(&mut b, 1, old);
        let size = b.intrinsic_def(size, &[name, zero], &[dim], Shape::new(2, 32));
        store_output(&mut b, 2, size);
        let (outputs, recorder) = recorded(&shader, &lanes(4));
        assert_eq!(component(&outputs, 0), [0, 1, 2, 3]);
        assert_eq!(component(&outputs, 2), [0; 4]);
        assert_eq!(component(&outputs, 3), [2; 4]);
        assert_eq!(outputs.outputs.component(1, 0), [5, 0, 5, 5]);
        assert_eq!(outputs.outputs.component(2, 1), [32; 4]);
        let stored = recorder.stored_texels();
        assert_eq!(
            stored.keys().map(|&(unit, [x, y, z], sample)| (unit, x, y, z, sample)).collect::<Vec<_>>(),
            [(2, 0, 9, 0, 0), (2, 2, 9, 0, 0), (2, 3, 9, 0, 0)]
        );
        assert!(stored.values().all(|&value| value == [14, 6, 7, 8]));
    }
}
