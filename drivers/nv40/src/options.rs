//! The options of the driver, and its profiles: the chips.

use crate::isa::Chip;

/// The form of the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// The file that PSL1GHT's `rsxLoad...` functions read (`.vpo`, `.fpo`).
    Loader,
    /// NVIDIA's Cg binary.
    Cg,
    /// Words, in the order of the chip's host.
    Words,
    /// A C header with words and tables.
    Header,
    /// Words and tables as an array of numbers.
    Binary,
    /// A listing in NVIDIA's syntax.
    Listing,
}

tgsi_compiler::driver_options! {
    /// Options of the driver.
    pub struct Nv40Options {
        /// The chip. Only profiles set it.
        chip: Chip = Chip::Nv40;
        /// The form of the code.
        form: Form = Form::Words,
            "loader" = Form::Loader, "The code is a file that PSL1GHT loads (`.vpo`, `.fpo`).",
            "cg" = Form::Cg, "The code is a Cg binary.",
            "words" = Form::Words, "The code is the words only, as a program uploads them.",
            "c" = Form::Header, "The code is a C header.",
            "binary" = Form::Binary, "The code is an array of numbers: the words, and tables for a loader.",
            "listing" = Form::Listing, "The code is a listing in NVIDIA's syntax.";
        optimize: bool = true, "unoptimized" = false, "Passes that are not necessary do not run.";
        /// Registers are assigned in the IR and looked up during selection (`nir_register` style): no passes follow.
        chase: bool = false, "chase" = true, "Selects instructions over registers that are assigned in the IR.";
        pairs: bool = true, "no_pairs" = false, "Vertex programs: an instruction is one operation.";
        vector_beside_branch: bool = false,
            "vector_beside_branch" = true, "Vertex programs: a vector operation may share a slot with a branch.";
        /// The driver of the chip must permit them.
        all_temporaries: bool = false,
            "all_temporaries" = true, "Vertex programs: 48 temporary registers may be used, not 32.";
        has_rsq: bool = false, "rsq" = true, "Fragment programs: the reciprocal square root is an instruction.";
        has_lrp: bool = false, "lrp" = true, "Fragment programs: the linear interpolation is an instruction.";
        half: bool = false,
            "half" = true, "Fragment programs: colours and samples of textures may be rounded to 16 bits.";
        full: bool = false, "full" = true, "Fragment programs: colours are exported with 32 bits.";
    }
    profiles {
        "nv30", "GeForce FX (NV3x)." => |o| { o.chip = Chip::Nv30; o.has_rsq = true; o.has_lrp = true };
        "nv40", "GeForce 6 and 7 (NV4x)." => |o| o.chip = Chip::Nv40;
        "rsx", "The PlayStation 3." => |o| {
            o.chip = Chip::Rsx; o.form = Form::Loader; o.has_rsq = true; o.has_lrp = true
        };
    }
}
