//! Sets of ranks with queries for neighbours in dominance order.
//!
//! Most sets are small: sorted lists. The others are binary tries over all ranks. Their nodes are in one arena and
//! record how far the members below them dominate. Merging two tries takes as many steps as they have nodes in common,
//! and these nodes are used up: merging n values costs O(n log n) in total, in any order. The depth of a trie is the
//! number of bits of a rank minus six: its leaves are bit sets.

use smallvec::SmallVec;

/// The maximum number of members of a sorted list.
const MAX_LIST: usize = 64;

/// No node.
const NONE: u32 = 0;

/// The number of low bits of a rank that select a member in a leaf.
const LEAF_BITS: u32 = 6;

/// A node of a trie. Nodes exist only above members.
#[derive(Clone, Copy, Default)]
struct Node {
    /// The children for the next bit clear and set. In a leaf: the members as a bit set, the lower half first.
    children: [u32; 2],
    /// One past the last rank that any member below dominates.
    end: u32,
}

impl Node {
    /// The members of a leaf.
    fn members(&self) -> u64 {
        let [low, high] = self.children;
        u64::from(high) << 32 | u64::from(low)
    }

    /// Adds members to a leaf.
    fn add_members(&mut self, members: u64) {
        let all = self.members() | members;
        self.children = [all as u32, (all >> 32) as u32];
    }
}

/// The kind of neighbour to search for.
#[derive(Clone, Copy, PartialEq)]
enum NeighbourKind {
    /// The first member at or after the rank.
    FirstFrom,
    /// The last member before the rank that dominates it.
    NearestDominator,
}

/// Members of one or more sets. Those of a phi with two sources, plus one to merge with, are stored inline.
pub(super) type Members = SmallVec<[u32; 4]>;

/// A set of ranks.
pub(super) enum RankSet {
    /// Ascending.
    List(Members),
    /// The root, and the number of members.
    Trie(u32, u32),
}

impl RankSet {
    pub(super) fn len(&self) -> usize {
        match self {
            RankSet::List(list) => list.len(),
            RankSet::Trie(_, count) => *count as usize,
        }
    }
}

/// The data shared by all sets: the nodes of the tries, and the end of the range each rank dominates.
pub(super) struct RankSets {
    nodes: Vec<Node>,
    /// Levels above the leaves.
    levels: u32,
    /// By rank: one past the last rank that it dominates.
    ends: Vec<u32>,
}

impl RankSets {
    pub(super) fn new(ends: Vec<u32>) -> RankSets {
        let bits = u32::BITS - (ends.len() as u32).leading_zeros();
        // Index 0 means no node.
        RankSets { nodes: vec![Node::default()], levels: bits.saturating_sub(LEAF_BITS), ends }
    }

    /// One past the last rank that a rank dominates.
    pub(super) fn end(&self, rank: u32) -> u32 {
        self.ends[rank as usize]
    }

    pub(super) fn dominates(&self, a: u32, b: u32) -> bool {
        a <= b && b < self.end(a)
    }

    pub(super) fn insert(&mut self, set: &mut RankSet, rank: u32) {
        match set {
            RankSet::List(list) if list.len() < MAX_LIST => {
                list.insert(list.partition_point(|&r| r < rank), rank);
            }
            RankSet::List(list) => {
                let root = self.new_node(0);
                for &member in list.iter().chain(&[rank]) {
                    self.enter(root, member);
                }
                *set = RankSet::Trie(root, list.len() as u32 + 1);
            }
            RankSet::Trie(root, count) => {
                *count += 1;
                self.enter(*root, rank);
            }
        }
    }

    /// Adds the members of a disjoint set.
    pub(super) fn append(&mut self, into: &mut RankSet, from: RankSet) {
        match (&mut *into, from) {
            (RankSet::Trie(a, count), RankSet::Trie(b, more)) => {
                *count += more;
                *a = self.join(*a, b);
            }
            (_, RankSet::List(list)) => {
                for rank in list {
                    self.insert(into, rank);
                }
            }
            (RankSet::List(list), mut trie @ RankSet::Trie(..)) => {
                for &rank in list.iter() {
                    self.insert(&mut trie, rank);
                }
                *into = trie;
            }
        }
    }

    /// Appends the members to a list, in ascending order.
    pub(super) fn list(&self, set: &RankSet, members: &mut Members) {
        match set {
            RankSet::List(list) => members.extend_from_slice(list),
            RankSet::Trie(root, _) => {
                // Nodes with the number of levels below them, and their path from the root as bits.
                let mut open = vec![(*root, self.levels, 0u32)];
                while let Some((number, levels, path)) = open.pop() {
                    let node = &self.nodes[number as usize];
                    let Some(levels) = levels.checked_sub(1) else {
                        let mut left = node.members();
                        while left != 0 {
                            members.push(path << LEAF_BITS | left.trailing_zeros());
                            left &= left - 1;
                        }
                        continue;
                    };
                    let [clear, set] = node.children;
                    open.extend(
                        [(set, levels, path << 1 | 1), (clear, levels, path << 1)].iter().filter(|n| n.0 != NONE),
                    );
                }
            }
        }
    }

    /// Returns the first member at or after a rank.
    pub(super) fn first_from(&self, set: &RankSet, rank: u32) -> Option<u32> {
        match set {
            RankSet::List(list) => list.get(list.partition_point(|&r| r < rank)).copied(),
            RankSet::Trie(..) if rank.unbounded_shr(self.levels + LEAF_BITS) != 0 => None,
            RankSet::Trie(root, _) => self.search(*root, rank, NeighbourKind::FirstFrom),
        }
    }

    /// Returns the last member before a rank that dominates it.
    pub(super) fn nearest_dominator(&self, set: &RankSet, rank: u32) -> Option<u32> {
        match set {
            RankSet::List(list) => {
                let before = list.partition_point(|&r| r < rank);
                list[..before].iter().rev().copied().find(|&member| self.dominates(member, rank))
            }
            RankSet::Trie(root, _) => self.search(*root, rank, NeighbourKind::NearestDominator),
        }
    }

    /// Descends towards `rank` and remembers the last branch off the path that contains a match; if the leaf has none,
    /// descends from that branch to the nearest matching side. `rank` must have at most as many bits as the trie.
    fn search(&self, root: u32, rank: u32, what: NeighbourKind) -> Option<u32> {
        let node_at = |number: u32| &self.nodes[number as usize];
        // Whether a node matches, or has a match below it.
        let is_good = |number: u32| number != NONE && (what == NeighbourKind::FirstFrom || node_at(number).end > rank);
        // The child bit of the path at which the other child comes later, or earlier.
        let side_of_turning = usize::from(what == NeighbourKind::NearestDominator);
        let (mut number, mut levels) = (root, self.levels);
        let mut turning: Option<(u32, u32)> = None;
        while number != NONE && levels > 0 {
            levels -= 1;
            let side = (rank >> (levels + LEAF_BITS) & 1) as usize;
            let children = node_at(number).children;
            if side == side_of_turning && is_good(children[1 - side]) {
                turning = Some((children[1 - side], levels));
            }
            number = children[side];
        }
        if number != NONE {
            let at = rank & ((1 << LEAF_BITS) - 1);
            let wanted = if what == NeighbourKind::FirstFrom { u64::MAX << at } else { (1 << at) - 1 };
            if let Some(found) = self.search_leaf(node_at(number).members() & wanted, rank - at, rank, what) {
                return Some(found);
            }
        }
        let (mut number, mut levels) = turning?;
        let mut path = rank >> (levels + LEAF_BITS) ^ 1;
        while levels > 0 {
            levels -= 1;
            let children = node_at(number).children;
            let near = side_of_turning;
            let side = if is_good(children[near]) { near } else { 1 - near };
            number = children[side];
            path = path << 1 | side as u32;
        }
        self.search_leaf(node_at(number).members(), path << LEAF_BITS, rank, what)
    }

    /// Searches the members of a leaf; `base` is its first rank.
    fn search_leaf(&self, mut members: u64, base: u32, rank: u32, what: NeighbourKind) -> Option<u32> {
        if what == NeighbourKind::FirstFrom {
            return (members != 0).then(|| base + members.trailing_zeros());
        }
        while let Some(last) = members.checked_ilog2() {
            if self.end(base + last) > rank {
                return Some(base + last);
            }
            members ^= 1 << last;
        }
        None
    }

    fn new_node(&mut self, end: u32) -> u32 {
        self.nodes.push(Node { children: [NONE; 2], end });
        self.nodes.len() as u32 - 1
    }

    /// Adds a rank below a root.
    fn enter(&mut self, root: u32, rank: u32) {
        let end = self.end(rank);
        let mut node = root;
        for level in (0..self.levels).rev() {
            let here = &mut self.nodes[node as usize];
            here.end = here.end.max(end);
            let side = (rank >> (level + LEAF_BITS) & 1) as usize;
            node = match here.children[side] {
                NONE => {
                    let new = self.new_node(end);
                    self.nodes[node as usize].children[side] = new;
                    new
                }
                child => child,
            };
        }
        let leaf = &mut self.nodes[node as usize];
        leaf.end = leaf.end.max(end);
        leaf.add_members(1 << (rank & ((1 << LEAF_BITS) - 1)));
    }

    /// Merges two tries: the nodes of the second one are used up.
    fn join(&mut self, a: u32, b: u32) -> u32 {
        let mut open = vec![(a, b, self.levels)];
        while let Some((into, from, levels)) = open.pop() {
            let from = self.nodes[from as usize];
            let node = &mut self.nodes[into as usize];
            node.end = node.end.max(from.end);
            let Some(levels) = levels.checked_sub(1) else {
                node.add_members(from.members());
                continue;
            };
            for (own, child) in node.children.iter_mut().zip(from.children) {
                match *own {
                    NONE => *own = child,
                    other if child != NONE => open.push((other, child, levels)),
                    _ => {}
                }
            }
        }
        a
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tgsi_environment::Random;

    /// Properly nested runs, like those of dominance.
    fn laminar(count: u32, random: &mut Random) -> Vec<u32> {
        let mut ends = vec![0; count as usize];
        let mut open: Vec<u32> = vec![count];
        for rank in 0..count {
            while open.last().is_some_and(|&end| end <= rank) {
                open.pop();
            }
            let outer = open.last().copied().unwrap_or(count);
            let end = rank + 1 + (random.bits() >> 20) as u32 % (outer - rank);
            ends[rank as usize] = end;
            open.push(end);
        }
        ends
    }

    #[test]
    fn lists_and_tries_answer_what_a_walk_over_all_does() {
        let mut random = Random::new(7);
        for count in [1, 2, 63, 64, 65, 127, 128, 500, 1024, 5000] {
            let ends = laminar(count, &mut random);
            let mut sets = RankSets::new(ends.clone());
            // Deal ranks to sets, then merge these step by step.
            let mut dealt: Vec<(RankSet, Vec<u32>)> =
                (0..4).map(|_| (RankSet::List(Members::new()), Vec::new())).collect();
            for rank in 0..count {
                let (set, members) = &mut dealt[(random.bits() >> 20) as usize % 5 % 4];
                sets.insert(set, rank);
                members.push(rank);
            }
            while let Some((set, mut members)) = dealt.pop() {
                members.sort_unstable();
                let mut listed = Members::new();
                sets.list(&set, &mut listed);
                assert_eq!(listed[..], members[..]);
                assert_eq!(set.len(), members.len());
                for rank in 0..count {
                    let first = members.iter().copied().find(|&m| m >= rank);
                    assert_eq!(sets.first_from(&set, rank), first, "{rank} of {count}");
                    let above = members.iter().rev().copied().find(|&m| m < rank && ends[m as usize] > rank);
                    assert_eq!(sets.nearest_dominator(&set, rank), above, "{rank} of {count}");
                }
                assert_eq!(sets.first_from(&set, count), None);
                if let Some((into, all)) = dealt.last_mut() {
                    sets.append(into, set);
                    all.extend(members);
                }
            }
        }
    }

    #[test]
    fn merging_costs_nodes_that_are_gone_then() {
        let count = 1 << 14;
        let mut sets = RankSets::new((1..=count).collect());
        let mut all: Vec<RankSet> = (0..count)
            .map(|rank| {
                let mut set = RankSet::List(Members::new());
                sets.insert(&mut set, rank.reverse_bits() >> 18);
                set
            })
            .collect();
        while all.len() > 1 {
            let mut rest = all.into_iter();
            all = Vec::new();
            while let Some(mut into) = rest.next() {
                if let Some(from) = rest.next() {
                    sets.append(&mut into, from);
                }
                all.push(into);
            }
        }
        assert_eq!(all[0].len(), count as usize);
        assert!(sets.nodes.len() < 4 * count as usize, "{}", sets.nodes.len());
    }
}
