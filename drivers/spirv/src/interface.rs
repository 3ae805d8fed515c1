//! What was assigned to the interface of a module: locations of inputs and outputs, sets and bindings of resources,
//! driver parameters, and the features that the module needs. A host reads it instead of guessing.

use serde::Serialize;
use tgsi_ir::Stage;

/// The interface of a module.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Interface {
    /// The stage, as SPIR-V names it.
    pub stage: &'static str,
    /// Resources with a set and a binding.
    pub resources: Vec<Resource>,
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
        Interface { stage, resources: Vec::new() }
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
    }
}
