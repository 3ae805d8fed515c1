//! The front end of TGSI text.

use tgsi::check::Rule;
use tgsi::limits::{LimitInfo, Limits};
use tgsi::text::{ParseErrorKind, SkippedParts};
use tgsi_diagnostics::{Diagnostic, ErrorCode};

use super::{FrontEnd, InputError, ReadRequest, Reader, Reading, Recognition, check_options, embedded};
use crate::Source;
use crate::driver::{DriverOption, UnknownOption};

/// The front end of TGSI text, with its default options.
pub static TGSI_TEXT: TgsiText = TgsiText { is_strict: false, is_embedded: false };

/// The front end of TGSI text of every era.
#[derive(Clone, Copy, Debug)]
pub struct TgsiText {
    /// Text that the parser of Mesa 25 rejects is an error.
    is_strict: bool,
    /// The text may have other lines around the shader.
    is_embedded: bool,
}

/// The option for texts that the parser of Mesa 25 reads.
const STRICT: &str = "strict";
/// The option for texts with other lines.
const EMBEDDED: &str = "embedded";

impl FrontEnd for TgsiText {
    fn name(&self) -> &'static str {
        "tgsi"
    }

    fn about(&self) -> &'static str {
        "TGSI as text, of every era"
    }

    fn file_extensions(&self) -> &'static [&'static str] {
        &["tgsi", "txt", "log"]
    }

    fn recognize(&self, bytes: &[u8]) -> Recognition {
        if tgsi::text::begins_with_stage(bytes) { Recognition::Certain } else { Recognition::Possible }
    }

    fn options(&self) -> &'static [DriverOption] {
        &[
            DriverOption { name: STRICT, about: "Accepts only text that the parser of Mesa 25 accepts." },
            DriverOption {
                name: EMBEDDED,
                about: "Finds the only shader in a text with other lines, such as a log, and reads it.",
            },
        ]
    }

    fn limits(&self) -> &'static [LimitInfo] {
        Limits::TABLE
    }

    fn error_codes(&self) -> Vec<ErrorCode> {
        let of_check = Rule::ALL.iter().map(|rule| rule.code());
        [ParseErrorKind::CODES, InputError::CODES].concat().into_iter().chain(of_check).collect()
    }

    fn reader(&self, options: &[&str]) -> Result<Box<dyn Reader>, UnknownOption> {
        check_options(self, options)?;
        let has = |name: &str| options.contains(&name);
        Ok(Box::new(TgsiText { is_strict: has(STRICT), is_embedded: has(EMBEDDED) }))
    }

    fn focus(&self, bytes: &[u8], findings: &mut [Diagnostic]) {
        tgsi::text::focus(bytes, findings);
    }
}

impl Reader for TgsiText {
    fn read(&self, bytes: &[u8], request: &ReadRequest<'_>) -> Reading {
        let read = |text: &[u8]| read(text, request, self.is_strict);
        if !self.is_embedded {
            return read(bytes);
        }
        let text = embedded::Text { bytes, max_bytes: request.limits.text_bytes, is_strict: self.is_strict };
        embedded::read(&text, read)
    }
}

fn read(text: &[u8], request: &ReadRequest<'_>, is_strict: bool) -> Reading {
    let tgsi::text::ParseResult { mut shader, mut diagnostics, mut skipped } =
        tgsi::text::read_within(text, request.limits);
    if is_strict
        && skipped.is_none()
        && let Err(finding) = tgsi::text::mesa25(text)
    {
        diagnostics.push(*finding);
        tgsi_diagnostics::sort_by_start(&mut diagnostics);
        skipped = Some(SkippedParts::default());
    }
    if let Some(compiler) = request.compiler {
        diagnostics
            .extend(compiler.check(&mut shader, skipped.as_ref().unwrap_or(&SkippedParts::default())).diagnostics);
    }
    Reading::new(skipped.is_none().then(|| Source::from(shader)), diagnostics)
}
