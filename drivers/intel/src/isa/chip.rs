//! The generations of hardware.

use std::fmt::{Display, Formatter};

use serde::{Deserialize, Serialize};

/// A generation of execution units.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Chip {
    /// Gen7: Ivy Bridge and Bay Trail.
    #[serde(rename = "ivb")]
    Gen7,
    /// Gen7.5: Haswell.
    #[serde(rename = "hsw")]
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

impl Display for Chip {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Chip::Gen7 => "Gen7",
            Chip::Gen75 => "Gen7.5",
        })
    }
}
