//! The pages of the error codes: each has one, and its examples give that finding and none.

use super::{ParseError, findings};

const PAGES: &str = include_str!("../../../explanations/parse.txt");

#[test]
fn every_code_has_a_page() {
    let heads: Vec<&str> = PAGES.lines().filter_map(|line| line.strip_prefix("== ")).collect();
    let codes: Vec<String> = ParseError::CODES
        .iter()
        .map(|code| {
            let severity = if code.id >= "G0290" { "warning" } else { "error" };
            format!("{} {severity} {}", code.id, code.name)
        })
        .collect();
    pretty_assertions::assert_eq!(heads, codes);
}

#[test]
fn examples_have_the_findings_of_their_pages() {
    for page in PAGES.split("== ").skip(1) {
        let code = page.split(' ').next().unwrap_or_default();
        for label in ["wrong:\n", "right:\n"] {
            let Some((_, example)) = page.split_once(label) else {
                assert!(page.contains("without example: "), "{code}");
                continue;
            };
            let lines = example.lines().take_while(|line| line.starts_with("    "));
            let text: String =
                lines.map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or_default())).collect();
            let found = findings(&text);
            let codes: Vec<&str> = found.iter().filter_map(|finding| finding.split(' ').nth(1)).collect();
            let expected = if label == "wrong:\n" { vec![code] } else { Vec::new() };
            assert_eq!(codes, expected, "{code} {label}{found:?}");
        }
    }
}
