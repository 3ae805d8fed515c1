//! Pipelines: code prepared for the device.

use ash::vk;

use crate::device::Device;
use crate::module::{Binding, BindingKind};

/// A pipeline with its layouts.
pub struct Pipeline {
    device: &'static Device,
    /// Layouts of the descriptor sets.
    pub sets: Vec<vk::DescriptorSetLayout>,
    /// Layout of the pipeline.
    pub layout: vk::PipelineLayout,
    /// The pipeline.
    pub handle: vk::Pipeline,
}

impl Pipeline {
    /// Creates the pipeline of code with these bindings.
    ///
    /// # Errors
    /// The device rejects it.
    pub fn new(device: &'static Device, words: &[u32], bindings: &[Binding]) -> Result<Pipeline, String> {
        let failed = |what: &str, error: vk::Result| format!("{what} on Vulkan: {error}");
        let mut pipeline =
            Pipeline { device, sets: Vec::new(), layout: vk::PipelineLayout::null(), handle: vk::Pipeline::null() };
        let count = bindings.iter().map(|binding| binding.set + 1).max().unwrap_or(0);
        for set in 0..count {
            let bindings: Vec<_> = bindings
                .iter()
                .filter(|binding| binding.set == set)
                .map(|binding| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(binding.binding)
                        .descriptor_count(binding.count)
                        .descriptor_type(descriptor_type(binding.kind))
                        .stage_flags(vk::ShaderStageFlags::COMPUTE)
                })
                .collect();
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            // SAFETY: the device is never destroyed; the structures live until after the call. The same holds below.
            let layout = unsafe { device.handle.create_descriptor_set_layout(&info, None) };
            pipeline.sets.push(layout.map_err(|error| failed("no descriptor set layout", error))?);
        }
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&pipeline.sets);
        // SAFETY: the layouts belong to this device.
        let layout = unsafe { device.handle.create_pipeline_layout(&info, None) };
        pipeline.layout = layout.map_err(|error| failed("no pipeline layout", error))?;
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: the code is valid SPIR-V if its driver is correct, which other tests check.
        let shader = unsafe { device.handle.create_shader_module(&info, None) };
        let shader = shader.map_err(|error| failed("no shader module", error))?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(shader)
            .name(c"main");
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(pipeline.layout);
        // SAFETY: module and layout belong to this device and match: both are derived from the code's bindings.
        let made = unsafe { device.handle.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
        // SAFETY: the module is not needed once the pipeline exists, and is not shared.
        unsafe { device.handle.destroy_shader_module(shader, None) };
        let made = made.map_err(|(_, error)| failed("no pipeline", error))?;
        pipeline.handle = made.first().copied().unwrap_or_default();
        Ok(pipeline)
    }
}

/// Returns the descriptor type of a binding.
pub fn descriptor_type(kind: BindingKind) -> vk::DescriptorType {
    match kind {
        BindingKind::Constant => vk::DescriptorType::UNIFORM_BUFFER,
        BindingKind::Storage => vk::DescriptorType::STORAGE_BUFFER,
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // An abandoned device may still use it.
        if self.device.is_lost() {
            return;
        }
        // SAFETY: every other run has ended, so the device does not use these objects, which are not shared. Null
        // handles are allowed.
        unsafe {
            self.device.handle.destroy_pipeline(self.handle, None);
            self.device.handle.destroy_pipeline_layout(self.layout, None);
            for &set in &self.sets {
                self.device.handle.destroy_descriptor_set_layout(set, None);
            }
        }
    }
}
