//! Edits of a shader that keep labels and register numbers consistent.

use tgsi::internals::{NO_PARTNER, structure};
use tgsi::shader::{Immediate, Indirect, Instruction, Register, Shader};
use tgsi::tables::{File, ImmediateType, Opcode};

/// Returns the shader with other instructions. `old` is the previous number of each, from which the labels of calls are
/// updated. Labels of blocks are not set.
pub(super) fn with_instructions(shader: &Shader, instructions: Vec<(Option<u32>, Instruction)>) -> Shader {
    let mut new_numbers = vec![None; shader.instructions.len() + 1];
    for (new, (old, _)) in instructions.iter().enumerate() {
        if let Some(slot) = old.and_then(|old| new_numbers.get_mut(old as usize)) {
            *slot = Some(new as u32);
        }
    }
    let mut result = shader.clone();
    result.instructions = instructions.into_iter().map(|(_, instruction)| instruction).collect();
    for instruction in result.instructions.iter_mut().filter(|i| i.opcode == Opcode::Cal) {
        instruction.label = instruction.label.and_then(|label| new_numbers.get(label as usize).copied().flatten());
    }
    result.order_by_kind();
    result
}

/// Returns the shader without some instructions.
pub(super) fn without(shader: &Shader, is_deleted: impl Fn(usize) -> bool) -> Shader {
    let kept = shader.instructions.iter().enumerate().filter(|&(number, _)| !is_deleted(number));
    with_instructions(shader, kept.map(|(number, i)| (Some(number as u32), i.clone())).collect())
}

/// Sets the labels of blocks from the structure; those of calls are kept.
pub(crate) fn relabel(shader: &mut Shader) {
    let Ok(structure) = structure(shader) else { return };
    for (instruction, &partner) in shader.instructions.iter_mut().zip(&structure.partner) {
        match instruction.opcode {
            Opcode::If | Opcode::Uif | Opcode::Else | Opcode::Bgnloop | Opcode::Endloop if partner != NO_PARTNER => {
                instruction.label = Some(partner);
            }
            _ => {}
        }
    }
}

/// Applies `change` to every register that an instruction names, including index registers.
pub(super) fn for_each_register(shader: &mut Shader, change: &mut dyn FnMut(File, &mut i32)) {
    let mut of_register = |register: &mut Register| {
        change(register.file, &mut register.index);
        let outer = register.dimension.as_mut().and_then(|dimension| dimension.indirect.as_mut());
        for Indirect { file, index, .. } in register.indirect.as_mut().into_iter().chain(outer) {
            change(*file, index);
        }
    };
    for instruction in &mut shader.instructions {
        instruction.dst.iter_mut().for_each(|dst| of_register(&mut dst.register));
        instruction.src.iter_mut().for_each(|src| of_register(&mut src.register));
    }
    for offset in shader.instructions.iter_mut().filter_map(|i| i.texture.as_mut()).flat_map(|t| &mut t.offsets) {
        change(offset.file, &mut offset.index);
    }
}

/// Returns the number of an immediate with these words, appending it if necessary.
pub(super) fn immediate(shader: &mut Shader, words: [u32; 4]) -> i32 {
    let known = shader.immediates.iter().position(|immediate| immediate.words[..] == words);
    known.map_or_else(
        || {
            shader.push_immediate(Immediate::new(ImmediateType::Uint32, words));
            shader.order_by_kind();
            shader.immediates.len() as i32 - 1
        },
        |position| position as i32,
    )
}
