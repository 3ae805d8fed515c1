//! The integration tests of this crate, as one program. Each module tests one subject.

#[path = "../../tests/common/mod.rs"]
mod common;

mod accuracy;
mod as_mesa_stores;
mod run_vectors;
mod text_legacy;
