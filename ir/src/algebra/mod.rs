//! Algebraic rules: the tables that the build makes of `rules/*.rules`, and the engine that applies them.
//!
//! A rule stands in one line: `exact* float: fadd(a, -0.0) => a if ...`.
//!
//! | tag | the replacement computes |
//! |---|---|
//! | `exact` | the same bits (any NaN for a NaN) |
//! | `nsz` | the same but for the sign of zero; not where that must be kept, or may reach a reciprocal or bits |
//! | `inexact` | about the same, other values for NaN, infinities and on overflow; never for `exact` instructions |
//! | `inexact` if `fast_math` | the same for everyday numbers only: what gives a wholly other result for NaN, infinities, denormals or where numbers cancel asks for the switch, but for the order in which the products of a sum are summed where a target fuses both (`fuse_mad`, `fuse_ffma`) |
//! | `lowering` | as `inexact`, but the target does not have what is replaced, so that `exact` instructions are replaced as well |
//!
//! Where rounding is kept ([`keep_rounding`](crate::options::CompilerOptions::keep_rounding), and in the stages before
//! rasterisation), no `nsz` and no `inexact` rule applies: whether one
//! does depends on what else is known, and on who else reads a value.
//!
//! A star says that the replacement does not flush a denormal or make a NaN quiet where the search did. Then come the
//! sizes for which the rule holds: those of the first value of the search whose size its opcode leaves open (`float`
//! 16, 32, 64; `int` 8 to 64; `bits` also 1; `any`).
//!
//! In an expression `a` to `e`, `s` to `w` are any values, `p`, `q`, `r` booleans of 1 bit, capital letters constants;
//! `a@16` has 16 bits; `v.xy` (in a replacement) selects components; `x=op(...)` names an instruction for the
//! conditions; `op!(...)` makes an exact one. `N` is the rule's size and `SIGN` its top bit, `~0` all ones. A literal
//! matches a constant all of whose used components have its bits; `0.0` is not `-0.0`; `NaN` is any NaN. Conversions
//! may leave out their size (`b2f`).
//!
//! Conditions, all of which must hold: switches of [`CompilerOptions`](crate::options::CompilerOptions) (`lower_fsat`,
//! `!lower_fsat`); `once(x, ...)`, one of the named instructions has a single use; [`Predicate`]s of variables,
//! `is_not(a, op)`; [`RootPredicate`]s; `wider(x)` and `narrower(x)`, the conversion named so is to more or to fewer
//! bits (`x=u2u(a)` stands for one conversion after another then); any 1-bit expression of constants (`ieq(iand(K, L),
//! 0)`), which must be true in every component.
//!
//! The build refuses a rule that replaces something by itself, and one that an earlier rule without conditions leaves
//! nothing to. Tests compute both sides of every rule (`tests/algebraic_rules.rs`) and look for rules that undo each
//! other (`tests/algebraic_rules_end.rs`).
//!
//! The engine: [`Matcher`] walks an instruction along the [net](NetNode) of a set and looks closer at the rules that it
//! ends at, in the order of the file; [`replace`](replace::replace) builds what comes instead.

mod matcher;
mod replace;

use crate::alu::AluOp;

pub use matcher::{Match, Matcher};
pub use replace::replace;
pub(crate) use replace::replace_uses;

/// The exactness that a rule keeps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// The same bits.
    Exact,
    /// The same but for the sign of zero.
    NoSignedZero,
    /// About the same value.
    Inexact,
    /// About the same value, for what the target does not have.
    Lowering,
}

impl Class {
    const fn from_number(number: u8) -> Class {
        match number {
            0 => Class::Exact,
            1 => Class::NoSignedZero,
            2 => Class::Inexact,
            _ => Class::Lowering,
        }
    }
}

/// A rule, its conversions and sizes spelled out: one line of a file can be several rules.
#[derive(Debug)]
pub struct Rule {
    /// Line in the file.
    pub line: u32,
    /// The exactness that it keeps.
    pub class: Class,
    /// The search may flush denormals and make NaNs quiet where the replacement does not.
    pub star: bool,
    /// Sizes that unknown 0 may have: a mask for 1, 8, 16, 32, 64 bits.
    pub sizes: u8,
    /// Node that is looked for, an instruction.
    pub search: u16,
    /// Node of the replacement.
    pub replacement: u16,
    /// Range in the conditions of the set.
    pub conditions: (u16, u16),
    /// Number of what it asks of the switches of the target: see [`Rule::on`].
    pub switches: u16,
    /// Number of sizes that are left open.
    pub unknowns: u8,
}

impl Rule {
    /// Switches of the target that must be on.
    #[inline]
    pub fn on(&self) -> u128 {
        SWITCHES[usize::from(self.switches)].0
    }

    /// Switches of the target that must be off.
    #[inline]
    pub fn off(&self) -> u128 {
        SWITCHES[usize::from(self.switches)].1
    }
}

/// Node of an expression. A `size` is a number of bits, or 0x80 + the number of a size that is left open.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Node {
    /// An instruction.
    Op {
        /// Opcode.
        op: AluOp,
        /// Size of its result.
        size: u8,
        /// The new instruction is exact in any case.
        exact: bool,
        /// Number of its name; 255: none.
        label: u8,
        /// Range in the operands of the set.
        operands: (u16, u16),
        /// Number among the commutative instructions of the search; 255: not one of them.
        commute: u8,
    },
    /// A variable.
    Variable {
        /// Number.
        index: u8,
        /// Only a constant.
        constant: bool,
        /// Size.
        size: u8,
        /// Components selected in a replacement.
        select: Option<&'static [u8]>,
    },
    /// A constant.
    Literal {
        /// The constant.
        literal: Literal,
        /// Its size.
        size: u8,
    },
}

/// A constant whose bits depend on its size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Literal {
    /// A float.
    Float(f64),
    /// Any NaN.
    Nan,
    /// The low bits.
    Integer(u64),
    /// Size 0 in bits, plus a number.
    Size(i64),
    /// The top bit of size 0, plus a number.
    Sign(i64),
}

impl Literal {
    /// The bits in a size, when size 0 has so many bits.
    pub fn bits(self, size: u8, main_size: u8) -> u64 {
        let value = match self {
            Literal::Float(value) => match size {
                16 => u64::from(crate::alu::half::from_f64(value, false)),
                32 => u64::from((value as f32).to_bits()),
                _ => value.to_bits(),
            },
            Literal::Nan => match size {
                16 => 0x7e00,
                32 => 0x7fc0_0000,
                _ => 0x7ff8 << 48,
            },
            Literal::Integer(value) => value,
            Literal::Size(add) => u64::from(main_size).wrapping_add_signed(add),
            Literal::Sign(add) => (1u64 << (main_size.max(1) - 1)).wrapping_add_signed(add),
        };
        if size >= 64 { value } else { value & ((1 << size) - 1) }
    }
}

/// A condition on a variable. Floats are classified by [`crate::analysis::float_range`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Predicate {
    /// No constant.
    NotConstant,
    /// Never NaN.
    Number,
    /// Neither NaN nor infinite.
    Finite,
    /// Not below -0, or NaN.
    Nonnegative,
    /// Not below -0, and never NaN.
    NonnegativeNumber,
    /// Whole, infinite or NaN.
    Integral,
    /// A constant that is neither 0 nor NaN nor infinite.
    FiniteNonzero,
    /// A constant from +0 to 1.
    ZeroToOne,
    /// A constant above 0 and below 1.
    Above0Below1,
    /// A constant integer that is a power of two and, read with a sign, positive.
    PositivePowerOf2,
    /// A constant integer that is the negative of such a number, and not the least of all.
    NegativePowerOf2,
    /// A constant odd integer.
    Odd,
}

/// A condition on the instruction to be replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RootPredicate {
    /// Every use is a float operand of an ALU instruction.
    OnlyFloatUses,
    /// Something uses it that cannot negate its operand for nothing: no operation on floats, or `fsat`, or one of 64
    /// bits.
    SomeUseWithoutModifiers,
    /// Something other than `fsat` uses it.
    NotOnlyFsatUses,
    /// No `fadd` uses it or its negation, with which it could become one instruction.
    NoSumUses,
    /// It is not exact.
    NotExact,
    /// No use depends on the sign of a zero.
    AnyZero,
}

/// A condition of a rule.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Condition {
    /// One of the named instructions has a single use.
    Once(&'static [u8]),
    /// A condition on a variable.
    Variable(Predicate, u8),
    /// A variable is not the result of an opcode.
    IsNot(u8, AluOp),
    /// A condition on the instruction to be replaced.
    Root(RootPredicate),
    /// A node without variables but constants that must be true in every component.
    Constant(u16),
}

/// Node of the net. 0 stands for no node.
#[derive(Clone, Copy, Debug)]
pub struct NetNode {
    /// Opcodes that there are edges for: bit `number % 64` of each.
    pub ops: u64,
    /// Range in the edges of the set, which are in the order of the opcodes.
    pub edges: (u16, u16),
    /// Range in the literals of the set.
    pub literals: (u16, u16),
    /// Where a constant leads.
    pub constant: u16,
    /// Where anything leads.
    pub any: u16,
    /// Range in the list of variables that were met before.
    pub same: (u16, u16),
    /// Range in the leaves of the set.
    pub leaves: (u16, u16),
}

/// Edge of the net for constants that may be a literal.
#[derive(Clone, Copy, Debug)]
pub struct LiteralEdge {
    /// Sizes that the constant may have: a mask for 1, 8, 16, 32, 64 bits.
    pub sizes: u8,
    /// The bits that one component must have, for each size; none: what they are depends on the size of the rule, or is
    /// any NaN.
    pub bits: Option<[u64; 5]>,
    /// Any NaN will do.
    pub is_nan: bool,
    /// Where it leads.
    pub node: u16,
}

/// The rules of a file.
#[derive(Debug)]
pub struct RuleSet {
    /// The file, relative to the crate.
    pub file: &'static str,
    /// Rules in the order of the file.
    pub rules: &'static [Rule],
    /// Expressions.
    pub nodes: &'static [Node],
    /// Operands of expressions: numbers of nodes.
    pub operands: &'static [u16],
    /// Conditions.
    pub conditions: &'static [Condition],
    /// Node of the net by the opcode of the instruction itself; 0: no rule.
    pub roots: &'static [u16; AluOp::COUNT],
    /// The net; node 0 is the start.
    pub net: &'static [NetNode],
    /// Edges of the net: opcode and node.
    pub edges: &'static [(AluOp, u16)],
    /// Edges of the net for constants that have a literal among their components.
    pub literals: &'static [LiteralEdge],
    /// Edges of the net for what stood for a variable before: the number of that among the variables on the way, and
    /// node.
    pub same: &'static [(u8, u16)],
    /// Ends of the net: a rule, and which of its commutative instructions are swapped.
    pub leaves: &'static [(u16, u8)],
}

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

impl RuleSet {
    /// The operands of an instruction of an expression.
    pub fn operands_of(&self, operands: (u16, u16)) -> &'static [u16] {
        let (first, count) = (usize::from(operands.0), usize::from(operands.1));
        self.operands.get(first..first + count).unwrap_or_default()
    }

    /// The conditions of a rule besides the switches.
    pub fn conditions_of(&self, rule: &Rule) -> &'static [Condition] {
        let (first, count) = (usize::from(rule.conditions.0), usize::from(rule.conditions.1));
        self.conditions.get(first..first + count).unwrap_or_default()
    }
}
