//! `explain`: prints the documentation of error codes.

use std::fmt::Write;

use tgsi::explain::{self, Example, ExampleLanguage, Page};

use crate::explanations::pages;
use crate::output;
use crate::status::{Failure, Status};

/// Prints the pages of the given codes, or one line for each existing code.
pub fn explain(codes: &[String], list: bool) -> Result<Status, Failure> {
    let mut text = String::new();
    if list {
        for page in pages() {
            let _ = writeln!(text, "{} {:7} {:28} {}", page.id, page.severity.to_string(), page.name, page.title);
        }
    }
    for code in codes {
        let found = explain::find(pages(), code);
        if found.is_empty() {
            return Err(Failure::Usage(format!("no code `{code}`; `tgsic explain --list` lists them")));
        }
        for page in found {
            if !text.is_empty() {
                text.push('\n');
            }
            show(page, &mut text);
        }
    }
    output::write_stdout(text.as_bytes())?;
    Ok(Status::Success)
}

fn show(page: &Page, text: &mut String) {
    let _ = writeln!(text, "{}[{}] {}: {}\n\n{}", page.severity, page.id, page.name, page.title, page.text);
    for (label, example) in [("Wrong", &page.wrong), ("Right", &page.right)] {
        let Some(example) = example else { continue };
        let language = match page.language(example) {
            ExampleLanguage::Text => "",
            ExampleLanguage::Words => " (words in hexadecimal)",
            ExampleLanguage::Ir => " (IR)",
        };
        let Example { arguments, text: shader } = example;
        let arguments = if arguments.is_empty() { String::new() } else { format!(", with {}", arguments.join(" ")) };
        let _ = writeln!(text, "\n{label}{language}{arguments}:\n");
        for line in shader.lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    if let Some(reason) = page.without {
        let _ = writeln!(text, "\nNo example: {reason}");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::PathBuf;

    use clap::Parser;
    use tgsi_diagnostics::{Diagnostic, ErrorCode, Severity};

    use super::*;
    use crate::args::{Arguments, Command};
    use crate::input::{ShaderError, Source};
    use crate::input_shader::InputShader;
    use crate::plan::Plan;

    /// Returns all codes, with their severity where a table has it.
    fn codes() -> Vec<(ErrorCode, Option<Severity>)> {
        let mut codes: Vec<(ErrorCode, Option<Severity>)> = Vec::new();
        let errors = [
            tgsi::tokens::DecodeError::CODES,
            tgsi::tokens::EncodeError::CODES,
            tgsi::MalformedShader::CODES,
            tgsi_run::RunError::CODES,
            tgsi_ir::text::TextErrorKind::CODES,
            tgsi_ir::run::RunError::CODES,
            Failure::CODES,
        ];
        let of_drivers = tgsi_registry::drivers().flat_map(|driver| driver.error_codes());
        codes.extend(of_drivers.map(|&code| (code, Some(Severity::Error))));
        codes.extend(errors.concat().into_iter().map(|code| (code, Some(Severity::Error))));
        codes.extend(tgsi_ir::validate::ValidationErrorKind::CODES.iter().map(|&(_, c)| (c, Some(Severity::Error))));
        codes.extend(tgsi::check::Rule::ALL.iter().map(|rule| (rule.code(), Some(rule.severity()))));
        codes.extend(tgsi_compiler::FitFinding::CODES.iter().map(|&code| (code, None)));
        let of_front_ends = tgsi_registry::front_ends().iter().flat_map(|front_end| front_end.error_codes());
        codes.extend(of_front_ends.map(|code| (code, None)));
        codes
    }

    #[test]
    fn pages_are_whole() {
        for page in pages() {
            let Page { id, name, title, text, wrong, right, without, .. } = page;
            assert!(id.len() == 5 && id.starts_with(['G', 'T']) && id[1..].bytes().all(|b| b.is_ascii_digit()), "{id}");
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'), "{id} {name}");
            assert!(!title.is_empty() && !title.ends_with('.') && title.len() < 100, "{id}: {title}");
            assert!(text.len() > 20 && text.ends_with('.'), "{id}: {text}");
            assert_eq!(wrong.is_some(), right.is_some(), "{id}");
            assert_ne!(wrong.is_some(), without.is_some(), "{id}");
        }
        assert!(pages().windows(2).all(|pair| pair[0].id < pair[1].id), "a code has two pages");
    }

    #[test]
    fn examples_of_drivers_are_of_tgsi_or_of_the_ir() {
        let language = |word: &str| {
            let page = explain::find(pages(), word)[0];
            page.language(page.wrong.as_ref().expect("an example"))
        };
        assert_eq!(language("T0001"), ExampleLanguage::Text);
        assert_eq!(language("T0701"), ExampleLanguage::Ir);
        for page in pages().iter().filter(|page| page.id >= "T2000") {
            for example in page.wrong.iter().chain(&page.right) {
                let stages = ["VERT", "FRAG", "GEOM", "TESS_CTRL", "TESS_EVAL", "COMP"];
                let is_tgsi = stages.iter().any(|stage| example.text.starts_with(stage));
                assert_eq!(page.language(example) == ExampleLanguage::Text, is_tgsi, "{}", page.id);
            }
        }
    }

    #[test]
    fn every_code_has_a_page_and_every_page_a_code() {
        let mut known: BTreeMap<&str, &str> = BTreeMap::new();
        for (code, severity) in codes() {
            // A code may be in two tables, but only with one name.
            assert_eq!(*known.entry(code.id).or_insert(code.name), code.name, "{}", code.id);
            let found = explain::find(pages(), code.id);
            let page = found.first().unwrap_or_else(|| panic!("{} {} has no page", code.id, code.name));
            assert_eq!(page.name, code.name, "{}", code.id);
            assert!(severity.is_none_or(|severity| severity == page.severity), "{}", code.id);
        }
        // A name has one meaning in TGSI texts, and one in IR texts.
        let mut names: BTreeMap<(bool, &str), &str> = BTreeMap::new();
        for (&id, &name) in
            known.iter().filter(|(id, _)| ("T0000".."T0600").contains(*id) || ("T1000".."T1400").contains(*id))
        {
            let other = names.insert((id >= "T1000", name), id);
            assert!(other.is_none(), "{name} is {id} and {other:?}");
        }
        for page in pages() {
            assert!(known.contains_key(page.id), "{} is unknown", page.id);
        }
    }

    /// Returns all findings for an example, those of the driver included.
    fn findings(page: &Page, example: &Example) -> Vec<Diagnostic> {
        let arguments = ["tgsic", "translate"].into_iter().chain(example.arguments.iter().copied());
        let arguments = Arguments::try_parse_from(arguments).expect("arguments");
        let limits = crate::limits::with(&arguments.global.limits);
        let options = arguments.global.front_end_options();
        let mut source = Source::with_options(PathBuf::from(page.id), page.file(example), None, &options);
        source.limits = limits;
        let Command::Translate { passes, .. } = arguments.command else { unreachable!() };
        let mut plan = Plan::from_arguments(&passes).expect("a plan");
        plan.compiler = plan.compiler.with_limits(limits);
        let of_problem = |problem: ShaderError| match problem {
            ShaderError::Findings(findings) => findings,
            ShaderError::Coded(code, message) => {
                vec![Diagnostic::error(code, tgsi_diagnostics::Span::default(), message)]
            }
            ShaderError::Other(message) => panic!("{}: {message}", page.id),
        };
        let (subject, mut findings) = InputShader::read(&source, &plan);
        if let Some(InputShader::Tgsi(shader)) = &subject {
            findings.extend(tgsi::check::lint(shader));
        }
        // IR texts are not examples for codes that only the driver reports.
        let is_of_drivers = page.id < "T1000" || page.id >= "T2000";
        if let Some(subject) = subject.filter(|_| !findings.iter().any(Diagnostic::is_error) && is_of_drivers) {
            findings.extend(subject.into_code(&plan, None).err().map(of_problem).into_iter().flatten());
        }
        findings
    }

    #[test]
    fn examples_are_what_they_say() {
        let mut wrong = Vec::new();
        // The crate of the GLSL front end tests its own examples, many of which are units without `main`.
        for page in pages().iter().filter(|page| page.id.starts_with('T')) {
            for (example, expected) in [(&page.wrong, Some(page.id)), (&page.right, None)] {
                let Some(example) = example else { continue };
                let found = findings(page, example);
                let ids: BTreeSet<&str> = found.iter().map(|d| d.code.id).collect();
                if ids != expected.into_iter().collect() {
                    let found: Vec<String> = found.iter().map(|d| format!("{} {}", d.code.name, d)).collect();
                    wrong.push(format!("{} {} ({:?}): {found:#?}", page.id, page.name, expected.is_some()));
                } else if let Some(d) = found.iter().find(|d| d.severity != page.severity) {
                    wrong.push(format!("{} is a {}", page.id, d.severity));
                }
            }
        }
        assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n"));
    }
}
