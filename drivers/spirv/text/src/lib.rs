//! Text languages by way of SPIR-V: the module of the `portable` profile, and a library that carries it on.
//!
//! ```text
//! optimised SSA ──tgsi-driver-spirv──> SPIR-V ──refuse──> naga (or SPIRV-Cross) ──> WGSL, GLSL, ESSL, MSL, HLSL
//! ```
//!
//! | folder | holds |
//! |---|---|
//! | `driver` | the drivers, one for each language, and their options |
//! | `language` | what a language has: stages, versions |
//! | `refuse` | what a library would get wrong without a word, found before it sees the module |
//! | `spell` | what naga reads otherwise, spelt so that it does not |
//! | `by_naga` | naga: reader, validator, writers |
//! | `by_cross` | SPIRV-Cross, with the feature `spirv-cross` |
//!
//! Libraries panic on some modules. Panics are caught and become errors.

#[cfg(feature = "spirv-cross")]
mod by_cross;
mod by_naga;
mod driver;
mod error;
mod language;
mod refuse;
mod spell;

pub use driver::{ESSL, GLSL, HLSL, MSL, Text, WGSL};
pub use error::TextError;
pub use language::Language;
