//! Instructions as data: one field for each fact that an instruction states. Bits occur only in the encoders.

mod bits;
mod chip;
mod error;
pub mod fragment;
pub mod vertex;

pub use chip::{Chip, Chips, FragmentLimits, Limits, VertexLimits};
pub use error::{DecodeError, EncodeError};

use std::fmt;

/// The letters of the components.
pub(crate) const LETTERS: [char; 4] = ['x', 'y', 'z', 'w'];

/// A write mask; bit 0 is x.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Mask(pub u8);

impl Mask {
    /// No component.
    pub const NONE: Mask = Mask(0);
    /// The first component.
    pub const X: Mask = Mask(1);
    /// All components.
    pub const ALL: Mask = Mask(15);

    /// Whether the mask is empty.
    pub fn is_empty(self) -> bool {
        self.0 & 15 == 0
    }

    /// Whether the component is written.
    pub fn has(self, component: usize) -> bool {
        self.0 >> component & 1 != 0
    }

    /// Returns the components of either mask.
    pub fn or(self, other: Mask) -> Mask {
        Mask(self.0 | other.0)
    }

    /// Returns the components of both masks.
    pub fn and(self, other: Mask) -> Mask {
        Mask(self.0 & other.0)
    }

    /// Returns the four bits with x in the highest one.
    pub(crate) fn reversed(self) -> u32 {
        u32::from((self.0 & 15).reverse_bits() >> 4)
    }

    /// Converts four bits with x in the highest one.
    pub(crate) fn from_reversed(bits: u32) -> Mask {
        Mask((bits as u8 & 15).reverse_bits() >> 4)
    }
}

impl fmt::Display for Mask {
    /// Prints `.xz`, or nothing if all components are written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Mask::ALL {
            return Ok(());
        }
        let letters: String = (0..4).filter(|&c| self.has(c)).map(|c| LETTERS[c]).collect();
        write!(f, ".{letters}")
    }
}

/// For each component of the result, the component that is read. Numbers are taken modulo 4.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Swizzle(pub [u8; 4]);

impl Swizzle {
    /// `xyzw`
    pub const IDENTITY: Swizzle = Swizzle([0, 1, 2, 3]);

    /// Returns the swizzle that reads one component everywhere.
    pub const fn replicate(component: u8) -> Swizzle {
        Swizzle([component; 4])
    }

    /// Returns the components of a vector in the order of the swizzle.
    pub fn apply<T: Copy>(self, vector: [T; 4]) -> [T; 4] {
        self.0.map(|component| vector[usize::from(component & 3)])
    }

    /// Returns the eight bits with x in the lowest two.
    pub(crate) fn packed(self) -> u32 {
        self.0.iter().rev().fold(0, |bits, &component| bits << 2 | u32::from(component & 3))
    }

    /// Converts eight bits with x in the lowest two.
    pub(crate) fn from_packed(bits: u32) -> Swizzle {
        Swizzle([0, 2, 4, 6].map(|shift| (bits >> shift & 3) as u8))
    }

    /// Returns the eight bits with x in the highest two.
    pub(crate) fn reversed(self) -> u32 {
        self.0.iter().fold(0, |bits, &component| bits << 2 | u32::from(component & 3))
    }

    /// Converts eight bits with x in the highest two.
    pub(crate) fn from_reversed(bits: u32) -> Swizzle {
        Swizzle([6, 4, 2, 0].map(|shift| (bits >> shift & 3) as u8))
    }
}

impl Default for Swizzle {
    fn default() -> Swizzle {
        Swizzle::IDENTITY
    }
}

impl fmt::Display for Swizzle {
    /// Prints `.wzyx`, one letter for a replicated component, or nothing for the identity.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = Swizzle::apply(*self, LETTERS);
        if *self == Swizzle::IDENTITY {
            Ok(())
        } else if letters == [letters[0]; 4] {
            write!(f, ".{}", letters[0])
        } else {
            write!(f, ".{}", letters.iter().collect::<String>())
        }
    }
}

/// A condition: the classes of a value that pass. Bit 0 is less than zero, bit 1 zero, bit 2 greater than zero. NaN
/// passes [`Condition::NE`] and [`Condition::TR`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Condition(pub u8);

impl Condition {
    /// Never.
    pub const FL: Condition = Condition(0);
    /// Less than zero.
    pub const LT: Condition = Condition(1);
    /// Zero.
    pub const EQ: Condition = Condition(2);
    /// Less than or equal to zero.
    pub const LE: Condition = Condition(3);
    /// Greater than zero.
    pub const GT: Condition = Condition(4);
    /// Not zero.
    pub const NE: Condition = Condition(5);
    /// Greater than or equal to zero.
    pub const GE: Condition = Condition(6);
    /// Always.
    pub const TR: Condition = Condition(7);

    /// Returns NVIDIA's name.
    pub fn name(self) -> &'static str {
        ["FL", "LT", "EQ", "LE", "GT", "NE", "GE", "TR"][usize::from(self.0 & 7)]
    }
}

/// A test of a condition register: components of which the swizzled class fails are not written, and a branch is taken
/// if any component passes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Predicate {
    /// The condition register, 0 or 1.
    pub register: u8,
    /// The classes that pass.
    pub condition: Condition,
    /// The component that is tested for each written component.
    pub swizzle: Swizzle,
}

impl Predicate {
    /// The test that always passes.
    pub const ALWAYS: Predicate = Predicate { register: 0, condition: Condition::TR, swizzle: Swizzle::IDENTITY };
}

impl Default for Predicate {
    fn default() -> Predicate {
        Predicate::ALWAYS
    }
}

impl fmt::Display for Predicate {
    /// Prints `(GT.x)`; the number of register 1 follows the condition.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let register = if self.register == 0 { "" } else { "1" };
        write!(f, "({}{register}{})", self.condition.name(), self.swizzle)
    }
}
