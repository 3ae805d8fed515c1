//! Marks the needed instructions of a body with loops or registers, and removes the others.
//!
//! One walk in reverse program order marks them: users are visited before definitions. Where that fails (phis of loops)
//! a worklist continues from an instruction that turns out to be needed. A write to a register is needed if a needed
//! instruction reads that register anywhere, so registers that only feed themselves are removed too, before they become
//! phis.

use cranelift_entity::SecondaryMap;

use super::{has_effect, is_register_store};
use crate::body::Body;
use crate::entities::{Def, Inst};
use crate::intrinsics::IntrinsicOp;

/// Removes the instructions that are not needed.
pub(super) fn remove_unmarked(body: &mut Body) -> bool {
    let mut marks =
        Marks { states: vec![InstState::Unseen; body.num_insts()], stores: PendingStores::default(), work: Vec::new() };
    let mut suspects: Vec<Inst> = Vec::new();
    let mut next_block = Some(body.body_list().last);
    while let Some(block) = next_block {
        next_block = body.prev_block(block);
        if let Some(id) = body.following_if(block) {
            marks.need(body.src_inst(body.if_condition(id)));
        }
        let mut next = body.last_inst(block);
        while let Some(inst) = next {
            next = body.prev_inst(inst);
            let is_store = is_register_store(body, inst);
            let is_needed = match marks.states[inst.as_u32() as usize] {
                InstState::Unseen if is_store => marks.is_live(body.def_inst(body.src(inst, 1))),
                InstState::Unseen => has_effect(body, inst),
                InstState::Suspect | InstState::Live => true,
            };
            if is_needed {
                marks.states[inst.as_u32() as usize] = InstState::Live;
                marks.need_sources(body, inst);
            } else {
                marks.states[inst.as_u32() as usize] = InstState::Suspect;
                suspects.push(inst);
                if is_store {
                    marks.stores.push(body.src(inst, 1), inst);
                }
            }
        }
    }
    suspects.retain(|&inst| marks.states[inst.as_u32() as usize] == InstState::Suspect);
    body.remove_insts(&suspects);
    !suspects.is_empty()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum InstState {
    /// Not visited, and not needed so far.
    Unseen,
    /// Visited, but not needed at that time.
    Suspect,
    /// Needed.
    Live,
}

/// The writes to registers that were not known to be read when the walk visited them: a list for each register.
#[derive(Default)]
struct PendingStores {
    /// By handle: the index of the last write plus 1.
    lasts: SecondaryMap<Def, u32>,
    /// Each with the index of the previous write plus 1.
    stores: Vec<(Inst, u32)>,
}

impl PendingStores {
    fn push(&mut self, handle: Def, store: Inst) {
        self.stores.push((store, self.lasts[handle]));
        self.lasts[handle] = self.stores.len() as u32;
    }

    /// Removes the last write of a register from its list.
    fn pop(&mut self, handle: Def) -> Option<Inst> {
        let (store, before) = *self.stores.get((self.lasts[handle] as usize).checked_sub(1)?)?;
        self.lasts[handle] = before;
        Some(store)
    }
}

struct Marks {
    states: Vec<InstState>,
    stores: PendingStores,
    /// Suspects that turned out to be needed: their sources must be marked.
    work: Vec<Inst>,
}

impl Marks {
    #[inline]
    fn need(&mut self, inst: Inst) {
        let before = std::mem::replace(&mut self.states[inst.as_u32() as usize], InstState::Live);
        if before == InstState::Suspect {
            self.work.push(inst);
        }
    }

    fn is_live(&self, inst: Inst) -> bool {
        self.states[inst.as_u32() as usize] == InstState::Live
    }

    /// Marks the operands of a live instruction, transitively.
    fn need_sources(&mut self, body: &Body, inst: Inst) {
        let mut next = Some(inst);
        while let Some(inst) = next {
            for source in body.sources(inst) {
                self.need(body.src_inst(source));
            }
            if let (Some(IntrinsicOp::DeclReg), Some(handle)) = (body.intrinsic(inst), body.inst_def(inst)) {
                while let Some(store) = self.stores.pop(handle) {
                    self.need(store);
                }
            }
            next = self.work.pop();
        }
    }
}
