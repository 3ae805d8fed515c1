//! Shared code of the tests of algebraic rules: sizes and widths of expressions, and random numbers.

#![allow(dead_code, reason = "not every test uses everything")]

use tgsi_ir::algebra::{Node, RuleSet};

/// Possible values of an open size.
pub const SIZES: [u8; 5] = [1, 8, 16, 32, 64];

/// xorshift64*.
pub struct Random(pub u64);

impl Random {
    /// Returns random bits.
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number from 0 to `n` - 1.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.next() >> 32) as usize * n) >> 32
    }

    /// Returns an element of a list.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Returns a number from 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Size of a node in bits, with the chosen open sizes.
pub fn size_of(size: u8, sizes: &[u8; 8]) -> u8 {
    if size & 0x80 == 0 { size } else { sizes[usize::from(size & 0x7f)] }
}

/// Size of a node's value.
pub fn node_size(set: &RuleSet, node: u16, sizes: &[u8; 8]) -> u8 {
    let (Node::Op { size, .. } | Node::Variable { size, .. } | Node::Literal { size, .. }) =
        set.nodes[usize::from(node)];
    size_of(size, sizes)
}

/// The size of the unsized types of an instruction; `None` if the opcode does not support it or operands disagree.
pub fn own_size(set: &RuleSet, node: u16, sizes: &[u8; 8]) -> Option<u8> {
    let Node::Op { op, operands, .. } = set.nodes[usize::from(node)] else { return Some(0) };
    let info = op.info();
    let mut own = if info.output_type.is_unsized() { Some(node_size(set, node, sizes)) } else { None };
    for (kind, &operand) in info.input_types.iter().zip(set.operands_of(operands)) {
        let size = node_size(set, operand, sizes);
        if !kind.is_unsized() {
            if kind.bit_size != size {
                return None;
            }
        } else if *own.get_or_insert(size) != size {
            return None;
        }
    }
    match own {
        None => Some(32),
        Some(size) => info.bit_sizes.contains(&size).then_some(size),
    }
}

/// Whether the sizes are valid everywhere in an expression.
pub fn sizes_fit(set: &RuleSet, node: u16, sizes: &[u8; 8]) -> bool {
    let Node::Op { operands, .. } = set.nodes[usize::from(node)] else { return true };
    own_size(set, node, sizes).is_some() && set.operands_of(operands).iter().all(|&o| sizes_fit(set, o, sizes))
}

/// Required number of components of a node's value.
pub fn wanted_count(set: &RuleSet, node: u16) -> Option<usize> {
    let Node::Op { op, operands, .. } = set.nodes[usize::from(node)] else { return None };
    let info = op.info();
    if info.output_size != 0 {
        return Some(usize::from(info.output_size));
    }
    let per_component = set.operands_of(operands).iter().zip(info.input_sizes).filter(|(_, size)| **size == 0);
    per_component.into_iter().find_map(|(&operand, _)| wanted_count(set, operand))
}

/// Number of components of the variables.
pub fn width(set: &RuleSet, node: u16) -> usize {
    match set.nodes[usize::from(node)] {
        Node::Op { op, operands, .. } => {
            let own = op.info().input_sizes.iter().chain([&op.info().output_size]).max().copied().unwrap_or(1);
            let below = set.operands_of(operands).iter().map(|&o| width(set, o)).max().unwrap_or(1);
            below.max(usize::from(own)).max(1)
        }
        _ => 1,
    }
}
