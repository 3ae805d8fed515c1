//! Runs passes: a record of what each did, and in builds with debug assertions the validator after each that changed something.
//!
//! The record goes to the target `tgsi_ir::passes` of the `log` crate: at debug level passes that changed something, at trace level the others.

use std::time::Instant;

use log::{Level, log, log_enabled};

use crate::shader::Shader;

/// Target of the record.
pub const LOG_TARGET: &str = "tgsi_ir::passes";

/// Number of instructions in all bodies.
pub fn count_instructions(shader: &Shader) -> usize {
    let bodies = shader.functions.values().filter_map(|f| f.body.as_ref());
    bodies.map(|body| body.blocks().map(|block| body.insts(block).count()).sum::<usize>()).sum()
}

/// Runs a pass under a name and returns whether it changed anything.
///
/// # Panics
/// In builds with debug assertions, if the shader does not validate after a pass that changed it: the message names the pass. The shader must
/// have been valid before.
pub fn run_pass(shader: &mut Shader, name: &str, pass: impl FnOnce(&mut Shader) -> bool) -> bool {
    let recording = log_enabled!(target: LOG_TARGET, Level::Debug);
    let before = if recording { count_instructions(shader) } else { 0 };
    let start = recording.then(Instant::now);
    let progress = pass(shader);
    if let Some(start) = start {
        let time = start.elapsed();
        let after = count_instructions(shader);
        let level = if progress { Level::Debug } else { Level::Trace };
        let verdict = if progress { "changed" } else { "no change" };
        log!(target: LOG_TARGET, level, "{name}: {verdict}, {before} -> {after} instructions, {time:?}");
    }
    #[cfg(debug_assertions)]
    if progress && let Err(errors) = crate::validate::validate(shader) {
        panic!("pass {name} broke the shader: {errors}");
    }
    progress
}
