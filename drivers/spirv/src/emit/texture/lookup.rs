//! Lookups with a sampler: filtering, comparison, gathers.

use smallvec::SmallVec;
use spirv::{Capability, ImageOperands, Op};
use tgsi_ir::body::{DEFAULT_TG4_OFFSETS, TexData, TexOp, TexSrcKind};
use tgsi_ir::{Def, Inst};

use super::units::{Element, Index, Unit};
use super::variables::TextureShape;
use crate::emit::Emitter;
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

/// Optional operands of an image instruction, in the order of their mask bits.
#[derive(Debug, Default)]
pub struct Operands {
    mask: u32,
    ids: SmallVec<[u32; 6]>,
}

impl Operands {
    /// Adds an operand. Operands must be added in the order of their bits.
    pub fn push(&mut self, kind: ImageOperands, ids: &[Id]) {
        debug_assert!(self.mask < kind.bits());
        self.mask |= kind.bits();
        self.ids.extend(ids.iter().map(|id| id.0));
    }

    /// Appends mask and operands to the words of an instruction.
    pub fn append(&self, words: &mut SmallVec<[u32; 12]>) {
        if self.mask != 0 {
            words.push(self.mask);
            words.extend_from_slice(&self.ids);
        }
    }
}

impl<'a> Emitter<'a> {
    /// Returns a source of a lookup with all its components.
    pub(super) fn tex_source(&mut self, inst: Inst, kind: TexSrcKind, class: Class) -> Result<Option<Id>, SpirvError> {
        let body = self.body;
        body.tex_src(inst, kind).map(|source| self.value(body.src_def(source), class)).transpose()
    }

    fn tex_needed(&mut self, inst: Inst, kind: TexSrcKind, class: Class) -> Result<Id, SpirvError> {
        self.tex_source(inst, kind, class)?
            .ok_or(SpirvError::Unsupported { inst, what: "a lookup without a required operand" })
    }

    /// Emits a value for the texture and sampler of a lookup; zero if they do not exist.
    pub(super) fn of_sampled(
        &mut self,
        inst: Inst,
        tex: &TexData,
        ty: ValueType,
        inner: &mut dyn FnMut(&mut Emitter<'a>, Id) -> Result<Id, SpirvError>,
    ) -> Result<Id, SpirvError> {
        let texture = self.texture_unit(inst)?;
        let sampler = self.sampler_unit(inst)?;
        let shape = self.texture_shape(inst, &texture, tex)?;
        let compares = tex.is_shadow;
        let is_same = match (texture.index, sampler.index) {
            (Index::Constant(a), Index::Constant(b)) => a == b,
            (Index::Dynamic { def: a, .. }, Index::Dynamic { def: b, .. }) => a == b,
            _ => false,
        } && texture.count == sampler.count;
        if is_same || !self.has_separate_samplers() {
            return self.of_element(&texture, ty, &mut |e, element| {
                let sampled = e.load_sampled(shape, (&texture, element), (&sampler, element), compares);
                inner(e, sampled)
            });
        }
        self.of_element(&texture, ty, &mut |e, element| {
            e.of_both(shape, (&texture, element), &sampler, compares, ty, inner)
        })
    }

    fn of_both(
        &mut self,
        shape: TextureShape,
        texture: (&Unit, Element),
        sampler: &Unit,
        compares: bool,
        ty: ValueType,
        inner: &mut dyn FnMut(&mut Emitter<'a>, Id) -> Result<Id, SpirvError>,
    ) -> Result<Id, SpirvError> {
        self.of_element(sampler, ty, &mut |e, element| {
            let sampled = e.load_sampled(shape, texture, (sampler, element), compares);
            inner(e, sampled)
        })
    }

    /// Returns the result type: a scalar for comparisons, else four components.
    fn lookup_type(&mut self, inst: Inst, tex: &TexData) -> Result<ValueType, SpirvError> {
        if tex.is_shadow {
            return Ok(ValueType::FLOAT);
        }
        let unit = self.texture_unit(inst)?;
        let shape = self.texture_shape(inst, &unit, tex)?;
        Ok(ValueType::new(shape.class, 32, 4))
    }

    /// Defines the result of a lookup with as many components as the value has. A scalar is repeated.
    pub(in crate::emit) fn define_texel(&mut self, def: Def, id: Id, ty: ValueType) {
        let count = self.body.num_components(def);
        let id = self.take(id, ty, tgsi_ir::Swizzle::IDENTITY, count);
        self.define(def, id, ty.class);
    }

    /// Emits `tex`, `txb`, `txl`, `txd`.
    pub(super) fn emit_texture_sample(&mut self, inst: Inst, def: Def, tex: &TexData) -> Result<(), SpirvError> {
        let body = self.body;
        let mut coordinate = self.tex_needed(inst, TexSrcKind::Coord, Class::Float)?;
        if body.tex_src(inst, TexSrcKind::Projector).is_some() {
            return Err(SpirvError::NotLowered { inst, what: "a projector" });
        }
        let mut operands = Operands::default();
        match tex.op {
            TexOp::Txb => {
                let bias = self.tex_needed(inst, TexSrcKind::Bias, Class::Float)?;
                operands.push(ImageOperands::BIAS, &[bias]);
            }
            TexOp::Txl => {
                let level = self.tex_needed(inst, TexSrcKind::Lod, Class::Float)?;
                operands.push(ImageOperands::LOD, &[level]);
            }
            TexOp::Txd => {
                let x = self.tex_needed(inst, TexSrcKind::Ddx, Class::Float)?;
                let y = self.tex_needed(inst, TexSrcKind::Ddy, Class::Float)?;
                operands.push(ImageOperands::GRAD, &[x, y]);
            }
            _ => {}
        }
        if let Some(source) = body.tex_src(inst, TexSrcKind::Offset) {
            if body.def_constant(body.src_def(source)).is_none() {
                return Err(SpirvError::NotLowered { inst, what: "an offset that is not constant" });
            }
            let offset = self.value(body.src_def(source), Class::Int)?;
            operands.push(ImageOperands::CONST_OFFSET, &[offset]);
        }
        if let Some(minimum) = self.tex_source(inst, TexSrcKind::MinLod, Class::Float)? {
            if tex.op == TexOp::Txl {
                return Err(SpirvError::NotLowered { inst, what: "a minimum level with an explicit level" });
            }
            if self.options.portable {
                return Err(SpirvError::Unsupported { inst, what: "a minimum level of detail" });
            }
            self.module.need(Capability::MinLod);
            operands.push(ImageOperands::MIN_LOD, &[minimum]);
        }
        let comparator =
            if tex.is_shadow { Some(self.tex_needed(inst, TexSrcKind::Comparator, Class::Float)?) } else { None };
        let explicit = matches!(tex.op, TexOp::Txl | TexOp::Txd);
        // GLSL's comparing 1D lookups skip the second coordinate component, which SPIRV-Cross omits, except in
        // projective lookups.
        let divides = self.options.portable
            && self.options.opengl
            && tex.is_shadow
            && !tex.is_array
            && tex.dim == tgsi_environment::SamplerDim::Dim1D;
        if divides {
            let pair = ValueType::FLOAT.with_components(2);
            let one = self.module.float(1.0);
            coordinate = self.pure_of(Op::CompositeConstruct, pair, &[coordinate, one]);
        }
        let op = match (explicit, comparator.is_some()) {
            (false, true) if divides => Op::ImageSampleProjDrefImplicitLod,
            (true, true) if divides => Op::ImageSampleProjDrefExplicitLod,
            (false, false) => Op::ImageSampleImplicitLod,
            (false, true) => Op::ImageSampleDrefImplicitLod,
            (true, false) => Op::ImageSampleExplicitLod,
            (true, true) => Op::ImageSampleDrefExplicitLod,
        };
        let ty = self.lookup_type(inst, tex)?;
        let id = self.of_sampled(inst, tex, ty, &mut |e, sampled| {
            let mut words: SmallVec<[u32; 12]> = smallvec::smallvec![sampled.0, coordinate.0];
            words.extend(comparator.map(|id| id.0));
            operands.append(&mut words);
            let ty = e.module.value_type(ty);
            Ok(e.result(op, ty, &words))
        })?;
        self.define_texel(def, id, ty);
        Ok(())
    }

    /// Emits `tg4`.
    pub(super) fn emit_texture_gather(&mut self, inst: Inst, def: Def, tex: &TexData) -> Result<(), SpirvError> {
        let body = self.body;
        for kind in [TexSrcKind::Bias, TexSrcKind::Lod, TexSrcKind::MinLod, TexSrcKind::Projector] {
            if body.tex_src(inst, kind).is_some() {
                return Err(SpirvError::Unsupported { inst, what: "a gather from a level other than the first" });
            }
        }
        let class = match self.lookup_type(inst, tex)? {
            ty if tex.is_shadow => ty.class,
            ty => ty.class,
        };
        let ty = ValueType::new(class, 32, 4);
        if tex.tg4_offsets == DEFAULT_TG4_OFFSETS {
            let mut operands = Operands::default();
            if let Some(source) = body.tex_src(inst, TexSrcKind::Offset) {
                let offset = body.src_def(source);
                let id = self.value(offset, Class::Int)?;
                if body.def_constant(offset).is_some() {
                    operands.push(ImageOperands::CONST_OFFSET, &[id]);
                } else {
                    self.module.need(Capability::ImageGatherExtended);
                    operands.push(ImageOperands::OFFSET, &[id]);
                }
            }
            let id = self.texture_gather_once(inst, tex, ty, &operands)?;
            self.define_texel(def, id, ty);
            return Ok(());
        }
        let vector = ValueType::new(Class::Int, 32, 2);
        let offsets: SmallVec<[Id; 4]> = tex
            .tg4_offsets
            .iter()
            .map(|texel| self.module.constant(vector, &texel.map(|offset| u64::from(i32::from(offset) as u32))))
            .collect();
        let id = if self.options.portable {
            // Each texel is the last component of a gather at its offset.
            let mut texels: SmallVec<[u32; 4]> = SmallVec::new();
            for &offset in &offsets {
                let mut operands = Operands::default();
                operands.push(ImageOperands::CONST_OFFSET, &[offset]);
                let gathered = self.texture_gather_once(inst, tex, ty, &operands)?;
                texels.push(self.take(gathered, ty, tgsi_ir::Swizzle::replicate(3), 1).0);
            }
            let ty = self.module.value_type(ty);
            self.result(Op::CompositeConstruct, ty, &texels)
        } else {
            let vector = self.module.value_type(vector);
            let array = self.module.array_type(vector, 4, None);
            let words: SmallVec<[u32; 4]> = offsets.iter().map(|id| id.0).collect();
            let offsets = self.module.constant_of(Op::ConstantComposite, array, &words);
            self.module.need(Capability::ImageGatherExtended);
            let mut operands = Operands::default();
            operands.push(ImageOperands::CONST_OFFSETS, &[offsets]);
            self.texture_gather_once(inst, tex, ty, &operands)?
        };
        self.define_texel(def, id, ty);
        Ok(())
    }

    fn texture_gather_once(
        &mut self,
        inst: Inst,
        tex: &TexData,
        ty: ValueType,
        operands: &Operands,
    ) -> Result<Id, SpirvError> {
        let coordinate = self.tex_needed(inst, TexSrcKind::Coord, Class::Float)?;
        let (op, last) = if tex.is_shadow {
            (Op::ImageDrefGather, self.tex_needed(inst, TexSrcKind::Comparator, Class::Float)?)
        } else {
            (Op::ImageGather, self.module.uint(u32::from(tex.component & 3)))
        };
        self.of_sampled(inst, tex, ty, &mut |e, sampled| {
            let mut words: SmallVec<[u32; 12]> = smallvec::smallvec![sampled.0, coordinate.0, last.0];
            operands.append(&mut words);
            let ty = e.module.value_type(ty);
            Ok(e.result(op, ty, &words))
        })
    }
}
