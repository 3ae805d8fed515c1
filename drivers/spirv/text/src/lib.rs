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
//! | `by_naga` | naga: reader, validator, writer of WGSL |
//! | `by_cross` | SPIRV-Cross, with the feature `spirv-cross` |
//!
//! Libraries panic on some modules. Panics are caught and become errors.
//!
//! # Which library
//!
//! WGSL is written by naga; SPIRV-Cross does not have it. The others are written by SPIRV-Cross: naga has only vertex,
//! fragment and compute shaders, and wrote fewer of them. SPIRV-Cross is 65,000 lines of C++, so that it is a feature,
//! `spirv-cross`; the command `tgsic` has it with `--features full`. Each language has its profile of the driver
//! for SPIR-V, so that the module has what the language has: `portable` for WGSL, and `glsl`, `essl`, `msl`, `hlsl`.
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
//! `TGSIC_LONG=1 cargo test -p tgsi-driver-spirv-text --features spirv-cross --test all corpus -- --nocapture` counts
//! over all real shaders, and fails if a number changes: the test lists each error and how often it occurs. Without
//! `TGSIC_LONG` every 16th shader is taken, and the numbers are bounds. WGSL is checked by naga's reader and validator,
//! GLSL and ESSL by glslang 12, HLSL by its front end; of MSL there is no checker. Shaders of stages that a language
//! has not are not counted.
//!
//! | | WGSL | GLSL 4.50 | ESSL 3.20 | MSL 2.4 | HLSL 6.0 |
//! |---|---|---|---|---|---|
//! | by | naga | SPIRV-Cross | SPIRV-Cross | SPIRV-Cross | SPIRV-Cross |
//! | arrive | 1,174 of 1,342 | 1,691 of 1,695 | 1,517 of 1,695 | 1,454 of 1,465 | 1,489 of 1,572 |
//! | the language lacks something | 168 | 4 | 138 | 11 | 52 |
//! | the checker does not know an extension | 0 | 0 | 40 | | 0 |
//! | this crate or a library lacks something | 0 | 0 | 0 | 0 | 31 |
//!
//! What the checker does not know: of ESSL, `GL_EXT_clip_cull_distance` (22), `GL_EXT_texture_query_lod` (7),
//! `GL_KHR_shader_subgroup` (6), `GL_EXT_conservative_depth` (3), `GL_EXT_texture_shadow_lod` (2). naga's reader does
//! not know the directive `enable subgroups`, which is left out for it.
//!
//! naga's validator takes more than browsers do. Of 1,164 texts of a former version Tint of Chromium took 1,061; 76 had
//! NaN or infinity as constants and 12 wrote memory in vertex shaders, both of which are gone; 3 had barriers where it
//! does not see that control flow is uniform, 3 were too deep for its parser. That has not been counted again.
//!
//! What WGSL lacks:
//!
//! | number | what |
//! |---|---|
//! | 20 | atomics on images |
//! | 20 | interpolation at a place of the shader's choice |
//! | 17 | viewports and layers of the shader's choice |
//! | 16 | stencil export |
//! | 15 | writes to memory in vertex shaders |
//! | 14 | comparing lookups with a bias, gradients or a level |
//! | 18 | multisampled textures with layers (13), multisampled images (5) |
//! | 12 | images that are read and written, of other formats than one 32-bit component or of none |
//! | 7 | queries of the level of a lookup |
//! | 15 | point sizes (6), cull distances (5), coordinates in points (4) |
//! | 4 | helper invocations, as a built-in |
//! | 10 | clocks (2), integer textures with a sampler (2), coverage after the depth test (2), clip distances as inputs (2), framebuffer fetch (1), subgroups in vertex shaders (1) |
//!
//! GLSL lacks viewport masks (2), framebuffer fetch (1) and shuffles within subgroups (1). ESSL lacks formats of images
//! (65), stencil export (16), viewports (14), numbers of samples (6) and of levels (1), images of most formats that are
//! read and written (12), fine derivatives (7), multisampled images (7), and what else the test lists. MSL lacks
//! isolines (3), clocks (2), viewport masks (2), and 60 locations of one stage (4). HLSL lacks stencil export (16),
//! multisampled images (8) and helper invocations (4) before shader model 6.7, viewports (8), sizes of points as inputs
//! (6), and what else the test lists.
//!
//! SPIRV-Cross does not write some geometry shaders of HLSL: without inputs (11), with invocations (10), with streams
//! (5), with clip distances as inputs (4); nor sizes of images of normalised and of other formats in one shader (1).
//! They are refused.
//!
//! # What links
//!
//! `--test all linkers` links pipelines by others' linkers: Mesa's of OpenGL 4.5 and OpenGL ES 3.2 for GLSL and ESSL,
//! the rules of WebGPU for WGSL. They are made ones, with every combination of direct and run-time indices, patches,
//! distances and interpolations, and ones around real shaders. Shaders are translated separately and together. Of 782
//! programs around every fourth real shader, 48 were too large for the test. All others link that the language can
//! state and Mesa has the extensions for: 730 in GLSL 4.50, 728 in GLSL 4.30, 674 in ESSL 3.20.
//!
//! # What they compute
//!
//! `--test all execution` reads texts of WGSL (by naga), GLSL, ESSL and HLSL (by glslang) back as SPIR-V and runs them
//! on Vulkan, as compute shaders made by the option `harness`: against the interpreter of the IR with made-up inputs,
//! and against recorded results. So arithmetic, control flow, memory and communication are compared, not textures and
//! varyings. Of the recorded results of opcodes, every eighth shader, 535 were equal in WGSL and HLSL, 517 in GLSL and
//! ESSL, and none different; 18 are shuffles within subgroups, which OpenGL lacks.

mod blame;
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
pub use error::{Located, TextError};
pub use language::Language;
