//! Variables of the IR.

use tgsi_arithmetic::Operand;
use tgsi_ir::body::Shape;
use tgsi_ir::entities::{Def, Type as IrType, Variable as IrVariable};
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::intrinsics::indices::InterpMode;
use tgsi_ir::shader::ShaderStage;
use tgsi_ir::variable::{VariableData, VariableModes};
use tgsi_ir::{Builder, Cursor};

use super::packed::Packed;
use super::places::{Place, Value};
use super::{Context, Emitter, bit_size, index};
use crate::builtins::formats::pixel_format;
use crate::builtins::variables::Role;
use crate::program::{ConstantId, Interpolation, Storage, VariableId};
use crate::types::{Scalar, TypeData, TypeId};

impl Context<'_> {
    /// Whether a variable of the language is one that a patch has, such as a level of tessellation.
    fn is_patch_level(&self, id: VariableId) -> bool {
        match self.program.variable(id).storage {
            // Outputs of tessellation control shaders that vertices have are members of `gl_out`.
            Storage::Builtin(builtin) if self.program.stage == ShaderStage::TessCtrl => {
                builtin.is_writable() && !builtin.name().starts_with("gl_out.")
            }
            Storage::Builtin(builtin) => builtin.name().starts_with("gl_TessLevel"),
            _ => false,
        }
    }

    /// A variable of the shader that no other shader and no pipeline sees.
    pub(super) fn temporary(&mut self, name: &str, ty: IrType) -> IrVariable {
        self.shader.add_variable(VariableData::new(name, ty, VariableModes::SHADER_TEMP))
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
        if let Some((scalar, length)) = self.context.packed_scalars(id) {
            let (of, first) = self.context.packed_place(id);
            let variable = self.ir_variable(of);
            let VariableData { mode, ty, .. } = self.context.shader.variables[variable];
            let deref = self.b.deref_var(variable, mode, ty);
            let is_arrayed = self.context.program.variable(id).is_per_vertex;
            self.context.note_distances(id);
            return Value::Packed(Packed { deref, first, length, scalar, is_arrayed });
        }
        let variable = self.ir_variable(id);
        // The type may have got its length after this expression.
        let declared = self.context.program.variable(id).ty;
        let is_state = self.context.is_state(id) && self.context.is_packed(declared);
        let VariableData { mode, ty: ir_type, .. } = self.context.shader.variables[variable];
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
        if let Some(computed) = self.computed_value(value).or_else(|| self.mask_value(value)) {
            return Some(Value::Operand(Operand::Vector(computed)));
        }
        let (element, is_array) = match program.types.get(ty) {
            TypeData::Array { element, .. } => (element, true),
            _ => (ty, false),
        };
        let (scalar, components) = program.types.as_vector(element)?;
        let bits = if scalar == Scalar::Bool { 1 } else { 32 };
        let op = IntrinsicOp::loading(value)?;
        if is_array {
            // An array of one element.
            let value = self.b.intrinsic_def(op, &[], &[], Shape::new(components, bits));
            let deref = self.temporary_of(ty);
            let zero = index(&mut self.b, 0);
            let first = self.element_deref(deref, zero);
            self.store(Place::new(first, element), Value::Operand(Operand::Vector(value)));
            return Some(Value::Memory(deref, ty));
        }
        Some(Value::Operand(Operand::Vector(self.b.intrinsic_def(op, &[], &[], Shape::new(components, bits)))))
    }

    /// The IR variable of a variable; of an output, its shadow.
    fn ir_variable(&mut self, id: VariableId) -> IrVariable {
        if let Some(&known) = self.context.variables.get(&id) {
            return known;
        }
        let program = self.context.program;
        let data = program.variable(id);
        let is_memory = matches!(data.storage, Storage::Uniform | Storage::Buffer);
        let ty = match data.block.filter(|_| is_memory) {
            Some(block) => self.context.block_type(data.ty, block),
            None if self.context.packed_length(id).is_some() => self.context.packed_array_type(id),
            None if self.context.is_state(id) => self.context.state_type(data.ty),
            None => self.context.ir_type(data.ty),
        };
        let name = self.context.interner.spelling(data.name).to_owned();
        let mode = match data.storage {
            Storage::Local | Storage::Const => None,
            Storage::Global => Some(VariableModes::SHADER_TEMP),
            Storage::Uniform if data.block.is_some() => Some(VariableModes::MEM_UBO),
            Storage::Uniform => match program.types.get(program.types.without_arrays(data.ty)) {
                TypeData::Image(_) => Some(VariableModes::IMAGE),
                _ => Some(VariableModes::UNIFORM),
            },
            Storage::Buffer => Some(VariableModes::MEM_SSBO),
            Storage::Shared => Some(VariableModes::MEM_SHARED),
            Storage::Input => Some(VariableModes::SHADER_IN),
            Storage::Output => Some(VariableModes::SHADER_OUT),
            // The framebuffer is copied from the output of the same colour.
            Storage::Builtin(_) if self.context.framebuffer_source(id).is_some() => Some(VariableModes::SHADER_TEMP),
            Storage::Builtin(builtin) => Some(match builtin.role(program.version) {
                Role::Input(_) => VariableModes::SHADER_IN,
                Role::Output(_) | Role::Framebuffer => VariableModes::SHADER_OUT,
                Role::Private => VariableModes::SHADER_TEMP,
                Role::SystemValue(_) => VariableModes::SYSTEM_VALUE,
                Role::State | Role::Constant(_) => VariableModes::UNIFORM,
            }),
        };
        let variable = match mode {
            // Parameters are variables of the shader: callers store them.
            None | Some(VariableModes::SHADER_TEMP) => self.context.temporary(&name, ty),
            Some(mode) => self.interface_variable(id, VariableData::new(name, ty, mode)),
        };
        self.context.variables.insert(id, variable);
        variable
    }

    /// Adds a variable that the pipeline sees. An output has a shadow, which is returned.
    fn interface_variable(&mut self, id: VariableId, mut data: VariableData) -> IrVariable {
        let variable = self.context.program.variable(id);
        let is_input = data.mode == VariableModes::SHADER_IN;
        let is_output = data.mode == VariableModes::SHADER_OUT;
        data.location = -1;
        data.invariant = variable.traits.invariant;
        data.centroid = variable.traits.centroid;
        data.sample = variable.traits.sample;
        data.per_vertex = variable.is_per_vertex;
        data.patch = variable.traits.patch || self.context.is_patch_level(id);
        self.context.shader.info.writes_memory |= data.mode == VariableModes::MEM_SSBO && variable.is_written;
        data.access = variable.traits.access;
        let inner = self.context.program.types.without_arrays(variable.ty);
        if let TypeData::Image(image) = self.context.program.types.get(inner) {
            data.image_format = pixel_format(&image, variable.traits.format);
        }
        if is_input && self.context.program.stage == ShaderStage::Fragment {
            data.interpolation = match variable.traits.interpolation {
                Interpolation::Smooth => InterpMode::Smooth,
                Interpolation::Flat => InterpMode::Flat,
                Interpolation::Noperspective => InterpMode::NoPerspective,
            };
        }
        let (name, ty) = (data.name.clone(), data.ty);
        data.fb_fetch_output = self.context.fetched_length(id) > 0;
        self.context.shader.info.fs.uses_fbfetch_output |= data.fb_fetch_output;
        let ir = self.context.shader.add_variable(data);
        self.context.interface.push((id, ir));
        if variable.is_framebuffer(self.context.program.version) {
            return ir;
        }
        // Invocations of a tessellation control shader read the outputs of others.
        if !is_output || self.context.program.stage == ShaderStage::TessCtrl {
            return ir;
        }
        let shadow = self.context.temporary(&name, ty);
        self.context.shadows.push((ir, shadow));
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
                let (of, _) = self.context.packed_place(id);
                self.ir_variable(of);
            }
        }
        for number in 0..self.context.shadows.len() {
            let Some(&(output, shadow)) = self.context.shadows.get(number) else { break };
            let ty = self.context.shader.variables[output].ty;
            let to = self.b.deref_var(output, VariableModes::SHADER_OUT, ty);
            let from = self.b.deref_var(shadow, VariableModes::SHADER_TEMP, ty);
            self.b.intrinsic(IntrinsicOp::CopyDeref, &[to, from], &[], None);
        }
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
        self.store(Place::new(deref, ty), Value::Operand(Operand::Vector(value)));
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
                        pending.push((self.element_deref(deref, number), element));
                    }
                }
                TypeData::Struct(_) => {
                    for (number, field) in program.types.fields(ty).iter().enumerate().rev() {
                        pending.push((self.field_deref(deref, number as u32), field.ty));
                    }
                }
                TypeData::Vector { scalar, components } => {
                    let value = self.b.constant(bit_size(scalar), take(components.into()));
                    self.store(Place::new(deref, ty), Value::Operand(Operand::Vector(value)));
                }
                TypeData::Matrix { scalar, columns, rows } => {
                    let columns = (0..columns).map(|_| self.b.constant(bit_size(scalar), take(rows.into()))).collect();
                    self.store(Place::new(deref, ty), Value::Operand(Operand::Matrix(columns)));
                }
                _ => {}
            }
        }
    }
}
