//! Executes programs of execution units.
//!
//! The simulator knows the machine from its description only, and is independent of the compiler of the programs. A
//! run is one thread of up to 32 channels. Everything outside of the thread (textures, memory, the URB, render targets)
//! is an [`Environment`], which receives messages with decoded fields. Each run ends after a bounded number of
//! instructions, and any program gives a result or a [`Trap`].
//!
//! * Floats are IEEE 754's, rounded to nearest. Denormal numbers are numbers, as in the interpreters of the compiler;
//!   [`Launch::flush_denormals`] replaces them by zeros in operands and results, as hardware does. Moves between floats
//!   without modifiers keep all bits.
//! * Dot products add products from the last component on. `mad` is rounded once, other sums of products after each
//!   operation. Functions of the mathematics unit are rounded from 64 bits, but `rsq` is the
//!   reciprocal of the rounded root, and `sin` and `cos` are computed with 32 bits.
//! * Conditions are evaluated on the result as it is written: after saturation and conversion.
//! * Instructions that write two registers, and those of 16 channels with elements of 32 bits, execute half of the
//!   channels at a time: the second half reads results of the first one where registers overlap.
//! * Integer products use the lower 16 bits of a second operand of 32 bits, and `mach` adds the rest.
//! * Every channel has its own position, at which it is enabled again after a branch. A branch jumps if it leaves no
//!   channel enabled.
//! * Where hardware flags, accumulators and masks depend on the group of channels, so does the simulator.
//!
//! ```
//! use tgsi_driver_intel::isa::Chip;
//! use tgsi_driver_intel::simulator::{Environment, Launch, Registers, Simulator};
//! use tgsi_driver_intel::text::assemble;
//!
//! /// Surroundings without memory.
//! struct Nothing;
//!
//! impl Environment for Nothing {}
//!
//! let text = "add(8) g3<1>F g1<8,8,1>F -g2.1<0,1,0>F { align1 1Q };";
//! let simulator = Simulator::from_instructions(assemble(text, Chip::Gen7)?, Chip::Gen7);
//! let mut registers = Registers::default();
//! registers.set_words(1, [1.5f32.to_bits(); 8]);
//! registers.set_word(2, 1, 0.5f32.to_bits());
//! let result = simulator.run(&Launch { registers, ..Launch::default() }, &mut Nothing)?;
//! assert_eq!(result.registers.words(3).map(f32::from_bits), [1.0; 8]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alu;
mod arguments;
mod buffer;
mod environment;
mod execute;
mod math;
mod message;
mod registers;
mod render;
mod sampler;
mod state;
mod surface;
mod thread;
mod urb;
mod value;

pub use arguments::SampleArguments;
pub use environment::{
    AtomicOp, BufferAccess, Environment, Interpolation, InterpolationPlace, Lanes, RenderTargetWrite, Sample, SampleOp,
    Simd, TypedAccess, UrbRow, UrbWrite,
};
pub use registers::Registers;
pub use thread::Thread;

use crate::isa::{Chip, DecodeError, Instruction, SharedFunction, decode_program};

use thiserror::Error;

/// The reason why a run ended without a result. The first number of a variant is the index of the instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Trap {
    /// More instructions than allowed.
    #[error("the program executes too many instructions")]
    Steps,
    /// The instruction lacks operands of its opcode.
    #[error("instruction {0} has other operands than its opcode")]
    Form(usize),
    /// A branch leads to a position, in units of 64 bits, that is not the start of an instruction or the end.
    #[error("instruction {0}: the target at {1} is not an instruction")]
    Target(usize, i64),
    /// A place in the general registers, in bytes, that does not exist.
    #[error("instruction {0}: byte {1} is not in the registers")]
    Register(usize, i64),
    /// An invalid address of the scratch space of the thread, in bytes.
    #[error("instruction {0}: the address {1:#x} is not in the scratch space")]
    Scratch(usize, u64),
    /// A message without a known definition: the receiver and the descriptor.
    #[error("instruction {0}: the message {2:#x} to {name} has no known definition", name = .1.name())]
    Message(usize, SharedFunction, u32),
    /// `wait` without a notification, outside of [`Thread::resume`].
    #[error("instruction {0} waits forever")]
    Wait(usize),
    /// The illegal instruction.
    #[error("instruction {0} is illegal")]
    Illegal(usize),
    /// An operation without a known definition.
    #[error("instruction {0}: {1} has no known definition")]
    Undefined(usize, &'static str),
}

/// The initial state of a thread, and its limits.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The payload of the thread.
    pub registers: Registers,
    /// The channels that exist; others are never enabled. Channel 0 is the lowest bit. In SIMD4x2, four channels are
    /// the components of a vector.
    pub dispatch_mask: u32,
    /// The size of the scratch space in bytes.
    pub scratch: u32,
    /// Whether writes to render targets have a sample mask (state of the pipeline, not of the message).
    pub has_sample_mask: bool,
    /// Whether denormal floats are replaced by zeros.
    pub flush_denormals: bool,
    /// The number of instructions after which the run ends with [`Trap::Steps`].
    pub steps: u32,
}

impl Default for Launch {
    /// Registers with zeros, 16 channels.
    fn default() -> Self {
        Launch {
            registers: Registers::default(),
            dispatch_mask: 0xffff,
            scratch: 1 << 16,
            has_sample_mask: false,
            flush_denormals: false,
            steps: 1 << 20,
        }
    }
}

/// The state at the end of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct RunResult {
    /// The general registers.
    pub registers: Registers,
    /// The flag registers f0 and f1.
    pub flags: [u32; 2],
    /// The number of executed instructions, with those for which no channel was enabled.
    pub steps: u32,
    /// The number of executed instructions for which a channel was enabled.
    pub executed: u32,
    /// Whether a message ended the thread. Otherwise the program ends without one, which is an error on hardware.
    pub has_ended: bool,
}

/// Why [`Thread::resume`] returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// The thread has ended.
    Ended,
    /// The thread is at `wait`, until [`Thread::notify`].
    Waiting,
}

/// A decoded program.
#[derive(Clone, Debug)]
pub struct Simulator {
    instructions: Vec<Instruction>,
    /// The position of each instruction and of the end, in units of 64 bits.
    positions: Vec<i64>,
    chip: Chip,
}

impl Simulator {
    /// Decodes the words of a program, see [`decode_program`].
    pub fn new(words: &[u32], chip: Chip) -> Result<Simulator, DecodeError> {
        Ok(Simulator::from_instructions(decode_program(words, chip)?, chip))
    }

    /// A program from its instructions.
    pub fn from_instructions(instructions: Vec<Instruction>, chip: Chip) -> Simulator {
        let positions = crate::isa::positions(&instructions);
        Simulator { instructions, positions, chip }
    }

    /// The instructions.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// A thread at its start, for workgroups with barriers.
    pub fn thread(&self, launch: &Launch) -> Thread<'_> {
        Thread::new(self, launch)
    }

    /// Executes a thread up to its end. A barrier that [`Environment::barrier`] does not complete is [`Trap::Wait`].
    pub fn run(&self, launch: &Launch, environment: &mut dyn Environment) -> Result<RunResult, Trap> {
        let mut thread = self.thread(launch);
        match thread.resume(environment)? {
            Status::Ended => Ok(thread.result()),
            Status::Waiting => Err(Trap::Wait(thread.position())),
        }
    }
}
