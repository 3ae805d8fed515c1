//! The capabilities of a target and the interface of a host: one table.

use tgsi_compiler::{SlotLocations, UnknownOption};
use tgsi_ir::ShaderStage;
use tgsi_ir::options::{CompilerOptions, DoubleOps, Int64Ops};

use crate::stream_output::StreamOutput;

/// Whether textures and samplers are one variable or two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Samplers {
    /// `OpTypeSampledImage`: one variable for a view and its sampler.
    Combined,
    /// A variable for the view, one for the sampler.
    Separate,
}

/// Where the position of a fragment counts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The upper left corner.
    UpperLeft,
    /// The lower left corner.
    LowerLeft,
    /// The corner that the shader requests; an execution mode states it.
    OfShader,
}

/// The type of the components of an attribute or of a colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Numbers {
    /// Floats, or integers that are read as such.
    #[default]
    Float,
    /// Signed integers.
    Int,
    /// Unsigned integers.
    Uint,
}

impl Numbers {
    pub(crate) const fn class(self) -> crate::module::Class {
        match self {
            Numbers::Float => crate::module::Class::Float,
            Numbers::Int => crate::module::Class::Int,
            Numbers::Uint => crate::module::Class::Uint,
        }
    }
}

/// The locations that a linker assigned to slots. Inputs without a location are zero, outputs without one are dropped,
/// except for inputs of vertex shaders and outputs of fragment shaders, whose locations are their numbers. A side that
/// was not linked has no entries, and the locations of [`reflection`](tgsi_compiler::reflection).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Locations {
    /// Of inputs.
    pub inputs: Option<SlotLocations>,
    /// Of outputs.
    pub outputs: Option<SlotLocations>,
}

impl Locations {
    /// Those of outputs or of inputs.
    pub fn of(&self, is_output: bool) -> Option<&SlotLocations> {
        if is_output { self.outputs.as_ref() } else { self.inputs.as_ref() }
    }
}

tgsi_compiler::driver_options! {
    /// The options of the driver.
    pub struct SpirvOptions {
        /// Version of SPIR-V, (major, minor).
        version: (u8, u8) = (1, 3);
        /// Only what translators to text languages translate correctly: see profile `portable`.
        portable: bool = false, sets [lower_mul_high], clears [has_unordered_compares];
        /// The API is OpenGL: its built-ins, no descriptor sets.
        opengl: bool = false;
        /// The language is WGSL, or a library for WGSL translates the code.
        wgsl: bool = false;
        /// Images without a format.
        formatless_images: bool = true;
        /// Shaders may ask for the number of levels and of samples of a texture.
        level_and_sample_queries: bool = true;
        /// Images of cubes. Without them they are two-dimensional, and have six layers for each cube.
        cube_images: bool = true;
        /// Inputs and outputs may be arrays from which the shader selects an element. Otherwise it selects among
        /// variables: OpenGL and WebGPU compare the declarations of both sides, and only one of them may index.
        io_arrays: bool = true;
        /// The code becomes OpenGL text, whose linkers compare the declarations of both sides: an input that is
        /// interpolated at each sample is interpolated there at its use, because a writer that is translated separately
        /// cannot declare the same. Slots of patches are found by name.
        opengl_text: bool = false;
        /// One-dimensional textures and images. Otherwise they are two-dimensional, and one texel high.
        one_dimensional: bool = true;
        /// The built-ins for the first vertex, the first instance and the number of a draw. Otherwise they are driver
        /// parameters.
        draw_built_ins: bool = true;
        /// The origin of the position of a fragment.
        origin: Origin = Origin::UpperLeft;
        samplers: Samplers = Samplers::Combined,
            "separate_samplers" = Samplers::Separate, "Textures and samplers are two variables.",
            "combined_samplers" = Samplers::Combined, "Textures and samplers are one variable.";
        float64: bool = true,
            "no_float64" = false, "There are no 64-bit floats.", clears [software_doubles];
        int64: bool = true, "no_int64" = false, "There are no 64-bit integers.";
        /// Otherwise killed invocations end.
        demote: bool = false,
            "demote" = true, "Killed invocations continue as helpers (DemoteToHelperInvocation).";
        /// For 32-bit floats.
        float_controls: bool = false,
            "float_controls" = true, "Signed zeros, infinities and NaNs are kept (SignedZeroInfNanPreserve).";
        fused_fma: bool = false, "fused_fma" = true, "Fma rounds once.";
        /// Otherwise they are computed from other operations, because some devices have errors in them.
        double_roundings: bool = false,
            "double_roundings" = true, "The device rounds 64-bit floats to integral ones correctly.";
        /// For arrays, too.
        robust: bool = false,
            "robust" = true, "Accesses to buffers out of range are left to the device, which returns zero.";
        /// Conversions of floats out of range, integer divisions by zero, powers and signs of special values, sizes of
        /// missing levels, shared memory and arrays at the start, indices out of range, fields that exceed a word.
        /// Positions are invariant only if the shader declares it. `OpDot` and `FMix` round as `DP4` and `LRP`.
        unguarded: bool = false,
            "unguarded" = true,
            "No code guards against what SPIR-V leaves undefined: for readers that define it as this compiler does.",
            clears [lower_flrp_mad];
        /// Each of them is `NoContraction`.
        no_contraction: bool = false,
            "no_contraction" = true, "Every sum and product is rounded on its own.", sets [keep_rounding];
        /// Otherwise GLSL's.
        vulkan_memory_model: bool = false,
            "vulkan_memory_model" = true,
            "The memory model of Vulkan: accesses, not variables, say what others see (Vulkan 1.2, or an extension).";
        names: bool = true, "no_names" = false, "No names of variables.";
        debug_info: bool = false, "debug_info" = true, "The lines of the source.";
        depth_minus_one_to_one: bool = false,
            "depth_minus_one_to_one" = true, "Position z is from -w to w, and becomes 0 to w.";
        /// The shader's y points up.
        flip_y: bool = false, "flip_y" = true, "Position y is negated.";
        /// Applies to inputs without an interpolation qualifier.
        flat_shading: bool = false, "flat_shading" = true, "Colours are flat.";
        two_sided: bool = false, "two_sided" = true, "Colours are those of the side of the primitive.";
        /// In the last stage before the rasteriser.
        point_size: bool = false,
            "point_size" = true, "A point size of 1 is written where the shader writes none.";
        point_origin_lower_left: bool = false,
            "point_origin_lower_left" = true, "The place within a point counts from below.";
        /// In a pipeline whose origin is at the upper left.
        tess_origin_lower_left: bool = false,
            "tess_origin_lower_left" = true,
            "The domain of tessellation has its origin at the lower left, as in OpenGL: triangles have the other order.";
        base_instance_is_zero: bool = false, "base_instance_is_zero" = true, "Draws start with instance 0.";
        base_vertex_is_zero: bool = false, "base_vertex_is_zero" = true, "Draws start with vertex 0.";
        /// Number of colour buffers that receive a colour for all buffers.
        color_buffers: u8 = 1, "eight_color_buffers" = 8, "A colour for all buffers is written to eight.";
        dual_source: bool = false,
            "dual_source" = true, "Fragment outputs 0 and 1 are the two sources of blending.";
        /// The type of the components of each colour.
        color_outputs: [Numbers; 8] = [Numbers::Float; 8],
            "int_colors" = [Numbers::Int; 8], "Colours are signed integers.",
            "uint_colors" = [Numbers::Uint; 8], "Colours are unsigned integers.";
        /// The type of the components of each vertex input; none: as the shader uses them.
        vertex_inputs: [Option<Numbers>; 32] = [None; 32];
        /// The locations that a linker gave to slots.
        locations: Locations = Locations::default();
        /// Outputs that are captured in buffers: option `stream_output=`, followed by the text that
        /// [`StreamOutput::parse`] takes.
        stream_output: StreamOutput = StreamOutput::default();
        /// Number of user clip planes, at most 8.
        user_clip_planes: u8 = 0,
            "user_clip_planes" = 6, "There are six user clip planes, which are driver parameters.";
        bindless: bool = false, "bindless" = true, "Bindless handles index arrays of descriptors in set 4.";
        /// With `float_controls`, 32-bit denormals are preserved as well (`DenormPreserve`). Devices may be slower
        /// then.
        denorm_preserve: bool = false;
        /// Textures are [analytic](tgsi_environment::AnalyticResources) and lookups are replaced before emission:
        /// rectangle lookups keep texel coordinates, because there is no size to scale by, and all lookups keep their
        /// offsets.
        analytic_textures: bool = false;
    }
    profiles {
        "vulkan1.0", "Vulkan 1.0: SPIR-V 1.0." => |o| o.version = (1, 0);
        "vulkan1.1", "Vulkan 1.1: SPIR-V 1.3 (the default)." => |o| o.version = (1, 3);
        "vulkan1.2", "Vulkan 1.2: SPIR-V 1.5." => |o| o.version = (1, 5);
        "vulkan1.3", "Vulkan 1.3: SPIR-V 1.6, demote." => |o| { o.version = (1, 6); o.demote = true };
        "vulkan1.4", "Vulkan 1.4: as 1.3." => |o| { o.version = (1, 6); o.demote = true };
        "opengl4.6", "OpenGL 4.6 (ARB_gl_spirv): SPIR-V 1.0, combined samplers."
            => |o| { o.version = (1, 0); o.opengl = true; o.io_arrays = false };
        "portable", "What naga carries to WGSL, and SPIRV-Cross to other languages: separate samplers, no 64 bits, no float controls, no demote."
            => |o| {
                o.set_portable();
                o.wgsl = true;
                o.formatless_images = false;
                o.cube_images = false;
                o.io_arrays = false;
            };
        "glsl", "What SPIRV-Cross carries to GLSL: as portable, with combined samplers, 64-bit floats and the built-ins of OpenGL."
            => |o| {
                o.set_portable();
                o.opengl = true;
                o.samplers = Samplers::Combined;
                o.io_arrays = false;
                o.opengl_text = true;
                o.one_dimensional = true;
                o.draw_built_ins = true;
                o.origin = Origin::OfShader;
                o.float64 = true;
            };
        "essl", "What SPIRV-Cross carries to GLSL ES: as portable, with combined samplers and the built-ins of OpenGL."
            => |o| {
                o.set_portable();
                o.opengl = true;
                o.samplers = Samplers::Combined;
                o.io_arrays = false;
                o.opengl_text = true;
                o.level_and_sample_queries = false;
                o.formatless_images = false;
                o.origin = Origin::LowerLeft;
            };
        "msl", "What SPIRV-Cross carries to the language of Metal: as portable, with the built-ins of draws."
            => |o| {
                o.set_portable();
                o.draw_built_ins = true;
                o.io_arrays = false;
            };
        "hlsl", "What SPIRV-Cross carries to the language of Direct3D: as portable, with textures of one dimension."
            => |o| {
                o.set_portable();
                o.one_dimensional = true;
                o.cube_images = false;
            };
    }
}

/// The start of an option that has a value: see [`stream_output`](crate::stream_output).
const STREAM_OUTPUT: &str = "stream_output=";

impl SpirvOptions {
    fn set_portable(&mut self) {
        self.version = (1, 3);
        self.portable = true;
        self.wgsl = false;
        self.samplers = Samplers::Separate;
        self.one_dimensional = false;
        self.draw_built_ins = false;
        self.float64 = false;
        self.int64 = false;
    }

    /// Sets an option or a profile by its name. `stream_output=` precedes the entries for
    /// [`StreamOutput::parse`].
    ///
    /// # Errors
    /// [`UnknownOption`].
    pub fn set(&mut self, name: &str) -> Result<(), UnknownOption> {
        if self.set_option(name) || self.set_profile(name) {
            return Ok(());
        }
        if let Some(text) = name.strip_prefix(STREAM_OUTPUT) {
            self.stream_output = StreamOutput::parse(text).map_err(|error| UnknownOption {
                problem: Some(error.to_string()),
                ..UnknownOption::new(name, Self::OPTIONS)
            })?;
            return Ok(());
        }
        Err(UnknownOption::new(name, Self::OPTIONS))
    }

    /// The properties of the target for the optimiser.
    pub fn compiler_options(&self, stage: ShaderStage) -> CompilerOptions {
        let _ = stage;
        let mut compiler = CompilerOptions {
            has_fsub: true,
            has_isub: true,
            has_bfe: true,
            has_bfi: true,
            has_bfm: true,
            // `OpDot`, or where rounding is kept products and sums in the order of the opcode.
            lower_fdot_mad: false,
            lower_int64: if self.int64 { Int64Ops::NONE } else { Int64Ops::ALL },
            // lavapipe of Mesa 22.3 rounds halves toward zero, and loses the sign of values truncated to zero, on some
            // processors.
            lower_doubles: match (self.float64, self.double_roundings) {
                (true, true) => DoubleOps::NONE,
                (true, false) => DoubleOps::ROUND_EVEN.union(DoubleOps::TRUNC),
                (false, _) => DoubleOps::ALL,
            },
            ..CompilerOptions::default()
        };
        self.set_switches(&mut compiler);
        compiler
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_named_after_their_fields() {
        for &(field, default, names) in SpirvOptions::FIELDS.iter().filter(|(_, _, names)| !names.is_empty()) {
            let expected = match default {
                "true" => format!("no_{field}"),
                "false" => field.to_owned(),
                _ => continue,
            };
            assert_eq!(names, [expected]);
        }
    }
}
