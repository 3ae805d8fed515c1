//! The interface of code for the host: locations of inputs and outputs, sets and bindings of resources, driver
//! parameters, and required features. The host reads it to set up the pipeline.

use serde::Serialize;

/// The assignments of a target to the interface of a shader, and the requirements of the code.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
#[non_exhaustive]
pub struct Reflection {
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
pub struct DeviceRequirement {
    /// The name in SPIR-V.
    pub name: String,
    /// The Vulkan feature or extension; empty if every device has it.
    pub vulkan: &'static str,
}

/// A kind of resource.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
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
