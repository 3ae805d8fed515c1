//! Images with their texels.

use ash::vk;

use super::contents::{Picture, PictureShape, TexelKind};
use crate::draw::objects::{Buffer, Image, Objects, failed};

/// An image, with a buffer for its texels.
#[derive(Clone)]
pub(super) struct Uploaded {
    pub(super) image: Image,
    pub(super) staging: Buffer,
    aspect: vk::ImageAspectFlags,
    regions: Vec<vk::BufferImageCopy>,
    levels: u32,
    images: u32,
}

impl Objects {
    /// Creates the image of a picture, and a buffer with its texels.
    pub(super) fn picture(&mut self, picture: &Picture, usage: vk::ImageUsageFlags) -> Result<Uploaded, String> {
        let format = picture.format.in_vulkan()?;
        let (image_type, view_type) = match (picture.shape, picture.is_array) {
            (PictureShape::D1, false) => (vk::ImageType::TYPE_1D, vk::ImageViewType::TYPE_1D),
            (PictureShape::D1, true) => (vk::ImageType::TYPE_1D, vk::ImageViewType::TYPE_1D_ARRAY),
            (PictureShape::D2, false) => (vk::ImageType::TYPE_2D, vk::ImageViewType::TYPE_2D),
            (PictureShape::D2, true) => (vk::ImageType::TYPE_2D, vk::ImageViewType::TYPE_2D_ARRAY),
            (PictureShape::D3, _) => (vk::ImageType::TYPE_3D, vk::ImageViewType::TYPE_3D),
            (PictureShape::Cube, false) => (vk::ImageType::TYPE_2D, vk::ImageViewType::CUBE),
            (PictureShape::Cube, true) => (vk::ImageType::TYPE_2D, vk::ImageViewType::CUBE_ARRAY),
            (PictureShape::Buffer, _) => return Err("a texel buffer as an image".to_owned()),
        };
        let aspect = match picture.format.kind {
            TexelKind::Depth => vk::ImageAspectFlags::DEPTH,
            _ => vk::ImageAspectFlags::COLOR,
        };
        let flags = match picture.shape {
            PictureShape::Cube => vk::ImageCreateFlags::CUBE_COMPATIBLE,
            _ => vk::ImageCreateFlags::empty(),
        };
        let extent = |[width, height, depth]: [u32; 3]| vk::Extent3D { width, height, depth };
        let (levels, images) = (picture.levels, picture.images());
        let usage = usage | vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::TRANSFER_SRC;
        let info = vk::ImageCreateInfo::default()
            .flags(flags)
            .image_type(image_type)
            .format(format)
            .extent(extent(picture.size))
            .mip_levels(levels)
            .array_layers(images)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage);
        let range = vk::ImageSubresourceRange::default().aspect_mask(aspect).level_count(levels).layer_count(images);
        let image = self.image_of(&info, view_type, range)?;
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let staging = self.buffer(picture.bytes.len() as u64, usage, &picture.bytes)?;
        let mut regions = Vec::new();
        let mut offset = 0;
        for level in 0..levels {
            let layers = vk::ImageSubresourceLayers::default().aspect_mask(aspect).mip_level(level).layer_count(images);
            let region = vk::BufferImageCopy::default().image_subresource(layers);
            regions.push(region.image_extent(extent(picture.level(level))).buffer_offset(offset));
            offset += picture.level_bytes(level) as u64;
        }
        if offset != picture.bytes.len() as u64 {
            return Err("a picture with texels of another size".to_owned());
        }
        Ok(Uploaded { image, staging, aspect, regions, levels, images })
    }

    /// Records the copy of the texels to the image, for use in any stage.
    ///
    /// # Safety
    /// The commands are being recorded, and the objects live until they have run.
    pub(super) unsafe fn record_upload(&self, commands: vk::CommandBuffer, from: &Uploaded) {
        let copied = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
        let first = from.barrier(vk::ImageLayout::UNDEFINED, copied);
        let second = from.barrier(copied, vk::ImageLayout::GENERAL);
        let (all, none) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::DependencyFlags::empty());
        let handle = &self.device.handle;
        // SAFETY: guaranteed by the caller.
        unsafe {
            handle.cmd_pipeline_barrier(commands, all, all, none, &[], &[], &[first]);
            handle.cmd_copy_buffer_to_image(commands, from.staging.handle, from.image.handle, copied, &from.regions);
            handle.cmd_pipeline_barrier(commands, all, all, none, &[], &[], &[second]);
        }
    }

    /// Records the copy of the image to the texels.
    ///
    /// # Safety
    /// As for `record_upload`.
    pub(super) unsafe fn record_download(&self, commands: vk::CommandBuffer, to: &Uploaded) {
        let general = vk::ImageLayout::GENERAL;
        let barrier = to.barrier(general, general);
        let (all, none) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::DependencyFlags::empty());
        let handle = &self.device.handle;
        // SAFETY: guaranteed by the caller.
        unsafe {
            handle.cmd_pipeline_barrier(commands, all, all, none, &[], &[], &[barrier]);
            handle.cmd_copy_image_to_buffer(commands, to.image.handle, general, to.staging.handle, &to.regions);
        }
    }

    /// Creates an image with memory and a view.
    fn image_of(
        &mut self,
        info: &vk::ImageCreateInfo<'_>,
        view_type: vk::ImageViewType,
        range: vk::ImageSubresourceRange,
    ) -> Result<Image, String> {
        let handle = &self.device.handle;
        // SAFETY: the device is never destroyed, and the structures live until after the calls. The same holds in all
        // functions of this file.
        let image = unsafe { handle.create_image(info, None) }.map_err(failed("no image"))?;
        self.images.push((Image { handle: image, view: vk::ImageView::null() }, vk::DeviceMemory::null()));
        // SAFETY: the image belongs to this device.
        let needs = unsafe { handle.get_image_memory_requirements(image) };
        let kind = needs.memory_type_bits.trailing_zeros();
        let memory = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
        // SAFETY: the type is one that the image supports.
        let memory = unsafe { handle.allocate_memory(&memory, None) }.map_err(failed("no memory"))?;
        if let Some(last) = self.images.last_mut() {
            last.1 = memory;
        }
        // SAFETY: both are new, and the memory is as large as the image needs.
        unsafe { handle.bind_image_memory(image, memory, 0) }.map_err(failed("no memory"))?;
        let view = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(view_type)
            .format(info.format)
            .subresource_range(range);
        // SAFETY: the image belongs to this device and has memory.
        let view = unsafe { handle.create_image_view(&view, None) }.map_err(failed("no view"))?;
        let made = Image { handle: image, view };
        if let Some(last) = self.images.last_mut() {
            last.0 = made;
        }
        Ok(made)
    }
}

impl Uploaded {
    fn barrier(&self, from: vk::ImageLayout, to: vk::ImageLayout) -> vk::ImageMemoryBarrier<'_> {
        let range = vk::ImageSubresourceRange::default().aspect_mask(self.aspect);
        let every = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        vk::ImageMemoryBarrier::default()
            .image(self.image.handle)
            .old_layout(from)
            .new_layout(to)
            .src_access_mask(every)
            .dst_access_mask(every)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .subresource_range(range.level_count(self.levels).layer_count(self.images))
    }
}
