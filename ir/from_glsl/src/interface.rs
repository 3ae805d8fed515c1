//! The interface of a shader: what an application sets, and what other stages share.

/// A uniform, or fixed-function state.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Uniform {
    /// Name.
    pub name: String,
    /// Type as in the source: `vec4[8]`.
    pub ty: String,
    /// The first register of four components: `CONST[0][register]`.
    pub register: u32,
    /// Registers that it takes: arrays end at the largest index that is used.
    pub num_registers: u32,
    /// Whether it is state of the fixed-function pipeline, such as `gl_Fog`.
    pub is_state: bool,
    /// The value of its initialiser: bits of the components in order. Of state the initial value that GL specifies: four
    /// words for each register, including those of array elements that are not used.
    pub initial: Option<Vec<u64>>,
}

/// A sampler uniform.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SamplerUniform {
    /// Name, with fields of structs: `material.diffuse`.
    pub name: String,
    /// Type as in the source.
    pub ty: String,
    /// The first unit.
    pub unit: u32,
    /// Units: the elements of arrays are consecutive.
    pub num_units: u32,
}

/// An input or output.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct InterfaceVariable {
    /// Name.
    pub name: String,
    /// Type as in the source.
    pub ty: String,
    /// The slot ([`tgsi_ir::slots`]).
    pub location: i32,
    /// The number of the register.
    pub register: u32,
}

/// The interface of a shader.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Interface {
    /// Uniforms that are used, by register.
    pub uniforms: Vec<Uniform>,
    /// Samplers that are used, by unit.
    pub samplers: Vec<SamplerUniform>,
    /// Inputs that are used, by register.
    pub inputs: Vec<InterfaceVariable>,
    /// Outputs that are written, by register.
    pub outputs: Vec<InterfaceVariable>,
    /// Uniforms that are declared and not used.
    pub unused: Vec<String>,
}
