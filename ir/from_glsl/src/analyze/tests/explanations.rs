//! The pages of the error codes: each has one, and its examples give that finding and none.

use super::*;
use crate::analyze::SemanticError;

const PAGES: &str = include_str!("../../../explanations/analyze.txt");

/// The first code of a warning.
const FIRST_WARNING: &str = "G0500";

/// The codes of a fragment shader, or of the stage that a comment in the first line names; with those of a complete
/// shader if it has a `main` and no error otherwise.
fn found(text: &str) -> Vec<&'static str> {
    let stage = match text.lines().next() {
        Some("// geometry shader") => tgsi_ir::ShaderStage::Geometry,
        Some("// compute shader") => tgsi_ir::ShaderStage::Compute,
        _ => Fragment,
    };
    let checked = check_unit(text, stage);
    let all = match text.contains("void main()") {
        true if checked.is_empty() => crate::compile(text.as_bytes(), stage, &GlslOptions::default()).findings,
        _ => checked,
    };
    all.iter().map(|finding| finding.code.id).collect()
}

#[test]
fn every_code_has_a_page() {
    let heads: Vec<&str> = PAGES.lines().filter_map(|line| line.strip_prefix("== ")).collect();
    let codes: Vec<String> = SemanticError::CODES
        .iter()
        .map(|code| {
            let severity = if code.id >= FIRST_WARNING { "warning" } else { "error" };
            format!("{} {severity} {}", code.id, code.name)
        })
        .collect();
    pretty_assertions::assert_eq!(heads, codes);
}

#[test]
fn examples_have_the_findings_of_their_pages() {
    let mut different = Vec::new();
    for page in PAGES.split("== G").skip(1) {
        let code = format!("G{}", page.split(' ').next().unwrap_or_default());
        for label in ["wrong:\n", "right:\n"] {
            let Some((_, example)) = page.split_once(label) else {
                assert!(page.contains("without example: "), "{code}");
                continue;
            };
            let lines = example.lines().take_while(|line| line.starts_with("    "));
            let text: String =
                lines.map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or_default())).collect();
            let expected = if label == "wrong:\n" { vec![code.as_str()] } else { Vec::new() };
            let found = found(&text);
            if found != expected {
                different.push(format!("{code} {label}{text}{found:?}"));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn severities_follow_the_codes() {
    for text in ["uniform float a__b;", "float;", "const int a = 1 / 0;", "uniform float a; uniform int a;"] {
        for finding in check_unit(text, Fragment) {
            assert_eq!(finding.is_error(), finding.code.id < FIRST_WARNING, "{finding:?}");
        }
    }
}
