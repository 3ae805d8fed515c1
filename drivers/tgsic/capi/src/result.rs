//! `tgsic_result`: the result of every function that takes a shader.

use std::ffi::{CString, c_char, c_int, c_void};

use tgsi_compiler::CompileError;
use tgsi_compiler::front_end::{FrontEnd, PositionUnit};
use tgsi_diagnostics::{Diagnostic, LineIndex, sort_by_start};

use crate::allocator::tgsic_allocator;
use crate::code::{Data, tgsic_sizes};
use crate::failure::Failure;
use crate::failure::tgsic_status::{self, *};
use crate::finding::{Finding, tgsic_finding};
use crate::limit_use::Limit;
use crate::link_report::tgsic_link_report;
use crate::resource::tgsic_resource;
use crate::scan::{Scan, tgsic_register, tgsic_scan_info};
use crate::sized::write_struct;
use crate::strings::c_string;

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
    /// The interface of a shader by name, as JSON.
    pub(crate) interface: Option<CString>,
    pub(crate) allocator: tgsic_allocator,
}

impl Default for tgsic_result {
    fn default() -> tgsic_result {
        tgsic_result {
            status: TGSIC_OK,
            message: CString::default(),
            findings: Vec::new(),
            data: Data::None,
            sizes: tgsic_sizes::default(),
            scan: None,
            limits: Vec::new(),
            links: Vec::new(),
            reflection: None,
            interface: None,
            allocator: tgsic_allocator { allocate: None, user: std::ptr::null_mut() },
        }
    }
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
            let converted = Finding::new(&finding, lines.as_ref());
            if finding.is_error() && self.message.is_empty() {
                let tgsic_finding { line, column, .. } = converted.fields;
                let position = if line > 0 { format!("{line}:{column}: ") } else { String::new() };
                self.message = c_string(&format!("{position}{} [{}]", finding.message, finding.code));
            }
            self.findings.push(converted);
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

    pub(crate) fn status(&self) -> tgsic_status {
        self.status
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
            self.interface = None;
        }
        if let Some(message) = failure.message {
            self.message = c_string(&message);
        }
    }
}

/// Returns the number of resources that a scan found.
///
/// # Safety
/// As for `tgsic_result_status`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_result_num_resources(result: *const tgsic_result) -> usize {
    // SAFETY: guaranteed by the caller.
    let scan = unsafe { result.as_ref() }.and_then(|result| result.scan.as_deref());
    scan.map_or(0, |scan| scan.resources.len())
}

/// Fills in a resource that a scan found, counted from 0, by file and number. Returns 1, or 0 if there is no such
/// resource, the result is not that of a scan or `size` is not set.
///
/// # Safety
/// As for `tgsic_result_status`; `target` is NULL or points to a struct of the size that it states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_result_resource(
    result: *const tgsic_result,
    index: usize,
    target: *mut tgsic_resource,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    let scan = unsafe { result.as_ref() }.and_then(|result| result.scan.as_deref());
    // SAFETY: the caller guarantees the requirements.
    unsafe { write_struct(target, scan.and_then(|scan| scan.resources.get(index))) }
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
    unsafe { result.as_ref() }.map_or(0, |result| result.data.form() as u32)
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

/// Returns the interface by name of a shader in a language with names, as a JSON object: the keys of `tgsic scan --json`
/// for such a shader, except the file. It has the registers of uniforms with their types and members, the units of
/// samplers, and the slots and registers of inputs and outputs. NULL for shaders without names. It lives as long as the
/// result.
///
/// # Safety
/// As for `tgsic_result_status`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_result_interface(result: *const tgsic_result) -> *const c_char {
    // SAFETY: guaranteed by the caller.
    let interface = unsafe { result.as_ref() }.and_then(|result| result.interface.as_deref());
    interface.map_or(std::ptr::null(), |text| text.as_ptr())
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
