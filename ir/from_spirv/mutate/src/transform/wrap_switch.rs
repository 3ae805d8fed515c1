//! Wraps a region in a switch whose selector is known.

use spirv::Op;

use crate::editor::Editor;
use crate::graph::Graph;
use crate::module::Inst;

/// `region` becomes a case or the default of a switch, possibly behind a case that falls into it.
pub fn wrap_switch(editor: &mut Editor, function: usize) -> Option<()> {
    let region = editor.carve(function)?;
    // Only loops may be left from a switch.
    let graph = Graph::new(&editor.module.functions[function])?;
    let loops: Vec<usize> = graph
        .merges
        .iter()
        .filter_map(|merge| merge.and_then(|(to, next)| next.map(|next| [to, next])))
        .flatten()
        .collect();
    if !region.others.iter().all(|label| graph.numbers.get(label).is_some_and(|block| loops.contains(block))) {
        return None;
    }
    let value = editor.random.below(5) as u32;
    let selector = editor.selector(value, function);
    let head = editor.head(function, &region)?;
    let head_label = editor.module.functions[function].blocks[head].label;
    let (other, wrong) = (editor.fresh(), value + 1 + editor.random.below(3) as u32);
    let mut words = vec![selector.id];
    let mut is_other_used = true;
    let mut other_target = region.exit;
    match editor.random.below(4) {
        0 => {
            is_other_used = false;
            words.extend([region.exit, value, region.entry]);
        }
        1 => words.extend([other, value, region.entry]),
        2 => words.extend([region.entry, wrong, other]),
        _ => {
            // The other case is the one that runs, and falls into the region.
            other_target = region.entry;
            words.extend([region.exit, value, other, wrong, region.entry]);
        }
    }
    let is_bypassed_by_head = !is_other_used || other_target == region.entry;
    let body = &mut editor.module.functions[function].blocks[head].body;
    body.extend(selector.insts);
    body.push(Inst::new(Op::SelectionMerge, [region.exit, 0]));
    body.push(Inst::new(Op::Switch, words));
    if is_other_used {
        let mut code = Vec::new();
        if other_target == region.exit {
            code = editor.dead_code(function, region.before)?;
        }
        code.push(Inst::new(Op::Branch, [other_target]));
        editor.add_block(function, head, other, code);
    }
    editor.add_bypass(function, &region, &[if is_bypassed_by_head { head_label } else { other }])
}
