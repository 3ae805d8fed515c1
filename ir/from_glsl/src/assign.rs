//! Assigns slots and registers to the variables that a shader uses, after dead code is gone.
//!
//! * Uniforms take registers in the order of their declaration, state after them; arrays whose indices are all constant
//!   end at the largest one. Samplers and images take units in the order of declaration, without registers.
//! * Vertex attributes take generic slots: explicit locations first, then by the number of slots, the largest first;
//!   generic slot 0 stays free if `gl_Vertex` is used. Registers are numbered in the order of slots.
//! * Varyings of a shader alone take slots from `VAR0` in the order of their declaration, used or not, so that two stages
//!   with the same declarations agree. In a pipeline they have the slots that linking assigns.

mod units;

use rustc_hash::FxHashMap;
use tgsi_compiler::front_end::{Interface, InterfaceVariable, Subroutine, Uniform};
use tgsi_ir::body::DerefKind;
use tgsi_ir::entities::{Inst, User, Variable as IrVariable};
use tgsi_ir::shader::{Shader, ShaderStage};
use tgsi_ir::slots::{FragResult, VaryingSlot, VertAttrib};
use tgsi_ir::types::TypeData as IrTypeData;
use tgsi_ir::{Body, InstData};

use crate::builtins::variables::Role;
use crate::link::Slots;
use crate::members::members;
use crate::program::{Program, Storage, VariableId};
use crate::stage_info::set_info;
use crate::symbol::{Interner, Symbol};
use crate::types::{TypeData, TypeId};

/// Generic vertex attributes.
const ATTRIBUTES: u32 = 16;

/// The use of a variable by the code that is left.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Usage {
    pub(crate) is_used: bool,
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
    assigner.blocks(&ordered);
    assigner.captures(&ordered);
    assigner.subroutines();
    set_info(assigner.shader, program);
    assigner.interface
}

pub(crate) struct Assigner<'a> {
    pub(crate) shader: &'a mut Shader,
    pub(crate) program: &'a Program,
    pub(crate) interner: &'a Interner,
    usages: FxHashMap<IrVariable, Usage>,
    /// Slots that linking assigned to variables between stages.
    slots: &'a Slots,
    pub(crate) interface: Interface,
}

/// The slot of a variable of the language. Cull distances without clip distances have the first slot of both.
fn shared_slot(slot: u8) -> u8 {
    if slot == VaryingSlot::CULL_DIST0 { VaryingSlot::CLIP_DIST0 } else { slot }
}

impl Assigner<'_> {
    fn name(&self, id: VariableId) -> String {
        self.interner.spelling(self.program.variable(id).name).to_owned()
    }

    pub(crate) fn usage(&self, variable: IrVariable) -> Usage {
        self.usages.get(&variable).copied().unwrap_or_default()
    }

    fn is_state(&self, id: VariableId) -> bool {
        matches!(self.program.variable(id).storage, Storage::Builtin(builtin) if builtin.role(self.program.version) == Role::State)
    }

    fn uniforms(&mut self, variables: &[(VariableId, Option<IrVariable>)]) {
        let program = self.program;
        let (mut register, mut unit, mut image) = (0, 0, 0);
        // The order of state is that of Mesa's drivers.
        let mut ordered = variables.to_vec();
        ordered.sort_by_key(|&(id, _)| match program.variable(id).storage {
            Storage::Builtin(variable) => Some(variable),
            _ => None,
        });
        for state in [false, true] {
            for &(id, variable) in &ordered {
                let data = program.variable(id);
                let is_uniform = data.storage == Storage::Uniform && data.block.is_none();
                if self.is_state(id) != state || !(is_uniform || state) {
                    continue;
                }
                let usage = variable.map(|variable| self.usage(variable)).unwrap_or_default();
                let summary = program.types.summary(data.ty);
                // Accesses to counters have no derefs.
                let is_counter = summary.counters > 0;
                let inner = program.types.get(program.types.without_arrays(data.ty));
                let is_subroutine = matches!(inner, TypeData::Subroutine(_));
                let Some(variable) = variable.filter(|_| usage.is_used || is_counter) else {
                    if is_uniform {
                        let name = self.name(id);
                        self.interface.unused.push(name);
                    }
                    continue;
                };
                if is_counter {
                    self.counters(id);
                } else if summary.has_opaque && !is_subroutine {
                    self.opaque(id, variable, &mut unit, &mut image);
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
        self.shader.info.num_images = image;
        self.interface.resources.sort_by_key(|resource| (resource.kind, resource.register, resource.offset));
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
                    let slot = shared_slot(slot);
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

    /// Gives vertex attributes locations, and generic slots by them. Vectors of three or four doubles have one location
    /// and two slots.
    fn attributes(
        &mut self,
        generic: &[(VariableId, Option<IrVariable>)],
        uses_position: bool,
        found: &mut Vec<(VariableId, IrVariable, i32)>,
    ) {
        let program = self.program;
        let mut taken = u32::from(uses_position);
        let mask = |first: u32, count: u32| (((1u64 << count.min(32)) - 1) << first.min(32)) as u32;
        let locations_of = |id: VariableId| program.types.attribute_locations(program.variable(id).ty).max(1);
        let used = || generic.iter().filter_map(|&(id, variable)| Some((id, variable?)));
        let mut placed: Vec<(VariableId, IrVariable, u32)> = Vec::new();
        for (id, variable) in used() {
            if let Some(location) = program.variable(id).traits.location {
                taken |= mask(location, locations_of(id));
                placed.push((id, variable, location.min(1 << 20)));
            }
        }
        let mut rest: Vec<_> = used().filter(|(id, _)| program.variable(*id).traits.location.is_none()).collect();
        // A stable sort: variables of one size keep the order of declaration.
        rest.sort_by_key(|(id, _)| std::cmp::Reverse(locations_of(*id)));
        for (id, variable) in rest {
            let count = locations_of(id);
            let free = (0..ATTRIBUTES).find(|&first| first + count <= ATTRIBUTES && taken & mask(first, count) == 0);
            let first = free.unwrap_or(ATTRIBUTES);
            taken |= mask(first, count);
            placed.push((id, variable, first));
        }
        let dual = placed.iter().filter(|(id, ..)| program.types.is_dual(program.variable(*id).ty));
        let mut dual: Vec<(u32, u32)> = dual.map(|&(id, _, first)| (first, locations_of(id))).collect();
        dual.sort_unstable();
        dual.dedup_by_key(|(first, _)| *first);
        for (id, variable, first) in placed {
            let before = dual.iter().take_while(|(other, _)| *other < first);
            let slot = before.fold(first, |slot, (_, count)| slot.saturating_add(*count));
            found.push((id, variable, i32::from(VertAttrib::GENERIC0).saturating_add_unsigned(slot)));
        }
    }

    /// Gives varyings the slots of linking, else their location, else free slots in the order of declaration. Variables of
    /// patches have separate slots.
    fn varyings(
        &mut self,
        generic: &[(VariableId, Option<IrVariable>)],
        found: &mut Vec<(VariableId, IrVariable, i32)>,
    ) {
        let program = self.program;
        for is_patch in [false, true] {
            let of_kind = || generic.iter().filter(|&&(id, _)| program.variable(id).traits.patch == is_patch);
            let fixed = |id: VariableId| self.slots.get(&id).copied().or(program.variable(id).traits.location);
            let explicit = of_kind().filter_map(|&(id, _)| Some((fixed(id)?, program.slots(id))));
            let mut taken: Vec<(u32, u32)> =
                explicit.map(|(first, slots)| (first, first.saturating_add(slots))).collect();
            taken.sort_unstable();
            let base = if is_patch { VaryingSlot::PATCH0 } else { VaryingSlot::VAR0 };
            let mut next = 0u32;
            for &(id, variable) in of_kind() {
                let slots = program.slots(id);
                let first = fixed(id).unwrap_or_else(|| {
                    // The ranges are in order, so each is passed once for each variable at most.
                    for &(start, end) in &taken {
                        if start < next.saturating_add(slots) && next < end {
                            next = end;
                        }
                    }
                    next
                });
                if fixed(id).is_none() {
                    next = first.saturating_add(slots);
                }
                if let Some(variable) = variable {
                    found.push((id, variable, i32::from(base).saturating_add(first.min(1 << 20) as i32)));
                }
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
                    let (role, Some(variable)) = (builtin.role(program.version), used) else { continue };
                    let slot = match role {
                        Role::Output(slot) => shared_slot(slot),
                        Role::Framebuffer => FragResult::DATA0,
                        _ => continue,
                    };
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
                next = next.max(first.saturating_add(program.slots(id)));
                if let Some(variable) = variable {
                    found.push((id, variable, i32::from(FragResult::DATA0).saturating_add(first.min(1 << 20) as i32)));
                }
            }
        } else {
            self.varyings(&generic, &mut found);
        }
        self.shader.num_outputs = self.number(found, false);
    }

    /// Lists the functions that subroutine uniforms select.
    fn subroutines(&mut self) {
        let functions = self.program.arenas.function.iter();
        let numbered = functions.filter_map(|function| Some((function.subroutine?, function.name)));
        let mut found: Vec<(u32, Symbol)> = numbered.collect();
        found.sort_unstable();
        let name = |symbol| self.interner.spelling(symbol).to_owned();
        self.interface.subroutines =
            found.iter().map(|&(index, symbol)| Subroutine::new(name(symbol), index)).collect();
    }

    /// Numbers registers in the order of slots; variables that share a slot share its register. Returns their number.
    fn number(&mut self, mut found: Vec<(VariableId, IrVariable, i32)>, is_input: bool) -> u32 {
        let program = self.program;
        let source = |id: VariableId| program.variable(id).traits.index.unwrap_or(0);
        found.sort_by_key(|&(id, _, location)| (source(id), location));
        let mut count = 0u32;
        // Slots without gaps between them: the blending source, the first slot and its register, and the end.
        let mut run: Option<(u32, i32, u32, i32)> = None;
        for (id, variable, location) in found {
            let slots = self.slots_taken(id, variable, is_input);
            let end = location.saturating_add_unsigned(slots);
            let (start, first) = match &mut run {
                Some((of, start, first, run_end)) if *of == source(id) && location < *run_end => {
                    *run_end = end.max(*run_end);
                    (*start, *first)
                }
                _ => {
                    run = Some((source(id), location, count, end));
                    (location, count)
                }
            };
            let register = first.saturating_add(location.saturating_sub(start).unsigned_abs());
            count = count.max(register.saturating_add(slots));
            self.place(id, variable, location, register, is_input);
            self.note_slots(id, variable, location, slots, is_input);
        }
        count
    }

    /// The slots that a variable takes.
    fn slots_taken(&self, id: VariableId, variable: IrVariable, is_input: bool) -> u32 {
        let program = self.program;
        let is_packed = program.is_packed(id);
        let of_ir = self.shader.variables.get(variable).map(|data| {
            let types = &self.shader.types;
            match *types.get(data.ty) {
                IrTypeData::Array { element, .. } if data.per_vertex => types.slots(element),
                _ => types.slots(data.ty),
            }
        });
        match of_ir {
            // Output arrays may be shorter than their type in the language.
            Some(slots) if !is_input || is_packed => slots.max(1),
            _ => program.slots(id),
        }
    }

    /// Sets the slot and register of a variable, and describes it.
    fn place(&mut self, id: VariableId, variable: IrVariable, location: i32, register: u32, is_input: bool) {
        let data = self.program.variable(id);
        let name = self.program.types.name(data.ty, self.interner);
        let described = InterfaceVariable::new(self.name(id), name, location, register);
        let list = if is_input { &mut self.interface.inputs } else { &mut self.interface.outputs };
        list.push(described);
        let is_fragment_output = !is_input && self.program.stage == ShaderStage::Fragment;
        let Some(ir) = self.shader.variables.get_mut(variable) else { return };
        ir.location = location;
        ir.driver_location = register;
        ir.location_frac = data.traits.component.unwrap_or(0).min(3) as u8;
        ir.index = data.traits.index.unwrap_or(0);
        // Depth is in z of its register, stencil in y.
        if is_fragment_output && location == i32::from(FragResult::DEPTH) {
            ir.location_frac = 2;
        } else if is_fragment_output && location == i32::from(FragResult::STENCIL) {
            ir.location_frac = 1;
        }
        if self.program.stage == ShaderStage::Geometry && !is_input {
            let stream = data.traits.stream.unwrap_or(0) & 3;
            // Two bits for each component.
            ir.streams = (stream * 0b0101_0101) as u8;
        }
    }

    /// Records the slots of a variable in the shader's information. Elements of arrays that are not used are not in the
    /// interface.
    fn note_slots(&mut self, id: VariableId, variable: IrVariable, location: i32, slots: u32, is_input: bool) {
        const PATCH0: i32 = VaryingSlot::PATCH0 as i32;
        let program = self.program;
        let data = program.variable(id);
        let is_packed = program.is_packed(id);
        let usage = self.usage(variable);
        let of_element = match program.types.get(data.ty) {
            TypeData::Array { element, length: Some(2..=64) }
                if !usage.is_whole && !is_packed && !data.is_per_vertex =>
            {
                Some(program.types.summary(element).registers.max(1))
            }
            _ => None,
        };
        let is_used = |slot: &i32| {
            let element = of_element.map(|slots| (slot - location) as u32 / slots);
            element.is_none_or(|element| usage.indices >> element.min(63) & 1 != 0)
        };
        for slot in (location..).take(slots as usize).filter(is_used) {
            let info = &mut self.shader.info;
            match (slot, is_input) {
                (0..PATCH0, true) => info.inputs_read |= 1 << slot,
                (0..PATCH0, false) => info.outputs_written |= 1 << slot,
                (PATCH0..96, true) if data.traits.patch => info.patch_inputs_read |= 1 << (slot - PATCH0),
                (PATCH0..96, false) if data.traits.patch => info.patch_outputs_written |= 1 << (slot - PATCH0),
                _ => {}
            }
        }
    }
}
