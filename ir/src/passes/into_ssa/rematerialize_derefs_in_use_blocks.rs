//! Clones every deref into each block that uses it, so that derefs never cross blocks.
//!
//! ```text
//! before:                              after:
//!     b0: %0 = deref_var &a                b0: %0 = deref_var &a
//!     b1: %1 = @load_deref (%0)            b1: %2 = deref_var &a
//!                                              %1 = @load_deref (%2)
//! ```
//!
//! Derefs of most modes may not go through phis; blocks can be moved freely once no deref crosses between them. A chain
//! is cloned once per block, at its start: its operands were available at the original place, so they are available
//! there. Uses in phis are not changed. Derefs without remaining uses are removed.

use hashbrown::HashMap;

use crate::body::{Body, DerefKind, InstData, SourceSpec};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Inst};
use crate::shader::Shader;

/// See the [module](self).
pub fn rematerialize_derefs_in_use_blocks(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= rematerialize_body(body);
    }
    progress
}

/// Runs the pass on one body.
pub(crate) fn rematerialize_body(body: &mut Body) -> bool {
    let mut progress = false;
    let mut here: HashMap<Def, Def> = HashMap::new();
    for block in body.blocks_vec() {
        here.clear();
        let mut cursor = Cursor::after_phis(body, block);
        for inst in body.insts_vec(block) {
            if body.is_phi(inst) {
                continue;
            }
            for source in body.sources(inst) {
                let def = body.src_def(source);
                let producer = body.def_inst(def);
                if !matches!(body.inst(producer), InstData::Deref { .. }) || body.inst_block(producer) == Some(block) {
                    continue;
                }
                let new = clone_chain(body, def, block, &mut here, &mut cursor);
                body.set_src(source, new);
                progress = true;
            }
        }
    }
    if progress {
        remove_unused_derefs(body);
    }
    progress
}

fn clone_chain(body: &mut Body, leaf: Def, block: Block, here: &mut HashMap<Def, Def>, cursor: &mut Cursor) -> Def {
    // From the leaf up to the first deref that is already cloned.
    let mut chain: Vec<Def> = Vec::new();
    let mut def = leaf;
    let mut parent = loop {
        if let Some(&clone) = here.get(&def) {
            break Some(clone);
        }
        let inst = body.def_inst(def);
        let InstData::Deref { kind, .. } = *body.inst(inst) else { break Some(def) };
        if body.inst_block(inst) == Some(block) {
            break Some(def);
        }
        chain.push(def);
        match kind {
            DerefKind::Var(_) => break None,
            _ => def = body.src(inst, 0),
        }
    };
    for &def in chain.iter().rev() {
        let inst = body.def_inst(def);
        let mut sources: Vec<SourceSpec> =
            body.sources(inst).map(|s| SourceSpec { def: body.src_def(s), payload: body.payload(s) }).collect();
        if let (Some(first), Some(parent)) = (sources.first_mut(), parent) {
            first.def = parent;
        }
        let clone = body.create_inst(*body.inst(inst), &sources, Some(body.shape(def)));
        body.insert_inst(*cursor, clone);
        *cursor = Cursor::After(clone);
        if let Some(clone) = body.inst_def(clone) {
            here.insert(def, clone);
            parent = Some(clone);
        }
    }
    parent.unwrap_or(leaf)
}

fn remove_unused_derefs(body: &mut Body) {
    let mut work: Vec<Inst> =
        body.blocks().flat_map(|b| body.insts(b)).filter(|&i| matches!(body.inst(i), InstData::Deref { .. })).collect();
    // Definitions precede uses: going backwards removes a whole chain in one sweep.
    while let Some(inst) = work.pop() {
        if body.inst_def(inst).is_some_and(|d| body.is_unused(d)) {
            body.remove_inst(inst);
        }
    }
}
