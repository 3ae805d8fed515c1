//! Streams for the tests of several modules.

use tgsi_environment::Random;

use crate::commands::{SHADER, header, number, put_words};
use crate::shader::{Head, WireStage};

/// Returns a number below `end`, or 0.
pub fn below(random: &mut Random, end: usize) -> usize {
    (random.bits() >> 16) as usize % end.max(1)
}

/// Returns the fields of a shader object besides its text.
pub fn shader_head(handle: u32, stage: WireStage, extra: u32) -> Head {
    let outputs = if stage == WireStage::Compute || extra == 0 { 0 } else { 16 + 8 * extra as usize };
    Head { handle, stage, tokens: 300, extra, stream_outputs: (1..=outputs as u8).collect() }
}

/// Writes the packets of a shader like a client, splitting its text at the given words; returns the ends of the
/// packets.
pub fn packets(out: &mut Vec<u8>, head: &Head, text: &[u8], cuts: &[usize]) -> Vec<usize> {
    let start = out.len();
    let mut padded = text.to_vec();
    padded.push(0);
    let length = padded.len();
    padded.resize(length.next_multiple_of(4), 0);
    let mut ends = Vec::new();
    let mut done = 0;
    for cut in cuts.iter().map(|cut| cut * 4).chain([padded.len()]) {
        let first = ends.is_empty();
        let outputs: &[u8] = if first { &head.stream_outputs } else { &[] };
        let part = &padded[done..cut];
        let position = if first { length as u32 } else { done as u32 | 1 << 31 };
        let extra = if first || head.stage == WireStage::Compute { head.extra } else { 0 };
        let words = 5 + (outputs.len() + part.len()) / 4;
        let command = header(number::CREATE_OBJECT, SHADER, words);
        put_words(out, &[command, head.handle, head.stage as u32, position, head.tokens, extra]);
        out.extend_from_slice(outputs);
        out.extend_from_slice(part);
        ends.push(out.len() - start);
        done = cut;
    }
    ends
}
