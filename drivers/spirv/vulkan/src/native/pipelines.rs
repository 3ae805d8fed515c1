//! Pipelines and passes of modules as they are.

use std::ffi::CStr;

use ash::vk;

use super::contents::TexelFormat;
use crate::draw::objects::{Objects, failed};

/// The words of a module, and the name of its entry point.
type ShaderCode<'w> = (&'w [u32], &'w CStr);

/// A colour attachment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// Location.
    pub(super) location: u32,
    /// Format.
    pub(super) format: TexelFormat,
}

impl Objects {
    fn module(&mut self, words: &[u32]) -> Result<vk::ShaderModule, String> {
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: the code is valid SPIR-V, as callers promise by testing valid modules. The device is never destroyed,
        // and the structures live until after the calls. The same holds in all functions of this file.
        let shader = unsafe { self.device.handle.create_shader_module(&info, None) };
        let shader = shader.map_err(failed("no shader module"))?;
        self.shaders.push(shader);
        Ok(shader)
    }

    pub(super) fn compute_pipeline(
        &mut self,
        words: &[u32],
        entry: &CStr,
        layout: vk::PipelineLayout,
    ) -> Result<vk::Pipeline, String> {
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(self.module(words)?)
            .name(entry);
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
        // SAFETY: module and layout belong to this device; the layout has all bindings of the module.
        let made = unsafe { self.device.handle.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
        let made = made.map_err(|(_, error)| failed("no pipeline")(error))?;
        self.pipelines.extend(&made);
        made.first().copied().ok_or_else(|| "no pipeline on Vulkan".to_owned())
    }

    /// Creates a pass with these attachments, the references of which are at their locations.
    pub(super) fn pass_of(&mut self, targets: &[Target]) -> Result<vk::RenderPass, String> {
        let mut attachments = Vec::new();
        let count = targets.iter().map(|target| target.location.saturating_add(1)).max().unwrap_or(0);
        let unused = vk::AttachmentReference::default().attachment(vk::ATTACHMENT_UNUSED);
        let mut colors = vec![unused; count as usize];
        for (number, target) in (0..).zip(targets) {
            attachments.push(
                vk::AttachmentDescription::default()
                    .format(target.format.in_vulkan()?)
                    .samples(vk::SampleCountFlags::TYPE_1)
                    .load_op(vk::AttachmentLoadOp::CLEAR)
                    .store_op(vk::AttachmentStoreOp::STORE)
                    .final_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL),
            );
            colors[target.location as usize] =
                vk::AttachmentReference::default().attachment(number).layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL);
        }
        let subpasses = [vk::SubpassDescription::default()
            .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
            .color_attachments(&colors)];
        let dependencies = [vk::SubpassDependency::default()
            .src_subpass(0)
            .dst_subpass(vk::SUBPASS_EXTERNAL)
            .src_stage_mask(vk::PipelineStageFlags::ALL_GRAPHICS)
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags::TRANSFER)
            .dst_access_mask(vk::AccessFlags::TRANSFER_READ)];
        let info = vk::RenderPassCreateInfo::default()
            .attachments(&attachments)
            .subpasses(&subpasses)
            .dependencies(&dependencies);
        // SAFETY: as above.
        let pass = unsafe { self.device.handle.create_render_pass(&info, None) }.map_err(failed("no render pass"))?;
        self.passes.push(pass);
        Ok(pass)
    }

    pub(super) fn framebuffer_of(
        &mut self,
        pass: vk::RenderPass,
        views: &[vk::ImageView],
        (width, height): (u32, u32),
    ) -> Result<vk::Framebuffer, String> {
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(views)
            .width(width)
            .height(height)
            .layers(1);
        // SAFETY: pass and views belong to this device.
        let made = unsafe { self.device.handle.create_framebuffer(&info, None) }.map_err(failed("no framebuffer"))?;
        self.framebuffers.push(made);
        Ok(made)
    }

    /// Creates a pipeline of a vertex shader, for points that are not drawn, or with a fragment shader, for triangles.
    /// The attributes have four components of these formats.
    pub(super) fn graphics_pipeline(
        &mut self,
        (vertex, fragment): (ShaderCode<'_>, Option<ShaderCode<'_>>),
        attributes: &[(u32, vk::Format)],
        colors: usize,
        (width, height): (u32, u32),
        (layout, pass): (vk::PipelineLayout, vk::RenderPass),
    ) -> Result<vk::Pipeline, String> {
        let mut stages = Vec::new();
        let shaders = [(vk::ShaderStageFlags::VERTEX, Some(vertex)), (vk::ShaderStageFlags::FRAGMENT, fragment)];
        for (stage, shader) in shaders {
            if let Some((words, name)) = shader {
                let module = self.module(words)?;
                stages.push(vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(name));
            }
        }
        let bindings: Vec<_> = (0..attributes.len() as u32)
            .map(|number| vk::VertexInputBindingDescription::default().binding(number).stride(16))
            .collect();
        let attributes: Vec<_> = (0..)
            .zip(attributes)
            .map(|(number, &(location, format))| {
                vk::VertexInputAttributeDescription::default().location(location).binding(number).format(format)
            })
            .collect();
        let inputs = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&bindings)
            .vertex_attribute_descriptions(&attributes);
        let topology = match fragment {
            Some(_) => vk::PrimitiveTopology::TRIANGLE_LIST,
            None => vk::PrimitiveTopology::POINT_LIST,
        };
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(topology);
        let viewports =
            [vk::Viewport { width: width as f32, height: height as f32, max_depth: 1.0, ..vk::Viewport::default() }];
        let scissors = [vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width, height } }];
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
        // The triangle of a run is in this order.
        let raster = vk::PipelineRasterizationStateCreateInfo::default()
            .line_width(1.0)
            .front_face(vk::FrontFace::CLOCKWISE)
            .rasterizer_discard_enable(fragment.is_none());
        let samples =
            vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let all = vk::ColorComponentFlags::RGBA;
        let blends = vec![vk::PipelineColorBlendAttachmentState::default().color_write_mask(all); colors];
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
        // SAFETY: modules, layout and pass belong to this device; the layout has all bindings of the modules.
        let made = unsafe { self.device.handle.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
        let made = made.map_err(|(_, error)| failed("no pipeline")(error))?;
        self.pipelines.extend(&made);
        made.first().copied().ok_or_else(|| "no pipeline on Vulkan".to_owned())
    }
}
