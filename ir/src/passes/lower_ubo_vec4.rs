//! Loads of uniform buffers by byte become loads of whole vectors of four words, for targets whose constants are registers.
//!
//! ```text
//! 32x2 %2 = @load_ubo (%0, %1) (align_mul=8, align_offset=0)     =>     32   %3 = ushr %1, 4
//!                                                                       32x4 %4 = @load_ubo_vec4 (%0, %3) (base=0, component=0)
//!                                                                       32   %5 = iand %1, 8
//!                                                                       1    %6 = ine %5, 0
//!                                                                       32   %7 = bcsel %6, %4.z, %4.x
//!                                                                       32   %8 = bcsel %6, %4.w, %4.y
//!                                                                       32x2 %2 = vec2 %7, %8
//! ```
//!
//! What the alignment says of the offset needs no code: with an alignment of 16 bytes components are known, and only those are loaded. Otherwise as many vectors are
//! loaded as the access may touch, and their words are moved into place: by two if the offset has the bit of 8, then by one if it has that of 4, then by
//! the bytes that are left. Numbers of 64 bits are put together from words, those of fewer than 32 taken out of them.
//!
//! A load that is partly outside its buffer gives what of the words inside it reads, where the bytes together would have given nothing.
//!
//! Cost: linear in loads times the words that they read.

use arrayvec::ArrayVec;

use crate::alu::AluOp;
use crate::body::{Body, MAX_COMPONENTS, Shape};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::shader::Shader;

/// Words that the largest load may touch: sixteen numbers of 64 bits, at any byte.
const MAX_WORDS: usize = 2 * MAX_COMPONENTS + 8;

/// See the [module](self).
pub fn lower_ubo_vec4(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= body.visit_insts(|body, inst| {
            let is_load = body.intrinsic(inst) == Some(IntrinsicOp::LoadUbo);
            if is_load {
                lower(body, inst);
            }
            is_load
        });
    }
    progress
}

type Words = ArrayVec<AluSrc, MAX_WORDS>;

fn lower(body: &mut Body, inst: Inst) {
    let Some(def) = body.inst_def(inst) else { return };
    let Shape { num_components, bit_size } = body.shape(def);
    let (buffer, offset) = (body.src(inst, 0), body.src(inst, 1));
    let bytes = usize::from(bit_size) / 8;
    // What is known of the offset: its rest by a power of two of up to 16.
    let align = (body.index(inst, IndexKind::AlignMul) as u32).clamp(1, 16);
    let align = if align.is_power_of_two() { align as usize } else { 1 };
    let known = body.index(inst, IndexKind::AlignOffset) as usize & (align - 1);
    let size = usize::from(num_components) * bytes;
    // From the first byte that may be meant to the last.
    let (first, end) = (known / 4, (known + size + 16 - align).div_ceil(4));
    let access = body.index(inst, IndexKind::Access);

    let mut b = Builder::new(body, Cursor::Before(inst));
    let four = b.u32_const(4);
    let place = b.alu(AluOp::Ushr, &[offset, four]);
    let mut words = Words::new();
    for vector in 0..end.div_ceil(4) {
        let component = if vector == 0 { first } else { 0 };
        let count = (end - 4 * vector).min(4) - component;
        let indices =
            [(IndexKind::Access, access), (IndexKind::Base, vector as i32), (IndexKind::Component, component as i32)];
        let shape = Shape::new(count as u8, 32);
        let loaded = b.intrinsic_def(IntrinsicOp::LoadUboVec4, &[buffer, place], &indices, shape);
        words.extend((0..count as u8).map(|component| AluSrc::component(loaded, component)));
    }
    // Each step leaves the words that the ones behind it may still need.
    let needed = |rest: usize| (known % 4 + size + rest).div_ceil(4);
    if align < 16 {
        words = move_by(&mut b, words, offset, 2, needed(8usize.saturating_sub(align)));
    }
    if align < 8 {
        words = move_by(&mut b, words, offset, 1, needed(4usize.saturating_sub(align)));
    }
    if align < 4 {
        words = move_by_bytes(&mut b, &words, offset, size.div_ceil(4));
    }
    let start = if align < 4 { 0 } else { known % 4 };
    let parts: ArrayVec<AluSrc, MAX_COMPONENTS> =
        (0..usize::from(num_components)).map(|number| part(&mut b, &words, start + number * bytes, bit_size)).collect();
    let vector = b.vec(&parts);
    body.replace_all_uses(def, vector);
    body.remove_inst(inst);
}

/// The words from the first on, or from `distance` on if the offset has that bit.
fn move_by(b: &mut Builder<'_>, words: Words, offset: Def, distance: usize, count: usize) -> Words {
    let (bit, zero) = (b.u32_const(4 * distance as u32), b.u32_const(0));
    let bit = b.alu(AluOp::Iand, &[offset, bit]);
    let is_set = b.alu(AluOp::Ine, &[bit, zero]);
    let select = |(&near, &far): (&AluSrc, &AluSrc)| {
        AluSrc::component(b.alu_sized(AluOp::Bcsel, 1, &[AluSrc::component(is_set, 0), far, near]), 0)
    };
    words.iter().zip(&words[distance.min(words.len())..]).take(count).map(select).collect()
}

/// The words from the byte on that the last two bits of the offset say.
fn move_by_bytes(b: &mut Builder<'_>, words: &Words, offset: Def, count: usize) -> Words {
    let [three, one, last] = [3, 1, 31].map(|value| b.u32_const(value));
    let bits = b.alu(AluOp::Iand, &[offset, three]);
    let bits = b.alu(AluOp::Ishl, &[bits, three]);
    let others = b.alu(AluOp::Isub, &[last, bits]);
    let mut moved = Words::new();
    for (number, &word) in words.iter().enumerate().take(count) {
        let mut value = b.alu_sized(AluOp::Ushr, 1, &[word, bits.into()]);
        if let Some(&next) = words.get(number + 1) {
            // In two steps: there is no shift by 32.
            let upper = b.alu_sized(AluOp::Ishl, 1, &[next, one.into()]);
            let upper = b.alu(AluOp::Ishl, &[upper, others]);
            value = b.alu(AluOp::Ior, &[value, upper]);
        }
        moved.push(AluSrc::component(value, 0));
    }
    moved
}

/// The number that begins at a byte of the words.
fn part(b: &mut Builder<'_>, words: &Words, byte: usize, bit_size: u8) -> AluSrc {
    let word = words[byte / 4];
    let def = match bit_size {
        64 => b.alu_sized(AluOp::Pack642x32Split, 1, &[word, words[byte / 4 + 1]]),
        32 => return word,
        _ => {
            let mut moved = word;
            if !byte.is_multiple_of(4) {
                let place = b.u32_const(8 * (byte % 4) as u32);
                moved = AluSrc::component(b.alu_sized(AluOp::Ushr, 1, &[word, place.into()]), 0);
            }
            b.alu_sized(if bit_size == 16 { AluOp::U2u16 } else { AluOp::U2u8 }, 1, &[moved])
        }
    };
    AluSrc::component(def, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alu::AluType;
    use crate::run::{AnalyticResources, Inputs, LaneRegisters, Program, RunLimits};
    use crate::shader::Stage;
    use crate::validate::validate;

    /// A load at `align * input + rest`, and its numbers as words in outputs.
    fn shader(shape: Shape, align: u32, rest: u32) -> Shader {
        let mut shader = Shader::new(Stage::Vertex);
        let mut b = Builder::at_end(shader.main_mut());
        let [zero, align_by, rest_by] = [0, align, rest].map(|value| b.u32_const(value));
        let input = b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &[], Shape::new(1, 32));
        let offset = b.alu(AluOp::Imul, &[input, align_by]);
        let offset = b.alu(AluOp::Iadd, &[offset, rest_by]);
        let indices =
            [(IndexKind::AlignMul, align as i32), (IndexKind::AlignOffset, rest as i32), (IndexKind::Range, -1)];
        let value = b.intrinsic_def(IntrinsicOp::LoadUbo, &[zero, offset], &indices, shape);
        for component in 0..shape.num_components {
            let number = b.channel(value, component);
            let number = match shape.bit_size {
                64 => b.alu(AluOp::Unpack642x32, &[number]),
                32 => number,
                _ => b.alu(AluOp::U2u32, &[number]),
            };
            let mask = (1 << b.body.num_components(number)) - 1;
            let ty = AluType::UINT32.to_i32();
            let indices = [(IndexKind::Base, component.into()), (IndexKind::WriteMask, mask), (IndexKind::SrcType, ty)];
            b.intrinsic(IntrinsicOp::StoreOutput, &[number, zero], &indices, None);
        }
        validate(&shader).unwrap_or_else(|errors| panic!("{errors}"));
        shader
    }

    /// All sizes, alignments and offsets.
    #[test]
    fn every_place() {
        let buffer: Vec<u32> =
            (0..128u32).map(|i| if i % 5 == 3 { 0 } else { i.wrapping_mul(0x9e37_79b9) ^ 0x55aa_1234 }).collect();
        let mut checked = 0;
        for bit_size in [8, 16, 32, 64] {
            let bytes = u32::from(bit_size) / 8;
            for num_components in [1, 2, 3, 4, 5, 8, 16] {
                for align in [1, 2, 4, 8, 16, 32] {
                    for rest in (0..align).step_by(bytes.min(align) as usize) {
                        let before = shader(Shape::new(num_components, bit_size), align, rest);
                        let mut after = before.clone();
                        assert!(lower_ubo_vec4(&mut after));
                        validate(&after).unwrap_or_else(|errors| panic!("{errors}"));
                        assert!(!lower_ubo_vec4(&mut after));
                        let run = |shader: &Shader| {
                            let lanes = 16;
                            let mut inputs =
                                Inputs { lanes, inputs: LaneRegisters::new(lanes, 1), ..Inputs::default() };
                            inputs.constants = vec![vec![], buffer.clone()];
                            (0..lanes).for_each(|lane| inputs.inputs.set(0, 0, lane, lane as u32 % 10));
                            let program = Program::new(shader).expect("valid");
                            let resources = &mut AnalyticResources::default();
                            program.run(&inputs, resources, RunLimits::default()).expect("runs").outputs
                        };
                        let (expected, found) = (run(&before), run(&after));
                        assert_eq!(expected, found, "{num_components} x {bit_size} bits, {align} * n + {rest}");
                        checked += usize::from((0..4).any(|component| expected.get(0, component, 1) != 0));
                    }
                }
            }
        }
        assert!(checked > 500, "{checked} loads that give something");
    }

    /// What is aligned is loaded as it is.
    #[test]
    fn no_code_for_what_is_known() {
        let mut shader = shader(Shape::new(2, 32), 16, 8);
        lower_ubo_vec4(&mut shader);
        let body = shader.main();
        let ops = || body.blocks().flat_map(|block| body.insts(block)).filter_map(|inst| body.alu_op(inst));
        assert!(!ops().any(|op| op == AluOp::Bcsel));
        let loads: Vec<_> = body
            .blocks()
            .flat_map(|block| body.insts(block))
            .filter(|&inst| body.intrinsic(inst) == Some(IntrinsicOp::LoadUboVec4))
            .map(|inst| (body.index(inst, IndexKind::Component), body.inst_def(inst).map(|def| body.shape(def))))
            .collect();
        assert_eq!(loads, [(2, Some(Shape::new(2, 32)))]);
    }
}
