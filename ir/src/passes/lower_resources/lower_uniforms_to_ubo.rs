//! Turns loads of uniforms into loads of uniform buffer 0, and renumbers the other uniform buffers from 1.
//!
//! ```text
//! before:                                            after:
//!                                                        32   %3 = umin %0, 0x0fffffff
//!                                                        32   %4 = ishl %3, 4
//!     32x4 %1 = @load_uniform (%0) (base=0)              32x4 %1 = @load_ubo (0, %4) (align_mul=16, align_offset=0)
//!     32x4 %2 = @load_ubo (0, %b)                        32x4 %2 = @load_ubo (1, %b)
//! ```
//!
//! The buffers are renumbered once: afterwards [`ShaderInfo::first_ubo_is_default_ubo`](crate::shader::ShaderInfo)
//! records that buffer 0 holds the uniforms, a variable declares it, and the next run lowers only new loads. An index
//! with a byte offset that would wrap around is clamped to the end.
//!
//! 64-bit numbers are laid out as in a buffer; smaller ones than 32 bits take a word each, as in uniforms. Cost:
//! linear.

use arrayvec::ArrayVec;

use crate::alu::AluOp;
use crate::body::{Body, MAX_COMPONENTS, Shape};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::shader::Shader;
use crate::types::{ScalarType, TypeData};
use crate::variable::{VariableData, VariableModes};

/// Maximum alignment reported for a constant offset.
const MAX_ALIGN: u32 = 1 << 30;

/// See the [module](self).
pub fn lower_uniforms_to_ubo(shader: &mut Shader) -> bool {
    let shifts = !shader.info.first_ubo_is_default_ubo;
    let mut progress = shifts;
    for body in shader.bodies_mut() {
        progress |= body.visit_insts(|body, inst| match body.intrinsic(inst) {
            Some(IntrinsicOp::LoadUniform) => {
                lower(body, inst);
                true
            }
            Some(IntrinsicOp::LoadUbo | IntrinsicOp::LoadUboVec4 | IntrinsicOp::GetUboSize) if shifts => {
                shift(body, inst);
                true
            }
            _ => false,
        });
    }
    if shifts {
        for data in shader.variables.values_mut().filter(|data| data.mode == VariableModes::MEM_UBO) {
            data.binding = data.binding.saturating_add(1);
            // All ones mean unassigned.
            data.driver_location = data.driver_location.saturating_add(1);
        }
        shader.info.first_ubo_is_default_ubo = true;
        if shader.num_uniforms > 0 {
            shader.info.num_ubos = shader.info.num_ubos.saturating_add(1);
            let length = shader.num_uniforms;
            let vector = shader.types.vector(ScalarType::Float, 4);
            let ty = shader.types.intern(TypeData::Array { element: vector, length, stride: 16 });
            shader.add_variable(VariableData::new("uniform_0", ty, VariableModes::MEM_UBO));
        }
    }
    progress
}

/// Increments the buffer number.
fn shift(body: &mut Body, inst: Inst) {
    let buffer = body.src(inst, 0);
    let Shape { num_components, bit_size } = body.shape(buffer);
    let mut b = Builder::new(body, Cursor::Before(inst));
    let next = match b.body.constant_component(buffer, 0) {
        Some(constant) if num_components == 1 => {
            let fit = if bit_size < 64 { (1 << bit_size) - 1 } else { u64::MAX };
            b.constant(bit_size, &[constant.wrapping_add(1) & fit])
        }
        _ => {
            // The first component of a vector is the buffer number.
            let mut ones: ArrayVec<u64, MAX_COMPONENTS> = (0..num_components).map(|_| 0).collect();
            ones[0] = 1;
            let ones = b.constant(bit_size, &ones);
            b.alu(AluOp::Iadd, &[buffer, ones])
        }
    };
    let source = body.source(inst, 0);
    body.set_src(source, next);
}

fn lower(body: &mut Body, inst: Inst) {
    let Some(def) = body.inst_def(inst) else { return };
    let Shape { num_components, bit_size } = body.shape(def);
    let (index, base, range) =
        (body.src(inst, 0), body.index(inst, IndexKind::Base), body.index(inst, IndexKind::Range) as u32);
    let mut b = Builder::new(body, Cursor::Before(inst));
    let zero = b.u32_const(0);
    // Uniforms of less than 32 bits take a word each.
    let shape = Shape::new(num_components, bit_size.max(32));
    let (offset, align, rest) = byte_offset(&mut b, index, base as u32);
    let bytes = u32::from(num_components) * u32::from(shape.bit_size) / 8;
    // A negative base has no known extent.
    let extent = range.checked_mul(16).filter(|&extent| range > 0 && base >= 0 && extent <= i32::MAX as u32);
    let (range_base, range) = match extent.zip((base as u32).checked_mul(16)) {
        Some((extent, first)) => (first as i32, extent.max(bytes) as i32),
        None => (0, -1),
    };
    let indices = [
        (IndexKind::AlignMul, align as i32),
        (IndexKind::AlignOffset, rest as i32),
        (IndexKind::RangeBase, range_base),
        (IndexKind::Range, range),
    ];
    let value = b.intrinsic_def(IntrinsicOp::LoadUbo, &[zero, offset], &indices, shape);
    let narrowed = match bit_size {
        8 => b.alu(AluOp::U2u8, &[value]),
        16 => b.alu(AluOp::U2u16, &[value]),
        _ => value,
    };
    body.replace_all_uses(def, narrowed);
    body.remove_inst(inst);
}

/// Emits the byte offset of a sum of vec4 indices; also returns its alignment.
fn byte_offset(b: &mut Builder<'_>, index: Def, base: u32) -> (Def, u32, u32) {
    let index = index_up_to(b, index, base, u32::MAX >> 4);
    if let Some(constant) = b.body.constant_component(index, 0) {
        let offset = (constant as u32) << 4;
        return (b.u32_const(offset), MAX_ALIGN, offset & (MAX_ALIGN - 1));
    }
    let log = b.u32_const(4);
    (b.alu(AluOp::Ishl, &[index, log]), 16, 0)
}

/// Emits a sum clamped to `last`, an index beyond the end.
fn index_up_to(b: &mut Builder<'_>, index: Def, base: u32, last: u32) -> Def {
    if let Some(constant) = b.body.constant_component(index, 0) {
        return b.u32_const((constant as u32).wrapping_add(base).min(last));
    }
    let mut sum = index;
    if base != 0 {
        let base = b.u32_const(base);
        sum = b.alu(AluOp::Iadd, &[index, base]);
    }
    let last = b.u32_const(last);
    b.alu(AluOp::Umin, &[sum, last])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alu::AluType;
    use crate::run::run;
    use crate::shader::ShaderStage;
    use crate::text::print;
    use crate::validate::validate;
    use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, RunLimits};

    const LANES: usize = 8;
    /// The first index of a lane: past the end, negative, wrapping around, in range.
    const STARTS: [u32; 5] = [40, 0xffff_fffc, 0x0fff_fffe, 0x1000_0000, 0];

    fn shader(shape: Shape, base: i32, by_lane: bool) -> Shader {
        let mut shader = Shader::new(ShaderStage::Vertex);
        shader.num_uniforms = 16;
        let mut b = Builder::at_end(shader.main_mut());
        let zero = b.u32_const(0);
        let index = if by_lane {
            b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &[], Shape::new(1, 32))
        } else {
            b.u32_const(2)
        };
        let indices = [(IndexKind::Base, base), (IndexKind::Range, 16)];
        let uniform = b.intrinsic_def(IntrinsicOp::LoadUniform, &[index], &indices, shape);
        let size = b.intrinsic_def(IntrinsicOp::GetUboSize, &[zero], &[], Shape::new(1, 32));
        let ubo = [(IndexKind::AlignMul, 16), (IndexKind::Range, -1)];
        let other = b.intrinsic_def(IntrinsicOp::LoadUbo, &[zero, zero], &ubo, Shape::new(1, 32));
        for (register, component) in (0..).zip(0..shape.num_components + 2) {
            let number = match component.checked_sub(shape.num_components) {
                None => b.channel(uniform, component),
                Some(0) => size,
                Some(_) => other,
            };
            let number = match b.body.bit_size(number) {
                64 => b.alu(AluOp::Unpack642x32, &[number]),
                32 => number,
                _ => b.alu(AluOp::U2u32, &[number]),
            };
            let mask = (1 << b.body.num_components(number)) - 1;
            let ty = AluType::UINT32.to_i32();
            let indices = [(IndexKind::Base, register), (IndexKind::WriteMask, mask), (IndexKind::SrcType, ty)];
            b.intrinsic(IntrinsicOp::StoreOutput, &[number, zero], &indices, None);
        }
        shader
    }

    fn outcome(shader: &Shader, start: u32) -> LaneRegisters {
        let mut inputs = Inputs { lanes: LANES, inputs: LaneRegisters::new(LANES, 1), ..Inputs::default() };
        (0..LANES).for_each(|lane| inputs.inputs.set(0, 0, lane, start.wrapping_add(lane as u32)));
        inputs.constants = vec![(0..64u32).map(|word| word.wrapping_mul(0x9e37_79b9) ^ 0x55).collect(), vec![7, 8, 9]];
        run(shader, &inputs, &mut AnalyticResources::default(), RunLimits::default()).expect("runs").outputs
    }

    #[test]
    fn every_shape_and_base() {
        let mut different = 0;
        for bit_size in [8, 16, 32, 64] {
            for num_components in [1, 2, 3, 4, 8] {
                for (base, by_lane) in [(0, true), (3, true), (-2, true), (1, false), (15, false)] {
                    let before = shader(Shape::new(num_components, bit_size), base, by_lane);
                    validate(&before).unwrap_or_else(|errors| panic!("{errors}"));
                    let mut after = before.clone();
                    assert!(lower_uniforms_to_ubo(&mut after));
                    validate(&after).unwrap_or_else(|errors| panic!("{errors}\n{}", print(&after)));
                    for start in STARTS {
                        let (expected, found) = (outcome(&before, start), outcome(&after, start));
                        assert_eq!(expected, found, "{start:#x}\n{}\n{}", print(&before), print(&after));
                        different += usize::from(expected.get(0, 0, 1) != 0);
                    }
                    assert!(!lower_uniforms_to_ubo(&mut after));
                    assert_eq!((after.info.num_ubos, after.globals.len()), (1, 1));
                }
            }
        }
        assert!(different > 150, "{different} loads that give something");
    }
}
