//! The values of operators, constructors and functions of the language, by the functions of [`tgsi_arithmetic`].
//!
//! They are computed for two sinks: the builder of the IR emits instructions, the folder evaluates them on constants.

pub(crate) mod constructors;
pub(crate) mod fold;
pub(crate) mod functions;
pub(crate) mod operators;

use tgsi_arithmetic::{Kind, Scalar as Component};

use crate::types::Scalar;

/// The type of components in instructions.
pub(crate) fn component(scalar: Scalar) -> Component {
    match scalar {
        Scalar::Bool => Component::BOOL,
        Scalar::Int => Component::INT,
        Scalar::Uint => Component::UINT,
        Scalar::Float => Component::FLOAT,
        Scalar::Double => Component::DOUBLE,
        Scalar::Int64 => Component::new(Kind::Int, 64),
        Scalar::Uint64 => Component::new(Kind::Uint, 64),
    }
}

#[cfg(test)]
mod tests;
