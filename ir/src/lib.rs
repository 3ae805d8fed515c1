//! An SSA intermediate representation in the manner of Mesa's NIR: data, builder, text, validator, interpreter,
//! analyses and passes.
//!
//! # Where to find what
//!
//! | here | in NIR | holds |
//! |---|---|---|
//! | [`shader::Shader`] | `nir_shader` | stage, types, variables, functions, [`shader::ShaderInfo`] (`shader_info`) |
//! | [`body::Body`] | `nir_function_impl` | the code of a function, and the only functions that edit it |
//! | [`Inst`], [`Def`], [`Use`], [`Block`], [`If`], [`Loop`] | `nir_instr`, `nir_def`, `nir_src`, `nir_block`, `nir_if`, `nir_loop` | 32-bit ids into the arenas of a body |
//! | [`body::InstData`] | `nir_alu_instr`, `nir_intrinsic_instr`, ... | what an instruction is |
//! | [`alu`] | `nir_opcodes.py`, `nir_constant_expressions` | 432 opcodes in one table and ten of TGSI's own, and their evaluation |
//! | [`intrinsics`] | `nir_intrinsics.py` | 302 intrinsics in one table, and their constant indices |
//! | [`variable`], [`types`], [`slots`] | `nir_variable`, `glsl_type`, `gl_varying_slot` | storage, its types and slots |
//! | [`Builder`], [`Cursor`] | `nir_builder`, `nir_cursor` | making code |
//! | [`text`] | `nir_print` (and no parser) | the text form, printed and parsed |
//! | [`validate`] | `nir_validate` | every rule that a pass may rely on, checked |
//! | [`run`] | nothing | an interpreter for shaders at any stage of a pipeline |
//! | [`analysis`] | `nir_metadata`, `nir_dominance`, `nir_liveness`, `nir_divergence_analysis` | dominance, liveness, loops, divergence |
//! | [`options`] | `nir_shader_compiler_options` | what a target wants of the passes |
//! | [`passes`] | `nir_lower_*.c`, `nir_opt_*.c` | one pass, one file, under NIR's name |
//!
//! # Where we differ from NIR, and why
//!
//! - **No pointers.** Ids into arenas instead of linked allocations: a shader is cloned with a few copies of flat
//!   memory, and a pass keeps its notes in dense maps. Ids are not reused within a body.
//! - **A source is a node.** Swizzles stand beside the source that they belong to, so that every kind of instruction is
//!   the same small record.
//! - **Analyses cannot go stale.** There is no metadata to preserve: bodies count their changes, and an analysis is
//!   computed anew when it is asked for after one ([`analysis`]).
//! - **Edges are derived from the tree.** Only [`body`] touches successors and predecessors.
//! - **Everything starts as zero.** Registers and temporaries read as zero before the first write; a read outside an
//!   array gives zero and a write there is dropped. So every program has one meaning, which an interpreter can check.
//!   (`undef` still may be anything.)
//! - **`terminate` leaves a helper.** A killed invocation goes on for the sake of derivatives; its results and memory
//!   writes do not count.
//! - **Uniforms and buffers.** Constant buffer 0 of a Gallium driver is `load_uniform` in units of vec4; buffer k is
//!   `load_ubo` of block k - 1, and block ~0 is buffer 0 for those who address it by bytes.
//! - **Extended locations.** A semantic that has no slot has a location of 0x10000 or more instead of an error.
//! - **Nothing asserts.** Functions that take input return errors; what a pass may rely on, the validator says.
//!
//! # Invariants
//!
//! They are listed where they are checked: [`validate`].

pub mod algebra;
pub mod alu;
pub mod analysis;
pub mod body;
pub mod builder;
pub mod cursor;
pub mod entities;
pub mod intrinsics;
pub mod options;
pub mod passes;
pub mod run;
pub mod shader;
pub mod slots;
pub mod text;
pub mod types;
pub mod validate;
pub mod variable;
#[cfg(test)]
pub(crate) mod work;

pub use body::{AluFlags, Body, InstData, Shape, SourceSpec, Swizzle};
pub use builder::Builder;
pub use cursor::Cursor;
pub use entities::{Block, Def, Function, If, Inst, Loop, Type, Use, User, Variable};
pub use shader::{Shader, Stage};
