//! The folders of the crate depend on each other in one direction, and so do the files of the interpreter.

use std::path::Path;

use crate::layer_rules::{files, wrong_names, wrong_order};

/// Forbidden names in the files of each folder.
const RULES: &[(&str, &[&str])] = &[
    ("alu", &["analysis", "passes", "algebra", "run", "text"]),
    ("body", &["passes", "algebra", "run", "text"]),
    ("analysis", &["passes", "algebra", "run", "text"]),
    ("run", &["passes", "algebra"]),
    ("text", &["passes", "algebra", "run"]),
    ("validate", &["passes", "algebra", "run"]),
];

/// The files of the interpreter; each uses only those before it.
const INTERPRETER: &[&str] = &[
    "error",
    "layout",
    "fast_alu",
    "ops",
    "plans",
    "quad",
    "native",
    "program",
    "compile",
    "machine",
    "memory",
    "alu",
    "control",
    "derefs",
    "intrinsics",
    "io",
    "subgroup",
    "texture",
];

#[test]
fn folders_use_what_is_below_them() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for (folder, forbidden) in RULES {
        let files = files(&source.join(folder));
        assert!(!files.is_empty(), "{folder}");
        let is_test = |part: &str| matches!(part, "tests" | "tests.rs");
        let is_code = |file: &&std::path::PathBuf| !file.iter().any(|part| part.to_str().is_some_and(is_test));
        wrong.extend(
            files.iter().filter(is_code).flat_map(|file| wrong_names(&source, file, |name| !forbidden.contains(&name))),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_of_the_interpreter_form_layers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/run");
    let mut wrong = wrong_order(&folder, "crate::run", INTERPRETER);
    let order = ["io", "stores", "function", "derefs", "instructions"];
    wrong.extend(wrong_order(&folder.join("compile"), "crate::run::compile", &order));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
