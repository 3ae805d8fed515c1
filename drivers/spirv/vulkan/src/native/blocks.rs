//! The layout of blocks: the scalars at each offset.

use super::reflect::{TYPE_ARRAY, TYPE_BOOL, TYPE_MATRIX, TYPE_RUNTIME_ARRAY, TYPE_STRUCT, TYPE_VECTOR, scalar};
use super::words::Declarations;

const DECORATION_ROW_MAJOR: u32 = 4;
const DECORATION_ARRAY_STRIDE: u32 = 6;
const DECORATION_MATRIX_STRIDE: u32 = 7;
const DECORATION_OFFSET: u32 = 35;
/// Most scalars of a block.
const MAX_LEAVES: usize = 1 << 18;
/// Deepest nesting.
const MAX_DEPTH: usize = 32;

/// The class of a scalar.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LeafClass {
    /// Float.
    Float,
    /// Signed integer.
    Int,
    /// Unsigned integer.
    Uint,
}

/// A scalar in a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leaf {
    /// Offset in bytes.
    pub offset: u32,
    /// Class.
    pub class: LeafClass,
    /// Bits.
    pub bits: u32,
}

/// A block.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Block {
    /// The scalars before the run-time array.
    pub leaves: Vec<Leaf>,
    /// The offset of the run-time array.
    pub array_offset: u32,
    /// The distance between elements of the run-time array; 0 without one.
    pub stride: u32,
    /// The scalars of its element.
    pub element: Vec<Leaf>,
}

/// A type to list.
struct Pending {
    ty: u32,
    offset: u32,
    /// Stride of matrices, and whether rows are contiguous.
    matrix: (u32, bool),
    in_element: bool,
    depth: usize,
}

impl Block {
    /// The size in bytes without a run-time array.
    pub fn size(&self) -> u32 {
        let end = self.leaves.iter().map(|leaf| leaf.offset + leaf.bits / 8).max().unwrap_or(0);
        end.max(self.array_offset)
    }

    /// The size in bytes with this number of elements in the run-time array.
    pub fn size_with(&self, elements: u32) -> u32 {
        match self.stride {
            0 => self.size(),
            stride => self.array_offset + stride * elements,
        }
    }

    /// The scalars with this number of elements in the run-time array.
    pub fn leaves_with(&self, elements: u32) -> impl Iterator<Item = Leaf> + '_ {
        let elements = if self.stride == 0 { 0 } else { elements };
        let array = (0..elements).flat_map(move |number| {
            let start = self.array_offset + number * self.stride;
            self.element.iter().map(move |leaf| Leaf { offset: start + leaf.offset, ..*leaf })
        });
        self.leaves.iter().copied().chain(array)
    }

    pub(super) fn add(&mut self, all: &Declarations, ty: u32) -> Result<(), String> {
        let mut pending = vec![Pending { ty, offset: 0, matrix: (16, false), in_element: false, depth: 0 }];
        while let Some(Pending { ty, offset, matrix, in_element, depth }) = pending.pop() {
            let found = all.by_id.get(&ty).ok_or("a block of an unusual type")?;
            if depth > MAX_DEPTH || self.leaves.len() + self.element.len() + pending.len() > MAX_LEAVES {
                return Err("a large block".to_owned());
            }
            let leaf = |ty: u32, offset: u32| {
                let (class, bits) = scalar(all, ty).ok_or("a block with an unusual type")?;
                Ok::<Leaf, String>(Leaf { offset, class, bits })
            };
            let mut add = |leaf: Leaf| if in_element { self.element.push(leaf) } else { self.leaves.push(leaf) };
            match (found.op, &found.operands[..]) {
                (TYPE_STRUCT, members) => {
                    for (member, &member_type) in (0..).zip(members) {
                        let decoration = |number| all.decoration(ty, Some(member), number);
                        let start = decoration(DECORATION_OFFSET).ok_or("a block without offsets")?;
                        let stride = decoration(DECORATION_MATRIX_STRIDE).unwrap_or(matrix.0);
                        let matrix = (stride, decoration(DECORATION_ROW_MAJOR).is_some());
                        let offset = offset.checked_add(start).ok_or("a large block")?;
                        pending.push(Pending { ty: member_type, offset, matrix, in_element, depth: depth + 1 });
                    }
                }
                (TYPE_ARRAY, &[element, length]) => {
                    let stride =
                        all.decoration(ty, None, DECORATION_ARRAY_STRIDE).ok_or("an array without a stride")?;
                    let length = all.constant(length).ok_or("an array of unknown length")?;
                    if length as usize > MAX_LEAVES || u64::from(stride) * u64::from(length) > 1 << 28 {
                        return Err("a large block".to_owned());
                    }
                    pending.extend((0..length).map(|number| {
                        let offset = offset.saturating_add(stride * number);
                        Pending { ty: element, offset, matrix, in_element, depth: depth + 1 }
                    }));
                }
                (TYPE_RUNTIME_ARRAY, &[element]) if !in_element => {
                    let stride = all.decoration(ty, None, DECORATION_ARRAY_STRIDE);
                    self.stride = stride.filter(|&stride| stride > 0).ok_or("an array without a stride")?;
                    self.array_offset = offset;
                    pending.push(Pending { ty: element, offset: 0, matrix, in_element: true, depth: depth + 1 });
                }
                (TYPE_MATRIX, &[column, count]) => {
                    let vector = all.by_id.get(&column).filter(|vector| vector.op == TYPE_VECTOR);
                    let &[element, rows] = vector.map(|vector| &vector.operands[..]).unwrap_or_default() else {
                        return Err("a matrix without columns".to_owned());
                    };
                    let (stride, is_row_major) = matrix;
                    let bytes = leaf(element, 0)?.bits / 8;
                    for (at, row) in (0..count).flat_map(|at| (0..rows).map(move |row| (at, row))) {
                        let place = if is_row_major { row * stride + at * bytes } else { at * stride + row * bytes };
                        add(leaf(element, offset.saturating_add(place))?);
                    }
                }
                (TYPE_VECTOR, &[element, count]) => {
                    let bytes = leaf(element, 0)?.bits / 8;
                    for number in 0..count {
                        add(leaf(element, offset.saturating_add(number * bytes))?);
                    }
                }
                (TYPE_BOOL, _) => return Err("a block with booleans".to_owned()),
                _ => add(leaf(ty, offset)?),
            }
        }
        Ok(())
    }
}
