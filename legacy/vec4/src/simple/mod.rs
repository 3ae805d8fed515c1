//! A ready-made instruction type, with all traits of the passes implemented.
//!
//! A machine states its opcodes ([`SimpleMachine::info`]) and the instructions that it has
//! ([`SimpleMachine::accepts`]): which operands an instruction takes, and which of them together. The rest follows:
//!
//! ```
//! use tgsi_vec4::simple::{Destination, File, Info, Instruction, SimpleMachine, Source};
//! use tgsi_vec4::{Program, propagate_copies::propagate_copies};
//!
//! #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
//! enum Op {
//!     Mov,
//!     Add,
//!     Dp3,
//! }
//!
//! /// Reads one uniform in an instruction at most.
//! struct Machine;
//!
//! impl SimpleMachine for Machine {
//!     type Op = Op;
//!     const COPY: Op = Op::Mov;
//!
//!     fn info(op: Op) -> Info {
//!         match op {
//!             Op::Mov | Op::Add => Info::COMPONENTWISE,
//!             Op::Dp3 => Info::replicated([0b0111, 0b0111, 0, 0]),
//!         }
//!     }
//!
//!     fn accepts(&self, instruction: &Instruction<Op>) -> bool {
//!         instruction.registers_of(|source| source.file == File::Uniform) <= 1
//!     }
//! }
//!
//! let mut program = Program::new(Machine, 0);
//! let temp = program.new_temp();
//! let to_temp = Destination::new(File::Temporary, temp as i32, 0b1111);
//! let to_output = Destination::new(File::Output, 0, 0b1111);
//! let [uniform, input] = [Source::new(File::Uniform, 2), Source::new(File::Input, 0)];
//! program.push(Instruction::new(Op::Mov, Some(to_temp), [uniform.swizzled([3, 2, 1, 0])]));
//! program.push(Instruction::new(Op::Add, Some(to_output), [input, Source::new(File::Temporary, temp as i32)]));
//! propagate_copies(&mut program);
//! assert_eq!(program.instructions()[1].to_string(), "Add Output[0], Input[0], Uniform[2].wzyx");
//! ```
//!
//! Machines with other restrictions, such as on swizzles, implement the traits themselves. With the feature `serde`,
//! instructions can be stored.

mod allocate;
mod constants;
mod machine;
mod merge;
mod operands;
mod optimize;
mod propagate;
mod share_operands;
mod sink_guarded;
mod text;

pub use share_operands::share_operands;
pub use sink_guarded::sink_guarded;

use std::fmt::Debug;
use std::hash::Hash;

use arrayvec::ArrayVec;

use crate::access::swizzled;
use crate::{Flow, Program, Reg};

pub use constants::pack_constants;
pub use merge::join_rows;
pub use operands::{Target, absolute, composed, lane, negated};
pub use optimize::optimize;

/// The maximum number of sources of an instruction.
pub const SOURCES: usize = 4;

/// In [`Info::reads`]: the channels of the write mask.
pub const BY_MASK: u8 = 0x80;

/// A register file.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum File {
    /// Temporary registers; those below the program's [`first_temp`](Program::first_temp) have a fixed location.
    Temporary,
    /// Outputs.
    Output,
    /// Address registers, condition codes, predicates: see [`Reg::special`].
    Special,
    /// Inputs. They do not change.
    Input,
    /// Constants of unknown value. They do not change.
    Uniform,
    /// Rows of the program's [`Constants`](crate::Constants).
    Constant,
}

impl File {
    /// The tracked register of a number; none for files that do not change.
    fn register(self, index: i32, first_temp: u32) -> Option<Reg> {
        let index = u32::try_from(index).ok()?;
        match self {
            File::Temporary => Some(Reg::numbered(index, first_temp)),
            File::Output => Some(Reg::output(index)),
            File::Special => Reg::special(index),
            File::Input | File::Uniform | File::Constant => None,
        }
    }

    /// The number of a virtual temporary, counted from 0.
    fn virtual_temp(self, index: i32, first_temp: u32) -> Option<usize> {
        self.register(index, first_temp)?.as_temp()
    }
}

/// A run-time index: a component of a special register.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Relative {
    /// The special register.
    pub register: u8,
    /// Its component.
    pub component: u8,
}

impl Relative {
    fn read(self) -> Option<(Reg, u8)> {
        Some((Reg::special(self.register.into())?, 1 << (self.component & 3)))
    }
}

/// An operand: the swizzled register, then its absolute value, then the negation.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Source {
    /// The file.
    pub file: File,
    /// The number of the register.
    pub index: i32,
    /// A run-time index that is added to the number.
    pub relative: Option<Relative>,
    /// For each channel the component.
    pub swizzle: [u8; 4],
    /// Whether the operand is the absolute value.
    pub absolute: bool,
    /// Whether the operand is negated.
    pub negate: bool,
}

impl Source {
    /// A register without swizzle and modifiers.
    pub const fn new(file: File, index: i32) -> Source {
        Source { file, index, relative: None, swizzle: [0, 1, 2, 3], absolute: false, negate: false }
    }

    /// The same operand with another swizzle.
    #[must_use]
    pub const fn swizzled(self, swizzle: [u8; 4]) -> Source {
        Source { swizzle, ..self }
    }

    /// Whether both operands read the same register, whatever the components and modifiers.
    pub fn is_same_register(&self, other: &Source) -> bool {
        (self.file, self.index, self.relative) == (other.file, other.index, other.relative)
    }

    /// Whether both operands differ in components only.
    fn differs_in_swizzle(&self, other: &Source) -> bool {
        self.is_same_register(other) && (self.absolute, self.negate) == (other.absolute, other.negate)
    }

    /// Whether the operand has no modifiers.
    pub fn is_plain(&self) -> bool {
        !self.absolute && !self.negate
    }
}

/// The register that an instruction writes.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Destination {
    /// The file.
    pub file: File,
    /// The number of the register.
    pub index: i32,
    /// A run-time index that is added to the number.
    pub relative: Option<Relative>,
    /// The components written, bit 0 = x.
    pub mask: u8,
}

impl Destination {
    /// Components of a register.
    pub const fn new(file: File, index: i32, mask: u8) -> Destination {
        Destination { file, index, relative: None, mask }
    }
}

/// A condition for each component of the result: components that do not pass keep their value. Of control flow, the
/// condition.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Guard {
    /// The special register that is tested.
    pub register: u8,
    /// The test, a number of the machine.
    pub condition: u8,
    /// The component that is tested for each component of the result.
    pub swizzle: [u8; 4],
}

/// An instruction.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Instruction<Op> {
    /// The opcode, with all that does not concern registers.
    pub op: Op,
    /// Whether the result is clamped to 0..1.
    pub saturate: bool,
    /// The condition of the write, or of control flow.
    pub guard: Option<Guard>,
    /// The register written.
    pub destination: Option<Destination>,
    /// The operands.
    pub sources: ArrayVec<Source, SOURCES>,
}

impl<Op: Copy> Instruction<Op> {
    /// An instruction without guard. Operands beyond [`SOURCES`] are dropped.
    pub fn new(op: Op, destination: Option<Destination>, sources: impl IntoIterator<Item = Source>) -> Instruction<Op> {
        let sources = sources.into_iter().take(SOURCES).collect();
        Instruction { op, saturate: false, guard: None, destination, sources }
    }

    /// The components written.
    pub fn mask(&self) -> u8 {
        self.destination.map_or(0, |destination| destination.mask & 0xf)
    }

    /// The number of different registers among the sources that pass a test, for machines that read few registers of a
    /// file in an instruction.
    pub fn registers_of(&self, is_counted: impl Fn(&Source) -> bool) -> usize {
        let is_new = |&number: &usize| {
            let source = &self.sources[number];
            is_counted(source) && !self.sources[..number].iter().any(|earlier| earlier.is_same_register(source))
        };
        (0..self.sources.len()).filter(is_new).count()
    }

    /// The channels of a source on which the result depends.
    pub fn channels(&self, info: &Info, source: usize) -> u8 {
        match (info.reads[source & (SOURCES - 1)], info.results) {
            (BY_MASK, Results::Pairs) => {
                let half = |mask: u8| if self.mask() & mask != 0 { mask } else { 0 };
                half(0b0011) | half(0b1100)
            }
            (BY_MASK, _) => self.mask(),
            (channels, _) => channels,
        }
    }

    /// Moves channel `from[c]` of the result to channel `c`, for the channels of `mask`.
    fn permute(&mut self, info: &Info, mask: u8, from: [u8; 4]) {
        let moved = |old: [u8; 4]| {
            let mut new = old;
            let first = (0..4).find(|c| mask >> c & 1 != 0).unwrap_or(0);
            for (c, new) in new.iter_mut().enumerate() {
                let channel = if mask >> c & 1 != 0 { c } else { first };
                *new = old[usize::from(from[channel] & 3)];
            }
            new
        };
        for (source, &reads) in self.sources.iter_mut().zip(&info.reads) {
            if info.results == Results::Componentwise && reads == BY_MASK {
                source.swizzle = moved(source.swizzle);
            }
        }
        if let Some(guard) = &mut self.guard {
            guard.swizzle = moved(guard.swizzle);
        }
        if let Some(destination) = &mut self.destination {
            destination.mask = mask;
        }
    }
}

/// How the channels of a result depend on operands, and where they may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Results {
    /// Each channel depends on the same channel of the sources: results may be in any components.
    Componentwise,
    /// All channels are equal: results may be in any components.
    Replicated,
    /// Each channel has its component, such as that of a sample of a texture.
    Fixed,
    /// Values of two components. x and y are written before the operands of z and w are read.
    Pairs,
}

/// The facts about an opcode that passes need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Info {
    /// The dependencies of the result.
    pub results: Results,
    /// The channels of each source on which the result depends, whatever the write mask; or [`BY_MASK`].
    pub reads: [u8; SOURCES],
    /// Control flow.
    pub flow: Option<Flow>,
    /// The instruction has an effect besides its result.
    pub has_effect: bool,
    /// The instruction makes all outputs visible.
    pub shows_outputs: bool,
    /// Components of the result without uses may be omitted.
    pub narrows: bool,
    /// All components of the register are stored, whatever the write mask.
    pub stores_whole: bool,
}

impl Info {
    /// An operation on each component.
    pub const COMPONENTWISE: Info = Info {
        results: Results::Componentwise,
        reads: [BY_MASK; SOURCES],
        flow: None,
        has_effect: false,
        shows_outputs: false,
        narrows: true,
        stores_whole: false,
    };

    /// An operation with one result, written to all components.
    pub const fn replicated(reads: [u8; SOURCES]) -> Info {
        Info { results: Results::Replicated, reads, ..Info::COMPONENTWISE }
    }

    /// An operation with results in certain components.
    pub const fn fixed(reads: [u8; SOURCES]) -> Info {
        Info { results: Results::Fixed, reads, ..Info::COMPONENTWISE }
    }

    /// Control flow that reads no sources: its condition is a [`Guard`].
    pub const fn flow(flow: Flow) -> Info {
        Info { flow: Some(flow), has_effect: true, reads: [0; SOURCES], ..Info::COMPONENTWISE }
    }
}

/// A machine that is described by its opcodes.
pub trait SimpleMachine: Sized {
    /// An opcode, with all that does not concern registers, such as the number of a texture.
    type Op: Copy + Eq + Hash + Debug;

    /// The opcode that copies its first source.
    const COPY: Self::Op;

    /// Returns the facts about an opcode.
    fn info(op: Self::Op) -> Info;

    /// Whether the machine has an instruction: its opcode takes these operands, modifiers, saturation and destination,
    /// and can take them together. Swizzles and masks that the results of the opcode permit must be accepted.
    fn accepts(&self, instruction: &Instruction<Self::Op>) -> bool {
        let _ = instruction;
        true
    }
}

/// Appends an instruction. Operands that the machine does not accept are copied to new temporaries first, beginning
/// with the last one; a result that it cannot write or saturate is copied to the destination afterwards. The machine
/// must accept copies of each operand.
pub fn push_legal<M: SimpleMachine>(program: &mut Program<M>, mut instruction: Instruction<M::Op>) {
    let info = M::info(instruction.op);
    let mut after = None;
    let mut accepted = program.machine.accepts(&instruction);
    if !accepted && instruction.op != M::COPY {
        for number in (0..instruction.sources.len()).rev() {
            let channels = instruction.channels(&info, number);
            let source = instruction.sources[number];
            if source.file == File::Temporary && source.relative.is_none() && source.is_plain() || channels == 0 {
                continue;
            }
            let temp = program.new_temp() as i32;
            let to = Destination::new(File::Temporary, temp, swizzled(channels, source.swizzle));
            let from = Source { swizzle: [0, 1, 2, 3], ..source };
            program.push(Instruction::new(M::COPY, Some(to), [from]));
            instruction.sources[number] = Source::new(File::Temporary, temp).swizzled(source.swizzle);
            accepted = program.machine.accepts(&instruction);
            if accepted {
                break;
            }
        }
    }
    if !accepted
        && instruction.op != M::COPY
        && instruction.guard.is_none()
        && let Some(to) = instruction.destination
    {
        let temp = program.new_temp() as i32;
        instruction.destination = Some(Destination::new(File::Temporary, temp, to.mask));
        let mut copy = Instruction::new(M::COPY, Some(to), [Source::new(File::Temporary, temp)]);
        copy.saturate = std::mem::take(&mut instruction.saturate);
        after = Some(copy);
    }
    program.push(instruction);
    if let Some(copy) = after {
        program.push(copy);
    }
}
