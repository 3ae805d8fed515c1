//! The text form: [`parse`] reads what Mesa of any era printed, [`print()`] prints what Mesa 25 prints or a form that
//! loses nothing.

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
