//! Computes the values that depend only on constants and on the iteration, iteration by iteration.
//!
//! The dependencies of a condition or an index are listed in topological order. Evaluating the list gives the values of
//! an iteration; the phis of the loop header then get their values for the next one. A value may be known in some
//! components only, or even if some of its operands are unknown.

use crate::alu::{self, AluOp};
use crate::body::{Body, CfNode, CfParent, InstData, MAX_COMPONENTS};
use crate::entities::{Block, Def, If, Inst, Loop};

use super::{LoopAnalyzer, NONE};

/// Maximum number of sources of an opcode, except for those that build vectors.
const MAX_SOURCES: usize = 4;

/// The known components of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Value {
    known: u16,
    bits: [u64; MAX_COMPONENTS],
}

impl Value {
    pub(super) const UNKNOWN: Value = Value { known: 0, bits: [0; MAX_COMPONENTS] };

    fn of_constant(values: &[u64]) -> Value {
        let mut value = Value::UNKNOWN;
        for (component, &bits) in values.iter().enumerate().take(MAX_COMPONENTS) {
            value.set(component, bits);
        }
        value
    }

    /// The value of a definition before the loop: a constant, or a vector with some constant components.
    fn before_loop(body: &Body, def: Def) -> Value {
        if let Some(constant) = body.def_constant(def) {
            return Value::of_constant(constant);
        }
        let mut value = Value::UNKNOWN;
        let inst = body.def_inst(def);
        if body.alu_op(inst).is_some_and(AluOp::is_vec) {
            for (component, source) in body.sources(inst).enumerate().take(MAX_COMPONENTS) {
                let selected = usize::from(body.swizzle(source).get(0));
                if let Some(bits) = body.constant_component(body.src_def(source), selected) {
                    value.set(component, bits);
                }
            }
        }
        value
    }

    fn set(&mut self, component: usize, bits: u64) {
        self.known |= 1 << component;
        self.bits[component] = bits;
    }

    fn get(&self, component: usize) -> Option<u64> {
        (self.known >> component & 1 != 0).then(|| self.bits[component])
    }

    /// The meet of two values: components that are known and equal in both.
    fn meet(&self, other: &Value) -> Value {
        let mut value = Value::UNKNOWN;
        let mut both = self.known & other.known;
        while both != 0 {
            let component = both.trailing_zeros() as usize;
            both &= both - 1;
            if self.bits[component] == other.bits[component] {
                value.set(component, self.bits[component]);
            }
        }
        value
    }
}

/// How a value is computed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    /// The value is the same in every iteration.
    Fixed,
    /// A phi of the loop header: this value of the previous iteration.
    Head(Option<Def>),
    /// An ALU instruction.
    Alu(Inst),
    /// Another phi, and the `if` before it.
    Phi(Inst, Option<If>),
}

impl LoopAnalyzer<'_> {
    /// Adds the value and all its dependencies to the list of nodes, dependencies first.
    pub(super) fn add_root(&mut self, body: &Body, id: Loop, root: Def) {
        let head = body.loop_body(id).first;
        let mut roots = vec![root];
        while let Some(root) = roots.pop() {
            let mut work = vec![(root, false)];
            while let Some((def, is_expanded)) = work.pop() {
                if self.numbers[def] != NONE {
                    continue;
                }
                let inst = body.def_inst(def);
                let block = body.inst_block(inst).filter(|&block| self.tree.contains(id, block));
                let node = match (*body.inst(inst), block) {
                    (InstData::Phi, Some(block)) if block == head => {
                        let latch = body.phi_sources(inst).find(|&(pred, _)| self.tree.contains(id, pred));
                        let next = latch.map(|(_, source)| body.src_def(source));
                        roots.extend(next);
                        Node::Head(next)
                    }
                    (InstData::Phi, Some(block)) if !is_loop_head(body, block) => {
                        let node = match body.node_before(block) {
                            Some(CfNode::If(node)) => Some(node),
                            _ => None,
                        };
                        if !is_expanded {
                            work.push((def, true));
                            work.extend(node.map(|node| (body.src_def(body.if_condition(node)), false)));
                            work.extend(body.sources(inst).map(|s| (body.src_def(s), false)));
                            continue;
                        }
                        Node::Phi(inst, node)
                    }
                    (InstData::Alu { .. }, Some(_)) => {
                        if !is_expanded {
                            work.push((def, true));
                            work.extend(body.sources(inst).map(|s| (body.src_def(s), false)));
                            continue;
                        }
                        Node::Alu(inst)
                    }
                    _ => Node::Fixed,
                };
                let value = match node {
                    Node::Fixed => Value::before_loop(body, def),
                    Node::Head(_) => {
                        let entry = body.phi_sources(inst).find(|&(pred, _)| !self.tree.contains(id, pred));
                        entry.map_or(Value::UNKNOWN, |(_, source)| Value::before_loop(body, body.src_def(source)))
                    }
                    Node::Alu(_) | Node::Phi(..) => Value::UNKNOWN,
                };
                self.numbers[def] = self.nodes.len() as u32;
                self.nodes.push((def, node));
                self.values.push(value);
            }
        }
    }

    /// A component of a value, either computed or constant.
    pub(super) fn known(&self, body: &Body, def: Def, component: usize) -> Option<u64> {
        match self.values.get(self.numbers[def] as usize) {
            Some(value) => value.get(component),
            None => body.constant_component(def, component),
        }
    }

    /// Computes all values of an iteration from the phis of the header.
    pub(super) fn evaluate(&mut self, body: &Body) {
        for number in 0..self.nodes.len() {
            let value = match self.nodes[number].1 {
                Node::Fixed | Node::Head(_) => continue,
                Node::Alu(inst) => self.evaluate_alu(body, inst),
                Node::Phi(inst, node) => self.evaluate_phi(body, inst, node),
            };
            self.values[number] = value;
        }
    }

    /// Advances to the next iteration; false if no value changes.
    pub(super) fn advance(&mut self) -> bool {
        let read = |def: Option<Def>| {
            let number = def.map_or(NONE, |def| self.numbers[def]);
            self.values.get(number as usize).copied().unwrap_or(Value::UNKNOWN)
        };
        let next: Vec<(usize, Value)> = self
            .nodes
            .iter()
            .enumerate()
            .filter_map(|(number, &(_, node))| match node {
                Node::Head(next) => Some((number, read(next))),
                _ => None,
            })
            .collect();
        let mut changed = false;
        for (number, value) in next {
            let current = &mut self.values[number];
            changed |= *current != value;
            *current = value;
        }
        changed
    }

    fn evaluate_phi(&self, body: &Body, inst: Inst, node: Option<If>) -> Value {
        let read = |def: Def| self.values.get(self.numbers[def] as usize).copied().unwrap_or(Value::UNKNOWN);
        if let Some(node) = node
            && let Some(condition) = self.known(body, body.src_def(body.if_condition(node)), 0)
        {
            let taken = if condition != 0 { body.then_list(node) } else { body.else_list(node) };
            if let Some(source) = body.phi_source_for(inst, taken.last) {
                return read(body.src_def(source));
            }
        }
        let mut sources = body.sources(inst).map(|source| read(body.src_def(source)));
        let first = sources.next().unwrap_or(Value::UNKNOWN);
        sources.fold(first, |a, b| a.meet(&b))
    }

    fn evaluate_alu(&self, body: &Body, inst: Inst) -> Value {
        let (Some(op), Some(def)) = (body.alu_op(inst), body.inst_def(inst)) else { return Value::UNKNOWN };
        let count = usize::from(body.num_components(def)).min(MAX_COMPONENTS);
        let mut result = Value::UNKNOWN;
        let read = |number: usize, component: usize| {
            let source = body.source(inst, number);
            self.known(body, body.src_def(source), usize::from(body.swizzle(source).get(component)))
        };
        if op.is_vec() {
            for component in 0..count {
                if let Some(bits) = read(component, 0) {
                    result.set(component, bits);
                }
            }
            return result;
        }
        let info = op.info();
        let bits = body.alu_bit_size(inst);
        let num_sources = body.num_sources(inst);
        if num_sources > MAX_SOURCES {
            return result;
        }
        if info.output_size == 0 && info.input_sizes.iter().all(|&size| size == 0) {
            for component in 0..count {
                let mut storage = [[0u64; 1]; MAX_SOURCES];
                let is_known = (0..num_sources).all(|number| match read(number, component) {
                    Some(bits) => {
                        storage[number] = [bits];
                        true
                    }
                    None => false,
                });
                if is_known {
                    let mut out = [0];
                    let sources: arrayvec::ArrayVec<&[u64], MAX_SOURCES> =
                        storage[..num_sources].iter().map(|s| s.as_slice()).collect();
                    alu::evaluate(op, bits, 1, &sources, self.mode, &mut out);
                    result.set(component, out[0]);
                } else if let Some(bits) = self.evaluate_partly(body, inst, op, bits, component) {
                    result.set(component, bits);
                }
            }
            return result;
        }
        let mut storage = [[0u64; MAX_COMPONENTS]; MAX_SOURCES];
        let mut sources: arrayvec::ArrayVec<&[u64], MAX_SOURCES> = arrayvec::ArrayVec::new();
        for (number, values) in storage.iter_mut().enumerate().take(num_sources) {
            let width = body.alu_src_components(inst, number).min(MAX_COMPONENTS);
            for (component, value) in values.iter_mut().enumerate().take(width) {
                match read(number, component) {
                    Some(bits) => *value = bits,
                    None => return result,
                }
            }
        }
        for (number, values) in storage.iter().enumerate().take(num_sources) {
            sources.push(&values[..body.alu_src_components(inst, number).min(MAX_COMPONENTS)]);
        }
        let mut out = [0; MAX_COMPONENTS];
        alu::evaluate(op, bits, count as u8, &sources, self.mode, &mut out);
        Value::of_constant(&out[..count])
    }

    /// Evaluates a component if the known operands determine it.
    fn evaluate_partly(&self, body: &Body, inst: Inst, op: AluOp, bits: u8, component: usize) -> Option<u64> {
        let operand = |number: usize| {
            let source = body.source(inst, number);
            (body.src_def(source), usize::from(body.swizzle(source).get(component)))
        };
        let read = |number: usize| {
            let (def, component) = operand(number);
            self.known(body, def, component)
        };
        let ones = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        match op {
            AluOp::Iand => [read(0), read(1)].contains(&Some(0)).then_some(0),
            AluOp::Ior => [read(0), read(1)].contains(&Some(ones)).then_some(ones),
            _ if op.is_selection() => match read(0) {
                // Opcodes test their conditions differently.
                Some(condition) => {
                    let mut out = [0];
                    alu::evaluate(op, bits, 1, &[&[condition], &[ones], &[0]], self.mode, &mut out);
                    read(if out[0] != 0 { 1 } else { 2 })
                }
                None => read(1).filter(|&a| read(2) == Some(a)),
            },
            AluOp::Ilt | AluOp::Ige | AluOp::Ult | AluOp::Uge | AluOp::Flt | AluOp::Fge => {
                let (a_low, a_high) = self.bounds(body, op, bits, operand(0));
                let (b_low, b_high) = self.bounds(body, op, bits, operand(1));
                let less = match op {
                    AluOp::Ilt | AluOp::Ige => AluOp::Ilt,
                    AluOp::Ult | AluOp::Uge => AluOp::Ult,
                    _ => AluOp::Flt,
                };
                let is_less = a_high.zip(b_low).is_some_and(|(a, b)| self.compare(less, bits, a, b));
                let not_less = match less {
                    AluOp::Ilt => AluOp::Ige,
                    AluOp::Ult => AluOp::Uge,
                    _ => AluOp::Fge,
                };
                let is_not_less = a_low.zip(b_high).is_some_and(|(a, b)| self.compare(not_less, bits, a, b));
                match (is_less, is_not_less) {
                    (true, _) => Some(u64::from(op == less)),
                    (_, true) => Some(u64::from(op != less)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn compare(&self, op: AluOp, bits: u8, a: u64, b: u64) -> bool {
        let mut out = [0];
        alu::evaluate(op, bits, 1, &[&[a], &[b]], self.mode, &mut out);
        out[0] != 0
    }

    /// Lower and upper bound of an operand of a comparison: the value itself if known, or the constant operand of a
    /// minimum or maximum.
    fn bounds(&self, body: &Body, comparison: AluOp, bits: u8, operand: (Def, usize)) -> (Option<u64>, Option<u64>) {
        let (def, component) = operand;
        if let Some(bits) = self.known(body, def, component) {
            return (Some(bits), Some(bits));
        }
        let (minimum, maximum) = match comparison {
            AluOp::Ilt | AluOp::Ige => (AluOp::Imin, AluOp::Imax),
            AluOp::Ult | AluOp::Uge => (AluOp::Umin, AluOp::Umax),
            _ => (AluOp::Fmin, AluOp::Fmax),
        };
        let producer = body.def_inst(def);
        let Some(op) = body.alu_op(producer).filter(|&op| op == minimum || op == maximum) else { return (None, None) };
        let limit = (0..2).find_map(|number| {
            let source = body.source(producer, number);
            self.known(body, body.src_def(source), usize::from(body.swizzle(source).get(component)))
        });
        // The minimum with NaN returns the other operand.
        let is_float = op == AluOp::Fmin || op == AluOp::Fmax;
        let limit = limit.filter(|&limit| !is_float || self.compare(AluOp::Feq, bits, limit, limit));
        if op == minimum { (None, limit) } else { (limit, None) }
    }
}

/// Whether a block is a loop header.
fn is_loop_head(body: &Body, block: Block) -> bool {
    match body.block_parent(block) {
        Some(parent @ (CfParent::Body(_) | CfParent::Continue(_))) => body.list(parent).first == block,
        _ => false,
    }
}
