//! Moves what is the same in every iteration of a loop out of it (loop invariant code motion).
//!
//! ```text
//! before:                                  after:
//!     loop {                                   %2 = fmul %x, %y
//!         %1 = phi ...                         loop {
//!         %2 = fmul %x, %y                         %1 = phi ...
//!         ... %1 ... %2 ...                        ... %1 ... %2 ...
//!     }                                        }
//! ```
//!
//! An instruction goes out of all loops that do not hold one of its sources if it has no effects and does not see those
//! of others, and
//! - it is computed whenever the loop is entered, which is known of exits too that are not taken in the first
//!   iteration, or
//! - it costs so little that it does not matter if its result is not needed, and [may run](Speculation) although the
//!   source would not have run it.
//!
//! Otherwise it goes out of those inner loops of which that is true. Blocks stay as they are.
//!
//! One walk in program order: what an instruction reads has gone where it belongs when its turn comes.

use crate::alu::ExecutionMode;
use crate::analysis::ancestors::LoopAncestors;
use crate::analysis::{LoopTree, Speculation};
use crate::body::Body;
use crate::cursor::Cursor;
use crate::entities::{Block, Inst};
use crate::options::CompilerOptions;
use crate::passes::loops::motion::{Mobility, guaranteed_to_execute, is_cheap, mobility};
use crate::shader::{Shader, Stage};

/// See the [module](self).
pub fn opt_licm(shader: &mut Shader, options: &CompilerOptions) -> bool {
    let mut progress = false;
    let (stage, mode) = (shader.stage, shader.info.float_controls_execution_mode);
    let (bodies, speculation) = Speculation::with_bodies(shader, options);
    for body in bodies {
        if body.structured && body.num_loops() != 0 {
            progress |= leave_loops(body, &speculation, stage, mode);
        }
    }
    progress
}

/// The pass on one body.
fn leave_loops(body: &mut Body, speculation: &Speculation<'_>, stage: Stage, mode: ExecutionMode) -> bool {
    let (dominance, loops) = (body.dominance(), body.loop_tree());
    let around = LoopAncestors::new(&loops);
    let guaranteed = guaranteed_to_execute(body, speculation.types(), mode);
    let mut progress = false;
    for block in body.blocks_vec() {
        if loops.innermost(block).is_none() || !dominance.is_reachable(block) {
            continue;
        }
        let mut next = body.first_inst(block);
        while let Some(inst) = next {
            next = body.next_inst(inst);
            if mobility(body, inst, stage) == Mobility::Pinned {
                continue;
            }
            let Some(outermost) = outermost_target(body, &loops, &around, inst, block) else { continue };
            let target = if is_cheap(body, speculation, inst) || guaranteed.implies(outermost, block) {
                Some(outermost)
            } else {
                // The classes of what is around a block change once: what is sure of a loop is sure of those inside.
                std::iter::successors(loops.innermost(block), |&id| loops.info(id).parent.expand())
                    .map(|id| body.block_before_loop(id))
                    .take_while(|&before| guaranteed.implies(before, block))
                    .last()
            };
            if let Some(target) = target {
                let cursor = Cursor::before_jump(body, target);
                body.move_inst(cursor, inst);
                progress = true;
            }
        }
    }
    progress
}

/// The block before the outermost loop that holds none of the sources.
fn outermost_target(
    body: &Body,
    loops: &LoopTree,
    around: &LoopAncestors<'_>,
    inst: Inst,
    block: Block,
) -> Option<Block> {
    let mut target = around.outermost(block).map(|id| body.block_before_loop(id));
    for source in body.sources(inst) {
        let made = body.inst_block(body.src_inst(source))?;
        let before = around.outermost_without(block, made).map(|id| body.block_before_loop(id))?;
        target = Some(match target {
            Some(other) if loops.depth(other) > loops.depth(before) => other,
            _ => before,
        });
    }
    target
}
