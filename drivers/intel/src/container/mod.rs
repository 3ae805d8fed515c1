//! Files with compiled programs.
//!
//! | form | contents |
//! |---|---|
//! | words | the instructions, little-endian, as a driver uploads them |
//! | JSON | the words and all facts of [`program`](crate::program) |

mod json;

pub use json::{ReadError, program_json, read_program_json};

/// The words as bytes, little-endian.
pub fn words_to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
