//! Converts the pointers of a `tgsic_run` to slices: lengths are checked here, once for each call.

use std::marker::PhantomData;

use super::{RunKind, tgsic_bytes, tgsic_memory, tgsic_run};
use crate::failure::Failure;
use crate::resources::tgsic_resources;
use crate::sized;

/// Maximum number of registers of an invocation. Programs have no more.
const MAX_REGISTERS: usize = 4096;
/// Maximum number of buffers of a kind. TGSI supports fewer.
const MAX_BUFFERS: usize = 1024;
/// Maximum number of system values. There are fewer.
const MAX_SYSTEM_VALUES: usize = 256;
/// Maximum size of shared memory of a workgroup, which is allocated before the shader uses any: 512 times the minimum
/// that OpenGL requires.
const MAX_SHARED: usize = 1 << 24;
/// Bytes of a register.
pub(crate) const REGISTER: usize = 16;

/// Memory of the caller that is read at the beginning of the run and written at its end. It is not a slice, because C
/// may pass the same buffer twice.
pub(crate) struct Memory<'a> {
    data: *mut u8,
    size: usize,
    _caller: PhantomData<&'a mut [u8]>,
}

// SAFETY: the interface requires that the caller does not use the memory during the call.
unsafe impl Send for Memory<'_> {}

impl Memory<'_> {
    /// # Safety
    /// Unless the size is 0, this many bytes can be read and written at the pointer during the call.
    unsafe fn new(memory: tgsic_memory, name: &str) -> Result<Self, Failure> {
        if memory.size > isize::MAX as usize || (memory.data.is_null() && memory.size > 0) {
            return Err(Failure::argument(format!("{name}: no memory of that size")));
        }
        Ok(Memory { data: memory.data.cast(), size: memory.size, _caller: PhantomData })
    }

    /// Number of bytes.
    #[cfg_attr(not(feature = "run"), expect(dead_code, reason = "only used by runs"))]
    pub(crate) fn len(&self) -> usize {
        self.size
    }

    /// Returns a copy.
    #[cfg_attr(not(feature = "run"), expect(dead_code, reason = "only used by runs"))]
    pub(crate) fn read(&self) -> Vec<u8> {
        if self.size == 0 {
            return Vec::new();
        }
        // SAFETY: guaranteed at construction, and the slice does not outlive this function.
        unsafe { std::slice::from_raw_parts(self.data, self.size) }.to_vec()
    }

    /// Writes the bytes that fit at an offset.
    #[cfg_attr(not(feature = "run"), expect(dead_code, reason = "only used by runs"))]
    pub(crate) fn write(&mut self, offset: usize, bytes: &[u8]) {
        let count = bytes.len().min(self.size.saturating_sub(offset));
        if count > 0 {
            // SAFETY: there are more bytes than that.
            let target = unsafe { self.data.add(offset) };
            // SAFETY: there are this many, and the source is local.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), target, count) };
        }
    }
}

/// A system value.
#[cfg_attr(not(feature = "run"), expect(dead_code, reason = "only used by runs"))]
pub(crate) struct SystemValueWords<'a> {
    pub semantic: u32,
    pub num_components: usize,
    /// Whether the words apply to all invocations.
    pub is_uniform: bool,
    pub words: &'a [u8],
}

/// Inputs and outputs of a run.
#[cfg_attr(not(feature = "run"), expect(dead_code, reason = "only used by runs"))]
pub(crate) struct Slices<'a> {
    pub count: usize,
    pub num_inputs: usize,
    pub inputs: &'a [u8],
    pub num_outputs: usize,
    pub outputs: Memory<'a>,
    pub live: Memory<'a>,
    pub system_values: Vec<SystemValueWords<'a>>,
    pub constants: Vec<&'a [u8]>,
    pub buffers: Vec<Memory<'a>>,
    pub counters: Vec<Memory<'a>>,
    pub shared_size: usize,
    pub num_vertex_inputs: usize,
    pub vertices: &'a [u8],
    pub helpers: &'a [u8],
    pub num_framebuffer: usize,
    pub framebuffer: &'a [u8],
    pub resources: tgsic_resources,
    pub max_steps: u64,
    pub max_memory: u64,
}

/// # Safety
/// Unless the size is 0, this many bytes can be read there.
unsafe fn bytes<'a>(bytes: tgsic_bytes, name: &str) -> Result<&'a [u8], Failure> {
    // SAFETY: guaranteed by the caller.
    let slice = unsafe { sized::bytes(bytes.data, bytes.size) };
    slice.ok_or_else(|| Failure::argument(format!("{name}: no memory of that size")))
}

/// # Safety
/// Unless the count is 0, this many elements can be read there.
unsafe fn array<'a, T>(data: *const T, count: usize, most: usize, name: &str) -> Result<&'a [T], Failure> {
    // SAFETY: guaranteed by the caller.
    let slice = unsafe { sized::array(data, count, most) };
    slice.ok_or_else(|| Failure::argument(format!("`{name}` is NULL, not aligned, or has more than {most} elements")))
}

/// Checks that there are `count` times `each` bytes.
fn enough(found: usize, count: usize, each: usize, name: &str) -> Result<(), Failure> {
    match count.checked_mul(each) {
        Some(needed) if needed <= found => Ok(()),
        _ => Err(Failure::argument(format!("`{name}` has {found} bytes, too few for {count} times {each}"))),
    }
}

fn registers(count: usize, name: &str) -> Result<usize, Failure> {
    let bytes = (count <= MAX_REGISTERS).then(|| count * REGISTER);
    bytes.ok_or_else(|| Failure::argument(format!("`{name}` is more than {MAX_REGISTERS}")))
}

impl Slices<'_> {
    /// # Safety
    /// Each pointer in it is NULL or can be used for as many bytes or elements as are stated beside it.
    pub(super) unsafe fn new(run: &tgsic_run, work: RunKind) -> Result<Self, Failure> {
        let count = if matches!(work, RunKind::Dispatch { .. }) { 0 } else { run.count };
        // SAFETY, for all below: guaranteed by the caller for each pointer.
        // SAFETY: as above.
        let inputs = unsafe { bytes(run.inputs, "inputs") }?;
        enough(inputs.len(), count, registers(run.num_inputs, "num_inputs")?, "inputs")?;
        enough(run.outputs.size, count, registers(run.num_outputs, "num_outputs")?, "outputs")?;
        // SAFETY: as above.
        let framebuffer = unsafe { bytes(run.framebuffer, "framebuffer") }?;
        enough(framebuffer.len(), count, registers(run.num_framebuffer, "num_framebuffer")?, "framebuffer")?;
        // SAFETY: as above.
        let helpers = unsafe { bytes(run.helpers, "helpers") }?;
        if !helpers.is_empty() {
            enough(helpers.len(), count, 1, "helpers")?;
        }
        // SAFETY: as above.
        let vertices = unsafe { bytes(run.vertices, "vertices") }?;
        registers(run.num_vertex_inputs, "num_vertex_inputs")?;
        if run.live.size != 0 {
            enough(run.live.size, count, 1, "live")?;
        }
        if run.shared_size > MAX_SHARED {
            return Err(Failure::argument(format!("`shared_size` is more than {MAX_SHARED}")));
        }
        // SAFETY: as above.
        let given = unsafe { array(run.system_values, run.num_system_values, MAX_SYSTEM_VALUES, "system_values") }?;
        let mut system_values = Vec::new();
        for value in given {
            let num_components = value.num_components as usize;
            if !(1..=4).contains(&num_components) {
                return Err(Failure::argument(format!("a system value of {num_components} components")));
            }
            // SAFETY: as above.
            let words = unsafe { bytes(value.words, "a system value") }?;
            let is_uniform = words.len() == num_components * 4;
            if !is_uniform {
                if matches!(work, RunKind::Dispatch { .. }) {
                    return Err(Failure::argument("system values of a dispatch are the same in all invocations"));
                }
                enough(words.len(), count, num_components * 4, "words of a system value")?;
            }
            system_values.push(SystemValueWords { semantic: value.semantic, num_components, is_uniform, words });
        }
        // SAFETY: as above.
        let given = unsafe { array(run.constants, run.num_constants, MAX_BUFFERS, "constants") }?;
        // SAFETY: as above.
        let constants: Result<Vec<_>, _> = given.iter().map(|&one| unsafe { bytes(one, "constants") }).collect();
        // SAFETY: as above.
        let buffers = unsafe { array(run.buffers, run.num_buffers, MAX_BUFFERS, "buffers") }?;
        // SAFETY: as above.
        let buffers: Result<Vec<_>, _> = buffers.iter().map(|&one| unsafe { Memory::new(one, "buffers") }).collect();
        // SAFETY: as above.
        let counters = unsafe { array(run.counters, run.num_counters, MAX_BUFFERS, "counters") }?;
        // SAFETY: as above.
        let counters: Result<Vec<_>, _> = counters.iter().map(|&one| unsafe { Memory::new(one, "counters") }).collect();
        let resources = if run.resources.is_null() {
            tgsic_resources::NONE
        } else if run.resources.is_aligned() {
            // SAFETY: it is aligned and not NULL, and the caller guarantees the size that it states.
            let resources = unsafe { sized::read(run.resources) };
            resources.map_err(|error| Failure::argument(error.message("tgsic_resources")))?
        } else {
            return Err(Failure::argument("resources are not aligned"));
        };
        Ok(Slices {
            count,
            num_inputs: run.num_inputs,
            inputs,
            num_outputs: run.num_outputs,
            // SAFETY: as above.
            outputs: unsafe { Memory::new(run.outputs, "outputs") }?,
            // SAFETY: as above.
            live: unsafe { Memory::new(run.live, "live") }?,
            system_values,
            constants: constants?,
            buffers: buffers?,
            counters: counters?,
            shared_size: run.shared_size,
            num_vertex_inputs: run.num_vertex_inputs,
            vertices,
            helpers,
            num_framebuffer: run.num_framebuffer,
            framebuffer,
            resources,
            max_steps: run.max_steps,
            max_memory: run.max_memory,
        })
    }
}
