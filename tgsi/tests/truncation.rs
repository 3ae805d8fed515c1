//! Real shaders truncated at every byte of their text and at every word of their tokens: the result is an error or a
//! shader, never a panic, and every error has a position within the input.

use std::path::PathBuf;

use crate::common::shared;
use tgsi::check::check;
use tgsi::tokens::{decode, encode};

/// Fifty shaders of moderate size from the whole corpus.
fn chosen(corpus: PathBuf) -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> = ["ntt22", "glsl_to_tgsi20", "public"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(corpus.join(folder)).into_iter().flatten())
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|path| path.metadata().is_ok_and(|m| (300..3000).contains(&m.len())))
        .collect();
    files.sort();
    let step = (files.len() / 50).max(1);
    files.iter().step_by(step).take(50).filter_map(|path| std::fs::read(path).ok()).collect()
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn every_truncation_of_a_text_is_an_error_or_a_shader() {
    let corpus = shared("corpus");
    let shaders = chosen(corpus);
    assert_eq!(shaders.len(), 50);
    let (mut parsed, mut refused) = (0, 0);
    for text in shaders {
        for length in 0..text.len() {
            match tgsi::text::parse(&text[..length]) {
                Ok(result) => {
                    parsed += 1;
                    check(&result.shader);
                }
                Err(diagnostics) => {
                    refused += 1;
                    assert!(!diagnostics.is_empty());
                    for d in diagnostics {
                        assert!(d.span.start as usize <= length && d.span.end as usize <= length, "{d:?} of {length}");
                    }
                }
            }
        }
    }
    assert!(parsed > 1000 && refused > 10_000, "{parsed} parsed, {refused} refused");
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn every_truncation_of_tokens_is_an_error() {
    let corpus = shared("corpus");
    for text in chosen(corpus) {
        let shader = tgsi::text::parse(&text).expect("corpus shaders parse").shader;
        let mut words = encode(&shader).expect("corpus shaders encode");
        for length in 0..words.len() {
            let error = decode(&words[..length]).expect_err("the header counts the words");
            assert!(error.word() <= length);
        }
        // The same with a correct header: a complete prefix is a shader, any other an error.
        let body: Vec<u32> = words.drain(2..).collect();
        for length in 0..body.len() {
            let mut cut = vec![2 | (length as u32) << 8, words[1]];
            cut.extend_from_slice(&body[..length]);
            match decode(&cut) {
                Ok(shader) => {
                    check(&shader);
                }
                Err(error) => assert!(error.word() <= cut.len()),
            }
        }
    }
}
