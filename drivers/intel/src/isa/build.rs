//! Constructors of instructions.

use super::{
    AccessMode, Branch, Condition, Descriptor, Destination, Detail, ExecutionSize, Flag, Form, HorizontalStride,
    Instruction, MathFunction, Message, Opcode, Operand, Predicate, Region, Register, SharedFunction, Source, Type,
    VerticalStride, Width, WriteMask, arf,
};

use arrayvec::ArrayVec;

impl Instruction {
    /// An instruction without operands: size 1, all control fields at their defaults.
    pub fn plain(opcode: Opcode) -> Instruction {
        Instruction {
            opcode,
            access: AccessMode::Align1,
            size: ExecutionSize::X1,
            group: Default::default(),
            no_mask: false,
            dependency: Default::default(),
            thread: super::ThreadControl::Normal,
            predicate: None,
            flag: Flag::default(),
            condition: None,
            saturate: false,
            accumulator_write: false,
            breakpoint: false,
            compacted: false,
            destination: None,
            sources: ArrayVec::new(),
            detail: Detail::None,
        }
    }

    /// An instruction that does nothing.
    pub fn nop() -> Instruction {
        Instruction::plain(Opcode::Nop)
    }

    /// An instruction with operands, for eight channels. Further sources than three are dropped.
    pub fn new(
        opcode: Opcode,
        access: AccessMode,
        destination: Destination,
        sources: impl IntoIterator<Item = Source>,
    ) -> Instruction {
        Instruction {
            access,
            size: ExecutionSize::X8,
            destination: Some(destination),
            sources: sources.into_iter().take(3).collect(),
            ..Instruction::plain(opcode)
        }
    }

    /// An align16 instruction for two vectors of four components.
    pub fn vector(opcode: Opcode, destination: Destination, sources: impl IntoIterator<Item = Source>) -> Instruction {
        Instruction::new(opcode, AccessMode::Align16, destination, sources)
    }

    /// A function of the mathematics unit, for eight channels. Without a second source, it is null.
    pub fn math(
        function: MathFunction,
        access: AccessMode,
        destination: Destination,
        first: Operand,
        second: Option<Operand>,
    ) -> Instruction {
        let second = second.unwrap_or(Operand::null(access, Type::F));
        let sources = [first.into(), second.into()];
        let instruction = Instruction::new(Opcode::Math, access, destination, sources);
        Instruction { detail: Detail::Math(function), ..instruction }
    }

    /// A message with a constant descriptor, for eight channels. `payload` is its first register.
    pub fn send(
        function: SharedFunction,
        descriptor: u32,
        access: AccessMode,
        destination: Destination,
        payload: Operand,
    ) -> Instruction {
        let message = Message { function, descriptor: Descriptor::Immediate(descriptor), end_of_thread: false };
        let instruction = Instruction::new(Opcode::Send, access, destination, [payload.into()]);
        Instruction { detail: Detail::Message(message), ..instruction }
    }

    /// A branch of [`Form::Branch`] for eight channels, with the operands that Mesa's compiler gives it.
    pub fn branch_to(opcode: Opcode, access: AccessMode, branch: Branch) -> Instruction {
        let (destination, source) = Instruction::branch_operands(opcode, access);
        let instruction = Instruction::new(opcode, access, destination, [source.into()]);
        Instruction { detail: Detail::Branch(branch), ..instruction }
    }

    /// The operands that Mesa's compiler gives to a branch, which have no effect.
    pub(crate) fn branch_operands(opcode: Opcode, access: AccessMode) -> (Destination, Operand) {
        if opcode == Opcode::Cont {
            return (Destination::new(Register::architecture(arf::IP), Type::Ud), Operand::ip(access));
        }
        let null = Operand::null(access, Type::D);
        let region = match access {
            AccessMode::Align1 => Region::SCALAR,
            AccessMode::Align16 => Region::UNIFORM,
        };
        let source = if opcode == Opcode::If { Operand { region, ..null } } else { null };
        (Destination::new(Register::NULL, Type::D), source)
    }

    /// A relative jump by a number of bytes, or by the contents of a register.
    pub fn jump(distance: Source) -> Instruction {
        let ip = Register::architecture(arf::IP);
        let sources = [Operand::ip(AccessMode::Align1).into(), distance];
        let jump = Instruction::new(Opcode::Jmpi, AccessMode::Align1, Destination::new(ip, Type::Ud), sources);
        Instruction { size: ExecutionSize::X1, no_mask: true, ..jump }
    }

    /// Replaces the number of channels.
    pub fn with_size(self, size: ExecutionSize) -> Instruction {
        Instruction { size, ..self }
    }

    /// Adds a predicate on the current flag.
    pub fn with_predicate(self, predicate: Predicate) -> Instruction {
        Instruction { predicate: Some(predicate), ..self }
    }

    /// Adds a condition on the current flag.
    pub fn with_condition(self, condition: Condition) -> Instruction {
        Instruction { condition: Some(condition), ..self }
    }

    /// Replaces the flag.
    pub fn with_flag(self, flag: Flag) -> Instruction {
        Instruction { flag, ..self }
    }

    /// Limits the result.
    pub fn with_saturate(self) -> Instruction {
        Instruction { saturate: true, ..self }
    }

    /// Also writes disabled channels.
    pub fn with_no_mask(self) -> Instruction {
        Instruction { no_mask: true, ..self }
    }

    /// Ends the thread, if the instruction is a message.
    pub fn with_end_of_thread(mut self) -> Instruction {
        if let Detail::Message(message) = &mut self.detail {
            message.end_of_thread = true;
        }
        self
    }

    /// Whether the number of sources, the destination and the detail are those of the form of the opcode.
    pub fn has_form(&self) -> bool {
        let form = self.opcode.form();
        let detail = matches!(
            (form, &self.detail),
            (Form::Math, Detail::Math(_))
                | (Form::Send, Detail::Message(_))
                | (Form::Branch, Detail::Branch(_))
                | (Form::Nop | Form::Plain | Form::Unary | Form::Binary | Form::Ternary, Detail::None)
        );
        detail && self.sources.len() == form.sources() && self.destination.is_some() == form.has_destination()
    }
}

impl Operand {
    /// The null register with the region that Mesa's compiler gives it.
    pub fn null(access: AccessMode, ty: Type) -> Operand {
        let region = match access {
            AccessMode::Align1 => Region::LINEAR,
            AccessMode::Align16 => Region::VECTORS,
        };
        Operand::new(Register::NULL, ty, region)
    }

    /// The instruction pointer with the region that Mesa's compiler gives it.
    pub fn ip(access: AccessMode) -> Operand {
        let region = match access {
            AccessMode::Align1 => Region::align1(VerticalStride::S4, Width::W1, HorizontalStride::S0),
            AccessMode::Align16 => Region::VECTORS,
        };
        Operand::new(Register::architecture(arf::IP), Type::Ud, region)
    }

    /// Consecutive elements of general registers (align1).
    pub fn linear(register: u8, ty: Type) -> Operand {
        Operand::new(Register::general(register), ty, Region::LINEAR)
    }

    /// One element of a general register for all channels (align1, and instructions with three sources). `offset` is
    /// in bytes.
    pub fn scalar(register: u8, offset: u8, ty: Type) -> Operand {
        Operand::new(Register::general(register).at(offset), ty, Region::SCALAR)
    }

    /// Two vectors of four components of a general register (align16).
    pub fn vectors(register: u8, ty: Type, swizzle: super::Swizzle) -> Operand {
        Operand::new(Register::general(register), ty, Region::swizzled(swizzle))
    }
}

impl Destination {
    /// Consecutive elements of general registers.
    pub fn general(register: u8, ty: Type) -> Destination {
        Destination::new(Register::general(register), ty)
    }

    /// Components of the vectors of a general register (align16).
    pub fn vectors(register: u8, ty: Type, mask: WriteMask) -> Destination {
        Destination::general(register, ty).masked(mask)
    }

    /// The null register, for instructions of which only the condition or the message counts.
    pub fn null(ty: Type) -> Destination {
        Destination::new(Register::NULL, ty)
    }
}
