//! Framebuffer fetch: reads of an output become reads of an input attachment of the subpass.

use spirv::{Capability, Decoration, Dim, ImageFormat, Op, StorageClass};
use tgsi_compiler::reflection::ResourceKind;
use tgsi_ir::{Def, Inst};

use super::instruction_access::SlotAccess;
use super::slot_location::SlotLocation;
use crate::emit::Emitter;
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

impl Emitter<'_> {
    /// Reads the framebuffer's value of the pixel.
    pub(super) fn emit_framebuffer_fetch(
        &mut self,
        inst: Inst,
        access: &SlotAccess,
        def: Def,
    ) -> Result<(), SpirvError> {
        if self.options.opengl {
            return Err(SpirvError::Unsupported { inst, what: "the target has no framebuffer fetch" });
        }
        let place =
            access.slots.first().copied().flatten().and_then(|slot| self.io.plan.slot(slot)).map(|data| data.place);
        let color = match (place, access.index) {
            (Some(SlotLocation::Located { location, .. }), None) => location,
            (Some(SlotLocation::AllColors), None) => 0,
            _ => return Err(SpirvError::Unsupported { inst, what: "a framebuffer fetch of this kind" }),
        };
        let count = self.body.num_components(def);
        if self.body.bit_size(def) != 32 || count + access.component > 4 {
            return Err(SpirvError::Unsupported { inst, what: "a framebuffer fetch of this kind" });
        }
        self.module.need(Capability::InputAttachment);
        let class = self.options.color_outputs.get(color as usize).map_or(Class::Float, |class| class.class());
        let ty = ValueType::new(class, 32, 4);
        let scalar = self.module.value_type(ty.scalar());
        let unknown = ImageFormat::Unknown as u32;
        let image = self.module.plain_type(Op::TypeImage, &[scalar.0, Dim::DimSubpassData as u32, 0, 0, 0, 2, unknown]);
        let variable = self.attachment(image, color);
        let image_id = self.result(Op::Load, image, &[variable.0]);
        let place = self.module.value_type(ValueType::INT.with_components(2));
        let place = self.module.null(place);
        let ty_id = self.module.value_type(ty);
        let value = self.result(Op::ImageRead, ty_id, &[image_id.0, place.0]);
        let first = access.component;
        let swizzle = [first, first + 1, first + 2, first + 3].map(|component| component.min(3));
        let value = self.take(value, ty, tgsi_ir::body::Swizzle::new(&swizzle), count);
        self.define(def, value, class);
        Ok(())
    }

    fn attachment(&mut self, image: Id, color: u32) -> Id {
        if let Some(&id) = self.io.attachments.get(&color) {
            return id;
        }
        let id = self.module.global_variable(image, StorageClass::UniformConstant, None);
        self.module.decorate(id, Decoration::InputAttachmentIndex, &[color]);
        self.bind(id, ResourceKind::InputAttachment, color, 1, String::new());
        if self.options.names {
            self.module.name(id, &format!("framebuffer{color}"));
        }
        self.io.attachments.insert(color, id);
        id
    }
}
