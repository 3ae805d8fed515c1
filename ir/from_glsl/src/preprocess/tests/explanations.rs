//! The pages of errors and warnings.

use std::collections::BTreeMap;

use super::*;

const PAGES: &str = include_str!("../../../explanations/preprocess.txt");

/// The name of a code, and whether it is a warning.
type Found = Vec<(&'static str, bool)>;

/// The findings of a shader, with those of its numbers.
fn findings(text: &str) -> Found {
    let (mut interner, mut findings) = (Interner::new(), Findings::default());
    let result = preprocess(text.as_bytes(), &GlslOptions::default(), &mut interner, &mut findings);
    for token in result.tokens.tokens.iter().filter(|token| token.kind == TokenKind::Number) {
        let literal = parse_number(interner.spelling(token.symbol), result.version, &result.extensions);
        let error = literal.map_or_else(Some, |literal| literal.warning);
        if let Some(error) = error {
            let _ = findings.add(&error, token.span);
        }
    }
    findings.into_vec().iter().map(|finding| (finding.code.name, !finding.is_error())).collect()
}

#[test]
fn every_code_has_a_page() {
    let mut names = BTreeMap::new();
    for page in PAGES.split("== ").skip(1) {
        let (head, body) = page.split_once('\n').expect("a title");
        let [id, severity, name] = head.split(' ').collect::<Vec<_>>()[..] else { panic!("{head}") };
        assert!(names.insert(id, name).is_none(), "{id} has two pages");
        if body.contains("\nwithout example: ") {
            continue;
        }
        let (_, examples) = body.split_once("\nwrong:\n").expect("an example");
        let (wrong, right) = examples.split_once("\nright:\n").expect("two examples");
        let text = |example: &str| {
            example.lines().map(|line| line.trim_start_matches("    ").to_owned() + "\n").collect::<String>()
        };
        assert_eq!(findings(&text(wrong)), [(name, severity == "warning")], "{id}");
        assert_eq!(findings(&text(right)), [], "{id}");
    }
    let codes: BTreeMap<_, _> = PreprocessError::CODES.iter().map(|code| (code.id, code.name)).collect();
    assert_eq!(codes.len(), PreprocessError::CODES.len());
    assert_eq!(names, codes);
}
