//! Models a consumer that rounds differently within its opcodes, as a shader for the interpreter.
//!
//! TGSI does not define how consumers round within `MAD`, `LRP` and the dot products: hardware may fuse product and
//! sum, GLSL's `mix` is not a multiple of a difference, and sums of products may begin at either end. Two shaders that
//! must have the same bits on every consumer must have them here too.

use super::keep::new_temporaries;
use tgsi::shader::{Dst, Immediate, Instruction, Register, Shader, Src};
use tgsi::tables::{File, ImmediateType, Opcode};

/// Returns the shader with other rounding within its compound opcodes:
///
/// ```text
/// MAD d, a, b, c    FMA d, a, b, c
/// LRP d, a, b, c    ADD t, 1, -a;  MUL t, t, c;  FMA d, a, b, t
/// DP3 d, a, b       MUL t, a, b;  ADD t.x, t.z, t.y and ADD d, t, a product, the last product first (likewise DP2, DP4)
/// ```
pub fn round_otherwise(shader: &Shader) -> Shader {
    let mut result = shader.clone();
    result.forget_encoding();
    let temporary = Register::new(File::Temporary, new_temporaries(&mut result, 2, false));
    result.immediates.push(Immediate::new(ImmediateType::Float32, [1f32.to_bits(); 4]));
    let one = Src::new(Register::new(File::Immediate, result.immediates.len() as i32 - 1));
    let mut instructions = Vec::with_capacity(result.instructions.len());
    // Start of each old instruction, for calls.
    let mut positions = Vec::with_capacity(result.instructions.len());
    for old in std::mem::take(&mut result.instructions) {
        positions.push(instructions.len() as u32);
        expand(old, temporary, one, &mut instructions);
    }
    for label in instructions.iter_mut().filter_map(|i: &mut Instruction| i.label.as_mut()) {
        *label = positions.get(*label as usize).copied().unwrap_or(*label);
    }
    result.instructions = instructions;
    result.order_by_kind();
    result
}

fn expand(old: Instruction, temporary: Register, one: Src, out: &mut Vec<Instruction>) {
    let mask = old.dst.first().map_or(0, |dst| dst.write_mask);
    match (old.opcode, &old.src[..]) {
        (Opcode::Mad, _) => out.push(Instruction { opcode: Opcode::Fma, ..old }),
        (Opcode::Lrp, &[a, b, c]) => {
            let rest = Src::new(temporary);
            let to = Some(Dst::new(temporary).masked(mask));
            out.push(Instruction::with_operands(Opcode::Add, to, &[one, Src { negate: !a.negate, ..a }]));
            out.push(Instruction::with_operands(Opcode::Mul, to, &[rest, c]));
            let mut last = Instruction { opcode: Opcode::Fma, ..old };
            last.src.clear();
            last.src.extend([a, b, rest]);
            out.push(last);
        }
        (Opcode::Dp2 | Opcode::Dp3 | Opcode::Dp4, &[a, b]) => {
            let count: u8 = match old.opcode {
                Opcode::Dp2 => 2,
                Opcode::Dp3 => 3,
                _ => 4,
            };
            let product = |component: u8| Src::new(temporary).swizzled([component; 4]);
            let sum = Register { index: temporary.index + 1, ..temporary };
            let products = Dst::new(temporary).masked((1 << count) - 1);
            out.push(Instruction::with_operands(Opcode::Mul, Some(products), &[a, b]));
            let mut so_far = product(count - 1);
            for component in (1..count - 1).rev() {
                let to = Dst::new(sum).masked(1);
                out.push(Instruction::with_operands(Opcode::Add, Some(to), &[so_far, product(component)]));
                so_far = Src::new(sum).swizzled([0; 4]);
            }
            let mut last = Instruction { opcode: Opcode::Add, ..old };
            last.src.clear();
            last.src.extend([so_far, product(0)]);
            out.push(last);
        }
        _ => out.push(old),
    }
}
