//! Executes the words of programs.
//!
//! The simulator knows the machine only from its description, and is independent of the compiler of the words. Threads
//! run in lock-step: of all threads, those with the lowest position execute the next bundle, so that the threads of a
//! quad are together again after a branch. Each run ends after a bounded number of bundles, and any words give a result
//! or a [`Trap`].
//!
//! ```
//! use tgsi_driver_midgard::isa::{Chip, Register};
//! use tgsi_driver_midgard::simulator::{Environment, Launch, Registers, Simulator};
//!
//! /// Surroundings that set r1 and r2.
//! struct Inputs;
//!
//! impl Environment for Inputs {
//!     fn preload(&mut self, lane: usize, registers: &mut Registers) {
//!         for (number, value) in [(1, lane as f32), (2, 0.5)] {
//!             registers.set_words(Register::new(number).unwrap(), [value.to_bits(); 4]);
//!         }
//!     }
//! }
//!
//! // FMUL.f32 R0, R1, R2
//! let simulator = Simulator::new(&[0x0002_0018, 0x0214_0041, 0xff2e_4072, 0], Chip::T760)?;
//! let result = simulator.run(&Launch::default(), &mut Inputs)?;
//! let product = result.lanes[3].registers.words(Register::new(0).unwrap());
//! assert_eq!(product.map(f32::from_bits), [1.5; 4]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alu;
mod atomic;
mod bundle;
mod cube;
mod environment;
mod float;
mod integer;
mod load_store;
mod operation;
mod registers;
mod run;
mod texture;

pub use environment::{
    AttributeLoad, Environment, Format, ImageAccess, SpecialLoad, TextureFetch, TextureLane, TileLoad, VaryingLoad,
    VaryingStore, Vec4, WriteOut,
};
pub use registers::Registers;

use crate::isa::{Bundle, Chip, DecodeError, Tag, decode_program};

use thiserror::Error;

/// The reason why a run ended without a result. The first number of a variant is the index of the bundle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Trap {
    /// More bundles than allowed.
    #[error("the program executes too many bundles")]
    Steps,
    /// The program ends after a bundle that continues.
    #[error("bundle {0}: the program ends, and the next tag is {next}", next = .1.name())]
    End(usize, Tag),
    /// The next bundle has another tag: the stated and the found one.
    #[error("bundle {0}: the next tag is {stated}, and the next bundle has {found}", stated = .1.name(),
        found = .2.name())]
    Tag(usize, Tag, Tag),
    /// A branch leads to a position, in quadwords, that is not the start of a bundle.
    #[error("bundle {0}: the target at quadword {1} is not a bundle")]
    Target(usize, i64),
    /// A register that the program does not have, or that the unit cannot read or write.
    #[error("bundle {0}: r{1} is not available")]
    Register(usize, u8),
    /// An invalid address of memory.
    #[error("bundle {0}: the address {1:#x} is invalid")]
    Memory(usize, u64),
    /// The trap instruction, and its offset.
    #[error("bundle {0}: trap {1}")]
    Instruction(usize, i32),
    /// An operation without a known definition.
    #[error("bundle {0}: {1} has no known definition")]
    Undefined(usize, &'static str),
}

/// The threads whose differences are the derivatives of a quad.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Derivatives {
    /// Those of the lower row and of the left column, for all threads, as in the interpreters.
    #[default]
    Quad,
    /// Those of the row and of the column of each thread.
    Line,
}

/// The threads of a run, and its limits.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The number of threads. Four at a time are a quad: 1 is right of 0, 2 below 0. A barrier waits for all of them.
    pub lanes: usize,
    /// The threads that are helpers from the start: they write no results, memory and images. Others are not.
    pub helpers: &'a [bool],
    /// The uniforms in registers: the first one is r23, the second one r22. At most 16.
    pub uniforms: &'a [Vec4],
    /// The number of work registers, at most 16.
    pub work_registers: u8,
    /// The kind of derivatives.
    pub derivatives: Derivatives,
    /// The number of issued bundles after which the run ends with [`Trap::Steps`].
    pub steps: u32,
    /// The number of issued bundles after which discarded threads leave loops, instead of a jump backwards, that no
    /// other thread of the quad is in. They have no effects, and may have no other reason to leave.
    pub killed_steps: u32,
    /// Whether the first thread of a quad that executes a texture fetch states texture and sampler for the others, as
    /// in the interpreters. Otherwise each thread has its own.
    pub has_uniform_textures: bool,
}

impl Default for Launch<'_> {
    /// A quad with 16 work registers.
    fn default() -> Self {
        Launch {
            lanes: 4,
            helpers: &[],
            uniforms: &[],
            work_registers: 16,
            derivatives: Derivatives::Quad,
            steps: 1 << 20,
            killed_steps: u32::MAX,
            has_uniform_textures: false,
        }
    }
}

/// The state of a thread at its end.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LaneResult {
    /// The registers.
    pub registers: Registers,
    /// Whether the thread was a helper from the start, or a branch discarded it.
    pub is_killed: bool,
    /// The results of a fragment, in the order in which they were written.
    pub writes: Vec<WriteOut>,
}

/// The state at the end of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct RunResult {
    /// The threads.
    pub lanes: Vec<LaneResult>,
    /// The number of issued bundles.
    pub steps: u32,
}

/// A decoded program.
#[derive(Clone, Debug)]
pub struct Simulator {
    bundles: Vec<Bundle>,
    /// The position of each bundle in quadwords.
    starts: Vec<i64>,
    chip: Chip,
}

impl Simulator {
    /// Decodes the words of a program, see [`decode_program`].
    pub fn new(words: &[u32], chip: Chip) -> Result<Simulator, DecodeError> {
        Ok(Simulator::from_bundles(decode_program(words)?, chip))
    }

    /// A program from its bundles.
    pub fn from_bundles(bundles: Vec<Bundle>, chip: Chip) -> Simulator {
        let lengths = bundles.iter().map(|bundle| i64::from(bundle.quadwords()));
        let starts = lengths.scan(0, |end, length| Some(std::mem::replace(end, *end + length))).collect();
        Simulator { bundles, starts, chip }
    }

    /// The bundles.
    pub fn bundles(&self) -> &[Bundle] {
        &self.bundles
    }

    /// Executes the program.
    pub fn run(&self, launch: &Launch<'_>, environment: &mut dyn Environment) -> Result<RunResult, Trap> {
        run::Run::new(self, launch, environment).finish()
    }
}
