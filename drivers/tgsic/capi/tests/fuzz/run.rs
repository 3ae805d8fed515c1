//! Programs, and runs of them with memory of exact sizes.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use tgsi_capi::*;

use super::{HEADER, Memory, RAN, read, stated_size, text_of};

/// Operations after which a shader is stopped.
const STEPS: u64 = 20_000;
/// Size of a buffer in bytes.
const BUFFER: usize = 52;

/// Threads for all calls, started by the first and kept until the end.
fn threads() -> *const tgsic_threads {
    static THREADS: AtomicPtr<tgsic_threads> = AtomicPtr::new(ptr::null_mut());
    let started = THREADS.load(Ordering::Acquire);
    if !started.is_null() {
        return started;
    }
    // SAFETY: the error is not requested.
    let new = unsafe { tgsic_threads_new(2, ptr::null_mut()) };
    match THREADS.compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => new,
        Err(other) => {
            // SAFETY: they are not shared yet.
            unsafe { tgsic_threads_free(new) };
            other
        }
    }
}

unsafe extern "C" fn texture(user: *mut c_void, request: *const tgsic_texture_request, result: *mut [u32; 4]) {
    assert!(user.is_null());
    // SAFETY: the library passes a request.
    let request = unsafe { request.read() };
    assert!(request.lookup <= TGSIC_LOOKUP_QUERY_LOD && request.is_array <= 1 && request.is_shadow <= 1);
    // SAFETY: there is space for four times four words.
    unsafe { result.cast::<[[u32; 4]; 4]>().write(request.coordinate) };
}

unsafe extern "C" fn size(_: *mut c_void, unit: u32, level: u32, _: u32, _: u32, size: *mut tgsic_texture_size) {
    let of_unit = tgsic_texture_size { width: 64 >> (level & 7), height: unit, depth: 0, levels: 7, samples: u32::MAX };
    // SAFETY: the library provides the memory.
    unsafe { size.write(of_unit) };
}

unsafe extern "C" fn load(_: *mut c_void, texel: *const tgsic_texel, words: *mut u32) {
    // SAFETY: the library passes a texel.
    let texel = unsafe { texel.read() };
    // SAFETY: there is space for four words.
    unsafe { words.cast::<[u32; 4]>().write([texel.x, texel.y, texel.z, texel.sample]) };
}

unsafe extern "C" fn store(_: *mut c_void, texel: *const tgsic_texel, words: *const u32) {
    // SAFETY: the library passes a texel.
    let texel = unsafe { texel.read() };
    // SAFETY: there are four words.
    let words = unsafe { words.cast::<[u32; 4]>().read() };
    std::hint::black_box((texel.image, words));
}

/// Memory with fixed content, after `offset` bytes that the library must not access.
fn filled(size: usize, offset: usize) -> Memory {
    let bytes: Vec<u8> = (0..size).map(|at| ((at * 37 + 11) ^ (at >> 3)) as u8).collect();
    Memory::of_bytes(&bytes, offset)
}

fn bytes(memory: &Memory, offset: usize, size: usize) -> tgsic_bytes {
    tgsic_bytes { data: memory.start.wrapping_add(offset).cast(), size }
}

fn memory(memory: &Memory, offset: usize, size: usize) -> tgsic_memory {
    tgsic_memory { data: memory.start.wrapping_add(offset).cast(), size }
}

/// Creates a program and runs it for its stage, or for another one.
pub fn run(compiler: *const tgsic_compiler, header: &[u8; HEADER], (start, size): (*const c_void, usize)) {
    let mut error = ptr::dangling_mut();
    // SAFETY: there is no object.
    let program = unsafe { tgsic_program_from_object(ptr::null(), &raw mut error) };
    assert!(program.is_null() && !error.is_null(), "an error and no program");
    // SAFETY: it is not used any more.
    unsafe { tgsic_result_free(error) };
    error = ptr::dangling_mut();
    // SAFETY: this many bytes can be read there, or it is NULL.
    let program = unsafe { tgsic_program_new(compiler, start, size, &raw mut error) };
    assert_eq!(error.is_null(), !program.is_null(), "either a program or an error");
    if program.is_null() {
        read(error, size, header);
        // SAFETY: it is not used any more.
        unsafe { tgsic_result_free(error) };
        return;
    }
    run_program(program, header);
    // SAFETY: it is not used any more.
    unsafe { tgsic_program_free(program) };
}

fn run_program(program: *const tgsic_program, header: &[u8; HEADER]) {
    let [.., value, wrong, options_size, struct_size, decision, offset, _] = *header;
    let offset = usize::from(offset) % 8;
    let count = [12, 0, 1, 4, 7, 64, 133, 257][usize::from(decision & 7)];
    let registers = |shift: u8| usize::from(decision >> shift & 3) * 2;
    let (num_inputs, num_outputs) = (8 - registers(3), 4 - registers(5).min(4));
    // The stated sizes may be larger or smaller than needed.
    let inputs_size = count * num_inputs * 16;
    let outputs_size = (count * num_outputs * 16).saturating_sub(usize::from(wrong % 64 == 59));
    let (inputs, outputs) = (filled(inputs_size, offset), filled(outputs_size, offset));
    let buffers = [filled(BUFFER, offset), filled(BUFFER, 0)];
    let counters = filled(16, offset);
    let constants = filled(260, offset);
    let (vertices, live) = (filled(4 * 3 * 16, offset), filled(count, offset));
    let words = filled(count * 8, offset);
    let constants = [bytes(&constants, offset, 260), bytes(&constants, offset, 0), bytes(&constants, offset + 4, 200)];
    let buffer_list = [memory(&buffers[0], offset, BUFFER), memory(&buffers[1], 0, BUFFER)];
    let counter_list = [memory(&counters, offset, 16)];
    let system_values = [
        tgsic_system_value { semantic: 10, num_components: 1, words: bytes(&words, offset, 4.min(count * 8)) },
        tgsic_system_value { semantic: value.into(), num_components: 2, words: bytes(&words, offset, count * 8) },
    ];
    let resources = tgsic_resources {
        size: stated_size(options_size, size_of::<tgsic_resources>()),
        user: ptr::null_mut(),
        texture: Some(texture),
        texture_size: Some(self::size),
        image_load: Some(load),
        image_store: Some(store),
        image_size: Some(self::size),
        unit_of_handle: None,
    };
    let resource_memory = Memory::of_value(&resources, resources.size);
    let own = tgsic_run {
        size: stated_size(struct_size, size_of::<tgsic_run>()),
        count,
        num_inputs,
        inputs: bytes(&inputs, offset, inputs_size),
        num_outputs,
        outputs: memory(&outputs, offset, outputs_size),
        live: memory(&live, offset, count),
        system_values: system_values.as_ptr(),
        num_system_values: if wrong % 64 == 60 { usize::MAX } else { usize::from(value % 3) },
        constants: constants.as_ptr(),
        num_constants: 3,
        buffers: buffer_list.as_ptr(),
        num_buffers: 2,
        counters: if wrong % 64 == 61 { ptr::null() } else { counter_list.as_ptr() },
        num_counters: 1,
        shared_size: usize::from(value),
        num_vertex_inputs: 4,
        vertices: bytes(&vertices, offset, 4 * 3 * 16),
        helpers: bytes(&live, offset, if value & 1 == 0 { 0 } else { count }),
        num_framebuffer: 0,
        framebuffer: bytes(&inputs, offset, 0),
        resources: resource_memory.start.cast(),
        max_steps: STEPS,
        max_memory: 1 << 24,
    };
    let run_memory = Memory::of_value(&own, own.size);
    let pointer = run_memory.start.cast_const().cast::<tgsic_run>();
    let threads = if wrong % 64 == 62 { ptr::null() } else { threads() };
    let mut info = tgsic_program_info {
        size: size_of::<tgsic_program_info>(),
        stage: u32::MAX,
        num_outputs: 0,
        workgroup: [0; 3],
        writes_memory: 0,
    };
    // SAFETY: the struct has the size that it states.
    assert_eq!(unsafe { tgsic_program_get_info(program, &raw mut info) }, 1);
    let (groups, workgroup) = ([2, 1, u32::from(value % 3)], [4, 2, 1]);
    let workgroup = if info.workgroup == [0; 3] { workgroup.as_ptr() } else { ptr::null() };
    let stage = if wrong % 64 == 63 { u32::from(value % 6) } else { info.stage };
    // SAFETY, for all: each pointer in the struct has the size that is stated beside it, or is rejected.
    let result = match stage {
        // SAFETY: as above.
        TGSIC_STAGE_FRAGMENT => unsafe { tgsic_run_quads(program, pointer, threads) },
        // SAFETY: as above.
        TGSIC_STAGE_COMPUTE => unsafe { tgsic_dispatch(program, pointer, groups.as_ptr(), workgroup, threads) },
        // SAFETY: as above.
        _ => unsafe { tgsic_run_vertices(program, pointer, threads) },
    };
    read(result, 0, header);
    // SAFETY: it is a result that was not freed.
    let is_ok = unsafe { tgsic_result_status(result) } == tgsic_status::TGSIC_OK;
    RAN.fetch_add(is_ok.into(), Ordering::Relaxed);
    if own.size == size_of::<tgsic_run>() && is_ok {
        assert!(![59, 60, 61].contains(&(wrong % 64)) || stage == TGSIC_STAGE_COMPUTE || count * num_outputs == 0);
        for at in 0..if stage == TGSIC_STAGE_COMPUTE { 0 } else { count } {
            // SAFETY: there are this many bytes.
            assert!(unsafe { live.start.wrapping_add(offset + at).read() } <= 1, "{}", text_of(result));
        }
    }
    // SAFETY: it is not used any more.
    unsafe { tgsic_result_free(result) };
}
