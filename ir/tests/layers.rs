//! The folders of the crate depend on each other in one direction.

use std::path::{Path, PathBuf};

/// Forbidden names in the files of each folder.
const RULES: &[(&str, &[&str])] = &[
    ("alu", &["crate::analysis", "crate::passes", "crate::algebra", "crate::run", "crate::text"]),
    ("body", &["crate::passes", "crate::algebra", "crate::run", "crate::text"]),
    ("analysis", &["crate::passes", "crate::algebra", "crate::run", "crate::text"]),
    ("run", &["crate::passes", "crate::algebra"]),
    ("text", &["crate::passes", "crate::algebra", "crate::run"]),
    ("validate", &["crate::passes", "crate::algebra", "crate::run"]),
];

fn files_below(folder: PathBuf) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())).flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files
}

#[test]
fn folders_use_what_is_below_them() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for (folder, forbidden) in RULES {
        let files = files_below(source.join(folder));
        assert!(!files.is_empty(), "{folder}");
        for file in files.iter().filter(|file| !file.components().any(|part| part.as_os_str() == "tests")) {
            if file.file_stem().is_some_and(|stem| stem == "tests") {
                continue;
            }
            let text = std::fs::read_to_string(file).unwrap();
            // Unit tests and documentation may refer to anything.
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            for (line, number) in code.lines().zip(1..).filter(|(line, _)| !line.trim_start().starts_with("//")) {
                if let Some(used) = forbidden.iter().find(|used| line.contains(*used)) {
                    wrong.push(format!("{}:{number} uses {used}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
