//! Translates rules as written to rules of the engine: resolves names, infers sizes, and expands conversions without a
//! size.
//!
//! Every value of a rule has a known size (`flt` gives 1 bit) or a size variable, called an *unknown*. Unknowns are
//! unified: the sizes of operands with the sizes that their opcode requires, all occurrences of a variable, and the
//! whole search with the whole replacement. Unknown 0 is the main one: the size of the first value of the search
//! without a fixed size. A conversion without a size (`b2f`) is expanded to one rule for each possible size. At run
//! time, the engine only tests whether unknown 0 has a size that is possible in the replacement; if another unknown
//! would need such a test, the rule is expanded to one rule for each of its sizes.

use super::opcodes::{Opcode, Operand, SWITCHES, unsized_conversion};
use super::parse::{Expression, NodeKind, Rule, RuleError, SIZES};
use super::sized_rules::{
    Condition, FinishedRule, MAX_VARIABLES, Node, ROOT_PREDICATES, Size, VARIABLE_PREDICATES, VariableKind,
    first_variable, node_size, size_bit, speaks_of_main_size, vector_asked_about, with_main_size,
};

type Result<T> = std::result::Result<T, (usize, String)>;

struct Inference<'a> {
    opcodes: &'a [Opcode],
    /// Unknowns: their binding, and their possible sizes.
    unknowns: Vec<(Option<Size>, u8)>,
    variables: Vec<(char, Size)>,
    labels: Vec<String>,
    /// Sizes of the result and of the first operand of each labelled instruction.
    label_sizes: Vec<(Size, Size)>,
    /// Labelled conversions that must widen (or narrow).
    steps: Vec<(u8, bool, usize)>,
    /// Unknowns that must be expanded to known sizes, with their columns for errors.
    concrete: Vec<(Size, usize)>,
    searching: bool,
}

impl Inference<'_> {
    fn unknown(&mut self, sizes: u8) -> Size {
        self.unknowns.push((None, sizes));
        Size::Unknown((self.unknowns.len() - 1) as u8)
    }

    fn find(&self, mut size: Size) -> Size {
        while let Size::Unknown(n) = size {
            match self.unknowns[n as usize].0 {
                Some(next) => size = next,
                None => break,
            }
        }
        size
    }

    fn unify(&mut self, a: Size, b: Size, column: usize) -> Result<()> {
        let (a, b) = (self.find(a), self.find(b));
        match (a, b) {
            (Size::Fixed(x), Size::Fixed(y)) if x != y => {
                Err((column, format!("{x} bits where {y} bits are expected")))
            }
            (Size::Fixed(_), Size::Fixed(_)) => Ok(()),
            (Size::Unknown(x), Size::Unknown(y)) if x == y => Ok(()),
            (Size::Unknown(x), Size::Unknown(y)) => {
                // Keep the older unknown, so that the main unknown stays the first one.
                let (old, new) = (x.min(y), x.max(y));
                let sizes = self.unknowns[new as usize].1;
                self.unknowns[new as usize].0 = Some(Size::Unknown(old));
                self.restrict(Size::Unknown(old), sizes, column)
            }
            (Size::Unknown(x), fixed) | (fixed, Size::Unknown(x)) => {
                let Size::Fixed(bits) = fixed else { return Ok(()) };
                if self.unknowns[x as usize].1 & size_bit(bits) == 0 {
                    return Err((column, format!("cannot have {bits} bits")));
                }
                self.unknowns[x as usize].0 = Some(fixed);
                Ok(())
            }
        }
    }

    fn restrict(&mut self, size: Size, sizes: u8, column: usize) -> Result<()> {
        let possible = match self.find(size) {
            Size::Fixed(bits) => size_bit(bits) & sizes,
            Size::Unknown(n) => {
                self.unknowns[n as usize].1 &= sizes;
                self.unknowns[n as usize].1
            }
        };
        if possible == 0 { Err((column, "no size is possible".to_owned())) } else { Ok(()) }
    }

    fn label(&mut self, name: &str, column: usize) -> Result<u8> {
        if self.labels.iter().any(|l| l == name) {
            return Err((column, format!("`{name}` is the name of two instructions")));
        }
        if self.labels.len() == MAX_VARIABLES {
            return Err((column, "too many labels".to_owned()));
        }
        self.labels.push(name.to_owned());
        Ok((self.labels.len() - 1) as u8)
    }

    /// The node of an expression in a context that requires a size.
    fn node(&mut self, e: &Expression, wanted: Size) -> Result<Node> {
        match &e.kind {
            NodeKind::Literal(literal) => Ok(Node::Literal { literal: *literal, size: wanted }),
            NodeKind::Variable { name, bit_size, select } => {
                let size = match self.variables.iter().find(|(n, _)| n == name) {
                    Some(&(_, size)) => size,
                    None if !self.searching => return Err((e.column, format!("`{name}` is not in the search"))),
                    None if self.variables.len() == MAX_VARIABLES => {
                        return Err((e.column, "too many variables".to_owned()));
                    }
                    None => {
                        let size = if "pqr".contains(*name) { Size::Fixed(1) } else { wanted };
                        self.variables.push((*name, size));
                        size
                    }
                };
                if let Some(bits) = bit_size {
                    self.unify(size, Size::Fixed(*bits), e.column)?;
                }
                if self.searching && select.is_some() {
                    return Err((e.column, "the search cannot select components".to_owned()));
                }
                self.unify(size, wanted, e.column)?;
                let index = self.variables.iter().position(|(n, _)| n == name).unwrap_or_default() as u8;
                let kind = if name.is_ascii_uppercase() { VariableKind::Constant } else { VariableKind::Any };
                Ok(Node::Variable { index, kind, size, select: select.clone() })
            }
            NodeKind::Op { name, exact, label, operands } => {
                let family = unsized_conversion(self.opcodes, name);
                let found = if family == 0 {
                    self.opcodes.iter().position(|o| o.name == name)
                } else {
                    let first = SIZES[family.trailing_zeros() as usize];
                    self.opcodes.iter().position(|o| o.name == format!("{name}{first}"))
                };
                let Some(op) = found else { return Err((e.column, format!("unknown opcode `{name}`"))) };
                let opcodes = self.opcodes;
                let row = &opcodes[op];
                if row.inputs.len() != operands.len() {
                    let wanted = row.inputs.len();
                    return Err((e.column, format!("{name} takes {wanted} operands, not {}", operands.len())));
                }
                if *exact && self.searching {
                    return Err((e.column, "`!` is only valid in replacements".to_owned()));
                }
                // Every instruction creates at most two unknowns.
                if self.unknowns.len() + 2 > usize::from(u8::MAX) {
                    return Err((e.column, "too long".to_owned()));
                }
                let own = if row.sizes == 0 { Size::Fixed(0) } else { self.unknown(row.sizes) };
                let size = if family != 0 {
                    let size = self.unknown(family);
                    self.concrete.push((size, e.column));
                    size
                } else if row.output.bit_size == 0 {
                    own
                } else {
                    Size::Fixed(row.output.bit_size)
                };
                self.unify(size, wanted, e.column)?;
                let taken = |input: &Operand| if input.bit_size == 0 { own } else { Size::Fixed(input.bit_size) };
                let label = match label {
                    Some(_) if !self.searching => {
                        return Err((e.column, "only instructions of the search can be named".to_owned()));
                    }
                    Some(name) => {
                        self.label_sizes.push((size, row.inputs.first().map_or(size, taken)));
                        Some(self.label(name, e.column)?)
                    }
                    None => None,
                };
                let mut nodes = Vec::new();
                for (operand, input) in operands.iter().zip(&row.inputs) {
                    nodes.push(self.node(operand, taken(input))?);
                }
                Ok(Node::Op { op, size, exact: *exact, label, operands: nodes })
            }
        }
    }

    /// The condition of an expression; `None` if it only restricts sizes.
    fn condition(&mut self, e: &Expression) -> Result<Option<Condition>> {
        let NodeKind::Op { name, operands, .. } = &e.kind else {
            return Err((e.column, "expected a condition".to_owned()));
        };
        if name == "once" {
            if operands.is_empty() {
                return Err((e.column, "once takes the names of instructions".to_owned()));
            }
            let labels = operands.iter().map(|o| self.label_of(o)).collect::<Result<_>>()?;
            return Ok(Some(Condition::Once(labels)));
        }
        if name == "wider" || name == "narrower" {
            let [label] = &operands[..] else {
                return Err((e.column, format!("{name} takes the name of a conversion")));
            };
            let label = self.label_of(label)?;
            let (result, operand) = self.label_sizes[usize::from(label)];
            self.concrete.extend([(result, e.column), (operand, e.column)]);
            self.steps.push((label, name == "wider", e.column));
            return Ok(None);
        }
        if let Some(root) = ROOT_PREDICATES.iter().find(|p| *p == name) {
            if !operands.is_empty() {
                return Err((e.column, format!("{name} takes no operands")));
            }
            return Ok(Some(Condition::Root(root)));
        }
        if let Some(&(predicate, constant)) = VARIABLE_PREDICATES.iter().find(|(p, _)| p == name) {
            let [variable] = &operands[..] else { return Err((e.column, format!("{name} takes a variable"))) };
            return Ok(Some(Condition::Variable(predicate, self.variable_of(variable, constant)?)));
        }
        if name == "is_not" {
            let [variable, op] = &operands[..] else {
                return Err((e.column, "is_not takes a variable and an opcode".to_owned()));
            };
            let index = self.variable_of(variable, false)?;
            let NodeKind::Op { name, .. } = &op.kind else { return Err((op.column, "expected an opcode".to_owned())) };
            return match self.opcodes.iter().position(|o| o.name == name) {
                Some(op) => Ok(Some(Condition::IsNot(index, op))),
                None => Err((op.column, format!("unknown opcode `{name}`"))),
            };
        }
        if operands.is_empty() || !self.opcodes.iter().any(|o| o.name == name) {
            let message = format!("unknown condition `{name}` (not a switch, predicate or opcode)");
            return Err((e.column, message));
        }
        let node = self.node(e, Size::Fixed(1))?;
        match first_variable(&node) {
            Some(column) if column == usize::MAX => Err((e.column, "only constants can be evaluated".to_owned())),
            _ => Ok(Some(Condition::Constant(node))),
        }
    }

    fn label_of(&self, e: &Expression) -> Result<u8> {
        let name = match &e.kind {
            NodeKind::Variable { name, .. } => name.to_string(),
            NodeKind::Op { name, .. } => name.clone(),
            NodeKind::Literal(_) => String::new(),
        };
        match self.labels.iter().position(|l| *l == name) {
            Some(index) => Ok(index as u8),
            None => Err((e.column, format!("no instruction is named `{name}`"))),
        }
    }

    fn variable_of(&self, e: &Expression, constant: bool) -> Result<u8> {
        let NodeKind::Variable { name, .. } = &e.kind else { return Err((e.column, "expected a variable".to_owned())) };
        if constant && !name.is_ascii_uppercase() {
            return Err((e.column, "expected a constant (`K`)".to_owned()));
        }
        match self.variables.iter().position(|(n, _)| n == name) {
            Some(index) => Ok(index as u8),
            None => Err((e.column, format!("`{name}` is not in the search"))),
        }
    }

    /// Replaces the unknowns in a node by their bindings; `numbers[n]` is the new number of unknown n.
    fn resolve(&self, node: &Node, numbers: &[u8]) -> Node {
        let resolved = |size: Size| match self.find(size) {
            Size::Unknown(n) => Size::Unknown(numbers[n as usize]),
            fixed => fixed,
        };
        match node {
            Node::Op { op, size, exact, label, operands } => {
                let size = resolved(*size);
                let mut op = *op;
                // Replaces the placeholder opcode of a conversion without a size.
                if let Size::Fixed(bits) = size {
                    let stem = self.opcodes[op].name.trim_end_matches(|c: char| c.is_ascii_digit());
                    if unsized_conversion(self.opcodes, stem) != 0 {
                        let name = format!("{stem}{bits}");
                        op = self.opcodes.iter().position(|o| o.name == name).unwrap_or(op);
                    }
                }
                let operands = operands.iter().map(|o| self.resolve(o, numbers)).collect();
                Node::Op { op, size, exact: *exact, label: *label, operands }
            }
            Node::Variable { index, kind, size, select } => {
                Node::Variable { index: *index, kind: *kind, size: resolved(*size), select: select.clone() }
            }
            Node::Literal { literal, size } => Node::Literal { literal: *literal, size: resolved(*size) },
        }
    }
}

/// Expands a written rule to rules of the engine.
pub fn finish(opcodes: &[Opcode], rule: &Rule) -> std::result::Result<Vec<FinishedRule>, RuleError> {
    let mut finished = Vec::new();
    // Chosen sizes of unknowns that must be known, explored depth-first.
    let mut pending = vec![Vec::new()];
    let mut last = (rule.search.column, "no possible size".to_owned());
    while let Some(choices) = pending.pop() {
        match instance(opcodes, rule, &choices) {
            Ok(Instance::Finished(rule)) => finished.push(*rule),
            Ok(Instance::Choose(sizes)) => {
                for &bits in SIZES.iter().rev().filter(|&&bits| sizes & size_bit(bits) != 0) {
                    pending.push([&choices[..], &[bits]].concat());
                }
            }
            // An impossible size is only an error if all others are impossible, too.
            Err(error) if !choices.is_empty() => last = error,
            Err((column, message)) => return Err(RuleError { line: rule.line, column, message }),
        }
    }
    if finished.is_empty() {
        let (column, message) = last;
        return Err(RuleError { line: rule.line, column, message: format!("no size fits: {message}") });
    }
    Ok(finished)
}

enum Instance {
    Finished(Box<FinishedRule>),
    /// The possible sizes of the next unknown that must be known.
    Choose(u8),
}

fn instance(opcodes: &[Opcode], rule: &Rule, choices: &[u8]) -> Result<Instance> {
    let mut inference = Inference {
        opcodes,
        unknowns: Vec::new(),
        variables: Vec::new(),
        labels: Vec::new(),
        label_sizes: Vec::new(),
        steps: Vec::new(),
        concrete: Vec::new(),
        searching: true,
    };
    let result = inference.unknown(0b11111);
    let search = inference.node(&rule.search, result)?;
    if !matches!(search, Node::Op { .. }) {
        return Err((rule.search.column, "the search must be an instruction".to_owned()));
    }
    // The main unknown is the first one in the order of the search.
    let main = main_unknown(&inference, &search);
    if let Some(main) = main.filter(|_| rule.sizes != 0) {
        inference.restrict(main, rule.sizes, rule.search.column)?;
    }
    inference.searching = false;
    let searched: Vec<u8> = inference.unknowns.iter().map(|u| u.1).collect();
    let replacement = inference.node(&rule.replacement, result)?;
    let (mut conditions, mut on, mut off) = (Vec::new(), 0u128, 0u128);
    for (negated, condition) in &rule.conditions {
        if let NodeKind::Op { name, operands, .. } = &condition.kind
            && let Some(bit) = SWITCHES.iter().position(|s| s == name)
            && operands.is_empty()
        {
            *(if *negated { &mut off } else { &mut on }) |= 1 << bit;
            continue;
        }
        if *negated {
            return Err((condition.column, "only switches of the target can be negated".to_owned()));
        }
        conditions.extend(inference.condition(condition)?);
    }
    let mut choices = choices.iter();
    for (size, column) in inference.concrete.clone() {
        let Size::Unknown(n) = inference.find(size) else { continue };
        match choices.next() {
            Some(&bits) => inference.unify(size, Size::Fixed(bits), column)?,
            None => return Ok(Instance::Choose(inference.unknowns[n as usize].1)),
        }
    }
    for &(label, wider, column) in &inference.steps {
        let (result, operand) = inference.label_sizes[usize::from(label)];
        if let (Size::Fixed(to), Size::Fixed(from)) = (inference.find(result), inference.find(operand))
            && (if wider { to <= from } else { to >= from })
        {
            return Err((column, format!("{from} to {to} bits")));
        }
    }
    // Unknowns in the order of the search, starting with the main one.
    let mut order = Vec::new();
    collect(&inference, &search, &mut order);
    for &unknown in order.iter().skip(1) {
        let sizes = inference.unknowns[unknown as usize].1;
        let of_search = searched
            .iter()
            .enumerate()
            .filter(|(u, _)| inference.find(Size::Unknown(*u as u8)) == Size::Unknown(unknown))
            .fold(0b11111, |mask, (_, sizes)| mask & sizes);
        if sizes == of_search {
            continue;
        }
        match choices.next() {
            // A chosen size replaces the unknown; the caller starts again with each choice.
            Some(&bits) => inference.unify(Size::Unknown(unknown), Size::Fixed(bits), rule.search.column)?,
            None => return Ok(Instance::Choose(sizes)),
        }
    }
    order.retain(|&n| inference.find(Size::Unknown(n)) == Size::Unknown(n));
    let mut numbers = vec![u8::MAX; inference.unknowns.len()];
    for (number, &unknown) in order.iter().enumerate() {
        numbers[unknown as usize] = number as u8;
    }
    let computed = conditions.iter().filter_map(|c| if let Condition::Constant(node) = c { Some(node) } else { None });
    for node in computed.chain([&replacement]) {
        let mut all = Vec::new();
        collect(&inference, node, &mut all);
        if all.iter().any(|n| !order.contains(n)) {
            return Err((rule.replacement.column, "a size cannot be inferred from the search".to_owned()));
        }
        if main.is_none() && speaks_of_main_size(node) {
            return Err((rule.replacement.column, "`N` and `SIGN` need an open size".to_owned()));
        }
    }
    if order.len() > MAX_VARIABLES {
        return Err((rule.search.column, "too many open sizes".to_owned()));
    }
    if let Some(index) = vector_asked_about(opcodes, &search, &conditions) {
        let name = inference.variables[usize::from(index)].0;
        return Err((
            rule.search.column,
            format!("`{name}` has a different number of components than the instruction, so conditions cannot test it"),
        ));
    }
    let sizes = order.first().map_or(0b11111, |&n| inference.unknowns[n as usize].1);
    let main = main.map(|m| inference.find(m));
    let conditions = conditions
        .iter()
        .map(|c| match c {
            Condition::Constant(node) => Condition::Constant(with_main_size(inference.resolve(node, &numbers), main)),
            other => other.clone(),
        })
        .collect();
    Ok(Instance::Finished(Box::new(FinishedRule {
        line: rule.line,
        class: rule.tag.class,
        star: rule.tag.star,
        sizes,
        search: with_main_size(inference.resolve(&search, &numbers), main),
        replacement: with_main_size(inference.resolve(&replacement, &numbers), main),
        conditions,
        on,
        off,
        unknowns: order.len() as u8,
    })))
}

fn main_unknown(inference: &Inference<'_>, node: &Node) -> Option<Size> {
    let size = inference.find(node_size(node));
    if matches!(size, Size::Unknown(_)) {
        return Some(size);
    }
    let Node::Op { operands, .. } = node else { return None };
    operands.iter().find_map(|o| main_unknown(inference, o))
}

/// Collects the unbound unknowns in order.
fn collect(inference: &Inference<'_>, node: &Node, order: &mut Vec<u8>) {
    if let Size::Unknown(n) = inference.find(node_size(node))
        && !order.contains(&n)
    {
        order.push(n);
    }
    if let Node::Op { operands, .. } = node {
        operands.iter().for_each(|o| collect(inference, o, order));
    }
}
