//! Texture instructions on quads.

use super::support::{World, alu, f, floats, simulate, simulate_on, vector, words};
use tgsi_driver_midgard::isa::alu::AluOp::*;
use tgsi_driver_midgard::isa::texture::{
    Axis, Coordinates, Handle, Lod, Mode, Offset, Select, Texture, TextureMode, TextureOp, TextureRegister,
};
use tgsi_driver_midgard::isa::{Body, Chip, Swizzle};
use tgsi_driver_midgard::simulator::{Derivatives, Launch};

use pretty_assertions::assert_eq;

/// Copies r1 to the first operand and r2 to the second, executes an instruction, and copies the result to r0.
fn around(texture: Texture) -> [Body; 4] {
    let copy = |to, from| alu(vector(Imov, to, 24, from));
    [copy(28, 1), copy(29, 2), Body::Texture(texture), copy(0, 28)]
}

/// Threads whose r1 is (lane, 10 lane, 3, 4).
fn world() -> World {
    let mut world = World::with(&[(2, floats([2.5, 1.0, 0.0, 0.0]))]);
    let value = |lane: usize| floats([lane as f32, 10.0 * lane as f32, 3.0, 4.0]);
    world.of_lanes = (0..4).map(|lane| (lane, 1, value(lane))).collect();
    world
}

#[test]
fn samples() {
    let mut world = world();
    let result = simulate(&around(Texture::new(TextureOp::Sample, 5, 6)), &Launch::default(), &mut world).unwrap();
    for lane in 0..4 {
        assert_eq!(words(&result, lane, 0), [f(lane as f32), 5, 6, lane as u32]);
    }
    assert_eq!(world.fetches.len(), 1);
    let fetch = &world.fetches[0];
    assert_eq!((fetch.op, fetch.mode), (TextureOp::Sample, TextureMode::Normal));
    assert_eq!(fetch.lanes[3].coordinates, floats([3.0, 30.0, 3.0, 4.0]));
    assert!(fetch.lanes.iter().all(|lane| lane.is_active));
}

#[test]
fn operands() {
    let mut world = world();
    let texture = Texture {
        mode: Mode::Texture(TextureMode::Shadow),
        coordinates: Coordinates { register: TextureRegister::Full(0), swizzle: Swizzle::new([1, 0, 3, 2]) },
        lod: Lod::Register(Select { register: TextureRegister::Full(1), component: 0 }),
        offset: Offset::Immediate([1, 2, 3]),
        mask: 0b0101,
        swizzle: Swizzle::new([3, 0, 1, 2]),
        ..Texture::new(TextureOp::SampleGradient, 1, 2)
    };
    let result = simulate(&around(texture), &Launch::default(), &mut world).unwrap();
    let lane = &world.fetches[0].lanes[2];
    assert_eq!(lane.coordinates, floats([20.0, 2.0, 4.0, 3.0]));
    assert_eq!((f32::from_bits(lane.lod), lane.offset), (2.5, [1, 2, 3]));
    assert_eq!([words(&result, 2, 0)[0], words(&result, 2, 0)[2]], [2, 1]);
    let lod = Lod::Immediate { fraction: 0x40, integer: -2 };
    let mut world = super::texture::world();
    let texture = Texture { lod, ..Texture::new(TextureOp::Sample, 0, 0) };
    simulate(&around(texture), &Launch::default(), &mut world).unwrap();
    assert_eq!(f32::from_bits(world.fetches[0].lanes[0].lod), -1.75);
}

/// Threads with different textures are fetched one texture at a time.
#[test]
fn texture_numbers_in_registers() {
    let mut world = world();
    world.of_lanes.extend((0..4).map(|lane| (lane, 2, [lane as u32 / 2; 4])));
    let select = Select { register: TextureRegister::Full(1), component: 0 };
    let texture = Texture { texture: Handle::Register(select), ..Texture::new(TextureOp::Sample, 0, 0) };
    let result = simulate(&around(texture), &Launch::default(), &mut world).unwrap();
    let active: Vec<_> = world.fetches.iter().map(|fetch| fetch.lanes.map(|lane| lane.is_active)).collect();
    assert_eq!(active, [[true, true, false, false], [false, false, true, true]]);
    assert_eq!([0, 1, 2, 3].map(|lane| words(&result, lane, 0)[1]), [0, 0, 1, 1]);
}

#[test]
fn derivatives() {
    let mut world = world();
    // r1.x = lane squared.
    world.of_lanes.iter_mut().for_each(|(lane, _, value)| value[0] = f((*lane * *lane) as f32));
    for (axis, kind, expected) in [
        (Axis::X, Derivatives::Quad, [5.0; 4]),
        (Axis::Y, Derivatives::Quad, [4.0; 4]),
        (Axis::X, Derivatives::Line, [1.0, 1.0, 5.0, 5.0]),
        (Axis::Y, Derivatives::Line, [4.0, 8.0, 4.0, 8.0]),
    ] {
        let texture = Texture { mode: Mode::Derivative(axis), mask: 3, ..Texture::new(TextureOp::Derivative, 0, 0) };
        let launch = Launch { derivatives: kind, ..Launch::default() };
        let result = simulate(&around(texture), &launch, &mut world).unwrap();
        let found = [0, 1, 2, 3].map(|lane| f32::from_bits(words(&result, lane, 0)[0]));
        assert_eq!(found, expected, "{axis:?}, {kind:?}");
    }
}

/// On small chips, operands are r26 and r27, and results r0 and r1.
#[test]
fn aliased_registers() {
    let mut world = world();
    let bodies = [alu(vector(Imov, 26, 24, 1)), Body::Texture(Texture::new(TextureOp::Sample, 5, 6))];
    let result = simulate_on(Chip::T720, &bodies, &Launch::default(), &mut world).unwrap();
    assert_eq!(words(&result, 3, 0), [f(3.0), 5, 6, 3]);
}
