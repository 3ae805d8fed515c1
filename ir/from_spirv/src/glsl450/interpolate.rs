//! Interpolation of inputs at other positions than those of the fragment.

use spirv::{GlslStd450Op as G, StorageClass};
use tgsi_ir::body::Shape;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::types::ScalarType;

use crate::alu::{Class, Term, checked};
use crate::emit::Emitter;
use crate::emit::value::Value;
use crate::error::SpirvError;
use crate::words::Inst;

impl Emitter<'_, '_, '_> {
    /// `InterpolateAtCentroid` and its siblings.
    pub(super) fn interpolate(
        &mut self,
        op: G,
        pointer: u32,
        rest: &[u32],
        inst: &Inst<'_>,
    ) -> Result<Value, SpirvError> {
        let misfit = |why| SpirvError::Types { op: format!("{op:?}"), why };
        let pointer = self.pointer(pointer)?;
        if pointer.class != StorageClass::Input as u32 {
            return Err(misfit("the pointer does not lead to an input"));
        }
        let (scalar, count) = self.result_vector(inst)?;
        let position: Option<(u8, Class)> = match op {
            G::InterpolateAtSample => Some((1, Class::Integer)),
            G::InterpolateAtOffset => Some((2, Class::Float)),
            _ => None,
        };
        let mut operands: Vec<Def> = Vec::with_capacity(2);
        if let Some((components, class)) = position {
            let &[id, ..] = rest else { return Err(misfit("the number of operands")) };
            let term = self.term(id)?;
            let error = |_| misfit("the position has another type");
            operands.push(checked(&self.b, term, class, components, 32).map_err(error)?);
        }
        // An access to a component interpolates the vector.
        let (deref, ty, component) = self.input_deref(&pointer)?;
        let whole = self.context.shader.types.as_vector(ty);
        let Some((found, components)) = whole.filter(|(scalar, _)| *scalar == ScalarType::Float) else {
            return Err(misfit("the input is not a vector of floats"));
        };
        operands.insert(0, deref);
        let intrinsic = match op {
            G::InterpolateAtSample => IntrinsicOp::InterpDerefAtSample,
            G::InterpolateAtOffset => IntrinsicOp::InterpDerefAtOffset,
            _ => IntrinsicOp::InterpDerefAtCentroid,
        };
        let shape = Shape::new(components, found.bit_size());
        let vector = self.b.intrinsic_def(intrinsic, &operands, &[], shape);
        let value = match component {
            Some(step) => self.component_at(vector, step),
            None => vector,
        };
        let value = checked(&self.b, Term { value, scalar }, Class::Float, count, scalar.bit_size());
        value.map(Value::Vector).map_err(|_| misfit("the result has another type"))
    }
}
