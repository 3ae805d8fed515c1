//! Runs shaders: programs, threads, inputs and outputs.

use std::ffi::{c_int, c_void};

use crate::compiler::{made, tgsic_compiler};
use crate::failure::Failure;
use crate::guard::guarded;
use crate::resources::tgsic_resources;
use crate::result::tgsic_result;
use crate::sized::write_struct;
use crate::sized::{self, SizedStruct};

#[cfg_attr(not(feature = "run"), path = "run/absent.rs")]
mod execute;
mod slices;

pub(crate) use slices::Slices;

/// A shader compiled for running. It is immutable; any number of threads may run it at the same time.
pub struct tgsic_program(execute::Program);

/// A shader in an object file, which the driver `cpu` writes with a header that declares it: machine code compiled
/// ahead of time, and the rest of the shader. It is opaque to programs.
pub struct tgsic_object(
    #[cfg_attr(feature = "run", expect(dead_code, reason = "the driver reads it"))] execute::Object,
);

/// Threads that run shaders. Any number of threads may pass work to them at the same time.
pub struct tgsic_threads(execute::Threads);

/// Facts about a program.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_program_info {
    /// `sizeof(tgsic_program_info)`, to be set by the caller.
    pub size: usize,
    /// The stage: `TGSIC_STAGE_...`.
    pub stage: u32,
    /// Number of output registers.
    pub num_outputs: u32,
    /// Invocations of a workgroup in each dimension, if the shader specifies them; otherwise 0.
    pub workgroup: [u32; 3],
    /// 1 if runs may change buffers, counters or images: the blocks of invocations of a call then run in sequence.
    pub writes_memory: u32,
}

// SAFETY: `repr(C)`, the size comes first, and all types in it may be zero.
unsafe impl SizedStruct for tgsic_program_info {}

/// Memory that is read.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_bytes {
    /// The start. It need not be aligned.
    pub data: *const c_void,
    /// Number of bytes.
    pub size: usize,
}

/// Memory that is read and written.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_memory {
    /// The start. It need not be aligned.
    pub data: *mut c_void,
    /// Number of bytes.
    pub size: usize,
}

/// A system value, such as the instance index.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_system_value {
    /// The number of its semantic in TGSI, as in a scan.
    pub semantic: u32,
    /// Number of components, 1 to 4.
    pub num_components: u32,
    /// Its components for each invocation, invocations in sequence, as 32-bit words; or its components once, if it is
    /// the same in all. Booleans are 0 or all ones.
    pub words: tgsic_bytes,
}

/// Inputs and outputs of a run. Zero is the default of each field except the first: missing memory reads as 0, and
/// writes to it are dropped. A register has four 32-bit words, in native byte order.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_run {
    /// `sizeof(tgsic_run)`.
    pub size: usize,
    /// Number of vertices or fragments. Fragments `4k` to `4k + 3` are a quad: top left, top right, bottom left, bottom
    /// right.
    pub count: usize,
    /// Registers of an invocation in `inputs`.
    pub num_inputs: usize,
    /// Input registers: all of the first invocation, then all of the second, and so on. Those of fragments are already
    /// interpolated.
    pub inputs: tgsic_bytes,
    /// Registers of an invocation in `outputs`.
    pub num_outputs: usize,
    /// Output registers, in the same order. Registers that the shader does not have become 0.
    pub outputs: tgsic_memory,
    /// A byte for each invocation: 1, or 0 if it was killed or demoted.
    pub live: tgsic_memory,
    /// System values.
    pub system_values: *const tgsic_system_value,
    /// Number of system values.
    pub num_system_values: usize,
    /// Constant buffers, by number.
    pub constants: *const tgsic_bytes,
    /// Number of constant buffers.
    pub num_constants: usize,
    /// Buffers, by number. After an error they are unchanged.
    pub buffers: *const tgsic_memory,
    /// Number of buffers.
    pub num_buffers: usize,
    /// Buffers of counters, by number. After an error they are unchanged.
    pub counters: *const tgsic_memory,
    /// Number of buffers of counters.
    pub num_counters: usize,
    /// Bytes of shared memory of a workgroup, at most 16 MiB.
    pub shared_size: usize,
    /// Registers of a vertex in `vertices`.
    pub num_vertex_inputs: usize,
    /// Inputs of tessellation evaluation with a vertex index: all registers of the first vertex of the patch, then all
    /// of the second, and so on. The invocations of a call belong to one patch.
    pub vertices: tgsic_bytes,
    /// A byte for each fragment: not 0 for a helper invocation from the start. Its writes to memory are dropped.
    pub helpers: tgsic_bytes,
    /// Registers of a fragment in `framebuffer`.
    pub num_framebuffer: usize,
    /// Initial colours of the framebuffer: all registers of the first fragment, then all of the second, and so on.
    pub framebuffer: tgsic_bytes,
    /// Textures and images; NULL for none.
    pub resources: *const tgsic_resources,
    /// Operations after which a block of invocations is stopped as endless; 0 for the default.
    pub max_steps: u64,
    /// Maximum size of the values of a block of invocations in bytes; 0 for the default.
    pub max_memory: u64,
}

// SAFETY: `repr(C)`, the size comes first, and all types in it may be zero.
unsafe impl SizedStruct for tgsic_run {}

/// The kind and size of a run.
#[derive(Clone, Copy)]
pub(crate) enum RunKind {
    Vertices,
    Quads,
    #[cfg_attr(not(feature = "run"), expect(dead_code, reason = "only used by runs"))]
    Dispatch {
        groups: [u32; 3],
        workgroup: Option<[u32; 3]>,
    },
}

/// Creates a program from a vertex, tessellation evaluation, fragment or compute shader: TGSI text, TGSI tokens or IR
/// text. The driver of the compiler must be `cpu`; the program does not refer to the compiler.
///
/// Returns NULL if the shader has errors, or if the library was built without support for running. `*error` is then a
/// result with the reason, for the caller to free; otherwise it is NULL. `error` may be NULL.
///
/// # Safety
/// `compiler` is one that was not freed. `size` bytes can be read at `shader`. `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_program_new(
    compiler: *const tgsic_compiler,
    shader: *const c_void,
    size: usize,
    error: *mut *mut tgsic_result,
) -> *mut tgsic_program {
    let mut program = None;
    // SAFETY: the caller guarantees the requirements.
    let result = unsafe {
        tgsic_compiler::run(compiler, shader, size, |compiler, bytes, result| {
            program = Some(tgsic_program(execute::compile(compiler, bytes, result)?));
            Ok(())
        })
    };
    let is_wanted = program.is_none() && !error.is_null();
    if !error.is_null() {
        // SAFETY: it is not NULL, and the caller guarantees that it can be written.
        unsafe { error.write(if is_wanted { result } else { std::ptr::null_mut() }) };
    }
    if !is_wanted {
        // SAFETY: it was created above and is not shared.
        unsafe { crate::result::tgsic_result_free(result) };
    }
    program.map_or(std::ptr::null_mut(), |program| Box::into_raw(Box::new(program)))
}

/// Creates a program from a shader in an object file that is part of this process: linked into it, or loaded. No code
/// is generated, so this works without executable memory and in builds without machine code, and takes no longer than
/// reading the shader. Code and library must have the same version. The object must outlive the program.
///
/// Returns NULL if the object has another version or was changed, if the CPU lacks features that its code needs, or if
/// the library cannot run shaders of its stage, or any; `*error` as for `tgsic_program_new`.
///
/// # Safety
/// `object` is NULL or the address of the symbol that the header of an object file declares. `error` is NULL or can be
/// written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_program_from_object(
    object: *const tgsic_object,
    error: *mut *mut tgsic_result,
) -> *mut tgsic_program {
    // SAFETY: the caller guarantees the requirements.
    let program = match guarded(|| unsafe { execute::load(object.cast()) }) {
        Ok(program) => program.map(tgsic_program),
        Err(error) => Err(Failure::internal(error.message)),
    };
    // SAFETY: likewise.
    unsafe { made(program, error) }
}

/// Fills in facts about a program. Returns 1, or 0 if the program is NULL or `size` is not set.
///
/// # Safety
/// `program` is NULL or one that was not freed; `info` is NULL or points to a struct of the size that it states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_program_get_info(program: *const tgsic_program, info: *mut tgsic_program_info) -> c_int {
    // SAFETY: guaranteed by the caller.
    let found = unsafe { program.as_ref() }.map(|program| execute::info(&program.0));
    // SAFETY: the caller guarantees the requirements.
    unsafe { write_struct(info, found.as_ref()) }
}

/// Frees a program. NULL is ignored.
///
/// # Safety
/// It is NULL or came from `tgsic_program_new` or `tgsic_program_from_object`, was not freed, and no other thread uses
/// it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_program_free(program: *mut tgsic_program) {
    if !program.is_null() {
        // SAFETY: it was created from a box, and the caller guarantees that it was not freed.
        drop(unsafe { Box::from_raw(program) });
    }
}

/// Starts threads that run shaders; 0 for as many as the process has CPUs.
///
/// Returns NULL if they cannot be started; `*error` as for `tgsic_program_new`.
///
/// # Safety
/// `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_threads_new(count: usize, error: *mut *mut tgsic_result) -> *mut tgsic_threads {
    let threads = match guarded(|| execute::start_threads(count)) {
        Ok(threads) => threads.map(tgsic_threads),
        Err(error) => Err(Failure::internal(error.message)),
    };
    // SAFETY: the caller guarantees the requirements.
    unsafe { made(threads, error) }
}

/// Ends threads. NULL is ignored.
///
/// # Safety
/// It is NULL or came from `tgsic_threads_new`, was not freed, and no call is using it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_threads_free(threads: *mut tgsic_threads) {
    if !threads.is_null() {
        // SAFETY: `tgsic_threads_new` created it from a box, and the caller guarantees that it was not freed.
        drop(unsafe { Box::from_raw(threads) });
    }
}

/// Runs a program. Always returns a result.
///
/// # Safety
/// As for [`tgsic_run_vertices`].
unsafe fn run(
    program: *const tgsic_program,
    run: *const tgsic_run,
    threads: *const tgsic_threads,
    work: RunKind,
) -> *mut tgsic_result {
    let body = || {
        // SAFETY: the caller guarantees that it is NULL or a program that was not freed.
        let program = unsafe { program.as_ref() }.ok_or_else(|| Failure::argument("there is no program"))?;
        // SAFETY: likewise.
        let threads = unsafe { threads.as_ref() };
        if run.is_null() || !run.is_aligned() {
            return Err(Failure::argument("there is no tgsic_run, or it is not aligned"));
        }
        // SAFETY: it is aligned and not NULL, and the caller guarantees the size that it states.
        let run = unsafe { sized::read(run) };
        let run = run.map_err(|error| Failure::argument(error.message("tgsic_run")))?;
        // SAFETY: guaranteed by the caller for each pointer and length in it.
        let slices = unsafe { Slices::new(&run, work) }?;
        execute::run(&program.0, slices, threads.map(|threads| &threads.0), work)
    };
    let failure = match guarded(body) {
        Ok(Ok(())) => return tgsic_result::default().into_raw(),
        Ok(Err(failure)) => failure,
        Err(error) => Failure::internal(error.message),
    };
    tgsic_result::failed(failure).into_raw()
}

/// Runs a vertex or tessellation evaluation shader. Never NULL: the result has the status.
///
/// The work is done by `threads`, or by a thread that is started for the call if that is NULL; the function returns
/// when everything is done. Memory that is written must not be used elsewhere meanwhile, and must not overlap with
/// memory that is read. After an error, some invocations may have written outputs; buffers and counters are unchanged.
///
/// # Safety
/// `program` is one that was not freed, `threads` likewise or NULL. `run` points to a struct of the size that it
/// states, and each pointer in it is NULL or can be used for as many bytes or elements as are stated beside it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_run_vertices(
    program: *const tgsic_program,
    run: *const tgsic_run,
    threads: *const tgsic_threads,
) -> *mut tgsic_result {
    // SAFETY: the caller guarantees the requirements.
    unsafe { self::run(program, run, threads, RunKind::Vertices) }
}

/// Runs a fragment shader over quads, otherwise like `tgsic_run_vertices`. If the number of fragments is not a multiple
/// of four, the missing ones of the last quad read all inputs as 0.
///
/// # Safety
/// As for `tgsic_run_vertices`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_run_quads(
    program: *const tgsic_program,
    run: *const tgsic_run,
    threads: *const tgsic_threads,
) -> *mut tgsic_result {
    // SAFETY: the caller guarantees the requirements.
    unsafe { self::run(program, run, threads, RunKind::Quads) }
}

/// Runs a compute shader over a grid of `groups` workgroups in each dimension, otherwise like `tgsic_run_vertices`.
/// `workgroup` is the size of a workgroup in each dimension, at most 1024 invocations in total; it may be NULL if the
/// shader specifies it. Of the run, only system values that are the same in all invocations, constants, buffers,
/// counters, `shared_size`, resources and limits are used; the ids of workgroups and invocations are known.
///
/// # Safety
/// As for `tgsic_run_vertices`. `groups` points to three numbers; `workgroup` likewise, or it is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_dispatch(
    program: *const tgsic_program,
    run: *const tgsic_run,
    groups: *const u32,
    workgroup: *const u32,
    threads: *const tgsic_threads,
) -> *mut tgsic_result {
    // SAFETY: guaranteed by the caller.
    let groups = unsafe { three(groups) };
    // SAFETY: likewise.
    let workgroup = unsafe { three(workgroup) };
    let Some(groups) = groups else {
        return tgsic_result::failed(Failure::argument("`groups` is NULL or not aligned")).into_raw();
    };
    // SAFETY: the caller guarantees the requirements.
    unsafe { self::run(program, run, threads, RunKind::Dispatch { groups, workgroup }) }
}

/// # Safety
/// It is NULL or points to three numbers.
unsafe fn three(numbers: *const u32) -> Option<[u32; 3]> {
    if numbers.is_null() || !numbers.is_aligned() {
        return None;
    }
    // SAFETY: it is aligned, not NULL, and the caller guarantees that there are three.
    Some(unsafe { numbers.cast::<[u32; 3]>().read() })
}
