//! Assigns registers and final positions to bundles.

use super::super::Reg;
use super::segments::Segments;
use super::{Allocation, IDENTITY, NONE, Permutation, permutations};

/// Longer lists are added by one sort instead of single insertions.
const SHORT: usize = 8;

/// The occupied ranges of a component of a register from now on: disjoint, in descending order, so that the next one is
/// at the end.
type OccupiedRanges = Vec<(u32, u32)>;

/// A register shared by bundles.
#[derive(Default)]
struct Shared {
    taken: [OccupiedRanges; 4],
    /// Element `n - 1`: the point before which no `n` components are free.
    free_from: [u32; 4],
}

impl Shared {
    /// Drops past ranges. Returns whether `wanted` components are free at `now`. If not, caches the point from which
    /// they can be, so that thousands of values live at once are not compared with each other.
    fn advance(&mut self, now: u32, wanted: usize) -> bool {
        if self.free_from[wanted - 1] > now {
            return false;
        }
        let (mut next, mut free) = ([now; 4], 0);
        for (next, taken) in next.iter_mut().zip(&mut self.taken) {
            while taken.last().is_some_and(|t| t.1 <= now) {
                taken.pop();
            }
            match taken.last() {
                Some(t) if t.0 <= now => *next = t.1,
                _ => free += 1,
            }
        }
        if free >= wanted {
            return true;
        }
        for end in 1..next.len() {
            for at in (1..=end).rev() {
                if next[at - 1] > next[at] {
                    next.swap(at - 1, at);
                }
            }
        }
        self.free_from = next;
        false
    }

    /// Finds a permutation with which all lists fit.
    fn permutation(&self, segments: &Segments, lists: &[u32; 4], allowed: &[Permutation]) -> Option<Permutation> {
        let mut room = [0xfu8; 4];
        for (room, &list) in room.iter_mut().zip(lists) {
            if list == NONE {
                continue;
            }
            for (position, taken) in self.taken.iter().enumerate() {
                if !has_room(taken, segments, list) {
                    *room &= !(1 << position);
                }
            }
            if *room == 0 {
                return None;
            }
        }
        allowed.iter().find(|p| (0..4).all(|k| room[k] & 1 << p[k] != 0)).copied()
    }

    /// Marks the segments of a list as occupied.
    fn take(&mut self, position: u8, segments: &Segments, list: u32, union: &mut OccupiedRanges) {
        // Segments of one value may overlap: use their union.
        union.clear();
        for s in segments.iter(list) {
            match union.last_mut() {
                Some((_, end)) if s.start <= *end => *end = (*end).max(s.end),
                _ => union.push((s.start, s.end)),
            }
        }
        let taken = &mut self.taken[usize::from(position)];
        if union.len() > SHORT {
            taken.extend(union.iter().rev());
            taken.sort_by_key(|t| std::cmp::Reverse(t.0));
            return;
        }
        for &stretch in union.iter() {
            let earlier = taken.iter().rev().take_while(|t| t.0 < stretch.0).count();
            taken.insert(taken.len() - earlier, stretch);
        }
    }
}

fn has_room(taken: &OccupiedRanges, segments: &Segments, list: u32) -> bool {
    let mut next = taken.iter().rev().peekable();
    segments.iter(list).all(|s| {
        while next.next_if(|t| t.1 <= s.start).is_some() {}
        next.peek().is_none_or(|t| t.0 >= s.end)
    })
}

/// Assigns a register and final positions to every bundle that is not an output; returns the number of registers.
pub(super) fn assign(allocation: &mut Allocation, pack: bool) -> u32 {
    let Allocation { segments, bundles, .. } = &*allocation;
    let first_start = |lists: &[u32; 4]| lists.iter().filter_map(|&list| segments.start(list)).min();
    let mut order: Vec<(u32, u32)> = Vec::with_capacity(bundles.len());
    for (number, bundle) in bundles.iter().enumerate().filter(|(_, b)| b.output.is_none()) {
        if let Some(start) = first_start(&bundle.positions) {
            order.push((start, number as u32));
        }
    }
    order.sort_unstable();
    let mut registers: Vec<Shared> = Vec::new();
    let mut count = 0;
    let mut result: Vec<(u32, Permutation)> = vec![(0, IDENTITY); bundles.len()];
    let mut union = OccupiedRanges::new();
    for (now, number) in order {
        let bundle = &bundles[number as usize];
        if !pack {
            result[number as usize].0 = count;
            count += 1;
            continue;
        }
        let allowed = permutations(bundle.freedom);
        let wanted = bundle.positions.iter().filter(|&&list| segments.start(list) == Some(now)).count();
        let found = registers.iter_mut().enumerate().find_map(|(register, shared)| {
            if !shared.advance(now, wanted) {
                return None;
            }
            shared.permutation(segments, &bundle.positions, allowed).map(|p| (register, p))
        });
        let (register, permutation) = found.unwrap_or_else(|| {
            registers.push(Shared::default());
            count += 1;
            (registers.len() - 1, IDENTITY)
        });
        for (&list, &position) in bundle.positions.iter().zip(&permutation).filter(|(list, _)| **list != NONE) {
            registers[register].take(position, segments, list, &mut union);
        }
        result[number as usize] = (register as u32, permutation);
    }
    for (number, (register, permutation)) in result.into_iter().enumerate() {
        let register = allocation.bundles[number].output.unwrap_or(Reg::temp(register));
        if permutation != IDENTITY {
            allocation.permute_members(number, permutation);
        }
        let mut member = allocation.bundles[number].members.0;
        while member != NONE {
            allocation.register_of[member as usize] = register;
            member = allocation.next_member[member as usize];
        }
    }
    count
}
