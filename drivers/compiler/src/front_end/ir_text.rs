//! The front end of IR text.

use std::borrow::Cow;

use tgsi::limits::{LimitInfo, Limits, MAX_POSITION};
use tgsi_diagnostics::{Diagnostic, ErrorCode, Span};
use tgsi_ir::text::{AnnotationTarget, SourceMap as LineMap, TextError, TextErrorKind};
use tgsi_ir::validate::ValidationErrorKind;

use super::{FrontEnd, InputError, ReadRequest, Reader, Reading, Recognition, check_options};
use crate::driver::UnknownOption;
use crate::{Source, SourceMap};

/// The front end of IR text.
pub static IR_TEXT: IrText = IrText;

/// The front end of IR text: what `tgsic ir` prints, as NIR does. The first line begins with `shader:`.
#[derive(Clone, Copy, Debug)]
pub struct IrText;

impl FrontEnd for IrText {
    fn name(&self) -> &'static str {
        "ir"
    }

    fn about(&self) -> &'static str {
        "The IR as text, at any stage"
    }

    fn file_extensions(&self) -> &'static [&'static str] {
        &["nir", "ir"]
    }

    fn recognize(&self, bytes: &[u8]) -> Recognition {
        if bytes.trim_ascii_start().starts_with(b"shader:") { Recognition::Certain } else { Recognition::No }
    }

    fn limits(&self) -> &'static [LimitInfo] {
        Limits::TABLE
    }

    fn error_codes(&self) -> Vec<ErrorCode> {
        let of_validator = ValidationErrorKind::CODES.iter().map(|&(_, code)| code);
        TextErrorKind::CODES.iter().copied().chain(of_validator).collect()
    }

    fn reader(&self, options: &[&str]) -> Result<Box<dyn Reader>, UnknownOption> {
        check_options(self, options)?;
        Ok(Box::new(IrText))
    }
}

impl Reader for IrText {
    fn read(&self, bytes: &[u8], request: &ReadRequest<'_>) -> Reading {
        match read(bytes, request.limits) {
            Ok((shader, map)) => Reading::new(Some(Source::Ir(Cow::Owned(shader), map)), Vec::new()),
            Err(findings) => Reading::new(None, findings),
        }
    }
}

/// Reads the text, and validates the shader.
fn read(bytes: &[u8], limits: &Limits) -> Result<(tgsi_ir::Shader, SourceMap), Vec<Diagnostic>> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to() as u32;
        vec![InputError::NotUtf8.at(Span::new(at, at + 1))]
    })?;
    let limit = limits.text_bytes.min(MAX_POSITION);
    if text.len() as u64 > limit {
        let error = InputError::IrTooLong { length: text.len(), limit };
        return Err(vec![error.at(Span::new(0, 1))]);
    }
    let (mut shader, source_map) = tgsi_ir::text::parse_with_source_map(text)
        .map_err(|errors| errors.iter().map(|error| ir_diagnostic(text, error)).collect::<Vec<_>>())?;
    let errors = tgsi_ir::validate::find_errors(&shader);
    if errors.is_empty() {
        let map = number_origins(&mut shader, &source_map);
        return Ok((shader, map));
    }
    let findings = errors.iter().map(|error| {
        let line = source_map.line_of(error.target());
        let span = Span::new(line.start as u32, line.end as u32);
        Diagnostic::error(error.kind.code(), span, error.kind.to_string())
    });
    Err(findings.collect())
}

/// Numbers the origins of all instructions in the order of the text, and maps them to their lines.
fn number_origins(shader: &mut tgsi_ir::Shader, lines: &LineMap) -> SourceMap {
    let span = |target| {
        let line = lines.line_of(target);
        Span::new(line.start as u32, line.end as u32)
    };
    let mut origins = Vec::new();
    for (function, data) in shader.functions.iter_mut() {
        let Some(body) = &mut data.body else { continue };
        for inst in body.blocks().flat_map(|block| body.insts(block)).collect::<Vec<_>>() {
            body.set_inst_origin(inst, origins.len() as u32);
            origins.push(span(AnnotationTarget::Inst(function, inst)));
        }
    }
    SourceMap::new(Some(span(AnnotationTarget::Shader)), origins)
}

fn ir_diagnostic(text: &str, error: &TextError) -> Diagnostic {
    let rest = text.get(error.offset..).unwrap_or("");
    let word = rest.find(|c: char| c.is_whitespace() || ",()".contains(c)).unwrap_or(rest.len());
    let span = Span::new(error.offset as u32, (error.offset + word.max(1)) as u32);
    let mut finding = Diagnostic::error(error.kind.code(), span, error.kind.to_string());
    finding.hint.clone_from(&error.hint);
    finding
}
