//! Operators.
//!
//! Functions with a [`Kind`] are those of booleans (bits of 1), signed and unsigned integers or floats, of any size.

use tgsi_ir::Swizzle;
use tgsi_ir::alu::AluOp;

use crate::{Columns, Kind, MAX, Operand, Sink};

/// The opcode for a kind.
fn of_kind(kind: Kind, float: AluOp, signed: AluOp, unsigned: AluOp) -> AluOp {
    match kind {
        Kind::Float => float,
        Kind::Int => signed,
        Kind::Uint | Kind::Bool => unsigned,
    }
}

/// The opposite.
pub fn negate<S: Sink>(sink: &mut S, kind: Kind, x: S::Value) -> S::Value {
    sink.one(of_kind(kind, AluOp::Fneg, AluOp::Ineg, AluOp::Ineg), x)
}

/// The sum. Of floats it is [`sum`].
pub fn add<S: Sink>(sink: &mut S, kind: Kind, a: S::Value, b: S::Value) -> S::Value {
    if kind == Kind::Float { sum(sink, a, b) } else { sink.two(AluOp::Iadd, a, b) }
}

/// The difference. Of floats it is [`difference`].
pub fn subtract<S: Sink>(sink: &mut S, kind: Kind, a: S::Value, b: S::Value) -> S::Value {
    if kind == Kind::Float { difference(sink, a, b) } else { sink.two(AluOp::Isub, a, b) }
}

/// The product of components. [`product`] is that of matrices.
pub fn multiply<S: Sink>(sink: &mut S, kind: Kind, a: S::Value, b: S::Value) -> S::Value {
    sink.two(of_kind(kind, AluOp::Fmul, AluOp::Imul, AluOp::Imul), a, b)
}

/// The quotient; of integers it is rounded toward zero, and 0 if the divisor is.
pub fn divide<S: Sink>(sink: &mut S, kind: Kind, a: S::Value, b: S::Value) -> S::Value {
    sink.two(of_kind(kind, AluOp::Fdiv, AluOp::Idiv, AluOp::Udiv), a, b)
}

/// The remainder with the sign of the dividend; of integers it is 0 if the divisor is.
pub fn remainder<S: Sink>(sink: &mut S, kind: Kind, a: S::Value, b: S::Value) -> S::Value {
    sink.two(of_kind(kind, AluOp::Frem, AluOp::Irem, AluOp::Umod), a, b)
}

/// The remainder with the sign of the divisor; of integers it is 0 if the divisor is.
pub fn modulo<S: Sink>(sink: &mut S, kind: Kind, a: S::Value, b: S::Value) -> S::Value {
    if kind != Kind::Float {
        return sink.two(of_kind(kind, AluOp::Fmod, AluOp::Imod, AluOp::Umod), a, b);
    }
    // Not `fmod`, whose replacement for targets without quotients corrects the quotient.
    let quotient = sink.two(AluOp::Fdiv, a, b);
    let floor = sink.one(AluOp::Ffloor, quotient);
    let product = sink.two(AluOp::Fmul, b, floor);
    difference(sink, a, product)
}

/// Shifts left by a count modulo the number of bits. The count may have any size.
pub fn shift_left<S: Sink>(sink: &mut S, x: S::Value, count: S::Value) -> S::Value {
    let count = count_of(sink, count);
    sink.two(AluOp::Ishl, x, count)
}

/// Shifts right by a count modulo the number of bits: signed integers with copies of the sign, others with zeros. The
/// count may have any size.
pub fn shift_right<S: Sink>(sink: &mut S, kind: Kind, x: S::Value, count: S::Value) -> S::Value {
    let count = count_of(sink, count);
    sink.two(if kind == Kind::Int { AluOp::Ishr } else { AluOp::Ushr }, x, count)
}

/// A count in 32 bits.
fn count_of<S: Sink>(sink: &mut S, count: S::Value) -> S::Value {
    if sink.bit_size(count) == 32 { count } else { sink.one(AluOp::U2u32, count) }
}

/// The bits that are set in both; of booleans, whether both are true.
pub fn and<S: Sink>(sink: &mut S, a: S::Value, b: S::Value) -> S::Value {
    sink.two(AluOp::Iand, a, b)
}

/// The bits that are set in one or both; of booleans, whether one or both are true.
pub fn or<S: Sink>(sink: &mut S, a: S::Value, b: S::Value) -> S::Value {
    sink.two(AluOp::Ior, a, b)
}

/// The bits that differ; of booleans, whether they differ.
pub fn xor<S: Sink>(sink: &mut S, a: S::Value, b: S::Value) -> S::Value {
    sink.two(AluOp::Ixor, a, b)
}

/// The complement.
pub fn not<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    sink.one(AluOp::Inot, x)
}

/// Whether `a < b`; false for NaN.
pub fn less<S: Sink>(sink: &mut S, kind: Kind, a: S::Value, b: S::Value) -> S::Value {
    sink.two(of_kind(kind, AluOp::Flt, AluOp::Ilt, AluOp::Ult), a, b)
}

/// Whether `a <= b`; false for NaN.
pub fn less_equal<S: Sink>(sink: &mut S, kind: Kind, a: S::Value, b: S::Value) -> S::Value {
    greater_equal(sink, kind, b, a)
}

/// Whether `a > b`; false for NaN.
pub fn greater<S: Sink>(sink: &mut S, kind: Kind, a: S::Value, b: S::Value) -> S::Value {
    less(sink, kind, b, a)
}

/// Whether `a >= b`; false for NaN.
pub fn greater_equal<S: Sink>(sink: &mut S, kind: Kind, a: S::Value, b: S::Value) -> S::Value {
    sink.two(of_kind(kind, AluOp::Fge, AluOp::Ige, AluOp::Uge), a, b)
}

/// Whether `a == b`, of each component; false for NaN.
pub fn equal<S: Sink>(sink: &mut S, kind: Kind, a: S::Value, b: S::Value) -> S::Value {
    sink.two(equality(kind, 1, false), a, b)
}

/// Whether `a != b`, of each component; true for NaN.
pub fn not_equal<S: Sink>(sink: &mut S, kind: Kind, a: S::Value, b: S::Value) -> S::Value {
    sink.two(equality(kind, 1, true), a, b)
}

/// Whether all components are equal: a scalar boolean. Returns `None` if sizes differ.
pub fn all_equal<S: Sink>(
    sink: &mut S,
    kind: Kind,
    left: &Operand<S::Value>,
    right: &Operand<S::Value>,
) -> Option<S::Value> {
    compare_all(sink, kind, left, right, false)
}

/// Whether any components differ: a scalar boolean. Returns `None` if sizes differ.
pub fn any_not_equal<S: Sink>(
    sink: &mut S,
    kind: Kind,
    left: &Operand<S::Value>,
    right: &Operand<S::Value>,
) -> Option<S::Value> {
    compare_all(sink, kind, left, right, true)
}

/// Whether all components of a vector of booleans are true.
pub fn all<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    compare_booleans(sink, x, 1, false)
}

/// Whether any component of a vector of booleans is true.
pub fn any<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    compare_booleans(sink, x, 0, true)
}

/// Whether all components equal a value, or any differ from it.
fn compare_booleans<S: Sink>(sink: &mut S, x: S::Value, value: u64, negate: bool) -> S::Value {
    let (all, components) = ([value; MAX], sink.components(x));
    let bit_size = sink.bit_size(x);
    let value = sink.constant(bit_size, all.get(..usize::from(components)).unwrap_or(&all));
    compare_vectors(sink, Kind::Bool, x, value, negate)
}

fn compare_vectors<S: Sink>(sink: &mut S, kind: Kind, a: S::Value, b: S::Value, negate: bool) -> S::Value {
    let op = equality(kind, sink.components(a), negate);
    sink.alu(op, 1, &[(a, Swizzle::IDENTITY), (b, Swizzle::IDENTITY)])
}

/// Whether all components are equal, or any differ.
fn compare_all<S: Sink>(
    sink: &mut S,
    kind: Kind,
    left: &Operand<S::Value>,
    right: &Operand<S::Value>,
    negate: bool,
) -> Option<S::Value> {
    let (left, right) = (left.vectors(), right.vectors());
    if left.len() != right.len() {
        return None;
    }
    let mut result = None;
    for (&a, &b) in left.iter().zip(right) {
        if sink.components(a) != sink.components(b) {
            return None;
        }
        let of_vector = compare_vectors(sink, kind, a, b, negate);
        result = Some(match result {
            None => of_vector,
            Some(sum) => sink.two(if negate { AluOp::Ior } else { AluOp::Iand }, sum, of_vector),
        });
    }
    result
}

/// The opcode that compares vectors of a size.
fn equality(kind: Kind, components: u8, negate: bool) -> AluOp {
    match (kind == Kind::Float, components, negate) {
        (true, 2, false) => AluOp::BallFequal2,
        (true, 3, false) => AluOp::BallFequal3,
        (true, 4, false) => AluOp::BallFequal4,
        (true, _, false) => AluOp::Feq,
        (true, 2, true) => AluOp::BanyFnequal2,
        (true, 3, true) => AluOp::BanyFnequal3,
        (true, 4, true) => AluOp::BanyFnequal4,
        (true, _, true) => AluOp::Fneu,
        (false, 2, false) => AluOp::BallIequal2,
        (false, 3, false) => AluOp::BallIequal3,
        (false, 4, false) => AluOp::BallIequal4,
        (false, _, false) => AluOp::Ieq,
        (false, 2, true) => AluOp::BanyInequal2,
        (false, 3, true) => AluOp::BanyInequal3,
        (false, 4, true) => AluOp::BanyInequal4,
        (false, _, true) => AluOp::Ine,
    }
}

/// Computes vectors, or columns and scalars or columns. Returns `None` if sizes differ.
pub fn each<S: Sink>(
    sink: &mut S,
    left: &Operand<S::Value>,
    right: &Operand<S::Value>,
    mut compute: impl FnMut(&mut S, S::Value, S::Value) -> S::Value,
) -> Option<Operand<S::Value>> {
    let vectors = [left.vectors(), right.vectors()];
    let sizes = vectors.map(|vectors| vectors.first()).map(|value| value.map_or(0, |&value| sink.components(value)));
    let is_scalar = |operand: &Operand<S::Value>, size: u8| matches!(operand, Operand::Vector(_)) && size == 1;
    let has_scalar = is_scalar(left, sizes[0]) || is_scalar(right, sizes[1]);
    if !has_scalar && (sizes[0] != sizes[1] || vectors[0].len() != vectors[1].len()) {
        return None;
    }
    Some(match (left, right) {
        (Operand::Vector(left), Operand::Vector(right)) => Operand::Vector(compute(sink, *left, *right)),
        (Operand::Vector(left), Operand::Matrix(right)) => {
            Operand::Matrix(right.iter().map(|&right| compute(sink, *left, right)).collect())
        }
        (Operand::Matrix(left), Operand::Vector(right)) => {
            Operand::Matrix(left.iter().map(|&left| compute(sink, left, *right)).collect())
        }
        (Operand::Matrix(left), Operand::Matrix(right)) => {
            Operand::Matrix(left.iter().zip(right).map(|(&left, &right)| compute(sink, left, right)).collect())
        }
    })
}

/// The product of floats. A matrix and a vector or matrix are multiplied as in linear algebra, others by components.
/// Returns `None` if sizes do not fit.
pub fn product<S: Sink>(
    sink: &mut S,
    left: &Operand<S::Value>,
    right: &Operand<S::Value>,
) -> Option<Operand<S::Value>> {
    Some(match (left, right) {
        (Operand::Matrix(columns), &Operand::Vector(vector)) if sink.components(vector) > 1 => {
            Operand::Vector(matrix_times_vector(sink, columns, vector)?)
        }
        (&Operand::Vector(vector), Operand::Matrix(columns)) if sink.components(vector) > 1 => {
            Operand::Vector(vector_times_matrix(sink, vector, columns)?)
        }
        (Operand::Matrix(left), Operand::Matrix(right)) => Operand::Matrix(matrix_times_matrix(sink, left, right)?),
        _ => return each(sink, left, right, |sink, a, b| sink.two(AluOp::Fmul, a, b)),
    })
}

/// A matrix times a column of as many components as it has columns: the sum of its columns, each times a component,
/// from the first. Returns `None` if sizes do not fit.
pub fn matrix_times_vector<S: Sink>(sink: &mut S, columns: &[S::Value], vector: S::Value) -> Option<S::Value> {
    if usize::from(sink.components(vector)) != columns.len() {
        return None;
    }
    let mut sum = None;
    for (component, &column) in columns.iter().enumerate() {
        let (column, factor) = ((column, Swizzle::IDENTITY), (vector, Swizzle::replicate(component as u8)));
        let rows = sink.components(column.0);
        sum = Some(match sum {
            None => sink.alu(AluOp::Fmul, rows, &[column, factor]),
            Some(sum) => multiply_add(sink, rows, column, factor, (sum, Swizzle::IDENTITY)),
        });
    }
    sum
}

/// A row of as many components as the matrix has rows, times the matrix: the dot products with its columns. Returns
/// `None` if sizes do not fit.
pub fn vector_times_matrix<S: Sink>(sink: &mut S, vector: S::Value, columns: &[S::Value]) -> Option<S::Value> {
    if columns.iter().any(|&column| sink.components(column) != sink.components(vector)) {
        return None;
    }
    let dots: Columns<(S::Value, u8)> =
        columns.iter().take(MAX).map(|&column| (dot(sink, vector, column), 0)).collect();
    Some(sink.gather(&dots))
}

/// The product of two matrices: the left one times each column of the right one. Returns `None` if sizes do not fit.
pub fn matrix_times_matrix<S: Sink>(sink: &mut S, left: &[S::Value], right: &[S::Value]) -> Option<Columns<S::Value>> {
    right.iter().take(MAX).map(|&column| matrix_times_vector(sink, left, column)).collect()
}

/// The sum of floats. A product of 32 bits is multiplied and added by one instruction that rounds twice.
pub fn sum<S: Sink>(sink: &mut S, a: S::Value, b: S::Value) -> S::Value {
    sum_or_difference(sink, a, b, false)
}

/// The difference of floats, as [`sum`].
pub fn difference<S: Sink>(sink: &mut S, a: S::Value, b: S::Value) -> S::Value {
    sum_or_difference(sink, a, b, true)
}

fn sum_or_difference<S: Sink>(sink: &mut S, a: S::Value, b: S::Value, negate_second: bool) -> S::Value {
    let components = sink.components(a).max(sink.components(b));
    let (first, second) = (sink.repeated(a), sink.repeated(b));
    let factors = |sink: &S, (value, swizzle): (S::Value, Swizzle)| {
        Some(sink.factors(value)?.map(|(factor, inner)| (factor, swizzle.compose(inner))))
    };
    if let Some([factor, other]) = factors(sink, second) {
        let factor = if negate_second { (sink.one(AluOp::Fneg, factor.0), factor.1) } else { factor };
        return multiply_add(sink, components, factor, other, first);
    }
    if let Some([factor, other]) = factors(sink, first) {
        let second = if negate_second { (sink.one(AluOp::Fneg, b), second.1) } else { second };
        return multiply_add(sink, components, factor, other, second);
    }
    sink.alu(if negate_second { AluOp::Fsub } else { AluOp::Fadd }, components, &[first, second])
}

/// `a * b + c` of floats, each rounded. Targets that have an instruction for it keep it as one.
pub fn multiply_add<S: Sink>(
    sink: &mut S,
    components: u8,
    a: (S::Value, Swizzle),
    b: (S::Value, Swizzle),
    c: (S::Value, Swizzle),
) -> S::Value {
    if sink.bit_size(a.0) == 32 {
        return sink.alu(AluOp::Fmad, components, &[a, b, c]);
    }
    let product = sink.alu(AluOp::Fmul, components, &[a, b]);
    sink.alu(AluOp::Fadd, components, &[(product, Swizzle::IDENTITY), c])
}

/// The dot product of two vectors of floats of one size; of scalars the product.
pub fn dot<S: Sink>(sink: &mut S, a: S::Value, b: S::Value) -> S::Value {
    let op = match sink.components(a) {
        2 => AluOp::Fdot2,
        3 => AluOp::Fdot3,
        4 => AluOp::Fdot4,
        _ => AluOp::Fmul,
    };
    sink.alu(op, 1, &[(a, Swizzle::IDENTITY), (b, Swizzle::IDENTITY)])
}
