//! Adds a selection whose two sides meet before its merge block.

use spirv::Op;

use crate::editor::Editor;
use crate::module::Inst;

/// `region` becomes `if c {} else {} region`, with the merge block behind the region.
pub fn premerge(editor: &mut Editor, function: usize) -> Option<()> {
    let region = editor.carve(function)?;
    let value = editor.random.one_in(2);
    let before = editor.module.functions[function].block(region.before)?;
    let condition = editor.condition(value, function, before);
    let head = editor.head(function, &region)?;
    let mut sides = [region.entry; 2];
    let first = editor.random.below(2);
    for at in [first, 1 - first] {
        if at == first || editor.random.one_in(2) {
            sides[at] = editor.fresh();
            editor.add_block(function, head, sides[at], vec![Inst::new(Op::Branch, [region.entry])]);
        }
    }
    let body = &mut editor.module.functions[function].blocks[head].body;
    body.extend(condition.insts);
    body.push(Inst::new(Op::SelectionMerge, [region.exit, 0]));
    body.push(Inst::new(Op::BranchConditional, [condition.id, sides[0], sides[1]]));
    Some(())
}
