//! A file of rules, read and checked: each rule for itself, and whether it is ever reached.

use std::collections::HashMap;

use super::infer::{self, FinishedRule, Node, Size, VariableKind, node_size, size_bit};
use super::opcodes::Opcode;
use super::parse::{self, RuleError};

/// The finished rules of a text and all that is wrong with it, in the order of the lines.
pub fn check(opcodes: &[Opcode], text: &str) -> (Vec<FinishedRule>, Vec<RuleError>) {
    let (rules, mut errors) = parse::parse(text);
    let mut finished = Vec::new();
    // Rules that ask for nothing, by the opcode of their root: what they fit goes no further.
    let mut greedy: HashMap<usize, Vec<usize>> = HashMap::new();
    for rule in &rules {
        let instances = match infer::finish(opcodes, rule) {
            Ok(instances) => instances,
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        if rule.search.unnamed() == rule.replacement.unnamed() {
            let message = "replaces something by itself".to_owned();
            errors.push(RuleError { line: rule.line, column: rule.replacement.column, message });
        }
        let first = finished.len();
        // A rule is of use if one of those that it stands for is.
        let mut taken_by = None;
        let mut reached = false;
        for instance in &instances {
            let Node::Op { op, .. } = instance.search else { continue };
            let earlier =
                greedy.get(&op).into_iter().flatten().map(|&number: &usize| -> &FinishedRule { &finished[number] });
            match earlier.into_iter().find(|earlier| takes_all(opcodes, earlier, instance)) {
                Some(earlier) => taken_by = Some(earlier.line),
                None => reached = true,
            }
        }
        if let Some(line) = taken_by.filter(|_| !reached) {
            let message = format!("never reached: the rule of line {line} takes it first");
            errors.push(RuleError { line: rule.line, column: rule.search.column, message });
        }
        finished.extend(instances);
        for (number, instance) in finished.iter().enumerate().skip(first) {
            let asks = !instance.conditions.is_empty() || instance.on != 0 || instance.off != 0 || instance.star;
            if let (Node::Op { op, .. }, false) = (&instance.search, asks) {
                greedy.entry(*op).or_default().push(number);
            }
        }
    }
    errors.sort_by_key(|error| (error.line, error.column));
    (finished, errors)
}

/// Class of the rules that keep all bits.
const EXACT: u8 = 0;

/// Class of the rules that lower.
const LOWERING: u8 = 3;

/// Whether a rule without conditions fits wherever a later one does.
fn takes_all(opcodes: &[Opcode], earlier: &FinishedRule, later: &FinishedRule) -> bool {
    // Others leave what is exact, or where the signs of zeros are kept, to a later one.
    if !matches!(earlier.class, EXACT | LOWERING) && earlier.class != later.class {
        return false;
    }
    let mut fit = Fit { opcodes, earlier_sizes: earlier.sizes, later_sizes: later.sizes, bound: Vec::new() };
    fit.covers(vec![(&earlier.search, &later.search)])
}

struct Fit<'a> {
    opcodes: &'a [Opcode],
    earlier_sizes: u8,
    later_sizes: u8,
    /// Bindings of the variables of the earlier rule.
    bound: Vec<(u8, &'a Node)>,
}

impl<'a> Fit<'a> {
    /// Whether all that fits the later one of each pair fits the earlier one, from the last pair on. What it binds when
    /// it fails is undone.
    fn covers(&mut self, mut pairs: Vec<(&'a Node, &'a Node)>) -> bool {
        let Some((earlier, later)) = pairs.pop() else { return true };
        if !self.size_covers(node_size(earlier), node_size(later)) {
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
                (constant || *kind != VariableKind::Constant) && fits && self.covers(pairs)
            }
            (Node::Literal { literal: a, .. }, Node::Literal { literal: b, .. }) => a == b && self.covers(pairs),
            (Node::Op { op, operands, .. }, Node::Op { op: other, operands: others, .. }) if op == other => {
                // The one order may fit here and leave no way for what comes after.
                let swapped = self.opcodes[*op].commutative && operands.len() >= 2;
                [false, true].into_iter().take(1 + usize::from(swapped)).any(|swap| {
                    let mut order: Vec<&Node> = others.iter().collect();
                    if swap {
                        order.swap(0, 1);
                    }
                    let mut all = pairs.clone();
                    all.extend(operands.iter().zip(order).rev());
                    self.covers(all)
                })
            }
            _ => false,
        };
        if !covered {
            self.bound.truncate(before);
        }
        covered
    }

    fn size_covers(&self, earlier: Size, later: Size) -> bool {
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
