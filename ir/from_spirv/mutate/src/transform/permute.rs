//! Changes the order of blocks.

use crate::editor::Editor;
use crate::graph::{Graph, definitions};
use crate::module::{Block, Function};

/// Orders the blocks of a function at random: each behind those that dominate it, and behind those that define its
/// operands.
pub fn permute_blocks(editor: &mut Editor, function: usize) -> Option<()> {
    let random = &mut editor.random;
    let order = order_by(&editor.module.functions[function], |open| random.below(open.len()))?;
    if order.is_sorted() {
        return None;
    }
    apply(&mut editor.module.functions[function], &order);
    Some(())
}

/// Moves blocks behind those that dominate them, if they are not.
pub fn restore_order(function: &mut Function) {
    let first = |open: &[usize]| open.iter().enumerate().min_by_key(|(_, block)| **block).map_or(0, |(at, _)| at);
    if let Some(order) = order_by(function, first)
        && !order.is_sorted()
    {
        apply(function, &order);
    }
}

/// Returns an order in which each block is behind those that dominate it, and those that define its operands. Among the
/// blocks that may be next, `choose` selects one.
fn order_by(function: &Function, mut choose: impl FnMut(&[usize]) -> usize) -> Option<Vec<usize>> {
    let graph = Graph::new(function)?;
    let places = definitions(function);
    let count = function.blocks.len();
    let mut waiting = vec![0usize; count];
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (number, block) in function.blocks.iter().enumerate().skip(1) {
        let operands = block.body.iter().filter(|inst| inst.op != spirv::Op::Phi).flat_map(|inst| inst.uses());
        let mut before: Vec<usize> = operands.filter_map(|id| places.get(&id)).map(|&(from, _)| from).collect();
        before.extend(graph.parent(number));
        before.extend(graph.dominator(number));
        before.push(0);
        before.sort_unstable();
        before.dedup();
        for from in before.into_iter().filter(|&from| from != number) {
            waiting[number] += 1;
            followers[from].push(number);
        }
    }
    let mut open = vec![0];
    let mut order = Vec::with_capacity(count);
    while !open.is_empty() {
        let block = open.swap_remove(choose(&open).min(open.len() - 1));
        order.push(block);
        for &follower in &followers[block] {
            waiting[follower] -= 1;
            if waiting[follower] == 0 {
                open.push(follower);
            }
        }
    }
    (order.len() == count).then_some(order)
}

fn apply(function: &mut Function, order: &[usize]) {
    let mut blocks: Vec<Option<Block>> = std::mem::take(&mut function.blocks).into_iter().map(Some).collect();
    function.blocks = order.iter().filter_map(|&block| blocks[block].take()).collect();
}
