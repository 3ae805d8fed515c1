//! Every function has the same value in the interpreter of the IR and as a constant, for all sizes of components.

use tgsi_arithmetic::fold::Folder;
use tgsi_arithmetic::{
    Kind, Operand, Scalar, angle, common, convert::convert, exponential, geometry, matrix, operators,
};

use crate::pair::{Pair, check};

/// Computes an expression that has an operand, vector or tuple of vectors in both sinks, and compares.
macro_rules! agree {
    ($pair:ident, |$sink:ident, $($name:ident),+| $result:ident $value:expr) => {{
        let (emitted, known) = {
            let emitted = {
                let $sink = &mut $pair.builder;
                $(let $name = $name.0.clone();)+
                agree!(@ $result $value)
            };
            let $sink = &mut Folder;
            $(let $name = $name.1.clone();)+
            (emitted, agree!(@ $result $value))
        };
        assert_eq!(emitted.len(), known.len());
        for (emitted, known) in emitted.iter().zip(&known) {
            $pair.compare(stringify!($value), emitted, known);
        }
    }};
    (@ vector $value:expr) => { [Operand::Vector($value)] };
    (@ two $value:expr) => {{
        let (first, second) = $value;
        [Operand::Vector(first), Operand::Vector(second)]
    }};
    (@ columns $value:expr) => { [Operand::Matrix($value)] };
    (@ maybe $value:expr) => { Vec::from_iter($value) };
}

const INTEGERS: [u8; 4] = [8, 16, 32, 64];
const FLOATS: [u8; 3] = [16, 32, 64];

fn numbers() -> Vec<Scalar> {
    let integers = [Kind::Int, Kind::Uint].into_iter().flat_map(|kind| INTEGERS.map(|bits| Scalar::new(kind, bits)));
    integers.chain(FLOATS.map(|bits| Scalar::new(Kind::Float, bits))).collect()
}

#[test]
fn operators_agree() {
    let mut results = 0;
    for (seed, scalar) in numbers().into_iter().enumerate() {
        for count in 1..=4 {
            results += check(seed as u64 * 4 + u64::from(count), |pair| {
                for _ in 0..4 {
                    of_numbers(pair, scalar, count);
                    of_integers(pair, scalar, count);
                }
            });
        }
    }
    assert!(results > 10_000, "{results}");
}

fn of_numbers(pair: &mut Pair<'_>, scalar: Scalar, count: u8) {
    let kind = scalar.kind;
    let (a, b, c) = (pair.vector(scalar, count), pair.vector(scalar, count), pair.vector(scalar, 1));
    agree!(pair, |s, a| vector operators::negate(s, kind, a));
    agree!(pair, |s, a, b| vector operators::add(s, kind, a, b));
    agree!(pair, |s, a, c| vector operators::subtract(s, kind, a, c));
    agree!(pair, |s, a, b, c| vector { let d = operators::multiply(s, kind, a, b); operators::add(s, kind, c, d) });
    agree!(pair, |s, a, b, c| vector { let d = operators::multiply(s, kind, a, c); operators::subtract(s, kind, d, b) });
    agree!(pair, |s, a, b| vector operators::divide(s, kind, a, b));
    agree!(pair, |s, a, b| vector operators::remainder(s, kind, a, b));
    agree!(pair, |s, a, b| vector operators::modulo(s, kind, a, b));
    agree!(pair, |s, a, b| vector operators::less(s, kind, a, b));
    agree!(pair, |s, a, b| vector operators::less_equal(s, kind, a, b));
    agree!(pair, |s, a, b| vector operators::greater(s, kind, a, b));
    agree!(pair, |s, a, b| vector operators::greater_equal(s, kind, a, b));
    agree!(pair, |s, a, c| vector operators::equal(s, kind, a, c));
    agree!(pair, |s, a, c| vector operators::not_equal(s, kind, a, c));
    agree!(pair, |s, a, b| vector { let x = operators::less(s, kind, a, b); operators::any(s, x) });
    agree!(pair, |s, a, b| vector { let x = operators::less(s, kind, a, b); operators::all(s, x) });
    let (d, e) = ((Operand::Vector(a.0), Operand::Vector(a.1)), (Operand::Vector(b.0), Operand::Vector(b.1)));
    agree!(pair, |s, d, e| maybe operators::all_equal(s, kind, &d, &e).map(Operand::Vector));
    agree!(pair, |s, d| maybe operators::any_not_equal(s, kind, &d, &d).map(Operand::Vector));
    agree!(pair, |s, a| vector common::absolute(s, kind, a));
    if kind != Kind::Uint {
        agree!(pair, |s, a| vector common::sign(s, kind, a));
    }
    agree!(pair, |s, a, b, c| vector common::clamp(s, kind, a, b, c));
    agree!(pair, |s, a, b, c| vector common::min3(s, kind, a, b, c));
    agree!(pair, |s, a, b, c| vector common::max3(s, kind, a, b, c));
    agree!(pair, |s, a, b, c| vector common::mid3(s, kind, a, b, c));
    agree!(pair, |s, a, b, c| vector { let x = operators::less(s, kind, a, c); common::select(s, x, a, b) });
}

fn of_integers(pair: &mut Pair<'_>, scalar: Scalar, count: u8) {
    if !scalar.kind.is_integer() {
        return;
    }
    let kind = scalar.kind;
    let (a, b) = (pair.vector(scalar, count), pair.vector(scalar, count));
    for bits in INTEGERS {
        let distance = pair.vector(Scalar::new(Kind::Uint, bits), 1);
        agree!(pair, |s, a, distance| vector operators::shift_left(s, a, distance));
        agree!(pair, |s, a, distance| vector operators::shift_right(s, kind, a, distance));
    }
    agree!(pair, |s, a, b| vector operators::and(s, a, b));
    agree!(pair, |s, a, b| vector operators::or(s, a, b));
    agree!(pair, |s, a, b| vector operators::xor(s, a, b));
    agree!(pair, |s, a| vector operators::not(s, a));
    agree!(pair, |s, a, b| two common::add_carry(s, a, b));
    agree!(pair, |s, a, b| two common::subtract_borrow(s, a, b));
    agree!(pair, |s, a, b| two common::multiply_extended(s, kind, a, b));
}

#[test]
fn conversions_agree() {
    let mut all = numbers();
    all.extend([1, 8, 16, 32].map(|bits| Scalar::new(Kind::Bool, bits)));
    let mut results = 0;
    for (seed, &from) in all.iter().enumerate() {
        results += check(seed as u64, |pair| {
            for &to in &all {
                // Booleans of more than a bit are 0 or all ones, which random ones are not.
                if from.kind == Kind::Bool && from.bits > 1 {
                    continue;
                }
                for _ in 0..8 {
                    let x = pair.vector(from, 4);
                    agree!(pair, |s, x| vector convert(s, from, to, x));
                    agree!(pair, |s, x| vector { let y = convert(s, from, to, x); convert(s, to, from, y) });
                }
            }
        });
    }
    assert!(results > 5_000, "{results}");
}

#[test]
fn functions_of_floats_agree() {
    let mut results = 0;
    for bits in FLOATS {
        for count in 1..=4 {
            results += check(u64::from(bits + count), |pair| {
                for _ in 0..8 {
                    of_floats(pair, Scalar::new(Kind::Float, bits), count);
                }
            });
        }
    }
    assert!(results > 5_000, "{results}");
}

fn of_floats(pair: &mut Pair<'_>, scalar: Scalar, count: u8) {
    let (a, b, c) = (pair.vector(scalar, count), pair.vector(scalar, count), pair.vector(scalar, count));
    let one = pair.vector(scalar, 1);
    agree!(pair, |s, a| vector angle::radians(s, a));
    agree!(pair, |s, a| vector angle::degrees(s, a));
    agree!(pair, |s, a| vector angle::tan(s, a));
    agree!(pair, |s, a| vector angle::asin(s, a));
    agree!(pair, |s, a| vector angle::accurate_asin(s, a));
    agree!(pair, |s, a| vector angle::accurate_acos(s, a));
    agree!(pair, |s, a| vector angle::acos(s, a));
    agree!(pair, |s, a| vector angle::atan(s, a));
    agree!(pair, |s, a, b| vector angle::atan2(s, a, b));
    agree!(pair, |s, a| vector angle::sinh(s, a));
    agree!(pair, |s, a| vector angle::cosh(s, a));
    agree!(pair, |s, a| vector angle::tanh(s, a));
    agree!(pair, |s, a| vector angle::asinh(s, a));
    agree!(pair, |s, a| vector angle::acosh(s, a));
    agree!(pair, |s, a| vector angle::atanh(s, a));
    agree!(pair, |s, a| vector exponential::exp(s, a));
    agree!(pair, |s, a| vector exponential::log(s, a));
    agree!(pair, |s, a, b, one| vector common::mix(s, a, b, one));
    agree!(pair, |s, a, one| vector common::step(s, one, a));
    agree!(pair, |s, a, b, one| vector common::smoothstep(s, one, b, a));
    agree!(pair, |s, a| two common::modf(s, a));
    agree!(pair, |s, a| two common::frexp(s, a));
    agree!(pair, |s, a, b, c| vector common::fma(s, a, b, c));
    agree!(pair, |s, a| vector common::is_nan(s, a));
    agree!(pair, |s, a| vector common::is_inf(s, a));
    for bits in INTEGERS {
        let exponent = pair.vector(Scalar::new(Kind::Int, bits), count);
        agree!(pair, |s, a, exponent| vector common::ldexp(s, a, exponent));
    }
    agree!(pair, |s, a| vector geometry::length(s, a));
    agree!(pair, |s, a, b| vector geometry::distance(s, a, b));
    agree!(pair, |s, a| vector geometry::normalize(s, a));
    agree!(pair, |s, a, b, c| vector geometry::face_forward(s, a, b, c));
    agree!(pair, |s, a, b| vector geometry::reflect(s, a, b));
    agree!(pair, |s, a, b, one| vector geometry::refract(s, a, b, one));
    if count == 3 {
        agree!(pair, |s, a, b| vector geometry::cross(s, a, b));
    }
    agree!(pair, |s, a, b| vector operators::dot(s, a, b));
}

#[test]
fn functions_of_matrices_agree() {
    let mut results = 0;
    for (number, bits) in FLOATS.into_iter().enumerate() {
        results += check(number as u64, |pair| {
            let scalar = Scalar::new(Kind::Float, bits);
            for (columns, rows) in (2..=4).flat_map(|columns| (2..=4).map(move |rows| (columns, rows))) {
                let (a, b) = (pair.matrix(scalar, columns, rows), pair.matrix(scalar, rows, columns));
                let (row, column) = (pair.vector(scalar, columns), pair.vector(scalar, rows));
                agree!(pair, |s, a, b| maybe operators::matrix_times_matrix(s, &a, &b).map(Operand::Matrix));
                agree!(pair, |s, a, row| maybe operators::matrix_times_vector(s, &a, row).map(Operand::Vector));
                agree!(pair, |s, a, column| maybe operators::vector_times_matrix(s, column, &a).map(Operand::Vector));
                agree!(pair, |s, a| columns matrix::transpose(s, &a));
                agree!(pair, |s, row, column| columns matrix::outer_product(s, column, row));
                if columns == rows {
                    agree!(pair, |s, a| maybe matrix::determinant(s, &a).map(Operand::Vector));
                    agree!(pair, |s, a| maybe matrix::inverse(s, &a).map(Operand::Matrix));
                }
            }
        });
    }
    assert!(results > 500, "{results}");
}
