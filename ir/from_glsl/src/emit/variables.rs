//! Variables of the IR.

use tgsi_arithmetic::Operand;
use tgsi_ir::body::Shape;
use tgsi_ir::entities::{Def, Type as IrType, Variable as IrVariable};
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::intrinsics::indices::InterpMode;
use tgsi_ir::shader::ShaderStage;
use tgsi_ir::variable::{VariableData, VariableModes};
use tgsi_ir::{Builder, Cursor};

use super::places::{Place, Value};
use super::{Context, Emitter, bit_size, index};
use crate::builtins::variables::Role;
use crate::program::{ConstantId, Interpolation, Storage, VariableId};
use crate::types::{Scalar, TypeData, TypeId};

impl Context<'_> {
    /// A variable of the shader that no other shader and no pipeline sees.
    pub(super) fn temporary(&mut self, name: &str, ty: IrType) -> IrVariable {
        self.shader.add_variable(VariableData::new(name, ty, VariableModes::SHADER_TEMP))
    }

    /// Adds a variable that the pipeline sees, of a type that may be another than in the language.
    pub(super) fn interface_variable(&mut self, id: VariableId, ty: IrType, mode: VariableModes) -> IrVariable {
        let variable = self.program.variable(id);
        let mut data = VariableData::new(self.interner.spelling(variable.name).to_owned(), ty, mode);
        data.location = -1;
        data.invariant = variable.traits.invariant;
        data.centroid = variable.traits.centroid;
        data.sample = variable.traits.sample;
        if mode == VariableModes::SHADER_IN && self.program.stage == ShaderStage::Fragment {
            data.interpolation = match variable.traits.interpolation {
                Interpolation::Smooth => InterpMode::Smooth,
                Interpolation::Flat => InterpMode::Flat,
                Interpolation::Noperspective => InterpMode::NoPerspective,
            };
        }
        let ir = self.shader.add_variable(data);
        self.interface.push((id, ir));
        ir
    }

    /// The variable of a constant that is an array or struct.
    pub(super) fn constant_variable(&mut self, id: ConstantId) -> IrVariable {
        if let Some(&known) = self.constants.get(&id) {
            return known;
        }
        let ty = self.ir_type(self.program.constant(id).ty);
        let variable = self.temporary("constant", ty);
        self.constants.insert(id, variable);
        variable
    }

    /// Stores the values of constants in memory at the start of the entry point.
    pub(super) fn initialize_constants(&mut self, entry: tgsi_ir::entities::Function) {
        let mut constants: Vec<(ConstantId, IrVariable)> = self.constants.iter().map(|(&id, &v)| (id, v)).collect();
        constants.sort_unstable();
        let Some(mut body) = self.shader.functions.get_mut(entry).and_then(|data| data.body.take()) else { return };
        let start = body.start_block();
        let mut emitter = Emitter {
            context: self,
            b: Builder::new(&mut body, Cursor::BlockStart(start)),
            samplers: Vec::new(),
            result: None,
            loops: Vec::new(),
            is_unreachable: false,
        };
        for (id, variable) in constants {
            emitter.initialize_constant(id, variable);
        }
        if let Some(data) = self.shader.functions.get_mut(entry) {
            data.body = Some(body);
        }
    }
}

impl Emitter<'_, '_, '_> {
    /// The memory of a variable.
    pub(super) fn variable(&mut self, id: VariableId, ty: TypeId) -> Value {
        if let Some((_, argument)) = self.samplers.iter().find(|(parameter, _)| *parameter == id) {
            let argument = argument.clone();
            return self.sampler_memory(&argument);
        }
        if let Some(value) = self.system_value(id, ty) {
            return value;
        }
        let variable = self.ir_variable(id);
        // The type may have got its length after this expression.
        let declared = self.context.program.variable(id).ty;
        let is_state = self.context.is_state(id) && self.context.is_packed(declared);
        let ir_type = if is_state { self.context.state_type(declared) } else { self.context.ir_type(declared) };
        let mode = self.context.shader.variables[variable].mode;
        let deref = self.b.deref_var(variable, mode, ir_type);
        if is_state {
            return Value::State(deref, declared);
        }
        let ty = if matches!(self.context.program.types.get(ty), TypeData::Array { .. }) { declared } else { ty };
        Value::Memory(deref, ty)
    }

    /// The value of a variable of the language that the pipeline provides.
    fn system_value(&mut self, id: VariableId, ty: TypeId) -> Option<Value> {
        let program = self.context.program;
        let Storage::Builtin(builtin) = program.variable(id).storage else { return None };
        let Role::SystemValue(value) = builtin.role(program.version) else { return None };
        let (scalar, components) = program.types.as_vector(ty)?;
        let bits = if scalar == Scalar::Bool { 1 } else { 32 };
        let op = IntrinsicOp::loading(value)?;
        Some(Value::Operand(Operand::Vector(self.b.intrinsic_def(op, &[], &[], Shape::new(components, bits)))))
    }

    /// The IR variable of a variable; of an output, its shadow.
    fn ir_variable(&mut self, id: VariableId) -> IrVariable {
        if let Some(&known) = self.context.variables.get(&id) {
            return known;
        }
        if let Some(array) = self.context.distances(id) {
            self.context.variables.insert(id, array);
            return array;
        }
        let program = self.context.program;
        let data = program.variable(id);
        let ty =
            if self.context.is_state(id) { self.context.state_type(data.ty) } else { self.context.ir_type(data.ty) };
        let name = self.context.interner.spelling(data.name).to_owned();
        let mode = match data.storage {
            Storage::Local | Storage::Const => None,
            Storage::Global => Some(VariableModes::SHADER_TEMP),
            Storage::Uniform => Some(VariableModes::UNIFORM),
            Storage::Input => Some(VariableModes::SHADER_IN),
            Storage::Output => Some(VariableModes::SHADER_OUT),
            Storage::Builtin(builtin) => Some(match builtin.role(program.version) {
                Role::Input(_) => VariableModes::SHADER_IN,
                Role::Output(_) => VariableModes::SHADER_OUT,
                Role::SystemValue(_) => VariableModes::SYSTEM_VALUE,
                Role::State | Role::Constant(_) => VariableModes::UNIFORM,
            }),
        };
        let variable = match mode {
            // Parameters are variables of the shader: callers store them.
            None | Some(VariableModes::SHADER_TEMP) => self.context.temporary(&name, ty),
            Some(mode) => {
                let ir = self.context.interface_variable(id, ty, mode);
                if mode == VariableModes::SHADER_OUT { self.shadow(ir, &name, ty) } else { ir }
            }
        };
        self.context.variables.insert(id, variable);
        variable
    }

    /// Adds the shadow of an output, which the shader reads and writes.
    fn shadow(&mut self, output: IrVariable, name: &str, ty: IrType) -> IrVariable {
        let shadow = self.context.temporary(name, ty);
        self.context.shadows.push((output, shadow));
        shadow
    }

    /// Stores the shadows of outputs that are written.
    pub(super) fn store_outputs(&mut self) {
        // Functions that are not emitted yet may use outputs, too.
        let program = self.context.program;
        for &id in &program.globals {
            let variable = program.variable(id);
            let is_output = match variable.storage {
                Storage::Output => true,
                Storage::Builtin(builtin) => matches!(builtin.role(program.version), Role::Output(_)),
                _ => false,
            };
            if is_output && variable.is_written {
                self.ir_variable(id);
            }
        }
        for number in 0..self.context.shadows.len() {
            let Some(&(output, shadow)) = self.context.shadows.get(number) else { break };
            let ty = self.context.shader.variables[output].ty;
            let to = self.b.deref_var(output, VariableModes::SHADER_OUT, ty);
            let from = self.b.deref_var(shadow, VariableModes::SHADER_TEMP, ty);
            self.b.intrinsic(IntrinsicOp::CopyDeref, &[to, from], &[], None);
        }
        self.store_distances();
    }

    /// Memory for a value of a type.
    pub(super) fn temporary_of(&mut self, ty: TypeId) -> Def {
        let ir_type = self.context.ir_type(ty);
        let variable = self.context.temporary("value", ir_type);
        self.deref_temporary(variable, ty)
    }

    /// A variable for a boolean.
    pub(super) fn bool_temporary(&mut self) -> IrVariable {
        let ty = self.context.ir_type(TypeId::BOOL);
        self.context.temporary("condition", ty)
    }

    pub(super) fn deref_temporary(&mut self, variable: IrVariable, ty: TypeId) -> Def {
        let ty = self.context.ir_type(ty);
        self.b.deref_var(variable, VariableModes::SHADER_TEMP, ty)
    }

    pub(super) fn store_temporary(&mut self, variable: IrVariable, ty: TypeId, value: Def) {
        let deref = self.deref_temporary(variable, ty);
        self.store(Place { deref, ty, lanes: None }, Value::Operand(Operand::Vector(value)));
    }

    /// Stores the leaves of a constant.
    fn initialize_constant(&mut self, id: ConstantId, variable: IrVariable) {
        let program = self.context.program;
        let constant = program.constant(id);
        let mut bits = constant.bits.as_slice();
        let mut take = |count: usize| {
            let (taken, rest) = bits.split_at_checked(count).unwrap_or((bits, &[]));
            bits = rest;
            taken
        };
        let root = self.deref_temporary(variable, constant.ty);
        let mut pending = vec![(root, constant.ty)];
        while let Some((deref, ty)) = pending.pop() {
            match program.types.get(ty) {
                TypeData::Array { element, length } => {
                    for number in (0..length.unwrap_or(0)).rev() {
                        let number = index(&mut self.b, number);
                        pending.push((self.element_deref(deref, number, element), element));
                    }
                }
                TypeData::Struct(_) => {
                    for (number, field) in program.types.fields(ty).iter().enumerate().rev() {
                        pending.push((self.field_deref(deref, number as u32, field.ty), field.ty));
                    }
                }
                TypeData::Vector { scalar, components } => {
                    let value = self.b.constant(bit_size(scalar), take(components.into()));
                    self.store(Place { deref, ty, lanes: None }, Value::Operand(Operand::Vector(value)));
                }
                TypeData::Matrix { scalar, columns, rows } => {
                    let columns = (0..columns).map(|_| self.b.constant(bit_size(scalar), take(rows.into()))).collect();
                    self.store(Place { deref, ty, lanes: None }, Value::Operand(Operand::Matrix(columns)));
                }
                _ => {}
            }
        }
    }
}
