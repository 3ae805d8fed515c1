//! The store semantics of Mesa's interpreter, expressed in TGSI.
//!
//! Code for it must keep its meaning under this rewrite: [`run`](super::run) then shows what such a consumer would
//! lose.

use tgsi::shader::{Instruction, Shader};
use tgsi::tables::{File, Opcode};

use super::recording_interpreter::rewrite;

/// Returns the shader as Mesa's interpreter (softpipe) executes it:
///
/// * an atomic operation on a buffer or on shared memory stores its result to all four components, and does nothing if
///   its mask lacks x;
/// * a 64-bit instruction with two results stores the first before it reads the operands of the second.
///
/// ```text
/// ATOMUADD TEMP[0].x, BUFFER[0], a, b        ATOMUADD TEMP[0], BUFFER[0], a, b
/// DADD TEMP[1], TEMP[1].zwxy, TEMP[2]    =>  DADD TEMP[1].xy, TEMP[1].zwxy, TEMP[2]
///                                            DADD TEMP[1].zw, TEMP[1].zwxy, TEMP[2]
/// ```
pub fn as_mesa_stores(shader: &Shader) -> Shader {
    let mut stored = shader.clone();
    for instruction in &mut stored.instructions {
        let resource = instruction.src.first().map(|src| src.register.file);
        if matches!(resource, Some(File::Buffer | File::Memory)) {
            widen_atomic(instruction);
        }
    }
    rewrite(&mut stored, |instruction, _| take_first_half(instruction));
    stored.forget_encoding();
    stored
}

/// An atomic writes its result to all four channels if its mask has x, and does nothing otherwise.
pub(super) fn widen_atomic(instruction: &mut Instruction) {
    if !instruction.opcode.info().is_store || instruction.opcode == Opcode::Store {
        return;
    }
    if instruction.dst.iter().all(|dst| dst.write_mask & 1 == 0) {
        let span = instruction.span;
        *instruction = Instruction { span, ..Instruction::new(Opcode::Nop) };
    } else {
        instruction.dst.iter_mut().for_each(|dst| dst.write_mask = 0xf);
    }
}

/// Splits an instruction with two results into two; returns the one for the first result.
fn take_first_half(instruction: &mut Instruction) -> Option<Instruction> {
    let info = instruction.opcode.info();
    let [dst] = instruction.dst[..] else { return None };
    let mask = dst.write_mask & 0xf;
    let (mut first, mut second) = (mask & 0b0011, mask & 0b1100);
    if !info.dst_type.is_64bit() {
        if !info.src_types.iter().any(|t| t.is_64bit()) {
            return None;
        }
        if is_narrowing(instruction.opcode) {
            first = mask & mask.wrapping_neg();
            let rest = mask & !first;
            second = rest & rest.wrapping_neg();
        }
    }
    if first == 0 || second == 0 {
        return None;
    }
    let mut early = instruction.clone();
    early.dst[0].write_mask = first;
    instruction.dst[0].write_mask = second;
    if is_narrowing(instruction.opcode) {
        // The first component of a mask is computed from x and y.
        for src in &mut instruction.src {
            let [x, y, z, w] = src.swizzle;
            src.swizzle = [z, w, x, y];
        }
    }
    Some(early)
}

/// Whether an instruction converts each pair of its operand to 32 bits, in the order of the components that it writes.
fn is_narrowing(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::D2f | Opcode::D2i | Opcode::D2u | Opcode::I642f | Opcode::U642f)
}
