//! SPIR-V by direct translation: SSA values become result ids, phis become `OpPhi`, and remaining registers become
//! variables of the function. There is no copy propagation and no structurizer here: the optimiser has already run, and
//! the tree of blocks, ifs and loops is already the structured control flow that SPIR-V requires.
//!
//! ```text
//! optimised SSA ──lower──> SSA without what SPIR-V lacks ──plan──> classes of values ──emit──> sections of words
//! ```
//!
//! | folder | holds |
//! |---|---|
//! | `options` | the features of the target and the interface for the host, in one table |
//! | `lower` | this driver's IR passes, and the list of IR passes that run |
//! | `plan` | the class (float, signed, unsigned, boolean) of every value, decided before anything is emitted |
//! | `emit` | the walk over the tree that emits words, one file for each subject |
//! | `module` | the writer of words: sections, types, constants, capabilities |
//! | `stream_output` | the outputs that are captured in buffers |
//!
//! # Invariants
//!
//! - **Values are typeless in the IR, typed in SPIR-V.** A value has one class. A use in another class takes an
//!   `OpBitcast`, emitted once for each scope. Operands and results of a signed operation are signed, those of an
//!   unsigned one unsigned: some translators of SPIR-V rely on it.
//! - **Defined where the IR is defined.** Division by zero, shift counts, conversions of floats out of range, minima
//!   with NaN, and accesses out of range get explicit code where SPIR-V leaves them undefined.
//! - **Minimal.** A capability, extension, variable or constant is declared only if an instruction needs it.
//! - **Errors are values.** A feature that the target lacks is lowered, or is an error that names instruction and
//!   feature.
//!
//! # Implementation-defined results
//!
//! Vulkan bounds errors in units in the last place (ulp). Within these bounds results depend on the device:
//!
//! | operation of the IR | bound |
//! |---|---|
//! | `frcp`, `fdiv` | 2.5 ulp, for divisors from 2^-126 to 2^126 |
//! | `frsq` | 2 ulp |
//! | `fsqrt` | that of 1 / `frsq` |
//! | `fexp2` | 3 + 2 * abs(x) ulp |
//! | `flog2` | 3 ulp; 2^-21 from 0.5 to 2.0 |
//! | `fpow` | that of `fexp2(y * flog2(x))` |
//! | `fsin`, `fcos` | 2^-11 from -pi to pi; beyond, none |
//! | `fmod`, `frem`, `flrp` | those of the quotient and of the products |
//! | `ffma` | rounded once or twice; once with the option `fused_fma`, for targets that do |
//!
//! Denormals may be flushed to zero, even by negation, minimum, maximum and absolute value. NaN and infinities need not
//! be preserved, unless the option `float_controls` states that the target does. The payload of a NaN is unspecified,
//! and so are the words of a 64-bit NaN. Addresses are rounded down to a multiple of four.

mod disassemble;
mod driver;
mod emit;
mod error;
mod lower;
mod module;
mod options;
mod plan;
mod stream_output;

pub use disassemble::disassemble;
pub use driver::{DRIVER, Spirv};
pub use error::SpirvError;
pub use options::{Locations, Numbers, Origin, Samplers, SpirvOptions};
pub use stream_output::{Capture, StreamOutput, StreamOutputError};

/// Parts for crates that process modules further.
#[doc(hidden)]
pub mod internals {
    pub use crate::emit::{Emitted, is_in_every_device};
}
