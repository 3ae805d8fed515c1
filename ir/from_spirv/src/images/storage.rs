//! Reads, writes and atomics of images.

use std::rc::Rc;

use arrayvec::ArrayVec;
use tgsi_environment::{PixelFormat, SamplerDim};
use tgsi_ir::Swizzle;
use tgsi_ir::alu::BaseType;
use tgsi_ir::body::Shape;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::indices::{AccessFlags, AtomicOp};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::types::ScalarType;

use super::operands::{self, Operands};
use super::{Residency, alu_type, misfit};
use crate::emit::Emitter;
use crate::emit::pointer::Pointer;
use crate::emit::value::Value;
use crate::error::SpirvError;
use crate::resources::ImageAccess;
use crate::types::{ImageType, TypeData};
use crate::words::Inst;

/// A pointer to a texel of a storage image.
#[derive(Clone, Debug)]
pub(crate) struct TexelPointer {
    /// The pointer to the image.
    image: Pointer,
    /// Four components.
    coordinate: Def,
    sample: Def,
}

/// A texel that an atomic accesses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TexelAccess {
    /// The deref of the image.
    pub(crate) deref: Def,
    /// Four components.
    pub(crate) coordinate: Def,
    pub(crate) sample: Def,
    /// Type of a component of a texel.
    pub(crate) scalar: ScalarType,
    access: ImageAccess,
}

impl ImageAccess {
    /// The indices of all intrinsics on images.
    pub(super) fn indices(&self) -> ArrayVec<(IndexKind, i32), 6> {
        [
            (IndexKind::ImageDim, self.image.dim.to_i32()),
            (IndexKind::ImageArray, i32::from(self.image.is_array)),
            (IndexKind::Format, i32::from(self.image.format.value())),
            (IndexKind::Access, self.access.to_i32()),
        ]
        .into_iter()
        .collect()
    }
}

impl TexelAccess {
    /// Sources of an atomic before its data: the image, the coordinate, the sample.
    pub(crate) fn sources(&self) -> [Def; 3] {
        [self.deref, self.coordinate, self.sample]
    }

    /// The indices of an atomic operation. `access` adds to the flags.
    ///
    /// # Errors
    /// The format of the image is not one of the operation.
    pub(crate) fn atomic_indices(
        &self,
        op: AtomicOp,
        access: AccessFlags,
    ) -> Result<ArrayVec<(IndexKind, i32), 6>, SpirvError> {
        let is_float = op.data_type().base == BaseType::Float;
        let format = self.access.image.format;
        let fits = match format.short_name() {
            "R32_FLOAT" => is_float || op == AtomicOp::Xchg,
            "R32_UINT" | "R32_SINT" => !is_float,
            _ => format == PixelFormat::NONE,
        };
        if !fits {
            let why = "the format of the image has no such atomics";
            return Err(SpirvError::Types { op: "the atomic".to_owned(), why });
        }
        let mut indices = ImageAccess { access: self.access.access.union(access), ..self.access }.indices();
        indices.push((IndexKind::AtomicOp, op.to_i32()));
        Ok(indices)
    }
}

/// Components of a coordinate of a storage image: faces of cubes count like layers.
fn coordinates(image: &ImageType) -> u8 {
    if image.dim == SamplerDim::Cube { 3 } else { image.coordinates() }
}

impl Emitter<'_, '_, '_> {
    /// A coordinate with four components, the last ones of which do not matter.
    fn texel_coordinate(&mut self, inst: &Inst<'_>, id: u32, image: &ImageType) -> Result<Def, SpirvError> {
        let coordinate = self.integers(inst, id)?;
        let count = coordinates(image);
        if self.b.body.num_components(coordinate) < count {
            return Err(misfit(inst, "the coordinate has too few components"));
        }
        let last = count.saturating_sub(1);
        let swizzle = Swizzle::new(&[0, 1.min(last), 2.min(last), 3.min(last)]);
        Ok(self.b.mov(AluSrc::new(coordinate, swizzle), 4))
    }

    fn sample_number(&mut self, inst: &Inst<'_>, image: &ImageType, id: Option<u32>) -> Result<Def, SpirvError> {
        match id.filter(|_| image.is_multisampled) {
            Some(id) => self.one_integer(inst, id),
            None => Ok(self.constant(32, &[0])),
        }
    }

    /// Levels of storage images need another extension of targets.
    fn check_level(&self, inst: &Inst<'_>, operands: &Operands) -> Result<(), SpirvError> {
        match operands.lod {
            Some(id) if self.context.module.integer(id) != Some(0) => {
                let name = crate::grammar::name(inst.op);
                Err(SpirvError::Instruction { name, why: "storage images have one level" })
            }
            _ => Ok(()),
        }
    }

    /// The type of components that an access has.
    fn access_scalar(image: &ImageType, operands: &Operands) -> ScalarType {
        match (image.sampled, operands.is_signed) {
            (ScalarType::Int | ScalarType::Uint, Some(true)) => ScalarType::Int,
            (ScalarType::Int | ScalarType::Uint, Some(false)) => ScalarType::Uint,
            (scalar, _) => scalar,
        }
    }

    /// A read of an image.
    pub(super) fn read(&mut self, inst: &Inst<'_>, is_sparse: bool) -> Result<Value, SpirvError> {
        let (value, image) = self.image_operand(inst, inst.word(2))?;
        let operands = operands::read(inst.rest(4))?;
        if image.is_subpass {
            return self.read_attachment(inst, &value, &image, &operands, is_sparse);
        }
        if !image.is_storage {
            let coordinate = self.integers(inst, inst.word(3))?;
            let coordinate = self.first_components(inst, coordinate, image.coordinates())?;
            return self.fetch_at(inst, &value, &image, coordinate, &operands, is_sparse);
        }
        let Value::Opaque(pointer) = &value else { return Err(misfit(inst, "the operand is not an image")) };
        self.check_level(inst, &operands)?;
        self.texel_type(inst, is_sparse)?;
        let coordinate = self.texel_coordinate(inst, inst.word(3), &image)?;
        let sample = self.sample_number(inst, &image, operands.sample)?;
        let level = self.constant(32, &[0]);
        let mut access = self.image_access(pointer)?;
        access.access = access.access.union(operands.access);
        let ty = alu_type(Self::access_scalar(&image, &operands));
        let mut indices = access.indices();
        indices.push((IndexKind::DestType, ty.to_i32()));
        let residency = self.residency(is_sparse, inst);
        let has_code = residency == Residency::Read;
        let op = if has_code { IntrinsicOp::ImageDerefSparseLoad } else { IntrinsicOp::ImageDerefLoad };
        let shape = Shape::new(4 + u8::from(has_code), 32);
        let texel = self.b.intrinsic_def(op, &[access.deref, coordinate, sample, level], &indices, shape);
        self.texel_result(inst, texel, ty, residency)
    }

    /// A write to an image.
    pub(super) fn write(&mut self, inst: &Inst<'_>) -> Result<(), SpirvError> {
        let (value, image) = self.image_operand(inst, inst.word(0))?;
        let operands = operands::read(inst.rest(3))?;
        let (true, Value::Opaque(pointer)) = (image.is_storage, &value) else {
            return Err(misfit(inst, "the operand is not a storage image"));
        };
        self.check_level(inst, &operands)?;
        let coordinate = self.texel_coordinate(inst, inst.word(1), &image)?;
        let sample = self.sample_number(inst, &image, operands.sample)?;
        let texel = match image.sampled {
            ScalarType::Float => self.floats(inst, inst.word(2))?,
            _ => self.integers(inst, inst.word(2))?,
        };
        let texel = self.padded(texel);
        let level = self.constant(32, &[0]);
        let mut access = self.image_access(pointer)?;
        access.access = access.access.union(operands.access);
        let mut indices = access.indices();
        indices.push((IndexKind::SrcType, alu_type(Self::access_scalar(&image, &operands)).to_i32()));
        self.context.shader.info.writes_memory = true;
        let op = IntrinsicOp::ImageDerefStore;
        self.b.intrinsic(op, &[access.deref, coordinate, sample, texel, level], &indices, None);
        Ok(())
    }

    /// A vector with four components.
    fn padded(&mut self, texel: Def) -> Def {
        let count = self.b.body.num_components(texel);
        if count >= 4 {
            return self.b.mov(AluSrc::new(texel, Swizzle::IDENTITY), 4);
        }
        let zero = self.constant(32, &[0]);
        let parts: ArrayVec<AluSrc, 4> = (0..4)
            .map(|at| if at < count { AluSrc::component(texel, at) } else { AluSrc::component(zero, 0) })
            .collect();
        self.b.vec(&parts)
    }

    /// A pointer to a texel, for atomics.
    pub(super) fn texel_pointer(&mut self, inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let pointer = self.pointer(inst.word(2))?;
        let image = match *self.context.module.types.get(pointer.ty) {
            TypeData::Image(image) if image.is_storage => image,
            _ => return Err(misfit(inst, "the operand is not a pointer to a storage image")),
        };
        let coordinate = self.texel_coordinate(inst, inst.word(3), &image)?;
        let sample = self.sample_number(inst, &image, Some(inst.word(4)))?;
        Ok(Value::Texel(Rc::new(TexelPointer { image: (*pointer).clone(), coordinate, sample })))
    }

    /// The texel that an atomic accesses, with the deref of its image.
    ///
    /// # Errors
    /// The pointer does not lead to a storage image.
    pub(crate) fn texel_access(&mut self, texel: &TexelPointer) -> Result<TexelAccess, SpirvError> {
        let access = self.image_access(&texel.image)?;
        self.context.shader.info.writes_memory = true;
        Ok(TexelAccess {
            deref: access.deref,
            coordinate: texel.coordinate,
            sample: texel.sample,
            scalar: access.image.sampled,
            access,
        })
    }

    /// Reads a texel for an atomic load: one component.
    pub(crate) fn load_texel(&mut self, texel: &TexelAccess, access: AccessFlags) -> Def {
        let mut indices = ImageAccess { access: texel.access.access.union(access), ..texel.access }.indices();
        indices.push((IndexKind::DestType, alu_type(texel.scalar).to_i32()));
        let level = self.constant(32, &[0]);
        let [deref, coordinate, sample] = texel.sources();
        let sources = [deref, coordinate, sample, level];
        let loaded = self.b.intrinsic_def(IntrinsicOp::ImageDerefLoad, &sources, &indices, Shape::new(4, 32));
        self.b.channel(loaded, 0)
    }

    /// Writes a texel for an atomic store. The value is one component of 32 bits.
    pub(crate) fn store_texel(&mut self, texel: &TexelAccess, value: Def, access: AccessFlags) {
        let mut indices = ImageAccess { access: texel.access.access.union(access), ..texel.access }.indices();
        indices.push((IndexKind::SrcType, alu_type(texel.scalar).to_i32()));
        let level = self.constant(32, &[0]);
        let value = self.padded(value);
        let [deref, coordinate, sample] = texel.sources();
        self.b.intrinsic(IntrinsicOp::ImageDerefStore, &[deref, coordinate, sample, value, level], &indices, None);
    }
}
