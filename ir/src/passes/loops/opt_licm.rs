//! Hoists loop-invariant code out of loops.
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
//! An instruction is hoisted out of all loops that do not define one of its operands if it has no effects and does not
//! see those of others, and
//! - it is executed whenever the loop is entered; an exit that is known not to be taken in the first iteration does not
//!   prevent that, or
//! - it is cheap enough to be executed needlessly, and [may be speculated](Speculation).
//!
//! Otherwise it is hoisted out of the inner loops for which this holds. The blocks do not change.
//!
//! One walk in program order: the operands of an instruction have been hoisted before it is visited.

use crate::alu::ExecutionMode;
use crate::analysis::ancestors::LoopAncestors;
use crate::analysis::{LoopTree, Speculation};
use crate::body::Body;
use crate::cursor::Cursor;
use crate::entities::{Block, Inst};
use crate::options::CompilerOptions;
use crate::passes::loops::motion::{Mobility, guaranteed_to_execute, is_cheap, mobility};
use crate::shader::{Shader, ShaderStage};

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

/// Runs the pass on one body.
fn leave_loops(body: &mut Body, speculation: &Speculation<'_>, stage: ShaderStage, mode: ExecutionMode) -> bool {
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
                // The answers for the loops around a block change once: a block that is guaranteed to execute in a loop
                // is guaranteed to execute in the loops inside.
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

/// Returns the block before the outermost loop that defines none of the operands.
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
