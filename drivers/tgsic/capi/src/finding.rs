//! Findings about a shader, in C structs.

use std::ffi::c_char;

use tgsi_diagnostics::{Diagnostic, LineIndex};

use crate::sized::SizedStruct;
use crate::strings::CStrings;

/// A finding about a shader.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_finding {
    /// `sizeof(tgsic_finding)`, to be set by the caller.
    pub size: usize,
    /// 1 for errors, 0 for warnings.
    pub is_error: u32,
    /// The position: bytes from the start of a text, or words from the start of tokens.
    pub offset: u32,
    /// Length in bytes or words. 0 if the position is unknown.
    pub length: u32,
    /// The line, from 1; 0 for tokens and if the position is unknown.
    pub line: u32,
    /// The column in bytes, from 1; 0 likewise.
    pub column: u32,
    /// Must not be used.
    pub reserved: u32,
    /// The code: `T0409`. It stays the same in later versions.
    pub code: *const c_char,
    /// The name of the rule: `undeclared-register`.
    pub name: *const c_char,
    /// The message, without position and full stop.
    pub message: *const c_char,
    /// The remedy; NULL for none.
    pub hint: *const c_char,
}

// SAFETY: `repr(C)`, the size comes first, and all types in it may be zero.
unsafe impl SizedStruct for tgsic_finding {}

/// A finding in C form.
pub(crate) struct Finding {
    pub(crate) fields: tgsic_finding,
    /// The strings that the fields point to.
    _strings: CStrings,
}

impl Finding {
    /// Converts a finding. `lines` are those of the text, if it is one.
    pub(crate) fn new(finding: &Diagnostic, lines: Option<&LineIndex>) -> Finding {
        let length = finding.span.end.saturating_sub(finding.span.start);
        let position = lines.filter(|_| length > 0).map(|lines| lines.line_column(finding.span.start));
        let (line, column) = position.unwrap_or((0, 0));
        let strings = [finding.code.id, finding.code.name, &finding.message].into_iter();
        let strings = CStrings::new(strings.chain(finding.hint.as_deref()));
        let fields = tgsic_finding {
            size: size_of::<tgsic_finding>(),
            is_error: finding.is_error().into(),
            offset: finding.span.start,
            length,
            line,
            column,
            reserved: 0,
            code: strings.pointer(0),
            name: strings.pointer(1),
            message: strings.pointer(2),
            hint: strings.pointer(3),
        };
        Finding { fields, _strings: strings }
    }
}
