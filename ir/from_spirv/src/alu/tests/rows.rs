//! Rows of tables of values: `SRem i32: i32 -7, i32 3 = -1`. Components are separated by spaces; a number that begins
//! with `0x` is bits. Results after `~` are near.

use tgsi_arithmetic::Sink;
use tgsi_arithmetic::fold::{Folder, Known};
use tgsi_ir::types::ScalarType;

use crate::alu::{Term, Terms};

/// A row.
pub(crate) struct Row<'a> {
    pub(crate) name: &'a str,
    pub(crate) scalar: ScalarType,
    pub(crate) terms: Terms<Known>,
    pub(crate) expected: Known,
    is_near: bool,
}

/// The rows of a table.
pub(crate) fn rows(table: &str) -> impl Iterator<Item = Row<'_>> {
    table.lines().map(str::trim).filter(|line| !line.is_empty()).map(row)
}

fn row(line: &str) -> Row<'_> {
    let is_near = line.contains(" ~ ");
    let (head, result) = line.split_once(if is_near { " ~ " } else { " = " }).expect(line);
    let (head, operands) = head.split_once(": ").expect(line);
    let (name, ty) = head.split_once(' ').expect(line);
    let operands = operands.split(", ").map(|operand| {
        let (ty, values) = operand.split_once(' ').expect(line);
        Term { value: vector(scalar(ty), values), scalar: scalar(ty) }
    });
    Row { name, scalar: scalar(ty), terms: operands.collect(), expected: vector(scalar(ty), result), is_near }
}

fn scalar(name: &str) -> ScalarType {
    match name {
        "b" => ScalarType::Bool,
        "i8" => ScalarType::Int8,
        "u8" => ScalarType::Uint8,
        "i16" => ScalarType::Int16,
        "u16" => ScalarType::Uint16,
        "i32" => ScalarType::Int,
        "u32" => ScalarType::Uint,
        "i64" => ScalarType::Int64,
        "u64" => ScalarType::Uint64,
        "f16" => ScalarType::Float16,
        "f32" => ScalarType::Float,
        "f64" => ScalarType::Double,
        _ => panic!("{name}"),
    }
}

fn vector(scalar: ScalarType, values: &str) -> Known {
    let bits: Vec<u64> = values.split(' ').map(|value| number(scalar, value)).collect();
    Known::new(scalar.bit_size(), &bits)
}

fn number(scalar: ScalarType, text: &str) -> u64 {
    let mask = u64::MAX >> (64 - scalar.bit_size());
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).expect(text);
    }
    if scalar.is_float() {
        let like = Known::new(scalar.bit_size(), &[0]);
        return Folder.float(like, text.parse().expect(text)).bits()[0];
    }
    text.parse::<i128>().expect(text) as u64 & mask
}

impl Row<'_> {
    /// Asserts that a value is that of the row.
    pub(crate) fn check(&self, value: Known) {
        let (bits, expected) = (value.bits(), self.expected.bits());
        assert_eq!(bits.len(), expected.len(), "{} {:?}", self.name, self.terms);
        for (&bits, &expected) in bits.iter().zip(expected) {
            let fits = if self.is_near {
                let (a, b) = (float(self.scalar, bits), float(self.scalar, expected));
                (a - b).abs() <= b.abs() * 1e-3 + 1e-3
            } else {
                bits == expected || float(self.scalar, bits).is_nan() && float(self.scalar, expected).is_nan()
            };
            assert!(fits, "{} {:?}: {bits:x}, not {expected:x}", self.name, self.terms);
        }
    }
}

/// A float; 0 for bits of other types.
fn float(scalar: ScalarType, bits: u64) -> f64 {
    match scalar {
        ScalarType::Double => f64::from_bits(bits),
        ScalarType::Float | ScalarType::Float16 => {
            let value = Known::new(scalar.bit_size(), &[bits]);
            f64::from_bits(Folder.one(tgsi_ir::alu::AluOp::F2f64, value).bits()[0])
        }
        _ => 0.0,
    }
}
