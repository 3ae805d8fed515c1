//! The binary form: a shader as a flat array of 32-bit words.
//!
//! [`decode`] and [`encode`] are inverse to each other. Decoding follows the flag bits of the words and never trusts
//! the sizes in them, because producers count differently. The padding and sizes of a decoded stream are kept in
//! [`Shader::encoding_quirks`](crate::shader::Shader::encoding_quirks), so encoding an unedited shader restores the
//! exact words. A shader without quirks is encoded as Mesa's text parser does it: the size of a declaration counts all
//! its words, the size of an instruction the words after the first.
//!
//! Words are `u32`; in files they are little-endian.

mod decode;
mod encode;
mod error;

pub use decode::{decode, decode_within};
pub use encode::encode;
pub use error::{DecodeError, EncodeError};

/// Converts little-endian bytes to words.
///
/// # Errors
///
/// [`DecodeError::OddLength`] if the bytes are not a whole number of words.
pub fn words_from_bytes(bytes: &[u8]) -> Result<Vec<u32>, DecodeError> {
    let (words, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(DecodeError::OddLength { byte: words.len() * 4, rest: rest.len() });
    }
    Ok(words.iter().map(|&word| u32::from_le_bytes(word)).collect())
}

/// Parses words in hexadecimal, as a debugger prints them: each with `0x` or with eight digits, separated by blanks,
/// commas or braces. Returns `None` if the text has other content, fewer than two words, or a first word that is not a
/// header.
#[doc(hidden)]
pub fn words_from_hexadecimal(text: &[u8]) -> Option<Vec<u32>> {
    let is_separator = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b';' | b'{' | b'}');
    let mut words = Vec::new();
    for item in text.split(is_separator).filter(|item| !item.is_empty()) {
        let digits = match item {
            [b'0', b'x' | b'X', digits @ ..] if (1..=8).contains(&digits.len()) => digits,
            digits if digits.len() == 8 => digits,
            _ => return None,
        };
        let digits = digits.iter().try_fold(0, |word, &digit| Some(word << 4 | char::from(digit).to_digit(16)?));
        words.push(digits?);
        // The size in the header is small, in either byte order.
        if words.len() == 1 && !words.iter().all(|word| matches!(word & 0xff, 2..=8) || matches!(word >> 24, 2..=8)) {
            return None;
        }
    }
    (words.len() >= 2).then_some(words)
}

/// Converts words to little-endian bytes.
pub fn bytes_from_words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Whether these bytes are words rather than text. A text begins with the name of a stage, blanks or a comment, all
/// printable; words begin with a header, with a lowest byte that is a small number (in practice always 2), and a second
/// word that is also a small number.
#[doc(hidden)]
pub fn looks_like_tokens(bytes: &[u8]) -> bool {
    let head = bytes.get(..8).unwrap_or(bytes);
    let is_text_byte = |&byte: &u8| byte >= 0x20 || matches!(byte, b'\t' | b'\n' | b'\r');
    // A byte order mark or a stray high byte before a text must not make it binary: only control bytes decide, and a
    // head without any ASCII byte.
    match head {
        [] => false,
        _ if head.iter().all(|byte| !byte.is_ascii()) => true,
        _ => !head.iter().all(is_text_byte),
    }
}

#[cfg(test)]
mod tests;
