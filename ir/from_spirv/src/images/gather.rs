//! Gathers.

use arrayvec::ArrayVec;
use tgsi_environment::SamplerDim;
use tgsi_ir::body::{TexOp, TexSrcKind};
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::Def;

use super::lookup::Lookup;
use super::{Form, Residency, misfit, operands};
use crate::emit::Emitter;
use crate::emit::value::Value;
use crate::error::SpirvError;
use crate::resources::UnitUse;
use crate::words::Inst;

impl Emitter<'_, '_, '_> {
    /// A gather of a component of four texels, or of four comparisons.
    pub(super) fn gather(&mut self, form: &Form, inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let (value, image) = self.image_operand(inst, inst.word(2))?;
        if image.is_subpass || !matches!(image.dim, SamplerDim::Dim2D | SamplerDim::Cube | SamplerDim::Rect) {
            return Err(misfit(inst, "only images of two dimensions and cubes are gathered"));
        }
        let operands = operands::read(inst.rest(5))?;
        if operands.bias.is_some() || operands.lod.is_some() || operands.min_lod.is_some() {
            let name = crate::grammar::name(inst.op);
            return Err(SpirvError::Instruction { name, why: "gathers have no levels" });
        }
        let unit = self.unit_access(&value, UnitUse::Sample { compares: form.compares })?;
        let mut lookup = Lookup::new(TexOp::Tg4, &unit, self.is_non_uniform(inst.word(2)));
        self.coordinate(form, inst, &image, &mut lookup)?;
        if form.compares {
            let reference = self.one_float(inst, inst.word(4))?;
            lookup.push(TexSrcKind::Comparator, reference);
            lookup.data.is_shadow = true;
            lookup.data.is_new_style_shadow = true;
        } else {
            let component = self.integer(inst.word(4))?;
            if component > 3 {
                return Err(SpirvError::Value { what: "the component of a gather", value: component.into() });
            }
            lookup.data.component = component as u8;
        }
        let residency = self.residency(form.is_sparse, inst);
        lookup.data.is_sparse = residency == Residency::Read;
        self.texel_type(inst, form.is_sparse)?;
        self.context.shader.info.uses_texture_gather = true;
        let texels = match operands.offsets {
            None => {
                self.offset(inst, &image, &operands, &mut lookup)?;
                self.b.texture(lookup.data, &lookup.sources)
            }
            Some(_) if image.dim == SamplerDim::Cube => return Err(misfit(inst, "cubes have no offsets")),
            Some(id) => match self.known_offsets(inst, id)? {
                Some(offsets) => {
                    lookup.data.tg4_offsets = offsets;
                    self.b.texture(lookup.data, &lookup.sources)
                }
                None => self.gather_each(inst, &lookup, id)?,
            },
        };
        self.texel_result(inst, texels, lookup.data.dest_type, residency)
    }

    /// Gathers with offsets that are not constant, or too large: each texel is the last one, that at the coordinate, of
    /// a gather at its offset.
    fn gather_each(&mut self, inst: &Inst<'_>, lookup: &Lookup, id: u32) -> Result<Def, SpirvError> {
        let signed = self.context.module.types.without_arrays(self.type_of(id));
        let scalar = self.context.module.types.scalar(signed);
        let Some(scalar) = scalar.filter(|scalar| !scalar.is_float()) else {
            return Err(misfit(inst, "offsets are not integers"));
        };
        let leaves = self.leaves(id)?;
        if leaves.len() != 4 {
            return Err(misfit(inst, "there are not four offsets"));
        }
        let mut texels: ArrayVec<AluSrc, 5> = ArrayVec::new();
        let mut code = None;
        for &offset in leaves.iter() {
            let offset = self.to_32_bits(offset, crate::alu::is_signed(scalar));
            let offset = self.first_components(inst, offset, lookup.data.dim.num_coords())?;
            let mut sources = lookup.sources.clone();
            let _ = sources.try_push((TexSrcKind::Offset, offset));
            let gathered = self.b.texture(lookup.data, &sources);
            let _ = texels.try_push(AluSrc::component(gathered, 3));
            code = code.or(lookup.data.is_sparse.then_some(AluSrc::component(gathered, 4)));
        }
        texels.extend(code);
        Ok(self.b.vec(&texels))
    }
}
