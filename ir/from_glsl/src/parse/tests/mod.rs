//! Tests on texts.

mod adversarial;
mod declarations;
mod errors;
mod explanations;
mod expressions;
mod piglit;
mod statements;
mod versions;

use tgsi_diagnostics::{Diagnostic, LineIndex};

use super::ParseError;
use super::print::print;
use crate::ast::Ast;
use crate::findings::Findings;
use crate::options::GlslOptions;
use crate::preprocess::preprocess;
use crate::symbol::Interner;

/// A parsed text.
struct Parsed {
    ast: Ast,
    interner: Interner,
    findings: Vec<Diagnostic>,
}

/// Preprocesses and parses a text.
fn parse(text: &str) -> Parsed {
    parse_with(text, &GlslOptions::default())
}

fn parse_with(text: &str, options: &GlslOptions) -> Parsed {
    let mut interner = Interner::new();
    let mut findings = Findings::default();
    let unit = preprocess(text.as_bytes(), options, &mut interner, &mut findings);
    let (tokens, extensions) = (&unit.tokens, &unit.extensions);
    let range = 0..tokens.tokens.len() as u32;
    let ast = super::parse(tokens, range, unit.version, extensions, &options.limits, &interner, &mut findings);
    Parsed { ast, interner, findings: findings.into_vec() }
}

/// The tree of a text without findings.
#[track_caller]
fn tree(text: &str) -> String {
    let parsed = parse(text);
    assert!(parsed.findings.is_empty(), "{:?}", messages(text, &parsed.findings));
    print(&parsed.ast, &parsed.interner)
}

/// The tree of statements in GLSL 4.60.
#[track_caller]
fn statements(text: &str) -> String {
    let tree = tree(&format!("#version 460\nvoid f() {{{text}}}"));
    tree.strip_prefix("(fn void f()").and_then(|rest| rest.strip_suffix(')')).unwrap_or(&tree).trim().to_owned()
}

/// The findings of a text: `LINE:COLUMN CODE message`.
fn findings(text: &str) -> Vec<String> {
    messages(text, &parse(text).findings)
}

fn messages(text: &str, findings: &[Diagnostic]) -> Vec<String> {
    let lines = LineIndex::new(text.as_bytes());
    let message = |finding: &Diagnostic| {
        let (line, column) = lines.line_column(finding.span.start);
        format!("{line}:{column} {} {}", finding.code.id, finding.message)
    };
    findings.iter().map(message).collect()
}
