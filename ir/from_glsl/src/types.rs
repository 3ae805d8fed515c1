//! Types of expressions and variables, interned: equal types of a unit have equal ids.

mod keywords;
mod names;
mod scalar;

use rustc_hash::FxHashMap;
use tgsi_environment::SamplerDim;

use crate::keyword::Keyword;
use crate::program::BlockId;
use crate::symbol::Symbol;
use crate::token::TokenRange;

pub(crate) use keywords::{image_of, of_keyword, sampler_of};
pub(crate) use scalar::Scalar;
use scalar::words;

/// The type of a sampler.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct SamplerType {
    /// Dimensionality.
    pub(crate) dim: SamplerDim,
    /// Array texture.
    pub(crate) array: bool,
    /// Comparing sampler.
    pub(crate) shadow: bool,
    /// Type of the results.
    pub(crate) result: Scalar,
    /// The keyword.
    pub(crate) name: Keyword,
}

/// The type of an image whose texels are read and written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ImageType {
    /// Dimensionality.
    pub(crate) dim: SamplerDim,
    /// Array of images.
    pub(crate) array: bool,
    /// Type of the components of texels.
    pub(crate) texel: Scalar,
    /// The keyword.
    pub(crate) name: Keyword,
}

impl ImageType {
    /// Components of coordinates: the faces of cubes count like layers.
    pub(crate) fn coordinates(&self) -> u8 {
        if self.dim == SamplerDim::Cube { 3 } else { self.dim.num_coords() + u8::from(self.array) }
    }

    /// Components of the size.
    pub(crate) fn size(&self) -> u8 {
        // The size of a cube is that of a face.
        let dimensions = if self.dim == SamplerDim::Cube { 2 } else { self.dim.num_coords() };
        dimensions + u8::from(self.array)
    }
}

/// The type of a subroutine uniform.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct SubroutineType {
    /// Name.
    pub(crate) name: Symbol,
    /// The number of the function of the program that has the parameters and the result.
    pub(crate) function: u32,
}

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct TypeId(u32);

/// A struct.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct StructTypeId(pub(crate) u32);

/// The data of a type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum TypeData {
    /// The type of an expression with an error, which was reported: operations on it report nothing more.
    Error,
    /// `void`
    Void,
    /// A scalar or vector.
    Vector {
        /// Type of a component.
        scalar: Scalar,
        /// 1 to 4.
        components: u8,
    },
    /// A matrix of column vectors.
    Matrix {
        /// [`Scalar::Float`] or [`Scalar::Double`].
        scalar: Scalar,
        /// 2 to 4.
        columns: u8,
        /// 2 to 4.
        rows: u8,
    },
    /// A struct.
    Struct(StructTypeId),
    /// An array.
    Array {
        /// Type of an element.
        element: TypeId,
        /// The length; `None` if it is not declared yet.
        length: Option<u32>,
    },
    /// A sampler.
    Sampler(SamplerType),
    /// An image.
    Image(ImageType),
    /// An atomic counter.
    AtomicUint,
    /// A uniform that selects one of several functions.
    Subroutine(SubroutineType),
}

/// A field of a struct.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    /// Name.
    pub(crate) name: Symbol,
    /// Type.
    pub(crate) ty: TypeId,
    /// The precision, as of variables.
    pub(crate) precision: Option<Keyword>,
    /// The name in its declaration.
    pub(crate) tokens: TokenRange,
}

/// A struct.
#[derive(Clone, Debug)]
pub(crate) struct StructType {
    /// Name; `None` for an anonymous struct.
    pub(crate) name: Option<Symbol>,
    /// The fields in order.
    pub(crate) fields: Vec<Field>,
    /// The definition: `struct` and the name.
    pub(crate) tokens: TokenRange,
    /// The interface block whose members the fields are. Such a struct is the type of no value.
    pub(crate) block: Option<BlockId>,
}

/// Sums over a type, kept because a chain of structs that have two fields of the one before is exponential to walk.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Summary {
    /// Scalar components of all elements and fields; saturates. Unsized arrays and opaque types count 0.
    pub(crate) components: u32,
    /// Registers of four components of a uniform: one for each scalar, vector and matrix column, two for `dvec3` and
    /// `dvec4`; saturates.
    pub(crate) registers: u32,
    /// Atomic counters of all elements and fields; saturates.
    pub(crate) counters: u32,
    /// Whether it is or contains a sampler, an image, an atomic counter or a subroutine.
    pub(crate) has_opaque: bool,
    /// Whether it is or contains an image.
    pub(crate) has_image: bool,
    /// Whether it is or contains an array.
    pub(crate) has_array: bool,
    /// Whether it is or contains integers or doubles, which are not interpolated.
    pub(crate) has_flat: bool,
    /// Whether it is or contains doubles.
    pub(crate) has_double: bool,
    /// Locations of a uniform: one for each element that is a scalar, vector, matrix or sampler; saturates.
    pub(crate) locations: u32,
    /// Words that the components take in a row, doubles two; saturates.
    pub(crate) words: u32,
}

/// The types of a unit.
#[derive(Debug)]
pub(crate) struct Types {
    data: Vec<TypeData>,
    /// By type.
    summaries: Vec<Summary>,
    ids: FxHashMap<TypeData, TypeId>,
    structs: Vec<StructType>,
    /// Structs of the language that are in use.
    language_structs: FxHashMap<Symbol, TypeId>,
}

impl TypeId {
    /// [`TypeData::Error`].
    pub(crate) const ERROR: TypeId = TypeId(0);
    /// `void`
    pub(crate) const VOID: TypeId = TypeId(1);
    /// `bool`
    pub(crate) const BOOL: TypeId = TypeId::vector(Scalar::Bool, 1);
    /// `int`
    pub(crate) const INT: TypeId = TypeId::vector(Scalar::Int, 1);
    /// `uint`
    pub(crate) const UINT: TypeId = TypeId::vector(Scalar::Uint, 1);
    /// `float`
    pub(crate) const FLOAT: TypeId = TypeId::vector(Scalar::Float, 1);
    /// `vec4`
    pub(crate) const VEC4: TypeId = TypeId::vector(Scalar::Float, 4);

    /// A scalar, or a vector of 2 to 4 components.
    pub(crate) const fn vector(scalar: Scalar, components: u8) -> TypeId {
        TypeId(2 + 4 * scalar as u32 + components as u32 - 1)
    }

    /// A float matrix of 2 to 4 columns and rows.
    pub(crate) const fn matrix(columns: u8, rows: u8) -> TypeId {
        TypeId(30 + 3 * (columns as u32 - 2) + rows as u32 - 2)
    }

    /// The number in the table, in which element types precede their arrays and structs.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether an error was reported for the expression.
    pub(crate) fn is_error(self) -> bool {
        self == TypeId::ERROR
    }
}

impl Types {
    /// A table with all scalars, vectors and float matrices.
    pub(crate) fn new() -> Types {
        let mut types = Types {
            data: Vec::new(),
            summaries: Vec::new(),
            ids: FxHashMap::default(),
            structs: Vec::new(),
            language_structs: FxHashMap::default(),
        };
        types.intern(TypeData::Error);
        types.intern(TypeData::Void);
        for scalar in Scalar::ALL {
            for components in 1..=4 {
                types.intern(TypeData::Vector { scalar, components });
            }
        }
        for columns in 2..=4 {
            for rows in 2..=4 {
                types.intern(TypeData::Matrix { scalar: Scalar::Float, columns, rows });
            }
        }
        types
    }

    /// The id of a type.
    pub(crate) fn intern(&mut self, data: TypeData) -> TypeId {
        if let Some(&ty) = self.ids.get(&data) {
            return ty;
        }
        let ty = TypeId(self.data.len() as u32);
        self.summaries.push(self.summarize(data));
        self.data.push(data);
        self.ids.insert(data, ty);
        ty
    }

    fn summarize(&self, data: TypeData) -> Summary {
        let of_vector = |scalar: Scalar, components: u8| 1 + u32::from(scalar.is_wide() && components > 2);
        match data {
            TypeData::Error | TypeData::Void => Summary::default(),
            TypeData::Vector { scalar, components } => Summary {
                components: components.into(),
                registers: of_vector(scalar, components),
                has_flat: !matches!(scalar, Scalar::Float | Scalar::Bool),
                has_double: scalar.is_wide(),
                words: u32::from(components) * words(scalar),
                locations: 1,
                ..Summary::default()
            },
            TypeData::Matrix { scalar, columns, rows } => Summary {
                components: u32::from(columns) * u32::from(rows),
                registers: u32::from(columns) * of_vector(scalar, rows),
                has_flat: scalar == Scalar::Double,
                has_double: scalar.is_wide(),
                words: u32::from(columns) * u32::from(rows) * words(scalar),
                locations: 1,
                ..Summary::default()
            },
            TypeData::Struct(id) => {
                let fields = self.struct_type(id).map_or(&[][..], |data| &data.fields);
                fields.iter().map(|field| self.summary(field.ty)).fold(Summary::default(), |sum, field| Summary {
                    components: sum.components.saturating_add(field.components),
                    registers: sum.registers.saturating_add(field.registers),
                    counters: sum.counters.saturating_add(field.counters),
                    has_opaque: sum.has_opaque | field.has_opaque,
                    has_image: sum.has_image | field.has_image,
                    has_array: sum.has_array | field.has_array,
                    has_flat: sum.has_flat | field.has_flat,
                    has_double: sum.has_double | field.has_double,
                    words: sum.words.saturating_add(field.words),
                    locations: sum.locations.saturating_add(field.locations),
                })
            }
            TypeData::Array { element, length } => {
                let (of_element, length) = (self.summary(element), length.unwrap_or(0));
                Summary {
                    components: of_element.components.saturating_mul(length),
                    registers: of_element.registers.saturating_mul(length),
                    words: of_element.words.saturating_mul(length),
                    locations: of_element.locations.saturating_mul(length),
                    counters: of_element.counters.saturating_mul(length),
                    has_array: true,
                    ..of_element
                }
            }
            TypeData::Sampler(_) => Summary { has_opaque: true, locations: 1, ..Summary::default() },
            TypeData::Image(_) => Summary { has_opaque: true, has_image: true, locations: 1, ..Summary::default() },
            TypeData::AtomicUint => Summary { counters: 1, has_opaque: true, ..Summary::default() },
            TypeData::Subroutine(_) => Summary { registers: 1, has_opaque: true, locations: 1, ..Summary::default() },
        }
    }

    /// Sums over a type.
    pub(crate) fn summary(&self, ty: TypeId) -> Summary {
        self.summaries.get(ty.0 as usize).copied().unwrap_or_default()
    }

    /// The types from a number on.
    pub(crate) fn from(&self, first: usize) -> impl Iterator<Item = TypeId> + use<> {
        (first as u32..self.data.len() as u32).map(TypeId)
    }

    /// The data of a type.
    pub(crate) fn get(&self, ty: TypeId) -> TypeData {
        self.data.get(ty.0 as usize).copied().unwrap_or(TypeData::Error)
    }

    /// An array.
    pub(crate) fn array(&mut self, element: TypeId, length: Option<u32>) -> TypeId {
        if element.is_error() { element } else { self.intern(TypeData::Array { element, length }) }
    }

    /// An array that the unit has already.
    pub(crate) fn find_array(&self, element: TypeId, length: u32) -> Option<TypeId> {
        self.ids.get(&TypeData::Array { element, length: Some(length) }).copied()
    }

    /// Adds a struct, different from all others.
    pub(crate) fn add_struct(&mut self, data: StructType) -> TypeId {
        self.structs.push(data);
        self.intern(TypeData::Struct(StructTypeId(self.structs.len() as u32 - 1)))
    }

    /// Gives a field of a struct another type.
    pub(crate) fn set_field(&mut self, ty: TypeId, number: u32, of_field: TypeId) {
        if let TypeData::Struct(id) = self.get(ty)
            && let Some(data) = self.structs.get_mut(id.0 as usize)
            && let Some(field) = data.fields.get_mut(number as usize)
        {
            field.ty = of_field;
        }
    }

    /// The number of structs.
    pub(crate) fn num_structs(&self) -> u32 {
        self.structs.len() as u32
    }

    /// The type of a struct that was added.
    pub(crate) fn of_struct(&self, id: StructTypeId) -> Option<TypeId> {
        self.ids.get(&TypeData::Struct(id)).copied()
    }

    /// Adds a struct of the language, which has one type in all of a unit.
    pub(crate) fn add_language_struct(&mut self, name: Symbol, data: StructType) -> TypeId {
        let ty = self.add_struct(data);
        self.language_structs.insert(name, ty);
        ty
    }

    /// A struct of the language, if it was added.
    pub(crate) fn language_struct(&self, name: Symbol) -> Option<TypeId> {
        self.language_structs.get(&name).copied()
    }

    /// The fields of a struct; none for other types.
    pub(crate) fn fields(&self, ty: TypeId) -> &[Field] {
        match self.get(ty) {
            TypeData::Struct(id) => self.struct_type(id).map_or(&[], |data| &data.fields),
            _ => &[],
        }
    }

    /// A struct.
    pub(crate) fn struct_type(&self, id: StructTypeId) -> Option<&StructType> {
        self.structs.get(id.0 as usize)
    }

    /// The interface block of a struct of members.
    pub(crate) fn block_of(&self, ty: TypeId) -> Option<BlockId> {
        match self.get(ty) {
            TypeData::Struct(id) => self.struct_type(id).and_then(|data| data.block),
            _ => None,
        }
    }

    /// The scalar and the number of components of a scalar or vector.
    pub(crate) fn as_vector(&self, ty: TypeId) -> Option<(Scalar, u8)> {
        match self.get(ty) {
            TypeData::Vector { scalar, components } => Some((scalar, components)),
            _ => None,
        }
    }

    /// The scalar, columns and rows of a matrix.
    pub(crate) fn as_matrix(&self, ty: TypeId) -> Option<(Scalar, u8, u8)> {
        match self.get(ty) {
            TypeData::Matrix { scalar, columns, rows } => Some((scalar, columns, rows)),
            _ => None,
        }
    }

    /// The type of a component of a scalar, vector or matrix.
    pub(crate) fn scalar(&self, ty: TypeId) -> Option<Scalar> {
        match self.get(ty) {
            TypeData::Vector { scalar, .. } | TypeData::Matrix { scalar, .. } => Some(scalar),
            _ => None,
        }
    }

    /// The same vector or matrix with another scalar.
    pub(crate) fn with_scalar(&mut self, ty: TypeId, scalar: Scalar) -> TypeId {
        match self.get(ty) {
            TypeData::Vector { components, .. } => TypeId::vector(scalar, components),
            TypeData::Matrix { columns, rows, .. } => self.intern(TypeData::Matrix { scalar, columns, rows }),
            _ => ty,
        }
    }

    /// The type of an element and the number of elements of an array, a matrix (its columns) or a vector.
    pub(crate) fn element(&mut self, ty: TypeId) -> Option<(TypeId, Option<u32>)> {
        match self.get(ty) {
            TypeData::Array { element, length } => Some((element, length)),
            TypeData::Matrix { scalar, columns, rows } => {
                Some((TypeId::vector(scalar, rows), Some(u32::from(columns))))
            }
            TypeData::Vector { scalar, components } if components > 1 => {
                Some((TypeId::vector(scalar, 1), Some(u32::from(components))))
            }
            _ => None,
        }
    }

    /// The element type below all array dimensions.
    pub(crate) fn without_arrays(&self, mut ty: TypeId) -> TypeId {
        while let TypeData::Array { element, .. } = self.get(ty) {
            ty = element;
        }
        ty
    }

    /// Locations that a vertex input takes: one for each scalar, vector and matrix column.
    pub(crate) fn attribute_locations(&self, ty: TypeId) -> u32 {
        let registers = self.summary(ty).registers;
        if self.is_dual(ty) { registers / 2 } else { registers }
    }

    /// Whether the vectors of a type take two registers each.
    pub(crate) fn is_dual(&self, ty: TypeId) -> bool {
        match self.get(self.without_arrays(ty)) {
            TypeData::Vector { scalar, components } => scalar.is_wide() && components > 2,
            TypeData::Matrix { scalar, rows, .. } => scalar.is_wide() && rows > 2,
            _ => false,
        }
    }
}
