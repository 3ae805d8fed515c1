//! Types of expressions and variables, interned: equal types of a unit have equal ids.

use rustc_hash::FxHashMap;
use tgsi_environment::SamplerDim;

use crate::keyword::Keyword;
use crate::program::BlockId;
use crate::symbol::{Interner, Symbol};
use crate::token::TokenRange;

/// Type of a component.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Scalar {
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `uint`
    Uint,
    /// `float`
    Float,
    /// `double`
    Double,
}

impl Scalar {
    /// All, in the order of their numbers.
    pub(crate) const ALL: [Scalar; 5] = [Scalar::Bool, Scalar::Int, Scalar::Uint, Scalar::Float, Scalar::Double];

    /// Whether values are numbers.
    pub(crate) fn is_numeric(self) -> bool {
        self != Scalar::Bool
    }

    /// Whether values are `int` or `uint`.
    pub(crate) fn is_integer(self) -> bool {
        matches!(self, Scalar::Int | Scalar::Uint)
    }

    /// Whether values are floats of any size.
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Scalar::Float | Scalar::Double)
    }

    /// The keyword, and the prefix of vectors.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Scalar::Bool => ("bool", "b"),
            Scalar::Int => ("int", "i"),
            Scalar::Uint => ("uint", "u"),
            Scalar::Float => ("float", ""),
            Scalar::Double => ("double", "d"),
        }
    }
}

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
    /// Scalar components of all elements and fields; saturates. Unsized arrays and samplers count 0.
    pub(crate) components: u32,
    /// Registers of four components of a uniform: one for each scalar, vector and matrix column, two for `dvec3` and
    /// `dvec4`; saturates.
    pub(crate) registers: u32,
    /// Whether it is or contains a sampler.
    pub(crate) has_opaque: bool,
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
        TypeId(22 + 3 * (columns as u32 - 2) + rows as u32 - 2)
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
        let of_vector = |scalar: Scalar, components: u8| 1 + u32::from(scalar == Scalar::Double && components > 2);
        match data {
            TypeData::Error | TypeData::Void => Summary::default(),
            TypeData::Vector { scalar, components } => Summary {
                components: components.into(),
                registers: of_vector(scalar, components),
                has_flat: !matches!(scalar, Scalar::Float | Scalar::Bool),
                has_double: scalar == Scalar::Double,
                words: u32::from(components) * words(scalar),
                locations: 1,
                ..Summary::default()
            },
            TypeData::Matrix { scalar, columns, rows } => Summary {
                components: u32::from(columns) * u32::from(rows),
                registers: u32::from(columns) * of_vector(scalar, rows),
                has_flat: scalar == Scalar::Double,
                has_double: scalar == Scalar::Double,
                words: u32::from(columns) * u32::from(rows) * words(scalar),
                locations: 1,
                ..Summary::default()
            },
            TypeData::Struct(id) => {
                let fields = self.struct_type(id).map_or(&[][..], |data| &data.fields);
                fields.iter().map(|field| self.summary(field.ty)).fold(Summary::default(), |sum, field| Summary {
                    components: sum.components.saturating_add(field.components),
                    registers: sum.registers.saturating_add(field.registers),
                    has_opaque: sum.has_opaque | field.has_opaque,
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
                    has_array: true,
                    ..of_element
                }
            }
            TypeData::Sampler(_) => Summary { has_opaque: true, locations: 1, ..Summary::default() },
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

    /// The name as in the source: `vec3`, `mat2x3`, `float[4]`.
    pub(crate) fn name(&self, ty: TypeId, interner: &Interner) -> String {
        let mut dimensions = String::new();
        let mut inner = ty;
        while let TypeData::Array { element, length } = self.get(inner) {
            match length {
                Some(length) => dimensions.push_str(&format!("[{length}]")),
                None => dimensions.push_str("[]"),
            }
            inner = element;
        }
        let name = match self.get(inner) {
            TypeData::Error | TypeData::Array { .. } => "?".to_owned(),
            TypeData::Void => "void".to_owned(),
            TypeData::Vector { scalar, components: 1 } => scalar.names().0.to_owned(),
            TypeData::Vector { scalar, components } => format!("{}vec{components}", scalar.names().1),
            TypeData::Matrix { scalar, columns, rows } if columns == rows => {
                format!("{}mat{columns}", scalar.names().1)
            }
            TypeData::Matrix { scalar, columns, rows } => format!("{}mat{columns}x{rows}", scalar.names().1),
            TypeData::Struct(id) => match self.struct_type(id).and_then(|data| data.name) {
                Some(name) => interner.spelling(name).to_owned(),
                None => "struct".to_owned(),
            },
            TypeData::Sampler(sampler) => sampler.name.name().to_owned(),
        };
        name + &dimensions
    }
}

/// Words of a component.
fn words(scalar: Scalar) -> u32 {
    if scalar == Scalar::Double { 2 } else { 1 }
}

/// The type of a keyword; `None` if it names no type of this front end.
pub(crate) fn of_keyword(types: &mut Types, keyword: Keyword) -> Option<TypeId> {
    use Keyword as K;
    let vector = |scalar, components| Some(TypeId::vector(scalar, components));
    let float = |columns, rows| Some(TypeId::matrix(columns, rows));
    let mut double = |columns, rows| Some(types.intern(TypeData::Matrix { scalar: Scalar::Double, columns, rows }));
    match keyword {
        K::Void => Some(TypeId::VOID),
        K::Bool => vector(Scalar::Bool, 1),
        K::Bvec2 => vector(Scalar::Bool, 2),
        K::Bvec3 => vector(Scalar::Bool, 3),
        K::Bvec4 => vector(Scalar::Bool, 4),
        K::Int => vector(Scalar::Int, 1),
        K::Ivec2 => vector(Scalar::Int, 2),
        K::Ivec3 => vector(Scalar::Int, 3),
        K::Ivec4 => vector(Scalar::Int, 4),
        K::Uint => vector(Scalar::Uint, 1),
        K::Uvec2 => vector(Scalar::Uint, 2),
        K::Uvec3 => vector(Scalar::Uint, 3),
        K::Uvec4 => vector(Scalar::Uint, 4),
        K::Float => vector(Scalar::Float, 1),
        K::Vec2 => vector(Scalar::Float, 2),
        K::Vec3 => vector(Scalar::Float, 3),
        K::Vec4 => vector(Scalar::Float, 4),
        K::Double => vector(Scalar::Double, 1),
        K::Dvec2 => vector(Scalar::Double, 2),
        K::Dvec3 => vector(Scalar::Double, 3),
        K::Dvec4 => vector(Scalar::Double, 4),
        K::Mat2 | K::Mat2x2 => float(2, 2),
        K::Mat2x3 => float(2, 3),
        K::Mat2x4 => float(2, 4),
        K::Mat3x2 => float(3, 2),
        K::Mat3 | K::Mat3x3 => float(3, 3),
        K::Mat3x4 => float(3, 4),
        K::Mat4x2 => float(4, 2),
        K::Mat4x3 => float(4, 3),
        K::Mat4 | K::Mat4x4 => float(4, 4),
        K::Dmat2 | K::Dmat2x2 => double(2, 2),
        K::Dmat2x3 => double(2, 3),
        K::Dmat2x4 => double(2, 4),
        K::Dmat3x2 => double(3, 2),
        K::Dmat3 | K::Dmat3x3 => double(3, 3),
        K::Dmat3x4 => double(3, 4),
        K::Dmat4x2 => double(4, 2),
        K::Dmat4x3 => double(4, 3),
        K::Dmat4 | K::Dmat4x4 => double(4, 4),
        _ => sampler_of(keyword).map(|sampler| types.intern(TypeData::Sampler(sampler))),
    }
}

/// The sampler type of a keyword.
pub(crate) fn sampler_of(name: Keyword) -> Option<SamplerType> {
    let spelling = name.name();
    let (result, rest) = match spelling.split_once("sampler")? {
        ("", rest) => (Scalar::Float, rest),
        ("i", rest) => (Scalar::Int, rest),
        ("u", rest) => (Scalar::Uint, rest),
        _ => return None,
    };
    let (rest, shadow) = rest.strip_suffix("Shadow").map_or((rest, false), |rest| (rest, true));
    let (rest, array) = rest.strip_suffix("Array").map_or((rest, false), |rest| (rest, true));
    let dim = match rest {
        "1D" => SamplerDim::Dim1D,
        "2D" => SamplerDim::Dim2D,
        "3D" => SamplerDim::Dim3D,
        "Cube" => SamplerDim::Cube,
        "2DRect" => SamplerDim::Rect,
        "Buffer" => SamplerDim::Buf,
        "2DMS" => SamplerDim::Ms,
        "ExternalOES" => SamplerDim::External,
        _ => return None,
    };
    Some(SamplerType { dim, array, shadow, result, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_have_their_names() {
        let (mut types, interner) = (Types::new(), Interner::new());
        let mut named = 0;
        for &keyword in Keyword::ALL {
            if let Some(ty) = of_keyword(&mut types, keyword) {
                let name = types.name(ty, &interner);
                let square = |n: u8| format!("{n}x{n}");
                let short = (2..=4).fold(keyword.name().to_owned(), |name, n| name.replace(&square(n), &n.to_string()));
                assert_eq!(name, short);
                named += 1;
            }
        }
        assert!(named > 60, "{named}");
        assert_eq!(types.get(TypeId::matrix(3, 4)), TypeData::Matrix { scalar: Scalar::Float, columns: 3, rows: 4 });
        assert_eq!(types.get(TypeId::VEC4), TypeData::Vector { scalar: Scalar::Float, components: 4 });
    }

    #[test]
    fn arrays_are_named_from_the_outermost_dimension() {
        let (mut types, interner) = (Types::new(), Interner::new());
        let inner = types.array(TypeId::FLOAT, Some(3));
        let outer = types.array(inner, None);
        assert_eq!(types.name(outer, &interner), "float[][3]");
        let sized = types.array(inner, Some(2));
        assert_eq!((types.summary(sized).components, types.summary(sized).registers), (6, 6));
        assert_eq!(types.without_arrays(sized), TypeId::FLOAT);
    }
}
