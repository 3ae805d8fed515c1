//! Sizes of types: bytes in blocks, registers and locations outside of blocks, and active variables.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::error::SpirvError;
use crate::types::{Member, TypeData, TypeId, Types};

/// Computed sizes. Types nest at most as deep as the limit.
#[derive(Debug, Default)]
pub(crate) struct Sizes {
    /// By type, with the layout of the matrices in it.
    bytes: FxHashMap<(TypeId, u32, bool), u32>,
    counts: FxHashMap<(TypeId, Unit), u32>,
}

/// The units that types are counted in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Unit {
    /// Registers of uniforms outside of blocks.
    Register,
    /// Locations of such uniforms.
    Location,
    /// Active variables.
    Variable,
}

/// Bytes of a component.
pub(crate) fn component_bytes(bits: u8) -> u32 {
    if bits < 8 { 4 } else { u32::from(bits) / 8 }
}

impl Sizes {
    /// Bytes of a struct: the end of its last member. Arrays without length have none, and the last element of an array
    /// or matrix has no padding.
    pub(crate) fn bytes(&mut self, types: &Types, ty: TypeId) -> u32 {
        self.bytes_of(types, (ty, 0, false))
    }

    fn bytes_of(&mut self, types: &Types, key: (TypeId, u32, bool)) -> u32 {
        if let Some(&known) = self.bytes.get(&key) {
            return known;
        }
        let (ty, matrix_stride, row_major) = key;
        let bytes = match types.get(ty) {
            TypeData::Vector { scalar, count } => u32::from(*count) * component_bytes(scalar.bit_size()),
            TypeData::Matrix { scalar, columns, rows } => {
                let (lines, components) = if row_major { (*rows, *columns) } else { (*columns, *rows) };
                let line = u32::from(components) * component_bytes(scalar.bit_size());
                matrix_stride.saturating_mul(u32::from(lines).saturating_sub(1)).saturating_add(line)
            }
            TypeData::Array { length: 0, .. } => 0,
            TypeData::Array { element, length, stride } => {
                let size = self.bytes_of(types, (*element, matrix_stride, row_major));
                let stride = if *stride == 0 { size } else { *stride };
                stride.saturating_mul(*length - 1).saturating_add(size)
            }
            TypeData::Struct { members, .. } => {
                let mut end = 0;
                for member in members {
                    let size = self.bytes_of(types, (member.ty, member.matrix_stride, member.row_major));
                    end = end.max(member.offset.unwrap_or(0).saturating_add(size));
                }
                end
            }
            _ => 0,
        };
        self.bytes.insert(key, bytes);
        bytes
    }

    /// Registers of a uniform outside of blocks: one for each vector, two for more than two doubles.
    pub(super) fn registers(&mut self, types: &Types, ty: TypeId) -> u32 {
        self.count(types, ty, Unit::Register)
    }

    /// Locations of a uniform outside of blocks: one for each scalar, vector, matrix and sampler.
    pub(super) fn locations(&mut self, types: &Types, ty: TypeId) -> u32 {
        self.count(types, ty, Unit::Location)
    }

    /// Variables of a type as OpenGL counts active ones: arrays of scalars, vectors, matrices and samplers are one.
    pub(crate) fn variables(&mut self, types: &Types, ty: TypeId) -> u32 {
        self.count(types, ty, Unit::Variable)
    }

    /// Variables of a block. Of an array that is a member of a storage block the first element counts.
    pub(super) fn block_variables(&mut self, types: &Types, block: TypeId, is_storage: bool) -> u32 {
        let TypeData::Struct { members, .. } = types.get(block) else { return 0 };
        let mut sum = 0u32;
        for member in members {
            let ty = match *types.get(member.ty) {
                TypeData::Array { element, .. } if is_storage => element,
                _ => member.ty,
            };
            sum = sum.saturating_add(self.variables(types, ty));
        }
        sum
    }

    fn count(&mut self, types: &Types, ty: TypeId, unit: Unit) -> u32 {
        if let Some(&known) = self.counts.get(&(ty, unit)) {
            return known;
        }
        let of_vector = |bits: u8, count: u8| 1 + u32::from(bits == 64 && count > 2);
        let count = match (types.get(ty), unit) {
            (TypeData::Vector { scalar, count }, Unit::Register) => of_vector(scalar.bit_size(), *count),
            (TypeData::Matrix { scalar, columns, rows }, Unit::Register) => {
                u32::from(*columns) * of_vector(scalar.bit_size(), *rows)
            }
            (TypeData::Array { element, length, .. }, _) => {
                let is_aggregate = matches!(types.get(*element), TypeData::Array { .. } | TypeData::Struct { .. });
                let length = if unit == Unit::Variable && !is_aggregate { 1 } else { *length };
                self.count(types, *element, unit).saturating_mul(length)
            }
            (TypeData::Struct { members, .. }, _) => {
                let mut sum = 0u32;
                for member in members {
                    sum = sum.saturating_add(self.count(types, member.ty, unit));
                }
                sum
            }
            (_, Unit::Register) => 0,
            (_, Unit::Location | Unit::Variable) => 1,
        };
        self.counts.insert((ty, unit), count);
        count
    }
}

/// Checks that the types in a block have offsets and strides.
///
/// # Errors
/// One is missing, or less than the size of the vectors.
pub(crate) fn check_layout(types: &Types, ty: TypeId, name: &str) -> Result<(), SpirvError> {
    let mut pending: SmallVec<[TypeId; 8]> = SmallVec::from_slice(&[ty]);
    let mut seen: FxHashSet<TypeId> = FxHashSet::default();
    while let Some(ty) = pending.pop() {
        if !seen.insert(ty) {
            continue;
        }
        let TypeData::Struct { members, .. } = types.get(ty) else { continue };
        for (number, member) in members.iter().enumerate() {
            let missing = |decoration| {
                let what = format!("member {number} of a struct in {name}");
                Err(SpirvError::Layout { what, decoration })
            };
            match member.offset {
                None => return missing("Offset"),
                Some(offset) if offset > i32::MAX as u32 => {
                    return Err(SpirvError::Value { what: "Offset", value: offset.into() });
                }
                Some(_) => {}
            }
            let mut inner = member.ty;
            while let TypeData::Array { element, stride, .. } = *types.get(inner) {
                if stride == 0 {
                    return missing("ArrayStride");
                }
                inner = element;
            }
            match *types.get(inner) {
                TypeData::Struct { .. } => pending.push(inner),
                TypeData::Matrix { .. } if member.matrix_stride == 0 => return missing("MatrixStride"),
                TypeData::Matrix { .. } if member.matrix_stride < line_bytes(types, inner, member) => {
                    return Err(SpirvError::Value { what: "MatrixStride", value: member.matrix_stride.into() });
                }
                TypeData::Matrix { .. } | TypeData::Vector { .. } => {}
                _ => {
                    let found = types.kind(inner);
                    return Err(SpirvError::WrongKind { id: 0, found, expected: "a type of blocks" });
                }
            }
        }
    }
    Ok(())
}

/// Bytes of a column of a matrix, or of a row if it is stored by rows.
fn line_bytes(types: &Types, matrix: TypeId, member: &Member) -> u32 {
    match *types.get(matrix) {
        TypeData::Matrix { scalar, columns, rows } => {
            let count = if member.row_major { columns } else { rows };
            u32::from(count) * component_bytes(scalar.bit_size())
        }
        _ => 0,
    }
}
