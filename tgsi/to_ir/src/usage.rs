//! Collects, once before the conversion, how the instructions of a shader use its registers.

use hashbrown::{HashMap, HashSet};
use std::collections::BTreeSet;

use tgsi::internals::Structure;
use tgsi::shader::{Indirect, Instruction, Register, Shader};
use tgsi::tables::{File, Opcode};

/// The collected uses of registers.
#[derive(Debug, Default)]
pub(super) struct Usage {
    /// `TEMP`s named directly.
    pub(super) temporaries: Vec<bool>,
    /// Components of `ADDR` registers that are read or written.
    pub(super) address: BTreeSet<(i32, u8)>,
    /// Array numbers of indirect accesses, 0 for those without an array number.
    pub(super) indirect: HashSet<(File, u16)>,
    /// `OUT` registers that are read or written directly.
    pub(super) outputs: Vec<bool>,
    /// Components written directly, by `OUT` register.
    pub(super) output_masks: Vec<u8>,
    /// Components of `OUT` written indirectly, by array number.
    pub(super) indirect_output_masks: HashMap<u16, u8>,
    /// Whether there are calls of subroutines.
    pub(super) calls: bool,
    /// Whether a called subroutine may end the shader.
    pub(super) ends_in_calls: bool,
}

fn set(bits: &mut Vec<bool>, index: i32) {
    // Register numbers have 16 bits.
    if let Ok(index) = usize::try_from(index)
        && index <= usize::from(u16::MAX)
    {
        if bits.len() <= index {
            bits.resize((index + 1).next_power_of_two(), false);
        }
        bits[index] = true;
    }
}

/// Returns the components that a swizzle selects.
fn components(swizzle: &[u8]) -> u8 {
    swizzle.iter().fold(0, |mask, &component| mask | 1 << (component & 3))
}

impl Usage {
    pub(super) fn of(shader: &Shader, structure: &Structure) -> Usage {
        let calls = calls(shader, structure);
        let ends_in_calls = calls && ends_in_subroutine(shader);
        let mut usage = Usage { calls, ends_in_calls, ..Usage::default() };
        for instruction in &shader.instructions {
            usage.instruction(instruction);
        }
        usage
    }

    fn instruction(&mut self, instruction: &Instruction) {
        for dst in &instruction.dst {
            self.register(&dst.register, || dst.write_mask);
            if dst.register.file == File::Output {
                match dst.register.indirect {
                    Some(indirect) => {
                        *self.indirect_output_masks.entry(indirect.array_id).or_default() |= dst.write_mask;
                    }
                    None => {
                        if let Ok(index) = usize::try_from(dst.register.index) {
                            if self.output_masks.len() <= index {
                                self.output_masks.resize(index + 1, 0);
                            }
                            self.output_masks[index] |= dst.write_mask;
                        }
                    }
                }
            }
        }
        for src in &instruction.src {
            self.register(&src.register, || components(&src.swizzle));
        }
        for offset in instruction.texture.iter().flat_map(|texture| &texture.offsets) {
            self.register(&Register::new(offset.file, offset.index), || components(&offset.swizzle));
        }
    }

    fn register(&mut self, register: &Register, components: impl FnOnce() -> u8) {
        if let Some(indirect) = register.indirect {
            self.indirect.insert((register.file, indirect.array_id));
            self.index_register(indirect);
        } else {
            self.direct(register.file, register.index, components);
        }
        if let Some(indirect) = register.dimension.and_then(|dimension| dimension.indirect) {
            self.index_register(indirect);
        }
    }

    fn index_register(&mut self, indirect: Indirect) {
        self.direct(indirect.file, indirect.index, || 1 << (indirect.component & 3));
    }

    fn direct(&mut self, file: File, index: i32, components: impl FnOnce() -> u8) {
        match file {
            File::Temporary => set(&mut self.temporaries, index),
            File::Output => set(&mut self.outputs, index),
            File::Address => {
                let components = components();
                self.address.extend((0..4).filter(|component| components >> component & 1 != 0).map(|c| (index, c)));
            }
            _ => {}
        }
    }

    /// Whether any access to the file is indirect.
    pub(super) fn any_indirect(&self, file: File) -> bool {
        self.indirect.iter().any(|&(accessed, _)| accessed == file)
    }
}

/// Whether there is a call, in the main program or in a subroutine.
fn calls(shader: &Shader, structure: &Structure) -> bool {
    !structure.subroutines.is_empty() && shader.instructions.iter().any(|i| i.opcode == Opcode::Cal)
}

/// Whether there is an `END` within a subroutine.
fn ends_in_subroutine(shader: &Shader) -> bool {
    let mut inside = false;
    shader.instructions.iter().any(|instruction| {
        match instruction.opcode {
            Opcode::Bgnsub => inside = true,
            Opcode::Endsub => inside = false,
            Opcode::End => return inside,
            _ => {}
        }
        false
    })
}
