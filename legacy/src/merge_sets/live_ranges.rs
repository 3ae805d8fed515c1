//! Up to where in which blocks values are live, by value: what is asked about two values costs a search, however often and by whom they are read.

use tgsi_ir::analysis::Liveness;
use tgsi_ir::body::CfNode;
use tgsi_ir::{Body, Def};

use super::{Ranks, can_merge};

/// Behind everything in a block.
const OUT: u32 = u32::MAX;

/// A block that a value is live in, or made in.
#[derive(Clone, Copy)]
pub(super) struct Stretch {
    /// Number of the block.
    pub(super) block: u32,
    /// Place of the last reader there, the value's own if there is none; [`OUT`] if the value is needed behind the block.
    end: u32,
}

impl Stretch {
    /// Whether the value is live right after a place in the block.
    pub(super) fn is_live_after(self, place: u32) -> bool {
        self.end > place
    }
}

/// The stretches of all values that can be in a set.
pub(super) struct LiveRanges {
    /// By rank: the first stretch; one more behind the last.
    first: Vec<u32>,
    /// By rank of the value, then by block.
    stretches: Vec<Stretch>,
}

impl LiveRanges {
    pub(super) fn of(body: &Body, ranks: &Ranks) -> LiveRanges {
        let count = ranks.defs.len();
        let mergeable: Vec<bool> = ranks.defs.iter().map(|&def| can_merge(body, def)).collect();
        let liveness = Liveness::of_values(body, |def| mergeable[ranks.get(def) as usize]);
        // Places ascend all along: what was read in a block before is less than what the block begins with.
        let mut last_read = vec![0; count];
        let mut found: Vec<(u32, Stretch)> = Vec::new();
        for (number, &block) in ranks.blocks.iter().enumerate() {
            let mut place = ranks.places[number];
            for inst in body.insts(block) {
                place += 1;
                if !body.is_phi(inst) {
                    for source in body.sources(inst) {
                        last_read[ranks.get(body.src_def(source)) as usize] = place;
                    }
                }
            }
            if let Some(CfNode::If(id)) = body.node_after(block) {
                last_read[ranks.get(body.src_def(body.if_condition(id))) as usize] = place + 1;
            }
            let mut add = |def: Def, rank: u32, made: u32| {
                let end = match liveness.is_live_out(block, def) {
                    true => OUT,
                    false => last_read[rank as usize].max(made),
                };
                found.push((rank, Stretch { block: number as u32, end }));
            };
            for def in liveness.live_in(block) {
                add(def, ranks.get(def), 0);
            }
            for rank in ranks.starts[number]..ranks.starts[number + 1] {
                if mergeable[rank as usize] {
                    add(ranks.defs[rank as usize], rank, ranks.place[rank as usize]);
                }
            }
        }
        let mut first = vec![0; count + 1];
        for &(rank, _) in &found {
            first[rank as usize + 1] += 1;
        }
        for rank in 0..count {
            first[rank + 1] += first[rank];
        }
        let mut next = first.clone();
        let mut stretches = vec![Stretch { block: 0, end: 0 }; found.len()];
        for (rank, stretch) in found {
            stretches[next[rank as usize] as usize] = stretch;
            next[rank as usize] += 1;
        }
        LiveRanges { first, stretches }
    }

    /// The stretches of a value, by number of the block.
    pub(super) fn get(&self, rank: u32) -> &[Stretch] {
        &self.stretches[self.first[rank as usize] as usize..self.first[rank as usize + 1] as usize]
    }

    /// Whether a value is live right after a place in a block.
    pub(super) fn is_live_after(&self, rank: u32, block: u32, place: u32) -> bool {
        let stretches = self.get(rank);
        stretches.binary_search_by_key(&block, |s| s.block).is_ok_and(|i| stretches[i].is_live_after(place))
    }
}
