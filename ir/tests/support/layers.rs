//! Finds the crate-internal names that a source file uses, for tests that folders depend on each other in one
//! direction.

#![allow(dead_code, reason = "not every test uses all of it")]

use std::fs;
use std::path::{Path, PathBuf};

/// Finds the Rust files in a folder, recursively.
pub fn files(folder: &Path) -> Vec<PathBuf> {
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

/// Returns a source without comments and unit tests.
pub fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Returns the first names of all paths that start at the crate.
pub fn named(code: &str) -> Vec<String> {
    named_after(code, "crate::")
}

/// Returns the first names of all paths that start with `prefix`: with `crate::`, `a` for `crate::a::b`, and both `a`
/// and `b` for `crate::{a, b::c}`.
pub fn named_after(code: &str, prefix: &str) -> Vec<String> {
    let identifier =
        |text: &str| -> String { text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect() };
    let mut names = Vec::new();
    for (at, word) in code.match_indices(prefix) {
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

/// Finds the forbidden crate-internal names in a file, each formatted as a message. `source` is the source folder.
pub fn wrong_names(source: &Path, path: &Path, is_allowed: impl Fn(&str) -> bool) -> Vec<String> {
    let shown = path.strip_prefix(source).unwrap().display().to_string();
    let names = named(&code(path)).into_iter().filter(|name| !is_allowed(name));
    names.map(|name| format!("{shown} names crate::{name}")).collect()
}

/// Finds violations of the order of folders: a folder may use itself, those before it in `layers`, and the modules in
/// `root`.
pub fn wrong_imports(source: &Path, layers: &[&str], root: &[&str]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (number, layer) in layers.iter().enumerate() {
        let folder = source.join(layer);
        for path in files(&folder) {
            wrong.extend(wrong_names(source, &path, |name| layers[..=number].contains(&name) || root.contains(&name)));
            // `super` leaves the folder only in sequences longer than the depth of the file.
            let inner = path.strip_prefix(&folder).unwrap();
            let is_module = inner.file_name().is_some_and(|name| name == "mod.rs");
            let depth = inner.components().count() - usize::from(is_module);
            if code(&path).contains(&"super::".repeat(depth + 1)) {
                wrong.push(format!("{layer}/{} leaves the folder by super", inner.display()));
            }
        }
    }
    wrong
}

/// Finds violations of the order of the files of a folder: a file may use those before it in `order`, which names all
/// except `mod.rs` and tests. A folder counts as a file. `module` is the path of the folder.
pub fn wrong_order(folder: &Path, module: &str, order: &[&str]) -> Vec<String> {
    let mut wrong = Vec::new();
    for path in files(folder) {
        let inner = path.strip_prefix(folder).unwrap();
        let name = inner.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs");
        if matches!(name, "mod" | "tests") {
            continue;
        }
        let Some(number) = order.iter().position(|other| *other == name) else {
            wrong.push(format!("{name} has no place in the order of {module}"));
            continue;
        };
        let is_module = inner.file_name().is_some_and(|name| name == "mod.rs");
        let depth = inner.components().count() - usize::from(is_module);
        let code = code(&path);
        let mut names = named_after(&code, &format!("{module}::"));
        names.extend(named_after(&code, &"super::".repeat(depth)));
        names.retain(|name| !order[..=number].contains(&name.as_str()));
        wrong.extend(names.into_iter().map(|name| format!("{} uses {module}::{name}", inner.display())));
    }
    wrong
}

#[test]
fn names_are_found() {
    let text = "use crate::{a, b::{c, d}, e};\nuse crate::f::g;\npub(crate) fn h() { crate::i::j() }";
    assert_eq!(named(text), ["a", "b", "e", "f", "i"]);
}
