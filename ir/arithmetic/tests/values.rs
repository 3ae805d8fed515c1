//! Values of functions as constants, and the errors of polynomials.

use tgsi_arithmetic::fold::{Folder, Known};
use tgsi_arithmetic::{
    Columns, Kind, Operand, Scalar, Sink, angle, common, convert::convert, exponential, geometry, matrix, operators,
};

use pretty_assertions::assert_eq;
use tgsi_ir::alu::AluOp;

/// A function with its name and the function that has its exact values.
type Function = (&'static str, fn(&mut Folder, Known) -> Known, fn(f64) -> f64);

/// Floats of a size, each rounded from 64 bits.
fn floats(bits: u8, values: &[f64]) -> Known {
    let wide: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
    convert(&mut Folder, Scalar::DOUBLE, Scalar::new(Kind::Float, bits), Known::new(64, &wide))
}

/// The components of floats.
fn values(known: Known) -> Vec<f64> {
    let from = Scalar::new(Kind::Float, Folder.bit_size(known));
    convert(&mut Folder, from, Scalar::DOUBLE, known).bits().iter().map(|&bits| f64::from_bits(bits)).collect()
}

fn columns(bits: u8, rows: usize, values: &[f64]) -> Columns<Known> {
    values.chunks(rows).map(|column| floats(bits, column)).collect()
}

fn elements(columns: &[Known]) -> Vec<f64> {
    columns.iter().flat_map(|&column| values(column)).collect()
}

#[test]
fn float_constants_are_rounded() {
    for (value, expected) in [(1.0, 0x3c00), (0.1, 0x2e66), (65520.0, 0x7c00), (-65519.0, 0xfbff), (1e-7, 0x0002)] {
        let like = Known::new(16, &[0]);
        assert_eq!(Folder.float(like, value).bits(), [expected], "{value}");
    }
    assert_eq!(Folder.float(Known::new(32, &[0]), 0.1).bits(), [u64::from(0.1f32.to_bits())]);
    assert_eq!(Folder.float(Known::new(64, &[0]), 0.1).bits(), [0.1f64.to_bits()]);
}

#[test]
fn conversions_have_their_values() {
    let converted = |from, to, bits: u64| {
        let (from, to): ((Kind, u8), (Kind, u8)) = (from, to);
        let (from, to) = (Scalar::new(from.0, from.1), Scalar::new(to.0, to.1));
        convert(&mut Folder, from, to, Known::new(from.bits, &[bits])).bits().to_vec()
    };
    use Kind::{Bool, Float, Int, Uint};
    assert_eq!(converted((Int, 8), (Int, 64), 0xff), [u64::MAX]);
    assert_eq!(converted((Int, 8), (Uint, 16), 0x80), [0xff80]);
    assert_eq!(converted((Uint, 8), (Int, 16), 0x80), [0x80]);
    assert_eq!(converted((Int, 64), (Uint, 8), 0x1234), [0x34]);
    assert_eq!(converted((Int, 16), (Uint, 16), 0x8000), [0x8000]);
    assert_eq!(converted((Int, 8), (Float, 16), 0xff), [0xbc00]);
    assert_eq!(converted((Float, 16), (Int, 8), 0xc500), [0xfb]);
    assert_eq!(converted((Float, 16), (Float, 64), 0x3800), [0.5f64.to_bits()]);
    assert_eq!(converted((Float, 64), (Float, 16), 0.5f64.to_bits()), [0x3800]);
    assert_eq!(converted((Float, 16), (Bool, 1), 0x8000), [0]);
    assert_eq!(converted((Int, 64), (Bool, 1), 1 << 40), [1]);
    assert_eq!(converted((Bool, 1), (Int, 8), 1), [1]);
    assert_eq!(converted((Bool, 1), (Float, 16), 1), [0x3c00]);
    assert_eq!(converted((Bool, 1), (Bool, 32), 1), [0xffff_ffff]);
    assert_eq!(converted((Uint, 32), (Bool, 8), 5), [0xff]);
}

#[test]
fn remainders_have_the_sign_of_an_operand() {
    let int = |value: i8| Known::new(8, &[u64::from(value as u8)]);
    assert_eq!(operators::remainder(&mut Folder, Kind::Int, int(-7), int(4)), int(-3));
    assert_eq!(operators::modulo(&mut Folder, Kind::Int, int(-7), int(4)), int(1));
    assert_eq!(operators::remainder(&mut Folder, Kind::Int, int(-7), int(0)), int(0));
    for bits in [16, 32, 64] {
        let (a, b) = (floats(bits, &[-7.0]), floats(bits, &[4.0]));
        assert_eq!(values(operators::remainder(&mut Folder, Kind::Float, a, b)), [-3.0]);
        assert_eq!(values(operators::modulo(&mut Folder, Kind::Float, a, b)), [1.0]);
    }
}

#[test]
fn counts_and_exponents_have_any_size() {
    let one = Known::new(64, &[1]);
    assert_eq!(operators::shift_left(&mut Folder, one, Known::new(8, &[40])).bits(), [1 << 40]);
    assert_eq!(
        operators::shift_right(&mut Folder, Kind::Int, Known::new(8, &[0x80]), Known::new(64, &[3])).bits(),
        [0xf0]
    );
    let scaled = |exponent: Known| values(common::ldexp(&mut Folder, floats(32, &[3.0]), exponent));
    assert_eq!(scaled(Known::new(8, &[0xff])), [1.5]);
    assert_eq!(scaled(Known::new(64, &[2])), [12.0]);
    // Their low words are zero, but they are out of range.
    assert_eq!(scaled(Known::new(64, &[1 << 32])), [0.0]);
    assert_eq!(scaled(Known::new(64, &[1 << 63])), [0.0]);
}

#[test]
fn products_of_matrices() {
    for bits in [16, 32, 64] {
        // Two columns of three rows.
        let m = columns(bits, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let product = operators::matrix_times_vector(&mut Folder, &m, floats(bits, &[1.0, 10.0]));
        assert_eq!(product.map(values), Some(vec![41.0, 52.0, 63.0]));
        let product = operators::vector_times_matrix(&mut Folder, floats(bits, &[1.0, 10.0, 100.0]), &m);
        assert_eq!(product.map(values), Some(vec![321.0, 654.0]));
        let other = columns(bits, 2, &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
        let product = operators::matrix_times_matrix(&mut Folder, &m, &other);
        assert_eq!(product.map(|m| elements(&m)), Some(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 5.0, 7.0, 9.0]));
        // Matrices of sizes that do not fit have no product.
        assert_eq!(operators::matrix_times_matrix(&mut Folder, &m, &m), None);
        let scaled = operators::product(&mut Folder, &Operand::Vector(floats(bits, &[2.0])), &Operand::Matrix(m));
        assert_eq!(scaled.map(|m| elements(m.vectors())), Some(vec![2.0, 4.0, 6.0, 8.0, 10.0, 12.0]));
    }
}

#[test]
fn inverses_are_inverse() {
    for (bits, allowed) in [(16, 2e-2), (32, 1e-5), (64, 1e-13)] {
        for n in 2..=4u8 {
            // Diagonally dominant, so that it has an inverse.
            let element =
                |column: u8, row: u8| if column == row { 5.0 } else { f64::from(column * 3 + row * 7) % 4.0 - 1.5 };
            let all: Vec<f64> = (0..n).flat_map(|column| (0..n).map(move |row| element(column, row))).collect();
            let m = columns(bits, n.into(), &all);
            let inverse = matrix::inverse(&mut Folder, &m).unwrap();
            let product = elements(&operators::matrix_times_matrix(&mut Folder, &m, &inverse).unwrap());
            for (at, value) in product.iter().enumerate() {
                let expected = if at % (usize::from(n) + 1) == 0 { 1.0 } else { 0.0 };
                assert!((value - expected).abs() < allowed, "{n}, {bits}: {product:?}");
            }
            let of = |m: &[Known]| values(matrix::determinant(&mut Folder, m).unwrap())[0];
            assert!((of(&m) * of(&inverse) - 1.0).abs() < allowed, "{n}, {bits}");
            let transposed = matrix::transpose(&mut Folder, &m);
            assert!((of(&transposed) / of(&m) - 1.0).abs() < allowed, "{n}, {bits}");
        }
    }
    let m = columns(32, 2, &[1.0, 2.0, 3.0, 4.0]);
    assert_eq!(matrix::determinant(&mut Folder, &m).map(values), Some(vec![-2.0]));
    assert_eq!(matrix::inverse(&mut Folder, &m[..1]), None);
}

/// The error of a function on arguments rounded to a size, and the exact value.
fn error(
    bits: u8,
    arguments: &[f64],
    compute: impl Fn(&[Known]) -> Known,
    exact: impl Fn(&[f64]) -> f64,
) -> (f64, f64) {
    let known: Vec<Known> = arguments.iter().map(|&value| floats(bits, &[value])).collect();
    let rounded: Vec<f64> = known.iter().map(|&value| values(value)[0]).collect();
    let (value, exact) = (values(compute(&known))[0], exact(&rounded));
    ((value - exact).abs(), exact)
}

/// Whether an error is below a bound, or that of rounding to 16 bits more.
fn is_near(bits: u8, error: f64, exact: f64, bound: f64) -> bool {
    error < bound + if bits == 16 { exact.abs().max(1e-3) * 2f64.powi(-11) * 1.001 } else { 0.0 }
}

/// Within the error of the polynomials.
#[test]
fn angles_are_near() {
    let functions: [(Function, f64); 5] = [
        (("asin", angle::asin, f64::asin), 4e-4),
        (("accurate_asin", angle::accurate_asin, f64::asin), 3e-5),
        (("accurate_acos", angle::accurate_acos, f64::acos), 6e-5),
        (("acos", angle::acos, f64::acos), 2e-4),
        (("atan", angle::atan, f64::atan), 5e-6),
    ];
    for ((name, function, exact), bound) in functions {
        for (bits, step) in [16, 32, 64].into_iter().flat_map(|bits| (-1000..=1000).map(move |step| (bits, step))) {
            let x = f64::from(step) / if name == "atan" { 50.0 } else { 1000.0 };
            let (error, exact) = error(bits, &[x], |x| function(&mut Folder, x[0]), |x| exact(x[0]));
            assert!(is_near(bits, error, exact, bound), "{name} of {x}, {bits} bits: {error}");
        }
    }
    for bits in [16, 32, 64] {
        let near = |y: f64, x: f64, angle: Option<f64>| {
            let exact = |a: &[f64]| angle.unwrap_or_else(|| a[0].atan2(a[1]));
            let (error, exact) = error(bits, &[y, x], |a| angle::atan2(&mut Folder, a[0], a[1]), exact);
            assert!(is_near(bits, error, exact, 5e-6), "{y} {x}, {bits} bits: {error}");
        };
        for (x, y) in (-20..=20).flat_map(|x| (-20..=20).map(move |y| (f64::from(x) / 20.0, f64::from(y) / 10.0))) {
            if (x, y) != (0.0, 0.0) {
                near(y, x, None);
            }
        }
        near(-0.0, -1.0, Some(-std::f64::consts::PI));
        near(0.0, -1.0, Some(std::f64::consts::PI));
        near(1e30, 1e30, Some(std::f64::consts::FRAC_PI_4));
    }
}

/// Relative to values above 1, within a few roundings of 32 bits, which the opcodes of exponentials have in 64 as well.
#[test]
fn functions_of_exponentials_are_near() {
    let functions: [(Function, f64, f64); 9] = [
        (("exp", exponential::exp, f64::exp), -9.0, 9.0),
        (("log", exponential::log, f64::ln), 0.01, 99.0),
        (("tan", angle::tan, f64::tan), -1.4, 1.4),
        (("sinh", angle::sinh, f64::sinh), -3.0, 3.0),
        (("cosh", angle::cosh, f64::cosh), -3.0, 3.0),
        (("tanh", angle::tanh, f64::tanh), -30.0, 30.0),
        (("asinh", angle::asinh, f64::asinh), -9.0, 9.0),
        (("acosh", angle::acosh, f64::acosh), 1.0, 9.0),
        (("atanh", angle::atanh, f64::atanh), -0.95, 0.95),
    ];
    for ((name, function, exact), from, to) in functions {
        for (bits, step) in [16, 32, 64].into_iter().flat_map(|bits| (0..=400).map(move |step| (bits, step))) {
            let x = from + (to - from) * f64::from(step) / 400.0;
            let (error, exact) = error(bits, &[x], |x| function(&mut Folder, x[0]), |x| exact(x[0]));
            let bound = 2e-6 * exact.abs().max(1.0);
            assert!(is_near(bits, error, exact, bound), "{name} of {x}, {bits} bits: {error}");
        }
    }
}

/// In 32 bits, the squares of 300 and the power of the logarithm do not overflow, and products are not rounded twice.
#[test]
fn halves_are_computed_in_single_precision() {
    let x = floats(16, &[300.0, 400.0]);
    assert_eq!(values(geometry::length(&mut Folder, x)), [500.0]);
    assert_eq!(values(geometry::normalize(&mut Folder, x)), values(floats(16, &[0.6, 0.8])));
    assert_eq!(values(geometry::distance(&mut Folder, x, floats(16, &[0.0, 0.0]))), [500.0]);
    for x in [-9.0, 0.3, 7.7, 10.9] {
        let known = floats(16, &[x]);
        let expected = floats(16, &[values(known)[0].exp()]);
        assert_eq!(exponential::exp(&mut Folder, known), expected, "{x}");
    }
    let one = Folder.one(AluOp::Fneg, floats(16, &[-1.0]));
    assert_eq!(values(exponential::log(&mut Folder, one)), [0.0]);
}
