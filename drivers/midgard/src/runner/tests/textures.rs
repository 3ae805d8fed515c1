//! Texture fetches, beside requests of the interpreter.

use super::*;
use crate::isa::texture::Coordinates;
use crate::isa::texture::{
    Dimension, Handle, Lod, Mode, Offset, Select, Texture as Instruction, TextureMode, TextureOp, TextureRegister,
};
use crate::program::{Dimensions, Texture};

use pretty_assertions::assert_eq;
use tgsi_environment::{Resources, SamplerDim, TextureLookup, TextureRequest};

/// Resources that keep requests.
#[derive(Default)]
struct Recorder {
    requests: Vec<TextureRequest>,
    textures: AnalyticResources,
}

impl Resources for Recorder {
    fn texture(&mut self, request: &TextureRequest) -> [[u32; 4]; 4] {
        self.requests.push(request.clone());
        self.textures.texture(request)
    }

    fn texture_size(
        &mut self,
        texture: u32,
        level: u32,
        dim: SamplerDim,
        is_array: bool,
    ) -> tgsi_environment::TextureSize {
        self.textures.texture_size(texture, level, dim, is_array)
    }

    fn image_load(&mut self, texel: tgsi_environment::ImageTexel) -> [u32; 4] {
        self.textures.image_load(texel)
    }

    fn image_store(&mut self, texel: tgsi_environment::ImageTexel, value: [u32; 4]) {
        self.textures.image_store(texel, value);
    }

    fn image_size(&mut self, image: u32, dim: SamplerDim, is_array: bool) -> tgsi_environment::TextureSize {
        self.textures.image_size(image, dim, is_array)
    }

    fn stored_texels(&self) -> std::collections::BTreeMap<tgsi_environment::ImageTexel, [u32; 4]> {
        self.textures.stored_texels()
    }
}

/// The words of a component of a register, as inputs of [`fetched`] have them.
fn word(register: usize, component: usize, lane: usize) -> u32 {
    (1.0 + register as f32 * 16.0 + component as f32 * 4.0 + lane as f32).to_bits()
}

/// Runs a fetch with the varying 0 in r28 and the varying 1 in r29. Returns the request and the results.
fn fetched(instruction: Instruction, dimensions: Dimensions, is_array: bool) -> (TextureRequest, [[u32; 4]; 4]) {
    let is_vertex = instruction.is_vertex;
    let load = if is_vertex { LoadStoreOp::LdAttrU32 } else { LoadStoreOp::LdVaryU32 };
    let mut bodies = vec![entry(load, 28, 0), entry(load, 29, 1)];
    if dimensions == Dimensions::Cube {
        bodies.push(entry(load, 26, 2));
        let argument = operand(LoadStoreRegister::L0, 0);
        let cube = LoadStore { argument, is_wide: true, mask: 3, ..LoadStore::new(LoadStoreOp::Cubemap, r(28)) };
        bodies.push(load_store(cube));
    }
    bodies.extend([Body::Texture(instruction), copy(26, 28), entry(LoadStoreOp::StVaryU32, 0, 0)]);
    // Varyings can be stored by the words of any stage here.
    let mut program = program(if is_vertex { Stage::Vertex } else { Stage::Fragment }, &bodies);
    program.inputs = (0..3).map(|number| varying(number, Slot::Register(number), 15)).collect();
    program.outputs = vec![varying(0, Slot::Register(0), 15)];
    program.textures = vec![Texture { number: 3, dimensions, is_array }];
    let mut inputs = numbered(4, 3);
    for (register, component, lane) in all(3, 4) {
        inputs.inputs.set(register, component, lane, word(register, component, lane));
    }
    let mut resources = Recorder::default();
    let outputs = run_program(program).unwrap().run(&inputs, &mut resources, RunLimits::default()).unwrap();
    assert_eq!(resources.requests.len(), 1);
    (resources.requests.remove(0), [0, 1, 2, 3].map(|lane| output(&outputs, 0, lane)))
}

fn of(register: usize, component: usize) -> [u32; 4] {
    [0, 1, 2, 3].map(|lane| word(register, component, lane))
}

fn select(component: u8) -> Select {
    Select { register: TextureRegister::Full(1), component }
}

/// An instruction on texture 3 and sampler 4.
fn instruction(op: TextureOp, dimension: Dimension) -> Instruction {
    Instruction { dimension, ..Instruction::new(op, 3, 4) }
}

fn mode(instruction: Instruction, mode: TextureMode) -> Instruction {
    Instruction { mode: Mode::Texture(mode), ..instruction }
}

/// The expected request, with these components of r28 as coordinates.
fn request(lookup: TextureLookup, dim: SamplerDim, coordinates: &[usize]) -> TextureRequest {
    let mut request = TextureRequest { texture: 3, sampler: 4, ..TextureRequest::new(lookup, dim) };
    for (words, &component) in request.coordinate.iter_mut().zip(coordinates) {
        *words = of(0, component);
    }
    request
}

#[test]
fn dimensions() {
    use TextureLookup::Implicit;
    let sample = |dimension| instruction(TextureOp::Sample, dimension);
    let shadow = |dimension| mode(sample(dimension), TextureMode::Shadow);
    let rows = [
        (sample(Dimension::D1), Dimensions::D1, false, request(Implicit, SamplerDim::Dim1D, &[0])),
        (sample(Dimension::D1), Dimensions::D1, true, request(Implicit, SamplerDim::Dim1D, &[0, 3])),
        (sample(Dimension::D2), Dimensions::D2, false, request(Implicit, SamplerDim::Dim2D, &[0, 1])),
        (sample(Dimension::D2), Dimensions::D2, true, request(Implicit, SamplerDim::Dim2D, &[0, 1, 3])),
        (sample(Dimension::D2), Dimensions::Rect, false, request(Implicit, SamplerDim::Rect, &[0, 1])),
        (sample(Dimension::D3), Dimensions::D3, false, request(Implicit, SamplerDim::Dim3D, &[0, 1, 2])),
        (shadow(Dimension::D1), Dimensions::D1, true, request(Implicit, SamplerDim::Dim1D, &[0, 3])),
        (shadow(Dimension::D2), Dimensions::D2, true, request(Implicit, SamplerDim::Dim2D, &[0, 1, 3])),
    ];
    for (instruction, dimensions, is_array, mut expected) in rows {
        expected.is_array = is_array;
        if instruction.mode == Mode::Texture(TextureMode::Shadow) {
            (expected.is_shadow, expected.comparator) = (true, of(0, 2));
        }
        let (found, results) = fetched(instruction, dimensions, is_array);
        assert_eq!(found, expected);
        let components = AnalyticResources::default().texture(&expected);
        assert_eq!(results, [0, 1, 2, 3].map(|lane: usize| components.map(|lanes| lanes[lane])));
    }
}

/// Cubes have the direction; the comparison value and the layer are beside the coordinates of the face.
#[test]
fn cubes() {
    let sample = instruction(TextureOp::Sample, Dimension::Cube);
    let mut expected = request(TextureLookup::Implicit, SamplerDim::Cube, &[]);
    for component in 0..3 {
        expected.coordinate[component] = of(2, component);
    }
    assert_eq!(fetched(sample, Dimensions::Cube, false).0, expected);
    (expected.is_array, expected.coordinate[3]) = (true, of(0, 3));
    (expected.is_shadow, expected.comparator) = (true, of(0, 2));
    assert_eq!(fetched(mode(sample, TextureMode::Shadow), Dimensions::Cube, true).0, expected);
}

#[test]
fn levels() {
    use TextureLookup::{Bias, Explicit, Implicit};
    let d2 = |op, lod| Instruction { lod, ..instruction(op, Dimension::D2) };
    let half = Lod::Immediate { fraction: 128, integer: -1 };
    let expected = |lookup, lod| TextureRequest { lod, ..request(lookup, SamplerDim::Dim2D, &[0, 1]) };
    let found = |instruction| fetched(instruction, Dimensions::D2, false).0;
    let (sample, gradient) = (TextureOp::Sample, TextureOp::SampleGradient);
    assert_eq!(found(d2(sample, half)), expected(Bias, [(-0.5_f32).to_bits(); 4]));
    assert_eq!(found(d2(sample, Lod::Register(select(2)))), expected(Bias, of(1, 2)));
    assert_eq!(found(d2(gradient, Lod::NONE)), expected(Explicit, [0; 4]));
    assert_eq!(found(d2(gradient, Lod::Register(select(1)))), expected(Explicit, of(1, 1)));
    let vertex = Instruction { is_vertex: true, ..d2(sample, Lod::NONE) };
    assert_eq!(found(vertex), expected(Explicit, [0; 4]));
    assert_eq!(found(d2(sample, Lod::NONE)), expected(Implicit, [0; 4]));
}

#[test]
fn gathers() {
    let sample = instruction(TextureOp::Sample, Dimension::D2);
    let modes = [TextureMode::GatherX, TextureMode::GatherY, TextureMode::GatherZ, TextureMode::GatherW];
    for (component, texture_mode) in (0..).zip(modes) {
        let expected = request(TextureLookup::Gather { component }, SamplerDim::Dim2D, &[0, 1]);
        assert_eq!(fetched(mode(sample, texture_mode), Dimensions::D2, false).0, expected);
    }
    let mut expected = request(TextureLookup::Gather { component: 0 }, SamplerDim::Dim2D, &[0, 1]);
    (expected.is_shadow, expected.comparator) = (true, of(0, 2));
    assert_eq!(fetched(mode(sample, TextureMode::GatherShadow), Dimensions::D2, false).0, expected);
}

/// Fetches have integer coordinates, level, sample and layer.
#[test]
fn fetches() {
    let fetch =
        Instruction { lod: Lod::Immediate { fraction: 3, integer: 0 }, ..instruction(TextureOp::Fetch, Dimension::D2) };
    let lookup = TextureLookup::Fetch;
    let expected = TextureRequest { lod: [3; 4], ..request(lookup, SamplerDim::Dim2D, &[0, 1]) };
    assert_eq!(fetched(fetch, Dimensions::D2, false).0, expected);
    let layered = TextureRequest { is_array: true, ..request(lookup, SamplerDim::Dim2D, &[0, 1, 3]) };
    let level = Instruction { lod: Lod::Register(select(0)), ..fetch };
    assert_eq!(fetched(level, Dimensions::D2, true).0, TextureRequest { lod: of(1, 0), ..layered });
    let multisampled = TextureRequest { lod: of(0, 2), ..request(lookup, SamplerDim::Ms, &[0, 1]) };
    assert_eq!(fetched(fetch, Dimensions::Multisampled, false).0, multisampled);
    let buffer = Instruction { dimension: Dimension::D1, lod: Lod::NONE, ..fetch };
    assert_eq!(fetched(buffer, Dimensions::Buffer, false).0, request(lookup, SamplerDim::Buf, &[0]));
}

#[test]
fn offsets() {
    let fetch = Instruction { offset: Offset::Immediate([-8, 7, 1]), ..instruction(TextureOp::Fetch, Dimension::D3) };
    let expected = [[-8; 4], [7; 4], [1; 4]];
    assert_eq!(fetched(fetch, Dimensions::D3, false).0.offset, expected);
    let register = Coordinates { register: TextureRegister::Full(1), swizzle: Swizzle::IDENTITY };
    let sample = Instruction { offset: Offset::Register(register), ..instruction(TextureOp::Sample, Dimension::D2) };
    let expected = [0, 1, 2].map(|component| of(1, component).map(|word| word as i32));
    assert_eq!(fetched(sample, Dimensions::D2, false).0.offset, expected);
}

/// The first lane that executes a fetch states the texture; a texture without an entry has the dimensions of the
/// entry before it.
#[test]
fn textures_in_registers() {
    let texture = Handle::Register(select(3));
    let (found, _) =
        fetched(Instruction { texture, ..instruction(TextureOp::Sample, Dimension::D1) }, Dimensions::D2, true);
    assert_eq!((found.texture, found.dim, found.is_array), (word(1, 3, 0), SamplerDim::Dim2D, true));
}
