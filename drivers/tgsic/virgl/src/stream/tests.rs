//! Streams of messages: cut into pieces of any size, truncated, with any byte changed.

use pretty_assertions::assert_eq;
use tgsi_environment::Random;

use super::*;
use crate::commands::{SHADER, header, number, put_words};
use crate::error::CommandError;
use crate::shader::{Filtered, ShaderObject, WireStage};
use crate::testing::{below, packets, shader_head};
use crate::vtest::id;

fn longer(shader: &ShaderObject<'_>) -> Filtered {
    if shader.text.starts_with(b"keep") {
        return Filtered::Unchanged;
    }
    Filtered::Changed([b"new ", shader.text].concat())
}

fn message(out: &mut Vec<u8>, length: u32, id: u32, body: &[u8]) {
    put_words(out, &[length, id]);
    out.extend_from_slice(body);
}

fn submit(out: &mut Vec<u8>, commands: &[u8]) {
    message(out, (commands.len() / 4) as u32, id::SUBMIT_CMD, commands);
}

/// Returns a stream with all kinds of messages, and its expected output.
fn recorded() -> (Vec<u8>, Vec<u8>) {
    let (mut input, mut output) = (Vec::new(), Vec::new());
    let mut both = |bytes: &[u8]| {
        input.extend_from_slice(bytes);
        output.extend_from_slice(bytes);
    };
    let mut bytes = Vec::new();
    message(&mut bytes, 5, id::CREATE_RENDERER, b"name\0");
    message(&mut bytes, 0, 10, &[]);
    message(&mut bytes, 2, 7, &[0; 8]);
    message(&mut bytes, 1, 11, &[2, 0, 0, 0]);
    message(&mut bytes, 0, 9, &[]);
    message(&mut bytes, 0, 1, &[]);
    for (id, words) in [(2, 10), (3, 1), (4, 11), (12, 11), (13, 10), (15, 1), (16, 2), (17, 1), (18, 6)] {
        message(&mut bytes, words, id, &vec![6; 4 * words as usize]);
    }
    // The length counts data that is not sent.
    message(&mut bytes, 10 + 1000, 14, &[6; 40]);
    for (id, words) in [(19, 2), (20, 1), (21, 1), (22, 3), (23, 8)] {
        message(&mut bytes, words, id, &vec![6; 4 * words as usize]);
    }
    let mut transfer = [6; 40].to_vec();
    put_words(&mut transfer, &[7]);
    transfer.extend_from_slice(&[6, 0, 0, 0, 6, 0, 0]);
    message(&mut bytes, 13, id::TRANSFER_PUT, &transfer);
    submit(&mut bytes, &[]);
    let mut commands = Vec::new();
    put_words(&mut commands, &[header(number::CREATE_SUB_CTX, 0, 1), 1, header(number::SET_SUB_CTX, 0, 1), 1, 0]);
    packets(&mut commands, &shader_head(1, WireStage::Vertex, 0), b"keep this", &[1, 2]);
    submit(&mut bytes, &commands);
    both(&bytes);

    let head = shader_head(2, WireStage::Geometry, 2);
    let mut all = Vec::new();
    let ends = packets(&mut all, &head, b"GEOM in three parts", &[1, 3]);
    let (mut first, mut second, mut third) = (Vec::new(), Vec::new(), Vec::new());
    put_words(&mut first, &[header(number::SET_SUB_CTX, 0, 1), 1]);
    submit(&mut output, &first);
    first.extend_from_slice(&all[..ends[0]]);
    submit(&mut input, &first);
    second.extend_from_slice(&all[ends[0]..ends[1]]);
    submit(&mut input, &second);
    submit(&mut output, &[]);
    third.extend_from_slice(&all[ends[1]..]);
    put_words(&mut third, &[0]);
    submit(&mut input, &third);
    third.clear();
    head.put(&mut third, b"new GEOM in three parts");
    put_words(&mut third, &[0]);
    submit(&mut output, &third);
    message(&mut input, 0, 10, &[]);
    message(&mut output, 0, 10, &[]);
    (input, output)
}

/// Returns the output and the result for pieces of a stream.
fn run<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<u8>, Result<(), StreamError>) {
    let mut stream = Stream::new(longer);
    let mut out = Vec::new();
    for piece in pieces {
        stream.push(piece, &mut out).expect("a vector takes all");
        assert!(stream.buffer.len() <= RECEIVE_BYTES * 2, "{}", stream.buffer.len());
    }
    (out, stream.finish())
}

#[test]
fn any_pieces_give_the_same() {
    let (input, output) = recorded();
    assert_eq!(run([input.as_slice()]), (output.clone(), Ok(())));
    assert_eq!(run(input.chunks(1)), (output.clone(), Ok(())));
    let mut random = Random::new(3);
    for _ in 0..300 {
        let mut left = input.as_slice();
        let mut pieces = Vec::new();
        while !left.is_empty() {
            let (piece, rest) = left.split_at(1 + below(&mut random, left.len().min(100)));
            pieces.push(piece);
            left = rest;
        }
        assert_eq!(run(pieces), (output.clone(), Ok(())));
    }
}

#[test]
fn every_truncation_is_told() {
    let (input, output) = recorded();
    let mut stream = Stream::new(longer);
    let (mut ends, mut at) = (Vec::new(), Vec::new());
    for (place, byte) in input.iter().enumerate() {
        if stream.finish().is_ok() {
            ends.push(place);
        }
        stream.push(&[*byte], &mut at).expect("a vector takes all");
    }
    assert_eq!(ends.len() as u64, stream.counts().messages);
    for end in 0..input.len() {
        let (out, result) = run([&input[..end]]);
        assert!(output.starts_with(&out), "cut at {end}");
        match result {
            Ok(()) => assert!(ends.contains(&end)),
            Err(StreamError { offset, kind: ErrorKind::Truncated { missing }, .. }) => {
                assert!(missing > 0 && offset == end as u64 && !ends.contains(&end), "cut at {end}");
            }
            Err(error) => panic!("cut at {end}: {error}"),
        }
    }
}

#[test]
fn every_changed_byte_is_borne() {
    let (input, _) = recorded();
    for place in 0..input.len() {
        for change in [1, 0x80, 0xff, input[place]] {
            let mut changed = input.clone();
            changed[place] ^= change;
            let (whole, result) = run([changed.as_slice()]);
            let (pieces, same) = run(changed.chunks(7));
            assert_eq!((&whole, result), (&pieces, same), "byte {place}");
            // Output is not longer than input, except for headers and stream outputs.
            assert!(whole.len() <= input.len() + 200, "byte {place}");
        }
    }
}

#[test]
fn noise_is_borne() {
    let mut random = Random::new(4);
    for _ in 0..2000 {
        let noise: Vec<u8> = (0..200).map(|_| (random.bits() >> 20) as u8 & 7).collect();
        let (out, _) = run([noise.as_slice()]);
        assert!(out.len() <= noise.len() + 64);
    }
}

#[test]
fn an_unknown_message_ends_the_reading() {
    let mut input = Vec::new();
    let head = shader_head(2, WireStage::Vertex, 0);
    let mut all = Vec::new();
    let ends = packets(&mut all, &head, b"some text", &[1]);
    submit(&mut input, &all[..ends[0]]);
    let place = input.len() as u64;
    message(&mut input, 3, 99, b"whatever follows");
    let (out, result) = run([input.as_slice()]);
    let unknown = StreamError { offset: place, message: 99, kind: ErrorKind::UnknownMessage(99) };
    assert_eq!(result, Err(unknown));
    // The emptied message, the held packets in a separate one, the rest.
    let mut expected = Vec::new();
    submit(&mut expected, &[]);
    submit(&mut expected, &all[..ends[0]]);
    expected.extend_from_slice(&input[place as usize..]);
    assert_eq!(out, expected);
    assert_eq!(unknown.to_string(), format!("byte {place}, message 99: there is no message 99"));
}

#[test]
fn an_error_in_a_command_has_its_place() {
    let mut input = Vec::new();
    message(&mut input, 0, 10, &[]);
    let mut commands = Vec::new();
    put_words(&mut commands, &[0, header(number::CREATE_OBJECT, SHADER, 2), 1, 2]);
    submit(&mut input, &commands);
    submit(&mut input, &commands);
    let (out, result) = run([input.as_slice()]);
    assert_eq!(out, input);
    let kind = CommandError::TooShort { command: header(1, SHADER, 2), words: 2, needed: 5 };
    assert_eq!(result, Err(StreamError { offset: 20, message: 6, kind: ErrorKind::Command(kind) }));
}

#[test]
fn what_is_announced_takes_no_room() {
    for (length, id) in [(MAX_SUBMIT_BYTES as u32 / 4, id::SUBMIT_CMD), (u32::MAX, id::SUBMIT_CMD)] {
        let mut input = Vec::new();
        message(&mut input, length, id, &[0; 1000]);
        let mut stream = Stream::new(longer);
        let mut out = Vec::new();
        stream.push(&input, &mut out).expect("a vector takes all");
        assert_eq!(stream.buffer.len(), FIRST_RECEIVE_BYTES);
        match stream.error() {
            None => assert_eq!(out.len(), 0),
            Some(error) => {
                assert_eq!(error.kind, ErrorKind::SubmitTooLong { bytes: u64::from(length) * 4 });
                assert_eq!(out, input);
            }
        }
    }
}

#[test]
fn long_messages_come_through_and_their_room_is_given_back() {
    let mut commands = Vec::new();
    while commands.len() < 5 << 20 {
        put_words(&mut commands, &[header(8, 0, 1000)]);
        commands.resize(commands.len() + 4000, 7);
    }
    let mut input = Vec::new();
    submit(&mut input, &commands);
    message(&mut input, 0, 10, &[]);
    let mut stream = Stream::new(longer);
    let mut out = Vec::new();
    for piece in input.chunks(100_000) {
        stream.push(piece, &mut out).expect("a vector takes all");
    }
    assert_eq!(stream.space().len(), RECEIVE_BYTES);
    assert_eq!((out, stream.finish()), (input, Ok(())));
}

/// A client sends header and body of a message separately; the host is woken once.
#[test]
fn short_messages_go_out_as_a_whole() {
    let mut bytes = Vec::new();
    message(&mut bytes, 2, 7, &[5; 8]);
    let mut stream = Stream::new(longer);
    let mut out = Vec::new();
    for piece in [&bytes[..3], &bytes[3..8], &bytes[8..15]] {
        stream.push(piece, &mut out).expect("a vector takes all");
        assert_eq!((out.len(), stream.counts().messages), (0, 0));
    }
    stream.push(&bytes[15..], &mut out).expect("a vector takes all");
    assert_eq!((&out, stream.counts().messages), (&bytes, 1));
    assert_eq!(stream.finish(), Ok(()));
}

#[test]
fn bulk_data_goes_out_as_it_comes() {
    let mut input = Vec::new();
    let mut transfer = [0; 40].to_vec();
    put_words(&mut transfer, &[1_000_000]);
    message(&mut input, 0, id::TRANSFER_PUT, &transfer);
    let mut stream = Stream::new(longer);
    let mut out = Vec::new();
    stream.push(&input, &mut out).expect("a vector takes all");
    for piece in 0..1000 {
        stream.push(&[piece as u8; 1000], &mut out).expect("a vector takes all");
        assert_eq!(out.len(), input.len() + 1000 * (piece + 1));
    }
    assert_eq!(stream.finish(), Ok(()));
    assert_eq!(stream.counts(), StreamCounts { bytes: 1_000_052, messages: 1, submits: 0, rewritten: 0 });
}

#[test]
fn commands_for_others_are_not_read() {
    let mut input = Vec::new();
    message(&mut input, 3, id::SUBMIT_CMD2, b"further data is not in messages");
    let (out, result) = run(input.chunks(5));
    assert_eq!((out, result), (input, Ok(())));
}

#[test]
fn a_byte_with_descriptors_is_outside_of_messages() {
    let mut stream = Stream::new(longer);
    let mut out = Vec::new();
    let mut ping = Vec::new();
    message(&mut ping, 0, 10, &[]);
    stream.push(&ping, &mut out).expect("a vector takes all");
    stream.byte_with_descriptors(&mut out).expect("a vector takes all");
    stream.push(&ping, &mut out).expect("a vector takes all");
    assert_eq!((out.len(), stream.finish()), (16, Ok(())));
    assert_eq!(stream.counts().bytes, 17);
    // In the middle of a message, it cannot be assigned.
    stream.push(&ping[..3], &mut out).expect("a vector takes all");
    assert_eq!(out.len(), 16);
    stream.byte_with_descriptors(&mut out).expect("a vector takes all");
    assert_eq!(out.len(), 19);
    stream.push(b"anything", &mut out).expect("a vector takes all");
    assert_eq!(out.len(), 27);
}
