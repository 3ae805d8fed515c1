//! The check and the scan over real shaders. Runs where the shared data folder is at hand.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use tgsi::check::check;
use tgsi::scan::scan;
use tgsi::shader::Shader;
use tgsi::tokens::decode;

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

/// Shaders that the reference accepts, by path below `corpus/`.
fn reference_shaders(shared: &Path) -> BTreeMap<String, Shader> {
    let file = fs::File::open(shared.join("oracle/reference.jsonl.gz")).expect("the reference results");
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).expect("gzip");
    text.lines()
        .map(|line| {
            let row: serde_json::Value = serde_json::from_str(line).expect("a row");
            let hex = row["tokens"].as_str().expect("tokens");
            let words = (0..hex.len() / 8).map(|i| u32::from_str_radix(&hex[i * 8..i * 8 + 8], 16).expect("a word"));
            let shader = decode(&words.collect::<Vec<_>>()).expect("tokens of the reference");
            (row["f"].as_str().expect("a path").trim_start_matches("corpus/").to_owned(), shader)
        })
        .collect()
}

/// Errors by code, with the first shaders that have them, and how often each warning occurs.
fn judge<'a>(shaders: impl Iterator<Item = (&'a String, &'a Shader)>) -> (String, BTreeMap<&'static str, usize>) {
    let mut errors: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut warnings = BTreeMap::new();
    for (name, shader) in shaders {
        for diagnostic in check(shader).diagnostics {
            if diagnostic.is_error() {
                errors.entry(diagnostic.code).or_default().push(format!("{name}: {}", diagnostic.message));
            } else {
                *warnings.entry(diagnostic.code).or_default() += 1;
            }
        }
    }
    let show = |(code, list): (&&str, &Vec<String>)| {
        format!("{code}: {}\n    {}\n", list.len(), list[..list.len().min(5)].join("\n    "))
    };
    (errors.iter().map(show).collect(), warnings)
}

#[test]
fn real_shaders_have_no_errors() {
    let Some(shared) = shared("real_shaders_have_no_errors") else { return };
    let shaders = reference_shaders(&shared);
    let (errors, warnings) = judge(shaders.iter());
    println!("warnings: {warnings:#?}");
    assert_eq!(errors, "");
}

#[test]
fn scan_counts_what_the_manifest_says() {
    let Some(shared) = shared("scan_counts_what_the_manifest_says") else { return };
    let shaders = reference_shaders(&shared);
    let manifest = fs::read_to_string(shared.join("corpus/MANIFEST.csv")).expect("the manifest");
    let mut compared = 0;
    for row in manifest.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let Some(shader) = shaders.get(fields[0]) else { continue };
        let scan = scan(shader);
        assert_eq!(scan.num_instructions.to_string(), fields[2], "{}", fields[0]);
        assert_eq!(scan.processor.name(), fields[1], "{}", fields[0]);
        let used = tgsi::tables::Opcode::ALL.iter().filter(|&&o| scan.opcode_count[o] > 0).map(|o| o.name());
        let mut used: Vec<&str> = used.collect();
        used.sort_unstable();
        assert_eq!(used.join(" "), fields[3], "{}", fields[0]);
        compared += 1;
    }
    assert_eq!(compared, 1643);
}

/// The reference data counts the temporaries of the shaders that it takes.
#[test]
fn scan_counts_temporaries() {
    let Some(shared) = shared("scan_counts_temporaries") else { return };
    let shaders = reference_shaders(&shared);
    let peer = fs::read_to_string(shared.join("oracle/peer.csv")).expect("the peer's figures");
    let mut rows = peer.lines();
    let header: Vec<&str> = rows.next().unwrap_or_default().split(',').collect();
    let column = header.iter().position(|&c| c == "temporaries_before").expect("a column of temporaries");
    for row in rows {
        let fields: Vec<&str> = row.split(',').collect();
        let path = fields[0].trim_start_matches("corpus/");
        if let (Some(shader), false) = (shaders.get(path), fields[column].is_empty()) {
            assert_eq!(scan(shader).temporaries.to_string(), fields[column], "{path}");
        }
    }
}
