//! Compiles the search expressions of a rule set to a net: a trie over their nodes in preorder, with edges for each
//! opcode, each literal, each variable bound before, any constant, and any operand. Walking it along an instruction
//! finds every rule with a matching shape, in all orders of commutative operands, visiting no rule twice.

use std::collections::BTreeMap;

use super::opcodes::Opcode;
use super::parse::Literal;
use super::sized_rules::{Condition, FinishedRule, Node, Size, VariableKind};

/// Maximum number of commutative instructions of a rule that are tried in both operand orders.
const MAX_COMMUTATIVE: u32 = 6;

/// A node of the net.
#[derive(Default)]
pub struct NetNode {
    /// By opcode.
    pub ops: BTreeMap<usize, usize>,
    /// By literal and its size.
    pub literals: Vec<(Literal, Size, usize)>,
    /// A constant.
    pub constant: Option<usize>,
    /// Any operand.
    pub any: Option<usize>,
    /// A variable bound before: its index among the variables on the path to this node.
    pub same: Vec<(u8, usize)>,
    /// Rules that end here, with a mask of the commutative instructions that are swapped.
    pub rules: Vec<(usize, u8)>,
}

/// Builds the net of a rule set; node 0 is the start.
pub fn build(opcodes: &[Opcode], rules: &[FinishedRule]) -> Vec<NetNode> {
    let mut nodes = vec![NetNode::default()];
    for (number, rule) in rules.iter().enumerate() {
        let useless = useless_swaps(opcodes, rule);
        let count = count_commutative(opcodes, &rule.search).min(MAX_COMMUTATIVE);
        for mask in 0..1u8 << count {
            if mask & useless != 0 {
                continue;
            }
            let mut tokens = Vec::new();
            flatten(opcodes, &rule.search, mask, &mut 0, &mut tokens);
            let (mut at, mut met) = (0, Vec::new());
            for token in tokens {
                let fresh = nodes.len();
                let node = &mut nodes[at];
                at = match token {
                    Token::Op(op) => *node.ops.entry(op).or_insert(fresh),
                    Token::Literal(literal, size) => {
                        let same = node.literals.iter().find(|(l, s, _)| *l == literal && *s == size);
                        let to = same.map_or(fresh, |&(_, _, to)| to);
                        if to == fresh {
                            node.literals.push((literal, size, fresh));
                        }
                        to
                    }
                    Token::Variable(variable, is_constant) => {
                        if let Some(number) = met.iter().position(|&v| v == variable) {
                            let same = node.same.iter().find(|(n, _)| usize::from(*n) == number);
                            let to = same.map_or(fresh, |&(_, to)| to);
                            if to == fresh {
                                node.same.push((number as u8, fresh));
                            }
                            to
                        } else {
                            met.push(variable);
                            *if is_constant { &mut node.constant } else { &mut node.any }.get_or_insert(fresh)
                        }
                    }
                };
                if at == fresh {
                    nodes.push(NetNode::default());
                }
            }
            nodes[at].rules.push((number, mask));
        }
    }
    nodes
}

enum Token {
    Op(usize),
    Literal(Literal, Size),
    /// A variable by index, and whether it only matches constants.
    Variable(u8, bool),
}

/// Whether the opcode's operands can be swapped in the net.
fn commutes(opcodes: &[Opcode], op: usize) -> bool {
    opcodes[op].commutative && opcodes[op].inputs.len() >= 2
}

/// Number of commutative instructions, which are numbered in preorder.
pub fn count_commutative(opcodes: &[Opcode], node: &Node) -> u32 {
    let Node::Op { op, operands, .. } = node else { return 0 };
    u32::from(commutes(opcodes, *op)) + operands.iter().map(|o| count_commutative(opcodes, o)).sum::<u32>()
}

/// Lists the tokens in the order in which operands are visited if the instructions of the mask are swapped. Commutative
/// instructions are numbered in the order of the written expression.
fn flatten(opcodes: &[Opcode], node: &Node, mask: u8, next: &mut u32, tokens: &mut Vec<Token>) {
    match node {
        Node::Variable { index, kind, .. } => tokens.push(Token::Variable(*index, *kind != VariableKind::Any)),
        Node::Literal { literal, size } => tokens.push(Token::Literal(*literal, *size)),
        Node::Op { op, operands, .. } => {
            tokens.push(Token::Op(*op));
            let mut swapped = false;
            if commutes(opcodes, *op) {
                swapped = *next < MAX_COMMUTATIVE && mask >> *next & 1 != 0;
                *next += 1;
            }
            let mut parts: Vec<Vec<Token>> = operands
                .iter()
                .map(|operand| {
                    let mut part = Vec::new();
                    flatten(opcodes, operand, mask, next, &mut part);
                    part
                })
                .collect();
            if swapped {
                parts.swap(0, 1);
            }
            tokens.extend(parts.into_iter().flatten());
        }
    }
}

/// Instructions that need not be tried in the other order: with equal operands, or with variables that occur nowhere
/// else.
fn useless_swaps(opcodes: &[Opcode], rule: &FinishedRule) -> u8 {
    let mut mask = 0;
    visit(opcodes, &rule.search, &mut 0, &mut |number, operands| {
        let free = |node: &Node| match node {
            Node::Variable { index, kind: VariableKind::Any, .. } => {
                let conditions = rule.conditions.iter().any(|c| match c {
                    Condition::Variable(_, v) | Condition::IsNot(v, _) => v == index,
                    _ => false,
                });
                occurrences(&rule.search, *index) == 1 && !conditions
            }
            _ => false,
        };
        if operands[0] == operands[1] || free(&operands[0]) && free(&operands[1]) {
            mask |= 1u8.checked_shl(number).unwrap_or(0);
        }
    });
    mask
}

fn visit(opcodes: &[Opcode], node: &Node, next: &mut u32, each: &mut dyn FnMut(u32, &[Node])) {
    let Node::Op { op, operands, .. } = node else { return };
    if commutes(opcodes, *op) {
        each(*next, operands);
        *next += 1;
    }
    operands.iter().for_each(|o| visit(opcodes, o, next, each));
}

fn occurrences(node: &Node, variable: u8) -> usize {
    match node {
        Node::Variable { index, .. } => usize::from(*index == variable),
        Node::Op { operands, .. } => operands.iter().map(|o| occurrences(o, variable)).sum(),
        Node::Literal { .. } => 0,
    }
}
