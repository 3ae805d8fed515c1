//! The registers of a shader under construction: their contents, and the facts known about them at the current point.

use tgsi::builder::RegisterArray;
use tgsi::shader::Register;
use tgsi::tables::OperandType;

/// The type of the values of a register, the same for all components and in the whole shader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RegisterType {
    /// Any float; identical in all executors except for the sign of zero and the bits of NaN.
    Float,
    /// A float that is neither infinite nor NaN. Only relevant for hardware without integers, where comparisons and
    /// roundings may be composed of other instructions.
    Finite,
    /// A float that is a multiple of a half, with magnitude at most 8.
    Small,
    /// 32 bits.
    Integer,
    /// Pairs of words: 64-bit floats; identical except for the sign of zero and the bits of NaN.
    Double,
    /// Pairs of words: 64 bits.
    Long,
    /// A float that must not be an operand of a sum, because the combined sum could be evaluated in another order.
    Leaf,
    /// An arbitrary value that is never read.
    Scrap,
    /// Part of a computation: read only by the code that writes it.
    Scratch,
}

impl RegisterType {
    /// Returns the kind of values of an operand type.
    pub(super) fn of(operand: OperandType) -> RegisterType {
        match operand {
            OperandType::Double => RegisterType::Double,
            OperandType::Int64 | OperandType::Uint64 => RegisterType::Long,
            OperandType::Int | OperandType::Uint => RegisterType::Integer,
            OperandType::Float | OperandType::Untyped | OperandType::None => RegisterType::Float,
        }
    }

    /// Whether values are 32-bit floats.
    pub(super) fn is_float(self) -> bool {
        matches!(self, RegisterType::Float | RegisterType::Finite | RegisterType::Small | RegisterType::Leaf)
    }

    /// Whether a value takes a pair of components.
    pub(super) fn is_wide(self) -> bool {
        matches!(self, RegisterType::Double | RegisterType::Long)
    }

    /// Whether values of this kind may be read as `wanted`.
    pub(super) fn serves(self, wanted: RegisterType) -> bool {
        use RegisterType::{Finite, Float, Leaf, Small};
        self == wanted
            || matches!((self, wanted), (Small, Finite | Float | Leaf) | (Finite, Float | Leaf) | (Float, Leaf))
    }
}

/// Returns the components of a register that may be used for a kind: all of `mask`, or the whole pairs in it.
pub(super) fn usable(mask: u8, kind: RegisterType) -> u8 {
    if kind.is_wide() {
        let pair = |pair: u8| if mask & pair == pair { pair } else { 0 };
        pair(3) | pair(12)
    } else {
        mask & 15
    }
}

/// A temporary.
#[derive(Clone, Copy, Debug)]
pub(super) struct Temporary {
    pub(super) register: Register,
    pub(super) kind: RegisterType,
}

/// An array of temporaries; all its elements are written before any other code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Array {
    pub(super) array: RegisterArray,
    pub(super) kind: RegisterType,
}

/// An input, or an array of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    pub(super) array: RegisterArray,
    /// The existing components.
    pub(super) components: u8,
    /// Number of vertices with separate values; none if it is not per vertex.
    pub(super) vertices: Option<u16>,
}

/// An output, or an array of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    pub(super) array: RegisterArray,
    pub(super) kind: RegisterType,
    /// The meaningful components.
    pub(super) components: u8,
    /// Whether each vertex of the patch has its own value.
    pub(super) per_vertex: bool,
}

/// A system value.
#[derive(Clone, Copy, Debug)]
pub(super) struct SystemInput {
    pub(super) register: Register,
    pub(super) kind: RegisterType,
    pub(super) components: u8,
}

/// The facts that hold at a program point.
#[derive(Clone, Debug, Default)]
pub(super) struct RegisterState {
    /// Written components of each temporary.
    pub(super) temporaries: Vec<u8>,
    /// Written components of each output register.
    pub(super) outputs: Vec<u8>,
    /// Maximum value by index register and component; none if unbounded.
    pub(super) bounds: Vec<[Option<u8>; 4]>,
}

impl RegisterState {
    /// Keeps the facts that also hold in `other`, for the join of two paths.
    pub(super) fn meet(&mut self, other: &RegisterState) {
        let meet_words = |mine: &mut Vec<u8>, others: &Vec<u8>| {
            for (position, word) in mine.iter_mut().enumerate() {
                *word &= others.get(position).copied().unwrap_or(0);
            }
        };
        meet_words(&mut self.temporaries, &other.temporaries);
        meet_words(&mut self.outputs, &other.outputs);
        for (position, bounds) in self.bounds.iter_mut().enumerate() {
            for (component, bound) in bounds.iter_mut().enumerate() {
                let others = other.bounds.get(position).and_then(|bounds| bounds[component]);
                *bound = bound.zip(others).map(|(a, b)| a.max(b));
            }
        }
    }

    /// Drops the bounds of index registers.
    pub(super) fn forget_indices(&mut self) {
        self.bounds.fill([None; 4]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_meet() {
        let mut state =
            RegisterState { temporaries: vec![15, 3], outputs: vec![1], bounds: vec![[Some(3), Some(1), None, None]] };
        state.meet(&RegisterState {
            temporaries: vec![5],
            outputs: vec![9],
            bounds: vec![[Some(1), None, Some(2), None]],
        });
        assert_eq!((&state.temporaries[..], &state.outputs[..]), (&[5, 0][..], &[1][..]));
        assert_eq!(state.bounds, [[Some(3), None, None, None]]);
        state.forget_indices();
        assert_eq!(state.bounds, [[None; 4]]);
    }

    #[test]
    fn pairs_are_whole() {
        assert_eq!(
            (usable(7, RegisterType::Double), usable(14, RegisterType::Long), usable(7, RegisterType::Float)),
            (3, 12, 7)
        );
    }
}
