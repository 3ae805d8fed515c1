//! Texture functions.

use arrayvec::ArrayVec;
use tgsi_arithmetic::Operand;
use tgsi_ir::Swizzle;
use tgsi_ir::alu::AluType;
use tgsi_ir::body::{TexData, TexOp, TexSrcKind};
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::Def;

use super::places::Value;
use super::{EmitError, Emitter};
use crate::builtins::functions::{TextureArgument, TextureOp};
use crate::program::{Expr, ExprId};
use crate::types::{SamplerType, Scalar, TypeData};

/// Sources of a texture instruction.
type Sources = ArrayVec<(TexSrcKind, Def), 16>;

/// The type of texels.
pub(super) fn alu_type(scalar: Scalar) -> AluType {
    match scalar {
        Scalar::Int => AluType::INT32,
        Scalar::Uint => AluType::UINT32,
        _ => AluType::FLOAT32,
    }
}

impl Emitter<'_, '_, '_> {
    /// A lookup, fetch, gather or query.
    pub(super) fn texture(&mut self, op: TextureOp, operands: &[ExprId], expr: &Expr) -> Result<Value, EmitError> {
        let program = self.context.program;
        let sampler_at = op.argument(TextureArgument::Sampler).unwrap_or(0);
        let Some(&sampler_expr) = operands.get(sampler_at) else { return Ok(Value::None) };
        let TypeData::Sampler(sampler) = program.types.get(program.expr(sampler_expr).ty) else {
            return Ok(Value::None);
        };
        let Value::Memory(deref, _) = self.value(sampler_expr)? else { return Ok(Value::None) };
        let ir_op = self.operation(&op);
        if ir_op == TexOp::Lod && !program.has_derivatives() {
            return Ok(Value::Operand(Operand::Vector(self.b.constant(32, &[0, 0]))));
        }
        let result = if matches!(ir_op, TexOp::Txs | TexOp::QueryLevels | TexOp::TextureSamples) {
            AluType::INT32
        } else if ir_op == TexOp::SamplesIdentical {
            AluType::BOOL1
        } else if ir_op == TexOp::Lod || sampler.shadow {
            AluType::FLOAT32
        } else {
            alu_type(sampler.result)
        };
        let mut data = TexData::new(ir_op, sampler.dim, result);
        data.is_array = sampler.array;
        let components = program.types.as_vector(expr.ty).map_or(1, |(_, count)| count);
        let mut sources = Sources::new();
        let mut push = |kind, def| {
            let _ = sources.try_push((kind, def));
        };
        push(TexSrcKind::TextureDeref, deref);
        if ir_op.needs_sampler() {
            push(TexSrcKind::SamplerDeref, deref);
        }
        let mut values: ArrayVec<Option<Def>, 8> = ArrayVec::new();
        for (number, &operand) in operands.iter().enumerate().take(8) {
            let meaning = op.arguments().get(number).copied().unwrap_or(TextureArgument::None);
            let is_value =
                !matches!(meaning, TextureArgument::Sampler | TextureArgument::Component | TextureArgument::Offsets);
            values.push(if is_value { Some(self.vector_of(operand)?) } else { None });
        }
        for (number, value) in values.iter().enumerate() {
            let (Some(&meaning), Some(value)) = (op.arguments().get(number), *value) else { continue };
            match meaning {
                TextureArgument::Coordinate => {
                    self.coordinate(&op, &sampler, value, &mut data, &mut sources);
                }
                TextureArgument::Comparator => {
                    data.is_shadow = true;
                    let _ = sources.try_push((TexSrcKind::Comparator, value));
                }
                // A bias of the level that has no derivatives stays at level 0.
                TextureArgument::Bias if ir_op == TexOp::Txl => {}
                TextureArgument::Bias => {
                    let _ = sources.try_push((TexSrcKind::Bias, value));
                }
                TextureArgument::Lod => {
                    let _ = sources.try_push((TexSrcKind::Lod, value));
                }
                TextureArgument::Ddx => {
                    let _ = sources.try_push((TexSrcKind::Ddx, value));
                }
                TextureArgument::Ddy => {
                    let _ = sources.try_push((TexSrcKind::Ddy, value));
                }
                TextureArgument::Offset => {
                    let _ = sources.try_push((TexSrcKind::Offset, value));
                }
                TextureArgument::Sample => {
                    let _ = sources.try_push((TexSrcKind::MsIndex, value));
                }
                _ => {}
            }
        }
        self.level(ir_op, &op, &sampler, &mut sources);
        if let Some(component) = op.argument(TextureArgument::Component).and_then(|at| operands.get(at)) {
            let value = program.value(*component).and_then(|value| value.bits.first().copied());
            data.component = value.unwrap_or(0).min(3) as u8;
        }
        if let Some(offsets) = op.argument(TextureArgument::Offsets).and_then(|at| operands.get(at)) {
            let bits = program.value(*offsets).map(|value| value.bits.clone()).unwrap_or_default();
            for (offset, pair) in data.tg4_offsets.iter_mut().zip(bits.chunks(2)) {
                for (component, &bits) in offset.iter_mut().zip(pair) {
                    *component = (bits as u32 as i32).clamp(i8::MIN.into(), i8::MAX.into()) as i8;
                }
            }
        }
        // Gathers of a comparison give four results; lookups of old functions too.
        data.is_new_style_shadow = data.is_shadow && components == 1;
        self.note_texture(ir_op);
        let texels = self.b.texture(data, &sources);
        let found = self.b.body.num_components(texels);
        let def =
            if found > components { self.b.mov(AluSrc::new(texels, Swizzle::IDENTITY), components) } else { texels };
        Ok(Value::Operand(Operand::Vector(def)))
    }

    /// The operation: without derivatives, lookups are of level 0.
    fn operation(&self, op: &TextureOp) -> TexOp {
        let has_derivatives = self.context.program.has_derivatives();
        match op.op {
            TexOp::Tex | TexOp::Txb if !has_derivatives => TexOp::Txl,
            TexOp::Tex if op.argument(TextureArgument::Bias).is_some() => TexOp::Txb,
            other => other,
        }
    }

    /// Level 0, where an operation needs one that the function does not have.
    fn level(&mut self, ir_op: TexOp, op: &TextureOp, sampler: &SamplerType, sources: &mut Sources) {
        use tgsi_environment::SamplerDim as D;
        if op.argument(TextureArgument::Lod).is_some() {
            return;
        }
        let is_float = match ir_op {
            TexOp::Txl => true,
            TexOp::Txf => false,
            TexOp::Txs if !matches!(sampler.dim, D::Rect | D::Buf | D::Ms) => false,
            _ => return,
        };
        let zero = if is_float { self.b.f32_const(0.0) } else { self.b.u32_const(0) };
        let _ = sources.try_push((TexSrcKind::Lod, zero));
    }

    /// The coordinate, and the comparator and projector in it.
    fn coordinate(
        &mut self,
        op: &TextureOp,
        sampler: &SamplerType,
        value: Def,
        data: &mut TexData,
        sources: &mut Sources,
    ) {
        let count = if op.op == TexOp::Lod { sampler.dim.num_coords() } else { TextureOp::coordinates(sampler) };
        data.coord_components = count;
        let coordinate = self.b.mov(AluSrc::new(value, Swizzle::IDENTITY), count);
        let _ = sources.try_push((TexSrcKind::Coord, coordinate));
        if let Some(component) = op.comparator(sampler) {
            data.is_shadow = true;
            let comparator = self.b.channel(value, component);
            let _ = sources.try_push((TexSrcKind::Comparator, comparator));
        }
        if op.is_projective {
            let last = self.b.body.num_components(value).saturating_sub(1);
            let projector = self.b.channel(value, last);
            let _ = sources.try_push((TexSrcKind::Projector, projector));
        }
    }

    /// Records the use of a kind of operation in the shader's properties.
    fn note_texture(&mut self, op: TexOp) {
        let info = &mut self.context.shader.info;
        info.uses_texture_gather |= op == TexOp::Tg4;
        info.uses_resource_info_query |= op.is_query() && op != TexOp::Lod;
    }
}
