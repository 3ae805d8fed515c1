//! Produces straight-line code for targets without branches and loops
//! ([`has_branches`](super::Vec4Target::has_branches)).
//!
//! ```text
//! loop {                                       x0 = a + x
//!     if i >= 2 { break }                      (i = 1)
//!     x = a + x                          =>    x1 = a + x0
//!     i = i + 1                                x2 = bcsel c, x1, 0.0
//! }
//! if c { y = x } else { y = 0.0 }
//! ```
//!
//! The optimiser does most of it: [`lower_control_flow`](CompilerOptions::lower_control_flow) makes it unroll every
//! loop with a known trip count, and flatten every `if` without effects other than kills. This file handles the rest:
//! everything if the shader was not optimised; loops with nested exits, which get flags; and `if`s with derivatives. A
//! loop that cannot be unrolled is an error.

use crate::flatten_control_flow;
use crate::flatten_control_flow::{FlattenError, FlattenOptions};
use tgsi_ir::passes::lower_loop_jumps;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::passes::pipeline::optimize;
use tgsi_ir::{Inst, Shader};

use super::{LowerError, Vec4Target};

/// The maximum number of rounds that convert loop exits to flags: a flag may move the exit of an outer loop into an
/// `if`.
const MAX_ROUNDS: usize = 8;

/// Unrolls all loops.
///
/// # Errors
/// [`LowerError::Loop`].
pub(super) fn unroll_loops(
    shader: &mut Shader,
    target: &Vec4Target<'_>,
    passes: &mut Passes<'_>,
) -> Result<(), LowerError> {
    for _ in 0..MAX_ROUNDS {
        if !has_loops(shader) {
            return Ok(());
        }
        let progress = passes.run_on(shader, "registers:lower_loop_jumps", lower_loop_jumps);
        if !passes.run_on(shader, "registers:optimize", |s| optimize(s, &target.compiler)) && !progress {
            break;
        }
    }
    innermost_loop(shader).map_or(Ok(()), |inst| Err(LowerError::Loop { inst }))
}

/// Flattens all branches.
///
/// # Errors
/// [`LowerError::Conditional`].
pub(super) fn flatten_branches(
    shader: &mut Shader,
    target: &Vec4Target<'_>,
    passes: &mut Passes<'_>,
) -> Result<(), LowerError> {
    let mut flattened = Ok(false);
    passes.run_on(shader, "registers:flatten_control_flow", |s| {
        flattened = flatten_control_flow(s, &target.compiler, FlattenOptions::default());
        matches!(flattened, Ok(true))
    });
    match flattened {
        Ok(_) => Ok(()),
        Err(
            FlattenError::Conditional { inst, .. } | FlattenError::Output { inst } | FlattenError::Jump { inst, .. },
        ) => Err(LowerError::Conditional { inst }),
        Err(FlattenError::Loop { .. } | FlattenError::Unstructured | FlattenError::Condition { .. }) => {
            Err(LowerError::Loop { inst: innermost_loop(shader).flatten() })
        }
    }
}

fn has_loops(shader: &Shader) -> bool {
    shader.functions.values().filter_map(|function| function.body.as_ref()).any(|body| body.num_loops() > 0)
}

/// An instruction directly in the first innermost loop of the entry point, preferably a jump. `None` if there is no
/// loop.
fn innermost_loop(shader: &Shader) -> Option<Option<Inst>> {
    let body = shader.functions[shader.entry_point()?].body.as_ref()?;
    let tree = body.loop_tree();
    let has_inner = |id| body.blocks_in(body.loop_body(id)).any(|block| body.following_loop(block).is_some());
    let id = tree.loops.iter().copied().find(|&id| !has_inner(id))?;
    let blocks = || body.blocks_in(body.loop_body(id));
    let located = |&inst: &Inst| body.origin(inst).is_some();
    let jump = blocks().filter_map(|block| body.block_jump(block)).map(|(inst, _)| inst).find(located);
    Some(jump.or_else(|| blocks().flat_map(|block| body.insts(block)).find(located)))
}
