//! Linking: the shaders of a pipeline, compiled together.

use std::borrow::Cow;
use std::ffi::{c_int, c_void};

use tgsi_compiler::front_end::{FrontEnd, ReadRequest, Reading, TGSI_TEXT};
use tgsi_compiler::{LinkError, Source};
use tgsi_ir::passes::linking::LinkOptions;

use crate::compiler::{sizes_before, tgsic_compiler};
use crate::failure::Failure;
use crate::front_end::take_reading;
use crate::guard::guarded;
use crate::link_report::tgsic_link_report;
use crate::result::tgsic_result;
use crate::sized::{self, SizedStruct, write_struct};
use crate::strings::{c_string, json};

/// Maximum number of shaders in a pipeline. There are fewer stages; more shaders are rejected before anything is read.
const MAX_SHADERS: usize = 16;
/// Maximum number of kept outputs.
const MAX_KEPT: usize = 4096;

/// In `flags` of `tgsic_link_options`: all stages see the same constant buffers, so that outputs which are constants of
/// the program become loads in the next stage.
pub const TGSIC_LINK_SHARED_CONSTANTS: u32 = 1 << 0;
/// In `flags` of `tgsic_link_options`: the rasteriser may replace texture coordinates by those of point sprites, so
/// that `TEXCOORD[0]` to `TEXCOORD[7]` must not change.
pub const TGSIC_LINK_POINT_SPRITES: u32 = 1 << 1;

/// A shader that is passed in: TGSI text, TGSI tokens, IR text, or a text for another front end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_shader {
    /// The data.
    pub data: *const c_void,
    /// Number of bytes.
    pub size: usize,
}

/// Options of linking. Zero is the default of each field except the first.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_link_options {
    /// `sizeof(tgsic_link_options)`.
    pub size: usize,
    /// Output registers of the last stage before the rasteriser that are read by other consumers, such as stream
    /// output: they are not changed.
    pub kept: *const u32,
    /// Number of these registers.
    pub num_kept: usize,
    /// Flags: `TGSIC_LINK_...`.
    pub flags: u32,
    /// Must be 0.
    pub reserved: u32,
}

// SAFETY: `repr(C)`, the size comes first, and all types in it may be zero.
unsafe impl SizedStruct for tgsic_link_options {}

/// Reads the options that C passed in.
///
/// # Safety
/// As for [`tgsic_link`].
unsafe fn link_options(options: *const tgsic_link_options) -> Result<LinkOptions, Failure> {
    if options.is_null() {
        return Ok(LinkOptions::default());
    }
    if !options.is_aligned() {
        return Err(Failure::argument("options are not aligned"));
    }
    // SAFETY: it is aligned and not NULL, and the caller guarantees the size that it states.
    let options = unsafe { sized::read(options) };
    let options = options.map_err(|error| Failure::argument(error.message("tgsic_link_options")))?;
    if options.flags & !(TGSIC_LINK_SHARED_CONSTANTS | TGSIC_LINK_POINT_SPRITES) != 0 || options.reserved != 0 {
        return Err(Failure::argument("flags are set that this version of the library does not know"));
    }
    // SAFETY: the caller guarantees that there are this many.
    let kept = unsafe { sized::array(options.kept, options.num_kept, MAX_KEPT) };
    let kept = kept.ok_or_else(|| Failure::argument("`kept` is NULL, not aligned, or too long"))?;
    Ok(LinkOptions {
        captured: kept.to_vec(),
        shares_constants: options.flags & TGSIC_LINK_SHARED_CONSTANTS != 0,
        replaces_coordinates: options.flags & TGSIC_LINK_POINT_SPRITES != 0,
    })
}

impl tgsic_compiler {
    /// Reads the shaders of a pipeline: together if they are in one language, which may match names.
    fn readings(&self, inputs: &[(&'static dyn FrontEnd, Cow<'_, [u8]>)]) -> Result<Vec<Reading>, Failure> {
        let request =
            ReadRequest { limits: self.compiler.limits(), compiler: Some(&self.compiler), path: None, stage: None };
        if let [(first, _), rest @ ..] = inputs
            && rest.iter().all(|(front_end, _)| front_end.name() == first.name())
        {
            let inputs: Vec<(&[u8], ReadRequest<'_>)> = inputs.iter().map(|(_, bytes)| (&**bytes, request)).collect();
            return Ok(self.front_ends.reader(*first)?.read_pipeline(&inputs));
        }
        let read = |(front_end, bytes): &(&'static dyn FrontEnd, Cow<'_, [u8]>)| {
            Ok(self.front_ends.reader(*front_end)?.read(bytes, &request))
        };
        inputs.iter().map(read).collect()
    }

    /// Links shaders. Adds the findings of each to its result.
    fn link(
        &self,
        shaders: &[&[u8]],
        options: &LinkOptions,
        results: &mut [tgsic_result],
        summary: &mut tgsic_result,
    ) -> Result<(), Failure> {
        let inputs: Vec<(&'static dyn FrontEnd, Cow<'_, [u8]>)> =
            shaders.iter().map(|bytes| self.front_ends.of(bytes)).collect();
        let front_ends: Vec<&'static dyn FrontEnd> = inputs.iter().map(|&(front_end, _)| front_end).collect();
        // With the number of the input of each: further units of a shader have no source.
        let (mut sources, mut numbers): (Vec<Source<'_>>, Vec<usize>) = Default::default();
        for (number, ((reading, (front_end, bytes)), result)) in
            self.readings(&inputs)?.into_iter().zip(&inputs).zip(&mut *results).enumerate()
        {
            if reading.part_of.is_some() && reading.is_valid() {
                result.add_findings(bytes, *front_end, reading.findings)?;
                continue;
            }
            match take_reading(reading, bytes, *front_end, result) {
                Ok(source) => {
                    sizes_before(&source, result);
                    sources.push(source);
                    numbers.push(number);
                }
                Err(failure) => result.fail(failure),
            }
        }
        if let Some(first) = results.iter().position(tgsic_result::is_failed) {
            return Err(Failure::shader(of_shader(first, results)));
        }
        let number_of = |shader: usize| numbers.get(shader).copied().unwrap_or(shader);
        let program = self.compiler.link(sources, options).map_err(|error| match error {
            LinkError::Compile { shader, error } => {
                let shader = number_of(shader);
                if let (Some(result), Some(bytes)) = (results.get_mut(shader), shaders.get(shader)) {
                    let front_end = front_ends.get(shader).copied().unwrap_or(&TGSI_TEXT);
                    let failure = result.compile_error(bytes, front_end, &error);
                    result.fail(failure);
                }
                Failure::shader(of_shader(shader, results))
            }
            error => Failure::argument(error.to_string()),
        })?;
        let order: Vec<usize> = program.shaders.iter().map(|shader| number_of(shader.input)).collect();
        for shader in program.shaders {
            let number = number_of(shader.input);
            let Some(result) = results.get_mut(number) else { continue };
            let front_end = front_ends.get(number).copied().unwrap_or(&TGSI_TEXT);
            let finish = || {
                if self.reflects
                    && let Some(reflection) = shader.target.reflect(&shader.lowered)
                {
                    let reflection = reflection.map_err(|error| Failure::shader(error.to_string()))?;
                    result.reflection = Some(c_string(&json(&reflection)?));
                }
                self.put_code(shader.code, shader.level, &*shader.target, front_end, result)
            };
            if let Err(failure) = finish() {
                result.fail(failure);
            }
        }
        if let Some(first) = results.iter().position(tgsic_result::is_failed) {
            return Err(Failure::shader(of_shader(first, results)));
        }
        let pairs = order.windows(2).zip(&program.reports);
        summary.links = pairs.map(|(pair, report)| tgsic_link_report::new(report, pair[0], pair[1])).collect();
        Ok(())
    }
}

/// Returns the message of a shader's result with its number.
fn of_shader(number: usize, results: &[tgsic_result]) -> String {
    let message = results.get(number).map(tgsic_result::message).unwrap_or_default();
    format!("shader {number}: {message}")
}

/// Compiles the shaders of a pipeline together, of different stages, in any order. Desktop GLSL may have several shaders
/// of one stage, which are one shader for the others: the one with `main` has the code. Outputs that the next
/// stage does not read are removed, with the code that computed them; constants and copies move into the reader; the
/// remaining slots between each pair are numbered equally on both sides, without gaps. A language with names matches
/// outputs and inputs by name first; the stage of each shader then is that of its text. Never NULL.
///
/// The result has the status, and the changes for `tgsic_result_link`. `results[n]` is set to the result of shader `n`
/// (never NULL), for the caller to free: its code, sizes and warnings; or its errors; or, if it has none itself, the
/// error that the pipeline was not linked. `results` may be NULL if only the first error is of interest. More than 16
/// shaders are rejected, and `results` stays unchanged.
///
/// The status is `TGSIC_ERROR_ARGUMENT` if the stages cannot follow each other, or if the target must keep the
/// interface of a shader (`virgl`).
///
/// # Safety
/// `compiler` is one that was not freed. There are `num_shaders` shaders, each with as many bytes as it states, and
/// space for as many results, unless `results` is NULL. `options` is NULL or points to a struct of the size that it
/// states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_link(
    compiler: *const tgsic_compiler,
    shaders: *const tgsic_shader,
    num_shaders: usize,
    options: *const tgsic_link_options,
    results: *mut *mut tgsic_result,
) -> *mut tgsic_result {
    let mut summary = tgsic_result::default();
    // SAFETY: the caller guarantees that there are this many.
    let given = unsafe { sized::array(shaders, num_shaders, MAX_SHADERS) };
    let has_results = !results.is_null() && results.is_aligned() && num_shaders <= MAX_SHADERS;
    let count = if has_results { num_shaders } else { 0 };
    let mut own: Vec<tgsic_result> = given.unwrap_or_default().iter().map(|_| tgsic_result::default()).collect();
    let mut work = || {
        // SAFETY: the caller guarantees that it is NULL or a compiler that was not freed.
        let compiler = unsafe { compiler.as_ref() }.ok_or_else(|| Failure::argument("there is no compiler"))?;
        summary.allocator = compiler.allocator;
        own.iter_mut().for_each(|result| result.allocator = compiler.allocator);
        let given = given
            .ok_or_else(|| Failure::argument("`shaders` is NULL, not aligned, or longer than there are stages"))?;
        // SAFETY: the caller guarantees the requirements.
        let options = unsafe { link_options(options) }?;
        let mut bytes = Vec::new();
        for (number, shader) in given.iter().enumerate() {
            // SAFETY: the caller guarantees that they can be read.
            let shader = unsafe { sized::bytes(shader.data, shader.size) };
            bytes.push(shader.ok_or_else(|| Failure::argument(format!("there is no shader {number}")))?);
        }
        match guarded(|| compiler.link(&bytes, &options, &mut own, &mut summary)) {
            Ok(result) => result,
            Err(error) => Err(Failure::internal(error.message)),
        }
    };
    if let Err(failure) = work() {
        summary.fail(failure);
        for result in own.iter_mut().filter(|result| !result.is_failed()) {
            result.fail(Failure::like(summary.status(), format!("not linked: {}", summary.message())));
        }
    }
    let mut own = own.into_iter();
    for number in 0..count {
        let result = own.next().unwrap_or_else(|| {
            let mut result = tgsic_result::default();
            result.fail(Failure::argument(summary.message()));
            result
        });
        // SAFETY: it is aligned, not NULL, and the caller guarantees space for this many.
        let place = unsafe { results.add(number) };
        // SAFETY: likewise.
        unsafe { place.write(result.into_raw()) };
    }
    summary.into_raw()
}

/// Returns the number of pairs of stages that were linked.
///
/// # Safety
/// As for `tgsic_result_status`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_result_num_links(result: *const tgsic_result) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { result.as_ref() }.map_or(0, |result| result.links.len())
}

/// Fills in the changes between a stage and the next, counted from 0 in the order of the pipeline. Returns 1, or 0 if
/// there is no such pair or `size` is not set.
///
/// # Safety
/// As for `tgsic_result_status`; `report` is NULL or points to a struct of the size that it states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_result_link(
    result: *const tgsic_result,
    index: usize,
    report: *mut tgsic_link_report,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    let result = unsafe { result.as_ref() };
    let found = result.and_then(|result| result.links.get(index));
    // SAFETY: the caller guarantees the requirements.
    unsafe { write_struct(report, found) }
}
