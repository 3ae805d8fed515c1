//! Matrices.

use spirv::Op;
use tgsi_arithmetic::{Columns, Sink, matrix, operators};
use tgsi_ir::Swizzle;
use tgsi_ir::alu::AluOp;
use tgsi_ir::entities::Def;
use tgsi_ir::types::ScalarType;

use super::{Class, Fault, Term, Terms, checked, compute};
use crate::emit::Emitter;
use crate::emit::value::Value;
use crate::error::SpirvError;
use crate::grammar;
use crate::types::TypeData;
use crate::words::Inst;

/// A matrix of floats.
#[derive(Clone, Debug)]
pub(crate) struct Matrix<V> {
    /// The columns, or the rows.
    pub(crate) vectors: Columns<V>,
    /// Whether they are rows.
    pub(crate) by_rows: bool,
}

impl<V: Copy> Matrix<V> {
    pub(crate) fn of_columns(vectors: Columns<V>) -> Matrix<V> {
        Matrix { vectors, by_rows: false }
    }

    /// Exchanges columns and rows.
    fn transposed(self) -> Matrix<V> {
        Matrix { by_rows: !self.by_rows, ..self }
    }

    /// The columns, or the rows.
    pub(super) fn in_order<S: Sink<Value = V>>(&self, sink: &mut S, by_rows: bool) -> Columns<V> {
        if self.by_rows == by_rows { self.vectors.clone() } else { matrix::transpose(sink, &self.vectors) }
    }
}

/// A matrix times a column: dot products with its rows, or the sum of its columns, each times a component.
pub(super) fn times_vector<S: Sink>(sink: &mut S, matrix: &Matrix<S::Value>, vector: S::Value) -> Option<S::Value> {
    if matrix.by_rows {
        operators::vector_times_matrix(sink, vector, &matrix.vectors)
    } else {
        operators::matrix_times_vector(sink, &matrix.vectors, vector)
    }
}

/// The product of two matrices. No operand is transposed.
pub(super) fn product<S: Sink>(sink: &mut S, a: &Matrix<S::Value>, b: &Matrix<S::Value>) -> Option<Matrix<S::Value>> {
    let (left, right) = (&a.vectors, &b.vectors);
    Some(match (a.by_rows, b.by_rows) {
        // Each column of the right one times the left one.
        (_, false) => {
            let columns = right.iter().map(|&column| times_vector(sink, a, column));
            Matrix::of_columns(columns.collect::<Option<_>>()?)
        }
        // The transpose of the product is the product of the transposes, exchanged.
        (true, true) => Matrix { vectors: operators::matrix_times_matrix(sink, right, left)?, by_rows: true },
        // The sum of the products of columns and rows.
        (false, true) => {
            if left.len() != right.len() {
                return None;
            }
            let (rows, count) = (sink.components(*left.first()?), sink.components(*right.first()?));
            let mut columns = Columns::new();
            for column in 0..count.min(tgsi_arithmetic::MAX as u8) {
                let mut sum = None;
                for (&left, &right) in left.iter().zip(right) {
                    let (left, right) = ((left, Swizzle::IDENTITY), (right, Swizzle::replicate(column)));
                    sum = Some(match sum {
                        None => sink.alu(AluOp::Fmul, rows, &[left, right]),
                        Some(sum) => operators::multiply_add(sink, rows, left, right, (sum, Swizzle::IDENTITY)),
                    });
                }
                columns.push(sum?);
            }
            Matrix::of_columns(columns)
        }
    })
}

impl Emitter<'_, '_, '_> {
    /// A matrix.
    ///
    /// # Errors
    /// The value is something else.
    pub(crate) fn matrix(&mut self, id: u32) -> Result<(Matrix<Def>, ScalarType), SpirvError> {
        let ty = self.type_of(id);
        let TypeData::Matrix { scalar, columns, rows } = *self.context.module.types.get(ty) else {
            let found = self.context.module.types.kind(ty);
            return Err(SpirvError::WrongKind { id, found, expected: "a matrix" });
        };
        let (vectors, by_rows) = match self.value(id)? {
            Value::Transposed(vectors) => (vectors, true),
            value => (self.leaves_of(&value).unwrap_or_default(), false),
        };
        let (length, count) = if by_rows { (rows, columns) } else { (columns, rows) };
        let fits = |&vector: &Def| {
            let term = Term { value: vector, scalar };
            checked(&self.b, term, Class::Float, count, scalar.bit_size()).is_ok()
        };
        if vectors.len() != usize::from(length) || !vectors.iter().all(fits) {
            return Err(SpirvError::Types { op: format!("%{id}"), why: "the value has another type" });
        }
        let vectors = vectors.iter().copied().take(tgsi_arithmetic::MAX).collect();
        Ok((Matrix { vectors, by_rows }, scalar))
    }

    /// The value that a matrix is, if the result is such a matrix.
    ///
    /// # Errors
    /// The result has another type.
    pub(crate) fn matrix_value(&self, matrix: &Matrix<Def>, inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let module = &self.context.module;
        let fits = match *module.types.get(module.result_type(inst)) {
            TypeData::Matrix { scalar, columns, rows } => {
                let (length, count) = if matrix.by_rows { (rows, columns) } else { (columns, rows) };
                let has_shape = |&value: &Def| {
                    checked(&self.b, Term { value, scalar }, Class::Float, count, scalar.bit_size()).is_ok()
                };
                matrix.vectors.len() == usize::from(length) && matrix.vectors.iter().all(has_shape)
            }
            _ => false,
        };
        if !fits {
            return Err(SpirvError::Types { op: grammar::name(inst.op), why: "the result has another type" });
        }
        let vectors = matrix.vectors.as_slice().into();
        Ok(if matrix.by_rows { Value::Transposed(vectors) } else { Value::Composite(vectors) })
    }

    /// Products and transposes.
    pub(super) fn matrix_operation(&mut self, op: Op, inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let (first, second) = (inst.word(2), inst.word(3));
        let error = || SpirvError::Types { op: grammar::name(inst.op), why: "the operands do not fit" };
        let fault = |fault: Fault| fault.about(grammar::name(inst.op));
        // A vector of floats of the size of the matrix.
        let float = |emitter: &mut Self, id: u32, scalar: ScalarType| {
            let term = emitter.term(id)?;
            let count = emitter.b.components(term.value);
            checked(&emitter.b, term, Class::Float, count, scalar.bit_size()).map_err(fault)
        };
        let matrix = match op {
            Op::MatrixTimesVector | Op::VectorTimesMatrix => {
                let is_left = op == Op::MatrixTimesVector;
                let (matrix, vector) = if is_left { (first, second) } else { (second, first) };
                let (matrix, scalar) = self.matrix(matrix)?;
                let vector = float(self, vector, scalar)?;
                // A row times a matrix is the transpose times the column.
                let matrix = if is_left { matrix } else { matrix.transposed() };
                let value = times_vector(&mut self.b, &matrix, vector).ok_or_else(error)?;
                let (scalar, count) = self.result_vector(inst)?;
                let term = Term { value, scalar };
                let value = checked(&self.b, term, Class::Float, count, scalar.bit_size()).map_err(fault)?;
                return Ok(Value::Vector(value));
            }
            Op::MatrixTimesMatrix => {
                let ((a, scalar), (b, other)) = (self.matrix(first)?, self.matrix(second)?);
                if scalar != other {
                    return Err(error());
                }
                product(&mut self.b, &a, &b).ok_or_else(error)?
            }
            Op::MatrixTimesScalar => {
                let (mut matrix, scalar) = self.matrix(first)?;
                let factor = float(self, second, scalar)?;
                if self.b.components(factor) != 1 {
                    return Err(error());
                }
                for vector in &mut matrix.vectors {
                    *vector = self.b.two(AluOp::Fmul, *vector, factor);
                }
                matrix
            }
            Op::OuterProduct => {
                let column = self.term(first)?;
                let row = float(self, second, column.scalar)?;
                let column = float(self, first, column.scalar)?;
                Matrix::of_columns(matrix::outer_product(&mut self.b, column, row))
            }
            _ => self.matrix(first)?.0.transposed(),
        };
        self.matrix_value(&matrix, inst)
    }

    /// An instruction on each column of matrices.
    pub(super) fn columnwise(&mut self, op: Op, ids: &[u32], inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let error = |why| SpirvError::Types { op: grammar::name(inst.op), why };
        let ty = self.context.module.result_type(inst);
        let &TypeData::Matrix { scalar, columns, rows } = self.context.module.types.get(ty) else {
            return Err(error("the result is not a matrix"));
        };
        if !matches!(op, Op::FNegate | Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FRem | Op::FMod | Op::FConvert) {
            return Err(error("the result is a matrix"));
        }
        let mut matrices = Vec::with_capacity(ids.len());
        for &id in ids {
            matrices.push(self.matrix(id)?);
        }
        let by_rows = matrices.iter().all(|(matrix, _)| matrix.by_rows);
        let (length, count) = if by_rows { (rows, columns) } else { (columns, rows) };
        let form = self.form(op, scalar, count, inst);
        let operands: Vec<(Columns<Def>, ScalarType)> =
            matrices.iter().map(|(matrix, scalar)| (matrix.in_order(&mut self.b, by_rows), *scalar)).collect();
        let mut vectors = Columns::new();
        for number in 0..usize::from(length).min(tgsi_arithmetic::MAX) {
            let terms =
                operands.iter().map(|(vectors, scalar)| Some(Term { value: *vectors.get(number)?, scalar: *scalar }));
            let terms: Terms<Def> = terms.collect::<Option<_>>().ok_or_else(|| error("the operands differ"))?;
            let value = compute(&mut self.b, &form, &terms).map_err(|fault| fault.about(grammar::name(inst.op)))?;
            vectors.push(value);
        }
        self.matrix_value(&Matrix { vectors, by_rows }, inst)
    }
}
