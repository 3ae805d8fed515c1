//! Accesses of images.

use tgsi::shader::{Dst, InstructionMemory, Register, Src};
use tgsi::tables::{File, Opcode, PixelFormat, TextureTarget};
use tgsi_environment::SamplerDim;
use tgsi_ir::Inst;
use tgsi_ir::intrinsics::indices::AccessFlags;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};

use super::qualifiers;
use crate::DriverError;
use crate::select::address::AddressUse;
use crate::select::declared::ImageUse;
use crate::select::{Selector, Value};

/// The texture target of images of a dimensionality.
fn image_target(dim: SamplerDim, array: bool) -> TextureTarget {
    use TextureTarget::*;
    match (dim, array) {
        (SamplerDim::Buf, _) => Buffer,
        (SamplerDim::Dim1D, false) => Texture1D,
        (SamplerDim::Dim1D, true) => Texture1DArray,
        (SamplerDim::Dim3D, _) => Texture3D,
        (SamplerDim::Cube, false) => Cube,
        (SamplerDim::Cube, true) => CubeArray,
        (SamplerDim::Rect, _) => Rect,
        (SamplerDim::Ms | SamplerDim::SubpassMs, false) => Texture2DMsaa,
        (SamplerDim::Ms | SamplerDim::SubpassMs, true) => Texture2DArrayMsaa,
        (SamplerDim::Dim2D | SamplerDim::External | SamplerDim::Subpass, true) => Texture2DArray,
        (SamplerDim::Dim2D | SamplerDim::External | SamplerDim::Subpass, false) => Texture2D,
    }
}

impl Selector<'_> {
    pub(super) fn select_image_access(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), DriverError> {
        use IntrinsicOp::*;
        let body = self.body;
        let dim = SamplerDim::from_i32(body.index(inst, IndexKind::ImageDim)).unwrap_or(SamplerDim::Dim2D);
        let target = image_target(dim, body.index(inst, IndexKind::ImageArray) != 0);
        let format =
            PixelFormat::from_value(body.index(inst, IndexKind::Format) as u32 as _).unwrap_or(PixelFormat::NONE);
        let access = body.index(inst, IndexKind::Access);
        let memory = InstructionMemory { qualifiers: qualifiers(access), target, format };
        let bindless = op.is_bindless_image_access();
        let stores = matches!(op, ImageDerefStore | BindlessImageStore) || op.is_image_atomic();
        let resource = if bindless {
            self.source(inst, 0).source([0, 1, 0, 1])
        } else {
            let unit = self.unit(inst, body.src(inst, 0))?;
            let data = &self.shader.variables[unit.variable];
            let declared = if data.image_format == PixelFormat::NONE { format } else { data.image_format };
            let writable = stores || !data.access.contains(AccessFlags::NON_WRITEABLE);
            let usage = ImageUse { target, format: declared, writable };
            match unit.dynamic {
                None => {
                    self.declared.image(unit.base, usage);
                    Src::new(Register::new(File::Image, unit.base as i32))
                }
                Some(index) => {
                    let count = self.shader.types.array_elements(data.ty).max(1);
                    self.declared.images(data.binding, count, usage);
                    let slot = self.load_value(index.lane(0), AddressUse::Resource);
                    Src::new(Register::new(File::Image, unit.base as i32).indexed_by(slot.0, slot.1, 0))
                }
            }
        };
        let Some(def) = body.inst_def(inst) else {
            let address = self.texel(inst, target);
            let value = self.source(inst, 3);
            let mask = if bindless { 0xf } else { crate::select::lane_mask(body.full_mask(body.src(inst, 3)), 32) };
            let dst = Dst::new(resource.register).masked(mask);
            self.emit_memory(Opcode::Store, dst, &[address, value.source([0, 1, 2, 3])], memory);
            return Ok(());
        };
        match op {
            ImageDerefSize | BindlessImageSize => self.select_query(def, resource, self.full_lanes(def), memory),
            ImageDerefSamples | BindlessImageSamples => {
                let temp = self.temp();
                self.emit_memory(Opcode::Resq, Dst::new(temp).masked(8), &[resource], memory);
                self.bind_or_move(def, Value { lanes: [3; 4], ..Value::new(temp) });
            }
            ImageDerefLoad | BindlessImageLoad => {
                let address = self.texel(inst, target);
                self.load_memory(def, resource, address, memory);
            }
            _ => {
                let address = self.texel(inst, target);
                return self.select_atomic(inst, resource, address, 3, memory);
            }
        }
        Ok(())
    }

    /// The coordinates of a texel, with the sample in w.
    fn texel(&mut self, inst: Inst, target: TextureTarget) -> Src {
        let coordinate = self.source(inst, 1);
        let count = target.coordinate_components().max(1);
        let lanes = [0, 1, 2, 3].map(|c: u8| if c < count { c } else { 0 });
        if !target.is_msaa() {
            return coordinate.source(lanes);
        }
        let sample = self.source(inst, 2);
        let mut src = coordinate.source(lanes);
        if sample.register == coordinate.register && sample.register.indirect.is_none() {
            src.swizzle[3] = sample.lanes[0];
            return src;
        }
        let temp = self.temp();
        self.emit(Opcode::Mov, Dst::new(temp).masked((1 << count) - 1), &[src]);
        self.emit(Opcode::Mov, Dst::new(temp).masked(8), &[sample.lane(0)]);
        Value::new(temp).source([0, 1, 2, 3])
    }
}
