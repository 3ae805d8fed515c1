//! Compiled programs in files, for loaders.
//!
//! | functions | contents |
//! |---|---|
//! | [`program_bytes`] | the words, as the chip reads them |
//! | [`program_json`], [`read_program_json`] | the words and all facts of a [`Program`](crate::program::Program), as JSON |
//!
//! Readers accept only programs whose numbers are in the ranges of the chip and of its tables, so that a loader and the
//! [runner](mod@crate::runner) can rely on them.

mod check;
mod error;
mod json;

pub use error::ReadError;
pub use json::{program_json, read_program_json};

/// Returns the bytes of a program's words in memory of the chip: each word begins with its lowest byte.
pub fn program_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
