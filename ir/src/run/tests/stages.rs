//! Tests of specific stages (fragment, geometry, tessellation) and of communication between lanes.

use super::*;
use crate::intrinsics::indices::IoSemantics;
use tgsi_environment::SystemValue;

fn floats(words: &[u32]) -> Vec<f32> {
    words.iter().map(|&word| f32::from_bits(word)).collect()
}

/// Inputs of one quad: register 0.w is the lane as a float, register 1.x is given by `values`.
fn quad(values: [f32; 4]) -> Inputs {
    let mut inputs = lanes(4);
    for (lane, value) in values.into_iter().enumerate() {
        inputs.inputs.set(1, 0, lane, value.to_bits());
    }
    inputs
}

fn load(b: &mut Builder<'_>, register: i32) -> Def {
    let zero = b.u32_const(0);
    b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &[(IndexKind::Base, register)], SCALAR)
}

#[test]
fn derivatives() {
    use IntrinsicOp as I;
    let cases = [
        (I::Ddx, [24.0; 4]),
        (I::DdxCoarse, [24.0; 4]),
        (I::DdxFine, [2.0, 2.0, 24.0, 24.0]),
        (I::Ddy, [7.0; 4]),
        (I::DdyCoarse, [7.0; 4]),
        (I::DdyFine, [7.0, 29.0, 7.0, 29.0]),
    ];
    for (op, expected) in cases {
        let shader = shader(ShaderStage::Fragment, |b| {
            let value = load(b, 1);
            b.intrinsic_def(op, &[value], &[], SCALAR)
        });
        let outputs = ran(&shader, &quad([1.0, 3.0, 8.0, 32.0]));
        assert_eq!(floats(&component(&outputs, 0)), expected, "{op}");
    }
}

/// A killed lane continues: its value contributes to derivatives.
#[test]
fn killed_lanes_go_on_as_helpers() {
    let mut shader = Shader::new(ShaderStage::Fragment);
    let mut b = Builder::at_end(shader.main_mut());
    let x = lane(&mut b);
    let three = b.u32_const(3);
    let last = b.alu(AluOp::Ieq, &[x, three]);
    let id = b.push_if(last);
    b.intrinsic(IntrinsicOp::Demote, &[], &[], None);
    b.end_if(id);
    let value = load(&mut b, 1);
    let doubled = b.alu(AluOp::Fadd, &[value, value]);
    let ddx = b.intrinsic_def(IntrinsicOp::Ddx, &[doubled], &[], SCALAR);
    store_output(&mut b, 0, ddx);
    let helper = b.intrinsic_def(IntrinsicOp::IsHelperInvocation, &[], &[], Shape::new(1, 1));
    let helper = b.alu(AluOp::B2i32, &[helper]);
    store_output(&mut b, 1, helper);
    let outputs = ran(&shader, &quad([0.0, 1.0, 2.0, 5.0]));
    assert_eq!(outputs.live, [true, true, true, false]);
    assert_eq!(floats(&component(&outputs, 0)), [6.0; 4]);
    assert_eq!(outputs.outputs.component(1, 0), [0, 0, 0, 1]);
}

#[test]
fn interpolation_at_an_offset() {
    for lowered in [false, true] {
        let mut shader = Shader::new(ShaderStage::Fragment);
        let float = shader.types.vector(ScalarType::Float, 1);
        let v = variable(&mut shader, VariableModes::SHADER_IN, float, |data| data.driver_location = 1);
        let mut b = Builder::at_end(shader.main_mut());
        let (x, y, zero) = (b.f32_const(0.5), b.f32_const(-1.0), b.u32_const(0));
        let offset = b.vec_of(&[x, y]);
        let value = if lowered {
            let pair = Shape::new(2, 32);
            let place = b.intrinsic_def(IntrinsicOp::LoadBarycentricAtOffset, &[offset], &[], pair);
            let indices = [(IndexKind::Base, 1)];
            b.intrinsic_def(IntrinsicOp::LoadInterpolatedInput, &[place, zero], &indices, SCALAR)
        } else {
            let pointer = b.deref_var(v, VariableModes::SHADER_IN, float);
            b.intrinsic_def(IntrinsicOp::InterpDerefAtOffset, &[pointer, offset], &[], SCALAR)
        };
        store_output(&mut b, 0, value);
        // x grows by 2, y by 10.
        let outputs = ran(&shader, &quad([1.0, 3.0, 11.0, 13.0]));
        assert_eq!(floats(&component(&outputs, 0)), [-8.0, -6.0, 2.0, 4.0], "lowered: {lowered}");
    }
}

/// Framebuffer fetch reads the previous contents, not the stored value.
#[test]
fn framebuffer_fetch() {
    let mut shader = Shader::new(ShaderStage::Fragment);
    let float = shader.types.vector(ScalarType::Float, 4);
    let v = variable(&mut shader, VariableModes::SHADER_OUT, float, |data| data.fb_fetch_output = true);
    let mut b = Builder::at_end(shader.main_mut());
    let pointer = b.deref_var(v, VariableModes::SHADER_OUT, float);
    let stored = b.constant(32, &[1, 2, 3, 4]);
    b.store_deref(pointer, stored, 15);
    let fetched = b.load_deref(pointer, VEC4);
    store_output(&mut b, 1, fetched);
    let semantics = IoSemantics { fb_fetch_output: true, ..IoSemantics::new(4, 1) };
    let zero = b.u32_const(0);
    let indices = [(IndexKind::Component, 2), (IndexKind::IoSemantics, semantics.to_i32())];
    let lowered = b.intrinsic_def(IntrinsicOp::LoadOutput, &[zero], &indices, SCALAR);
    store_output(&mut b, 2, lowered);
    let mut inputs = lanes(4);
    inputs.framebuffer = LaneRegisters::new(4, 1);
    for lane in 0..4 {
        inputs.framebuffer.set(0, 2, lane, 40 + lane as u32);
    }
    let outputs = ran(&shader, &inputs);
    assert_eq!(component(&outputs, 2), [3; 4]);
    assert_eq!(outputs.outputs.component(1, 2), [40, 41, 42, 43]);
    assert_eq!(outputs.outputs.component(2, 0), [40, 41, 42, 43]);
}

/// Outputs are zero after an emission; a full primitive accepts no more vertices; two streams; the end closes open
/// primitives.
#[test]
fn geometry() {
    let mut shader = Shader::new(ShaderStage::Geometry);
    shader.info.gs.vertices_out = 2;
    let vec4 = shader.types.vector(ScalarType::Uint, 4);
    let array = shader.types.array(vec4, 3);
    let input = variable(&mut shader, VariableModes::SHADER_IN, array, |data| data.per_vertex = true);
    let output = variable(&mut shader, VariableModes::SHADER_OUT, vec4, |_| {});
    let mut b = Builder::at_end(shader.main_mut());
    let pointer = b.deref_var(output, VariableModes::SHADER_OUT, vec4);
    let root = b.deref_var(input, VariableModes::SHADER_IN, array);
    let emit = |b: &mut Builder<'_>, op, stream| b.intrinsic(op, &[], &[(IndexKind::StreamId, stream)], None);
    for vertex in 0..3 {
        let index = b.u32_const(vertex);
        let element = b.deref_array(root, index, vec4);
        let value = b.load_deref(element, VEC4);
        b.store_deref(pointer, value, 0b11);
        emit(&mut b, IntrinsicOp::EmitVertex, 0);
    }
    emit(&mut b, IntrinsicOp::EndPrimitive, 0);
    emit(&mut b, IntrinsicOp::EndPrimitive, 0);
    let zero = b.u32_const(0);
    let one = b.u32_const(1);
    let indices = [(IndexKind::Base, 0)];
    let lowered = b.intrinsic_def(IntrinsicOp::LoadPerVertexInput, &[one, zero], &indices, VEC4);
    b.store_deref(pointer, lowered, 0b100);
    emit(&mut b, IntrinsicOp::EmitVertex, 1);
    let mut inputs = Inputs { lanes: 1, ..Inputs::default() };
    inputs.vertices = (0..3).map(|v| vec![[v, v + 10, v + 20, v + 30]]).collect();
    let outputs = ran(&shader, &inputs);
    assert_eq!(outputs.emitted[0], [vec![vec![[0, 10, 0, 0]], vec![[1, 11, 0, 0]]], vec![]]);
    assert_eq!(outputs.emitted[1], [vec![vec![[0, 0, 21, 0]]]]);
    assert!(outputs.emitted[2].is_empty());
    // Without a stated number of vertices there is no limit.
    shader.info.gs.vertices_out = 0;
    assert_eq!(ran(&shader, &inputs).emitted[0][0].len(), 3);
}

#[test]
fn emission_is_bounded() {
    let mut shader = Shader::new(ShaderStage::Geometry);
    shader.info.gs.vertices_out = u32::MAX;
    shader.num_outputs = 4096;
    let mut b = Builder::at_end(shader.main_mut());
    let id = b.push_loop();
    b.intrinsic(IntrinsicOp::EmitVertex, &[], &[], None);
    b.end_loop(id);
    assert_eq!(try_run(&shader, &lanes(4)).map_err(|error| error.code().name).err(), Some("too-much-output"));
}

/// Each lane writes its vertex, and all read a neighbour's after a barrier; the patch is shared.
#[test]
fn tessellation_control() {
    for lowered in [false, true] {
        let mut shader = Shader::new(ShaderStage::TessCtrl);
        shader.info.tess.tcs_vertices_out = 3;
        let uint = shader.types.vector(ScalarType::Uint, 1);
        let array = shader.types.array(uint, 3);
        const OUT: VariableModes = VariableModes::SHADER_OUT;
        let own = variable(&mut shader, OUT, array, |data| data.per_vertex = true);
        let patch = variable(&mut shader, OUT, uint, |data| {
            data.patch = true;
            data.driver_location = 1;
        });
        let mut b = Builder::at_end(shader.main_mut());
        let me = b.intrinsic_def(IntrinsicOp::LoadInvocationId, &[], &[], SCALAR);
        let (zero, one, ten) = (b.u32_const(0), b.u32_const(1), b.u32_const(10));
        let value = b.alu(AluOp::Iadd, &[me, ten]);
        let neighbour = if lowered {
            let indices = [(IndexKind::WriteMask, 1)];
            b.intrinsic(IntrinsicOp::StorePerVertexOutput, &[value, me, zero], &indices, None);
            b.intrinsic(IntrinsicOp::Barrier, &[], &[], None);
            b.intrinsic_def(IntrinsicOp::LoadPerVertexOutput, &[one, zero], &[], SCALAR)
        } else {
            let root = b.deref_var(own, OUT, array);
            let element = b.deref_array(root, me, uint);
            b.store_deref(element, value, 1);
            b.intrinsic(IntrinsicOp::Barrier, &[], &[], None);
            let element = b.deref_array(root, one, uint);
            b.load_deref(element, SCALAR)
        };
        // Only lane 2 writes the patch output; all read it.
        let two = b.u32_const(2);
        let last = b.alu(AluOp::Ieq, &[me, two]);
        let id = b.push_if(last);
        let sum = b.alu(AluOp::Iadd, &[neighbour, value]);
        let indices = [(IndexKind::Base, 1), (IndexKind::WriteMask, 1)];
        if lowered {
            b.intrinsic(IntrinsicOp::StoreOutput, &[sum, zero], &indices, None);
        } else {
            let pointer = b.deref_var(patch, OUT, uint);
            b.store_deref(pointer, sum, 1);
        }
        b.end_if(id);
        let mut inputs = Inputs { lanes: 3, ..Inputs::default() };
        inputs.system_values.insert(SystemValue::InvocationId, vec![vec![0, 1, 2]]);
        let outputs = ran(&shader, &inputs);
        let vertices: Vec<u32> = outputs.vertices.iter().map(|v| v[0][0]).collect();
        assert_eq!(vertices, [10, 11, 12], "lowered: {lowered}");
        assert_eq!(outputs.outputs.component(1, 0), [23; 3], "lowered: {lowered}");
    }
}

#[test]
fn votes_and_ballots() {
    let mut shader = Shader::new(ShaderStage::Compute);
    let mut b = Builder::at_end(shader.main_mut());
    let x = lane(&mut b);
    let (one, five) = (b.u32_const(1), b.u32_const(5));
    // All lanes except lane 0 participate.
    let taking = b.alu(AluOp::Uge, &[x, one]);
    let id = b.push_if(taking);
    let small = b.alu(AluOp::Ult, &[x, five]);
    let bool1 = Shape::new(1, 1);
    for (register, op) in [(0, IntrinsicOp::VoteAny), (1, IntrinsicOp::VoteAll)] {
        let vote = b.intrinsic_def(op, &[small], &[], bool1);
        let vote = b.alu(AluOp::B2i32, &[vote]);
        store_output(&mut b, register, vote);
    }
    let same = b.intrinsic_def(IntrinsicOp::VoteIeq, &[small], &[], bool1);
    let same = b.alu(AluOp::B2i32, &[same]);
    store_output(&mut b, 2, same);
    let ballot = b.intrinsic_def(IntrinsicOp::Ballot, &[small], &[], Shape::new(1, 64));
    store_output(&mut b, 3, ballot);
    let first = b.intrinsic_def(IntrinsicOp::ReadFirstInvocation, &[x], &[], SCALAR);
    store_output(&mut b, 4, first);
    let two = b.u32_const(2);
    let read = b.intrinsic_def(IntrinsicOp::ReadInvocation, &[x, two], &[], SCALAR);
    store_output(&mut b, 5, read);
    let sum =
        b.intrinsic_def(IntrinsicOp::InclusiveScan, &[x], &[(IndexKind::ReductionOp, AluOp::Iadd as i32)], SCALAR);
    store_output(&mut b, 6, sum);
    let least =
        b.intrinsic_def(IntrinsicOp::ExclusiveScan, &[x], &[(IndexKind::ReductionOp, AluOp::Umin as i32)], SCALAR);
    store_output(&mut b, 7, least);
    let swapped = b.intrinsic_def(IntrinsicOp::QuadSwapHorizontal, &[x], &[], SCALAR);
    store_output(&mut b, 8, swapped);
    b.end_if(id);
    let outputs = ran(&shader, &lanes(8));
    let words = |register: usize| outputs.outputs.component(register, 0).to_vec();
    assert_eq!(words(0), [0, 1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(words(1), [0, 1, 1, 1, 0, 0, 0, 0]);
    assert_eq!(words(2), [0, 1, 1, 1, 0, 0, 0, 0]);
    assert_eq!(words(3), [0, 14, 14, 14, 1, 1, 1, 1]);
    assert_eq!(words(4), [0, 1, 1, 1, 4, 4, 4, 4]);
    assert_eq!(words(5), [0, 2, 2, 2, 6, 6, 6, 6]);
    assert_eq!(words(6), [0, 1, 3, 6, 4, 9, 15, 22]);
    assert_eq!(words(7), [0, u32::MAX, 1, 1, u32::MAX, 4, 4, 4]);
    assert_eq!(words(8), [0, 0, 3, 2, 5, 4, 7, 6]);
}

#[test]
fn system_values() {
    let shader = shader(ShaderStage::Compute, |b| {
        let id = b.intrinsic_def(IntrinsicOp::LoadGlobalInvocationId, &[], &[], Shape::new(3, 32));
        let index = b.intrinsic_def(IntrinsicOp::LoadLocalInvocationIndex, &[], &[], SCALAR);
        let (x, y) = (b.channel(id, 0), b.channel(id, 1));
        let absent = b.intrinsic_def(IntrinsicOp::LoadWorkDim, &[], &[], SCALAR);
        b.vec_of(&[x, y, index, absent])
    });
    let mut inputs = lanes(4);
    let all = |words: [u32; 3]| words.map(|word| vec![word; 4]).to_vec();
    inputs.system_values.insert(SystemValue::WorkgroupSize, all([2, 2, 1]));
    inputs.system_values.insert(SystemValue::WorkgroupId, all([5, 7, 0]));
    let local = vec![vec![0, 1, 0, 1], vec![0, 0, 1, 1], vec![0; 4]];
    inputs.system_values.insert(SystemValue::LocalInvocationId, local);
    let outputs = ran(&shader, &inputs);
    assert_eq!(component(&outputs, 0), [10, 11, 10, 11]);
    assert_eq!(component(&outputs, 1), [14, 14, 15, 15]);
    assert_eq!(component(&outputs, 2), [0, 1, 2, 3]);
    assert_eq!(component(&outputs, 3), [0; 4]);
}

/// 64-bit masks are two words; booleans lowered to 32 bits are all ones.
#[test]
fn wide_and_lowered_system_values() {
    let shader = shader(ShaderStage::Fragment, |b| {
        let mask = b.intrinsic_def(IntrinsicOp::LoadSubgroupGtMask, &[], &[], Shape::new(1, 64));
        let face = b.intrinsic_def(IntrinsicOp::LoadFrontFace, &[], &[], SCALAR);
        let high = b.alu(AluOp::Unpack642x32SplitY, &[mask]);
        let low = b.alu(AluOp::Unpack642x32SplitX, &[mask]);
        let clock = b.intrinsic_def(IntrinsicOp::ShaderClock, &[], &[], Shape::new(2, 32));
        let clock = b.channel(clock, 0);
        b.vec_of(&[low, high, face, clock])
    });
    let mut inputs = lanes(4);
    inputs.system_values.insert(SystemValue::SubgroupGtMask, vec![vec![14, 12, 8, 0], vec![1, 2, 3, 4]]);
    inputs.system_values.insert(SystemValue::FrontFace, vec![vec![0, 7, 0, u32::MAX]]);
    let outputs = ran(&shader, &inputs);
    assert_eq!(component(&outputs, 0), [14, 12, 8, 0]);
    assert_eq!(component(&outputs, 1), [1, 2, 3, 4]);
    assert_eq!(component(&outputs, 2), [0, u32::MAX, 0, u32::MAX]);
    assert!(component(&outputs, 3).iter().all(|&steps| u64::from(steps) < outputs.steps && steps > 0));
}

/// Register 0 is stored by every lane, register 1 by some, register 2 twice: blocks clear only the last two. Previous
/// words in the memory of the outputs must not be visible.
#[test]
fn blocks_clear_what_lanes_may_leave() {
    let shader = shader(ShaderStage::Vertex, |b| {
        let x = lane(b);
        let (three, value) = (b.u32_const(3), b.u32_const(7));
        store_output(b, 2, value);
        let is_small = b.alu(AluOp::Ult, &[x, three]);
        let id = b.push_if(is_small);
        store_output(b, 1, value);
        store_output(b, 2, three);
        b.end_if(id);
        x
    });
    let program = Program::new(&shader).expect("a program");
    let stored: Vec<usize> = (0..12).filter(|&component| program.always_stored()[component]).collect();
    assert_eq!(stored, [0]);
    let inputs = lanes(10);
    let words = vec![u32::MAX; LaneRegisters::stride_of(10) * 12];
    let used = LaneRegisters::from_words(10, words);
    let resources = &mut AnalyticResources::default();
    let outputs =
        program.run_blocks(&inputs, 0..10, 4, resources, RunLimits::default(), used).expect("it runs").outputs;
    assert_eq!(outputs.component(0, 0), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(outputs.component(1, 0), [7, 7, 7, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(outputs.component(2, 0), [3, 3, 3, 7, 7, 7, 7, 7, 7, 7]);
    assert_eq!(outputs.component(0, 1), [0; 10]);
}
