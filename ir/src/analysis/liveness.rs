//! Liveness of values at the borders of blocks: backward data flow over bit sets with a work list.
//!
//! A phi's value is not live into its block (unless it is live around a loop), and what a phi reads counts as used at the end of the
//! predecessor. Undefined values are never live.

use bitvec::vec::BitVec;
use cranelift_entity::SecondaryMap;

use crate::body::{Body, CfNode, InstData};
use crate::entities::{Block, Def, Inst, User};

/// Values live into and out of each block.
#[derive(Clone, PartialEq, Debug)]
pub struct Liveness {
    live_in: SecondaryMap<Block, BitVec>,
    live_out: SecondaryMap<Block, BitVec>,
}

impl Liveness {
    pub(super) fn compute(body: &Body) -> Liveness {
        let count = body.num_defs();
        let order = body.block_order();
        let mut result = Liveness { live_in: SecondaryMap::new(), live_out: SecondaryMap::new() };
        for &block in &order.blocks {
            result.live_in[block] = BitVec::repeat(false, count);
            result.live_out[block] = BitVec::repeat(false, count);
        }
        let mut queued: SecondaryMap<Block, bool> = SecondaryMap::with_default(true);
        // Last block first: most information is then complete when a block is looked at.
        let mut work: std::collections::VecDeque<Block> = order.blocks.iter().rev().copied().collect();
        while let Some(block) = work.pop_front() {
            queued[block] = false;
            let mut live = result.live_out[block].clone();
            transfer(body, block, &mut live);
            result.live_in[block] = live;
            let phis: Vec<Inst> = body.phis(block).collect();
            for &pred in body.predecessors(block) {
                let mut edge = result.live_in[block].clone();
                for &phi in &phis {
                    if let Some(def) = body.inst_def(phi) {
                        edge.set(def.as_u32() as usize, false);
                    }
                }
                for &phi in &phis {
                    if let Some(source) = body.phi_source_for(phi, pred) {
                        mark(body, body.src_def(source), &mut edge);
                    }
                }
                let out = &mut result.live_out[pred];
                if edge.iter_ones().any(|i| !out[i]) {
                    *out |= &edge;
                    if !std::mem::replace(&mut queued[pred], true) {
                        work.push_back(pred);
                    }
                }
            }
        }
        result
    }

    /// Whether the value is live into the block.
    pub fn is_live_in(&self, block: Block, def: Def) -> bool {
        self.live_in[block].get(def.as_u32() as usize).is_some_and(|b| *b)
    }

    /// Whether the value is live out of the block.
    pub fn is_live_out(&self, block: Block, def: Def) -> bool {
        self.live_out[block].get(def.as_u32() as usize).is_some_and(|b| *b)
    }

    /// The values live into a block.
    pub fn live_in(&self, block: Block) -> impl Iterator<Item = Def> + '_ {
        self.live_in[block].iter_ones().map(|i| Def::from_u32(i as u32))
    }

    /// The values live out of a block.
    pub fn live_out(&self, block: Block) -> impl Iterator<Item = Def> + '_ {
        self.live_out[block].iter_ones().map(|i| Def::from_u32(i as u32))
    }

    /// Whether the value is live right after an instruction.
    pub fn is_live_after(&self, body: &Body, def: Def, inst: Inst) -> bool {
        let Some(block) = body.inst_block(inst) else { return false };
        if self.is_live_out(block, def) {
            return true;
        }
        if !self.is_live_in(block, def) && body.inst_block(body.def_inst(def)) != Some(block) {
            return false;
        }
        let order = body.inst_order();
        let at = order.index(inst);
        body.uses_of(def).any(|u| match body.user(u) {
            User::Inst(user) => body.inst_block(user) == Some(block) && !body.is_phi(user) && order.index(user) > at,
            User::If(id) => body.block_before_if(id) == block,
        })
    }
}

fn mark(body: &Body, def: Def, live: &mut BitVec) {
    if !matches!(body.inst(body.def_inst(def)), InstData::Undef) {
        live.set(def.as_u32() as usize, true);
    }
}

/// From live-out to live-in of a block, phis excluded.
fn transfer(body: &Body, block: Block, live: &mut BitVec) {
    if let Some(CfNode::If(id)) = body.node_after(block) {
        mark(body, body.src_def(body.if_condition(id)), live);
    }
    for inst in body.insts_rev(block) {
        if body.is_phi(inst) {
            break;
        }
        if let Some(def) = body.inst_def(inst) {
            live.set(def.as_u32() as usize, false);
        }
        for entry in body.copies(inst).into_iter().flatten() {
            if let Some(def) = entry.dest.expand() {
                live.set(def.as_u32() as usize, false);
            }
        }
        for source in body.sources(inst) {
            mark(body, body.src_def(source), live);
        }
    }
}
