//! Vertices: attributes, varyings, uniforms, system values.

use super::*;
use crate::program::{Dimensions, SystemRow, Texture, UniformRow};

use pretty_assertions::assert_eq;

/// A store of r26 to a varying.
fn store(number: i32) -> Body {
    entry(LoadStoreOp::StVaryU32, 0, number)
}

/// Attributes reach varyings; components outside of masks and registers without an entry are 0.
#[test]
fn attributes_and_varyings() {
    let bodies = [
        entry(LoadStoreOp::LdAttrU32, 26, 5),
        store(2),
        entry(LoadStoreOp::LdAttrU32, 26, 6),
        store(0),
        store(9),
        entry(LoadStoreOp::LdAttrU32, 26, 4),
        store(1),
        entry(LoadStoreOp::LdAttrU32, 26, 16),
        store(3),
        entry(LoadStoreOp::LdAttrU32, 26, 17),
        store(4),
    ];
    let mut program = program(Stage::Vertex, &bodies);
    program.inputs = vec![
        varying(5, Slot::Register(1), 15),
        varying(6, Slot::Register(2), 15),
        varying(16, Slot::VertexId, 1),
        varying(17, Slot::InstanceId, 1),
    ];
    program.outputs = [(2, 0, 15), (0, 4, 0b0110), (1, 2, 15), (3, 5, 15), (4, 6, 15)]
        .map(|(number, register, mask)| varying(number, Slot::Register(register), mask))
        .to_vec();
    let mut inputs = numbered(11, 3);
    set(&mut inputs, SystemValue::VertexId, |_, lane| 100 + lane);
    set(&mut inputs, SystemValue::InstanceId, |_, lane| 7 * lane);
    let outputs = run(program, &inputs);
    assert_eq!((outputs.outputs.len(), outputs.live, outputs.steps), (7, vec![true; 11], 11));
    for lane in 0..11 {
        let of = |register| [0, 1, 2, 3].map(|component| number(register, component, lane));
        let [_, y, z, _] = of(2);
        let found = [0, 4, 2, 5, 6, 1].map(|register| {
            output(&Outputs { outputs: outputs.outputs.clone(), ..Outputs::default() }, register, lane)
        });
        let first = |word: usize| [word as u32, 0, 0, 0];
        assert_eq!(found, [of(1), [0, y, z, 0], [0; 4], first(100 + lane), first(7 * lane), [0; 4]]);
    }
}

/// The number of the vertex follows from the number without the first vertex.
#[test]
fn numbers_of_vertices() {
    let bodies = [entry(LoadStoreOp::LdAttrU32, 26, 0), store(0), uniform_row(26, 3, 0), store(1)];
    let mut program = program(Stage::Vertex, &bodies);
    program.system_rows = vec![SystemRow::Draw];
    program.inputs = vec![varying(0, Slot::VertexId, 1)];
    program.outputs = vec![varying(0, Slot::Register(0), 1), varying(1, Slot::Register(1), 15)];
    let mut inputs = numbered(2, 0);
    set(&mut inputs, SystemValue::VertexIdZeroBase, |_, lane| 10 + lane);
    set(&mut inputs, SystemValue::FirstVertex, |_, _| 5);
    set(&mut inputs, SystemValue::BaseVertex, |_, _| 9);
    set(&mut inputs, SystemValue::BaseInstance, |_, lane| 20 + lane);
    set(&mut inputs, SystemValue::DrawId, |_, _| 3);
    let found = |inputs: &Inputs| {
        let outputs = run(program.clone(), inputs);
        (output(&outputs, 0, 1)[0], output(&outputs, 1, 1))
    };
    assert_eq!(found(&inputs), (16, [5, 21, 3, 9]));
    // Values that contradict each other: the difference decides.
    set(&mut inputs, SystemValue::VertexId, |_, _| 40);
    assert_eq!(found(&inputs), (40, [29, 21, 3, 9]));
}

/// Uniforms in registers and buffers. Rows of system values may differ between lanes.
#[test]
fn uniforms() {
    let bodies = [
        copy(26, 23),
        store(0),
        copy(26, 22),
        store(1),
        uniform_row(26, 1, 1),
        store(2),
        uniform_row(26, 1, 2),
        store(3),
        uniform_row(26, 3, 1),
        store(4),
        uniform_row(26, 3, 3),
        store(5),
    ];
    let mut program = program(Stage::Vertex, &bodies);
    program.uniforms = vec![UniformRow { buffer: 1, row: 1 }, UniformRow { buffer: 3, row: 0 }];
    program.system_rows = vec![SystemRow::Draw, SystemRow::StorageBuffer(1), SystemRow::Counters(2)];
    program.outputs = (0..6).map(|number| varying(number, Slot::Register(number), 15)).collect();
    let mut inputs = numbered(3, 0);
    inputs.constants = vec![Vec::new(), (100..111).collect(), Vec::new(), vec![9; 100]];
    inputs.buffers = vec![vec![0; 4], vec![0; 24]];
    set(&mut inputs, SystemValue::DrawId, |_, lane| lane);
    let outputs = run(program, &inputs);
    let found = [0, 1, 2, 3, 4, 5].map(|register| output(&outputs, register, 2));
    let row = [104, 105, 106, 107];
    assert_eq!(found, [row, [0, 0, 2, 0], row, [108, 109, 110, 0], [0, 2, 24, 0], [0; 4]]);
}

/// Rows with sizes.
#[test]
fn sizes() {
    let rows = [
        (SystemRow::TextureSize { texture: 2, level: 0 }, [64, 32, 6, 7]),
        (SystemRow::TextureSize { texture: 2, level: 2 }, [16, 8, 6, 7]),
        (SystemRow::TextureSize { texture: 3, level: 0 }, [64, 32, 7, 7]),
        (SystemRow::TextureSize { texture: 1, level: 0 }, [0; 4]),
        (SystemRow::TextureSamples(2), [4, 0, 0, 0]),
        (SystemRow::ImageSize(1), [64, 32, 5, 4]),
        (SystemRow::Counters(2), [0, 0x0001_0003, 0, 0]),
        (SystemRow::SamplePosition(3), [0.625_f32.to_bits(), 0.875_f32.to_bits(), 0, 0]),
        (SystemRow::Workgroups, [0; 4]),
        (SystemRow::Zero, [0; 4]),
    ];
    for (row, expected) in rows {
        let mut program = program(Stage::Vertex, &[uniform_row(26, 3, 0), store(0)]);
        program.system_rows = vec![row];
        program.textures = vec![Texture { number: 2, dimensions: Dimensions::D3, is_array: false }];
        program.images = vec![Texture { number: 1, ..program.textures[0] }];
        program.outputs = vec![varying(0, Slot::Register(0), 15)];
        assert_eq!(output(&run(program, &numbered(1, 0)), 0, 0), expected, "{row:?}");
    }
}

#[test]
fn steps_are_limited() {
    let bodies = [constant(0, [1; 4]), branch(BranchOp::Conditional, (0, 0), -1, Tag::Alu4), copy(1, 0)];
    let endless = program(Stage::Vertex, &bodies);
    let runner = run_program(endless).unwrap();
    let error = runner.run(&numbered(2, 0), &mut AnalyticResources::default(), RunLimits::of_steps(50)).unwrap_err();
    assert!(matches!(error, RunError::StepLimit(_)), "{error}");
}
