//! Swizzles and flags of ALU instructions.

/// Maximum number of components of a value.
pub const MAX_COMPONENTS: usize = 16;

/// Component selectors of an ALU source, four bits each.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Swizzle(pub u64);

impl Swizzle {
    /// Selects every component in place.
    pub const IDENTITY: Swizzle = Swizzle(0xfedc_ba98_7654_3210);

    /// Selects `component` for every result component.
    pub const fn replicate(component: u8) -> Swizzle {
        Swizzle((component as u64 & 15) * 0x1111_1111_1111_1111)
    }

    /// Makes a swizzle from a list of selectors; further components select component 0.
    pub fn new(selectors: &[u8]) -> Swizzle {
        selectors.iter().take(MAX_COMPONENTS).enumerate().fold(Swizzle(0), |s, (i, &c)| s.with(i, c))
    }

    /// The selector for component `index`.
    pub const fn get(self, index: usize) -> u8 {
        (self.0 >> (4 * (index & 15))) as u8 & 15
    }

    /// Returns the swizzle with another selector for component `index`.
    #[must_use]
    pub const fn with(self, index: usize, selector: u8) -> Swizzle {
        let shift = 4 * (index & 15);
        Swizzle(self.0 & !(15 << shift) | (selector as u64 & 15) << shift)
    }

    /// The selectors for the first `count` components, followed by zeros.
    pub const fn first(self, count: usize) -> u64 {
        if count >= MAX_COMPONENTS { self.0 } else { self.0 & ((1 << (4 * count)) - 1) }
    }

    /// Composes swizzles: applies `self` to a value that `inner` has swizzled, `result[i] = inner[self[i]]`.
    #[must_use]
    pub fn compose(self, inner: Swizzle) -> Swizzle {
        if self == Self::IDENTITY {
            return inner;
        }
        if inner == Self::IDENTITY {
            return self;
        }
        (0..MAX_COMPONENTS).fold(Swizzle(0), |s, i| s.with(i, inner.get(self.get(i) as usize)))
    }

    /// Whether the first `count` components are selected in place.
    pub const fn is_identity(self, count: usize) -> bool {
        let mask = if count >= 16 { u64::MAX } else { (1 << (4 * count)) - 1 };
        (self.0 ^ Self::IDENTITY.0) & mask == 0
    }

    /// The component that each channel of an operand reads on a machine with four channels, if the instruction reads
    /// the channels of `mask`; the other channels repeat the first one of those, so that an operand reads no more than
    /// it must. For values of up to four components.
    pub const fn of_channels(self, mask: u32) -> [u8; 4] {
        let first = if mask & 0xf == 0 { 0 } else { mask.trailing_zeros() as usize };
        let mut channels = [0; 4];
        let mut channel = 0;
        while channel < 4 {
            let read = if mask >> channel & 1 != 0 { channel } else { first };
            channels[channel] = self.get(read) & 3;
            channel += 1;
        }
        channels
    }

    /// Applies four selectors to the swizzled value: the component that each of them reads.
    pub fn select(self, channels: [u8; 4]) -> [u8; 4] {
        channels.map(|channel| self.get(usize::from(channel)) & 3)
    }

    /// The first `count` selectors.
    pub fn iter(self, count: usize) -> impl Iterator<Item = u8> {
        (0..count).map(move |i| self.get(i))
    }
}

impl std::fmt::Debug for Swizzle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Swizzle({:016x})", self.0)
    }
}

/// Flags of an ALU instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct AluFlags(pub u16);

impl AluFlags {
    /// No flags.
    pub const NONE: AluFlags = AluFlags(0);
    /// The value must be reproduced bit for bit.
    pub const EXACT: AluFlags = AluFlags(1);
    /// The signed operation does not overflow.
    pub const NO_SIGNED_WRAP: AluFlags = AluFlags(2);
    /// The unsigned operation does not overflow.
    pub const NO_UNSIGNED_WRAP: AluFlags = AluFlags(4);
    /// Shift of the nine fast-math bits (signed zero, infinity, NaN to be preserved for 16, 32, 64 bits each).
    pub const FAST_MATH_SHIFT: u32 = 3;

    /// Whether all flags of `other` are set.
    pub const fn contains(self, other: AluFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union of both sets.
    #[must_use]
    pub const fn union(self, other: AluFlags) -> AluFlags {
        AluFlags(self.0 | other.0)
    }

    /// Whether the value must be reproduced bit for bit.
    pub const fn is_exact(self) -> bool {
        self.contains(Self::EXACT)
    }
}

#[cfg(test)]
mod tests {
    use super::Swizzle;

    #[test]
    fn channels_that_are_not_read_repeat_the_first_one_that_is() {
        let swizzle = Swizzle::new(&[2, 0, 3, 1]);
        for (mask, channels) in [
            (0xf, [2, 0, 3, 1]),
            (0b0011, [2, 0, 2, 2]),
            (0b1010, [0, 0, 0, 1]),
            (0b0100, [3; 4]),
            (0, [2; 4]),
            (0x30, [2; 4]),
        ] {
            assert_eq!(swizzle.of_channels(mask), channels, "{mask:#b}");
        }
        assert_eq!(swizzle.select([3, 3, 1, 0]), [1, 1, 0, 2]);
        assert_eq!(Swizzle::new(&[7, 5]).of_channels(0xf), [3, 1, 0, 0]);
    }
}
