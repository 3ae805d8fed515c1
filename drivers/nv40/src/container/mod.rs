//! Files with compiled programs, for loaders.
//!
//! | functions | file |
//! |---|---|
//! | [`write_vpo`], [`write_fpo`], [`read_vpo`], [`read_fpo`] | `.vpo`, `.fpo` of PSL1GHT (PlayStation 3) |
//! | [`write_cg`] | a binary of NVIDIA's Cg compiler for the PlayStation 3 |
//! | [`write_c`] | a C header with tables |
//! | [`write_binary`], [`read_binary`] | numbers: the words, and tables for loaders in C without names |
//! | [`program_json`], [`read_program_json`] | JSON |
//!
//! # Names
//!
//! A file names the uniforms, inputs and samplers that an application asks for. Their names are those of the
//! [`Interface`](tgsi_compiler::front_end::Interface): `lights[1].color` is a vector in an array of structs. An array
//! `a` is listed as a whole, unless it has more registers than a file can count, and by its elements `a[0]`, `a[1]`. A
//! matrix of a type that the format lacks is an array of its columns. State of which several parts share a register is
//! one vector, named after all parts: `gl_Fog.density,gl_Fog.start`. Registers without a name are `in0` (inputs), `c0`
//! (uniforms) and `tex0` (samplers).
//!
//! The chips have no integers: values of integer and boolean uniforms are floats.

mod binary;
mod c_header;
mod cg;
mod check;
mod error;
mod json;
mod names;
mod rsx;
mod uniforms;

pub use binary::{read_binary, write_binary};
pub use c_header::write_c;
pub use cg::write_cg;
pub use error::{ContainerError, ReadError};
pub use json::{program_json, read_program_json};
pub use rsx::{Attribute, Constant, FragmentFile, ParameterType, VertexFile, read_fpo, read_vpo, write_fpo, write_vpo};
