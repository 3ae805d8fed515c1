//! Queries of sizes, levels and samples.

use spirv::Op;
use tgsi_environment::SamplerDim;
use tgsi_ir::alu::AluType;
use tgsi_ir::body::{Shape, TexOp, TexSrcKind};
use tgsi_ir::intrinsics::IntrinsicOp;

use super::lookup::Lookup;
use super::{Residency, misfit};
use crate::emit::Emitter;
use crate::emit::value::Value;
use crate::error::SpirvError;
use crate::resources::UnitUse;
use crate::words::Inst;

impl Emitter<'_, '_, '_> {
    /// The size of an image in texels; of arrays with the number of layers, of arrays of cubes with that of cubes.
    pub(super) fn query_size(&mut self, op: Op, inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let (value, image) = self.image_operand(inst, inst.word(2))?;
        self.texel_type(inst, false)?;
        self.context.shader.info.uses_resource_info_query = true;
        if let (true, Value::Opaque(pointer)) = (image.is_storage, &value) {
            let access = self.image_access(pointer)?;
            let zero = self.constant(32, &[0]);
            let size = if image.dim == SamplerDim::Cube { 2 } else { image.dim.num_coords() };
            let shape = Shape::new(size + u8::from(image.is_array), 32);
            let indices = access.indices();
            let op = IntrinsicOp::ImageDerefSize;
            let size = self.b.intrinsic_def(op, &[access.deref, zero], &indices, shape);
            return self.texel_result(inst, size, AluType::INT32, Residency::None);
        }
        let level = match op {
            Op::ImageQuerySizeLod => self.one_integer(inst, inst.word(3))?,
            _ => self.constant(32, &[0]),
        };
        let unit = self.unit_access(&value, UnitUse::Query)?;
        let mut lookup = Lookup::new(TexOp::Txs, &unit, self.is_non_uniform(inst.word(2)));
        lookup.data.dest_type = AluType::INT32;
        if !matches!(image.dim, SamplerDim::Rect | SamplerDim::Buf | SamplerDim::Ms) {
            lookup.push(TexSrcKind::Lod, level);
        }
        let size = self.b.texture(lookup.data, &lookup.sources);
        self.texel_result(inst, size, AluType::INT32, Residency::None)
    }

    /// The number of levels or of samples.
    pub(super) fn query_number(&mut self, op: Op, inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let (value, image) = self.image_operand(inst, inst.word(2))?;
        self.texel_type(inst, false)?;
        self.context.shader.info.uses_resource_info_query = true;
        let is_samples = op == Op::ImageQuerySamples;
        if let (true, Value::Opaque(pointer)) = (image.is_storage, &value) {
            let access = self.image_access(pointer)?;
            let indices = access.indices();
            let op = if is_samples { IntrinsicOp::ImageDerefSamples } else { IntrinsicOp::ImageDerefLevels };
            let number = self.b.intrinsic_def(op, &[access.deref], &indices, Shape::new(1, 32));
            return self.texel_result(inst, number, AluType::INT32, Residency::None);
        }
        let unit = self.unit_access(&value, UnitUse::Query)?;
        let op = if is_samples { TexOp::TextureSamples } else { TexOp::QueryLevels };
        let mut lookup = Lookup::new(op, &unit, self.is_non_uniform(inst.word(2)));
        lookup.data.dest_type = AluType::INT32;
        let number = self.b.texture(lookup.data, &lookup.sources);
        self.texel_result(inst, number, AluType::INT32, Residency::None)
    }

    /// The level that a lookup would use, and the one before it is clamped.
    pub(super) fn query_lod(&mut self, inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let (value, image) = self.image_operand(inst, inst.word(2))?;
        self.texel_type(inst, false)?;
        if image.is_subpass || matches!(image.dim, SamplerDim::Buf | SamplerDim::Ms | SamplerDim::Rect) {
            return Err(misfit(inst, "the image has no levels"));
        }
        let unit = self.unit_access(&value, UnitUse::QueryLevel)?;
        let mut lookup = Lookup::new(TexOp::Lod, &unit, self.is_non_uniform(inst.word(2)));
        lookup.data.dest_type = AluType::FLOAT32;
        let coordinate = self.floats(inst, inst.word(3))?;
        let count = image.dim.num_coords();
        let coordinate = self.first_components(inst, coordinate, count)?;
        lookup.data.coord_components = count;
        lookup.push(TexSrcKind::Coord, coordinate);
        let levels = self.b.texture(lookup.data, &lookup.sources);
        self.texel_result(inst, levels, AluType::FLOAT32, Residency::None)
    }
}
