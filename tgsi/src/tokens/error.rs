//! The errors of decoding and encoding token streams.

use thiserror::Error;

/// A token stream that cannot be decoded. Words are counted from 0, including the header.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum DecodeError {
    /// More words than the limit.
    #[error("word {limit}: the stream has {words} words, at most {limit} are read")]
    TooLong {
        /// Number of words.
        words: usize,
        /// The limit.
        limit: u64,
    },
    /// The number of bytes is not a multiple of the word size.
    #[error("byte {byte}: {rest} bytes are left after the last whole word")]
    OddLength {
        /// Position of the incomplete word.
        byte: usize,
        /// Number of its bytes.
        rest: usize,
    },
    /// The stream ends within an item.
    #[error("word {word}: the stream ends before {expected}")]
    Truncated {
        /// The first missing word.
        word: usize,
        /// The expected kind of word.
        expected: &'static str,
    },
    /// The header specifies less than the header and the processor word.
    #[error("word 0: a header of {size} words is too short, it has at least 2")]
    HeaderSize {
        /// The size in the header.
        size: u32,
    },
    /// The size in the header differs from that of the stream.
    #[error("word 0: the header announces {announced} words, there are {actual}")]
    BodySize {
        /// Number of words according to the header.
        announced: usize,
        /// Number of words of the stream.
        actual: usize,
    },
    /// A number that is not in its table.
    #[error("word {word}: {kind} {value} is not defined")]
    Undefined {
        /// The word with the number.
        word: usize,
        /// The table.
        kind: &'static str,
        /// The number.
        value: u32,
    },
    /// A count that the format does not allow.
    #[error("word {word}: {count} {what}, at most {limit} are possible")]
    TooMany {
        /// The word with the count.
        word: usize,
        /// The counted items.
        what: &'static str,
        /// The count.
        count: u32,
        /// The limit.
        limit: u32,
    },
    /// An immediate or property with a size that does not include its first word.
    #[error("word {word}: {what} of size 0")]
    EmptyItem {
        /// First word of the item.
        word: usize,
        /// Its kind.
        what: &'static str,
    },
    /// A range that ends before it begins.
    #[error("word {word}: the range {first}..{last} ends before it begins")]
    Range {
        /// The range word.
        word: usize,
        /// First register.
        first: u16,
        /// Last register.
        last: u16,
    },
    /// A third dimension of a register.
    #[error("word {word}: registers have at most two dimensions")]
    ThirdDimension {
        /// The dimension word.
        word: usize,
    },
}

impl DecodeError {
    tgsi_diagnostics::error_codes! {
        TooLong => "T0108" "too-many-tokens",
        OddLength => "T0200" "odd-length",
        Truncated => "T0201" "truncated",
        HeaderSize => "T0202" "header-size",
        BodySize => "T0203" "body-size",
        Undefined => "T0204" "undefined",
        TooMany => "T0205" "too-many",
        EmptyItem => "T0206" "empty-item",
        Range => "T0207" "range",
        ThirdDimension => "T0208" "third-dimension",
    }

    /// Returns the word that the error refers to; 0 for lengths.
    pub fn word(&self) -> usize {
        match *self {
            DecodeError::TooLong { limit, .. } => limit as usize,
            DecodeError::OddLength { byte, .. } => byte / 4,
            DecodeError::HeaderSize { .. } | DecodeError::BodySize { .. } => 0,
            DecodeError::Truncated { word, .. }
            | DecodeError::Undefined { word, .. }
            | DecodeError::TooMany { word, .. }
            | DecodeError::EmptyItem { word, .. }
            | DecodeError::Range { word, .. }
            | DecodeError::ThirdDimension { word } => word,
        }
    }
}

/// A shader that does not fit into the fields of the format. Items are named by their index within their kind.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum EncodeError {
    /// More words than the header can count.
    #[error("the shader needs {words} words, at most {limit} can be encoded")]
    TooLong {
        /// Number of words of the body.
        words: usize,
        /// The limit.
        limit: usize,
    },
    /// A number that is too large (or too small) for its field.
    #[error("{item} {index}: {field} {value} does not fit into its field")]
    Field {
        /// The kind of the item.
        item: &'static str,
        /// Its index within its kind.
        index: usize,
        /// The field.
        field: &'static str,
        /// The number.
        value: i64,
    },
    /// The order list does not name every item exactly once.
    #[error("the order of the shader names {ordered} items, there are {items}")]
    Order {
        /// Number of items in the order list.
        ordered: usize,
        /// Number of items of the shader.
        items: usize,
    },
    /// A declaration of an image or a sampler view without its word, or one of another file with such a word.
    #[error("declaration {index}: the image or sampler view word does not belong to the file {file}")]
    FileWord {
        /// The declaration.
        index: usize,
        /// Its file.
        file: crate::tables::File,
    },
}

impl EncodeError {
    tgsi_diagnostics::error_codes! {
        TooLong => "T0250" "too-long",
        Field => "T0251" "field",
        Order => "T0252" "order",
        FileWord => "T0253" "file-word",
    }
}
