//! Rule 24: texture instructions.

use super::{Checker, ShapeName, TexSrcName, ValidationErrorKind};
use crate::alu::{AluType, BaseType};
use crate::body::{DEFAULT_TG4_OFFSETS, InstData, Shape, TexData, TexOp, TexSrcKind};
use crate::entities::{Def, Inst};
use crate::types::{ScalarType, TypeData};
use tgsi_environment::SamplerDim;

impl Checker<'_> {
    pub(super) fn check_texture(&mut self, inst: Inst) {
        let body = self.body;
        let Some(tex) = body.checked_tex(inst) else {
            return self.report_inst(inst, ValidationErrorKind::TexSourceKind { number: 0 });
        };
        let mut seen = 0u32;
        for (number, source) in body.sources(inst).enumerate() {
            let Some(&kind) = usize::try_from(body.payload(source)).ok().and_then(|k| TexSrcKind::ALL.get(k)) else {
                self.report_inst(inst, ValidationErrorKind::TexSourceKind { number });
                continue;
            };
            let name = TexSrcName(kind);
            self.expect(inst, seen & 1 << kind as u8 == 0, ValidationErrorKind::TexSourceTwice { kind: name });
            seen |= 1 << kind as u8;
            let def = body.src_def(source);
            if let Some(expected) = source_components(tex, kind) {
                let found = body.num_components(def);
                let error = ValidationErrorKind::TexSourceSize { kind: name, expected, found };
                self.expect(inst, found == expected, error);
            }
            self.expect(inst, takes_source(tex, kind), ValidationErrorKind::TexSource { kind: name });
            if matches!(kind, TexSrcKind::TextureDeref | TexSrcKind::SamplerDeref) {
                self.check_texture_deref(inst, tex, kind, def);
            }
        }
        let is_multisampled = matches!(tex.dim, SamplerDim::Ms | SamplerDim::SubpassMs);
        let dim_fits = match tex.op {
            TexOp::Txf => !is_multisampled,
            TexOp::TxfMs => is_multisampled,
            _ => true,
        };
        self.expect(inst, dim_fits, ValidationErrorKind::TexDim);
        let is_gather = tex.op == TexOp::Tg4;
        let component = tex.component;
        let component_fits = component == 0 || (is_gather && component < 4);
        self.expect(inst, component_fits, ValidationErrorKind::TexComponent { component });
        let has_offset = seen & 1 << TexSrcKind::Offset as u8 != 0;
        let offsets_fit = tex.tg4_offsets == DEFAULT_TG4_OFFSETS || (is_gather && !has_offset);
        self.expect(inst, offsets_fit, ValidationErrorKind::TexOffsets);
        self.expect(inst, is_gather || !tex.is_gather_implicit_lod, ValidationErrorKind::TexGatherLod);
        let bits = if tex.dest_type.is_unsized() { 32 } else { tex.dest_type.bit_size };
        let expected = Shape::new(tex.dest_components(), bits);
        let found = self.def_shape(inst);
        let error = ValidationErrorKind::TexDest { expected: ShapeName(expected), found: ShapeName(found) };
        self.expect(inst, found == expected, error);
        if !fits_operation(tex) {
            self.report_inst(inst, ValidationErrorKind::TexResultType { found: tex.dest_type });
        }
    }

    fn check_texture_deref(&mut self, inst: Inst, tex: &TexData, kind: TexSrcKind, def: Def) {
        let name = TexSrcName(kind);
        let producer = self.body.checked_def_inst(def).map(|m| *self.body.inst(m));
        let Some(InstData::Deref { ty, .. }) = producer else {
            return self.report_inst(inst, ValidationErrorKind::TexDeref { kind: name });
        };
        if !self.shader.types.contains(ty) {
            return;
        }
        let result = match (self.shader.types.get(ty), kind) {
            (TypeData::Sampler { .. }, TexSrcKind::SamplerDeref) => return,
            (
                TypeData::Sampler { result, .. } | TypeData::Texture { result, .. } | TypeData::Image { result, .. },
                TexSrcKind::TextureDeref,
            ) => *result,
            _ => return self.report_inst(inst, ValidationErrorKind::TexDeref { kind: name }),
        };
        let of_operation = tex.op.is_query() || tex.op == TexOp::SamplesIdentical;
        if !of_operation && !gives(result, tex.dest_type) {
            self.report_inst(inst, ValidationErrorKind::TexResultType { found: tex.dest_type });
        }
    }
}

/// Number of components of a source; `None` for any number.
fn source_components(tex: &TexData, kind: TexSrcKind) -> Option<u8> {
    let without_layer = tex.coord_components.saturating_sub(u8::from(tex.is_array));
    match kind {
        TexSrcKind::Coord => Some(tex.coord_components),
        TexSrcKind::Offset => Some(without_layer),
        TexSrcKind::Ddx | TexSrcKind::Ddy => {
            Some(if tex.array_is_lowered_cube { tex.coord_components } else { without_layer })
        }
        TexSrcKind::TextureHandle | TexSrcKind::SamplerHandle | TexSrcKind::Backend1 | TexSrcKind::Backend2 => None,
        TexSrcKind::Projector
        | TexSrcKind::Comparator
        | TexSrcKind::Bias
        | TexSrcKind::Lod
        | TexSrcKind::MinLod
        | TexSrcKind::MsIndex
        | TexSrcKind::TextureDeref
        | TexSrcKind::SamplerDeref
        | TexSrcKind::TextureOffset
        | TexSrcKind::SamplerOffset
        | TexSrcKind::SamplerDerefIntrinsic
        | TexSrcKind::TextureDerefIntrinsic
        | TexSrcKind::Plane => Some(1),
    }
}

/// Whether the operation supports a source of this kind.
fn takes_source(tex: &TexData, kind: TexSrcKind) -> bool {
    match kind {
        TexSrcKind::Comparator => tex.is_shadow,
        TexSrcKind::Bias => matches!(tex.op, TexOp::Txb | TexOp::Tg4 | TexOp::Lod),
        TexSrcKind::Lod => !matches!(tex.op, TexOp::Tex | TexOp::Txb | TexOp::Txd | TexOp::Lod),
        TexSrcKind::Ddx | TexSrcKind::Ddy => tex.op == TexOp::Txd,
        _ => true,
    }
}

/// Whether the operation, regardless of the texture, can have results of the type.
fn fits_operation(tex: &TexData) -> bool {
    let base = tex.dest_type.base;
    match tex.op {
        TexOp::Lod | TexOp::SamplePos => base == BaseType::Float,
        TexOp::SamplesIdentical => base == BaseType::Bool,
        TexOp::Txs | TexOp::TextureSamples | TexOp::QueryLevels => matches!(base, BaseType::Int | BaseType::Uint),
        _ => base != BaseType::Invalid,
    }
}

/// Whether a texture with this sampled type can have results of a type: floats for floats, integers for integers.
fn gives(sampled: ScalarType, dest: AluType) -> bool {
    match sampled {
        ScalarType::Void => true,
        _ => sampled.is_float() == (dest.base == BaseType::Float),
    }
}
