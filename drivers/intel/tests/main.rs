//! Tests of the whole crate.

mod encoding;
mod errors;
mod generate;
mod listing;
mod mesa;
mod programs;
mod simulator;
mod support;
mod validate;
