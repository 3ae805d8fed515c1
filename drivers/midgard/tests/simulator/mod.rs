//! The simulator on words of hand-written bundles.

mod alu_float;
mod alu_integer;
mod flow;
mod fragment;
mod fuzz;
mod memory;
mod rules;
mod sources;
mod support;
mod texture;
