//! Wraps a region in a loop that runs once.

use rustc_hash::FxHashMap;
use spirv::Op;

use crate::editor::Editor;
use crate::graph::definitions;
use crate::module::Inst;
use crate::regions::Region;

/// `region` becomes `loop { region; break }`. The loop ends by a break, by a conditional break, or by a condition of its
/// continue construct. A value that the region uses may become a phi of the header.
pub fn wrap_loop(editor: &mut Editor, function: usize) -> Option<()> {
    let region = editor.carve(function)?;
    if !region.others.is_empty() {
        return None;
    }
    let (header, next) = (editor.fresh(), editor.fresh());
    let before = editor.module.functions[function].block(region.before)?;
    let phis = if editor.random.one_in(2) { editor.carried_value(function, &region, next)? } else { Vec::new() };
    let kind = editor.random.below(3);
    let last = editor.module.functions[function].block(region.last)?;
    let mut next_body = vec![Inst::new(Op::Branch, [header])];
    if kind > 0 {
        let value = editor.random.one_in(2);
        // The continue construct may use values of the region's last block.
        let condition = editor.condition(value, function, last);
        let targets = |ends: u32, goes_on: u32| if value { [ends, goes_on] } else { [goes_on, ends] };
        let body = &mut editor.module.functions[function].blocks[last].body;
        body.pop();
        let branch = |[then, otherwise]: [u32; 2]| {
            let mut insts = condition.insts.clone();
            insts.push(Inst::new(Op::BranchConditional, [condition.id, then, otherwise]));
            insts
        };
        if kind == 1 {
            body.extend(branch(targets(region.exit, next)));
        } else {
            body.push(Inst::new(Op::Branch, [next]));
            next_body = branch(targets(region.exit, header));
        }
    }
    editor.module.functions[function].blocks[before].retarget(region.entry, header);
    let mut body = phis;
    body.push(Inst::new(Op::LoopMerge, [region.exit, next, 0]));
    body.push(Inst::new(Op::Branch, [region.entry]));
    editor.add_block(function, before, header, body);
    let behind = editor.module.functions[function].block(region.last)?;
    editor.add_block(function, behind, next, next_body);
    Some(())
}

impl Editor {
    /// Makes a phi of a value that a region uses: the same in every iteration.
    fn carried_value(&mut self, function: usize, region: &Region, next: u32) -> Option<Vec<Inst>> {
        let types = self.module.value_types();
        let code = &self.module.functions[function];
        let places = definitions(code);
        let mut values = Vec::new();
        for inst in code.blocks.iter().filter(|b| region.inside.contains(&b.label)).flat_map(|b| &b.body) {
            for id in inst.uses() {
                let Some(&(block, _)) = places.get(&id) else { continue };
                let Some(&ty) = types.get(&id) else { continue };
                if !region.inside.contains(&code.blocks[block].label) && self.class(ty).is_data() {
                    values.push((id, ty));
                }
            }
        }
        let Some((id, ty)) = self.random.choose(&values) else { return Some(Vec::new()) };
        let phi = self.fresh();
        let names = FxHashMap::from_iter([(id, phi)]);
        for block in &mut self.module.functions[function].blocks {
            if region.inside.contains(&block.label) {
                block.body.iter_mut().for_each(|inst| inst.rename(|id| names.get(&id).copied().unwrap_or(id)));
            }
        }
        Some(vec![Inst::new(Op::Phi, [ty, phi, id, region.before, id, next])])
    }
}
