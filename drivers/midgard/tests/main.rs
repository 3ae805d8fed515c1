//! Tests of the whole crate.

mod compiled;
mod encoding;
mod errors;
mod generate;
mod listing;
mod mesa;
mod resources;
mod runner;
mod simulator;
mod support;
