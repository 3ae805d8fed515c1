//! Registers of inputs and outputs: their numbers do not survive, their semantics do.

use std::collections::BTreeMap;

use tgsi::Shader;
use tgsi::tables::{File, Semantic};

type Meaning = (File, Semantic, u16);

/// Returns the meaning of each input and output register with a semantic.
fn meanings(shader: &Shader) -> impl Iterator<Item = (Meaning, u16)> {
    let declarations = shader.declarations.iter().filter(|d| matches!(d.file, File::Input | File::Output));
    declarations.flat_map(|declaration| {
        let registers = declaration.first..=declaration.last;
        registers.filter_map(move |register| {
            let semantic = declaration.semantic?;
            Some(((declaration.file, semantic.name, semantic.index + register - declaration.first), register))
        })
    })
}

/// Gives the inputs and outputs of a shader the registers that another has for the same semantics, and those that the
/// other lacks registers behind its last.
pub(super) fn with_registers_of(mut shader: Shader, other: &Shader) -> Shader {
    let known: BTreeMap<Meaning, u16> = meanings(other).collect();
    let mut free = meanings(other).map(|(_, register)| register + 1).max().unwrap_or(0);
    let mut numbers: BTreeMap<(File, u16), u16> = BTreeMap::new();
    for (meaning, register) in meanings(&shader) {
        let number = known.get(&meaning).copied().unwrap_or_else(|| {
            free += 1;
            free - 1
        });
        numbers.insert((meaning.0, register), number);
    }
    let number = |file: File, register: u16| numbers.get(&(file, register)).copied().unwrap_or(register);
    for declaration in &mut shader.declarations {
        let length = declaration.last - declaration.first;
        declaration.first = number(declaration.file, declaration.first);
        declaration.last = declaration.first + length;
    }
    for instruction in &mut shader.instructions {
        for register in instruction.registers_mut() {
            let Ok(index) = u16::try_from(register.index) else { continue };
            register.index = number(register.file, index).into();
        }
    }
    shader.forget_encoding();
    shader
}
