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
//! | `name_values` | names for values, so that naga writes each once |
//! | `spell` | what naga reads otherwise, spelt so that it does not |
//! | `spell_cross` | the same for SPIRV-Cross |
//! | `by_naga` | naga: reader, validator, writers |
//! | `by_cross` | SPIRV-Cross, with the feature `spirv-cross` |
//!
//! Libraries panic on some modules. Panics are caught and become errors.
//!
//! # Which library
//!
//! WGSL is written by naga. The others are written by SPIRV-Cross in builds with the feature `spirv-cross`, else by
//! naga, which is the smaller build: SPIRV-Cross is 75,000 lines of C++, and naga has only vertex, fragment and compute
//! shaders. Each has its profile of the driver for SPIR-V, so that the module has what the language has: `portable` for
//! WGSL and for naga, `glsl`, `essl`, `msl`, `hlsl` for SPIRV-Cross.
//!
//! # WGSL
//!
//! | TGSI | WGSL |
//! |---|---|
//! | textures and images of one dimension | of two, of height 1 |
//! | images of cubes | of two dimensions, with six layers for each cube |
//! | images without a format | `rgba32float`, `rgba32sint`, `rgba32uint` |
//! | texel buffers | storage buffers of `vec4`; of words, if there are atomics |
//! | first vertex, first instance, number of a draw | driver parameters |
//! | workgroups of variable size | the constants 0, 1, 2 of the pipeline |
//! | vertex shaders without a position | the position 0 |
//!
//! The reflection of `tgsic translate --driver spirv --target portable --reflect` says which of them a shader has.
//! Texts may need the features `subgroups`, `clip-distances`, `primitive-index`, `texture-formats-tier1`.
//!
//! # How far it goes
//!
//! `TGSIC_EVERY=1 cargo test -p tgsi-driver-spirv-text --features spirv-cross --test corpus -- --nocapture` counts, and
//! fails if a shader does not arrive for a cause that is not listed there. WGSL is checked by naga's reader and
//! validator, GLSL and ESSL by glslang 12, HLSL by its front end; of MSL there is no checker.
//!
//! | | WGSL | GLSL 4.50 | ESSL 3.20 | MSL 2.4 | HLSL 6.0 |
//! |---|---|---|---|---|---|
//! | by | naga | SPIRV-Cross | SPIRV-Cross | SPIRV-Cross | SPIRV-Cross |
//! | shaders | all | all | every eighth | all, with tessellation | every second |
//! | arrive | 1,162 of 1,342 | 1,315 of 1,342 | 150 of 172 | 1,442 of 1,465 | 646 of 674 |
//!
//! The columns were counted one after the other: GLSL, MSL and HLSL first, before causes that are mended or named now.
//! naga's validator takes more than browsers do. Of an earlier 1,164 texts Tint of Chromium took 1,061; 76 had NaN or
//! infinity as constants and 12 wrote memory in vertex shaders, both of which are gone; 3 had barriers where it does
//! not see that control flow is uniform, 3 were too deep for its parser. What does not arrive in WGSL:
//!
//! | number | what | whose |
//! |---|---|---|
//! | 20 | atomics on images | WGSL |
//! | 20 | interpolation at a place of the shader's choice | WGSL |
//! | 17 | viewports and layers of the shader's choice | WGSL |
//! | 16 | stencil export | WGSL |
//! | 15 | writes to memory in vertex shaders | WGSL |
//! | 14 | comparing lookups with a bias, gradients or a level | WGSL |
//! | 18 | multisampled textures with layers (13), multisampled images (5) | WGSL |
//! | 12 | images that are read and written, of other formats than one 32-bit component or of none | WGSL |
//! | 7 | queries of the level of a lookup | WGSL |
//! | 15 | point sizes (6), cull distances (5), coordinates in points (4) | WGSL |
//! | 4 | helper invocations, as a built-in | WGSL |
//! | 7 | clocks (2), integer textures with a sampler (2), coverage after the depth test (2), framebuffer fetch (1) | WGSL |
//! | 4 | subgroups: naga's reader does not know the directive that its writer's text needs | checker |
//! | 5 | arrays of inputs and outputs of which the shader chooses an element | this crate |
//! | 3 | 64-bit masks of ballots | this crate |
//! | 3 | clip distances as inputs (2), a position that is only declared (1) | this crate |
//!
//! Of GLSL framebuffer fetch (1) and one operation of subgroups (1) are known not to arrive; ESSL lacks formats of
//! images, numbers of levels and of samples, stencil export; of both glslang refused all 11 tessellation control
//! shaders that were tried, of which the cause is not known. MSL lacks isolines (3), and SPIRV-Cross cannot index
//! arrays there that are interpolated at a place (6) or belong to tessellation (10). HLSL lacks stencil export,
//! positions of samples, clocks, and before shader model 6.7 multisampled images and helper invocations.

#[cfg(feature = "spirv-cross")]
mod by_cross;
mod by_naga;
mod driver;
mod error;
mod language;
mod name_values;
mod refuse;
mod spell;
#[cfg(feature = "spirv-cross")]
mod spell_cross;

#[cfg(feature = "spirv-cross")]
pub use driver::{ESSL, GLSL, HLSL, MSL};
pub use driver::{Text, WGSL};
pub use error::TextError;
pub use language::Language;
