//! Removes instructions with results that are not needed.
//!
//! ```text
//! before:                           after:
//!     %1 = fmul %0, %0                  @store_output (%0, ...)
//!     %2 = fadd %1, %0
//!     @store_output (%0, ...)
//! ```
//!
//! Calls, jumps, intrinsics with side effects, conditions of `if`s and, transitively, their operands are needed. One
//! walk in reverse program order marks these: users are visited before definitions. Where that fails (phis of loops) a
//! worklist continues from an instruction that turns out to be needed. Dead cycles of phis are found as well. A write
//! to a register is needed if a needed instruction reads that register anywhere, so registers that only feed themselves
//! are removed too, before they become phis. Control flow is kept (see
//! [`opt_dead_cf`](mod@crate::passes::control_flow::opt_dead_cf)).
//!
//! Without loops and registers an instruction is dead only if its value has no uses at all; no marking is needed.

use cranelift_entity::SecondaryMap;

use crate::body::{Body, InstData};
use crate::entities::{Def, Inst};
use crate::intrinsics::IntrinsicOp;
use crate::shader::Shader;

/// See the [module](self).
pub fn opt_dce(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= remove_dead_insts(body);
    }
    progress
}

/// Returns whether an instruction must be kept even if its value is unused.
#[inline]
pub(crate) fn has_effect(body: &Body, inst: Inst) -> bool {
    match *body.inst(inst) {
        InstData::Call { .. } | InstData::Jump(_) | InstData::ParallelCopy(_) => true,
        InstData::Intrinsic { op, .. } => !op.info().can_eliminate,
        InstData::Alu { .. }
        | InstData::Deref { .. }
        | InstData::Tex(_)
        | InstData::LoadConst { .. }
        | InstData::Undef
        | InstData::Phi => false,
    }
}

/// Runs the pass on one body.
pub(crate) fn remove_dead_insts(body: &mut Body) -> bool {
    if body.structured && body.num_loops() == 0 && !body.may_have_registers() {
        return remove_unused(body);
    }
    let mut marks =
        Marks { states: vec![State::Unseen; body.num_insts()], stores: StoresSoFar::default(), work: Vec::new() };
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
                State::Unseen if is_store => marks.is_live(body.def_inst(body.src(inst, 1))),
                State::Unseen => has_effect(body, inst),
                State::Suspect | State::Live => true,
            };
            if is_needed {
                marks.states[inst.as_u32() as usize] = State::Live;
                marks.need_sources(body, inst);
            } else {
                marks.states[inst.as_u32() as usize] = State::Suspect;
                suspects.push(inst);
                if is_store {
                    marks.stores.push(body.src(inst, 1), inst);
                }
            }
        }
    }
    suspects.retain(|&inst| marks.states[inst.as_u32() as usize] == State::Suspect);
    body.remove_insts(&suspects);
    !suspects.is_empty()
}

/// Removes instructions without uses or effects, and operands that only they used.
fn remove_unused(body: &mut Body) -> bool {
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Not visited, and not needed so far.
    Unseen,
    /// Visited, but not needed at that time.
    Suspect,
    /// Needed.
    Live,
}

/// The writes to registers that were not known to be read when the walk visited them: a list for each register.
#[derive(Default)]
struct StoresSoFar {
    /// By handle: the index of the last write plus 1.
    lasts: SecondaryMap<Def, u32>,
    /// Each with the index of the previous write plus 1.
    stores: Vec<(Inst, u32)>,
}

impl StoresSoFar {
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
    states: Vec<State>,
    stores: StoresSoFar,
    /// Suspects that turned out to be needed: their sources must be marked.
    work: Vec<Inst>,
}

impl Marks {
    #[inline]
    fn need(&mut self, inst: Inst) {
        let before = std::mem::replace(&mut self.states[inst.as_u32() as usize], State::Live);
        if before == State::Suspect {
            self.work.push(inst);
        }
    }

    fn is_live(&self, inst: Inst) -> bool {
        self.states[inst.as_u32() as usize] == State::Live
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

/// Returns whether an instruction writes a register; the register's handle is its source 1.
#[inline]
pub(crate) fn is_register_store(body: &Body, inst: Inst) -> bool {
    matches!(body.intrinsic(inst), Some(IntrinsicOp::StoreReg | IntrinsicOp::StoreRegIndirect))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::alu::AluOp;
    use crate::body::{JumpKind, Shape};
    use crate::shader::Stage;

    #[test]
    fn dead_cycles_go_and_conditions_stay() {
        let mut shader = Shader::new(Stage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let (zero, one) = (b.u32_const(0), b.u32_const(1));
        let before = b.block();
        let id = b.push_loop();
        let dead = b.phi(Shape::new(1, 32), &[(before, zero)]);
        let live = b.phi(Shape::new(1, 32), &[(before, zero)]);
        let more_dead = b.alu(AluOp::Imul, &[dead, one]);
        let more = b.alu(AluOp::Iadd, &[live, one]);
        let done = b.alu(AluOp::Uge, &[more, one]);
        let exit = b.push_if(done);
        b.jump(JumpKind::Break);
        b.end_if(exit);
        let latch = b.block();
        b.end_loop(id);
        let body = b.body;
        body.add_phi_source(body.def_inst(dead), latch, more_dead);
        body.add_phi_source(body.def_inst(live), latch, more);
        assert!(opt_dce(&mut shader));
        assert!(!opt_dce(&mut shader));
        let body = shader.main();
        assert!(!body.is_def_live(dead) && !body.is_def_live(more_dead));
        assert!(body.is_def_live(live) && body.is_def_live(done));
        assert_eq!(body.uses_of(zero).count(), 1);
    }
}
