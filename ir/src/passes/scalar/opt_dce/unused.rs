//! Removes instructions of a body without loops and registers, where dead values have no uses.

use super::has_effect;
use crate::body::Body;
use crate::entities::Inst;

/// Removes instructions without uses or effects, and operands that only they used.
pub(super) fn remove_unused(body: &mut Body) -> bool {
    let is_dead =
        |body: &Body, inst: Inst| body.inst_def(inst).is_none_or(|def| body.is_unused(def)) && !has_effect(body, inst);
    let mut work: Vec<Inst> = Vec::new();
    for number in 0..body.num_insts() as u32 {
        let inst = Inst::from_u32(number);
        if body.inst_block(inst).is_some() && is_dead(body, inst) {
            work.push(inst);
        }
    }
    let progress = !work.is_empty();
    let mut producers: Vec<Inst> = Vec::new();
    while let Some(inst) = work.pop() {
        // An instruction with two uses may be in the list twice.
        if body.inst_block(inst).is_none() {
            continue;
        }
        producers.extend(body.sources(inst).map(|source| body.src_inst(source)));
        body.remove_inst(inst);
        for producer in producers.drain(..) {
            if body.inst_block(producer).is_some() && is_dead(body, producer) {
                work.push(producer);
            }
        }
    }
    progress
}
