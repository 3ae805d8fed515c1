//! Bundles of temporaries that are copied to each other become one where nothing is in the way.

use arrayvec::ArrayVec;

use super::super::{Machine, Program};
use super::{Allocation, Bundle, Move, NONE, Permutation, permutations};

/// Most segments of a component for which merging is tried.
const MAX_SEGMENTS: u32 = 1024;

/// Merges bundles, copy by copy.
pub(super) fn coalesce<M: Machine>(program: &Program<M>, allocation: &mut Allocation) {
    for Move { copy, to, from } in Move::all(program) {
        if allocation.bundle_of[to] == allocation.bundle_of[from] {
            continue;
        }
        let mut pairs: ArrayVec<(u8, u8), 4> = ArrayVec::new();
        let mut taken = 0u8;
        for (c, component) in copy.components() {
            // A component that goes to several others can only coincide with one of them.
            if taken & 1 << component == 0 {
                taken |= 1 << component;
                pairs.push((allocation.position_of[to][c], allocation.position_of[from][component]));
            }
        }
        if !allocation.merge(to, from, &pairs) && pairs.len() > 1 {
            for pair in pairs {
                if allocation.merge(to, from, &[pair]) {
                    break;
                }
            }
        }
    }
}

/// The positions of two bundles that interfere, as far as was asked.
struct Conflicts {
    known: u16,
    found: u16,
}

impl Conflicts {
    fn between(&mut self, allocation: &Allocation, x: &Bundle, y: &Bundle, i: usize, k: usize) -> bool {
        let bit = 1 << (4 * i + k);
        if self.known & bit == 0 {
            self.known |= bit;
            if allocation.segments.interfere(x.positions[i], y.positions[k]) {
                self.found |= bit;
            }
        }
        self.found & bit != 0
    }
}

impl Allocation {
    /// Merges the bundles of two temporaries so that positions of the second coincide with positions of the first.
    fn merge(&mut self, to: usize, from: usize, pairs: &[(u8, u8)]) -> bool {
        let (a, b) = (self.bundle_of[to] as usize, self.bundle_of[from] as usize);
        if a == b {
            return false;
        }
        let (x, y) = (&self.bundles[a], &self.bundles[b]);
        if x.counts.iter().chain(&y.counts).any(|&count| count > MAX_SEGMENTS) {
            return false;
        }
        let mut conflicts = Conflicts { known: 0, found: 0 };
        // Move the components of one bundle, or failing that of the other.
        let found = permutations(y.freedom).iter().find(|p| {
            pairs.iter().all(|&(t, f)| p[usize::from(f)] == t)
                && (0..4).all(|k| !conflicts.between(self, x, y, usize::from(p[k]), k))
        });
        if let Some(&p) = found {
            self.join(a, b, p);
            return true;
        }
        let found = permutations(x.freedom).iter().find(|p| {
            pairs.iter().all(|&(t, f)| p[usize::from(t)] == f)
                && (0..4).all(|k| !conflicts.between(self, x, y, k, usize::from(p[k])))
        });
        if let Some(&p) = found {
            self.join(b, a, p);
            return true;
        }
        false
    }

    /// Puts bundle `b` into `a` with its positions moved.
    fn join(&mut self, a: usize, b: usize, p: Permutation) {
        self.permute_members(b, p);
        let mut member = self.bundles[b].members.0;
        while member != NONE {
            self.bundle_of[member as usize] = a as u32;
            member = self.next_member[member as usize];
        }
        let moved = &mut self.bundles[b];
        let positions = std::mem::replace(&mut moved.positions, [NONE; 4]);
        let members = std::mem::replace(&mut moved.members, (NONE, NONE));
        let freedom = moved.freedom;
        let into = &mut self.bundles[a];
        for (k, list) in positions.into_iter().enumerate().filter(|(_, list)| *list != NONE) {
            let k = usize::from(p[k]);
            (into.positions[k], into.counts[k]) = self.segments.unite(into.positions[k], list);
        }
        into.freedom = into.freedom.and(freedom);
        self.next_member[into.members.1 as usize] = members.0;
        into.members.1 = members.1;
    }
}
