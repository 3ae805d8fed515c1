//! Guesses the era and the producer of a text from typical features. The guess does not affect parsing.
//!
//! | feature | producer |
//! |---|---|
//! | instructions without numbers | written by hand, or string literals of drivers and tests |
//! | labels at IF, ELSE, ENDLOOP; floats as UINT32; immediates before declarations | `nir_to_tgsi`, Mesa 21 to 25 |
//! | blocks without labels; LOCAL on single temporaries; INT32 immediates; NEXT_SHADER | `glsl_to_tgsi`, Mesa 9 to 21 |
//! | removed opcodes and files | any, Mesa 18 and older |
//! | a version after the stage (`FRAG1.1`) | Mesa 7 |
//! | bits of FLT32 in hexadecimal; CONST with one index | any, sent to a virgl host |

use serde::Serialize;

use super::{legacy, lexer};
use crate::tables::lookup::Word;

/// The likely producer of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Producer {
    /// Mesa's translator from NIR.
    NirToTgsi,
    /// Mesa's translator from GLSL IR.
    GlslToTgsi,
    /// A person, or a string literal of a program.
    Hand,
    /// One of Mesa's two translators, undetermined.
    Unknown,
}

/// The likely origin of a text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Origin {
    /// The likely producer.
    pub producer: Producer,
    /// The versions of Mesa that print such texts.
    pub era: &'static str,
    /// Whether the text looks as if it was sent to a virgl host.
    pub virgl: bool,
}

/// The features found in a text.
#[derive(Default)]
struct Evidence {
    nir: u32,
    glsl: u32,
    numbered: bool,
    blocks: u32,
    labels: u32,
    old: bool,
    version: bool,
    bits: bool,
    flat_constants: bool,
    /// Kinds of immediates: floats, unsigned, signed.
    immediates: [bool; 3],
    immediate_before_declaration: bool,
}

/// Guesses the origin of a text.
pub fn origin(text: &[u8]) -> Origin {
    let mut evidence = Evidence::default();
    let mut first = true;
    for line in text.split(|&byte| byte == b'\n') {
        let line = lexer::skip_only_blanks(line);
        if line.is_empty() || lexer::at_comment(line) {
            continue;
        }
        if std::mem::take(&mut first) {
            evidence.version = lexer::word(line).is_some_and(|word| line.get(word.len()) == Some(&b'.'));
            continue;
        }
        evidence.line(line);
    }
    evidence.verdict()
}

fn has(line: &[u8], part: &str) -> bool {
    line.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}

impl Evidence {
    fn line(&mut self, line: &[u8]) {
        let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let numbered = digits > 0 && line.get(digits) == Some(&b':');
        let statement = if numbered { lexer::skip_only_blanks(&line[digits + 1..]) } else { line };
        let Some(word) = lexer::word(statement) else { return };
        let rest = &statement[word.len()..];
        if word.is("DCL") {
            self.declaration(lexer::skip_only_blanks(rest));
        } else if word.is("IMM") {
            self.immediate(rest);
        } else if word.is("PROPERTY") {
            self.glsl += u32::from(has(rest, "NEXT_SHADER"));
        } else {
            self.numbered |= numbered;
            self.instruction(word, rest);
        }
    }

    fn declaration(&mut self, rest: &[u8]) {
        self.immediate_before_declaration |= self.immediates.contains(&true);
        let Some(file) = lexer::word(rest) else { return };
        self.old |= legacy::file(file).is_some();
        let (local, array) = (has(rest, "LOCAL"), has(rest, "ARRAY"));
        if file.is("TEMP") {
            match (local, array) {
                (true, false) => self.glsl += 3,
                (false, false) => self.nir += 1,
                (false, true) => self.glsl += 1,
                (true, true) => {}
            }
        } else if file.is("CONST") {
            self.flat_constants |= rest.iter().filter(|&&byte| byte == b'[').count() == 1;
        }
    }

    fn immediate(&mut self, rest: &[u8]) {
        let kinds = ["FLT32", "UINT32", " INT32"];
        let Some(kind) = kinds.iter().position(|kind| has(rest, kind)) else { return };
        self.immediates[kind] = true;
        match kind {
            0 => self.bits |= has(rest, "{0x") || has(rest, ", 0x"),
            1 => {
                let numbers =
                    rest.split(|byte| !byte.is_ascii_digit()).filter_map(|digits| std::str::from_utf8(digits).ok());
                // The numbers look like floats, not like masks.
                let is_float = |number: u32| (0x3000_0000..0xf000_0000).contains(&number);
                self.nir += 3 * u32::from(numbers.filter_map(|digits| digits.parse().ok()).any(is_float));
            }
            _ => self.glsl += 3,
        }
    }

    fn instruction(&mut self, word: Word<'_>, rest: &[u8]) {
        let (name, _) = legacy::split_suffixes(word);
        let stream =
            ["EMIT", "ENDPRIM"].iter().any(|stream| name.is(stream)) && rest.iter().all(|&byte| lexer::is_blank(byte));
        self.old |= legacy::opcode(name).is_some() || stream;
        if ["IF", "UIF", "ELSE", "BGNLOOP", "ENDLOOP"].iter().any(|block| name.is(block)) {
            self.blocks += 1;
            self.labels += u32::from(rest.contains(&b':'));
        }
    }

    fn verdict(mut self) -> Origin {
        match (self.blocks, self.labels) {
            (0, _) => {}
            (_, 0) => self.glsl += 3,
            _ => self.nir += 4,
        }
        self.nir += 2 * u32::from(self.immediate_before_declaration);
        let [floats, unsigned, _] = self.immediates;
        self.glsl += u32::from(floats);
        self.glsl = self.glsl.saturating_sub(u32::from(floats && unsigned && self.nir > self.glsl));
        let producer = match self.nir.cmp(&self.glsl) {
            _ if !self.numbered => Producer::Hand,
            std::cmp::Ordering::Greater => Producer::NirToTgsi,
            std::cmp::Ordering::Less => Producer::GlslToTgsi,
            std::cmp::Ordering::Equal => Producer::Unknown,
        };
        let era = match producer {
            _ if self.version => "Mesa 7",
            _ if self.old => "Mesa 18 or older",
            Producer::NirToTgsi => "Mesa 21 to 25",
            Producer::GlslToTgsi => "Mesa 9 to 21",
            Producer::Hand | Producer::Unknown => "any",
        };
        Origin { producer, era, virgl: self.bits || self.flat_constants && self.numbered }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn habits_tell_producers() {
        let of = |text: &str| {
            let Origin { producer, era, virgl } = origin(text.as_bytes());
            (producer, era, virgl)
        };
        let nir =
            "FRAG\nDCL TEMP[0]\nIMM[0] UINT32 {1065353216, 0, 0, 0}\n  0: UIF TEMP[0].xxxx :2\n  1: ENDIF\n  2: END\n";
        assert_eq!(of(nir), (Producer::NirToTgsi, "Mesa 21 to 25", false));
        let glsl = "VERT\nDCL CONST[0..2]\nDCL TEMP[0..1], LOCAL\nIMM[0] FLT32 {0x00000000, 0x3f800000, 0, 0}\n  0: UIF TEMP[0].xxxx\n  1: ENDIF\n";
        assert_eq!(of(glsl), (Producer::GlslToTgsi, "Mesa 9 to 21", true));
        assert_eq!(of("FRAG\nDCL CONST[0]\nMOV OUT[0], CONST[0]\nEND\n"), (Producer::Hand, "any", false));
        assert_eq!(of("FRAG1.1\nDCL IN[0]\n  0: END\n"), (Producer::Unknown, "Mesa 7", false));
        for old in ["SUB TEMP[0], TEMP[0], TEMP[1]", "EMIT", "DCL RES[0]"] {
            assert_eq!(of(&format!("GEOM\n{old}\nEND\n")).1, "Mesa 18 or older", "{old}");
        }
        assert_eq!(of(""), (Producer::Hand, "any", false));
    }
}
