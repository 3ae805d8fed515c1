//! Atomics on texels. Their formats have one 32-bit component.

use spirv::{Op, StorageClass};
use tgsi_ir::intrinsics::IndexKind;
use tgsi_ir::intrinsics::indices::AtomicOp;

use super::ImageAccess;
use crate::emit::Emitter;
use crate::emit::buffers::{Length, Memory};
use crate::emit::memory_model::Qualifiers;
use crate::emit::texture::units::Element;
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

impl Emitter<'_> {
    pub(super) fn emit_image_atomic(&mut self, access: &ImageAccess) -> Result<(), SpirvError> {
        let Some(def) = self.body.inst_def(access.inst) else { return Ok(()) };
        let class = access.shape.class;
        let op = AtomicOp::from_i32(self.body.index(access.inst, IndexKind::AtomicOp)).unwrap_or(AtomicOp::Iadd);
        if class == Class::Float && op != AtomicOp::Xchg {
            // Compare-exchange loops need integers.
            let what = "an atomic other than an exchange on an image of floats";
            return Err(SpirvError::Unsupported { inst: access.inst, what });
        }
        let ty = ValueType::new(class, 32, 1);
        let id = self.of_texel(access, ty, &mut |e, element| {
            let pointer = e.texel_pointer(access, element)?;
            let length = Length::Known(1);
            let memory = Memory {
                base: pointer,
                storage: StorageClass::Image,
                in_block: false,
                class,
                length,
                qualifiers: Qualifiers::default(),
            };
            e.atomic(access.inst, 3, &memory, pointer)
        })?;
        self.define(def, id, class);
        Ok(())
    }

    fn texel_pointer(&mut self, access: &ImageAccess, element: Element) -> Result<Id, SpirvError> {
        let (variable, element) = self.image_variable(access, element);
        let is_buffer = access.shape.dim == tgsi_environment::SamplerDim::Buf;
        let image = self.descriptor_pointer(variable, element, is_buffer, true);
        let coordinate = self.texel(access, Class::Int)?;
        let sample = match self.sample_of(access, Class::Uint)? {
            Some(sample) => sample,
            None => self.module.uint(0),
        };
        let word = self.module.value_type(ValueType::new(access.shape.class, 32, 1));
        let ty = self.module.pointer_type(StorageClass::Image, word);
        Ok(self.result(Op::ImageTexelPointer, ty, &[image.0, coordinate.0, sample.0]))
    }
}
