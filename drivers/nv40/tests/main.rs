//! Tests of the whole crate.

mod container;
mod errors;
mod fragment_encoding;
mod fragment_flow;
mod fragment_run;
mod golden;
mod listing;
mod positions;
mod support;
mod vertex_encoding;
mod vertex_run;
