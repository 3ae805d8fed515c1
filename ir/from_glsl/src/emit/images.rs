//! Images: loads, stores, atomic operations and queries.

use arrayvec::ArrayVec;
use tgsi_arithmetic::Operand;
use tgsi_ir::Swizzle;
use tgsi_ir::body::Shape;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};

use super::memory::atomic_op;
use super::places::Value;
use super::textures::alu_type;
use super::{EmitError, Emitter};
use crate::builtins::formats::{is_multisampled, pixel_format};
use crate::builtins::functions::ImageOp;
use crate::program::{Expr, ExprId, ExprKind, Traits, VariableId};
use crate::types::{ImageType, TypeData};

/// The indices of an intrinsic on images.
type Indices = ArrayVec<(IndexKind, i32), 6>;

impl Emitter<'_, '_, '_> {
    /// A load, store, atomic operation or query.
    pub(super) fn image(&mut self, op: ImageOp, operands: &[ExprId], expr: &Expr) -> Result<Value, EmitError> {
        let program = self.context.program;
        let Some((&image_expr, rest)) = operands.split_first() else { return Ok(Value::None) };
        let TypeData::Image(image) = program.types.get(program.expr(image_expr).ty) else { return Ok(Value::None) };
        let mut indices = self.image_indices(&image, image_expr);
        let Value::Memory(deref, _) = self.value(image_expr)? else { return Ok(Value::None) };
        let count = program.types.as_vector(expr.ty).map_or(1, |(_, count)| count);
        let vector = |def: Def| Ok(Value::Operand(Operand::Vector(def)));
        match op {
            ImageOp::Size => {
                self.context.shader.info.uses_resource_info_query = true;
                let level = self.b.u32_const(0);
                let shape = Shape::new(count, 32);
                return vector(self.b.intrinsic_def(IntrinsicOp::ImageDerefSize, &[deref, level], &indices, shape));
            }
            ImageOp::Samples => {
                self.context.shader.info.uses_resource_info_query = true;
                let shape = Shape::new(1, 32);
                return vector(self.b.intrinsic_def(IntrinsicOp::ImageDerefSamples, &[deref], &indices, shape));
            }
            ImageOp::Load | ImageOp::Store | ImageOp::Atomic(_) => {}
        }
        let mut values: ArrayVec<Def, 4> = ArrayVec::new();
        for &operand in rest.iter().take(4) {
            values.push(self.vector_of(operand)?);
        }
        let (Some((&coordinate, rest)), is_multisampled) = (values.split_first(), is_multisampled(&image)) else {
            return Ok(Value::None);
        };
        let coordinate = self.texel_coordinate(coordinate);
        let (sample, data) = match rest.split_first() {
            Some((&sample, data)) if is_multisampled => (sample, data),
            _ => (self.b.u32_const(0), rest),
        };
        match op {
            ImageOp::Store => {
                let Some(&texel) = data.first() else { return Ok(Value::None) };
                self.context.shader.info.writes_memory = true;
                indices.push((IndexKind::SrcType, alu_type(image.texel).to_i32()));
                let level = self.b.u32_const(0);
                let sources = [deref, coordinate, sample, texel, level];
                self.b.intrinsic(IntrinsicOp::ImageDerefStore, &sources, &indices, None);
                Ok(Value::None)
            }
            ImageOp::Atomic(kind) => {
                self.context.shader.info.writes_memory = true;
                let atomic = atomic_op(kind, image.texel);
                indices.push((IndexKind::AtomicOp, atomic.to_i32()));
                let op =
                    if atomic.is_swap() { IntrinsicOp::ImageDerefAtomicSwap } else { IntrinsicOp::ImageDerefAtomic };
                let sources: ArrayVec<Def, 5> =
                    [deref, coordinate, sample].into_iter().chain(data.iter().copied().take(2)).collect();
                vector(self.b.intrinsic_def(op, &sources, &indices, Shape::new(1, 32)))
            }
            ImageOp::Load | ImageOp::Size | ImageOp::Samples => {
                indices.push((IndexKind::DestType, alu_type(image.texel).to_i32()));
                let level = self.b.u32_const(0);
                let sources = [deref, coordinate, sample, level];
                vector(self.b.intrinsic_def(IntrinsicOp::ImageDerefLoad, &sources, &indices, Shape::new(4, 32)))
            }
        }
    }

    /// The qualifiers of the image that an expression names: the memory qualifiers of the variable or parameter, and
    /// the format of the uniform.
    fn image_traits(&self, mut expr: ExprId) -> Traits {
        let program = self.context.program;
        let variable = loop {
            expr = match program.expr(expr).kind {
                ExprKind::Index(base, _) | ExprKind::Field(base, _) => base,
                ExprKind::Variable(id) => break id,
                _ => return Traits::default(),
            };
        };
        let uniform = self.uniform_of(variable);
        Traits { access: program.variable(variable).traits.access, ..program.variable(uniform).traits }
    }

    /// The uniform that is the argument of a parameter; other variables as they are.
    fn uniform_of(&self, variable: VariableId) -> VariableId {
        let found = self.samplers.iter().find(|(parameter, _)| *parameter == variable);
        found.map_or(variable, |(_, argument)| argument.uniform)
    }

    /// The indices that all intrinsics on images have.
    fn image_indices(&self, image: &ImageType, expr: ExprId) -> Indices {
        let traits = self.image_traits(expr);
        [
            (IndexKind::ImageDim, image.dim.to_i32()),
            (IndexKind::ImageArray, i32::from(image.array)),
            (IndexKind::Format, i32::from(pixel_format(image, traits.format).value())),
            (IndexKind::Access, traits.access.to_i32()),
        ]
        .into_iter()
        .collect()
    }

    /// A coordinate with four components, the last ones of which do not matter.
    fn texel_coordinate(&mut self, coordinate: Def) -> Def {
        let last = self.b.body.num_components(coordinate).saturating_sub(1);
        let swizzle = Swizzle::new(&[0, 1.min(last), 2.min(last), 3.min(last)]);
        self.b.mov(AluSrc::new(coordinate, swizzle), 4)
    }
}
