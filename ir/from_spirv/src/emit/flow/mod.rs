//! Control flow.

use super::Emitter;

/// The state of the control flow of a function.
#[derive(Debug, Default)]
pub(crate) struct State {}

impl Emitter<'_, '_, '_> {
    /// Emits the blocks of the function.
    pub(super) fn emit_blocks(&mut self) {
        self.find_shared_locals();
    }
}
