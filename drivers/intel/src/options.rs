//! The options of the driver, and its profiles: the generations.

use crate::isa::Chip;

/// The form of the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// The words, little-endian.
    Words,
    /// A listing in the form of Mesa's `elk_disasm`.
    Listing,
}

tgsi_compiler::driver_options! {
    /// Options of the driver.
    pub struct IntelOptions {
        /// The generation. Only profiles set it.
        chip: Chip = Chip::Gen7;
        /// The form of the code.
        form: Form = Form::Words,
            "words" = Form::Words, "The code is the words only.",
            "listing" = Form::Listing, "The code is a listing in the form of Mesa's `elk_disasm`.";
        optimize: bool = true, "unoptimized" = false, "Passes that are not necessary do not run.";
        /// Vertices have a number in their group, which no hardware provides: for programs that store at a separate
        /// place for each. Fragments read values that hardware provides once for all lanes as attributes, see
        /// [`FragmentSystemValues`](crate::program::FragmentSystemValues). For runs on the simulator.
        has_lanes: bool = false;
        fuse_mad: bool = true, "no_mad" = false, "Products and sums of fragments stay separate, and are rounded separately.";
        compaction: bool = true, "no_compaction" = false, "All instructions have 128 bits.";
        /// For tests of spilling, and to see its costs.
        few_registers: bool = false,
            "few_registers" = true, "Few registers hold temporaries; others are in the scratch space.";
        push: bool = true, "no_push" = false, "Constants are loaded from memory, and not pushed to registers.";
    }
    profiles {
        "ivb", "Ivy Bridge and Bay Trail (Gen7)." => |o| o.chip = Chip::Gen7;
        "hsw", "Haswell (Gen7.5)." => |o| o.chip = Chip::Gen75;
    }
}

impl IntelOptions {
    /// The maximum number of pushed constants: two in each of 32 registers.
    pub(crate) fn push_limit(&self) -> usize {
        if self.push { 64 } else { 0 }
    }
}
