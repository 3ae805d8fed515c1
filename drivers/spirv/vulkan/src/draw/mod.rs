//! Draws a picture off screen: a vertex and a fragment shader, triangles, textures, uniform buffers; reads the pixels
//! back.
//!
//! A minimal host for translated shaders. It runs the stages natively: interfaces, interpolation, derivatives and real
//! textures, which the harness replaces.

pub(crate) mod objects;

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use ash::vk;

use crate::device::Device;

use objects::{Objects, Upload, copy_region, failed};

/// The format of textures.
const TEXTURE_FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// The format of the drawn pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PixelFormat {
    /// Red, green, blue, alpha, a byte each: 0 is 0.0, 255 is 1.0.
    #[default]
    Rgba8,
    /// Red, green, blue, alpha, a 32-bit float each, little endian.
    Rgba32Float,
}

impl PixelFormat {
    fn in_vulkan(self) -> vk::Format {
        match self {
            PixelFormat::Rgba8 => vk::Format::R8G8B8A8_UNORM,
            PixelFormat::Rgba32Float => vk::Format::R32G32B32A32_SFLOAT,
        }
    }

    /// Returns the bytes of a pixel.
    fn bytes(self) -> u64 {
        match self {
            PixelFormat::Rgba8 => 4,
            PixelFormat::Rgba32Float => 16,
        }
    }
}

/// A picture to draw.
#[derive(Clone, Debug)]
pub struct Drawing<'a> {
    /// The vertex shader, a SPIR-V module in bytes.
    pub vertex: &'a [u8],
    /// The fragment shader.
    pub fragment: &'a [u8],
    /// Width and height in pixels.
    pub size: (u32, u32),
    /// The format of the pixels.
    pub format: PixelFormat,
    /// Vertex inputs by location, four floats for each vertex. Every three vertices are a triangle.
    pub attributes: &'a [Vec<[f32; 4]>],
    /// Uniform buffers.
    pub uniforms: &'a [Uniform],
    /// Textures with their samplers.
    pub textures: &'a [Texture],
}

/// A uniform buffer for both stages.
#[derive(Clone, Debug)]
pub struct Uniform {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// A 2D texture with a sampler that filters linearly and repeats.
#[derive(Clone, Debug)]
pub struct Texture {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// Width and height in texels.
    pub size: (u32, u32),
    /// Texels, four bytes each, rows from the top.
    pub texels: Vec<u8>,
}

/// Draws. Returns the pixels in their format, rows from the top; uncovered pixels are (0, 0, 0, 1).
///
/// # Errors
/// There is no device that draws, or it rejects the shaders.
pub fn draw(drawing: &Drawing<'_>) -> Result<Vec<u8>, String> {
    drawn(drawing, 1).map(|(pixels, _)| pixels)
}

/// Returns the time that the device takes to draw the second time, after shaders are compiled and memory is allocated.
/// It excludes the copying of pixels.
///
/// # Errors
/// The errors of [`draw`].
pub fn time_of(drawing: &Drawing<'_>) -> Result<Duration, String> {
    drawn(drawing, 2).map(|(_, time)| time)
}

/// Draws `times` times. Returns the pixels, and the time of the last drawing.
fn drawn(drawing: &Drawing<'_>, times: u32) -> Result<(Vec<u8>, Duration), String> {
    let device = Device::get()?;
    if !device.can_draw {
        return Err("the Vulkan device has no graphics queue".to_owned());
    }
    // The queue must not be used concurrently.
    let _session = device.session.lock().unwrap_or_else(PoisonError::into_inner);
    let mut objects = Objects::new(device);
    let (width, height) = drawing.size;
    let bytes = u64::from(width) * u64::from(height) * drawing.format.bytes();
    let pixels = objects.buffer(bytes, vk::BufferUsageFlags::TRANSFER_DST, &[])?;
    let format = drawing.format.in_vulkan();
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
    let target = objects.image(drawing.size, format, usage)?;
    let pass = objects.render_pass(format)?;
    let framebuffer = objects.framebuffer(pass, target.view, drawing.size)?;
    let mut vertex_buffers = Vec::new();
    for attribute in drawing.attributes {
        let bytes: Vec<u8> = attribute.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
        vertex_buffers.push(objects.buffer(bytes.len() as u64, vk::BufferUsageFlags::VERTEX_BUFFER, &bytes)?.handle);
    }
    let mut uploads = Vec::new();
    for texture in drawing.textures {
        let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
        let image = objects.image(texture.size, TEXTURE_FORMAT, usage)?;
        let bytes = texture.texels.len() as u64;
        let staging = objects.buffer(bytes, vk::BufferUsageFlags::TRANSFER_SRC, &texture.texels)?;
        uploads.push(Upload { image, staging: staging.handle, size: texture.size });
    }
    let layouts = objects.set_layouts(drawing)?;
    let layout = objects.pipeline_layout(&layouts)?;
    let sets = objects.sets(drawing, &layouts, &uploads)?;
    let pipeline = objects.pipeline(drawing, layout, pass)?;

    let commands = objects.commands()?;
    let vertices = drawing.attributes.first().map_or(3, Vec::len) as u32;
    let handle = &device.handle;
    let begin = vk::CommandBufferBeginInfo::default();
    let area = vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width, height } };
    let clear = [vk::ClearValue { color: vk::ClearColorValue { float32: [0.0, 0.0, 0.0, 1.0] } }];
    let begin_pass = vk::RenderPassBeginInfo::default()
        .render_pass(pass)
        .framebuffer(framebuffer)
        .render_area(area)
        .clear_values(&clear);
    // SAFETY: all objects belong to this device and live in `objects` until the fence is signalled or the device is
    // abandoned; the commands are not recorded concurrently.
    unsafe {
        handle.begin_command_buffer(commands, &begin).map_err(failed("no commands"))?;
        for upload in &uploads {
            upload.record(device, commands);
        }
        handle.cmd_begin_render_pass(commands, &begin_pass, vk::SubpassContents::INLINE);
        handle.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
        if !sets.is_empty() {
            handle.cmd_bind_descriptor_sets(commands, vk::PipelineBindPoint::GRAPHICS, layout, 0, &sets, &[]);
        }
        if !vertex_buffers.is_empty() {
            let offsets = vec![0; vertex_buffers.len()];
            handle.cmd_bind_vertex_buffers(commands, 0, &vertex_buffers, &offsets);
        }
        handle.cmd_draw(commands, vertices, 1, 0, 0);
        handle.cmd_end_render_pass(commands);
        handle.end_command_buffer(commands).map_err(failed("no commands"))?;
    }
    let mut time = Duration::ZERO;
    for _ in 0..times {
        let start = Instant::now();
        objects.submit(commands)?;
        time = start.elapsed();
    }

    let commands = objects.commands()?;
    // SAFETY: as above; the drawing has ended.
    unsafe {
        handle.begin_command_buffer(commands, &begin).map_err(failed("no commands"))?;
        let region = [copy_region(drawing.size)];
        let from = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        handle.cmd_copy_image_to_buffer(commands, target.handle, from, pixels.handle, &region);
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ)];
        let (before, after) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::HOST);
        let none = vk::DependencyFlags::empty();
        handle.cmd_pipeline_barrier(commands, before, after, none, &barrier, &[], &[]);
        handle.end_command_buffer(commands).map_err(failed("no commands"))?;
    }
    objects.submit(commands)?;
    Ok((objects.read(&pixels)?, time))
}
