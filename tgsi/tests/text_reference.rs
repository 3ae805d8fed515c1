//! Text and tokens against real shaders: what Mesa 25 prints and encodes for them. Runs where the shared data folder is at hand.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::PathBuf;

use pretty_assertions::assert_eq;
use tgsi::text::{PrintOptions, parse, print};
use tgsi::tokens::{decode, encode};

const MESA: PrintOptions = PrintOptions { mesa: true, hex_floats: false };

/// The shared data folder: `TGSIC_SHARED`, or `../shared` from the root of the repository.
fn shared(test: &str) -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = std::env::var_os("TGSIC_SHARED").map_or_else(|| root.join("../shared"), PathBuf::from);
    if folder.join("oracle/reference.jsonl.gz").exists() {
        return Some(folder);
    }
    eprintln!("skipped {test}: no shared data at {}", folder.display());
    None
}

struct Reference {
    text: String,
    tokens: Vec<u32>,
}

/// Reference results by path below `corpus/`.
fn references(shared: &std::path::Path) -> HashMap<String, Reference> {
    let file = fs::File::open(shared.join("oracle/reference.jsonl.gz")).expect("the reference results");
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).expect("gzip");
    text.lines()
        .map(|line| {
            let row: serde_json::Value = serde_json::from_str(line).expect("a row");
            let get = |key: &str| row[key].as_str().expect("a string").to_owned();
            let hex = get("tokens");
            let tokens = (0..hex.len() / 8).map(|i| u32::from_str_radix(&hex[i * 8..i * 8 + 8], 16).expect("a word"));
            let tokens = tokens.collect();
            (get("f").trim_start_matches("corpus/").to_owned(), Reference { text: get("text"), tokens })
        })
        .collect()
}

#[test]
fn reference_tokens_decode_print_and_encode() {
    let Some(shared) = shared("reference_tokens_decode_print_and_encode") else { return };
    let references = references(&shared);
    assert_eq!(references.len(), 1643);
    for (name, reference) in &references {
        let shader = decode(&reference.tokens).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(shader.encoding_quirks, [], "{name}");
        assert_eq!(encode(&shader).as_ref(), Ok(&reference.tokens), "{name}");
        assert_eq!(print(&shader, MESA).trim_end(), reference.text.trim_end(), "{name}");
    }
}

/// The texts of the corpus, with their paths below it.
fn corpus(shared: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let mut texts = Vec::new();
    for folder in ["ntt22", "glsl_to_tgsi20", "public"] {
        for entry in fs::read_dir(shared.join("corpus").join(folder)).expect("a folder of the corpus") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
            texts.push((format!("{folder}/{name}"), fs::read(&path).expect("a text")));
        }
    }
    texts.sort();
    texts
}

#[test]
fn corpus_texts() {
    let Some(shared) = shared("corpus_texts") else { return };
    let references = references(&shared);
    let corpus = corpus(&shared);
    assert_eq!(corpus.len(), 1695);
    let mut wrong = Vec::new();
    for (name, text) in &corpus {
        let parsed = match parse(text) {
            Ok(parsed) => parsed,
            Err(errors) => {
                wrong.push(format!("{name}: {errors:?}"));
                continue;
            }
        };
        let words = encode(&parsed.shader).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mesa = print(&parsed.shader, MESA);
        if let Some(reference) = references.get(name) {
            assert_eq!(mesa.trim_end(), reference.text.trim_end(), "{name}");
            if words != reference.tokens {
                wrong.push(format!("{name}: other tokens"));
            }
            if !parsed.warnings.is_empty() && !name.starts_with("public/") {
                wrong.push(format!("{name}: {:?}", parsed.warnings));
            }
        }
        // What is printed reads back: the default to the same words, Mesa's to the same text.
        let default = print(&parsed.shader, PrintOptions::default());
        let again = parse(default.as_bytes()).unwrap_or_else(|errors| panic!("{name}: {errors:?}\n{default}"));
        assert_eq!(encode(&again.shader).as_ref(), Ok(&words), "{name}");
        let again = parse(mesa.as_bytes()).unwrap_or_else(|errors| panic!("{name}: {errors:?}\n{mesa}"));
        assert_eq!(print(&again.shader, MESA), mesa, "{name}");
        let decoded = decode(&words).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(decoded, parsed.shader, "{name}");
    }
    assert_eq!(wrong, Vec::<String>::new());
}
