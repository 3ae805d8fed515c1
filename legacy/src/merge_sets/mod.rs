//! Sets of values that will share a register, and the test whether two of them may be merged.
//!
//! The values of a set do not interfere: no two are live at once. After Boissinot et al., a merged set is free of
//! interference if no value outlives (is live after the definition of) another one; it suffices to test each value
//! against the nearest value of the union that dominates it, because a value that lives past another one lives past
//! everything between them.
//!
//! Values have *ranks*, in dominance order (blocks in pre-order of the dominator tree, instructions in order), so that
//! the values a value dominates are one run after it. A set is sorted by rank ([`rank_set`]). The smaller of two sets
//! is looked up in the larger one: for each value the nearest one that dominates it, and the nearest ones that it
//! dominates; if there are more of those than runs of ranks that the value outlives ([`live_ranges`]), the first one in
//! each of these runs suffices. As the values of a set are live in disjoint places, a query costs at most the number of
//! blocks plus the number of values in the smaller set, and usually far less; the result of an expensive query is
//! cached.

mod live_ranges;
mod rank_set;

use std::cell::Cell;
use std::collections::HashSet;

use cranelift_entity::SecondaryMap;
use tgsi_ir::{Block, Body, Def, Inst, InstData};

use live_ranges::{LiveRanges, RankRange};
use rank_set::{Members, RankSet, RankSets};

/// No set or no value.
const NONE: u32 = u32::MAX;

/// The number of steps from which the interference of two sets is cached.
const MANY_STEPS: u64 = 64;

/// The sets that become registers.
pub(crate) struct Webs {
    /// Number of the set of each value.
    number: Vec<u32>,
    /// The number of sets.
    pub(crate) count: usize,
}

impl Webs {
    /// The set of a value, if it becomes a register.
    pub(crate) fn get(&self, def: Def) -> Option<usize> {
        self.number.get(def.as_u32() as usize).copied().filter(|&n| n != NONE).map(|n| n as usize)
    }
}

/// The values that can be in a set with others, in dominance order: those defined or used by phis. A constant cannot be
/// defined in a register: it is stored.
struct Ranks {
    /// By value; [`NONE`] if it cannot be merged.
    rank: Vec<u32>,
    /// By rank.
    defs: Vec<Def>,
    /// By rank: one past the last value that it dominates.
    ends: Vec<u32>,
    /// By block: the ranks of the values it defines.
    starts: SecondaryMap<Block, RankRange>,
    /// By instruction: the number of ranks assigned before it.
    before: SecondaryMap<Inst, u32>,
}

/// Not yet ranked.
const CAN_MERGE: u32 = 0;

impl Ranks {
    fn of(body: &Body) -> Ranks {
        let dominance = body.dominance();
        let mut ranks = Ranks {
            rank: vec![NONE; body.num_defs()],
            defs: Vec::new(),
            ends: Vec::new(),
            starts: SecondaryMap::with_default(RankRange { start: 0, end: 0 }),
            before: SecondaryMap::with_capacity(body.num_insts()),
        };
        let count = body.blocks().map(|block| ranks.mark(body, block)).sum();
        ranks.defs.reserve_exact(count);
        ranks.ends.reserve_exact(count);
        // Blocks that dominate the current one: their pre-order end, and their ranks.
        let mut open: Vec<(u32, RankRange)> = Vec::new();
        let close = |ends: &mut [u32], own: RankRange, end: u32| ends[own.start as usize..own.end as usize].fill(end);
        for &block in dominance.preorder() {
            let start = ranks.defs.len() as u32;
            while let Some((_, own)) = open.pop_if(|o| o.0 <= dominance.pre_index(block)) {
                close(&mut ranks.ends, own, start);
            }
            let own = ranks.enter(body, block);
            open.push((dominance.subtree_end(block), own));
        }
        let end = ranks.defs.len() as u32;
        for (_, own) in open {
            close(&mut ranks.ends, own, end);
        }
        // Unreachable blocks dominate nothing.
        for block in body.blocks().filter(|&block| !dominance.is_reachable(block)) {
            ranks.enter(body, block);
        }
        ranks
    }

    /// Marks the values of a block that can be merged. Returns the number of newly marked values.
    fn mark(&mut self, body: &Body, block: Block) -> usize {
        let mut count = 0;
        let mut mark = |def: Def| {
            count += usize::from(std::mem::replace(&mut self.rank[def.as_u32() as usize], CAN_MERGE) == NONE);
        };
        for phi in body.phis(block) {
            if let Some(def) = body.inst_def(phi) {
                mark(def);
            }
            for source in body.sources(phi) {
                let value = body.src_def(source);
                if !matches!(body.inst(body.def_inst(value)), InstData::LoadConst { .. } | InstData::Undef) {
                    mark(value);
                }
            }
        }
        count
    }

    /// Gives ranks to the values of a block.
    fn enter(&mut self, body: &Body, block: Block) -> RankRange {
        let start = self.defs.len() as u32;
        for inst in body.insts(block) {
            self.before[inst] = self.defs.len() as u32;
            let copies = body.copies(inst).unwrap_or(&[]).iter().filter_map(|copy| copy.dest.expand());
            for def in body.inst_def(inst).into_iter().chain(copies) {
                let rank = &mut self.rank[def.as_u32() as usize];
                if *rank != NONE {
                    *rank = self.defs.len() as u32;
                    self.defs.push(def);
                }
            }
        }
        self.ends.resize(self.defs.len(), 0);
        let own = RankRange { start, end: self.defs.len() as u32 };
        self.starts[block] = own;
        own
    }
}

/// Disjoint sets of values. Only values that have ranks can be merged.
pub(crate) struct MergeSets {
    /// By value.
    rank: Vec<u32>,
    ranges: LiveRanges,
    rank_sets: RankSets,
    /// By rank: the set; none if the value is alone.
    set_of: Vec<u32>,
    sets: Vec<RankSet>,
    /// Whether a set becomes a register.
    is_web: Vec<bool>,
    /// Pairs of sets that interfere, the lower one first: they still do after they have grown.
    interfering: HashSet<(u32, u32)>,
    /// The cost of all queries.
    steps: Cell<u64>,
}

impl MergeSets {
    pub(crate) fn new(body: &Body) -> Self {
        let ranks = Ranks::of(body);
        let ranges = LiveRanges::of(body, &ranks);
        let Ranks { rank, defs, ends, .. } = ranks;
        MergeSets {
            set_of: vec![NONE; defs.len()],
            rank,
            ranges,
            rank_sets: RankSets::new(ends),
            sets: Vec::new(),
            is_web: Vec::new(),
            interfering: HashSet::new(),
            steps: Cell::new(0),
        }
    }

    fn step(&self) {
        self.steps.set(self.steps.get() + 1);
    }

    /// The number of members and blocks visited.
    #[cfg(test)]
    pub(crate) fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// Drops everything except the sets that become registers.
    pub(crate) fn finish(self) -> Webs {
        let mut number = self.rank;
        for rank in number.iter_mut().filter(|rank| **rank != NONE) {
            let set = self.set_of[*rank as usize];
            *rank = if set != NONE && self.is_web[set as usize] { set } else { NONE };
        }
        Webs { number, count: self.sets.len() }
    }

    fn rank(&self, def: Def) -> Option<u32> {
        self.rank.get(def.as_u32() as usize).copied().filter(|&rank| rank != NONE)
    }

    /// Returns the set of a value, creating one if it is in none.
    fn set(&mut self, rank: u32) -> u32 {
        let set = &mut self.set_of[rank as usize];
        if *set == NONE {
            *set = self.sets.len() as u32;
            self.sets.push(RankSet::List(Members::from_slice(&[rank])));
            self.is_web.push(false);
        }
        *set
    }

    /// The number of values in the set of a value.
    fn len(&self, rank: u32) -> usize {
        self.sets.get(self.set_of[rank as usize] as usize).map_or(1, RankSet::len)
    }

    fn are_together(&self, a: u32, b: u32) -> bool {
        a == b || self.set_of[a as usize] != NONE && self.set_of[a as usize] == self.set_of[b as usize]
    }

    /// Makes the set of a phi's result a register.
    pub(crate) fn make_web(&mut self, def: Def) {
        if let Some(rank) = self.rank(def) {
            let set = self.set(rank);
            self.is_web[set as usize] = true;
        }
    }

    /// Merges the sets of two values if no value of one interferes with a value of the other. Returns whether they are
    /// in one set.
    pub(crate) fn coalesce(&mut self, a: Def, b: Def) -> bool {
        let can_merge = !self.interfere(a, b);
        if can_merge {
            self.merge(a, b);
        }
        can_merge
    }

    /// Merges the sets of two values, which must not interfere and must not be constants.
    fn merge(&mut self, a: Def, b: Def) {
        let (Some(a), Some(b)) = (self.rank(a), self.rank(b)) else { return };
        if self.are_together(a, b) {
            return;
        }
        let (into, from) = if self.len(a) >= self.len(b) { (a, b) } else { (b, a) };
        let into = self.set(into);
        let old = self.set_of[from as usize];
        let mut all = std::mem::replace(&mut self.sets[into as usize], RankSet::List(Members::new()));
        match self.sets.get_mut(old as usize).map(|set| std::mem::replace(set, RankSet::List(Members::new()))) {
            Some(set) => {
                self.is_web[into as usize] |= self.is_web[old as usize];
                let mut members = Members::new();
                self.rank_sets.list(&set, &mut members);
                for rank in members {
                    self.set_of[rank as usize] = into;
                }
                self.rank_sets.append(&mut all, set);
            }
            None => {
                self.set_of[from as usize] = into;
                self.rank_sets.insert(&mut all, from);
            }
        }
        self.sets[into as usize] = all;
    }

    /// Whether a copy between two values cannot be coalesced: the sets of the two interfere, or one of the values
    /// cannot be in a set.
    fn interfere(&mut self, a: Def, b: Def) -> bool {
        let (Some(a), Some(b)) = (self.rank(a), self.rank(b)) else { return true };
        if self.are_together(a, b) {
            return false;
        }
        let (large, small) = if self.len(a) >= self.len(b) { (a, b) } else { (b, a) };
        let (set, other) = (self.set_of[large as usize], self.set_of[small as usize]);
        if set == NONE {
            // Both are singletons.
            let (above, below) = (a.min(b), a.max(b));
            self.step();
            return self.rank_sets.dominates(above, below) && self.ranges.outlives(above, below);
        }
        let pair = (set.min(other), set.max(other));
        if self.interfering.contains(&pair) {
            return true;
        }
        let before = self.steps.get();
        let mut members = Members::new();
        let mut is_list = false;
        match self.sets.get_mut(other as usize) {
            None => members.push(small),
            Some(RankSet::List(list)) => {
                is_list = true;
                std::mem::swap(list, &mut members);
            }
            Some(trie @ RankSet::Trie(..)) => self.rank_sets.list(trie, &mut members),
        }
        let found = members.iter().any(|&rank| self.interferes_with(rank, set));
        if is_list {
            self.sets[other as usize] = RankSet::List(members);
        }
        if found && self.steps.get() - before >= MANY_STEPS {
            let other = self.set(small);
            self.interfering.insert((set.min(other), set.max(other)));
        }
        found
    }

    /// Whether a value interferes with any member of a set that it is not in.
    fn interferes_with(&self, rank: u32, set: u32) -> bool {
        self.step();
        let set = &self.sets[set as usize];
        if self.rank_sets.nearest_dominator(set, rank).is_some_and(|above| self.ranges.outlives(above, rank)) {
            return true;
        }
        let runs = self.ranges.get(rank);
        if set.len() <= runs.len() {
            let mut start = rank;
            while let Some(below) = self.rank_sets.first_from(set, start).filter(|&r| r < self.rank_sets.end(rank)) {
                self.step();
                if self.ranges.outlives(rank, below) {
                    return true;
                }
                // Continue after everything that this one dominates.
                start = self.rank_sets.end(below).max(below + 1);
            }
            return false;
        }
        runs.iter().any(|run| {
            self.step();
            self.rank_sets.first_from(set, run.start.max(rank)).is_some_and(|below| below < run.end)
        })
    }
}
