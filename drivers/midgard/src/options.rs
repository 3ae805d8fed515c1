//! The options of the driver, and its profiles: the chips.

use crate::isa::Chip;

/// The form of the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// The words of the program.
    Words,
    /// A listing in the form of Mesa's disassembler.
    Listing,
}

tgsi_compiler::driver_options! {
    /// Options of the driver.
    pub struct MidgardOptions {
        /// The chip. Only profiles set it.
        chip: Chip = Chip::T760;
        /// The form of the code.
        form: Form = Form::Words,
            "words" = Form::Words, "The code is the words only, as a program uploads them.",
            "listing" = Form::Listing, "The code is a listing in the form of Mesa's disassembler.";
        optimize: bool = true, "unoptimized" = false, "Passes that are not necessary do not run.";
        schedule: bool = true, "no_schedule" = false, "Each bundle has one instruction.";
        map_uniforms: bool = true, "no_uniform_registers" = false, "Uniforms are loaded, and not mapped to registers.";
    }
    profiles {
        "t600", "Mali T600 to T608." => |o| o.chip = Chip::T600;
        "t620", "Mali T620 to T628." => |o| o.chip = Chip::T620;
        "t720", "Mali T720." => |o| o.chip = Chip::T720;
        "t760", "Mali T760." => |o| o.chip = Chip::T760;
        "t820", "Mali T820." => |o| o.chip = Chip::T820;
        "t830", "Mali T830." => |o| o.chip = Chip::T830;
        "t860", "Mali T860." => |o| o.chip = Chip::T860;
        "t880", "Mali T880." => |o| o.chip = Chip::T880;
    }
}
