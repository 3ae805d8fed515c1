//! Vulkan's objects of a drawing.

use ash::vk;

use super::Drawing;
use crate::code::time_limit;
use crate::device::Device;

pub(crate) fn failed(what: &'static str) -> impl Fn(vk::Result) -> String {
    move |error| format!("{what} on Vulkan: {error}")
}

/// Returns the copy region of a whole image, and of a buffer with its texels in order.
pub(crate) fn copy_region((width, height): (u32, u32)) -> vk::BufferImageCopy {
    vk::BufferImageCopy::default().image_subresource(layers()).image_extent(vk::Extent3D { width, height, depth: 1 })
}

fn layers() -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1)
}

fn range() -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange::default().aspect_mask(vk::ImageAspectFlags::COLOR).level_count(1).layer_count(1)
}

/// A host-visible buffer.
#[derive(Clone, Copy)]
pub(crate) struct Buffer {
    pub(crate) handle: vk::Buffer,
    memory: vk::DeviceMemory,
    bytes: u64,
}

/// An image with one level.
#[derive(Clone, Copy)]
pub(crate) struct Image {
    pub(crate) handle: vk::Image,
    pub(crate) view: vk::ImageView,
}

/// A texture, and a buffer with its texels.
pub(crate) struct Upload {
    pub(crate) image: Image,
    pub(crate) staging: vk::Buffer,
    pub(crate) size: (u32, u32),
}

impl Upload {
    /// Records the copy.
    ///
    /// # Safety
    /// The commands are being recorded, and the objects live until they have run.
    pub(crate) unsafe fn record(&self, device: &Device, commands: vk::CommandBuffer) {
        let (copied, read) = (vk::ImageLayout::TRANSFER_DST_OPTIMAL, vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL);
        let barrier = |from, to, before, after| {
            [vk::ImageMemoryBarrier::default()
                .image(self.image.handle)
                .old_layout(from)
                .new_layout(to)
                .src_access_mask(before)
                .dst_access_mask(after)
                .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .subresource_range(range())]
        };
        let (none, write) = (vk::AccessFlags::empty(), vk::AccessFlags::TRANSFER_WRITE);
        let first = barrier(vk::ImageLayout::UNDEFINED, copied, none, write);
        let second = barrier(copied, read, write, vk::AccessFlags::SHADER_READ);
        let [top, transfer, shaders] = [
            vk::PipelineStageFlags::TOP_OF_PIPE,
            vk::PipelineStageFlags::TRANSFER,
            vk::PipelineStageFlags::VERTEX_SHADER | vk::PipelineStageFlags::FRAGMENT_SHADER,
        ];
        let flags = vk::DependencyFlags::empty();
        let region = [copy_region(self.size)];
        // SAFETY: guaranteed by the caller.
        unsafe {
            device.handle.cmd_pipeline_barrier(commands, top, transfer, flags, &[], &[], &first);
            device.handle.cmd_copy_buffer_to_image(commands, self.staging, self.image.handle, copied, &region);
            device.handle.cmd_pipeline_barrier(commands, transfer, shaders, flags, &[], &[], &second);
        }
    }
}

/// The objects created for a drawing, destroyed with it.
pub(crate) struct Objects {
    pub(crate) device: &'static Device,
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) images: Vec<(Image, vk::DeviceMemory)>,
    pub(crate) samplers: Vec<vk::Sampler>,
    pub(crate) passes: Vec<vk::RenderPass>,
    pub(crate) framebuffers: Vec<vk::Framebuffer>,
    pub(crate) set_layouts: Vec<vk::DescriptorSetLayout>,
    pub(crate) layouts: Vec<vk::PipelineLayout>,
    pub(crate) descriptor_pools: Vec<vk::DescriptorPool>,
    pub(crate) shaders: Vec<vk::ShaderModule>,
    pub(crate) pipelines: Vec<vk::Pipeline>,
    /// Views of buffers.
    pub(crate) buffer_views: Vec<vk::BufferView>,
    command_pools: Vec<vk::CommandPool>,
    fences: Vec<vk::Fence>,
}

impl Objects {
    pub(crate) fn new(device: &'static Device) -> Objects {
        Objects {
            device,
            buffers: Vec::new(),
            images: Vec::new(),
            samplers: Vec::new(),
            passes: Vec::new(),
            framebuffers: Vec::new(),
            set_layouts: Vec::new(),
            layouts: Vec::new(),
            descriptor_pools: Vec::new(),
            shaders: Vec::new(),
            pipelines: Vec::new(),
            buffer_views: Vec::new(),
            command_pools: Vec::new(),
            fences: Vec::new(),
        }
    }

    /// Creates a buffer with a content.
    pub(crate) fn buffer(&mut self, bytes: u64, usage: vk::BufferUsageFlags, content: &[u8]) -> Result<Buffer, String> {
        let handle = &self.device.handle;
        let info = vk::BufferCreateInfo::default().size(bytes.max(4)).usage(usage);
        // SAFETY: the device is never destroyed, and the structures live until after the calls. The same holds in all
        // functions of this file.
        let buffer = unsafe { handle.create_buffer(&info, None) }.map_err(failed("no buffer"))?;
        // It is listed immediately, so that it is destroyed if a later step fails.
        self.buffers.push(Buffer { handle: buffer, memory: vk::DeviceMemory::null(), bytes: bytes.max(4) });
        // SAFETY: the buffer belongs to this device.
        let needs = unsafe { handle.get_buffer_memory_requirements(buffer) };
        let info =
            vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(self.device.memory_type);
        // SAFETY: the type is one of the device's.
        let memory = unsafe { handle.allocate_memory(&info, None) }.map_err(failed("no memory"))?;
        let made = Buffer { handle: buffer, memory, bytes: bytes.max(4) };
        if let Some(last) = self.buffers.last_mut() {
            *last = made;
        }
        // SAFETY: both are new, and the memory is as large as the buffer needs.
        unsafe { handle.bind_buffer_memory(buffer, memory, 0) }.map_err(failed("no memory"))?;
        if !content.is_empty() {
            self.with_memory(&made, |memory| memory[..content.len()].copy_from_slice(content))?;
        }
        Ok(made)
    }

    /// Maps the memory of a buffer during a call of `inner`.
    pub(crate) fn with_memory<T>(&self, buffer: &Buffer, inner: impl FnOnce(&mut [u8]) -> T) -> Result<T, String> {
        let handle = &self.device.handle;
        let none = vk::MemoryMapFlags::empty();
        // SAFETY: the memory can be mapped, is not mapped, and is at least as large as the buffer.
        let start = unsafe { handle.map_memory(buffer.memory, 0, buffer.bytes, none) };
        let start = start.map_err(failed("memory cannot be read"))?;
        // SAFETY: this number of bytes is mapped there; the device does not use them now.
        let bytes = unsafe { std::slice::from_raw_parts_mut(start.cast::<u8>(), buffer.bytes as usize) };
        let result = inner(bytes);
        // SAFETY: it was mapped above, and there are no more references to it.
        unsafe { handle.unmap_memory(buffer.memory) };
        Ok(result)
    }

    pub(crate) fn read(&self, buffer: &Buffer) -> Result<Vec<u8>, String> {
        self.with_memory(buffer, |bytes| bytes.to_vec())
    }

    pub(crate) fn image(
        &mut self,
        (width, height): (u32, u32),
        format: vk::Format,
        usage: vk::ImageUsageFlags,
    ) -> Result<Image, String> {
        let handle = &self.device.handle;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D { width, height, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage);
        // SAFETY: as in `buffer`.
        let image = unsafe { handle.create_image(&info, None) }.map_err(failed("no image"))?;
        self.images.push((Image { handle: image, view: vk::ImageView::null() }, vk::DeviceMemory::null()));
        // SAFETY: the image belongs to this device.
        let needs = unsafe { handle.get_image_memory_requirements(image) };
        let kind = needs.memory_type_bits.trailing_zeros();
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
        // SAFETY: the type is one that the image supports.
        let memory = unsafe { handle.allocate_memory(&info, None) }.map_err(failed("no memory"))?;
        if let Some(last) = self.images.last_mut() {
            last.1 = memory;
        }
        // SAFETY: both are new, and the memory is as large as the image needs.
        unsafe { handle.bind_image_memory(image, memory, 0) }.map_err(failed("no memory"))?;
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(range());
        // SAFETY: the image belongs to this device and has memory.
        let view = unsafe { handle.create_image_view(&info, None) }.map_err(failed("no view"))?;
        if let Some(last) = self.images.last_mut() {
            last.0.view = view;
        }
        Ok(Image { handle: image, view })
    }

    pub(crate) fn render_pass(&mut self, format: vk::Format) -> Result<vk::RenderPass, String> {
        let attachments = [vk::AttachmentDescription::default()
            .format(format)
            .samples(vk::SampleCountFlags::TYPE_1)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .final_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)];
        let color =
            [vk::AttachmentReference::default().attachment(0).layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)];
        let subpasses = [vk::SubpassDescription::default()
            .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
            .color_attachments(&color)];
        let dependencies = [vk::SubpassDependency::default()
            .src_subpass(0)
            .dst_subpass(vk::SUBPASS_EXTERNAL)
            .src_stage_mask(vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT)
            .src_access_mask(vk::AccessFlags::COLOR_ATTACHMENT_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags::TRANSFER)
            .dst_access_mask(vk::AccessFlags::TRANSFER_READ)];
        let info = vk::RenderPassCreateInfo::default()
            .attachments(&attachments)
            .subpasses(&subpasses)
            .dependencies(&dependencies);
        // SAFETY: as in `buffer`.
        let pass = unsafe { self.device.handle.create_render_pass(&info, None) }.map_err(failed("no render pass"))?;
        self.passes.push(pass);
        Ok(pass)
    }

    pub(crate) fn framebuffer(
        &mut self,
        pass: vk::RenderPass,
        view: vk::ImageView,
        (width, height): (u32, u32),
    ) -> Result<vk::Framebuffer, String> {
        let views = [view];
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(&views)
            .width(width)
            .height(height)
            .layers(1);
        // SAFETY: pass and view belong to this device.
        let made = unsafe { self.device.handle.create_framebuffer(&info, None) }.map_err(failed("no framebuffer"))?;
        self.framebuffers.push(made);
        Ok(made)
    }

    /// Creates the layouts of the sets up to the last used one.
    pub(crate) fn set_layouts(&mut self, drawing: &Drawing<'_>) -> Result<Vec<vk::DescriptorSetLayout>, String> {
        let uniforms = drawing.uniforms.iter().map(|u| (u.set, u.binding, vk::DescriptorType::UNIFORM_BUFFER));
        let textures = drawing.textures.iter().map(|t| (t.set, t.binding, vk::DescriptorType::COMBINED_IMAGE_SAMPLER));
        let all: Vec<_> = uniforms.chain(textures).collect();
        let count = all.iter().map(|&(set, ..)| set + 1).max().unwrap_or(0);
        for number in 0..count {
            let bindings: Vec<_> = all
                .iter()
                .filter(|&&(set, ..)| set == number)
                .map(|&(_, binding, kind)| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(binding)
                        .descriptor_type(kind)
                        .descriptor_count(1)
                        .stage_flags(vk::ShaderStageFlags::ALL_GRAPHICS)
                })
                .collect();
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            // SAFETY: as in `buffer`.
            let layout = unsafe { self.device.handle.create_descriptor_set_layout(&info, None) };
            self.set_layouts.push(layout.map_err(failed("no descriptor set layout"))?);
        }
        Ok(self.set_layouts.clone())
    }

    pub(crate) fn pipeline_layout(
        &mut self,
        layouts: &[vk::DescriptorSetLayout],
    ) -> Result<vk::PipelineLayout, String> {
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(layouts);
        // SAFETY: the layouts belong to this device.
        let layout = unsafe { self.device.handle.create_pipeline_layout(&info, None) };
        let layout = layout.map_err(failed("no pipeline layout"))?;
        self.layouts.push(layout);
        Ok(layout)
    }

    pub(crate) fn sampler(&mut self) -> Result<vk::Sampler, String> {
        let info = vk::SamplerCreateInfo::default().mag_filter(vk::Filter::LINEAR).min_filter(vk::Filter::LINEAR);
        // SAFETY: as in `buffer`.
        let sampler = unsafe { self.device.handle.create_sampler(&info, None) }.map_err(failed("no sampler"))?;
        self.samplers.push(sampler);
        Ok(sampler)
    }

    pub(crate) fn sets(
        &mut self,
        drawing: &Drawing<'_>,
        layouts: &[vk::DescriptorSetLayout],
        uploads: &[Upload],
    ) -> Result<Vec<vk::DescriptorSet>, String> {
        if layouts.is_empty() {
            return Ok(Vec::new());
        }
        let count = (drawing.uniforms.len() + drawing.textures.len()) as u32;
        let sizes = [vk::DescriptorType::UNIFORM_BUFFER, vk::DescriptorType::COMBINED_IMAGE_SAMPLER]
            .map(|kind| vk::DescriptorPoolSize::default().ty(kind).descriptor_count(count));
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(layouts.len() as u32).pool_sizes(&sizes);
        // SAFETY: as in `buffer`.
        let pool = unsafe { self.device.handle.create_descriptor_pool(&info, None) };
        let pool = pool.map_err(failed("no descriptor pool"))?;
        self.descriptor_pools.push(pool);
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(layouts);
        // SAFETY: pool and layouts belong to this device.
        let sets = unsafe { self.device.handle.allocate_descriptor_sets(&info) };
        let sets = sets.map_err(failed("no descriptor sets"))?;
        for uniform in drawing.uniforms {
            let length = uniform.bytes.len() as u64;
            let buffer = self.buffer(length, vk::BufferUsageFlags::UNIFORM_BUFFER, &uniform.bytes)?;
            let info = [vk::DescriptorBufferInfo::default().buffer(buffer.handle).range(vk::WHOLE_SIZE)];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(sets[uniform.set as usize])
                .dst_binding(uniform.binding)
                .descriptor_type(vk::DescriptorType::UNIFORM_BUFFER)
                .buffer_info(&info);
            // SAFETY: set and buffer belong to this device, and the set is not in use.
            unsafe { self.device.handle.update_descriptor_sets(&[write], &[]) };
        }
        for (texture, upload) in drawing.textures.iter().zip(uploads) {
            let sampler = self.sampler()?;
            let info = [vk::DescriptorImageInfo::default()
                .sampler(sampler)
                .image_view(upload.image.view)
                .image_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL)];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(sets[texture.set as usize])
                .dst_binding(texture.binding)
                .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
                .image_info(&info);
            // SAFETY: as above.
            unsafe { self.device.handle.update_descriptor_sets(&[write], &[]) };
        }
        Ok(sets)
    }

    pub(crate) fn shader(&mut self, bytes: &[u8]) -> Result<vk::ShaderModule, String> {
        let words = ash::util::read_spv(&mut std::io::Cursor::new(bytes)).map_err(|error| error.to_string())?;
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: the code is valid SPIR-V if its driver is correct, which other tests check.
        let shader = unsafe { self.device.handle.create_shader_module(&info, None) };
        let shader = shader.map_err(failed("no shader module"))?;
        self.shaders.push(shader);
        Ok(shader)
    }

    pub(crate) fn pipeline(
        &mut self,
        drawing: &Drawing<'_>,
        layout: vk::PipelineLayout,
        pass: vk::RenderPass,
    ) -> Result<vk::Pipeline, String> {
        let (width, height) = drawing.size;
        let stages = [
            (vk::ShaderStageFlags::VERTEX, self.shader(drawing.vertex)?),
            (vk::ShaderStageFlags::FRAGMENT, self.shader(drawing.fragment)?),
        ]
        .map(|(stage, module)| vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main"));
        let numbers = 0..drawing.attributes.len() as u32;
        let bindings: Vec<_> = numbers
            .clone()
            .map(|number| vk::VertexInputBindingDescription::default().binding(number).stride(16))
            .collect();
        let attributes: Vec<_> = numbers
            .map(|number| {
                vk::VertexInputAttributeDescription::default()
                    .location(number)
                    .binding(number)
                    .format(vk::Format::R32G32B32A32_SFLOAT)
            })
            .collect();
        let inputs = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&bindings)
            .vertex_attribute_descriptions(&attributes);
        let assembly =
            vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        // OpenGL's window has y upwards: a negative height flips the picture.
        let viewports = [vk::Viewport {
            x: 0.0,
            y: height as f32,
            width: width as f32,
            height: -(height as f32),
            min_depth: 0.0,
            max_depth: 1.0,
        }];
        let scissors = [vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width, height } }];
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
        let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples =
            vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let all = vk::ColorComponentFlags::RGBA;
        let blends = [vk::PipelineColorBlendAttachmentState::default().color_write_mask(all)];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
        let info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&inputs)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .color_blend_state(&blend)
            .layout(layout)
            .render_pass(pass);
        // SAFETY: modules, layout and pass belong to this device; the layout contains the bindings of the drawing.
        let made = unsafe { self.device.handle.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
        let made = made.map_err(|(_, error)| failed("no pipeline")(error))?;
        self.pipelines.extend(&made);
        made.first().copied().ok_or_else(|| "no pipeline on Vulkan".to_owned())
    }

    pub(crate) fn commands(&mut self) -> Result<vk::CommandBuffer, String> {
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(self.device.family);
        // SAFETY: the device was opened with this family.
        let pool = unsafe { self.device.handle.create_command_pool(&info, None) };
        let pool = pool.map_err(failed("no command pool"))?;
        self.command_pools.push(pool);
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        // SAFETY: the pool belongs to this device.
        let made = unsafe { self.device.handle.allocate_command_buffers(&info) };
        made.map_err(failed("no command buffer"))?.first().copied().ok_or_else(|| "no command buffer".to_owned())
    }

    /// Submits the commands and waits for their end.
    pub(crate) fn submit(&mut self, commands: vk::CommandBuffer) -> Result<(), String> {
        let handle = &self.device.handle;
        // SAFETY: as in `buffer`.
        let fence = unsafe { handle.create_fence(&vk::FenceCreateInfo::default(), None) };
        let fence = fence.map_err(failed("no fence"))?;
        self.fences.push(fence);
        let commands = [commands];
        let submits = [vk::SubmitInfo::default().command_buffers(&commands)];
        // SAFETY: the caller holds the session, so the queue is not used concurrently; the objects live until the end.
        unsafe { handle.queue_submit(self.device.queue, &submits, fence) }.map_err(failed("no drawing"))?;
        let nanoseconds = u64::try_from(time_limit().as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the fence belongs to this device.
        unsafe { handle.wait_for_fences(&[fence], true, nanoseconds) }.map_err(|error| {
            self.device.give_up();
            format!("drawing did not end on Vulkan: {error}")
        })
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // An abandoned device may still use them.
        if self.device.is_lost() {
            return;
        }
        let handle = &self.device.handle;
        // SAFETY: the commands have ended or never began, so the device does not use these objects, which are not
        // shared. Null handles are allowed.
        unsafe {
            self.fences.iter().for_each(|&fence| handle.destroy_fence(fence, None));
            self.command_pools.iter().for_each(|&pool| handle.destroy_command_pool(pool, None));
            self.pipelines.iter().for_each(|&pipeline| handle.destroy_pipeline(pipeline, None));
            self.shaders.iter().for_each(|&shader| handle.destroy_shader_module(shader, None));
            self.descriptor_pools.iter().for_each(|&pool| handle.destroy_descriptor_pool(pool, None));
            self.layouts.iter().for_each(|&layout| handle.destroy_pipeline_layout(layout, None));
            self.set_layouts.iter().for_each(|&layout| handle.destroy_descriptor_set_layout(layout, None));
            self.framebuffers.iter().for_each(|&framebuffer| handle.destroy_framebuffer(framebuffer, None));
            self.passes.iter().for_each(|&pass| handle.destroy_render_pass(pass, None));
            self.samplers.iter().for_each(|&sampler| handle.destroy_sampler(sampler, None));
            self.buffer_views.iter().for_each(|&view| handle.destroy_buffer_view(view, None));
            for &(image, memory) in &self.images {
                handle.destroy_image_view(image.view, None);
                handle.destroy_image(image.handle, None);
                handle.free_memory(memory, None);
            }
            for buffer in &self.buffers {
                handle.destroy_buffer(buffer.handle, None);
                handle.free_memory(buffer.memory, None);
            }
        }
    }
}
