//! The reflection of a module: default sets and bindings, and the parts that describe the whole module, added at the
//! end.

use spirv::Capability;
use tgsi_compiler::reflection::{DeviceRequirement, ResourceKind};
use tgsi_ir::ShaderStage;

use super::Emitter;

impl Emitter<'_> {
    /// Adds the stage, capabilities and extensions to the reflection, and sorts its lists.
    pub(super) fn reflect_module(&mut self) {
        let reflection = &mut self.reflection;
        reflection.stage = match self.shader.stage {
            ShaderStage::Vertex => "vertex",
            ShaderStage::TessCtrl => "tessellation_control",
            ShaderStage::TessEval => "tessellation_evaluation",
            ShaderStage::Geometry => "geometry",
            ShaderStage::Fragment => "fragment",
            _ => "compute",
        };
        reflection.capabilities = self
            .module
            .capabilities()
            .map(|capability| DeviceRequirement { name: format!("{capability:?}"), vulkan: feature(capability) })
            .collect();
        reflection.extensions = self
            .module
            .extensions()
            .map(|name| DeviceRequirement { name: name.to_owned(), vulkan: vulkan_extension(name) })
            .collect();
        let built_ins = self.module.built_ins().map(|built_in| format!("{built_in:?}"));
        reflection.built_in_inputs.extend(built_ins);
        for list in [&mut reflection.built_in_inputs, &mut reflection.built_in_outputs] {
            list.sort_unstable();
            list.dedup();
        }
        for list in [&mut reflection.inputs, &mut reflection.outputs] {
            list.sort_by_key(|varying| (varying.patch, varying.location, varying.source));
        }
    }
}

/// Returns the set and binding of a resource of a stage: the set is the kind, the binding the stage times 32 plus the
/// index, so that separately translated shaders of different stages never collide. Samplers and counters, which share a
/// set with others, start at 512.
pub(super) const fn default_binding(kind: ResourceKind, stage: ShaderStage, index: u32) -> (u32, u32) {
    let number = match stage {
        ShaderStage::TessCtrl => 1,
        ShaderStage::TessEval => 2,
        ShaderStage::Geometry => 3,
        ShaderStage::Fragment => 4,
        _ => 0,
    };
    let binding = number * 32 + index;
    match kind {
        ResourceKind::ConstantBuffer => (0, binding),
        ResourceKind::CombinedTexture | ResourceKind::Texture => (1, binding),
        ResourceKind::Sampler => (1, 512 + binding),
        ResourceKind::StorageBuffer => (2, binding),
        ResourceKind::CounterBuffer => (2, 512 + number * 8 + index),
        ResourceKind::Image => (3, binding),
        ResourceKind::InputAttachment => (3, 512 + binding),
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
        C::FragmentShaderPixelInterlockEXT | C::FragmentShaderSampleInterlockEXT => "VK_EXT_fragment_shader_interlock",
        C::ComputeDerivativeGroupQuadsNV | C::ComputeDerivativeGroupLinearNV => "VK_NV_compute_shader_derivatives",
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
        "SPV_EXT_fragment_shader_interlock" => "VK_EXT_fragment_shader_interlock",
        "SPV_NV_compute_shader_derivatives" => "VK_NV_compute_shader_derivatives",
        "SPV_NV_viewport_array2" => "VK_NV_viewport_array2",
        _ => "",
    }
}
