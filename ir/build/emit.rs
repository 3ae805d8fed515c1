//! Emits finished rules and their net as Rust text: constant arrays of the types in `src/algebra/`.

use std::collections::HashMap;
use std::fmt::Write;

use super::net::NetNode;
use super::opcodes::Opcode;
use super::parse::{Literal, SIZES};
use super::sized_rules::{Condition, FinishedRule, Node, Size, VariableKind};

/// Emits a rule set.
pub struct Emitter<'a> {
    opcodes: &'a [Opcode],
    nodes: String,
    /// Index of each node, by its row, so that equal nodes of all rules are shared.
    node_numbers: HashMap<String, usize>,
    operands: Vec<usize>,
    /// Position of each list of operands in `operands`.
    operand_lists: HashMap<Vec<usize>, usize>,
    conditions: String,
    condition_count: usize,
}

/// The text of the table of switches that rules require to be on and off.
pub fn switches(asks: &[(u128, u128)]) -> String {
    format!(
        "/// Switches that must be on, and off, by the number that rules have.\n\
         static SWITCHES: &[(u128, u128)] = &{asks:?};\n"
    )
}

impl<'a> Emitter<'a> {
    /// The text of `pub static NAME: RuleSet`. Adds the switch requirements of the rules to `asks`, without duplicates.
    pub fn set(
        opcodes: &'a [Opcode],
        name: &str,
        file: &str,
        rules: &[FinishedRule],
        net: &[NetNode],
        asks: &mut Vec<(u128, u128)>,
    ) -> String {
        let mut e = Emitter {
            opcodes,
            nodes: String::new(),
            node_numbers: HashMap::new(),
            operands: Vec::new(),
            operand_lists: HashMap::new(),
            conditions: String::new(),
            condition_count: 0,
        };
        let mut rows = String::new();
        for rule in rules {
            let search = e.node(&rule.search, Some(&mut 0));
            let replacement = e.node(&rule.replacement, None);
            let first = e.condition_count;
            for condition in &rule.conditions {
                e.condition(condition);
            }
            let FinishedRule { line, class, star, sizes, on, off, unknowns, .. } = rule;
            let count = e.condition_count - first;
            let asked = (*on, *off);
            let switches = asks.iter().position(|&known| known == asked).unwrap_or_else(|| {
                asks.push(asked);
                asks.len() - 1
            });
            let _ = writeln!(
                rows,
                "        Rule {{ line: {line}, class: Class::from_number({class}), star: {star}, sizes: {sizes}, \
                 search: {search}, replacement: {replacement}, conditions: ({first}, {count}), switches: {switches}, \
                 unknowns: {unknowns} }},"
            );
        }
        let (mut net_rows, mut edges, mut leaves) = (String::new(), Vec::new(), Vec::new());
        let (mut literals, mut literal_count) = (String::new(), 0);
        let mut same = Vec::new();
        for node in net {
            let (first_edge, first_leaf, first_same) = (edges.len(), leaves.len(), same.len());
            same.extend(node.same.iter().copied());
            edges.extend(node.ops.iter().map(|(op, to)| (opcodes[*op].variant, *to)));
            leaves.extend(node.rules.iter().copied());
            let first_literal = literal_count;
            for (literal, size, to) in &node.literals {
                let sizes = match size {
                    Size::Fixed(bits) => 1u8 << SIZES.iter().position(|s| s == bits).unwrap_or(0),
                    Size::Unknown(_) => 0b11111,
                };
                let bits = literal_bits(literal).map_or("None".to_owned(), |bits| format!("Some({bits:#x?})"));
                let is_nan = *literal == Literal::Nan;
                let _ =
                    write!(literals, "LiteralEdge {{ sizes: {sizes}, bits: {bits}, is_nan: {is_nan}, node: {to} }}, ");
                literal_count += 1;
            }
            let ops = node.ops.keys().fold(0u64, |mask, op| mask | 1 << (op % 64));
            let number = |n: Option<usize>| n.unwrap_or(0);
            let _ = writeln!(
                net_rows,
                "        NetNode {{ ops: {ops:#x}, edges: ({first_edge}, {}), literals: ({first_literal}, {literal_count}), constant: {}, any: {}, same: ({first_same}, {}), leaves: ({first_leaf}, {}) }},",
                edges.len(),
                number(node.constant),
                number(node.any),
                same.len(),
                leaves.len()
            );
        }
        let roots: Vec<usize> = (0..opcodes.len())
            .map(|op| net.first().and_then(|start| start.ops.get(&op)).copied().unwrap_or(0))
            .collect();
        let edges: String = edges.iter().map(|(op, to)| format!("(AluOp::{op}, {to}), ")).collect();
        let leaves: String = leaves.iter().map(|(rule, mask)| format!("({rule}, {mask}), ")).collect();
        format!(
            "/// Rules of `{file}`.\npub static {name}: RuleSet = RuleSet {{\n    file: {file:?},\n    rules: &[\n{rows}    ],\n    nodes: &[\n{}    ],\n    \
             operands: &{:?},\n    conditions: &[\n{}    ],\n    roots: &{roots:?},\n    net: &[\n{net_rows}    ],\n    edges: &[{edges}],\n    literals: &[{literals}],\n    same: &{same:?},\n    leaves: &[{leaves}],\n}};\n\n",
            e.nodes, e.operands, e.conditions
        )
    }

    fn size(size: Size) -> u8 {
        match size {
            Size::Fixed(bits) => bits,
            Size::Unknown(n) => 0x80 | n,
        }
    }

    fn literal(literal: &Literal) -> String {
        match literal {
            Literal::Float(value) => format!("Literal::Float(f64::from_bits({:#x}))", value.to_bits()),
            Literal::Nan => "Literal::Nan".to_owned(),
            Literal::Integer(value) => format!("Literal::Integer({:#x})", *value as u64),
            Literal::Size(n) => format!("Literal::Size({n})"),
            Literal::Sign(n) => format!("Literal::Sign({n})"),
        }
    }

    /// Emits a node after its operands and returns its index. `next` numbers the commutative instructions of a search
    /// in preorder.
    fn node(&mut self, node: &Node, mut next: Option<&mut u8>) -> usize {
        let row = match node {
            Node::Op { op, size, exact, label, operands } => {
                let row = &self.opcodes[*op];
                let mut commute = u8::MAX;
                if row.commutative
                    && row.inputs.len() >= 2
                    && let Some(next) = next.as_deref_mut()
                {
                    commute = *next;
                    *next += 1;
                }
                let numbers: Vec<usize> = operands.iter().map(|o| self.node(o, next.as_deref_mut())).collect();
                let count = numbers.len();
                let first = *self.operand_lists.entry(numbers).or_insert_with_key(|numbers| {
                    self.operands.extend(numbers);
                    self.operands.len() - count
                });
                format!(
                    "Node::Op {{ op: AluOp::{}, size: {}, exact: {exact}, label: {}, operands: ({first}, {count}), commute: {commute} }}",
                    row.variant,
                    Self::size(*size),
                    label.unwrap_or(u8::MAX)
                )
            }
            Node::Variable { index, kind, size, select } => format!(
                "Node::Variable {{ index: {index}, constant: {}, size: {}, select: {} }}",
                *kind == VariableKind::Constant,
                Self::size(*size),
                select.as_ref().map_or("None".to_owned(), |s| format!("Some(&{s:?})"))
            ),
            Node::Literal { literal, size } => {
                let literal = Self::literal(literal);
                format!("Node::Literal {{ literal: {literal}, size: {} }}", Self::size(*size))
            }
        };
        let next = self.node_numbers.len();
        *self.node_numbers.entry(row).or_insert_with_key(|row| {
            let _ = writeln!(self.nodes, "        {row},");
            next
        })
    }

    fn condition(&mut self, condition: &Condition) {
        let row = match condition {
            Condition::Once(labels) => format!("Condition::Once(&{labels:?})"),
            Condition::Variable(name, index) => format!("Condition::Variable(Predicate::{}, {index})", camel(name)),
            Condition::IsNot(index, op) => format!("Condition::IsNot({index}, AluOp::{})", self.opcodes[*op].variant),
            Condition::Root(name) => format!("Condition::Root(RootPredicate::{})", camel(name)),
            Condition::Constant(node) => format!("Condition::Constant({})", self.node(node, None)),
        };
        let _ = writeln!(self.conditions, "        {row},");
        self.condition_count += 1;
    }
}

/// The bits of a literal in each size, if they depend on nothing else and a 16-bit float can represent them. Floats
/// have no bits in sizes of 1 and 8, where no rule uses them.
fn literal_bits(literal: &Literal) -> Option<[u64; 5]> {
    let cut = |value: u64| SIZES.map(|size| if size == 64 { value } else { value & ((1 << size) - 1) });
    match *literal {
        Literal::Float(value) => {
            let mut bits = cut(value.to_bits());
            bits[2] = half(value)?;
            bits[3] = u64::from((value as f32).to_bits());
            Some(bits)
        }
        Literal::Integer(value) => Some(cut(value as u64)),
        Literal::Nan | Literal::Size(_) | Literal::Sign(_) => None,
    }
}

/// Converts a value to a 16-bit float if that is exact.
fn half(value: f64) -> Option<u64> {
    let sign = value.to_bits() >> 63 << 15;
    if value == 0.0 {
        return Some(sign);
    }
    let exponent = (value.to_bits() >> 52 & 0x7ff) as i64 - 1023;
    let mantissa = value.to_bits() & ((1 << 52) - 1);
    let fits = (-14..=15).contains(&exponent) && mantissa.trailing_zeros() >= 42;
    fits.then(|| sign | ((exponent + 15) as u64) << 10 | mantissa >> 42)
}

fn camel(name: &str) -> String {
    let mut result = String::new();
    for word in name.split('_') {
        let mut letters = word.chars();
        result.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        result.extend(letters);
    }
    result
}
