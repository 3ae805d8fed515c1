//! A small machine with vectors of four words, described by [`SimpleMachine`].
//!
//! It has the features that make real machines hard: write masks, swizzles, a negation and a saturation, guards,
//! opcodes that work channel by channel, on pairs or in other ways, results that are stored whole, pairs that are
//! computed in sequence, a single input in an instruction, arrays with an address register, and outputs that are
//! visible before the end.

use tgsi_vec4::Flow;
use tgsi_vec4::simple::{BY_MASK, File, Info, Relative, Results, SimpleMachine};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    Mov,
    Add,
    Mul,
    Less,
    /// All channels are the sum of the products of all components.
    Dot,
    /// Channel `c` is a word of memory at x of the source plus `c`.
    Load,
    /// x and y are computed from x and y of the sources, then z and w from z and w.
    Twist,
    /// Adds x of the source to a counter; the result, in x, is the previous value, and is stored to all components.
    Atomic,
    /// Loads the address register.
    Address,
    /// Writes to the log.
    Store,
    /// Writes all outputs to the log.
    Emit,
    If,
    Else,
    EndIf,
    Loop,
    EndLoop,
    Break,
    Continue,
}

/// The address register.
pub const ADDRESS: Relative = Relative { register: 0, component: 0 };

/// The register that guards test. Condition 0 passes for odd numbers, 1 for even ones.
pub const FLAGS: u8 = 1;

#[derive(Clone, Copy, Debug, Default)]
pub struct Toy;

pub type Instruction = tgsi_vec4::simple::Instruction<Op>;

pub type Program = tgsi_vec4::Program<Toy>;

impl SimpleMachine for Toy {
    type Op = Op;
    const COPY: Op = Op::Mov;

    fn info(op: Op) -> Info {
        let vector = [0xf; 4];
        match op {
            Op::Mov | Op::Add | Op::Mul | Op::Less | Op::Address => Info::COMPONENTWISE,
            Op::Dot => Info::replicated(vector),
            Op::Load => Info::fixed([1; 4]),
            Op::Twist => Info { results: Results::Pairs, narrows: false, ..Info::fixed([BY_MASK; 4]) },
            Op::Atomic => Info { has_effect: true, narrows: false, stores_whole: true, ..Info::fixed([1; 4]) },
            Op::Store => Info { has_effect: true, ..Info::fixed(vector) },
            Op::Emit => Info { has_effect: true, shows_outputs: true, ..Info::fixed(vector) },
            Op::If => Info { reads: [1; 4], ..Info::flow(Flow::If) },
            Op::Else => Info::flow(Flow::Else),
            Op::EndIf => Info::flow(Flow::EndIf),
            Op::Loop => Info::flow(Flow::Loop),
            Op::EndLoop => Info::flow(Flow::EndLoop),
            Op::Break => Info::flow(Flow::Break),
            Op::Continue => Info::flow(Flow::Continue),
        }
    }

    fn accepts(&self, instruction: &Instruction) -> bool {
        let to_special = instruction.destination.is_some_and(|to| to.file == File::Special);
        let takes_special = matches!(instruction.op, Op::Mov | Op::Add | Op::Mul | Op::Less);
        instruction.registers_of(|source| source.file == File::Input) <= 1
            && (!to_special || instruction.op == Op::Address || takes_special && !instruction.saturate)
            && (!instruction.saturate || Toy::info(instruction.op).results != Results::Fixed)
            && instruction.sources.iter().all(|source| !source.absolute && source.file != File::Special)
    }
}

/// Prints a program for messages.
pub fn text(program: &Program) -> String {
    program.instructions().iter().map(|instruction| format!("{instruction}\n")).collect()
}

impl Op {
    /// The number of operands of an operation.
    pub fn operands(self) -> usize {
        if matches!(self, Op::Mov | Op::Load) { 1 } else { 2 }
    }
}
