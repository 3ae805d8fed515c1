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
//!
//! # Which library
//!
//! naga is the default for all five: a build of the command with it takes 51 s of a processor more than without (180 s,
//! both on a machine that was busy), SPIRV-Cross would add 122 s of C++. SPIRV-Cross has all stages and all of the
//! images that naga's reader lacks, and is a feature of the build, `spirv-cross`. By it 156 of 172 shaders (every eighth,
//! 53 of 53 vertex, 86 of 102 fragment, 17 of 17 compute) arrive in GLSL 4.50 and are accepted; of 15 the bindings are
//! greater than glslang allows, as they are those of the module, and 1 needs an extension that glslang does not know.
//!
//! # How far it goes
//!
//! Of every fourth shader of the corpus, 338 of vertex (105), fragment (200) and compute (33), so many arrive by naga 30
//! and are accepted: WGSL by naga's reader and validator, GLSL and ESSL by glslang 12, HLSL by its front end. Of MSL it
//! is those that are written, as there is no checker. `TGSIC_EVERY=1 cargo test -p tgsi-driver-spirv-text --test corpus
//! -- --nocapture` counts all.
//!
//! | | WGSL | GLSL 4.50 | ESSL 3.20 | MSL 2.4 | HLSL 6.0 |
//! |---|---|---|---|---|---|
//! | arrive | 255 | 259 | 229 | 259 | 242 |
//! | vertex | 87 | 89 | 87 | 89 | 84 |
//! | fragment | 157 | 160 | 132 | 160 | 152 |
//! | compute | 11 | 10 | 10 | 10 | 6 |
//!
//! What does not, with its number (of GLSL, where the others do not differ):
//!
//! | number | what | whose |
//! |---|---|---|
//! | 17 | images without a format | WGSL lacks them, naga in all languages |
//! | 13 | multisampled textures with layers (7), multisampled images (2), images of cubes (4) | WGSL, naga |
//! | 2 | texel buffers | WGSL, naga |
//! | 6 | image atomics | naga's reader |
//! | 5 | the first vertex and instance of a draw: options that say 0 help | naga's reader |
//! | 4 | interpolation at a place of the shader's choice | WGSL, naga |
//! | 4 | workgroups of variable size | naga's validator |
//! | 5 | sizes with layers | naga's reader |
//! | 10 | stencil export (3), sample position and the like (3), sample masks (2), viewports (1), clip distances (1) | naga's reader |
//! | 3 | vertex shaders without a position | naga's validator |
//! | 4 | the level of a lookup (2), comparison at a level (2) | WGSL, naga |
//! | 3 | panics | naga |
//! | 10 | ESSL: formats of images that it lacks | ESSL |
//! | 16 | ESSL: levels of textures, and what else a version lacks | ESSL |
//! | 15 | HLSL: arrays of zeros, functions of one name: the front end of glslang; that of Microsoft was not at hand | checker |

#[cfg(feature = "spirv-cross")]
mod by_cross;
mod by_naga;
mod driver;
mod error;
mod language;
mod refuse;
mod spell;
#[cfg(feature = "spirv-cross")]
mod spell_cross;

pub use driver::{ESSL, GLSL, HLSL, MSL, Text, WGSL};
pub use error::TextError;
pub use language::Language;
