//! Places of types in blocks in memory: the rules `std140` and `std430`.
//!
//! A vector is aligned to its size, with three components to that of four. Matrices are arrays of their columns, or of
//! their rows. A struct is aligned as its most aligned field. By `std140` arrays, matrices and structs are aligned to at
//! least 16 bytes, and the distances of elements are multiples of that. A boolean is a word.

use crate::program::Packing;
use crate::types::{Field, Scalar, TypeData, TypeId, Types};

/// The size and alignment of a type in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// Bytes; saturated. An array without length has none.
    pub(crate) bytes: u32,
    pub(crate) align: u32,
}

/// The places of the types of a unit, which are computed when a type is first asked for.
#[derive(Debug, Default)]
pub(crate) struct Packer {
    /// By packing and order of matrices, by type: element types precede their arrays and structs.
    places: [Vec<Place>; 4],
}

/// Rounds up; saturates.
pub(crate) fn align_up(value: u32, align: u32) -> u32 {
    value.checked_next_multiple_of(align.max(1)).unwrap_or(u32::MAX)
}

fn vector(scalar: Scalar, components: u8) -> Place {
    let bytes = if scalar.is_wide() { 8 } else { 4 };
    let count = u32::from(components);
    Place { bytes: count * bytes, align: count.next_power_of_two() * bytes }
}

/// The alignment of an array, matrix or struct.
fn aggregate_align(align: u32, packing: Packing) -> u32 {
    match packing {
        Packing::Shared | Packing::Packed | Packing::Std140 => align_up(align, 16),
        Packing::Std430 => align,
    }
}

/// The distance of elements.
fn distance(element: Place, packing: Packing) -> u32 {
    align_up(element.bytes, aggregate_align(element.align, packing))
}

impl Packer {
    /// The place of a type, in which matrices are stored by rows or columns.
    pub(crate) fn place(&mut self, types: &Types, ty: TypeId, packing: Packing, row_major: bool) -> Place {
        let table = 2 * usize::from(packing == Packing::Std430) + usize::from(row_major);
        let Some(places) = self.places.get_mut(table) else { return Place { bytes: 0, align: 1 } };
        for next in types.from(places.len()).take_while(|&next| next <= ty) {
            let place = compute(types, places, next, packing, row_major);
            places.push(place);
        }
        places.get(ty.index()).copied().unwrap_or(Place { bytes: 0, align: 1 })
    }

    /// The distance of the elements of an array, or of the rows or columns of a matrix.
    pub(crate) fn stride(&mut self, types: &Types, ty: TypeId, packing: Packing, row_major: bool) -> u32 {
        match types.get(ty) {
            TypeData::Array { element, .. } => distance(self.place(types, element, packing, row_major), packing),
            TypeData::Matrix { scalar, columns, rows } => {
                distance(vector(scalar, if row_major { columns } else { rows }), packing)
            }
            _ => 0,
        }
    }

    /// The byte offsets of the fields of a struct.
    pub(crate) fn offsets(&mut self, types: &Types, fields: &[Field], packing: Packing, row_major: bool) -> Vec<u32> {
        let mut end = 0u32;
        let mut offsets = Vec::with_capacity(fields.len());
        for field in fields {
            let place = self.place(types, field.ty, packing, row_major);
            let offset = align_up(end, place.align);
            offsets.push(offset);
            end = offset.saturating_add(place.bytes);
        }
        offsets
    }
}

/// The place of a type whose parts have theirs.
fn compute(types: &Types, places: &[Place], ty: TypeId, packing: Packing, row_major: bool) -> Place {
    let of = |ty: TypeId| places.get(ty.index()).copied().unwrap_or(Place { bytes: 0, align: 1 });
    match types.get(ty) {
        TypeData::Vector { scalar, components } => vector(scalar, components),
        TypeData::Matrix { scalar, columns, rows } => {
            let (count, length) = if row_major { (rows, columns) } else { (columns, rows) };
            let line = vector(scalar, length);
            let bytes = distance(line, packing) * u32::from(count);
            Place { bytes, align: aggregate_align(line.align, packing) }
        }
        TypeData::Array { element, length } => {
            let element = of(element);
            let bytes = distance(element, packing).saturating_mul(length.unwrap_or(0));
            Place { bytes, align: aggregate_align(element.align, packing) }
        }
        TypeData::Struct(_) => {
            let (mut end, mut align) = (0u32, 1);
            for field in types.fields(ty) {
                let place = of(field.ty);
                end = align_up(end, place.align).saturating_add(place.bytes);
                align = align.max(place.align);
            }
            let align = aggregate_align(align, packing);
            Place { bytes: align_up(end, align), align }
        }
        _ => Place { bytes: 0, align: 1 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol::{Interner, Symbol};
    use crate::token::TokenRange;
    use crate::types::StructType;

    fn structure(types: &mut Types, fields: &[TypeId]) -> TypeId {
        let name: Symbol = Interner::new().intern("field");
        let fields = fields.iter().map(|&ty| Field { name, ty, precision: None, tokens: TokenRange::default() });
        let data = StructType { name: None, fields: fields.collect(), tokens: TokenRange::default(), block: None };
        types.add_struct(data)
    }

    #[test]
    fn types_are_placed_by_the_rules_of_the_specification() {
        let (mut types, mut packer) = (Types::new(), Packer::default());
        let vec3 = TypeId::vector(Scalar::Float, 3);
        let floats = types.array(TypeId::FLOAT, Some(3));
        let vectors = types.array(vec3, Some(2));
        let dvec3 = TypeId::vector(Scalar::Double, 3);
        let flat = structure(&mut types, &[TypeId::FLOAT, vec3, TypeId::BOOL, TypeId::matrix(2, 3)]);
        let nested = structure(&mut types, &[TypeId::FLOAT, flat, TypeId::FLOAT]);
        let small = structure(&mut types, &[TypeId::FLOAT]);
        let open = types.array(small, None);
        let all = [TypeId::FLOAT, vec3, dvec3, TypeId::matrix(2, 3), floats, vectors, flat, nested, small, open];
        let mut places = |packing, row_major| {
            all.map(|ty| {
                let place = packer.place(&types, ty, packing, row_major);
                (place.bytes, place.align, packer.stride(&types, ty, packing, row_major))
            })
        };
        assert_eq!(
            places(Packing::Std140, false),
            [
                (4, 4, 0),
                (12, 16, 0),
                (24, 32, 0),
                (32, 16, 16),
                (48, 16, 16),
                (32, 16, 16),
                (64, 16, 0),
                (96, 16, 0),
                (16, 16, 0),
                (0, 16, 16)
            ]
        );
        assert_eq!(
            places(Packing::Std430, true),
            [
                (4, 4, 0),
                (12, 16, 0),
                (24, 32, 0),
                (24, 8, 8),
                (12, 4, 4),
                (32, 16, 16),
                (64, 16, 0),
                (96, 16, 0),
                (4, 4, 0),
                (0, 4, 4)
            ]
        );
        let fields = types.fields(flat).to_vec();
        assert_eq!(packer.offsets(&types, &fields, Packing::Std140, false), [0, 16, 28, 32]);
        assert_eq!(packer.offsets(&types, &fields, Packing::Std430, true), [0, 16, 28, 32]);
    }
}
