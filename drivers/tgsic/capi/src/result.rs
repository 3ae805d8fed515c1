//! `tgsic_result`: the result of every function that takes a shader.

use std::ffi::{CString, c_char, c_int, c_void};

use tgsi_compiler::CompileError;
use tgsi_compiler::front_end::{FrontEnd, PositionUnit};
use tgsi_diagnostics::{Diagnostic, LineIndex, sort_by_start};

use crate::allocator::tgsic_allocator;
use crate::compiler::tgsic_form;
use crate::fit::Limit;
use crate::link::tgsic_link_report;
use crate::scan::{Scan, tgsic_register, tgsic_scan_info};
use crate::sized::{self, SizedStruct};

/// The outcome of a call.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum tgsic_status {
    /// Without errors. There may be warnings.
    TGSIC_OK = 0,
    /// The shader has errors, or the target cannot express it.
    TGSIC_ERROR_SHADER = 1,
    /// The arguments or options of the call are wrong.
    TGSIC_ERROR_ARGUMENT = 2,
    /// A defect of the library.
    TGSIC_ERROR_INTERNAL = 3,
}

use tgsic_status::*;

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

/// Sizes of a shader and of its code. Those before are 0 if the shader was not TGSI.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_sizes {
    /// `sizeof(tgsic_sizes)`, to be set by the caller.
    pub size: usize,
    /// Instructions of the source.
    pub instructions_before: u32,
    /// Instructions of the code.
    pub instructions_after: u32,
    /// Temporaries of the source.
    pub temporaries_before: u32,
    /// Temporaries of the code.
    pub temporaries_after: u32,
    /// Immediates of the source.
    pub immediates_before: u32,
    /// Immediates of the code.
    pub immediates_after: u32,
    /// The `tgsic_level` at which it was optimised: lower than that of the options if the budget was spent.
    pub level: u32,
    /// Must not be used.
    pub reserved: u32,
}

// SAFETY: `repr(C)`, the size comes first, and all types in it may be zero.
unsafe impl SizedStruct for tgsic_sizes {}

/// The code of a result.
#[derive(Default)]
pub(crate) enum Data {
    #[default]
    None,
    /// Text with a NUL at the end that is not counted.
    Text(Vec<u8>, tgsic_form),
    /// TGSI tokens.
    Tokens(Vec<u32>),
    /// Code of a driver.
    Bytes(Vec<u8>),
}

impl Data {
    pub(crate) fn text(text: String, form: tgsic_form) -> Data {
        let mut bytes = text.into_bytes();
        bytes.push(0);
        Data::Text(bytes, form)
    }

    /// Returns the bytes, and the number of bytes at their end that are not counted.
    fn bytes(&self) -> (&[u8], usize) {
        match self {
            Data::None => (&[], 0),
            Data::Text(bytes, _) => (bytes, 1),
            Data::Tokens(words) => {
                // SAFETY: words may be read as bytes, and this is their whole length.
                let bytes = unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), size_of_val(&**words)) };
                (bytes, 0)
            }
            Data::Bytes(bytes) => (bytes, 0),
        }
    }
}

struct Finding {
    fields: tgsic_finding,
    /// The strings that the fields point to.
    _strings: Vec<CString>,
}

/// The reason why a call failed. Findings that are errors are already in the result.
pub(crate) struct Failure {
    status: tgsic_status,
    message: Option<String>,
    /// Whether the data of the result describes the failure.
    keeps_data: bool,
}

impl Failure {
    pub(crate) fn argument(message: impl Into<String>) -> Failure {
        Failure { status: TGSIC_ERROR_ARGUMENT, message: Some(message.into()), keeps_data: false }
    }

    pub(crate) fn internal(message: impl Into<String>) -> Failure {
        Failure { status: TGSIC_ERROR_INTERNAL, message: Some(message.into()), keeps_data: false }
    }

    pub(crate) fn shader(message: impl Into<String>) -> Failure {
        Failure { status: TGSIC_ERROR_SHADER, message: Some(message.into()), keeps_data: false }
    }

    /// Returns a failure with the status of another result that failed.
    pub(crate) fn like(result: &tgsic_result, message: String) -> Failure {
        Failure { status: result.status, message: Some(message), keeps_data: false }
    }

    /// Returns a failure that is described by the findings of the result.
    fn found() -> Failure {
        Failure { status: TGSIC_ERROR_SHADER, message: None, keeps_data: false }
    }

    /// Returns the same failure, keeping the data of the result.
    pub(crate) fn keeping_data(self) -> Failure {
        Failure { keeps_data: true, ..self }
    }
}

/// The result of a call: its status, the findings, and the data. It belongs to the caller and does not refer to the
/// compiler or to the arguments. Any number of threads may read it; one of them frees it when all have finished.
pub struct tgsic_result {
    status: tgsic_status,
    message: CString,
    findings: Vec<Finding>,
    pub(crate) data: Data,
    pub(crate) sizes: tgsic_sizes,
    pub(crate) scan: Option<Box<Scan>>,
    pub(crate) limits: Vec<Limit>,
    pub(crate) links: Vec<tgsic_link_report>,
    pub(crate) reflection: Option<CString>,
    pub(crate) allocator: tgsic_allocator,
}

impl Default for tgsic_result {
    fn default() -> tgsic_result {
        let sizes = tgsic_sizes {
            size: size_of::<tgsic_sizes>(),
            instructions_before: 0,
            instructions_after: 0,
            temporaries_before: 0,
            temporaries_after: 0,
            immediates_before: 0,
            immediates_after: 0,
            level: 0,
            reserved: 0,
        };
        tgsic_result {
            status: TGSIC_OK,
            message: CString::default(),
            findings: Vec::new(),
            data: Data::None,
            sizes,
            scan: None,
            limits: Vec::new(),
            links: Vec::new(),
            reflection: None,
            allocator: tgsic_allocator { allocate: None, user: std::ptr::null_mut() },
        }
    }
}

/// Creates a string without embedded NULs.
pub(crate) fn c_string(text: &str) -> CString {
    CString::new(text).unwrap_or_else(|_| CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default())
}

impl tgsic_result {
    pub(crate) fn into_raw(self) -> *mut tgsic_result {
        Box::into_raw(Box::new(self))
    }

    /// Adds findings, in the order of their positions.
    ///
    /// # Errors
    /// One of them is an error.
    pub(crate) fn add_findings(
        &mut self,
        bytes: &[u8],
        front_end: &dyn FrontEnd,
        mut findings: Vec<Diagnostic>,
    ) -> Result<(), Failure> {
        if findings.is_empty() {
            return Ok(());
        }
        sort_by_start(&mut findings);
        let lines = (front_end.position_unit() == PositionUnit::Bytes).then(|| LineIndex::new(bytes));
        front_end.focus(bytes, &mut findings);
        let is_error = findings.iter().any(Diagnostic::is_error);
        for finding in findings {
            let length = finding.span.end.saturating_sub(finding.span.start);
            let position = lines.as_ref().filter(|_| length > 0).map(|lines| lines.line_column(finding.span.start));
            let (line, column) = position.unwrap_or((0, 0));
            let mut strings: Vec<CString> =
                [finding.code.id, finding.code.name, &finding.message].into_iter().map(c_string).collect();
            strings.extend(finding.hint.as_deref().map(c_string));
            let string = |index: usize| strings.get(index).map_or(std::ptr::null(), |string| string.as_ptr());
            let fields = tgsic_finding {
                size: size_of::<tgsic_finding>(),
                is_error: finding.is_error().into(),
                offset: finding.span.start,
                length,
                line,
                column,
                reserved: 0,
                code: string(0),
                name: string(1),
                message: string(2),
                hint: string(3),
            };
            if finding.is_error() && self.message.is_empty() {
                let position = if line > 0 { format!("{line}:{column}: ") } else { String::new() };
                self.message = c_string(&format!("{position}{} [{}]", finding.message, finding.code));
            }
            self.findings.push(Finding { fields, _strings: strings });
        }
        if is_error { Err(Failure::found()) } else { Ok(()) }
    }

    /// Adds the error of a compilation.
    pub(crate) fn compile_error(&mut self, bytes: &[u8], front_end: &dyn FrontEnd, error: &CompileError) -> Failure {
        match self.add_findings(bytes, front_end, vec![error.diagnostic()]) {
            Err(failure) => failure,
            Ok(()) => Failure::shader(error.to_string()),
        }
    }

    /// Creates a result that has only a failure.
    pub(crate) fn failed(failure: Failure) -> tgsic_result {
        let mut result = tgsic_result::default();
        result.fail(failure);
        result
    }

    /// Returns the first error in one line.
    pub(crate) fn message(&self) -> String {
        self.message.to_string_lossy().into_owned()
    }

    /// Returns whether the call failed.
    pub(crate) fn is_failed(&self) -> bool {
        self.status != TGSIC_OK
    }

    pub(crate) fn fail(&mut self, failure: Failure) {
        self.status = failure.status;
        if !failure.keeps_data {
            self.data = Data::None;
            self.scan = None;
            self.limits.clear();
            self.reflection = None;
        }
        if let Some(message) = failure.message {
            self.message = c_string(&message);
        }
    }
}

/// Returns the status of a result. NULL has `TGSIC_ERROR_ARGUMENT`.
///
/// # Safety
/// It is NULL or a result that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_result_status(result: *const tgsic_result) -> tgsic_status {
    // SAFETY: guaranteed by the caller.
    unsafe { result.as_ref() }.map_or(TGSIC_ERROR_ARGUMENT, |result| result.status)
}

/// Returns the first error in one line, for logs; an empty string without an error. Never NULL. It lives as long as the
/// result.
///
/// # Safety
/// As for `tgsic_result_status`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_result_message(result: *const tgsic_result) -> *const c_char {
    // SAFETY: guaranteed by the caller.
    unsafe { result.as_ref() }.map_or(c"there is no result".as_ptr(), |result| result.message.as_ptr())
}

/// Returns the form of the data of a result: a `tgsic_form`, 0 without data.
///
/// # Safety
/// As for `tgsic_result_status`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_result_form(result: *const tgsic_result) -> u32 {
    // SAFETY: guaranteed by the caller.
    let form = unsafe { result.as_ref() }.map(|result| match &result.data {
        Data::None => tgsic_form::TGSIC_FORM_DEFAULT,
        Data::Text(_, form) => *form,
        Data::Tokens(_) => tgsic_form::TGSIC_FORM_TOKENS,
        Data::Bytes(_) => tgsic_form::TGSIC_FORM_CODE,
    });
    form.map_or(0, |form| form as u32)
}

/// Returns the data of a result: tokens (aligned for 32-bit words), text, code of a driver, or JSON of a scan or of a
/// fit; NULL without data. `*size` is set to the number of bytes, unless `size` is NULL. Text ends with a NUL that is
/// not counted. The data lives as long as the result.
///
/// # Safety
/// As for `tgsic_result_status`; `size` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_result_data(result: *const tgsic_result, size: *mut usize) -> *const c_void {
    // SAFETY: guaranteed by the caller.
    let (pointer, length) = match unsafe { result.as_ref() }.map(|result| (&result.data, result.data.bytes())) {
        None | Some((Data::None, _)) => (std::ptr::null(), 0),
        Some((_, (bytes, uncounted))) => (bytes.as_ptr().cast::<c_void>(), bytes.len() - uncounted),
    };
    if !size.is_null() {
        // SAFETY: it is not NULL, and the caller guarantees that it can be written.
        unsafe { size.write(length) };
    }
    pointer
}

/// Returns a copy of the data of a result that belongs to the caller, from the allocator in the options (by default
/// `malloc`, to be freed by `free`); text with its NUL. NULL without data or memory. `*size` is set as by
/// `tgsic_result_data`.
///
/// # Safety
/// As for `tgsic_result_data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_result_copy(result: *const tgsic_result, size: *mut usize) -> *mut c_void {
    // SAFETY: the caller guarantees the requirements.
    let data = unsafe { tgsic_result_data(result, size) };
    // SAFETY: guaranteed by the caller.
    match unsafe { result.as_ref() } {
        Some(result) if !data.is_null() => result.allocator.copy(result.data.bytes().0),
        _ => std::ptr::null_mut(),
    }
}

/// Returns the number of findings of a result, errors and warnings.
///
/// # Safety
/// As for `tgsic_result_status`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_result_num_findings(result: *const tgsic_result) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { result.as_ref() }.map_or(0, |result| result.findings.len())
}

/// Writes a struct for C.
///
/// # Safety
/// The pointer is NULL, or points to a struct of the size that it states.
pub(crate) unsafe fn write_struct<T: SizedStruct>(target: *mut T, value: Option<&T>) -> c_int {
    let Some(value) = value.filter(|_| !target.is_null() && target.is_aligned()) else { return 0 };
    // SAFETY: it is aligned and not NULL, and the caller guarantees the size that it states.
    unsafe { sized::write(target, value) }.is_ok().into()
}

/// Fills in a finding, counted from 0. Its strings live as long as the result. Returns 1, or 0 if there is no such
/// finding or `size` is not set.
///
/// # Safety
/// As for `tgsic_result_status`; `finding` is NULL or points to a struct of the size that it states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_result_finding(
    result: *const tgsic_result,
    index: usize,
    finding: *mut tgsic_finding,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    let result = unsafe { result.as_ref() };
    let found = result.and_then(|result| result.findings.get(index));
    // SAFETY: the caller guarantees the requirements.
    unsafe { write_struct(finding, found.map(|finding| &finding.fields)) }
}

/// Fills in the sizes of a translated shader. Returns 1, or 0 if `size` is not set.
///
/// # Safety
/// As for `tgsic_result_status`; `sizes` is NULL or points to a struct of the size that it states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_result_sizes(result: *const tgsic_result, sizes: *mut tgsic_sizes) -> c_int {
    // SAFETY: guaranteed by the caller.
    let result = unsafe { result.as_ref() };
    // SAFETY: the caller guarantees the requirements.
    unsafe { write_struct(sizes, result.map(|result| &result.sizes)) }
}

/// Returns the driver's assignments for inputs, outputs and resources of a translated or linked shader, as a JSON
/// object: the keys of `tgsic translate --reflect`, except the file. NULL if the compiler was created without
/// `TGSIC_FLAG_REFLECT`, or if the driver assigns nothing. It lives as long as the result.
///
/// # Safety
/// As for `tgsic_result_status`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_result_reflection(result: *const tgsic_result) -> *const c_char {
    // SAFETY: guaranteed by the caller.
    let reflection = unsafe { result.as_ref() }.and_then(|result| result.reflection.as_deref());
    reflection.map_or(std::ptr::null(), |text| text.as_ptr())
}

/// Fills in the facts found by a scan. Returns 1, or 0 if the result is not that of a scan or `size` is not set.
///
/// # Safety
/// As for `tgsic_result_status`; `info` is NULL or points to a struct of the size that it states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_result_scan(result: *const tgsic_result, info: *mut tgsic_scan_info) -> c_int {
    // SAFETY: guaranteed by the caller.
    let scan = unsafe { result.as_ref() }.and_then(|result| result.scan.as_deref());
    // SAFETY: the caller guarantees the requirements.
    unsafe { write_struct(info, scan.map(|scan| &scan.info)) }
}

/// Fills in the facts about a register of `file` found by a scan: `TGSIC_FILE_INPUT`, `TGSIC_FILE_OUTPUT` or
/// `TGSIC_FILE_SYSTEM_VALUE`. Returns 1, or 0 if there is no such register, the result is not that of a scan or `size`
/// is not set.
///
/// # Safety
/// As for `tgsic_result_status`; `target` is NULL or points to a struct of the size that it states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_result_register(
    result: *const tgsic_result,
    file: u32,
    index: usize,
    target: *mut tgsic_register,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    let scan = unsafe { result.as_ref() }.and_then(|result| result.scan.as_deref());
    // SAFETY: the caller guarantees the requirements.
    unsafe { write_struct(target, scan.and_then(|scan| scan.register(file, index))) }
}

/// Frees a result, with its strings and data. NULL is ignored.
///
/// # Safety
/// It is NULL or came from this library and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_result_free(result: *mut tgsic_result) {
    if !result.is_null() {
        // SAFETY: the library created it from a box, and the caller guarantees that it was not freed.
        drop(unsafe { Box::from_raw(result) });
    }
}
