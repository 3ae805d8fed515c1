//! `tgsic_compiler`: a driver with its options, and the functions that take shaders.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;
use std::time::Duration;

use tgsi::limits::Limits;
use tgsi::text::PrintOptions;
use tgsi_compiler::front_end::{FrontEnd, InputError, ReadRequest, TGSI_TOKENS};
use tgsi_compiler::{Budget, Code, CodeSize, Compiler, Source, Stage, Target};
use tgsi_ir::passes::pipeline::OptLevel;

#[cfg(feature = "run")]
use tgsi_compiler::Driver;

use crate::allocator::tgsic_allocator;
use crate::code::{Data, tgsic_form, tgsic_level};
use crate::failure::Failure;
use crate::front_end::{FrontEnds, take_reading};
use crate::guard::guarded;
use crate::result::tgsic_result;
use crate::scan::Scan;
use crate::sized::{self, SizedStruct};
use crate::strings::{c_string, json};

/// Texts that Mesa 25 does not read are errors.
pub const TGSIC_FLAG_STRICT: u32 = 1;
/// Results of `tgsic_translate` and `tgsic_link` have a `tgsic_result_reflection`.
pub const TGSIC_FLAG_REFLECT: u32 = 2;

/// A limit and its value. `tgsic limits` lists the names.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_limit {
    /// Its name, such as `instructions`.
    pub name: *const c_char,
    /// Its value.
    pub value: u64,
}

/// Options of a compiler. Zero is the default of each field except the first.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_options {
    /// `sizeof(tgsic_options)`.
    pub size: usize,
    /// The name of the driver; NULL for `tgsi`.
    pub driver: *const c_char,
    /// The name of a target profile of the driver, such as `nv30`; NULL for none.
    pub target: *const c_char,
    /// Names of options of the driver, separated by commas; NULL for none.
    pub driver_options: *const c_char,
    /// Limits that differ from their defaults; NULL for none.
    pub limits: *const tgsic_limit,
    /// Number of limits.
    pub num_limits: usize,
    /// A `tgsic_level`.
    pub level: u32,
    /// The `tgsic_form` of emitted TGSI.
    pub form: u32,
    /// Flags: `TGSIC_FLAG_...`.
    pub flags: u32,
    /// Shaders with more instructions are not optimised, only lowered; 0 for no bound.
    pub budget_instructions: u32,
    /// Allocates the memory that `tgsic_result_copy` returns.
    pub allocator: tgsic_allocator,
    /// Microseconds after which the optimiser stops, at the end of the current round; 0 for no bound.
    pub budget_microseconds: u64,
    /// The name of the front end that reads all shaders, such as `glsl`; NULL to recognise each by its first bytes.
    pub front_end: *const c_char,
    /// Options of this front end, `NAME` or `NAME=VALUE`, such as `stage=vertex`; NULL for none.
    pub front_end_options: *const *const c_char,
    /// Number of these options.
    pub num_front_end_options: usize,
}

// SAFETY: `repr(C)`, the size comes first, and all types in it may be zero.
unsafe impl SizedStruct for tgsic_options {}

/// A compiler. It is immutable; any number of threads may use it at the same time.
pub struct tgsic_compiler {
    pub(crate) compiler: Compiler,
    form: tgsic_form,
    pub(crate) front_ends: FrontEnds,
    pub(crate) reflects: bool,
    pub(crate) allocator: tgsic_allocator,
    /// The target of programs; `None` for drivers that do not run shaders.
    #[cfg(feature = "run")]
    pub(crate) run_options: Option<tgsi_driver_cpu::Options>,
}

impl tgsic_compiler {
    /// Creates the compiler for the options, with `more` options of the driver.
    ///
    /// # Safety
    /// As for [`tgsic_compiler_new`].
    pub(crate) unsafe fn new(options: *const tgsic_options, more: &[&str]) -> Result<tgsic_compiler, Failure> {
        let options = if options.is_null() {
            tgsic_options {
                size: size_of::<tgsic_options>(),
                driver: std::ptr::null(),
                target: std::ptr::null(),
                driver_options: std::ptr::null(),
                limits: std::ptr::null(),
                num_limits: 0,
                level: 0,
                form: 0,
                flags: 0,
                budget_instructions: 0,
                allocator: tgsic_allocator { allocate: None, user: std::ptr::null_mut() },
                budget_microseconds: 0,
                front_end: std::ptr::null(),
                front_end_options: std::ptr::null(),
                num_front_end_options: 0,
            }
        } else {
            if !options.is_aligned() {
                return Err(Failure::argument("options are not aligned"));
            }
            // SAFETY: it is aligned and not NULL, and the caller guarantees the size that it states.
            let options = unsafe { sized::read(options) };
            options.map_err(|error| Failure::argument(error.message("tgsic_options")))?
        };
        // SAFETY: the caller guarantees that strings end.
        let driver = unsafe { text(options.driver) }?.unwrap_or("tgsi");
        let driver = tgsi_registry::find(driver).ok_or_else(|| {
            let names: Vec<&str> = tgsi_registry::drivers().map(|driver| driver.name()).collect();
            Failure::argument(format!("no driver `{driver}`; there are {}", names.join(", ")))
        })?;
        // SAFETY: likewise.
        let names = unsafe { text(options.driver_options) }?.unwrap_or("");
        // SAFETY: likewise.
        let profile = unsafe { text(options.target) }?;
        let profile = profile.map(|name| tgsi_compiler::profile_named(driver, name)).transpose();
        let profile = profile.map_err(|error| Failure::argument(error.to_string()))?;
        let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
        let names: Vec<&str> = profile.into_iter().chain(names).chain(more.iter().copied()).collect();
        let target = driver.target(&names).map_err(|error| Failure::argument(error.to_string()))?;
        let level = match options.level {
            0 | 3 => OptLevel::Full,
            1 => OptLevel::LowerOnly,
            2 => OptLevel::NoSizeGrowth,
            other => return Err(Failure::argument(format!("no level {other}"))),
        };
        let form = match options.form {
            0 => tgsic_form::TGSIC_FORM_DEFAULT,
            1 => tgsic_form::TGSIC_FORM_TEXT,
            2 => tgsic_form::TGSIC_FORM_TOKENS,
            other => return Err(Failure::argument(format!("no form {other} of TGSI"))),
        };
        if options.flags & !(TGSIC_FLAG_STRICT | TGSIC_FLAG_REFLECT) != 0 {
            return Err(Failure::argument("flags are set that this version of the library does not know"));
        }
        // SAFETY: the caller guarantees that there are this many.
        let limits = unsafe { limits(options.limits, options.num_limits) }?;
        // SAFETY: likewise.
        let front_ends = unsafe { FrontEnds::new(&options, options.flags & TGSIC_FLAG_STRICT != 0) }?;
        let budget = Budget {
            instructions: (options.budget_instructions > 0).then(|| options.budget_instructions.into()),
            time: (options.budget_microseconds > 0).then(|| Duration::from_micros(options.budget_microseconds)),
        };
        let compiler =
            Compiler::for_target(Arc::from(target)).with_level(level).with_limits(limits).with_budget(budget);
        Ok(tgsic_compiler {
            compiler,
            form,
            front_ends,
            reflects: options.flags & TGSIC_FLAG_REFLECT != 0,
            allocator: options.allocator,
            #[cfg(feature = "run")]
            run_options: (driver.name() == tgsi_driver_cpu::DRIVER.name()).then(|| tgsi_driver_cpu::Options {
                keep_inactive: names.contains(&"keep_inactive"),
                machine_code: !names.contains(&"interpret"),
                quick: names.contains(&"quick"),
            }),
        })
    }

    /// Reads and checks a shader. Findings are added to the result.
    pub(crate) fn read(
        &self,
        bytes: &[u8],
        result: &mut tgsic_result,
    ) -> Result<(&'static dyn FrontEnd, Source<'static>), Failure> {
        self.read_for(bytes, Some(&self.compiler), result)
    }

    /// Reads a shader, and checks it if there is a compiler.
    fn read_for(
        &self,
        bytes: &[u8],
        compiler: Option<&Compiler>,
        result: &mut tgsic_result,
    ) -> Result<(&'static dyn FrontEnd, Source<'static>), Failure> {
        let (front_end, bytes) = self.front_ends.of(bytes);
        let reader = self.front_ends.reader(front_end)?;
        let request = ReadRequest { limits: self.compiler.limits(), compiler, path: None, stage: None };
        let source = take_reading(reader.read(&bytes, &request), &bytes, front_end, result)?;
        Ok((front_end, source))
    }

    /// Reads TGSI without the checks that compilation needs.
    fn read_tgsi(&self, bytes: &[u8], result: &mut tgsic_result) -> Result<tgsi::Shader, Failure> {
        let (front_end, source) = self.read_for(bytes, None, result)?;
        match source {
            Source::Tgsi(shader) => Ok(shader.into_owned()),
            Source::Ir(..) => {
                let finding = InputError::not_tgsi(bytes, front_end);
                result.add_findings(bytes, front_end, vec![finding])?;
                Err(Failure::internal("the error is not an error"))
            }
        }
    }

    fn translate(&self, bytes: &[u8], result: &mut tgsic_result) -> Result<(), Failure> {
        let (front_end, shader) = self.read(bytes, result)?;
        sizes_before(&shader, result);
        let mut error = |error| result.compile_error(bytes, front_end, &error);
        let mut compilation = self.compiler.start(shader).map_err(&mut error)?;
        compilation.advance(Stage::Registers).map_err(&mut error)?;
        let level = compilation.level();
        let reflection = if self.reflects { compilation.reflect().map_err(&mut error)? } else { None };
        let code = compilation.finish().map_err(&mut error)?;
        result.reflection = reflection.map(|reflection| json(&reflection)).transpose()?.map(|text| c_string(&text));
        self.put_code(code, level, self.compiler.target(), front_end, result)
    }

    /// Stores code and its sizes in a result.
    pub(crate) fn put_code(
        &self,
        code: Code,
        level: OptLevel,
        target: &dyn Target,
        front_end: &dyn FrontEnd,
        result: &mut tgsic_result,
    ) -> Result<(), Failure> {
        result.sizes.level = match level {
            OptLevel::LowerOnly => tgsic_level::TGSIC_LEVEL_LOWER,
            OptLevel::NoSizeGrowth => tgsic_level::TGSIC_LEVEL_NO_GROWTH,
            OptLevel::Full => tgsic_level::TGSIC_LEVEL_ALL,
        } as u32;
        let after = target.size(&code);
        result.sizes.instructions_after = after.instructions;
        result.sizes.temporaries_after = after.temporaries;
        result.sizes.immediates_after = after.immediates;
        result.data = match code {
            Code::Tgsi(shader, options) => self.code_of_tgsi(&shader, options, self.form_of(front_end))?,
            Code::Text(text) => Data::text(text, tgsic_form::TGSIC_FORM_CODE),
            code @ (Code::Binary(_) | Code::Object(_)) => Data::Bytes(code.into_bytes()),
        };
        Ok(())
    }

    fn form_of(&self, front_end: &dyn FrontEnd) -> tgsic_form {
        match self.form {
            tgsic_form::TGSIC_FORM_DEFAULT if front_end.name() == TGSI_TOKENS.name() => tgsic_form::TGSIC_FORM_TOKENS,
            tgsic_form::TGSIC_FORM_DEFAULT => tgsic_form::TGSIC_FORM_TEXT,
            form => form,
        }
    }

    fn code_of_tgsi(&self, shader: &tgsi::Shader, options: PrintOptions, form: tgsic_form) -> Result<Data, Failure> {
        if form == tgsic_form::TGSIC_FORM_TOKENS {
            let words = tgsi::tokens::encode(shader);
            return words.map(Data::Tokens).map_err(|error| Failure::shader(error.to_string()));
        }
        Ok(Data::text(tgsi::text::print(shader, options), tgsic_form::TGSIC_FORM_TEXT))
    }

    fn convert(&self, bytes: &[u8], form: u32, result: &mut tgsic_result) -> Result<(), Failure> {
        let form = match form {
            1 => tgsic_form::TGSIC_FORM_TEXT,
            2 => tgsic_form::TGSIC_FORM_TOKENS,
            other => return Err(Failure::argument(format!("no form {other} of TGSI"))),
        };
        let shader = self.read_tgsi(bytes, result)?;
        result.data = self.code_of_tgsi(&shader, PrintOptions::default(), form)?;
        Ok(())
    }

    fn scan(&self, bytes: &[u8], result: &mut tgsic_result) -> Result<(), Failure> {
        let shader = self.read_tgsi(bytes, result)?;
        let scan = tgsi::scan::scan(&shader);
        result.data = Data::text(json(&scan)?, tgsic_form::TGSIC_FORM_CODE);
        result.scan = Some(Box::new(Scan::of(&scan, &tgsi::scan::resources(&shader))));
        Ok(())
    }

    fn check(&self, bytes: &[u8], result: &mut tgsic_result) -> Result<(), Failure> {
        let (front_end, shader) = self.read(bytes, result)?;
        match shader {
            Source::Tgsi(shader) => result.add_findings(bytes, front_end, tgsi::check::lint(&shader)),
            Source::Ir(..) => Ok(()),
        }
    }

    /// Runs a function over a shader that C passed in. Always returns a result.
    ///
    /// # Safety
    /// As for [`tgsic_translate`].
    pub(crate) unsafe fn run(
        compiler: *const tgsic_compiler,
        shader: *const c_void,
        size: usize,
        work: impl FnOnce(&tgsic_compiler, &[u8], &mut tgsic_result) -> Result<(), Failure>,
    ) -> *mut tgsic_result {
        let mut result = tgsic_result::default();
        // SAFETY: the caller guarantees that it is NULL or a compiler that was not freed.
        let Some(compiler) = (unsafe { compiler.as_ref() }) else {
            result.fail(Failure::argument("there is no compiler"));
            return result.into_raw();
        };
        result.allocator = compiler.allocator;
        // SAFETY: the caller guarantees that they can be read.
        let Some(bytes) = (unsafe { sized::bytes(shader, size) }) else {
            result.fail(Failure::argument("there is no shader"));
            return result.into_raw();
        };
        match guarded(|| work(compiler, bytes, &mut result)) {
            Ok(Ok(())) => {}
            Ok(Err(failure)) => result.fail(failure),
            Err(error) => result.fail(Failure::internal(error.message)),
        }
        result.into_raw()
    }
}

/// Stores the sizes of the source in a result.
pub(crate) fn sizes_before(shader: &Source<'_>, result: &mut tgsic_result) {
    if let Source::Tgsi(shader) = shader {
        let before = CodeSize::from(&**shader);
        result.sizes.instructions_before = before.instructions;
        result.sizes.temporaries_before = before.temporaries;
        result.sizes.immediates_before = before.immediates;
    }
}

/// Converts a string that C passed in.
///
/// # Safety
/// It is NULL or ends with a NUL, and outlives the result.
pub(crate) unsafe fn text<'a>(pointer: *const c_char) -> Result<Option<&'a str>, Failure> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: it is not NULL, and the caller guarantees that it ends.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map(Some).map_err(|_| Failure::argument("a name is not UTF-8"))
}

/// Reads the limits that C passed in.
///
/// # Safety
/// Unless the count is 0, there are this many at the pointer, and their names are strings.
unsafe fn limits(pointer: *const tgsic_limit, count: usize) -> Result<Limits, Failure> {
    let mut limits = Limits::default();
    if count == 0 {
        return Ok(limits);
    }
    if pointer.is_null() || !pointer.is_aligned() || count > Limits::TABLE.len() {
        return Err(Failure::argument("`limits` is NULL, not aligned, or longer than there are limits"));
    }
    // SAFETY: it is aligned, not NULL, and the caller guarantees that there are this many.
    let given = unsafe { std::slice::from_raw_parts(pointer, count) };
    for limit in given {
        // SAFETY: the caller guarantees that it is a string.
        let name = unsafe { text(limit.name) }?.ok_or_else(|| Failure::argument("a limit has no name"))?;
        limits.set(name, limit.value).map_err(|error| Failure::argument(error.to_string()))?;
    }
    Ok(limits)
}

/// Creates a compiler. `options` may be NULL: then all have their default.
///
/// Returns NULL if the options are wrong. `*error` is then a result with the reason, for the caller to free; otherwise
/// it is NULL. `error` may be NULL.
///
/// # Safety
/// `options` is NULL or points to a struct of the size that it states, with strings that end with a NUL. `error` is
/// NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_compiler_new(
    options: *const tgsic_options,
    error: *mut *mut tgsic_result,
) -> *mut tgsic_compiler {
    // SAFETY: the caller guarantees the requirements.
    let compiler = match guarded(|| unsafe { tgsic_compiler::new(options, &[]) }) {
        Ok(result) => result,
        Err(error) => Err(Failure::internal(error.message)),
    };
    // SAFETY: likewise.
    unsafe { made(compiler, error) }
}

/// Returns a pointer to the new object, or NULL and the failure in `*error`.
///
/// # Safety
/// `error` is NULL or can be written.
pub(crate) unsafe fn made<T>(object: Result<T, Failure>, error: *mut *mut tgsic_result) -> *mut T {
    let (object, failure) = match object {
        Ok(object) => (Box::into_raw(Box::new(object)), None),
        Err(failure) => (std::ptr::null_mut(), Some(failure)),
    };
    if !error.is_null() {
        let result = failure.map_or(std::ptr::null_mut(), |failure| tgsic_result::failed(failure).into_raw());
        // SAFETY: it is not NULL, and the caller guarantees that it can be written.
        unsafe { error.write(result) };
    }
    object
}

/// Frees a compiler. Its results stay valid. NULL is ignored.
///
/// # Safety
/// It is NULL or came from `tgsic_compiler_new`, was not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_compiler_free(compiler: *mut tgsic_compiler) {
    if !compiler.is_null() {
        // SAFETY: `tgsic_compiler_new` created it from a box, and the caller guarantees that it was not freed.
        drop(unsafe { Box::from_raw(compiler) });
    }
}

/// Compiles a shader of `size` bytes: TGSI text, TGSI tokens, IR text, or a text for another front end. Never NULL.
///
/// The result has the code, the sizes before and after, the interface by name, and the warnings; or the errors.
///
/// # Safety
/// `compiler` is one that was not freed. `size` bytes can be read at `shader`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_translate(
    compiler: *const tgsic_compiler,
    shader: *const c_void,
    size: usize,
) -> *mut tgsic_result {
    // SAFETY: the caller guarantees the requirements.
    unsafe { tgsic_compiler::run(compiler, shader, size, tgsic_compiler::translate) }
}

/// Checks a shader for everything that a driver may rely on, and reports code without effect. Never NULL.
///
/// The result has the findings. Its status is `TGSIC_OK` if none of them is an error.
///
/// # Safety
/// As for `tgsic_translate`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_check(
    compiler: *const tgsic_compiler,
    shader: *const c_void,
    size: usize,
) -> *mut tgsic_result {
    // SAFETY: the caller guarantees the requirements.
    unsafe { tgsic_compiler::run(compiler, shader, size, tgsic_compiler::check) }
}

/// Converts TGSI from one form to another, `TGSIC_FORM_TEXT` or `TGSIC_FORM_TOKENS`, and changes nothing else. Never
/// NULL.
///
/// # Safety
/// As for `tgsic_translate`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_convert(
    compiler: *const tgsic_compiler,
    shader: *const c_void,
    size: usize,
    form: u32,
) -> *mut tgsic_result {
    // SAFETY: the caller guarantees the requirements.
    unsafe {
        tgsic_compiler::run(compiler, shader, size, |compiler, bytes, result| compiler.convert(bytes, form, result))
    }
}

/// Scans TGSI: the result has a `tgsic_scan_info`, registers, resources, and the scan as JSON. Never NULL.
///
/// # Safety
/// As for `tgsic_translate`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_scan(
    compiler: *const tgsic_compiler,
    shader: *const c_void,
    size: usize,
) -> *mut tgsic_result {
    // SAFETY: the caller guarantees the requirements.
    unsafe { tgsic_compiler::run(compiler, shader, size, tgsic_compiler::scan) }
}
