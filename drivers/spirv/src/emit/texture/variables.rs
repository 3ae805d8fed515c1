//! Variables of textures and samplers, and loads from them.
//!
//! | | combined (the default) | separate |
//! |---|---|---|
//! | lookup | one variable of `OpTypeSampledImage` | two variables, joined by `OpSampledImage` in the block of the lookup |
//! | fetch, query | `OpImage` of it | the texture alone |
//! | texel buffer | `OpTypeImage` | `OpTypeImage` |
//!
//! If any lookup of a shader combines view and sampler of different units, all its variables are separate: a sampler
//! cannot be extracted from a combined variable.

use rustc_hash::{FxHashMap, FxHashSet};
use spirv::{Capability, Decoration, Dim, ImageFormat, Op, StorageClass};
use tgsi_compiler::reflection::{Resource, ResourceKind};
use tgsi_environment::SamplerDim;
use tgsi_ir::body::{TexData, TexSrcKind};
use tgsi_ir::types::{ScalarType, TypeData};
use tgsi_ir::{Def, Inst, InstData};

use super::units::{Element, Index, Unit};
use crate::emit::Emitter;
use crate::emit::reflection::default_binding;
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};
use crate::options::Samplers;

/// The descriptor set for handles.
pub const BINDLESS_SET: u32 = 4;

/// The distance between the bindings of two variables of one unit that may not share a binding.
const ALTERNATIVE: u32 = 256;

/// The parameters of a texture type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TextureShape {
    /// Dimensionality.
    pub dim: SamplerDim,
    /// Whether it has layers.
    pub array: bool,
    /// Whether its lookups compare.
    pub shadow: bool,
    /// The class of a texel.
    pub class: Class,
}

impl TextureShape {
    /// Returns the number of components of the size, and of a texel's coordinates.
    pub fn components(self) -> u8 {
        let size = if self.dim == SamplerDim::Cube { 2 } else { self.dim.num_coords() };
        size + u8::from(self.array)
    }

    /// Returns whether the texture is multisampled.
    pub fn is_multisampled(self) -> bool {
        matches!(self.dim, SamplerDim::Ms | SamplerDim::SubpassMs)
    }

    /// Returns whether the texture has levels of detail, and fetches and size queries take one.
    pub fn has_levels(self) -> bool {
        !self.is_multisampled() && self.dim != SamplerDim::Buf
    }

    fn about(self) -> String {
        let dim = match self.dim {
            SamplerDim::Dim1D => "1d",
            SamplerDim::Dim3D => "3d",
            SamplerDim::Cube => "cube",
            SamplerDim::Buf => "buffer",
            SamplerDim::Ms => "2d multisampled",
            _ => "2d",
        };
        let class = match self.class {
            Class::Int => "sint",
            Class::Uint => "uint",
            _ => "float",
        };
        let array = if self.array { " array" } else { "" };
        let shadow = if self.shadow { " depth" } else { "" };
        format!("{dim}{array}{shadow} {class}")
    }
}

/// The contents of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VariableContents {
    /// A texture with its sampler.
    Combined(TextureShape),
    /// A texture.
    Texture(TextureShape),
    /// A sampler; comparison samplers are separate variables if the target distinguishes them.
    Sampler(bool),
}

/// A variable with descriptors.
#[derive(Clone, Copy, Debug)]
pub struct DescriptorVariable {
    /// The variable.
    pub id: Id,
    /// The type of an element.
    pub element: Id,
    /// Whether it is an array.
    pub is_array: bool,
}

/// The variables of textures and samplers.
#[derive(Debug, Default)]
pub struct Textures {
    variables: FxHashMap<(VariableContents, u32, u32), DescriptorVariable>,
    /// Storage buffers that replace texel buffers.
    pub(super) blocks: FxHashMap<super::texel_buffers::TexelBlock, Id>,
    /// The number of variables so far of each kind and unit.
    of_unit: FxHashMap<(ResourceKind, u32), u32>,
    /// Whether this shader has separate textures and samplers, once known.
    separate: Option<bool>,
    /// Ids decorated `NonUniform`.
    pub(super) non_uniform: FxHashSet<Id>,
}

/// Returns the class of a scalar type.
pub fn class_of(scalar: ScalarType) -> Class {
    match scalar {
        ScalarType::Int => Class::Int,
        ScalarType::Uint => Class::Uint,
        _ => Class::Float,
    }
}

/// Returns the SPIR-V dimensionality, and whether it is multisampled.
pub fn dim_of(dim: SamplerDim) -> (Dim, bool) {
    match dim {
        SamplerDim::Dim1D => (Dim::Dim1D, false),
        SamplerDim::Dim3D => (Dim::Dim3D, false),
        SamplerDim::Cube => (Dim::DimCube, false),
        SamplerDim::Buf => (Dim::DimBuffer, false),
        SamplerDim::Ms => (Dim::Dim2D, true),
        SamplerDim::Subpass => (Dim::DimSubpassData, false),
        SamplerDim::SubpassMs => (Dim::DimSubpassData, true),
        // Coordinates of rectangles have already been scaled.
        SamplerDim::Dim2D | SamplerDim::Rect | SamplerDim::External => (Dim::Dim2D, false),
    }
}

impl Emitter<'_> {
    /// Returns the type parameters of a texture.
    pub fn texture_shape(&self, inst: Inst, unit: &Unit, tex: &TexData) -> Result<TextureShape, SpirvError> {
        let class = match tex.dest_type.base {
            tgsi_ir::alu::BaseType::Int => Class::Int,
            tgsi_ir::alu::BaseType::Uint => Class::Uint,
            _ => Class::Float,
        };
        let mut shape = TextureShape { dim: tex.dim, array: tex.is_array, shadow: tex.is_shadow, class };
        match unit.ty.map(|ty| self.shader.types.get(ty)) {
            None => {}
            Some(TypeData::Sampler { shadow, result, .. }) => {
                shape.shadow = *shadow;
                shape.class = class_of(*result);
            }
            Some(TypeData::Texture { result, .. }) => shape.class = class_of(*result),
            _ => return Err(SpirvError::NotLowered { inst, what: "a lookup in a variable that is not a texture" }),
        }
        if matches!(shape.dim, SamplerDim::Subpass | SamplerDim::SubpassMs) {
            return Err(SpirvError::Unsupported { inst, what: "a lookup in the framebuffer" });
        }
        if shape.shadow && shape.dim == SamplerDim::Dim3D {
            let what = "Vulkan has no comparing lookups in 3D textures";
            return Err(SpirvError::Unsupported { inst, what });
        }
        if matches!(shape.dim, SamplerDim::Rect | SamplerDim::External) {
            shape.dim = SamplerDim::Dim2D;
        }
        if shape.shadow {
            shape.class = Class::Float;
        }
        Ok(shape)
    }

    /// Returns the texture unit of a lookup.
    pub fn texture_unit(&mut self, inst: Inst) -> Result<Unit, SpirvError> {
        let index = self.body.tex(inst).map_or(0, |tex| tex.texture_index);
        let kinds = [TexSrcKind::TextureDeref, TexSrcKind::TextureHandle, TexSrcKind::TextureOffset];
        self.named_unit(inst, kinds, index)
    }

    /// Returns the sampler unit of a lookup.
    pub fn sampler_unit(&mut self, inst: Inst) -> Result<Unit, SpirvError> {
        let index = self.body.tex(inst).map_or(0, |tex| tex.sampler_index);
        let kinds = [TexSrcKind::SamplerDeref, TexSrcKind::SamplerHandle, TexSrcKind::SamplerOffset];
        self.named_unit(inst, kinds, index)
    }

    fn named_unit(&mut self, inst: Inst, kinds: [TexSrcKind; 3], index: u32) -> Result<Unit, SpirvError> {
        let body = self.body;
        let [deref, handle, offset] = kinds;
        if body.tex_src(inst, offset).is_some() {
            return Err(SpirvError::NotLowered { inst, what: "a texture named by an offset" });
        }
        if let Some(source) = body.tex_src(inst, deref) {
            return self.unit(inst, body.src_def(source));
        }
        if let Some(source) = body.tex_src(inst, handle) {
            return self.handle_unit(inst, body.src_def(source));
        }
        Ok(Unit { variable: None, ty: None, first: index, count: 1, index: Index::Constant(0) })
    }

    /// Returns the element of set 4's arrays that a 64-bit handle selects by its low word.
    pub fn handle_unit(&mut self, inst: Inst, handle: Def) -> Result<Unit, SpirvError> {
        if !self.options.bindless {
            return Err(SpirvError::Unsupported { inst, what: "a bindless handle, without the option bindless" });
        }
        let body = self.body;
        let producer = body.def_inst(handle);
        let id = match body.alu_op(producer) {
            // The low word is taken from before the packing.
            Some(tgsi_ir::alu::AluOp::Pack642x32 | tgsi_ir::alu::AluOp::Pack642x32Split) => {
                let source = body.source(producer, 0);
                self.component(body.src_def(source), body.swizzle(source).get(0), Class::Uint)?
            }
            _ if body.bit_size(handle) == 32 => self.component(handle, 0, Class::Uint)?,
            _ => {
                let wide = self.value(handle, Class::Uint)?;
                self.pure_of(Op::UConvert, ValueType::UINT, &[wide])
            }
        };
        let index = Index::Dynamic { def: handle, id, divergent: true };
        Ok(Unit { variable: None, ty: None, first: 0, count: 0, index })
    }

    /// Returns whether this shader has separate textures and samplers.
    pub fn has_separate_samplers(&mut self) -> bool {
        if let Some(separate) = self.textures.separate {
            return separate;
        }
        let body = self.body;
        let separate = self.options.samplers == Samplers::Separate
            || body.blocks().flat_map(|block| body.insts(block)).any(|inst| {
                if !matches!(body.inst(inst), InstData::Tex(_)) {
                    return false;
                }
                let kinds = [TexSrcKind::TextureDeref, TexSrcKind::SamplerDeref];
                match kinds.map(|kind| body.tex_src(inst, kind).map(|source| body.src_def(source))) {
                    [Some(texture), Some(sampler)] => {
                        texture != sampler && self.texture_place(texture) != self.texture_place(sampler)
                    }
                    _ => false,
                }
            });
        self.textures.separate = Some(separate);
        separate
    }

    /// Returns the first unit, and the element's number or index value: equal for pointers to the same unit.
    fn texture_place(&self, mut deref: Def) -> (Option<u32>, Option<u64>, Option<Def>) {
        let body = self.body;
        let (mut number, mut index) = (None, None);
        loop {
            let inst = body.def_inst(deref);
            match *body.inst(inst) {
                InstData::Deref { kind: tgsi_ir::body::DerefKind::Var(variable), .. } => {
                    let first = self.shader.variables[variable].driver_location;
                    let first = u64::from(first) + number.unwrap_or(0);
                    return (Some(first as u32), index.is_none().then_some(first), index);
                }
                InstData::Deref { .. } if body.num_sources(inst) == 2 => {
                    let def = body.src(inst, 1);
                    number = body.constant_component(def, 0);
                    index = if number.is_some() { None } else { Some(def) };
                    deref = body.src(inst, 0);
                }
                _ => return (None, None, Some(deref)),
            }
        }
    }

    /// Returns the type of a texture, and requires its capability.
    pub fn image_type(&mut self, shape: TextureShape) -> Id {
        let (dim, multisampled) = dim_of(shape.dim);
        match (dim, shape.array) {
            (Dim::Dim1D, _) => self.module.need(Capability::Sampled1D),
            (Dim::DimBuffer, _) => self.module.need(Capability::SampledBuffer),
            (Dim::DimCube, true) => self.module.need(Capability::SampledCubeArray),
            _ => {}
        }
        let texel = self.module.value_type(ValueType::new(shape.class, 32, 1));
        let words = [
            texel.0,
            dim as u32,
            u32::from(shape.shadow),
            u32::from(shape.array),
            u32::from(multisampled),
            1,
            ImageFormat::Unknown as u32,
        ];
        self.module.plain_type(Op::TypeImage, &words)
    }

    fn sampled_image_type(&mut self, shape: TextureShape) -> Id {
        let image = self.image_type(shape);
        self.module.plain_type(Op::TypeSampledImage, &[image.0])
    }

    /// Returns the variable of an element of a unit, and the element within it.
    fn descriptor(&mut self, holds: VariableContents, unit: &Unit, element: Element) -> (DescriptorVariable, Element) {
        match element {
            // Without descriptor arrays, each element is a unit.
            Element::Constant(number) if self.options.portable && unit.count > 1 => {
                (self.descriptor_variable(holds, unit.first.wrapping_add(number), 1), Element::Constant(0))
            }
            element => (self.descriptor_variable(holds, unit.first, unit.count), element),
        }
    }

    fn descriptor_variable(&mut self, holds: VariableContents, first: u32, count: u32) -> DescriptorVariable {
        // Only some languages distinguish comparison samplers.
        let holds = match holds {
            VariableContents::Sampler(shadow) => VariableContents::Sampler(shadow && self.options.portable),
            holds => holds,
        };
        if let Some(&variable) = self.textures.variables.get(&(holds, first, count)) {
            return variable;
        }
        let (element, kind, name, about) = match holds {
            VariableContents::Combined(shape) => {
                (self.sampled_image_type(shape), ResourceKind::CombinedTexture, "samp", shape.about())
            }
            VariableContents::Texture(shape) => (self.image_type(shape), ResourceKind::Texture, "tex", shape.about()),
            VariableContents::Sampler(shadow) => {
                let about = if shadow { "comparing" } else { "" }.to_owned();
                (self.module.plain_type(Op::TypeSampler, &[]), ResourceKind::Sampler, "sampler", about)
            }
        };
        let variable = self.add_descriptors(element, kind, first, count, name, about);
        self.textures.variables.insert((holds, first, count), variable);
        variable
    }

    /// Declares a variable of `count` descriptors at the binding of its unit; with 0, a runtime-sized array.
    pub fn add_descriptors(
        &mut self,
        element: Id,
        kind: ResourceKind,
        first: u32,
        count: u32,
        name: &str,
        about: String,
    ) -> DescriptorVariable {
        let ty = match count {
            0 => {
                self.module.need(Capability::RuntimeDescriptorArray);
                self.module.need_extension("SPV_EXT_descriptor_indexing", Some((1, 5)));
                self.module.plain_type(Op::TypeRuntimeArray, &[element.0])
            }
            1 => element,
            _ => self.module.array_type(element, count, None),
        };
        let id = self.module.global_variable(ty, StorageClass::UniformConstant, None);
        let (set, mut binding) = default_binding(kind, self.shader.stage, first);
        if self.options.portable {
            // Two variables of one unit have two bindings, to which the host binds the same resource.
            let number = self.textures.of_unit.entry((kind, first)).or_default();
            binding += *number * ALTERNATIVE;
            *number += 1;
        }
        let (set, binding) = match (count, kind) {
            (0, ResourceKind::CombinedTexture) => (BINDLESS_SET, 0),
            (0, ResourceKind::Texture) if about.starts_with("buffer") => (BINDLESS_SET, 1),
            (0, ResourceKind::Image) if about.starts_with("buffer") => (BINDLESS_SET, 3),
            (0, ResourceKind::Image) => (BINDLESS_SET, 2),
            (0, ResourceKind::Texture) => (BINDLESS_SET, 4),
            (0, _) => (BINDLESS_SET, 5),
            _ if self.options.opengl && !self.options.portable => (0, first),
            _ => (set, binding),
        };
        self.module.decorate(id, Decoration::DescriptorSet, &[set]);
        self.module.decorate(id, Decoration::Binding, &[binding]);
        if self.options.names {
            let name = if count == 0 { format!("{name}s") } else { format!("{name}{first}") };
            self.module.name(id, &name);
        }
        self.reflection.resources.push(Resource { kind, index: first, set, binding, count, about });
        DescriptorVariable { id, element, is_array: count != 1 }
    }

    /// Emits a pointer to an element of a descriptor variable. `is_buffer`, `is_image` state the kind of descriptor.
    pub fn descriptor_pointer(
        &mut self,
        variable: DescriptorVariable,
        element: Element,
        is_buffer: bool,
        is_image: bool,
    ) -> Id {
        if !variable.is_array {
            return variable.id;
        }
        let pointer = self.module.pointer_type(StorageClass::UniformConstant, variable.element);
        let (index, divergent) = match element {
            Element::Constant(number) => (self.module.uint(number), false),
            Element::Dynamic { id, divergent } => {
                let extension = "SPV_EXT_descriptor_indexing";
                let dynamic = match (is_buffer, is_image) {
                    (false, false) => Capability::SampledImageArrayDynamicIndexing,
                    (false, true) => Capability::StorageImageArrayDynamicIndexing,
                    (true, false) => Capability::UniformTexelBufferArrayDynamicIndexing,
                    (true, true) => Capability::StorageTexelBufferArrayDynamicIndexing,
                };
                self.module.need(dynamic);
                if is_buffer {
                    self.module.need_extension(extension, Some((1, 5)));
                }
                if divergent {
                    self.module.need(match (is_buffer, is_image) {
                        (false, false) => Capability::SampledImageArrayNonUniformIndexing,
                        (false, true) => Capability::StorageImageArrayNonUniformIndexing,
                        (true, false) => Capability::UniformTexelBufferArrayNonUniformIndexing,
                        (true, true) => Capability::StorageTexelBufferArrayNonUniformIndexing,
                    });
                    self.non_uniform(id);
                }
                (id, divergent)
            }
        };
        let id = self.pure(Op::AccessChain, pointer, &[variable.id.0, index.0]);
        if divergent {
            self.non_uniform(id);
        }
        id
    }

    /// Loads an element of a descriptor variable.
    pub fn load_descriptor(
        &mut self,
        variable: DescriptorVariable,
        element: Element,
        is_buffer: bool,
        is_image: bool,
    ) -> Id {
        let pointer = self.descriptor_pointer(variable, element, is_buffer, is_image);
        let id = self.result(Op::Load, variable.element, &[pointer.0]);
        if matches!(element, Element::Dynamic { divergent: true, .. }) {
            self.non_uniform(id);
        }
        id
    }

    /// Loads a texture without its sampler.
    pub fn load_texture(&mut self, shape: TextureShape, unit: &Unit, element: Element) -> Id {
        let is_buffer = shape.dim == SamplerDim::Buf;
        if is_buffer || self.has_separate_samplers() {
            let (variable, element) = self.descriptor(VariableContents::Texture(shape), unit, element);
            return self.load_descriptor(variable, element, is_buffer, false);
        }
        let sampled = self.load_combined(shape, unit, element);
        let ty = self.image_type(shape);
        let id = self.result(Op::Image, ty, &[sampled.0]);
        if matches!(element, Element::Dynamic { divergent: true, .. }) {
            self.non_uniform(id);
        }
        id
    }

    fn load_combined(&mut self, shape: TextureShape, unit: &Unit, element: Element) -> Id {
        let (variable, element) = self.descriptor(VariableContents::Combined(shape), unit, element);
        self.load_descriptor(variable, element, false, false)
    }

    /// Loads a texture with its sampler, in the block of its use.
    pub fn load_sampled(
        &mut self,
        shape: TextureShape,
        texture: (&Unit, Element),
        sampler: (&Unit, Element),
        compares: bool,
    ) -> Id {
        if !self.has_separate_samplers() {
            return self.load_combined(shape, texture.0, texture.1);
        }
        let image = self.load_texture(shape, texture.0, texture.1);
        let (variable, element) = self.descriptor(VariableContents::Sampler(compares), sampler.0, sampler.1);
        let loaded = self.load_descriptor(variable, element, false, false);
        let ty = self.sampled_image_type(shape);
        let id = self.result(Op::SampledImage, ty, &[image.0, loaded.0]);
        if [texture.1, sampler.1].iter().any(|element| matches!(element, Element::Dynamic { divergent: true, .. })) {
            self.non_uniform(id);
        }
        id
    }
}
