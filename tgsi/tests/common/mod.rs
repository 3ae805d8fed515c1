//! The folder of real shaders and recorded results, for tests that need it. The tests of the TGSI driver include this
//! file too.
#![allow(dead_code, reason = "each test program uses a part")]

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

/// Returns the path of a part of the reference data (`TGSIC_SHARED`, or `shared` next to the repository).
pub fn shared(path: &str) -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let repository = crate_folder.ancestors().find(|folder| folder.join("Cargo.lock").exists()).unwrap_or(crate_folder);
    let root = std::env::var_os("TGSIC_SHARED").map_or_else(|| repository.join("../shared"), PathBuf::from);
    root.join(path)
}

/// One of how many shaders is tested: `TGSIC_EVERY`, otherwise `long` if `TGSIC_LONG` is set and `short` if not.
pub fn every(short: usize, long: usize) -> usize {
    let usual = if std::env::var_os("TGSIC_LONG").is_some() { long } else { short };
    std::env::var("TGSIC_EVERY").ok().and_then(|every| every.parse().ok()).unwrap_or(usual)
}

/// Returns the lines of a compressed file.
pub fn lines(path: PathBuf) -> impl Iterator<Item = String> {
    let file = std::fs::File::open(path).unwrap();
    BufReader::new(MultiGzDecoder::new(file)).lines().map(Result::unwrap)
}

/// Returns the TGSI texts in a folder and its subfolders, in order.
pub fn shaders(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "tgsi") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Mesa's version of a shader.
pub struct Reference {
    /// Its text.
    pub text: String,
    /// Its tokens.
    pub tokens: Vec<u32>,
}

impl Reference {
    /// The shader.
    pub fn shader(&self) -> Result<tgsi::Shader, String> {
        tgsi::tokens::decode(&self.tokens).map_err(|error| error.to_string())
    }
}

/// Returns the reference results by path of the shader, in the order of the file.
pub fn references() -> Vec<(String, Reference)> {
    let path = shared("oracle/reference.jsonl.gz");
    let reference = |line: String| {
        let row: serde_json::Value = serde_json::from_str(&line).unwrap();
        let field = |key: &str| row[key].as_str().unwrap().to_owned();
        let digits = field("tokens");
        let word = |i: usize| u32::from_str_radix(&digits[8 * i..8 * i + 8], 16).unwrap();
        let tokens = (0..digits.len() / 8).map(word).collect();
        (field("f"), Reference { text: field("text"), tokens })
    };
    lines(path).map(reference).collect()
}

/// Returns the same as a map.
pub fn references_by_path() -> HashMap<String, Reference> {
    references().into_iter().collect()
}
