//! Instructions of the texture unit on quads.

use super::support::{World, alu, f, floats, load_store, r, run, simulate, simulate_on, vector, words};
use tgsi_driver_midgard::isa::alu::{AluBundle, AluOp::*, Branch, BranchOp, Clamp, Condition};
use tgsi_driver_midgard::isa::load_store::{LoadStore, LoadStoreOp, Operand};
use tgsi_driver_midgard::isa::texture::{
    Axis, Coordinates, Dimension, Handle, Lod, Mode, Offset, PartialExecution, SamplerType, Select, Texture,
    TextureMode, TextureOp, TextureRegister,
};
use tgsi_driver_midgard::isa::{Body, Chip, LoadStoreRegister, Swizzle, Tag};
use tgsi_driver_midgard::simulator::{Derivatives, Launch, Trap};

use pretty_assertions::assert_eq;

/// Copies r1 and r2 to the operands of the unit.
fn operands() -> [Body; 2] {
    [alu(vector(Imov, 28, 24, 1)), alu(vector(Imov, 29, 24, 2))]
}

fn with(texture: Texture) -> Vec<Body> {
    let result = alu(vector(Imov, 0, 24, 28));
    operands().into_iter().chain([Body::Texture(texture), result]).collect()
}

/// A quad with r1 = (lane, lane², 7, 8) and r2 as given.
fn quad(second: [u32; 4]) -> World {
    let mut world = World::with(&[(2, second)]);
    world.of_lanes = (0..4).map(|lane| (lane, 1, floats([lane as f32, (lane * lane) as f32, 7.0, 8.0]))).collect();
    world
}

fn select(component: u8) -> Select {
    Select { register: TextureRegister::Full(1), component }
}

#[test]
fn samples() {
    let mut world = quad([f(2.5), 0, 0, 0]);
    let mut texture = Texture::new(TextureOp::Sample, 3, 5);
    texture.coordinates.swizzle = Swizzle::new([1, 0, 2, 3]);
    texture.lod = Lod::Immediate { fraction: 64, integer: -2 };
    texture.swizzle = Swizzle::new([1, 2, 3, 0]);
    let found = simulate(&with(texture), &Launch::default(), &mut world).unwrap();
    assert_eq!([2, 3].map(|lane| words(&found, lane, 0)), [[3, 5, 2, f(4.0)], [3, 5, 3, f(9.0)]]);
    let fetch = &world.fetches[0];
    assert_eq!((fetch.op, fetch.mode, fetch.dimension), (TextureOp::Sample, TextureMode::Normal, Dimension::D2));
    assert_eq!(fetch.lanes[2].coordinates, floats([4.0, 2.0, 7.0, 8.0]));
    assert_eq!((fetch.lanes[1].lod, fetch.lanes[1].offset), (f(-1.75), [0; 3]));
    texture.op = TextureOp::SampleGradient;
    texture.lod = Lod::Register(select(0));
    texture.mode = Mode::Texture(TextureMode::GatherZ);
    texture.offset = Offset::Immediate([1, 2, 3]);
    simulate(&with(texture), &Launch::default(), &mut world).unwrap();
    let fetch = &world.fetches[1];
    assert_eq!((fetch.mode, fetch.lanes[0].lod, fetch.lanes[0].offset), (TextureMode::GatherZ, f(2.5), [1, 2, 3]));
}

#[test]
fn fetches_have_integers() {
    let mut world = quad([3, -4_i32 as u32, 5, 0]);
    world.of_lanes = vec![(0, 1, [1, 2, 3, 4])];
    let mut texture = Texture::new(TextureOp::Fetch, 0, 0);
    texture.sampler_type = Some(SamplerType::Signed);
    texture.lod = Lod::Register(select(0));
    texture.offset =
        Offset::Register(Coordinates { register: TextureRegister::Full(1), swizzle: Swizzle::new([0, 1, 2, 2]) });
    simulate(&with(texture), &Launch::default(), &mut world).unwrap();
    let lane = world.fetches[0].lanes[0];
    assert_eq!((lane.coordinates, lane.lod, lane.offset), ([1, 2, 3, 4], 3, [3, -4, 5]));
    texture.lod = Lod::Immediate { fraction: 7, integer: 0 };
    simulate(&with(texture), &Launch::default(), &mut world).unwrap();
    assert_eq!(world.fetches[1].lanes[0].lod, 7);
}

#[test]
fn halves() {
    let mut world = quad([0; 4]);
    world.of_lanes = vec![(0, 1, [0, 0, 0x4000_3c00, 0xbc00_3800])];
    let mut texture = Texture::new(TextureOp::Sample, 0, 0);
    texture.coordinates.register = TextureRegister::Upper(0);
    texture.destination = TextureRegister::Upper(0);
    texture.swizzle = Swizzle::new([0; 4]);
    texture.mask = 0b0101;
    let found = simulate(&with(texture), &Launch::default(), &mut world).unwrap();
    assert_eq!(world.fetches[0].lanes[0].coordinates, floats([1.0, 2.0, 0.5, -1.0]));
    assert_eq!(words(&found, 0, 0), [0, 0, 0x3c00, 0x3c00]);
}

#[test]
fn results_are_limited() {
    let mut world = quad([0; 4]);
    let mut texture = Texture::new(TextureOp::Sample, 0, 0);
    texture.swizzle = Swizzle::new([0; 4]);
    texture.clamp = Clamp::Unit;
    let found = simulate(&with(texture), &Launch::default(), &mut world).unwrap();
    assert_eq!([0, 1, 2].map(|lane| words(&found, lane, 0)[0]), [0.0, 1.0, 1.0].map(f));
}

/// Threads with other textures are separate fetches of the same quad.
#[test]
fn textures_in_registers() {
    let mut world = quad([0; 4]);
    world.of_lanes.extend((0..4).map(|lane| (lane, 2, [lane as u32 % 2, 9, 0, 0])));
    let mut texture = Texture::new(TextureOp::Sample, 0, 0);
    texture.texture = Handle::Register(select(0));
    texture.sampler = Handle::Register(select(1));
    let found = simulate(&with(texture), &Launch::default(), &mut world).unwrap();
    let active: Vec<_> = world.fetches.iter().map(|fetch| fetch.lanes.map(|lane| lane.is_active)).collect();
    assert_eq!(active, [[true, false, true, false], [false, true, false, true]]);
    assert_eq!(world.fetches[1].lanes[0].coordinates[1], f(0.0));
    assert_eq!([1, 2].map(|lane| words(&found, lane, 0)[1..3].to_vec()), [[1, 9], [0, 9]]);
}

#[test]
fn derivatives() {
    let derivative = |axis, derivatives| {
        let texture = Texture { mode: Mode::Derivative(axis), ..Texture::new(TextureOp::Derivative, 0, 0) };
        let launch = Launch { derivatives, ..Launch::default() };
        let found = simulate(&with(texture), &launch, &mut quad([0; 4])).unwrap();
        [0, 1, 2, 3].map(|lane| [0, 1].map(|component| f32::from_bits(words(&found, lane, 0)[component])))
    };
    assert_eq!(derivative(Axis::X, Derivatives::Quad), [[1.0, 5.0]; 4]);
    assert_eq!(derivative(Axis::Y, Derivatives::Quad), [[2.0, 4.0]; 4]);
    assert_eq!(derivative(Axis::X, Derivatives::Line), [[1.0, 1.0], [1.0, 1.0], [1.0, 5.0], [1.0, 5.0]]);
    assert_eq!(derivative(Axis::Y, Derivatives::Line), [[2.0, 4.0], [2.0, 8.0], [2.0, 4.0], [2.0, 8.0]]);
}

/// A cube's coordinates come from the load/store unit.
#[test]
fn cubes() {
    let mut world = World::with(&[(26, floats([-4.0, 1.0, 2.0, 0.0]))]);
    let argument = Operand { register: LoadStoreRegister::L0, component: 0 };
    let cubemap = LoadStore { argument, is_wide: true, mask: 3, ..LoadStore::new(LoadStoreOp::Cubemap, r(28)) };
    let texture = Texture { dimension: Dimension::Cube, ..Texture::new(TextureOp::SampleGradient, 0, 0) };
    run(&[load_store(cubemap), Body::Texture(texture)], &mut world).unwrap();
    let lane = world.fetches[0].lanes[0];
    assert_eq!((lane.face, lane.direction), (1, [-4.0, 1.0, 2.0]));
    assert_eq!(lane.coordinates[..2], [0.75, 0.375].map(f));
    // Other words are a direction to the same place of the face.
    let texture = [Body::Texture(texture)];
    world.registers.clear();
    run(&texture, &mut world).unwrap();
    assert_eq!((world.fetches[1].lanes[0].face, world.fetches[1].lanes[0].direction), (0, [1.0, 1.0, 1.0]));
}

/// On small chips the unit reads r26 and r27, and writes r0 and r1.
#[test]
fn aliased_registers() {
    let mut world = World::with(&[(26, floats([3.0, 4.0, 0.0, 0.0]))]);
    let bodies = [Body::Texture(Texture::new(TextureOp::Sample, 6, 7))];
    let launch = Launch { lanes: 1, ..Launch::default() };
    let found = simulate_on(Chip::T720, &bodies, &launch, &mut world).unwrap();
    assert_eq!(words(&found, 0, 0), [f(3.0), 6, 7, 0]);
    let found = simulate_on(Chip::T760, &bodies, &launch, &mut world).unwrap();
    assert_eq!((words(&found, 0, 0), words(&found, 0, 28)), ([0; 4], [0, 6, 7, 0]));
}

/// Helpers take part, skip the operation or end after it.
#[test]
fn helpers() {
    let executed = |execution| {
        let texture = Texture { execution, ..Texture::new(TextureOp::Sample, 1, 1) };
        let launch = Launch { helpers: &[false, true, false, false], ..Launch::default() };
        let found = simulate(&with(texture), &launch, &mut quad([0; 4])).unwrap();
        [0, 1].map(|lane| words(&found, lane, 0)[1])
    };
    assert_eq!(executed(PartialExecution::None), [1, 1]);
    assert_eq!(executed(PartialExecution::Skip), [1, 0]);
    assert_eq!(executed(PartialExecution::Kill), [1, 0]);
}

/// Threads that branched around a fetch still have operands in the quad.
#[test]
fn divergent_quads() {
    let mut world = quad([0; 4]);
    let mut bundle =
        AluBundle { smul: Some(super::support::scalar(Fmov, (31, 3), (24, 0), (1, 0))), ..Default::default() };
    let condition = Condition::True;
    bundle.branch = Some(Branch::Conditional { op: BranchOp::Conditional, condition, target: Tag::Alu4, offset: 1 });
    let [first, second] = operands();
    let bodies = [
        first,
        second,
        Body::Alu(bundle),
        Body::Texture(Texture::new(TextureOp::Sample, 1, 1)),
        alu(vector(Imov, 0, 24, 28)),
    ];
    let found = simulate(&bodies, &Launch::default(), &mut world).unwrap();
    assert_eq!([0, 1].map(|lane| words(&found, lane, 0)[1]), [1, 0]);
    assert_eq!(world.fetches[0].lanes.map(|lane| lane.is_active), [true, false, false, false]);
    assert_eq!(world.fetches[0].lanes[3].coordinates[1], f(9.0));
}

#[test]
fn other_operations() {
    let mut texture = Texture::new(TextureOp::Move, 0, 0);
    texture.coordinates.swizzle = Swizzle::new([3, 2, 1, 0]);
    let found = simulate(&with(texture), &Launch::default(), &mut quad([0; 4])).unwrap();
    assert_eq!(words(&found, 2, 0), floats([8.0, 7.0, 4.0, 2.0]));
    for op in [TextureOp::GradientFromDerivative, TextureOp::GradientFromCoordinates] {
        let found = simulate(&with(Texture::new(op, 0, 0)), &Launch::default(), &mut quad([0; 4]));
        assert_eq!(found, Err(Trap::Undefined(2, op.name())));
    }
}
