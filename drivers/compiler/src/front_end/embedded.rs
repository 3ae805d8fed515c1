//! Texts that contain one shader among other lines, such as a log: the other lines are left out.

use tgsi::text::Extracted;
use tgsi_diagnostics::{Diagnostic, LineIndex, Span};

use super::{InputError, Reading};
use crate::Source;

/// A text that may contain other lines.
pub struct Text<'a> {
    /// The whole text.
    pub bytes: &'a [u8],
    /// The largest text that is searched.
    pub max_bytes: u64,
    /// Whether text that begins as a shader must be read whole.
    pub is_strict: bool,
}

/// Reads a text, and if it is not a shader itself, the only shader in it. Positions are those in the whole text.
pub fn read(source: &Text<'_>, read: impl Fn(&[u8]) -> Reading) -> Reading {
    let Reading { source: shader, findings: mut errors, .. } = read(source.bytes);
    if shader.is_some() || source.bytes.len() as u64 > source.max_bytes {
        return Reading::new(shader, errors);
    }
    let found = tgsi::text::extract(source.bytes);
    let one = match &found[..] {
        [] => return Reading::new(None, errors),
        [one] => one,
        several => return Reading::new(None, vec![self::several(source.bytes, several)]),
    };
    // The text is a shader with mistakes: parts that cannot be parsed must not be left out.
    let is_shader = tgsi::text::begins_with_stage(source.bytes);
    let rest = rest_after(source.bytes, one);
    if is_shader && (one.skipped.is_some() || rest.is_none() || source.is_strict) {
        errors.extend(truncation(one));
        return Reading::new(None, errors);
    }
    let Reading { source: mut shader, mut findings, .. } = read(&one.text);
    one.relocate_findings(&mut findings);
    if let Some(Source::Tgsi(shader)) = &mut shader {
        one.relocate(shader.to_mut());
    }
    if !one.is_complete {
        // The error for the missing end gives the reason.
        findings.retain(|finding| finding.code.name != "missing-end");
    }
    findings.extend(self::findings(one));
    if let Some(rest) = rest.filter(|_| is_shader) {
        findings.push(InputError::RestLeftOut.at(rest));
    }
    Reading::new(shader, findings)
}

/// The findings about a shader that was found: lines that were left out, a missing end.
pub fn findings(shader: &Extracted) -> impl Iterator<Item = Diagnostic> + use<> {
    let skipped = shader.skipped.map(|(count, first)| InputError::LinesLeftOut { count }.at(first));
    skipped.into_iter().chain(truncation(shader))
}

fn truncation(shader: &Extracted) -> Option<Diagnostic> {
    let end = shader.span.end;
    (!shader.is_complete).then(|| InputError::CutOff.at(Span::new(end.saturating_sub(1), end)))
}

/// Returns the first line after a shader that is neither blank nor a comment.
fn rest_after(bytes: &[u8], shader: &Extracted) -> Option<Span> {
    let mut start = shader.span.end as usize;
    for line in bytes.get(start..)?.split(|&byte| byte == b'\n') {
        let text = line.trim_ascii();
        let is_comment = [&b";"[..], b"#", b"//"].iter().any(|comment| text.starts_with(comment));
        if !text.is_empty() && text.iter().any(|&byte| byte != 0) && !is_comment {
            let start = start + (line.len() - line.trim_ascii_start().len());
            return Some(Span::new(start as u32, (start + text.len()) as u32));
        }
        start += line.len() + 1;
    }
    None
}

/// The error for a text with several shaders where one is needed.
pub fn several(bytes: &[u8], shaders: &[Extracted]) -> Diagnostic {
    /// Maximum number of shaders that the message names.
    const MAX_NAMED: usize = 8;
    let lines = LineIndex::new(bytes);
    let places = shaders.iter().take(MAX_NAMED);
    let places: Vec<String> =
        places.map(|s| format!("{} at line {}", s.processor, lines.line_column(s.span.start).0)).collect();
    let more = if shaders.len() > MAX_NAMED { ", ..." } else { "" };
    let error = InputError::SeveralShaders { count: shaders.len(), places: places.join(", ") + more };
    let start = shaders.get(1).map_or(0, |shader| shader.span.start);
    error.at(Span::new(start, start + 1))
}
