//! Code made ready for the device.

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
    /// Makes code with these bindings ready.
    ///
    /// # Errors
    /// The device does not take it.
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
            // SAFETY: the device is never destroyed; the structures live until after the call. So below.
            let layout = unsafe { device.handle.create_descriptor_set_layout(&info, None) };
            pipeline.sets.push(layout.map_err(|error| failed("no descriptor set layout", error))?);
        }
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&pipeline.sets);
        // SAFETY: the layouts are of this device.
        let layout = unsafe { device.handle.create_pipeline_layout(&info, None) };
        pipeline.layout = layout.map_err(|error| failed("no pipeline layout", error))?;
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: the code is valid SPIR-V as far as the driver for it is right, which other tests check.
        let shader = unsafe { device.handle.create_shader_module(&info, None) };
        let shader = shader.map_err(|error| failed("no shader module", error))?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(shader)
            .name(c"main");
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(pipeline.layout);
        // SAFETY: module and layout are of this device and match each other: both are made of the code's bindings.
        let made = unsafe { device.handle.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
        // SAFETY: the module is not needed once the pipeline is made, and nobody else has it.
        unsafe { device.handle.destroy_shader_module(shader, None) };
        let made = made.map_err(|(_, error)| failed("no pipeline", error))?;
        pipeline.handle = made.first().copied().unwrap_or_default();
        Ok(pipeline)
    }
}

/// The type of a binding's descriptors.
pub fn descriptor_type(kind: BindingKind) -> vk::DescriptorType {
    match kind {
        BindingKind::Constant => vk::DescriptorType::UNIFORM_BUFFER,
        BindingKind::Storage => vk::DescriptorType::STORAGE_BUFFER,
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // A device that was given up may still be at work with it.
        if self.device.is_lost() {
            return;
        }
        // SAFETY: every other run has ended, so that the device does nothing with these objects, which nobody else
        // has. Null handles are allowed.
        unsafe {
            self.device.handle.destroy_pipeline(self.handle, None);
            self.device.handle.destroy_pipeline_layout(self.layout, None);
            for &set in &self.sets {
                self.device.handle.destroy_descriptor_set_layout(set, None);
            }
        }
    }
}
