//! Images.

use spirv::Op;

use crate::emit::Emitter;
use crate::emit::instructions::Outcome;
use crate::error::SpirvError;
use crate::words::Inst;

impl Emitter<'_, '_, '_> {
    pub(crate) fn image_group(&mut self, _op: Op, _inst: &Inst<'_>) -> Result<Outcome, SpirvError> {
        Ok(Outcome::Other)
    }
}
