//! The shading language that the driver of a [`Profile`] offers to applications: versions, extensions, and the values of
//! the built-in constants.
//!
//! The facts are from Mesa 25.0.7: the drivers' screens (`i915_screen.c`, `r300_screen.c`, `nv30_screen.c`,
//! `svga_screen.c`, `sp_screen.c`), from which `st_extensions.c` derives extensions and constants, and the tables of
//! extensions (`extensions_table.h`, `glsl_parser_extras.cpp`). Extensions are those of the language, for desktop and ES.
//! Chips with vertex processing in hardware are assumed. All drivers accept GLSL ES 1.00, also in desktop contexts
//! (`GL_ARB_ES2_compatibility`).

use super::profiles::Profile;

/// The language of a driver.
#[derive(Clone, Copy, Debug)]
struct Language {
    /// The highest version of GLSL.
    version: u16,
    /// The highest version of GLSL ES.
    es_version: u16,
    /// Groups of extensions, without the prefix `GL_`.
    extensions: &'static [&'static [&'static str]],
    constants: Constants,
}

/// The values of built-in constants that differ between drivers. In vectors, components are counted by four.
#[derive(Clone, Copy, Debug)]
struct Constants {
    attributes: u16,
    varying_vectors: u16,
    vertex_uniform_components: u16,
    fragment_uniform_components: u16,
    texture_units: u16,
    vertex_texture_units: u16,
    combined_texture_units: u16,
    draw_buffers: u16,
    clip_planes: u16,
}

/// Extensions of all drivers.
const COMMON: &[&str] = &[
    "AMD_shader_trinary_minmax",
    "ARB_draw_buffers",
    "ARB_explicit_attrib_location",
    "ARB_explicit_uniform_location",
    "ARB_fragment_coord_conventions",
    "ARB_separate_shader_objects",
    "ARB_texture_rectangle",
    "EXT_draw_buffers",
    "EXT_frag_depth",
    "EXT_separate_shader_objects",
    "EXT_shadow_samplers",
    "OES_EGL_image_external",
    "OES_texture_3D",
];

/// Levels of detail and derivatives in fragment shaders.
const LEVELS_AND_DERIVATIVES: &[&str] = &["ARB_shader_texture_lod", "OES_standard_derivatives"];

const INSTANCES: &[&str] = &["ARB_draw_instanced", "EXT_draw_instanced"];

/// Extensions of drivers with GLSL 3.30 and GLSL ES 3.00.
const MODERN: &[&str] = &[
    "AMD_conservative_depth",
    "ARB_arrays_of_arrays",
    "ARB_compatibility",
    "ARB_conservative_depth",
    "ARB_fragment_layer_viewport",
    "ARB_shader_bit_encoding",
    "ARB_shader_subroutine",
    "ARB_shading_language_420pack",
    "ARB_shading_language_packing",
    "ARB_texture_buffer_object",
    "ARB_texture_multisample",
    "ARB_texture_query_levels",
    "ARB_uniform_buffer_object",
    "ARB_viewport_array",
    "EXT_blend_func_extended",
    "EXT_gpu_shader4",
    "EXT_shader_integer_mix",
    "EXT_texture_array",
    "MESA_shader_integer_functions",
    "NV_shader_noperspective_interpolation",
    "OES_EGL_image_external_essl3",
];

/// Further extensions of softpipe.
const SOFTPIPE_ONLY: &[&str] = &[
    "AMD_gpu_shader_int64",
    "AMD_shader_stencil_export",
    "AMD_texture_texture4",
    "AMD_vertex_shader_layer",
    "AMD_vertex_shader_viewport_index",
    "ARB_ES3_1_compatibility",
    "ARB_compute_shader",
    "ARB_cull_distance",
    "ARB_derivative_control",
    "ARB_enhanced_layouts",
    "ARB_gpu_shader5",
    "ARB_gpu_shader_fp64",
    "ARB_gpu_shader_int64",
    "ARB_shader_atomic_counter_ops",
    "ARB_shader_atomic_counters",
    "ARB_shader_image_load_store",
    "ARB_shader_image_size",
    "ARB_shader_stencil_export",
    "ARB_shader_storage_buffer_object",
    "ARB_texture_cube_map_array",
    "ARB_texture_gather",
    "ARB_texture_query_lod",
    "ARB_vertex_attrib_64bit",
    "EXT_clip_cull_distance",
    "EXT_geometry_point_size",
    "EXT_geometry_shader",
    "EXT_gpu_shader5",
    "EXT_primitive_bounding_box",
    "EXT_shader_implicit_conversions",
    "EXT_shader_io_blocks",
    "EXT_texture_buffer",
    "EXT_texture_cube_map_array",
    "EXT_texture_query_lod",
    "NV_image_formats",
    "NV_shader_atomic_float",
    "OES_geometry_point_size",
    "OES_geometry_shader",
    "OES_gpu_shader5",
    "OES_primitive_bounding_box",
    "OES_shader_image_atomic",
    "OES_shader_io_blocks",
    "OES_texture_buffer",
    "OES_texture_cube_map_array",
    "OES_texture_storage_multisample_2d_array",
    "OES_viewport_array",
];

/// Drivers with the minimum of the state tracker: GLSL 1.20 and ES 1.00, no lookups in vertex shaders.
const fn old(extensions: &'static [&'static [&'static str]], constants: Constants) -> Language {
    Language { version: 120, es_version: 100, extensions, constants }
}

/// Constants of Radeons with this number of constant registers in fragment programs.
const fn radeon(fragment_constants: u16) -> Constants {
    Constants {
        attributes: 16,
        varying_vectors: 10,
        vertex_uniform_components: 4 * 256,
        fragment_uniform_components: 4 * fragment_constants,
        texture_units: 16,
        vertex_texture_units: 0,
        combined_texture_units: 16,
        draw_buffers: 4,
        clip_planes: 6,
    }
}

/// Vertex shaders use Mesa's `draw`, which has 4096 constants.
const I915: Language = old(
    &[COMMON, INSTANCES],
    Constants {
        attributes: 16,
        varying_vectors: 10,
        vertex_uniform_components: 4 * 4096,
        fragment_uniform_components: 4 * 32,
        texture_units: 8,
        vertex_texture_units: 0,
        combined_texture_units: 8,
        draw_buffers: 1,
        clip_planes: 6,
    },
);

const R300: Language = old(&[COMMON], radeon(32));

const R500: Language = old(&[COMMON, LEVELS_AND_DERIVATIVES], radeon(256));

const NV30: Language = old(
    &[COMMON],
    Constants {
        attributes: 16,
        varying_vectors: 8,
        vertex_uniform_components: 4 * 250,
        fragment_uniform_components: 4 * 32,
        texture_units: 16,
        vertex_texture_units: 0,
        combined_texture_units: 16,
        draw_buffers: 1,
        clip_planes: 6,
    },
);

const NV40: Language = Language {
    constants: Constants {
        vertex_uniform_components: 4 * 462,
        fragment_uniform_components: 4 * 224,
        draw_buffers: 4,
        ..NV30.constants
    },
    ..NV30
};

const VGPU9: Language =
    old(&[COMMON, LEVELS_AND_DERIVATIVES], Constants { fragment_uniform_components: 4 * 224, ..radeon(224) });

/// Hosts with VGPU10 alone; those with Shader Model 4.1 or 5 offer more.
const SVGA: Language = Language {
    version: 330,
    es_version: 300,
    extensions: &[COMMON, LEVELS_AND_DERIVATIVES, INSTANCES, MODERN],
    constants: Constants {
        attributes: 16,
        varying_vectors: 31,
        vertex_uniform_components: 4 * 4096,
        fragment_uniform_components: 4 * 4096,
        texture_units: 16,
        vertex_texture_units: 16,
        combined_texture_units: 48,
        draw_buffers: 8,
        clip_planes: 8,
    },
};

const SOFTPIPE: Language = Language {
    version: 400,
    es_version: 310,
    extensions: &[COMMON, LEVELS_AND_DERIVATIVES, INSTANCES, MODERN, SOFTPIPE_ONLY],
    constants: Constants {
        varying_vectors: 32,
        texture_units: 32,
        vertex_texture_units: 32,
        combined_texture_units: 128,
        ..SVGA.constants
    },
};

/// The language of a profile's driver; `None` if the host or another driver decides.
fn language(profile: Profile) -> Option<&'static Language> {
    match profile {
        Profile::I915 => Some(&I915),
        Profile::R300 | Profile::R400 => Some(&R300),
        Profile::R500 => Some(&R500),
        Profile::Nv30 => Some(&NV30),
        Profile::Nv40 => Some(&NV40),
        Profile::Vgpu9 => Some(&VGPU9),
        Profile::Svga => Some(&SVGA),
        Profile::Softpipe => Some(&SOFTPIPE),
        Profile::Generic | Profile::Virgl | Profile::D3d10umd => None,
    }
}

/// The options for the reader of a front end with which it accepts the language of the profile's driver.
pub(crate) fn options(profile: Profile, front_end: &str) -> Vec<String> {
    let Some(language) = language(profile).filter(|_| front_end == "glsl") else { return Vec::new() };
    let Language { version, es_version, extensions, constants } = language;
    let mut extensions: Vec<&str> = extensions.concat();
    extensions.sort_unstable();
    let mut options = vec![
        format!("max-version={version}"),
        format!("max-es-version={es_version}"),
        format!("extensions=GL_{}", extensions.join("+GL_")),
    ];
    let exists = |name| name != "VaryingComponents" || *version >= 130;
    let constants = constants.by_name().into_iter().filter(|&(name, _)| exists(name));
    options.extend(constants.map(|(name, value)| format!("limit=gl_Max{name}={value}")));
    options
}

impl Constants {
    /// The constants by their names, without the prefix `gl_Max`.
    fn by_name(&self) -> [(&'static str, u16); 16] {
        // The fixed-function pipeline has at most eight coordinates.
        let coordinates = self.texture_units.min(8);
        [
            ("ClipPlanes", self.clip_planes),
            ("CombinedTextureImageUnits", self.combined_texture_units),
            ("DrawBuffers", self.draw_buffers),
            ("FragmentUniformComponents", self.fragment_uniform_components),
            ("FragmentUniformVectors", self.fragment_uniform_components / 4),
            ("Lights", 8),
            ("TextureCoords", coordinates),
            ("TextureImageUnits", self.texture_units),
            ("TextureUnits", coordinates),
            ("VaryingComponents", 4 * self.varying_vectors),
            ("VaryingFloats", 4 * self.varying_vectors),
            ("VaryingVectors", self.varying_vectors),
            ("VertexAttribs", self.attributes),
            ("VertexTextureImageUnits", self.vertex_texture_units),
            ("VertexUniformComponents", self.vertex_uniform_components),
            ("VertexUniformVectors", self.vertex_uniform_components / 4),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_options() {
        let r500 = options(Profile::R500, "glsl");
        assert_eq!(r500[..2], ["max-version=120", "max-es-version=100"]);
        assert!(r500[2].starts_with("extensions=GL_AMD_shader_trinary_minmax+GL_ARB_draw_buffers+"), "{}", r500[2]);
        assert!(r500[2].contains("+GL_OES_standard_derivatives+"));
        assert!(!options(Profile::R400, "glsl")[2].contains("derivatives"));
        for wanted in ["limit=gl_MaxFragmentUniformVectors=256", "limit=gl_MaxVaryingFloats=40", "limit=gl_MaxLights=8"]
        {
            assert!(r500.iter().any(|option| option == wanted), "{wanted}: {r500:?}");
        }
        for (profile, front_end) in [(Profile::R500, "tgsi"), (Profile::Virgl, "glsl"), (Profile::Generic, "glsl")] {
            assert_eq!(options(profile, front_end), [""; 0]);
        }
    }

    #[test]
    fn extensions_are_listed_once() {
        for language in Profile::ALL.iter().filter_map(|&profile| language(profile)) {
            let mut names: Vec<&str> = language.extensions.concat();
            names.sort_unstable();
            assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{names:?}");
        }
    }
}
