//! The integration tests of this crate, as one program. Each module tests one subject.

mod common;

mod check_corpus;
mod strict_corpus;
mod text_errors;
mod text_reference;
mod text_round_trip;
mod truncation;
