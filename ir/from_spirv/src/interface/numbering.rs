//! Registers of inputs and outputs, and the properties of the shader that follow from its code.

use rustc_hash::FxHashMap;
use tgsi_ir::body::DerefKind;
use tgsi_ir::entities::{User, Variable as IrVariable};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::shader::{Shader, ShaderStage};
use tgsi_ir::slots::VertAttrib;
use tgsi_ir::types::TypeData as IrTypeData;
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Body, InstData};

use crate::emit::Context;
use crate::options::Environment;

/// Slots between stages with separate bits.
const SLOTS: i32 = 64;
/// The end of the slots of patches.
const PATCH_SLOTS: i32 = 96;

/// The use of an array by constant indices below 64, or as a whole.
#[derive(Clone, Copy, Default, Debug)]
struct Usage {
    indices: u64,
    is_whole: bool,
}

/// A variable in its slots.
#[derive(Clone, Copy, Debug)]
struct Slotted {
    variable: IrVariable,
    /// The blending source.
    index: u32,
    location: i32,
    slots: u32,
}

impl Context<'_> {
    /// Numbers the registers of inputs and outputs, and sets the properties of the shader.
    pub(crate) fn finish_interface(&mut self) {
        self.scan();
        if self.stage == ShaderStage::Vertex {
            self.shader.num_inputs = self.number_attributes();
        } else {
            self.shader.num_inputs = self.number(VariableModes::SHADER_IN);
        }
        self.shader.num_outputs = self.number(VariableModes::SHADER_OUT);
        self.note_slots();
        self.note_captures();
        let distances = &self.interface.distances;
        let known = distances[1].as_ref().filter(|known| known.is_written).or(distances[0].as_ref());
        if let Some(distances) = known {
            self.shader.info.clip_distance_array_size = distances.clip;
            self.shader.info.cull_distance_array_size = distances.cull;
        }
        if self.stage == ShaderStage::Fragment {
            let is_dual = self.shader.globals_with(VariableModes::SHADER_OUT).any(|(_, data)| data.index > 0);
            let is_sampled = self.shader.globals_with(VariableModes::SHADER_IN).any(|(_, data)| data.sample);
            self.shader.info.fs.color_is_dual_source = is_dual;
            self.shader.info.fs.uses_sample_qualifier = is_sampled;
        }
    }

    fn slotted(&self, mode: VariableModes) -> Vec<Slotted> {
        let types = &self.shader.types;
        let slotted = self.shader.globals_with(mode).map(|(variable, data)| {
            let ty = match *types.get(data.ty) {
                IrTypeData::Array { element, .. } if data.per_vertex => element,
                _ => data.ty,
            };
            Slotted { variable, index: data.index, location: data.location, slots: types.slots(ty).max(1) }
        });
        slotted.collect()
    }

    /// Numbers registers in the order of slots; variables in one slot share its register. Returns their number.
    fn number(&mut self, mode: VariableModes) -> u32 {
        let mut slotted = self.slotted(mode);
        slotted.sort_by_key(|data| (data.index, data.location));
        let mut count = 0u32;
        // Slots without gaps between them: the blending source, the first slot and its register, and the end.
        let mut run: Option<(u32, i32, u32, i32)> = None;
        for Slotted { variable, index, location, slots } in slotted {
            let end = location.saturating_add_unsigned(slots);
            let (start, first) = match &mut run {
                Some((source, start, first, run_end)) if *source == index && location <= *run_end => {
                    *run_end = end.max(*run_end);
                    (*start, *first)
                }
                _ => {
                    run = Some((index, location, count, end));
                    (location, count)
                }
            };
            let register = first.saturating_add(location.saturating_sub(start).unsigned_abs());
            count = count.max(register.saturating_add(slots));
            if let Some(data) = self.shader.variables.get_mut(variable) {
                data.driver_location = register;
            }
        }
        count
    }

    /// The registers of vertex inputs are their locations. In OpenGL, vectors of three or four doubles have one
    /// location and two registers.
    fn number_attributes(&mut self) -> u32 {
        let slotted = self.slotted(VariableModes::SHADER_IN);
        let mut doubles: Vec<(u32, u32)> = Vec::new();
        let of =
            |context: &Self, variable| context.shader.variables.get(variable).map_or(0, |data| data.driver_location);
        if self.environment == Environment::OpenGl {
            for data in &slotted {
                let ty = self.shader.variables.get(data.variable).map(|variable| variable.ty);
                if ty.is_some_and(|ty| is_dual(&self.shader, ty)) {
                    doubles.push((of(self, data.variable), data.slots / 2));
                }
            }
            doubles.sort_unstable();
            doubles.dedup();
        }
        let mut count = 0u32;
        for data in slotted {
            let location = of(self, data.variable);
            let before = doubles.iter().take_while(|(first, _)| *first < location);
            let register = before.fold(location, |sum, (_, extra)| sum.saturating_add(*extra));
            count = count.max(register.saturating_add(data.slots));
            if let Some(variable) = self.shader.variables.get_mut(data.variable) {
                variable.driver_location = register;
                if variable.location < SLOTS && register != location {
                    variable.location = i32::from(VertAttrib::GENERIC0).saturating_add_unsigned(register);
                }
            }
        }
        count
    }

    /// Records slots in the shader's information.
    fn note_slots(&mut self) {
        let usages = usages(&self.shader);
        for mode in [VariableModes::SHADER_IN, VariableModes::SHADER_OUT] {
            for Slotted { variable, location, slots, .. } in self.slotted(mode) {
                let Some(data) = self.shader.variables.get(variable) else { continue };
                let usage = usages.get(&variable).copied().unwrap_or_default();
                let element = match *self.shader.types.get(data.ty) {
                    IrTypeData::Array { element, length: 2..=64, .. } if !data.per_vertex && !usage.is_whole => {
                        Some(self.shader.types.slots(element).max(1))
                    }
                    _ => None,
                };
                let is_patch = data.patch;
                let info = &mut self.shader.info;
                for offset in 0..slots.min(128) {
                    let is_used = element.is_none_or(|size| usage.indices >> (offset / size).min(63) & 1 != 0);
                    let slot = location.saturating_add_unsigned(offset);
                    let is_input = mode == VariableModes::SHADER_IN;
                    match slot {
                        _ if !is_used => {}
                        0..SLOTS if is_input => info.inputs_read |= 1 << slot,
                        0..SLOTS => info.outputs_written |= 1 << slot,
                        SLOTS..PATCH_SLOTS if is_patch && is_input => info.patch_inputs_read |= 1 << (slot - SLOTS),
                        SLOTS..PATCH_SLOTS if is_patch => info.patch_outputs_written |= 1 << (slot - SLOTS),
                        _ => {}
                    }
                }
            }
        }
    }

    /// Records what intrinsics say about the shader.
    fn scan(&mut self) {
        let Shader { functions, info, .. } = &mut self.shader;
        for body in functions.values().filter_map(|function| function.body.as_ref()) {
            for inst in body.blocks().flat_map(|block| body.insts(block)) {
                let Some(op) = body.intrinsic(inst) else { continue };
                if let Some(value) = op.system_value() {
                    info.system_values_read |= 1 << (value as u8);
                }
                match op {
                    IntrinsicOp::LoadSampleId | IntrinsicOp::LoadSamplePos => info.fs.uses_sample_shading = true,
                    IntrinsicOp::EmitVertex => {
                        let stream = body.index(inst, IndexKind::StreamId);
                        info.gs.active_stream_mask |= 1 << (stream & 3);
                    }
                    IntrinsicOp::EndPrimitive => info.gs.uses_end_primitive = true,
                    IntrinsicOp::Demote | IntrinsicOp::DemoteIf | IntrinsicOp::Terminate | IntrinsicOp::TerminateIf => {
                        info.fs.uses_discard = true
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Whether the vectors of a type take two registers each.
fn is_dual(shader: &Shader, ty: tgsi_ir::entities::Type) -> bool {
    match *shader.types.get(shader.types.without_arrays(ty)) {
        IrTypeData::Vector { scalar, components } => scalar.bit_size() == 64 && components > 2,
        IrTypeData::Matrix { scalar, rows, .. } => scalar.bit_size() == 64 && rows > 2,
        _ => false,
    }
}

/// The uses of the variables of the shader.
fn usages(shader: &Shader) -> FxHashMap<IrVariable, Usage> {
    let mut usages: FxHashMap<IrVariable, Usage> = FxHashMap::default();
    for body in shader.functions.values().filter_map(|function| function.body.as_ref()) {
        for inst in body.blocks().flat_map(|block| body.insts(block)) {
            let InstData::Deref { kind: DerefKind::Var(variable), modes, .. } = *body.inst(inst) else { continue };
            if modes.intersects(VariableModes::SHADER_IN.union(VariableModes::SHADER_OUT)) {
                note_uses(body, inst, usages.entry(variable).or_default());
            }
        }
    }
    usages
}

fn note_uses(body: &Body, deref: tgsi_ir::Inst, usage: &mut Usage) {
    let Some(def) = body.inst_def(deref) else { return };
    for source in body.uses_of(def) {
        let User::Inst(user) = body.user(source) else { continue };
        let index = match body.inst(user) {
            InstData::Deref { kind: DerefKind::Array, .. } => body.constant_component(body.src(user, 1), 0),
            _ => None,
        };
        match index {
            Some(index) => usage.indices |= 1u64.checked_shl(index as u32).unwrap_or(0),
            None => usage.is_whole = true,
        }
    }
}
