//! Wraps a region in a selection that is always taken.

use spirv::Op;

use crate::editor::Editor;
use crate::module::Inst;

/// `region` becomes `if true { region }`, with or without an else block that is never run.
pub fn wrap_if(editor: &mut Editor, function: usize) -> Option<()> {
    let region = editor.carve(function)?;
    let value = editor.random.one_in(2);
    let before = editor.module.functions[function].block(region.before)?;
    let condition = editor.condition(value, function, before);
    let head = editor.head(function, &region)?;
    let head_label = editor.module.functions[function].blocks[head].label;
    let mut other = region.exit;
    if editor.random.one_in(2) {
        other = editor.fresh();
        let body = editor.dead_code(function, region.before)?;
        editor.add_block(function, head, other, [body, vec![Inst::new(Op::Branch, [region.exit])]].concat());
    }
    let (then, otherwise) = if value { (region.entry, other) } else { (other, region.entry) };
    let body = &mut editor.module.functions[function].blocks[head].body;
    body.extend(condition.insts);
    body.push(Inst::new(Op::SelectionMerge, [region.exit, 0]));
    body.push(Inst::new(Op::BranchConditional, [condition.id, then, otherwise]));
    let from = if other == region.exit { head_label } else { other };
    editor.add_bypass(function, &region, &[from])
}

impl Editor {
    /// Returns code for a block that is never run, behind `before`: a copy of a store with another value, or nothing.
    pub fn dead_code(&mut self, function: usize, before: u32) -> Option<Vec<Inst>> {
        let block = self.module.functions[function].block(before)?;
        let mut stores = Vec::new();
        let types = self.module.value_types();
        for inst in &self.module.functions[function].blocks[block].body {
            if let (Op::Store, &[pointer, value]) = (inst.op, &inst.words[..]) {
                stores.push((pointer, value));
            }
        }
        let Some((pointer, value)) = self.random.choose(&stores) else { return Some(Vec::new()) };
        let Some(&ty) = types.get(&value).filter(|&&ty| self.class(ty).is_data()) else { return Some(Vec::new()) };
        let value = self.any_value(ty);
        Some(vec![Inst::new(Op::Store, [pointer, value])])
    }
}
