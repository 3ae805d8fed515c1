//! Instructions and blocks, with the labels that follow from the blocks.

use super::{BuildError, Modifiers, OpenBlock, ShaderBuilder, Subroutine};
use crate::limits::{MAX_OPERAND_INDEX, MIN_OPERAND_INDEX};
use crate::operands::OperandCountError;
use crate::shader::{Dst, Instruction, InstructionMemory, InstructionTexture, Register, Src, TextureOffset};
use crate::tables::{BlockPart, MemoryQualifiers, Opcode, PixelFormat, ReturnType, TextureTarget};
use tgsi_diagnostics::Span;

impl ShaderBuilder {
    /// Appends an instruction and returns its number.
    pub fn emit(&mut self, opcode: Opcode, dst: impl Into<Option<Dst>>, src: &[Src]) -> u32 {
        self.emit_with(opcode, dst, src, Modifiers::default())
    }

    /// Appends an instruction with modifiers and returns its number.
    pub fn emit_with(&mut self, opcode: Opcode, dst: impl Into<Option<Dst>>, src: &[Src], modifiers: Modifiers) -> u32 {
        let mut instruction = Instruction::with_operands(opcode, dst, &src[..src.len().min(5)]);
        instruction.saturate = modifiers.saturate;
        instruction.precise = modifiers.precise;
        instruction.texture = modifiers.texture.map(Box::new);
        instruction.memory = modifiers.memory;
        let info = opcode.info();
        if instruction.dst.len() != usize::from(info.num_dst) || src.len() != usize::from(info.num_src) {
            let instruction = self.instructions.len() as u32;
            self.fail(OperandCountError { opcode, instruction, span: Span::default() }.into());
        }
        self.push(instruction)
    }

    /// Appends an instruction unchanged and returns its number. Blocks are opened and closed by their own functions.
    pub fn push(&mut self, instruction: Instruction) -> u32 {
        self.check_registers(&instruction);
        self.instructions.push(instruction);
        self.instructions.len() as u32 - 1
    }

    /// Appends instructions unchanged, except for the labels of blocks (not of subroutines), which are recomputed.
    pub fn append(&mut self, mut instructions: Vec<Instruction>) {
        let first = self.instructions.len();
        if first == 0 {
            self.instructions = instructions;
        } else {
            self.instructions.append(&mut instructions);
        }
        let appended = std::mem::take(&mut self.instructions);
        for instruction in &appended[first..] {
            self.check_registers(instruction);
        }
        self.instructions = appended;
        for number in first..self.instructions.len() {
            self.follow(number as u32, self.instructions[number].opcode);
        }
    }

    fn check_registers(&mut self, instruction: &Instruction) {
        let fits = |index: i32| (MIN_OPERAND_INDEX..=MAX_OPERAND_INDEX).contains(&index.into());
        let too_far =
            |register: &&Register| !fits(register.index) || register.dimension.is_some_and(|d| !fits(d.index));
        if let Some(register) = instruction.registers().find(too_far) {
            self.fail(BuildError::TooManyRegisters(register.file));
        }
    }

    /// Appends a texture instruction; the sampler is the last source.
    pub fn tex(
        &mut self,
        opcode: Opcode,
        dst: Dst,
        target: TextureTarget,
        return_type: ReturnType,
        offsets: &[TextureOffset],
        src: &[Src],
    ) -> u32 {
        let offsets = offsets.iter().copied().take(4).collect();
        let texture = Some(InstructionTexture { target, return_type, offsets });
        self.emit_with(opcode, dst, src, Modifiers { texture, ..Modifiers::default() })
    }

    /// Appends a memory instruction: `LOAD`, `STORE` (the resource is the destination), atomics, `RESQ`, `BARRIER`.
    pub fn mem(
        &mut self,
        opcode: Opcode,
        dst: impl Into<Option<Dst>>,
        src: &[Src],
        qualifiers: MemoryQualifiers,
        target: TextureTarget,
        format: PixelFormat,
    ) -> u32 {
        let memory = Some(InstructionMemory { qualifiers, target, format });
        self.emit_with(opcode, dst, src, Modifiers { memory, ..Modifiers::default() })
    }

    /// Appends an instruction that opens, divides, closes or leaves a block.
    fn flow(&mut self, opcode: Opcode, src: &[Src]) -> u32 {
        let number = self.emit(opcode, None, src);
        self.follow(number, opcode);
        number
    }

    /// Updates the open blocks for an instruction, and sets the labels that are now known.
    fn follow(&mut self, number: u32, opcode: Opcode) {
        let misplaced = BuildError::Misplaced { instruction: number, opcode };
        match opcode {
            _ if opcode.block() == Some(BlockPart::Opens) => {
                self.blocks.push(OpenBlock { opcode, instruction: number, labelled: number });
            }
            Opcode::Else => match self.blocks.last_mut() {
                Some(block)
                    if matches!(block.opcode, Opcode::If | Opcode::Uif) && block.labelled == block.instruction =>
                {
                    let from = std::mem::replace(&mut block.labelled, number);
                    self.set_label(from, number);
                }
                _ => self.fail(misplaced),
            },
            Opcode::Case | Opcode::Default if self.blocks.last().is_none_or(|block| block.opcode != Opcode::Switch) => {
                self.fail(misplaced);
            }
            Opcode::Endif => {
                if let Some(block) = self.close(misplaced, &[Opcode::If, Opcode::Uif]) {
                    self.set_label(block.labelled, number);
                }
            }
            Opcode::Endloop => {
                if let Some(block) = self.close(misplaced, &[Opcode::Bgnloop]) {
                    self.set_label(block.instruction, number);
                    self.set_label(number, block.instruction);
                }
            }
            Opcode::Endswitch => {
                self.close(misplaced, &[Opcode::Switch]);
            }
            Opcode::Endsub => {
                self.close(misplaced, &[Opcode::Bgnsub]);
            }
            Opcode::Brk if !self.blocks.iter().rev().any(|b| matches!(b.opcode, Opcode::Bgnloop | Opcode::Switch)) => {
                self.fail(misplaced);
            }
            Opcode::Cont if !self.blocks.iter().rev().any(|b| b.opcode == Opcode::Bgnloop) => self.fail(misplaced),
            _ => {}
        }
    }

    fn close(&mut self, misplaced: BuildError, opens: &[Opcode]) -> Option<OpenBlock> {
        let block = self.blocks.pop_if(|block| opens.contains(&block.opcode));
        if block.is_none() {
            self.fail(misplaced);
        }
        block
    }

    pub(super) fn set_label(&mut self, instruction: u32, label: u32) {
        if let Some(instruction) = self.instructions.get_mut(instruction as usize) {
            instruction.label = Some(label);
        }
    }

    /// `IF`: taken where x of `condition` is not 0.0.
    pub fn if_(&mut self, condition: Src) {
        self.flow(Opcode::If, &[condition]);
    }

    /// `UIF`: taken where x of `condition` is not 0 as an integer.
    pub fn uif(&mut self, condition: Src) {
        self.flow(Opcode::Uif, &[condition]);
    }

    /// `ELSE`.
    pub fn else_(&mut self) {
        self.flow(Opcode::Else, &[]);
    }

    /// `ENDIF`.
    pub fn endif(&mut self) {
        self.flow(Opcode::Endif, &[]);
    }

    /// `BGNLOOP`.
    pub fn bgnloop(&mut self) {
        self.flow(Opcode::Bgnloop, &[]);
    }

    /// `ENDLOOP`.
    pub fn endloop(&mut self) {
        self.flow(Opcode::Endloop, &[]);
    }

    /// `BRK`: leaves the innermost loop or switch.
    pub fn brk(&mut self) {
        self.flow(Opcode::Brk, &[]);
    }

    /// `CONT`: continues the innermost loop.
    pub fn cont(&mut self) {
        self.flow(Opcode::Cont, &[]);
    }

    /// `SWITCH` over x of `selector`.
    pub fn switch(&mut self, selector: Src) {
        self.flow(Opcode::Switch, &[selector]);
    }

    /// `CASE`.
    pub fn case(&mut self, value: Src) {
        self.flow(Opcode::Case, &[value]);
    }

    /// `DEFAULT`.
    pub fn default(&mut self) {
        self.flow(Opcode::Default, &[]);
    }

    /// `ENDSWITCH`.
    pub fn endswitch(&mut self) {
        self.flow(Opcode::Endswitch, &[]);
    }

    /// Creates a subroutine, to be defined with [`ShaderBuilder::bgnsub`] before or after it is called.
    pub fn subroutine(&mut self) -> Subroutine {
        self.subroutines.push(None);
        Subroutine(self.subroutines.len() as u32 - 1)
    }

    /// `BGNSUB`: the instructions up to [`ShaderBuilder::endsub`] are the body of `subroutine`.
    pub fn bgnsub(&mut self, subroutine: Subroutine) {
        let number = self.flow(Opcode::Bgnsub, &[]);
        if let Some(slot) = self.subroutines.get_mut(subroutine.0 as usize) {
            *slot = Some(number);
        }
    }

    /// `ENDSUB`.
    pub fn endsub(&mut self) {
        self.flow(Opcode::Endsub, &[]);
    }

    /// `CAL`.
    pub fn cal(&mut self, subroutine: Subroutine) {
        let number = self.emit(Opcode::Cal, None, &[]);
        self.calls.push((number, subroutine));
    }

    /// `RET`.
    pub fn ret(&mut self) {
        self.emit(Opcode::Ret, None, &[]);
    }

    /// `END` of the main program. [`ShaderBuilder::finish`] adds it if it is missing; subroutines come after it.
    pub fn end(&mut self) {
        self.emit(Opcode::End, None, &[]);
    }
}
