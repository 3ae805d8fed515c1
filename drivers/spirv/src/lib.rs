//! SPIR-V by direct translation: SSA values become result ids, phis become `OpPhi`, and what is left of registers
//! becomes variables of the function. There is no copy propagation and no structurizer here: the optimiser has run, and
//! the tree of blocks, ifs and loops already is the structure that SPIR-V asks for.
//!
//! ```text
//! optimised SSA ──lower──> SSA without what SPIR-V lacks ──plan──> classes of values ──emit──> sections of words
//! ```
//!
//! | folder | holds |
//! |---|---|
//! | [`options`] | what a target has, and the interface that a host wants: one table |
//! | `lower` | IR passes of this driver, and the list of those of the IR that run |
//! | `plan` | the class (float, signed, unsigned, boolean) of every value, decided before anything is emitted |
//! | `emit` | the walk over the tree that appends words; a file for each subject |
//! | `module` | the writer of words: sections, types, constants, capabilities |
//! | [`stream_output`] | which outputs go to buffers |
//! | [`interface`] | what was assigned to locations, sets and bindings |
//!
//! # Invariants
//!
//! - **Values are typeless in the IR, typed in SPIR-V.** A value is made in one class. A reader that wants another
//!   takes an `OpBitcast`, which is made once for each scope. Operands and results of a signed operation are signed,
//!   those of an unsigned one unsigned: some translators of SPIR-V rely on it.
//! - **Defined where the IR is defined.** Division by zero, shift counts, conversions of floats out of range, minima
//!   with NaN, and accesses out of range are written out where SPIR-V leaves them open.
//! - **Minimal.** A capability, extension, variable or constant is there only if an instruction needs it.
//! - **Errors are values.** What a target lacks is lowered, or an error that names instruction and feature.
//!
//! # What is left to the device
//!
//! Vulkan bounds errors in units in the last place (ulp). Within them results are the device's:
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
//! | `ffma` | rounded once or twice, unless the option `fused_fma` says that the target rounds once |
//!
//! Denormals may be taken for zeros, also where they are only negated, or where a minimum or an absolute value is
//! taken. Keeping them may cost speed, so that only code of the harness asks for it, of devices that promise it. NaN
//! and infinities need not be kept, unless the option `float_controls` says that the target keeps them. The payload of
//! a NaN is open, and so are the words of a 64-bit NaN. An address that is no multiple of four is rounded down.
//! lavapipe of Mesa 22.3 differs beyond that, and that of 25.0 does not: it gives 0 for `0 * NaN` and a number for
//! `pow(NaN, y)`, and has wrong derivatives in two of four lanes. Both give -127 for the logarithm of every denormal.
//!
//! # Size
//!
//! Real shaders of piglit, in all stages, by this driver and, from the GLSL of the same test, by Mesa 22.3's zink (what
//! it hands to Vulkan) and by glslang 12 (`-G`). Instructions, names and lines not counted:
//!
//! | compared with | shaders | ours | theirs | both after `spirv-opt -O` | bytes, ours / theirs |
//! |---|---|---|---|---|---|
//! | zink | 374 | 51,334 | 110,388 | 50,585 and 85,552 | 0.51 |
//! | glslang | 168 | 25,431 | 15,914 | 25,068 and 12,897 | 1.78 |
//!
//! glslang keeps matrices and calls of functions whole, leaves open what is out of range, and indexes arrays where TGSI
//! has chains of comparisons; at the median ours are 1.18 times as long.

mod disassemble;
mod driver;
mod emit;
mod error;
pub mod harness;
pub mod interface;
mod lower;
mod module;
pub mod options;
mod plan;
pub mod stream_output;

pub use disassemble::disassemble;
pub use driver::{DRIVER, Spirv};
pub use emit::Emitted;
pub use error::SpirvError;
pub use options::SpirvOptions;

/// What the module of a lowered shader gives its inputs, outputs and resources, and what it needs.
///
/// # Errors
/// [`SpirvError`]: there is no such module.
pub fn reflect(lowered: &tgsi_ir::Shader, options: &SpirvOptions) -> Result<interface::Interface, SpirvError> {
    emit::emit(lowered, options, None, None).map(|emitted| emitted.interface)
}
