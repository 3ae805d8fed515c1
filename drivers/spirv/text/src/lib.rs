//! Text languages by way of SPIR-V: a module of a portable profile is translated by a library.
//!
//! ```text
//! optimised SSA ──tgsi-driver-spirv──> SPIR-V ──refuse──> naga (or SPIRV-Cross) ──> WGSL, GLSL, ESSL, MSL, HLSL
//! ```
//!
//! | folder | holds |
//! |---|---|
//! | `driver` | the drivers, one for each language, and their options |
//! | `language` | the stages and versions of a language |
//! | `refuse` | errors for modules that a library would silently mistranslate |
//! | `blame` | the part of the source that an error concerns |
//! | `name_values` | names for values, so that naga writes each once |
//! | `spell` | rewrites of constructs that naga misreads |
//! | `spell_cross` | the same for SPIRV-Cross |
//! | `by_naga` | naga: reader, validator, writer of WGSL |
//! | `by_cross` | SPIRV-Cross, with the feature `spirv-cross` |
//!
//! Libraries panic on some modules. Panics are caught and become errors.
//!
//! # Libraries
//!
//! WGSL is written by naga; SPIRV-Cross does not support it. The others are written by SPIRV-Cross: naga has only
//! vertex, fragment and compute shaders, and could write fewer of them. SPIRV-Cross is a large C++ library, so it is a
//! feature, `spirv-cross`; the command `tgsic` has it with `--features full`. Each language has a profile of the SPIR-V
//! driver, so that the module contains only features of the language: `portable` for WGSL, and `glsl`, `essl`, `msl`,
//! `hlsl`.
//!
//! # WGSL
//!
//! | TGSI | WGSL |
//! |---|---|
//! | 1D textures and images | 2D, of height 1 |
//! | cube images | 2D arrays, with six layers for each cube |
//! | images without a format | `rgba32float`, `rgba32sint`, `rgba32uint` |
//! | texel buffers | storage buffers of `vec4`; of words, if there are atomics |
//! | first vertex, first instance, number of a draw | driver parameters |
//! | workgroups of variable size | the constants 0, 1, 2 of the pipeline |
//! | vertex shaders without a position | the position 0 |
//!
//! `tgsic translate --driver spirv --target portable --reflect` shows which of them apply to a shader. Texts may need
//! the features `subgroups`, `clip-distances`, `primitive-index`, `texture-formats-tier1`.
//!
//! # Coverage
//!
//! `TGSIC_LONG=1 cargo test -p tgsi-driver-spirv-text --features spirv-cross --test all corpus -- --nocapture`
//! translates all real shaders and checks the texts; the test lists each error with its number of occurrences, and
//! fails if a number changes. Without `TGSIC_LONG` it takes every 16th shader, and the numbers are upper bounds. WGSL
//! is checked by naga's reader and validator, GLSL and ESSL by glslang 12, HLSL by glslang's HLSL front end; there is
//! no checker for MSL. Shaders of stages that a language lacks are not counted.
//!
//! glslang does not support these extensions of ESSL: `GL_EXT_clip_cull_distance`, `GL_EXT_texture_query_lod`,
//! `GL_KHR_shader_subgroup`, `GL_EXT_conservative_depth`, `GL_EXT_texture_shadow_lod`. naga's reader does not support
//! the directive `enable subgroups`, which the test removes.
//!
//! naga's validator accepts more than browsers. Tint of Chromium also rejects barriers if it cannot prove that control
//! flow is uniform, and deeply nested code.
//!
//! WGSL lacks, the most frequent first:
//!
//! - atomics on images
//! - interpolation at a position given by the shader
//! - viewports and layers selected by the shader
//! - multisampled arrays, multisampled images
//! - stencil export
//! - writes to memory in vertex shaders
//! - point sizes, cull distances, point coordinates
//! - comparing lookups with a bias, gradients or a level
//! - images that are both read and written, in formats other than a single 32-bit component
//! - clocks, integer textures with a sampler, coverage after the depth test, clip distances as inputs, framebuffer
//!   fetch, subgroups in vertex shaders
//! - queries of the level of a lookup
//! - helper invocations, as a built-in
//!
//! GLSL lacks viewport masks, framebuffer fetch and shuffles within subgroups. ESSL lacks image formats, stencil
//! export, viewports, numbers of samples and of levels, images that are both read and written in most formats, fine
//! derivatives, multisampled images, and other features that the test lists. MSL lacks isolines, clocks, viewport
//! masks, and more than 32 locations of one stage. HLSL lacks stencil export, multisampled images and helper
//! invocations before shader model 6.7, viewports, point sizes as inputs, and other features that the test lists.
//!
//! SPIRV-Cross cannot write some HLSL geometry shaders: without inputs, with invocations, with streams, with clip
//! distances as inputs; nor size queries of both normalised and other image formats in one shader. They are errors.
//!
//! # Linking
//!
//! `--test all linkers` links pipelines by linkers of other projects: Mesa's for OpenGL 4.5 and OpenGL ES 3.2 for GLSL
//! and ESSL, the rules of WebGPU for WGSL. There are generated pipelines, with every combination of constant and
//! dynamic indices, patches, distances and interpolations, and pipelines around real shaders. Shaders are translated
//! separately and together. All pipelines link, except those that the language cannot express, those that need
//! extensions Mesa lacks, and those too large for the test.
//!
//! # Execution
//!
//! `--test all execution` reads texts of WGSL (by naga), GLSL, ESSL and HLSL (by glslang) back as SPIR-V and runs them
//! on Vulkan, as compute shaders made by the option `harness`. Results are compared with the interpreter of the IR for
//! generated inputs, and with recorded results. This covers arithmetic, control flow, memory and communication, not
//! textures and varyings. All recorded results are equal, except shuffles within subgroups, which OpenGL lacks.

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
