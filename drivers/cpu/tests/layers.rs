//! Tests that the files of `native` form layers, and that the analysis does not depend on the code generator.

use std::path::{Path, PathBuf};

use crate::layer_rules::{code, files, wrong_order};

/// The layers of `native`; each uses only those before it.
const LAYERS: &[&str] = &["limits", "analysis", "runtime", "emission", "jit", "write"];

/// The files of each layer that is a folder, likewise.
const FILES: &[(&str, &[&str])] = &[
    ("analysis", &["accesses", "slots", "uniforms", "gathers", "known_units", "invariants", "regions"]),
    ("runtime", &["calls", "context", "sampling", "code"]),
    (
        "emission",
        &[
            "rules",
            "wide",
            "masks",
            "emitter",
            "areas",
            "control",
            "alu",
            "gathers",
            "arrays",
            "intrinsics",
            "lookups",
            "textures",
            "function",
            "processor",
            "translator",
        ],
    ),
];

fn native() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/native")
}

#[test]
fn files_form_layers() {
    let mut wrong = wrong_order(&native(), "crate::native", LAYERS);
    for (folder, order) in FILES {
        wrong.extend(wrong_order(&native().join(folder), &format!("crate::native::{folder}"), order));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn analysis_does_not_know_the_code_generator() {
    let analysis = files(&native().join("analysis"));
    assert!(!analysis.is_empty());
    for path in analysis {
        assert!(!code(&path).contains("cranelift"), "{} uses Cranelift", path.display());
    }
}
