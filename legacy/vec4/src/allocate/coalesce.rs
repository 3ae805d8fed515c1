//! Merges bundles of temporaries that are copied to each other, if they do not interfere.

use arrayvec::ArrayVec;

use super::super::{Machine, Program, Traits};
use super::segments::count_writes;
use super::{Allocation, Bundle, Move, NONE, Permutation, permutations};

/// The maximum number of segments of a component for which merging is tried.
const MAX_SEGMENTS: u32 = 1024;

/// Merges bundles, copy by copy. With `joins_copies`, skips temporaries for which some copy remains in any case.
pub(super) fn coalesce<M: Machine>(program: &Program<M>, allocation: &mut Allocation, joins_copies: bool) {
    let assembled = joins_copies.then(|| assembled(program));
    let is_assembled = |temp: usize| assembled.as_ref().is_some_and(|assembled| assembled[temp]);
    for Move { copy, to, from } in Move::all(program) {
        if allocation.bundle_of[to] == allocation.bundle_of[from] || is_assembled(to) {
            continue;
        }
        let mut pairs: ArrayVec<(u8, u8), 4> = ArrayVec::new();
        let mut taken = 0u8;
        for (c, component) in copy.components() {
            // A component copied to several others can coincide with only one of them.
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
    // A scheduler has less freedom to move values that share a register.
    if let Some(assembled) = assembled.filter(|_| allocation.sources.is_none()) {
        gather_parts(program, allocation, &assembled);
    }
}

/// Merges the temporaries from which a vector is assembled into one register, so that one operand reads them.
fn gather_parts<M: Machine>(program: &Program<M>, allocation: &mut Allocation, assembled: &[bool]) {
    let mut parts: Vec<Option<usize>> = vec![None; program.temps()];
    for access in program.access.iter().filter(|access| access.traits.any(Traits::COPY)) {
        let Some(to) = access.written().and_then(|w| w.temp()).filter(|&temp| assembled[temp]) else { continue };
        for from in access.reads().iter().filter_map(|read| read.temp()) {
            match parts[to] {
                Some(part) => {
                    allocation.merge(part, from, &[]);
                }
                None => parts[to] = Some(from),
            }
        }
    }
}

/// The temporaries with components that are copies of something other than components of temporaries. Excludes those
/// written more than once, after branches and in loops.
fn assembled<M: Machine>(program: &Program<M>) -> Vec<bool> {
    let mut assembled = vec![false; program.temps()];
    let writes = count_writes(program, &[]);
    for (access, instruction) in program.access.iter().zip(&program.instructions) {
        if access.traits.any(Traits::COPY)
            && let Some(written) = access.written()
            && let Some(temp) = written.temp()
            && writes[temp].are_one(written.mask())
        {
            let copy = program.machine.register_copy(instruction, program.first_temp());
            assembled[temp] |= copy.is_none_or(|copy| copy.saturates || copy.from.as_temp().is_none());
        }
    }
    assembled
}

/// A cache of the position pairs of two bundles that interfere.
struct Conflicts {
    bundles: (usize, usize),
    known: u16,
    found: u16,
}

impl Conflicts {
    fn between(&mut self, allocation: &Allocation, x: &Bundle, y: &Bundle, i: usize, k: usize) -> bool {
        let bit = 1 << (4 * i + k);
        if self.known & bit == 0 {
            self.known |= bit;
            if allocation.segments.interfere(x.positions[i], y.positions[k])
                || allocation.writes_again(self.bundles, (i, k))
            {
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
        let mut conflicts = Conflicts { bundles: (a, b), known: 0, found: 0 };
        // Permute the components of one bundle, or else of the other.
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

    /// Merges bundle `b` into `a` with its positions permuted.
    fn join(&mut self, a: usize, b: usize, p: Permutation) {
        let writers = self.joint_writers(a, b, p);
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
        into.writers = writers;
        into.freedom = into.freedom.and(freedom);
        self.next_member[into.members.1 as usize] = members.0;
        into.members.1 = members.1;
    }
}
