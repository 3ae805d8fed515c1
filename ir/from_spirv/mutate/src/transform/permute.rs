//! Changes the order of blocks.

use rustc_hash::FxHashSet;

use crate::editor::Editor;
use crate::graph::{Graph, definitions};
use crate::module::Block;

/// Orders the blocks of a function at random: each behind those that dominate it, and behind those that define its
/// operands.
pub fn permute_blocks(editor: &mut Editor, function: usize) -> Option<()> {
    let code = &editor.module.functions[function];
    let graph = Graph::new(code)?;
    let places = definitions(code);
    let count = code.blocks.len();
    let mut before: Vec<FxHashSet<usize>> = vec![FxHashSet::default(); count];
    for (number, block) in code.blocks.iter().enumerate() {
        before[number].extend(graph.parent(number));
        before[number].extend(graph.dominator(number));
        for inst in block.body.iter().filter(|inst| inst.op != spirv::Op::Phi) {
            before[number].extend(inst.uses().iter().filter_map(|id| places.get(id)).map(|&(from, _)| from));
        }
        before[number].extend((number > 0).then_some(0));
        before[number].remove(&number);
    }
    let mut open: Vec<usize> = vec![0];
    let mut order = Vec::new();
    let mut is_listed = vec![false; count];
    is_listed[0] = true;
    while !open.is_empty() {
        let at = editor.random.below(open.len());
        let block = open.swap_remove(at);
        order.push(block);
        for number in 0..count {
            before[number].remove(&block);
            if !is_listed[number] && before[number].is_empty() {
                is_listed[number] = true;
                open.push(number);
            }
        }
    }
    if order.len() != count || order.is_sorted() {
        return None;
    }
    let mut blocks: Vec<Option<Block>> =
        std::mem::take(&mut editor.module.functions[function].blocks).into_iter().map(Some).collect();
    editor.module.functions[function].blocks = order.into_iter().filter_map(|block| blocks[block].take()).collect();
    Some(())
}
