//! Executes the words of programs.
//!
//! The simulators know the machine only from its description, and are independent of the compiler of the words. Each
//! run ends after a bounded number of steps, and any words give a result or a [`Trap`].

mod arithmetic;
mod fragment;
mod half;
mod registers;
mod texture;
mod vertex;

#[cfg(test)]
pub(crate) use fragment::evaluate as evaluate_fragment;
pub use fragment::{FragmentResult, FragmentSimulator, QuadInputs};
pub use registers::Registers;
pub use texture::{Lookup, TextureFetch};
pub use vertex::{VertexInputs, VertexResult, VertexSimulator};

use crate::isa::{Condition, DecodeError, Mask, Predicate};

use thiserror::Error;

/// The rules of arithmetic that OpenGL leaves open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Rules {
    /// IEEE 754: rounded to nearest, with denormals; comparisons with NaN are false, a minimum of a number and NaN is
    /// the number. Derivatives are those of the lower row and the left column of the quad, as in the interpreters.
    #[default]
    Ieee,
    /// Those of the chips, if known. Denormals are flushed. Each lane has the derivatives of its row and column. In
    /// vertex programs, products are truncated, a product of zero and a number is +0, a dot product is rounded once,
    /// and minima and comparisons of NaN are NaN.
    Hardware,
}

/// The reason why a run ended without a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Trap {
    /// The words of a slot are not an instruction.
    #[error("slot {0}: {1}")]
    Decode(u32, DecodeError),
    /// More steps than allowed.
    #[error("the program executes too many instructions")]
    Steps,
    /// Execution reached a slot after the last one, or a constant.
    #[error("slot {0} is not an instruction of the program")]
    Slot(u32),
    /// More nested calls, loops or ifs than the chip has, or a return of an address register that was not saved.
    #[error("slot {0}: the stack of the chip overflows or lacks an entry")]
    Stack(u32),
    /// An operation without a known definition.
    #[error("slot {0}: {1} has no known definition")]
    Undefined(u32, &'static str),
}

/// A result that the chips leave undefined.
const UNDEFINED: f32 = f32::NAN;

/// The sign class of a value in a condition register.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SignClass {
    /// Less than zero.
    Less,
    /// Zero.
    #[default]
    Equal,
    /// Greater than zero.
    Greater,
    /// NaN.
    Unordered,
}

impl SignClass {
    /// Returns the class of a value.
    pub fn of(value: f32) -> SignClass {
        if value.is_nan() {
            SignClass::Unordered
        } else if value < 0.0 {
            SignClass::Less
        } else if value > 0.0 {
            SignClass::Greater
        } else {
            SignClass::Equal
        }
    }

    /// Whether the class passes a condition.
    pub fn passes(self, condition: Condition) -> bool {
        match self {
            SignClass::Less => condition.0 & 1 != 0,
            SignClass::Equal => condition.0 & 2 != 0,
            SignClass::Greater => condition.0 & 4 != 0,
            SignClass::Unordered => condition == Condition::NE || condition == Condition::TR,
        }
    }
}

/// The two condition registers.
type Conditions = [[SignClass; 4]; 2];

/// The components that pass a test.
fn passing(conditions: &Conditions, predicate: Predicate) -> Mask {
    let classes = predicate.swizzle.apply(conditions[usize::from(predicate.register & 1)]);
    let bit = |component: usize| u8::from(classes[component].passes(predicate.condition)) << component;
    Mask((0..4).map(bit).sum())
}

/// Writes the classes of the masked components.
fn set_conditions(conditions: &mut Conditions, register: u8, values: [f32; 4], mask: Mask) {
    for component in (0..4).filter(|&component| mask.has(component)) {
        conditions[usize::from(register & 1)][component] = SignClass::of(values[component]);
    }
}

/// Clamps to [0, 1]; NaN gives 0.
fn saturate(value: f32) -> f32 {
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

/// Rounds to a value of an H register.
#[cfg(test)]
pub(crate) fn round_to_half(value: f32) -> f32 {
    half::round(value)
}
