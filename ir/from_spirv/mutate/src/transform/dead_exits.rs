//! Adds exits that are never taken.

use spirv::{ExecutionModel, Op};

use crate::editor::Editor;
use crate::graph::Graph;
use crate::module::Inst;

/// Adds `if false { break }`, or continue, return, kill, unreachable. Without a selection, the exit of a loop or switch is
/// a target of the conditional branch itself.
pub fn dead_exit(editor: &mut Editor, function: usize) -> Option<()> {
    let number = editor.choose_block(function)?;
    let label = editor.module.functions[function].blocks[number].label;
    let rest = editor.split_somewhere(function, number)?;
    let graph = Graph::new(&editor.module.functions[function])?;
    let number = *graph.numbers.get(&label)?;
    // The end of a continue construct is reached from all of its blocks.
    if graph.is_in_continue(number) {
        return None;
    }
    let label_of = |editor: &Editor, block: usize| editor.module.functions[function].blocks[block].label;
    let mut exits = vec![Inst::new(Op::Unreachable, [])];
    let mut jumps = Vec::new();
    if let Some(header) = graph.innermost_break(&editor.module.functions[function], number) {
        jumps.extend(graph.merges[header].map(|(merge, _)| label_of(editor, merge)));
    }
    if let Some(header) = graph.innermost_loop(number) {
        jumps.extend(graph.merges[header].and_then(|(_, next)| next).map(|next| label_of(editor, next)));
    }
    exits.extend(jumps.iter().map(|&to| Inst::new(Op::Branch, [to])));
    exits.push(editor.return_of(function)?);
    if editor.is_only_fragment() {
        exits.push(Inst::new(Op::Kill, []));
    }
    let place = editor.random.below(exits.len());
    let exit = exits.swap_remove(place);
    let value = editor.random.one_in(2);
    let condition = editor.condition(value, function, number);
    let jump = exit.words.first().copied().filter(|_| exit.op == Op::Branch);
    let dead = match jump {
        Some(to) if editor.random.one_in(2) => to,
        _ => editor.fresh(),
    };
    let (then, otherwise) = if value { (rest, dead) } else { (dead, rest) };
    let code = editor.dead_code(function, label)?;
    let block = &mut editor.module.functions[function].blocks[number];
    let is_header = block.merge().is_some();
    block.body.pop();
    let at = block.body.len() - usize::from(is_header);
    block.body.splice(at..at, condition.insts);
    if is_header {
        // The header of a loop has its own merge block; a selection needs another one.
        if Some(dead) != jump {
            return None;
        }
    } else if Some(dead) != jump {
        block.body.push(Inst::new(Op::SelectionMerge, [rest, 0]));
    }
    block.body.push(Inst::new(Op::BranchConditional, [condition.id, then, otherwise]));
    let from = if Some(dead) == jump { label } else { dead };
    if Some(dead) != jump {
        editor.add_block(function, number, dead, [code, vec![exit]].concat());
    }
    // Phis of the target get a value for the new edge.
    let Some(to) = jump else { return Some(()) };
    let to = editor.module.functions[function].block(to)?;
    let count = editor.module.functions[function].blocks[to].body.iter().take_while(|inst| inst.op == Op::Phi).count();
    for at in 0..count {
        let ty = editor.module.functions[function].blocks[to].body[at].words[0];
        if !editor.class(ty).is_data() {
            return None;
        }
        let any = editor.any_value(ty);
        editor.module.functions[function].blocks[to].body[at].words.extend([any, from]);
    }
    Some(())
}

impl Editor {
    /// Returns a return of a function, of an undefined value.
    fn return_of(&mut self, function: usize) -> Option<Inst> {
        let ty = *self.module.functions[function].definition.words.first()?;
        if self.module.global(ty)?.op == Op::TypeVoid {
            return Some(Inst::new(Op::Return, []));
        }
        let any =
            if self.class(ty).is_data() { self.any_value(ty) } else { return Some(Inst::new(Op::Unreachable, [])) };
        Some(Inst::new(Op::ReturnValue, [any]))
    }

    /// Whether all entry points are fragment shaders.
    fn is_only_fragment(&self) -> bool {
        let mut entries = self.module.preamble.iter().filter(|inst| inst.op == Op::EntryPoint).peekable();
        entries.peek().is_some() && entries.all(|inst| inst.words.first() == Some(&(ExecutionModel::Fragment as u32)))
    }
}
