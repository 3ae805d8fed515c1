//! The control flow graph of a function.

use smallvec::SmallVec;
use spirv::Op;

use crate::module::{Function, Id, Module};
use crate::words::Inst;

/// Successors of a block.
pub(super) type Successors = SmallVec<[u32; 2]>;

/// The blocks of a function by number, with their successors.
#[derive(Debug, Default)]
pub(super) struct Graph {
    successors: Vec<Successors>,
    /// Position in reverse post-order; `u32::MAX` for blocks that cannot be reached.
    order: Vec<u32>,
}

impl Graph {
    /// The graph of a function, whose number is `number`. Targets that are not blocks of it are left out.
    pub(super) fn new(module: &Module, number: usize, function: &Function) -> Graph {
        let block_of = |label: u32| match module.id(label) {
            Id::Label { function, block } if function as usize == number => Some(block),
            _ => None,
        };
        let successors: Vec<Successors> = function
            .blocks
            .iter()
            .map(|block| {
                let Some(inst) = module.terminator(block) else { return Successors::new() };
                targets(module, &inst).into_iter().filter_map(block_of).collect()
            })
            .collect();
        let order = reverse_post_order(&successors);
        Graph { successors, order }
    }

    /// The successors of a block.
    pub(super) fn successors(&self, block: u32) -> &[u32] {
        self.successors.get(block as usize).map_or(&[], SmallVec::as_slice)
    }

    /// Position of a block in reverse post-order.
    pub(super) fn order(&self, block: u32) -> u32 {
        self.order.get(block as usize).copied().unwrap_or(u32::MAX)
    }

    /// Whether control can reach a block.
    pub(super) fn is_reachable(&self, block: u32) -> bool {
        self.order(block) != u32::MAX
    }

    /// The number of blocks.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }
}

/// The number of words of a literal of a switch.
pub(super) fn literal_words(module: &Module, selector: u32) -> usize {
    let ty = match module.id(selector) {
        Id::Value(ty) => ty,
        Id::Constant(known) => module.constants.type_of(known),
        _ => return 1,
    };
    if module.types.scalar(ty).is_some_and(|scalar| scalar.bit_size() == 64) { 2 } else { 1 }
}

/// The labels that a terminator may branch to.
fn targets(module: &Module, inst: &Inst<'_>) -> SmallVec<[u32; 2]> {
    match Op::from_u32(inst.op.into()) {
        Some(Op::Branch) => SmallVec::from_slice(&[inst.word(0)]),
        Some(Op::BranchConditional) => SmallVec::from_slice(&[inst.word(1), inst.word(2)]),
        Some(Op::Switch) => {
            let length = literal_words(module, inst.word(0)) + 1;
            let cases = inst.rest(2).chunks_exact(length).filter_map(|case| case.last().copied());
            std::iter::once(inst.word(1)).chain(cases).collect()
        }
        _ => SmallVec::new(),
    }
}

fn reverse_post_order(successors: &[Successors]) -> Vec<u32> {
    let mut order = vec![u32::MAX; successors.len()];
    let mut visited = vec![false; successors.len()];
    let mut post = Vec::with_capacity(successors.len());
    let mut stack: Vec<(u32, usize)> = Vec::new();
    if let Some(first) = visited.first_mut() {
        *first = true;
        stack.push((0, 0));
    }
    while let Some((block, next)) = stack.pop() {
        match successors.get(block as usize).and_then(|list| list.get(next)) {
            Some(&target) => {
                stack.push((block, next + 1));
                if visited.get_mut(target as usize).is_some_and(|seen| !std::mem::replace(seen, true)) {
                    stack.push((target, 0));
                }
            }
            None => post.push(block),
        }
    }
    for (position, &block) in post.iter().rev().enumerate() {
        if let Some(place) = order.get_mut(block as usize) {
            *place = position as u32;
        }
    }
    order
}
