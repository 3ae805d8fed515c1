//! The target: the options that say what it can do, facts about its opcodes and system values, and what readers
//! of one dialect ask for.
//!
//! Nothing here knows of programs under translation. Everything else may look here.

pub(crate) mod fit;
pub(crate) mod opcodes;
pub(crate) mod options;
pub(crate) mod profiles;
pub(crate) mod system_values;
pub(crate) mod virgl;
