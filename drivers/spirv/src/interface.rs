//! The interface of a module: locations of inputs and outputs, sets and bindings of resources, driver parameters, and
//! required features. The host reads it to set up the pipeline.

use serde::Serialize;
use tgsi_ir::ShaderStage;

/// The interface of a module.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Interface {
    /// The stage, as SPIR-V names it.
    pub stage: &'static str,
    /// Inputs with a location.
    pub inputs: Vec<Varying>,
    /// Outputs with a location.
    pub outputs: Vec<Varying>,
    /// Built-in inputs, by their names in SPIR-V.
    pub built_in_inputs: Vec<String>,
    /// Built-in outputs, by their names in SPIR-V.
    pub built_in_outputs: Vec<String>,
    /// Resources with a set and a binding.
    pub resources: Vec<Resource>,
    /// Values that the host provides in push constants (in OpenGL in the uniform block at binding 83).
    pub driver_parameters: Vec<DriverParameter>,
    /// Outputs captured in buffers by stream output.
    pub stream_output: Vec<Captured>,
    /// Execution modes with their operands, as SPIR-V names them.
    pub execution_modes: Vec<String>,
    /// Capabilities, each with the Vulkan feature that it needs.
    pub capabilities: Vec<DeviceRequirement>,
    /// SPIR-V extensions, each with the Vulkan extension that permits it.
    pub extensions: Vec<DeviceRequirement>,
}

/// An input or output with a location.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Varying {
    /// The number of the register in TGSI.
    pub register: u32,
    /// The semantic in TGSI; `None` for inputs of vertex shaders.
    pub semantic: Option<String>,
    /// The index of the semantic.
    pub index: u32,
    /// The location.
    pub location: u32,
    /// The first component.
    pub component: u32,
    /// The number of components.
    pub components: u32,
    /// The type of a component: `float`, `int`, `uint`. The format of the attribute or attachment must have this class.
    #[serde(rename = "type")]
    pub ty: &'static str,
    /// The index of the blending source, for fragment outputs.
    pub source: u32,
    /// Whether it is one per patch.
    pub patch: bool,
    /// The number of vertices, if it is one per vertex; 0 if it is one per invocation.
    pub vertices: u32,
    /// How a fragment input is interpolated: `smooth`, `noperspective`, `flat`.
    pub interpolation: Option<&'static str>,
    /// Where it is interpolated, if that is not the centre: `centroid`, `sample`.
    pub sampling: Option<&'static str>,
}

/// Components of an output that are captured in a buffer.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Captured {
    /// The number of the register in TGSI.
    pub register: u32,
    /// The first component.
    pub component: u32,
    /// The number of components.
    pub components: u32,
    /// The buffer.
    pub buffer: u32,
    /// The offset in bytes from the start of a vertex.
    pub offset: u32,
    /// The distance in bytes between vertices.
    pub stride: u32,
    /// The vertex stream.
    pub stream: u32,
    /// The location of the variable with the components: the output's, or that of a copy.
    pub location: u32,
}

/// A parameter that the host provides.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct DriverParameter {
    /// `frag_height`: height of the framebuffer; `is_indexed`: all bits set if the draw is indexed, else 0;
    /// `tess_inner`, `tess_outer`: tessellation levels without a control shader; `clip_planes`: user clip planes;
    /// `window_scale`, `window_offset`: for positions in the window; the clip-space position divided by w is the window
    /// position times `window_scale` plus `window_offset`: 1 / s and -t / s for a viewport that scales by s and
    /// translates by t; `work_dim`: number of dimensions of the grid; `user_data`: user data for compute shaders; and
    /// for targets without these built-ins `first_vertex` (in indexed draws the base added to indices),
    /// `base_instance`, `draw_id`.
    pub name: &'static str,
    /// The offset in bytes.
    pub offset: u32,
    /// The size in bytes.
    pub size: u32,
    /// The type of a component: `float`, `int`, `uint`.
    #[serde(rename = "type")]
    pub ty: &'static str,
}

/// A requirement of a module on the device.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct DeviceRequirement {
    /// The name in SPIR-V.
    pub name: String,
    /// The Vulkan feature or extension; empty if every device has it.
    pub vulkan: &'static str,
}

/// A kind of resource.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResourceKind {
    /// A constant buffer; index 0 is the one that `load_uniform` reads.
    ConstantBuffer,
    /// A texture with its sampler.
    CombinedTexture,
    /// A texture alone.
    Texture,
    /// A sampler alone.
    Sampler,
    /// A storage buffer.
    StorageBuffer,
    /// A buffer of atomic counters.
    CounterBuffer,
    /// A storage image.
    Image,
    /// A colour of the framebuffer that the shader reads.
    InputAttachment,
}

/// A resource that the module uses.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Resource {
    /// Its kind.
    pub kind: ResourceKind,
    /// TGSI's number of the first.
    pub index: u32,
    /// The descriptor set.
    pub set: u32,
    /// The binding.
    pub binding: u32,
    /// The number of descriptors.
    pub count: u32,
    /// A description (dimensionality, type, size).
    pub about: String,
}

impl Interface {
    /// Creates an empty interface.
    pub(crate) fn new(stage: ShaderStage) -> Interface {
        let stage = match stage {
            ShaderStage::Vertex => "vertex",
            ShaderStage::TessCtrl => "tessellation_control",
            ShaderStage::TessEval => "tessellation_evaluation",
            ShaderStage::Geometry => "geometry",
            ShaderStage::Fragment => "fragment",
            _ => "compute",
        };
        Interface {
            stage,
            inputs: Vec::new(),
            outputs: Vec::new(),
            built_in_inputs: Vec::new(),
            built_in_outputs: Vec::new(),
            resources: Vec::new(),
            driver_parameters: Vec::new(),
            stream_output: Vec::new(),
            execution_modes: Vec::new(),
            capabilities: Vec::new(),
            extensions: Vec::new(),
        }
    }
}

/// Returns the set and binding of a resource of a stage: the set is the kind, the binding the stage times 32 plus the
/// index, so that separately translated shaders of different stages never collide. Samplers and counters, which share a
/// set with others, start at 512.
pub(crate) const fn default_binding(kind: ResourceKind, stage: ShaderStage, index: u32) -> (u32, u32) {
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
