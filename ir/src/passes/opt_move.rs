//! Moves instructions within their block down to right before their first user, so that fewer values are alive at a time.
//!
//! ```text
//! before:                          after:
//!     %1 = load_const (...)            %3 = ffma %x, %y, %z
//!     %2 = flt %x, %y                  %1 = load_const (...)
//!     %3 = ffma %x, %y, %z             %4 = fadd %3, %1
//!     %4 = fadd %3, %1                 %2 = flt %x, %y
//!     if %2 {                          if %2 {
//! ```
//!
//! What may move says [`Movable`]. What only other blocks and phis use goes to the end of its block, before a jump; behind it the condition of the `if` that follows, if that
//! is its only use in the block. What has the same first user keeps its order.
//!
//! The new order is a forest: each instruction that moves hangs at its first user, one that stays is a root, and what hangs at an instruction comes before it. A block is walked
//! backwards, so that users have their places before what they use; which of two users comes first is seen where their ways up the tree meet, in O(log n). In all this is
//! O(n log n) for n sources.

use cranelift_entity::SecondaryMap;

use crate::analysis::ancestors::Ancestors;
use crate::body::{Body, InstData};
use crate::cursor::Cursor;
use crate::entities::{Block, Inst, User};
use crate::passes::opt_sink::Movable;
use crate::shader::Shader;

/// See the [module](self).
pub fn opt_move(shader: &mut Shader, movable: Movable) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        let mut nodes = SecondaryMap::new();
        for block in body.blocks_vec() {
            progress |= Order::new(body, block, &mut nodes).arrange(body, movable);
        }
    }
    progress
}

/// What the instructions that stay hang at.
const ROOT: u32 = 0;

/// The new order of a block.
struct Order<'a> {
    block: Block,
    insts: Vec<Inst>,
    /// Where the tree has an instruction of the block.
    nodes: &'a mut SecondaryMap<Inst, u32>,
    tree: Ancestors,
    /// For each node: the instruction, none for the root and for the end of a block without jump.
    inst: Vec<Option<Inst>>,
    /// For each node: what decides the order among those that hang at one place.
    key: Vec<u32>,
    /// For each node: the first that hangs at it, and the next that hangs where it does.
    first: Vec<u32>,
    next: Vec<u32>,
}

impl<'a> Order<'a> {
    fn new(body: &Body, block: Block, nodes: &'a mut SecondaryMap<Inst, u32>) -> Order<'a> {
        Order {
            block,
            insts: body.insts_vec(block),
            nodes,
            tree: Ancestors::new(),
            inst: vec![None],
            key: vec![0],
            first: vec![ROOT],
            next: vec![ROOT],
        }
    }

    /// Puts a node before the others that hang at `parent`.
    fn hang(&mut self, inst: Option<Inst>, parent: u32, key: u32) -> u32 {
        let node = self.tree.add(parent);
        self.inst.push(inst);
        self.key.push(key);
        self.first.push(ROOT);
        self.next.push(std::mem::replace(&mut self.first[parent as usize], node));
        if let Some(inst) = inst {
            self.nodes[inst] = node;
        }
        node
    }

    fn arrange(mut self, body: &mut Body, movable: Movable) -> bool {
        let count = self.insts.len();
        if count < 2 {
            return false;
        }
        let condition = body.following_if(self.block).map(|id| body.src_inst(body.if_condition(id)));
        // Those that come last first: the condition, the end.
        let condition_goes_last = condition.filter(|&inst| {
            body.inst_block(inst) == Some(self.block) && movable.allows(body, inst) && !self.is_used_here(body, inst)
        });
        if let Some(inst) = condition_goes_last {
            self.hang(Some(inst), ROOT, count as u32 + 1);
        }
        let has_jump = body.block_jump(self.block).is_some();
        let mut end = if has_jump { ROOT } else { self.hang(None, ROOT, count as u32) };
        for place in (0..count).rev() {
            let inst = self.insts[place];
            if Some(inst) == condition_goes_last {
                continue;
            }
            let parent = if movable.allows(body, inst) { self.first_user(body, inst).unwrap_or(end) } else { ROOT };
            let node = self.hang(Some(inst), parent, place as u32);
            if end == ROOT {
                end = node;
            }
        }
        self.apply(body)
    }

    fn is_used_here(&self, body: &Body, inst: Inst) -> bool {
        body.inst_def(inst).is_some_and(|def| {
            body.uses_of(def).any(|source| match body.user(source) {
                User::Inst(user) => body.inst_block(user) == Some(self.block) && !body.is_phi(user),
                User::If(_) => false,
            })
        })
    }

    /// The node of the user in this block that comes first in the new order.
    fn first_user(&self, body: &Body, inst: Inst) -> Option<u32> {
        let mut first: Option<u32> = None;
        for source in body.uses_of(body.inst_def(inst)?) {
            let User::Inst(user) = body.user(source) else { continue };
            if body.inst_block(user) != Some(self.block) || body.is_phi(user) {
                continue;
            }
            let node = self.nodes[user];
            first = Some(first.map_or(node, |other| if self.comes_before(node, other) { node } else { other }));
        }
        first
    }

    fn comes_before(&self, a: u32, b: u32) -> bool {
        let common = self.tree.common(a, b);
        if common == a || common == b {
            return common == b;
        }
        let depth = self.tree.depth(common) + 1;
        self.key[self.tree.at_depth(a, depth) as usize] < self.key[self.tree.at_depth(b, depth) as usize]
    }

    fn apply(self, body: &mut Body) -> bool {
        let mut order: Vec<Inst> = Vec::with_capacity(self.insts.len());
        // (node, whether what hangs at it has been)
        let mut stack = vec![(ROOT, false)];
        while let Some((node, is_done)) = stack.pop() {
            if is_done {
                order.extend(self.inst[node as usize]);
                continue;
            }
            stack.push((node, true));
            let start = stack.len();
            let mut child = self.first[node as usize];
            while child != ROOT {
                stack.push((child, false));
                child = self.next[child as usize];
            }
            stack[start..].reverse();
        }
        if order == self.insts {
            return false;
        }
        let mut next: Option<Inst> = None;
        for &inst in order.iter().rev() {
            if body.next_inst(inst) != next {
                debug_assert!(!matches!(body.inst(inst), InstData::Jump(_) | InstData::Phi));
                body.move_inst(next.map_or(Cursor::BlockEnd(self.block), Cursor::Before), inst);
            }
            next = Some(inst);
        }
        true
    }
}
