//! Calls of functions of the shader and of the language.

use tgsi_arithmetic::Operand;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::{InstData, Shape};
use tgsi_ir::entities::{Def, Variable as IrVariable};
use tgsi_ir::intrinsics::IntrinsicOp;

use super::places::{Place, Value};
use super::{EmitError, Emitter};
use crate::builtins::functions::BuiltinOp;
use crate::compute;
use crate::program::{Expr, ExprId, ExprKind, ExprList, FunctionId, VariableId};
use crate::token::TokenRange;
use crate::types::{Scalar, TypeId};

/// A step from a uniform to a sampler in it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum SamplerStep {
    /// A field of a struct.
    Field(u32, TypeId),
    /// An element of an array.
    Element(u32, TypeId),
    /// An element at an index that the caller stores in this variable.
    Index(IrVariable, TypeId),
}

/// The samplers that an argument names.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct SamplerArgument {
    /// A uniform.
    pub(super) uniform: VariableId,
    /// The steps from it.
    pub(super) steps: Vec<SamplerStep>,
}

/// An argument that was evaluated.
enum Argument {
    Value(Value),
    /// A target, and its value for `inout`.
    Target(Place, Option<Value>),
    Samplers,
}

/// The arguments of a call.
struct Arguments {
    values: Vec<Argument>,
    samplers: Vec<SamplerArgument>,
}

impl Emitter<'_, '_, '_> {
    /// A call of a function of the shader.
    pub(super) fn call(&mut self, id: FunctionId, list: ExprList, expr: &Expr) -> Result<Value, EmitError> {
        let arguments = self.arguments(id, list)?;
        self.call_with(id, &arguments, list, expr.tokens)
    }

    /// A call of the function that a subroutine uniform selects: a chain of comparisons with the numbers of the
    /// functions. The last function is that of all other numbers.
    pub(super) fn call_subroutine(
        &mut self,
        selector: ExprId,
        ty: FunctionId,
        list: ExprList,
        expr: &Expr,
    ) -> Result<Value, EmitError> {
        let program = self.context.program;
        let of_type = program.function(ty);
        let has_result = of_type.result != TypeId::VOID;
        let Some((&(last, _), others)) = of_type.callees.split_last() else {
            // No function can be selected.
            let result = has_result.then(|| self.temporary_of(of_type.result));
            return Ok(result.map_or(Value::None, |deref| Value::Memory(deref, of_type.result)));
        };
        if others.is_empty() {
            return self.call(last, list, expr);
        }
        let selected = match self.value(selector)? {
            Value::Memory(deref, _) => self.load(deref, TypeId::UINT),
            other => self.operand(other),
        };
        let selected = self.scalar(Value::Operand(selected));
        let arguments = self.arguments(ty, list)?;
        let result = has_result.then(|| self.temporary_of(of_type.result));
        let mut branches = Vec::with_capacity(others.len());
        for &(function, _) in others {
            let number = super::index(&mut self.b, program.function(function).subroutine.unwrap_or(0));
            let condition = self.b.alu(AluOp::Ieq, &[selected, number]);
            let branch = self.b.push_if(condition);
            self.call_into(function, &arguments, list, expr, result)?;
            self.b.push_else(branch);
            branches.push(branch);
        }
        self.call_into(last, &arguments, list, expr, result)?;
        while let Some(branch) = branches.pop() {
            self.b.end_if(branch);
        }
        Ok(result.map_or(Value::None, |deref| Value::Memory(deref, of_type.result)))
    }

    /// A call whose result is stored to memory.
    fn call_into(
        &mut self,
        id: FunctionId,
        arguments: &Arguments,
        list: ExprList,
        expr: &Expr,
        result: Option<Def>,
    ) -> Result<(), EmitError> {
        let value = self.call_with(id, arguments, list, expr.tokens)?;
        if let Some(deref) = result {
            self.store(Place::new(deref, expr.ty), value);
        }
        Ok(())
    }

    /// Evaluates the arguments of a call.
    fn arguments(&mut self, id: FunctionId, list: ExprList) -> Result<Arguments, EmitError> {
        let program = self.context.program;
        let callee = program.function(id);
        let operands = program.list(list);
        let mut samplers = Vec::new();
        let mut values = Vec::with_capacity(operands.len());
        for (number, (&operand, parameter)) in operands.iter().zip(&callee.parameters).enumerate() {
            if program.types.summary(parameter.ty).has_opaque {
                samplers.push(self.sampler_argument(operand)?);
                values.push(Argument::Samplers);
                continue;
            }
            if parameter.direction.writes() {
                let place = self.place(operand)?;
                let value = parameter.direction.reads().then(|| self.load_place(place));
                let from = program.expr(operand).ty;
                let value = value.map(|value| self.converted(value, from, parameter.ty));
                values.push(Argument::Target(place, value));
                continue;
            }
            let value = self.value(operand)?;
            // A later argument may change memory.
            let rest = operands.get(number + 1..).unwrap_or_default();
            let changes = rest.iter().any(|&other| program.expr(other).has_effects);
            values.push(Argument::Value(if changes { self.detached(value) } else { self.loaded(value) }));
        }
        Ok(Arguments { values, samplers })
    }

    /// A call of a function with arguments that were evaluated.
    fn call_with(
        &mut self,
        id: FunctionId,
        arguments: &Arguments,
        list: ExprList,
        tokens: TokenRange,
    ) -> Result<Value, EmitError> {
        let program = self.context.program;
        let callee = program.function(id);
        let operands = program.list(list);
        let (target, result) = self.context.function(id, arguments.samplers.clone(), tokens)?;
        for (argument, parameter) in arguments.values.iter().zip(&callee.parameters) {
            let Some(variable) = parameter.variable else { continue };
            let value = match argument {
                Argument::Value(value) | Argument::Target(_, Some(value)) => value.clone(),
                Argument::Target(_, None) | Argument::Samplers => continue,
            };
            if let Value::Memory(deref, ty) = self.variable(variable, parameter.ty) {
                self.store(Place::new(deref, ty), value);
            }
        }
        self.b.build(InstData::Call { callee: target, indirect: false }, &[], None);
        let result = match result {
            Some(result) => {
                let deref = self.deref_temporary(result, callee.result);
                // The next call of the function overwrites it.
                self.detached(Value::Memory(deref, callee.result))
            }
            None => Value::None,
        };
        for ((argument, parameter), &operand) in arguments.values.iter().zip(&callee.parameters).zip(operands) {
            let (Argument::Target(place, _), Some(variable)) = (argument, parameter.variable) else { continue };
            let value = self.variable(variable, parameter.ty);
            let value = self.converted(value, parameter.ty, program.expr(operand).ty);
            self.store(*place, value);
        }
        Ok(result)
    }

    /// A value with its components converted to the scalar of another type.
    fn converted(&mut self, value: Value, from: TypeId, to: TypeId) -> Value {
        let types = &self.context.program.types;
        let (Some(a), Some(b)) = (types.scalar(from), types.scalar(to)) else { return value };
        if a == b {
            return self.loaded(value);
        }
        let operand = self.operand(value);
        Value::Operand(compute::operators::convert(&mut self.b, a, b, &operand))
    }

    /// The samplers of an argument. Indices that are not constant are stored for the callee.
    pub(super) fn sampler_argument(&mut self, expr: ExprId) -> Result<SamplerArgument, EmitError> {
        let program = self.context.program;
        let mut steps = Vec::new();
        let mut current = expr;
        loop {
            let node = *program.expr(current);
            match node.kind {
                ExprKind::Field(base, field) => {
                    steps.push(SamplerStep::Field(field, node.ty));
                    current = base;
                }
                ExprKind::Index(base, number) => {
                    let constant = program.value(number).and_then(|value| value.bits.first().copied());
                    steps.push(match constant {
                        Some(number) => SamplerStep::Element(number as u32, node.ty),
                        None => {
                            let number = self.vector_of(number)?;
                            let ty = self.context.ir_type(TypeId::INT);
                            let variable = self.context.temporary("sampler_index", ty);
                            self.store_temporary(variable, TypeId::INT, number);
                            SamplerStep::Index(variable, node.ty)
                        }
                    });
                    current = base;
                }
                ExprKind::Variable(variable) => {
                    steps.reverse();
                    let outer = self.samplers.iter().find(|(parameter, _)| *parameter == variable);
                    let mut argument = match outer {
                        Some((_, argument)) => argument.clone(),
                        None => SamplerArgument { uniform: variable, steps: Vec::new() },
                    };
                    argument.steps.extend(steps);
                    return Ok(argument);
                }
                // Semantic analysis reports other expressions of sampler types.
                _ => return Ok(SamplerArgument { uniform: VariableId(0), steps: Vec::new() }),
            }
        }
    }

    /// The memory of samplers.
    pub(super) fn sampler_memory(&mut self, argument: &SamplerArgument) -> Value {
        let ty = self.context.program.variable(argument.uniform).ty;
        let mut value = self.variable(argument.uniform, ty);
        for &step in &argument.steps {
            let Value::Memory(deref, _) = value else { break };
            value = match step {
                SamplerStep::Field(field, ty) => Value::Memory(self.field_deref(deref, field), ty),
                SamplerStep::Element(number, ty) => {
                    let number = super::index(&mut self.b, number);
                    Value::Memory(self.element_deref(deref, number), ty)
                }
                SamplerStep::Index(variable, ty) => {
                    let number = self.deref_temporary(variable, TypeId::INT);
                    let number = self.load(number, TypeId::INT);
                    let number = self.scalar(Value::Operand(number));
                    Value::Memory(self.element_deref(deref, number), ty)
                }
            };
        }
        value
    }

    /// A call of a function of the language.
    pub(super) fn builtin(&mut self, op: BuiltinOp, list: ExprList, expr: &Expr) -> Result<Value, EmitError> {
        let program = self.context.program;
        let operands = program.list(list);
        let vector = |def: Def| Value::Operand(Operand::Vector(def));
        match op {
            BuiltinOp::Texture(texture) => return self.texture(texture, operands, expr),
            BuiltinOp::Image(op) => return self.image(op, operands, expr),
            BuiltinOp::Atomic(kind) => return self.memory_atomic(kind, operands),
            BuiltinOp::Counter(op) => return self.counter(op, operands),
            BuiltinOp::Barrier
            | BuiltinOp::MemoryBarrier
            | BuiltinOp::MemoryBarrierAtomicCounter
            | BuiltinOp::MemoryBarrierBuffer
            | BuiltinOp::MemoryBarrierImage
            | BuiltinOp::MemoryBarrierShared
            | BuiltinOp::GroupMemoryBarrier => {
                self.barrier(op);
                return Ok(Value::None);
            }
            BuiltinOp::DFdx(detail) | BuiltinOp::DFdy(detail) => {
                let along_x = matches!(op, BuiltinOp::DFdx(_));
                let Some(&operand) = operands.first() else { return Ok(Value::None) };
                let value = self.vector_of(operand)?;
                return Ok(vector(self.derivative(along_x, detail, value)));
            }
            BuiltinOp::Fwidth(detail) => {
                let Some(&operand) = operands.first() else { return Ok(Value::None) };
                let value = self.vector_of(operand)?;
                let derivatives = [true, false].map(|along_x| {
                    let derivative = self.derivative(along_x, detail, value);
                    self.b.alu(AluOp::Fabs, &[derivative])
                });
                return Ok(vector(self.b.alu(AluOp::Fadd, &derivatives)));
            }
            BuiltinOp::EmitVertex => {
                self.emit_vertex(operands);
                return Ok(Value::None);
            }
            BuiltinOp::EndPrimitive => {
                self.end_primitive(operands);
                return Ok(Value::None);
            }
            BuiltinOp::InterpolateAtCentroid | BuiltinOp::InterpolateAtSample | BuiltinOp::InterpolateAtOffset => {
                return self.interpolate(op, operands);
            }
            BuiltinOp::AnyInvocation | BuiltinOp::AllInvocations | BuiltinOp::AllInvocationsEqual => {
                return self.vote(op, operands);
            }
            BuiltinOp::Ballot | BuiltinOp::ReadInvocation | BuiltinOp::ReadFirstInvocation => {
                return self.ballot(op, operands);
            }
            BuiltinOp::Clock => return Ok(self.clock(expr.ty)),
            BuiltinOp::BeginInterlock | BuiltinOp::EndInterlock => {
                let is_begin = op == BuiltinOp::BeginInterlock;
                let section =
                    if is_begin { IntrinsicOp::BeginInvocationInterlock } else { IntrinsicOp::EndInvocationInterlock };
                self.b.intrinsic(section, &[], &[], None);
                return Ok(Value::None);
            }
            BuiltinOp::HelperInvocation => {
                let shape = Shape::new(1, 1);
                return Ok(vector(self.b.intrinsic_def(IntrinsicOp::IsHelperInvocation, &[], &[], shape)));
            }
            BuiltinOp::Noise => {
                let count = program.types.as_vector(expr.ty).map_or(1, |(_, count)| count);
                for &operand in operands {
                    self.value(operand)?;
                }
                let zeros = [0; 4];
                return Ok(vector(self.b.constant(32, zeros.get(..usize::from(count)).unwrap_or(&zeros))));
            }
            _ => {}
        }
        // Targets of results besides the value, in the order of the parameters.
        let first_output = operands.len().saturating_sub(op.num_outputs());
        let mut values = Vec::with_capacity(operands.len());
        let mut targets: Vec<Place> = Vec::new();
        for (number, &operand) in operands.iter().enumerate() {
            if number >= first_output {
                targets.push(self.place(operand)?);
            } else {
                let scalar = program.types.scalar(program.expr(operand).ty).unwrap_or(Scalar::Float);
                values.push(compute::functions::Argument { scalar, operand: self.operand_of(operand)? });
            }
        }
        let Some(results) = compute::functions::builtin(&mut self.b, op, &values) else { return Ok(Value::None) };
        for (&place, result) in targets.iter().zip(results.outputs) {
            self.store(place, Value::Operand(result));
        }
        Ok(results.value.map_or(Value::None, Value::Operand))
    }
}
