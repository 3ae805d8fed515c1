//! Parses and checks a file of rules: each rule on its own, and whether it can ever match.

use std::collections::HashMap;

use super::infer;
use super::opcodes::Opcode;
use super::parse::{self, RuleError};
use super::sized_rules::{FinishedRule, Node, Size, VariableKind, node_size, size_bit};

/// Returns the finished rules of a text and all errors, in line order.
pub fn check(opcodes: &[Opcode], text: &str) -> (Vec<FinishedRule>, Vec<RuleError>) {
    let (rules, mut errors) = parse::parse(text);
    let mut finished = Vec::new();
    // Unconditional rules, by the opcode of their root: expressions that they match never reach later rules.
    let mut unconditional: HashMap<usize, Vec<usize>> = HashMap::new();
    for rule in &rules {
        let instances = match infer::finish(opcodes, rule) {
            Ok(instances) => instances,
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        if rule.search.unnamed() == rule.replacement.unnamed() {
            let message = "the replacement equals the search".to_owned();
            errors.push(RuleError { line: rule.line, column: rule.replacement.column, message });
        }
        let first = finished.len();
        // A rule is reachable if one of its instances is.
        let mut shadowed_by = None;
        let mut reached = false;
        for instance in &instances {
            let Node::Op { op, .. } = instance.search else { continue };
            let earlier = unconditional
                .get(&op)
                .into_iter()
                .flatten()
                .map(|&number: &usize| -> &FinishedRule { &finished[number] });
            match earlier.into_iter().find(|earlier| subsumes_rule(opcodes, earlier, instance)) {
                Some(earlier) => shadowed_by = Some(earlier.line),
                None => reached = true,
            }
        }
        if let Some(line) = shadowed_by.filter(|_| !reached) {
            let message = format!("never reached: the rule in line {line} matches first");
            errors.push(RuleError { line: rule.line, column: rule.search.column, message });
        }
        finished.extend(instances);
        for (number, instance) in finished.iter().enumerate().skip(first) {
            let asks = !instance.conditions.is_empty() || instance.on != 0 || instance.off != 0 || instance.star;
            if let (Node::Op { op, .. }, false) = (&instance.search, asks) {
                unconditional.entry(*op).or_default().push(number);
            }
        }
    }
    errors.sort_by_key(|error| (error.line, error.column));
    (finished, errors)
}

/// Class of the rules that preserve all bits.
const EXACT: u8 = 0;

/// Class of the lowering rules.
const LOWERING: u8 = 3;

/// Whether an unconditional rule matches everything that a later one matches.
fn subsumes_rule(opcodes: &[Opcode], earlier: &FinishedRule, later: &FinishedRule) -> bool {
    // Rules of other classes do not apply to exact code, or where the sign of zero matters, and leave it to later
    // rules.
    if !matches!(earlier.class, EXACT | LOWERING) && earlier.class != later.class {
        return false;
    }
    let mut fit = RuleFit { opcodes, earlier_sizes: earlier.sizes, later_sizes: later.sizes, bound: Vec::new() };
    fit.subsumes(vec![(&earlier.search, &later.search)])
}

struct RuleFit<'a> {
    opcodes: &'a [Opcode],
    earlier_sizes: u8,
    later_sizes: u8,
    /// Bindings of the variables of the earlier rule.
    bound: Vec<(u8, &'a Node)>,
}

impl<'a> RuleFit<'a> {
    /// Whether each earlier node matches everything that the later node of its pair matches, starting with the last
    /// pair. Bindings are undone on failure.
    fn subsumes(&mut self, mut pairs: Vec<(&'a Node, &'a Node)>) -> bool {
        let Some((earlier, later)) = pairs.pop() else { return true };
        if !self.size_subsumes(node_size(earlier), node_size(later)) {
            return false;
        }
        let before = self.bound.len();
        let covered = match (earlier, later) {
            (Node::Variable { index, kind, .. }, later) => {
                let constant =
                    matches!(later, Node::Literal { .. } | Node::Variable { kind: VariableKind::Constant, .. });
                let fits = match self.bound.iter().find(|(i, _)| i == index) {
                    Some((_, known)) => *known == later,
                    None => {
                        self.bound.push((*index, later));
                        true
                    }
                };
                (constant || *kind != VariableKind::Constant) && fits && self.subsumes(pairs)
            }
            (Node::Literal { literal: a, .. }, Node::Literal { literal: b, .. }) => a == b && self.subsumes(pairs),
            (Node::Op { op, operands, .. }, Node::Op { op: other, operands: others, .. }) if op == other => {
                // One order of operands may match here but prevent the rest from matching, so try both.
                let swapped = self.opcodes[*op].commutative && operands.len() >= 2;
                [false, true].into_iter().take(1 + usize::from(swapped)).any(|swap| {
                    let mut order: Vec<&Node> = others.iter().collect();
                    if swap {
                        order.swap(0, 1);
                    }
                    let mut all = pairs.clone();
                    all.extend(operands.iter().zip(order).rev());
                    self.subsumes(all)
                })
            }
            _ => false,
        };
        if !covered {
            self.bound.truncate(before);
        }
        covered
    }

    fn size_subsumes(&self, earlier: Size, later: Size) -> bool {
        match (earlier, later) {
            (Size::Fixed(a), Size::Fixed(b)) => a == b,
            (Size::Unknown(0), Size::Fixed(bits)) => self.earlier_sizes & size_bit(bits) != 0,
            (Size::Unknown(0), Size::Unknown(0)) => self.later_sizes & !self.earlier_sizes == 0,
            (Size::Unknown(n), _) => n != 0,
            (Size::Fixed(bits), Size::Unknown(0)) => self.later_sizes == size_bit(bits),
            (Size::Fixed(_), Size::Unknown(_)) => false,
        }
    }
}
