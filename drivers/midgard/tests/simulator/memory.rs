//! Load/store instructions.

use super::support::{World, f, floats, load_store, r, result, run, simulate, words};
use tgsi_driver_midgard::isa::load_store::{IndexFormat, LoadStore, LoadStoreBundle, LoadStoreOp::*, Operand};
use tgsi_driver_midgard::isa::{Body, LoadStoreRegister as L, Swizzle};
use tgsi_driver_midgard::simulator::{Format, ImageAccess, Launch, Trap};

use pretty_assertions::assert_eq;

fn operand(register: L, component: u8) -> Operand {
    Operand { register, component }
}

/// An access to the address in r26.xy.
fn access(op: tgsi_driver_midgard::isa::load_store::LoadStoreOp, register: u8) -> LoadStore {
    LoadStore { argument: operand(L::L0, 0), is_wide: true, ..LoadStore::new(op, r(register)) }
}

fn world() -> World {
    let mut world = World::with(&[(26, [0x100, 0, 5, -2_i32 as u32]), (27, [0x8182_8384, 2, 3, 0xf1f2_f3f4])]);
    for (address, word) in (0x100..).step_by(4).zip([0x8081_8283, 0x1122_3344, 0x5566_7788, 0x99aa_bbcc]) {
        world.set_word(address, word);
    }
    world
}

#[test]
fn loads_of_all_sizes() {
    let all = [0x8081_8283, 0x1122_3344, 0x5566_7788, 0x99aa_bbcc];
    let rows = [
        (LdU8, [0x83, 0, 0, 0]),
        (LdI8, [0xffff_ff83, 0, 0, 0]),
        (LdU16, [0x8283, 0, 0, 0]),
        (LdI16, [0xffff_8283, 0, 0, 0]),
        (LdU16Be, [0x8382, 0, 0, 0]),
        (LdI16Be, [0xffff_8382, 0, 0, 0]),
        (Ld32, [all[0], 0, 0, 0]),
        (Ld32Bswap2, [0x8180_8382, 0, 0, 0]),
        (Ld32Bswap4, [0x8382_8180, 0, 0, 0]),
        (Ld64, [all[0], all[1], 0, 0]),
        (Ld64Bswap2, [0x8180_8382, 0x2211_4433, 0, 0]),
        (Ld64Bswap4, [0x8382_8180, 0x4433_2211, 0, 0]),
        (Ld64Bswap8, [0x4433_2211, 0x8382_8180, 0, 0]),
        (Ld128, all),
        (Ld128Bswap2, [0x8180_8382, 0x2211_4433, 0x6655_8877, 0xaa99_ccbb]),
        (Ld128Bswap4, [0x8382_8180, 0x4433_2211, 0x8877_6655, 0xccbb_aa99]),
        (Ld128Bswap8, [0x4433_2211, 0x8382_8180, 0xccbb_aa99, 0x8877_6655]),
    ];
    for (op, expected) in rows {
        assert_eq!(result(&[load_store(access(op, 0))], &mut world(), 0), expected, "{op:?}");
    }
    let instruction = LoadStore { mask: 0b1010, swizzle: Swizzle::new([0, 3, 0, 1]), ..access(Ld128, 0) };
    assert_eq!(result(&[load_store(instruction)], &mut world(), 0), [0, all[3], 0, all[1]]);
}

#[test]
fn stores_of_all_sizes() {
    let rows = [
        (StU8, 15, [0x8081_8284, 0x1122_3344]),
        (StI16, 15, [0x8081_8384, 0x1122_3344]),
        (StU16Be, 15, [0x8081_8483, 0x1122_3344]),
        (St32, 15, [0x8182_8384, 0x1122_3344]),
        (St32, 0b0101, [0x8082_8284, 0x1122_3344]),
        (St32Bswap4, 15, [0x8483_8281, 0x1122_3344]),
        (St64, 15, [0x8182_8384, 2]),
        (St64, 0b0110, [0x8182_8283, 0x1122_0002]),
        (St64Bswap2, 15, [0x8281_8483, 0x0000_0200]),
        (St128, 0b0010, [0x8081_8283, 2]),
        (St128, 15, [0x8182_8384, 2]),
    ];
    for (op, mask, expected) in rows {
        let mut world = world();
        run(&[load_store(LoadStore { mask, ..access(op, 1) })], &mut world).unwrap();
        assert_eq!([world.word(0x100), world.word(0x104)], expected, "{op:?}");
    }
    let mut world = world();
    run(&[load_store(LoadStore { swizzle: Swizzle::new([3, 2, 1, 0]), ..access(St128, 1) })], &mut world).unwrap();
    assert_eq!([0x100, 0x104, 0x108, 0x10c].map(|address| world.word(address)), [0xf1f2_f3f4, 3, 2, 0x8182_8384]);
}

#[test]
fn addresses() {
    let lea = |instruction| {
        let [low, high, ..] = result(&[load_store(instruction)], &mut world(), 0);
        u64::from(low) | u64::from(high) << 32
    };
    let base = access(Lea, 0);
    let with = |index_format, component, shift, offset| LoadStore {
        index: operand(L::L0, component),
        index_format,
        shift,
        offset,
        ..base
    };
    assert_eq!(lea(base), 0x100);
    assert_eq!(lea(LoadStore { offset: -16, ..base }), 0xf0);
    assert_eq!(lea(with(IndexFormat::U32, 2, 3, 1)), 0x129);
    assert_eq!(lea(with(IndexFormat::S32, 3, 2, 0)), 0xf8);
    assert_eq!(lea(with(IndexFormat::U32, 3, 0, 0)), 0x1_0000_00fe);
    assert_eq!(lea(with(IndexFormat::U64, 2, 0, 0)), 0xffff_fffe_0000_0105);
    assert_eq!(lea(LoadStore { is_wide: false, ..with(IndexFormat::S32, 3, 0, 0) }), 0xfe);
    assert_eq!(lea(LoadStore { argument: operand(L::LocalStorage, 2), offset: 8, ..base }), 0x4008);
    assert_eq!(lea(LoadStore { argument: operand(L::ProgramCounter, 2), ..base }), 0x2000);
    assert_eq!(lea(LoadStore { argument: Operand::ZERO, ..base }), 0);
    let invalid = run(&[load_store(LoadStore { offset: 0x1000, ..access(Ld32, 0) })], &mut world());
    assert_eq!(invalid, Err(Trap::Memory(0, 0x1100)));
}

#[test]
fn atomic_operations() {
    // Memory has 0x80818283, the operand is r27.y = 2 or r27.w = 0xf1f2f3f4.
    let old = 0x8081_8283;
    let rows = [
        (AtomicAdd, 1, old, 0x8081_8285),
        (AtomicAnd, 1, old, 2),
        (AtomicOr, 3, old, 0xf1f3_f3f7),
        (AtomicXor, 1, old, 0x8081_8281),
        (AtomicImin, 1, old, old),
        (AtomicUmin, 1, old, 2),
        (AtomicImax, 1, old, 2),
        (AtomicUmax, 1, old, old),
        (AtomicXchg, 3, old, 0xf1f2_f3f4),
        (AtomicAddBe, 1, 0x8382_8180, 0x8281_8283),
    ];
    for (op, component, old, new) in rows {
        let mut world = world();
        let swizzle = Swizzle(component | 1 << 2);
        let found = result(&[load_store(LoadStore { swizzle, ..access(op, 0) })], &mut world, 0);
        assert_eq!((found, world.word(0x100)), ([old; 4], new), "{op:?}");
    }
}

#[test]
fn compare_and_exchange() {
    for (compared, expected) in [(5, 0x8081_8283), (0x8081_8283, 2)] {
        let mut world = world();
        world.registers[0].1[2] = compared;
        let instruction = LoadStore {
            index: operand(L::L0, 2),
            index_format: IndexFormat::U64,
            swizzle: Swizzle(1 | 1 << 2),
            ..access(AtomicCmpxchg, 0)
        };
        assert_eq!(result(&[load_store(instruction)], &mut world, 0), [0x8081_8283; 4]);
        assert_eq!(world.word(0x100), expected);
    }
}

#[test]
fn atomic_operations_of_64_bits() {
    let mut world = world();
    let instruction = LoadStore { swizzle: Swizzle(1 << 2), ..access(AtomicAdd64, 0) };
    assert_eq!(result(&[load_store(instruction)], &mut world, 0)[..2], [0x8081_8283, 0x1122_3344]);
    assert_eq!([world.word(0x100), world.word(0x104)], [0x0204_0607, 0x1122_3347]);
}

/// Threads execute atomic operations in sequence; those of helpers have no effect and give 0.
#[test]
fn atomic_operations_of_threads() {
    let mut world = world();
    world.set_word(0x100, 0);
    let launch = Launch { helpers: &[false, true], ..Launch::default() };
    let instruction = LoadStore { swizzle: Swizzle(1 | 1 << 2), ..access(AtomicAdd, 0) };
    let found = simulate(&[load_store(instruction)], &launch, &mut world).unwrap();
    assert_eq!(([0, 1, 2, 3].map(|lane| words(&found, lane, 0)[0]), world.word(0x100)), ([0, 0, 2, 4], 6));
}

#[test]
fn uniform_buffers() {
    let mut world = world();
    world.uniforms = (0..64).map(|word| 0x8000_0080 + word).collect();
    // Buffer 2 begins with word 32; the number of the buffer is in fields of the argument.
    let load = |op, offset: i32| LoadStore {
        argument: operand(L::L0, 2),
        offset: offset << 2 | 1,
        ..LoadStore::new(op, r(0))
    };
    let mut loaded = |instruction| result(&[load_store(instruction)], &mut world, 0);
    assert_eq!(loaded(load(LdUbo128, 16)), [0x8000_00a4, 0x8000_00a5, 0x8000_00a6, 0x8000_00a7]);
    assert_eq!(loaded(load(LdUbo64, 4)), [0x8000_00a1, 0x8000_00a2, 0, 0]);
    assert_eq!(loaded(load(LdUbo32, 4)), [0x8000_00a1, 0, 0, 0]);
    assert_eq!(loaded(load(LdUboU16, 6)), [0x8000, 0, 0, 0]);
    assert_eq!(loaded(load(LdUboI8, 4)), [0xffff_ffa1, 0, 0, 0]);
    assert_eq!(loaded(load(LdUbo32Bswap4, 0)), [0xa000_0080, 0, 0, 0]);
    // r26.z is 5.
    let indexed = LoadStore { index: operand(L::L0, 2), shift: 2, ..load(LdUbo32, -4) };
    assert_eq!(loaded(indexed), [0x8000_00a4, 0, 0, 0]);
    // The number of the buffer is in r27.y.
    let buffer = LoadStore { argument: operand(L::L1, 1), ..LoadStore::new(LdUbo32, r(0)) };
    assert_eq!(loaded(buffer), [0x8000_00a0, 0, 0, 0]);
    assert_eq!(loaded(load(LdUbo32, 4000)), [0; 4]);
}

#[test]
fn attributes() {
    let mut world = world();
    world.value = floats([1.0, 2.0, 0.5, -1.0]);
    let load = |op| LoadStore { offset: 16 << 9, ..LoadStore::new(op, r(0)) };
    assert_eq!(result(&[load_store(load(LdAttrF32))], &mut world, 0), world.value);
    assert_eq!(result(&[load_store(load(LdAttrF16))], &mut world, 0), [0x4000_3c00, 0xbc00_3800, 0, 0]);
    let explicit = LoadStore {
        argument: operand(L::L0, 2),
        is_wide: true,
        index: operand(L::L1, 1),
        offset: 3 << 9 | 0x1ff,
        ..LoadStore::new(LdAttrS32, r(0))
    };
    run(&[load_store(explicit)], &mut world).unwrap();
    let found: Vec<_> = world.attributes.iter().map(|load| (load.index, load.vertex, load.format)).collect();
    assert_eq!(found, [(16, None, Format::F32), (16, None, Format::F16), (5, Some(4), Format::S32)]);
}

#[test]
fn varyings() {
    let mut world = world();
    world.value = floats([1.0, 2.0, 8.0, 4.0]);
    let load = |parameters| LoadStore {
        index_format: IndexFormat::U32,
        offset: 2 << 9 | parameters,
        ..LoadStore::new(LdVaryF32, r(0))
    };
    let mut loaded = |parameters| result(&[load_store(load(parameters))], &mut world, 0).map(f32::from_bits);
    assert_eq!(loaded(0x50), [1.0, 2.0, 8.0, 4.0]);
    assert_eq!(loaded(0x51), [0.5, 1.0, 4.0, 2.0]);
    assert_eq!(loaded(0x52), [0.125, 0.25, 1.0, 0.5]);
    assert_eq!(loaded(0x53), [0.25, 0.5, 2.0, 1.0]);
    assert_eq!(loaded(0x28), [1.0, 2.0, 8.0, 4.0]);
    let modes = world
        .varyings
        .iter()
        .map(|load| (load.index, load.is_flat, load.has_perspective, load.is_centroid, load.is_sample));
    let smooth = (2, false, true, false, true);
    assert_eq!(modes.collect::<Vec<_>>(), [smooth, smooth, smooth, smooth, (2, true, false, true, false)]);
    let reserved = run(&[load_store(load(5))], &mut world);
    assert_eq!(reserved, Err(Trap::Undefined(0, "the modifier of the varying")));
}

#[test]
fn stored_varyings() {
    let mut world = world();
    let store = |op| LoadStore { offset: 7 << 9, swizzle: Swizzle::new([1, 1, 2, 0]), ..LoadStore::new(op, r(1)) };
    run(&[load_store(store(StVaryF32))], &mut world).unwrap();
    world.registers[1].1 = [0x4000_3c00, 0xbc00_3800, 0, 0];
    run(&[load_store(LoadStore { swizzle: Swizzle::IDENTITY, ..store(StVaryF16) })], &mut world).unwrap();
    let found: Vec<_> = world.stored.iter().map(|store| (store.index, store.format, store.value)).collect();
    let halves = floats([1.0, 2.0, 0.5, -1.0]);
    assert_eq!(found, [(7, Format::F32, [2, 2, 3, 0x8182_8384]), (7, Format::F16, halves)]);
}

#[test]
fn images() {
    let mut world = world();
    world.value = floats([1.0, 2.0, 0.5, -1.0]);
    world.registers = vec![(26, [0x0002_0001, 0x0004_ffff, 0, 0]), (27, [1, 2, 3, 4])];
    let image =
        |op, register| LoadStore { argument: operand(L::L0, 0), offset: 9 << 9, ..LoadStore::new(op, r(register)) };
    let load = LoadStore { is_wide: true, ..image(LdImageF16, 0) };
    assert_eq!(result(&[load_store(load)], &mut world, 0), [0x4000_3c00, 0xbc00_3800, 0, 0]);
    run(&[load_store(image(StImageU32, 1))], &mut world).unwrap();
    let access = |coordinates, format| ImageAccess { lane: 0, image: 9, coordinates, format };
    assert_eq!(world.images[0], (access([1, 2, 0xffff, 4], Format::F16), None));
    assert_eq!(world.images[1], (access([1, 2, 0, 0], Format::U32), Some([1, 2, 3, 4])));
    assert_eq!(result(&[load_store(image(LeaImage, 0))], &mut world, 0)[..2], [1, 1]);
    let launch = Launch { lanes: 1, helpers: &[true], ..Launch::default() };
    simulate(&[load_store(image(StImageU32, 1))], &launch, &mut world).unwrap();
    assert_eq!(world.images.len(), 2);
}

#[test]
fn special_values() {
    let mut world = world();
    world.value = floats([1.0; 4]);
    let special = |op, selector: i32| LoadStore { offset: selector << 9, ..LoadStore::new(op, r(0)) };
    assert_eq!(result(&[load_store(special(LdSpecialU32, 96))], &mut world, 0), [96; 4]);
    assert_eq!(result(&[load_store(special(LdSpecialF32, 1))], &mut world, 0), floats([1.0; 4]));
    assert_eq!(world.tiles[0].format, Format::F32);
    let trap = Trap::Undefined(0, "LD_SPECIAL.u32");
    assert_eq!(run(&[load_store(special(LdSpecialU32, 100))], &mut world), Err(trap));
    for op in [StSpecialU32, StTileBufferRaw, PackF32, UnpackU32] {
        let trap = Trap::Undefined(0, op.row().name);
        assert_eq!(run(&[load_store(LoadStore::new(op, r(0)))], &mut world), Err(trap));
    }
    let trap = LoadStore { offset: 7, ..LoadStore::new(Trap, r(0)) };
    assert_eq!(run(&[load_store(trap)], &mut world), Err(tgsi_driver_midgard::simulator::Trap::Instruction(0, 7)));
}

#[test]
fn tile_buffer() {
    let mut world = world();
    world.value = floats([1.0, 2.0, 0.5, -1.0]);
    let load = LoadStore {
        index: operand(L::GlobalThread, 1),
        argument: operand(L::L1, 2),
        ..LoadStore::new(LdTileBufferF16, r(0))
    };
    assert_eq!(result(&[load_store(load)], &mut world, 0), [0x4000_3c00, 0xbc00_3800, 0, 0]);
    let indirect = LoadStore {
        offset: 1,
        index: operand(L::L0, 0),
        argument: operand(L::L1, 2),
        ..LoadStore::new(LdTileBufferRaw, r(0))
    };
    assert_eq!(result(&[load_store(indirect)], &mut world, 0), world.value);
    let found: Vec<_> = world.tiles.iter().map(|load| (load.target, load.sample, load.format)).collect();
    assert_eq!(found, [(25, 6, Format::F16), (0, 3, Format::Raw)]);
}

#[test]
fn conversions() {
    let mut world = World::with(&[(26, floats([1.0, 2.0, 8.0, 4.0])), (27, [0x4000_3c00, 0x4400_4800, 0, 0])]);
    let divide =
        |op, register, is_wide| LoadStore { argument: operand(register, 0), is_wide, ..LoadStore::new(op, r(0)) };
    let mut divided = |op| result(&[load_store(divide(op, L::L0, true))], &mut world, 0);
    assert_eq!(divided(PerspectiveDivY), floats([0.5, 1.0, 4.0, 2.0]));
    assert_eq!(divided(PerspectiveDivZ), floats([0.125, 0.25, 1.0, 0.5]));
    assert_eq!(divided(PerspectiveDivW), floats([0.25, 0.5, 2.0, 1.0]));
    let half = result(&[load_store(divide(PerspectiveDivW, L::L1, false))], &mut world, 0);
    assert_eq!(half, [0x3800_3400, 0x3c00_4000, 0, 0]);
    let moved = LoadStore { argument: operand(L::GlobalThread, 0), mask: 7, ..LoadStore::new(Move, r(2)) };
    assert_eq!(result(&[load_store(moved)], &mut world, 2), [0, 6, 7, 0]);
    assert_eq!(f(1.0), 0x3f80_0000);
}

/// The instructions of a bundle are executed in order.
#[test]
fn two_instructions() {
    let first = access(Ld64, 1);
    let second = LoadStore { offset: 8, mask: 12, swizzle: Swizzle::new([0, 0, 0, 1]), ..access(Ld64, 1) };
    let found = result(&[Body::LoadStore(LoadStoreBundle([Some(first), Some(second)]))], &mut world(), 1);
    assert_eq!(found, [0x8081_8283, 0x1122_3344, 0x5566_7788, 0x99aa_bbcc]);
}
