//! Compiler options of a target.
//!
//! The switches are declared by the table `compiler_switches!`, from which the struct, the names and the build of the
//! algebraic rules (`build/main.rs` includes `options/table.rs`) are generated. `lower_x` declares that the target
//! lacks `x`, `has_x` that it has `x`. By default, a target has every opcode that is common in hardware, and lowers the
//! ones that only some hardware has. [`SWITCHES`] lists the opcodes that each switch replaces and the pass or rules
//! that replace them.

mod wide;

pub use wide::{DoubleOps, Fp16Casts, Int64Ops};

use crate::alu::AluOp;

include!("options/table.rs");

macro_rules! declare_options {
    ($($name:ident = $default:literal, $by:ident, [$($op:ident $(($($bits:literal)+))?)*], $bound:expr, $doc:literal;)*) => {
        /// Options of a target, read by passes and algebraic rules.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub struct CompilerOptions {
            $(#[doc = $doc] pub $name: bool,)*
            /// Maximum number of iterations of an unrolled loop; 0 disables unrolling.
            pub max_unroll_iterations: u32,
            /// The same for loops that index an array or a sampler with a value that unrolling makes constant.
            pub max_unroll_iterations_aggressive: u32,
            /// Maximum number of instructions that unrolling a loop may add, as estimated in advance. (NIR has no such
            /// bound.)
            pub max_unroll_growth: u32,
            /// Maximum number of instructions on each side of an `if` that `opt_peephole_select` flattens; 0 allows
            /// moves only.
            pub peephole_select_limit: u32,
            /// Operations on 64-bit integers that the target lacks.
            pub lower_int64: Int64Ops,
            /// Operations on 64-bit floats that the target lacks.
            pub lower_doubles: DoubleOps,
            /// Conversions to 16-bit floats that the target lacks.
            pub lower_fp16_casts: Fp16Casts,
            /// Modes of variables that the target cannot index dynamically.
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

            /// Whether floats in this stage keep the rounding of the source.
            pub fn keeps_rounding(&self, stage: crate::shader::ShaderStage) -> bool {
                self.keep_rounding || stage.may_reach_position() && !(self.free_rounding || self.fast_math)
            }

            /// All switches as a bit mask, bit `i` for row `i` of the table.
            pub fn switches(&self) -> u128 {
                let switches = [$(self.$name),*];
                let (low, high) = switches.split_at(switches.len().min(64));
                let word = |part: &[bool]| part.iter().rev().fold(0u64, |mask, &on| mask << 1 | u64::from(on));
                u128::from(word(low)) | u128::from(word(high)) << 64
            }

            /// The bit of a switch; 0 if no switch has this name.
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

            /// Sets a switch by its name. Returns whether it exists.
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
    /// Name of the switch.
    pub name: &'static str,
    /// Default value.
    pub default: bool,
    /// What replaces the opcodes that the target lacks: `rules` of the optimiser, or the pass with this name. `hint` if
    /// nothing is replaced, and rules and passes only read the switch.
    pub by: &'static str,
    /// The opcodes that are replaced if the switch has the value [`Switch::replacing`], each with its bit sizes;
    /// without sizes, all sizes of the opcode.
    pub replaced: &'static [(AluOp, &'static [u8])],
    /// Precision of the replacement.
    pub bound: Bound,
    /// Meaning of the switch.
    pub about: &'static str,
}

impl Switch {
    /// The value that declares the opcodes as missing.
    pub fn replacing(&self) -> bool {
        !self.name.starts_with("has_") && !self.name.starts_with("preserve_")
    }
}

/// Precision of the replacement of an opcode, compared with the opcode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// The same bits; any NaN may replace a NaN.
    Exact,
    /// The same except for the sign of zero.
    Zeros,
    /// The error is at most this many units in the last place of the largest intermediate result, if operands and
    /// results are normal numbers or 0.
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
