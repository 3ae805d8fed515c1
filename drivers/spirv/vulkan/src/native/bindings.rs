//! Descriptor sets with the contents of bindings.

use ash::vk;

use super::contents::{BoundContents, Content, Picture, PictureShape, SamplerState};
use super::pictures::Uploaded;
use crate::draw::objects::{Buffer, Objects, failed};

/// Most sets that devices must support beyond the four of Vulkan.
const MAX_SETS: u32 = 8;

/// The objects of a descriptor.
pub(super) enum Bound {
    /// A block, or a texel buffer.
    Buffer(Buffer, Option<vk::BufferView>),
    /// An image.
    Image(Uploaded, Option<vk::Sampler>),
    /// A sampler.
    Sampler(vk::Sampler),
}

impl Objects {
    /// Creates the objects of a content.
    pub(super) fn content(&mut self, content: &Content) -> Result<Bound, String> {
        Ok(match content {
            Content::Uniform(bytes) => {
                Bound::Buffer(self.buffer(bytes.len() as u64, vk::BufferUsageFlags::UNIFORM_BUFFER, bytes)?, None)
            }
            Content::Storage(bytes) => {
                Bound::Buffer(self.buffer(bytes.len() as u64, vk::BufferUsageFlags::STORAGE_BUFFER, bytes)?, None)
            }
            Content::Sampler(state) => Bound::Sampler(self.sampler_of(*state)?),
            Content::Texture(picture) if picture.shape == PictureShape::Buffer => {
                self.texels(picture, vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER)?
            }
            Content::Image(picture) if picture.shape == PictureShape::Buffer => {
                self.texels(picture, vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER)?
            }
            Content::Texture(picture) => Bound::Image(self.picture(picture, vk::ImageUsageFlags::SAMPLED)?, None),
            Content::Image(picture) => Bound::Image(self.picture(picture, vk::ImageUsageFlags::STORAGE)?, None),
            Content::Combined(picture, state) => {
                let sampler = self.sampler_of(*state)?;
                Bound::Image(self.picture(picture, vk::ImageUsageFlags::SAMPLED)?, Some(sampler))
            }
        })
    }

    fn texels(&mut self, picture: &Picture, usage: vk::BufferUsageFlags) -> Result<Bound, String> {
        let buffer = self.buffer(picture.bytes.len() as u64, usage, &picture.bytes)?;
        let info = vk::BufferViewCreateInfo::default()
            .buffer(buffer.handle)
            .format(picture.format.in_vulkan()?)
            .range(vk::WHOLE_SIZE);
        // SAFETY: the device is never destroyed, and the structures live until after the calls. The same holds in all
        // functions of this file.
        let view = unsafe { self.device.handle.create_buffer_view(&info, None) }.map_err(failed("no view"))?;
        self.buffer_views.push(view);
        Ok(Bound::Buffer(buffer, Some(view)))
    }

    fn sampler_of(&mut self, state: SamplerState) -> Result<vk::Sampler, String> {
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(vk::Filter::NEAREST)
            .min_filter(vk::Filter::NEAREST)
            .mipmap_mode(vk::SamplerMipmapMode::NEAREST)
            .max_lod(vk::LOD_CLAMP_NONE)
            .compare_enable(state.compares)
            .compare_op(vk::CompareOp::LESS_OR_EQUAL);
        // SAFETY: as above.
        let sampler = unsafe { self.device.handle.create_sampler(&info, None) }.map_err(failed("no sampler"))?;
        self.samplers.push(sampler);
        Ok(sampler)
    }

    /// Creates the layouts of the sets of bindings.
    pub(super) fn layouts_of(&mut self, bindings: &[BoundContents]) -> Result<Vec<vk::DescriptorSetLayout>, String> {
        let count = bindings.iter().map(|binding| binding.set.saturating_add(1)).max().unwrap_or(0);
        if count > MAX_SETS {
            return Err("many sets".to_owned());
        }
        for set in 0..count {
            let bindings: Vec<_> = bindings
                .iter()
                .filter(|binding| binding.set == set)
                .filter_map(|binding| {
                    let ty = binding.contents.first()?.descriptor_type();
                    let layout = vk::DescriptorSetLayoutBinding::default()
                        .binding(binding.binding)
                        .descriptor_type(ty)
                        .descriptor_count(binding.contents.len() as u32)
                        .stage_flags(vk::ShaderStageFlags::ALL);
                    Some(layout)
                })
                .collect();
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            // SAFETY: as above.
            let layout = unsafe { self.device.handle.create_descriptor_set_layout(&info, None) };
            self.set_layouts.push(layout.map_err(failed("no descriptor set layout"))?);
        }
        Ok(self.set_layouts.clone())
    }

    /// Creates the layout of a pipeline with push constants.
    pub(super) fn layout_with_push(
        &mut self,
        layouts: &[vk::DescriptorSetLayout],
        push_bytes: u32,
    ) -> Result<vk::PipelineLayout, String> {
        let ranges = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::ALL).size(push_bytes)];
        let ranges = if push_bytes == 0 { &[][..] } else { &ranges[..] };
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(layouts).push_constant_ranges(ranges);
        // SAFETY: the layouts belong to this device.
        let layout = unsafe { self.device.handle.create_pipeline_layout(&info, None) };
        let layout = layout.map_err(failed("no pipeline layout"))?;
        self.layouts.push(layout);
        Ok(layout)
    }

    /// Creates the sets, with the objects of all contents.
    pub(super) fn sets_of(
        &mut self,
        bindings: &[BoundContents],
        bound: &[Vec<Bound>],
        layouts: &[vk::DescriptorSetLayout],
    ) -> Result<Vec<vk::DescriptorSet>, String> {
        if layouts.is_empty() {
            return Ok(Vec::new());
        }
        let mut sizes: Vec<vk::DescriptorPoolSize> = Vec::new();
        for content in bindings.iter().flat_map(|binding| &binding.contents) {
            sizes.push(vk::DescriptorPoolSize::default().ty(content.descriptor_type()).descriptor_count(1));
        }
        if sizes.is_empty() {
            sizes.push(vk::DescriptorPoolSize::default().ty(vk::DescriptorType::SAMPLER).descriptor_count(1));
        }
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(layouts.len() as u32).pool_sizes(&sizes);
        // SAFETY: as above.
        let pool = unsafe { self.device.handle.create_descriptor_pool(&info, None) };
        let pool = pool.map_err(failed("no descriptor pool"))?;
        self.descriptor_pools.push(pool);
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(layouts);
        // SAFETY: pool and layouts belong to this device.
        let sets = unsafe { self.device.handle.allocate_descriptor_sets(&info) };
        let sets = sets.map_err(failed("no descriptor sets"))?;
        for (binding, bound) in bindings.iter().zip(bound) {
            for (element, (content, bound)) in (0..).zip(binding.contents.iter().zip(bound)) {
                let mut image = [vk::DescriptorImageInfo::default()];
                let mut buffer = [vk::DescriptorBufferInfo::default()];
                let mut view = [vk::BufferView::null()];
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(sets[binding.set as usize])
                    .dst_binding(binding.binding)
                    .dst_array_element(element)
                    .descriptor_type(content.descriptor_type());
                let write = match bound {
                    Bound::Buffer(_, Some(texels)) => {
                        view[0] = *texels;
                        write.texel_buffer_view(&view)
                    }
                    Bound::Buffer(block, None) => {
                        buffer[0] = buffer[0].buffer(block.handle).range(vk::WHOLE_SIZE);
                        write.buffer_info(&buffer)
                    }
                    Bound::Image(uploaded, sampler) => {
                        image[0] = image[0]
                            .image_view(uploaded.image.view)
                            .image_layout(vk::ImageLayout::GENERAL)
                            .sampler(sampler.unwrap_or_default());
                        write.image_info(&image)
                    }
                    Bound::Sampler(sampler) => {
                        image[0] = image[0].sampler(*sampler);
                        write.image_info(&image)
                    }
                };
                // SAFETY: set and objects belong to this device, and the set is not in use.
                unsafe { self.device.handle.update_descriptor_sets(&[write], &[]) };
            }
        }
        Ok(sets)
    }
}
