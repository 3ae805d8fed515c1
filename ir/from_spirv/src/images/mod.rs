//! Images: lookups, fetches, gathers, queries, reads and writes.
//!
//! A value that is an image, a sampler or both is a pointer to where it was loaded from (`Value::Opaque`,
//! `Value::Pair`); an instruction that uses it makes the derefs of its unit (`resources::units`).

mod gather;
mod lookup;
mod operands;
mod query;
mod storage;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use rustc_hash::FxHashSet;
use spirv::Op;
use tgsi_ir::Swizzle;
use tgsi_ir::alu::{AluOp, AluType, BaseType};
use tgsi_ir::body::Shape;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::types::ScalarType;

use crate::alu::is_signed;
use crate::emit::Emitter;
use crate::emit::instructions::Outcome;
use crate::emit::value::Value;
use crate::error::SpirvError;
use crate::grammar;
use crate::module::Module;
use crate::types::{ImageType, TypeData, TypeId};
use crate::words::Inst;

pub(crate) use storage::{TexelAccess, TexelPointer};

/// What an instruction that reads texels does.
#[derive(Clone, Copy, Debug)]
struct Form {
    kind: Kind,
    compares: bool,
    is_projective: bool,
    is_explicit: bool,
    /// The result is a struct of a residency code and the texel.
    is_sparse: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Sample,
    Fetch,
    Gather,
}

/// The residency code of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Residency {
    /// The result has none.
    None,
    /// The result has one that no instruction reads. Some compilers write such results only.
    Unread,
    Read,
}

impl Form {
    fn of(op: Op) -> Option<Form> {
        use Op::*;
        let is_sparse = matches!(
            op,
            ImageSparseSampleImplicitLod
                | ImageSparseSampleExplicitLod
                | ImageSparseSampleDrefImplicitLod
                | ImageSparseSampleDrefExplicitLod
                | ImageSparseSampleProjImplicitLod
                | ImageSparseSampleProjExplicitLod
                | ImageSparseSampleProjDrefImplicitLod
                | ImageSparseSampleProjDrefExplicitLod
                | ImageSparseFetch
                | ImageSparseGather
                | ImageSparseDrefGather
        );
        let (kind, compares, is_projective, is_explicit) = match op {
            ImageSampleImplicitLod | ImageSparseSampleImplicitLod => (Kind::Sample, false, false, false),
            ImageSampleExplicitLod | ImageSparseSampleExplicitLod => (Kind::Sample, false, false, true),
            ImageSampleDrefImplicitLod | ImageSparseSampleDrefImplicitLod => (Kind::Sample, true, false, false),
            ImageSampleDrefExplicitLod | ImageSparseSampleDrefExplicitLod => (Kind::Sample, true, false, true),
            ImageSampleProjImplicitLod | ImageSparseSampleProjImplicitLod => (Kind::Sample, false, true, false),
            ImageSampleProjExplicitLod | ImageSparseSampleProjExplicitLod => (Kind::Sample, false, true, true),
            ImageSampleProjDrefImplicitLod | ImageSparseSampleProjDrefImplicitLod => (Kind::Sample, true, true, false),
            ImageSampleProjDrefExplicitLod | ImageSparseSampleProjDrefExplicitLod => (Kind::Sample, true, true, true),
            ImageFetch | ImageSparseFetch => (Kind::Fetch, false, false, true),
            ImageGather | ImageSparseGather => (Kind::Gather, false, false, false),
            ImageDrefGather | ImageSparseDrefGather => (Kind::Gather, true, false, false),
            _ => return None,
        };
        Some(Form { kind, compares, is_projective, is_explicit, is_sparse })
    }
}

/// An error about operands that do not fit an instruction.
fn misfit(inst: &Inst<'_>, why: &'static str) -> SpirvError {
    SpirvError::Types { op: grammar::name(inst.op), why }
}

/// The type of components in an instruction: 32 bits.
fn alu_type(scalar: ScalarType) -> AluType {
    match scalar {
        ScalarType::Int => AluType::INT32,
        ScalarType::Uint => AluType::UINT32,
        _ => AluType::FLOAT32,
    }
}

/// The results with residency codes whose code may be read: those that are used otherwise than by the extraction of the
/// texel.
fn find_read_codes(module: &Module) -> FxHashSet<u32> {
    let insts = || module.functions.iter().flat_map(|f| &f.blocks).flat_map(|block| module.instructions(block));
    let is_sparse = |op: u16| {
        let op = Op::from_u32(op.into());
        op == Some(Op::ImageSparseRead) || op.and_then(Form::of).is_some_and(|form| form.is_sparse)
    };
    let sparse: FxHashSet<u32> = insts().filter(|inst| is_sparse(inst.op)).map(|inst| inst.word(1)).collect();
    let mut read = FxHashSet::default();
    for inst in insts() {
        // Behind the result, and with it the type.
        let first = if crate::grammar::form(inst.op).is_some_and(|form| form.has_type) { 2 } else { 0 };
        let is_texel = inst.op == Op::CompositeExtract as u16 && inst.word(3) == 1;
        read.extend(inst.rest(first).iter().copied().filter(|word| !is_texel && sparse.contains(word)));
    }
    read
}

impl Emitter<'_, '_, '_> {
    /// Emits an instruction of images.
    ///
    /// # Errors
    /// Operands that do not fit, and what targets lack.
    pub(crate) fn image_group(&mut self, op: Op, inst: &Inst<'_>) -> Result<Outcome, SpirvError> {
        if let Some(form) = Form::of(op) {
            let value = match form.kind {
                Kind::Sample => self.sample(&form, inst)?,
                Kind::Fetch => self.fetch(&form, inst)?,
                Kind::Gather => self.gather(&form, inst)?,
            };
            return Ok(Outcome::Value(value));
        }
        let value = match op {
            Op::SampledImage => {
                let (image, sampler) = (self.opaque(inst.word(2))?, self.opaque(inst.word(3))?);
                match (image, sampler) {
                    (Value::Opaque(image), Value::Opaque(sampler)) => {
                        Value::Pair(Rc::new(((*image).clone(), (*sampler).clone())))
                    }
                    _ => return Err(misfit(inst, "the operands are not an image and a sampler")),
                }
            }
            Op::Image => match self.opaque(inst.word(2))? {
                Value::Pair(pair) => Value::Opaque(Rc::new(pair.0.clone())),
                value => value,
            },
            Op::ImageQuerySizeLod | Op::ImageQuerySize => self.query_size(op, inst)?,
            Op::ImageQueryLevels | Op::ImageQuerySamples => self.query_number(op, inst)?,
            Op::ImageQueryLod => self.query_lod(inst)?,
            Op::ImageRead => self.read(inst, false)?,
            Op::ImageSparseRead => self.read(inst, true)?,
            Op::ImageWrite => {
                self.write(inst)?;
                return Ok(Outcome::Effect);
            }
            Op::ImageTexelPointer => self.texel_pointer(inst)?,
            Op::ImageSparseTexelsResident => {
                let code = self.integers(inst, inst.word(2))?;
                let code = self.first_components(inst, code, 1)?;
                let op = IntrinsicOp::IsSparseTexelsResident;
                let resident = self.b.intrinsic_def(op, &[code], &[], Shape::new(1, 1));
                if self.result_shape(inst) != Shape::new(1, 1) {
                    return Err(misfit(inst, "the result is not a boolean"));
                }
                Value::Vector(resident)
            }
            _ => return Ok(Outcome::Other),
        };
        Ok(Outcome::Value(value))
    }

    /// The image or sampled image of an operand, and its type.
    fn image_operand(&mut self, inst: &Inst<'_>, id: u32) -> Result<(Value, ImageType), SpirvError> {
        let value = self.opaque(id)?;
        let pointer = match &value {
            Value::Opaque(pointer) => &**pointer,
            Value::Pair(pair) => &pair.0,
            _ => return Err(misfit(inst, "the operand is not an image")),
        };
        match *self.context.module.types.get(pointer.ty) {
            TypeData::Image(image) | TypeData::SampledImage(image) => Ok((value, image)),
            _ => Err(misfit(inst, "the operand is not an image")),
        }
    }

    /// Whether an image that an operand leads to may differ between invocations.
    fn is_non_uniform(&self, id: u32) -> bool {
        self.context.module.decorations.has(id, spirv::Decoration::NonUniform)
    }

    /// A vector of floats with 32 bits.
    fn floats(&mut self, inst: &Inst<'_>, id: u32) -> Result<Def, SpirvError> {
        let scalar = self.context.module.types.scalar(self.type_of(id));
        if !scalar.is_some_and(ScalarType::is_float) {
            return Err(misfit(inst, "an operand is not a float"));
        }
        let def = self.vector(id)?;
        Ok(if self.b.body.bit_size(def) == 32 { def } else { self.b.alu(AluOp::F2f32, &[def]) })
    }

    /// A vector of integers with 32 bits.
    fn integers(&mut self, inst: &Inst<'_>, id: u32) -> Result<Def, SpirvError> {
        let scalar = self.context.module.types.scalar(self.type_of(id));
        let Some(scalar) = scalar.filter(|scalar| !scalar.is_float() && *scalar != ScalarType::Bool) else {
            return Err(misfit(inst, "an operand is not an integer"));
        };
        let def = self.vector(id)?;
        Ok(self.to_32_bits(def, is_signed(scalar)))
    }

    /// The first components of a vector.
    fn first_components(&mut self, inst: &Inst<'_>, def: Def, count: u8) -> Result<Def, SpirvError> {
        if self.b.body.num_components(def) < count {
            return Err(misfit(inst, "a vector has too few components"));
        }
        Ok(self.b.mov(AluSrc::new(def, Swizzle::IDENTITY), count))
    }

    /// The type of the texel in the result: the second member of a struct for sparse images.
    fn texel_type(&self, inst: &Inst<'_>, is_sparse: bool) -> Result<(Option<TypeId>, TypeId), SpirvError> {
        let ty = self.context.module.result_type(inst);
        let types = &self.context.module.types;
        let (code, texel) = match (is_sparse, types.get(ty)) {
            (false, _) => (None, ty),
            (true, TypeData::Struct { members, .. }) => match members.as_slice() {
                [code, texel] => (Some(code.ty), texel.ty),
                _ => return Err(misfit(inst, "the result is not a struct of a code and a texel")),
            },
            _ => return Err(misfit(inst, "the result is not a struct of a code and a texel")),
        };
        if types.as_vector(texel).is_none() {
            return Err(misfit(inst, "the result is not a vector"));
        }
        Ok((code, texel))
    }

    /// The result of an instruction from a vector with 32 bits, with the residency code as last component if it is
    /// read.
    fn texel_result(
        &mut self,
        inst: &Inst<'_>,
        texels: Def,
        of: AluType,
        residency: Residency,
    ) -> Result<Value, SpirvError> {
        let (code_type, texel_type) = self.texel_type(inst, residency != Residency::None)?;
        let Some(code_type) = code_type else {
            return Ok(Value::Vector(self.fitted(inst, texels, of, texel_type)?));
        };
        let count = self.b.body.num_components(texels);
        let (code, count) = match residency {
            Residency::Read => (self.b.channel(texels, count.saturating_sub(1)), count.saturating_sub(1)),
            Residency::None | Residency::Unread => (self.undefined(Shape::new(1, 32)), count),
        };
        let code = self.fitted(inst, code, AluType::INT32, code_type)?;
        let texels = self.b.mov(AluSrc::new(texels, Swizzle::IDENTITY), count.max(1));
        let texel = self.fitted(inst, texels, of, texel_type)?;
        Ok(Value::Composite(Rc::from([code, texel].as_slice())))
    }

    /// The residency code of the result of an instruction.
    fn residency(&mut self, is_sparse: bool, inst: &Inst<'_>) -> Residency {
        if !is_sparse {
            return Residency::None;
        }
        if self.context.resources.read_codes.is_none() {
            self.context.resources.read_codes = Some(find_read_codes(self.context.module));
        }
        let is_read = self.context.resources.read_codes.as_ref().is_some_and(|codes| codes.contains(&inst.word(1)));
        if is_read { Residency::Read } else { Residency::Unread }
    }

    /// A vector with the number of components and bits of a type.
    fn fitted(&mut self, inst: &Inst<'_>, def: Def, of: AluType, ty: TypeId) -> Result<Def, SpirvError> {
        let Some((scalar, count)) = self.context.module.types.as_vector(ty) else {
            return Err(misfit(inst, "the result is not a vector"));
        };
        if scalar.is_float() != (of.base == BaseType::Float) || scalar == ScalarType::Bool {
            return Err(misfit(inst, "the image has other texels than the result"));
        }
        let found = self.b.body.num_components(def);
        let def = if count <= found {
            self.b.mov(AluSrc::new(def, Swizzle::IDENTITY), count)
        } else {
            let zero = self.constant(32, &[0]);
            let parts: arrayvec::ArrayVec<AluSrc, 16> = (0..count.min(16))
                .map(|at| AluSrc::component(if at < found { def } else { zero }, if at < found { at } else { 0 }))
                .collect();
            self.b.vec(&parts)
        };
        let signed = of.base == BaseType::Int;
        let op = match (scalar.is_float(), scalar.bit_size()) {
            (_, 32) => return Ok(def),
            (true, 16) => AluOp::F2f16,
            (true, _) => AluOp::F2f64,
            (false, 8) => AluOp::U2u8,
            (false, 16) => AluOp::U2u16,
            (false, _) if signed => AluOp::I2i64,
            (false, _) => AluOp::U2u64,
        };
        Ok(self.b.alu(op, &[def]))
    }
}
