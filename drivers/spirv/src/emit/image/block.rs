//! Texel buffer images, for languages that only have storage buffers.

use spirv::{Op, StorageClass};
use tgsi_compiler::reflection::ResourceKind;
use tgsi_ir::Swizzle;
use tgsi_ir::intrinsics::IntrinsicOp;

use super::ImageAccess;
use crate::emit::Emitter;
use crate::emit::buffers::{Length, Memory};
use crate::emit::memory_model::Qualifiers;
use crate::emit::texture::texel_buffers::TexelBlock;
use crate::emit::texture::units::Element;
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

impl Emitter<'_> {
    /// Returns the buffer of an element of an image: of words if there are atomics on it.
    fn image_block(&mut self, access: &ImageAccess, element: Element) -> Result<TexelBlock, SpirvError> {
        let (atomics, writes) = self.image_is_changed(&access.unit);
        let texel = ValueType::new(access.shape.class, 32, if atomics { 1 } else { 4 });
        self.block_of(access.inst, ResourceKind::Image, &access.unit, element, texel, writes)
    }

    /// Returns the buffer, the index in it, and whether that is in range.
    fn place_in_block(&mut self, access: &ImageAccess, element: Element) -> Result<(TexelBlock, Id, Id), SpirvError> {
        let block = self.image_block(access, element)?;
        let coordinate = self.component(self.body.src(access.inst, 1), 0, Class::Uint)?;
        let length = self.texel_block_length(block);
        let exists = self.is_below(coordinate, length);
        Ok((block, coordinate, exists))
    }

    /// Emits an access to a texel buffer image.
    pub(super) fn emit_block_image_access(&mut self, access: &ImageAccess, op: IntrinsicOp) -> Result<(), SpirvError> {
        use IntrinsicOp::*;
        let (inst, class) = (access.inst, access.shape.class);
        let texel = ValueType::new(class, 32, 4);
        let def = self.body.inst_def(inst);
        match (op, def) {
            (ImageDerefLoad, Some(def)) if self.body.bit_size(def) == 32 => {
                let id = self.at_element(&access.unit, texel, &mut |e, element| {
                    let (block, coordinate, exists) = e.place_in_block(access, element)?;
                    e.if_then_value(exists, texel, |e| {
                        let pointer = e.texel_block_pointer(block, coordinate);
                        let ty = e.module.value_type(block.element);
                        let value = e.result(Op::Load, ty, &[pointer.0]);
                        if block.element == texel {
                            return Ok(value);
                        }
                        let zero = e.module.scalar(block.element, 0);
                        let one = e.module.scalar(block.element, if class == Class::Float { 0x3f80_0000 } else { 1 });
                        Ok(e.pure_of(Op::CompositeConstruct, texel, &[value, zero, zero, one]))
                    })
                })?;
                self.define_texel(def, id, texel);
                Ok(())
            }
            (ImageDerefStore, _) if self.body.bit_size(self.body.src(inst, 3)) == 32 => {
                let value = self.body.src(inst, 3);
                self.at_image(&access.unit, &mut |e, element| {
                    let (block, coordinate, exists) = e.place_in_block(access, element)?;
                    e.if_then(exists, |e| {
                        let ty = e.type_of(value, class);
                        let value = e.value(value, class)?;
                        let value = e.fit_size(value, ty, 4);
                        let value = e.take(value, texel, Swizzle::IDENTITY, block.element.components);
                        let pointer = e.texel_block_pointer(block, coordinate);
                        e.push(Op::Store, &[pointer.0, value.0]);
                        Ok(())
                    })
                })
            }
            (ImageDerefAtomic | ImageDerefAtomicSwap, Some(def)) => {
                let id = self.at_element(&access.unit, texel.scalar(), &mut |e, element| {
                    let (block, coordinate, exists) = e.place_in_block(access, element)?;
                    e.if_then_value(exists, texel.scalar(), |e| {
                        let pointer = e.texel_block_pointer(block, coordinate);
                        let (storage, length) = (StorageClass::StorageBuffer, Length::Known(1));
                        let qualifiers = Qualifiers::default();
                        let memory = Memory { base: pointer, storage, in_block: false, class, length, qualifiers };
                        e.atomic(inst, 3, &memory, pointer)
                    })
                })?;
                self.define(def, id, class);
                Ok(())
            }
            (ImageDerefSize, Some(def)) => {
                let id = self.of_element(&access.unit, ValueType::INT, &mut |e, element| {
                    let block = e.image_block(access, element)?;
                    Ok(e.texel_block_size(block))
                })?;
                let id = self.fit_size(id, ValueType::INT, self.body.num_components(def));
                self.define(def, id, Class::Int);
                Ok(())
            }
            (ImageDerefSamples, Some(def)) => {
                let one = self.module.int(1);
                self.define(def, one, Class::Int);
                Ok(())
            }
            (op, _) => Err(SpirvError::UnsupportedIntrinsic { inst, op }),
        }
    }
}
