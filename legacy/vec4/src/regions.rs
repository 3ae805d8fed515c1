//! Regions of blocks under the same conditions: the program, a branch, the body of a loop.
//!
//! The blocks of a region that are not inside its constructs are its *spine*. Between two blocks of a spine control
//! passes through all that is between them, unless a jump leaves: a register that is not accessed there is live
//! throughout, if it is live afterwards.

use super::blocks::Block;
use super::{Flow, Machine, Program};

const NONE: u32 = u32::MAX;

struct Region {
    parent: u32,
    depth: u32,
    /// A skip link to an ancestor: following these where they do not lead too far, and the parents otherwise, reaches
    /// any ancestor in O(log depth) steps.
    far: u32,
    /// The block of the parent's spine after the construct.
    join: u32,
}

/// The regions of a program.
pub(super) struct Regions {
    regions: Vec<Region>,
    /// By block: the region, and the last block of the spine so far that has predecessors outside the spine: the first
    /// block, and those after jumps and after constructs that jumps leave.
    of_block: Vec<(u32, u32)>,
}

/// An open construct.
struct OpenConstruct {
    is_loop: bool,
    /// Its regions: one for a loop, two for a branch.
    regions: [Option<u32>; 2],
    /// Whether a jump leaves it.
    is_left: bool,
    /// The state to restore after it: the region, and the last block there after a jump.
    around: (u32, u32),
}

impl Regions {
    pub(super) fn of<M: Machine>(program: &Program<M>, blocks: &[Block]) -> Regions {
        let mut all = Regions {
            regions: vec![Region { parent: NONE, depth: 0, far: 0, join: NONE }],
            of_block: Vec::with_capacity(blocks.len()),
        };
        let mut open: Vec<OpenConstruct> = Vec::new();
        let mut current = (0, 0);
        for (number, block) in blocks.iter().enumerate() {
            all.of_block.push(current);
            let next = number as u32 + 1;
            let last = block.end.checked_sub(1).filter(|&last| last >= block.start).and_then(|last| program.flow(last));
            match last {
                Some(Flow::If | Flow::Loop) => {
                    let region = all.regions.len() as u32;
                    let is_loop = last == Some(Flow::Loop);
                    open.push(OpenConstruct {
                        is_loop,
                        regions: [Some(region), None],
                        is_left: false,
                        around: current,
                    });
                    current = all.add(current.0, next);
                }
                Some(Flow::Else) => {
                    if let Some(construct) = open.last_mut() {
                        construct.regions[1] = Some(all.regions.len() as u32);
                        current = all.add(construct.around.0, next);
                    }
                }
                Some(Flow::EndIf | Flow::EndLoop) => {
                    if let Some(construct) = open.pop() {
                        current = construct.around;
                        if construct.is_left {
                            current.1 = next;
                        }
                        for region in construct.regions.into_iter().flatten() {
                            all.regions[region as usize].join = next;
                        }
                    }
                }
                Some(Flow::Break | Flow::Continue | Flow::End) => {
                    current.1 = next;
                    for construct in open.iter_mut().rev() {
                        if last != Some(Flow::End) && (construct.is_left || construct.is_loop) {
                            break;
                        }
                        construct.is_left = true;
                    }
                }
                Some(Flow::Call) | None => {}
            }
        }
        all
    }

    /// Adds a region. Returns it with its first block, which has predecessors outside.
    fn add(&mut self, parent: u32, first: u32) -> (u32, u32) {
        let Region { depth, far, .. } = self.regions[parent as usize];
        // Two skips of equal length combine to one (skew-binary numbers).
        let leap = |from: &Region| from.depth - self.regions[from.far as usize].depth;
        let is_twice = leap(&self.regions[parent as usize]) == leap(&self.regions[far as usize]);
        let far = if is_twice { self.regions[far as usize].far } else { parent };
        self.regions.push(Region { parent, depth: depth + 1, far, join: NONE });
        (self.regions.len() as u32 - 1, first)
    }

    /// The first block of the same spine from which control reaches `block` without an access in between, if the last
    /// access before is in block `access`. It may be `block` itself.
    pub(super) fn way_up(&self, block: u32, access: Option<u32>) -> u32 {
        let (region, last) = self.of_block[block as usize];
        let depth = self.regions[region as usize].depth;
        let Some(access) = access.filter(|&access| access > last) else { return last };
        let inner = self.of_block[access as usize].0;
        if inner == region {
            return access.max(last);
        }
        // The construct in this region that contains the access, if any. An unclosed construct has no join, and neither
        // have those around it.
        let construct = self.around(inner, depth + 1);
        match &self.regions[construct as usize] {
            Region { parent, join, .. } if *parent == region && *join != NONE => (*join).max(last),
            _ => block,
        }
    }

    /// The ancestor of a region at some depth, or the region itself if it is at most as deep.
    fn around(&self, region: u32, depth: u32) -> u32 {
        self.outward(region, depth).last().unwrap_or(region)
    }

    /// The steps to that ancestor.
    fn outward(&self, region: u32, depth: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(region), move |&region| {
            let here = &self.regions[region as usize];
            let is_not_too_far = |&far: &u32| self.regions[far as usize].depth >= depth;
            (here.depth > depth).then(|| Some(here.far).filter(is_not_too_far).unwrap_or(here.parent))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_out_of_a_deep_nest_is_short() {
        let mut all =
            Regions { regions: vec![Region { parent: NONE, depth: 0, far: 0, join: NONE }], of_block: Vec::new() };
        // A nest with an empty neighbour at each level.
        let mut nest = vec![0];
        for depth in 0..5000 {
            all.add(nest[depth], 0);
            nest.push(all.add(nest[depth], 0).0);
        }
        for from in (0..=5000).step_by(99) {
            for depth in (0..=5000).step_by(77) {
                assert_eq!(all.around(nest[from], depth as u32), nest[depth.min(from)]);
                let steps = all.outward(nest[from], depth as u32).count();
                assert!(steps <= 40, "{steps} from {from} to {depth}");
            }
        }
    }
}
