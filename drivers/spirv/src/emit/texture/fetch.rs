//! Fetches: one texel by integer coordinates. Out-of-range fetches give zero. Without robust image access that requires
//! explicit checks of each coordinate against the size, the level against the number of levels, and the sample against
//! the number of samples.

use smallvec::SmallVec;
use spirv::{ImageOperands, Op};
use tgsi_environment::SamplerDim;
use tgsi_ir::body::{TexData, TexSrcKind};
use tgsi_ir::{Def, Inst, Swizzle};

use super::lookup::Operands;
use super::units::{Element, Unit};
use super::variables::TextureShape;
use crate::emit::Emitter;
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

impl Emitter<'_> {
    /// Emits `txf`, `txf_ms`.
    pub(super) fn emit_texture_fetch(&mut self, inst: Inst, def: Def, tex: &TexData) -> Result<(), SpirvError> {
        let body = self.body;
        if body.tex_src(inst, TexSrcKind::Offset).is_some() {
            return Err(SpirvError::NotLowered { inst, what: "an offset of a fetch" });
        }
        let unit = self.texture_unit(inst)?;
        let mut shape = self.texture_shape(inst, &unit, tex)?;
        if shape.dim == SamplerDim::Cube {
            // SPIR-V cannot fetch from cubes: the host binds the faces as layers.
            shape.dim = SamplerDim::Dim2D;
            shape.array = true;
        }
        let ty = ValueType::new(shape.class, 32, 4);
        if shape.dim == SamplerDim::Buf && self.options.wgsl {
            let coordinate = self.fetch_coordinate(inst, shape, Class::Uint)?;
            let id = self.fetch_from_block(inst, &unit, ty, coordinate)?;
            self.define_texel(def, id, ty);
            return Ok(());
        }
        let id = self.at_element(&unit, ty, &mut |e, element| {
            if e.options.robust {
                return e.fetch_texel(inst, shape, &unit, element, ty);
            }
            let exists = e.texel_exists(inst, shape, &unit, element)?;
            e.if_then_value(exists, ty, |e| e.fetch_texel(inst, shape, &unit, element, ty))
        })?;
        self.define_texel(def, id, ty);
        Ok(())
    }

    fn fetch_texel(
        &mut self,
        inst: Inst,
        shape: TextureShape,
        unit: &Unit,
        element: Element,
        ty: ValueType,
    ) -> Result<Id, SpirvError> {
        let coordinate = self.fetch_coordinate(inst, shape, Class::Int)?;
        let image = self.load_texture(shape, unit, element);
        let mut operands = Operands::default();
        if shape.has_levels() {
            let level = match self.tex_source(inst, TexSrcKind::Lod, Class::Int)? {
                Some(level) => level,
                None => self.module.int(0),
            };
            operands.push(ImageOperands::LOD, &[level]);
        }
        if shape.is_multisampled() {
            let sample = match self.tex_source(inst, TexSrcKind::MsIndex, Class::Int)? {
                Some(sample) => sample,
                None => self.module.int(0),
            };
            operands.push(ImageOperands::SAMPLE, &[sample]);
        }
        let mut words: SmallVec<[u32; 12]> = smallvec::smallvec![image.0, coordinate.0];
        operands.append(&mut words);
        let ty = self.module.value_type(ty);
        Ok(self.result(Op::ImageFetch, ty, &words))
    }

    fn fetch_coordinate(&mut self, inst: Inst, shape: TextureShape, class: Class) -> Result<Id, SpirvError> {
        let body = self.body;
        match body.tex_src(inst, TexSrcKind::Coord) {
            Some(source) => self.swizzled(body.src_def(source), Swizzle::IDENTITY, shape.components(), class),
            None => Err(SpirvError::Unsupported { inst, what: "a fetch without a coordinate" }),
        }
    }

    /// Emits whether the fetched texel exists.
    fn texel_exists(
        &mut self,
        inst: Inst,
        shape: TextureShape,
        unit: &Unit,
        element: Element,
    ) -> Result<Id, SpirvError> {
        let body = self.body;
        let image = self.load_texture(shape, unit, element);
        let level = self.tex_source(inst, TexSrcKind::Lod, Class::Int)?;
        let size = self.texture_size(shape, image, level);
        let coordinate = self.fetch_coordinate(inst, shape, Class::Uint)?;
        let mut exists = self.all_below(coordinate, size, shape.components());
        if let Some(level) = self.level_exists(inst, shape, image)? {
            exists = self.pure_of(Op::LogicalAnd, ValueType::BOOL, &[exists, level]);
        }
        if let Some(source) = body.tex_src(inst, TexSrcKind::MsIndex) {
            let sample = body.src_def(source);
            // A language without this query leaves the check to the device.
            if self.options.level_and_sample_queries && body.constant_component(sample, 0) != Some(0) {
                let sample = self.component(sample, 0, Class::Uint)?;
                let ty = self.module.value_type(ValueType::UINT);
                let samples = self.result(Op::ImageQuerySamples, ty, &[image.0]);
                let below = self.is_below(sample, samples);
                exists = self.pure_of(Op::LogicalAnd, ValueType::BOOL, &[exists, below]);
            }
        }
        Ok(exists)
    }

    /// Emits whether each of `count` unsigned components of a coordinate is below that of a signed size.
    pub fn all_below(&mut self, coordinate: Id, size: Id, count: u8) -> Id {
        let size = self.pure_of(Op::Bitcast, ValueType::new(Class::Uint, 32, count), &[size]);
        if count == 1 {
            return self.is_below(coordinate, size);
        }
        let below = self.pure_of(Op::ULessThan, ValueType::new(Class::Bool, 1, count), &[coordinate, size]);
        self.pure_of(Op::All, ValueType::BOOL, &[below])
    }
}
