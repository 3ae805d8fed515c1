//! Types of variables and derefs. They are interned: equal types of a shader have equal ids.

use hashbrown::HashMap;

use cranelift_entity::{EntityRef, PrimaryMap};

use crate::entities::Type;
use tgsi_environment::SamplerDim;

/// Scalar type of a vector, matrix or sampled value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ScalarType {
    /// Boolean, 1 bit in values.
    Bool,
    /// 8-bit signed integer.
    Int8,
    /// 8-bit unsigned integer.
    Uint8,
    /// 16-bit signed integer.
    Int16,
    /// 16-bit unsigned integer.
    Uint16,
    /// 32-bit signed integer.
    Int,
    /// 32-bit unsigned integer.
    Uint,
    /// 64-bit signed integer.
    Int64,
    /// 64-bit unsigned integer.
    Uint64,
    /// 16-bit float.
    Float16,
    /// 32-bit float.
    Float,
    /// 64-bit float.
    Double,
    /// No value (sampler without result type, `void`).
    Void,
}

impl ScalarType {
    /// Bit size of a value; 1 for booleans, 0 for void.
    pub const fn bit_size(self) -> u8 {
        match self {
            ScalarType::Void => 0,
            ScalarType::Bool => 1,
            ScalarType::Int8 | ScalarType::Uint8 => 8,
            ScalarType::Int16 | ScalarType::Uint16 | ScalarType::Float16 => 16,
            ScalarType::Int | ScalarType::Uint | ScalarType::Float => 32,
            ScalarType::Int64 | ScalarType::Uint64 | ScalarType::Double => 64,
        }
    }

    /// Whether values are floats.
    pub const fn is_float(self) -> bool {
        matches!(self, ScalarType::Float16 | ScalarType::Float | ScalarType::Double)
    }
}

/// A field of a struct.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Field {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: Type,
    /// Byte offset, or -1 for none.
    pub offset: i32,
}

/// The data of a type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TypeData {
    /// A scalar (`components` 1) or vector.
    Vector {
        /// Type of a component.
        scalar: ScalarType,
        /// 1, 2, 3, 4, 5, 8 or 16.
        components: u8,
    },
    /// A matrix of column vectors.
    Matrix {
        /// Type of an element.
        scalar: ScalarType,
        /// Number of columns.
        columns: u8,
        /// Components of a column.
        rows: u8,
        /// Explicit stride in bytes of the columns in memory, or of the rows if `row_major`; 0 means none.
        stride: u32,
        /// Whether rows, not columns, are contiguous in memory.
        row_major: bool,
    },
    /// An array.
    Array {
        /// Element type.
        element: Type,
        /// Number of elements; 0 means unsized.
        length: u32,
        /// Explicit stride in bytes; 0 means none.
        stride: u32,
    },
    /// A struct or interface block.
    Struct {
        /// Name.
        name: String,
        /// Fields.
        fields: Vec<Field>,
        /// Interface block.
        interface: bool,
    },
    /// A combined sampler (`sampler2D`), or a bare one (without `dim`).
    Sampler {
        /// Dimensionality; `None` for a bare sampler.
        dim: Option<SamplerDim>,
        /// Array texture.
        array: bool,
        /// Comparing sampler.
        shadow: bool,
        /// Type of the result.
        result: ScalarType,
    },
    /// A texture without sampler.
    Texture {
        /// Dimensionality.
        dim: SamplerDim,
        /// Array texture.
        array: bool,
        /// Type of the result.
        result: ScalarType,
    },
    /// A storage image.
    Image {
        /// Dimensionality.
        dim: SamplerDim,
        /// Array image.
        array: bool,
        /// Type of a texel.
        result: ScalarType,
    },
    /// An atomic counter.
    AtomicCounter,
    /// A type known by its name only.
    Opaque(String),
}

/// The types of one shader.
#[derive(Clone, Debug, Default)]
pub struct TypeTable {
    types: PrimaryMap<Type, TypeData>,
    /// The slots of each type: the same inner type may be reachable on exponentially many paths.
    slots: Vec<u32>,
    ids: HashMap<TypeData, Type>,
}

impl TypeTable {
    /// Returns the id of a type; equal types have the same id.
    pub fn intern(&mut self, data: TypeData) -> Type {
        if let Some(&ty) = self.ids.get(&data) {
            return ty;
        }
        self.slots.push(self.slots_of(&data));
        let ty = self.types.push(data.clone());
        self.ids.insert(data, ty);
        ty
    }

    /// Returns the data of a type.
    pub fn get(&self, ty: Type) -> &TypeData {
        &self.types[ty]
    }

    /// Whether this table contains the id.
    pub fn contains(&self, ty: Type) -> bool {
        self.types.get(ty).is_some()
    }

    /// All types in order of creation: element types precede the types that contain them.
    pub fn iter(&self) -> impl Iterator<Item = &TypeData> {
        self.types.values()
    }

    /// A vector or scalar type.
    pub fn vector(&mut self, scalar: ScalarType, components: u8) -> Type {
        self.intern(TypeData::Vector { scalar, components })
    }

    /// A matrix without explicit layout.
    pub fn matrix(&mut self, scalar: ScalarType, columns: u8, rows: u8) -> Type {
        self.intern(TypeData::Matrix { scalar, columns, rows, stride: 0, row_major: false })
    }

    /// An array without explicit stride, such as `float[n]`.
    pub fn array(&mut self, element: Type, length: u32) -> Type {
        self.intern(TypeData::Array { element, length, stride: 0 })
    }

    /// Returns the element type and length of an array, the column type and number of columns of a matrix, or the
    /// component type and number of components of a vector.
    pub fn element(&mut self, ty: Type) -> Option<(Type, u32)> {
        match *self.get(ty) {
            TypeData::Array { element, length, .. } => Some((element, length)),
            TypeData::Matrix { scalar, columns, rows, .. } => Some((self.vector(scalar, rows), u32::from(columns))),
            TypeData::Vector { scalar, components } if components > 1 => {
                Some((self.vector(scalar, 1), u32::from(components)))
            }
            _ => None,
        }
    }

    /// Scalar type and number of components of a vector or scalar type.
    pub fn as_vector(&self, ty: Type) -> Option<(ScalarType, u8)> {
        match *self.get(ty) {
            TypeData::Vector { scalar, components } => Some((scalar, components)),
            _ => None,
        }
    }

    /// The element type after removing all array dimensions.
    pub fn without_arrays(&self, mut ty: Type) -> Type {
        while let TypeData::Array { element, .. } = *self.get(ty) {
            ty = element;
        }
        ty
    }

    /// Product of all array lengths; 1 for other types. Saturates.
    pub fn array_elements(&self, mut ty: Type) -> u32 {
        let mut product = 1u32;
        while let TypeData::Array { element, length, .. } = *self.get(ty) {
            product = product.saturating_mul(length);
            ty = element;
        }
        product
    }

    /// Number of vec4 slots of a varying or a uniform of this type: one for a scalar or vector, two for a 64-bit vector
    /// of more than two components, those of the columns for a matrix. Opaque types take one in varyings. Saturates.
    pub fn slots(&self, ty: Type) -> u32 {
        self.slots.get(ty.index()).copied().unwrap_or(1)
    }

    /// Computes the slots of a type from those of its elements, which are in the table.
    fn slots_of(&self, data: &TypeData) -> u32 {
        let of_vector = |scalar: ScalarType, components: u8| 1 + u32::from(scalar.bit_size() == 64 && components > 2);
        match data {
            TypeData::Vector { scalar, components } => of_vector(*scalar, *components),
            TypeData::Matrix { scalar, columns, rows, .. } => u32::from(*columns) * of_vector(*scalar, *rows),
            TypeData::Array { element, length, .. } => self.slots(*element).saturating_mul(*length),
            TypeData::Struct { fields, .. } => fields.iter().fold(0, |sum, f| self.slots(f.ty).saturating_add(sum)),
            _ => 1,
        }
    }
}
