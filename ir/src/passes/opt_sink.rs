//! Moves instructions down to where their values are needed, into the side of an `if` that alone needs them.
//!
//! ```text
//! before:                          after:
//!     %1 = load_const (...)            if %c {
//!     %2 = fneg %x                         %1 = load_const (...)
//!     if %c {                              %2 = fneg %x
//!         ... %1 ... %2 ...                ... %1 ... %2 ...
//!     }                                }
//! ```
//!
//! The target is the last block that dominates all uses (a phi uses a value at the end of the predecessor). Nothing moves into a loop that it was
//! outside of, where it would run again and again; loads of memory that a target may bind anew stay in their loop.
//!
//! What may move says [`Movable`]. Blocks and instructions are walked backwards, so that what an instruction reads can follow it.

use crate::alu::AluOp;
use crate::analysis::{Dominance, LoopTree};
use crate::body::{Body, InstData};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Inst, Loop};
use crate::intrinsics::{IntrinsicKind, IntrinsicOp};
use crate::passes::opt_cse::can_reorder;
use crate::passes::repair_ssa::use_block;
use crate::shader::Shader;

/// What [`opt_sink()`] and [`opt_move()`](super::opt_move()) may move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Movable(pub u8);

impl Movable {
    /// Constants and undefined values.
    pub const CONSTANTS: Movable = Movable(1);
    /// Copies, vectors, and masks of booleans.
    pub const COPIES: Movable = Movable(2);
    /// Comparisons.
    pub const COMPARISONS: Movable = Movable(4);
    /// Other operations that read at most one value that is not constant: what they read dies where they stood.
    pub const ALU: Movable = Movable(8);
    /// Loads of inputs.
    pub const INPUTS: Movable = Movable(16);
    /// Loads of uniforms and uniform buffers.
    pub const UNIFORMS: Movable = Movable(32);
    /// Loads of storage buffers that nothing writes.
    pub const BUFFERS: Movable = Movable(64);
    /// Everything.
    pub const ALL: Movable = Movable(127);

    /// Whether all of `other` is in the set.
    pub const fn contains(self, other: Movable) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether an instruction may move.
    pub(crate) fn allows(self, body: &Body, inst: Inst) -> bool {
        kind(body, inst).is_some_and(|kind| self.contains(kind))
    }
}

fn kind(body: &Body, inst: Inst) -> Option<Movable> {
    match *body.inst(inst) {
        InstData::LoadConst { .. } | InstData::Undef => Some(Movable::CONSTANTS),
        InstData::Alu { op, .. } if op.is_vec_or_mov() || op == AluOp::B2i32 => Some(Movable::COPIES),
        InstData::Alu { op, .. } if op.is_comparison() => Some(Movable::COMPARISONS),
        InstData::Alu { .. } => {
            let mut read: Option<Def> = None;
            for source in body.sources(inst) {
                let def = body.src_def(source);
                if body.def_constant(def).is_none() && *read.get_or_insert(def) != def {
                    return None;
                }
            }
            Some(Movable::ALU)
        }
        InstData::Intrinsic { op, .. } if can_reorder(body, inst, op) => match op {
            IntrinsicOp::LoadUniform | IntrinsicOp::LoadUbo | IntrinsicOp::LoadUboVec4 => Some(Movable::UNIFORMS),
            IntrinsicOp::LoadSsbo => Some(Movable::BUFFERS),
            IntrinsicOp::LoadDeref => Some(Movable::INPUTS),
            _ if op.info().kind == IntrinsicKind::Io && op.info().has_dest() => Some(Movable::INPUTS),
            _ => None,
        },
        _ => None,
    }
}

/// See the [module](self).
pub fn opt_sink(shader: &mut Shader, movable: Movable) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        if body.structured {
            progress |= sink(body, movable);
        }
    }
    progress
}

fn sink(body: &mut Body, movable: Movable) -> bool {
    let (dominance, loops) = (body.dominance(), body.loop_tree());
    let mut progress = false;
    for block in body.blocks_vec().into_iter().rev().filter(|&b| dominance.is_reachable(b)) {
        let mut next = body.last_inst(block);
        while let Some(inst) = next {
            next = body.prev_inst(inst);
            if !movable.allows(body, inst) {
                continue;
            }
            let Some(target) = target(body, &dominance, &loops, inst, block) else { continue };
            let cursor = Cursor::after_phis(body, target);
            body.move_inst(cursor, inst);
            progress = true;
        }
    }
    progress
}

/// The block that an instruction moves to, if it is another one.
fn target(body: &Body, dominance: &Dominance, loops: &LoopTree, inst: Inst, block: Block) -> Option<Block> {
    let def = body.inst_def(inst)?;
    let mut target: Option<Block> = None;
    for source in body.uses_of(def) {
        let user = use_block(body, source).filter(|&b| dominance.is_reachable(b))?;
        let common = target.map_or(user, |t| dominance.common_dominator(t, user));
        // Nothing is lower than where it stands already.
        if common == block {
            return None;
        }
        target = Some(common);
    }
    let mut target = target?;
    let stays_in_loop = matches!(kind(body, inst), Some(Movable::UNIFORMS | Movable::BUFFERS));
    let home = loops.innermost(block);
    loop {
        if target == block {
            return None;
        }
        let around = |id: Loop| loops.info(id).parent.expand();
        let entered = std::iter::successors(loops.innermost(target), |&id| around(id));
        // What dominates the block behind a loop, or the head of one, is the next that can be another place: not one block after the other.
        let next = match entered.take_while(|&id| !loops.contains(id, block)).last() {
            Some(outermost) => body.loop_body(outermost).first,
            None => match home.filter(|&id| stays_in_loop && !loops.contains(id, target)) {
                Some(left) => body.block_after_loop(left),
                None => return Some(target),
            },
        };
        target = dominance.idom(next)?;
    }
}
