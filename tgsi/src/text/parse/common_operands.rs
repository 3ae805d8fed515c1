//! Fast path for the most common operands: a comma and a blank, `FILE[n]` or `FILE[m][n]`, components.
//!
//! They are recognised in one step, without handling definitions, old names, comments and errors. For all other input
//! these functions consume nothing and return none, and the general parser handles it. The general parser gives the
//! same result for the input that is recognised here.

use super::Parser;
use super::operand::{component_of, components_of};
use crate::shader::{Dimension, Dst, Register, Src};
use crate::tables::File;
use crate::tables::lookup::Word;
use crate::text::lexer;

/// Returns the position of the first `[` among the first eight bytes.
#[inline]
fn bracket_in(bytes: [u8; 8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    // A zero byte borrows from its highest bit; bytes after the first zero byte do not matter.
    let difference = u64::from_le_bytes(bytes) ^ (ONES * b'[' as u64);
    let zeros = difference.wrapping_sub(ONES) & !difference & (ONES << 7);
    (zeros != 0).then(|| zeros.trailing_zeros() as usize / 8)
}

/// Parses `[number]`; returns the number and the position after the bracket.
#[inline(always)]
fn index(text: &[u8], bracket: usize) -> Option<(i32, usize)> {
    let inside = text.get(bracket + 1..)?;
    // Most numbers have one or two digits.
    match *inside {
        [a @ b'0'..=b'9', b']', ..] => return Some((i32::from(a - b'0'), bracket + 3)),
        [a @ b'0'..=b'9', b @ b'0'..=b'9', b']', ..] => {
            return Some((10 * i32::from(a - b'0') + i32::from(b - b'0'), bracket + 4));
        }
        _ => {}
    }
    let mut index = 0;
    // A number of up to four digits is in range everywhere.
    for (length, &byte) in inside.iter().enumerate().take(5) {
        match byte {
            b'0'..=b'9' => index = 10 * index + i32::from(byte - b'0'),
            b']' if length > 0 => return Some((index, bracket + length + 2)),
            _ => return None,
        }
    }
    None
}

/// Parses a register at `position`; returns it and the position after it.
#[inline(always)]
fn register(text: &[u8], position: usize) -> Option<(Register, usize)> {
    let name = text.get(position..)?;
    let length = bracket_in(*name.first_chunk()?)?;
    // Non-word bytes could case-fold to a shorter name.
    let file = File::from_word(Word::at_start(name, length)).filter(|file| file.name().len() == length)?;
    let (mut inner, mut end) = index(text, position + length)?;
    let mut dimension = None;
    if text.get(end) == Some(&b'[') {
        dimension = Some(Dimension { index: inner, indirect: None });
        (inner, end) = index(text, end)?;
    }
    Some((Register { file, index: inner, indirect: None, dimension }, end))
}

/// Returns the start of the operand, after the separator of a first or later operand.
#[inline]
fn begin(text: &[u8], first: bool) -> Option<usize> {
    match text {
        [b' ', ..] if first => Some(1),
        [b',', b' ', ..] if !first => Some(2),
        _ => None,
    }
}

impl Parser<'_> {
    /// Advances by the operand's `length`, if the operand certainly ends there.
    #[inline(always)]
    fn take(&mut self, length: usize) -> bool {
        let start = self.at;
        self.at += length;
        match self.peek() {
            Some(b',') | None => true,
            // Blanks may precede another bracket and the dot.
            Some(byte) if lexer::may_be_skipped(byte) && !matches!(self.peek_ahead(), Some(b'[' | b'.')) => true,
            _ => {
                self.at = start;
                false
            }
        }
    }

    /// Parses a destination and the separator before it.
    #[inline]
    pub(super) fn common_dst(&mut self, first: bool) -> Option<Dst> {
        let text = self.rest();
        let begin = begin(text, first)?;
        let (register, mut end) = register(text, begin)?;
        let mut write_mask = 0xf;
        if text.get(end) == Some(&b'.') {
            write_mask = 0;
            end += 1;
            while let Some(component) = text.get(end).and_then(|&letter| component_of(letter)) {
                let bit = 1 << component;
                if write_mask >= bit {
                    return None;
                }
                write_mask |= bit;
                end += 1;
            }
            if write_mask == 0 {
                return None;
            }
        }
        let start = self.at + begin;
        self.take(end).then(|| Dst { register, write_mask, span: self.span_from(start) })
    }

    /// Parses a source and the separator before it.
    #[inline]
    pub(super) fn common_src(&mut self, first: bool) -> Option<Src> {
        let text = self.rest();
        let begin = begin(text, first)?;
        let negate = text.get(begin) == Some(&b'-');
        let mut position = begin + usize::from(negate);
        let absolute = text.get(position) == Some(&b'|');
        position += usize::from(absolute);
        let (register, mut end) = register(text, position)?;
        let mut swizzle = [0, 1, 2, 3];
        if let Some(&[b'.', x, y, z, w]) = text.get(end..).and_then(<[u8]>::first_chunk) {
            swizzle = components_of([x, y, z, w])?;
            end += 5;
        }
        if absolute {
            if text.get(end) != Some(&b'|') {
                return None;
            }
            end += 1;
        }
        let start = self.at + begin;
        self.take(end).then(|| Src { register, swizzle, absolute, negate, span: self.span_from(start) })
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::text::parse;

    #[test]
    fn brackets_in_eight_bytes() {
        for (bytes, position) in
            [(b"TEMP[0].", Some(4)), (b"[[[[[[[[", Some(0)), (b"ABCDEFG[", Some(7)), (b"Z\\]\0\xff\x5a\x5cx", None)]
        {
            assert_eq!(bracket_in(*bytes), position);
        }
    }

    /// Operands with additional blanks take the general path, which must give the same result.
    #[test]
    fn the_long_way_leads_to_the_same() {
        let operands = [
            ("TEMP[0]", "TEMP [ 0 ]"),
            ("TEMP[0].x", "TEMP[0] .x"),
            ("OUT[1].xw", "OUT [1].xw"),
            ("TEMP[1234].yzw", "TEMP[1234]\n.yzw"),
            ("TEMP[01]", "TEMP[ 01]"),
            ("IN[2][31]", "IN[2] [31]"),
            ("temp[3]", "temp [3]"),
        ];
        let sources = [
            ("TEMP[0]", "TEMP [ 0 ]"),
            ("-TEMP[0].xyzw", "- TEMP[0] .xyzw"),
            ("|IMM[7].wzyx|", "| IMM[7]. wzyx |"),
            ("-|CONST[1][99].xXyY|", "-| CONST[1] [99].xXyY|"),
            ("ADDR[0].xxxx", "ADDR[0]\n.xxxx"),
        ];
        for (dst, long_dst) in operands {
            for (src, long_src) in sources {
                let texts = [(", ", dst, src), (" , ", dst, src), (",", long_dst, src), (",\n", dst, long_src)];
                let shaders = texts.map(|(comma, dst, src)| {
                    let text = format!("GEOM\nADD {dst}{comma}{src}{comma}{src}\nMOV TEMP[0], TEMP[0]\nEND");
                    parse::parse(text.as_bytes()).unwrap_or_else(|errors| panic!("{text}: {errors:?}")).shader
                });
                for shader in &shaders {
                    assert_eq!(shader, &shaders[0]);
                }
            }
        }
    }

    /// Uncommon operands are left to the general parser.
    #[test]
    fn other_operands_are_left() {
        let src = |text: &str| Parser::new(text.as_bytes()).common_src(true);
        assert!(src(" TEMP[0], x").is_some() && src(" TEMP[10]").is_some() && src(" TEMP[0]\nMOV").is_some());
        for other in [
            "TEMP[0]",
            ", TEMP[0]",
            "  TEMP[0]",
            " TEMP[]",
            " TEMP[12345]",
            " TEMP[-1]",
            " TEMP[ADDR[0].x]",
            " TEMP[0](1)",
            " TEMP[0] [1]",
            " TEMP[0]\n[1]",
            " TEMP[0] .xyzw",
            " TEMP[0].xyz",
            " TEMP[0].xyzww",
            " TEMP[0].xyzq",
            " |TEMP[0]",
            " TEMP[0]|",
            " |TEMP[0] |",
            " --TEMP[0]",
            " TEMPX[0]",
            " TEMP [0]",
            " TEMP\0[0]",
            " TEM",
            " TEMP",
            " TEMP[0",
            " CONSTBUF[0]x",
        ] {
            let mut parser = Parser::new(other.as_bytes());
            assert_eq!((parser.common_src(true), parser.at), (None, 0), "{other:?}");
        }
        for other in [" TEMP[0].", " TEMP[0].yx", " TEMP[0].xx", " TEMP[0].xq", " TEMP[0] .x", " TEMP[0]\n.x"] {
            let mut parser = Parser::new(other.as_bytes());
            assert_eq!((parser.common_dst(true), parser.at), (None, 0), "{other:?}");
        }
    }
}
