//! Compares two runs of a compiler over the same shaders.
//!
//! A [run](run::Run) is read from what `tgsic translate --json` prints ([`json_lines`]), or from the text that
//! shader-db's `run` prints ([`shader_db`]); [`parse()`] tells them apart. A [`Comparison`] pairs the shaders of two runs
//! and sums their statistics up. It is written as text, as JSON, or as a page of HTML.

pub mod compare;
pub mod html;
pub mod json;
pub mod json_lines;
pub mod parse;
pub mod run;
pub mod shader_db;
pub mod statistics;
pub mod text;
pub mod texts;

pub use compare::Comparison;
pub use parse::parse;
