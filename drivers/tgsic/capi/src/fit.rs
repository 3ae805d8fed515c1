//! `tgsic_fit`: a shader's use of the limits of a target.

use std::ffi::{c_int, c_void};

use tgsi_compiler::front_end::PositionUnit;
use tgsi_compiler::{FitReport, Source};

use crate::code::{Data, tgsic_form};
use crate::compiler::tgsic_compiler;
use crate::failure::Failure;
use crate::limit_use::{limits, tgsic_limit_use};
use crate::result::tgsic_result;
use crate::sized::write_struct;

impl tgsic_compiler {
    fn fit(&self, bytes: &[u8], result: &mut tgsic_result) -> Result<(), Failure> {
        let (front_end, shader) = self.read(bytes, result)?;
        let text = (front_end.position_unit() == PositionUnit::Bytes).then_some(bytes);
        let as_is = match &shader {
            Source::Tgsi(shader) => self.compiler.measure_as_is(shader, text),
            Source::Ir(..) => None,
        };
        let code = self.compiler.compile(shader).map_err(|error| result.compile_error(bytes, front_end, &error))?;
        let measured = self.compiler.measure(code);
        let translated = measured.ok_or_else(|| Failure::argument("the driver has no limits"))?;
        let translated = match text {
            Some(text) => translated.with_source(text),
            None => translated,
        };
        let report = FitReport::new(&translated, Some(&translated), as_is.as_ref());
        let json = serde_json::to_string(&report).map_err(|error| Failure::internal(error.to_string()))?;
        result.data = Data::text(json, tgsic_form::TGSIC_FORM_CODE);
        result.limits = limits(&translated, as_is.as_ref(), text);
        result.add_findings(bytes, front_end, translated.fit.source_findings()).map_err(Failure::with_data)
    }
}

/// Checks whether a shader fits the target: translates it as `tgsic_translate` does, and counts how much of each limit
/// the target's driver would use for the translation. Never NULL.
///
/// The result has the limits and their use, also as JSON (the keys of `tgsic fit --json`, except the file). Its status
/// is `TGSIC_ERROR_SHADER` if a limit is exceeded; unlike for other errors, the result then still has the limits and
/// the JSON. Positions of findings are those in the source; limits have positions in both.
///
/// # Safety
/// As for `tgsic_translate`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_fit(
    compiler: *const tgsic_compiler,
    shader: *const c_void,
    size: usize,
) -> *mut tgsic_result {
    // SAFETY: the caller guarantees the requirements.
    unsafe { tgsic_compiler::run(compiler, shader, size, tgsic_compiler::fit) }
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
