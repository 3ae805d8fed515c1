//! A shader's use of the limits of a target, in C structs.

use std::ffi::c_char;

use tgsi_compiler::{LimitUse, Measurement};
use tgsi_diagnostics::{LineIndex, Span};

use crate::sized::SizedStruct;
use crate::strings::CStrings;

/// `limit` of a `tgsic_limit_use` without a bound.
pub const TGSIC_NO_LIMIT: u32 = u32::MAX;

/// A shader's use of one limit of the target.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_limit_use {
    /// `sizeof(tgsic_limit_use)`, to be set by the caller.
    pub size: usize,
    /// The amount that the translation uses.
    pub used: u32,
    /// The amount that the source would use; 0 if it was not TGSI.
    pub used_as_is: u32,
    /// The amount available, or `TGSIC_NO_LIMIT`.
    pub limit: u32,
    /// 1 if the use or the limit is an estimate.
    pub is_estimate: u32,
    /// The first excess: bytes from the start of the translation's text. 0 if the limit is not exceeded.
    pub offset: u32,
    /// Length in bytes; 0 likewise.
    pub length: u32,
    /// The line, from 1; 0 likewise.
    pub line: u32,
    /// The column in bytes, from 1; 0 likewise.
    pub column: u32,
    /// A name that stays the same in later versions: `alu-instructions`.
    pub name: *const c_char,
    /// The display name: `ALU instructions`.
    pub about: *const c_char,
    /// The reaction of the target's driver to a shader that uses more; empty without a description.
    pub beyond: *const c_char,
    /// The source of the figure.
    pub source: *const c_char,
    /// The unsupported construct, such as an opcode; NULL if an amount is exceeded.
    pub what: *const c_char,
    /// The first excess in the source: bytes, or words of tokens, from its start. 0 if it is not known.
    pub source_offset: u32,
    /// Its length; 0 likewise.
    pub source_length: u32,
    /// Its line, from 1; 0 likewise, and for tokens.
    pub source_line: u32,
    /// Its column in bytes, from 1; 0 likewise, and for tokens.
    pub source_column: u32,
}

// SAFETY: `repr(C)`, the size comes first, and all types in it may be zero.
unsafe impl SizedStruct for tgsic_limit_use {}

/// A limit in C form.
pub(crate) struct Limit {
    pub(crate) fields: tgsic_limit_use,
    /// The strings that the fields point to.
    _strings: CStrings,
}

/// Converts the limits of a measurement, together with those of the source, which may be text.
pub(crate) fn limits(translated: &Measurement, as_is: Option<&Measurement>, source: Option<&[u8]>) -> Vec<Limit> {
    let lines = (LineIndex::new(&translated.text), source.map(LineIndex::new));
    let used_as_is = |name: &str| as_is.and_then(|as_is| as_is.fit.limit(name)).map_or(0, |limit| limit.used);
    translated.fit.limits.iter().map(|limit| Limit::new(limit, used_as_is(limit.name), &lines)).collect()
}

impl Limit {
    /// `lines` are those of the translation, and of the source.
    fn new(limit: &LimitUse, used_as_is: u32, (lines, source_lines): &(LineIndex, Option<LineIndex>)) -> Limit {
        let first = limit.first.clone().unwrap_or_default();
        let span = first.span.unwrap_or_default();
        let (length, line, column) = extent(span, Some(lines));
        let source = first.source.unwrap_or_default();
        let (source_length, source_line, source_column) = extent(source, source_lines.as_ref());
        let strings = [limit.name, limit.about, limit.beyond, limit.source].into_iter();
        let strings = CStrings::new(strings.chain(first.what.as_deref()));
        let fields = tgsic_limit_use {
            size: size_of::<tgsic_limit_use>(),
            used: limit.used,
            used_as_is,
            limit: limit.limit.unwrap_or(TGSIC_NO_LIMIT),
            is_estimate: limit.is_estimate.into(),
            offset: span.start,
            length,
            line,
            column,
            name: strings.pointer(0),
            about: strings.pointer(1),
            beyond: strings.pointer(2),
            source: strings.pointer(3),
            what: strings.pointer(4),
            source_offset: source.start,
            source_length,
            source_line,
            source_column,
        };
        Limit { fields, _strings: strings }
    }
}

/// Length, line and column of a position.
fn extent(span: Span, lines: Option<&LineIndex>) -> (u32, u32, u32) {
    let length = span.end.saturating_sub(span.start);
    let (line, column) = lines.filter(|_| length > 0).map_or((0, 0), |lines| lines.line_column(span.start));
    (length, line, column)
}
