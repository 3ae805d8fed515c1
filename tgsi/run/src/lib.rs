//! The reference interpreter: runs a shader of any stage over any number of lanes and returns its outputs and effects.
//!
//! A [`Program`] is prepared from a [`Shader`](tgsi::Shader) once: the control structure is computed, every operand is
//! bound to the location of its register, so that [`run`] dispatches once per instruction and loops over the lanes
//! inside.
//!
//! # The machine
//!
//! * All lanes execute in lock-step under execution masks. Lanes `4k .. 4k+3` are a quad (derivatives, implicit level
//!   of detail) and a subgroup (votes, ballots). All lanes pass a barrier together, so it is a no-op.
//! * Registers are 32-bit words, `[register][component][lane]`, initially zero. Only declared ones exist: others read
//!   as 0 and drop writes. An indirect operand is bounded by its array, or without `ArrayID` by the declared registers
//!   of the file. Constants are bounded by the buffer that is bound.
//! * An instruction reads all its sources before it writes. Only lanes of the execution mask are written; an indirect
//!   destination scatters. A killed or demoted lane continues as a helper, and helpers do not write memory.
//!   After [`KILLED_STEPS`](tgsi_environment::KILLED_STEPS), killed lanes leave loops that no live lane of their quad is
//!   in.
//! * `SWITCH` has the semantics of C: a lane starts at the matching `CASE`, or at `DEFAULT` if no `CASE` of the switch
//!   matches, and leaves at its `BRK`.
//! * All state is on the heap; nesting and calls use explicit stacks. Infinite loops end at the step limit.
//!
//! # Opcodes computed with a math library
//!
//! All other opcodes are exact, correctly rounded IEEE arithmetic. These call the platform's library through `std`; the
//! bounds are those of glibc, in units in the last place of the library call:
//!
//! | opcode | computed as | library error |
//! |---|---|---|
//! | `EX2` | `powf(2, x)` | 1 ulp |
//! | `LG2` | `logf(x) * 1.442695`, the product rounded once more | 1 ulp before the product |
//! | `POW` | `powf(x, y)` | 1 ulp |
//! | `EXP` | x, z as `EX2` | 1 ulp |
//! | `LOG` | as `LG2`, `EX2`, and a division | 1 ulp a call |
//! | `LIT` | z: `powf` | 1 ulp |
//! | `SIN`, `COS` | `sinf`, `cosf` | 1 ulp |
//! | `SQRT`, `RSQ`, `DSQRT`, `DRSQ` | correctly rounded square root, `RSQ` and `DRSQ` then divide | 0 |
//! | `FMA`, `DFMA` | fused multiply-add, correctly rounded | 0 |

mod accesses;
mod alu;
mod alu_integer;
mod alu_wide;
mod control;
mod geometry;
mod kernel;
mod lanes;
mod machine;
mod memory;
mod operands;
mod packing;
mod program;
mod recording_interpreter;
mod stores;
#[cfg(test)]
mod tests;
mod texture;
mod uninitialised_words;
#[doc(hidden)]
pub mod vectors;

#[doc(hidden)]
pub use stores::as_mesa_stores;
use tgsi_environment::{Inputs, MAX_LANES, Outputs, Resources, RunLimits};
use thiserror::Error;

use tgsi::tables::Opcode;
use tgsi_diagnostics::Span;

#[doc(hidden)]
pub use accesses::{AccessObserver, AccessTarget, LaneAccess};
pub use program::Program;

/// Maximum number of words that a geometry shader may emit in one run: a loop around `EMIT` must not exhaust memory
/// before the step limit ends it.
const MAX_EMITTED_WORDS: usize = 1 << 24;

/// An error of running a shader.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum RunError {
    /// More lanes than [`MAX_LANES`].
    #[error("{lanes} lanes are too many, at most {MAX_LANES} run together")]
    TooManyLanes {
        /// The requested number of lanes.
        lanes: usize,
    },
    /// A fragment shader with a number of lanes that is not a multiple of four.
    #[error("a fragment shader runs whole quads, not {lanes} lanes")]
    PartialQuad {
        /// The requested number of lanes.
        lanes: usize,
    },
    /// The declared registers of all lanes need more memory than [`RunLimits`] allow.
    #[error("{registers} registers for {lanes} lanes need more than {limit} bytes")]
    TooManyRegisters {
        /// Declared registers.
        registers: usize,
        /// Lanes of the run.
        lanes: usize,
        /// The limit.
        limit: u64,
    },
    /// The run executed the maximum number of instructions of [`RunLimits`].
    #[error("no end after {limit} steps, at instruction {instruction} ({opcode})")]
    StepLimit {
        /// The limit.
        limit: u64,
        /// Number of the next instruction.
        instruction: u32,
        /// Its opcode.
        opcode: Opcode,
        /// Its position.
        span: Span,
    },
    /// Blocks and calls nest so deeply that their masks would need more memory than [`RunLimits`] allow.
    #[error("instruction {instruction} nests too deep for {lanes} lanes")]
    TooDeep {
        /// Number of the instruction that opens the block.
        instruction: u32,
        /// Lanes of the run.
        lanes: usize,
        /// Its position.
        span: Span,
    },
    /// A geometry shader emitted more words than the limit.
    #[error("instruction {instruction} emits more than {MAX_EMITTED_WORDS} words")]
    TooMuchOutput {
        /// Number of the `EMIT`.
        instruction: u32,
        /// Its position.
        span: Span,
    },
}

impl RunError {
    tgsi_diagnostics::error_codes! {
        TooManyLanes => "T0622" "too-many-lanes",
        PartialQuad => "T0623" "partial-quad",
        TooManyRegisters => "T0624" "too-many-registers",
        StepLimit => "T0625" "step-limit",
        TooDeep => "T0626" "nesting-too-deep",
        TooMuchOutput => "T0627" "too-much-output",
    }
}

/// Runs `program` over all lanes of `inputs`.
///
/// # Errors
/// [`RunError::TooManyLanes`], [`RunError::PartialQuad`], [`RunError::TooManyRegisters`], [`RunError::StepLimit`],
/// [`RunError::TooDeep`], [`RunError::TooMuchOutput`].
pub fn run(
    program: &Program,
    inputs: &Inputs,
    resources: &mut dyn Resources,
    limits: RunLimits,
) -> Result<Outputs, RunError> {
    machine::Machine::new(program, inputs, resources, limits)?.run::<false>(limits, &mut OpcodeCounts::default())
}

/// Execution counts by opcode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpcodeCounts([u64; 256]);

impl Default for OpcodeCounts {
    fn default() -> OpcodeCounts {
        OpcodeCounts([0; 256])
    }
}

impl OpcodeCounts {
    /// Returns the count of an opcode.
    pub fn of(&self, opcode: Opcode) -> u64 {
        self.0[opcode as usize]
    }

    /// Adds the counts of other runs.
    pub fn add(&mut self, other: &OpcodeCounts) {
        for (mine, others) in self.0.iter_mut().zip(&other.0) {
            *mine += others;
        }
    }

    fn count(&mut self, opcode: Opcode) {
        self.0[opcode as usize] += 1;
    }
}

/// Like [`run`], but also counts the instructions that at least one lane executes.
///
/// # Errors
/// See [`run`].
pub fn run_counted(
    program: &Program,
    inputs: &Inputs,
    resources: &mut dyn Resources,
    limits: RunLimits,
    counts: &mut OpcodeCounts,
) -> Result<Outputs, RunError> {
    machine::Machine::new(program, inputs, resources, limits)?.run::<true>(limits, counts)
}

/// Like [`run`], but also reports accesses to an observer.
///
/// # Errors
/// See [`run`].
#[doc(hidden)]
pub fn run_observed(
    program: &Program,
    inputs: &Inputs,
    resources: &mut dyn Resources,
    limits: RunLimits,
    observer: AccessObserver<'_>,
) -> Result<Outputs, RunError> {
    let mut machine = machine::Machine::new(program, inputs, resources, limits)?;
    machine.observer = Some(observer);
    machine.run::<false>(limits, &mut OpcodeCounts::default())
}
