//! The runs of blocks under the same conditions: the program, a branch, the body of a loop.
//!
//! The blocks of a region that are in none of its constructs are its *spine*. Between two blocks of a spine control goes through all that stands between them,
//! unless a jump leads away: what nothing there accesses is live all over, if it is live behind.

use tgsi::tables::Opcode;

use super::Program;
use super::flow::Block;

const NONE: u32 = u32::MAX;

struct Region {
    parent: u32,
    depth: u32,
    /// The block of the parent's spine behind the construct.
    join: u32,
}

/// The regions of a program.
pub(super) struct Regions {
    regions: Vec<Region>,
    /// By block: the region, and the last block of the spine up to there that control does not come to from the spine alone: the first one, and those behind
    /// jumps and behind constructs that jumps leave.
    of_block: Vec<(u32, u32)>,
}

/// A construct that is not closed yet.
struct Open {
    is_loop: bool,
    /// Its regions: a loop has one, branches are two.
    regions: [Option<u32>; 2],
    /// Whether a jump leads out of it.
    is_left: bool,
    /// What to go on with behind it: the region, and the last block there after a jump.
    around: (u32, u32),
}

impl Regions {
    pub(super) fn of(program: &Program, blocks: &[Block]) -> Regions {
        let mut all = Regions {
            regions: vec![Region { parent: NONE, depth: 0, join: NONE }],
            of_block: Vec::with_capacity(blocks.len()),
        };
        let mut open: Vec<Open> = Vec::new();
        let mut current = (0, 0);
        for (number, block) in blocks.iter().enumerate() {
            all.of_block.push(current);
            let next = number as u32 + 1;
            let last = program.access[block.start..block.end].last().map(|access| access.opcode);
            match last {
                Some(Opcode::If | Opcode::Uif | Opcode::Bgnloop) => {
                    let region = all.regions.len() as u32;
                    let is_loop = last == Some(Opcode::Bgnloop);
                    open.push(Open { is_loop, regions: [Some(region), None], is_left: false, around: current });
                    current = all.add(current.0, next);
                }
                Some(Opcode::Else) => {
                    if let Some(construct) = open.last_mut() {
                        construct.regions[1] = Some(all.regions.len() as u32);
                        current = all.add(construct.around.0, next);
                    }
                }
                Some(Opcode::Endif | Opcode::Endloop) => {
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
                Some(Opcode::Brk | Opcode::Cont | Opcode::End) => {
                    current.1 = next;
                    for construct in open.iter_mut().rev() {
                        if last != Some(Opcode::End) && (construct.is_left || construct.is_loop) {
                            break;
                        }
                        construct.is_left = true;
                    }
                }
                _ => {}
            }
        }
        all
    }

    /// Opens a region. Returns it with the first block, which is reached from elsewhere.
    fn add(&mut self, parent: u32, first: u32) -> (u32, u32) {
        let depth = self.regions[parent as usize].depth + 1;
        self.regions.push(Region { parent, depth, join: NONE });
        (self.regions.len() as u32 - 1, first)
    }

    /// The first block of the same spine from which control comes to a block with no access in between, if the last access before stands in block
    /// `access`. It may be the block itself.
    pub(super) fn way_up(&self, block: u32, access: Option<u32>) -> u32 {
        let (region, last) = self.of_block[block as usize];
        let depth = self.regions[region as usize].depth;
        let Some(access) = access.filter(|&access| access > last) else { return last };
        let mut inner = self.of_block[access as usize].0;
        let mut start = access;
        while inner != region {
            let up = &self.regions[inner as usize];
            // A construct that is not closed leads nowhere.
            if up.depth <= depth || up.join == NONE {
                return block;
            }
            start = up.join;
            inner = up.parent;
        }
        start.max(last)
    }
}
