//! Image variables: their formats and access decorations.

use rustc_hash::FxHashMap;
use spirv::{Capability, Decoration, Dim, ImageFormat, Op};
use tgsi_compiler::reflection::ResourceKind;
use tgsi_environment::PixelFormat;
use tgsi_environment::SamplerDim;
use tgsi_ir::entities::Variable;
use tgsi_ir::intrinsics::indices::{AccessFlags, AtomicOp};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::types::TypeData;
use tgsi_ir::{Def, Inst, InstData};

use super::ImageAccess;
use super::format::{atomic_format, image_format, is_in_every_device};
use crate::emit::Emitter;
use crate::emit::memory_model::Qualifiers;
use crate::emit::texture::units::{Element, Unit};
use crate::emit::texture::variables::{DescriptorVariable, class_of, dim_of};
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

/// The parameters of an image type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ImageShape {
    /// Dimensionality.
    pub dim: SamplerDim,
    /// Whether it has layers.
    pub array: bool,
    /// The class of a texel.
    pub class: Class,
    /// Its format.
    pub format: ImageFormat,
    /// The shader's view of the image, where the target lacks its type.
    pub seen: ImageView,
}

/// The shader's view of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ImageView {
    /// The same as the image.
    Same,
    /// A cube: its faces are layers of the image.
    Cube,
    /// Cubes, each of which is six layers of the image.
    Cubes,
    /// A 1D image: the first row of the image.
    Row,
}

impl ImageShape {
    /// Returns the number of components of the size.
    pub fn size_components(self) -> u8 {
        let size = if self.dim == SamplerDim::Cube { 2 } else { self.dim.num_coords() };
        size + u8::from(self.array)
    }

    /// Returns the number of components of a coordinate; layers and cube faces share one.
    pub fn coordinates(self) -> u8 {
        (self.dim.num_coords() + u8::from(self.array)).min(3)
    }

    /// Returns whether the image is multisampled.
    pub fn is_multisampled(self) -> bool {
        self.dim == SamplerDim::Ms
    }
}

/// The accesses of a shader to an image.
#[derive(Clone, Copy, Debug, Default)]
struct Actions {
    reads: bool,
    writes: bool,
    atomics: bool,
    /// Atomics other than exchanges.
    integer_atomics: bool,
}

/// The variables of images.
#[derive(Debug, Default)]
pub struct Images {
    variables: FxHashMap<(ImageShape, u32, u32), DescriptorVariable>,
    actions: Option<FxHashMap<Option<Variable>, Actions>>,
}

impl Emitter<'_> {
    /// Returns the type parameters of an image.
    pub(super) fn image_shape(&mut self, inst: Inst, unit: &Unit) -> Result<ImageShape, SpirvError> {
        let body = self.body;
        let mut shape = match unit.ty.map(|ty| self.shader.types.get(ty)) {
            Some(&TypeData::Image { dim, array, result }) => {
                let format = self.unit_data(unit).map_or(PixelFormat::NONE, |data| data.image_format);
                ImageShape { dim, array, class: class_of(result), format: image_format(format), seen: ImageView::Same }
            }
            None => {
                let dim = SamplerDim::from_i32(body.index(inst, IndexKind::ImageDim)).unwrap_or(SamplerDim::Dim2D);
                let array = body.index(inst, IndexKind::ImageArray) != 0;
                let number = u32::try_from(body.index(inst, IndexKind::Format)).unwrap_or(0);
                let format = PixelFormat::from_value(number).unwrap_or(PixelFormat::NONE);
                let class = match format {
                    format if format.is_sint() => Class::Int,
                    format if format.is_uint() => Class::Uint,
                    _ => Class::Float,
                };
                ImageShape { dim, array, class, format: image_format(format), seen: ImageView::Same }
            }
            Some(_) => {
                return Err(SpirvError::NotLowered { inst, what: "an access to a variable that is not an image" });
            }
        };
        if matches!(shape.dim, SamplerDim::Subpass | SamplerDim::SubpassMs) {
            return Err(SpirvError::Unsupported { inst, what: "an access to the framebuffer as an image" });
        }
        if shape.dim == SamplerDim::Cube && !self.options.cube_images {
            shape.seen = if shape.array { ImageView::Cubes } else { ImageView::Cube };
            shape.dim = SamplerDim::Dim2D;
            shape.array = true;
        }
        if shape.dim == SamplerDim::Dim1D && !self.options.one_dimensional {
            shape.seen = ImageView::Row;
            shape.dim = SamplerDim::Dim2D;
        }
        let actions = self.image_actions(unit.variable);
        let is_block = self.options.wgsl && shape.dim == SamplerDim::Buf;
        if !self.options.formatless_images && !is_block && shape.format == ImageFormat::Unknown && !actions.atomics {
            // The host creates the image in the format that the interface names.
            shape.format = match (actions.reads && actions.writes, shape.class) {
                (true, _) => {
                    let what = "the language has no image without a format that is both read and written: declare it as R32_FLOAT, R32_SINT, R32_UINT";
                    return Err(SpirvError::Unsupported { inst, what });
                }
                (_, Class::Int) => ImageFormat::Rgba32i,
                (_, Class::Uint) => ImageFormat::Rgba32ui,
                _ => ImageFormat::Rgba32f,
            };
        }
        if actions.atomics {
            // Formats of atomics have one 32-bit component. Float formats support exchanges only; for other atomics the
            // image holds the bits of the floats.
            if actions.integer_atomics && shape.class == Class::Float {
                shape.class = Class::Uint;
            }
            shape.format = atomic_format(shape.class);
        }
        Ok(shape)
    }

    /// Returns whether there are atomics on an image, and whether it is written.
    pub(super) fn image_is_changed(&mut self, unit: &Unit) -> (bool, bool) {
        let actions = self.image_actions(unit.variable);
        (actions.atomics, actions.writes)
    }

    fn image_actions(&mut self, variable: Option<Variable>) -> Actions {
        if self.images.actions.is_none() {
            self.images.actions = Some(self.find_image_actions());
        }
        self.images.actions.as_ref().and_then(|actions| actions.get(&variable)).copied().unwrap_or_default()
    }

    fn find_image_actions(&self) -> FxHashMap<Option<Variable>, Actions> {
        use IntrinsicOp::*;
        let body = self.body;
        let mut found: FxHashMap<Option<Variable>, Actions> = FxHashMap::default();
        for inst in body.blocks().flat_map(|block| body.insts(block)) {
            let (reads, writes, atomics) = match body.intrinsic(inst) {
                Some(ImageDerefLoad | BindlessImageLoad) => (true, false, false),
                Some(ImageDerefStore | BindlessImageStore) => (false, true, false),
                Some(op) if op.is_image_atomic() => (true, true, true),
                _ => continue,
            };
            let exchanges = || AtomicOp::from_i32(body.index(inst, IndexKind::AtomicOp)) == Some(AtomicOp::Xchg);
            let actions = found.entry(self.variable_of(body.src(inst, 0))).or_default();
            actions.reads |= reads;
            actions.writes |= writes;
            actions.atomics |= atomics;
            actions.integer_atomics |= atomics && !exchanges();
        }
        found
    }

    /// Returns the variable at the root of a pointer.
    fn variable_of(&self, mut deref: Def) -> Option<Variable> {
        let body = self.body;
        loop {
            let inst = body.try_def_inst(deref)?;
            match *body.inst(inst) {
                InstData::Deref { kind: tgsi_ir::body::DerefKind::Var(variable), .. } => return Some(variable),
                InstData::Deref { .. } if body.num_sources(inst) > 0 => deref = body.src(inst, 0),
                _ => return None,
            }
        }
    }

    /// Requires the capability for access without a format, if the image has none.
    pub(super) fn need_format(&mut self, access: &ImageAccess, capability: Capability) {
        if access.shape.format == ImageFormat::Unknown {
            self.module.need(capability);
        }
    }

    fn storage_image_type(&mut self, shape: ImageShape) -> Id {
        let (dim, multisampled) = dim_of(shape.dim);
        match (dim, shape.array) {
            (Dim::Dim1D, _) => self.module.need(Capability::Image1D),
            (Dim::DimBuffer, _) => self.module.need(Capability::ImageBuffer),
            (Dim::DimCube, true) => self.module.need(Capability::ImageCubeArray),
            _ => {}
        }
        if multisampled {
            self.module.need(Capability::StorageImageMultisample);
            if shape.array {
                self.module.need(Capability::ImageMSArray);
            }
        }
        if shape.format != ImageFormat::Unknown && !is_in_every_device(shape.format) {
            self.module.need(Capability::StorageImageExtendedFormats);
        }
        let texel = self.module.value_type(ValueType::new(shape.class, 32, 1));
        let words = [texel.0, dim as u32, 0, u32::from(shape.array), u32::from(multisampled), 2, shape.format as u32];
        self.module.plain_type(Op::TypeImage, &words)
    }

    /// Returns the variable of an image, and the element in it.
    pub(super) fn image_variable(&mut self, access: &ImageAccess, element: Element) -> (DescriptorVariable, Element) {
        let ImageAccess { unit, shape, .. } = *access;
        let (first, count, element) = match element {
            // Without arrays of descriptors, each element is a unit.
            Element::Constant(number) if self.options.portable && unit.count > 1 => {
                (unit.first.wrapping_add(number), 1, Element::Constant(0))
            }
            element => (unit.first, unit.count, element),
        };
        if let Some(&variable) = self.images.variables.get(&(shape, first, count)) {
            return (variable, element);
        }
        let ty = self.storage_image_type(shape);
        let buffer = if shape.dim == SamplerDim::Buf { "buffer " } else { "" };
        let about =
            format!("{buffer}{:?} {:?}{}", dim_of(shape.dim).0, shape.format, if shape.array { " array" } else { "" });
        let about = about.replace("Dim", "").to_lowercase();
        let variable = self.add_descriptors(ty, ResourceKind::Image, first, count, "image", about);
        let flags = self.unit_data(&unit).map_or(AccessFlags::NONE, |data| data.access);
        // With Vulkan's memory model each access carries these flags.
        let qualifiers = if self.options.vulkan_memory_model { Qualifiers::default() } else { qualifiers_of(flags) };
        let actions = self.image_actions(unit.variable);
        let decorations = [
            (!actions.writes, Decoration::NonWritable),
            (!actions.reads && actions.writes, Decoration::NonReadable),
            (qualifiers.coherent, Decoration::Coherent),
            (qualifiers.volatile, Decoration::Volatile),
            (flags.0 & AccessFlags::RESTRICT.0 != 0, Decoration::Restrict),
        ];
        for (_, decoration) in decorations.into_iter().filter(|(holds, _)| *holds) {
            self.module.decorate(variable.id, decoration, &[]);
        }
        self.images.variables.insert((shape, first, count), variable);
        (variable, element)
    }

    /// Returns the qualifiers of the image of an access.
    pub(super) fn image_qualifiers(&self, access: &ImageAccess) -> Qualifiers {
        qualifiers_of(self.unit_data(&access.unit).map_or(AccessFlags::NONE, |data| data.access))
    }

    /// Loads an image.
    pub(super) fn load_image_descriptor(&mut self, access: &ImageAccess, element: Element) -> Id {
        let is_buffer = access.shape.dim == SamplerDim::Buf;
        let (variable, element) = self.image_variable(access, element);
        self.load_descriptor(variable, element, is_buffer, true)
    }
}

fn qualifiers_of(flags: AccessFlags) -> Qualifiers {
    Qualifiers { coherent: flags.0 & AccessFlags::COHERENT.0 != 0, volatile: flags.0 & AccessFlags::VOLATILE.0 != 0 }
}
