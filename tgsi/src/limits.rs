//! All limits of the crate, with their reasons. Exceeding one is an ordinary error with a position.
//!
//! [`Limits`] holds the limits that a host can set. The constants are limits of the format, and fixed bounds that hosts
//! have no reason to change.

use thiserror::Error;

use tgsi_environment::RunLimits;

use crate::tables::File;

/// Name, default and reason of one of the [`Limits`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LimitInfo {
    /// Name, as `Limits::set` accepts it.
    pub name: &'static str,
    /// Default value.
    pub default: u64,
    /// The limited quantity and the reason for the limit.
    pub reason: &'static str,
}

/// The error for an unknown name of a limit.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("no limit `{name}`{}", near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
pub struct UnknownLimit {
    /// The name.
    pub name: String,
    /// The closest name, if one is close.
    pub near: Option<&'static str>,
}

macro_rules! limits {
    ($($(#[$doc:meta])* $field:ident $name:literal = $default:expr, $reason:literal;)+) => {
        /// Upper bounds on the size of a shader and the cost of running it.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[non_exhaustive]
        pub struct Limits { $(#[doc = $reason] pub $field: u64,)+ }

        impl Default for Limits {
            fn default() -> Self {
                Limits { $($field: $default,)+ }
            }
        }

        impl Limits {
            /// All limits.
            pub const TABLE: &'static [LimitInfo] = &[$(LimitInfo { name: $name, default: $default, reason: $reason },)+];

            /// Sets the limit with this name.
            ///
            /// # Errors
            /// No limit has this name.
            pub fn set(&mut self, name: &str, value: u64) -> Result<(), UnknownLimit> {
                match name {
                    $($name => self.$field = value,)+
                    _ => {
                        let near = tgsi_diagnostics::suggest(name, Limits::TABLE.iter().map(|limit| limit.name));
                        return Err(UnknownLimit { name: name.to_owned(), near });
                    }
                }
                Ok(())
            }

            /// Returns the limit with this name.
            pub fn get(&self, name: &str) -> Option<u64> {
                match name {
                    $($name => Some(self.$field),)+
                    _ => None,
                }
            }
        }
    };
}

limits! {
    text_bytes "text-bytes" = 1 << 26,
        "Bytes of a text. A shader takes up to a hundred times as much memory as its text; texts of applications have some hundred kilobytes.";
    tokens "tokens" = 1 << 24,
        "Words of a token stream. The header counts them in 24 bits.";
    instructions "instructions" = 1 << 20,
        "Instructions. Time and memory grow with them; the largest shaders of applications have some ten thousand.";
    nesting "nesting" = 1024,
        "Blocks open at a time. Every algorithm on nested blocks keeps a stack of this depth; the output of compilers is far below it.";
    registers "registers" = 1 << 17,
        "Registers declared of one file, all buffers together. Drivers allocate them all; 32 buffers of 4096 constants are the most that any supports.";
    declarations "declarations" = 1 << 16,
        "Declarations and properties. A file has as many registers, and each can have its own declaration.";
    immediates "immediates" = 1 << 15,
        "Immediates. Operands cannot address more.";
    expansion "expansion" = 1 << 15,
        "Instructions that translation adds: copied to inline calls (a single call copies none), storing outputs at every EMIT and RET, \
         merging values after blocks. Nested calls can expand a few lines exponentially, many outputs or deep blocks quadratically.";
    steps "steps" = 4_000_000,
        "Instructions executed in a run. A loop may be infinite.";
    memory "memory" = 1 << 28,
        "Bytes for the registers and values of all invocations of a run. The largest ranges times a thousand invocations would be gigabytes.";
}

impl Limits {
    /// Returns the limits that apply to a run.
    pub fn of_runs(&self) -> RunLimits {
        RunLimits { steps: self.steps, memory: self.memory }
    }
}

/// Words after the header. The header counts them in 24 bits.
pub(crate) const MAX_BODY_WORDS: usize = (1 << 24) - 1;

/// Highest instruction number that a label can name: the label field has 24 bits.
pub(crate) const MAX_LABEL: u32 = (1 << 24) - 1;

/// Highest array number: the array word and the indirect word give it 10 bits.
pub(crate) const MAX_ARRAY_ID: u32 = (1 << 10) - 1;

/// Highest register index of a declaration, highest outer index, and highest semantic index: unsigned 16-bit fields.
pub(crate) const MAX_DECLARED_INDEX: u32 = u16::MAX as u32;

/// Lowest index of an operand: a signed 16-bit field.
#[doc(hidden)]
pub const MIN_OPERAND_INDEX: i64 = i16::MIN as i64;

/// Highest index of an operand: a signed 16-bit field.
#[doc(hidden)]
pub const MAX_OPERAND_INDEX: i64 = i16::MAX as i64;

/// Maximum bytes of a text under any limit: positions have 32 bits.
#[doc(hidden)]
pub const MAX_POSITION: u64 = u32::MAX as u64 - 1;

/// Maximum number of diagnostics before the parser gives up. A text with more errors is not TGSI; parsing the rest
/// would only cost time and memory.
#[doc(hidden)]
pub const MAX_DIAGNOSTICS: usize = 200;

/// Maximum number of errors, and of warnings, in a report of the check; more would be of no use.
pub(crate) const MAX_FINDINGS: usize = 1000;

/// Maximum number of findings with notes in a report. Searching the other side of each conflict would be quadratic.
pub(crate) const MAX_NOTED_FINDINGS: usize = 100;

/// Maximum number of macros (`#define`) in a text of the old compute tests. They use less than 40.
pub(crate) const MAX_MACROS: usize = 4096;

/// Maximum length of a chain of macros. A longer one is a cycle.
pub(crate) const MAX_MACRO_DEPTH: usize = 16;

/// Maximum number of indentation levels of a printed instruction. Deeper nesting is printed at this depth; otherwise
/// the size of the print would be quadratic in the nesting depth.
pub(crate) const MAX_INDENT: usize = 128;

/// Maximum number of declarations of files that no longer exist (`RES`, `TEMPX`, `IMMX`, `PRED`). Every use of such a
/// register searches them linearly; drivers never had more than 128 of one kind.
#[doc(hidden)]
pub const MAX_OLD_DECLARATIONS: usize = 256;

/// Maximum number of clip and cull distances together: two registers.
pub(crate) const MAX_CLIP_AND_CULL_DISTANCES: u32 = 8;

/// Maximum number of vertices of a tessellation patch.
pub(crate) const MAX_PATCH_VERTICES: u32 = 32;

/// Maximum number of vertices that a geometry shader may emit, in any API.
pub(crate) const MAX_GEOMETRY_OUTPUT_VERTICES: u32 = 1024;

/// Maximum number of invocations of a geometry shader that drivers allow.
pub(crate) const MAX_GEOMETRY_INVOCATIONS: u32 = 127;

/// Maximum number of registers of a file that drivers accept (for constants and atomic counters: of outer indices), or
/// none if only the tokens limit it. Exceeding it is a warning.
#[doc(hidden)]
pub const fn driver_registers(file: File) -> Option<u32> {
    match file {
        File::Input | File::Output => Some(80),
        File::Address => Some(3),
        File::Constant | File::ConstantBuffer | File::Sampler | File::Buffer | File::HwAtomic => Some(32),
        File::SamplerView => Some(128),
        File::Image => Some(64),
        File::Memory => Some(4),
        File::Temporary => Some(4096),
        File::Null | File::Immediate | File::SystemValue => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_set_by_name() {
        let mut limits = Limits::default();
        for (number, info) in (7..).zip(Limits::TABLE) {
            assert_eq!(limits.get(info.name), Some(info.default));
            assert_eq!(limits.set(info.name, number), Ok(()));
            assert_eq!(limits.get(info.name), Some(number), "{}", info.name);
            assert!(info.reason.ends_with('.') && info.name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'));
        }
        assert_eq!((limits.text_bytes, limits.memory), (7, 7 + Limits::TABLE.len() as u64 - 1));
        let error = |name: &str| Limits::default().set(name, 1).expect_err("an unknown name");
        assert_eq!(error("text-byte").to_string(), "no limit `text-byte`; did you mean `text-bytes`?");
        assert_eq!(error("xyzzy"), UnknownLimit { name: "xyzzy".to_owned(), near: None });
        assert_eq!(limits.get("xyzzy"), None);
    }
}
