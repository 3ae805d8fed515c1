//! Inputs, outputs, uniforms and system values.

use std::collections::{BTreeMap, BTreeSet};

use tgsi_ir::intrinsics::indices::IoSemantics;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Body, Def, Inst, InstData, Shader, ShaderStage};
use tgsi_vec4::simple::{Destination, File, Instruction, Source};

use super::geometry::Geometry;
use super::operands::{composed, lane};
use super::{Selector, alu};
use crate::error::IntelError;
use crate::isa::{Opcode, Type};
use crate::lower::{is_operand, is_uniform};
use crate::machine::{COPY, HeaderValue, Op};
use crate::program::{Dispatch, GeometryInterface, Varying, VertexInterface, VertexSystemValues};
use crate::vue;

/// The interface of a stage.
#[derive(Clone, Debug)]
pub(crate) enum Interfaces {
    /// A vertex program.
    Vertex(VertexInterface),
    /// A geometry program.
    Geometry(GeometryInterface),
}

/// A register of the interface and its slot. Several registers may have one slot.
pub(super) type Key = (u8, u32);

/// The register, the location, and the first component of an access; whether the location is that of a second colour.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub(super) register: u32,
    pub(super) location: u8,
    pub(super) component: u8,
    pub(super) is_second: bool,
}

impl Access {
    pub(super) fn key(self) -> Key {
        (self.location, self.register)
    }
}

/// The access of a load of an input or a store of an output without run-time index.
pub(super) fn access(body: &Body, inst: Inst) -> Option<Access> {
    let offset = body.constant_component(body.src(inst, body.num_sources(inst).checked_sub(1)?), 0)? as u32;
    let semantics = IoSemantics::from_i32(body.index(inst, IndexKind::IoSemantics));
    Some(Access {
        register: body.base(inst).wrapping_add(offset),
        location: semantics.location.wrapping_add(offset as u8),
        component: body.component(inst).min(3),
        is_second: semantics.dual_source_blend_index,
    })
}

/// The registers of constant buffer 0 with a known number that are read, the first ones of which are pushed.
pub(super) fn pushed_uniforms(body: &Body, limit: usize) -> Vec<u16> {
    let mut registers = BTreeSet::new();
    for inst in body.blocks().flat_map(|block| body.insts(block)) {
        if body.intrinsic(inst) == Some(IntrinsicOp::LoadUniform)
            && let Some(register) = uniform_register(body, inst)
        {
            registers.insert(register);
        }
    }
    registers.into_iter().take(limit).collect()
}

/// The register of constant buffer 0 that a load reads, if it is known.
fn uniform_register(body: &Body, inst: Inst) -> Option<u16> {
    let offset = body.constant_component(body.src(inst, 0), 0)? as i32;
    u16::try_from(body.index(inst, IndexKind::Base).wrapping_add(offset)).ok()
}

/// The places of inputs and outputs, and the accesses.
pub(super) struct Interface {
    stage: ShaderStage,
    inputs: BTreeMap<Key, u8>,
    outputs: BTreeMap<Key, u8>,
    vue: Vec<i32>,
    read: BTreeMap<Key, Varying>,
    written: BTreeMap<Key, Varying>,
    system_values: VertexSystemValues,
    attributes: u8,
    /// Of geometry programs.
    input_vue: Vec<i32>,
    dispatch: Dispatch,
    has_primitive_id: bool,
}

/// The maximum number of registers of inputs of geometry programs for two primitives.
const DUAL_OBJECT_REGISTERS: usize = 40;

impl Interface {
    /// Assigns places to the slots that a shader accesses.
    pub(super) fn of(shader: &Shader, body: &Body) -> Interface {
        let mut keys: [BTreeSet<Key>; 2] = Default::default();
        for inst in body.blocks().flat_map(|block| body.insts(block)) {
            let side = match body.intrinsic(inst) {
                Some(IntrinsicOp::LoadInput | IntrinsicOp::LoadPerVertexInput) => 0,
                Some(IntrinsicOp::StoreOutput) => 1,
                _ => continue,
            };
            if let Some(access) = access(body, inst) {
                keys[side].insert(access.key());
            }
        }
        let (mut inputs, mut input_vue): (BTreeMap<Key, u8>, _) = (keys[0].iter().copied().zip(0..).collect(), vec![]);
        let mut dispatch = Dispatch::DualObject;
        if shader.stage == ShaderStage::Geometry {
            (input_vue, inputs) = vue::layout(&keys[0]);
            let registers = input_vue.len().next_multiple_of(2) * shader.info.gs.vertices_in as usize;
            dispatch = match registers {
                _ if shader.info.gs.invocations > 1 => Dispatch::DualInstance,
                registers if registers <= DUAL_OBJECT_REGISTERS => Dispatch::DualObject,
                _ => Dispatch::Single,
            };
        }
        let (vue, slots) = vue::layout(&keys[1]);
        Interface {
            stage: shader.stage,
            attributes: inputs.len() as u8,
            inputs,
            outputs: slots,
            vue,
            read: BTreeMap::new(),
            written: BTreeMap::new(),
            system_values: VertexSystemValues::default(),
            input_vue,
            dispatch,
            has_primitive_id: false,
        }
    }

    /// Whether inputs are the same for both halves of a register.
    pub(super) fn has_uniform_inputs(&self) -> bool {
        self.stage == ShaderStage::Geometry && self.dispatch.has_half_inputs()
    }

    /// The number of slots of a vertex.
    pub(super) fn slots(&self) -> u32 {
        self.vue.len() as u32
    }

    /// The interface, with the components that are accessed.
    pub(super) fn finish(self, shader: &Shader, geometry: Option<Geometry>) -> Interfaces {
        let vertex_size = self.slots().div_ceil(2);
        let mut inputs: Vec<Varying> = self.read.into_values().collect();
        inputs.sort_by_key(|input| input.slot);
        if let Some(geometry) = geometry {
            return Interfaces::Geometry(GeometryInterface {
                dispatch: self.dispatch,
                vertices_in: shader.info.gs.vertices_in.min(255) as u8,
                invocations: shader.info.gs.invocations.clamp(1, 255) as u8,
                inputs,
                input_vue: self.input_vue,
                has_primitive_id: self.has_primitive_id,
                outputs: self.written.into_values().collect(),
                vue: self.vue,
                limit: geometry.limit,
                vertex_size,
                control: geometry.control,
                // Eight words are a unit.
                control_size: geometry.control_words().div_ceil(8),
            });
        }
        Interfaces::Vertex(VertexInterface {
            inputs,
            system_values: self.system_values,
            attributes: self.attributes,
            outputs: self.written.into_values().collect(),
            vue: self.vue,
        })
    }

    /// The attribute with numbers of vertices and instances.
    fn vertex_attribute(&mut self) -> u8 {
        let next = &mut self.attributes;
        *self.system_values.vertex.get_or_insert_with(|| {
            *next += 1;
            *next - 1
        })
    }

    /// The attribute with numbers of draws.
    fn draw_attribute(&mut self) -> u8 {
        // The attribute of the vertex comes first.
        self.vertex_attribute();
        let next = &mut self.attributes;
        *self.system_values.draw.get_or_insert_with(|| {
            *next += 1;
            *next - 1
        })
    }
}

/// Adds an access to a register.
pub(super) fn note(varyings: &mut BTreeMap<Key, Varying>, access: Access, slot: u8, component: u8, mask: u8) {
    let varying = varyings.entry(access.key()).or_insert(Varying {
        register: access.register,
        location: access.location.into(),
        slot,
        component,
        mask: 0,
    });
    varying.mask |= mask;
}

impl Selector<'_> {
    /// The operand of a value that instructions read in place.
    pub(super) fn operand_in_place(&mut self, def: Def) -> Option<Source> {
        let body = self.body;
        if !is_operand(body, def) || self.is_scalar() && !is_uniform(body, def) {
            return None;
        }
        let inst = body.def_inst(def);
        if body.intrinsic(inst) == Some(IntrinsicOp::LoadUniform) {
            let Some(register) = uniform_register(body, inst) else { return Some(self.word(0)) };
            let is_pushed = self.push.binary_search(&register).is_ok();
            return is_pushed.then(|| Source::new(File::Uniform, register.into()));
        }
        let access = access(body, inst)?;
        let slot = *self.interface.inputs.get(&access.key())?;
        // As outputs of the stage before.
        let first = if self.geometry.is_some() { vue::component(access.location) } else { 0 };
        let mask = (body.full_mask(def) as u8) << access.component & 15;
        note(&mut self.interface.read, access, slot, first, mask);
        let vertex = match body.intrinsic(inst) {
            Some(IntrinsicOp::LoadPerVertexInput) => body.constant_component(body.src(inst, 0), 0)? as u32,
            _ => 0,
        };
        if self.geometry.is_some() && vertex >= self.shader.info.gs.vertices_in {
            return Some(self.word(0));
        }
        let stride = self.interface.input_vue.len().next_multiple_of(2) as u32;
        let index = u32::from(slot) + vertex * stride;
        let source = Source::new(File::Input, index as i32);
        Some(source.swizzled([0, 1, 2, 3].map(|c: u8| (c + access.component + first).min(3))))
    }

    pub(super) fn load_input(&mut self, inst: Inst) -> Result<(), IntelError> {
        match self.body.inst_def(inst) {
            Some(def) if !is_operand(self.body, def) => Err(self.lacks(inst, "index of inputs")),
            _ => Ok(()),
        }
    }

    pub(super) fn store_output(&mut self, inst: Inst) -> Result<(), IntelError> {
        let body = self.body;
        let Some(access) = access(body, inst) else { return Err(self.lacks(inst, "index of outputs")) };
        let Some(&slot) = self.interface.outputs.get(&access.key()) else { return Ok(()) };
        if matches!(body.inst(body.def_inst(body.src(inst, 0))), InstData::Undef) {
            return Ok(());
        }
        let mask = (body.write_mask(inst) as u8) << access.component & 15;
        // The header of the vertex entry has one component of each of these.
        let component = vue::component(access.location);
        let mask = if component == 0 { mask } else { mask & 1 };
        if mask == 0 {
            return Ok(());
        }
        note(&mut self.interface.written, access, slot, component, mask);
        let source = self.source_of(body.source(inst, 0));
        let value_of = |c: u8| c.saturating_sub(component).saturating_sub(access.component);
        let to = Destination::new(File::Output, slot.into(), mask << component & 15);
        self.emit(COPY, to, [composed(source, [0, 1, 2, 3].map(value_of))]);
        Ok(())
    }

    /// Loads a system value, if the stage has it.
    pub(super) fn load_system_value(&mut self, inst: Inst, op: IntrinsicOp) -> bool {
        let Some(def) = self.body.inst_def(inst) else { return false };
        if self.interface.stage == ShaderStage::Geometry {
            return self.load_geometry_value(def, op);
        }
        let of_vertex = |s: &mut Self, component: u8| {
            let attribute = s.interface.vertex_attribute();
            lane(Source::new(File::Input, attribute.into()), component)
        };
        let of_draw = |s: &mut Self, component: u8| {
            let attribute = s.interface.draw_attribute();
            lane(Source::new(File::Input, attribute.into()), component)
        };
        let value = match op {
            IntrinsicOp::LoadFirstVertex => of_vertex(self, 0),
            IntrinsicOp::LoadBaseInstance => of_vertex(self, 1),
            IntrinsicOp::LoadVertexIdZeroBase => of_vertex(self, 2),
            IntrinsicOp::LoadInstanceId => of_vertex(self, 3),
            IntrinsicOp::LoadVertexId => {
                let (number, first) = (of_vertex(self, 2), of_vertex(self, 0));
                self.computed(alu(Opcode::Add, Type::D), 1, [number, first])
            }
            IntrinsicOp::LoadDrawId => of_draw(self, 0),
            IntrinsicOp::LoadIsIndexedDraw => of_draw(self, 1),
            IntrinsicOp::LoadSubgroupInvocation if self.has_lanes => of_draw(self, 2),
            IntrinsicOp::LoadBaseVertex => {
                let (is_indexed, first) = (of_draw(self, 1), of_vertex(self, 0));
                self.computed(alu(Opcode::And, Type::Ud), 1, [first, is_indexed])
            }
            _ => return false,
        };
        let target = self.target(def);
        self.copy(target, lane(value, 0));
        true
    }

    /// Loads a system value of geometry programs.
    fn load_geometry_value(&mut self, def: Def, op: IntrinsicOp) -> bool {
        let number = match op {
            IntrinsicOp::LoadPrimitiveId => {
                self.interface.has_primitive_id = true;
                HeaderValue::PrimitiveId
            }
            IntrinsicOp::LoadInvocationId => HeaderValue::InvocationId,
            // Runs provide it in bits of the header that have no other use.
            IntrinsicOp::LoadSubgroupInvocation if self.has_lanes => HeaderValue::SubgroupInvocation,
            _ => return false,
        };
        let target = self.target(def);
        self.push(Instruction::new(Op::Header(number), Some(target.to), []));
        true
    }
}
