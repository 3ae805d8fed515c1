//! Rules with inferred sizes: expressions, conditions, variables.

use super::opcodes::Opcode;
use super::parse::{Literal, SIZES};

/// Size of a value: a number of bits, or an unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// Bits.
    Fixed(u8),
    /// Number of the unknown.
    Unknown(u8),
}

/// The kinds of operands that a variable matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VariableKind {
    /// Anything (`a`).
    Any,
    /// A constant (`K`).
    Constant,
}

/// A node of a finished rule.
#[derive(Clone, PartialEq, Debug)]
pub enum Node {
    /// An instruction.
    Op {
        /// Index in the table of opcodes.
        op: usize,
        /// Size of the result.
        size: Size,
        /// Whether the new instruction is exact even if the matched ones are not.
        exact: bool,
        /// Index of its label.
        label: Option<u8>,
        /// Operands.
        operands: Vec<Node>,
    },
    /// A variable.
    Variable {
        /// Index in the order of the search.
        index: u8,
        /// The kinds of operands that it matches.
        kind: VariableKind,
        /// Size.
        size: Size,
        /// Components selected.
        select: Option<Vec<u8>>,
    },
    /// A constant.
    Literal {
        /// The constant.
        literal: Literal,
        /// Its size.
        size: Size,
    },
}

/// A condition.
#[derive(Clone, PartialEq, Debug)]
pub enum Condition {
    /// One of the labelled instructions has a single use.
    Once(Vec<u8>),
    /// A named predicate on a variable.
    Variable(&'static str, u8),
    /// A variable is not defined by an opcode.
    IsNot(u8, usize),
    /// A named predicate on the root instruction.
    Root(&'static str),
    /// An expression of constants that must evaluate to true.
    Constant(Node),
}

/// A rule for the engine.
#[derive(Clone, PartialEq, Debug)]
pub struct FinishedRule {
    /// Line in the file.
    pub line: usize,
    /// Class of its tag.
    pub class: u8,
    /// Whether the tag has a star.
    pub star: bool,
    /// Mask of the possible sizes of unknown 0.
    pub sizes: u8,
    /// The search expression: an [`Node::Op`].
    pub search: Node,
    /// The replacement.
    pub replacement: Node,
    /// Conditions other than switches.
    pub conditions: Vec<Condition>,
    /// Switches that must be on.
    pub on: u128,
    /// Switches that must be off.
    pub off: u128,
    /// Number of unknowns.
    pub unknowns: u8,
}

/// Predicates on variables, and whether the variable must be a constant.
pub const VARIABLE_PREDICATES: &[(&str, bool)] = &[
    ("not_constant", false),
    ("number", false),
    ("finite", false),
    ("nonnegative", false),
    ("nonnegative_number", false),
    ("integral", false),
    ("finite_nonzero", true),
    ("zero_to_one", true),
    ("above_0_below_1", true),
    ("positive_power_of_2", true),
    ("negative_power_of_2", true),
    ("odd", true),
];

/// Predicates on the root instruction.
pub const ROOT_PREDICATES: &[&str] =
    &["only_float_uses", "some_use_without_modifiers", "not_only_fsat_uses", "no_sum_uses", "not_exact", "any_zero"];

/// Maximum number of variables, and of labels, of a rule.
pub const MAX_VARIABLES: usize = 8;

/// `usize::MAX` if the node contains a variable that is not constant.
pub fn first_variable(node: &Node) -> Option<usize> {
    match node {
        Node::Variable { kind: VariableKind::Any, .. } => Some(usize::MAX),
        Node::Op { operands, .. } => operands.iter().find_map(first_variable),
        _ => None,
    }
}

/// The bit for a size in a mask of sizes.
pub fn size_bit(bits: u8) -> u8 {
    SIZES.iter().position(|&s| s == bits).map_or(0, |i| 1 << i)
}

/// Finds a variable in an operand with a fixed number of components, which has more or fewer components than the
/// instruction, and is tested by a condition.
pub fn vector_asked_about(opcodes: &[Opcode], search: &Node, conditions: &[Condition]) -> Option<u8> {
    let mut fixed = Vec::new();
    below_fixed_operands(opcodes, search, false, &mut fixed);
    let asked = |condition: &Condition| match condition {
        // These test the whole value instead of its components.
        Condition::Variable("not_constant", _) | Condition::IsNot(..) | Condition::Once(_) | Condition::Root(_) => None,
        Condition::Variable(_, index) => fixed.contains(index).then_some(*index),
        Condition::Constant(node) => {
            let mut used = Vec::new();
            below_fixed_operands(opcodes, node, true, &mut used);
            used.into_iter().find(|index| fixed.contains(index))
        }
    };
    conditions.iter().find_map(asked)
}

/// Collects the variables in operands with a fixed number of components.
fn below_fixed_operands(opcodes: &[Opcode], node: &Node, is_fixed: bool, found: &mut Vec<u8>) {
    match node {
        Node::Variable { index, .. } if is_fixed => found.push(*index),
        Node::Op { op, operands, .. } => {
            for (operand, input) in operands.iter().zip(&opcodes[*op].inputs) {
                below_fixed_operands(opcodes, operand, is_fixed || input.components != 0, found);
            }
        }
        Node::Variable { .. } | Node::Literal { .. } => {}
    }
}

pub fn speaks_of_main_size(node: &Node) -> bool {
    match node {
        Node::Literal { literal, .. } => matches!(literal, Literal::Size(_) | Literal::Sign(_)),
        Node::Op { operands, .. } => operands.iter().any(speaks_of_main_size),
        Node::Variable { .. } => false,
    }
}

/// Replaces `N` and `SIGN`, which refer to the main size, by numbers if the main size is known.
pub fn with_main_size(node: Node, main: Option<Size>) -> Node {
    let Some(Size::Fixed(bits)) = main else { return node };
    match node {
        Node::Literal { literal: Literal::Size(n), size } => {
            Node::Literal { literal: Literal::Integer(i128::from(bits) + i128::from(n)), size }
        }
        Node::Literal { literal: Literal::Sign(n), size } => {
            Node::Literal { literal: Literal::Integer((1i128 << (bits - 1)) + i128::from(n)), size }
        }
        Node::Op { op, size, exact, label, operands } => {
            let operands = operands.into_iter().map(|o| with_main_size(o, main)).collect();
            Node::Op { op, size, exact, label, operands }
        }
        other => other,
    }
}

/// Size of a node's value.
pub fn node_size(node: &Node) -> Size {
    match node {
        Node::Op { size, .. } | Node::Variable { size, .. } | Node::Literal { size, .. } => *size,
    }
}
