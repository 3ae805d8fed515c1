//! Mutations that may break a shader.

use crate::choices::Choices;
use tgsi::shader::{Dimension, Dst, Indirect, Register, Shader, Src};
use tgsi::tables::{File, Opcode, Semantic, TextureTarget};

/// Numbers that break things.
const NUMBERS: [i32; 12] = [0, 1, -1, 2, 3, 17, 255, 4096, 32767, -32768, 65535, i32::MAX];

/// Applies one mutation.
pub(super) fn mutate(shader: &mut Shader, choices: &mut Choices<'_>) {
    match choices.below(8) {
        0..4 => instruction(shader, choices),
        4 => list(shader, choices),
        5 | 6 => declaration(shader, choices),
        _ => item(shader, choices),
    }
}

/// Deletes, duplicates or moves an instruction.
fn list(shader: &mut Shader, choices: &mut Choices<'_>) {
    let count = shader.instructions.len();
    if count == 0 {
        return;
    }
    let (from, to) = (choices.below(count), choices.below(count));
    match choices.below(3) {
        0 => {
            shader.instructions.remove(from);
        }
        1 => {
            let copy = shader.instructions[from].clone();
            shader.instructions.insert(to, copy);
        }
        _ => shader.instructions.swap(from, to),
    }
}

fn instruction(shader: &mut Shader, choices: &mut Choices<'_>) {
    let (count, target) = (shader.instructions.len(), choices.pick(TextureTarget::ALL));
    let Some(i) = shader.instructions.get_mut(choices.below(count)) else { return };
    match choices.below(14) {
        0 | 1 => i.opcode = choices.pick(Opcode::ALL).unwrap_or(i.opcode),
        2 => i.label = choices.one_in(2).then(|| choices.of(NUMBERS) as u32 & 0xff_ffff),
        3 => {
            i.dst.pop();
        }
        4 => {
            i.src.pop();
        }
        5 => {
            let copy = i.src.first().copied().unwrap_or(Src::new(Register::new(File::Temporary, 0)));
            // A full list is unchanged.
            let _ = i.src.try_push(copy);
        }
        6 => {
            let copy = i.dst.first().copied().unwrap_or(Dst::new(Register::new(File::Temporary, 0)));
            let _ = i.dst.try_push(copy);
        }
        7 => {
            if let Some(texture) = &mut i.texture {
                texture.target = target.unwrap_or(texture.target);
            } else if let Some(memory) = &mut i.memory {
                memory.target = target.unwrap_or(memory.target);
            }
        }
        8 => i.texture = None,
        9 => i.memory = if choices.one_in(2) { None } else { Some(Default::default()) },
        10 => (i.saturate, i.precise) = (choices.one_in(2), choices.one_in(2)),
        way => operand(i, choices, way == 13),
    }
}

fn operand(i: &mut tgsi::shader::Instruction, choices: &mut Choices<'_>, destination: bool) {
    if destination && let Some(dst) = i.dst.first_mut() {
        if choices.one_in(3) {
            dst.write_mask = choices.below(17) as u8;
        } else {
            register(&mut dst.register, choices);
        }
        return;
    }
    let count = i.src.len();
    let Some(src) = i.src.get_mut(choices.below(count)) else { return };
    match choices.below(4) {
        0 => src.swizzle[choices.below(4)] = choices.below(5) as u8,
        1 => (src.negate, src.absolute) = (choices.one_in(2), choices.one_in(2)),
        _ => register(&mut src.register, choices),
    }
}

fn register(register: &mut Register, choices: &mut Choices<'_>) {
    let number = i32::from(choices.of(NUMBERS) as i16);
    let file = choices.pick(File::ALL).unwrap_or(register.file);
    let indirect = Indirect {
        file: choices.of([File::Address, file]),
        index: choices.below(3) as i32,
        component: choices.below(5) as u8,
        array_id: choices.below(3) as u16,
    };
    match choices.below(5) {
        0 => register.index = number,
        1 => register.file = file,
        2 => register.indirect = if register.indirect.is_some() { None } else { Some(indirect) },
        3 => {
            register.dimension = match register.dimension {
                Some(_) => None,
                None => Some(Dimension { index: number, indirect: None }),
            };
        }
        _ => {
            if let Some(dimension) = &mut register.dimension {
                dimension.index = number;
                dimension.indirect = choices.one_in(2).then_some(indirect);
            }
        }
    }
}

fn declaration(shader: &mut Shader, choices: &mut Choices<'_>) {
    let count = shader.declarations.len();
    let position = choices.below(count);
    let number = choices.of(NUMBERS) as u16;
    let (file, semantic) = (choices.pick(File::ALL), choices.pick(Semantic::ALL));
    let Some(d) = shader.declarations.get_mut(position) else { return };
    match choices.below(9) {
        0 => {
            shader.declarations.remove(position);
        }
        1 => {
            let copy = d.clone();
            shader.declarations.push(copy);
        }
        2 => d.first = number,
        3 => d.last = number,
        4 => d.usage_mask = choices.below(17) as u8,
        5 => d.array_id = if d.array_id.is_some() { None } else { Some(number & 1023) },
        6 => d.dimension = if d.dimension.is_some() { None } else { Some(number) },
        7 => d.file = file.unwrap_or(d.file),
        _ => {
            if let (Some(known), Some(semantic)) = (&mut d.semantic, semantic) {
                known.name = semantic;
                known.index = number;
            }
        }
    }
}

/// Changes a property or an immediate.
fn item(shader: &mut Shader, choices: &mut Choices<'_>) {
    if choices.one_in(2) {
        let count = shader.properties.len();
        let Some(property) = shader.properties.get_mut(choices.below(count)) else { return };
        property.data.clear();
        property.data.push(choices.of(NUMBERS) as u32);
    } else {
        let count = shader.immediates.len();
        let position = choices.below(count);
        match shader.immediates.get_mut(position) {
            Some(_) if choices.one_in(3) => {
                shader.immediates.remove(position);
            }
            Some(immediate) => {
                if let Some(word) = immediate.words.first_mut() {
                    *word = choices.word();
                }
            }
            None => {}
        }
    }
}
