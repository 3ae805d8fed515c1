//! The generator: makes valid TGSI shaders from arbitrary bytes. They terminate, and their results are defined for all
//! inputs.
//!
//! It works like `wasm-smith`: bytes determine every decision, and after the last byte the simplest alternative is
//! chosen, so a fuzzer can both guide it and minimise its findings. [`from_seed`] derives the bytes from a number.
//!
//! # Why the results are defined
//!
//! Every register has one kind for the whole shader, and only values that are written on every path are read. Anything
//! that two correct executors may compute differently is kept from affecting the results:
//!
//! | undefined | avoided by |
//! |---|---|
//! | rounding of sums and products that are not precise | they operate on small multiples of powers of two, where nothing is rounded (`Small`), or their results are only used by outputs and precise instructions (`Leaf`), or they are precise |
//! | the sign of zero | it is removed (`\|x\|`, `DABS`) before reciprocals and similar; results that differ only in it count as equal |
//! | sign and payload of NaN | floats are never read as integers |
//! | the order of lanes in memory | every lane has its own part of each buffer; shared words are modified by one kind of commutative atomic with an unused result |
//! | reads and writes outside of arrays and buffers | indices are clamped before they are used |
//! | derivatives and lanes by number where not all lanes execute | they are only used where all lanes execute |
//! | infinite loops | every loop has a counter |

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
#[doc(hidden)]
pub use interface::holds_integers;
use tgsi::builder::BuildError;
use tgsi::shader::Shader;
use tgsi::tables::Processor;

/// Language features that a shader may use.
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
    INDIRECT = 4 "indirect", "Computed indices.";
    WIDE = 5 "wide", "64-bit values.";
    TEXTURES = 6 "textures", "Texture instructions.";
    MEMORY = 7 "memory", "Buffers, shared memory, atomic counters.";
    IMAGES = 8 "images", "Images.";
    LANES = 9 "lanes", "Votes, derivatives, other lanes.";
    STAGE = 10 "stage", "Opcodes of a single stage: `KILL`, `EMIT`, interpolation, barriers.";
    FUSED = 11 "fused", "`FMA`, `DFMA`, `DSQRT`: not every target supports them with a single rounding.";
    PERIODIC = 12 "periodic", "`SIN`, `COS`: devices do not bound the error for large angles.";
}

/// Features that are not disabled at random, because the opcodes that they add are rare.
const KEPT: Features = Features(Features::FUSED.0 | Features::PERIODIC.0);

/// Features that require integers.
const OF_INTEGERS: Features =
    Features(Features::SWITCH.0 | Features::WIDE.0 | Features::MEMORY.0 | Features::IMAGES.0 | Features::LANES.0);

impl Features {
    /// Straight-line code only.
    pub const NONE: Features = Features(0);

    /// Whether all of `other` are included.
    pub const fn contains(self, other: Features) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the union with other features.
    #[must_use]
    pub const fn with(self, other: Features) -> Features {
        Features(self.0 | other.0)
    }

    /// Returns the features without others.
    #[must_use]
    pub const fn without(self, other: Features) -> Features {
        Features(self.0 & !other.0)
    }

    /// Returns the feature with a name.
    pub fn from_name(name: &str) -> Option<Features> {
        Features::NAMES.iter().find(|(n, _)| *n == name).map(|&(_, feature)| feature)
    }
}

/// Stages for which shaders are generated.
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
#[non_exhaustive]
pub struct Config {
    /// The stage. None means any of [`STAGES`], or without integers fragment or vertex.
    pub stage: Option<Processor>,
    /// Approximate maximum number of instructions, not counting the final stores to outputs.
    pub size: u32,
    /// The features that may be used.
    pub features: Features,
    /// Whether integers and everything that needs them may be used. Hardware without them has two stages, one constant
    /// buffer and the opcodes from `TEX` to `TXP`; its comparisons and roundings of infinities and NaN are undefined.
    pub integers: bool,
    /// Whether vertex shaders may have `IF`, loops and subroutines. Hardware without them selects by multiplying with 0
    /// or 1, which fails if the value that is not selected is infinite.
    pub vertex_flow: bool,
    /// Stages whose shaders have no texture instructions, whatever the [`features`](Self::features).
    pub without_textures: Vec<Processor>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            stage: None,
            size: 40,
            features: Features::ALL,
            integers: true,
            vertex_flow: true,
            without_textures: Vec::new(),
        }
    }
}

impl Config {
    /// Returns the configuration for a [`stage`](Self::stage).
    #[must_use]
    pub fn with_stage(self, stage: impl Into<Option<Processor>>) -> Config {
        Config { stage: stage.into(), ..self }
    }

    /// Returns the configuration for a [`size`](Self::size).
    #[must_use]
    pub fn with_size(self, size: u32) -> Config {
        Config { size, ..self }
    }

    /// Returns the configuration with these [`features`](Self::features).
    #[must_use]
    pub fn with_features(self, features: Features) -> Config {
        Config { features, ..self }
    }

    /// Returns the configuration with or without [`integers`](Self::integers).
    #[must_use]
    pub fn with_integers(self, integers: bool) -> Config {
        Config { integers, ..self }
    }

    /// Returns the configuration with or without [`vertex_flow`](Self::vertex_flow).
    #[must_use]
    pub fn with_vertex_flow(self, vertex_flow: bool) -> Config {
        Config { vertex_flow, ..self }
    }

    /// Returns the configuration with these stages [`without_textures`](Self::without_textures).
    #[must_use]
    pub fn with_stages_without_textures(self, stages: impl IntoIterator<Item = Processor>) -> Config {
        Config { without_textures: stages.into_iter().collect(), ..self }
    }
}

/// Generates the shader that bytes determine.
///
/// # Errors
/// No error is known: every shader can be built. An error is a bug in this module, which callers may report.
pub fn from_bytes(bytes: &[u8], config: &Config) -> Result<Shader, BuildError> {
    generator::generate(Choices::from_bytes(bytes), config)
}

/// Generates the shader for a seed. It stays the same as long as this module is unchanged.
///
/// # Errors
/// See [`from_bytes`].
pub fn from_seed(seed: u64, config: &Config) -> Result<Shader, BuildError> {
    generator::generate(Choices::from_seed(seed), config)
}
