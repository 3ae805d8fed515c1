//! Atomics, barriers, subgroups, derivatives, geometry.

use spirv::Op;

use crate::emit::Emitter;
use crate::emit::instructions::Outcome;
use crate::error::SpirvError;
use crate::words::Inst;

impl Emitter<'_, '_, '_> {
    /// A barrier of the workgroup and its memory.
    pub(crate) fn workgroup_barrier(&mut self) {}

    pub(crate) fn scope_group(&mut self, _op: Op, _inst: &Inst<'_>) -> Result<Outcome, SpirvError> {
        Ok(Outcome::Other)
    }
}
