//! The text form: [`parse`] reads the texts of all versions of Mesa, [`print()`] prints as Mesa 25 does or losslessly.

mod error;
mod extract;
mod float;
mod focus;
mod legacy;
mod legacy_rewrite;
mod legacy_table;
mod lexer;
mod names;
mod origin;
mod parse;
mod print;
mod strict;

pub use error::ParseErrorKind;
#[doc(hidden)]
pub use extract::begins_with_stage;
pub use extract::{Extracted, extract};
#[doc(hidden)]
pub use focus::focus;
pub use origin::{Origin, Producer, origin};
pub use parse::{ParseResult, Parsed, SkippedParts, parse, read, read_within};
pub use print::{PrintOptions, print};
#[doc(hidden)]
pub use strict::mesa25;
