//! Storage images.
//!
//! | IR | SPIR-V |
//! |---|---|
//! | load | `OpImageRead` if the texel exists |
//! | store | `OpImageWrite` if the texel exists |
//! | atomic | `OpImageTexelPointer`, and an atomic on it |
//! | size, samples | `OpImageQuerySize`, `OpImageQuerySamples` |
//!
//! Coordinates are the first components of a vector of four. The third is the face of a cube; of a cube array, six
//! times the layer plus the face.

mod atomic;
mod block;
mod format;
mod variables;

use smallvec::SmallVec;
use spirv::{Capability, Op};
use tgsi_environment::SamplerDim;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::{Def, Inst, Swizzle};

use super::Emitter;
use super::texture::units::{Element, Index, Unit};
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

pub use format::is_in_every_device;
pub use variables::{ImageShape, ImageView, Images};

/// The access that is being emitted: its image and the shape of it.
#[derive(Clone, Copy, Debug)]
struct ImageAccess {
    inst: Inst,
    unit: Unit,
    shape: ImageShape,
}

impl<'a> Emitter<'a> {
    pub(super) fn emit_image_access(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        use IntrinsicOp::*;
        let named = self.body.src(inst, 0);
        let unit = if op.is_bindless_image_access() { self.handle_unit(inst, named)? } else { self.unit(inst, named)? };
        let shape = self.image_shape(inst, &unit)?;
        let access = ImageAccess { inst, unit, shape };
        if shape.dim == SamplerDim::Buf && self.options.wgsl {
            return self.emit_block_image_access(&access, op);
        }
        match op {
            ImageDerefLoad | BindlessImageLoad => self.load_image(&access),
            ImageDerefStore | BindlessImageStore => self.store_image(&access),
            op if op.is_image_atomic() => self.emit_image_atomic(&access),
            ImageDerefSize | BindlessImageSize => self.emit_image_size_query(&access),
            ImageDerefSamples | BindlessImageSamples => self.emit_image_samples_query(&access),
            op => Err(SpirvError::UnsupportedIntrinsic { inst, op }),
        }
    }

    /// Returns the coordinates of a texel in a class.
    fn texel(&mut self, access: &ImageAccess, class: Class) -> Result<Id, SpirvError> {
        let coordinate = self.body.src(access.inst, 1);
        if access.shape.seen == ImageView::Row {
            let ty = ValueType::new(class, 32, access.shape.coordinates());
            let mut parts: SmallVec<[Id; 3]> =
                smallvec::smallvec![self.component(coordinate, 0, class)?, self.module.scalar(ty.scalar(), 0)];
            if access.shape.array {
                parts.push(self.component(coordinate, 1, class)?);
            }
            return Ok(self.pure_of(Op::CompositeConstruct, ty, &parts));
        }
        self.swizzled(coordinate, Swizzle::IDENTITY, access.shape.coordinates(), class)
    }

    /// Returns the sample of an access to a multisampled image.
    fn sample_of(&mut self, access: &ImageAccess, class: Class) -> Result<Option<Id>, SpirvError> {
        if !access.shape.is_multisampled() {
            return Ok(None);
        }
        self.component(self.body.src(access.inst, 2), 0, class).map(Some)
    }

    /// Emits whether the texel of an access exists.
    fn image_texel_exists(&mut self, access: &ImageAccess, element: Element) -> Result<Id, SpirvError> {
        let shape = access.shape;
        self.module.need(Capability::ImageQuery);
        let image = self.load_image_descriptor(access, element);
        let size_ty = ValueType::new(Class::Int, 32, shape.size_components());
        let type_id = self.module.value_type(size_ty);
        let mut size = self.result(Op::ImageQuerySize, type_id, &[image.0]);
        if shape.dim == SamplerDim::Cube {
            // Faces count as layers.
            let mut faces = self.module.int(6);
            if shape.array {
                let cubes = self.take(size, size_ty, Swizzle::replicate(2), 1);
                faces = self.pure_of(Op::IMul, ValueType::INT, &[cubes, faces]);
            }
            let face = self.take(size, size_ty, Swizzle::IDENTITY, 2);
            let ty = self.module.value_type(ValueType::new(Class::Int, 32, 3));
            size = self.pure(Op::CompositeConstruct, ty, &[face.0, faces.0]);
        }
        let coordinate = self.texel(access, Class::Uint)?;
        let mut exists = self.all_below(coordinate, size, shape.coordinates());
        if let Some(sample) = self.sample_of(access, Class::Uint)? {
            let ty = self.module.value_type(ValueType::UINT);
            let samples = self.result(Op::ImageQuerySamples, ty, &[image.0]);
            let below = self.is_below(sample, samples);
            exists = self.pure_of(Op::LogicalAnd, ValueType::BOOL, &[exists, below]);
        }
        Ok(exists)
    }

    /// Emits a value of the texel of an access, zero if it does not exist.
    fn of_texel(
        &mut self,
        access: &ImageAccess,
        ty: ValueType,
        inner: &mut dyn FnMut(&mut Emitter<'a>, Element) -> Result<Id, SpirvError>,
    ) -> Result<Id, SpirvError> {
        self.at_element(&access.unit, ty, &mut |e, element| {
            if e.options.robust {
                return inner(e, element);
            }
            let exists = e.image_texel_exists(access, element)?;
            e.if_then_value(exists, ty, |e| inner(e, element))
        })
    }

    fn load_image(&mut self, access: &ImageAccess) -> Result<(), SpirvError> {
        let Some(def) = self.body.inst_def(access.inst) else { return Ok(()) };
        if self.body.bit_size(def) != 32 {
            return Err(SpirvError::Unsupported { inst: access.inst, what: "texels that are not of 32 bits" });
        }
        let ty = ValueType::new(access.shape.class, 32, 4);
        let id = self.of_texel(access, ty, &mut |e, element| {
            let image = e.load_image_descriptor(access, element);
            let coordinate = e.texel(access, Class::Int)?;
            e.need_format(access, Capability::StorageImageReadWithoutFormat);
            let mut words: SmallVec<[u32; 8]> = smallvec::smallvec![image.0, coordinate.0];
            let sample = e.sample_of(access, Class::Int)?;
            let qualifiers = e.image_qualifiers(access);
            words.extend(e.texel_operands(sample, qualifiers, false));
            let ty = e.module.value_type(ty);
            Ok(e.result(Op::ImageRead, ty, &words))
        })?;
        self.define_texel(def, id, ty);
        Ok(())
    }

    fn store_image(&mut self, access: &ImageAccess) -> Result<(), SpirvError> {
        let value = self.body.src(access.inst, 3);
        if self.body.bit_size(value) != 32 {
            return Err(SpirvError::Unsupported { inst: access.inst, what: "texels that are not of 32 bits" });
        }
        self.at_image(&access.unit, &mut |e, element| {
            if e.options.robust {
                return e.write_texel(access, element, value);
            }
            let exists = e.image_texel_exists(access, element)?;
            e.if_then(exists, |e| e.write_texel(access, element, value))
        })
    }

    fn write_texel(&mut self, access: &ImageAccess, element: Element, value: Def) -> Result<(), SpirvError> {
        let image = self.load_image_descriptor(access, element);
        let coordinate = self.texel(access, Class::Int)?;
        self.need_format(access, Capability::StorageImageWriteWithoutFormat);
        let ty = self.type_of(value, access.shape.class);
        let value = self.value(value, access.shape.class)?;
        let value = self.fit_size(value, ty, 4);
        let mut words: SmallVec<[u32; 8]> = smallvec::smallvec![image.0, coordinate.0, value.0];
        let sample = self.sample_of(access, Class::Int)?;
        let qualifiers = self.image_qualifiers(access);
        words.extend(self.texel_operands(sample, qualifiers, true));
        self.push(Op::ImageWrite, &words);
        Ok(())
    }

    /// Emits code with side effects for the image of a unit, if it exists.
    fn at_image(
        &mut self,
        unit: &Unit,
        inner: &mut dyn FnMut(&mut Emitter<'a>, Element) -> Result<(), SpirvError>,
    ) -> Result<(), SpirvError> {
        match unit.index {
            Index::Constant(number) if number < unit.count => inner(self, Element::Constant(number)),
            Index::Constant(_) => Ok(()),
            Index::Dynamic { id, divergent, .. } if unit.count == 0 || self.is_unguarded(unit) => {
                inner(self, Element::Dynamic { id, divergent })
            }
            Index::Dynamic { id, .. } if self.options.portable => {
                for number in 0..unit.count {
                    let own = self.module.uint(number);
                    let chosen = self.pure_of(Op::IEqual, ValueType::BOOL, &[id, own]);
                    self.if_then(chosen, |e| inner(e, Element::Constant(number)))?;
                }
                Ok(())
            }
            Index::Dynamic { id, divergent, .. } => {
                let count = self.module.uint(unit.count);
                let inside = self.is_below(id, count);
                self.if_then(inside, |e| inner(e, Element::Dynamic { id, divergent }))
            }
        }
    }

    fn emit_image_size_query(&mut self, access: &ImageAccess) -> Result<(), SpirvError> {
        let Some(def) = self.body.inst_def(access.inst) else { return Ok(()) };
        let ty = ValueType::new(Class::Int, 32, access.shape.size_components());
        let id = self.of_element(&access.unit, ty, &mut |e, element| {
            e.module.need(Capability::ImageQuery);
            let image = e.load_image_descriptor(access, element);
            let type_id = e.module.value_type(ty);
            let size = e.result(Op::ImageQuerySize, type_id, &[image.0]);
            if access.shape.seen == ImageView::Same {
                return Ok(size);
            }
            if access.shape.seen == ImageView::Row {
                // The layers follow the width.
                let width = e.take(size, ty, Swizzle::IDENTITY, 1);
                let last = e.take(size, ty, Swizzle::replicate(ty.components - 1), 1);
                let parts = [width, last, last];
                return Ok(e.pure_of(Op::CompositeConstruct, ty, &parts[..usize::from(ty.components)]));
            }
            // A single cube has no layers to count; for cube arrays, the number of cubes is a sixth of the layers.
            let parts: SmallVec<[Id; 3]> =
                (0..3).map(|component| e.take(size, ty, Swizzle::replicate(component), 1)).collect();
            let (one, six) = (e.module.int(1), e.module.int(6));
            let cubes = match access.shape.seen {
                ImageView::Cubes => e.pure_of(Op::SDiv, ValueType::INT, &[parts[2], six]),
                _ => one,
            };
            Ok(e.pure_of(Op::CompositeConstruct, ty, &[parts[0], parts[1], cubes]))
        })?;
        let id = self.fit_size(id, ty, self.body.num_components(def));
        self.define(def, id, Class::Int);
        Ok(())
    }

    fn emit_image_samples_query(&mut self, access: &ImageAccess) -> Result<(), SpirvError> {
        let Some(def) = self.body.inst_def(access.inst) else { return Ok(()) };
        let id = self.of_element(&access.unit, ValueType::INT, &mut |e, element| {
            if !access.shape.is_multisampled() {
                return Ok(e.module.int(1));
            }
            e.module.need(Capability::ImageQuery);
            let image = e.load_image_descriptor(access, element);
            let ty = e.module.value_type(ValueType::INT);
            Ok(e.result(Op::ImageQuerySamples, ty, &[image.0]))
        })?;
        self.define(def, id, Class::Int);
        Ok(())
    }
}
