//! Functions of single stages: vertices of geometry shaders, interpolation of inputs.

use arrayvec::ArrayVec;
use tgsi_arithmetic::Operand;
use tgsi_environment::SystemValue;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::{InstData, Shape};
use tgsi_ir::entities::{Def, Function as IrFunction};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::shader::FunctionData;
use tgsi_ir::types::TypeData as IrTypeData;
use tgsi_ir::{Body, Builder};

use super::places::Value;
use super::{Context, EmitError, Emitter};
use crate::builtins::functions::BuiltinOp;
use crate::program::ExprId;

impl Context<'_> {
    /// The function that stores the outputs of a geometry shader, which each emitted vertex calls. Its body is added at
    /// the end, when all outputs are known.
    fn store_function(&mut self) -> IrFunction {
        if let Some(known) = self.store_function {
            return known;
        }
        let function = self.shader.functions.push(FunctionData {
            name: "store_outputs".to_owned(),
            parameters: Vec::new(),
            is_entry_point: false,
            is_exported: false,
            attributes: Vec::new(),
            body: Some(Body::new()),
        });
        self.store_function = Some(function);
        function
    }

    /// Adds the body of the function that stores outputs.
    pub(super) fn finish_store_function(&mut self) {
        let Some(function) = self.store_function else { return };
        let mut body = Body::new();
        let mut emitter = Emitter {
            context: self,
            b: Builder::at_end(&mut body),
            samplers: Vec::new(),
            result: None,
            loops: Vec::new(),
            is_unreachable: false,
        };
        emitter.store_outputs();
        self.set_body(function, body);
    }
}

impl Emitter<'_, '_, '_> {
    /// The size of a workgroup in a vector: a constant, or a system value if it is variable.
    fn workgroup_size(&mut self) -> Def {
        let size = self.context.program.layout.stage.local_size;
        if size.iter().all(Option::is_none) {
            return self.b.intrinsic_def(IntrinsicOp::LoadWorkgroupSize, &[], &[], Shape::new(3, 32));
        }
        self.b.constant(32, &size.map(|size| u64::from(size.unwrap_or(1))))
    }

    /// Numbers of invocations that follow from others, which not all targets have.
    pub(super) fn computed_value(&mut self, value: SystemValue) -> Option<Def> {
        let vector = Shape::new(3, 32);
        match value {
            SystemValue::GlobalInvocationId => {
                let group = self.b.intrinsic_def(IntrinsicOp::LoadWorkgroupId, &[], &[], vector);
                let local = self.b.intrinsic_def(IntrinsicOp::LoadLocalInvocationId, &[], &[], vector);
                let size = self.workgroup_size();
                let first = self.b.alu(AluOp::Imul, &[group, size]);
                Some(self.b.alu(AluOp::Iadd, &[first, local]))
            }
            SystemValue::LocalInvocationIndex => {
                // x + width * (y + height * z)
                let size = self.workgroup_size();
                let [width, height] = [0, 1].map(|component| self.b.channel(size, component));
                let local = self.b.intrinsic_def(IntrinsicOp::LoadLocalInvocationId, &[], &[], vector);
                let [x, y, z] = [0, 1, 2].map(|component| self.b.channel(local, component));
                let layers = self.b.alu(AluOp::Imul, &[height, z]);
                let rows = self.b.alu(AluOp::Iadd, &[y, layers]);
                let before = self.b.alu(AluOp::Imul, &[width, rows]);
                Some(self.b.alu(AluOp::Iadd, &[x, before]))
            }
            _ => None,
        }
    }

    /// The stream of an operand, which is constant.
    fn stream(&self, operands: &[ExprId]) -> u32 {
        let value = operands.first().and_then(|&operand| self.context.program.value(operand));
        value.and_then(|value| value.bits.first()).map_or(0, |&bits| (bits & 3) as u32)
    }

    /// `EmitVertex()` and `EmitStreamVertex()`.
    pub(super) fn emit_vertex(&mut self, operands: &[ExprId]) {
        let stream = self.stream(operands);
        let store = self.context.store_function();
        self.b.build(InstData::Call { callee: store, indirect: false }, &[], None);
        self.context.shader.info.gs.active_stream_mask |= 1 << stream;
        self.b.intrinsic(IntrinsicOp::EmitVertex, &[], &[(IndexKind::StreamId, stream as i32)], None);
    }

    /// `EndPrimitive()` and `EndStreamPrimitive()`.
    pub(super) fn end_primitive(&mut self, operands: &[ExprId]) {
        let stream = self.stream(operands);
        self.context.shader.info.gs.uses_end_primitive = true;
        self.b.intrinsic(IntrinsicOp::EndPrimitive, &[], &[(IndexKind::StreamId, stream as i32)], None);
    }

    /// `interpolateAtCentroid` and its siblings. A component or swizzle of an input interpolates the whole vector.
    pub(super) fn interpolate(&mut self, op: BuiltinOp, operands: &[ExprId]) -> Result<Value, EmitError> {
        let Some(&input) = operands.first() else { return Ok(Value::None) };
        let place = self.place(input)?;
        let mut sources: ArrayVec<Def, 2> = ArrayVec::new();
        sources.push(place.deref);
        if let Some(&position) = operands.get(1) {
            sources.push(self.vector_of(position)?);
        }
        let intrinsic = match op {
            BuiltinOp::InterpolateAtSample => IntrinsicOp::InterpDerefAtSample,
            BuiltinOp::InterpolateAtOffset => IntrinsicOp::InterpDerefAtOffset,
            _ => IntrinsicOp::InterpDerefAtCentroid,
        };
        let ty = self.b.body.deref_type(place.deref).map(|ty| self.context.shader.types.get(ty));
        let Some(&IrTypeData::Vector { scalar, components }) = ty else { return Ok(Value::None) };
        let shape = Shape::new(components, scalar.bit_size());
        let vector = self.b.intrinsic_def(intrinsic, &sources, &[], shape);
        Ok(match place.lanes {
            None => Value::Operand(Operand::Vector(vector)),
            Some(lanes) => Value::Operand(Operand::Vector(self.lanes_of(vector, lanes))),
        })
    }
}
