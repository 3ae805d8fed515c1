//! Liveness of values at block boundaries, found by walking from each use up to the definition, along the predecessors
//! (Boissinot, Hack, Grund, Dupont de Dinechin, Rastello: "Fast Liveness Checking for SSA-Form Programs", 2008, section
//! on computing live sets by path exploration).
//!
//! The operands of a phi are used at the end of the predecessors; the result of a phi is defined at the start of its
//! block, so it is not live into it. Undefined values are never live. The sets of a block hold only values live across
//! its boundaries, and the cost of the analysis is proportional to the total size of the sets.

use bitvec::vec::BitVec;
use cranelift_entity::{EntityRef, SecondaryMap};

use crate::body::{Body, InstData};
use crate::entities::{Block, Def, User};

/// Values live into and out of each block, in ascending order.
#[derive(Clone, PartialEq, Debug)]
pub struct Liveness {
    live_in: SecondaryMap<Block, Vec<Def>>,
    live_out: SecondaryMap<Block, Vec<Def>>,
}

/// State of the walk of one value up from its uses.
struct LivenessWalk<'a> {
    body: &'a Body,
    sets: &'a mut Liveness,
    /// Blocks that the current value is known to be live into. `entered` lists them, so that clearing is as cheap as
    /// the walk.
    is_entered: BitVec,
    entered: Vec<Block>,
    work: Vec<Block>,
}

impl LivenessWalk<'_> {
    /// Marks the value as live into a block.
    fn enter(&mut self, def: Def, block: Block) {
        if !self.is_entered.replace(block.index(), true) {
            self.entered.push(block);
            self.sets.live_in[block].push(def);
            self.work.push(block);
        }
    }

    /// Marks the value as live out of a block, and live into it unless it is defined there.
    fn leave(&mut self, def: Def, home: Block, block: Block) {
        let out = &mut self.sets.live_out[block];
        if out.last() != Some(&def) {
            out.push(def);
        }
        if block != home {
            self.enter(def, block);
        }
    }

    fn value(&mut self, def: Def, home: Block) {
        for source in self.body.uses_of(def) {
            match self.body.user(source) {
                User::Inst(user) if self.body.is_phi(user) => {
                    self.leave(def, home, self.body.phi_predecessor(source));
                }
                User::Inst(user) => {
                    if let Some(block) = self.body.inst_block(user)
                        && block != home
                    {
                        self.enter(def, block);
                    }
                }
                User::If(id) => {
                    let block = self.body.block_before_if(id);
                    if block != home {
                        self.enter(def, block);
                    }
                }
            }
        }
        while let Some(block) = self.work.pop() {
            for &pred in self.body.predecessors(block) {
                self.leave(def, home, pred);
            }
        }
        for block in self.entered.drain(..) {
            self.is_entered.set(block.index(), false);
        }
    }
}

impl Liveness {
    pub(super) fn compute(body: &Body) -> Liveness {
        Self::of_values(body, |_| true)
    }

    /// The liveness of some values. Queries for other values give wrong answers.
    pub fn of_values(body: &Body, is_wanted: impl Fn(Def) -> bool) -> Liveness {
        let mut sets = Liveness { live_in: SecondaryMap::new(), live_out: SecondaryMap::new() };
        let is_entered = BitVec::repeat(false, body.num_blocks());
        let mut walk = LivenessWalk { body, sets: &mut sets, is_entered, entered: Vec::new(), work: Vec::new() };
        // Visiting values in ascending order keeps the sets sorted.
        for number in 0..body.num_defs() {
            let def = Def::from_u32(number as u32);
            if let Some(inst) = body.try_def_inst(def)
                && let Some(home) = body.inst_block(inst)
                && !matches!(body.inst(inst), InstData::Undef)
                && is_wanted(def)
            {
                walk.value(def, home);
            }
        }
        sets
    }

    /// Whether the value is live into the block.
    pub fn is_live_in(&self, block: Block, def: Def) -> bool {
        self.live_in[block].binary_search(&def).is_ok()
    }

    /// Whether the value is live out of the block.
    pub fn is_live_out(&self, block: Block, def: Def) -> bool {
        self.live_out[block].binary_search(&def).is_ok()
    }

    /// The values live into a block, in ascending order.
    pub fn live_in(&self, block: Block) -> impl Iterator<Item = Def> + '_ {
        self.live_in[block].iter().copied()
    }

    /// The values live out of a block, in ascending order.
    pub fn live_out(&self, block: Block) -> impl Iterator<Item = Def> + '_ {
        self.live_out[block].iter().copied()
    }
}
