//! Options of the front end.

use crate::limits::SpirvLimits;

/// The API whose rules a module follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Environment {
    /// Vulkan: resources have descriptor sets, vertex and instance indices include their bases.
    Vulkan,
    /// OpenGL with `GL_ARB_gl_spirv`: uniforms have locations, and `InstanceId` excludes the base.
    OpenGl,
    /// The modules that the SPIR-V driver of this project writes: sets, bindings and locations state the registers.
    Tgsic,
}

/// The kinds of registers that resources can be bound to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BindKind {
    /// Constant buffers, for uniform blocks.
    Constant,
    /// Buffers, for storage blocks.
    Buffer,
    /// Images.
    Image,
    /// Texture units.
    Unit,
}

/// A register that is chosen for a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bind {
    /// Kind of the register.
    pub kind: BindKind,
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// The first register.
    pub register: u32,
}

/// The range of depth of a consumer's clip space.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Depth {
    /// 0 to w, as in Vulkan.
    #[default]
    ZeroToOne,
    /// -w to w, as in OpenGL: z of the position becomes `2 z - w`.
    MinusOneToOne,
}

/// Options of the front end.
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct SpirvOptions {
    /// The entry point; needed if there are several of the stage.
    pub entry: Option<String>,
    /// Values of specialisation constants: number and bits.
    pub specialization: Vec<(u32, u64)>,
    /// The API; `None` infers it from the module.
    pub environment: Option<Environment>,
    /// Registers of resources.
    pub binds: Vec<Bind>,
    /// Lengths of arrays of descriptors without length: set, binding, length.
    pub counts: Vec<(u32, u32, u32)>,
    /// Whether uniform blocks share constant buffer 0.
    pub flat: bool,
    /// Whether samplers and textures that are separate in the module get separate units.
    pub separate: bool,
    /// Whether y of the position changes its sign.
    pub flip_y: bool,
    /// The range of depth.
    pub depth: Depth,
    /// Whether the origin of the tessellation domain is at the lower left, so that triangles have the other winding.
    pub tess_lower_left: bool,
    /// Limits.
    pub limits: SpirvLimits,
}
