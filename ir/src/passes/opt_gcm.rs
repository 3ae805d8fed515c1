//! Moves instructions to the blocks that run least often, and, if asked to, computes what is computed on several ways once (Click, "Global Code Motion, Global Value Numbering", 1995).
//!
//! ```text
//! before:                                  after:
//!     loop {                                   %1 = fmul %x, %x
//!         if %c {                              loop {
//!             %1 = fmul %x, %x                     if %c {
//!             ... %1 ...                               ... %1 ...
//!         } else {                                 } else {
//!             %2 = fmul %x, %x                         ... %1 ...
//!             ... %2 ...                           }
//!         }                                    }
//!     }
//! ```
//!
//! 1. *Numbering* (`value_number`): instructions that compute the same (the rules of [`opt_cse`](mod@crate::passes::opt_cse)) become one, wherever they stand.
//! 2. *Early*: the first block in which all sources of an instruction are available (if it costs something, only where it is not in vain, see below).
//! 3. *Late*: the last block that dominates all of its uses.
//! 4. Between the two it goes to the last block with the fewest loops around it: out of loops, into the sides of ifs.
//!
//! What may not:
//! - Instructions with effects, and those that see the effects of others, stay where they are, and in their order.
//! - What reads its sources from neighbouring invocations (derivatives, textures with a level from derivatives) does not move down, where some of these invocations may
//!   have gone another way, and neither does what it reads.
//! - What costs something (fetches, slow operations), or [may not run](Speculation) where the source would not have run
//!   it, is not computed where its result may not be needed: it moves up only to blocks that run only if its block runs
//!   ([`Certainty`]), and two of
//!   them become one only if one dominates the other, or if they are in the two sides of an `if`.
//! - Fetches do not move out of a loop downwards: the invocations left it at different times, with other addresses.
//!
//! In a block the order is that of the text before: values come before their users, what was moved down comes first, what was moved up last.
//!
//! Each step is one walk over the instructions and their uses, with O(log n) for a common dominator.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use crate::alu::ExecutionMode;
use crate::analysis::ancestors::{CommonDominators, LoopAncestors};
use crate::analysis::{Certainty, Dominance, LoopTree, Speculation};
use crate::body::{Body, InstData};
use crate::cursor::Cursor;
use crate::entities::{Block, Inst};
use crate::options::CompilerOptions;
use crate::passes::motion::{Mobility, certainty, is_cheap, mobility, reads_neighbours, reads_resource};
use crate::passes::opt_cse::{Table, hash, insts_equal};
use crate::passes::repair_ssa::use_block;
use crate::shader::{Shader, Stage};

/// See the [module](self).
pub fn opt_gcm(shader: &mut Shader, options: &CompilerOptions, value_number: bool) -> bool {
    let mut progress = false;
    let (stage, mode) = (shader.stage, shader.info.float_controls_execution_mode);
    let (bodies, speculation) = Speculation::with_bodies(shader, options);
    for body in bodies {
        if body.structured {
            progress |= move_code(body, &speculation, (stage, mode), value_number);
        }
    }
    progress
}

/// The pass on one body.
fn move_code(
    body: &mut Body,
    speculation: &Speculation<'_>,
    (stage, mode): (Stage, ExecutionMode),
    value_number: bool,
) -> bool {
    let (dominance, loops) = (body.dominance(), body.loop_tree());
    let mut motion = Motion {
        stage,
        speculation,
        common: CommonDominators::new(&dominance),
        around: LoopAncestors::new(&loops),
        dominance: &dominance,
        loops: &loops,
        certainty: certainty(body, speculation.types(), mode),
        order: Vec::new(),
        origin: SecondaryMap::new(),
        limit: SecondaryMap::new(),
        early: SecondaryMap::new(),
        best: SecondaryMap::new(),
    };
    for &block in &body.block_order().blocks {
        if dominance.is_reachable(block) {
            for inst in body.insts(block) {
                motion.origin[inst] = block.into();
                motion.order.push(inst);
            }
        }
    }
    let merged = value_number && motion.number_values(body);
    motion.find_limits(body);
    motion.schedule_early(body);
    motion.schedule_late(body);
    let moved = motion.place(body);
    merged | moved
}

struct Motion<'a> {
    stage: Stage,
    speculation: &'a Speculation<'a>,
    dominance: &'a Dominance,
    common: CommonDominators<'a>,
    loops: &'a LoopTree,
    around: LoopAncestors<'a>,
    certainty: Certainty,
    /// The instructions of reachable blocks in the order of the text: what makes a value comes before those that use it.
    order: Vec<Inst>,
    /// The block of an instruction; for several that became one, the last block that dominates all of theirs.
    origin: SecondaryMap<Inst, PackedOption<Block>>,
    /// A block that an instruction must dominate or be in, whatever its uses are.
    limit: SecondaryMap<Inst, PackedOption<Block>>,
    early: SecondaryMap<Inst, PackedOption<Block>>,
    best: SecondaryMap<Inst, PackedOption<Block>>,
}

impl Motion<'_> {
    fn origin(&self, body: &Body, inst: Inst) -> Block {
        self.origin[inst].expand().unwrap_or(body.start_block())
    }

    // ---- numbering ----------------------------------------------------------------------------------------------------

    fn number_values(&mut self, body: &mut Body) -> bool {
        let mut table = Table::new(self.order.len());
        let mut removed: Vec<Inst> = Vec::new();
        for &inst in &self.order {
            if matches!(body.inst(inst), InstData::Undef) || mobility(body, inst, self.stage) == Mobility::Pinned {
                continue;
            }
            let Some(other) = table.insert(hash(body, inst), inst) else { continue };
            if !insts_equal(body, other, inst) {
                continue;
            }
            let Some(origin) = self.common_origin(body, other, inst) else { continue };
            self.origin[other] = origin.into();
            if let (InstData::Alu { op, flags }, Some((_, lost))) = (*body.inst(other), body.alu(inst)) {
                body.set_inst(other, InstData::Alu { op, flags: flags.union(lost) });
            }
            if let (Some(def), Some(kept)) = (body.inst_def(inst), body.inst_def(other)) {
                body.replace_all_uses(def, kept);
            }
            removed.push(inst);
            table.insert(hash(body, other), other);
        }
        if removed.is_empty() {
            return false;
        }
        body.remove_insts(&removed);
        self.order.retain(|&inst| body.inst_block(inst).is_some());
        true
    }

    /// The block that the work of two equal instructions, the first of which comes first in the text, is done in if one does it for both; none if it must not.
    fn common_origin(&self, body: &Body, first: Inst, second: Inst) -> Option<Block> {
        let (a, b) = (self.origin(body, first), self.origin(body, second));
        if self.dominance.dominates(a, b) {
            return Some(a);
        }
        if mobility(body, first, self.stage) != Mobility::Free {
            return None;
        }
        if is_cheap(body, self.speculation, first) {
            return Some(self.common.of(a, b));
        }
        let both = self.certainty.if_with_sides(body, a, b)?;
        Some(body.block_before_if(both))
    }

    // ---- scheduling ---------------------------------------------------------------------------------------------------

    fn find_limits(&mut self, body: &Body) {
        for place in 0..self.order.len() {
            let inst = self.order[place];
            if mobility(body, inst, self.stage) == Mobility::Up {
                self.limit[inst] = self.origin[inst];
            }
            if reads_neighbours(body, inst, self.stage) {
                for source in body.sources(inst) {
                    let maker = body.src_inst(source);
                    self.limit[maker] = self.origin[maker];
                }
            }
        }
    }

    fn schedule_early(&mut self, body: &Body) {
        for &inst in &self.order {
            let early = if mobility(body, inst, self.stage) == Mobility::Pinned {
                self.origin(body, inst)
            } else {
                // What is available in a block is made in blocks that dominate it: one below the other.
                let made = body.sources(inst).filter_map(|s| self.early[body.src_inst(s)].expand());
                let early = made.max_by_key(|&b| self.dominance.depth(b)).unwrap_or(body.start_block());
                if is_cheap(body, self.speculation, inst) { early } else { self.not_in_vain(body, inst, early) }
            };
            self.early[inst] = early.into();
        }
    }

    /// The first block from `early` on that runs only if the block of the instruction runs too, as far as that is before a loop.
    fn not_in_vain(&self, body: &Body, inst: Inst, early: Block) -> Block {
        let origin = self.origin(body, inst);
        let mut first = origin;
        let mut around = self.loops.innermost(origin);
        while let Some(id) = around.filter(|&id| !self.loops.contains(id, early)) {
            let before = body.block_before_loop(id);
            if !self.certainty.implies(before, origin) {
                break;
            }
            first = before;
            around = self.loops.info(id).parent.expand();
        }
        first
    }

    fn schedule_late(&mut self, body: &Body) {
        for &inst in self.order.iter().rev() {
            let origin = self.origin(body, inst);
            let best = match (mobility(body, inst, self.stage), self.late(body, inst), self.early[inst].expand()) {
                (Mobility::Up | Mobility::Free, Some(late), Some(early)) => self.choose(body, inst, early, late),
                _ => origin,
            };
            self.best[inst] = best.into();
        }
    }

    /// The last block that dominates all uses.
    fn late(&self, body: &Body, inst: Inst) -> Option<Block> {
        let def = body.inst_def(inst)?;
        let mut late: Option<Block> = None;
        for source in body.uses_of(def) {
            let block = match body.user(source).inst().filter(|&user| !body.is_phi(user)) {
                Some(user) => self.best[user].expand(),
                None => use_block(body, source),
            };
            if let Some(block) = block.filter(|&b| self.dominance.is_reachable(b)) {
                late = Some(late.map_or(block, |late| self.common.of(late, block)));
            }
        }
        let late = late?;
        Some(self.limit[inst].expand().map_or(late, |limit| self.common.of(late, limit)))
    }

    /// The last of the blocks with the fewest loops around them, from `late` up to `early`, which dominates it.
    fn out_of_loops(&self, body: &Body, early: Block, late: Block) -> Block {
        self.around.outermost_without(late, early).map_or(late, |id| body.block_before_loop(id))
    }

    fn choose(&self, body: &Body, inst: Inst, early: Block, late: Block) -> Block {
        let origin = self.origin(body, inst);
        let best = self.out_of_loops(body, early, late);
        let leaves = self.loops.innermost(origin).is_some_and(|id| !self.loops.contains(id, best));
        if leaves && self.dominance.dominates(origin, best) && reads_resource(body, inst) { origin } else { best }
    }

    // ---- placing ------------------------------------------------------------------------------------------------------

    fn place(&self, body: &mut Body) -> bool {
        let text = body.block_order();
        let mut top: SecondaryMap<Block, PackedOption<Inst>> = SecondaryMap::new();
        let mut progress = false;
        for &inst in &self.order {
            let (Some(from), Some(to)) = (body.inst_block(inst), self.best[inst].expand()) else { continue };
            if from == to {
                continue;
            }
            let cursor = if text.index(from) > text.index(to) {
                Cursor::before_jump(body, to)
            } else {
                match top[to].expand() {
                    Some(last) => Cursor::After(last),
                    None => Cursor::after_phis(body, to),
                }
            };
            if text.index(from) < text.index(to) {
                top[to] = inst.into();
            }
            body.move_inst(cursor, inst);
            progress = true;
        }
        progress
    }
}
