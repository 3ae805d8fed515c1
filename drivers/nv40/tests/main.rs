//! Tests of the whole crate.

mod fragment_encoding;
mod golden;
mod support;
mod vertex_encoding;
