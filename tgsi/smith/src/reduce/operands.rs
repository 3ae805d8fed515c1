//! Reduces instructions and their operands to simpler ones.

use super::Reducer;
use super::edit::immediate;
use tgsi::shader::{Instruction, Register, Shader, Src};
use tgsi::tables::{File, MemoryQualifiers, Opcode, OutputMode};

const IDENTITY: [u8; 4] = [0, 1, 2, 3];

impl Reducer<'_> {
    /// Simplifies every instruction until no simplification is possible.
    pub(super) fn simplify_instructions(&mut self) -> bool {
        let mut smaller = false;
        for number in 0..self.best.instructions.len() {
            smaller |= self.simplify_instruction(number);
        }
        smaller
    }

    /// Tries an edit of one instruction, if it changes the instruction.
    fn try_instruction(&mut self, number: usize, edit: impl FnOnce(&mut Shader, &mut Instruction)) -> bool {
        let mut candidate = self.best.clone();
        let Some(mut instruction) = candidate.instructions.get(number).cloned() else { return false };
        edit(&mut candidate, &mut instruction);
        if candidate.instructions.get(number) == Some(&instruction) {
            return false;
        }
        candidate.instructions[number] = instruction;
        self.try_candidate(candidate)
    }

    fn simplify_instruction(&mut self, number: usize) -> bool {
        let mut smaller = self.become_copy(number);
        smaller |= self.try_instruction(number, |_, i| i.saturate = false);
        smaller |= self.try_instruction(number, |_, i| i.precise = false);
        smaller |= self.try_instruction(number, |_, i| {
            if let Some(texture) = &mut i.texture {
                texture.offsets.clear();
            }
        });
        smaller |= self.try_instruction(number, |_, i| {
            if let Some(memory) = &mut i.memory {
                memory.qualifiers = MemoryQualifiers::default();
            }
        });
        for component in 0..4 {
            smaller |= self.try_instruction(number, |_, i| {
                if let Some(dst) = i.dst.first_mut()
                    && dst.write_mask != 1 << component
                {
                    dst.write_mask &= !(1 << component);
                }
            });
        }
        for position in 0..self.best.instructions[number].dst.len() {
            smaller |= self.simplify_register(number, |i| i.dst.get_mut(position).map(|dst| &mut dst.register));
        }
        for position in 0..self.best.instructions[number].src.len() {
            smaller |= self.simplify_source(number, position);
        }
        smaller
    }

    /// Tries to replace the instruction with a copy of one of its sources.
    fn become_copy(&mut self, number: usize) -> bool {
        let instruction = &self.best.instructions[number];
        let computes = !matches!(instruction.opcode.info().output_mode, OutputMode::NoOutput);
        if instruction.opcode == Opcode::Mov || !computes || instruction.opcode == Opcode::Store {
            return false;
        }
        let sources: Vec<Src> =
            instruction.src.iter().copied().filter(|src| !src.register.file.is_resource()).collect();
        sources.into_iter().any(|source| {
            self.try_instruction(number, |_, i| {
                let dst = i.dst.clone();
                *i = Instruction { dst, saturate: i.saturate, ..Instruction::new(Opcode::Mov) };
                i.src.push(source);
            })
        })
    }

    fn simplify_source(&mut self, number: usize, position: usize) -> bool {
        let mut smaller = false;
        let is_value = |src: &Src| !src.register.file.is_resource() && src.register.file != File::Null;
        let Some(source) = self.best.instructions[number].src.get(position).copied() else { return false };
        if is_value(&source) && source.register.file != File::Immediate {
            smaller |= self.try_instruction(number, |shader, i| {
                let zero = immediate(shader, [0; 4]);
                if let Some(src) = i.src.get_mut(position) {
                    *src = Src::new(Register::new(File::Immediate, zero)).swizzled([0; 4]);
                }
            });
        }
        let mut edit = |edit: &dyn Fn(&mut Src)| {
            let changed = self.try_instruction(number, |_, i| {
                if let Some(src) = i.src.get_mut(position) {
                    edit(src);
                }
            });
            smaller |= changed;
        };
        edit(&|src| src.negate = false);
        edit(&|src| src.absolute = false);
        edit(&|src| src.swizzle = IDENTITY);
        edit(&|src| {
            if src.swizzle != IDENTITY {
                src.swizzle = [0; 4];
            }
        });
        smaller | self.simplify_register(number, |i| i.src.get_mut(position).map(|src| &mut src.register))
    }

    /// Tries a register without the run-time part of its index, and with lower indices.
    fn simplify_register(&mut self, number: usize, of: impl Fn(&mut Instruction) -> Option<&mut Register>) -> bool {
        let mut smaller = false;
        let mut edit = |edit: &dyn Fn(&mut Register)| {
            let changed = self.try_instruction(number, |_, i| {
                if let Some(register) = of(i) {
                    edit(register);
                }
            });
            smaller |= changed;
        };
        edit(&|register| register.indirect = None);
        edit(&|register| {
            if let Some(dimension) = &mut register.dimension {
                dimension.indirect = None;
            }
        });
        edit(&|register| {
            if let Some(dimension) = &mut register.dimension {
                dimension.index = 0;
            }
        });
        edit(&|register| {
            if !matches!(register.file, File::Immediate | File::Output) {
                register.index = register.index.min(0);
            }
        });
        smaller
    }
}
