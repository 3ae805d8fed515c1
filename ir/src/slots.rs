//! Slots of inputs and outputs: numbers and names, one table and one type for each kind.

macro_rules! slots {
    ($(#[$meta:meta])* $kind:ident $prefix:literal { $($constant:ident = $number:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug)]
        pub enum $kind {}

        impl $kind {
            $(#[doc = concat!("`", $prefix, stringify!($constant), "`.")] pub const $constant: u8 = $number;)+

            /// Prefix of the names in the text form.
            pub const PREFIX: &str = $prefix;

            const NAMED: &[(u8, &str)] = &[$(($number, stringify!($constant))),+];

            /// Returns the name without the prefix, or `None` for a number without a name.
            pub fn name(slot: u8) -> Option<String> {
                let named = Self::NAMED.iter().find(|&&(number, _)| number == slot);
                named.map(|&(_, name)| name.to_string()).or_else(|| ranged_name($prefix, slot))
            }
        }
    };
}

/// Returns the names of slots in numbered ranges.
fn ranged_name(prefix: &str, slot: u8) -> Option<String> {
    match (prefix, slot) {
        ("VARYING_SLOT_", 4..=11) => Some(format!("TEX{}", slot - 4)),
        ("VARYING_SLOT_", 32..=63) => Some(format!("VAR{}", slot - 32)),
        ("VARYING_SLOT_", 64..=79) => Some(format!("PATCH{}", slot - 64)),
        ("VARYING_SLOT_", 80..=95) => Some(format!("VAR{}_16BIT", slot - 80)),
        // Patch slots beyond the sixteenth do not overlap named slots.
        ("VARYING_SLOT_", 96..=127) => Some(format!("PATCH{}", slot - 64)),
        ("FRAG_RESULT_", 4..=11) => Some(format!("DATA{}", slot - 4)),
        ("VERT_ATTRIB_", 6..=13) => Some(format!("TEX{}", slot - 6)),
        ("VERT_ATTRIB_", 15..=30) => Some(format!("GENERIC{}", slot - 15)),
        _ => None,
    }
}

slots! {
    /// Slots between stages.
    VaryingSlot "VARYING_SLOT_" {
        POS = 0, COL0 = 1, COL1 = 2, FOGC = 3, TEX0 = 4, PSIZ = 12, BFC0 = 13, BFC1 = 14, EDGE = 15, CLIP_VERTEX = 16,
        CLIP_DIST0 = 17, CLIP_DIST1 = 18, CULL_DIST0 = 19, CULL_DIST1 = 20, PRIMITIVE_ID = 21, LAYER = 22, VIEWPORT = 23,
        FACE = 24, PNTC = 25, TESS_LEVEL_OUTER = 26, TESS_LEVEL_INNER = 27, BOUNDING_BOX0 = 28, BOUNDING_BOX1 = 29,
        VIEW_INDEX = 30, VIEWPORT_MASK = 31, VAR0 = 32, PATCH0 = 64, VAR0_16BIT = 80,
    }
}

slots! {
    /// Fragment outputs.
    FragResult "FRAG_RESULT_" {
        DEPTH = 0, STENCIL = 1, COLOR = 2, SAMPLE_MASK = 3, DATA0 = 4,
    }
}

slots! {
    /// Vertex inputs.
    VertAttrib "VERT_ATTRIB_" {
        POS = 0, NORMAL = 1, COLOR0 = 2, COLOR1 = 3, FOG = 4, COLOR_INDEX = 5, TEX0 = 6, POINT_SIZE = 14, GENERIC0 = 15,
        EDGEFLAG = 31,
    }
}
