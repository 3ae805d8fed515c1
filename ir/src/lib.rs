//! An SSA intermediate representation modelled on Mesa's NIR: data, builder, text form, validator, interpreter,
//! analyses and passes.
//!
//! # Overview
//!
//! | module or type | in NIR | contents |
//! |---|---|---|
//! | [`shader::Shader`] | `nir_shader` | stage, types, variables, functions, [`shader::ShaderInfo`] (`shader_info`) |
//! | [`body::Body`] | `nir_function_impl` | the code of a function, and all functions that edit it |
//! | [`Inst`], [`Def`], [`Use`], [`Block`], [`If`], [`Loop`] | `nir_instr`, `nir_def`, `nir_src`, `nir_block`, `nir_if`, `nir_loop` | 32-bit ids into the arenas of a body |
//! | [`body::InstData`] | `nir_alu_instr`, `nir_intrinsic_instr`, ... | opcode and payload of an instruction |
//! | [`alu`] | `nir_opcodes.py`, `nir_constant_expressions` | the table of 432 opcodes of NIR and ten of TGSI, and their evaluation |
//! | [`intrinsics`] | `nir_intrinsics.py` | the table of 302 intrinsics, and their constant indices |
//! | [`variable`], [`types`], [`slots`] | `nir_variable`, `glsl_type`, `gl_varying_slot` | storage, its types and slots |
//! | [`Builder`], [`Cursor`] | `nir_builder`, `nir_cursor` | construction of code |
//! | [`text`] | `nir_print` (and no parser) | the printer and the parser of the text form |
//! | [`validate`] | `nir_validate` | checks of every invariant that passes may rely on |
//! | [`run`] | nothing | an interpreter for shaders at any point of the pass pipeline |
//! | [`analysis`] | `nir_metadata`, `nir_dominance`, `nir_liveness`, `nir_divergence_analysis` | dominance, liveness, loops, divergence |
//! | [`options`] | `nir_shader_compiler_options` | properties of the target that control the passes |
//! | [`passes`] | `nir_lower_*.c`, `nir_opt_*.c` | the passes, one per file, under NIR's names |
//!
//! # Differences from NIR
//!
//! - **No pointers.** Entities are ids into arenas instead of linked allocations: cloning a shader copies a few flat
//!   vectors, and passes keep their data in dense maps. Ids are not reused within a body.
//! - **A source is a node.** Swizzles are stored with the source that they belong to, so that every kind of instruction
//!   is the same small record.
//! - **Analyses cannot become stale.** There is no metadata to preserve: bodies count their changes, and an analysis is
//!   recomputed if it is requested after a change ([`analysis`]).
//! - **Edges are derived from the tree.** Only [`body`] updates successors and predecessors.
//! - **Storage is zero-initialised.** Registers and temporaries read as zero before the first write; a read out of the
//!   bounds of an array gives zero and such a write is dropped. Every program therefore has one meaning, which an
//!   interpreter can check. (`undef` may still have any value.)
//! - **`terminate` turns the invocation into a helper.** A killed invocation continues to execute so that derivatives
//!   are defined; its results and memory writes have no effect.
//! - **Uniforms and buffers.** Constant buffer 0 of a Gallium driver is `load_uniform` in units of vec4; buffer k is
//!   `load_ubo` of block k - 1, and block ~0 is buffer 0, addressed in bytes.
//! - **Extended locations.** A semantic without a slot has a location of 0x10000 or more instead of being an error.
//! - **No assertions on input.** Functions that take input return errors; the validator checks the invariants that
//!   passes rely on.
//!
//! # Invariants
//!
//! The [validator](validate) lists them and checks them.

#[doc(hidden)]
pub mod algebra;
pub mod alu;
pub mod analysis;
pub mod body;
pub mod builder;
pub mod cursor;
pub mod entities;
pub mod intrinsics;
pub(crate) mod memory_layout;
pub mod options;
pub mod passes;
pub mod run;
pub mod shader;
pub mod slots;
pub mod text;
pub(crate) mod type_counts;
pub mod types;
pub mod validate;
pub mod variable;
#[cfg(test)]
pub(crate) mod work;

pub use body::{AluFlags, Body, InstData, Shape, SourceSpec, Swizzle};
pub use builder::Builder;
pub use cursor::Cursor;
pub use entities::{Block, Def, Function, If, Inst, Loop, Type, Use, User, Variable};
pub use shader::{Shader, ShaderStage};
