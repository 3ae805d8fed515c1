mod agreement;
mod matrices;
pub(crate) mod misfits;
pub(crate) mod rows;
mod values;

use spirv::Op;
use tgsi_arithmetic::Kind;
use tgsi_arithmetic::Scalar;
use tgsi_ir::types::ScalarType;

#[path = "../../../../arithmetic/tests/pair.rs"]
pub(crate) mod pair;

/// All types of components.
pub(crate) const SCALARS: [ScalarType; 12] = [
    ScalarType::Bool,
    ScalarType::Int8,
    ScalarType::Uint8,
    ScalarType::Int16,
    ScalarType::Uint16,
    ScalarType::Int,
    ScalarType::Uint,
    ScalarType::Int64,
    ScalarType::Uint64,
    ScalarType::Float16,
    ScalarType::Float,
    ScalarType::Double,
];

/// The type of arithmetic's components.
pub(crate) fn of_arithmetic(scalar: ScalarType) -> Scalar {
    let kind = match scalar {
        ScalarType::Bool => Kind::Bool,
        _ if scalar.is_float() => Kind::Float,
        _ if super::is_signed(scalar) => Kind::Int,
        _ => Kind::Uint,
    };
    super::sized(kind, scalar)
}

/// The instructions of [`compute`](super::compute).
fn instructions() -> impl Iterator<Item = (Op, usize)> {
    (0..1 << 13).filter_map(Op::from_u32).filter_map(|op| Some((op, super::num_operands(op)?)))
}
