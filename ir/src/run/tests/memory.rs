//! Registers, constants, buffers, shared memory, atomics, counters.

use super::*;
use crate::intrinsics::indices::AtomicOp;

#[test]
fn registers_start_as_zero_and_are_masked() {
    let shader = shader(ShaderStage::Vertex, |b| {
        let register = b.decl_reg(VEC4, 0);
        let value = b.constant(32, &[1, 2, 3, 4]);
        b.store_reg(value, register, 0, 0b0101);
        b.load_reg(register, 0)
    });
    let outputs = ran(&shader, &lanes(3));
    assert_eq!(outputs.outputs.component(0, 0), [1; 3]);
    assert_eq!(outputs.outputs.component(0, 1), [0; 3]);
    assert_eq!(outputs.outputs.component(0, 2), [3; 3]);
    assert_eq!(outputs.outputs.component(0, 3), [0; 3]);
}

/// Elements of a register array, indexed by lane; out-of-bounds reads give 0 and such writes are dropped.
#[test]
fn register_arrays() {
    for bits in [32, 64] {
        let shader = shader(ShaderStage::Vertex, |b| {
            let x = lane(b);
            let register = b.decl_reg(Shape::new(2, bits), 3);
            let value = match bits {
                64 => b.alu(AluOp::U2u64, &[x]),
                _ => x,
            };
            let pair = b.vec_of(&[value, value]);
            // Lane 2 writes element 3, which does not exist.
            b.store_reg_indirect(pair, register, x, 1, 0b10);
            let element = b.load_reg(register, 1);
            let own = b.load_reg_indirect(register, x, 1);
            let outside = b.load_reg(register, 3);
            let sum = b.alu(AluOp::Iadd, &[element, own]);
            let sum = b.alu(AluOp::Iadd, &[sum, outside]);
            let sum = b.channel(sum, 1);
            match bits {
                64 => b.alu(AluOp::U2u32, &[sum]),
                _ => sum,
            }
        });
        assert_eq!(component(&ran(&shader, &lanes(4)), 0), [0, 1, 0, 0], "{bits} bits");
    }
}

#[test]
fn modifiers_of_register_accesses() {
    let shader = shader(ShaderStage::Vertex, |b| {
        let register = b.decl_reg(SCALAR, 0);
        let value = b.f32_const(-3.0);
        b.store_reg(value, register, 0, 1);
        let zero = [(IndexKind::Base, 0), (IndexKind::LegacyFabs, 1), (IndexKind::LegacyFneg, 1)];
        let negative = b.intrinsic_def(IntrinsicOp::LoadReg, &[register], &zero, SCALAR);
        let fabs = b.intrinsic_def(IntrinsicOp::LoadReg, &[register], &[(IndexKind::LegacyFabs, 1)], SCALAR);
        let indices = [(IndexKind::WriteMask, 1), (IndexKind::LegacyFsat, 1)];
        b.intrinsic(IntrinsicOp::StoreReg, &[fabs, register], &indices, None);
        let saturated = b.load_reg(register, 0);
        b.vec_of(&[negative, fabs, saturated])
    });
    let outputs = ran(&shader, &lanes(1));
    let values: Vec<f32> = (0..3).map(|c| f32::from_bits(outputs.outputs.get(0, c, 0))).collect();
    assert_eq!(values, [-3.0, 3.0, 1.0]);
}

fn with_constants(mut inputs: Inputs) -> Inputs {
    inputs.constants = vec![(0..8).collect(), (100..108).collect(), (200..206).collect()];
    inputs
}

#[test]
fn uniforms() {
    let shader = shader(ShaderStage::Vertex, |b| {
        let x = lane(b);
        b.intrinsic_def(IntrinsicOp::LoadUniform, &[x], &[(IndexKind::Base, 1)], VEC4)
    });
    // Vectors 1, 2 (which does not exist), ...
    assert_eq!(component(&ran(&shader, &with_constants(lanes(3))), 3), [7, 0, 0]);
}

#[test]
fn uniform_buffers() {
    let load = |block: u32, offset: u32, align: i32| {
        let shader = shader(ShaderStage::Vertex, |b| {
            let (block, offset) = (b.u32_const(block), b.u32_const(offset));
            b.intrinsic_def(IntrinsicOp::LoadUbo, &[block, offset], &[(IndexKind::AlignMul, align)], VEC4)
        });
        let outputs = ran(&shader, &with_constants(lanes(1)));
        (0..4).map(|c| outputs.outputs.get(0, c, 0)).collect::<Vec<_>>()
    };
    assert_eq!(load(0, 16, 16), [104, 105, 106, 107]);
    assert_eq!(load(u32::MAX, 0, 16), [0, 1, 2, 3]);
    // A vector across the end of a buffer: word by word for aligned vectors, all or nothing for others.
    assert_eq!(load(1, 16, 16), [204, 205, 0, 0]);
    assert_eq!(load(1, 12, 4), [0; 4]);
    assert_eq!(load(1, 8, 4), [202, 203, 204, 205]);
    // Not aligned at all.
    assert_eq!(load(0, 1, 1), [0x6500_0000, 0x6600_0000, 0x6700_0000, 0x6800_0000]);
    assert_eq!(load(7, 0, 16), [0; 4]);
}

#[test]
fn uniform_buffers_by_vectors() {
    let shader = shader(ShaderStage::Vertex, |b| {
        let x = lane(b);
        let zero = b.u32_const(0);
        let indices = [(IndexKind::Base, 0), (IndexKind::Component, 2)];
        b.intrinsic_def(IntrinsicOp::LoadUboVec4, &[zero, x], &indices, Shape::new(2, 32))
    });
    assert_eq!(component(&ran(&shader, &with_constants(lanes(3))), 1), [103, 107, 0]);
}

#[test]
fn constant_data_belongs_to_the_shader() {
    let mut shader = shader(ShaderStage::Vertex, |b| {
        let x = lane(b);
        b.intrinsic_def(IntrinsicOp::LoadConstant, &[x], &[(IndexKind::Base, 1)], SCALAR)
    });
    shader.constant_data = vec![1, 2, 3, 4, 5, 6];
    assert_eq!(component(&ran(&shader, &lanes(3)), 0), [0x0504_0302, 0x0605_0403, 0]);
}

/// Each lane stores two words, one across the end, and loads them again; helpers and killed lanes store nothing.
#[test]
fn storage_buffers() {
    let mut shader = Shader::new(ShaderStage::Fragment);
    let mut b = Builder::at_end(shader.main_mut());
    let x = lane(&mut b);
    let (zero, two, eight) = (b.u32_const(0), b.u32_const(2), b.u32_const(8));
    let killed = b.alu(AluOp::Ieq, &[x, two]);
    b.intrinsic(IntrinsicOp::TerminateIf, &[killed], &[], None);
    let offset = b.alu(AluOp::Imul, &[x, eight]);
    let value = b.constant(32, &[0xaaaa_aaaa, 0xbbbb_bbbb, 0xcccc_cccc]);
    b.intrinsic(IntrinsicOp::StoreSsbo, &[value, zero, offset], &[(IndexKind::WriteMask, 0b101)], None);
    let pair = b.intrinsic_def(IntrinsicOp::LoadSsbo, &[zero, offset], &[], Shape::new(2, 32));
    store_output(&mut b, 0, pair);
    let size = b.intrinsic_def(IntrinsicOp::GetSsboSize, &[zero], &[], SCALAR);
    store_output(&mut b, 1, size);
    let mut inputs = lanes(4);
    inputs.buffers = vec![vec![0x11; 20]];
    inputs.helpers = vec![false, true, false, false];
    let outputs = ran(&shader, &inputs);
    assert_eq!(outputs.live, [true, true, false, true]);
    let words: Vec<u32> = outputs.buffers[0].chunks(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    assert_eq!(words, [0xaaaa_aaaa, 0x1111_1111, 0xcccc_cccc, 0x1111_1111, 0x1111_1111]);
    // A load of two words at byte 16 exceeds the buffer.
    assert_eq!(component(&outputs, 0), [0xaaaa_aaaa, 0xcccc_cccc, 0, 0]);
    assert_eq!(outputs.outputs.component(1, 0), [20; 4]);
}

#[test]
fn atomics_go_lane_by_lane() {
    let cases = [
        (AtomicOp::Iadd, [10, 10, 11, 13], 16),
        (AtomicOp::Umax, [10, 10, 10, 10], 10),
        (AtomicOp::Imin, [10, 0, 0, 0], 0),
        (AtomicOp::Xchg, [10, 0, 1, 2], 3),
        (AtomicOp::IncWrap, [10, 0, 1, 2], 3),
        (AtomicOp::DecWrap, [10, 0, 1, 0], 3),
    ];
    for (op, old, last) in cases {
        for shared in [false, true] {
            let shader = shader(ShaderStage::Compute, |b| {
                let x = lane(b);
                let four = b.u32_const(4);
                let zero = b.u32_const(0);
                let indices = [(IndexKind::AtomicOp, op.to_i32())];
                if shared {
                    // Memory starts as zero, so store the first value.
                    let ten = b.u32_const(10);
                    b.intrinsic(IntrinsicOp::StoreShared, &[ten, four], &[(IndexKind::WriteMask, 1)], None);
                    b.intrinsic_def(IntrinsicOp::SharedAtomic, &[four, x], &indices, SCALAR)
                } else {
                    b.intrinsic_def(IntrinsicOp::SsboAtomic, &[zero, four, x], &indices, SCALAR)
                }
            });
            let mut inputs = lanes(4);
            inputs.shared_size = 8;
            inputs.buffers = vec![vec![0, 0, 0, 0, 10, 0, 0, 0]];
            let outputs = ran(&shader, &inputs);
            assert_eq!(component(&outputs, 0), old, "{op}");
            let memory = if shared { &outputs.shared } else { &outputs.buffers[0] };
            assert_eq!(memory[4..], [last, 0, 0, 0], "{op}");
        }
    }
}

#[test]
fn swaps_compare_first() {
    let shader = shader(ShaderStage::Compute, |b| {
        let x = lane(b);
        let zero = b.u32_const(0);
        let one = b.u32_const(1);
        let next = b.alu(AluOp::Iadd, &[x, one]);
        let indices = [(IndexKind::AtomicOp, AtomicOp::Cmpxchg.to_i32())];
        b.intrinsic_def(IntrinsicOp::SsboAtomicSwap, &[zero, zero, x, next], &indices, SCALAR)
    });
    let mut inputs = lanes(4);
    inputs.buffers = vec![vec![0; 4]];
    let outputs = ran(&shader, &inputs);
    assert_eq!(component(&outputs, 0), [0, 1, 2, 3]);
    assert_eq!(outputs.buffers[0], [4, 0, 0, 0]);
}

#[test]
fn atomic_counters() {
    let shader = shader(ShaderStage::Compute, |b| {
        let four = b.u32_const(4);
        let indices = [(IndexKind::Base, 1), (IndexKind::RangeBase, 4)];
        let old = b.intrinsic_def(IntrinsicOp::AtomicCounterInc, &[four], &indices, SCALAR);
        let new = b.intrinsic_def(IntrinsicOp::AtomicCounterPreDec, &[four], &indices, SCALAR);
        let read = b.intrinsic_def(IntrinsicOp::AtomicCounterRead, &[four], &indices, SCALAR);
        let outside = b.intrinsic_def(IntrinsicOp::AtomicCounterAdd, &[read, read], &indices, SCALAR);
        b.vec_of(&[old, new, read, outside])
    });
    let mut inputs = lanes(2);
    inputs.counters = vec![vec![], vec![5, 6, 7]];
    let outputs = ran(&shader, &inputs);
    assert_eq!(component(&outputs, 0), [7, 8]);
    assert_eq!(component(&outputs, 1), [8, 7]);
    assert_eq!(component(&outputs, 2), [7, 7]);
    assert_eq!(component(&outputs, 3), [7, 14]);
    assert_eq!(outputs.counters[1], [5, 6, 21]);
}

#[test]
fn scratch_is_each_lanes_own() {
    let mut shader = shader(ShaderStage::Compute, |b| {
        let x = lane(b);
        let four = b.u32_const(4);
        let value = b.vec_of(&[x, x]);
        b.intrinsic(IntrinsicOp::StoreScratch, &[value, four], &[(IndexKind::WriteMask, 3)], None);
        b.intrinsic_def(IntrinsicOp::LoadScratch, &[four], &[], SCALAR)
    });
    shader.scratch_size = 8;
    assert_eq!(component(&ran(&shader, &lanes(3)), 0), [0, 1, 2]);
}
