//! The target: its options, facts about opcodes and system values, and the requirements of consumers of one dialect.
//!
//! Nothing here depends on the program being translated. All other modules may use it.

pub(crate) mod fit;
pub(crate) mod language;
pub(crate) mod opcodes;
pub(crate) mod options;
pub(crate) mod profiles;
pub(crate) mod system_values;
pub(crate) mod virgl;
