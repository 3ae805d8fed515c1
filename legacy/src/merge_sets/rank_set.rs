//! Sets of ranks that are asked for neighbours in the order of dominance.
//!
//! Most sets are small: sorted lists. The others are binary tries over all ranks, whose nodes stand in one arena and know how far what is below them dominates. Two tries become one in as
//! many steps as they have nodes in common, which are gone then: n values in sets that merge cost O(n log n) in all, whatever merges with what. A trie is as deep as a rank has bits.

/// Most members of a set that is a sorted list.
const MAX_LIST: usize = 64;

/// No node.
const NONE: u32 = 0;

/// A node of a trie: what is below it exists.
#[derive(Clone, Copy, Default)]
struct Node {
    /// With the next bit clear, and set.
    children: [u32; 2],
    /// One past the last rank that any member below dominates.
    end: u32,
}

/// Ranks.
pub(super) enum RankSet {
    /// Ascending.
    List(Vec<u32>),
    /// Root, and how many there are.
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

/// What all sets have in common: the nodes of the tries, and what each rank dominates.
pub(super) struct RankSets {
    nodes: Vec<Node>,
    /// Bits of a rank.
    bits: u32,
    /// By rank: one past the last rank that it dominates.
    ends: Vec<u32>,
}

impl RankSets {
    pub(super) fn new(ends: Vec<u32>) -> RankSets {
        // The first node is none.
        RankSets { nodes: vec![Node::default()], bits: u32::BITS - (ends.len() as u32).leading_zeros(), ends }
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

    /// Adds the members of a set that has none of the other's.
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

    /// Puts the members behind those of a list, in ascending order.
    pub(super) fn list(&self, set: &RankSet, members: &mut Vec<u32>) {
        match set {
            RankSet::List(list) => members.extend(list),
            RankSet::Trie(root, _) => {
                let mut open = vec![(*root, self.bits, 0u32)];
                while let Some((node, bits, rank)) = open.pop() {
                    let Some(bits) = bits.checked_sub(1) else {
                        members.push(rank);
                        continue;
                    };
                    for bit in [1, 0] {
                        let child = self.nodes[node as usize].children[bit as usize];
                        if child != NONE {
                            open.push((child, bits, rank | bit << bits));
                        }
                    }
                }
            }
        }
    }

    /// The first member from a rank on.
    pub(super) fn first_from(&self, set: &RankSet, rank: u32) -> Option<u32> {
        match set {
            RankSet::List(list) => list.get(list.partition_point(|&r| r < rank)).copied(),
            RankSet::Trie(..) if rank.unbounded_shr(self.bits) != 0 => None,
            RankSet::Trie(root, _) => {
                let behind = |node: u32| self.nodes[node as usize].children[1];
                self.search(*root, rank, 0, |node| Some(behind(node)).filter(|&n| n != NONE), true, |_| true)
            }
        }
    }

    /// The last member before a rank that dominates it.
    pub(super) fn nearest_dominator(&self, set: &RankSet, rank: u32) -> Option<u32> {
        match set {
            RankSet::List(list) => {
                let before = list.partition_point(|&r| r < rank);
                list[..before].iter().rev().copied().find(|&member| self.dominates(member, rank))
            }
            RankSet::Trie(root, _) => {
                let reaches = |node: u32| node != NONE && self.nodes[node as usize].end > rank;
                let before = |node: u32| self.nodes[node as usize].children[0];
                self.search(*root, rank, 1, |node| Some(before(node)).filter(|&n| reaches(n)), false, reaches)
            }
        }
    }

    /// Walks towards a rank and takes the last turning off it: where its bit is `bit`, there may be a way to the other side. From there on to the first, or the last, member
    /// below nodes that are good; every good node has a good child. With `itself` it may be the rank.
    fn search(
        &self,
        root: u32,
        rank: u32,
        bit: u32,
        turning: impl Fn(u32) -> Option<u32>,
        itself: bool,
        is_good: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let (mut node, mut bits) = (root, self.bits);
        let mut off: Option<(u32, u32)> = None;
        while node != NONE && bits > 0 {
            bits -= 1;
            let side = rank >> bits & 1;
            if side == bit
                && let Some(other) = turning(node)
            {
                off = Some((other, bits));
            }
            node = self.nodes[node as usize].children[side as usize];
        }
        if node != NONE && itself {
            return Some(rank);
        }
        let (mut node, mut bits) = off?;
        let mut found = (rank >> bits ^ 1) << bits;
        while bits > 0 {
            bits -= 1;
            let [clear, set] = self.nodes[node as usize].children;
            // First of what is behind, last of what is before.
            let takes_set = if bit == 0 { clear == NONE || !is_good(clear) } else { set != NONE && is_good(set) };
            node = if takes_set { set } else { clear };
            found |= u32::from(takes_set) << bits;
        }
        Some(found)
    }

    fn new_node(&mut self, end: u32) -> u32 {
        self.nodes.push(Node { children: [NONE; 2], end });
        self.nodes.len() as u32 - 1
    }

    /// Adds a rank below a root.
    fn enter(&mut self, root: u32, rank: u32) {
        let end = self.end(rank);
        let mut node = root;
        for bit in (0..self.bits).rev() {
            let here = &mut self.nodes[node as usize];
            here.end = here.end.max(end);
            let side = (rank >> bit & 1) as usize;
            node = match here.children[side] {
                NONE => {
                    let new = self.new_node(end);
                    self.nodes[node as usize].children[side] = new;
                    new
                }
                child => child,
            };
        }
    }

    /// One trie of two: the nodes of the second one are used up.
    fn join(&mut self, a: u32, b: u32) -> u32 {
        let mut open = vec![(a, b)];
        while let Some((into, from)) = open.pop() {
            let Node { children, end } = self.nodes[from as usize];
            self.nodes[into as usize].end = self.nodes[into as usize].end.max(end);
            for (side, child) in children.into_iter().enumerate() {
                match self.nodes[into as usize].children[side] {
                    NONE => self.nodes[into as usize].children[side] = child,
                    other if child != NONE => open.push((other, child)),
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
    use tgsi_ir::run::random::Random;

    /// Runs that lie within each other, as those of dominance do.
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
        for count in [1, 2, 63, 64, 65, 500, 1024] {
            let ends = laminar(count, &mut random);
            let mut sets = RankSets::new(ends.clone());
            // Ranks are dealt to sets, which then become one step by step.
            let mut dealt: Vec<(RankSet, Vec<u32>)> = (0..4).map(|_| (RankSet::List(Vec::new()), Vec::new())).collect();
            for rank in 0..count {
                let (set, members) = &mut dealt[(random.bits() >> 20) as usize % 5 % 4];
                sets.insert(set, rank);
                members.push(rank);
            }
            while let Some((set, mut members)) = dealt.pop() {
                members.sort_unstable();
                let mut listed = Vec::new();
                sets.list(&set, &mut listed);
                assert_eq!(listed, members);
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
                let mut set = RankSet::List(Vec::new());
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
        assert!(sets.nodes.len() < 16 * count as usize, "{}", sets.nodes.len());
    }
}
