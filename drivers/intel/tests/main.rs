//! Tests of the whole crate.

mod encoding;
mod generate;
mod mesa;
mod support;
