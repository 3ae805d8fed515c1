//! Constructors of vectors and matrices.

use arrayvec::ArrayVec;
use tgsi_arithmetic::{MAX, Operand, Sink};

use super::component;
use crate::types::Scalar;

/// The shape of a scalar, vector or matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// A vector of n components.
    Vector(u8),
    /// Columns and rows.
    Matrix(u8, u8),
}

/// Constructs a scalar, vector or matrix from operands whose components have its scalar type.
///
/// A scalar fills a vector and the diagonal of a matrix; a matrix is the upper left part of a matrix, completed like the
/// identity. Otherwise components are taken in order; surplus ones are dropped. Returns `None` if they are too few.
pub(crate) fn construct<S: Sink>(
    sink: &mut S,
    scalar: Scalar,
    shape: Shape,
    operands: &[Operand<S::Value>],
) -> Option<Operand<S::Value>> {
    match (shape, operands) {
        (Shape::Vector(components), [Operand::Vector(value)]) if sink.components(*value) == 1 => {
            let selected = [0; MAX];
            Some(Operand::Vector(sink.select(*value, selected.get(..usize::from(components))?)))
        }
        (Shape::Matrix(columns, rows), [Operand::Vector(value)]) if sink.components(*value) == 1 => {
            let diagonal = |column: u8, row: u8| if column == row { Element::Of(*value, 0) } else { Element::Zero };
            matrix(sink, scalar, columns, rows, diagonal)
        }
        (Shape::Matrix(columns, rows), [Operand::Matrix(source)]) => {
            let source_rows = sink.components(*source.first()?);
            matrix(sink, scalar, columns, rows, |column, row| match source.get(usize::from(column)) {
                Some(&value) if row < source_rows => Element::Of(value, row),
                _ if column == row => Element::One,
                _ => Element::Zero,
            })
        }
        _ => from_components(sink, shape, operands),
    }
}

/// An element of a matrix.
enum Element<V> {
    Zero,
    One,
    Of(V, u8),
}

/// A matrix from its elements.
fn matrix<S: Sink>(
    sink: &mut S,
    scalar: Scalar,
    columns: u8,
    rows: u8,
    element: impl Fn(u8, u8) -> Element<S::Value>,
) -> Option<Operand<S::Value>> {
    let mut all = ArrayVec::<S::Value, MAX>::new();
    let one = if scalar == Scalar::Double { 1f64.to_bits() } else { u64::from(1f32.to_bits()) };
    // One vector holds the constants of all columns.
    let constants = sink.constant(component(scalar).bits, &[0, one]);
    for column in 0..columns {
        let elements: ArrayVec<(S::Value, u8), MAX> = (0..rows)
            .map(|row| match element(column, row) {
                Element::Zero => (constants, 0),
                Element::One => (constants, 1),
                Element::Of(value, component) => (value, component),
            })
            .collect();
        all.try_push(sink.gather(&elements)).ok()?;
    }
    Some(Operand::Matrix(all))
}

/// Takes components in order.
fn from_components<S: Sink>(sink: &mut S, shape: Shape, operands: &[Operand<S::Value>]) -> Option<Operand<S::Value>> {
    let needed = match shape {
        Shape::Vector(components) => components,
        Shape::Matrix(columns, rows) => columns * rows,
    };
    let mut components = ArrayVec::<(S::Value, u8), 16>::new();
    for &vector in operands.iter().flat_map(Operand::vectors) {
        for component in 0..sink.components(vector) {
            if components.len() < usize::from(needed) {
                components.try_push((vector, component)).ok()?;
            }
        }
    }
    if components.len() < usize::from(needed) {
        return None;
    }
    Some(match shape {
        Shape::Vector(_) => Operand::Vector(sink.gather(&components)),
        Shape::Matrix(_, rows) => {
            Operand::Matrix(components.chunks(rows.into()).map(|column| sink.gather(column)).collect())
        }
    })
}
