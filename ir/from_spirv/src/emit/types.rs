//! Types of the IR.

use spirv::Decoration;
use tgsi_ir::entities::Type as IrType;
use tgsi_ir::intrinsics::indices::AccessFlags;
use tgsi_ir::types::{Field, ScalarType, TypeData as IrTypeData};
use tgsi_ir::variable::VariableModes;

use super::Context;
use crate::types::{TypeData, TypeId};

/// The properties that the IR type of a type depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct TypeKey {
    ty: TypeId,
    /// Whether offsets and strides are those of the decorations.
    has_layout: bool,
    /// Of the member that the type is part of.
    matrix_stride: u32,
    row_major: bool,
}

impl Context<'_> {
    /// The IR type of a type without layout.
    pub(crate) fn ir_type(&mut self, ty: TypeId) -> IrType {
        self.ir_type_of(TypeKey { ty, has_layout: false, matrix_stride: 0, row_major: false })
    }

    /// The IR type of a type with the offsets and strides of its decorations.
    pub(crate) fn laid_out_type(&mut self, ty: TypeId) -> IrType {
        self.ir_type_of(TypeKey { ty, has_layout: true, matrix_stride: 0, row_major: false })
    }

    /// Types nest at most as deep as the limit.
    fn ir_type_of(&mut self, key: TypeKey) -> IrType {
        if let Some(&known) = self.ir_types.get(&key) {
            return known;
        }
        let data = match self.module.types.get(key.ty).clone() {
            TypeData::Vector { scalar, count } => IrTypeData::Vector { scalar, components: count },
            // The rows of a row-major matrix are the columns of its transpose.
            TypeData::Matrix { scalar, columns, rows } => {
                let (columns, rows) = if key.row_major { (rows, columns) } else { (columns, rows) };
                IrTypeData::Matrix { scalar, columns, rows, stride: key.matrix_stride, row_major: false }
            }
            TypeData::Array { element, length, stride } => {
                let element = self.ir_type_of(TypeKey { ty: element, ..key });
                IrTypeData::Array { element, length, stride: if key.has_layout { stride } else { 0 } }
            }
            TypeData::Struct { id, members } => {
                let mut fields = Vec::with_capacity(members.len());
                for (number, member) in members.iter().enumerate() {
                    let inner = TypeKey {
                        ty: member.ty,
                        matrix_stride: if key.has_layout { member.matrix_stride } else { 0 },
                        row_major: key.has_layout && member.row_major,
                        ..key
                    };
                    let offset = member.offset.filter(|_| key.has_layout);
                    let name = self.module.member_names.get(&(id, number as u32));
                    let name = name.filter(|name| !name.is_empty()).cloned();
                    fields.push(Field {
                        name: name.unwrap_or_else(|| format!("member_{number}")),
                        ty: self.ir_type_of(inner),
                        offset: offset.and_then(|offset| i32::try_from(offset).ok()).unwrap_or(-1),
                    });
                }
                let name = self.module.name(id);
                let name = if name.is_empty() { format!("struct_{id}") } else { name.to_owned() };
                let decorations = &self.module.decorations;
                let is_block = decorations.has(id, Decoration::Block) || decorations.has(id, Decoration::BufferBlock);
                IrTypeData::Struct { name, fields, interface: key.has_layout && is_block }
            }
            TypeData::Image(image) if image.is_storage => {
                IrTypeData::Image { dim: image.dim, array: image.is_array, result: image.sampled }
            }
            TypeData::Image(image) | TypeData::SampledImage(image) => IrTypeData::Sampler {
                dim: Some(image.dim),
                array: image.is_array,
                shadow: false,
                result: image.sampled,
            },
            TypeData::Sampler => {
                IrTypeData::Sampler { dim: None, array: false, shadow: false, result: ScalarType::Void }
            }
            TypeData::Pointer { .. } => {
                let words = self.module.types.shape(key.ty).num_components;
                IrTypeData::Vector { scalar: ScalarType::Uint, components: words }
            }
            TypeData::Error | TypeData::Void | TypeData::Function { .. } => {
                IrTypeData::Vector { scalar: ScalarType::Uint, components: 1 }
            }
        };
        let ty = self.shader.types.intern(data);
        self.ir_types.insert(key, ty);
        ty
    }

    /// The type of vectors in the module's table.
    pub(crate) fn vector_type(&mut self, scalar: ScalarType, count: u8) -> TypeId {
        self.module.vector_type(scalar, count)
    }

    /// The access flags of a variable, or of a member of a struct.
    pub(crate) fn access_of(&self, id: u32, member: Option<u32>) -> AccessFlags {
        let decorations = &self.module.decorations;
        let has = |kind| match member {
            Some(member) => decorations.member_has(id, member, kind),
            None => decorations.has(id, kind),
        };
        let mut flags = AccessFlags::NONE;
        for (kind, flag) in [
            (Decoration::Coherent, AccessFlags::COHERENT),
            (Decoration::Volatile, AccessFlags::VOLATILE),
            (Decoration::NonWritable, AccessFlags::NON_WRITEABLE),
            (Decoration::NonReadable, AccessFlags::NON_READABLE),
            (Decoration::Restrict, AccessFlags::RESTRICT),
        ] {
            // Some compilers decorate members with Restrict, where it has no meaning.
            if has(kind) && (member.is_none() || kind != Decoration::Restrict) {
                flags = AccessFlags(flags.0 | flag.0);
            }
        }
        flags
    }
}

/// Whether memory of a mode has the layout of its decorations.
pub(crate) fn has_layout_mode(mode: VariableModes) -> bool {
    let buffers = VariableModes::MEM_UBO.union(VariableModes::MEM_SSBO).union(VariableModes::MEM_PUSH_CONST);
    mode.intersects(buffers.union(VariableModes::MEM_SHARED))
}
