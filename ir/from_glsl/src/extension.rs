//! Extensions of the language: their names, the languages that have them, and the set that a shader enables.

use crate::version::{NEVER, Version};

macro_rules! extensions {
    ($($variant:ident $name:literal $desktop:expr, $es:expr;)+) => {
        /// An extension.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        pub enum Extension { $(#[doc = concat!("`", $name, "`")] $variant,)+ }

        impl Extension {
            /// All, by name.
            pub const ALL: &'static [Extension] = &[$(Extension::$variant,)+];

            /// The name, with the prefix `GL_`.
            pub const fn name(self) -> &'static str {
                match self { $(Extension::$variant => $name,)+ }
            }

            /// The first desktop and ES versions that it extends.
            const fn first(self) -> (u16, u16) {
                match self { $(Extension::$variant => ($desktop, $es),)+ }
            }
        }
    };
}

impl Extension {
    /// Whether it extends a version.
    pub fn exists_in(self, version: Version) -> bool {
        let (desktop, es) = self.first();
        version.is_at_least(desktop, es)
    }

    /// The extensions that are enabled and disabled with it.
    pub(crate) const fn implied(self) -> &'static [Extension] {
        use Extension::*;
        match self {
            EXTGeometryShader | EXTTessellationShader => &[EXTShaderIoBlocks],
            OESGeometryShader | OESTessellationShader => &[OESShaderIoBlocks],
            ANDROIDExtensionPackEs31a => &[
                EXTGeometryShader,
                EXTGpuShader5,
                EXTPrimitiveBoundingBox,
                EXTShaderIoBlocks,
                EXTTessellationShader,
                EXTTextureBuffer,
                EXTTextureCubeMapArray,
                KHRBlendEquationAdvanced,
                OESSampleVariables,
                OESShaderImageAtomic,
                OESShaderMultisampleInterpolation,
                OESTextureStorageMultisample2dArray,
            ],
            _ => &[],
        }
    }

    /// Whether it is enabled without `#extension`, because versions of the language refer to it.
    pub(crate) fn is_enabled_by_default(self, version: Version) -> bool {
        self == Extension::ARBTextureRectangle && !version.is_es()
    }

    /// Where it exists, for a version in which it does not.
    pub(crate) fn remedy(self, version: Version) -> String {
        match (self.first(), version.is_es()) {
            ((_, NEVER), true) => "it extends only desktop GLSL".to_owned(),
            ((NEVER, _), false) => "it extends only GLSL ES".to_owned(),
            ((_, number), true) => format!("it extends GLSL ES from version {number}"),
            ((number, _), false) => format!("it extends GLSL from version {number}"),
        }
    }

    /// What an extension does otherwise than its specification, or only with some targets, for the manual.
    #[cfg(test)]
    pub(crate) const fn remark(self) -> Option<&'static str> {
        use Extension::*;
        Some(match self {
            ARBFragmentShaderInterlock | NVFragmentShaderInterlock => {
                "not in TGSI; interpreters run fragments in lock-step, without exclusion"
            }
            EXTPrimitiveBoundingBox | OESPrimitiveBoundingBox => "a hint that targets ignore",
            ARBShaderBallot => "interpreters have subgroups of 4 invocations",
            ARBShaderClock => "interpreters count instructions, from the start of each run",
            NVComputeShaderDerivatives => {
                "TGSI has no property for the groups; interpreters take groups of four consecutive lanes"
            }
            EXTShaderFramebufferFetch | EXTShaderFramebufferFetchNonCoherent => {
                "SPIR-V has it for Vulkan only, as input attachments"
            }
            KHRBlendEquationAdvanced => "layouts without effect on the code: blending is state",
            INTELConservativeRasterization => "`inner_coverage` has no effect in TGSI and SPIR-V",
            _ => return None,
        })
    }

    /// Looks up an extension by its name.
    pub fn from_name(name: &str) -> Option<Extension> {
        let found = Extension::ALL.binary_search_by(|extension| extension.name().cmp(name));
        found.ok().and_then(|at| Extension::ALL.get(at)).copied()
    }
}

/// A set of extensions.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Extensions([u64; 3]);

impl Extensions {
    /// Every extension.
    pub const ALL: Extensions = Extensions([u64::MAX; 3]);

    /// Whether an extension is in the set.
    pub fn contains(&self, extension: Extension) -> bool {
        self.0.get(extension as usize / 64).is_some_and(|word| word >> (extension as usize % 64) & 1 != 0)
    }

    /// The extensions that are not in another set.
    pub(crate) fn without(&self, other: &Extensions) -> Extensions {
        Extensions(std::array::from_fn(|word| match (self.0.get(word), other.0.get(word)) {
            (Some(own), Some(other)) => own & !other,
            _ => 0,
        }))
    }

    /// Adds or removes an extension.
    pub fn set(&mut self, extension: Extension, enabled: bool) {
        if let Some(word) = self.0.get_mut(extension as usize / 64) {
            let bit = 1u64 << (extension as usize % 64);
            *word = if enabled { *word | bit } else { *word & !bit };
        }
    }
}

extensions! {
    AMDConservativeDepth "GL_AMD_conservative_depth" 110, NEVER;
    AMDGpuShaderInt64 "GL_AMD_gpu_shader_int64" 110, NEVER;
    AMDShaderStencilExport "GL_AMD_shader_stencil_export" 110, NEVER;
    AMDShaderTrinaryMinmax "GL_AMD_shader_trinary_minmax" 110, NEVER;
    AMDTextureTexture4 "GL_AMD_texture_texture4" 110, NEVER;
    AMDVertexShaderLayer "GL_AMD_vertex_shader_layer" 110, NEVER;
    AMDVertexShaderViewportIndex "GL_AMD_vertex_shader_viewport_index" 110, NEVER;
    ANDROIDExtensionPackEs31a "GL_ANDROID_extension_pack_es31a" NEVER, 310;
    ARBES31Compatibility "GL_ARB_ES3_1_compatibility" 110, NEVER;
    ARBArraysOfArrays "GL_ARB_arrays_of_arrays" 110, NEVER;
    ARBCompatibility "GL_ARB_compatibility" 110, NEVER;
    ARBComputeShader "GL_ARB_compute_shader" 110, NEVER;
    ARBComputeVariableGroupSize "GL_ARB_compute_variable_group_size" 110, NEVER;
    ARBConservativeDepth "GL_ARB_conservative_depth" 110, NEVER;
    ARBCullDistance "GL_ARB_cull_distance" 110, NEVER;
    ARBDerivativeControl "GL_ARB_derivative_control" 110, NEVER;
    ARBDrawBuffers "GL_ARB_draw_buffers" 110, NEVER;
    ARBDrawInstanced "GL_ARB_draw_instanced" 110, NEVER;
    ARBEnhancedLayouts "GL_ARB_enhanced_layouts" 110, NEVER;
    ARBExplicitAttribLocation "GL_ARB_explicit_attrib_location" 110, NEVER;
    ARBExplicitUniformLocation "GL_ARB_explicit_uniform_location" 110, NEVER;
    ARBFragmentCoordConventions "GL_ARB_fragment_coord_conventions" 110, NEVER;
    ARBFragmentLayerViewport "GL_ARB_fragment_layer_viewport" 110, NEVER;
    ARBFragmentShaderInterlock "GL_ARB_fragment_shader_interlock" 110, NEVER;
    ARBGpuShader5 "GL_ARB_gpu_shader5" 110, NEVER;
    ARBGpuShaderFp64 "GL_ARB_gpu_shader_fp64" 110, NEVER;
    ARBGpuShaderInt64 "GL_ARB_gpu_shader_int64" 110, NEVER;
    ARBPostDepthCoverage "GL_ARB_post_depth_coverage" 110, NEVER;
    ARBSampleShading "GL_ARB_sample_shading" 110, NEVER;
    ARBSeparateShaderObjects "GL_ARB_separate_shader_objects" 110, NEVER;
    ARBShaderAtomicCounterOps "GL_ARB_shader_atomic_counter_ops" 110, NEVER;
    ARBShaderAtomicCounters "GL_ARB_shader_atomic_counters" 110, NEVER;
    ARBShaderBallot "GL_ARB_shader_ballot" 110, NEVER;
    ARBShaderBitEncoding "GL_ARB_shader_bit_encoding" 110, NEVER;
    ARBShaderClock "GL_ARB_shader_clock" 110, NEVER;
    ARBShaderDrawParameters "GL_ARB_shader_draw_parameters" 110, NEVER;
    ARBShaderGroupVote "GL_ARB_shader_group_vote" 110, NEVER;
    ARBShaderImageLoadStore "GL_ARB_shader_image_load_store" 110, NEVER;
    ARBShaderImageSize "GL_ARB_shader_image_size" 110, NEVER;
    ARBShaderPrecision "GL_ARB_shader_precision" 110, NEVER;
    ARBShaderStencilExport "GL_ARB_shader_stencil_export" 110, NEVER;
    ARBShaderStorageBufferObject "GL_ARB_shader_storage_buffer_object" 110, NEVER;
    ARBShaderSubroutine "GL_ARB_shader_subroutine" 110, NEVER;
    ARBShaderTextureImageSamples "GL_ARB_shader_texture_image_samples" 110, NEVER;
    ARBShaderTextureLod "GL_ARB_shader_texture_lod" 110, NEVER;
    ARBShaderViewportLayerArray "GL_ARB_shader_viewport_layer_array" 110, NEVER;
    ARBShadingLanguage420pack "GL_ARB_shading_language_420pack" 110, NEVER;
    ARBShadingLanguagePacking "GL_ARB_shading_language_packing" 110, NEVER;
    ARBTessellationShader "GL_ARB_tessellation_shader" 110, NEVER;
    ARBTextureBufferObject "GL_ARB_texture_buffer_object" 110, NEVER;
    ARBTextureCubeMapArray "GL_ARB_texture_cube_map_array" 110, NEVER;
    ARBTextureGather "GL_ARB_texture_gather" 110, NEVER;
    ARBTextureMultisample "GL_ARB_texture_multisample" 110, NEVER;
    ARBTextureQueryLevels "GL_ARB_texture_query_levels" 110, NEVER;
    ARBTextureQueryLod "GL_ARB_texture_query_lod" 110, NEVER;
    ARBTextureRectangle "GL_ARB_texture_rectangle" 110, NEVER;
    ARBUniformBufferObject "GL_ARB_uniform_buffer_object" 110, NEVER;
    ARBVertexAttrib64bit "GL_ARB_vertex_attrib_64bit" 110, NEVER;
    ARBViewportArray "GL_ARB_viewport_array" 110, NEVER;
    EXTBlendFuncExtended "GL_EXT_blend_func_extended" NEVER, 100;
    EXTClipCullDistance "GL_EXT_clip_cull_distance" NEVER, 300;
    EXTDemoteToHelperInvocation "GL_EXT_demote_to_helper_invocation" 110, 310;
    EXTDrawBuffers "GL_EXT_draw_buffers" NEVER, 100;
    EXTDrawInstanced "GL_EXT_draw_instanced" 110, 100;
    EXTFragDepth "GL_EXT_frag_depth" NEVER, 100;
    EXTGeometryPointSize "GL_EXT_geometry_point_size" NEVER, 310;
    EXTGeometryShader "GL_EXT_geometry_shader" NEVER, 310;
    EXTGpuShader4 "GL_EXT_gpu_shader4" 110, NEVER;
    EXTGpuShader5 "GL_EXT_gpu_shader5" NEVER, 310;
    EXTPrimitiveBoundingBox "GL_EXT_primitive_bounding_box" NEVER, 310;
    EXTSeparateShaderObjects "GL_EXT_separate_shader_objects" NEVER, 100;
    EXTShaderFramebufferFetch "GL_EXT_shader_framebuffer_fetch" 110, 100;
    EXTShaderFramebufferFetchNonCoherent "GL_EXT_shader_framebuffer_fetch_non_coherent" 110, 100;
    EXTShaderImageLoadFormatted "GL_EXT_shader_image_load_formatted" 110, NEVER;
    EXTShaderImageLoadStore "GL_EXT_shader_image_load_store" 110, NEVER;
    EXTShaderImplicitConversions "GL_EXT_shader_implicit_conversions" 110, 310;
    EXTShaderIntegerMix "GL_EXT_shader_integer_mix" 110, 300;
    EXTShaderIoBlocks "GL_EXT_shader_io_blocks" NEVER, 310;
    EXTShaderSamplesIdentical "GL_EXT_shader_samples_identical" 110, 310;
    EXTShaderTextureLod "GL_EXT_shader_texture_lod" NEVER, 100;
    EXTShadowSamplers "GL_EXT_shadow_samplers" NEVER, 100;
    EXTTessellationPointSize "GL_EXT_tessellation_point_size" NEVER, 310;
    EXTTessellationShader "GL_EXT_tessellation_shader" NEVER, 310;
    EXTTextureArray "GL_EXT_texture_array" 110, NEVER;
    EXTTextureBuffer "GL_EXT_texture_buffer" NEVER, 310;
    EXTTextureCubeMapArray "GL_EXT_texture_cube_map_array" NEVER, 310;
    EXTTextureQueryLod "GL_EXT_texture_query_lod" NEVER, 300;
    EXTTextureShadowLod "GL_EXT_texture_shadow_lod" 110, 300;
    INTELConservativeRasterization "GL_INTEL_conservative_rasterization" 110, 310;
    INTELShaderAtomicFloatMinmax "GL_INTEL_shader_atomic_float_minmax" 110, NEVER;
    INTELShaderIntegerFunctions2 "GL_INTEL_shader_integer_functions2" 110, 300;
    KHRBlendEquationAdvanced "GL_KHR_blend_equation_advanced" 110, 300;
    MESAShaderIntegerFunctions "GL_MESA_shader_integer_functions" 110, 300;
    NVComputeShaderDerivatives "GL_NV_compute_shader_derivatives" 110, 320;
    NVFragdepth "GL_NV_fragdepth" NEVER, 100;
    NVFragmentShaderInterlock "GL_NV_fragment_shader_interlock" 110, 310;
    NVImageFormats "GL_NV_image_formats" NEVER, 310;
    NVShaderAtomicFloat "GL_NV_shader_atomic_float" 110, NEVER;
    NVShaderNoperspectiveInterpolation "GL_NV_shader_noperspective_interpolation" NEVER, 300;
    NVViewportArray2 "GL_NV_viewport_array2" 110, 310;
    OESEGLImageExternal "GL_OES_EGL_image_external" NEVER, 100;
    OESEGLImageExternalEssl3 "GL_OES_EGL_image_external_essl3" NEVER, 300;
    OESGeometryPointSize "GL_OES_geometry_point_size" NEVER, 310;
    OESGeometryShader "GL_OES_geometry_shader" NEVER, 310;
    OESGpuShader5 "GL_OES_gpu_shader5" NEVER, 310;
    OESPrimitiveBoundingBox "GL_OES_primitive_bounding_box" NEVER, 310;
    OESSampleVariables "GL_OES_sample_variables" NEVER, 300;
    OESShaderImageAtomic "GL_OES_shader_image_atomic" NEVER, 310;
    OESShaderIoBlocks "GL_OES_shader_io_blocks" NEVER, 310;
    OESShaderMultisampleInterpolation "GL_OES_shader_multisample_interpolation" NEVER, 300;
    OESStandardDerivatives "GL_OES_standard_derivatives" NEVER, 100;
    OESTessellationPointSize "GL_OES_tessellation_point_size" NEVER, 310;
    OESTessellationShader "GL_OES_tessellation_shader" NEVER, 310;
    OESTexture3D "GL_OES_texture_3D" NEVER, 100;
    OESTextureBuffer "GL_OES_texture_buffer" NEVER, 310;
    OESTextureCubeMapArray "GL_OES_texture_cube_map_array" NEVER, 310;
    OESTextureStorageMultisample2dArray "GL_OES_texture_storage_multisample_2d_array" NEVER, 310;
    OESViewportArray "GL_OES_viewport_array" NEVER, 310;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found() {
        assert!(Extension::ALL.is_sorted_by_key(|extension| extension.name()));
        for &extension in Extension::ALL {
            assert_eq!(Extension::from_name(extension.name()), Some(extension));
            let mut set = Extensions::default();
            assert!(!set.contains(extension) && Extensions::ALL.contains(extension));
            set.set(extension, true);
            assert!(set.contains(extension));
            set.set(extension, false);
            assert_eq!(set, Extensions::default());
        }
        assert_eq!(Extension::from_name("GL_NO_such"), None);
    }
}
