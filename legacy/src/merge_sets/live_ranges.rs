//! Where values are live, among all values that can be in a set: runs of ranks.
//!
//! A value that is live through the arms of an `if`, or through a loop, is live in blocks with consecutive numbers, so
//! one run covers them all: there are far fewer runs than live blocks. There are no ranks between two blocks, so ranks
//! suffice for all queries.

use cranelift_entity::SecondaryMap;
use tgsi_ir::{Block, Body, Def, User};

use super::Ranks;

/// A half-open range of ranks of values that another value outlives. The first run begins with the instruction that
/// defines the value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct RankRange {
    pub(super) start: u32,
    pub(super) end: u32,
}

/// The runs of all values.
pub(super) struct LiveRanges {
    /// By rank: index of the first run, plus one final entry.
    first: Vec<u32>,
    /// Sorted by rank of the value, then by start. Two runs of a value are never adjacent.
    runs: Vec<RankRange>,
}

impl LiveRanges {
    pub(super) fn of(body: &Body, ranks: &Ranks) -> LiveRanges {
        let mut ranges =
            LiveRanges { first: Vec::with_capacity(ranks.defs.len() + 1), runs: Vec::with_capacity(ranks.defs.len()) };
        let mut walk = LivenessWalk {
            body,
            ranks,
            home: None,
            home_end: 0,
            reached: SecondaryMap::with_capacity(body.num_blocks()),
            entered: Vec::new(),
            next: 0,
        };
        // The ranks of the current instruction; all phis of a block are defined at once.
        let mut own = RankRange { start: 0, end: 0 };
        for (rank, &def) in ranks.defs.iter().enumerate() {
            let inst = body.def_inst(def);
            if rank as u32 >= own.end {
                let block = body.is_phi(inst).then(|| body.inst_block(inst));
                let made_here = |&def: &Def| {
                    let other = body.def_inst(def);
                    other == inst || body.is_phi(other) && block == Some(body.inst_block(other))
                };
                own.start = rank as u32;
                own.end = own.start + ranks.defs[rank..].iter().take_while(|def| made_here(def)).count() as u32;
            }
            ranges.first.push(ranges.runs.len() as u32);
            walk.value(def, own, &mut ranges.runs);
        }
        ranges.first.push(ranges.runs.len() as u32);
        ranges
    }

    /// The runs of a value.
    pub(super) fn get(&self, rank: u32) -> &[RankRange] {
        &self.runs[self.first[rank as usize] as usize..self.first[rank as usize + 1] as usize]
    }

    /// Whether a value is live after the definition of another one, or defined by the same instruction.
    pub(super) fn outlives(&self, rank: u32, other: u32) -> bool {
        let runs = self.get(rank);
        let after = runs.partition_point(|run| run.start <= other);
        after > 0 && other < runs[after - 1].end
    }
}

/// The walk of one value upwards from its uses.
struct LivenessWalk<'a> {
    body: &'a Body,
    ranks: &'a Ranks,
    /// Block of the definition, and the rank up to which the value is live there.
    home: Option<Block>,
    home_end: u32,
    /// By block that the value is live into: one more than the rank up to which it is live there; 0 for other blocks.
    reached: SecondaryMap<Block, u32>,
    /// The blocks that the value is live into; the predecessors of those from `next` on are still to be visited.
    entered: Vec<Block>,
    next: usize,
}

impl LivenessWalk<'_> {
    fn value(&mut self, def: Def, own: RankRange, runs: &mut Vec<RankRange>) {
        let body = self.body;
        self.home = body.inst_block(body.def_inst(def));
        self.home_end = own.end;
        for source in body.uses_of(def) {
            match body.user(source) {
                User::Inst(user) if body.is_phi(user) => self.leave(body.phi_predecessor(source)),
                User::Inst(user) => {
                    if let Some(block) = body.inst_block(user) {
                        self.reach(block, self.ranks.before[user]);
                    }
                }
                User::If(id) => self.leave(body.block_before_if(id)),
            }
        }
        while let Some(&block) = self.entered.get(self.next) {
            self.next += 1;
            for &pred in body.predecessors(block) {
                self.leave(pred);
            }
        }
        let first = runs.len();
        runs.push(RankRange { start: own.start, end: self.home_end });
        for block in self.entered.drain(..) {
            let end = std::mem::take(&mut self.reached[block]) - 1;
            let start = self.ranks.starts[block].start;
            if start < end {
                runs.push(RankRange { start, end });
            }
        }
        self.next = 0;
        // Merge adjacent runs.
        runs[first..].sort_unstable_by_key(|run| run.start);
        let mut last = first;
        for at in first + 1..runs.len() {
            let run = runs[at];
            if run.start <= runs[last].end {
                runs[last].end = runs[last].end.max(run.end);
            } else {
                last += 1;
                runs[last] = run;
            }
        }
        runs.truncate(last + 1);
    }

    /// Records that the value is live in a block up to a rank.
    fn reach(&mut self, block: Block, end: u32) {
        if self.home == Some(block) {
            self.home_end = self.home_end.max(end);
            return;
        }
        let reached = &mut self.reached[block];
        if *reached == 0 {
            self.entered.push(block);
        }
        *reached = (*reached).max(end + 1);
    }

    /// Records that the value is live out of a block.
    fn leave(&mut self, block: Block) {
        self.reach(block, self.ranks.starts[block].end);
    }
}
