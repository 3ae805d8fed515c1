//! Options of a target for the passes: one struct, one table.
//!
//! Switches are rows of `compiler_switches!`, from which the struct, the names and the build of the algebraic rules
//! (`build/main.rs` includes `options/table.rs`) come. A switch named `lower_x` says that the target has no `x`, one
//! named `has_x` that it has; the default is a target that has every opcode that is no hardware's special, and lowers
//! what only special hardware has. [`SWITCHES`] says of each what it replaces, and what does so.

mod wide;

pub use wide::{DoubleOps, Fp16Casts, Int64Ops};

use crate::alu::AluOp;

include!("options/table.rs");

macro_rules! declare_options {
    ($($name:ident = $default:literal, $by:ident, [$($op:ident $(($($bits:literal)+))?)*], $bound:expr, $doc:literal;)*) => {
        /// Options of a target. Passes and algebraic rules that depend on the target take them.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub struct CompilerOptions {
            $(#[doc = $doc] pub $name: bool,)*
            /// Iterations up to which a loop may be unrolled; 0: no unrolling.
            pub max_unroll_iterations: u32,
            /// The same for loops that index an array or a sampler with what becomes a constant.
            pub max_unroll_iterations_aggressive: u32,
            /// Instructions by which unrolling a loop may make the code longer, as far as can be told in advance. (NIR
            /// has no such bound.)
            pub max_unroll_growth: u32,
            /// Instructions on each side up to which `opt_peephole_select` flattens an `if`; 0: only moves.
            pub peephole_select_limit: u32,
            /// Operations on 64-bit integers that the target lacks.
            pub lower_int64: Int64Ops,
            /// Operations on 64-bit floats that the target lacks.
            pub lower_doubles: DoubleOps,
            /// Conversions to 16-bit floats that the target lacks.
            pub lower_fp16_casts: Fp16Casts,
            /// Modes of variables that cannot be indexed at run time.
            pub no_indirect: crate::variable::VariableModes,
        }

        impl Default for CompilerOptions {
            fn default() -> CompilerOptions {
                CompilerOptions {
                    $($name: $default,)*
                    max_unroll_iterations: 32,
                    max_unroll_iterations_aggressive: 128,
                    max_unroll_growth: 32,
                    peephole_select_limit: 8,
                    lower_int64: Int64Ops::NONE,
                    lower_doubles: DoubleOps::NONE,
                    lower_fp16_casts: Fp16Casts::NONE,
                    no_indirect: crate::variable::VariableModes(0),
                }
            }
        }

        impl CompilerOptions {
            /// Names of the switches, in the order of the table.
            pub const SWITCHES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// Whether the floats of a stage are rounded as the source says.
            pub fn keeps_rounding(&self, stage: crate::shader::Stage) -> bool {
                self.keep_rounding || stage.may_reach_position() && !(self.free_rounding || self.fast_math)
            }

            /// All switches as a bit mask, bit `i` for row `i` of the table.
            pub fn switches(&self) -> u128 {
                let switches = [$(self.$name),*];
                let (low, high) = switches.split_at(switches.len().min(64));
                let word = |part: &[bool]| part.iter().rev().fold(0u64, |mask, &on| mask << 1 | u64::from(on));
                u128::from(word(low)) | u128::from(word(high)) << 64
            }

            /// The bit of a switch; 0: there is none of this name.
            pub const fn switch(name: &str) -> u128 {
                let mut number = 0;
                while number < Self::SWITCHES.len() {
                    if equal(Self::SWITCHES[number].as_bytes(), name.as_bytes()) {
                        return 1 << number;
                    }
                    number += 1;
                }
                0
            }

            /// Sets a switch by its name. Returns whether there is one.
            pub fn set_switch(&mut self, name: &str, on: bool) -> bool {
                match name {
                    $(stringify!($name) => self.$name = on,)*
                    _ => return false,
                }
                true
            }
        }

        /// The switches, in the order of their bits.
        pub static SWITCHES: &[Switch] = &[$(Switch {
            name: stringify!($name),
            default: $default,
            by: stringify!($by),
            replaced: &[$((AluOp::$op, &[$($($bits),+)?])),*],
            bound: $bound,
            about: $doc,
        }),*];
    };
}

/// A row of the table of switches.
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    /// Its name.
    pub name: &'static str,
    /// Its value for a target that does not set it.
    pub default: bool,
    /// What replaces the opcodes that the target lacks: `rules` of the optimiser, or the pass of this name. `hint` if
    /// nothing is replaced, and rules and passes only read the switch.
    pub by: &'static str,
    /// The opcodes that are replaced if the switch is [`Switch::replacing`], each with its sizes in bits; none: all
    /// that it has.
    pub replaced: &'static [(AluOp, &'static [u8])],
    /// The bound of the replacement.
    pub bound: Bound,
    /// What it says of the target.
    pub about: &'static str,
}

impl Switch {
    /// The value with which the target lacks the opcodes.
    pub fn replacing(&self) -> bool {
        !self.name.starts_with("has_") && !self.name.starts_with("preserve_")
    }
}

/// How near the replacement of an opcode is to its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// The same bits; any NaN for a NaN.
    Exact,
    /// The same but for the sign of a zero.
    Zeros,
    /// At most this many units in the last place of the largest number on the way, where operands and results are
    /// normal numbers or 0.
    Near(u16),
}

const EXACT: Bound = Bound::Exact;
const ZEROS: Bound = Bound::Zeros;

const fn near(units: u16) -> Bound {
    Bound::Near(units)
}

const fn equal(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

compiler_switches!(declare_options);
