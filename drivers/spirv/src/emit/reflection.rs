//! The part of the interface that describes the whole module, added at the end.

use spirv::Capability;

use super::Emitter;
use crate::interface::DeviceRequirement;

impl Emitter<'_> {
    /// Adds capabilities and extensions to the interface, and sorts its lists.
    pub(super) fn reflect_module(&mut self) {
        let interface = &mut self.interface;
        interface.capabilities = self
            .module
            .capabilities()
            .map(|capability| DeviceRequirement { name: format!("{capability:?}"), vulkan: feature(capability) })
            .collect();
        interface.extensions = self
            .module
            .extensions()
            .map(|name| DeviceRequirement { name: name.to_owned(), vulkan: vulkan_extension(name) })
            .collect();
        let built_ins = self.module.built_ins().map(|built_in| format!("{built_in:?}"));
        interface.built_in_inputs.extend(built_ins);
        for list in [&mut interface.built_in_inputs, &mut interface.built_in_outputs] {
            list.sort_unstable();
            list.dedup();
        }
        for list in [&mut interface.inputs, &mut interface.outputs] {
            list.sort_by_key(|varying| (varying.patch, varying.location, varying.source));
        }
    }
}

/// Returns the Vulkan feature that a capability needs; empty if every device has it.
const fn feature(capability: Capability) -> &'static str {
    use Capability as C;
    match capability {
        C::Geometry | C::GeometryPointSize => "geometryShader",
        C::Tessellation | C::TessellationPointSize => "tessellationShader",
        C::GeometryStreams => "geometryStreams",
        C::TransformFeedback => "transformFeedback",
        C::ClipDistance => "shaderClipDistance",
        C::CullDistance => "shaderCullDistance",
        C::MultiViewport => "multiViewport",
        C::ShaderLayer => "shaderOutputLayer",
        C::ShaderViewportIndex => "shaderOutputViewportIndex",
        C::SampleRateShading | C::InterpolationFunction => "sampleRateShading",
        C::DrawParameters => "shaderDrawParameters",
        C::DemoteToHelperInvocation => "shaderDemoteToHelperInvocation",
        C::Float64 => "shaderFloat64",
        C::Int64 => "shaderInt64",
        C::Int16 => "shaderInt16",
        C::Int8 => "shaderInt8",
        C::Float16 => "shaderFloat16",
        C::Int64Atomics => "shaderBufferInt64Atomics",
        C::AtomicFloat32AddEXT => "shaderBufferFloat32AtomicAdd",
        C::ImageGatherExtended => "shaderImageGatherExtended",
        C::ImageCubeArray | C::SampledCubeArray => "imageCubeArray",
        C::StorageImageMultisample => "shaderStorageImageMultisample",
        C::StorageImageExtendedFormats => "shaderStorageImageExtendedFormats",
        C::StorageImageReadWithoutFormat => "shaderStorageImageReadWithoutFormat",
        C::StorageImageWriteWithoutFormat => "shaderStorageImageWriteWithoutFormat",
        C::MinLod => "shaderResourceMinLod",
        C::UniformBufferArrayDynamicIndexing => "shaderUniformBufferArrayDynamicIndexing",
        C::SampledImageArrayDynamicIndexing => "shaderSampledImageArrayDynamicIndexing",
        C::StorageBufferArrayDynamicIndexing => "shaderStorageBufferArrayDynamicIndexing",
        C::StorageImageArrayDynamicIndexing => "shaderStorageImageArrayDynamicIndexing",
        C::UniformBufferArrayNonUniformIndexing => "shaderUniformBufferArrayNonUniformIndexing",
        C::SampledImageArrayNonUniformIndexing => "shaderSampledImageArrayNonUniformIndexing",
        C::StorageBufferArrayNonUniformIndexing => "shaderStorageBufferArrayNonUniformIndexing",
        C::StorageImageArrayNonUniformIndexing => "shaderStorageImageArrayNonUniformIndexing",
        C::RuntimeDescriptorArray => "runtimeDescriptorArray",
        C::ShaderNonUniform => "descriptorIndexing",
        C::ShaderClockKHR => "shaderSubgroupClock",
        C::MultiView => "multiview",
        C::GroupNonUniform
        | C::GroupNonUniformVote
        | C::GroupNonUniformBallot
        | C::GroupNonUniformShuffle
        | C::GroupNonUniformArithmetic => "subgroupSupportedOperations",
        C::SignedZeroInfNanPreserve => "shaderSignedZeroInfNanPreserveFloat32",
        C::DenormPreserve => "shaderDenormPreserveFloat32",
        C::VulkanMemoryModel => "vulkanMemoryModel",
        C::VulkanMemoryModelDeviceScope => "vulkanMemoryModelDeviceScope",
        C::StencilExportEXT => "VK_EXT_shader_stencil_export",
        C::SampleMaskPostDepthCoverage => "VK_EXT_post_depth_coverage",
        C::ShaderViewportIndexLayerEXT => "VK_EXT_shader_viewport_index_layer",
        C::ShaderViewportMaskNV => "VK_NV_viewport_array2",
        C::SubgroupBallotKHR => "VK_EXT_shader_subgroup_ballot",
        C::SubgroupVoteKHR => "VK_EXT_shader_subgroup_vote",
        _ => "",
    }
}

/// Returns the Vulkan extension that permits a SPIR-V extension.
fn vulkan_extension(name: &str) -> &'static str {
    match name {
        "SPV_KHR_shader_draw_parameters" => "VK_KHR_shader_draw_parameters",
        "SPV_KHR_storage_buffer_storage_class" => "VK_KHR_storage_buffer_storage_class",
        "SPV_KHR_float_controls" => "VK_KHR_shader_float_controls",
        "SPV_KHR_shader_ballot" => "VK_EXT_shader_subgroup_ballot",
        "SPV_KHR_subgroup_vote" => "VK_EXT_shader_subgroup_vote",
        "SPV_KHR_shader_clock" => "VK_KHR_shader_clock",
        "SPV_KHR_multiview" => "VK_KHR_multiview",
        "SPV_KHR_post_depth_coverage" => "VK_EXT_post_depth_coverage",
        "SPV_KHR_vulkan_memory_model" => "VK_KHR_vulkan_memory_model",
        "SPV_EXT_shader_stencil_export" => "VK_EXT_shader_stencil_export",
        "SPV_EXT_shader_viewport_index_layer" => "VK_EXT_shader_viewport_index_layer",
        "SPV_EXT_demote_to_helper_invocation" => "VK_EXT_shader_demote_to_helper_invocation",
        "SPV_EXT_descriptor_indexing" => "VK_EXT_descriptor_indexing",
        "SPV_EXT_shader_atomic_float_add" => "VK_EXT_shader_atomic_float",
        "SPV_NV_viewport_array2" => "VK_NV_viewport_array2",
        _ => "",
    }
}
