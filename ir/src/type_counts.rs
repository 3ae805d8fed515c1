//! Numbers of things in types, such as registers or cells, and in the fields before a field.

use cranelift_entity::EntityRef;

use crate::entities::Type;
use crate::types::{TypeData, TypeTable};

/// A number for each type: that of a struct is the sum of its fields, that of an array the product. Saturates.
#[derive(Debug, Default)]
pub(crate) struct TypeCounts {
    counts: Vec<u32>,
    /// The first entry of each type in `before`.
    first: Vec<u32>,
    /// For each field of a struct, the sum of the fields before it.
    before: Vec<u32>,
}

impl TypeCounts {
    /// `count` gives the number of each type that is neither an array nor a struct.
    pub fn new(types: &TypeTable, count: impl Fn(&TypeData) -> u32) -> TypeCounts {
        let mut all = TypeCounts::default();
        // A type is in the table after its element types.
        for data in types.iter() {
            all.first.push(all.before.len() as u32);
            let number = match data {
                TypeData::Array { element, length, .. } => all.of(*element).saturating_mul(*length),
                TypeData::Struct { fields, .. } => {
                    let mut sum = 0u32;
                    for field in fields {
                        all.before.push(sum);
                        sum = sum.saturating_add(all.of(field.ty));
                    }
                    sum
                }
                other => count(other),
            };
            all.counts.push(number);
        }
        all
    }

    /// The number of a type.
    pub fn of(&self, ty: Type) -> u32 {
        self.counts.get(ty.index()).copied().unwrap_or(0)
    }

    /// The sum of the fields of a struct before this one; `None` if there is no such field.
    pub fn before_field(&self, types: &TypeTable, ty: Type, number: u32) -> Option<u32> {
        let TypeData::Struct { fields, .. } = types.get(ty) else { return None };
        fields.get(number as usize)?;
        let first = *self.first.get(ty.index())?;
        self.before.get(first as usize + number as usize).copied()
    }
}

/// Units of samplers and textures, and of images, that are parts of a variable. The variable's binding is the first one;
/// each sampler of a struct has its own array of units, in order of the fields, so that a run-time index of an array of
/// structs reaches consecutive units.
#[derive(Debug, Default)]
pub(crate) struct UnitCounts {
    textures: TypeCounts,
    images: TypeCounts,
}

/// The units of a part of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Units {
    /// The first one, from that of the variable on.
    pub first: u32,
    /// How many there are.
    pub count: u32,
    /// Distance of the elements of each array, the outermost first.
    pub strides: Vec<u32>,
}

impl UnitCounts {
    pub fn new(types: &TypeTable) -> UnitCounts {
        let is_texture = |data: &TypeData| matches!(data, TypeData::Sampler { .. } | TypeData::Texture { .. });
        let is_image = |data: &TypeData| matches!(data, TypeData::Image { .. });
        UnitCounts {
            textures: TypeCounts::new(types, |data| u32::from(is_texture(data))),
            images: TypeCounts::new(types, |data| u32::from(is_image(data))),
        }
    }

    /// Whether a type has units.
    pub fn has_units(&self, ty: Type) -> bool {
        self.textures.of(ty) + self.images.of(ty) > 0
    }

    /// The units of a part of a variable of type `whole`, which ends at a sampler, texture or image. `path` has the
    /// number of the field for each struct, and `None` for each array.
    pub fn units(&self, types: &TypeTable, whole: Type, path: &[Option<u32>]) -> Option<Units> {
        let mut ty = whole;
        for step in path {
            ty = part(types, ty, *step)?;
        }
        let counts = match types.get(ty) {
            TypeData::Sampler { .. } | TypeData::Texture { .. } => &self.textures,
            TypeData::Image { .. } => &self.images,
            _ => return None,
        };
        let (mut first, mut count) = (0u32, 1u32);
        let mut lengths = Vec::new();
        let mut ty = whole;
        for &step in path {
            match (step, types.get(ty)) {
                (Some(field), _) => {
                    let before = counts.before_field(types, ty, field)?;
                    first = first.saturating_add(before.saturating_mul(count));
                }
                (None, &TypeData::Array { length, .. }) => {
                    count = count.saturating_mul(length);
                    lengths.push(length);
                }
                _ => return None,
            }
            ty = part(types, ty, step)?;
        }
        let mut strides = Vec::with_capacity(lengths.len());
        let mut stride = 1u32;
        for &length in lengths.iter().rev() {
            strides.push(stride);
            stride = stride.saturating_mul(length);
        }
        strides.reverse();
        Some(Units { first, count, strides })
    }
}

fn part(types: &TypeTable, ty: Type, step: Option<u32>) -> Option<Type> {
    match (step, types.get(ty)) {
        (Some(field), TypeData::Struct { fields, .. }) => fields.get(field as usize).map(|field| field.ty),
        (None, TypeData::Array { element, .. }) => Some(*element),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Field, ScalarType};
    use tgsi_environment::SamplerDim;

    #[test]
    fn units_of_structs() {
        let mut types = TypeTable::default();
        let float = types.vector(ScalarType::Float, 1);
        let (dim, array, result) = (SamplerDim::Dim2D, false, ScalarType::Float);
        let sampler = types.intern(TypeData::Sampler { dim: Some(dim), array, shadow: false, result });
        let image = types.intern(TypeData::Image { dim, array, result });
        let field = |ty| Field { name: String::new(), ty, offset: -1 };
        let structure = |types: &mut TypeTable, list: &[Type]| {
            let fields = list.iter().map(|&ty| field(ty)).collect();
            types.intern(TypeData::Struct { name: "S".into(), fields, interface: false })
        };
        let inner = structure(&mut types, &[sampler, image, sampler]);
        let inners = types.array(inner, 2);
        let outer = structure(&mut types, &[sampler, float, inners, sampler]);
        let whole = types.array(outer, 3);
        let counts = UnitCounts::new(&types);
        let units = |path: &[Option<u32>]| {
            counts.units(&types, whole, path).map(|units| (units.first, units.count, units.strides))
        };
        assert_eq!(units(&[None, Some(0)]), Some((0, 3, vec![1])));
        assert_eq!(units(&[None, Some(2), None, Some(0)]), Some((3, 6, vec![2, 1])));
        assert_eq!(units(&[None, Some(2), None, Some(1)]), Some((0, 6, vec![2, 1])));
        assert_eq!(units(&[None, Some(2), None, Some(2)]), Some((9, 6, vec![2, 1])));
        assert_eq!(units(&[None, Some(3)]), Some((15, 3, vec![1])));
        assert_eq!(units(&[None, Some(1)]), None);
        assert!(counts.has_units(whole) && !counts.has_units(float));
    }
}
