//! Rewrites shaders so that they reproduce the deviations of the interpreter that recorded the
//! [vectors](super::vectors).
//!
//! A shader rewritten by [`as_recorded`] must give the recorded results in every executor, so interpreters and drivers
//! need no mode for the wrong results. Every rewrite is local to an instruction and may insert one `MOV` or `DIV`
//! before it.

use super::stores::widen_atomic;
use tgsi::shader::{
    Declaration, Dst, Immediate, Indirect, Instruction, InstructionTexture, ItemKind, Register, Shader, Src,
};
use tgsi::tables::{File, ImmediateType, Opcode, Primitive, PropertyName, TextureTarget};

/// Returns the shader as the recording interpreter understood it:
///
/// * the index register of an indirect *source* is read from file `ADDR`, whichever file the operand names;
/// * modifiers of the integer operands of `I2D`, `U2D` and `LDEXP` act on bit 31, as on floats;
/// * an atomic writes its result to all four channels if its mask has x, and does nothing otherwise;
/// * `TXD` passes components of the coordinate operand to the sampler that its target does not use;
/// * texel offsets have three components for every target;
/// * a run-time buffer index is taken modulo the number of its buffers, 32;
/// * if there are several texel offsets, none is used;
/// * a geometry shader gets six vertices for every primitive.
///
/// Deviations that cannot be expressed like this are covered by [`depends_on_uninitialised_memory`]; see
/// [`super::vectors::UninitialisedWords`].
pub fn as_recorded(shader: &Shader) -> Shader {
    let mut recorded = shader.clone();
    let mut address_registers = Vec::new();
    for instruction in &mut recorded.instructions {
        take_indices_from_addresses(instruction, &mut address_registers);
        widen_atomic(instruction);
        if let Some(texture) = &mut instruction.texture
            && texture.offsets.len() > 1
        {
            texture.offsets.clear();
        }
    }
    for property in &mut recorded.properties {
        if property.name == PropertyName::GsInputPrimitive
            && let Some(primitive) = property.data.first_mut()
        {
            *primitive = u32::from(Primitive::TrianglesAdjacency.value());
        }
    }
    rewrite_with_copies(&mut recorded);
    address_registers.sort_unstable();
    address_registers.dedup();
    address_registers.retain(|index| {
        !shader.declarations.iter().any(|d| d.file == File::Address && (d.first..=d.last).contains(index))
    });
    declare(&mut recorded, File::Address, &address_registers);
    recorded.forget_encoding();
    recorded
}

/// Number of storage buffers of the recording interpreter.
const BUFFERS: u32 = 32;

/// Declares registers before the first instruction.
fn declare(shader: &mut Shader, file: File, registers: &[u16]) {
    shader.insert_declarations(registers.iter().map(|&register| Declaration::new(file, register, register)));
}

fn take_indices_from_addresses(instruction: &mut Instruction, address_registers: &mut Vec<u16>) {
    for source in &mut instruction.src {
        let register = &mut source.register;
        // Resources are looked up by the register number.
        if register.file.is_resource() {
            continue;
        }
        let outer = register.dimension.as_mut().and_then(|dimension| dimension.indirect.as_mut());
        for indirect in register.indirect.as_mut().into_iter().chain(outer) {
            if indirect.file != File::Address {
                indirect.file = File::Address;
                address_registers.extend(u16::try_from(indirect.index));
            }
        }
    }
}

/// Registers for copies: one per mask, so that components that no copy writes stay zero.
pub(super) struct Scratch {
    first: u16,
    used: u16,
}

impl Scratch {
    /// The register for copies of the components of `mask`.
    pub(super) fn register(&mut self, mask: u8) -> Register {
        self.used |= 1 << mask;
        Register::new(File::Temporary, i32::from(self.first) + i32::from(mask))
    }

    /// Copies the components of `mask` with `opcode` and replaces `source` with the copy.
    fn copy(&mut self, source: &mut Src, mask: u8, opcode: Opcode) -> Instruction {
        let register = self.register(mask);
        let mut copy = Instruction::with_operands(opcode, Dst::new(register).masked(mask), &[*source]);
        copy.span = source.span;
        if opcode == Opcode::Div {
            copy.src.push(Src { swizzle: [source.swizzle[3]; 4], ..*source });
        }
        *source = Src::new(register);
        copy
    }
}

/// Applies the rewrites that need a copy of an operand.
fn rewrite_with_copies(shader: &mut Shader) {
    let immediates = shader.immediates.clone();
    let buffer_indices = shader.instructions.iter_mut().any(|instruction| indirect_buffer(instruction).is_some());
    // Immediates are numbered by their order, so the new one can be last.
    let buffer_mask =
        buffer_indices.then(|| shader.push_immediate(Immediate::new(ImmediateType::Uint32, [BUFFERS - 1; 4])));
    rewrite(shader, |instruction, scratch| {
        move_float_modifiers(instruction, scratch)
            .or_else(|| spell_out_arguments(instruction, &immediates, scratch))
            .or_else(|| replace_buffer_index(instruction, buffer_mask?, Opcode::And, scratch))
    });
}

/// Returns the buffer operand of an instruction, if its index is not constant.
pub(super) fn indirect_buffer(instruction: &mut Instruction) -> Option<&mut Register> {
    instruction.registers_mut().find(|register| register.file == File::Buffer && register.indirect.is_some())
}

/// Applies `opcode` with an immediate to the run-time index of a buffer operand.
pub(super) fn replace_buffer_index(
    instruction: &mut Instruction,
    immediate: u32,
    opcode: Opcode,
    scratch: &mut Scratch,
) -> Option<Instruction> {
    let span = instruction.span;
    let register = indirect_buffer(instruction)?;
    let indirect = register.indirect?;
    let index = scratch.register(1);
    let run_time = Src::new(Register::new(indirect.file, indirect.index)).swizzled([indirect.component; 4]);
    let known = Src::new(Register::new(File::Immediate, immediate as i32));
    let mut changed = Instruction::with_operands(opcode, Dst::new(index).masked(1), &[run_time, known]);
    changed.span = span;
    register.indirect = Some(Indirect { file: index.file, index: index.index, component: 0, ..indirect });
    Some(changed)
}

/// Edits every instruction with `change`, which may return an instruction to insert before it and allocate registers,
/// and adjusts the labels.
pub(super) fn rewrite(
    shader: &mut Shader,
    mut change: impl FnMut(&mut Instruction, &mut Scratch) -> Option<Instruction>,
) {
    let temporaries = shader.declarations.iter().filter(|d| d.file == File::Temporary);
    let first = temporaries.map(|d| d.last.saturating_add(1)).max().unwrap_or(0);
    let mut scratch = Scratch { first, used: 0 };
    let mut old_instructions = std::mem::take(&mut shader.instructions).into_iter();
    let mut new_numbers = Vec::with_capacity(old_instructions.len());
    let mut instructions = Vec::with_capacity(old_instructions.len());
    let mut order = Vec::with_capacity(shader.order.len());
    for kind in std::mem::take(&mut shader.order) {
        if kind == ItemKind::Instruction
            && let Some(mut instruction) = old_instructions.next()
        {
            new_numbers.push(instructions.len() as u32);
            if let Some(copy) = change(&mut instruction, &mut scratch) {
                instructions.push(copy);
                order.push(kind);
            }
            instructions.push(instruction);
        }
        order.push(kind);
    }
    for instruction in &mut instructions {
        if let Some(label) = &mut instruction.label {
            *label = new_numbers.get(*label as usize).copied().unwrap_or(*label);
        }
    }
    shader.instructions = instructions;
    shader.order = order;
    let used: Vec<u16> =
        (0..16).filter(|mask| scratch.used >> mask & 1 != 0).map(|mask| first.saturating_add(mask)).collect();
    declare(shader, File::Temporary, &used);
}

/// `MOV` applies modifiers as on floats.
fn move_float_modifiers(instruction: &mut Instruction, scratch: &mut Scratch) -> Option<Instruction> {
    let operand = match instruction.opcode {
        Opcode::I2d | Opcode::U2d => 0,
        Opcode::Ldexp => 1,
        _ => return None,
    };
    let source = instruction.src.get_mut(operand).filter(|source| source.absolute || source.negate)?;
    Some(scratch.copy(source, 0xf, Opcode::Mov))
}

/// Gives a lookup a target with all arguments that the recording interpreter passed to the sampler, and a copy of the
/// coordinate operand that is zero in the others.
fn spell_out_arguments(
    instruction: &mut Instruction,
    immediates: &[tgsi::shader::Immediate],
    scratch: &mut Scratch,
) -> Option<Instruction> {
    use TextureTarget::*;
    let opcode = instruction.opcode;
    let texture = instruction.texture.as_mut()?;
    let target = texture.target;
    let wide_offset = has_wide_offset(texture, immediates);
    if !(wide_offset || opcode == Opcode::Txd) {
        return None;
    }
    let coordinates = target.coordinate_components();
    let mut mask = (1u8 << coordinates) - 1;
    if let Some(position @ 0..4) = target.comparator_position() {
        mask |= 1 << position;
    }
    match opcode {
        Opcode::Txd => {
            mask = match target {
                Shadow1D | Texture1DArray | Shadow1DArray => 0x7,
                Buffer | Texture1D | Texture2D | Rect => mask,
                _ => 0xf,
            };
            if !wide_offset && mask == (1 << coordinates) - 1 {
                return None;
            }
            texture.target = if mask > 0x7 { CubeArray } else { Texture3D };
        }
        // The level or sample in w is unchanged.
        Opcode::Txf => {
            texture.target = Texture3D;
            mask |= 0x8;
        }
        Opcode::Txb | Opcode::Txl if mask <= 0x7 => {
            texture.target = Texture3D;
            mask |= 0x8;
        }
        Opcode::Tex | Opcode::Txp if mask <= 0x7 => texture.target = Texture3D,
        Opcode::Tex | Opcode::Tex2 | Opcode::Txb2 | Opcode::Txl2 | Opcode::Tg4 | Opcode::Txp => {
            texture.target = CubeArray;
        }
        _ => return None,
    }
    if opcode == Opcode::Txp {
        instruction.opcode = Opcode::Tex;
    }
    let copy_opcode = if opcode == Opcode::Txp { Opcode::Div } else { Opcode::Mov };
    Some(scratch.copy(instruction.src.first_mut()?, mask, copy_opcode))
}

/// Whether the offset has a possibly nonzero component beyond those of the target.
fn has_wide_offset(texture: &InstructionTexture, immediates: &[tgsi::shader::Immediate]) -> bool {
    let [offset] = texture.offsets.as_slice() else { return false };
    let dimensions = texture.target.coordinate_components() - u8::from(texture.target.is_array());
    offset.swizzle.iter().skip(usize::from(dimensions)).any(|&component| {
        let immediate = usize::try_from(offset.index).ok().and_then(|index| immediates.get(index));
        offset.file != File::Immediate || immediate.is_some_and(|words| words.word(usize::from(component)) != 0)
    })
}

/// Whether recorded results of a shader may depend on the uninitialised memory of the recording interpreter, which
/// cannot be reproduced:
///
/// * its `TXF` passes uninitialised words to the sampler for the coordinates beyond those of the target, and for all
///   coordinates of a cube;
/// * a buffer index beyond the declared buffers addressed buffers that are not in the record.
pub fn depends_on_uninitialised_memory(shader: &Shader) -> bool {
    shader.instructions.iter().any(|instruction| {
        let fetches_garbage = instruction.opcode == Opcode::Txf
            && instruction.texture.as_ref().is_some_and(|texture| {
                texture.target.coordinate_components() < 3
                    || matches!(texture.target, TextureTarget::Cube | TextureTarget::CubeArray)
            });
        let leaves_buffers = instruction
            .src
            .iter()
            .any(|source| source.register.file == File::Buffer && source.register.indirect.is_some());
        fetches_garbage || leaves_buffers
    })
}
