//! Tests of the whole crate.

mod fragment_encoding;
mod golden;
mod listing;
mod support;
mod vertex_encoding;
