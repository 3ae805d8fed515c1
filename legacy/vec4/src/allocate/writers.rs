//! The only instruction that writes a component of a bundle, if there is just one.
//!
//! A scheduler makes a second write of a component wait for all readers of the first. Copies of one value may still
//! share a component: only the first remains if each of the others copies the value already there.

use super::super::access::AccessCounts;
use super::super::{Machine, Program};
use super::segments::count_writes;
use super::{Allocation, Move, NONE, Permutation};

/// Components by temporary and component, as four times the temporary plus the component.
pub(super) struct Sources(Vec<[u32; 4]>);

impl Sources {
    /// The source of each component written once; the component itself if it is not a copy.
    fn of<M: Machine>(program: &Program<M>, writes: &[AccessCounts]) -> Sources {
        let mut sources: Vec<[u32; 4]> =
            (0..program.temps() as u32).map(|t| [4 * t, 4 * t + 1, 4 * t + 2, 4 * t + 3]).collect();
        for Move { copy, to, from } in Move::all(program) {
            for (c, of) in copy.components() {
                if writes[from].are_one(1 << of) {
                    sources[to][c] = 4 * from as u32 + of as u32;
                }
            }
        }
        Sources(sources)
    }

    /// The temporary and component that a component is a copy of.
    fn source(&self, component: u32) -> (usize, usize) {
        let source = self.0[component as usize / 4][component as usize % 4] as usize;
        (source / 4, source % 4)
    }
}

impl Allocation {
    /// From now on keeps components that are written once in separate positions, unless they are copies of each other.
    pub(super) fn keep_writes_apart<M: Machine>(&mut self, program: &mut Program<M>) {
        let at_start = program.liveness().at_start(program);
        let writes = count_writes(program, &at_start);
        for (temp, bundle) in self.bundles.iter_mut().enumerate() {
            for (c, writer) in bundle.writers.iter_mut().enumerate() {
                if writes[temp].are_one(1 << c) {
                    *writer = (4 * temp + c) as u32;
                }
            }
        }
        self.sources = Some(Sources::of(program, &writes));
    }

    /// Whether merging the given positions of two bundles would write a component twice.
    pub(super) fn writes_again(&self, bundles: (usize, usize), positions: (usize, usize)) -> bool {
        let is_written = |bundle: usize, position: usize| self.bundles[bundle].writers[position] != NONE;
        self.sources.is_some()
            && is_written(bundles.0, positions.0)
            && is_written(bundles.1, positions.1)
            && self.common_writer(bundles, positions) == NONE
    }

    /// The only component that writes the merged position of two bundles; [`NONE`] if there is more than one.
    pub(super) fn common_writer(&self, bundles: (usize, usize), positions: (usize, usize)) -> u32 {
        let writer = |bundle: usize, position: usize| self.bundles[bundle].writers[position];
        let (first, second) = (writer(bundles.0, positions.0), writer(bundles.1, positions.1));
        match &self.sources {
            Some(sources) if first != NONE && second != NONE => {
                let is_copy = |writer: u32, bundle: usize, position: usize| {
                    let (temp, component) = sources.source(writer);
                    self.bundle_of[temp] as usize == bundle
                        && usize::from(self.position_of[temp][component]) == position
                };
                if is_copy(second, bundles.0, positions.0) {
                    first
                } else if is_copy(first, bundles.1, positions.1) {
                    second
                } else {
                    NONE
                }
            }
            _ => NONE,
        }
    }

    /// The writers of bundle `a` after merging `b` with its positions permuted.
    pub(super) fn joint_writers(&self, a: usize, b: usize, p: Permutation) -> [u32; 4] {
        let (into, moved) = (&self.bundles[a], &self.bundles[b]);
        let mut writers = into.writers;
        for (k, to) in p.into_iter().map(usize::from).enumerate().filter(|(k, _)| !moved.is_empty(*k)) {
            let is_alone = into.is_empty(to);
            writers[to] = if is_alone { moved.writers[k] } else { self.common_writer((a, b), (to, k)) };
        }
        writers
    }
}
