//! Types of a module.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tgsi_environment::{PixelFormat, SamplerDim};
use tgsi_ir::body::Shape;
use tgsi_ir::types::ScalarType;

/// The number of a type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct TypeId(pub(crate) u32);

impl TypeId {
    /// The type of ids that are not understood.
    pub(crate) const ERROR: TypeId = TypeId(0);
    /// `void`.
    pub(crate) const VOID: TypeId = TypeId(1);
}

/// A member of a struct.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Member {
    pub(crate) ty: TypeId,
    /// Byte offset, where it is decorated.
    pub(crate) offset: Option<u32>,
    /// Distance of the columns, or of the rows of a row-major matrix; 0 where it is not decorated.
    pub(crate) matrix_stride: u32,
    /// Whether the matrices of the member are stored by rows.
    pub(crate) row_major: bool,
}

/// The type of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ImageType {
    /// Type of the components of a texel.
    pub(crate) sampled: ScalarType,
    pub(crate) dim: SamplerDim,
    pub(crate) is_array: bool,
    pub(crate) is_multisampled: bool,
    /// Whether it is accessed without a sampler: storage images, storage texel buffers.
    pub(crate) is_storage: bool,
    /// Whether it is an input attachment.
    pub(crate) is_subpass: bool,
    pub(crate) format: PixelFormat,
}

impl ImageType {
    /// Components of a coordinate, with the layer.
    pub(crate) fn coordinates(&self) -> u8 {
        self.dim.num_coords() + u8::from(self.is_array)
    }
}

/// A type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TypeData {
    Error,
    Void,
    /// A scalar or vector.
    Vector {
        scalar: ScalarType,
        count: u8,
    },
    /// Columns.
    Matrix {
        scalar: ScalarType,
        columns: u8,
        rows: u8,
    },
    /// The length is 0 if the array ends a block, or is one of descriptors without length.
    Array {
        element: TypeId,
        length: u32,
        stride: u32,
    },
    /// The id has names and decorations.
    Struct {
        id: u32,
        members: Vec<Member>,
    },
    /// The stride is that between elements of an array that the pointer may walk through.
    Pointer {
        class: u32,
        pointee: TypeId,
        stride: u32,
    },
    Image(ImageType),
    Sampler,
    SampledImage(ImageType),
    Function {
        result: TypeId,
        parameters: Box<[TypeId]>,
    },
}

/// Facts about a type.
#[derive(Clone, Copy, Default, Debug)]
struct Summary {
    /// Scalars and vectors in a value; saturated.
    leaves: u32,
    /// Components of them; saturated.
    scalars: u64,
    depth: u32,
    /// Whether a part is not a number or pointer, such as an image.
    is_opaque: bool,
}

/// The types of a module. A type is behind the types of its parts.
#[derive(Debug)]
pub(crate) struct Types {
    types: Vec<TypeData>,
    summaries: Vec<Summary>,
    /// By class and type: the words of a pointer in a variable.
    pointer_words: FxHashMap<(u32, TypeId), u8>,
}

impl Default for Types {
    fn default() -> Types {
        let mut types = Types { types: Vec::new(), summaries: Vec::new(), pointer_words: FxHashMap::default() };
        types.push(TypeData::Error);
        types.push(TypeData::Void);
        types
    }
}

impl Types {
    /// Adds a type.
    pub(crate) fn push(&mut self, data: TypeData) -> TypeId {
        let summary = match &data {
            TypeData::Vector { count, .. } => {
                Summary { leaves: 1, scalars: (*count).into(), depth: 1, is_opaque: false }
            }
            // At most four words.
            TypeData::Pointer { .. } => Summary { leaves: 1, scalars: 4, depth: 1, is_opaque: false },
            TypeData::Matrix { columns, rows, .. } => {
                let scalars = u64::from(*columns) * u64::from(*rows);
                Summary { leaves: (*columns).into(), scalars, depth: 2, is_opaque: false }
            }
            TypeData::Array { element, length, .. } => {
                let of = self.summary(*element);
                let scalars = of.scalars.saturating_mul((*length).into());
                Summary { leaves: of.leaves.saturating_mul(*length), scalars, depth: of.depth + 1, ..of }
            }
            TypeData::Struct { members, .. } => {
                let parts = members.iter().map(|member| self.summary(member.ty));
                parts.fold(Summary { depth: 1, ..Summary::default() }, |sum, part| Summary {
                    leaves: sum.leaves.saturating_add(part.leaves),
                    scalars: sum.scalars.saturating_add(part.scalars),
                    depth: sum.depth.max(part.depth + 1),
                    is_opaque: sum.is_opaque || part.is_opaque,
                })
            }
            _ => Summary { leaves: 0, scalars: 0, depth: 1, is_opaque: true },
        };
        self.types.push(data);
        self.summaries.push(summary);
        TypeId(self.types.len() as u32 - 1)
    }

    fn summary(&self, ty: TypeId) -> Summary {
        self.summaries.get(ty.0 as usize).copied().unwrap_or_default()
    }

    /// The data of a type.
    pub(crate) fn get(&self, ty: TypeId) -> &TypeData {
        self.types.get(ty.0 as usize).unwrap_or(&TypeData::Error)
    }

    /// Scalars and vectors in a value of a type, saturated.
    pub(crate) fn leaves(&self, ty: TypeId) -> u32 {
        self.summary(ty).leaves
    }

    /// Components of the scalars and vectors in a value of a type, saturated.
    pub(crate) fn scalars(&self, ty: TypeId) -> u64 {
        self.summary(ty).scalars
    }

    /// Whether a part of a type is not a number or pointer, such as an image.
    pub(crate) fn is_opaque(&self, ty: TypeId) -> bool {
        self.summary(ty).is_opaque
    }

    /// The nesting of a type.
    pub(crate) fn depth(&self, ty: TypeId) -> u32 {
        self.summary(ty).depth
    }

    /// The components of a scalar or vector.
    pub(crate) fn as_vector(&self, ty: TypeId) -> Option<(ScalarType, u8)> {
        match *self.get(ty) {
            TypeData::Vector { scalar, count } => Some((scalar, count)),
            _ => None,
        }
    }

    /// The type of the components of a scalar, vector or matrix.
    pub(crate) fn scalar(&self, ty: TypeId) -> Option<ScalarType> {
        match *self.get(ty) {
            TypeData::Vector { scalar, .. } | TypeData::Matrix { scalar, .. } => Some(scalar),
            _ => None,
        }
    }

    /// The shape of a scalar or vector, or of a pointer in a variable; a word for other types.
    pub(crate) fn shape(&self, ty: TypeId) -> Shape {
        match *self.get(ty) {
            TypeData::Vector { scalar, count } => Shape::new(count, scalar.bit_size()),
            TypeData::Pointer { class, pointee, .. } => {
                Shape::new(self.pointer_words.get(&(class, pointee)).copied().unwrap_or(1), 32)
            }
            _ => Shape::new(1, 32),
        }
    }

    /// Sets the number of words of pointers in variables: at most 4.
    pub(crate) fn set_pointer_words(&mut self, class: u32, pointee: TypeId, words: u8) {
        self.pointer_words.insert((class, pointee), words);
    }

    /// The type that a pointer points to.
    pub(crate) fn pointee(&self, ty: TypeId) -> Option<(u32, TypeId)> {
        match *self.get(ty) {
            TypeData::Pointer { class, pointee, .. } => Some((class, pointee)),
            _ => None,
        }
    }

    /// The type inside of arrays.
    pub(crate) fn without_arrays(&self, mut ty: TypeId) -> TypeId {
        while let TypeData::Array { element, .. } = *self.get(ty) {
            ty = element;
        }
        ty
    }

    /// The elements of all dimensions of an array together; 1 of other types.
    pub(crate) fn elements(&self, mut ty: TypeId) -> u32 {
        let mut count = 1u32;
        while let TypeData::Array { element, length, .. } = *self.get(ty) {
            count = count.saturating_mul(length);
            ty = element;
        }
        count
    }

    /// The number of parts of a composite, and the type of one. Parts of vectors are scalars, which have no number:
    /// their type is that of the vector.
    pub(crate) fn part(&self, ty: TypeId, number: u32) -> Option<TypeId> {
        match self.get(ty) {
            TypeData::Array { element, length, .. } => (number < *length || *length == 0).then_some(*element),
            TypeData::Struct { members, .. } => members.get(number as usize).map(|member| member.ty),
            _ => None,
        }
    }

    /// The number of components, columns, elements or members of a composite; 0 of other types.
    pub(crate) fn parts(&self, ty: TypeId) -> u32 {
        match self.get(ty) {
            TypeData::Vector { count, .. } => (*count).into(),
            TypeData::Matrix { columns, .. } => (*columns).into(),
            TypeData::Array { length, .. } => *length,
            TypeData::Struct { members, .. } => members.len() as u32,
            _ => 0,
        }
    }

    /// The number of leaves before part `number` of a composite.
    pub(crate) fn leaves_before(&self, ty: TypeId, number: u32) -> u32 {
        match self.get(ty) {
            TypeData::Array { element, .. } => self.leaves(*element).saturating_mul(number),
            TypeData::Matrix { .. } => number,
            TypeData::Struct { members, .. } => {
                let before = members.iter().take(number as usize);
                before.fold(0u32, |sum, member| sum.saturating_add(self.leaves(member.ty)))
            }
            _ => 0,
        }
    }

    /// The shapes of the leaves of a type, in order.
    pub(crate) fn leaf_shapes(&self, ty: TypeId) -> Vec<Shape> {
        let mut shapes = Vec::new();
        let mut pending: SmallVec<[TypeId; 16]> = SmallVec::from_slice(&[ty]);
        while let Some(ty) = pending.pop() {
            match self.get(ty) {
                // Arrays of empty structs may have any length.
                _ if self.leaves(ty) == 0 => {}
                TypeData::Vector { .. } | TypeData::Pointer { .. } => shapes.push(self.shape(ty)),
                TypeData::Matrix { scalar, columns, rows } => {
                    shapes.extend((0..*columns).map(|_| Shape::new(*rows, scalar.bit_size())));
                }
                TypeData::Array { element, length, .. } => pending.extend((0..*length).map(|_| *element)),
                TypeData::Struct { members, .. } => pending.extend(members.iter().rev().map(|member| member.ty)),
                _ => {}
            }
        }
        shapes
    }

    /// Whether both types have the same values: equal up to layout and names.
    pub(crate) fn are_equal(&self, a: TypeId, b: TypeId) -> bool {
        let mut pending: SmallVec<[(TypeId, TypeId); 8]> = SmallVec::from_slice(&[(a, b)]);
        // Arrays of one element type compare it once, but structs may share parts: the work is bounded.
        let mut work = 0;
        while let Some((a, b)) = pending.pop() {
            work += 1;
            if a == b || work > 1 << 14 {
                continue;
            }
            match (self.get(a), self.get(b)) {
                (TypeData::Array { element: a, length: n, .. }, TypeData::Array { element: b, length: m, .. }) => {
                    if n != m {
                        return false;
                    }
                    pending.push((*a, *b));
                }
                (TypeData::Struct { members: a, .. }, TypeData::Struct { members: b, .. }) => {
                    if a.len() != b.len() {
                        return false;
                    }
                    pending.extend(a.iter().zip(b).map(|(a, b)| (a.ty, b.ty)));
                }
                (TypeData::Vector { scalar: a, count: n }, TypeData::Vector { scalar: b, count: m }) => {
                    if n != m || a.bit_size() != b.bit_size() {
                        return false;
                    }
                }
                (a, b) => {
                    if a != b {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// A name for messages.
    pub(crate) fn kind(&self, ty: TypeId) -> &'static str {
        match self.get(ty) {
            TypeData::Error => "an unknown type",
            TypeData::Void => "void",
            TypeData::Vector { count: 1, .. } => "a scalar",
            TypeData::Vector { .. } => "a vector",
            TypeData::Matrix { .. } => "a matrix",
            TypeData::Array { .. } => "an array",
            TypeData::Struct { .. } => "a struct",
            TypeData::Pointer { .. } => "a pointer",
            TypeData::Image(_) => "an image",
            TypeData::Sampler => "a sampler",
            TypeData::SampledImage(_) => "a sampled image",
            TypeData::Function { .. } => "a function type",
        }
    }
}
