//! The integration tests of this crate, as one program. Each module tests one subject.

#[path = "../../tests/common/mod.rs"]
mod common;

mod into_ssa_corpus;
mod ir_text_corpus;
mod ir_vectors;
mod manual;
mod to_ir_corpus;
mod to_ir_differential;
mod to_ir_vectors;
