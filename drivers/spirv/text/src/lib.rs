//! Text languages by way of SPIR-V: a module of a portable profile is translated by a library.
//!
//! ```text
//! optimised SSA ──tgsi-driver-spirv──> SPIR-V ──unsupported──> naga (or SPIRV-Cross) ──> WGSL, GLSL, ESSL, MSL, HLSL
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `driver` | the drivers, one for each language, and their options |
//! | `target` | lowering and emission, in the order above |
//! | `language`, `options` | the stages and versions of a language; the options that libraries need |
//! | `unsupported` | errors for modules that a library would silently mistranslate |
//! | `error_source` | the part of the source that an error concerns |
//! | `naga_wgsl` | naga: reader, validator, writer of WGSL |
//! | `naga_workarounds` | rewrites of constructs that naga misreads |
//! | `name_values` | names for values, so that naga writes each once |
//! | `spirv_cross`, `spirv_cross_workarounds` | the same for SPIRV-Cross, with the feature `spirv-cross` |
//!
//! WGSL is written by naga, because SPIRV-Cross does not support it; the others are written by SPIRV-Cross, because
//! naga has only vertex, fragment and compute shaders. Each language has a profile of the SPIR-V driver, so that the
//! module contains only features of the language. Libraries panic on some modules. Panics are caught and become errors.
//!
//! The README lists the features that languages lack. The tests `corpus`, `linkers` and `execution` check the texts of
//! real shaders, link pipelines by linkers of other projects, and run texts that are read back as SPIR-V.

mod driver;
mod error;
mod error_source;
mod language;
mod naga_wgsl;
mod naga_workarounds;
mod name_values;
mod options;
#[cfg(feature = "spirv-cross")]
mod spirv_cross;
#[cfg(feature = "spirv-cross")]
mod spirv_cross_workarounds;
mod target;
mod unsupported;

#[cfg(feature = "spirv-cross")]
pub use driver::{ESSL, GLSL, HLSL, MSL};
pub use driver::{Text, WGSL};
pub use error::TextError;
