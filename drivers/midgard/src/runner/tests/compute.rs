//! Compute: numbers of threads, memory, barriers, images.

use super::*;
use crate::isa::load_store::IndexFormat;
use crate::isa::texture::Barrier;
use crate::program::{Dimensions, SystemRow, Texture};

use pretty_assertions::assert_eq;
use tgsi_environment::Resources;

use LoadStoreRegister as L;

/// An access to the address in r27.xy plus a multiple of r27.z.
fn access(op: LoadStoreOp, register: u8, shift: u8, offset: i32) -> LoadStore {
    LoadStore {
        argument: operand(L::L1, 0),
        is_wide: true,
        index: operand(L::L1, 2),
        index_format: IndexFormat::U32,
        shift,
        offset,
        ..LoadStore::new(op, r(register))
    }
}

/// Copies a register of the load/store unit, such as the number of the thread.
fn read(register: u8, source: L) -> Body {
    load_store(LoadStore { argument: operand(source, 0), ..LoadStore::new(LoadStoreOp::Move, r(register)) })
}

/// Copies the first component of a register to r27.z.
fn index(source: u8) -> Body {
    Body::Alu(bundle(spread(27, 0x30, source)))
}

fn compute(bodies: &[Body]) -> Program {
    Program { system_rows: vec![SystemRow::StorageBuffer(0)], ..program(Stage::Compute, bodies) }
}

/// A workgroup of 8 threads in x.
fn workgroup() -> Inputs {
    let mut inputs = numbered(8, 0);
    set(&mut inputs, SystemValue::LocalInvocationId, |component, lane| if component == 0 { lane } else { 0 });
    set(&mut inputs, SystemValue::WorkgroupId, |component, _| [3, 4, 5][component as usize]);
    set(&mut inputs, SystemValue::WorkgroupSize, |component, _| [8, 1, 1][component as usize]);
    set(&mut inputs, SystemValue::NumWorkgroups, |component, _| 9 + component);
    inputs.buffers = vec![vec![0; 8 * 16]];
    inputs
}

fn words(outputs: &Outputs) -> Vec<u32> {
    super::super::memory::words(&outputs.buffers[0])
}

/// Each thread stores a vector to its place in the storage buffer 0.
fn stored(bodies: &[Body], change: impl FnOnce(&mut Program), inputs: &Inputs) -> Outputs {
    let store = [read(4, L::LocalThread), uniform_row(27, 3, 0), index(4), copy(26, 2)];
    let store = [&store[..], &[load_store(access(LoadStoreOp::St128, 0, 4, 0))]].concat();
    let mut program = compute(&[bodies, &store].concat());
    change(&mut program);
    run(program, inputs)
}

#[test]
fn numbers_of_threads() {
    let last = |bodies: &[Body], change: fn(&mut Program), inputs: &Inputs| {
        words(&stored(bodies, change, inputs))[5 * 4..6 * 4].to_vec()
    };
    let inputs = workgroup();
    assert_eq!(last(&[read(2, L::LocalThread)], |_| {}, &inputs), [5, 0, 0, 0]);
    assert_eq!(last(&[read(2, L::Group)], |_| {}, &inputs), [3, 4, 5, 0]);
    assert_eq!(last(&[read(2, L::GlobalThread)], |_| {}, &inputs), [29, 4, 5, 0]);
    let groups = |program: &mut Program| program.system_rows.push(SystemRow::Workgroups);
    assert_eq!(last(&[uniform_row(2, 3, 1)], groups, &inputs), [9, 10, 11, 0]);
    let size = |program: &mut Program| program.system_rows.push(SystemRow::WorkgroupSize);
    assert_eq!(last(&[uniform_row(2, 3, 1)], size, &inputs), [8, 1, 1, 0]);
    let mut inputs = inputs;
    inputs.system_values.remove(&SystemValue::WorkgroupSize);
    let stated = |program: &mut Program| {
        program.system_rows.push(SystemRow::WorkgroupSize);
        program.workgroup = Some([4, 2, 1]);
    };
    assert_eq!(last(&[uniform_row(2, 3, 1)], stated, &inputs), [4, 2, 1, 0]);
}

/// Words beyond the end are 0, stores write the words that exist, and other addresses are invalid.
#[test]
fn bounds() {
    let inputs = Inputs { buffers: vec![(0..24).collect(), vec![1; 4]], ..workgroup() };
    // The index is 0 for thread 0, 1 for thread 1, and so on.
    let bodies = [
        read(4, L::LocalThread),
        uniform_row(27, 3, 0),
        index(4),
        load_store(access(LoadStoreOp::Ld128, 26, 4, 0)),
        load_store(access(LoadStoreOp::St64, 0, 4, 4)),
    ];
    let outputs = run(compute(&bodies), &inputs);
    // Thread 1 loads bytes 16 to 31, of which some do not exist, and stores one word of two.
    let expected = [0x0302_0100, 0x0302_0100, 0x0706_0504, 0x0f0e_0d0c, 0x1312_1110, 0x1312_1110];
    assert_eq!(words(&outputs), expected);
    assert_eq!(outputs.buffers[1], [1; 4]);
    let run_at = |address: [u32; 2], op| {
        let bodies = [constant(27, [address[0], address[1], 0, 0]), load_store(access(op, 0, 0, 0))];
        run_with(compute(&bodies), &inputs, &mut AnalyticResources::default())
    };
    for address in [[0, 0], [100, 0], [0, 3], [0xffff_fff0, 1], [0, 0x0001_0001], [16, 0x0002_0000], [8, 0x0003_0000]] {
        for op in [LoadStoreOp::Ld128, LoadStoreOp::St128] {
            assert_eq!(run_at(address, op).map(|outputs| outputs.buffers), Ok(inputs.buffers.clone()), "{address:?}");
        }
    }
    for address in [[0, 0x0002_0001], [0, 0x0003_0002], [0, 0x0004_0000], [0, 0x0005_0000], [0, 0xffff_ffff]] {
        let error = run_at(address, LoadStoreOp::Ld32).unwrap_err();
        assert!(matches!(&error, RunError::Failed(message) if message.contains("is invalid")), "{error}");
    }
}

/// Counters are memory.
#[test]
fn counters() {
    let swizzle = Swizzle(1 | 1 << 2);
    let add = LoadStore { swizzle, ..access(LoadStoreOp::AtomicAdd, 2, 0, 4) };
    let bodies = [uniform_row(27, 3, 1), load_store(add)];
    // The operand is r27.y, the high word of the address.
    let inputs = Inputs { counters: vec![vec![1], vec![10, 20]], ..workgroup() };
    let outputs = stored(&bodies, |program| program.system_rows.push(SystemRow::Counters(1)), &inputs);
    let step = 0x0001_0002;
    assert_eq!(outputs.counters, [vec![1], vec![10, 20 + 8 * step]]);
    let results: Vec<_> = words(&outputs).chunks(4).map(|words| words[0]).collect();
    assert_eq!(results, (0..8).map(|lane| 20 + lane * step).collect::<Vec<_>>());
}

/// Each thread stores to the workgroup's storage, waits, and reads the number that its neighbour has stored.
#[test]
fn storage_of_workgroups() {
    let storage = |component| {
        let source =
            LoadStore { argument: operand(L::LocalStorage, component), ..LoadStore::new(LoadStoreOp::Lea, r(27)) };
        load_store(LoadStore { is_wide: true, mask: 3, ..source })
    };
    let bodies = [
        read(4, L::LocalThread),
        storage(2),
        index(4),
        copy(26, 4),
        load_store(access(LoadStoreOp::St32, 0, 2, 0)),
        Body::Barrier(Barrier::default()),
        load_store(LoadStore { mask: 1, ..access(LoadStoreOp::Ld32, 2, 2, 4) }),
    ];
    let mut inputs = workgroup();
    inputs.shared_size = 32;
    let outputs = stored(&bodies, |program| program.shared = 36, &inputs);
    let results: Vec<_> = words(&outputs).chunks(4).map(|words| words[0]).collect();
    assert_eq!(results, [1, 2, 3, 4, 5, 6, 7, 0]);
    assert_eq!(super::super::memory::words(&outputs.shared), (0..8).collect::<Vec<_>>());

    // Storage of threads: each has its own at the same address.
    let bodies = [
        read(4, L::LocalThread),
        storage(0),
        copy(26, 4),
        load_store(LoadStore { index: Operand::ZERO, ..access(LoadStoreOp::St128, 0, 0, 16) }),
        load_store(LoadStore { index: Operand::ZERO, ..access(LoadStoreOp::Ld128, 2, 0, 16) }),
    ];
    for (stack, expected) in [(32, [0, 1, 2, 3, 4, 5, 6, 7]), (16, [0; 8])] {
        let outputs = stored(&bodies, |program| program.stack = stack, &inputs);
        let results: Vec<_> = words(&outputs).chunks(4).map(|words| words[0]).collect();
        assert_eq!(results, expected);
    }
}

/// Images: loads, stores, and atomic operations at an address.
#[test]
fn images() {
    // Coordinates of 16 bits: -1, the number of the thread in y, 9, 3.
    let image = |op, register| {
        load_store(LoadStore {
            argument: operand(L::L1, 0),
            is_wide: true,
            offset: 2 << 9,
            ..LoadStore::new(op, r(register))
        })
    };
    let coordinates = [read(4, L::LocalThread), constant(5, [0xffff, 9 | 3 << 16, 0, 0]), {
        let shift = crate::isa::alu::VectorOperand::Immediate(16);
        Body::Alu(bundle(Vector { second: shift, mask: 3, ..vector(AluOp::Ishl, 6, 4, 0) }))
    }];
    let coordinates = [&coordinates[..], &[alu(AluOp::Ior, 27, 5, 6)]].concat();
    let run_image = |bodies: &[Body], dimensions, is_array| {
        let mut program = compute(&[&coordinates, bodies].concat());
        program.images = vec![Texture { number: 2, dimensions, is_array }];
        let mut resources = AnalyticResources::default();
        let outputs = run_with(program, &workgroup(), &mut resources).unwrap();
        (outputs, resources.stored_texels())
    };
    let bodies = [image(LoadStoreOp::LdImageU32, 26), image(LoadStoreOp::StImageU32, 0)];
    let rows = [
        (Dimensions::D1, false, ([u32::MAX, 0, 0], 0)),
        (Dimensions::D1, true, ([u32::MAX, 5, 0], 0)),
        (Dimensions::D2, false, ([u32::MAX, 5, 0], 0)),
        (Dimensions::D2, true, ([u32::MAX, 5, 9], 0)),
        (Dimensions::D3, false, ([u32::MAX, 5, 9], 0)),
        (Dimensions::Cube, false, ([u32::MAX, 5, 9], 0)),
        (Dimensions::Multisampled, false, ([u32::MAX, 5, 0], 3)),
        (Dimensions::Buffer, false, ([u32::MAX, 0, 0], 0)),
    ];
    for (dimensions, is_array, ([x, y, z], sample)) in rows {
        let (_, texels) = run_image(&bodies, dimensions, is_array);
        assert_eq!(texels.get(&(2, [x, y, z], sample)), Some(&[x, y, z, sample + 2]), "{dimensions:?} {is_array}");
    }
    // Atomic operations of all threads on one texel: the operand is r26.x.
    let swizzle = Swizzle(0);
    let bodies = [
        constant(26, [4; 4]),
        image(LoadStoreOp::LeaImage, 27),
        load_store(LoadStore { swizzle, index: Operand::ZERO, ..access(LoadStoreOp::AtomicAdd, 2, 0, 0) }),
    ];
    let (_, texels) = run_image(&bodies, Dimensions::D1, false);
    let texel = (2, [u32::MAX, 0, 0], 0);
    assert_eq!(texels.into_iter().collect::<Vec<_>>(), [(texel, [u32::MAX.wrapping_add(32), 0, 0, 2])]);
}
