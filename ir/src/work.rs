//! Counted work, for tests: how often instructions, operands and links between blocks are looked at. Times differ from
//! machine to machine, this does not.

use std::cell::Cell;

use crate::shader::Shader;

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Looks most often at each thing: what is quadratic in any of tens of thousands of things does so far more often.
const MOST: u64 = 500;

/// Something was looked at.
#[inline]
pub(crate) fn step() {
    STEPS.set(STEPS.get() + 1);
}

/// The result of `work`, and its steps.
pub(crate) fn steps<R>(work: impl FnOnce() -> R) -> (R, u64) {
    let before = STEPS.get();
    let result = work();
    (result, STEPS.get() - before)
}

/// Runs a pass, which must not take many more steps than there are things in the shader before or after it.
pub(crate) fn check_linear(name: &str, shader: &mut Shader, pass: impl FnOnce(&mut Shader) -> bool) -> bool {
    let before = things(shader);
    let (progress, steps) = steps(|| pass(shader));
    let things = before.max(things(shader));
    assert!(steps <= MOST * things, "{name} takes {steps} steps for {things} things");
    progress
}

/// Instructions, uses and blocks that there were ever made.
fn things(shader: &Shader) -> u64 {
    let of = |body: &crate::Body| body.num_insts() + body.num_uses() + body.num_blocks();
    shader.functions.values().filter_map(|function| function.body.as_ref()).map(of).sum::<usize>() as u64 + 1
}
