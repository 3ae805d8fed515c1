//! The text form: [`parse`] and [`print`].

mod float;
mod print;

pub use print::{PrintOptions, print, print_instruction};
