//! Rules 29 to 31: the control tree, the instruction lists of its blocks, and the edges.

use bitvec::vec::BitVec;

use super::error::Collector;
use super::{BlockName, Location, ValidationErrorKind};
use crate::body::{Body, CfNode, CfParent, JumpKind};
use crate::entities::{Block, Function, If};

/// Results of walking a sound tree.
pub(super) struct Tree {
    /// The ifs of the tree.
    pub ifs: Vec<If>,
    /// Whether a block is in the tree, by block number.
    pub blocks: BitVec,
}

/// Walks the tree with an explicit stack and checks every link. Returns `None` if the tree is too broken for further
/// walks.
pub(super) fn check_tree(function: Function, body: &Body, errors: &mut Collector) -> Option<Tree> {
    let mut report = |location, kind| {
        errors.push(Some(function), location, kind);
        None
    };
    let mut tree = Tree { ifs: Vec::new(), blocks: BitVec::repeat(false, body.num_blocks()) };
    let mut insts: BitVec = BitVec::repeat(false, body.num_insts());
    let end = body.end_block();
    if body.first_inst(end).is_some()
        || body.block_parent(end).is_some()
        || body.successors(end).next().is_some()
        || body.node_after(end).is_some()
        || body.node_before(end).is_some()
    {
        report(Location::Block(end), ValidationErrorKind::EndBlock);
    }
    let mut lists = vec![CfParent::Function];
    while let Some(parent) = lists.pop() {
        let list = body.list(parent);
        let mut block = list.first;
        let mut before = None;
        loop {
            if !body.has_block(block) {
                return report(Location::Function, ValidationErrorKind::BlockLinks);
            }
            if tree.blocks.replace(block.as_u32() as usize, true) {
                return report(Location::Block(block), ValidationErrorKind::BlockTwice);
            }
            if body.block_parent(block) != Some(parent) {
                return report(Location::Block(block), ValidationErrorKind::BlockParent);
            }
            if body.node_before(block) != before {
                return report(Location::Block(block), ValidationErrorKind::BlockLinks);
            }
            if !are_insts_sound(body, block, &mut insts) {
                return report(Location::Block(block), ValidationErrorKind::InstLinks);
            }
            let Some(node) = body.node_after(block) else {
                if block != list.last {
                    return report(Location::Block(block), ValidationErrorKind::BlockListEnd);
                }
                break;
            };
            if block == list.last {
                return report(Location::Block(block), ValidationErrorKind::BlockListEnd);
            }
            let location = match node {
                CfNode::Block(_) => return report(Location::Block(block), ValidationErrorKind::BlockAdjacent),
                CfNode::If(id) if body.has_if(id) => {
                    tree.ifs.push(id);
                    lists.extend([CfParent::Then(id), CfParent::Else(id)]);
                    Location::If(id)
                }
                CfNode::Loop(id) if body.has_loop(id) => {
                    lists.push(CfParent::Body(id));
                    lists.extend(body.loop_continue_list(id).map(|_| CfParent::Continue(id)));
                    Location::Loop(id)
                }
                _ => return report(Location::Block(block), ValidationErrorKind::BlockLinks),
            };
            match body.node_links(node) {
                (Some(outer), Some(prev), Some(next)) if outer == parent && prev == block => {
                    before = Some(node);
                    block = next;
                }
                _ => return report(location, ValidationErrorKind::NodeLinks),
            }
        }
    }
    Some(tree)
}

/// Whether the instructions of a block form a doubly linked list without instructions of other blocks or lists.
fn are_insts_sound(body: &Body, block: Block, seen: &mut BitVec) -> bool {
    let mut prev = None;
    let mut next = body.first_inst(block);
    while let Some(inst) = next {
        match seen.get_mut(inst.as_u32() as usize) {
            Some(mut bit) if !*bit => *bit = true,
            _ => return false,
        }
        if body.inst_block(inst) != Some(block) || body.prev_inst(inst) != prev {
            return false;
        }
        prev = Some(inst);
        next = body.next_inst(inst);
    }
    body.last_inst(block) == prev
}

/// Checks that successors match the tree, and that predecessors mirror them. Returns whether they do.
///
/// The comparison takes linear time: every predecessor entry must be an edge and occur once; then the two sets are
/// equal if they have the same size.
pub(super) fn check_edges(function: Function, body: &Body, tree: &Tree, errors: &mut Collector) -> bool {
    let mut sound = true;
    let mut report = |location, kind| {
        errors.push(Some(function), location, kind);
        sound = false;
    };
    let end = body.end_block();
    let in_code = |block: Block| block == end || tree.blocks.get(block.as_u32() as usize).is_some_and(|b| *b);
    if !body.predecessors(body.start_block()).is_empty() {
        report(Location::Block(body.start_block()), ValidationErrorKind::StartPredecessor);
    }
    let (mut edges, mut entries) = (0usize, 0usize);
    let mut stamps = vec![u32::MAX; body.num_blocks()];
    for block in body.blocks().chain([end]) {
        let location = Location::Block(block);
        let mut successors = body.successors(block);
        let (first, second) = (successors.next(), successors.next());
        if let Some(outside) = [first, second].into_iter().flatten().find(|&s| !in_code(s)) {
            report(location, ValidationErrorKind::SuccessorOutside { successor: BlockName::new(body, outside) });
        }
        if first.is_some() && first == second {
            report(location, ValidationErrorKind::SuccessorsEqual);
        }
        edges += usize::from(first.is_some()) + usize::from(second.is_some() && second != first);
        if block != end {
            let derived = body.derived_successors(block);
            // A `break` or `continue` outside of a loop has no target; that is reported at the jump.
            let no_loop = derived == [None, None]
                && matches!(body.block_jump(block), Some((_, JumpKind::Break | JumpKind::Continue)));
            if !no_loop && (derived != [first, second] || first.is_none()) {
                report(location, ValidationErrorKind::Successors);
            }
        }
        for &predecessor in body.predecessors(block) {
            entries += 1;
            let known = in_code(predecessor)
                && predecessor != end
                && body.successors(predecessor).any(|s| s == block)
                && std::mem::replace(&mut stamps[predecessor.as_u32() as usize], block.as_u32()) != block.as_u32();
            if !known {
                report(
                    location,
                    ValidationErrorKind::PredecessorExtra { predecessor: BlockName::new(body, predecessor) },
                );
            }
        }
    }
    if edges != entries && sound {
        let mut report = |location, kind| {
            errors.push(Some(function), location, kind);
        };
        for block in body.blocks() {
            for successor in body.successors(block) {
                if !body.predecessors(successor).contains(&block) {
                    report(
                        Location::Block(block),
                        ValidationErrorKind::SuccessorUnlisted { successor: BlockName::new(body, successor) },
                    );
                }
            }
        }
        sound = false;
    }
    sound
}
