//! Sets of values that will share a register, and the question whether two of them may become one.
//!
//! The values of a set do not interfere with each other: no two are live at once. Whether those of a union would not either is decided, after Boissinot et al., by
//! looking at each value and the nearest value of the union that dominates it: a value that lives past another one lives past everything between them.
//!
//! Values have *ranks*, in dominance order (blocks in pre-order of the dominator tree, instructions in order), in which everything that a value dominates stands
//! in one run behind it. A set is kept by rank ([`rank_set`]). The smaller of two sets is looked up in the larger one: for each value the nearest one that dominates it, and the
//! nearest ones that it dominates; where those are more than the blocks that the value is live in ([`live_ranges`]), the first one in each of these blocks says all. As the values of a
//! set are live in places of their own, a question costs no more than the body has blocks and the smaller set values, and mostly far less; what was costly to find out is noted.

mod live_ranges;
mod rank_set;

use std::cell::Cell;
use std::collections::HashSet;

use tgsi_ir::{Block, Body, Def, InstData};

use live_ranges::LiveRanges;
use rank_set::{RankSet, RankSets};

/// No set, no value.
const NONE: u32 = u32::MAX;

/// Steps from which on it is noted that two sets interfere.
const MANY_STEPS: u64 = 64;

/// The sets that become registers.
pub(crate) struct Webs {
    /// Number of the set of each value.
    number: Vec<u32>,
    /// How many sets there are.
    pub(crate) count: usize,
}

impl Webs {
    /// The set of a value, if it becomes a register.
    pub(crate) fn get(&self, def: Def) -> Option<usize> {
        self.number.get(def.as_u32() as usize).copied().filter(|&n| n != NONE).map(|n| n as usize)
    }
}

/// Values in the order of dominance.
struct Ranks {
    /// By value.
    rank: Vec<u32>,
    /// By rank.
    defs: Vec<Def>,
    /// By rank: one past the last value that it dominates.
    ends: Vec<u32>,
    /// By rank: number of the block.
    block: Vec<u32>,
    /// By rank: number of the instruction. Those of a later block are greater.
    place: Vec<u32>,
    /// Blocks by number, in the order of dominance, what is never run last.
    blocks: Vec<Block>,
    /// By number of the block, one more at the end: the first rank, and the number before that of the first instruction.
    starts: Vec<u32>,
    places: Vec<u32>,
}

impl Ranks {
    fn of(body: &Body) -> Ranks {
        let dominance = body.dominance();
        let count = body.num_defs();
        let mut ranks = Ranks {
            rank: vec![0; count],
            defs: Vec::with_capacity(count),
            ends: Vec::with_capacity(count),
            block: Vec::with_capacity(count),
            place: Vec::with_capacity(count),
            blocks: Vec::new(),
            starts: vec![0],
            places: vec![0],
        };
        // Blocks that dominate the one at hand: end in pre-order, first rank, first rank behind the block.
        let mut open: Vec<(u32, u32, u32)> = Vec::new();
        for &block in dominance.preorder() {
            let start = ranks.defs.len() as u32;
            while let Some((_, from, to)) = open.pop_if(|o| o.0 <= dominance.pre_index(block)) {
                ranks.ends[from as usize..to as usize].fill(start);
            }
            ranks.enter(body, block);
            open.push((dominance.subtree_end(block), start, ranks.defs.len() as u32));
        }
        let end = ranks.defs.len() as u32;
        for (_, from, to) in open {
            ranks.ends[from as usize..to as usize].fill(end);
        }
        // What is never run dominates nothing.
        for block in body.blocks().filter(|&block| !dominance.is_reachable(block)) {
            ranks.enter(body, block);
        }
        ranks
    }

    /// Gives ranks to the values of a block.
    fn enter(&mut self, body: &Body, block: Block) {
        let number = self.blocks.len() as u32;
        let mut place = self.places.last().copied().unwrap_or(0);
        for inst in body.insts(block) {
            place += 1;
            let copies = body.copies(inst).unwrap_or(&[]).iter().filter_map(|copy| copy.dest.expand());
            for def in body.inst_def(inst).into_iter().chain(copies) {
                self.rank[def.as_u32() as usize] = self.defs.len() as u32;
                self.defs.push(def);
                self.block.push(number);
                self.place.push(place);
            }
        }
        self.blocks.push(block);
        self.ends.resize(self.defs.len(), 0);
        self.starts.push(self.defs.len() as u32);
        // The condition of an `if` is read behind all of the block.
        self.places.push(place + 1);
    }

    fn get(&self, def: Def) -> u32 {
        self.rank.get(def.as_u32() as usize).copied().unwrap_or(0)
    }
}

/// Members that a new set has room for: those of a phi with two sources, and one to merge with.
const FIRST_MEMBERS: usize = 4;

/// Whether a value can be in a set with others: it is made or read by a parallel copy or a phi. A constant cannot be made in a register: it is stored.
fn can_merge(body: &Body, def: Def) -> bool {
    let merges = |inst| matches!(body.inst(inst), InstData::ParallelCopy(_) | InstData::Phi);
    match body.inst(body.def_inst(def)) {
        InstData::LoadConst { .. } => false,
        InstData::ParallelCopy(_) | InstData::Phi => true,
        _ => body.uses_of(def).any(|source| body.user(source).inst().is_some_and(merges)),
    }
}

/// Disjoint sets of values. Only values that are made or read by parallel copies and phis may be merged, and no constants.
pub(crate) struct MergeSets {
    ranks: Ranks,
    ranges: LiveRanges,
    rank_sets: RankSets,
    /// By rank: the set; none if the value is alone.
    set_of: Vec<u32>,
    sets: Vec<RankSet>,
    /// Whether a set becomes a register.
    is_web: Vec<bool>,
    /// Pairs of sets that interfere, the lower one first: they still do when they have grown.
    interfering: HashSet<(u32, u32)>,
    /// What all questions have cost.
    steps: Cell<u64>,
}

impl MergeSets {
    pub(crate) fn new(body: &Body) -> Self {
        let mut ranks = Ranks::of(body);
        let count = ranks.defs.len();
        MergeSets {
            ranges: LiveRanges::of(body, &ranks),
            rank_sets: RankSets::new(std::mem::take(&mut ranks.ends)),
            ranks,
            set_of: vec![NONE; count],
            sets: Vec::new(),
            is_web: Vec::new(),
            interfering: HashSet::new(),
            steps: Cell::new(0),
        }
    }

    fn step(&self) {
        self.steps.set(self.steps.get() + 1);
    }

    /// How many members and blocks have been looked at.
    #[cfg(test)]
    pub(crate) fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// Forgets everything but the sets that become registers.
    pub(crate) fn finish(self) -> Webs {
        let mut number = vec![NONE; self.ranks.rank.len()];
        for (&def, &set) in self.ranks.defs.iter().zip(&self.set_of) {
            if set != NONE && self.is_web[set as usize] {
                number[def.as_u32() as usize] = set;
            }
        }
        Webs { number, count: self.sets.len() }
    }

    /// The set of a value; a new one if it is in none.
    fn set(&mut self, rank: u32) -> u32 {
        let set = &mut self.set_of[rank as usize];
        if *set == NONE {
            *set = self.sets.len() as u32;
            let mut list = Vec::with_capacity(FIRST_MEMBERS);
            list.push(rank);
            self.sets.push(RankSet::List(list));
            self.is_web.push(false);
        }
        *set
    }

    /// How many values are in the set of a value.
    fn len(&self, rank: u32) -> usize {
        self.sets.get(self.set_of[rank as usize] as usize).map_or(1, RankSet::len)
    }

    fn are_together(&self, a: u32, b: u32) -> bool {
        a == b || self.set_of[a as usize] != NONE && self.set_of[a as usize] == self.set_of[b as usize]
    }

    /// The set of this value becomes a register.
    pub(crate) fn make_web(&mut self, def: Def) {
        let set = self.set(self.ranks.get(def));
        self.is_web[set as usize] = true;
    }

    /// Joins the sets of two values, which must not interfere.
    pub(crate) fn merge(&mut self, a: Def, b: Def) {
        let (a, b) = (self.ranks.get(a), self.ranks.get(b));
        if self.are_together(a, b) {
            return;
        }
        let (into, from) = if self.len(a) >= self.len(b) { (a, b) } else { (b, a) };
        let into = self.set(into);
        let old = self.set_of[from as usize];
        let mut all = std::mem::replace(&mut self.sets[into as usize], RankSet::List(Vec::new()));
        match self.sets.get_mut(old as usize).map(|set| std::mem::replace(set, RankSet::List(Vec::new()))) {
            Some(set) => {
                self.is_web[into as usize] |= self.is_web[old as usize];
                let mut members = Vec::new();
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

    /// Whether a value of one's set interferes with a value of the other's.
    pub(crate) fn interfere(&mut self, a: Def, b: Def) -> bool {
        let (a, b) = (self.ranks.get(a), self.ranks.get(b));
        if self.are_together(a, b) {
            return false;
        }
        let (large, small) = if self.len(a) >= self.len(b) { (a, b) } else { (b, a) };
        // Whoever is alone may as well be in a set of its own.
        let (large, small) = (self.set(large), self.set(small));
        let pair = (large.min(small), large.max(small));
        if self.interfering.contains(&pair) {
            return true;
        }
        let before = self.steps.get();
        let mut members = Vec::new();
        let is_list = match &mut self.sets[small as usize] {
            RankSet::List(list) => {
                std::mem::swap(list, &mut members);
                true
            }
            trie @ RankSet::Trie(..) => {
                self.rank_sets.list(trie, &mut members);
                false
            }
        };
        let found = members.iter().any(|&rank| self.interferes_with(rank, large));
        if is_list {
            self.sets[small as usize] = RankSet::List(members);
        }
        if found && self.steps.get() - before >= MANY_STEPS {
            self.interfering.insert(pair);
        }
        found
    }

    /// Whether a value interferes with any of a set that it is not in.
    fn interferes_with(&self, rank: u32, set: u32) -> bool {
        self.step();
        let set = &self.sets[set as usize];
        if self.rank_sets.nearest_dominator(set, rank).is_some_and(|above| self.values_interfere(above, rank)) {
            return true;
        }
        let stretches = self.ranges.get(rank);
        if set.len() <= stretches.len() {
            let mut start = rank;
            while let Some(below) = self.rank_sets.first_from(set, start).filter(|&r| r < self.rank_sets.end(rank)) {
                self.step();
                if self.values_interfere(rank, below) {
                    return true;
                }
                // On behind everything that this one dominates.
                start = self.rank_sets.end(below).max(below + 1);
            }
            return false;
        }
        stretches.iter().any(|stretch| {
            self.step();
            let start = self.ranks.starts[stretch.block as usize].max(rank);
            let behind = self.ranks.starts[stretch.block as usize + 1].min(self.rank_sets.end(rank));
            // Those behind the first one in the block come too late if that does.
            self.rank_sets.first_from(set, start).filter(|&below| below < behind).is_some_and(|below| {
                let place = self.ranks.place[below as usize];
                place == self.ranks.place[rank as usize] || stretch.is_live_after(place)
            })
        })
    }

    /// Whether two values, of which `a` dominates `b`, hold different things at the same time.
    fn values_interfere(&self, a: u32, b: u32) -> bool {
        let (block, place) = (self.ranks.block[b as usize], self.ranks.place[b as usize]);
        place == self.ranks.place[a as usize] || self.ranges.is_live_after(a, block, place)
    }
}
