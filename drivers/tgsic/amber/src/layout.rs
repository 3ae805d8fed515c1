//! Data types of buffers, and the places of their numbers in memory.

use tgsi_raster::format::{Encoding, PixelFormat};

/// The rules by which arrays and matrices are placed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Rules {
    /// Those of storage blocks.
    #[default]
    Std430,
    /// Those of uniform blocks: elements and columns have the distance of vectors of four components.
    Std140,
}

/// A member of a struct.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its type.
    pub ty: DataType,
    /// Elements, if it is an array.
    pub length: Option<u32>,
    /// Its place, if it is given.
    pub offset: Option<u32>,
    /// The distance of elements, if it is given.
    pub array_stride: Option<u32>,
    /// The distance of columns, if it is given.
    pub matrix_stride: Option<u32>,
}

/// A data type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DataType {
    /// A scalar, vector or matrix.
    Numbers {
        /// The meaning of the bits.
        encoding: Encoding,
        /// Bits of a component.
        bits: u32,
        /// Components of a column.
        rows: u32,
        /// Columns.
        columns: u32,
    },
    /// Texels.
    Texel(PixelFormat),
    /// A struct.
    Struct {
        /// Its members.
        members: Vec<Member>,
        /// Its size, if it is given.
        stride: Option<u32>,
    },
}

const SCALARS: &[(&str, Encoding, u32)] = &[
    ("int8", Encoding::Sint, 8),
    ("int16", Encoding::Sint, 16),
    ("int32", Encoding::Sint, 32),
    ("int64", Encoding::Sint, 64),
    ("uint8", Encoding::Uint, 8),
    ("uint16", Encoding::Uint, 16),
    ("uint32", Encoding::Uint, 32),
    ("uint64", Encoding::Uint, 64),
    ("float16", Encoding::Sfloat, 16),
    ("float", Encoding::Sfloat, 32),
    ("double", Encoding::Sfloat, 64),
];

impl DataType {
    /// The type with this name: `vec3<float>`, `mat2x4<double>`, `uint8`, or a pixel format. Not an array.
    pub fn from_name(name: &str) -> Option<DataType> {
        let (shape, scalar) = match name.split_once('<') {
            Some((shape, rest)) => (shape, rest.strip_suffix('>')?),
            None => ("", name),
        };
        let size = |text: &str| text.parse::<u32>().ok().filter(|size| (2..=4).contains(size));
        let (columns, rows) = match (shape.strip_prefix("vec"), shape.strip_prefix("mat")) {
            (Some(rows), _) => (1, size(rows)?),
            (_, Some(sizes)) => {
                let (columns, rows) = sizes.split_once('x')?;
                (size(columns)?, size(rows)?)
            }
            _ if shape.is_empty() => (1, 1),
            _ => return None,
        };
        match SCALARS.iter().find(|(known, ..)| *known == scalar) {
            Some(&(_, encoding, bits)) => Some(DataType::Numbers { encoding, bits, rows, columns }),
            None if shape.is_empty() => PixelFormat::from_name(name).map(DataType::Texel),
            None => None,
        }
    }

    /// The type with this name in the older dialect: `ivec3`, `mat2x4`, `uint8_t`, `dvec2`.
    pub fn from_glsl_name(name: &str) -> Option<DataType> {
        let known: &[(&str, Encoding, u32)] = &[
            ("int", Encoding::Sint, 32),
            ("uint", Encoding::Uint, 32),
            ("int8_t", Encoding::Sint, 8),
            ("uint8_t", Encoding::Uint, 8),
            ("int16_t", Encoding::Sint, 16),
            ("uint16_t", Encoding::Uint, 16),
            ("int64_t", Encoding::Sint, 64),
            ("uint64_t", Encoding::Uint, 64),
            ("float16_t", Encoding::Sfloat, 16),
            ("float", Encoding::Sfloat, 32),
            ("double", Encoding::Sfloat, 64),
        ];
        if let Some(&(_, encoding, bits)) = known.iter().find(|(scalar, ..)| *scalar == name) {
            return Some(DataType::Numbers { encoding, bits, rows: 1, columns: 1 });
        }
        let vectors: &[(&str, Encoding, u32)] = &[
            ("vec", Encoding::Sfloat, 32),
            ("dvec", Encoding::Sfloat, 64),
            ("f16vec", Encoding::Sfloat, 16),
            ("ivec", Encoding::Sint, 32),
            ("uvec", Encoding::Uint, 32),
            ("i8vec", Encoding::Sint, 8),
            ("u8vec", Encoding::Uint, 8),
            ("i16vec", Encoding::Sint, 16),
            ("u16vec", Encoding::Uint, 16),
            ("i64vec", Encoding::Sint, 64),
            ("u64vec", Encoding::Uint, 64),
        ];
        let size = |text: &str| text.parse::<u32>().ok().filter(|size| (2..=4).contains(size));
        let vector = vectors.iter().find_map(|&(prefix, encoding, bits)| {
            let rows = size(name.strip_prefix(prefix)?)?;
            Some(DataType::Numbers { encoding, bits, rows, columns: 1 })
        });
        vector.or_else(|| {
            let (sizes, bits) = match name.strip_prefix("dmat") {
                Some(sizes) => (sizes, 64),
                None => (name.strip_prefix("mat")?, 32),
            };
            let (columns, rows) = sizes.split_once('x').unwrap_or((sizes, sizes));
            let (columns, rows) = (size(columns)?, size(rows)?);
            Some(DataType::Numbers { encoding: Encoding::Sfloat, bits, rows, columns })
        })
    }

    /// The pixel format of texels of this type.
    pub fn pixel_format(&self) -> Option<PixelFormat> {
        match self {
            DataType::Texel(format) => Some(format.clone()),
            &DataType::Numbers { encoding, bits, rows, columns: 1 } => {
                Some(PixelFormat::of_numbers(encoding, bits, rows as usize))
            }
            DataType::Numbers { .. } | DataType::Struct { .. } => None,
        }
    }
}

/// A number of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Bytes from the start of the element.
    pub offset: usize,
    /// The meaning of the bits.
    pub encoding: Encoding,
    /// Number of bits.
    pub bits: u32,
}

/// The places of the numbers of an element.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The numbers, in order.
    pub segments: Vec<Segment>,
    /// Bytes from an element to the next.
    pub stride: usize,
}

/// Most numbers of an element.
const MAX_SEGMENTS: usize = 1 << 16;

impl Layout {
    /// The layout of elements of a type. Elements of an array are placed as `rules` say; `None` if there are too many
    /// numbers, or members overlap.
    pub fn new(ty: &DataType, is_array: bool, rules: Rules) -> Option<Layout> {
        let mut layout = Layout { segments: Vec::new(), stride: 0 };
        match ty {
            DataType::Texel(format) if format.is_packed => {
                layout.segments.push(Segment { offset: 0, encoding: Encoding::Uint, bits: 8 * format.bytes as u32 });
                layout.stride = format.bytes;
            }
            DataType::Texel(format) => {
                let mut parts = format.parts.iter();
                // Parts of scripts are whole bytes.
                if parts.any(|part| part.bits % 8 != 0) {
                    return None;
                }
                let segment = |part: &tgsi_raster::format::Part| Segment {
                    offset: part.offset as usize / 8,
                    encoding: part.encoding,
                    bits: part.bits,
                };
                layout.segments.extend(format.parts.iter().map(segment));
                layout.stride = format.bytes;
            }
            DataType::Numbers { bits, rows, .. } => {
                let placed = place(ty, None, rules);
                layout.add(ty, 0, None, rules)?;
                let element = 4 * *bits as usize / 8;
                // Elements of arrays of vectors of three, or by the rules of uniform blocks, have four components.
                let is_wide = *rows == 3 || is_array && rules == Rules::Std140;
                layout.stride = if is_wide { placed.size.next_multiple_of(element) } else { placed.size };
            }
            DataType::Struct { .. } => {
                let placed = place(ty, None, rules);
                layout.add(ty, 0, None, rules)?;
                layout.stride = placed.size.next_multiple_of(placed.alignment);
            }
        }
        Some(layout)
    }

    /// Adds the numbers of a type at a place.
    fn add(&mut self, ty: &DataType, at: usize, matrix_stride: Option<u32>, rules: Rules) -> Option<()> {
        if self.segments.len() > MAX_SEGMENTS {
            return None;
        }
        match ty {
            &DataType::Numbers { encoding, bits, rows, columns } => {
                let column = column_stride(ty, matrix_stride, rules);
                for number in 0..columns as usize * rows as usize {
                    let (across, down) = (number / rows as usize, number % rows as usize);
                    let offset = at + across * column + down * bits as usize / 8;
                    self.segments.push(Segment { offset, encoding, bits });
                }
            }
            DataType::Texel(_) => return None,
            DataType::Struct { members, .. } => {
                for (member, offset) in members.iter().zip(offsets(members, rules)) {
                    let stride = array_stride(member, rules);
                    for element in 0..member.length.unwrap_or(1) as usize {
                        self.add(&member.ty, at + offset + element * stride, member.matrix_stride, rules)?;
                    }
                }
            }
        }
        Some(())
    }
}

/// The size and alignment of a value in a struct.
#[derive(Clone, Copy)]
struct Placed {
    size: usize,
    alignment: usize,
}

/// The distance of the columns of a matrix, or the alignment of a vector.
fn column_stride(ty: &DataType, given: Option<u32>, rules: Rules) -> usize {
    let &DataType::Numbers { bits, rows, columns, .. } = ty else { return 0 };
    let (component, rows) = (bits as usize / 8, rows as usize);
    let aligned = component * if rows == 3 { 4 } else { rows };
    match given {
        Some(stride) if columns > 1 => stride as usize,
        _ if columns > 1 && rules == Rules::Std140 => 4 * component,
        _ => aligned,
    }
}

fn place(ty: &DataType, matrix_stride: Option<u32>, rules: Rules) -> Placed {
    match ty {
        &DataType::Numbers { bits, rows, columns, .. } => {
            let column = column_stride(ty, matrix_stride, rules);
            let size = if columns > 1 { column * columns as usize } else { rows as usize * bits as usize / 8 };
            Placed { size, alignment: column }
        }
        DataType::Texel(format) => Placed { size: format.bytes, alignment: 1 },
        DataType::Struct { members, stride } => {
            let ends = members.iter().zip(offsets(members, rules));
            let end = ends.map(|(member, offset)| offset + size_of_member(member, rules)).max().unwrap_or(0);
            let alignment = members.iter().map(|member| alignment_of_member(member, rules)).max().unwrap_or(1);
            let alignment = if rules == Rules::Std140 { alignment.next_multiple_of(16) } else { alignment };
            match stride {
                Some(stride) => Placed { size: (*stride as usize).max(end), alignment: 1 },
                None => Placed { size: end.next_multiple_of(alignment), alignment },
            }
        }
    }
}

/// The distance of the elements of a member.
fn array_stride(member: &Member, rules: Rules) -> usize {
    let placed = place(&member.ty, member.matrix_stride, rules);
    let alignment = if rules == Rules::Std140 { placed.alignment.next_multiple_of(16) } else { placed.alignment };
    member.array_stride.map_or(placed.size.next_multiple_of(alignment), |stride| stride as usize)
}

fn size_of_member(member: &Member, rules: Rules) -> usize {
    match member.length {
        Some(length) => array_stride(member, rules) * length as usize,
        None => place(&member.ty, member.matrix_stride, rules).size,
    }
}

fn alignment_of_member(member: &Member, rules: Rules) -> usize {
    let alignment = place(&member.ty, member.matrix_stride, rules).alignment.max(1);
    if member.length.is_some() && rules == Rules::Std140 { alignment.next_multiple_of(16) } else { alignment }
}

/// The places of members.
fn offsets(members: &[Member], rules: Rules) -> Vec<usize> {
    let mut end = 0usize;
    let mut all = Vec::with_capacity(members.len());
    for member in members {
        let next = end.next_multiple_of(alignment_of_member(member, rules));
        let offset = member.offset.map_or(next, |offset| offset as usize);
        all.push(offset);
        end = offset + size_of_member(member, rules);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn layout(name: &str, rules: Rules) -> (Vec<usize>, usize) {
        let (name, is_array) = name.strip_suffix("[]").map_or((name, false), |name| (name, true));
        let ty = DataType::from_name(name).expect("a type");
        let layout = Layout::new(&ty, is_array, rules).expect("a layout");
        (layout.segments.iter().map(|segment| segment.offset).collect(), layout.stride)
    }

    #[test]
    fn vectors_and_matrices_are_placed() {
        use Rules::{Std140, Std430};
        assert_eq!(layout("float", Std430), (vec![0], 4));
        assert_eq!(layout("int32[]", Std140), (vec![0], 16));
        assert_eq!(layout("int32", Std140), (vec![0], 4));
        assert_eq!(layout("vec2<float>[]", Std430), (vec![0, 4], 8));
        assert_eq!(layout("vec2<float>[]", Std140), (vec![0, 4], 16));
        assert_eq!(layout("vec3<double>", Std430), (vec![0, 8, 16], 32));
        assert_eq!(layout("mat2x3<float>", Std430), (vec![0, 4, 8, 16, 20, 24], 32));
        assert_eq!(layout("mat2x2<float>", Std430), (vec![0, 4, 8, 12], 16));
        assert_eq!(layout("mat2x2<float>", Std140), (vec![0, 4, 16, 20], 32));
        assert_eq!(layout("B8G8R8A8_UNORM", Std430), (vec![0, 1, 2, 3], 4));
        assert_eq!(layout("A2B10G10R10_UNORM_PACK32", Std430), (vec![0], 4));
    }

    #[test]
    fn names_of_the_older_dialect() {
        for (old, new) in [
            ("int", "int32"),
            ("uvec3", "vec3<uint32>"),
            ("dvec2", "vec2<double>"),
            ("uint8_t", "uint8"),
            ("f16vec4", "vec4<float16>"),
            ("mat3", "mat3x3<float>"),
            ("dmat2x4", "mat2x4<double>"),
        ] {
            assert_eq!(DataType::from_glsl_name(old), DataType::from_name(new), "{old}");
        }
        assert_eq!(DataType::from_glsl_name("vec5"), None);
        assert_eq!(DataType::from_name("vec2<vec2>"), None);
    }

    #[test]
    fn members_are_placed() {
        let member = |name: &str, length: Option<u32>| Member {
            ty: DataType::from_name(name).expect("a type"),
            length,
            offset: None,
            array_stride: None,
            matrix_stride: None,
        };
        let members =
            vec![member("float", None), member("vec3<float>", None), member("float", None), member("float", Some(2))];
        let mut ty = DataType::Struct { members, stride: None };
        let offsets = |ty: &DataType, rules: Rules| {
            let layout = Layout::new(ty, false, rules).expect("a layout");
            (layout.segments.iter().map(|segment| segment.offset).collect::<Vec<_>>(), layout.stride)
        };
        assert_eq!(offsets(&ty, Rules::Std430), (vec![0, 16, 20, 24, 28, 32, 36], 48));
        assert_eq!(offsets(&ty, Rules::Std140), (vec![0, 16, 20, 24, 28, 32, 48], 64));
        if let DataType::Struct { members, stride } = &mut ty {
            *stride = Some(100);
            members[3].offset = Some(40);
            members[3].array_stride = Some(12);
        }
        assert_eq!(offsets(&ty, Rules::Std430), (vec![0, 16, 20, 24, 28, 40, 52], 100));
    }
}
