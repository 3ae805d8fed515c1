//! Rewriting of command buffers: whole and split shaders, in one sub-context and several.

use std::cell::RefCell;

use pretty_assertions::assert_eq;
use tgsi_environment::Random;

use super::*;
use crate::commands::{header, put_words};
use crate::testing::{below, packets, shader_head};

/// Makes every text longer, except texts that begin with `keep`.
fn longer(shader: &ShaderObject<'_>) -> Filtered {
    if shader.text.starts_with(b"keep") {
        return Filtered::Unchanged;
    }
    let mut text = b"new ".to_vec();
    text.extend_from_slice(shader.text);
    Filtered::Changed(text)
}

/// A command buffer and its expected output.
#[derive(Default)]
struct Case {
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Case {
    /// Adds words to both.
    fn both(&mut self, words: &[u32]) {
        put_words(&mut self.input, words);
        put_words(&mut self.output, words);
    }

    fn sub_context(&mut self, command: u8, id: u32) {
        self.both(&[header(command, 0, 1), id]);
    }
}

fn new_text(text: &[u8]) -> Vec<u8> {
    [b"new ", text].concat()
}

#[test]
fn a_buffer_without_shaders_is_not_copied() {
    let mut case = Case::default();
    case.sub_context(number::CREATE_SUB_CTX, 2);
    case.both(&[0, header(8, 0, 3), 1, 2, 3]);
    case.both(&[header(number::CREATE_OBJECT, 1, 2), 1, 2]);
    let rewritten = Rewriter::new(longer).rewrite(&case.input);
    assert_eq!(rewritten, Rewritten { commands: None, error: None });
    assert_eq!(Rewriter::new(longer).rewrite(&[]), Rewritten { commands: None, error: None });
}

#[test]
fn whole_shaders_are_replaced_where_they_are() {
    for stage in WireStage::ALL {
        let head = shader_head(5, stage, 2);
        let mut case = Case::default();
        case.both(&[header(8, 0, 1), 77]);
        packets(&mut case.input, &head, b"old", &[]);
        head.put(&mut case.output, b"new old");
        case.both(&[header(8, 0, 1), 78]);
        packets(&mut case.input, &head, b"keep", &[]);
        packets(&mut case.output, &head, b"keep", &[]);
        let rewritten = Rewriter::new(longer).rewrite(&case.input);
        assert_eq!(rewritten, Rewritten { commands: Some(case.output), error: None });
    }
}

#[test]
fn an_unchanged_shader_is_not_copied() {
    let mut input = Vec::new();
    packets(&mut input, &shader_head(5, WireStage::Vertex, 1), b"keep it", &[]);
    assert_eq!(Rewriter::new(longer).rewrite(&input), Rewritten { commands: None, error: None });
}

#[test]
fn what_the_filter_sees() {
    let seen = RefCell::new(Vec::new());
    let filter = |shader: &ShaderObject<'_>| {
        let text = String::from_utf8_lossy(shader.text).into_owned();
        seen.borrow_mut().push((shader.stage, text, shader.stream_outputs, shader.shared_bytes));
        Filtered::Unchanged
    };
    let mut input = Vec::new();
    packets(&mut input, &shader_head(1, WireStage::Vertex, 3), b"streams", &[1]);
    packets(&mut input, &shader_head(2, WireStage::Compute, 3), b"shares", &[]);
    // Bytes after the NUL are not text.
    packets(&mut input, &shader_head(3, WireStage::Fragment, 0), b"ends\0no more\0", &[]);
    assert_eq!(Rewriter::new(filter).rewrite(&input).error, None);
    assert_eq!(
        seen.into_inner(),
        [
            (WireStage::Vertex, "streams".into(), 3, 0),
            (WireStage::Compute, "shares".into(), 0, 3),
            (WireStage::Fragment, "ends".into(), 0, 0),
        ]
    );
}

#[test]
fn a_text_that_cannot_be_sent_is_not() {
    let filter = |_: &ShaderObject<'_>| Filtered::Changed(b"a\0b".to_vec());
    let mut input = Vec::new();
    packets(&mut input, &shader_head(5, WireStage::Vertex, 1), b"text", &[]);
    assert_eq!(Rewriter::new(filter).rewrite(&input), Rewritten { commands: None, error: None });
}

#[test]
fn any_cutting_of_a_text_gives_the_same() {
    let mut random = Random::new(1);
    for round in 0..400 {
        let stage = WireStage::ALL[below(&mut random, 6)];
        let head = shader_head(9, stage, below(&mut random, 3) as u32);
        let mut text = if round % 2 == 0 { b"keep".to_vec() } else { b"text".to_vec() };
        text.extend((0..below(&mut random, 300)).map(|i| b'a' + (i % 26) as u8));
        let mut cuts: Vec<usize> = (0..below(&mut random, 6)).map(|_| below(&mut random, text.len() / 4 + 1)).collect();
        cuts.sort_unstable();
        let mut all = Vec::new();
        let ends = packets(&mut all, &head, &text, &cuts);
        // The packets come in any number of buffers, between other commands.
        let mut rewriter = Rewriter::new(longer);
        let (mut shaders, mut start) = (Vec::new(), 0);
        while start < all.len() {
            let left: Vec<usize> = ends.iter().copied().filter(|&end| end > start).collect();
            let end = left[below(&mut random, left.len())];
            let mut case = Case::default();
            case.both(&[header(8, 0, 1), 1]);
            case.input.extend_from_slice(&all[start..end]);
            put_words(&mut case.input, &[header(8, 0, 1), 2]);
            let Rewritten { commands, error } = rewriter.rewrite(&case.input);
            assert_eq!(error, None);
            let commands = commands.unwrap_or(case.input);
            shaders.extend_from_slice(&commands[8..commands.len() - 8]);
            start = end;
        }
        assert!(!rewriter.is_holding());
        if round % 2 == 0 {
            assert_eq!(shaders, all, "unchanged");
        } else {
            let mut expected = Vec::new();
            head.put(&mut expected, &new_text(&text));
            assert_eq!(shaders, expected);
        }
    }
}

#[test]
fn sub_contexts_and_stages_do_not_mix() {
    let mut random = Random::new(2);
    for _ in 0..200 {
        let mut rewriter = Rewriter::new(longer);
        let mut setup = Vec::new();
        for id in 1..4 {
            put_words(&mut setup, &[header(number::CREATE_SUB_CTX, 0, 1), id]);
        }
        assert_eq!(rewriter.rewrite(&setup).commands, None);
        // A shader for each sub-context and stage, mostly with the same handle; their packets come in any order.
        let mut waiting = Vec::new();
        for context in 0..4u32 {
            for stage in WireStage::ALL {
                let head = shader_head(7, stage, 1);
                let text = format!("shader of {context} {} with some text", stage.name());
                let mut bytes = Vec::new();
                let cuts = [below(&mut random, 3), 3 + below(&mut random, 3)];
                let ends = packets(&mut bytes, &head, text.as_bytes(), &cuts);
                waiting.push((context, head, text, bytes, ends, 0));
            }
        }
        let mut case = Case::default();
        while !waiting.is_empty() {
            let place = below(&mut random, waiting.len());
            let (context, head, text, bytes, ends, start) = &mut waiting[place];
            case.sub_context(number::SET_SUB_CTX, *context);
            let end = ends.remove(0);
            case.input.extend_from_slice(&bytes[*start..end]);
            *start = end;
            if ends.is_empty() {
                head.put(&mut case.output, &new_text(text.as_bytes()));
                waiting.remove(place);
            }
        }
        assert_eq!(rewriter.rewrite(&case.input), Rewritten { commands: Some(case.output), error: None });
        assert!(!rewriter.is_holding());
    }
}

/// Checks that all held packets are sent before an erroneous command.
fn refused(before: impl FnOnce(&mut Vec<u8>), wrong: &[u32]) -> CommandError {
    let mut input = Vec::new();
    before(&mut input);
    let at = input.len();
    put_words(&mut input, wrong);
    put_words(&mut input, &[header(8, 0, 1), 5]);
    let mut rewriter = Rewriter::new(longer);
    let Rewritten { commands, error } = rewriter.rewrite(&input);
    let (place, error) = error.expect("an error");
    assert_eq!(place, at);
    assert_eq!(commands.unwrap_or(input.clone()), input, "everything is sent in order");
    assert!(!rewriter.is_holding());
    error
}

#[test]
fn what_the_host_refuses_goes_through() {
    let half = |out: &mut Vec<u8>| {
        let ends = packets(out, &shader_head(7, WireStage::Vertex, 0), b"some more text", &[2]);
        out.truncate(ends[0]);
    };
    let packet = |handle, place, text: &[u32]| {
        let mut words = vec![header(1, SHADER, 5 + text.len()), handle, 0, place, 10, 0];
        words.extend(text);
        words
    };
    let text = 0x0041_4141;
    let continued = 1 << 31;
    assert_eq!(refused(half, &packet(8, 4, &[text])), CommandError::StillUnfinished { handle: 8, unfinished: 7 });
    assert_eq!(refused(half, &packet(7, 4, &[text])), CommandError::StillUnfinished { handle: 7, unfinished: 7 });
    assert_eq!(refused(half, &packet(8, continued | 8, &[text])), CommandError::NotUnfinished { handle: 8 });
    assert_eq!(
        refused(half, &packet(7, continued | 4, &[text])),
        CommandError::WrongOffset { handle: 7, offset: 4, stored: 8 }
    );
    assert_eq!(
        refused(half, &packet(7, continued | 8, &[text; 3])),
        CommandError::TooMuchText { handle: 7, words: 5, length: 15 }
    );
    let letters = 0x4141_4141;
    assert_eq!(refused(half, &packet(7, continued | 8, &[letters; 2])), CommandError::NotTerminated { handle: 7 });
    let nothing = |_: &mut Vec<u8>| {};
    assert_eq!(refused(nothing, &packet(7, continued | 8, &[text])), CommandError::NotUnfinished { handle: 7 });
    assert_eq!(refused(nothing, &packet(7, 0, &[])), CommandError::EmptyText { handle: 7 });
    assert_eq!(refused(nothing, &packet(7, 4, &[letters])), CommandError::NotTerminated { handle: 7 });
    assert_eq!(
        refused(nothing, &packet(7, 4, &[letters, text])),
        CommandError::TooMuchText { handle: 7, words: 2, length: 4 }
    );
    assert_eq!(
        refused(nothing, &[header(number::CREATE_OBJECT, SHADER, 1), 7]),
        CommandError::TooShort { command: header(number::CREATE_OBJECT, SHADER, 1), words: 1, needed: 5 }
    );
    for use_it in [
        [header(number::BIND_SHADER, 0, 2), 7, 0],
        [header(number::BIND_OBJECT, SHADER, 2), 7, 0],
        [header(number::DESTROY_OBJECT, SHADER, 2), 7, 0],
    ] {
        assert_eq!(refused(half, &use_it), CommandError::UsedUnfinished { handle: 7 });
    }
}

#[test]
fn what_is_held_elsewhere_goes_out_there() {
    let mut case = Case::default();
    case.sub_context(number::CREATE_SUB_CTX, 3);
    let head = shader_head(7, WireStage::Vertex, 0);
    let mut all = Vec::new();
    let ends = packets(&mut all, &head, b"text of sub-context 3", &[2]);
    case.input.extend_from_slice(&all[..ends[0]]);
    case.sub_context(number::SET_SUB_CTX, 0);
    let wrong = [header(number::SET_SUB_CTX, 0, 9), 1];
    put_words(&mut case.output, &[header(number::SET_SUB_CTX, 0, 1), 3]);
    case.output.extend_from_slice(&all[..ends[0]]);
    put_words(&mut case.output, &[header(number::SET_SUB_CTX, 0, 1), 0]);
    case.both(&wrong);
    let Rewritten { commands, error } = Rewriter::new(longer).rewrite(&case.input);
    assert_eq!(commands, Some(case.output));
    assert!(matches!(error, Some((_, CommandError::Overlong { .. }))));
}

#[test]
fn a_sub_context_takes_what_is_unfinished_with_it() {
    let mut case = Case::default();
    case.sub_context(number::CREATE_SUB_CTX, 3);
    let ends = packets(&mut case.input, &shader_head(7, WireStage::Vertex, 0), b"never finished", &[2]);
    case.input.truncate(8 + ends[0]);
    case.sub_context(number::DESTROY_SUB_CTX, 3);
    let mut rewriter = Rewriter::new(longer);
    assert_eq!(rewriter.rewrite(&case.input), Rewritten { commands: Some(case.output), error: None });
    assert!(!rewriter.is_holding());
}

#[test]
fn texts_too_long_to_hold_go_through() {
    let length = MAX_TEXT_BYTES as u32 + 1;
    let mut rewriter = Rewriter::new(|_: &ShaderObject<'_>| panic!("not seen"));
    let mut words = vec![header(1, SHADER, 60_005), 7, 0, length, 10, 0];
    words.resize(60_006, 0x4141_4141);
    let mut done = 0;
    while done < length {
        let now = (length - done).div_ceil(4).min(60_000) as usize;
        words.truncate(6 + now);
        words[0] = header(1, SHADER, 5 + now);
        words[3] = if done == 0 { length } else { done | 1 << 31 };
        done += now as u32 * 4;
        if done >= length {
            *words.last_mut().expect("words") = 0;
        }
        let mut input = Vec::new();
        put_words(&mut input, &words);
        assert_eq!(rewriter.rewrite(&input), Rewritten { commands: None, error: None });
        assert_eq!(rewriter.held_bytes, 0);
    }
    assert!(rewriter.unfinished.is_empty());
}

#[test]
fn what_is_held_is_bounded() {
    let mut rewriter = Rewriter::new(longer);
    let mut input = Vec::new();
    put_words(&mut input, &[header(1, SHADER, 6), 7, 0, 400, 10, 0, 0]);
    for _ in 0..10_000 {
        // Parts without text: only the packets take memory.
        put_words(&mut input, &[header(1, SHADER, 5), 7, 0, 4 | 1 << 31, 10, 0]);
    }
    assert_eq!(rewriter.rewrite(&input).error, None);
    let parts = input[28..].to_vec();
    let mut rounds = 0;
    let error = loop {
        rounds += 1;
        assert!(rounds < 1000);
        if let Some((_, error)) = rewriter.rewrite(&parts).error {
            break error;
        }
        assert!(rewriter.held_bytes <= MAX_HELD_BYTES + 64);
    };
    assert_eq!(error, CommandError::TooMuchHeld);
    assert!(!rewriter.is_holding());
}
