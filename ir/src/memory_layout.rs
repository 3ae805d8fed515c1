//! Layout of types in memory that is addressed in bytes: buffers, push constants and shared memory.
//!
//! A type states offsets of fields, and strides of arrays and matrices, or leaves them open. Open ones are natural: a
//! vector is aligned to its size (three components like four), an array to its element, a struct to its most aligned
//! field, and nothing is rounded up further (std430). A component of less than 8 bits takes 32: a boolean is a word,
//! true unless it is 0. The interpreter and `lower_explicit_access` both take addresses from here.

use cranelift_entity::EntityRef;

use crate::entities::Type;
use crate::types::{ScalarType, TypeData, TypeTable};

/// Number of bytes of a component.
pub(crate) fn component_bytes(bit_size: u8) -> u32 {
    match bit_size {
        8 => 1,
        16 => 2,
        64 => 8,
        _ => 4,
    }
}

/// Rounds up; saturates.
pub(crate) fn align_up(value: u32, align: u32) -> u32 {
    value.checked_next_multiple_of(align.max(1)).unwrap_or(u32::MAX)
}

/// Size and alignment in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Size {
    pub bytes: u32,
    pub align: u32,
}

/// The elements of an array, the columns of a matrix or the components of a vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Elements {
    /// Number of elements; 0 if it is open.
    pub length: u32,
    /// Bytes from one element to the next.
    pub distance: u32,
    /// Bytes from one component of an element to the next, if they are not adjacent: an element is a column of a
    /// row-major matrix.
    pub component_distance: Option<u32>,
}

/// Sizes of the types of a shader, and offsets of the fields of structs.
#[derive(Debug, Default)]
pub(crate) struct MemoryLayout {
    sizes: Vec<Size>,
    /// The first offset of each type in `offsets`.
    first_offsets: Vec<u32>,
    offsets: Vec<u32>,
}

/// Size of a vector.
pub(crate) fn vector_size(scalar: ScalarType, components: u8) -> Size {
    let count = u32::from(components);
    let bytes = component_bytes(scalar.bit_size());
    Size { bytes: count * bytes, align: count.next_power_of_two() * bytes }
}

/// The rows of a row-major matrix, or the columns of another: their number, distance and alignment.
fn lines(scalar: ScalarType, columns: u8, rows: u8, stride: u32, row_major: bool) -> (u32, u32, u32) {
    let (count, length) = if row_major { (rows, columns) } else { (columns, rows) };
    let line = vector_size(scalar, length);
    (count.into(), if stride == 0 { align_up(line.bytes, line.align) } else { stride }, line.align)
}

impl MemoryLayout {
    /// Computes the layout of all types: a type is in the table after its element types.
    pub fn new(types: &TypeTable) -> MemoryLayout {
        let mut layout = MemoryLayout::default();
        for data in types.iter() {
            layout.first_offsets.push(layout.offsets.len() as u32);
            let size = match *data {
                TypeData::Vector { scalar, components } => vector_size(scalar, components),
                TypeData::Matrix { scalar, columns, rows, stride, row_major } => {
                    let (count, distance, align) = lines(scalar, columns, rows, stride, row_major);
                    Size { bytes: distance.saturating_mul(count), align }
                }
                TypeData::Array { element, length, stride } => {
                    let size = layout.size(element);
                    Size { bytes: array_stride(size, stride).saturating_mul(length), align: size.align }
                }
                TypeData::Struct { ref fields, .. } => {
                    let mut all = Size { bytes: 0, align: 1 };
                    let mut end = 0u32;
                    for field in fields {
                        let size = layout.size(field.ty);
                        let offset = u32::try_from(field.offset).unwrap_or(align_up(end, size.align));
                        layout.offsets.push(offset);
                        end = offset.saturating_add(size.bytes);
                        all = Size { bytes: all.bytes.max(end), align: all.align.max(size.align) };
                    }
                    Size { bytes: align_up(all.bytes, all.align), ..all }
                }
                _ => Size { bytes: 4, align: 4 },
            };
            layout.sizes.push(size);
        }
        layout
    }

    /// The size of a type.
    pub fn size(&self, ty: Type) -> Size {
        self.sizes.get(ty.index()).copied().unwrap_or_default()
    }

    /// Distance between elements of a type in an array without explicit stride.
    pub fn stride(&self, ty: Type) -> u32 {
        array_stride(self.size(ty), 0)
    }

    /// The elements of a type; `None` if it has none.
    pub fn elements(&self, types: &TypeTable, ty: Type) -> Option<Elements> {
        match *types.get(ty) {
            TypeData::Array { element, length, stride } => {
                let distance = array_stride(self.size(element), stride);
                Some(Elements { length, distance, component_distance: None })
            }
            TypeData::Matrix { scalar, columns, rows, stride, row_major } => {
                let (_, line, _) = lines(scalar, columns, rows, stride, row_major);
                let component = component_bytes(scalar.bit_size());
                let (distance, component_distance) = if row_major { (component, Some(line)) } else { (line, None) };
                Some(Elements { length: columns.into(), distance, component_distance })
            }
            TypeData::Vector { scalar, components } => {
                let distance = component_bytes(scalar.bit_size());
                Some(Elements { length: components.into(), distance, component_distance: None })
            }
            _ => None,
        }
    }

    /// Offset of a field of a struct.
    pub fn field(&self, types: &TypeTable, ty: Type, number: u32) -> Option<u32> {
        let TypeData::Struct { fields, .. } = types.get(ty) else { return None };
        fields.get(number as usize)?;
        let first = *self.first_offsets.get(ty.index())?;
        self.offsets.get(first as usize + number as usize).copied()
    }
}

fn array_stride(element: Size, stride: u32) -> u32 {
    if stride == 0 { align_up(element.bytes, element.align) } else { stride }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Field;

    #[test]
    fn natural_and_explicit_layouts() {
        let mut types = TypeTable::default();
        let float = types.vector(ScalarType::Float, 1);
        let vec3 = types.vector(ScalarType::Float, 3);
        let dvec3 = types.vector(ScalarType::Double, 3);
        let flag = types.vector(ScalarType::Bool, 2);
        let small = types.vector(ScalarType::Uint16, 3);
        let matrix = types.matrix(ScalarType::Float, 2, 3);
        let explicit =
            |stride, row_major| TypeData::Matrix { scalar: ScalarType::Float, columns: 2, rows: 3, stride, row_major };
        let strided = types.intern(explicit(32, false));
        let rows = types.intern(explicit(16, true));
        let natural_rows = types.intern(explicit(0, true));
        let floats = types.array(float, 3);
        let spaced = types.intern(TypeData::Array { element: float, length: 3, stride: 16 });
        let field = |ty, offset| Field { name: String::new(), ty, offset };
        let fields = vec![field(float, -1), field(vec3, -1), field(float, -1), field(dvec3, 64), field(float, -1)];
        let data = TypeData::Struct { name: "S".into(), fields, interface: false };
        let structure = types.intern(data);
        let layout = MemoryLayout::new(&types);
        let size = |ty| (layout.size(ty).bytes, layout.size(ty).align);
        assert_eq!([float, vec3, dvec3].map(size), [(4, 4), (12, 16), (24, 32)]);
        assert_eq!([flag, small].map(size), [(8, 8), (6, 8)]);
        assert_eq!([matrix, strided, rows, natural_rows].map(size), [(32, 16), (64, 16), (48, 8), (24, 8)]);
        assert_eq!([floats, spaced].map(size), [(12, 4), (48, 4)]);
        assert_eq!(size(structure), (96, 32));
        let offsets: Vec<_> = (0..6).map(|number| layout.field(&types, structure, number)).collect();
        assert_eq!(offsets, [Some(0), Some(16), Some(28), Some(64), Some(88), None]);
        let elements = |ty| layout.elements(&types, ty).map(|e| (e.length, e.distance, e.component_distance));
        assert_eq!([matrix, strided].map(elements), [Some((2, 16, None)), Some((2, 32, None))]);
        assert_eq!([rows, natural_rows].map(elements), [Some((2, 4, Some(16))), Some((2, 4, Some(8)))]);
        assert_eq!([floats, spaced, vec3].map(elements), [(3, 4), (3, 16), (3, 4)].map(|(n, d)| Some((n, d, None))));
        assert_eq!(elements(structure), None);
    }
}
