//! The chips and their limits.

use serde::{Deserialize, Serialize};

use std::fmt;

/// A family of chips with one encoding and one set of limits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Chip {
    /// GeForce FX (Rankine).
    Nv30,
    /// GeForce 6 and 7 (Curie).
    Nv40,
    /// The PlayStation 3: encoded as [`Chip::Nv40`].
    Rsx,
}

/// The chips that have an opcode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Chips {
    /// All of them.
    All,
    /// GeForce FX.
    Nv30,
    /// GeForce 6 and 7, PlayStation 3.
    Nv40,
}

/// The limits of vertex programs. Counts; valid numbers are below them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VertexLimits {
    /// Instructions of a program.
    pub slots: u16,
    /// Temporary registers, with method `TIMEOUT` set for the greatest number.
    pub temporaries: u8,
    /// Temporary registers with the usual `TIMEOUT`.
    pub usual_temporaries: u8,
    /// Constants that a program may use.
    pub constants: u16,
    /// Inputs.
    pub inputs: u8,
    /// Outputs, with the clip distances of GeForce FX.
    pub outputs: u8,
    /// Condition registers.
    pub conditions: u8,
    /// Return addresses and saved address registers.
    pub stack: u8,
    /// Smallest and greatest value of a component of an address register.
    pub address: (i32, i32),
    /// Texture units.
    pub textures: u8,
}

/// The limits of fragment programs. Counts; valid numbers are below them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FragmentLimits {
    /// Slots of a program, with its constants.
    pub slots: u32,
    /// R registers.
    pub full: u8,
    /// H registers.
    pub half: u8,
    /// Inputs that can be named.
    pub inputs: u8,
    /// Texture units.
    pub textures: u8,
    /// Condition registers.
    pub conditions: u8,
    /// Nested ifs; 0 without flow.
    pub ifs: u8,
    /// Nested loops.
    pub loops: u8,
    /// Nested calls.
    pub calls: u8,
}

/// All limits of a chip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Vertex programs.
    pub vertex: VertexLimits,
    /// Fragment programs.
    pub fragment: FragmentLimits,
}

const NV30: Limits = Limits {
    vertex: VertexLimits {
        slots: 256,
        temporaries: 16,
        usual_temporaries: 16,
        constants: 256,
        inputs: 16,
        outputs: 23,
        conditions: 1,
        stack: 8,
        address: (-512, 511),
        textures: 0,
    },
    fragment: FragmentLimits {
        slots: 1024,
        full: 32,
        half: 64,
        inputs: 12,
        textures: 16,
        conditions: 1,
        ifs: 0,
        loops: 0,
        calls: 0,
    },
};

/// The range of address registers is an assumption: it is known to exceed 10 bits.
const NV40: Limits = Limits {
    vertex: VertexLimits {
        slots: 512,
        temporaries: 48,
        usual_temporaries: 32,
        constants: 468,
        inputs: 16,
        outputs: 17,
        conditions: 2,
        stack: 8,
        address: (-0x8000, 0x7fff),
        textures: 4,
    },
    fragment: FragmentLimits {
        slots: 4096,
        full: 48,
        half: 48,
        inputs: 15,
        textures: 16,
        conditions: 2,
        ifs: 48,
        loops: 4,
        calls: 4,
    },
};

const RSX: Limits = Limits { vertex: VertexLimits { slots: 544, ..NV40.vertex }, ..NV40 };

impl Chip {
    /// All chips.
    pub const ALL: [Chip; 3] = [Chip::Nv30, Chip::Nv40, Chip::Rsx];

    /// Returns the limits.
    pub fn limits(self) -> &'static Limits {
        match self {
            Chip::Nv30 => &NV30,
            Chip::Nv40 => &NV40,
            Chip::Rsx => &RSX,
        }
    }

    /// Whether the chip belongs to the set.
    pub fn is_in(self, chips: Chips) -> bool {
        match chips {
            Chips::All => true,
            Chips::Nv30 => self == Chip::Nv30,
            Chips::Nv40 => self != Chip::Nv30,
        }
    }
}

impl fmt::Display for Chip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Chip::Nv30 => "nv30",
            Chip::Nv40 => "nv40",
            Chip::Rsx => "rsx",
        })
    }
}
