//! Properties of instructions that several rules need.

use crate::isa::{
    AccessMode, Chip, Destination, Form, Immediate, ImmediateType, Instruction, Opcode, Operand, Region, Register,
    Source, Type,
};

/// The type in which an instruction computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ExecutionType {
    Word,
    Dword,
    Float,
    Double,
}

impl ExecutionType {
    fn of_source(source: &Source) -> ExecutionType {
        match source {
            Source::Register(operand) => match operand.ty {
                Type::Ud | Type::D => ExecutionType::Dword,
                Type::Uw | Type::W | Type::Ub | Type::B => ExecutionType::Word,
                Type::Df => ExecutionType::Double,
                Type::F => ExecutionType::Float,
            },
            Source::Immediate(immediate) => match immediate.ty() {
                ImmediateType::Ud | ImmediateType::D => ExecutionType::Dword,
                ImmediateType::Uw | ImmediateType::W | ImmediateType::Uv | ImmediateType::V => ExecutionType::Word,
                ImmediateType::Vf | ImmediateType::F => ExecutionType::Float,
            },
        }
    }

    /// The size in bytes.
    pub(super) fn size(self) -> u32 {
        match self {
            ExecutionType::Word => 2,
            ExecutionType::Dword | ExecutionType::Float => 4,
            ExecutionType::Double => 8,
        }
    }
}

/// The size of an element of a source in bytes.
pub(super) fn source_size(source: &Source) -> u32 {
    match source {
        Source::Register(operand) => operand.ty.size(),
        Source::Immediate(immediate) => match immediate.ty() {
            ImmediateType::Uw | ImmediateType::W | ImmediateType::Uv | ImmediateType::V => 2,
            ImmediateType::Ud | ImmediateType::D | ImmediateType::Vf | ImmediateType::F => 4,
        },
    }
}

/// Whether a source is an integer of 32 bits.
pub(super) fn is_dword(source: &Source) -> bool {
    match source {
        Source::Register(operand) => matches!(operand.ty, Type::D | Type::Ud),
        Source::Immediate(immediate) => matches!(immediate, Immediate::D(_) | Immediate::Ud(_)),
    }
}

/// A region of align1 in elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strides {
    /// The distance of rows; larger than any other for rows with their own addresses.
    pub(super) vertical: u32,
    pub(super) width: u32,
    pub(super) horizontal: u32,
}

/// The vertical stride of rows with their own addresses.
const INDEXED: u32 = 1 << 14;

impl Strides {
    pub(super) fn of(operand: &Operand) -> Option<Strides> {
        match operand.region {
            Region::Align1 { vertical, width, horizontal } => Some(Strides {
                vertical: vertical.elements().unwrap_or(INDEXED),
                width: width.elements(),
                horizontal: horizontal.elements(),
            }),
            Region::Align16 { .. } => None,
        }
    }

    /// Whether all channels read one element.
    pub(super) fn is_scalar(self) -> bool {
        self.vertical == 0 && self.width == 1 && self.horizontal == 0
    }

    /// Whether rows follow each other without gaps.
    pub(super) fn is_packed(self) -> bool {
        self.vertical == self.width && self.horizontal == u32::from(self.vertical != 1)
    }
}

/// The first byte in a direct register.
pub(super) fn direct_offset(register: Register) -> Option<u32> {
    match register {
        Register::Direct { offset, .. } => Some(offset.into()),
        Register::Indirect { .. } => None,
    }
}

/// An instruction with its properties.
pub(super) struct Facts<'i> {
    pub(super) instruction: &'i Instruction,
    pub(super) chip: Chip,
    /// The sources that rules concern: those that are read, without the operands of branches and `wait`.
    pub(super) sources: &'i [Source],
    /// The destination, unless the opcode ignores it.
    pub(super) destination: Option<&'i Destination>,
    /// The number of channels.
    pub(super) channels: u32,
}

impl<'i> Facts<'i> {
    pub(super) fn new(instruction: &'i Instruction, chip: Chip) -> Facts<'i> {
        let opcode = instruction.opcode;
        let is_branch = opcode.form() == Form::Branch
            || matches!(opcode, Opcode::Jmpi | Opcode::Brd | Opcode::Brc | Opcode::Call | Opcode::Calla | Opcode::Ret);
        let has_sources = !is_branch && opcode != Opcode::Wait;
        Facts {
            instruction,
            chip,
            sources: if has_sources { instruction.read_sources() } else { &[] },
            destination: instruction.destination.as_ref().filter(|_| !is_branch),
            channels: instruction.size.channels(),
        }
    }

    pub(super) fn opcode(&self) -> Opcode {
        self.instruction.opcode
    }

    pub(super) fn is_align1(&self) -> bool {
        self.instruction.access == AccessMode::Align1
    }

    pub(super) fn is_ternary(&self) -> bool {
        self.opcode().form() == Form::Ternary
    }

    /// The sources in registers.
    pub(super) fn operands(&self) -> impl Iterator<Item = &'i Operand> {
        self.sources.iter().filter_map(|source| source.operand())
    }

    /// The destination, unless it is null.
    pub(super) fn written(&self) -> Option<&'i Destination> {
        self.destination.filter(|destination| !destination.register.is_null())
    }

    pub(super) fn is_destination_null(&self) -> bool {
        self.destination.is_some_and(|destination| destination.register.is_null())
    }

    /// The constant among the sources.
    pub(super) fn immediate(&self) -> Option<Immediate> {
        match self.sources.last()? {
            Source::Immediate(immediate) => Some(*immediate),
            Source::Register(_) => None,
        }
    }

    /// The type in which the instruction computes, for up to two sources.
    pub(super) fn execution_type(&self) -> Option<ExecutionType> {
        let mut types = self.sources.iter().map(ExecutionType::of_source);
        let first = types.next()?;
        let Some(second) = types.next() else { return Some(first) };
        if first == second {
            return Some(first);
        }
        [ExecutionType::Dword, ExecutionType::Word]
            .into_iter()
            .find(|&ty| ty == first || ty == second)
            .or(Some(ExecutionType::Double))
    }

    /// Whether the instruction is `mov` without conversion: the types have the same size and kind.
    pub(super) fn is_raw_move(&self) -> bool {
        let (Some(destination), [source]) = (self.destination, self.sources) else { return false };
        let unsigned = |ty| match ty {
            Type::D => Type::Ud,
            Type::W => Type::Uw,
            Type::B => Type::Ub,
            _ => ty,
        };
        let same = match source {
            Source::Register(operand) => {
                !operand.negate && !operand.absolute && unsigned(operand.ty) == unsigned(destination.ty)
            }
            Source::Immediate(immediate) => match immediate {
                Immediate::Ud(_) | Immediate::D(_) => unsigned(destination.ty) == Type::Ud,
                Immediate::Uw(_) | Immediate::W(_) => unsigned(destination.ty) == Type::Uw,
                Immediate::F(_) => destination.ty == Type::F,
                Immediate::Uv(_) | Immediate::V(_) | Immediate::Vf(_) | Immediate::Dim(_) => false,
            },
        };
        same && self.opcode() == Opcode::Mov && !self.instruction.saturate
    }

    /// The size of elements for the rules of regions: on Gen7, regions of 64-bit types count elements of 32 bits.
    pub(super) fn region_size(&self, ty: Type) -> u32 {
        match (self.chip, ty.size()) {
            (Chip::Gen7, 8) => 4,
            (_, size) => size,
        }
    }
}
