//! The instruction set of Intel's execution units of Gen7 (Ivy Bridge, Bay Trail) and Gen7.5 (Haswell).
//!
//! | module | contents |
//! |---|---|
//! | [`isa`] | instructions as data, the table of opcodes, encoding and decoding, compacted instructions |
//! | [`text`] | assembler and disassembler, in the form of Mesa's tools |
//! | [`validate`] | the rules of hardware beyond the encoding |

pub mod isa;
pub mod text;
pub mod validate;
