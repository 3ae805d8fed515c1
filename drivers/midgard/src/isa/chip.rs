//! The chips and their differences.

use serde::{Deserialize, Serialize};

macro_rules! chips {
    ($($variant:ident $id:literal $aliases:literal $ooo:literal $upper_alu:literal $description:literal;)*) => {
        /// A chip, or a group of chips with the same instruction set.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum Chip {
            $(#[doc = $description] $variant,)*
        }

        impl Chip {
            /// All chips.
            pub const ALL: &[Chip] = &[$(Chip::$variant),*];

            /// The product number, as kernel drivers report it.
            pub fn id(self) -> u32 {
                match self {
                    $(Chip::$variant => $id,)*
                }
            }

            /// Whether registers of the texture unit are registers of other units: r28 and r29 are r0 and r1 on one
            /// side, r26 and r27 on the other.
            pub fn aliases_texture_registers(self) -> bool {
                match self {
                    $(Chip::$variant => $aliases,)*
                }
            }

            /// Whether bundles may execute before a preceding texture operation ends.
            pub fn executes_out_of_order(self) -> bool {
                match self {
                    $(Chip::$variant => $ooo,)*
                }
            }

            /// Whether the tags of ALU bundles with a write-out exist.
            pub fn has_writeout_tags(self) -> bool {
                match self {
                    $(Chip::$variant => $upper_alu,)*
                }
            }
        }
    };
}

chips! {
    T600 0x600 false false false "T600 to T608.";
    T620 0x620 false false false "T620 to T628.";
    T720 0x720 true false false "T720.";
    T760 0x750 false true false "T760.";
    T820 0x820 true true true "T820.";
    T830 0x830 true true true "T830.";
    T860 0x860 false true true "T860.";
    T880 0x880 false true true "T880.";
}
