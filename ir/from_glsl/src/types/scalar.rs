//! Types of components.

use tgsi_compiler::front_end::ComponentType;

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
    /// `int64_t`
    Int64,
    /// `uint64_t`
    Uint64,
}

impl Scalar {
    /// All, in the order of their numbers.
    pub(crate) const ALL: [Scalar; 7] =
        [Scalar::Bool, Scalar::Int, Scalar::Uint, Scalar::Float, Scalar::Double, Scalar::Int64, Scalar::Uint64];

    /// The type in descriptions of interfaces.
    pub(crate) fn component_type(self) -> ComponentType {
        match self {
            Scalar::Bool => ComponentType::Bool,
            Scalar::Int => ComponentType::Int,
            Scalar::Uint => ComponentType::Uint,
            Scalar::Int64 => ComponentType::Int64,
            Scalar::Uint64 => ComponentType::Uint64,
            Scalar::Float => ComponentType::Float,
            Scalar::Double => ComponentType::Double,
        }
    }

    /// Whether values are numbers.
    pub(crate) fn is_numeric(self) -> bool {
        self != Scalar::Bool
    }

    /// Whether values are integers of any size.
    pub(crate) fn is_integer(self) -> bool {
        matches!(self, Scalar::Int | Scalar::Uint | Scalar::Int64 | Scalar::Uint64)
    }

    /// Whether values have 64 bits.
    pub(crate) fn is_wide(self) -> bool {
        matches!(self, Scalar::Double | Scalar::Int64 | Scalar::Uint64)
    }

    /// Whether values are floats of any size.
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Scalar::Float | Scalar::Double)
    }

    /// The keyword, and the prefix of vectors.
    pub(super) fn names(self) -> (&'static str, &'static str) {
        match self {
            Scalar::Bool => ("bool", "b"),
            Scalar::Int => ("int", "i"),
            Scalar::Uint => ("uint", "u"),
            Scalar::Float => ("float", ""),
            Scalar::Double => ("double", "d"),
            Scalar::Int64 => ("int64_t", "i64"),
            Scalar::Uint64 => ("uint64_t", "u64"),
        }
    }
}

/// Words of a component.
pub(super) fn words(scalar: Scalar) -> u32 {
    if scalar.is_wide() { 2 } else { 1 }
}
