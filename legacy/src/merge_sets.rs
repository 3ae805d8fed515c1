//! Sets of values that will share a register, and the question whether two of them may become one.
//!
//! The values of a set do not interfere with each other: no two are live at once. Whether those of a union would not either is decided, after Boissinot et al., by
//! looking at each value and the nearest value of the union that dominates it: a value that lives past another one lives past everything between them.
//!
//! Values have *ranks*, in dominance order (blocks in pre-order of the dominator tree, instructions in order), in which everything that a value dominates stands
//! in one run behind it. A set is kept by rank, and each value knows the nearest value of its set that dominates it. So the smaller of two sets is looked up in the
//! larger one, and joining n values costs O(n log² n) for all merges together, however long the chains of phis are.

use std::collections::BTreeSet;

use tgsi_ir::analysis::Liveness;
use tgsi_ir::{Block, Body, Def, InstData};

/// No set, no value.
const NONE: u32 = u32::MAX;

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
}

impl Ranks {
    fn of(body: &Body) -> Ranks {
        let dominance = body.dominance();
        let count = body.num_defs();
        let mut ranks =
            Ranks { rank: vec![0; count], defs: Vec::with_capacity(count), ends: Vec::with_capacity(count) };
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
        for inst in body.insts(block) {
            let copies = body.copies(inst).unwrap_or(&[]).iter().filter_map(|copy| copy.dest.expand());
            for def in body.inst_def(inst).into_iter().chain(copies) {
                self.rank[def.as_u32() as usize] = self.defs.len() as u32;
                self.defs.push(def);
            }
        }
        self.ends.resize(self.defs.len(), 0);
    }

    fn get(&self, def: Def) -> u32 {
        self.rank.get(def.as_u32() as usize).copied().unwrap_or(0)
    }

    fn dominates(&self, a: u32, b: u32) -> bool {
        a <= b && b < self.ends[a as usize]
    }
}

/// Members that a new set has room for: those of a phi with two sources, and one to merge with.
const FIRST_MEMBERS: usize = 4;

/// Most members of a set that is a sorted list.
const MAX_LIST: usize = 64;

/// Ranks in ascending order: most sets are small.
enum RankSet {
    List(Vec<u32>),
    Tree(BTreeSet<u32>),
}

impl RankSet {
    fn len(&self) -> usize {
        match self {
            RankSet::List(list) => list.len(),
            RankSet::Tree(tree) => tree.len(),
        }
    }

    fn insert(&mut self, rank: u32) {
        match self {
            RankSet::List(list) if list.len() < MAX_LIST => {
                list.insert(list.partition_point(|&r| r < rank), rank);
            }
            RankSet::List(list) => {
                let mut tree: BTreeSet<u32> = list.drain(..).collect();
                tree.insert(rank);
                *self = RankSet::Tree(tree);
            }
            RankSet::Tree(tree) => {
                tree.insert(rank);
            }
        }
    }

    /// Calls something for each until it says that it holds.
    fn any(&self, mut f: impl FnMut(u32) -> bool) -> bool {
        match self {
            RankSet::List(list) => list.iter().any(|&rank| f(rank)),
            RankSet::Tree(tree) => tree.iter().any(|&rank| f(rank)),
        }
    }

    fn last_before(&self, rank: u32) -> Option<u32> {
        match self {
            RankSet::List(list) => list.partition_point(|&r| r < rank).checked_sub(1).map(|place| list[place]),
            RankSet::Tree(tree) => tree.range(..rank).next_back().copied(),
        }
    }

    fn first_from(&self, rank: u32) -> Option<u32> {
        match self {
            RankSet::List(list) => list.get(list.partition_point(|&r| r < rank)).copied(),
            RankSet::Tree(tree) => tree.range(rank..).next().copied(),
        }
    }
}

/// The values of a set by rank.
enum Members<'a> {
    One(u32),
    Many(&'a RankSet),
}

impl Members<'_> {
    fn len(&self) -> usize {
        match self {
            Members::One(_) => 1,
            Members::Many(set) => set.len(),
        }
    }

    fn last_before(&self, rank: u32) -> Option<u32> {
        match self {
            Members::One(one) => Some(*one).filter(|&one| one < rank),
            Members::Many(set) => set.last_before(rank),
        }
    }

    fn first_from(&self, rank: u32) -> Option<u32> {
        match self {
            Members::One(one) => Some(*one).filter(|&one| one >= rank),
            Members::Many(set) => set.first_from(rank),
        }
    }

    /// Whether something holds for any.
    fn any(&self, mut f: impl FnMut(u32) -> bool) -> bool {
        match self {
            Members::One(one) => f(*one),
            Members::Many(set) => set.any(f),
        }
    }
}

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
pub(crate) struct MergeSets<'a> {
    body: &'a Body,
    /// Of the values that can be in a set.
    liveness: Liveness,
    ranks: Ranks,
    /// By rank: the set; none if the value is alone.
    set_of: Vec<u32>,
    sets: Vec<RankSet>,
    /// Whether a set becomes a register.
    is_web: Vec<bool>,
    /// By rank: the nearest value of the same set that dominates a value.
    parent: Vec<u32>,
}

impl<'a> MergeSets<'a> {
    pub(crate) fn new(body: &'a Body) -> Self {
        let ranks = Ranks::of(body);
        let count = ranks.defs.len();
        MergeSets {
            body,
            liveness: Liveness::of_values(body, |def| can_merge(body, def)),
            ranks,
            set_of: vec![NONE; count],
            sets: Vec::new(),
            is_web: Vec::new(),
            parent: vec![NONE; count],
        }
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

    fn members(&self, rank: u32) -> Members<'_> {
        match self.sets.get(self.set_of[rank as usize] as usize) {
            Some(set) => Members::Many(set),
            None => Members::One(rank),
        }
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

    /// The set of this value becomes a register.
    pub(crate) fn make_web(&mut self, def: Def) {
        let set = self.set(self.ranks.get(def));
        self.is_web[set as usize] = true;
    }

    /// Joins the sets of two values, which must not interfere.
    pub(crate) fn merge(&mut self, a: Def, b: Def) {
        let (a, b) = (self.ranks.get(a), self.ranks.get(b));
        if a == b || self.set_of[a as usize] != NONE && self.set_of[a as usize] == self.set_of[b as usize] {
            return;
        }
        let (into, from) = if self.members(a).len() >= self.members(b).len() { (a, b) } else { (b, a) };
        let into = self.set(into);
        let empty = RankSet::List(Vec::new());
        match self.sets.get_mut(self.set_of[from as usize] as usize).map(|set| std::mem::replace(set, empty)) {
            Some(all) => {
                self.is_web[into as usize] |= self.is_web[self.set_of[from as usize] as usize];
                all.any(|rank| {
                    self.insert(into, rank);
                    false
                });
            }
            None => self.insert(into, from),
        }
    }

    fn insert(&mut self, set: u32, rank: u32) {
        let members = Members::Many(&self.sets[set as usize]);
        let mut start = rank;
        while let Some(below) = nearest_dominated(&self.ranks, &members, rank, &mut start) {
            self.parent[below as usize] = rank;
        }
        self.parent[rank as usize] = self.nearest_dominator(&members, rank).unwrap_or(NONE);
        self.set_of[rank as usize] = set;
        self.sets[set as usize].insert(rank);
    }

    /// Whether a value of one's set interferes with a value of the other's.
    pub(crate) fn interfere(&self, a: Def, b: Def) -> bool {
        let (a, b) = (self.ranks.get(a), self.ranks.get(b));
        if a == b || self.set_of[a as usize] != NONE && self.set_of[a as usize] == self.set_of[b as usize] {
            return false;
        }
        let (x, y) = (self.members(a), self.members(b));
        let (large, small) = if x.len() >= y.len() { (x, y) } else { (y, x) };
        small.any(|rank| {
            let above = self.nearest_dominator(&large, rank).filter(|&above| {
                // Behind a nearer value of its own set it has been asked about already.
                let own = self.parent[rank as usize];
                own == NONE || own < above
            });
            if above.is_some_and(|above| self.values_interfere(above, rank)) {
                return true;
            }
            let mut start = rank;
            while let Some(below) = nearest_dominated(&self.ranks, &large, rank, &mut start) {
                if self.values_interfere(rank, below) {
                    return true;
                }
            }
            false
        })
    }

    /// The nearest value of a set that dominates one that is not in it.
    fn nearest_dominator(&self, set: &Members<'_>, rank: u32) -> Option<u32> {
        // What stands right before it is either the one, or dominated by it.
        let mut candidate = set.last_before(rank)?;
        while !self.ranks.dominates(candidate, rank) {
            candidate = self.parent[candidate as usize];
            if candidate == NONE {
                return None;
            }
        }
        Some(candidate)
    }

    /// Whether two values, of which `a` dominates `b`, hold different things at the same time.
    fn values_interfere(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.ranks.defs[a as usize], self.ranks.defs[b as usize]);
        let (x, y) = (self.body.def_inst(a), self.body.def_inst(b));
        x == y || self.liveness.is_live_after(self.body, a, y)
    }
}

/// The values of a set that a value, which is not in it, dominates with none of them in between, one after the other.
fn nearest_dominated(ranks: &Ranks, set: &Members<'_>, rank: u32, start: &mut u32) -> Option<u32> {
    let below = set.first_from(*start)?;
    if below >= ranks.ends[rank as usize] {
        return None;
    }
    // On behind everything that this one dominates.
    *start = ranks.ends[below as usize].max(below + 1);
    Some(below)
}
