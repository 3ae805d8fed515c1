//! Instructions and blocks, with the labels that the blocks give.

use super::{BuildError, Modifiers, OpenBlock, ShaderBuilder, Subroutine};
use crate::limits::{MAX_OPERAND_INDEX, MIN_OPERAND_INDEX};
use crate::shader::{Dst, Instruction, InstructionMemory, InstructionTexture, Register, Src, TextureOffset};
use crate::tables::{MemoryQualifiers, Opcode, PixelFormat, ReturnType, TextureTarget};

impl ShaderBuilder {
    /// Appends an instruction and returns its number.
    pub fn emit(&mut self, opcode: Opcode, dst: impl Into<Option<Dst>>, src: &[Src]) -> u32 {
        self.emit_with(opcode, dst, src, Modifiers::default())
    }

    /// Appends an instruction with modifiers and returns its number.
    pub fn emit_with(&mut self, opcode: Opcode, dst: impl Into<Option<Dst>>, src: &[Src], modifiers: Modifiers) -> u32 {
        let mut instruction = Instruction::new(opcode);
        instruction.dst.extend(dst.into());
        instruction.src.extend(src.iter().copied().take(5));
        instruction.saturate = modifiers.saturate;
        instruction.precise = modifiers.precise;
        instruction.texture = modifiers.texture;
        instruction.memory = modifiers.memory;
        let info = opcode.info();
        if instruction.dst.len() != usize::from(info.num_dst) || src.len() != usize::from(info.num_src) {
            self.fail(BuildError::OperandCount {
                instruction: self.instructions.len() as u32,
                opcode,
                num_dst: info.num_dst,
                num_src: info.num_src,
            });
        }
        self.push(instruction)
    }

    /// Makes room for so many more instructions.
    pub fn reserve(&mut self, count: usize) {
        self.instructions.reserve(count);
    }

    /// Appends an instruction as it is and returns its number. Blocks are opened and closed by their own functions.
    pub fn push(&mut self, instruction: Instruction) -> u32 {
        let registers = instruction.dst.iter().map(|d| d.register).chain(instruction.src.iter().map(|s| s.register));
        let fits = |index: i32| (MIN_OPERAND_INDEX..=MAX_OPERAND_INDEX).contains(&index.into());
        let too_far = |register: &Register| !fits(register.index) || register.dimension.is_some_and(|d| !fits(d.index));
        if let Some(register) = registers.into_iter().find(too_far) {
            self.fail(BuildError::TooManyRegisters(register.file));
        }
        self.instructions.push(instruction);
        self.instructions.len() as u32 - 1
    }

    /// Texture instruction; the sampler is the last source.
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

    /// Memory instruction: `LOAD`, `STORE` (the resource is the destination), atomics, `RESQ`, `BARRIER`.
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

    /// Number that the next instruction will have.
    pub fn next_instruction(&self) -> u32 {
        self.instructions.len() as u32
    }

    fn open(&mut self, opcode: Opcode, src: &[Src]) {
        let instruction = self.emit(opcode, None, src);
        self.blocks.push(OpenBlock { opcode, instruction, labelled: instruction });
    }

    fn close(&mut self, opcode: Opcode, opens: &[Opcode]) -> Option<OpenBlock> {
        let instruction = self.emit(opcode, None, &[]);
        let block = self.blocks.pop_if(|block| opens.contains(&block.opcode));
        if block.is_none() {
            self.fail(BuildError::Misplaced { instruction, opcode });
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
        self.open(Opcode::If, &[condition]);
    }

    /// `UIF`: taken where x of `condition` is not 0 as an integer.
    pub fn uif(&mut self, condition: Src) {
        self.open(Opcode::Uif, &[condition]);
    }

    /// `ELSE`.
    pub fn else_(&mut self) {
        let number = self.emit(Opcode::Else, None, &[]);
        match self.blocks.last_mut() {
            Some(block) if matches!(block.opcode, Opcode::If | Opcode::Uif) && block.labelled == block.instruction => {
                let from = std::mem::replace(&mut block.labelled, number);
                self.set_label(from, number);
            }
            _ => self.fail(BuildError::Misplaced { instruction: number, opcode: Opcode::Else }),
        }
    }

    /// `ENDIF`.
    pub fn endif(&mut self) {
        let number = self.next_instruction();
        if let Some(block) = self.close(Opcode::Endif, &[Opcode::If, Opcode::Uif]) {
            self.set_label(block.labelled, number);
        }
    }

    /// `BGNLOOP`.
    pub fn bgnloop(&mut self) {
        self.open(Opcode::Bgnloop, &[]);
    }

    /// `ENDLOOP`.
    pub fn endloop(&mut self) {
        let number = self.next_instruction();
        if let Some(block) = self.close(Opcode::Endloop, &[Opcode::Bgnloop]) {
            self.set_label(block.instruction, number);
            self.set_label(number, block.instruction);
        }
    }

    /// `BRK`: leaves the innermost loop or switch.
    pub fn brk(&mut self) {
        let instruction = self.emit(Opcode::Brk, None, &[]);
        if !self.blocks.iter().rev().any(|b| matches!(b.opcode, Opcode::Bgnloop | Opcode::Switch)) {
            self.fail(BuildError::Misplaced { instruction, opcode: Opcode::Brk });
        }
    }

    /// `CONT`: goes on with the innermost loop.
    pub fn cont(&mut self) {
        let instruction = self.emit(Opcode::Cont, None, &[]);
        if !self.blocks.iter().rev().any(|b| b.opcode == Opcode::Bgnloop) {
            self.fail(BuildError::Misplaced { instruction, opcode: Opcode::Cont });
        }
    }

    /// `SWITCH` over x of `selector`.
    pub fn switch(&mut self, selector: Src) {
        self.open(Opcode::Switch, &[selector]);
    }

    /// `CASE`.
    pub fn case(&mut self, value: Src) {
        self.divide_switch(Opcode::Case, &[value]);
    }

    /// `DEFAULT`.
    pub fn default(&mut self) {
        self.divide_switch(Opcode::Default, &[]);
    }

    fn divide_switch(&mut self, opcode: Opcode, src: &[Src]) {
        let instruction = self.emit(opcode, None, src);
        if self.blocks.last().is_none_or(|block| block.opcode != Opcode::Switch) {
            self.fail(BuildError::Misplaced { instruction, opcode });
        }
    }

    /// `ENDSWITCH`.
    pub fn endswitch(&mut self) {
        self.close(Opcode::Endswitch, &[Opcode::Switch]);
    }

    /// Names a subroutine, to be defined with [`ShaderBuilder::bgnsub`] before or after it is called.
    pub fn subroutine(&mut self) -> Subroutine {
        self.subroutines.push(None);
        Subroutine(self.subroutines.len() as u32 - 1)
    }

    /// `BGNSUB`: what follows, up to [`ShaderBuilder::endsub`], is the body of `subroutine`.
    pub fn bgnsub(&mut self, subroutine: Subroutine) {
        let number = self.next_instruction();
        self.open(Opcode::Bgnsub, &[]);
        if let Some(slot) = self.subroutines.get_mut(subroutine.0 as usize) {
            *slot = Some(number);
        }
    }

    /// `ENDSUB`.
    pub fn endsub(&mut self) {
        self.close(Opcode::Endsub, &[Opcode::Bgnsub]);
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

    /// `END` of the main program. [`ShaderBuilder::finish`] adds it if it was left out; subroutines come after it.
    pub fn end(&mut self) {
        self.emit(Opcode::End, None, &[]);
    }
}
