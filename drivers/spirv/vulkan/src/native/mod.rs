//! Runs a module as it is: with its own bindings, inputs and outputs, which are found in its words.
//!
//! The harness needs code of the driver; this runner needs none, so that modules of others can be compared with the
//! results of the compiler.
//!
//! | file | holds |
//! |---|---|
//! | `words`, `reflect`, `blocks` | the interface of a module |
//! | `contents` | contents of resources |
//! | `bindings`, `pictures`, `pipelines` | Vulkan's objects |
//! | `vertex` | the vertex shader for a fragment shader |
//!
//! A fragment shader draws a triangle over all pixels. Its front is visible, and its depth is [`DEPTH`].

mod bindings;
mod blocks;
mod contents;
mod pictures;
mod pipelines;
mod reflect;
mod vertex;
mod words;

use std::ffi::CString;
use std::sync::PoisonError;

use ash::vk;

pub use blocks::{Block, Leaf, LeafClass};
pub use contents::{BoundContents, Content, Picture, PictureShape, SamplerState, TexelFormat, TexelKind};
pub use reflect::{ImageType, Kind, NativeInterface, NativeResource, NativeStage, Varying};

use crate::device::Device;
use crate::draw::objects::{Buffer, Image, Objects, copy_region, failed};
use bindings::Bound;
use pipelines::Target;

/// The depth of all pixels.
pub const DEPTH: f32 = 0.25;
/// Most groups of a dispatch.
const MAX_GROUPS: u32 = 1 << 16;

/// The values of a varying: `[a, b, c]` for each component.
///
/// A varying that is interpolated is `a + b x + c y` at pixel (x, y), whose centre is at 0.5. A flat one is the word `a`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct VaryingValue {
    /// Location.
    pub location: u32,
    /// Class of all components.
    pub class: LeafClass,
    /// The planes of floats that are interpolated.
    pub planes: [[f32; 3]; 4],
    /// The words of varyings that are not; `None` for interpolated ones.
    pub words: Option<[u32; 4]>,
}

impl VaryingValue {
    /// The words of a component at three vertices: at pixels (0, 0), (2 width, 0), (0, 2 height).
    fn at_vertices(&self, component: usize, (width, height): (u32, u32)) -> [u32; 3] {
        match self.words {
            Some(words) => [words[component]; 3],
            None => {
                let [a, b, c] = self.planes[component];
                [a, a + b * (2 * width) as f32, a + c * (2 * height) as f32].map(f32::to_bits)
            }
        }
    }
}

/// The values of an attribute: four words for each vertex.
#[derive(Clone, PartialEq, Debug)]
pub struct Attribute {
    /// Location.
    pub location: u32,
    /// Class of all components.
    pub class: LeafClass,
    /// Words by vertex.
    pub words: Vec<[u32; 4]>,
}

/// The work of a run.
#[derive(Clone, PartialEq, Debug)]
pub enum Work {
    /// Workgroups of a compute shader.
    Groups([u32; 3]),
    /// Points of a vertex shader, which are not drawn.
    Vertices {
        /// The number of vertices.
        count: u32,
        /// A value for each location that the shader reads.
        attributes: Vec<Attribute>,
    },
    /// Pixels of a fragment shader.
    Pixels {
        /// Width and height.
        size: (u32, u32),
        /// A value for each location that the shader reads.
        varyings: Vec<VaryingValue>,
    },
}

/// The values of an output at all pixels, by rows from the top; words as the shader wrote them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetPixels {
    /// Location.
    pub location: u32,
    /// Class.
    pub class: LeafClass,
    /// Pixels. Those without output are 0.
    pub pixels: Vec<[u32; 4]>,
}

/// The results of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NativeOutputs {
    /// All bindings, with the contents after the run.
    pub bindings: Vec<BoundContents>,
    /// The outputs of a fragment shader.
    pub targets: Vec<TargetPixels>,
}

/// A run.
#[derive(Clone, Debug)]
pub struct NativeRun<'a> {
    /// The module.
    pub words: &'a [u32],
    /// Its interface.
    pub interface: &'a NativeInterface,
    /// Push constants.
    pub push: &'a [u8],
    /// Contents of all resources.
    pub bindings: &'a [BoundContents],
    /// Work.
    pub work: &'a Work,
}

impl NativeRun<'_> {
    /// Runs it.
    ///
    /// The module must be valid: drivers trust it.
    ///
    /// # Errors
    /// There is no device, or it rejects the module.
    pub fn run(&self) -> Result<NativeOutputs, String> {
        let device = Device::get()?;
        if !device.can_draw {
            return Err("the Vulkan device has no graphics queue".to_owned());
        }
        // The queue must not be used concurrently.
        let _session = device.session.lock().unwrap_or_else(PoisonError::into_inner);
        let mut objects = Objects::new(device);
        let mut bound: Vec<Vec<Bound>> = Vec::new();
        for binding in self.bindings {
            bound.push(binding.contents.iter().map(|content| objects.content(content)).collect::<Result<_, _>>()?);
        }
        let set_layouts = objects.layouts_of(self.bindings)?;
        let layout = objects.layout_with_push(&set_layouts, self.push.len() as u32)?;
        let sets = objects.sets_of(self.bindings, &bound, &set_layouts)?;
        let entry = CString::new(self.interface.entry.as_str()).map_err(|error| error.to_string())?;
        let commands = objects.commands()?;
        let begin = vk::CommandBufferBeginInfo::default();
        let handle = &device.handle;
        // SAFETY: the commands are new. All objects belong to this device and live in `objects` until the commands have
        // run or the device is abandoned. The same holds below.
        unsafe { handle.begin_command_buffer(commands, &begin) }.map_err(failed("no commands"))?;
        let images = || {
            bound.iter().flatten().filter_map(|bound| match bound {
                Bound::Image(uploaded, _) => Some(uploaded),
                _ => None,
            })
        };
        // SAFETY: as above.
        images().for_each(|image| unsafe { objects.record_upload(commands, image) });
        let bind = |point: vk::PipelineBindPoint, pipeline: vk::Pipeline| {
            // SAFETY: as above; sets and push constants are those of the layout.
            unsafe {
                handle.cmd_bind_pipeline(commands, point, pipeline);
                if !sets.is_empty() {
                    handle.cmd_bind_descriptor_sets(commands, point, layout, 0, &sets, &[]);
                }
                if !self.push.is_empty() {
                    handle.cmd_push_constants(commands, layout, vk::ShaderStageFlags::ALL, 0, self.push);
                }
            }
        };
        let mut drawn = Vec::new();
        match self.work {
            Work::Groups(groups) => {
                if groups.iter().any(|&count| count > MAX_GROUPS) {
                    return Err("many workgroups".to_owned());
                }
                let pipeline = objects.compute_pipeline(self.words, &entry, layout)?;
                bind(vk::PipelineBindPoint::COMPUTE, pipeline);
                // SAFETY: as above.
                unsafe { handle.cmd_dispatch(commands, groups[0], groups[1], groups[2]) };
            }
            Work::Vertices { count, attributes } => {
                self.vertices(&mut objects, commands, &entry, (*count, attributes), layout, &bind)?;
            }
            Work::Pixels { size, varyings } => {
                drawn = self.draw(&mut objects, commands, &entry, (*size, varyings), layout, &bind)?;
            }
        }
        // SAFETY: as above.
        images().for_each(|image| unsafe { objects.record_download(commands, image) });
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ)];
        let (before, after) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::PipelineStageFlags::HOST);
        // SAFETY: as above.
        unsafe {
            handle.cmd_pipeline_barrier(commands, before, after, vk::DependencyFlags::empty(), &barrier, &[], &[]);
            handle.end_command_buffer(commands).map_err(failed("no commands"))?;
        }
        objects.submit(commands)?;
        self.results(&objects, &bound, &drawn)
    }

    fn draw(
        &self,
        objects: &mut Objects,
        commands: vk::CommandBuffer,
        entry: &CString,
        (size, varyings): ((u32, u32), &[VaryingValue]),
        layout: vk::PipelineLayout,
        bind: &dyn Fn(vk::PipelineBindPoint, vk::Pipeline),
    ) -> Result<Vec<(Target, LeafClass, Buffer)>, String> {
        let mut targets: Vec<(Target, LeafClass)> = Vec::new();
        for output in &self.interface.outputs {
            if output.bits != 32 || output.location > 7 {
                return Err("an output of an unusual type".to_owned());
            }
            let target = Target { location: output.location, format: TexelFormat::of_class(output.class) };
            if targets.iter().all(|(other, _)| other.location != target.location) {
                targets.push((target, output.class));
            }
        }
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let mut images: Vec<Image> = Vec::new();
        for (target, _) in &targets {
            images.push(objects.image(size, target.format.in_vulkan()?, usage)?);
        }
        let plain: Vec<Target> = targets.iter().map(|&(target, _)| target).collect();
        let pass = objects.pass_of(&plain)?;
        let views: Vec<vk::ImageView> = images.iter().map(|image| image.view).collect();
        let framebuffer = objects.framebuffer_of(pass, &views, size)?;

        let corners = [[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]];
        let places = corners.map(|[x, y]: [f32; 2]| [x, y, DEPTH, 1.0].map(f32::to_bits));
        let mut attributes = vec![(vk::Format::R32G32B32A32_SFLOAT, places)];
        for value in varyings {
            let columns = [0, 1, 2, 3].map(|component| value.at_vertices(component, size));
            let format = TexelFormat::of_class(value.class).in_vulkan()?;
            attributes.push((format, [0, 1, 2].map(|vertex| columns.map(|column| column[vertex]))));
        }
        let mut vertex_buffers = Vec::new();
        for (_, words) in &attributes {
            let bytes: Vec<u8> = words.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
            vertex_buffers
                .push(objects.buffer(bytes.len() as u64, vk::BufferUsageFlags::VERTEX_BUFFER, &bytes)?.handle);
        }
        let passed: Vec<(u32, LeafClass)> = varyings.iter().map(|value| (value.location, value.class)).collect();
        let vertex = vertex::pass_through(&passed);
        let locations: Vec<(u32, vk::Format)> = (0..).zip(attributes.iter().map(|&(format, _)| format)).collect();
        let colors = plain.iter().map(|target| target.location as usize + 1).max().unwrap_or(0);
        let code = ((&vertex[..], c"main"), Some((self.words, entry.as_c_str())));
        let pipeline = objects.graphics_pipeline(code, &locations, colors, size, (layout, pass))?;
        let mut drawn = Vec::new();
        for (target, class) in targets {
            let bytes = u64::from(size.0) * u64::from(size.1) * 16;
            drawn.push((target, class, objects.buffer(bytes, vk::BufferUsageFlags::TRANSFER_DST, &[])?));
        }

        let (width, height) = size;
        let area = vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width, height } };
        let clears = vec![vk::ClearValue { color: vk::ClearColorValue { uint32: [0; 4] } }; images.len()];
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(pass)
            .framebuffer(framebuffer)
            .render_area(area)
            .clear_values(&clears);
        let handle = &objects.device.handle;
        // SAFETY: as in `run`.
        unsafe {
            handle.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            bind(vk::PipelineBindPoint::GRAPHICS, pipeline);
            let offsets = vec![0; vertex_buffers.len()];
            handle.cmd_bind_vertex_buffers(commands, 0, &vertex_buffers, &offsets);
            handle.cmd_draw(commands, 3, 1, 0, 0);
            handle.cmd_end_render_pass(commands);
            for (image, (_, _, pixels)) in images.iter().zip(&drawn) {
                let from = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
                handle.cmd_copy_image_to_buffer(commands, image.handle, from, pixels.handle, &[copy_region(size)]);
            }
        }
        Ok(drawn)
    }

    /// Records the vertices.
    fn vertices(
        &self,
        objects: &mut Objects,
        commands: vk::CommandBuffer,
        entry: &CString,
        (count, attributes): (u32, &[Attribute]),
        layout: vk::PipelineLayout,
        bind: &dyn Fn(vk::PipelineBindPoint, vk::Pipeline),
    ) -> Result<(), String> {
        let pass = objects.pass_of(&[])?;
        let framebuffer = objects.framebuffer_of(pass, &[], (1, 1))?;
        let (mut buffers, mut locations) = (Vec::new(), Vec::new());
        for attribute in attributes {
            let bytes: Vec<u8> = attribute.words.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
            buffers.push(objects.buffer(bytes.len() as u64, vk::BufferUsageFlags::VERTEX_BUFFER, &bytes)?.handle);
            locations.push((attribute.location, TexelFormat::of_class(attribute.class).in_vulkan()?));
        }
        let code = ((self.words, entry.as_c_str()), None);
        let pipeline = objects.graphics_pipeline(code, &locations, 0, (1, 1), (layout, pass))?;
        let extent = vk::Extent2D { width: 1, height: 1 };
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(pass)
            .framebuffer(framebuffer)
            .render_area(vk::Rect2D { offset: vk::Offset2D::default(), extent });
        let handle = &objects.device.handle;
        // SAFETY: as in `run`; buffers have values for all vertices.
        unsafe {
            handle.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            bind(vk::PipelineBindPoint::GRAPHICS, pipeline);
            if !buffers.is_empty() {
                handle.cmd_bind_vertex_buffers(commands, 0, &buffers, &vec![0; buffers.len()]);
            }
            handle.cmd_draw(commands, count, 1, 0, 0);
            handle.cmd_end_render_pass(commands);
        }
        Ok(())
    }

    fn results(
        &self,
        objects: &Objects,
        bound: &[Vec<Bound>],
        drawn: &[(Target, LeafClass, Buffer)],
    ) -> Result<NativeOutputs, String> {
        let mut bindings = self.bindings.to_vec();
        for (content, bound) in
            bindings.iter_mut().flat_map(|binding| &mut binding.contents).zip(bound.iter().flatten())
        {
            let (bytes, buffer) = match (content, bound) {
                (Content::Storage(bytes), Bound::Buffer(buffer, _)) => (bytes, buffer),
                (Content::Image(picture), Bound::Buffer(buffer, _)) => (&mut picture.bytes, buffer),
                (Content::Image(picture), Bound::Image(uploaded, _)) => (&mut picture.bytes, &uploaded.staging),
                _ => continue,
            };
            let length = bytes.len();
            *bytes = objects.read(buffer)?;
            bytes.truncate(length);
        }
        let mut targets = Vec::new();
        for (target, class, buffer) in drawn {
            let bytes = objects.read(buffer)?;
            let words: Vec<u32> =
                bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
            let pixels = words.chunks_exact(4).map(|pixel| [pixel[0], pixel[1], pixel[2], pixel[3]]).collect();
            targets.push(TargetPixels { location: target.location, class: *class, pixels });
        }
        Ok(NativeOutputs { bindings, targets })
    }
}
