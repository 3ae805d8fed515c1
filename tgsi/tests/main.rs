//! The integration tests of this crate, as one program. Each module tests one subject.

mod common;

mod accuracy;
mod as_mesa_stores;
mod check_corpus;
mod into_ssa_corpus;
mod ir_text_corpus;
mod ir_vectors;
mod manual;
mod run_vectors;
mod strict_corpus;
mod text_errors;
mod text_legacy;
mod text_reference;
mod text_round_trip;
mod to_ir_corpus;
mod to_ir_differential;
mod to_ir_vectors;
mod truncation;
