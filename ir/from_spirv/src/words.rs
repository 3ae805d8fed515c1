//! The words of a module, and the walk over its instructions.

use tgsi_diagnostics::Span;

use crate::error::{Finding, SpirvError};
use crate::limits::SpirvLimits;

/// The first word of a module.
const MAGIC: u32 = 0x0723_0203;

/// Words of the header.
pub(crate) const HEADER: usize = 5;

/// The newest version that is known: 1.6.
const NEWEST: u32 = 0x0001_0600;

/// Whether bytes begin as a module does.
pub(crate) fn is_module(bytes: &[u8]) -> bool {
    bytes
        .first_chunk::<4>()
        .is_some_and(|first| u32::from_le_bytes(*first) == MAGIC || u32::from_be_bytes(*first) == MAGIC)
}

/// An instruction: its operands follow its first word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inst<'w> {
    /// Opcode.
    pub(crate) op: u16,
    /// Position of its first word.
    pub(crate) at: u32,
    /// Its number in the module.
    pub(crate) number: u32,
    /// The words after the first, with the result type and the result.
    pub(crate) words: &'w [u32],
}

impl<'w> Inst<'w> {
    /// A word; 0 if the instruction is too short.
    pub(crate) fn word(&self, number: usize) -> u32 {
        self.words.get(number).copied().unwrap_or(0)
    }

    /// The words from a number on.
    pub(crate) fn rest(&self, number: usize) -> &'w [u32] {
        self.words.get(number..).unwrap_or_default()
    }

    /// The words of the instruction in the module.
    pub(crate) fn span(&self) -> Span {
        Span::new(self.at, self.at.saturating_add(self.words.len() as u32 + 1))
    }
}

/// The words of a module.
#[derive(Debug)]
pub(crate) struct Words {
    /// All words, with the header.
    pub(crate) words: Vec<u32>,
    /// The tool that wrote the module, and its version.
    pub(crate) generator: u32,
    /// Ids are below it.
    pub(crate) bound: u32,
}

impl Words {
    /// Reads the header, in either byte order.
    ///
    /// # Errors
    /// [`SpirvError`] if the bytes are not a module, or exceed the limits.
    pub(crate) fn read(bytes: &[u8], limits: &SpirvLimits) -> Result<(Words, Vec<Finding>), Finding> {
        let whole = Span::new(0, u32::from(!bytes.is_empty()));
        let at = |error: SpirvError| Finding { error, span: whole };
        if !is_module(bytes) || !bytes.len().is_multiple_of(4) {
            return Err(at(SpirvError::NotSpirv { length: bytes.len() }));
        }
        let count = (bytes.len() / 4) as u64;
        if count > limits.words {
            return Err(at(SpirvError::TooLarge { what: "words", count, limit: limits.words }));
        }
        let is_little = bytes.first() == Some(&0x03);
        let word = |chunk: &[u8]| {
            let chunk = chunk.first_chunk::<4>().copied().unwrap_or_default();
            if is_little { u32::from_le_bytes(chunk) } else { u32::from_be_bytes(chunk) }
        };
        let words: Vec<u32> = bytes.chunks_exact(4).map(word).collect();
        let &[_, version, generator, bound, _, ..] = words.as_slice() else {
            return Err(at(SpirvError::Truncated));
        };
        let mut warnings = Vec::new();
        if version > NEWEST {
            let (major, minor) = (version >> 16, version >> 8 & 0xff);
            warnings.push(Finding { error: SpirvError::Version { major, minor }, span: Span::new(1, 2) });
        }
        // Every id that is defined has a word, so that tables by id stay in proportion to the module.
        let most_ids = limits.ids.min(count.saturating_mul(4).max(1 << 16));
        if u64::from(bound) > most_ids {
            let error = SpirvError::TooLarge { what: "ids", count: bound.into(), limit: most_ids };
            return Err(Finding { error, span: Span::new(3, 4) });
        }
        Ok((Words { words, generator, bound }, warnings))
    }

    /// The instruction at a word.
    pub(crate) fn at(&self, at: u32, number: u32) -> Option<Inst<'_>> {
        let rest = self.words.get(at as usize..)?;
        let (&first, rest) = rest.split_first()?;
        let length = (first >> 16) as usize;
        Some(Inst { op: first as u16, at, number, words: rest.get(..length.checked_sub(1)?)? })
    }

    /// The instructions, in order. The last item is the position at which an instruction is damaged.
    pub(crate) fn instructions(&self) -> impl Iterator<Item = Result<Inst<'_>, u32>> {
        let mut at = HEADER as u32;
        let mut number = 0;
        std::iter::from_fn(move || {
            if at as usize >= self.words.len() {
                return None;
            }
            let found = self.at(at, number).ok_or(at);
            match &found {
                Ok(inst) => {
                    at += inst.words.len() as u32 + 1;
                    number += 1;
                }
                Err(_) => at = u32::MAX,
            }
            Some(found)
        })
    }
}

/// The string that begins at a word, and the number of words that it takes. Bytes that are not UTF-8 are replaced.
pub(crate) fn string(words: &[u32]) -> Option<(String, usize)> {
    let mut bytes = Vec::new();
    for (number, word) in words.iter().enumerate() {
        for byte in word.to_le_bytes() {
            if byte == 0 {
                return Some((String::from_utf8_lossy(&bytes).into_owned(), number + 1));
            }
            bytes.push(byte);
        }
    }
    None
}
