//! A shader's use of the limits of a target, in C structs.

use std::ffi::{CString, c_char, c_int};

use tgsi_compiler::{LimitUse, Measurement};
use tgsi_diagnostics::LineIndex;

use crate::result::{c_string, tgsic_result, write_struct};
use crate::sized::SizedStruct;

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
}

// SAFETY: `repr(C)`, the size comes first, and all types in it may be zero.
unsafe impl SizedStruct for tgsic_limit_use {}

/// A limit in C form.
pub(crate) struct Limit {
    fields: tgsic_limit_use,
    /// The strings that the fields point to.
    _strings: Vec<CString>,
}

/// Converts the limits of a measurement, together with those of the source.
pub(crate) fn limits(translated: &Measurement, as_is: Option<&Measurement>) -> Vec<Limit> {
    let lines = LineIndex::new(&translated.text);
    let used_as_is = |name: &str| as_is.and_then(|as_is| as_is.fit.limit(name)).map_or(0, |limit| limit.used);
    translated.fit.limits.iter().map(|limit| Limit::new(limit, used_as_is(limit.name), &lines)).collect()
}

impl Limit {
    fn new(limit: &LimitUse, used_as_is: u32, lines: &LineIndex) -> Limit {
        let first = limit.first.clone().unwrap_or_default();
        let length = first.span.end.saturating_sub(first.span.start);
        let (line, column) = if length > 0 { lines.line_column(first.span.start) } else { (0, 0) };
        let mut strings: Vec<CString> =
            [limit.name, limit.about, limit.beyond, limit.source].into_iter().map(c_string).collect();
        strings.extend(first.what.as_deref().map(c_string));
        let string = |index: usize| strings.get(index).map_or(std::ptr::null(), |string| string.as_ptr());
        let fields = tgsic_limit_use {
            size: size_of::<tgsic_limit_use>(),
            used: limit.used,
            used_as_is,
            limit: limit.limit.unwrap_or(TGSIC_NO_LIMIT),
            is_estimate: limit.is_estimate.into(),
            offset: first.span.start,
            length,
            line,
            column,
            name: string(0),
            about: string(1),
            beyond: string(2),
            source: string(3),
            what: string(4),
        };
        Limit { fields, _strings: strings }
    }
}

/// Returns the number of limits of the target in a result of `tgsic_fit`.
///
/// # Safety
/// As for `tgsic_result_status`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_result_num_limits(result: *const tgsic_result) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { result.as_ref() }.map_or(0, |result| result.limits.len())
}

/// Fills in a limit and its use by the shader, counted from 0. Its strings live as long as the result. Returns 1, or 0
/// if there is no such limit or `size` is not set.
///
/// # Safety
/// As for `tgsic_result_status`; `limit` is NULL or points to a struct of the size that it states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_result_limit(
    result: *const tgsic_result,
    index: usize,
    limit: *mut tgsic_limit_use,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    let result = unsafe { result.as_ref() };
    let found = result.and_then(|result| result.limits.get(index));
    // SAFETY: the caller guarantees the requirements.
    unsafe { write_struct(limit, found.map(|limit| &limit.fields)) }
}
