//! Constants of a module: trees of vectors, evaluated when they are met.

use smallvec::SmallVec;

use crate::error::SpirvError;
use crate::types::{TypeData, TypeId, Types};

/// The number of a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ConstantId(pub(crate) u32);

/// The bits of the components of a vector.
pub(crate) type Bits = SmallVec<[u64; 4]>;

/// A constant, or a part of one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Known {
    /// One of the table.
    Constant(ConstantId),
    /// All zeros.
    Null(TypeId),
    /// Any value.
    Undef(TypeId),
}

/// The data of a constant.
#[derive(Clone, Debug)]
enum ConstantData {
    /// A scalar or vector.
    Vector { ty: TypeId, bits: Bits },
    /// The columns, elements or members.
    Composite { ty: TypeId, parts: Box<[Known]> },
}

/// The constants of a module.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    constants: Vec<ConstantData>,
    /// Parts of composites that operations on constants copied.
    copied: u64,
}

/// The most parts of composites that operations on constants may copy: a copy may be larger than the instruction.
const MAX_COPIED: u64 = 1 << 22;

impl Constants {
    fn push(&mut self, data: ConstantData) -> Known {
        self.constants.push(data);
        Known::Constant(ConstantId(self.constants.len() as u32 - 1))
    }

    /// Counts parts of a composite that is copied.
    ///
    /// # Errors
    /// There are too many.
    pub(crate) fn charge(&mut self, parts: u32) -> Result<(), SpirvError> {
        self.copied = self.copied.saturating_add(parts.into());
        let (count, limit) = (self.copied, MAX_COPIED);
        if count > limit { Err(SpirvError::TooLarge { what: "parts of constants", count, limit }) } else { Ok(()) }
    }

    /// Adds a scalar or vector.
    pub(crate) fn vector(&mut self, ty: TypeId, bits: &[u64]) -> Known {
        self.push(ConstantData::Vector { ty, bits: Bits::from_slice(bits) })
    }

    /// Adds a composite. The parts of a vector are scalars or vectors.
    pub(crate) fn composite(&mut self, types: &Types, ty: TypeId, parts: Vec<Known>) -> Known {
        let Some((_, count)) = types.as_vector(ty) else {
            return self.push(ConstantData::Composite { ty, parts: parts.into() });
        };
        let mut bits: Bits = parts.iter().flat_map(|&part| self.bits(types, part).unwrap_or_default()).collect();
        bits.resize(count.into(), 0);
        self.push(ConstantData::Vector { ty, bits })
    }

    /// The type of a constant.
    pub(crate) fn type_of(&self, known: Known) -> TypeId {
        match known {
            Known::Constant(id) => match self.constants.get(id.0 as usize) {
                Some(ConstantData::Vector { ty, .. } | ConstantData::Composite { ty, .. }) => *ty,
                None => TypeId::ERROR,
            },
            Known::Null(ty) | Known::Undef(ty) => ty,
        }
    }

    /// The bits of a scalar or vector; zeros where they are undefined.
    pub(crate) fn bits(&self, types: &Types, known: Known) -> Option<Bits> {
        match known {
            Known::Constant(id) => match self.constants.get(id.0 as usize)? {
                ConstantData::Vector { bits, .. } => Some(bits.clone()),
                ConstantData::Composite { .. } => None,
            },
            Known::Null(ty) | Known::Undef(ty) => {
                types.as_vector(ty).map(|(_, count)| Bits::from_elem(0, count.into()))
            }
        }
    }

    /// A column, element or member; of a vector a scalar, whose type the caller knows.
    pub(crate) fn part(&mut self, types: &Types, known: Known, number: u32, ty: TypeId) -> Option<Known> {
        match known {
            Known::Constant(id) => match self.constants.get(id.0 as usize)? {
                ConstantData::Vector { bits, .. } => {
                    let bits = *bits.get(number as usize)?;
                    Some(self.vector(ty, &[bits]))
                }
                ConstantData::Composite { parts, .. } => parts.get(number as usize).copied(),
            },
            Known::Null(whole) | Known::Undef(whole) => {
                let is_inside = match *types.get(whole) {
                    TypeData::Vector { count, .. } => number < count.into(),
                    TypeData::Matrix { columns, .. } => number < columns.into(),
                    _ => types.part(whole, number).is_some(),
                };
                let part = if matches!(known, Known::Null(_)) { Known::Null(ty) } else { Known::Undef(ty) };
                is_inside.then_some(part)
            }
        }
    }

    /// The leaves of a constant, in order: their bits, or `None` where they are undefined.
    pub(crate) fn leaves(&self, types: &Types, known: Known) -> Vec<Option<Bits>> {
        let mut leaves = Vec::new();
        let mut pending: SmallVec<[Known; 16]> = SmallVec::from_slice(&[known]);
        while let Some(known) = pending.pop() {
            match known {
                // Empty structs that contain each other may have any number of parts.
                _ if types.leaves(self.type_of(known)) == 0 => {}
                Known::Constant(id) => match self.constants.get(id.0 as usize) {
                    Some(ConstantData::Vector { bits, .. }) => leaves.push(Some(bits.clone())),
                    Some(ConstantData::Composite { parts, .. }) => pending.extend(parts.iter().rev().copied()),
                    None => {}
                },
                Known::Null(ty) => {
                    let shapes = types.leaf_shapes(ty);
                    leaves.extend(shapes.iter().map(|shape| Some(Bits::from_elem(0, shape.num_components.into()))));
                }
                Known::Undef(ty) => leaves.extend(types.leaf_shapes(ty).iter().map(|_| None)),
            }
        }
        leaves
    }
}
