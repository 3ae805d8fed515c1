//! Every limit of the crate, with its reason. Exceeding one is an ordinary error with a position.

/// Words after the header. The header counts them in 24 bits.
pub const MAX_BODY_WORDS: usize = (1 << 24) - 1;

/// Highest instruction number that a label can name: the label field has 24 bits.
pub const MAX_LABEL: u32 = (1 << 24) - 1;

/// Highest array number: the array word and the indirect word give it 10 bits.
pub const MAX_ARRAY_ID: u32 = (1 << 10) - 1;

/// Highest register index of a declaration, highest outer index, and highest semantic index: fields of 16 bits, unsigned.
pub const MAX_DECLARED_INDEX: u32 = u16::MAX as u32;

/// Lowest index of an operand: the fields of 16 bits are signed.
pub const MIN_OPERAND_INDEX: i64 = i16::MIN as i64;

/// Highest index of an operand: the fields of 16 bits are signed.
pub const MAX_OPERAND_INDEX: i64 = i16::MAX as i64;

/// Bytes of a text. The largest stream that can be encoded (see [`MAX_BODY_WORDS`]) prints shorter than this; positions of 32 bits
/// reach well beyond it.
pub const MAX_TEXT_BYTES: usize = 1 << 30;

/// Diagnostics that the parser reports before it gives up. A text with more errors than this is not TGSI; searching all of it for
/// more would only cost time and memory.
pub const MAX_DIAGNOSTICS: usize = 200;

/// Definitions (`#define`) of a text of the old compute tests. They use less than 40.
pub const MAX_MACROS: usize = 4096;

/// Definitions that one name may lead through. More is a cycle.
pub const MAX_MACRO_DEPTH: usize = 16;

/// Levels by which a printed instruction is indented at most. Deeper nesting prints at this depth; otherwise the size of a print
/// would grow with the square of the nesting.
pub const MAX_INDENT: usize = 128;

/// Declarations of files that no longer exist (`RES`, `TEMPX`, `IMMX`, `PRED`). Every use of such a register looks through them; drivers
/// never had more than 128 of one kind.
pub const MAX_OLD_DECLARATIONS: usize = 256;
