//! The instructions of vec4 programs over virtual registers, for the passes of [`tgsi_vec4`].
//!
//! | file | index |
//! |---|---|
//! | temporary | a virtual register: one vector of four components for each of the two vertices; below [`PAYLOAD`] a register of the payload of messages |
//! | input | the number of the attribute in the payload |
//! | output | the slot in the vertex entry (VUE) |
//! | uniform | the register of constant buffer 0, which is pushed |
//! | constant | a row of literals |
//! | special | [`FLAG`] |
//!
//! In scalar programs, those of fragments, a component is a register for eight lanes, an input is an attribute of which
//! the value at the first vertex is read, and an output is a render target or another output of
//! [`FragmentInterface`](crate::program::FragmentInterface).
//!
//! A component of the flag register is the flag of that channel. A guard has the conditions [`IF_SET`] and
//! [`UNLESS_SET`]. Integers are negated by fields of [`Alu`], floats by the modifiers of sources: passes combine only the
//! latter.

use tgsi_vec4::Flow;
use tgsi_vec4::simple::{BY_MASK, File, Info, Instruction, Results, SimpleMachine, Source};

use crate::isa::{Chip, Condition, Form, MathFunction, Opcode, Type, restricted_float};
use crate::message::Message;
use crate::scalar::FragmentOp;

/// The special register of the flags that selections and branches test.
pub const FLAG: u8 = 0;
/// The number of registers of payloads of messages: the temporaries with lower numbers.
pub const PAYLOAD: u32 = 6;
/// The condition of a guard that passes where the flag is set.
pub const IF_SET: u8 = 0;
/// The condition of a guard that passes where the flag is not set.
pub const UNLESS_SET: u8 = 1;

/// An instruction of the execution unit, without operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Alu {
    /// The opcode.
    pub opcode: Opcode,
    /// The function of `math`.
    pub math: Option<MathFunction>,
    /// The type of the result.
    pub to: Type,
    /// The type of the sources.
    pub from: Type,
    /// The condition: of `cmp` the comparison, of `sel` the choice.
    pub condition: Option<Condition>,
    /// The sources that are negated integers, bit 0 = first.
    pub negated: u8,
    /// Whether the first source is the absolute value of an integer.
    pub absolute: bool,
}

impl Alu {
    /// An instruction whose sources and result have a type.
    pub const fn new(opcode: Opcode, ty: Type) -> Alu {
        Alu { opcode, math: None, to: ty, from: ty, condition: None, negated: 0, absolute: false }
    }

    /// A conversion.
    pub const fn convert(opcode: Opcode, to: Type, from: Type) -> Alu {
        Alu { to, ..Alu::new(opcode, from) }
    }

    /// A function of the mathematics unit.
    pub const fn math(function: MathFunction, ty: Type) -> Alu {
        Alu { math: Some(function), ..Alu::new(Opcode::Math, ty) }
    }

    /// An instruction with a condition.
    pub const fn with(opcode: Opcode, ty: Type, condition: Condition) -> Alu {
        Alu { condition: Some(condition), ..Alu::new(opcode, ty) }
    }
}

/// A product of integers of 32 bits, which takes several instructions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Product {
    /// The lower half.
    Low,
    /// The upper half of signed numbers.
    HighSigned,
    /// The upper half of unsigned numbers.
    HighUnsigned,
}

/// A value in the header of geometry programs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HeaderValue {
    /// The number of the primitive.
    PrimitiveId,
    /// The number of the invocation.
    InvocationId,
    /// The number of the invocation in its group, in runs.
    SubgroupInvocation,
}

/// An opcode.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// An instruction on components.
    Alu(Alu),
    /// The second source where the flag, the first source, is set, otherwise the third one; all in place.
    Select,
    /// As [`Op::Select`], with the flag of one component for all.
    SelectByOne,
    /// A product of integers.
    Product(Product),
    /// A value in the header, in all components.
    Header(HeaderValue),
    /// A message to a shared function. Each source is a register of the payload.
    Message(Message),
    /// An operation of fragment programs.
    Fragment(FragmentOp),
    /// Executes the first side for vertices that pass the guard.
    If,
    /// Begins the other side.
    Else,
    /// Ends the construct.
    EndIf,
    /// Begins a loop.
    Loop,
    /// Ends a loop.
    EndLoop,
    /// Leaves the loop.
    Break,
    /// Continues with the next iteration.
    Continue,
}

impl From<Alu> for Op {
    fn from(alu: Alu) -> Op {
        Op::Alu(alu)
    }
}

/// The machine of a generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Machine {
    /// The generation.
    pub chip: Chip,
    /// Whether components are registers for eight lanes, see [`scalar`](crate::scalar).
    pub is_scalar: bool,
    /// Whether inputs are the same for both halves of a register, as in geometry programs for one object.
    pub has_uniform_inputs: bool,
}

/// A program of the machine.
pub type Program = tgsi_vec4::Program<Machine>;

/// An instruction of the machine.
pub type MachineInstruction = Instruction<Op>;

/// The opcode that copies.
pub const COPY: Op = Op::Alu(Alu::new(Opcode::Mov, Type::F));

impl SimpleMachine for Machine {
    type Op = Op;
    const COPY: Op = COPY;

    fn info(op: Op) -> Info {
        match op {
            Op::Alu(alu) => match alu.opcode {
                Opcode::Dp2 => Info::replicated([0b0011; 4]),
                Opcode::Dp3 => Info::replicated([0b0111; 4]),
                Opcode::Dp4 => Info::replicated([0b1111; 4]),
                Opcode::Dph => Info::replicated([0b0111, 0b1111, 0, 0]),
                _ => Info::COMPONENTWISE,
            },
            Op::Select => Info { results: Results::Fixed, ..Info::COMPONENTWISE },
            Op::SelectByOne => Info { reads: [0b0001, BY_MASK, BY_MASK, 0], ..Info::COMPONENTWISE },
            Op::Product(_) | Op::Header(_) => Info::COMPONENTWISE,
            Op::Message(message) => message.info(),
            Op::Fragment(op) => op.info(),
            Op::If => Info::flow(Flow::If),
            Op::Else => Info::flow(Flow::Else),
            Op::EndIf => Info::flow(Flow::EndIf),
            Op::Loop => Info::flow(Flow::Loop),
            Op::EndLoop => Info::flow(Flow::EndLoop),
            Op::Break => Info::flow(Flow::Break),
            Op::Continue => Info::flow(Flow::Continue),
        }
    }

    fn accepts(&self, instruction: &MachineInstruction) -> bool {
        let sources = &instruction.sources;
        if sources.iter().any(|source| source.file == File::Output || source.relative.is_some()) {
            return false;
        }
        let to_flag = instruction.destination.is_some_and(|to| to.file == File::Special);
        let is_register =
            |source: &Source| source.file == File::Temporary || source.file == File::Input && !self.has_uniform_inputs;
        match instruction.op {
            Op::Alu(alu) => accepts_alu(self, instruction, alu),
            Op::Select | Op::SelectByOne => {
                let [flag, chosen, other] = sources.as_slice() else { return false };
                let is_flag = flag.file == File::Special && i32::from(FLAG) == flag.index;
                let is_replicated = flag.swizzle == [flag.swizzle[0]; 4];
                let is_in_place = flag.swizzle == [0, 1, 2, 3];
                is_flag
                    && !to_flag
                    && !instruction.saturate
                    && if instruction.op == Op::Select { is_in_place } else { is_replicated }
                    && !matches!(chosen.file, File::Constant | File::Special)
                    && other.file != File::Special
                    && chosen.is_plain()
                    && other.is_plain()
                    && self.is_immediate(instruction, 2, Type::Ud)
            }
            // The expansion reads the operands several times, after it has written the accumulator only.
            Op::Product(_) => {
                !to_flag
                    && !instruction.saturate
                    && sources.iter().all(|source| {
                        matches!(source.file, File::Temporary | File::Input | File::Uniform) && source.is_plain()
                    })
            }
            Op::Message(_) if self.is_scalar => {
                !to_flag && !instruction.saturate && sources.iter().all(|s| s.file != File::Special && s.is_plain())
            }
            Op::Fragment(op) => !to_flag && !instruction.saturate && op.accepts(sources),
            Op::Message(message) => {
                let takes = |number: usize, source: &Source| {
                    // The place of a vector in scratch space may be a constant.
                    let is_place =
                        number == 0 && matches!(message, Message::ScratchRead | Message::ScratchWrite { .. });
                    source.is_plain() && (is_register(source) || is_place && source.file == File::Constant)
                };
                !to_flag && !instruction.saturate && sources.iter().enumerate().all(|(n, source)| takes(n, source))
            }
            Op::Header(_) => !to_flag && !instruction.saturate,
            _ => true,
        }
    }
}

/// Whether an instruction on components takes its operands.
fn accepts_alu(machine: &Machine, instruction: &MachineInstruction, alu: Alu) -> bool {
    let sources = &instruction.sources;
    let is_float = alu.from == Type::F && alu.opcode != Opcode::F16to32;
    let is_copy = instruction.op == COPY;
    let to_flag = instruction.destination.is_some_and(|to| to.file == File::Special);
    if to_flag && alu.opcode != Opcode::Cmp {
        return false;
    }
    // The words of a copy without modifiers are those of any type; with modifiers it is one of floats.
    if sources.iter().any(|source| source.file == File::Special || !is_float && !source.is_plain()) {
        return false;
    }
    if instruction.saturate && alu.to != Type::F {
        return false;
    }
    let has_immediate = |number: usize| sources.get(number).is_some_and(|source| source.file == File::Constant);
    match alu.opcode.form() {
        Form::Ternary => (0..3).all(|number| {
            let Some(source) = sources.get(number) else { return false };
            match source.file {
                File::Temporary => true,
                File::Input if !machine.has_uniform_inputs => true,
                // The region of one element.
                File::Uniform | File::Input => {
                    let mask = instruction.channels(&Machine::info(instruction.op), number);
                    let mut read = (0..4).filter(|c| mask >> c & 1 != 0).map(|c: usize| source.swizzle[c]);
                    let first = read.next();
                    read.all(|c| Some(c) == first)
                }
                _ => false,
            }
        }),
        Form::Math => sources.iter().all(|source| source.file != File::Constant),
        _ if is_copy => true,
        _ => {
            let last = sources.len().saturating_sub(1);
            let ty = if is_float { Type::F } else { alu.from };
            (0..last).all(|number| !has_immediate(number)) && machine.is_immediate(instruction, last, ty)
        }
    }
}

impl Machine {
    /// Whether a source is not a constant, or one that an instruction can contain: one word for all components, or
    /// four small floats.
    fn is_immediate(&self, instruction: &MachineInstruction, number: usize, ty: Type) -> bool {
        let Some(source) = instruction.sources.get(number) else { return true };
        if source.file != File::Constant {
            return true;
        }
        let channels = instruction.channels(&Machine::info(instruction.op), number);
        // The words of rows are not known here: components of one place are equal.
        let mut read = (0..4).filter(|c| channels >> c & 1 != 0).map(|c: usize| source.swizzle[c]);
        let first = read.next();
        let _ = ty;
        read.all(|c| Some(c) == first)
    }
}

/// The immediate of four small floats, if all words are.
pub fn small_floats(words: [u32; 4]) -> Option<u32> {
    let mut bits = 0;
    for word in words.into_iter().rev() {
        bits = bits << 8 | u32::from(restricted_float(f32::from_bits(word))?);
    }
    Some(bits)
}
