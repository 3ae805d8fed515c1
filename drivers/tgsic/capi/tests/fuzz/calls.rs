//! Calls of the library like those of a C program, chosen by bytes. The fuzz target `capi` of `fixtures/fuzz` runs
//! them, as does the smoke test `tests/fuzz.rs`.
//!
//! The first [`HEADER`] bytes select the function, the options and the arguments, correct or wrong. All zero is the
//! translation of a shader by a compiler with all defaults. The shader follows: text or tokens.
//!
//! The calls assert that no call ends with `TGSIC_ERROR_INTERNAL`, that a result has either an error or its data, that
//! positions of findings lie in the shader, that nothing is written beyond a struct, and that code passes the check of
//! its compiler. Accesses out of bounds are left to AddressSanitizer: each shader and struct is an allocation of its
//! exact size.

#[cfg(feature = "run")]
#[path = "run.rs"]
mod run;
#[path = "virgl.rs"]
mod virgl;

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use tgsi::limits::Limits;
use tgsi_capi::*;

/// Bytes before the shader.
pub const HEADER: usize = 16;

/// First bytes of headers for the calls that take more than a shader. Other bytes select one of eight by their low
/// bits.
pub const LINK: u8 = 0x40;
/// Likewise.
pub const RUN: u8 = 0x80;
/// Likewise.
pub const VIRGL: u8 = 0xc0;

/// Successful calls of `tgsic_link`, so that a test can check that the calls are meaningful.
pub static LINKED: AtomicUsize = AtomicUsize::new(0);
/// Shaders that were replaced in command buffers.
pub static REPLACED: AtomicUsize = AtomicUsize::new(0);
/// Calls that ran a shader.
#[cfg(feature = "run")]
pub static RAN: AtomicUsize = AtomicUsize::new(0);

/// The size above which the library rejects structs.
const MAX_STRUCT: usize = 4096;

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// An allocation of an exact size and alignment, filled with zero.
struct Memory {
    start: *mut u8,
    layout: Layout,
}

impl Memory {
    fn new(size: usize, align: usize) -> Memory {
        let layout = Layout::from_size_align(size.max(1), align).expect("a small size");
        // SAFETY: the size is not 0.
        let start = unsafe { alloc_zeroed(layout) };
        assert!(!start.is_null());
        Memory { start, layout }
    }

    /// A copy of some bytes, `offset` bytes after an aligned address.
    fn of_bytes(bytes: &[u8], offset: usize) -> Memory {
        let memory = Memory::new(offset + bytes.len(), 8);
        // SAFETY: within the allocation.
        let target = unsafe { memory.start.add(offset) };
        // SAFETY: the rest of the allocation has that size.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len()) };
        memory
    }

    /// Memory of a struct that states a size. The library may only access that many bytes; of structs that it must
    /// reject, only the size field.
    fn of_struct(size: usize) -> Memory {
        let real = if size > MAX_STRUCT { size_of::<usize>() } else { size.max(size_of::<usize>()) };
        let memory = Memory::new(real, 8);
        // SAFETY: there are at least as many bytes, and they are aligned.
        unsafe { memory.start.cast::<usize>().write(size) };
        memory
    }
}

impl Memory {
    /// A copy of a struct in memory of the size that it states.
    fn of_value<T>(value: &T, stated: usize) -> Memory {
        let memory = Memory::of_struct(stated);
        if (size_of::<usize>()..=MAX_STRUCT).contains(&stated) {
            let copied = stated.min(size_of::<T>());
            // SAFETY: both have this many bytes.
            unsafe { ptr::copy_nonoverlapping(ptr::from_ref(value).cast::<u8>(), memory.start, copied) };
        }
        memory
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.start, self.layout) };
    }
}

/// Returns a size that a caller may state for a struct of this size.
fn stated_size(decision: u8, own: usize) -> usize {
    match decision % 32 {
        16 => 0,
        17 => size_of::<usize>() - 1,
        18 => size_of::<usize>(),
        19 => own - 1,
        20 => own - 4,
        // Whole fields: a part of a pointer leads nowhere.
        21 => (own / 2) & !7,
        22 => own + 4,
        23 => own + 64,
        24 => MAX_STRUCT,
        25 => MAX_STRUCT + 1,
        26 => usize::MAX,
        27 => (own / 4) & !7,
        _ => own,
    }
}

unsafe extern "C" fn allocate(user: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the options pass a counter in.
    unsafe { *user.cast::<usize>() += size };
    // SAFETY: `malloc` accepts any size.
    unsafe { malloc(size) }
}

unsafe extern "C" fn allocate_nothing(_user: *mut c_void, _size: usize) -> *mut c_void {
    ptr::null_mut()
}

/// Strings for C that live as long as the call.
#[derive(Default)]
struct Strings(Vec<CString>);

impl Strings {
    fn add(&mut self, text: impl Into<Vec<u8>>) -> *const c_char {
        let text = CString::new(text).unwrap_or_default();
        let pointer = text.as_ptr();
        self.0.push(text);
        pointer
    }
}

/// Returns the name at an index of a list of names: NULL for 0, and a wrong name beyond the list.
fn chosen<'n>(decision: u8, mut names: impl ExactSizeIterator<Item = &'n str>, strings: &mut Strings) -> *const c_char {
    let count = names.len();
    match usize::from(decision) % (count + 2) {
        0 => ptr::null(),
        number => match names.nth(number - 1) {
            Some(name) => strings.add(name),
            None => strings.add([decision, 0xff]),
        },
    }
}

/// Makes the calls that some bytes select.
pub fn calls(data: &[u8]) {
    let Some((header, shader)) = data.split_first_chunk::<HEADER>() else { return };
    let [_, driver, profile, option, second_option, level_form, flags, budget, limit, value, wrong, ..] = *header;
    let [.., options_size, _, _, _, allocator] = *header;
    let mut strings = Strings::default();
    // Only one driver runs shaders; programs of other drivers are rejected.
    let runs = header[0] == RUN && wrong % 64 != 58;
    let known = tgsi_registry::default_driver();
    let mut allocated = 0_usize;
    let front_end_options = [strings.add(shader), ptr::null()];
    let mut options = tgsic_options {
        size: stated_size(options_size, size_of::<tgsic_options>()),
        driver: chosen(driver, tgsi_registry::driver_rows().iter().map(|row| row.driver.name()), &mut strings),
        target: chosen(profile, known.profiles().iter().map(|profile| profile.name), &mut strings),
        driver_options: ptr::null(),
        limits: ptr::null(),
        num_limits: 0,
        level: u32::from(level_form & 15) % 5,
        form: u32::from(level_form >> 4) % 4,
        flags: u32::from(flags) % 5,
        budget_instructions: match budget & 15 {
            0 => 0,
            15 => u32::MAX,
            few => u32::from(few) * u32::from(few),
        },
        allocator: match allocator % 4 {
            0 | 1 => tgsic_allocator { allocate: None, user: ptr::null_mut() },
            2 => tgsic_allocator { allocate: Some(allocate), user: ptr::from_mut(&mut allocated).cast() },
            _ => tgsic_allocator { allocate: Some(allocate_nothing), user: ptr::null_mut() },
        },
        budget_microseconds: match budget >> 4 {
            0 => 0,
            15 => u64::MAX,
            shift => 1 << shift,
        },
        front_end: ptr::null(),
        front_end_options: ptr::null(),
        num_front_end_options: 0,
    };
    let option_names: Vec<&str> = [option, second_option]
        .into_iter()
        .filter(|&option| option != 0)
        .map(|option| known.options().get(usize::from(option) - 1).map_or("no_such_option", |option| option.name))
        .collect();
    if !option_names.is_empty() {
        options.driver_options = strings.add(option_names.join(","));
    }
    let limit_name = chosen(limit, Limits::TABLE.iter().map(|limit| limit.name), &mut strings);
    // Values below and above the needs of these shaders.
    let limits = [tgsic_limit { name: limit_name, value: u64::from(value) * u64::from(value) }];
    if limit != 0 {
        options.limits = limits.as_ptr();
        options.num_limits = 1;
    }
    if runs {
        options.driver = strings.add("cpu");
        options.driver_options = if option % 2 == 0 { ptr::null() } else { strings.add("keep_inactive") };
        options.target = ptr::null();
    }
    match wrong % 64 {
        28 => options.front_end = strings.add(shader),
        29 => options.num_front_end_options = usize::MAX,
        30 => options.num_front_end_options = 1,
        31 => {
            let front_ends = tgsi_registry::front_ends().iter().map(|front_end| front_end.name());
            options.front_end = chosen(value, front_ends, &mut strings);
            options.front_end_options = front_end_options.as_ptr();
            options.num_front_end_options = usize::from(limit % 3);
        }
        32 => options.limits = ptr::null(),
        33 => options.num_limits = usize::MAX,
        34 => options.limits = limits.as_ptr().wrapping_byte_add(4),
        35 => options.flags = u32::MAX,
        36 => options.level = u32::MAX,
        37 => options.form = u32::MAX,
        38 => options.driver = strings.add(b"\xff\xfe".to_vec()),
        39 => options.driver_options = strings.add(shader),
        40 => options.target = strings.add(shader),
        _ => {}
    }
    if header[0] == VIRGL {
        let memory = memory_of(&options);
        return virgl::rewrite(memory.start.cast(), header, shader);
    }
    let compiler = new_compiler(&options, wrong % 64);
    one_call(compiler, header, shader);
    if !compiler.is_null() && wrong % 64 == 41 {
        // A second call of the same compiler.
        one_call(compiler, header, shader.get(1..).unwrap_or_default());
    }
    // SAFETY: it was not freed, or is NULL.
    unsafe { tgsic_compiler_free(compiler) };
}

/// Returns options in as many bytes as they state.
fn memory_of(options: &tgsic_options) -> Memory {
    let memory = Memory::of_struct(options.size);
    let copied = if options.size > MAX_STRUCT { size_of::<usize>() } else { options.size };
    let copied = copied.min(size_of::<tgsic_options>());
    // SAFETY: both have this many bytes.
    unsafe { ptr::copy_nonoverlapping(ptr::from_ref(options).cast::<u8>(), memory.start, copied) };
    memory
}

fn new_compiler(options: &tgsic_options, wrong: u8) -> *mut tgsic_compiler {
    let memory = memory_of(options);
    if wrong == 42 && options.size > size_of::<tgsic_options>() && options.size <= MAX_STRUCT {
        // A field of a later version.
        let last = memory.start.wrapping_add(options.size - 1);
        // SAFETY: the last byte of the allocation.
        unsafe { last.write(1) };
    }
    let mut pointer = memory.start.cast_const().cast::<tgsic_options>();
    match wrong {
        43 => pointer = ptr::null(),
        44 => pointer = pointer.wrapping_byte_add(1),
        _ => {}
    }
    let mut error = ptr::dangling_mut();
    let wants_error = wrong != 45;
    // SAFETY: the struct has the size that it states, or is one that must be rejected before it is read.
    let compiler = unsafe { tgsic_compiler_new(pointer, if wants_error { &raw mut error } else { ptr::null_mut() }) };
    if wants_error {
        assert_eq!(error.is_null(), !compiler.is_null(), "either a compiler or an error");
        if !error.is_null() {
            // SAFETY: it is a result that was not freed.
            assert_eq!(unsafe { tgsic_result_status(error) }, tgsic_status::TGSIC_ERROR_ARGUMENT, "{}", text_of(error));
            read(error, 0, &[0; HEADER]);
            // SAFETY: likewise.
            unsafe { tgsic_result_free(error) };
        }
    }
    compiler
}

/// Calls a function with a shader, and reads all of the result.
fn one_call(compiler: *const tgsic_compiler, header: &[u8; HEADER], shader: &[u8]) {
    let [call, .., offset, _] = *header;
    let wrong = header[10] % 64;
    let offset = usize::from(offset) % 8;
    let memory = Memory::of_bytes(shader, offset);
    let (mut start, mut size) = (memory.start.cast_const().wrapping_add(offset).cast::<c_void>(), shader.len());
    match wrong {
        46 => (start, size) = (ptr::null(), 0),
        47 => start = ptr::null(),
        48 => size = 0,
        49 => size = usize::MAX,
        50 => start = ptr::dangling(),
        _ => {}
    }
    if wrong == 49 {
        // Larger than any object, so only NULL may come with it: other arguments would be invalid.
        start = ptr::null();
    }
    if wrong == 50 {
        size = 0;
    }
    let compiler = if wrong == 51 { ptr::null() } else { compiler };
    match call {
        LINK => return link(compiler, header, (start, size)),
        #[cfg(feature = "run")]
        RUN => return run::run(compiler, header, (start, size)),
        _ => {}
    }
    // SAFETY, for all: this many bytes can be read there, or it is NULL.
    let result = match call % 8 {
        // SAFETY: as above.
        0..=2 => unsafe { tgsic_translate(compiler, start, size) },
        // SAFETY: as above.
        3 => unsafe { tgsic_fit(compiler, start, size) },
        // SAFETY: as above.
        4 => unsafe { tgsic_check(compiler, start, size) },
        // SAFETY: as above.
        5 => unsafe { tgsic_scan(compiler, start, size) },
        // SAFETY: as above.
        form => unsafe { tgsic_convert(compiler, start, size, u32::from(form - 5) % 3 + u32::from(wrong == 52) * 2) },
    };
    drop(memory);
    assert!(!result.is_null());
    let given = if size == 0 || start.is_null() { &[] } else { shader };
    // SAFETY: it is a result that was not freed.
    let num_limits = unsafe { tgsic_result_num_limits(result) };
    // Findings of `tgsic_fit` are in the translation, which has an unknown length.
    read(result, if num_limits > 0 { usize::MAX } else { given.len() }, header);
    limits(result, num_limits, header);
    // SAFETY: it is a result that was not freed.
    let status = unsafe { tgsic_result_status(result) };
    if status == tgsic_status::TGSIC_OK && call % 8 < 3 {
        check_code(compiler, result);
    }
    // SAFETY: it is not used any more.
    unsafe { tgsic_result_free(result) };
}

/// The shaders to link with, by stage.
const PARTNERS: [&str; 3] = [
    "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL IN[1], GENERIC[1], PERSPECTIVE\nDCL IN[2], TEXCOORD[0], \
     PERSPECTIVE\nDCL IN[3], COLOR, COLOR\nDCL OUT[0], COLOR\nDCL TEMP[0]\nMAD TEMP[0], IN[0], IN[1], IN[2]\nADD \
     OUT[0], TEMP[0], IN[3]\nEND\n",
    "VERT\nDCL IN[0..2]\nDCL OUT[0], POSITION\nDCL OUT[1], GENERIC[0]\nDCL OUT[2], COLOR\nDCL OUT[3], GENERIC[1]\n\
     DCL CONST[0][0]\nIMM[0] FLT32 {0, 1, 2, 3}\nMOV OUT[0], IN[0]\nMUL OUT[1], IN[1], IN[2]\nMOV OUT[2], IMM[0]\n\
     MOV OUT[3], CONST[0][0]\nEND\n",
    "GEOM\nPROPERTY GS_INPUT_PRIMITIVE POINTS\nPROPERTY GS_OUTPUT_PRIMITIVE POINTS\nPROPERTY \
     GS_MAX_OUTPUT_VERTICES 1\nDCL IN[][0], GENERIC[0]\nDCL OUT[0], POSITION\nDCL OUT[1], GENERIC[0]\nIMM[0] UINT32 \
     {0, 0, 0, 0}\nMOV OUT[0], IN[0][0]\nMOV OUT[1], IN[0][0]\nEMIT IMM[0].xxxx\nENDPRIM IMM[0].xxxx\nEND\n",
];

/// Links a shader with one or two others, and reads all results.
fn link(compiler: *const tgsic_compiler, header: &[u8; HEADER], (start, size): (*const c_void, usize)) {
    let [.., wrong, options_size, struct_size, decision, _, _] = *header;
    let partner = |which: u8| {
        let text = PARTNERS[usize::from(which) % PARTNERS.len()];
        tgsic_shader { data: text.as_ptr().cast(), size: text.len() }
    };
    let mut shaders = vec![partner(decision), tgsic_shader { data: start, size }, partner(decision / 3)];
    shaders.truncate(if decision & 0x80 != 0 { 3 } else { 2 });
    let kept = [u32::from(decision) % 5, u32::MAX];
    let options = tgsic_link_options {
        size: stated_size(options_size, size_of::<tgsic_link_options>()),
        kept: if decision & 0x40 != 0 { kept.as_ptr() } else { ptr::null() },
        num_kept: if decision & 0x40 != 0 { 2 } else { usize::from(wrong % 64 == 53) },
        flags: u32::from(decision) % 5,
        reserved: 0,
    };
    let memory = Memory::of_value(&options, options.size);
    let count = match wrong % 64 {
        54 => 0,
        55 => 1,
        56 => usize::MAX,
        _ => shaders.len(),
    };
    let results = Memory::new(shaders.len() * size_of::<*mut tgsic_result>(), 8);
    let pointer = if wrong % 64 == 57 { ptr::null_mut() } else { results.start.cast::<*mut tgsic_result>() };
    // SAFETY: there are this many shaders and results, or more than are read.
    let summary = unsafe { tgsic_link(compiler, shaders.as_ptr(), count, memory.start.cast(), pointer) };
    assert!(!summary.is_null());
    read(summary, 0, header);
    // SAFETY: it is a result that was not freed.
    let status = unsafe { tgsic_result_status(summary) };
    // SAFETY: likewise.
    let num_links = unsafe { tgsic_result_num_links(summary) };
    assert_eq!(num_links, if status == tgsic_status::TGSIC_OK { count - 1 } else { 0 });
    LINKED.fetch_add(num_links, Ordering::Relaxed);
    for number in 0..=num_links {
        let report = Memory::of_struct(stated_size(struct_size, size_of::<tgsic_link_report>()));
        // SAFETY: the struct has the size that it states.
        let found = unsafe { tgsic_result_link(summary, number, report.start.cast()) };
        assert!(found == 0 || number < num_links, "a pair too many");
    }
    // SAFETY: it is not used any more.
    unsafe { tgsic_result_free(summary) };
    let num_results = if pointer.is_null() || count > shaders.len() { 0 } else { count };
    for (number, shader) in shaders.iter().enumerate().take(num_results) {
        // SAFETY: it was written.
        let result = unsafe { pointer.wrapping_add(number).read() };
        assert!(!result.is_null());
        read(result, shader.size, header);
        // SAFETY: it is a result that was not freed.
        let own = unsafe { tgsic_result_status(result) };
        assert_eq!(own == tgsic_status::TGSIC_OK, status == tgsic_status::TGSIC_OK, "{}", text_of(result));
        if own == tgsic_status::TGSIC_OK {
            check_code(compiler, result);
        }
        // SAFETY: likewise.
        let reflection = unsafe { tgsic_result_reflection(result) };
        if !reflection.is_null() {
            assert!(string(reflection).starts_with('{'));
        }
        // SAFETY: it is not used any more.
        unsafe { tgsic_result_free(result) };
    }
}

/// The message of a result.
fn text_of(result: *const tgsic_result) -> String {
    // SAFETY: the result was not freed.
    let message = unsafe { tgsic_result_message(result) };
    // SAFETY: the string lives as long as the result.
    let text = unsafe { CStr::from_ptr(message) };
    text.to_string_lossy().into_owned()
}

/// A string of a finding.
fn string(pointer: *const c_char) -> &'static str {
    assert!(!pointer.is_null());
    // SAFETY: strings of findings end, and the caller keeps the result.
    unsafe { CStr::from_ptr(pointer) }.to_str().expect("UTF-8")
}

/// Reads everything in a result with findings about an input of this length.
fn read(result: *const tgsic_result, length: usize, header: &[u8; HEADER]) {
    let [.., _, struct_size, index, _, _] = *header;
    // SAFETY: the result was not freed.
    let status = unsafe { tgsic_result_status(result) };
    assert_ne!(status, tgsic_status::TGSIC_ERROR_INTERNAL, "{}", text_of(result));
    let is_ok = status == tgsic_status::TGSIC_OK;
    assert_eq!(text_of(result).is_empty(), is_ok, "{}", text_of(result));
    data(result);
    findings(result, length, struct_size);

    let sizes = Memory::of_struct(stated_size(struct_size, size_of::<tgsic_sizes>()));
    // SAFETY: the struct has the size that it states.
    unsafe { tgsic_result_sizes(result, sizes.start.cast()) };
    let info = Memory::of_struct(stated_size(struct_size, size_of::<tgsic_scan_info>()));
    // SAFETY: likewise.
    let scanned = unsafe { tgsic_result_scan(result, info.start.cast()) };
    for file in [TGSIC_FILE_INPUT, TGSIC_FILE_OUTPUT, TGSIC_FILE_SYSTEM_VALUE, u32::from(index)] {
        for number in [0, 1, usize::from(index), usize::MAX] {
            let register = Memory::of_struct(stated_size(struct_size, size_of::<tgsic_register>()));
            // SAFETY: likewise.
            let found = unsafe { tgsic_result_register(result, file, number, register.start.cast()) };
            assert!(found <= scanned || struct_size != 0, "a register without a scan");
        }
    }
    // SAFETY: the result was not freed.
    let count = unsafe { tgsic_result_num_resources(result) };
    assert!(count == 0 || scanned == 1 || struct_size != 0, "resources without a scan");
    for number in 0..=count {
        let resource = Memory::of_struct(stated_size(struct_size, size_of::<tgsic_resource>()));
        // SAFETY: likewise.
        let found = unsafe { tgsic_result_resource(result, number, resource.start.cast()) };
        assert!(found == 0 || number < count, "a resource too many");
    }
    // A null pointer, and one that is not aligned.
    for target in [ptr::null_mut(), sizes.start.wrapping_add(1)] {
        // SAFETY: an unaligned struct is not written.
        assert_eq!(unsafe { tgsic_result_sizes(result, target.cast()) }, 0);
        // SAFETY: likewise.
        assert_eq!(unsafe { tgsic_result_scan(result, target.cast()) }, 0);
        // SAFETY: likewise.
        assert_eq!(unsafe { tgsic_result_finding(result, 0, target.cast()) }, 0);
        // SAFETY: likewise.
        assert_eq!(unsafe { tgsic_result_register(result, TGSIC_FILE_INPUT, 0, target.cast()) }, 0);
        // SAFETY: likewise.
        assert_eq!(unsafe { tgsic_result_resource(result, 0, target.cast()) }, 0);
    }
}

/// Reads the data of a result, in place and as a copy.
fn data(result: *const tgsic_result) {
    let mut size = usize::MAX;
    // SAFETY: the result was not freed, and the size can be written.
    let data = unsafe { tgsic_result_data(result, &raw mut size) }.cast::<u8>();
    // SAFETY: the result was not freed.
    let form = unsafe { tgsic_result_form(result) };
    assert_eq!(data.is_null(), form == 0);
    // SAFETY: as above.
    assert_eq!(unsafe { tgsic_result_data(result, ptr::null_mut()) }.cast::<u8>(), data);
    let mut copied = usize::MAX;
    // SAFETY: as above.
    let copy = unsafe { tgsic_result_copy(result, &raw mut copied) };
    assert_eq!(copied, size);
    if data.is_null() {
        assert!(copy.is_null() && size == 0);
        return;
    }
    // SAFETY: the result has this many bytes there.
    let bytes = unsafe { std::slice::from_raw_parts(data, size) };
    if form == tgsic_form::TGSIC_FORM_TOKENS as u32 {
        assert!(data.cast::<u32>().is_aligned() && size % 4 == 0);
    } else {
        // SAFETY: text has one more byte.
        assert_eq!(unsafe { data.wrapping_add(size).read() }, 0);
        assert!(!bytes.contains(&0) && std::str::from_utf8(bytes).is_ok());
    }
    if !copy.is_null() {
        // SAFETY: the copy has this many bytes.
        assert_eq!(unsafe { std::slice::from_raw_parts(copy.cast::<u8>(), size) }, bytes);
        // SAFETY: it came from `malloc` in either case, and belongs to the caller.
        unsafe { free(copy) };
    }
}

fn findings(result: *const tgsic_result, length: usize, struct_size: u8) {
    // SAFETY: the result was not freed.
    let count = unsafe { tgsic_result_num_findings(result) };
    for number in 0..count.min(50) {
        let memory = Memory::of_struct(stated_size(struct_size, size_of::<tgsic_finding>()));
        // SAFETY: the struct has the size that it states.
        let found = unsafe { tgsic_result_finding(result, number, memory.start.cast()) };
        if memory.layout.size() < size_of::<tgsic_finding>() || found == 0 {
            continue;
        }
        // SAFETY: it was filled in.
        let finding = unsafe { memory.start.cast::<tgsic_finding>().read() };
        let (code, name) = (string(finding.code), string(finding.name));
        assert!(code.starts_with(['T', 'G']) && !name.is_empty(), "{code} {name}: {}", string(finding.message));
        assert!(!string(finding.message).is_empty());
        if !finding.hint.is_null() {
            string(finding.hint);
        }
        let end = finding.offset as usize + finding.length as usize;
        assert!(
            end <= length.saturating_add(1),
            "{} at {}, {}",
            string(finding.message),
            finding.offset,
            finding.length
        );
        assert_eq!(finding.line == 0, finding.column == 0);
    }
    let memory = Memory::of_struct(size_of::<tgsic_finding>());
    // SAFETY: as above.
    assert_eq!(unsafe { tgsic_result_finding(result, count, memory.start.cast()) }, 0);
}

/// Reads the limits of the target and their use.
fn limits(result: *const tgsic_result, count: usize, header: &[u8; HEADER]) {
    let [.., _, struct_size, _, _, _] = *header;
    for number in 0..=count {
        let memory = Memory::of_struct(stated_size(struct_size, size_of::<tgsic_limit_use>()));
        // SAFETY: the struct has the size that it states.
        let found = unsafe { tgsic_result_limit(result, number, memory.start.cast()) };
        assert!(found == 0 || number < count, "a limit too many");
        if memory.layout.size() < size_of::<tgsic_limit_use>() || found == 0 {
            continue;
        }
        // SAFETY: it was filled in.
        let limit = unsafe { memory.start.cast::<tgsic_limit_use>().read() };
        assert!(!string(limit.name).is_empty() && !string(limit.about).is_empty() && !string(limit.source).is_empty());
        string(limit.beyond);
        if !limit.what.is_null() {
            assert!(!string(limit.what).is_empty());
        }
        assert_eq!(limit.line == 0, limit.column == 0);
    }
}

/// Checks code: the same compiler reads it, and it can be converted to the other form.
fn check_code(compiler: *const tgsic_compiler, result: *const tgsic_result) {
    let mut size = 0;
    // SAFETY: the result was not freed.
    let data = unsafe { tgsic_result_data(result, &raw mut size) };
    assert!(!data.is_null(), "a translation without code");
    // SAFETY: the compiler was not freed, and the data is there.
    let checked = unsafe { tgsic_check(compiler, data, size) };
    // SAFETY: it is a result that was not freed.
    assert_ne!(unsafe { tgsic_result_status(checked) }, tgsic_status::TGSIC_ERROR_INTERNAL, "{}", text_of(checked));
    // SAFETY: it is not used any more.
    unsafe { tgsic_result_free(checked) };
}
