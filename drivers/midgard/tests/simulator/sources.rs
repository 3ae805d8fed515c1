//! Sources and masks: swizzles, halves, expansion, stages and registers.

use super::support::{World, alu, constant, on, r, result, run, scalar, simulate, source, vector, words};
use tgsi_driver_midgard::isa::alu::{
    AluBundle, AluOp::*, Expand, Extension, SourceModifier, Unit, Vector, VectorOperand, VectorSource,
};
use tgsi_driver_midgard::isa::{Body, Register, Swizzle, Width};
use tgsi_driver_midgard::simulator::{Launch, Trap};

use pretty_assertions::assert_eq;

/// A copy of r1 in a width.
fn copy(width: Width, expand: Expand, extension: Extension, swizzle: [u8; 4]) -> [u32; 4] {
    let bytes: Vec<u8> = (0..16).map(|byte| byte + if byte % 2 == 1 { 0x80 } else { 0x10 }).collect();
    let register: Vec<u32> = bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    let mut world = World::with(&[(1, register.try_into().unwrap())]);
    let second = VectorSource {
        register: r(1),
        modifier: SourceModifier::Integer(extension),
        expand,
        swizzle: Swizzle::new(swizzle),
    };
    let instruction = Vector { width, second: VectorOperand::Source(second), ..vector(Imov, 0, 24, 1) };
    result(&[alu(instruction)], &mut world, 0)
}

/// Bytes of the source are 10, 81, 12, 83, ... 1e, 8f.
#[test]
fn swizzles_and_halves() {
    use Expand::*;
    use Extension::{Replicate, ShiftLeft, Signed, Zero};
    let same = [0, 1, 2, 3];
    let rows = [
        (Width::W32, None, Zero, [3, 0, 1, 2], [0x8f1e_8d1c, 0x8312_8110, 0x8716_8514, 0x8b1a_8918]),
        (Width::W32, Low, Zero, same, [0x8110, 0x8312, 0x8514, 0x8716]),
        (Width::W32, High, Signed, [3, 3, 0, 0], [0xffff_8f1e, 0xffff_8f1e, 0xffff_8918, 0xffff_8918]),
        (Width::W32, Low, Replicate, same, [0x8110_8110, 0x8312_8312, 0x8514_8514, 0x8716_8716]),
        (Width::W32, Low, ShiftLeft, same, [0x8110_0000, 0x8312_0000, 0x8514_0000, 0x8716_0000]),
        (Width::W16, None, Zero, [1, 0, 3, 2], [0x8110_8312, 0x8514_8716, 0x8918_8b1a, 0x8d1c_8f1e]),
        (Width::W16, ReplicateLow, Zero, same, [0x8312_8110, 0x8716_8514, 0x8312_8110, 0x8716_8514]),
        (Width::W16, ReplicateHigh, Zero, same, [0x8b1a_8918, 0x8f1e_8d1c, 0x8b1a_8918, 0x8f1e_8d1c]),
        (Width::W16, Swap, Zero, same, [0x8b1a_8918, 0x8f1e_8d1c, 0x8312_8110, 0x8716_8514]),
        (Width::W16, Low, Zero, same, [0x0081_0010, 0x0083_0012, 0x0085_0014, 0x0087_0016]),
        (Width::W16, High, Signed, same, [0xff89_0018, 0xff8b_001a, 0xff8d_001c, 0xff8f_001e]),
        (Width::W16, LowSwap, Zero, same, [0x0085_0014, 0x0087_0016, 0x0081_0010, 0x0083_0012]),
        (Width::W16, HighSwap, Zero, same, [0x008d_001c, 0x008f_001e, 0x0089_0018, 0x008b_001a]),
        (Width::W8, None, Zero, [1, 0, 3, 2], [0x8110_8312, 0x8514_8716, 0x8918_8b1a, 0x8d1c_8f1e]),
        (Width::W8, Swap, Zero, same, [0x8b1a_8918, 0x8f1e_8d1c, 0x8312_8110, 0x8716_8514]),
        (Width::W64, None, Zero, [2, 3, 0, 1], [0x8b1a_8918, 0x8f1e_8d1c, 0x8312_8110, 0x8716_8514]),
        (Width::W64, Low, Zero, same, [0x8312_8110, 0, 0x8716_8514, 0]),
        (Width::W64, High, Signed, [2, 3, 0, 1], [0x8f1e_8d1c, u32::MAX, 0x8b1a_8918, u32::MAX]),
    ];
    for (width, expand, extension, swizzle, expected) in rows {
        assert_eq!(copy(width, expand, extension, swizzle), expected, "{width:?} {expand:?}");
    }
}

#[test]
fn floats_expand() {
    let mut world = World::with(&[(1, [0x4000_3c00, 0x0001_fc00, 0, 0])]);
    let mut instruction = vector(Fmov, 0, 24, 1);
    instruction.second = VectorSource { expand: Expand::Low, ..source(Fmov, 1) }.into();
    let found = result(&[alu(instruction)], &mut world, 0).map(f32::from_bits);
    assert_eq!(found, [1.0, 2.0, f32::NEG_INFINITY, 2_f32.powi(-24)]);
    world.registers = vec![(1, [1.5_f32.to_bits(), (-0.25_f32).to_bits(), 0, 0])];
    instruction.width = Width::W64;
    let [a, b, c, d] = result(&[alu(instruction)], &mut world, 0).map(u64::from);
    assert_eq!([a | b << 32, c | d << 32].map(f64::from_bits), [1.5, -0.25]);
}

#[test]
fn masks_select_components() {
    let mut world = World::with(&[(0, [1; 4]), (1, [0x1234_5678; 4])]);
    let mut masked = |width, mask| result(&[alu(Vector { width, mask, ..vector(Imov, 0, 24, 1) })], &mut world, 0);
    assert_eq!(masked(Width::W32, 0xc3), [0x1234_5678, 1, 1, 0x1234_5678]);
    assert_eq!(masked(Width::W16, 0x05), [0x5678, 0x5678, 1, 1].map(|low| low & 0xffff));
    assert_eq!(masked(Width::W64, 0xf0), [1, 1, 0x1234_5678, 0x1234_5678]);
    assert_eq!(masked(Width::W8, 0x02), [0x1234_0001, 1, 1, 1]);
}

/// The second stage reads results of the first one; the units of a stage read the registers before it.
#[test]
fn stages() {
    let mut bundle = on(Unit::Vmul, vector(Imov, 1, 24, 2));
    bundle.sadd = Some(scalar(Iadd, (3, 0), (1, 0), (1, 0)));
    bundle.vadd = Some(vector(Iadd, 4, 1, 3));
    bundle.smul = Some(scalar(Imov, (1, 1), (24, 0), (4, 0)));
    let mut world = World::with(&[(1, [10; 4]), (2, [1; 4]), (4, [7; 4])]);
    let found = run(&[Body::Alu(bundle)], &mut world).unwrap();
    assert_eq!([1, 3, 4].map(|number| words(&found, 0, number)), [[1, 7, 1, 1], [20, 0, 0, 0], [21, 1, 1, 1]]);
}

#[test]
fn pipeline_registers_last_for_a_bundle() {
    let mut bundle = on(Unit::Vmul, vector(Iadd, 24, 1, 1));
    bundle.sadd = Some(scalar(Imov, (25, 2), (24, 0), (2, 0)));
    bundle.vadd = Some(vector(Iadd, 0, 24, 25));
    let mut world = World::with(&[(1, [1, 2, 3, 4]), (2, [100; 4])]);
    assert_eq!(result(&[Body::Alu(bundle)], &mut world, 0), [2, 4, 106, 8]);
    let next = alu(vector(Iadd, 0, 24, 25));
    assert_eq!(result(&[Body::Alu(bundle), next], &mut world, 0), [0; 4]);
}

#[test]
fn constants_and_uniforms() {
    assert_eq!(result(&[constant(3, [1, 2, 3, 4])], &mut World::default(), 3), [1, 2, 3, 4]);
    let launch = Launch { lanes: 1, uniforms: &[[1; 4], [2; 4], [3; 4]], work_registers: 8, ..Launch::default() };
    let sum = |a, b| simulate(&[alu(vector(Iadd, 0, a, b))], &launch, &mut World::default());
    assert_eq!(words(&sum(23, 21).unwrap(), 0, 0), [4; 4]);
    assert_eq!(sum(20, 21), Err(Trap::Register(0, 20)));
    assert_eq!(sum(8, 21), Err(Trap::Register(0, 8)));
    let written = simulate(&[alu(vector(Iadd, 8, 23, 23))], &launch, &mut World::default());
    assert_eq!(written, Err(Trap::Register(0, 8)));
}

#[test]
fn registers_that_are_not_available() {
    for (destination, register) in [(30, 1), (0, 27), (0, 30), (16, 1)] {
        let found = run(&[alu(vector(Imov, destination, 24, register))], &mut World::default());
        let number = if destination == 0 { register } else { destination };
        assert_eq!(found, Err(Trap::Register(0, number)));
    }
    assert_eq!(Register::UNUSED, r(24));
}

/// r31 is the address of the next bundle and the stack pointer, until a unit writes it.
#[test]
fn program_counter() {
    let bundles = [alu(vector(Imov, 5, 24, 5)), alu(vector(Imov, 0, 24, 31))];
    assert_eq!(result(&bundles, &mut World::default(), 0), [0x1020, 1, 0x2000, 0]);
    assert_eq!(AluBundle::default().quadwords(), 1);
}
