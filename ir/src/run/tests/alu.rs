//! Arithmetic.

use super::*;
use crate::alu::{BaseType, ExecutionMode, evaluate};
use crate::body::Swizzle;
use crate::builder::AluSrc;
use tgsi_environment::special;

/// Edge cases of opcodes and numbers next to them, in an endless sequence.
fn sample(number: usize) -> u32 {
    match number % 3 {
        0 => (number as u32).wrapping_mul(0x9e37_79b9) ^ (number as u32) << 7,
        _ => special::word(number - number / 3),
    }
}

/// Every opcode on vectors of every size that it supports: the loops over lanes give the same results as the evaluation
/// of the table.
#[test]
fn opcodes_agree_with_their_evaluation() {
    const LANES: usize = 61;
    for &op in AluOp::ALL {
        let info = op.info();
        let sizes = if info.bit_sizes.is_empty() { &[32][..] } else { info.bit_sizes };
        for &bit_size in sizes {
            let components = match info.output_size {
                0 => 3,
                size => size,
            };
            let mut shader = Shader::new(ShaderStage::Vertex);
            let mut b = Builder::at_end(shader.main_mut());
            let zero = b.u32_const(0);
            let mut sources = Vec::new();
            for (number, ty) in info.input_types.iter().enumerate() {
                let bits = if ty.is_unsized() { bit_size } else { ty.bit_size };
                let count = op.input_components(number, components);
                let shape = Shape::new(count, bits);
                let indices = [(IndexKind::Base, 8 * number as i32)];
                let load = b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &indices, shape);
                // Reversed, so that swizzles matter.
                let swizzle = (0..count).rev().collect::<Vec<_>>();
                sources.push(AluSrc::new(load, Swizzle::new(&swizzle)));
            }
            let value = b.alu_sized(op, components, &sources);
            let result_bits = b.body.bit_size(value);
            store_output(&mut b, 0, value);
            let registers = 8 * info.input_types.len();
            let mut inputs = Inputs { lanes: LANES, inputs: LaneRegisters::new(LANES, registers), ..Inputs::default() };
            for register in 0..registers {
                for component in 0..4 {
                    for lane in 0..LANES {
                        inputs.inputs.set(register, component, lane, sample(lane * 7 + register * 3 + component * 5));
                    }
                }
            }
            let outputs = ran(&shader, &inputs);
            for lane in 0..LANES {
                let operands: Vec<Vec<u64>> = info
                    .input_types
                    .iter()
                    .enumerate()
                    .map(|(number, ty)| {
                        let bits = if ty.is_unsized() { bit_size } else { ty.bit_size };
                        let word = |at: usize| u64::from(inputs.inputs.get(8 * number + at / 4, at % 4, lane));
                        let count = usize::from(op.input_components(number, components));
                        let read = |component: usize| match bits {
                            64 => word(2 * component) | word(2 * component + 1) << 32,
                            1 => u64::from(word(component) != 0),
                            bits => word(component) & ((1 << bits) - 1),
                        };
                        (0..count).rev().map(read).collect()
                    })
                    .collect();
                let operands: Vec<&[u64]> = operands.iter().map(Vec::as_slice).collect();
                let mut expected = [0; 16];
                evaluate(op, bit_size, components, &operands, ExecutionMode::DEFAULT, &mut expected);
                for (component, &expected) in expected.iter().enumerate().take(components.into()) {
                    let word = |at: usize| u64::from(outputs.outputs.get(at / 4, at % 4, lane));
                    let found = match result_bits {
                        64 => word(2 * component) | word(2 * component + 1) << 32,
                        1 => u64::from(word(component) != 0),
                        _ => word(component),
                    };
                    // Which of two NaNs is propagated depends on the machine.
                    let nan = |bits: u64| result_bits == 32 && f32::from_bits(bits as u32).is_nan();
                    if info.output_type.base == BaseType::Float && nan(found) && nan(expected) {
                        continue;
                    }
                    assert_eq!(
                        found, expected,
                        "{op} of {bit_size} bits, lane {lane}, component {component}: {operands:x?}"
                    );
                }
            }
        }
    }
}

#[test]
fn denormals_are_flushed_if_asked_for() {
    let mut shader = shader(ShaderStage::Vertex, |b| {
        let tiny = b.u32_const(1);
        let zero = b.u32_const(0);
        b.alu(AluOp::Fadd, &[tiny, zero])
    });
    assert_eq!(component(&ran(&shader, &lanes(1)), 0), [1]);
    shader.info.float_controls_execution_mode = ExecutionMode(1 << 13);
    assert_eq!(component(&ran(&shader, &lanes(1)), 0), [0]);
}

#[test]
fn undef_is_zero() {
    let shader = shader(ShaderStage::Vertex, |b| b.undef(4, 32));
    assert_eq!(component(&ran(&shader, &lanes(2)), 3), [0, 0]);
}
