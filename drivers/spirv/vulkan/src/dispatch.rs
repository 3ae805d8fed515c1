//! A run: fills buffers, runs one workgroup, reads buffers.

use std::sync::PoisonError;

use ash::vk;

use tgsi_compiler::RunError;

use crate::code::{time_limit, timeout};
use crate::device::Device;
use crate::module::BindingKind;
use crate::pipeline::{Pipeline, descriptor_type};

/// Least bytes of the buffer that contains all parts.
const MIN_BYTES: u64 = 1 << 22;

/// The binding of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// Element of the binding's array.
    pub element: u32,
    /// Kind of buffer.
    pub kind: BindingKind,
}

/// A buffer used by a run.
#[derive(Clone, Debug)]
pub struct BoundBuffer {
    /// Its binding.
    pub bound: Bound,
    /// Its number among the buffers of its kind.
    pub index: u32,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// State shared by runs: memory that grows, and objects for submitting work to the device.
pub struct Session {
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    fence: vk::Fence,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    bytes: u64,
}

impl Session {
    /// Creates a session without memory.
    ///
    /// # Errors
    /// The device has too little memory.
    pub fn new(device: &ash::Device, family: u32) -> Result<Session, String> {
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: the device is alive; the structures live until after the calls. The same holds below.
        let pool = unsafe { device.create_command_pool(&info, None) }.map_err(failed("no command pool"))?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        // SAFETY: the pool belongs to this device.
        let commands = unsafe { device.allocate_command_buffers(&info) }.map_err(failed("no command buffer"))?;
        // SAFETY: as above.
        let fence =
            unsafe { device.create_fence(&vk::FenceCreateInfo::default(), None) }.map_err(failed("no fence"))?;
        Ok(Session {
            pool,
            commands: commands.first().copied().unwrap_or_default(),
            fence,
            buffer: vk::Buffer::null(),
            memory: vk::DeviceMemory::null(),
            bytes: 0,
        })
    }

    /// Grows the memory.
    fn reserve(&mut self, device: &Device, bytes: u64) -> Result<(), String> {
        if bytes <= self.bytes {
            return Ok(());
        }
        let bytes = bytes.next_power_of_two().max(MIN_BYTES);
        self.free(device);
        let info = vk::BufferCreateInfo::default()
            .size(bytes)
            .usage(vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::UNIFORM_BUFFER);
        // SAFETY: the device is never destroyed; the structures live until after the calls. The same holds below.
        self.buffer = unsafe { device.handle.create_buffer(&info, None) }.map_err(failed("no buffer"))?;
        // SAFETY: the buffer belongs to this device.
        let needs = unsafe { device.handle.get_buffer_memory_requirements(self.buffer) };
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(device.memory_type);
        // SAFETY: the type is one of the device's.
        self.memory = unsafe { device.handle.allocate_memory(&info, None) }.map_err(failed("no memory"))?;
        // SAFETY: buffer and memory are new, and the memory is as large as the buffer needs.
        unsafe { device.handle.bind_buffer_memory(self.buffer, self.memory, 0) }.map_err(failed("no memory"))?;
        self.bytes = bytes;
        Ok(())
    }

    /// Waits for the end of the run. Abandons a device that does not finish it.
    fn wait(&self, device: &Device) -> Result<(), RunError> {
        let nanoseconds = u64::try_from(time_limit().as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the fence belongs to this device.
        unsafe { device.handle.wait_for_fences(&[self.fence], true, nanoseconds) }.map_err(|error| {
            device.give_up();
            match error {
                vk::Result::TIMEOUT => timeout(),
                error => RunError::DeviceLost(format!("the run failed on Vulkan: {error}")),
            }
        })
    }

    fn free(&mut self, device: &Device) {
        // SAFETY: no run is in progress, since each waits for its end and has exclusive use of the session. Null
        // handles are allowed.
        unsafe {
            device.handle.destroy_buffer(self.buffer, None);
            device.handle.free_memory(self.memory, None);
        }
        self.buffer = vk::Buffer::null();
        self.memory = vk::DeviceMemory::null();
        self.bytes = 0;
    }

    /// Maps the memory during a call of `inner`.
    fn with_memory<T>(&mut self, device: &Device, inner: impl FnOnce(&mut [u8]) -> T) -> Result<T, String> {
        // SAFETY: the memory can be mapped, is not mapped, and is as large as the buffer.
        let start = unsafe { device.handle.map_memory(self.memory, 0, self.bytes, vk::MemoryMapFlags::empty()) }
            .map_err(failed("memory cannot be read"))?;
        // SAFETY: this number of bytes is mapped there, zero or written before; the device does not use them now.
        let bytes = unsafe { std::slice::from_raw_parts_mut(start.cast::<u8>(), self.bytes as usize) };
        let result = inner(bytes);
        // SAFETY: it was mapped above, and there are no more references to it.
        unsafe { device.handle.unmap_memory(self.memory) };
        Ok(result)
    }
}

fn failed(what: &'static str) -> impl Fn(vk::Result) -> String {
    move |error| format!("{what} on Vulkan: {error}")
}

/// Runs a pipeline once. Returns the parts after the run.
///
/// # Errors
/// The device fails, or does not finish in time.
pub fn run(
    device: &'static Device,
    pipeline: &Pipeline,
    mut parts: Vec<BoundBuffer>,
) -> Result<Vec<BoundBuffer>, RunError> {
    let mut session = device.session.lock().unwrap_or_else(PoisonError::into_inner);
    if device.is_lost() {
        return Err("the Vulkan device was abandoned".to_owned().into());
    }
    let mut offsets = Vec::with_capacity(parts.len());
    let mut end = 0u64;
    for part in &parts {
        offsets.push(end);
        end = (end + part.bytes.len().max(1) as u64).next_multiple_of(device.alignment);
    }
    session.reserve(device, end)?;
    session.with_memory(device, |memory| {
        for (part, &offset) in parts.iter().zip(&offsets) {
            memory[offset as usize..][..part.bytes.len()].copy_from_slice(&part.bytes);
        }
    })?;
    let pool = descriptor_pool(device, pipeline, &parts)?;
    let result = dispatch(device, pipeline, &session, pool, &parts, &offsets);
    if !device.is_lost() {
        // SAFETY: the run has ended, or never began; the pool is not shared. An abandoned run keeps its pool.
        unsafe { device.handle.destroy_descriptor_pool(pool, None) };
    }
    result?;
    session.with_memory(device, |memory| {
        for (part, &offset) in parts.iter_mut().zip(&offsets) {
            if part.bound.kind == BindingKind::Storage {
                let length = part.bytes.len();
                part.bytes.copy_from_slice(&memory[offset as usize..][..length]);
            }
        }
    })?;
    Ok(parts)
}

fn descriptor_pool(device: &Device, pipeline: &Pipeline, parts: &[BoundBuffer]) -> Result<vk::DescriptorPool, String> {
    let sizes: Vec<vk::DescriptorPoolSize> = [BindingKind::Constant, BindingKind::Storage]
        .into_iter()
        .map(|kind| {
            let count = parts.iter().filter(|part| part.bound.kind == kind).count();
            vk::DescriptorPoolSize::default().ty(descriptor_type(kind)).descriptor_count(count.max(1) as u32)
        })
        .collect();
    let info = vk::DescriptorPoolCreateInfo::default().max_sets(pipeline.sets.len().max(1) as u32).pool_sizes(&sizes);
    // SAFETY: the device is never destroyed; the structures live until after the call.
    unsafe { device.handle.create_descriptor_pool(&info, None) }.map_err(failed("no descriptor pool"))
}

fn dispatch(
    device: &Device,
    pipeline: &Pipeline,
    session: &Session,
    pool: vk::DescriptorPool,
    parts: &[BoundBuffer],
    offsets: &[u64],
) -> Result<(), RunError> {
    let handle = &device.handle;
    let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&pipeline.sets);
    // SAFETY: pool and layouts belong to this device; the structures live until after the call. The same holds below.
    let sets = unsafe { handle.allocate_descriptor_sets(&info) }.map_err(failed("no descriptor sets"))?;
    let buffers: Vec<[vk::DescriptorBufferInfo; 1]> = parts
        .iter()
        .zip(offsets)
        .map(|(part, &offset)| {
            let info = vk::DescriptorBufferInfo::default();
            [match part.bytes.len() as u64 {
                0 if device.has_null_descriptors => info.range(vk::WHOLE_SIZE),
                // A range shorter than a word contains no word.
                range => info.buffer(session.buffer).offset(offset).range(range.max(1)),
            }]
        })
        .collect();
    let writes: Vec<vk::WriteDescriptorSet<'_>> = parts
        .iter()
        .zip(&buffers)
        .filter_map(|(part, info)| {
            let set = sets.get(part.bound.set as usize)?;
            Some(
                vk::WriteDescriptorSet::default()
                    .dst_set(*set)
                    .dst_binding(part.bound.binding)
                    .dst_array_element(part.bound.element)
                    .descriptor_type(descriptor_type(part.bound.kind))
                    .buffer_info(info),
            )
        })
        .collect();
    let commands = session.commands;
    let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
    let barrier = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::SHADER_WRITE)
        .dst_access_mask(vk::AccessFlags::HOST_READ)];
    // SAFETY: sets, buffers, pipeline and commands belong to this device and live until the fence is signalled. This
    // run has exclusive use of the session, so the commands are not pending and the queue is not used concurrently.
    unsafe {
        handle.update_descriptor_sets(&writes, &[]);
        handle.begin_command_buffer(commands, &begin).map_err(failed("no commands"))?;
        handle.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline.handle);
        handle.cmd_bind_descriptor_sets(commands, vk::PipelineBindPoint::COMPUTE, pipeline.layout, 0, &sets, &[]);
        handle.cmd_dispatch(commands, 1, 1, 1);
        handle.cmd_pipeline_barrier(
            commands,
            vk::PipelineStageFlags::COMPUTE_SHADER,
            vk::PipelineStageFlags::HOST,
            vk::DependencyFlags::empty(),
            &barrier,
            &[],
            &[],
        );
        handle.end_command_buffer(commands).map_err(failed("no commands"))?;
        handle.reset_fences(&[session.fence]).map_err(failed("no fence"))?;
    }
    let commands = [commands];
    let submits = [vk::SubmitInfo::default().command_buffers(&commands)];
    // SAFETY: as above.
    unsafe { handle.queue_submit(device.queue, &submits, session.fence) }.map_err(failed("no run"))?;
    session.wait(device)
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("pool", &self.pool).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}
