//! Texture lookups and queries.

use tgsi_ir::Inst;

use super::Emitter;
use crate::error::SpirvError;

/// The variables of textures and samplers.
#[derive(Debug, Default)]
pub struct Textures {}

impl Emitter<'_> {
    pub(super) fn texture(&mut self, inst: Inst) -> Result<(), SpirvError> {
        Err(SpirvError::Unsupported { inst, what: "a texture instruction" })
    }
}
