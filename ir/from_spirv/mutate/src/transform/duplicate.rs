//! Duplicates a function.

use rustc_hash::FxHashMap;
use spirv::Op;

use crate::editor::Editor;
use crate::module::Inst;

/// Copies a function and lets some of its calls call the copy.
pub fn duplicate_function(editor: &mut Editor, _: usize) -> Option<()> {
    let mut calls = Vec::new();
    for (number, function) in editor.module.functions.iter().enumerate() {
        for (block, body) in function.blocks.iter().enumerate() {
            for (at, inst) in body.body.iter().enumerate().filter(|(_, inst)| inst.op == Op::FunctionCall) {
                calls.push((number, block, at, inst.words[2]));
            }
        }
    }
    let (_, _, _, callee) = editor.random.choose(&calls)?;
    let source = editor.module.functions.iter().position(|function| function.id() == callee)?;
    let mut copy = editor.module.functions[source].clone();
    if copy.blocks.is_empty() {
        return None;
    }
    let mut names: FxHashMap<u32, u32> = FxHashMap::default();
    let results = copy.parameters.iter().chain(copy.blocks.iter().flat_map(|block| &block.body));
    let results: Vec<u32> =
        results.filter_map(Inst::result).chain(copy.blocks.iter().map(|block| block.label)).collect();
    for id in results.into_iter().chain([callee]) {
        let new = editor.fresh();
        names.insert(id, new);
    }
    let rename = |inst: &mut Inst| {
        inst.rename(|id| names.get(&id).copied().unwrap_or(id));
        let result = inst.result().and_then(|id| names.get(&id)).copied();
        if let Some(new) = result {
            inst.words[1] = new;
        }
    };
    copy.definition.words[1] = names[&callee];
    copy.parameters.iter_mut().for_each(rename);
    for block in &mut copy.blocks {
        block.label = names[&block.label];
        block.body.iter_mut().for_each(rename);
        // A function does not call itself, but a damaged module may.
    }
    let decorations: Vec<Inst> = editor
        .module
        .preamble
        .iter()
        .filter(|inst| matches!(inst.op, Op::Decorate | Op::DecorateId | Op::DecorateString))
        .filter_map(|inst| {
            let mut inst = inst.clone();
            inst.words[0] = *names.get(inst.words.first()?)?;
            Some(inst)
        })
        .collect();
    editor.module.preamble.extend(decorations);
    let mut has_changed = false;
    for (number, block, at, id) in calls {
        if id == callee && (!has_changed || editor.random.one_in(2)) {
            editor.module.functions[number].blocks[block].body[at].words[2] = names[&callee];
            has_changed = true;
        }
    }
    let place = if editor.random.one_in(2) { source } else { editor.module.functions.len() };
    editor.module.functions.insert(place, copy);
    Some(())
}
