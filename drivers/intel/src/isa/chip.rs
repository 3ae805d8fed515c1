//! The generations of hardware.

/// A generation of execution units.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Chip {
    /// Gen7: Ivy Bridge and Bay Trail.
    Gen7,
    /// Gen7.5: Haswell.
    Gen75,
}

impl Chip {
    /// Both generations.
    pub const ALL: [Chip; 2] = [Chip::Gen7, Chip::Gen75];

    /// The name that Mesa's tools use for a processor of the generation.
    pub fn name(self) -> &'static str {
        match self {
            Chip::Gen7 => "ivb",
            Chip::Gen75 => "hsw",
        }
    }
}
