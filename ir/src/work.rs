//! Counts work for tests: how often instructions, operands and links between blocks are visited. Unlike times, the
//! count is the same on every machine.

use std::cell::Cell;

use crate::shader::Shader;

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Maximum visits per entity: quadratic work over tens of thousands of entities exceeds this by far.
const MAX_STEPS_PER_ENTITY: u64 = 500;

/// Counts one visit of an entity.
#[inline]
pub(crate) fn step() {
    STEPS.set(STEPS.get() + 1);
}

/// Returns the result of `work` and the number of its steps.
pub(crate) fn steps<R>(work: impl FnOnce() -> R) -> (R, u64) {
    let before = STEPS.get();
    let result = work();
    (result, STEPS.get() - before)
}

/// Runs a pass and checks that its steps are linear in the number of entities in the shader before or after it.
pub(crate) fn check_linear(name: &str, shader: &mut Shader, pass: impl FnOnce(&mut Shader) -> bool) -> bool {
    let before = entities(shader);
    let (progress, steps) = steps(|| pass(shader));
    let entities = before.max(entities(shader));
    assert!(steps <= MAX_STEPS_PER_ENTITY * entities, "{name} takes {steps} steps for {entities} entities");
    progress
}

/// Counts the instructions, uses and blocks ever created.
fn entities(shader: &Shader) -> u64 {
    let of = |body: &crate::Body| body.num_insts() + body.num_uses() + body.num_blocks();
    shader.functions.values().filter_map(|function| function.body.as_ref()).map(of).sum::<usize>() as u64 + 1
}
