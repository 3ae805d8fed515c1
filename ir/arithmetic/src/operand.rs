//! Scalars, vectors and matrices.

use arrayvec::ArrayVec;

/// The largest number of components of a vector and columns of a matrix.
pub const MAX: usize = 4;

/// The columns of a matrix.
pub type Columns<V> = ArrayVec<V, MAX>;

/// A scalar or vector, or the columns of a matrix.
#[derive(Clone, PartialEq, Debug)]
pub enum Operand<V> {
    /// A scalar or vector.
    Vector(V),
    /// 2 to 4 columns.
    Matrix(Columns<V>),
}

impl<V: Copy> Operand<V> {
    /// The vectors: one, or the columns.
    pub fn vectors(&self) -> &[V] {
        match self {
            Operand::Vector(value) => std::slice::from_ref(value),
            Operand::Matrix(columns) => columns,
        }
    }

    /// The scalar or vector.
    pub fn vector(&self) -> Option<V> {
        match self {
            Operand::Vector(value) => Some(*value),
            Operand::Matrix(_) => None,
        }
    }

    /// Computes each vector.
    pub fn map(&self, mut compute: impl FnMut(V) -> V) -> Operand<V> {
        match self {
            Operand::Vector(value) => Operand::Vector(compute(*value)),
            Operand::Matrix(columns) => Operand::Matrix(columns.iter().map(|&column| compute(column)).collect()),
        }
    }
}
