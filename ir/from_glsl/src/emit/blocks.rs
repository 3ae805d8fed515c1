//! Types of blocks in memory, with the offsets and strides of their layout.

use rustc_hash::FxHashMap;
use tgsi_ir::entities::Type as IrType;
use tgsi_ir::types::{Field, TypeData as IrTypeData};

use super::{Context, ir_scalar};
use crate::packing::Packer;
use crate::program::{BlockId, Packing};
use crate::types::{TypeData, TypeId};

/// The properties that the IR type of a type depends on, besides its place in a block.
type Key = (TypeId, Packing, bool);

/// The IR types of types in blocks.
#[derive(Debug, Default)]
pub(super) struct Layouts {
    packer: Packer,
    types: FxHashMap<Key, IrType>,
}

impl Context<'_> {
    /// The IR type of the variable of a block: the struct of its members, or an array of it.
    pub(super) fn block_type(&mut self, ty: TypeId, id: BlockId) -> IrType {
        if let TypeData::Array { element, length } = self.program.types.get(ty) {
            // Dimensions nest at most as deep as the parser allows.
            let element = self.block_type(element, id);
            return self.shader.types.intern(IrTypeData::Array { element, length: length.unwrap_or(1), stride: 0 });
        }
        let program = self.program;
        let block = program.block(id);
        let fields = program.types.fields(ty).iter().zip(&block.members);
        let fields = fields
            .map(|(field, member)| Field {
                name: self.interner.spelling(field.name).to_owned(),
                ty: self.packed_type(field.ty, block.placement(), member.row_major),
                offset: i32::try_from(member.offset).unwrap_or(i32::MAX),
            })
            .collect();
        let name = self.interner.spelling(block.name).to_owned();
        self.shader.types.intern(IrTypeData::Struct { name, fields, interface: true })
    }

    /// The IR type of a type in a block. Element types precede the types of their arrays and structs in the table, so
    /// parts are converted before the whole.
    fn packed_type(&mut self, ty: TypeId, packing: Packing, row_major: bool) -> IrType {
        let program = self.program;
        let mut pending = vec![ty];
        while let Some(&next) = pending.last() {
            if self.layouts.types.contains_key(&(next, packing, row_major)) {
                pending.pop();
                continue;
            }
            let parts: Vec<TypeId> = match program.types.get(next) {
                TypeData::Array { element, .. } => vec![element],
                TypeData::Struct(_) => program.types.fields(next).iter().map(|field| field.ty).collect(),
                _ => Vec::new(),
            };
            let known = &self.layouts.types;
            let missing: Vec<TypeId> =
                parts.into_iter().filter(|&part| !known.contains_key(&(part, packing, row_major))).collect();
            if missing.is_empty() {
                pending.pop();
                let converted = self.converted_type(next, packing, row_major);
                self.layouts.types.insert((next, packing, row_major), converted);
            } else {
                pending.extend(missing);
            }
        }
        self.layouts.types.get(&(ty, packing, row_major)).copied().unwrap_or_else(|| self.ir_type(ty))
    }

    /// The IR type of a type whose parts are converted.
    fn converted_type(&mut self, ty: TypeId, packing: Packing, row_major: bool) -> IrType {
        let program = self.program;
        let part = |context: &Self, part: TypeId| context.layouts.types.get(&(part, packing, row_major)).copied();
        let data = match program.types.get(ty) {
            TypeData::Matrix { scalar, columns, rows } => {
                let stride = self.layouts.packer.stride(&program.types, ty, packing, row_major);
                IrTypeData::Matrix { scalar: ir_scalar(scalar), columns, rows, stride, row_major }
            }
            TypeData::Array { element, length } => {
                let stride = self.layouts.packer.stride(&program.types, ty, packing, row_major);
                let Some(element) = part(self, element) else { return self.ir_type(ty) };
                // An array at the end of a storage block has no length.
                IrTypeData::Array { element, length: length.unwrap_or(0), stride }
            }
            TypeData::Struct(id) => {
                let name = program.types.struct_type(id).and_then(|data| data.name);
                let name = name.map_or("struct", |name| self.interner.spelling(name)).to_owned();
                let fields = program.types.fields(ty);
                let offsets = self.layouts.packer.offsets(&program.types, fields, packing, row_major);
                let mut converted = Vec::with_capacity(fields.len());
                for (field, offset) in fields.iter().zip(offsets) {
                    let Some(ty) = part(self, field.ty) else { return self.ir_type(ty) };
                    let name = self.interner.spelling(field.name).to_owned();
                    converted.push(Field { name, ty, offset: i32::try_from(offset).unwrap_or(i32::MAX) });
                }
                IrTypeData::Struct { name, fields: converted, interface: false }
            }
            _ => return self.ir_type(ty),
        };
        self.shader.types.intern(data)
    }
}
