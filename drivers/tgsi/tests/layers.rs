//! The folders of the driver stand in one order, from what the target is to the finished shader: none of them imports a
//! later one.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders of `src`, the first one first: each may name those before it.
const LAYERS: [&str; 6] = ["target", "lower", "machine", "select", "passes", "emit"];

/// What stands in `lib.rs` and depends on no folder.
const ROOT: [&str; 1] = ["DriverError"];

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

/// A source without comments.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The first names of all paths that begin at the crate: of `crate::a::b` it is `a`, of `crate::{a, b::c}` they are
/// two.
fn named(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, word) in code.match_indices("crate::") {
        // `pub(crate)` and `$crate` have other characters after and before.
        let rest = &code[at + word.len()..];
        let identifier = |text: &str| -> String {
            text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
        };
        let Some(group) = rest.strip_prefix('{') else {
            names.push(identifier(rest));
            continue;
        };
        let (mut depth, mut is_first) = (0, true);
        for (place, c) in group.char_indices() {
            if is_first && depth == 0 && !c.is_whitespace() {
                names.push(identifier(&group[place..]));
                is_first = false;
            }
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => is_first = true,
                _ => {}
            }
        }
        names.retain(|name| !name.is_empty());
    }
    names
}

#[test]
fn no_folder_imports_a_later_one() {
    let mut wrong = Vec::new();
    for (number, layer) in LAYERS.iter().enumerate() {
        let folder = source().join(layer);
        for path in files(&folder) {
            let code = code(&path);
            let allowed = |name: &str| LAYERS[..=number].contains(&name) || ROOT.contains(&name);
            let shown = path.strip_prefix(source()).unwrap().display().to_string();
            for name in named(&code).into_iter().filter(|name| !allowed(name)) {
                wrong.push(format!("{shown} names crate::{name}"));
            }
            // `super` leads out of the folder only by as many steps as the file is deep, and one more.
            let inner = path.strip_prefix(&folder).unwrap();
            let is_module = inner.file_name().is_some_and(|name| name == "mod.rs");
            let depth = inner.components().count() - usize::from(is_module);
            if code.contains(&"super::".repeat(depth + 1)) && !code.contains("mod tests") {
                wrong.push(format!("{shown} leaves the folder by super"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_folder_is_in_the_list() {
    for entry in fs::read_dir(source()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            assert!(LAYERS.contains(&&*name), "{name} has no place in the order");
        } else {
            assert!(matches!(&*name, "lib.rs" | "driver.rs"), "files stand in the folders");
        }
    }
}

#[test]
fn names_are_found() {
    let text = "use crate::{a, b::{c, d}, e};\nuse crate::f::g;\npub(crate) fn h() { crate::i::j() }";
    assert_eq!(named(text), ["a", "b", "e", "f", "i"]);
}
