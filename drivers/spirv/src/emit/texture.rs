//! Texture lookups and queries.
//!
//! | IR | SPIR-V |
//! |---|---|
//! | `tex`, `txb` | `OpImageSample[Dref]ImplicitLod`, with `Bias`; fragment shaders only |
//! | `txl`, `txd` | `OpImageSample[Dref]ExplicitLod` with `Lod` or `Grad` |
//! | `tg4` | `OpImageGather`, `OpImageDrefGather` |
//! | `txf`, `txf_ms` | `OpImageFetch` if the texel exists |
//! | `txs`, `query_levels`, `texture_samples`, `lod` | `OpImageQuery*` |
//!
//! Earlier passes of this driver divide by projectors, scale coordinates of rectangles, add offsets that are not
//! constant, and give an explicit level to lookups outside of fragment shaders.

mod fetch;
mod lookup;
mod query;
pub mod texel_buffers;
pub mod units;
pub mod variables;

use tgsi_ir::Inst;
use tgsi_ir::body::TexOp;

use super::Emitter;
use crate::error::SpirvError;

pub use variables::Textures;

impl Emitter<'_> {
    pub(super) fn emit_texture(&mut self, inst: Inst) -> Result<(), SpirvError> {
        let body = self.body;
        let (Some(tex), Some(def)) = (body.tex(inst).copied(), body.inst_def(inst)) else { return Ok(()) };
        if tex.is_sparse {
            return Err(SpirvError::Unsupported { inst, what: "a lookup that returns residency" });
        }
        if body.bit_size(def) != 32 {
            return Err(SpirvError::Unsupported { inst, what: "texels that are not of 32 bits" });
        }
        match tex.op {
            TexOp::Tex | TexOp::Txb | TexOp::Txl | TexOp::Txd => self.emit_texture_sample(inst, def, &tex),
            TexOp::Tg4 => self.emit_texture_gather(inst, def, &tex),
            TexOp::Txf | TexOp::TxfMs => self.emit_texture_fetch(inst, def, &tex),
            TexOp::Txs | TexOp::QueryLevels | TexOp::TextureSamples => self.emit_texture_query(inst, def, &tex),
            TexOp::Lod => self.emit_level_query(inst, def, &tex),
            TexOp::TxfMsFb | TexOp::TexPrefetch | TexOp::SamplesIdentical | TexOp::SamplePos => {
                Err(SpirvError::Unsupported { inst, what: "a lookup that only some hardware has" })
            }
        }
    }
}
