//! Every limit of the crate, with its reason. Exceeding one is an ordinary error with a position.
//!
//! [`Limits`] are those that a host may set to what it wants to give to a shader; the constants are what the format has
//! room for, and bounds of small things that nobody needs to move.

use tgsi_environment::RunLimits;

use crate::tables::File;

/// Name, default and reason of one of the [`Limits`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LimitInfo {
    /// Name, as `Limits::set` takes it.
    pub name: &'static str,
    /// Value unless another is set.
    pub default: u64,
    /// The quantity that is limited, and the reason for the limit.
    pub reason: &'static str,
}

macro_rules! limits {
    ($($(#[$doc:meta])* $field:ident $name:literal = $default:expr, $reason:literal;)+) => {
        /// Upper bounds on the size of a shader and the cost of running it.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct Limits { $(#[doc = $reason] pub $field: u64,)+ }

        impl Default for Limits {
            fn default() -> Self {
                Limits { $($field: $default,)+ }
            }
        }

        impl Limits {
            /// All limits.
            pub const TABLE: &'static [LimitInfo] = &[$(LimitInfo { name: $name, default: $default, reason: $reason },)+];

            /// Sets the limit of this name.
            ///
            /// # Errors
            /// There is none; what comes back is the name nearest to it, if one is near.
            pub fn set(&mut self, name: &str, value: u64) -> Result<(), Option<&'static str>> {
                match name {
                    $($name => self.$field = value,)+
                    _ => {
                        let names = Limits::TABLE.iter().map(|limit| limit.name);
                        return Err(tgsi_diagnostics::suggest(name, names));
                    }
                }
                Ok(())
            }

            /// The limit of this name.
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
        "Bytes of a text. A shader takes up to a hundred times as much memory as its text; those of applications have some hundred kilobytes.";
    tokens "tokens" = 1 << 24,
        "Words of a token stream. The header counts them in 24 bits.";
    instructions "instructions" = 1 << 20,
        "Instructions. Time and memory grow with them; the largest shaders of applications have some ten thousand.";
    nesting "nesting" = 1024,
        "Blocks open at a time. Whoever works on a shader keeps a stack of this depth; compilers stay far below.";
    registers "registers" = 1 << 17,
        "Registers declared of one file, all buffers together. Drivers make room for them; 32 buffers of 4096 constants are most that any has.";
    declarations "declarations" = 1 << 16,
        "Declarations and properties. A file has so many registers, each of which could be declared by itself.";
    immediates "immediates" = 1 << 15,
        "Immediates. Operands can name no more.";
    expansion "expansion" = 1 << 15,
        "Instructions that come of a shader on its way besides its own: copied to replace calls (not what replaces the only call), storing outputs at every EMIT and RET, \
         merging values behind blocks. Calls of calls can make exponentially much code of a few lines, many outputs or deep blocks a square of it.";
    steps "steps" = 4_000_000,
        "Instructions executed in a run. A loop need not end.";
    memory "memory" = 1 << 28,
        "Bytes for the registers and values of all invocations of a run. The largest ranges times a thousand invocations would be gigabytes.";
}

impl Limits {
    /// Those that are about a run.
    pub fn of_runs(&self) -> RunLimits {
        RunLimits { steps: self.steps, memory: self.memory }
    }
}

/// Words after the header. The header counts them in 24 bits.
pub const MAX_BODY_WORDS: usize = (1 << 24) - 1;

/// Highest instruction number that a label can name: the label field has 24 bits.
pub const MAX_LABEL: u32 = (1 << 24) - 1;

/// Highest array number: the array word and the indirect word give it 10 bits.
pub const MAX_ARRAY_ID: u32 = (1 << 10) - 1;

/// Highest register index of a declaration, highest outer index, and highest semantic index: fields of 16 bits,
/// unsigned.
pub const MAX_DECLARED_INDEX: u32 = u16::MAX as u32;

/// Lowest index of an operand: the fields of 16 bits are signed.
pub const MIN_OPERAND_INDEX: i64 = i16::MIN as i64;

/// Highest index of an operand: the fields of 16 bits are signed.
pub const MAX_OPERAND_INDEX: i64 = i16::MAX as i64;

/// Bytes of a text that any limit can let through: positions have 32 bits.
pub const MAX_POSITION: u64 = u32::MAX as u64 - 1;

/// Diagnostics that the parser reports before it gives up. A text with more errors than this is not TGSI; searching all
/// of it for more would only cost time and memory.
pub const MAX_DIAGNOSTICS: usize = 200;

/// Most errors, and most warnings, that a report of the check holds; more of them would help nobody.
pub const MAX_FINDINGS: usize = 1000;

/// Findings of a report that have notes. Looking for the other party of each would be quadratic.
pub const MAX_NOTED_FINDINGS: usize = 100;

/// Definitions (`#define`) of a text of the old compute tests. They use less than 40.
pub const MAX_MACROS: usize = 4096;

/// Definitions that one name may lead through. More is a cycle.
pub const MAX_MACRO_DEPTH: usize = 16;

/// Levels by which a printed instruction is indented at most. Deeper nesting prints at this depth; otherwise the size
/// of a print would grow with the square of the nesting.
pub const MAX_INDENT: usize = 128;

/// Declarations of files that no longer exist (`RES`, `TEMPX`, `IMMX`, `PRED`). Every use of such a register looks
/// through them; drivers never had more than 128 of one kind.
pub const MAX_OLD_DECLARATIONS: usize = 256;

/// Most words that a geometry shader may emit in one run: a loop around `EMIT` must not fill the memory before the step
/// limit ends it.
pub const MAX_EMITTED_WORDS: usize = 1 << 24;

/// Clip and cull distances together: two registers.
pub const MAX_CLIP_AND_CULL_DISTANCES: u32 = 8;

/// Vertices of a tessellation patch.
pub const MAX_PATCH_VERTICES: u32 = 32;

/// Most vertices that a geometry shader may emit, in any API.
pub const MAX_GEOMETRY_OUTPUT_VERTICES: u32 = 1024;

/// Most invocations of a geometry shader that drivers allow.
pub const MAX_GEOMETRY_INVOCATIONS: u32 = 127;

/// Registers of a file that drivers take at most (for constants and atomic counters: outer indices), none if only the
/// tokens limit it. More is a warning.
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
        assert_eq!(limits.set("text-byte", 1), Err(Some("text-bytes")));
        assert_eq!(limits.set("xyzzy", 1), Err(None));
        assert_eq!(limits.get("xyzzy"), None);
    }
}
