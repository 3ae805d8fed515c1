//! Instruction selection: lowered IR to instructions over virtual registers.
//!
//! A value in SSA form and a register of the IR are a virtual temporary each. Uniforms that are pushed, inputs and
//! constants are operands. Arrays of registers are in the scratch space: instructions that access them read or store a
//! whole element. Instructions that a selection needs beyond one, and operands that an instruction cannot take, use
//! further temporaries.

mod alu;
mod buffers;
mod conditions;
mod fragment;
mod geometry;
mod interface;
mod memory;
mod operands;
mod texture;

use cranelift_entity::SecondaryMap;
use tgsi_ir::body::{CfEvent, JumpKind};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Block, Body, Def, Inst, InstData, Shader, ShaderStage};
use tgsi_registers::chase;
use tgsi_registers::modifiers::ModifierPolicy;
use tgsi_registers::select::ValueTemps;
use tgsi_vec4::simple::{Destination, File, Guard, Instruction, SimpleMachine, Source, push_legal};

use crate::error::IntelError;
use crate::isa::{Chip, Condition, Opcode, Type};
use crate::machine::{Alu, COPY, Machine, MachineInstruction, Op, PAYLOAD, Program};
use crate::options::IntelOptions;
use crate::program::{Bindings, FragmentInterface, Texture};
use crate::scalar::PAYLOAD_VECTORS;

use fragment::FragmentParts;
use geometry::Geometry;
use interface::Interface;
pub(crate) use interface::Interfaces;
use memory::ArrayStore;
pub(crate) use operands::words_of;

/// A shader after selection: instructions over virtual registers, not optimised, and the interface.
#[derive(Clone, Debug)]
pub(crate) struct Selected<I = Interfaces> {
    /// The instructions.
    pub(crate) program: Program,
    /// Inputs and outputs.
    pub(crate) interfaces: I,
    /// The registers of constant buffer 0 that are pushed, in order.
    pub(crate) push: Vec<u16>,
    /// Vectors of scratch space, for each vertex.
    pub(crate) scratch: u32,
    /// The surfaces.
    pub(crate) bindings: Bindings,
    /// The textures, by unit.
    pub(crate) textures: Vec<Texture>,
}

/// A shader after selection, by the kind of its program.
#[derive(Clone, Debug)]
pub(crate) enum Selection {
    /// A program of vectors.
    Vectors(Selected),
    /// A scalar program.
    Scalars(Selected<FragmentInterface>),
}

/// The number of textures and images that runs have.
pub(crate) const RUN_UNITS: u8 = 64;

struct Selector<'a> {
    shader: &'a Shader,
    body: &'a Body,
    chip: Chip,
    policy: ModifierPolicy<'static>,
    program: Program,
    interface: Interface,
    /// The interface of a fragment program.
    fragment: FragmentParts,
    /// The temporary of a value or a register of the IR, by value or handle.
    temps: ValueTemps,
    /// The first vector in scratch space, and the number of vectors, of an array of registers.
    arrays: SecondaryMap<Def, Option<(u32, u32)>>,
    /// Vectors of scratch space.
    scratch: u32,
    has_lanes: bool,
    /// Stores to arrays after the current instruction.
    stores: Vec<ArrayStore>,
    /// The registers of constant buffer 0 that are pushed, in ascending order.
    push: Vec<u16>,
    bindings: Bindings,
    textures: Vec<Texture>,
    geometry: Option<Geometry>,
    /// Rows of constants in registers of the current block.
    constants: Vec<([u32; 4], Source)>,
}

/// The maximum number of constants that instructions of a block share.
const BLOCK_CONSTANTS: usize = 16;

/// Selects the instructions of a lowered shader.
pub(crate) fn select(shader: &Shader, options: &IntelOptions) -> Result<Selection, IntelError> {
    let entry = shader.entry_point().ok_or(IntelError::NoEntryPoint)?;
    let body = shader.functions[entry].body.as_ref().ok_or(IntelError::NoEntryPoint)?;
    let is_scalar = shader.stage == ShaderStage::Fragment;
    let fixed = if is_scalar { PAYLOAD_VECTORS } else { PAYLOAD };
    let interface = Interface::of(shader, body);
    let has_uniform_inputs = interface.has_uniform_inputs();
    let program = Program::new(Machine { chip: options.chip, is_scalar, has_uniform_inputs }, fixed);
    let fragment = FragmentParts::of(shader, body, options.has_lanes);
    let targets = if is_scalar { fragment.targets() } else { 0 };
    // Every small run-time index has a texture and an image in runs.
    let units = if is_scalar && options.has_lanes { RUN_UNITS } else { 0 };
    let mut selector = Selector {
        shader,
        body,
        chip: options.chip,
        policy: options.modifiers(),
        program,
        interface,
        fragment,
        temps: ValueTemps::default(),
        arrays: SecondaryMap::new(),
        scratch: 0,
        has_lanes: options.has_lanes,
        stores: Vec::new(),
        push: interface::pushed_uniforms(body, options.push_limit()),
        bindings: Bindings::of(shader, targets, units),
        textures: Vec::new(),
        geometry: None,
        constants: Vec::new(),
    };
    if shader.stage == ShaderStage::Geometry {
        selector.begin_geometry(shader, selector.interface.slots());
    }
    selector.select_body()?;
    selector.end_geometry();
    let Selector { program, interface, fragment, scratch, push, bindings, mut textures, geometry, .. } = selector;
    textures.sort_unstable_by_key(|texture| texture.unit);
    if is_scalar {
        let interfaces = fragment.finish();
        return Ok(Selection::Scalars(Selected { program, interfaces, push, scratch, bindings, textures }));
    }
    let interfaces = interface.finish(shader, geometry);
    Ok(Selection::Vectors(Selected { program, interfaces, push, scratch, bindings, textures }))
}

impl Selector<'_> {
    fn select_body(&mut self) -> Result<(), IntelError> {
        let body = self.body;
        for event in body.events() {
            match event {
                CfEvent::Block(block) => self.select_block(block)?,
                CfEvent::If(id) => {
                    let guard = self.test_boolean(body.if_condition(id));
                    self.push_flow(Op::If, Some(guard));
                }
                CfEvent::Else(id) if body.is_else_empty(id) => {}
                CfEvent::Else(_) => self.push_flow(Op::Else, None),
                CfEvent::EndIf(_) => self.push_flow(Op::EndIf, None),
                CfEvent::Loop(_) => self.push_flow(Op::Loop, None),
                CfEvent::EndLoop(_) => self.push_flow(Op::EndLoop, None),
                CfEvent::Continue(_) => return Err(self.lacks(None, "continue constructs of loops")),
            }
        }
        Ok(())
    }

    fn select_block(&mut self, block: Block) -> Result<(), IntelError> {
        self.constants.clear();
        let mut next = self.body.first_inst(block);
        while let Some(inst) = next {
            self.select_instruction(inst)?;
            self.store_to_arrays();
            next = self.body.next_inst(inst);
        }
        Ok(())
    }

    fn select_instruction(&mut self, inst: Inst) -> Result<(), IntelError> {
        let body = self.body;
        match *body.inst(inst) {
            InstData::Alu { op, .. } => {
                if chase::is_folded(body, inst, self.policy) {
                    return Ok(());
                }
                self.select_alu(inst, op)
            }
            InstData::LoadConst { .. } | InstData::Undef | InstData::Deref { .. } => Ok(()),
            InstData::Tex(_) if self.is_scalar() => self.select_lookup(inst),
            InstData::Tex(_) => self.select_texture(inst),
            InstData::Intrinsic { op, .. } => self.select_intrinsic(inst, op),
            InstData::Jump(JumpKind::Break) => {
                self.push_flow(Op::Break, None);
                Ok(())
            }
            InstData::Jump(JumpKind::Continue) => {
                self.push_flow(Op::Continue, None);
                Ok(())
            }
            InstData::Jump(_) => Err(self.lacks(inst, "returns within control flow")),
            InstData::Phi | InstData::ParallelCopy(_) => Err(self.lacks(inst, "phis")),
            InstData::Call { .. } => Err(self.lacks(inst, "calls")),
        }
    }

    fn select_intrinsic(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), IntelError> {
        use IntrinsicOp::{
            Barrier, DeclReg, EmitVertex, EndPrimitive, GetSsboSize, LoadInput, LoadInterpolatedInput,
            LoadPerVertexInput, LoadReg, LoadRegIndirect, LoadSsbo, LoadUbo, LoadUboVec4, LoadUniform, Nop, SsboAtomic,
            SsboAtomicSwap, StoreOutput, StoreReg, StoreRegIndirect, StoreSsbo,
        };
        match op {
            LoadInput | LoadInterpolatedInput | StoreOutput if self.is_scalar() => {
                self.select_fragment_intrinsic(inst, op)
            }
            DeclReg => {
                self.declare_register(inst);
                Ok(())
            }
            LoadReg | LoadRegIndirect | StoreReg | StoreRegIndirect | Nop => Ok(()),
            LoadUniform => self.load_uniform(inst),
            LoadUbo => self.load_ubo(inst),
            LoadUboVec4 => self.load_ubo_vec4(inst),
            LoadInput | LoadPerVertexInput => self.load_input(inst),
            EmitVertex => self.emit_vertex(inst),
            EndPrimitive => {
                self.end_primitive();
                Ok(())
            }
            StoreOutput => self.store_output(inst),
            LoadSsbo => self.load_ssbo(inst),
            StoreSsbo => self.store_ssbo(inst),
            SsboAtomic | SsboAtomicSwap => self.select_atomic(inst),
            GetSsboSize => self.buffer_size(inst),
            // The accesses of a thread are in order.
            Barrier => Ok(()),
            op if op.is_atomic_counter() => self.select_counter(inst, op),
            op if self.is_scalar() => self.select_fragment_intrinsic(inst, op),
            op if self.load_system_value(inst, op) => Ok(()),
            op => Err(self.lacks(inst, &format!("form of `{}`", op.name()))),
        }
    }

    /// Reserves scratch space for an array of registers.
    fn declare_register(&mut self, inst: Inst) {
        let body = self.body;
        let count = body.index(inst, IndexKind::NumArrayElems).max(0) as u32;
        if let Some(handle) = body.inst_def(inst).filter(|_| count != 0) {
            self.arrays[handle] = Some((self.scratch, count));
            // One more for accesses beyond the end.
            self.scratch = self.scratch.saturating_add(count + 1);
        }
    }

    /// Whether components are registers for eight lanes.
    fn is_scalar(&self) -> bool {
        self.program.machine.is_scalar
    }

    /// The error for a feature that the machine lacks.
    fn lacks(&self, inst: impl Into<Option<Inst>>, what: &str) -> IntelError {
        IntelError::Lacks { inst: inst.into(), chip: self.chip, what: what.to_owned() }
    }

    /// A new temporary, as an operand.
    fn new_temp(&mut self) -> Source {
        Source::new(File::Temporary, self.program.new_temp() as i32)
    }

    /// A constant with one word in all components.
    fn word(&mut self, word: u32) -> Source {
        Source::new(File::Constant, self.program.constants.intern([word; 4])).swizzled([0; 4])
    }

    /// Appends an instruction, with its constants in the form and at the place that instructions can contain. Others
    /// are registers, which the instructions of a block share.
    fn push(&mut self, mut instruction: MachineInstruction) {
        self.normalize_constants(&mut instruction);
        for number in (0..instruction.sources.len()).rev() {
            let source = instruction.sources[number];
            if source.file != File::Constant || self.program.machine.accepts(&instruction) {
                continue;
            }
            let words = words_of(&self.program.constants, &source);
            let known = self.constants.iter().find(|(known, _)| *known == words).map(|&(_, register)| register);
            let register = known.unwrap_or_else(|| {
                let register = self.new_temp();
                let row = Source::new(File::Constant, self.program.constants.intern(words));
                let to = Destination::new(File::Temporary, register.index, 15);
                self.program.push(Instruction::new(COPY, Some(to), [row]));
                if self.constants.len() == BLOCK_CONSTANTS {
                    self.constants.remove(0);
                }
                self.constants.push((words, register));
                register
            });
            instruction.sources[number] = register;
        }
        if self.is_scalar() && instruction.op != COPY && !matches!(instruction.op, Op::Message(_) | Op::Fragment(_)) {
            self.push_components(&instruction);
            return;
        }
        push_legal(&mut self.program, instruction);
    }

    /// Appends an instruction for each component. The flag of all components is one.
    fn push_components(&mut self, instruction: &MachineInstruction) {
        let Some(to) = instruction.destination else { return };
        let count = if to.file == File::Special { 1 } else { 4 };
        for c in (0..4).filter(|c| to.mask >> c & 1 != 0).take(count) {
            let destination = Some(Destination { mask: 1 << c, ..to });
            push_legal(&mut self.program, Instruction { destination, ..instruction.clone() });
        }
    }

    /// Appends an operation.
    fn emit<const N: usize>(&mut self, op: impl Into<Op>, to: Destination, sources: [Source; N]) {
        self.push(Instruction::new(op.into(), Some(to), sources));
    }

    /// Appends an operation with the result in a new temporary.
    fn computed<const N: usize>(&mut self, op: impl Into<Op>, mask: u8, sources: [Source; N]) -> Source {
        let temp = self.new_temp();
        self.emit(op, Destination::new(File::Temporary, temp.index, mask), sources);
        temp
    }

    /// The product of an integer in x and a constant.
    fn multiplied(&mut self, source: Source, factor: u32) -> Source {
        if factor == 1 {
            return source;
        }
        let factor = self.word(factor);
        self.computed(alu(Opcode::Mul, Type::D), 1, [source, factor])
    }

    fn push_flow(&mut self, op: Op, guard: Option<Guard>) {
        self.constants.clear();
        let mut instruction = Instruction::new(op, None, []);
        instruction.guard = guard;
        self.program.push(instruction);
    }

    /// Orders the operands so that a constant is last, and folds modifiers of constants.
    fn normalize_constants(&mut self, instruction: &mut MachineInstruction) {
        let constants = &mut self.program.constants;
        for source in instruction.sources.iter_mut().filter(|source| source.file == File::Constant) {
            let words = words_of(constants, source);
            let first_equal = |c: usize| (0..c).find(|&k| words[k] == words[c]).unwrap_or(c) as u8;
            let swizzle = [0, 1, 2, 3].map(first_equal);
            *source = Source::new(File::Constant, constants.intern(words)).swizzled(swizzle);
        }
        let Op::Alu(alu) = &mut instruction.op else { return };
        let [first, second] = instruction.sources.as_mut_slice() else { return };
        if first.file != File::Constant || second.file == File::Constant || alu.negated != 0 || alu.absolute {
            return;
        }
        match alu.opcode {
            Opcode::Add | Opcode::Mul | Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Sel => {}
            Opcode::Dp2 | Opcode::Dp3 | Opcode::Dp4 => {}
            Opcode::Cmp => {
                alu.condition = alu.condition.map(|condition| match condition {
                    Condition::L => Condition::G,
                    Condition::Le => Condition::Ge,
                    Condition::G => Condition::L,
                    Condition::Ge => Condition::Le,
                    other => other,
                });
            }
            _ => return,
        }
        std::mem::swap(first, second);
    }
}

/// An operation on components whose result and operands have a type.
fn alu(opcode: Opcode, ty: crate::isa::Type) -> Alu {
    Alu::new(opcode, ty)
}
