//! What was assigned to the interface of a module: locations of inputs and outputs, sets and bindings of resources,
//! driver parameters, and the features that the module needs. A host reads it instead of guessing.

use serde::Serialize;
use tgsi_ir::Stage;

/// The interface of a module.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Interface {
    /// The stage, as SPIR-V names it.
    pub stage: &'static str,
    /// Inputs with a location.
    pub inputs: Vec<Varying>,
    /// Outputs with a location.
    pub outputs: Vec<Varying>,
    /// Inputs that the API makes, by their names in SPIR-V.
    pub built_in_inputs: Vec<String>,
    /// Outputs that the API takes, by their names in SPIR-V.
    pub built_in_outputs: Vec<String>,
    /// Resources with a set and a binding.
    pub resources: Vec<Resource>,
    /// What the host puts into push constants (in OpenGL into the uniform block at binding 83).
    pub driver_parameters: Vec<DriverParameter>,
    /// What goes to buffers by stream output.
    pub stream_output: Vec<Captured>,
    /// Execution modes with their operands, as SPIR-V names them.
    pub execution_modes: Vec<String>,
    /// Capabilities, and the feature of a Vulkan device that each needs.
    pub capabilities: Vec<Need>,
    /// Extensions of SPIR-V, and the extension of Vulkan that allows each.
    pub extensions: Vec<Need>,
}

/// An input or output with a location.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Varying {
    /// The number of the register in TGSI.
    pub register: u32,
    /// The semantic in TGSI; none for inputs of vertex shaders.
    pub semantic: Option<String>,
    /// The index of the semantic.
    pub index: u32,
    /// Location.
    pub location: u32,
    /// First component.
    pub component: u32,
    /// Number of components.
    pub components: u32,
    /// The type of a component: `float`, `int`, `uint`. An attribute's format or an attachment's must be of this class.
    #[serde(rename = "type")]
    pub ty: &'static str,
    /// The number of the source of blending, of fragment outputs.
    pub source: u32,
    /// One for the patch.
    pub patch: bool,
    /// Number of vertices, each of which has one; 0 if it is one for the invocation.
    pub vertices: u32,
    /// How a fragment input is interpolated: `smooth`, `noperspective`, `flat`.
    pub interpolation: Option<&'static str>,
    /// Where it is interpolated, if that is not the centre: `centroid`, `sample`.
    pub sampling: Option<&'static str>,
}

/// Components of an output that go to a buffer.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Captured {
    /// The number of the register in TGSI.
    pub register: u32,
    /// First component.
    pub component: u32,
    /// Number of components.
    pub components: u32,
    /// The buffer.
    pub buffer: u32,
    /// Where they stand, in bytes from the start of a vertex.
    pub offset: u32,
    /// Bytes from a vertex to the next.
    pub stride: u32,
    /// The vertex stream.
    pub stream: u32,
    /// The location of the variable that has them: that of the output, or one of its own.
    pub location: u32,
}

/// A parameter that the host passes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct DriverParameter {
    /// `frag_height`: height of the framebuffer; `is_indexed`: all bits are set if the draw is indexed, else 0;
    /// `tess_inner`, `tess_outer`: tessellation levels without a control shader; `clip_planes`: user clip planes;
    /// `window_scale`, `window_offset`: of positions in the window, the position in the clip space divided by w is
    /// their product with the one plus the other: 1 / s and -t / s of a viewport that scales by s and moves by t;
    /// `work_dim`: dimensions of a grid; `user_data`: data of the user for compute shaders; and where the target has no
    /// built-ins for them `first_vertex` (of indexed draws what is added to indices), `base_instance`, `draw_id`.
    pub name: &'static str,
    /// Offset in bytes.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// The type of a component: `float`, `int`, `uint`.
    #[serde(rename = "type")]
    pub ty: &'static str,
}

/// What a module needs of a device.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Need {
    /// The name in SPIR-V.
    pub name: String,
    /// The feature or extension in Vulkan; empty if every device has it.
    pub vulkan: &'static str,
}

/// A kind of resource.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResourceKind {
    /// A constant buffer; index 0 is that of `load_uniform`.
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
    /// The number in TGSI of the first.
    pub index: u32,
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// Number of descriptors.
    pub count: u32,
    /// What else is known of it (dimensionality, type, size).
    pub about: String,
}

impl Interface {
    /// An empty one.
    pub fn new(stage: Stage) -> Interface {
        let stage = match stage {
            Stage::Vertex => "vertex",
            Stage::TessCtrl => "tessellation_control",
            Stage::TessEval => "tessellation_evaluation",
            Stage::Geometry => "geometry",
            Stage::Fragment => "fragment",
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

/// The set and binding of a resource of a stage: the set is the kind, the binding the stage times 32 plus the index, so
/// that shaders of different stages that were translated apart never meet. Samplers and counters, which share a set
/// with others, start at 512.
pub const fn default_binding(kind: ResourceKind, stage: Stage, index: u32) -> (u32, u32) {
    let number = match stage {
        Stage::TessCtrl => 1,
        Stage::TessEval => 2,
        Stage::Geometry => 3,
        Stage::Fragment => 4,
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
