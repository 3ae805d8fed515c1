//! The folders of the driver stand in one order, from words to the walk over a shader: none of them imports a later
//! one.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders of `src`, the first one first: each may name those before it.
const LAYERS: [&str; 5] = ["module", "plan", "harness", "lower", "emit"];

/// Files of `src` that folders may name. They name no folder but `module` (for classes of values) and `harness` (for
/// its error).
const ROOT: [&str; 4] = ["error", "options", "interface", "stream_output"];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found
}

/// A source without comments and unit tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The first names of all paths that begin at the crate: of `crate::a::b` it is `a`, of `crate::{a, b::c}` they are
/// two.
fn named(code: &str) -> Vec<String> {
    let identifier =
        |text: &str| -> String { text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect() };
    let mut names = Vec::new();
    for (at, word) in code.match_indices("crate::") {
        let rest = &code[at + word.len()..];
        let Some(group) = rest.strip_prefix('{') else {
            names.push(identifier(rest));
            continue;
        };
        let (mut depth, mut start) = (0, 0);
        for (place, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    names.push(identifier(&group[start..place]));
                    start = place + 1;
                    if c == '}' {
                        break;
                    }
                }
                _ => {}
            }
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

fn wrong_names(path: &Path, is_allowed: impl Fn(&str) -> bool) -> Vec<String> {
    let shown = path.strip_prefix(source()).unwrap().display().to_string();
    let names = named(&code(path)).into_iter().filter(|name| !is_allowed(name));
    names.map(|name| format!("{shown} names crate::{name}")).collect()
}

#[test]
fn no_folder_imports_a_later_one() {
    let mut wrong = Vec::new();
    for (number, layer) in LAYERS.iter().enumerate() {
        let folder = source().join(layer);
        for path in files(&folder) {
            wrong.extend(wrong_names(&path, |name| LAYERS[..=number].contains(&name) || ROOT.contains(&name)));
            // `super` leads out of the folder only by as many steps as the file is deep, and one more.
            let inner = path.strip_prefix(&folder).unwrap();
            let is_module = inner.file_name().is_some_and(|name| name == "mod.rs");
            let depth = inner.components().count() - usize::from(is_module);
            if code(&path).contains(&"super::".repeat(depth + 1)) {
                wrong.push(format!("{layer}/{} leaves the folder by super", inner.display()));
            }
        }
    }
    for file in ROOT {
        let path = source().join(file).with_extension("rs");
        wrong.extend(wrong_names(&path, |name| ROOT.contains(&name) || matches!(name, "module" | "harness")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_folder_is_in_the_list() {
    for entry in fs::read_dir(source()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            assert!(LAYERS.contains(&&*name), "{name} has no place in the order");
        } else {
            let is_known = ROOT.contains(&&*name) || matches!(&*name, "lib" | "driver" | "disassemble");
            assert!(is_known, "{name}.rs stands beside the folders");
        }
    }
}

#[test]
fn names_are_found() {
    let text = "use crate::{a, b::{c, d}, e};\nuse crate::f::g;\npub(crate) fn h() { crate::i::j() }";
    assert_eq!(named(text), ["a", "b", "e", "f", "i"]);
}
