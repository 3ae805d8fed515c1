//! Queries: sizes, numbers of levels and samples, level of detail.

use smallvec::SmallVec;
use spirv::{Capability, GlslStd450Op, Op};
use tgsi_compiler::reflection::ResourceKind;
use tgsi_ir::body::{TexData, TexOp, TexSrcKind};
use tgsi_ir::{Def, Inst, Swizzle};

use super::variables::TextureShape;
use crate::emit::Emitter;
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};
use crate::plan::has_derivatives;

impl Emitter<'_> {
    /// Emits the size of a texture: signed, with the layers last. `level` is used if the texture has levels.
    pub fn texture_size(&mut self, shape: TextureShape, image: Id, level: Option<Id>) -> Id {
        self.module.need(Capability::ImageQuery);
        let ty = self.module.value_type(ValueType::new(Class::Int, 32, shape.components()));
        match level {
            Some(level) if shape.has_levels() => self.result(Op::ImageQuerySizeLod, ty, &[image.0, level.0]),
            _ if shape.has_levels() => {
                let first = self.module.int(0);
                self.result(Op::ImageQuerySizeLod, ty, &[image.0, first.0])
            }
            _ => self.result(Op::ImageQuerySize, ty, &[image.0]),
        }
    }

    /// Emits `level < levels`, unsigned; `None` if the level is known to exist. Without a query, the number of levels
    /// is the maximum for the size of the texture: it may have fewer, and the size of a missing level is 0.
    pub(super) fn level_exists(
        &mut self,
        inst: Inst,
        shape: TextureShape,
        image: Id,
    ) -> Result<Option<Id>, SpirvError> {
        let body = self.body;
        let Some(source) = body.tex_src(inst, TexSrcKind::Lod) else { return Ok(None) };
        let level = body.src_def(source);
        if !shape.has_levels() || body.constant_component(level, 0) == Some(0) {
            return Ok(None);
        }
        let level = self.component(level, 0, Class::Uint)?;
        let levels = if self.options.level_and_sample_queries {
            self.module.need(Capability::ImageQuery);
            let ty = self.module.value_type(ValueType::UINT);
            self.result(Op::ImageQueryLevels, ty, &[image.0])
        } else {
            self.most_levels(shape, image)
        };
        Ok(Some(self.is_below(level, levels)))
    }

    /// Emits the number of levels down to one texel: one more than the binary logarithm of the greatest dimension.
    fn most_levels(&mut self, shape: TextureShape, image: Id) -> Id {
        let size = self.texture_size(shape, image, None);
        let ty = ValueType::new(Class::Int, 32, shape.components());
        // The layers, the last component, do not shrink with the level.
        let dimensions = shape.components() - u8::from(shape.array);
        let mut greatest = self.take(size, ty, Swizzle::replicate(0), 1);
        for dimension in 1..dimensions {
            let other = self.take(size, ty, Swizzle::replicate(dimension), 1);
            greatest = self.glsl(GlslStd450Op::SMax, ValueType::INT, &[greatest, other]);
        }
        let logarithm = self.glsl(GlslStd450Op::FindSMsb, ValueType::INT, &[greatest]);
        let one = self.module.int(1);
        let levels = self.pure_of(Op::IAdd, ValueType::INT, &[logarithm, one]);
        self.pure_of(Op::Bitcast, ValueType::UINT, &[levels])
    }

    /// Emits `txs`, `query_levels`, `texture_samples`.
    pub(super) fn emit_texture_query(&mut self, inst: Inst, def: Def, tex: &TexData) -> Result<(), SpirvError> {
        let unit = self.texture_unit(inst)?;
        let shape = self.texture_shape(inst, &unit, tex)?;
        let count = if tex.op == TexOp::Txs { shape.components() } else { 1 };
        let ty = ValueType::new(Class::Int, 32, count);
        let id = self.of_element(&unit, ty, &mut |e, element| {
            if shape.dim == tgsi_environment::SamplerDim::Buf && e.options.wgsl {
                if tex.op != TexOp::Txs {
                    return Ok(e.module.int(1));
                }
                let texel = ValueType::new(shape.class, 32, 4);
                let block = e.block_of(inst, ResourceKind::Texture, &unit, element, texel, false)?;
                return Ok(e.texel_block_size(block));
            }
            let image = e.load_texture(shape, &unit, element);
            let type_id = e.module.value_type(ty);
            match tex.op {
                TexOp::Txs => {
                    let level = e.tex_source(inst, TexSrcKind::Lod, Class::Int)?;
                    let size = e.texture_size(shape, image, level);
                    // The size of a level beyond the last is undefined; ESSL cannot query the number of levels.
                    let exists = if e.options.portable || e.options.unguarded {
                        None
                    } else {
                        e.level_exists(inst, shape, image)?
                    };
                    Ok(match exists {
                        Some(exists) => {
                            let zero = e.module.null(type_id);
                            e.select(ty, exists, size, zero)
                        }
                        None => size,
                    })
                }
                // Textures without levels or samples have one.
                TexOp::QueryLevels if !shape.has_levels() => Ok(e.module.int(1)),
                TexOp::TextureSamples if !shape.is_multisampled() => Ok(e.module.int(1)),
                op => {
                    e.module.need(Capability::ImageQuery);
                    let op = if op == TexOp::QueryLevels { Op::ImageQueryLevels } else { Op::ImageQuerySamples };
                    Ok(e.result(op, type_id, &[image.0]))
                }
            }
        })?;
        let wanted = self.body.num_components(def);
        let id = self.fit_size(id, ty, wanted);
        self.define(def, id, Class::Int);
        Ok(())
    }

    /// Extends a vector with zeros, or truncates it, to `count` components.
    pub fn fit_size(&mut self, id: Id, ty: ValueType, count: u8) -> Id {
        if count <= ty.components {
            return self.take(id, ty, Swizzle::IDENTITY, count);
        }
        let zero = self.module.scalar(ty.scalar(), 0);
        let mut words: SmallVec<[u32; 4]> = smallvec::smallvec![id.0];
        words.extend((ty.components..count).map(|_| zero.0));
        let ty = self.module.value_type(ty.with_components(count));
        self.pure(Op::CompositeConstruct, ty, &words)
    }

    /// Emits `lod`: the accessed level and the computed one. Both are zero without derivatives.
    pub(super) fn emit_level_query(&mut self, inst: Inst, def: Def, tex: &TexData) -> Result<(), SpirvError> {
        let body = self.body;
        let ty = ValueType::new(Class::Float, 32, 2);
        let type_id = self.module.value_type(ty);
        let id = match body.tex_src(inst, TexSrcKind::Coord) {
            Some(source) if has_derivatives(self.shader) => {
                // The layer does not affect the level.
                let coordinate = body.src_def(source);
                let coordinate = self.swizzled(coordinate, Swizzle::IDENTITY, tex.dim.num_coords(), Class::Float)?;
                self.module.need(Capability::ImageQuery);
                self.of_sampled(inst, tex, ty, &mut |e, sampled| {
                    Ok(e.result(Op::ImageQueryLod, type_id, &[sampled.0, coordinate.0]))
                })?
            }
            _ => self.module.null(type_id),
        };
        self.define_texel(def, id, ty);
        Ok(())
    }
}
