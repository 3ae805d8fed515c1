//! Makes a branch conditional, with equal targets.

use spirv::Op;

use crate::editor::Editor;
use crate::module::Inst;

/// `branch L` becomes `branch c ? L : L`. From SPIR-V 1.6 on the targets must differ.
pub fn equal_targets(editor: &mut Editor, function: usize) -> Option<()> {
    if editor.module.version() >= 0x10600 {
        return None;
    }
    let block = editor.choose_block(function)?;
    let target = editor.module.functions[function].blocks[block].branch()?;
    let value = editor.random.one_in(2);
    let condition = editor.condition(value, function, block);
    let body = &mut editor.module.functions[function].blocks[block].body;
    body.pop();
    let at = body.len() - usize::from(body.last().is_some_and(Inst::is_merge));
    body.splice(at..at, condition.insts);
    body.push(Inst::new(Op::BranchConditional, [condition.id, target, target]));
    Some(())
}
