//! Inputs, outputs and system values.
//!
//! An attribute has the number of its register. Varyings are numbered in the order of their first access. Outputs are
//! temporaries that are stored at the end of the program.

use std::collections::BTreeMap;

use tgsi_ir::alu::{AluType, BaseType};
use tgsi_ir::intrinsics::indices::{InterpMode, IoSemantics};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::slots::FragResult;
use tgsi_ir::variable::{VariableData, VariableModes};
use tgsi_ir::{Body, Def, Inst, ShaderStage};
use tgsi_vec4::simple::{Destination, File, Instruction, Source};

use super::Selector;
use super::operands::{composed, lane, shifted};
use super::resources::Number;
use crate::MidgardError;
use crate::isa::alu::AluOp;
use crate::isa::load_store::{IndexFormat, LoadStore, LoadStoreOp, Operand};
use crate::isa::{Chip, LoadStoreRegister, Register};
use crate::machine::{DEPTH_ONLY, Op, Operation};
use crate::program::{FragmentOutput, FragmentResult, Slot, SystemRow, Varying};

/// An output: the temporary of its value, its location, and the components that are written.
#[derive(Clone, Copy, Debug)]
struct Output {
    temp: i32,
    location: u8,
    mask: u8,
}

/// The entries of the tables of attributes and varyings, and the outputs by register.
#[derive(Default)]
pub(super) struct Interface {
    pub(super) inputs: Vec<Varying>,
    pub(super) outputs: Vec<Varying>,
    pub(super) results: Vec<FragmentOutput>,
    written: BTreeMap<u32, Output>,
}

/// The register, the location, and the first component of an access.
#[derive(Clone, Copy)]
struct Access {
    register: u32,
    location: u8,
    component: u8,
}

/// The access of a load of an input or a store of an output without run-time index.
fn access(body: &Body, inst: Inst) -> Option<Access> {
    let offset = body.constant_component(body.src(inst, body.num_sources(inst).checked_sub(1)?), 0)? as u32;
    let semantics = IoSemantics::from_i32(body.index(inst, IndexKind::IoSemantics));
    Some(Access {
        register: body.base(inst).wrapping_add(offset),
        location: semantics.location.wrapping_add(offset as u8),
        component: body.component(inst).min(3),
    })
}

/// The bits of the parameters of a varying.
const FLAT: i32 = 1 << 3;
const PERSPECTIVE: i32 = 1 << 4;
const CENTROID: i32 = 1 << 5;
const SAMPLE: i32 = 1 << 6;

/// A load of a varying, at the sample if the program runs once a sample.
fn varying(number: u32, parameters: i32) -> LoadStore {
    let op = if parameters & FLAT != 0 { LoadStoreOp::LdVaryU32 } else { LoadStoreOp::LdVaryF32 };
    LoadStore { index_format: IndexFormat::U32, ..entry(op, number, parameters | SAMPLE) }
}

/// The selectors of special values.
const SAMPLE_MASK: u32 = 96;
const SAMPLE_ID: u32 = 97;

/// Chips that load colours of the tile buffer in another way.
const HAVE_OLD_TILE_BUFFERS: [Chip; 3] = [Chip::T600, Chip::T620, Chip::T720];

/// The samples of a pixel that have a position.
const SAMPLES: u32 = 8;

/// The numbers of system values among attributes.
const VERTEX_ID: u32 = 16;
const INSTANCE_ID: u32 = 17;

/// The format of varyings whose type is that of the table.
const INFERRED: IndexFormat = IndexFormat::S32;

/// An access to an entry of the tables of attributes and varyings.
fn entry(op: LoadStoreOp, number: u32, parameters: i32) -> LoadStore {
    LoadStore { offset: ((number as i32) << 9) | parameters, ..LoadStore::new(op, Register::UNUSED) }
}

impl Selector<'_> {
    /// The number of an input, which is added to the table.
    fn input(&mut self, slot: Slot, location: i32, mask: u8) -> u32 {
        let is_vertex = self.shader.stage == ShaderStage::Vertex;
        let inputs = &mut self.interface.inputs;
        if let Some(known) = inputs.iter_mut().find(|input| input.slot == slot) {
            known.mask |= mask;
            return known.number;
        }
        let number = match slot {
            Slot::VertexId => VERTEX_ID,
            Slot::InstanceId => INSTANCE_ID,
            Slot::Register(register) if is_vertex => register,
            _ => inputs.len() as u32,
        };
        inputs.push(Varying { number, slot, location, mask });
        number
    }

    /// A load that does not change: equal loads are one operation, which instructions on other components share.
    fn constant_load(&mut self, load: LoadStore) -> Source {
        let operations = &self.operations;
        let known = operations.iter().position(|&known| known == Operation::LoadStore(load));
        match known {
            Some(number) => Source::new(File::Input, number as i32),
            None => self.operation(Operation::LoadStore(load)),
        }
    }

    pub(super) fn load_input(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), MidgardError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let Some(access) = access(body, inst) else { return Err(self.lacks(inst, "index of inputs")) };
        if body.bit_size(def) != 32 {
            return Err(self.lacks(inst, "inputs of other sizes than 32 bits"));
        }
        let target = self.target(def);
        let mask = target.mask << access.component & 15;
        let slot = Slot::Register(access.register);
        let number = self.input(slot, access.location.into(), mask);
        let load = if self.shader.stage == ShaderStage::Vertex {
            let op = match AluType::from_i32(body.index(inst, IndexKind::DestType)).base {
                BaseType::Uint | BaseType::Bool => LoadStoreOp::LdAttrU32,
                BaseType::Int => LoadStoreOp::LdAttrS32,
                _ => LoadStoreOp::LdAttrF32,
            };
            entry(op, number, 0)
        } else {
            let parameters = match op {
                IntrinsicOp::LoadInterpolatedInput => self.interpolation(inst)?,
                _ => self.declared_interpolation(access.register),
            };
            varying(number, parameters)
        };
        let operation = self.constant_load(load);
        let first = access.component;
        let operation = composed(operation, [0, 1, 2, 3].map(|c: u8| (first + c).min(3)));
        self.load(target, operation, &[]);
        Ok(())
    }

    /// The parameters of an input by the interpolation that its variable has.
    fn declared_interpolation(&self, register: u32) -> i32 {
        let shader = self.shader;
        let covers = |data: &VariableData| {
            let first = data.driver_location;
            data.mode == VariableModes::SHADER_IN && register.wrapping_sub(first) < shader.types.slots(data.ty).max(1)
        };
        let Some(data) = shader.variables.values().find(|data| covers(data)) else { return PERSPECTIVE };
        let place = if data.centroid { CENTROID } else { 0 };
        match data.interpolation {
            InterpMode::Flat => FLAT,
            InterpMode::NoPerspective => place,
            _ => place | PERSPECTIVE,
        }
    }

    /// The parameters of a varying with interpolation.
    fn interpolation(&self, inst: Inst) -> Result<i32, MidgardError> {
        let body = self.body;
        let barycentric = body.def_inst(body.src(inst, 0));
        let place = match body.intrinsic(barycentric) {
            Some(IntrinsicOp::LoadBarycentricPixel) => 0,
            Some(IntrinsicOp::LoadBarycentricCentroid) => CENTROID,
            Some(IntrinsicOp::LoadBarycentricSample) => SAMPLE,
            Some(IntrinsicOp::LoadBarycentricAtSample) if self.is_own_sample(body.src(barycentric, 0)) => SAMPLE,
            _ => return Err(self.lacks(inst, "interpolation at other places")),
        };
        let mode = body.index(barycentric, IndexKind::InterpMode);
        let is_linear = mode == InterpMode::NoPerspective as i32;
        Ok(place | if is_linear { 0 } else { PERSPECTIVE })
    }

    /// Whether a value is the number of the sample that the program runs for.
    fn is_own_sample(&self, number: Def) -> bool {
        self.body.intrinsic(self.body.def_inst(number)) == Some(IntrinsicOp::LoadSampleId)
    }

    /// Loads a colour of the framebuffer. Values are floats.
    fn load_framebuffer(&mut self, inst: Inst, target: Destination) -> Result<(), MidgardError> {
        let body = self.body;
        let Some(access) = access(body, inst) else { return Err(self.lacks(inst, "index of outputs")) };
        let semantics = IoSemantics::from_i32(body.index(inst, IndexKind::IoSemantics));
        let is_float = AluType::from_i32(body.index(inst, IndexKind::DestType)).base == BaseType::Float;
        if !semantics.fb_fetch_output || !is_float || HAVE_OLD_TILE_BUFFERS.contains(&self.chip) {
            return Err(self.lacks(inst, "loads of such outputs"));
        }
        let number = access.location.saturating_sub(FragResult::DATA0);
        let register = LoadStoreRegister::from_code(u32::from(number) >> 2).unwrap_or(LoadStoreRegister::L0);
        let load = LoadStore {
            index: Operand { register, component: number & 3 },
            // The number of the sample.
            argument: Operand { register: LoadStoreRegister::L0, component: 0 },
            ..LoadStore::new(LoadStoreOp::LdTileBufferF32, Register::UNUSED)
        };
        let operation = self.operation(Operation::LoadStore(load));
        let first = access.component;
        let operation = composed(operation, [0, 1, 2, 3].map(|c: u8| (first + c).min(3)));
        self.load(target, operation, &[]);
        Ok(())
    }

    pub(super) fn store_output(&mut self, inst: Inst) -> Result<(), MidgardError> {
        let body = self.body;
        let Some(access) = access(body, inst) else { return Err(self.lacks(inst, "index of outputs")) };
        let value = body.src(inst, 0);
        if body.bit_size(value) != 32 {
            return Err(self.lacks(inst, "outputs of other sizes than 32 bits"));
        }
        if self.shader.stage == ShaderStage::Fragment {
            let is_second = IoSemantics::from_i32(body.index(inst, IndexKind::IoSemantics)).dual_source_blend_index;
            let lacking = match access.location {
                FragResult::SAMPLE_MASK => Some("output of sample masks"),
                _ if is_second => Some("second colour for blending"),
                location if location > FragResult::DATA0 + 7 => Some("output without a render target"),
                _ => None,
            };
            if let Some(lacking) = lacking {
                return Err(self.lacks(inst, lacking));
            }
        }
        let mask = (body.write_mask(inst) as u8) << access.component & 15;
        if self.is_undef(value) || mask == 0 {
            return Ok(());
        }
        let source = self.source_of(body.source(inst, 0));
        let output = match self.interface.written.get_mut(&access.register) {
            Some(output) => output,
            None => {
                let temp = self.program.new_temp() as i32;
                let output = Output { temp, location: access.location, mask: 0 };
                self.interface.written.entry(access.register).or_insert(output)
            }
        };
        output.mask |= mask;
        let to = Destination::new(File::Temporary, output.temp, mask);
        self.copy(to, shifted(source, access.component));
        Ok(())
    }

    /// Stores outputs at the end of the program.
    pub(super) fn write_outputs(&mut self) {
        let written = std::mem::take(&mut self.interface.written);
        self.initialize_outputs(&written);
        match self.shader.stage {
            ShaderStage::Fragment => self.write_fragment(&written),
            _ => {
                for (&register, output) in &written {
                    self.store_varying(register, output);
                }
            }
        }
    }

    /// Sets outputs to zero at the start, as programs may not write all of them on each path.
    fn initialize_outputs(&mut self, written: &BTreeMap<u32, Output>) {
        let has_flow = self.program.instructions().iter().any(|instruction| instruction.op == Op::If);
        if !has_flow || written.is_empty() {
            return;
        }
        let zero = self.word(0);
        let old = self.program.take_instructions();
        for output in written.values() {
            let to = Destination::new(File::Temporary, output.temp, output.mask);
            self.push(Instruction::new(Op::Mov, Some(to), [zero]));
        }
        old.into_iter().for_each(|instruction| self.push(instruction));
    }

    fn store_varying(&mut self, register: u32, output: &Output) {
        let number = self.interface.outputs.len() as u32;
        let location = output.location.into();
        let slot = Slot::Register(register);
        self.interface.outputs.push(Varying { number, slot, location, mask: output.mask });
        let index = self.next_operand();
        let value = self.set_operand(index, output.mask, Source::new(File::Temporary, output.temp));
        // Components that are not written have the value of one that is.
        let first = output.mask.trailing_zeros() as u8 & 3;
        let value = composed(value, [0, 1, 2, 3].map(|c: u8| if output.mask >> c & 1 != 0 { c } else { first }));
        let store = LoadStore {
            register: Register::new(index).unwrap_or(Register::UNUSED),
            index_format: INFERRED,
            ..entry(LoadStoreOp::StVaryF32, number, 0)
        };
        let operation = self.operation(Operation::LoadStore(store));
        self.push(Instruction::new(Op::Store, None, [operation, value]));
    }

    /// Writes colours, depth and stencil value.
    fn write_fragment(&mut self, written: &BTreeMap<u32, Output>) {
        let mut colours: BTreeMap<u32, Source> = BTreeMap::new();
        let (mut depth, mut stencil) = (None, None);
        for (&register, output) in written {
            let source = Source::new(File::Temporary, output.temp);
            let component = output.mask.trailing_zeros() as u8 & 3;
            let (result, component) = match output.location {
                FragResult::DEPTH => {
                    depth = Some(lane(source, component));
                    (FragmentResult::Depth, component)
                }
                FragResult::STENCIL => {
                    stencil = Some(lane(source, component));
                    (FragmentResult::Stencil, component)
                }
                location => {
                    let target = location.saturating_sub(FragResult::DATA0).into();
                    colours.insert(target, source);
                    (FragmentResult::Colour(target), 0)
                }
            };
            self.interface.results.push(FragmentOutput { register, result, component, mask: output.mask });
        }
        // Depth and stencil value are written with the first colour.
        if colours.is_empty() && (depth.is_some() || stencil.is_some()) {
            let zero = self.word(0);
            colours.insert(DEPTH_ONLY.into(), zero);
        }
        for (target, colour) in colours {
            let (z, s) = (depth.take(), stencil.take());
            let op = Op::WriteOut { target: target as u8, has_depth: z.is_some(), has_stencil: s.is_some() };
            self.push(Instruction::new(op, None, [Some(colour), z, s].into_iter().flatten()));
        }
    }

    /// Selects a load of a system value. Returns whether the machine has it.
    pub(super) fn select_system_value(&mut self, inst: Inst, op: IntrinsicOp) -> Result<bool, MidgardError> {
        use IntrinsicOp as I;
        let Some(def) = self.body.inst_def(inst) else { return Ok(false) };
        let target = self.target(def);
        match op {
            I::LoadFragCoord => self.load_varying(Slot::FragCoord, LoadStoreOp::LdVaryF32, target),
            I::LoadPointCoord => self.load_varying(Slot::PointCoord, LoadStoreOp::LdVaryF32, target),
            I::LoadPrimitiveId if self.shader.stage == ShaderStage::Fragment => {
                self.load_varying(Slot::PrimitiveId, LoadStoreOp::LdVaryU32, target);
            }
            I::LoadFrontFace => {
                let face = self.new_temp();
                let to = Destination::new(File::Temporary, face.index, 1);
                self.load_varying(Slot::FrontFace, LoadStoreOp::LdVaryU32, to);
                let zero = self.word(0);
                self.emit(AluOp::Ine, target, [lane(face, 0), zero]);
            }
            I::LoadFrontFaceFsign => {
                let face = self.new_temp();
                let to = Destination::new(File::Temporary, face.index, 1);
                self.load_varying(Slot::FrontFace, LoadStoreOp::LdVaryU32, to);
                let (zero, front, back) = (self.word(0), self.word(1f32.to_bits()), self.word((-1f32).to_bits()));
                let is_front = self.computed(AluOp::Ine, 1, [lane(face, 0), zero]);
                self.emit(Op::Select, target, [lane(is_front, 0), front, back]);
            }
            I::LoadVertexId => self.load_attribute(Slot::VertexId, target),
            I::LoadInstanceId => self.load_attribute(Slot::InstanceId, target),
            I::LoadVertexIdZeroBase => {
                let vertex = self.new_temp();
                self.load_attribute(Slot::VertexId, Destination::new(File::Temporary, vertex.index, 1));
                let draw = self.system_row(SystemRow::Draw);
                self.emit(AluOp::Isub, target, [lane(vertex, 0), lane(draw, 0)]);
            }
            I::LoadFirstVertex => self.copy_row(SystemRow::Draw, 0, target),
            I::LoadBaseInstance => self.copy_row(SystemRow::Draw, 1, target),
            I::LoadDrawId => self.copy_row(SystemRow::Draw, 2, target),
            I::LoadBaseVertex => self.copy_row(SystemRow::Draw, 3, target),
            I::LoadSampleId | I::LoadSampleIdNoPerSample => self.load_special(SAMPLE_ID, target),
            I::LoadSampleMaskIn => self.load_special(SAMPLE_MASK, target),
            I::LoadHelperInvocation => self.load_helper(target),
            I::IsHelperInvocation => match self.is_helper {
                Some(helper) => self.copy(target, helper),
                None => self.load_helper(target),
            },
            I::LoadSamplePos => {
                let sample = self.new_temp();
                self.load_special(SAMPLE_ID, Destination::new(File::Temporary, sample.index, 1));
                let row = self.numbered_row(Number::Dynamic(lane(sample, 0)), SAMPLES, SystemRow::SamplePosition);
                self.copy(target, row);
            }
            I::LoadOutput if self.shader.stage == ShaderStage::Fragment => self.load_framebuffer(inst, target)?,
            I::LoadLocalInvocationId => self.load_thread(LoadStoreRegister::LocalThread, target),
            I::LoadWorkgroupId => self.load_thread(LoadStoreRegister::Group, target),
            I::LoadGlobalInvocationId => self.load_thread(LoadStoreRegister::GlobalThread, target),
            I::LoadNumWorkgroups => {
                let groups = self.system_row(SystemRow::Workgroups);
                self.copy(target, groups);
            }
            I::LoadWorkgroupSize => {
                let size = match self.shader.info.workgroup_size_variable {
                    true => self.system_row(SystemRow::WorkgroupSize),
                    false => {
                        let [x, y, z] = self.shader.info.workgroup_size;
                        Source::new(File::Constant, self.program.constants.intern([x, y, z, 0]))
                    }
                };
                self.copy(target, size);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether the thread is a helper from the start.
    fn load_helper(&mut self, target: Destination) {
        let samples = self.new_temp();
        self.load_special(SAMPLE_MASK, Destination::new(File::Temporary, samples.index, 1));
        let zero = self.word(0);
        self.emit(AluOp::Ieq, target, [lane(samples, 0), zero]);
    }

    /// Keeps a flag for threads that become helpers, if the program asks for it.
    pub(super) fn declare_helper(&mut self) {
        let body = self.body;
        let is_query = |inst| body.intrinsic(inst) == Some(IntrinsicOp::IsHelperInvocation);
        if body.blocks().any(|block| body.insts(block).any(is_query)) {
            let helper = self.new_temp();
            self.load_helper(Destination::new(File::Temporary, helper.index, 1));
            self.is_helper = Some(lane(helper, 0));
        }
    }

    /// Discards the fragment, if the condition holds.
    pub(super) fn select_discard(&mut self, condition: Option<Source>) {
        self.discards = true;
        let condition = condition.map(|condition| lane(condition, 0));
        if let Some(helper) = self.is_helper {
            let all = self.word(u32::MAX);
            let to = Destination::new(File::Temporary, helper.index, 1);
            self.emit(AluOp::Ior, to, [helper, condition.unwrap_or(all)]);
        }
        self.push(Instruction::new(Op::Discard, None, condition));
    }

    fn copy_row(&mut self, row: SystemRow, component: u8, target: Destination) {
        let row = self.system_row(row);
        self.copy(target, lane(row, component));
    }

    /// Loads a varying that is a system value.
    fn load_varying(&mut self, slot: Slot, op: LoadStoreOp, target: Destination) {
        let number = self.input(slot, -1, target.mask);
        let flat = if op == LoadStoreOp::LdVaryU32 { FLAT } else { 0 };
        let operation = self.constant_load(varying(number, flat | PERSPECTIVE));
        self.load(target, operation, &[]);
    }

    /// Loads an attribute that is a system value.
    fn load_attribute(&mut self, slot: Slot, target: Destination) {
        let number = self.input(slot, -1, 1);
        let operation = self.constant_load(entry(LoadStoreOp::LdAttrU32, number, 0));
        self.load(target, lane(operation, 0), &[]);
    }

    /// Loads a value that no table has.
    fn load_special(&mut self, selector: u32, target: Destination) {
        let operation = self.operation(Operation::LoadStore(entry(LoadStoreOp::LdSpecialU32, selector, 0)));
        self.load(target, lane(operation, 0), &[]);
    }

    /// Copies a register of the load/store unit.
    fn load_thread(&mut self, register: LoadStoreRegister, target: Destination) {
        let argument = Operand { register, component: 0 };
        let load = LoadStore { argument, ..LoadStore::new(LoadStoreOp::Move, Register::UNUSED) };
        let operation = self.constant_load(load);
        self.load(target, operation, &[]);
    }
}
