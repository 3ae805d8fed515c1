//! Shaders on the wire: CREATE_OBJECT packets, decoded and encoded.
//!
//! A shader comes in one packet or several. Each has the handle, the stage, a length (in the first packet, that of the
//! whole text in bytes with its NUL) or the offset at which it continues, and the number of tokens for which the host
//! allocates memory. The first packet may have stream outputs before the text, except for compute shaders, which have
//! the size of shared memory in every packet.

use crate::commands::{Command, SHADER, header, number, put_words};
use crate::error::CommandError;
use crate::limits::{MAX_PACKET_WORDS, MAX_STREAM_OUTPUTS};

/// Low half of the header of shader packets.
pub const SHADER_COMMAND: u32 = number::CREATE_OBJECT as u32 | (SHADER as u32) << 8;

/// Words before stream outputs or text.
const HEAD_WORDS: usize = 5;

/// Set in the third word of packets that continue a text.
const CONTINUES: u32 = 1 << 31;

/// Stages, in the order of their numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WireStage {
    /// Vertex shaders.
    Vertex,
    /// Fragment shaders.
    Fragment,
    /// Geometry shaders.
    Geometry,
    /// Tessellation control shaders.
    TessControl,
    /// Tessellation evaluation shaders.
    TessEvaluation,
    /// Compute shaders.
    Compute,
}

impl WireStage {
    /// All stages; the index is the number.
    pub const ALL: [WireStage; 6] = [
        WireStage::Vertex,
        WireStage::Fragment,
        WireStage::Geometry,
        WireStage::TessControl,
        WireStage::TessEvaluation,
        WireStage::Compute,
    ];

    /// Returns the stage with a number.
    pub fn of_number(number: u32) -> Result<WireStage, CommandError> {
        WireStage::ALL.get(number as usize).copied().ok_or(CommandError::UnknownStage(number))
    }

    /// Returns the word that TGSI text of the stage begins with.
    pub fn name(self) -> &'static str {
        ["VERT", "FRAG", "GEOM", "TESS_CTRL", "TESS_EVAL", "COMP"][self as usize]
    }
}

/// A decoded packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    /// The object.
    pub handle: u32,
    /// The stage.
    pub stage: WireStage,
    /// The kind of this part of the text.
    pub part: TextSegment,
    /// Tokens for which the host allocates memory.
    pub tokens: u32,
    /// Stream outputs, or bytes of shared memory.
    pub extra: u32,
    /// The words of the stream outputs: four strides, two words for each output.
    pub stream_outputs: &'a [u8],
    /// Text, in whole words.
    pub text: &'a [u8],
}

/// The kind of a part of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TextSegment {
    /// The first part, of a text of this many bytes with its NUL.
    First(u32),
    /// A continuation from this byte on.
    From(u32),
}

impl<'a> Packet<'a> {
    /// Decodes the packet in a command that has [`SHADER_COMMAND`] in the low half of its header.
    pub fn decode(command: &Command<'a>) -> Result<Packet<'a>, CommandError> {
        command.need(HEAD_WORDS)?;
        let [handle, stage, position, tokens, extra] = std::array::from_fn(|i| command.word(i));
        let stage = WireStage::of_number(stage)?;
        let part = if position & CONTINUES == 0 {
            TextSegment::First(position)
        } else {
            TextSegment::From(position & !CONTINUES)
        };
        let mut output_words = 0;
        if let TextSegment::First(_) = part
            && stage != WireStage::Compute
            && extra > 0
        {
            if extra > MAX_STREAM_OUTPUTS {
                return Err(CommandError::StreamOutputs(extra));
            }
            output_words = 4 + 2 * extra as usize;
            command.need(HEAD_WORDS + output_words)?;
        }
        let (stream_outputs, text) = command.payload[HEAD_WORDS * 4..].split_at(output_words * 4);
        Ok(Packet { handle, stage, part, tokens, extra, stream_outputs, text })
    }
}

/// The fields of a shader object besides its text. They are kept when the text changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Head {
    /// The object.
    pub handle: u32,
    /// The stage.
    pub stage: WireStage,
    /// Tokens for which the host allocates memory.
    pub tokens: u32,
    /// Stream outputs, or bytes of shared memory.
    pub extra: u32,
    /// The words of the stream outputs.
    pub stream_outputs: Vec<u8>,
}

impl Head {
    /// Returns the head of a first packet.
    pub fn of(packet: &Packet<'_>) -> Head {
        Head {
            handle: packet.handle,
            stage: packet.stage,
            tokens: packet.tokens,
            extra: packet.extra,
            stream_outputs: packet.stream_outputs.to_vec(),
        }
    }

    /// Writes the packets of a shader with this text, which has no NUL.
    pub fn put(&self, out: &mut Vec<u8>, text: &[u8]) {
        self.put_split(out, text, MAX_PACKET_WORDS);
    }

    /// The same with at most `max_words` words per packet, which must hold the head and a word of text.
    fn put_split(&self, out: &mut Vec<u8>, text: &[u8], max_words: usize) {
        let length = text.len() + 1;
        // A token has at least two characters.
        let tokens = self.tokens.max((length / 2 + 16) as u32);
        out.reserve(
            length.next_multiple_of(4)
                + (length / (4 * max_words) + 1) * 4 * (HEAD_WORDS + 1)
                + self.stream_outputs.len(),
        );
        let mut done = 0;
        while done < length {
            let first = done == 0;
            let outputs: &[u8] = if first { &self.stream_outputs } else { &[] };
            let group = max_words.saturating_sub(HEAD_WORDS + outputs.len() / 4).max(1) * 4;
            let end = length.min(done + group);
            let text_words = (end - done).div_ceil(4);
            let words = HEAD_WORDS + outputs.len() / 4 + text_words;
            let position = if first { length as u32 } else { done as u32 | CONTINUES };
            // Stream outputs are only in the first packet, the size of shared memory is in every packet.
            let extra = if first || self.stage == WireStage::Compute { self.extra } else { 0 };
            put_words(
                out,
                &[
                    header(number::CREATE_OBJECT, SHADER, words),
                    self.handle,
                    self.stage as u32,
                    position,
                    tokens,
                    extra,
                ],
            );
            out.extend_from_slice(outputs);
            out.extend_from_slice(&text[done..end.min(text.len())]);
            // Adds the NUL and pads the last word.
            out.resize(out.len() + done + text_words * 4 - end.min(text.len()), 0);
            done = end;
        }
    }
}

/// A complete shader, as seen by the filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShaderObject<'a> {
    /// The stage.
    pub stage: WireStage,
    /// The text, without NUL.
    pub text: &'a [u8],
    /// Number of stream outputs. They refer to OUT registers of the text by number.
    pub stream_outputs: u32,
    /// Size of shared memory in bytes, for compute shaders.
    pub shared_bytes: u32,
}

impl<'a> ShaderObject<'a> {
    /// Combines a head and a text.
    pub fn new(head: &Head, text: &'a [u8]) -> ShaderObject<'a> {
        let (stream_outputs, shared_bytes) = match head.stage {
            WireStage::Compute => (0, head.extra),
            _ => (head.extra, 0),
        };
        ShaderObject { stage: head.stage, text, stream_outputs, shared_bytes }
    }
}

/// The result of a filter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Filtered {
    /// The shader is passed on unchanged.
    Unchanged,
    /// The shader gets this text, unless it has a NUL or is longer than
    /// [`MAX_TEXT_BYTES`](crate::limits::MAX_TEXT_BYTES).
    Changed(Vec<u8>),
}

/// A filter for shaders.
pub trait Filter {
    /// Filters a shader. If it panics on a connection, the shader is passed on unchanged.
    fn filter(&self, shader: &ShaderObject<'_>) -> Filtered;
}

impl<F: Fn(&ShaderObject<'_>) -> Filtered> Filter for F {
    fn filter(&self, shader: &ShaderObject<'_>) -> Filtered {
        self(shader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::command_at;

    fn head(stage: WireStage, extra: u32) -> Head {
        let outputs = if stage == WireStage::Compute || extra == 0 { 0 } else { 16 + 8 * extra as usize };
        let stream_outputs = (0..outputs).map(|i| i as u8 | 1).collect();
        Head { handle: 9, stage, tokens: 300, extra, stream_outputs }
    }

    /// Joins the text of packets, checking each against the head.
    fn decoded(bytes: &[u8], head: &Head, max_words: usize) -> Vec<u8> {
        let mut text = Vec::new();
        let mut length = 0;
        let mut at = 0;
        while let Some(command) = command_at(bytes, at).expect("valid") {
            assert_eq!(command.header & 0xffff, SHADER_COMMAND);
            assert!(command.words() <= max_words);
            let packet = Packet::decode(&command).expect("a shader");
            assert_eq!((packet.handle, packet.stage), (head.handle, head.stage));
            match packet.part {
                TextSegment::First(all) => {
                    assert_eq!(at, 0);
                    assert_eq!((packet.extra, packet.stream_outputs), (head.extra, head.stream_outputs.as_slice()));
                    length = all as usize;
                    assert!(packet.tokens >= 300 && packet.tokens as usize >= length / 2 + 16);
                }
                TextSegment::From(offset) => {
                    assert_eq!(offset as usize, text.len());
                    let extra = if head.stage == WireStage::Compute { head.extra } else { 0 };
                    assert_eq!((packet.extra, packet.stream_outputs.len()), (extra, 0));
                }
            }
            text.extend_from_slice(packet.text);
            at = command.end;
        }
        assert_eq!(at, bytes.len());
        assert_eq!(text.len(), length.next_multiple_of(4));
        assert!(text[length - 1..].iter().all(|&b| b == 0));
        text.truncate(length - 1);
        text
    }

    #[test]
    fn what_is_written_is_read_again() {
        for stage in WireStage::ALL {
            for extra in [0, 1, 3] {
                let head = head(stage, extra);
                for length in (0..70).chain([1000, 5003]) {
                    let text: Vec<u8> = (0..length).map(|i| b'a' + (i % 26) as u8).collect();
                    for max_words in [16, 17, 24, 600, MAX_PACKET_WORDS] {
                        let mut out = Vec::new();
                        head.put_split(&mut out, &text, max_words);
                        assert_eq!(decoded(&out, &head, max_words), text);
                    }
                }
            }
        }
    }

    #[test]
    fn long_texts_are_split() {
        let head = head(WireStage::Vertex, 2);
        let text = vec![b'x'; 520_000];
        let mut out = Vec::new();
        head.put(&mut out, &text);
        assert_eq!(decoded(&out, &head, MAX_PACKET_WORDS), text);
        assert_eq!(out.len(), 520_000 + 4 + 3 * 24 + 4 * 8);
    }

    #[test]
    fn what_is_no_shader_is_an_error() {
        let decode = |words: &[u32]| {
            let mut bytes = Vec::new();
            put_words(&mut bytes, &[SHADER_COMMAND | (words.len() as u32) << 16]);
            put_words(&mut bytes, words);
            let command = command_at(&bytes, 0).expect("valid").expect("a command");
            Packet::decode(&command).map(|packet| packet.text.len())
        };
        let header = |words: u32| SHADER_COMMAND | words << 16;
        assert_eq!(decode(&[1, 0, 4, 10, 0, 0]), Ok(4));
        assert_eq!(decode(&[1, 0, 4, 10]), Err(CommandError::TooShort { command: header(4), words: 4, needed: 5 }));
        assert_eq!(decode(&[1, 6, 4, 10, 0]), Err(CommandError::UnknownStage(6)));
        assert_eq!(decode(&[1, 0, 4, 10, 65]), Err(CommandError::StreamOutputs(65)));
        assert_eq!(
            decode(&[1, 0, 4, 10, 1, 0, 0, 0, 0, 0]),
            Err(CommandError::TooShort { command: header(10), words: 10, needed: 11 })
        );
        assert_eq!(decode(&[1, 0, 4, 10, 1, 0, 0, 0, 0, 0, 0, 0]), Ok(4));
        assert_eq!(decode(&[1, 5, 4, 10, 65, 0]), Ok(4), "shared memory");
        assert_eq!(decode(&[1, 0, 4 | CONTINUES, 10, 65, 0]), Ok(4), "continuations have no outputs");
    }
}
