//! Algebraic rules: the tables that the build generates from `rules/*.rules`, and the engine that applies them.
//!
//! A rule is one line: `exact* float: fadd(a, -0.0) => a if ...`.
//!
//! | tag | the replacement computes |
//! |---|---|
//! | `exact` | the same bits (any NaN for a NaN) |
//! | `nsz` | the same except for the sign of zero; not applied where that must be kept or may reach a reciprocal or a bit operation |
//! | `inexact` | about the same, other values for NaN, infinities and on overflow; never for `exact` instructions |
//! | `inexact` if `fast_math` | the same for ordinary numbers only: a rule needs the switch if its result is entirely different for NaN, infinities, denormals or under cancellation. Exception: the order in which products are summed on a target that fuses both operations (`fuse_mad`, `fuse_ffma`) |
//! | `lowering` | as `inexact`, but the target lacks the replaced operation, so `exact` instructions are replaced too |
//!
//! Where rounding is kept ([`keep_rounding`](crate::options::CompilerOptions::keep_rounding), and in the stages before
//! rasterisation), `nsz` and `inexact` rules do not apply: whether they do depends on other facts about a value and on
//! its other uses.
//!
//! A star marks rules with a search that flushes denormals or quiets NaNs where the replacement does not. Next come the
//! sizes for which the rule holds. They refer to the first value of the search for which the opcode leaves the size
//! open (`float` 16, 32, 64; `int` 8 to 64; `bits` also 1; `any`).
//!
//! In an expression `a` to `e` and `s` to `w` are any values, `p`, `q`, `r` 1-bit booleans, capital letters constants;
//! `a@16` has 16 bits; `v.xy` (in a replacement) selects components; `x=op(...)` names an instruction for the
//! conditions; `op!(...)` creates an exact one. `N` is the rule's size, `SIGN` its top bit, `~0` all ones. A literal
//! matches a constant if all used components have its bits; `0.0` does not match `-0.0`; `NaN` matches any NaN.
//! Conversions may omit their size (`b2f`).
//!
//! A rule applies if all its conditions hold. A condition is a switch of
//! [`CompilerOptions`](crate::options::CompilerOptions) (`lower_fsat`, `!lower_fsat`); `once(x, ...)`: one of the named
//! instructions has a single use; a [`Predicate`] of a variable; `is_not(a, op)`; a [`RootPredicate`]; `wider(x)` or
//! `narrower(x)`: the conversion named `x` is to more or to fewer bits (`x=u2u(a)` then matches a conversion of a
//! conversion); or a 1-bit expression of constants (`ieq(iand(K, L), 0)`) that is true in every component.
//!
//! The build rejects a rule that replaces an expression with itself, and a rule shadowed by an earlier unconditional
//! one. Tests evaluate both sides of every rule (`tests/algebraic_rules.rs`) and search for rules that undo each other
//! (`tests/algebraic_rules_end.rs`).
//!
//! The engine: [`Matcher`] walks an instruction along the [net](NetNode) of a set and checks the rules at the leaves it
//! reaches, in the order of the file; [`replace`](replace::replace) builds the replacement.

mod matcher;
mod replace;

use crate::alu::AluOp;

pub use matcher::{Match, Matcher};
pub use replace::replace;
pub(crate) use replace::replace_uses;

/// How exact a rule is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// The same bits.
    Exact,
    /// The same except for the sign of zero.
    NoSignedZero,
    /// Approximately the same value.
    Inexact,
    /// Approximately the same value, for operations that the target lacks.
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

/// A rule with its conversions and sizes written out: one line of a file may define several rules.
#[derive(Debug)]
pub struct Rule {
    /// Line in the file.
    pub line: u32,
    /// How exact the rule is.
    pub class: Class,
    /// The search may flush denormals and make NaNs quiet where the replacement does not.
    pub star: bool,
    /// Sizes that open size 0 may take: a mask for 1, 8, 16, 32, 64 bits.
    pub sizes: u8,
    /// The root node of the search, an instruction.
    pub search: u16,
    /// The root node of the replacement.
    pub replacement: u16,
    /// Its range in [`RuleSet::conditions`].
    pub conditions: (u16, u16),
    /// Index into the table of required switches: see [`Rule::on`].
    pub switches: u16,
    /// Number of open sizes.
    pub unknowns: u8,
}

impl Rule {
    /// Returns the switches of the target that must be on.
    #[inline]
    pub fn on(&self) -> u128 {
        SWITCHES[usize::from(self.switches)].0
    }

    /// Returns the switches of the target that must be off.
    #[inline]
    pub fn off(&self) -> u128 {
        SWITCHES[usize::from(self.switches)].1
    }
}

/// Node of an expression. A `size` is a number of bits, or 0x80 + the index of an open size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Node {
    /// An instruction.
    Op {
        /// Opcode.
        op: AluOp,
        /// Size of its result.
        size: u8,
        /// Whether the new instruction is always exact.
        exact: bool,
        /// Index of its name; 255: unnamed.
        label: u8,
        /// Range in the operands of the set.
        operands: (u16, u16),
        /// Index among the commutative instructions of the search; 255: not commutative.
        commute: u8,
    },
    /// A variable.
    Variable {
        /// Its index.
        index: u8,
        /// Whether it matches constants only.
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

/// A constant with bits that depend on its size.
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
    /// Returns the bits of the literal in a size, where size 0 has `main_size` bits.
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
    /// Not a constant.
    NotConstant,
    /// Never NaN.
    Number,
    /// Neither NaN nor infinite.
    Finite,
    /// NaN or at least -0.
    Nonnegative,
    /// At least -0, never NaN.
    NonnegativeNumber,
    /// An integer, infinite or NaN.
    Integral,
    /// A constant that is neither 0 nor NaN nor infinite.
    FiniteNonzero,
    /// A constant from +0 to 1.
    ZeroToOne,
    /// A constant above 0 and below 1.
    Above0Below1,
    /// A constant integer that is a power of two and, read with a sign, positive.
    PositivePowerOf2,
    /// A constant integer that is the negative of a power of two, except the least integer.
    NegativePowerOf2,
    /// A constant odd integer.
    Odd,
}

/// A condition on the matched instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RootPredicate {
    /// Every use is a float operand of an ALU instruction.
    OnlyFloatUses,
    /// Some use cannot negate its operand at no cost: a non-float operation, `fsat`, or a 64-bit operation.
    SomeUseWithoutModifiers,
    /// Some use is not `fsat`.
    NotOnlyFsatUses,
    /// No use of it or its negation is an `fadd` into which it could be fused.
    NoSumUses,
    /// The instruction is not exact.
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
    /// A condition on the matched instruction.
    Root(RootPredicate),
    /// A node over constants only that must be true in every component.
    Constant(u16),
}

/// Node of the net. As the target of an edge, 0 means no node.
#[derive(Clone, Copy, Debug)]
pub struct NetNode {
    /// Opcodes with edges: bit `number % 64` of each.
    pub ops: u64,
    /// Range in the edges of the set, which are in the order of the opcodes.
    pub edges: (u16, u16),
    /// Range in the literals of the set.
    pub literals: (u16, u16),
    /// The next node for a constant.
    pub constant: u16,
    /// The next node for any value.
    pub any: u16,
    /// Range in [`RuleSet::same`].
    pub same: (u16, u16),
    /// Range in the leaves of the set.
    pub leaves: (u16, u16),
}

/// Edge of the net for constants that may match a literal.
#[derive(Clone, Copy, Debug)]
pub struct LiteralEdge {
    /// Sizes that the constant may have: a mask for 1, 8, 16, 32, 64 bits.
    pub sizes: u8,
    /// The bits that one component must have, for each size; `None` if they depend on the size of the rule or are any
    /// NaN.
    pub bits: Option<[u64; 5]>,
    /// Whether any NaN matches.
    pub is_nan: bool,
    /// The next node.
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
    /// For each opcode of the matched instruction, its node of the net; 0: no rule.
    pub roots: &'static [u16; AluOp::COUNT],
    /// The net; node 0 is the start.
    pub net: &'static [NetNode],
    /// Edges of the net: opcode and node.
    pub edges: &'static [(AluOp, u16)],
    /// Edges of the net for constants with a matching component.
    pub literals: &'static [LiteralEdge],
    /// Edges of the net for a value that is already bound: the index of its variable among those bound so far, and the
    /// next node.
    pub same: &'static [(u8, u16)],
    /// Leaves of the net: a rule, and a mask of its commutative instructions with swapped operands.
    pub leaves: &'static [(u16, u8)],
}

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

impl RuleSet {
    /// Returns the operands of an instruction of an expression.
    pub fn operands_of(&self, operands: (u16, u16)) -> &'static [u16] {
        let (first, count) = (usize::from(operands.0), usize::from(operands.1));
        self.operands.get(first..first + count).unwrap_or_default()
    }

    /// Returns the conditions of a rule, switches excluded.
    pub fn conditions_of(&self, rule: &Rule) -> &'static [Condition] {
        let (first, count) = (usize::from(rule.conditions.0), usize::from(rule.conditions.1));
        self.conditions.get(first..first + count).unwrap_or_default()
    }
}
