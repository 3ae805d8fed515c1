//! Lookups and fetches.

use arrayvec::ArrayVec;
use tgsi_environment::SamplerDim;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::{Shape, TexData, TexOp, TexSrcKind};
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::shader::ShaderStage;

use super::operands::{self, Operands};
use super::{Form, Residency, alu_type, misfit};
use crate::emit::Emitter;
use crate::emit::value::Value;
use crate::error::SpirvError;
use crate::resources::{UnitAccess, UnitUse};
use crate::types::ImageType;
use crate::words::Inst;

/// An instruction under construction.
pub(super) struct Lookup {
    pub(super) data: TexData,
    pub(super) sources: ArrayVec<(TexSrcKind, Def), 16>,
}

impl Lookup {
    /// An instruction on a unit, without other sources.
    pub(super) fn new(op: TexOp, unit: &UnitAccess, is_non_uniform: bool) -> Lookup {
        let mut data = TexData::new(op, unit.image.dim, alu_type(unit.image.sampled));
        data.is_array = unit.image.is_array;
        data.texture_non_uniform = is_non_uniform;
        data.sampler_non_uniform = is_non_uniform && unit.sampler.is_some();
        let mut lookup = Lookup { data, sources: ArrayVec::new() };
        lookup.push(TexSrcKind::TextureDeref, unit.texture);
        if let Some(sampler) = unit.sampler {
            lookup.push(TexSrcKind::SamplerDeref, sampler);
        }
        lookup
    }

    pub(super) fn push(&mut self, kind: TexSrcKind, def: Def) {
        // There are fewer kinds of sources than places.
        let _ = self.sources.try_push((kind, def));
    }
}

impl Emitter<'_, '_, '_> {
    /// A lookup.
    pub(super) fn sample(&mut self, form: &Form, inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let (value, image) = self.image_operand(inst, inst.word(2))?;
        let is_sampled = !image.is_subpass && !matches!(image.dim, SamplerDim::Buf | SamplerDim::Ms);
        if !is_sampled {
            return Err(misfit(inst, "texels of the image are fetched, not looked up"));
        }
        let operands = operands::read(inst.rest(if form.compares { 5 } else { 4 }))?;
        let (op, level) = self.level(form, inst, &operands)?;
        let unit = self.unit_access(&value, UnitUse::Sample { compares: form.compares })?;
        let mut lookup = Lookup::new(op, &unit, self.is_non_uniform(inst.word(2)));
        self.coordinate(form, inst, &image, &mut lookup)?;
        if let Some((kind, def)) = level {
            lookup.push(kind, def);
        }
        if let Some([x, y]) = operands.gradients.filter(|_| op == TexOp::Txd) {
            for (kind, id) in [(TexSrcKind::Ddx, x), (TexSrcKind::Ddy, y)] {
                let gradient = self.floats(inst, id)?;
                let gradient = self.first_components(inst, gradient, image.dim.num_coords())?;
                lookup.push(kind, gradient);
            }
        }
        if form.compares {
            let reference = self.one_float(inst, inst.word(4))?;
            lookup.push(TexSrcKind::Comparator, reference);
            lookup.data.is_shadow = true;
            lookup.data.is_new_style_shadow = true;
        }
        self.offset(inst, &image, &operands, &mut lookup)?;
        // Levels below 0 are magnified like level 0.
        if let Some(id) = operands.min_lod.filter(|&id| !self.is_zero(id)) {
            let least = self.one_float(inst, id)?;
            lookup.push(TexSrcKind::MinLod, least);
        }
        let residency = self.residency(form.is_sparse, inst);
        lookup.data.is_sparse = residency == Residency::Read;
        self.texel_type(inst, form.is_sparse)?;
        let texels = self.b.texture(lookup.data, &lookup.sources);
        self.texel_result(inst, texels, lookup.data.dest_type, residency)
    }

    /// The operation, and its source for the level.
    fn level(
        &mut self,
        form: &Form,
        inst: &Inst<'_>,
        operands: &Operands,
    ) -> Result<(TexOp, Option<(TexSrcKind, Def)>), SpirvError> {
        if form.is_explicit {
            return match (operands.lod, operands.gradients) {
                (_, Some(_)) => Ok((TexOp::Txd, None)),
                (Some(lod), None) => Ok((TexOp::Txl, Some((TexSrcKind::Lod, self.one_float(inst, lod)?)))),
                (None, None) => Err(misfit(inst, "there is no level")),
            };
        }
        let bias = operands.bias.map(|bias| self.one_float(inst, bias)).transpose()?;
        if self.has_derivatives() {
            return Ok(match bias {
                Some(bias) => (TexOp::Txb, Some((TexSrcKind::Bias, bias))),
                None => (TexOp::Tex, None),
            });
        }
        // Without derivatives, the level is 0 before the bias.
        let level = match bias {
            Some(bias) => bias,
            None => self.constant(32, &[0]),
        };
        Ok((TexOp::Txl, Some((TexSrcKind::Lod, level))))
    }

    /// Adds the coordinate, and the divisor behind it.
    pub(super) fn coordinate(
        &mut self,
        form: &Form,
        inst: &Inst<'_>,
        image: &ImageType,
        lookup: &mut Lookup,
    ) -> Result<(), SpirvError> {
        let whole = self.floats(inst, inst.word(3))?;
        let count = image.coordinates();
        if form.is_projective && image.is_array {
            return Err(misfit(inst, "arrays have no projective coordinates"));
        }
        let coordinate = self.first_components(inst, whole, count)?;
        lookup.data.coord_components = count;
        lookup.push(TexSrcKind::Coord, coordinate);
        if form.is_projective {
            if self.b.body.num_components(whole) <= count {
                return Err(misfit(inst, "the coordinate has no divisor"));
            }
            let divisor = self.b.channel(whole, count);
            lookup.push(TexSrcKind::Projector, divisor);
        }
        Ok(())
    }

    /// Whether an operand is a constant without bits.
    fn is_zero(&self, id: u32) -> bool {
        self.known_bits(id).is_some_and(|bits| bits.iter().all(|&bits| bits == 0))
    }

    /// Adds the offset.
    pub(super) fn offset(
        &mut self,
        inst: &Inst<'_>,
        image: &ImageType,
        operands: &Operands,
        lookup: &mut Lookup,
    ) -> Result<(), SpirvError> {
        let Some(id) = operands.offset else { return Ok(()) };
        if self.is_zero(id) {
            return Ok(());
        }
        if image.dim == SamplerDim::Cube {
            return Err(misfit(inst, "cubes have no offsets"));
        }
        let offset = self.integers(inst, id)?;
        let offset = self.first_components(inst, offset, image.dim.num_coords())?;
        lookup.push(TexSrcKind::Offset, offset);
        Ok(())
    }

    /// A fetch of a texel.
    pub(super) fn fetch(&mut self, form: &Form, inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let (value, image) = self.image_operand(inst, inst.word(2))?;
        if image.is_storage || image.is_subpass {
            return self.read(inst, form.is_sparse);
        }
        let operands = operands::read(inst.rest(4))?;
        let coordinate = self.integers(inst, inst.word(3))?;
        let coordinate = self.first_components(inst, coordinate, image.coordinates())?;
        self.fetch_at(inst, &value, &image, coordinate, &operands, form.is_sparse)
    }

    /// A fetch at a coordinate of as many components as the image has.
    pub(super) fn fetch_at(
        &mut self,
        inst: &Inst<'_>,
        value: &Value,
        image: &ImageType,
        coordinate: Def,
        operands: &Operands,
        is_sparse: bool,
    ) -> Result<Value, SpirvError> {
        if image.dim == SamplerDim::Cube {
            return Err(misfit(inst, "texels of cubes cannot be fetched"));
        }
        let op = if image.dim == SamplerDim::Ms { TexOp::TxfMs } else { TexOp::Txf };
        let last = match (op, operands.sample, operands.lod) {
            (TexOp::TxfMs, Some(id), _) | (TexOp::Txf, _, Some(id)) => self.one_integer(inst, id)?,
            _ => self.constant(32, &[0]),
        };
        let unit = self.unit_access(value, UnitUse::Fetch)?;
        let mut lookup = Lookup::new(op, &unit, self.is_non_uniform(inst.word(2)));
        lookup.data.coord_components = image.coordinates();
        lookup.push(TexSrcKind::Coord, coordinate);
        lookup.push(if op == TexOp::TxfMs { TexSrcKind::MsIndex } else { TexSrcKind::Lod }, last);
        self.offset(inst, image, operands, &mut lookup)?;
        let residency = self.residency(is_sparse, inst);
        lookup.data.is_sparse = residency == Residency::Read;
        self.texel_type(inst, is_sparse)?;
        let texels = self.b.texture(lookup.data, &lookup.sources);
        self.texel_result(inst, texels, lookup.data.dest_type, residency)
    }

    /// A read of an input attachment: the texel at the fragment. The coordinate is an offset, which is always 0.
    pub(super) fn read_attachment(
        &mut self,
        inst: &Inst<'_>,
        value: &Value,
        image: &ImageType,
        operands: &Operands,
        is_sparse: bool,
    ) -> Result<Value, SpirvError> {
        if self.context.stage != ShaderStage::Fragment {
            return Err(misfit(inst, "only fragment shaders have input attachments"));
        }
        let position = self.b.intrinsic_def(IntrinsicOp::LoadFragCoord, &[], &[], Shape::new(4, 32));
        let position = self.first_components(inst, position, 2)?;
        let mut coordinate = self.b.alu(AluOp::F2i32, &[position]);
        if image.is_array {
            let (x, y) = (self.b.channel(coordinate, 0), self.b.channel(coordinate, 1));
            let layer = self.constant(32, &[0]);
            coordinate = self.b.vec_of(&[x, y, layer]);
        }
        let operands = Operands { offset: None, lod: None, ..*operands };
        self.fetch_at(inst, value, image, coordinate, &operands, is_sparse)
    }
}
