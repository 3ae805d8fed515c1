//! The fields of instructions that are not operands.

use super::bits::enumeration;

enumeration! {
    /// How operands select components.
    AccessMode {
        Align1 = 0 "align1" "Sources have a region of elements, and the destination a stride.";
        Align16 = 1 "align16" "Sources have a swizzle, and the destination a write mask of four components.";
    }
}

enumeration! {
    /// The number of channels.
    ExecutionSize {
        X1 = 0 "1" "One channel.";
        X2 = 1 "2" "Two channels.";
        X4 = 2 "4" "Four channels.";
        X8 = 3 "8" "Eight channels.";
        X16 = 4 "16" "16 channels.";
        X32 = 5 "32" "32 channels.";
    }
}

impl ExecutionSize {
    /// The number of channels.
    pub fn channels(self) -> u32 {
        1 << self.code()
    }

    /// Returns the size with a number of channels.
    pub fn from_channels(channels: u32) -> Option<ExecutionSize> {
        if channels.is_power_of_two() { ExecutionSize::from_code(channels.trailing_zeros()) } else { None }
    }
}

enumeration! {
    /// What happens to other threads around an instruction.
    ThreadControl {
        Normal = 0 "" "Nothing.";
        Atomic = 1 "atomic" "The thread is not switched after the instruction.";
        Switch = 2 "switch" "The thread is switched after the instruction.";
    }
}

enumeration! {
    /// A condition on the result, which an instruction writes to the flag register, or selects by.
    Condition {
        Z = 1 "z" "Zero or equal.";
        Nz = 2 "nz" "Not zero or not equal.";
        G = 3 "g" "Greater.";
        Ge = 4 "ge" "Greater or equal.";
        L = 5 "l" "Less.";
        Le = 6 "le" "Less or equal.";
        R = 7 "r" "Rounding was up; not used since Gen6.";
        O = 8 "o" "Overflow.";
        U = 9 "u" "Unordered: an operand is NaN.";
    }
}

/// A subregister of a flag register: 16 bits, one for each channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Flag {
    /// The register, 0 or 1.
    pub register: u8,
    /// The half of the register, 0 or 1.
    pub half: u8,
}

impl Flag {
    /// The first half of the first register.
    pub const F0_0: Flag = Flag { register: 0, half: 0 };
    /// The second half of the first register.
    pub const F0_1: Flag = Flag { register: 0, half: 1 };
    /// The first half of the second register.
    pub const F1_0: Flag = Flag { register: 1, half: 0 };
    /// The second half of the second register.
    pub const F1_1: Flag = Flag { register: 1, half: 1 };
    /// All subregisters.
    pub const ALL: [Flag; 4] = [Flag::F0_0, Flag::F0_1, Flag::F1_0, Flag::F1_1];
}

/// The flags that enable a channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PredicateControl {
    /// The flag of the channel.
    Normal,
    /// The flag of the first component of the vector of the channel (align16).
    X,
    /// The flag of the second component (align16).
    Y,
    /// The flag of the third component (align16).
    Z,
    /// The flag of the fourth component (align16).
    W,
    /// A flag of the channel in either register (align1).
    AnyV,
    /// The flags of the channel in both registers (align1).
    AllV,
    /// A flag in the group of two channels (align1).
    Any2,
    /// All flags in the group of two channels (align1).
    All2,
    /// A flag in the group of four channels.
    Any4,
    /// All flags in the group of four channels.
    All4,
    /// A flag in the group of eight channels (align1).
    Any8,
    /// All flags in the group of eight channels (align1).
    All8,
    /// A flag in the group of 16 channels (align1).
    Any16,
    /// All flags in the group of 16 channels (align1).
    All16,
    /// Any flag (align1).
    Any32,
    /// All flags (align1).
    All32,
}

impl PredicateControl {
    /// The variants of an access mode, in the order of their numbers, which begin with 1.
    pub fn of(access: AccessMode) -> &'static [PredicateControl] {
        use PredicateControl::*;
        match access {
            AccessMode::Align1 => &[Normal, AnyV, AllV, Any2, All2, Any4, All4, Any8, All8, Any16, All16, Any32, All32],
            AccessMode::Align16 => &[Normal, X, Y, Z, W, Any4, All4],
        }
    }

    /// Returns the variant with a number other than zero.
    pub fn from_code(code: u32, access: AccessMode) -> Option<PredicateControl> {
        PredicateControl::of(access).get((code as usize).checked_sub(1)?).copied()
    }

    /// The number in words, if the access mode has the variant.
    pub fn code(self, access: AccessMode) -> Option<u32> {
        let index = PredicateControl::of(access).iter().position(|&control| control == self)?;
        Some(index as u32 + 1)
    }

    /// The name in listings, with a dot.
    pub fn suffix(self) -> &'static str {
        match self {
            PredicateControl::Normal => "",
            PredicateControl::X => ".x",
            PredicateControl::Y => ".y",
            PredicateControl::Z => ".z",
            PredicateControl::W => ".w",
            PredicateControl::AnyV => ".anyv",
            PredicateControl::AllV => ".allv",
            PredicateControl::Any2 => ".any2h",
            PredicateControl::All2 => ".all2h",
            PredicateControl::Any4 => ".any4h",
            PredicateControl::All4 => ".all4h",
            PredicateControl::Any8 => ".any8h",
            PredicateControl::All8 => ".all8h",
            PredicateControl::Any16 => ".any16h",
            PredicateControl::All16 => ".all16h",
            PredicateControl::Any32 => ".any32h",
            PredicateControl::All32 => ".all32h",
        }
    }
}

/// A predicate: channels whose flag is not set are disabled. The flags are those of [`Instruction::flag`].
///
/// [`Instruction::flag`]: super::Instruction::flag
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Predicate {
    /// The flags.
    pub control: PredicateControl,
    /// Whether the result is inverted.
    pub inverse: bool,
}

impl Predicate {
    /// The flag of each channel.
    pub const NORMAL: Predicate = Predicate { control: PredicateControl::Normal, inverse: false };
    /// The inverted flag of each channel.
    pub const INVERSE: Predicate = Predicate { control: PredicateControl::Normal, inverse: true };
}

/// The channels of the thread that an instruction works on, which decides on the bits of flag registers and of the
/// execution mask: channel `4 * (2 * quarter + nibble)` is the first one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Group {
    /// The group of eight channels, 0 to 3.
    pub quarter: u8,
    /// Whether the second four channels of the group come first.
    pub nibble: bool,
}

impl Group {
    /// The number of the first channel.
    pub fn first_channel(self) -> u32 {
        u32::from(self.quarter) * 8 + u32::from(self.nibble) * 4
    }
}

/// Checks of the scoreboard that are left out for the destination.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Dependency {
    /// The destination stays marked as being written after the instruction.
    pub no_clear: bool,
    /// The instruction does not wait for writes of the destination.
    pub no_check: bool,
}
