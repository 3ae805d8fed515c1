//! Tests on texts, by subject: which are accepted, and the codes, places and remedies of findings.

mod adversarial;
mod blocks;
mod builtins;
mod declarations;
mod explanations;
mod expressions;
mod extensions;
mod functions;
mod memory;
mod statements;
mod subroutines;
mod suggestions;

use tgsi_diagnostics::{Diagnostic, LineIndex};
use tgsi_ir::shader::ShaderStage;

use crate::compile::check;
use crate::options::GlslOptions;

use ShaderStage::{Fragment, Vertex};

fn check_unit(text: &str, stage: ShaderStage) -> Vec<Diagnostic> {
    check(text.as_bytes(), stage, &GlslOptions::default())
}

/// The findings of a fragment shader: `LINE:COLUMN CODE message`, with ` (hint)` if there is one.
fn findings(text: &str) -> Vec<String> {
    let lines = LineIndex::new(text.as_bytes());
    let message = |finding: &Diagnostic| {
        let (line, column) = lines.line_column(finding.span.start);
        let hint = finding.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{line}:{column} {} {}{hint}", finding.code.id, finding.message)
    };
    check_unit(text, Fragment).iter().map(message).collect()
}

/// The names of the codes of a unit.
fn codes(text: &str, stage: ShaderStage) -> Vec<&'static str> {
    check_unit(text, stage).iter().map(|finding| finding.code.name).collect()
}

/// Checks that units have no finding.
#[track_caller]
fn clean(stage: ShaderStage, texts: &[&str]) {
    for text in texts {
        let found: Vec<String> = check_unit(text, stage).iter().map(|found| found.message.clone()).collect();
        assert!(found.is_empty(), "{text:.500}\n{found:#?}");
    }
}

/// Checks that each unit has one finding, with this code.
#[track_caller]
fn only(code: &str, stage: ShaderStage, texts: &[&str]) {
    for text in texts {
        let found: Vec<String> = check_unit(text, stage).iter().map(|found| found.message.clone()).collect();
        assert_eq!(codes(text, stage), [code], "{text:.500}\n{found:#?}");
    }
}

/// A body of a fragment shader in a version, after declarations that bodies use.
fn body(version: u16, text: &str) -> String {
    let precision = if version == 100 { "precision mediump float;" } else { "" };
    format!(
        "#version {version}\n{precision} uniform float u; uniform vec4 v; uniform mat4 m; uniform int i; uniform \
         sampler2D s;\n\
         void main() {{ {text} }}"
    )
}

/// Checks that bodies have no finding.
#[track_caller]
fn clean_bodies(version: u16, texts: &[&str]) {
    let texts: Vec<String> = texts.iter().map(|text| body(version, text)).collect();
    clean(Fragment, &texts.iter().map(String::as_str).collect::<Vec<_>>());
}

/// Checks that each body has one finding, with this code.
#[track_caller]
fn only_in_bodies(code: &str, version: u16, texts: &[&str]) {
    let texts: Vec<String> = texts.iter().map(|text| body(version, text)).collect();
    only(code, Fragment, &texts.iter().map(String::as_str).collect::<Vec<_>>());
}
