//! Sets of components of the registers that instructions read and write.

/// The first component of each file. There are 48 temporaries, up to 23 outputs, and the special registers.
const OUTPUTS: usize = 48 * 4;
const SPECIAL: usize = OUTPUTS + 24 * 4;
const WORDS: usize = (SPECIAL + 4 * 4).div_ceil(64);

/// A register that instructions write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Register {
    Temporary(u8),
    Output(u8),
    /// A condition register or address register, as the machine numbers them.
    Special(u8),
}

/// A set of components.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Registers([u64; WORDS]);

impl Registers {
    /// Adds components of a register.
    pub(super) fn add(&mut self, register: Register, mask: u8) {
        let first = match register {
            Register::Temporary(number) => usize::from(number.min(47)) * 4,
            Register::Output(number) => OUTPUTS + usize::from(number.min(23)) * 4,
            Register::Special(number) => SPECIAL + usize::from(number & 3) * 4,
        };
        self.0[first / 64] |= u64::from(mask & 15) << (first % 64);
    }

    /// The set of some components of a register.
    pub(super) fn of(register: Register, mask: u8) -> Registers {
        let mut set = Registers::default();
        set.add(register, mask);
        set
    }

    /// Adds all outputs.
    pub(super) fn add_outputs(&mut self) {
        (0..24).for_each(|number| self.add(Register::Output(number), 15));
    }

    /// Returns the union.
    pub(super) fn with(mut self, other: &Registers) -> Registers {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
        self
    }

    /// Whether a component is in both sets.
    pub(super) fn meets(&self, other: &Registers) -> bool {
        self.0.iter().zip(other.0).any(|(word, other)| word & other != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_have_separate_bits() {
        let temporaries = (0..48).map(Register::Temporary);
        let outputs = (0..24).map(Register::Output);
        let all = temporaries.chain(outputs).chain((0..4).map(Register::Special));
        let sets: Vec<_> = all.flat_map(|register| [1, 2, 4, 8].map(|mask| Registers::of(register, mask))).collect();
        for (number, set) in sets.iter().enumerate() {
            assert!(set.meets(set));
            assert!(sets[..number].iter().all(|other| !set.meets(other)));
        }
    }
}
