//! Text and tokens of real shaders, compared with those of Mesa 25. Requires the shared data folder.

use std::fs;
use std::path::Path;

use crate::common::{references, references_by_path, shared};
use pretty_assertions::assert_eq;
use tgsi::text::{PrintOptions, parse, print};
use tgsi::tokens::{decode, encode};

fn mesa() -> PrintOptions {
    PrintOptions::default().with_mesa(true)
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn reference_tokens_decode_print_and_encode() {
    let references = references();
    assert_eq!(references.len(), 1643);
    for (name, reference) in &references {
        let shader = decode(&reference.tokens).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(shader.encoding_quirks, [], "{name}");
        assert_eq!(encode(&shader).as_ref(), Ok(&reference.tokens), "{name}");
        assert_eq!(print(&shader, mesa()).trim_end(), reference.text.trim_end(), "{name}");
    }
}

/// The texts of the corpus, with their paths as in the references.
fn texts(corpus: &Path) -> Vec<(String, Vec<u8>)> {
    let mut texts = Vec::new();
    for folder in ["ntt22", "glsl_to_tgsi20", "public"] {
        for entry in fs::read_dir(corpus.join(folder)).expect("a folder of the corpus") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
            texts.push((format!("corpus/{folder}/{name}"), fs::read(&path).expect("a text")));
        }
    }
    texts.sort();
    texts
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn corpus_texts() {
    let references = references_by_path();
    let corpus = shared("corpus");
    let corpus = texts(&corpus);
    assert_eq!(corpus.len(), 1695);
    let mut wrong = Vec::new();
    let mut compared = 0;
    for (name, text) in &corpus {
        let parsed = match parse(text) {
            Ok(parsed) => parsed,
            Err(errors) => {
                wrong.push(format!("{name}: {errors:?}"));
                continue;
            }
        };
        let words = encode(&parsed.shader).unwrap_or_else(|error| panic!("{name}: {error}"));
        let printed = print(&parsed.shader, mesa());
        if let Some(reference) = references.get(name) {
            compared += 1;
            assert_eq!(printed.trim_end(), reference.text.trim_end(), "{name}");
            if words != reference.tokens {
                wrong.push(format!("{name}: other tokens"));
            }
            if !parsed.warnings.is_empty() && !name.starts_with("corpus/public/") {
                wrong.push(format!("{name}: {:?}", parsed.warnings));
            }
        }
        // Both prints can be parsed: the default to the same words, Mesa's to the same text.
        let default = print(&parsed.shader, PrintOptions::default());
        let again = parse(default.as_bytes()).unwrap_or_else(|errors| panic!("{name}: {errors:?}\n{default}"));
        assert_eq!(encode(&again.shader).as_ref(), Ok(&words), "{name}");
        let again = parse(printed.as_bytes()).unwrap_or_else(|errors| panic!("{name}: {errors:?}\n{printed}"));
        assert_eq!(print(&again.shader, mesa()), printed, "{name}");
        let decoded = decode(&words).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(decoded, parsed.shader, "{name}");
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(compared, references.len());
}
