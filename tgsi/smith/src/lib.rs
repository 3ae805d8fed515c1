//! The generator: valid TGSI shaders from any bytes, which end and whose results are defined for all inputs.
//!
//! In the manner of `wasm-smith`: bytes make every decision, and when they have run out the simplest one is taken, so
//! that a fuzzer can steer it and can make what it finds smaller. [`from_seed`] takes the bytes from a number.
//!
//! # What makes the results defined
//!
//! Every register has a kind for the whole shader, and nothing is read but what was written on every path. What two
//! correct executors may compute differently goes nowhere that shows it:
//!
//! | open | so |
//! |---|---|
//! | sums and products that are not precise may be rounded otherwise | they work on small multiples of powers of two, where nothing is rounded (`Small`), or their result goes only to outputs and precise instructions (`Leaf`), or they are precise |
//! | the sign of zero | is removed (`\|x\|`, `DABS`) before reciprocals and the like; results that differ only in it count as equal |
//! | sign and payload of NaN | floats are never read as integers |
//! | which lane comes first in memory | every lane has its own part of each buffer; what lanes share is changed by one kind of commutative atomic, whose result nobody reads |
//! | reads and writes outside of arrays and buffers | indices are bounded before they are used |
//! | derivatives and lanes by number where not all lanes run | they stand where all do |
//! | endless loops | every loop counts |

mod choices;
mod flow;
mod generator;
mod interface;
mod lanes;
mod memory;
pub mod mutate;
mod operands;
pub mod reduce;
mod registers;
mod signature;
mod small;
mod statements;
#[cfg(test)]
mod tests;
mod textures;

use choices::Choices;
pub use interface::holds_integers;
use tgsi::builder::BuildError;
use tgsi::shader::Shader;
use tgsi::tables::Processor;

/// Parts of the language that a shader may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Features(u32);

macro_rules! features {
    ($($constant:ident = $bit:literal $name:literal, $doc:literal;)+) => {
        impl Features {
            $(#[doc = $doc] pub const $constant: Features = Features(1 << $bit);)+
            /// Features with their names.
            pub const NAMES: &'static [(&'static str, Features)] = &[$(($name, Features::$constant)),+];
            /// All features.
            pub const ALL: Features = Features(0 $(| 1 << $bit)+);
        }
    };
}

features! {
    FLOW = 0 "flow", "`IF`, loops.";
    SWITCH = 1 "switch", "`SWITCH`.";
    SUBROUTINES = 2 "subroutines", "`CAL`, `RET`.";
    ARRAYS = 3 "arrays", "Arrays of temporaries, inputs and outputs.";
    INDIRECT = 4 "indirect", "Indices that are computed.";
    WIDE = 5 "wide", "64-bit values.";
    TEXTURES = 6 "textures", "Texture instructions.";
    MEMORY = 7 "memory", "Buffers, shared memory, atomic counters.";
    IMAGES = 8 "images", "Images.";
    LANES = 9 "lanes", "Votes, derivatives, other lanes.";
    STAGE = 10 "stage", "What only one stage has: `KILL`, `EMIT`, interpolation, barriers.";
    FUSED = 11 "fused", "`FMA`, `DFMA`, `DSQRT`: not every target has them, and rounds once.";
    PERIODIC = 12 "periodic", "`SIN`, `COS`: of large angles a device may give anything.";
}

/// Features that every shader has that may have them: what they bring is rare.
const KEPT: Features = Features(Features::FUSED.0 | Features::PERIODIC.0);

/// Features that are nothing without integers.
const OF_INTEGERS: Features =
    Features(Features::SWITCH.0 | Features::WIDE.0 | Features::MEMORY.0 | Features::IMAGES.0 | Features::LANES.0);

impl Features {
    /// Nothing but straight code.
    pub const NONE: Features = Features(0);

    /// Whether all of `other` are among them.
    pub const fn contains(self, other: Features) -> bool {
        self.0 & other.0 == other.0
    }

    /// These and others.
    #[must_use]
    pub const fn with(self, other: Features) -> Features {
        Features(self.0 | other.0)
    }

    /// These without others.
    #[must_use]
    pub const fn without(self, other: Features) -> Features {
        Features(self.0 & !other.0)
    }

    /// The feature of a name.
    pub fn from_name(name: &str) -> Option<Features> {
        Features::NAMES.iter().find(|(n, _)| *n == name).map(|&(_, feature)| feature)
    }
}

/// Stages that shaders are made for.
pub const STAGES: [Processor; 6] = [
    Processor::Fragment,
    Processor::Vertex,
    Processor::Compute,
    Processor::Geometry,
    Processor::TessControl,
    Processor::TessEval,
];

/// The stages of hardware without integers.
pub const FLOAT_STAGES: [Processor; 2] = [Processor::Fragment, Processor::Vertex];

/// The configuration of the generator.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The stage; any of [`STAGES`] if none, fragment or vertex without integers.
    pub stage: Option<Processor>,
    /// About how many instructions there are at most, the last ones of outputs excepted.
    pub size: u32,
    /// The features that may be used.
    pub features: Features,
    /// Whether there are integers and all that needs them. Hardware without them has two stages, one constant buffer and
    /// `TEX` to `TXP`; how it compares and rounds is open for infinities and NaN.
    pub integers: bool,
    /// Whether vertex shaders may have `IF`, loops and subroutines. Hardware without them multiplies by 0 or 1, and what
    /// is not selected may be infinite.
    pub vertex_flow: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config { stage: None, size: 40, features: Features::ALL, integers: true, vertex_flow: true }
    }
}

/// The shader that bytes make.
///
/// # Errors
/// None that is known: every shader can be built. What is returned is a mistake of this module, which callers may
/// report.
pub fn from_bytes(bytes: &[u8], config: &Config) -> Result<Shader, BuildError> {
    generator::generate(Choices::from_bytes(bytes), config)
}

/// The shader of a seed. A seed keeps its meaning as long as this module is not changed.
///
/// # Errors
/// As [`from_bytes`].
pub fn from_seed(seed: u64, config: &Config) -> Result<Shader, BuildError> {
    generator::generate(Choices::from_seed(seed), config)
}
