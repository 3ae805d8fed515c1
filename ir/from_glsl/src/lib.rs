//! GLSL front end: converts shaders of the OpenGL shading language to the IR.
//!
//! | phase | from | to |
//! |---|---|---|
//! | `preprocess` | bytes | tokens with positions, the version, the enabled extensions |
//! | `parse` | tokens | a syntax tree |
//! | `analyze` | syntax tree | a typed program: names resolved, conversions explicit, constants folded |
//! | `emit` | typed program | IR |
//! | `link` | the IR of all stages of a pipeline | slots of the variables that stages share |
//! | `assign` | IR | registers and units of all variables |
//!
//! Each phase reports all its findings; a later phase runs on what an earlier one could read.

mod analyze;
mod assign;
mod ast;
mod builtins;
mod compile;
mod compute;
mod emit;
mod extension;
mod findings;
mod front_end;
mod joined;
mod keyword;
mod layout;
mod link;
#[cfg(test)]
mod manual;
mod members;
mod options;
mod packing;
mod parse;
mod preprocess;
mod program;
mod resources;
mod shader_test;
mod slots;
mod stage;
mod stage_info;
mod stage_macros;
mod symbol;
mod token;
mod types;
mod version;

pub use compile::{Compiled, Module, check, compile, compile_pipeline};
pub use extension::{Extension, Extensions};
pub use front_end::{GLSL, Glsl};
pub use options::{ConstantValues, GlslLimits, GlslOptions};
pub use version::{Profile, Version};

/// The pages of the error codes.
const EXPLANATIONS: &str = concat!(
    include_str!("../explanations/preprocess.txt"),
    "\n",
    include_str!("../explanations/parse.txt"),
    "\n",
    include_str!("../explanations/analyze.txt"),
    "\n",
    include_str!("../explanations/link.txt"),
);

/// The codes of all errors and warnings.
fn error_codes() -> impl Iterator<Item = tgsi_diagnostics::ErrorCode> {
    let of_phases = [
        preprocess::PreprocessError::CODES,
        parse::ParseError::CODES,
        analyze::SemanticError::CODES,
        link::LinkError::CODES,
    ];
    of_phases.into_iter().flatten().copied()
}
