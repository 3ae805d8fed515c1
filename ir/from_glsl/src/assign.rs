//! Assigns slots and registers to the variables that a shader uses, after dead code is gone.
//!
//! * Uniforms take registers in the order of their declaration, state after them; arrays whose indices are all constant
//!   end at the largest one. Samplers take units in the order of declaration, without registers.
//! * Vertex attributes take generic slots: explicit locations first, then by the number of slots, the largest first;
//!   generic slot 0 stays free if `gl_Vertex` is used. Registers are numbered in the order of slots.
//! * Varyings of a shader alone take slots from `VAR0` in the order of their declaration, used or not, so that two stages
//!   with the same declarations agree. In a pipeline they have the slots that linking assigns.

use rustc_hash::FxHashMap;
use tgsi_compiler::front_end::{Interface, InterfaceVariable, Uniform};
use tgsi_ir::body::DerefKind;
use tgsi_ir::entities::{Inst, User, Variable as IrVariable};
use tgsi_ir::shader::{Shader, ShaderStage};
use tgsi_ir::slots::{FragResult, VaryingSlot, VertAttrib};
use tgsi_ir::types::TypeData as IrTypeData;
use tgsi_ir::{Body, InstData};

use crate::builtins::variables::Role;
use crate::link::Slots;
use crate::members::{members, samplers};
use crate::program::{Program, Storage, VariableId};
use crate::symbol::Interner;
use crate::types::{TypeData, TypeId};

/// Generic vertex attributes.
const ATTRIBUTES: u32 = 16;

/// The use of a variable by the code that is left.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Usage {
    is_used: bool,
    /// The largest constant index into the outermost dimension.
    max_index: u32,
    /// The constant indices below 64.
    indices: u64,
    /// Whether it is used other than by constant indices.
    is_whole: bool,
}

/// The uses of all variables of the shader.
pub(crate) fn usages(shader: &Shader) -> FxHashMap<IrVariable, Usage> {
    let mut usages: FxHashMap<IrVariable, Usage> = FxHashMap::default();
    for body in shader.functions.values().filter_map(|function| function.body.as_ref()) {
        for inst in body.blocks().flat_map(|block| body.insts(block)) {
            let InstData::Deref { kind: DerefKind::Var(variable), .. } = *body.inst(inst) else { continue };
            let usage = usages.entry(variable).or_default();
            usage.is_used = true;
            note_uses(body, inst, usage);
        }
    }
    usages
}

fn note_uses(body: &Body, deref: Inst, usage: &mut Usage) {
    let Some(def) = body.inst_def(deref) else { return };
    for source in body.uses_of(def) {
        let User::Inst(user) = body.user(source) else { continue };
        let index = match body.inst(user) {
            InstData::Deref { kind: DerefKind::Array, .. } => body.constant_component(body.src(user, 1), 0),
            _ => None,
        };
        match index {
            Some(index) => {
                usage.max_index = usage.max_index.max(index as u32);
                usage.indices |= 1u64.checked_shl(index as u32).unwrap_or(0);
            }
            None => usage.is_whole = true,
        }
    }
}

/// Assigns everything, and describes it.
pub(crate) fn assign(
    shader: &mut Shader,
    program: &Program,
    interner: &Interner,
    variables: &[(VariableId, IrVariable)],
    slots: &Slots,
) -> Interface {
    let usages = usages(shader);
    let mut assigner = Assigner { shader, program, interner, usages, slots, interface: Interface::default() };
    let by_declaration: FxHashMap<VariableId, IrVariable> = variables.iter().copied().collect();
    let ordered: Vec<(VariableId, Option<IrVariable>)> =
        program.globals.iter().map(|&id| (id, by_declaration.get(&id).copied())).collect();
    assigner.uniforms(&ordered);
    assigner.inputs(&ordered);
    assigner.outputs(&ordered);
    assigner.layout();
    assigner.interface
}

struct Assigner<'a> {
    shader: &'a mut Shader,
    program: &'a Program,
    interner: &'a Interner,
    usages: FxHashMap<IrVariable, Usage>,
    /// Slots that linking assigned to variables between stages.
    slots: &'a Slots,
    interface: Interface,
}

impl Assigner<'_> {
    fn name(&self, id: VariableId) -> String {
        self.interner.spelling(self.program.variable(id).name).to_owned()
    }

    fn usage(&self, variable: IrVariable) -> Usage {
        self.usages.get(&variable).copied().unwrap_or_default()
    }

    fn is_state(&self, id: VariableId) -> bool {
        matches!(self.program.variable(id).storage, Storage::Builtin(builtin) if builtin.role(self.program.version) == Role::State)
    }

    fn uniforms(&mut self, variables: &[(VariableId, Option<IrVariable>)]) {
        let program = self.program;
        let (mut register, mut unit) = (0, 0);
        // The order of state is that of Mesa's drivers.
        let mut ordered = variables.to_vec();
        ordered.sort_by_key(|&(id, _)| match program.variable(id).storage {
            Storage::Builtin(variable) => Some(variable),
            _ => None,
        });
        for state in [false, true] {
            for &(id, variable) in &ordered {
                let data = program.variable(id);
                let is_uniform = data.storage == Storage::Uniform;
                if self.is_state(id) != state || !(is_uniform || state) {
                    continue;
                }
                let usage = variable.map(|variable| self.usage(variable)).unwrap_or_default();
                let Some(variable) = variable.filter(|_| usage.is_used) else {
                    if is_uniform {
                        let name = self.name(id);
                        self.interface.unused.push(name);
                    }
                    continue;
                };
                if program.types.summary(data.ty).has_opaque {
                    self.sampler(id, variable, &mut unit);
                }
                let (ty, num_registers) = self.used_type(id, usage);
                // Structs may have samplers and other fields.
                if num_registers == 0 {
                    continue;
                }
                let members = members(program, self.interner, id, [register, num_registers]);
                let ty = program.types.name(ty, self.interner);
                let mut uniform = Uniform::new(self.name(id), ty, register, num_registers, members);
                uniform.is_state = state;
                uniform.initial = self.initial(id);
                self.interface.uniforms.push(uniform);
                self.shorten(variable, usage);
                if let Some(data) = self.shader.variables.get_mut(variable) {
                    data.driver_location = register;
                    data.location = -1;
                }
                register = register.saturating_add(num_registers);
            }
        }
        self.shader.num_uniforms = register;
        self.shader.info.num_textures = unit;
    }

    /// The value of an initialiser, or the words of the registers of state.
    fn initial(&self, id: VariableId) -> Option<Vec<u64>> {
        let data = self.program.variable(id);
        let Storage::Builtin(builtin) = data.storage else {
            return data.value.map(|value| self.program.constant(value).bits.clone());
        };
        let length = match self.program.types.get(data.ty) {
            TypeData::Array { length, .. } => length.unwrap_or(1),
            _ => 1,
        };
        let registers = (0..length).flat_map(|element| builtin.initial_registers(element));
        Some(registers.flatten().map(|value| u64::from(value.to_bits())).collect())
    }

    /// Ends the array of a variable at the largest index. The derefs keep their type until they are lowered.
    fn shorten(&mut self, variable: IrVariable, usage: Usage) {
        let Shader { variables, types, .. } = &mut *self.shader;
        let Some(data) = variables.get_mut(variable).filter(|_| !usage.is_whole) else { return };
        if let IrTypeData::Array { element, length, stride } = *types.get(data.ty) {
            let length = length.min(usage.max_index.saturating_add(1));
            data.ty = types.intern(IrTypeData::Array { element, length, stride });
        }
    }

    /// The type of a uniform, and its registers up to the largest index.
    fn used_type(&self, id: VariableId, usage: Usage) -> (TypeId, u32) {
        let types = &self.program.types;
        let variable = self.program.variable(id);
        let of_type = |ty| match variable.storage {
            Storage::Builtin(builtin) => builtin.state_registers(),
            _ => types.summary(ty).registers,
        };
        let registers = match types.get(variable.ty) {
            TypeData::Array { element, length: Some(length) } => {
                let used = if usage.is_whole { length } else { usage.max_index.saturating_add(1).min(length) };
                of_type(element).saturating_mul(used)
            }
            _ => of_type(variable.ty),
        };
        (variable.ty, registers)
    }

    fn sampler(&mut self, id: VariableId, variable: IrVariable, unit: &mut u32) {
        let data = self.program.variable(id);
        let first = data.traits.binding.unwrap_or(*unit);
        let samplers = samplers(self.program, self.interner, id, first);
        let num_units = samplers.iter().fold(0u32, |sum, sampler| sum.saturating_add(sampler.num_units));
        self.interface.samplers.extend(samplers);
        if let Some(data) = self.shader.variables.get_mut(variable) {
            data.driver_location = first;
            data.binding = first;
            data.location = -1;
        }
        let units = (first..first.saturating_add(num_units)).take_while(|&unit| unit < 128);
        for unit in units {
            self.shader.info.textures_used |= 1 << unit;
            self.shader.info.samplers_used |= if unit < 32 { 1 << unit } else { 0 };
        }
        *unit = (*unit).max(first.saturating_add(num_units));
    }

    /// Slots that a variable takes.
    fn slots_of(&self, ty: TypeId) -> u32 {
        self.program.types.summary(ty).registers.max(1)
    }

    fn inputs(&mut self, variables: &[(VariableId, Option<IrVariable>)]) {
        let program = self.program;
        let is_vertex = program.stage == ShaderStage::Vertex;
        let mut found: Vec<(VariableId, IrVariable, i32)> = Vec::new();
        let mut generic: Vec<(VariableId, Option<IrVariable>)> = Vec::new();
        let mut uses_position = false;
        for &(id, variable) in variables {
            let used = variable.filter(|&variable| self.usage(variable).is_used);
            match program.variable(id).storage {
                Storage::Input => generic.push((id, used)),
                Storage::Builtin(builtin) => {
                    let (Role::Input(slot), Some(variable)) = (builtin.role(program.version), used) else { continue };
                    uses_position |= is_vertex && slot == VertAttrib::POS;
                    found.push((id, variable, slot.into()));
                }
                _ => {}
            }
        }
        if is_vertex {
            self.attributes(&generic, uses_position, &mut found);
        } else {
            self.varyings(&generic, &mut found);
        }
        self.shader.num_inputs = self.number(found, true);
    }

    /// Gives vertex attributes generic slots.
    fn attributes(
        &mut self,
        generic: &[(VariableId, Option<IrVariable>)],
        uses_position: bool,
        found: &mut Vec<(VariableId, IrVariable, i32)>,
    ) {
        let mut taken = u32::from(uses_position);
        let mask = |first: u32, slots: u32| (((1u64 << slots.min(32)) - 1) << first.min(32)) as u32;
        let used = || generic.iter().filter_map(|&(id, variable)| Some((id, variable?)));
        for (id, variable) in used() {
            if let Some(location) = self.program.variable(id).traits.location {
                taken |= mask(location, self.slots_of(self.program.variable(id).ty));
                found.push((
                    id,
                    variable,
                    i32::from(VertAttrib::GENERIC0).saturating_add(location.min(1 << 20) as i32),
                ));
            }
        }
        let mut rest: Vec<_> = used().filter(|(id, _)| self.program.variable(*id).traits.location.is_none()).collect();
        // A stable sort: variables of one size keep the order of declaration.
        rest.sort_by_key(|(id, _)| std::cmp::Reverse(self.slots_of(self.program.variable(*id).ty)));
        for (id, variable) in rest {
            let slots = self.slots_of(self.program.variable(id).ty);
            let free = (0..ATTRIBUTES).find(|&first| first + slots <= ATTRIBUTES && taken & mask(first, slots) == 0);
            let first = free.unwrap_or(ATTRIBUTES);
            taken |= mask(first, slots);
            found.push((id, variable, i32::from(VertAttrib::GENERIC0) + first as i32));
        }
    }

    /// Gives varyings the slots of linking, else slots in the order of declaration.
    fn varyings(
        &mut self,
        generic: &[(VariableId, Option<IrVariable>)],
        found: &mut Vec<(VariableId, IrVariable, i32)>,
    ) {
        let mut next = 0;
        for &(id, variable) in generic {
            let data = self.program.variable(id);
            let first = self.slots.get(&id).copied().or(data.traits.location).unwrap_or(next);
            next = next.max(first.saturating_add(self.slots_of(data.ty)));
            if let Some(variable) = variable {
                found.push((id, variable, i32::from(VaryingSlot::VAR0).saturating_add(first.min(1 << 20) as i32)));
            }
        }
    }

    fn outputs(&mut self, variables: &[(VariableId, Option<IrVariable>)]) {
        let program = self.program;
        let is_fragment = program.stage == ShaderStage::Fragment;
        let mut found: Vec<(VariableId, IrVariable, i32)> = Vec::new();
        let mut generic: Vec<(VariableId, Option<IrVariable>)> = Vec::new();
        for &(id, variable) in variables {
            let used = variable.filter(|&variable| self.usage(variable).is_used);
            match program.variable(id).storage {
                Storage::Output => generic.push((id, used)),
                Storage::Builtin(builtin) => {
                    let (Role::Output(slot), Some(variable)) = (builtin.role(program.version), used) else { continue };
                    found.push((id, variable, slot.into()));
                    if is_fragment {
                        self.shader.info.fs.untyped_color_outputs |= slot == FragResult::COLOR;
                    }
                }
                _ => {}
            }
        }
        if is_fragment {
            let mut next = 0;
            for &(id, variable) in &generic {
                let data = program.variable(id);
                let first = data.traits.location.unwrap_or(next);
                next = next.max(first.saturating_add(self.slots_of(data.ty)));
                if let Some(variable) = variable {
                    found.push((id, variable, i32::from(FragResult::DATA0).saturating_add(first.min(1 << 20) as i32)));
                }
            }
        } else {
            self.varyings(&generic, &mut found);
        }
        self.shader.num_outputs = self.number(found, false);
    }

    /// Layouts of the shader as a whole, and of fragment outputs.
    fn layout(&mut self) {
        let program = self.program;
        if program.stage != ShaderStage::Fragment {
            return;
        }
        let layout = program.layout;
        let is_dual = |&id: &VariableId| program.variable(id).traits.index.is_some_and(|index| index > 0);
        let info = &mut self.shader.info.fs;
        info.origin_upper_left = layout.origin_upper_left;
        info.pixel_center_integer = layout.pixel_center_integer;
        info.early_fragment_tests = layout.early_fragment_tests;
        info.depth_layout = layout.depth;
        info.color_is_dual_source = program.globals.iter().any(is_dual);
    }

    /// Numbers registers in the order of slots. Returns their number.
    fn number(&mut self, mut found: Vec<(VariableId, IrVariable, i32)>, is_input: bool) -> u32 {
        found.sort_by_key(|&(_, _, location)| location);
        let mut register = 0u32;
        for (id, variable, location) in found {
            let ty = self.program.variable(id).ty;
            let builtin = match self.program.variable(id).storage {
                Storage::Builtin(builtin) => Some(builtin),
                _ => None,
            };
            // Distances are components of vectors. Those of culling alone begin in the first one, too.
            let is_distance = builtin.is_some_and(|builtin| builtin.distance(self.program.stage).is_some());
            let location = if is_distance { VaryingSlot::CLIP_DIST0.into() } else { location };
            let is_compact = !is_distance && builtin.is_some_and(|builtin| builtin.is_compact());
            let slots = match self.shader.variables.get(variable).map(|data| self.shader.types.slots(data.ty)) {
                // Output arrays may be shorter than their type in the language.
                Some(slots) if is_distance || !is_input && !is_compact => slots.max(1),
                _ if is_compact => self.slots_of(ty).div_ceil(4),
                _ => self.slots_of(ty),
            };
            let name = self.program.types.name(ty, self.interner);
            let described = InterfaceVariable::new(self.name(id), name, location, register);
            let list = if is_input { &mut self.interface.inputs } else { &mut self.interface.outputs };
            list.push(described);
            let is_fragment = self.program.stage == ShaderStage::Fragment;
            if let Some(data) = self.shader.variables.get_mut(variable) {
                data.location = location;
                data.driver_location = register;
                data.compact = is_compact;
                // Depth is in z of its register, stencil in y.
                if !is_input && is_fragment && location == i32::from(FragResult::DEPTH) {
                    data.location_frac = 2;
                } else if !is_input && is_fragment && location == i32::from(FragResult::STENCIL) {
                    data.location_frac = 1;
                }
            }
            // Elements of arrays that are not used are not in the interface.
            let usage = self.usage(variable);
            let of_element = match self.program.types.get(ty) {
                TypeData::Array { element, length: Some(2..=64) } if !usage.is_whole && !is_compact && !is_distance => {
                    Some(self.slots_of(element))
                }
                _ => None,
            };
            let is_used = |slot: &i32| {
                let element = of_element.map(|slots| (slot - location) as u32 / slots);
                element.is_none_or(|element| usage.indices >> element.min(63) & 1 != 0)
            };
            for slot in (location..).take(slots as usize).filter(|slot| (0..64).contains(slot)).filter(is_used) {
                let info = &mut self.shader.info;
                let bits = if is_input { &mut info.inputs_read } else { &mut info.outputs_written };
                *bits |= 1 << slot;
            }
            register = register.saturating_add(slots);
        }
        register
    }
}
