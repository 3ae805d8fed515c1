//! Operands and destinations that follow from others, for instruction selection.

use super::{Destination, Source};

/// The source with the components that a swizzle selects from its components.
#[must_use]
pub fn composed(source: Source, swizzle: [u8; 4]) -> Source {
    source.swizzled(swizzle.map(|c| source.swizzle[usize::from(c & 3)]))
}

/// The source with one component in all channels.
#[must_use]
pub fn lane(source: Source, component: u8) -> Source {
    composed(source, [component; 4])
}

/// The negated source.
#[must_use]
pub fn negated(source: Source) -> Source {
    Source { negate: !source.negate, ..source }
}

/// The absolute value of the source.
#[must_use]
pub fn absolute(source: Source) -> Source {
    Source { absolute: true, negate: false, ..source }
}

/// A destination, and whether the result is saturated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    /// The components written.
    pub to: Destination,
    /// Whether the result is clamped to \[0, 1\].
    pub saturate: bool,
}

impl Target {
    /// The components written, bit 0 = x.
    pub fn mask(&self) -> u8 {
        self.to.mask
    }

    /// The same target with other components.
    #[must_use]
    pub fn masked(self, mask: u8) -> Target {
        Target { to: Destination { mask, ..self.to }, ..self }
    }
}

impl Destination {
    /// Whether an operand is the register, without run-time index.
    pub fn is_read_by(&self, source: &Source) -> bool {
        (source.file, source.index) == (self.file, self.index)
    }
}
