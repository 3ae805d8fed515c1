//! The text form: [`parse`] reads the texts of all versions of Mesa, [`print()`] prints as Mesa 25 does or losslessly.

mod error;
mod extract;
mod float;
mod focus;
mod legacy;
mod legacy_rewrite;
mod lexer;
mod names;
mod origin;
mod parse;
mod print;
mod strict;

pub use error::ParseErrorKind;
pub use extract::{Extracted, begins_with_stage, extract};
pub use focus::focus;
pub use origin::{Origin, Producer, origin};
pub use parse::{Gaps, Parsed, Reading, parse, read, read_within};
pub use print::{PrintOptions, print, print_instruction};
pub use strict::mesa25;
