//! Types of components.

/// How the bits of a component are read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// False or true.
    Bool,
    /// A signed integer.
    Int,
    /// An unsigned integer.
    Uint,
    /// A float.
    Float,
}

impl Kind {
    /// Whether values are integers.
    pub fn is_integer(self) -> bool {
        matches!(self, Kind::Int | Kind::Uint)
    }
}

/// The type of a component.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Scalar {
    /// How the bits are read.
    pub kind: Kind,
    /// Number of bits: 1 for booleans, 8, 16, 32 or 64 for integers, 16, 32 or 64 for floats.
    pub bits: u8,
}

impl Scalar {
    /// A boolean.
    pub const BOOL: Scalar = Scalar::new(Kind::Bool, 1);
    /// A signed integer of 32 bits.
    pub const INT: Scalar = Scalar::new(Kind::Int, 32);
    /// An unsigned integer of 32 bits.
    pub const UINT: Scalar = Scalar::new(Kind::Uint, 32);
    /// A float of 32 bits.
    pub const FLOAT: Scalar = Scalar::new(Kind::Float, 32);
    /// A float of 64 bits.
    pub const DOUBLE: Scalar = Scalar::new(Kind::Float, 64);

    /// A type from its kind and number of bits.
    pub const fn new(kind: Kind, bits: u8) -> Scalar {
        Scalar { kind, bits }
    }
}
