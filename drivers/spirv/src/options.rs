//! What a target has, and the interface that a host wants: one struct, two tables (options and profiles).

use tgsi_compiler::{DriverOption, SlotLocations, UnknownOption};
use tgsi_ir::Stage;
use tgsi_ir::options::CompilerOptions;

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
    /// That which the shader asks for, which an execution mode says.
    OfShader,
}

/// What the components of an attribute or of a colour are.
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

/// The locations that a linker gave to slots. Inputs that have none are zero, outputs that have none are dropped; not
/// so inputs of vertex shaders and outputs of fragment shaders, whose locations are their numbers. Of a side that was
/// not linked there are none: locations are as [`interface`](crate::interface) says.
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

/// The options of the driver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpirvOptions {
    /// Version of SPIR-V, (major, minor).
    pub version: (u8, u8),
    /// Only what translators to text languages carry rightly: see profile `portable`.
    pub portable: bool,
    /// The API is OpenGL: its built-ins, no descriptor sets.
    pub opengl: bool,
    /// Textures and samplers.
    pub samplers: Samplers,
    /// The language is WGSL, or the way to it goes by the library that is for WGSL.
    pub wgsl: bool,
    /// Images without a format.
    pub formatless_images: bool,
    /// Shaders may ask for the number of levels and of samples of a texture.
    pub level_and_sample_queries: bool,
    /// Images of cubes. Without them they are of two dimensions, and have six layers for each cube.
    pub cube_images: bool,
    /// Inputs and outputs may be arrays of which the shader chooses an element. Without them it chooses among
    /// variables: OpenGL and WebGPU compare the declarations of both sides, and only one of them may index.
    pub io_arrays: bool,
    /// The code becomes a text of OpenGL, whose linkers compare the declarations of both sides: an input that is
    /// interpolated at each sample is interpolated there where it is read, because a writer that is translated
    /// separately cannot declare the same. Slots of patches are found by name.
    pub opengl_text: bool,
    /// Textures and images of one dimension. Without them they are of two, and one texel high.
    pub one_dimensional: bool,
    /// The built-ins that say with which vertex, instance and number a draw starts. Without them they are driver
    /// parameters.
    pub draw_built_ins: bool,
    /// Where the position of a fragment counts from.
    pub origin: Origin,
    /// 64-bit floats.
    pub float64: bool,
    /// 64-bit integers.
    pub int64: bool,
    /// `demote` keeps helpers running; without it they end.
    pub demote: bool,
    /// The target promises what `SignedZeroInfNanPreserve` says for 32 bits. With `harness`, it promises
    /// `DenormPreserve` as well.
    pub float_controls: bool,
    /// `Fma` rounds once.
    pub fused_fma: bool,
    /// Accesses out of range of buffers and arrays are left to the device, which gives zero.
    pub robust: bool,
    /// Every sum and product is `NoContraction`.
    pub no_contraction: bool,
    /// The memory model is Vulkan's, not GLSL's.
    pub vulkan_memory_model: bool,
    /// Names of variables.
    pub names: bool,
    /// Lines of the source.
    pub lines: bool,
    /// Position z goes from -w to w.
    pub depth_minus_one_to_one: bool,
    /// Position y points up.
    pub flip_y: bool,
    /// Inputs without an interpolation of their own (colours) are flat.
    pub flat_shading: bool,
    /// Colours are those of the side of the primitive.
    pub two_sided: bool,
    /// The last stage before the rasteriser writes the point size 1 if the shader writes none.
    pub point_size: bool,
    /// The place within a point counts from below.
    pub point_origin_lower_left: bool,
    /// The domain of tessellation has its origin at the lower left, in a pipeline where it is at the upper left.
    pub tess_origin_lower_left: bool,
    /// The instance number starts at 0 in every draw.
    pub base_instance_is_zero: bool,
    /// The vertex number starts at 0 in every draw.
    pub base_vertex_is_zero: bool,
    /// A colour that goes to all buffers goes to so many.
    pub color_buffers: u8,
    /// Outputs 0 and 1 of a fragment shader are both sources of blending.
    pub dual_source: bool,
    /// What the components of each vertex input are; none: as the shader uses them.
    pub vertex_inputs: [Option<Numbers>; 32],
    /// What the components of each colour are.
    pub color_outputs: [Numbers; 8],
    /// The locations that a linker gave to slots.
    pub locations: Locations,
    /// Outputs that go to buffers.
    pub stream_output: StreamOutput,
    /// User clip planes, which are driver parameters, at most 8.
    pub user_clip_planes: u8,
    /// Bindless handles index arrays in set 4.
    pub bindless: bool,
    /// For checks: a compute shader whose inputs, outputs, system values, textures and images are buffers.
    pub harness: bool,
}

impl Default for SpirvOptions {
    fn default() -> Self {
        SpirvOptions {
            version: (1, 3),
            portable: false,
            opengl: false,
            samplers: Samplers::Combined,
            wgsl: false,
            formatless_images: true,
            level_and_sample_queries: true,
            cube_images: true,
            io_arrays: true,
            opengl_text: false,
            one_dimensional: true,
            draw_built_ins: true,
            origin: Origin::UpperLeft,
            float64: true,
            int64: true,
            demote: false,
            float_controls: false,
            fused_fma: false,
            robust: false,
            no_contraction: false,
            vulkan_memory_model: false,
            names: true,
            lines: false,
            depth_minus_one_to_one: false,
            flip_y: false,
            flat_shading: false,
            two_sided: false,
            point_size: false,
            point_origin_lower_left: false,
            tess_origin_lower_left: false,
            base_instance_is_zero: false,
            base_vertex_is_zero: false,
            color_buffers: 1,
            dual_source: false,
            vertex_inputs: [None; 32],
            color_outputs: [Numbers::Float; 8],
            locations: Locations::default(),
            stream_output: StreamOutput::default(),
            user_clip_planes: 0,
            bindless: false,
            harness: false,
        }
    }
}

macro_rules! named {
    ($list:ident, $set:ident: $($name:literal, $about:literal => |$options:ident| $change:expr;)+) => {
        impl SpirvOptions {
            /// The names and their meanings.
            pub const $list: &'static [DriverOption] = &[$(DriverOption { name: $name, about: $about }),+];

            fn $set(&mut self, name: &str) -> bool {
                match name {
                    $($name => {
                        let $options = self;
                        $change;
                    })+
                    _ => return false,
                }
                true
            }
        }
    };
}

named! { OPTIONS, set_option:
    "separate_samplers", "Textures and samplers are two variables." => |o| o.samplers = Samplers::Separate;
    "combined_samplers", "Textures and samplers are one variable." => |o| o.samplers = Samplers::Combined;
    "no_float64", "There are no 64-bit floats." => |o| o.float64 = false;
    "no_int64", "There are no 64-bit integers." => |o| o.int64 = false;
    "demote", "Killed invocations go on as helpers (DemoteToHelperInvocation)." => |o| o.demote = true;
    "float_controls", "Signed zeros, infinities and NaNs are kept (SignedZeroInfNanPreserve)."
        => |o| o.float_controls = true;
    "fused_fma", "Fma rounds once." => |o| o.fused_fma = true;
    "robust", "What is out of range in buffers is left to the device, which gives zero." => |o| o.robust = true;
    "no_contraction", "Every sum and product is rounded on its own." => |o| o.no_contraction = true;
    "vulkan_memory_model", "The memory model of Vulkan: accesses, not variables, say what others see (Vulkan 1.2, or an extension)."
        => |o| o.vulkan_memory_model = true;
    "no_names", "No names of variables." => |o| o.names = false;
    "debug_info", "The lines of the source." => |o| o.lines = true;
    "depth_minus_one_to_one", "Position z goes from -w to w, and becomes 0 to w."
        => |o| o.depth_minus_one_to_one = true;
    "flip_y", "Position y is negated." => |o| o.flip_y = true;
    "flat_shading", "Colours are flat." => |o| o.flat_shading = true;
    "two_sided", "Colours are those of the side of the primitive." => |o| o.two_sided = true;
    "point_size", "A point size of 1 is written where the shader writes none." => |o| o.point_size = true;
    "point_origin_lower_left", "The place within a point counts from below." => |o| o.point_origin_lower_left = true;
    "tess_origin_lower_left", "The domain of tessellation has its origin at the lower left, as in OpenGL: triangles have the other order."
        => |o| o.tess_origin_lower_left = true;
    "base_instance_is_zero", "Draws start with instance 0." => |o| o.base_instance_is_zero = true;
    "base_vertex_is_zero", "Draws start with vertex 0." => |o| o.base_vertex_is_zero = true;
    "eight_color_buffers", "A colour that goes to all buffers goes to eight." => |o| o.color_buffers = 8;
    "dual_source", "Fragment outputs 0 and 1 are the two sources of blending." => |o| o.dual_source = true;
    "int_colors", "Colours are signed integers." => |o| o.color_outputs = [Numbers::Int; 8];
    "uint_colors", "Colours are unsigned integers." => |o| o.color_outputs = [Numbers::Uint; 8];
    "user_clip_planes", "There are six user clip planes, which are driver parameters." => |o| o.user_clip_planes = 6;
    "bindless", "Bindless handles index arrays of descriptors in set 4." => |o| o.bindless = true;
    "harness", "For checks: a compute shader whose inputs, outputs, system values, textures and images are buffers."
        => |o| { o.harness = true; o.no_contraction = true };
}

named! { PROFILES, set_profile:
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

/// The start of an option that has a value: see [`stream_output`](crate::stream_output).
const STREAM_OUTPUT: &str = "stream_output=";

fn unknown(name: &str) -> UnknownOption {
    UnknownOption { name: name.to_owned(), options: SpirvOptions::OPTIONS, problem: None }
}

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

    /// Sets an option or a profile by its name. `stream_output=` stands before what
    /// [`StreamOutput::parse`] takes.
    ///
    /// # Errors
    /// [`UnknownOption`].
    pub fn set(&mut self, name: &str) -> Result<(), UnknownOption> {
        if self.set_option(name) || self.set_profile(name) {
            return Ok(());
        }
        if let Some(text) = name.strip_prefix(STREAM_OUTPUT) {
            self.stream_output = StreamOutput::parse(text)
                .map_err(|error| UnknownOption { problem: Some(error.to_string()), ..unknown(name) })?;
            return Ok(());
        }
        Err(unknown(name))
    }

    /// What the optimiser needs to know.
    pub fn compiler_options(&self, stage: Stage) -> CompilerOptions {
        let _ = stage;
        CompilerOptions {
            has_fsub: true,
            has_isub: true,
            has_bfe: true,
            has_bfi: true,
            has_bfm: true,
            // `OpDot`, or where rounding is kept products and sums in the order of the opcode.
            lower_fdot_mad: false,
            // Translators to other languages know no products of two words.
            lower_mul_high: self.portable,
            has_unordered_compares: !self.portable,
            keep_rounding: self.no_contraction,
            lower_int64: if self.int64 { tgsi_ir::options::Int64Ops::NONE } else { tgsi_ir::options::Int64Ops::ALL },
            lower_doubles: if self.float64 {
                // lavapipe of Mesa 22.3 rounds halves toward zero, and loses the sign of what is cut to zero, on some
                // processors.
                tgsi_ir::options::DoubleOps::ROUND_EVEN.union(tgsi_ir::options::DoubleOps::TRUNC)
            } else {
                tgsi_ir::options::DoubleOps::ALL
            },
            software_doubles: !self.float64,
            ..CompilerOptions::default()
        }
    }
}
