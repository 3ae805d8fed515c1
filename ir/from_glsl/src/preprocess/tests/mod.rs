//! Tests of the preprocessor on texts.

use super::*;

mod adversarial;
mod conditions;
mod corpus;
mod directives;
mod explanations;
mod findings;
mod lexing;
mod macros;
mod numbers;
mod words;

/// Preprocesses a text. Returns its tokens, separated by blanks, and the names of the findings.
fn run_with(text: &[u8], options: &GlslOptions) -> (String, Vec<&'static str>) {
    let (mut interner, mut findings) = (Interner::new(), Findings::default());
    let result = preprocess(text, options, &mut interner, &mut findings);
    let words: Vec<&str> = result.tokens.tokens.iter().map(|token| interner.spelling(token.symbol)).collect();
    let names = findings.into_vec().iter().map(|finding| finding.code.name).collect();
    (words.join(" ").trim_end().to_owned(), names)
}

/// As [`run_with`], without options.
fn run(text: &str) -> (String, Vec<&'static str>) {
    run_with(text.as_bytes(), &GlslOptions::default())
}

/// The tokens of a text of version 1.30 without findings.
#[track_caller]
fn tokens(text: &str) -> String {
    let (tokens, names) = run(&format!("#version 130\n{text}"));
    assert_eq!(names, Vec::<&str>::new(), "{text}");
    tokens
}

/// The names of the findings of a text of version 1.30.
fn problems(text: &str) -> Vec<&'static str> {
    run(&format!("#version 130\n{text}")).1
}

/// The names of the findings of a text of version 3.00 es.
fn problems_es(text: &str) -> Vec<&'static str> {
    run(&format!("#version 300 es\n{text}")).1
}
