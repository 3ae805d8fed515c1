//! A shader in executable form: one flat list of operations for all functions.
//!
//! Control flow is flattened with explicit ends: every list of the tree is followed by an operation that closes it (`Else`, `EndIf`,
//! `Continue`, `EndLoop`, `End`), which is where a jump goes on: a jump only takes lanes off the mask. Phis become copies on the edges.

use std::collections::HashMap;

use cranelift_entity::EntityRef;

use super::RunError;
use super::alu::is_fast;
use super::derefs::{CopyPlan, DerefStep, ImagePlan};
use super::environment::{Inputs, Outputs, Resources, RunLimits};
use super::io::IoPlan;
use super::layout::{Layout, NULL};
use super::machine::Machine;
use crate::alu::AluOp;
use crate::body::{Body, CfNode, CfParent, DerefKind, InstData, JumpKind, MAX_INDICES, TexData};
use crate::entities::{Block, Def, Function, Inst, Loop, Variable};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::shader::Shader;

/// Most planes of values and registers.
const MAX_PLANES: u64 = 1 << 24;

/// Where a value stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Value {
    /// First plane. The high words of 64-bit components follow behind all low ones.
    pub plane: u32,
    /// Components; 0 = no value.
    pub components: u8,
    /// Bits of a component.
    pub bits: u8,
}

impl Value {
    /// Number of planes.
    pub fn planes(self) -> u32 {
        u32::from(self.components) * if self.bits == 64 { 2 } else { 1 }
    }
}

/// A register or register array; its elements stand one after the other, each like a value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Register {
    /// First plane.
    pub plane: u32,
    /// Elements, at least 1.
    pub elements: u32,
    /// Components of an element.
    pub components: u8,
    /// Bits of a component.
    pub bits: u8,
}

impl Register {
    /// Planes of one element.
    pub fn stride(self) -> u32 {
        Value { plane: 0, components: self.components, bits: self.bits }.planes()
    }

    /// Element `index` as a value of the register file.
    pub fn element(self, index: u32) -> Option<Value> {
        (index < self.elements).then(|| Value {
            plane: self.plane + index * self.stride(),
            components: self.components,
            bits: self.bits,
        })
    }
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    /// [`Program::alus`].
    Alu(u32),
    /// [`Program::intrinsics`].
    Intrinsic(u32),
    /// [`Program::derefs`].
    Deref(u32),
    /// [`Program::textures`].
    Texture(u32),
    /// Copies that happen at once: a range of [`Program::copies`].
    Copies {
        /// First.
        start: u32,
        /// Number.
        count: u32,
    },
    /// [`Program::calls`].
    Call(u32),
    /// Lanes with a condition go on; if there is none, at `otherwise`, which is the `Else`.
    If {
        /// The condition.
        condition: Value,
        /// Where the `Else` is.
        otherwise: u32,
    },
    /// The other lanes of the `If` go on; if there is none, at `end`, which is the `EndIf`.
    Else {
        /// Where the `EndIf` is.
        end: u32,
    },
    /// The lanes that are left meet; if there is none, go on at the end of the enclosing list.
    EndIf {
        /// End of the enclosing list.
        nobody: u32,
    },
    /// Enters a loop.
    Loop,
    /// Start of a continue construct: lanes that continued come back.
    Continue,
    /// Next iteration at `head` if lanes are left, else the end of the loop; if nobody comes out of it, go on at the end of the enclosing list.
    EndLoop {
        /// First operation of the body.
        head: u32,
        /// End of the enclosing list.
        nobody: u32,
    },
    /// Takes the lanes off, and goes on at the end of the list.
    Jump {
        /// Which lanes are taken off what.
        kind: Leave,
        /// End of the list.
        end: u32,
    },
    /// End of a function.
    End,
}

/// What a jump leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Leave {
    /// The innermost loop.
    Break,
    /// The iteration.
    Continue,
    /// The function.
    Return,
    /// The shader.
    Halt,
}

/// An ALU instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alu {
    /// Opcode.
    pub op: AluOp,
    /// Size of the unsized types.
    pub bit_size: u8,
    /// Whether there is a loop over lanes for it.
    pub fast: bool,
    /// Number of sources.
    pub num_sources: u8,
    /// First source in [`Program::alu_sources`].
    pub sources: u32,
    /// Result.
    pub dest: Value,
}

/// A source of an ALU instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AluSource {
    /// Where the planes of its components stand in [`Program::planes`], swizzle applied.
    pub start: u32,
    /// Number of components.
    pub components: u8,
    /// Distance to the planes of the high words; 0 if there are none.
    pub high: u8,
}

/// An intrinsic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Intrinsic {
    /// Opcode.
    pub op: IntrinsicOp,
    /// Number of sources.
    pub num_sources: u8,
    /// First source in [`Program::operands`].
    pub sources: u32,
    /// Result; no components if there is none.
    pub dest: Value,
    /// Constant indices.
    pub indices: [i32; MAX_INDICES],
    /// Index `base`, 0 if it has none.
    pub base: i32,
    /// Index `write_mask`, all components if it has none.
    pub write_mask: u32,
    /// What was found out beforehand: place in a list of the program that the opcode implies.
    pub extra: u32,
    /// Origin, for errors.
    pub origin: Origin,
}

impl Intrinsic {
    /// A constant index, 0 if it has none.
    pub fn index(&self, kind: IndexKind) -> i32 {
        self.op.info().index_slot(kind).and_then(|slot| self.indices.get(slot)).copied().unwrap_or(0)
    }
}

/// The instruction that an operation comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// Function.
    pub function: Function,
    /// Instruction.
    pub inst: Inst,
}

/// Number of texture source kinds.
pub(super) const TEX_SOURCE_KINDS: usize = crate::body::TexSrcKind::NAMES.len();

/// A texture instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Texture {
    /// Payload.
    pub data: TexData,
    /// Result.
    pub dest: Value,
    /// Sources by kind; no components = absent.
    pub sources: [Value; TEX_SOURCE_KINDS],
    /// Origin, for errors.
    pub origin: Origin,
}

/// One end of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    /// In the register file, else among the values.
    pub register: bool,
    /// First plane.
    pub plane: u32,
}

/// A copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy {
    /// Where to.
    pub dest: Span,
    /// Where from.
    pub source: Span,
    /// Planes.
    pub planes: u32,
}

/// A call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// Number of the callee in [`Program::functions`].
    pub callee: u32,
    /// First argument in [`Program::operands`].
    pub arguments: u32,
    /// Number of arguments.
    pub num_arguments: u16,
    /// Origin, for errors.
    pub origin: Origin,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub(super) struct Routine {
    /// First operation.
    pub start: u32,
    /// Its parameters.
    pub parameters: Vec<Value>,
    /// Planes of its registers: first, number.
    pub registers: (u32, u32),
    /// Private cells of its variables: first, number.
    pub locals: Vec<(u32, u32)>,
    /// Words that initialisers put into private cells.
    pub initial: Vec<(u32, u32)>,
}

/// A shader prepared for running.
#[derive(Debug)]
pub struct Program<'a> {
    pub(super) shader: &'a Shader,
    pub(super) ops: Vec<Op>,
    pub(super) alus: Vec<Alu>,
    pub(super) alu_sources: Vec<AluSource>,
    pub(super) planes: Vec<u32>,
    pub(super) intrinsics: Vec<Intrinsic>,
    pub(super) operands: Vec<Value>,
    pub(super) derefs: Vec<DerefStep>,
    pub(super) textures: Vec<Texture>,
    pub(super) copies: Vec<Copy>,
    pub(super) calls: Vec<Call>,
    pub(super) registers: Vec<Register>,
    pub(super) copy_plans: Vec<CopyPlan>,
    pub(super) images: Vec<ImagePlan>,
    /// Planes that hold a constant: plane, word.
    pub(super) constants: Vec<(u32, u32)>,
    pub(super) functions: Vec<Routine>,
    pub(super) layout: Layout,
    pub(super) io: IoPlan,
    pub(super) num_value_planes: u32,
    pub(super) num_register_planes: u32,
}

impl<'a> Program<'a> {
    /// Prepares a shader.
    ///
    /// # Errors
    /// If there is nothing to run, or the shader would not pass validation in a way that makes it impossible to run. What only some
    /// surroundings offer is an error when it is executed.
    pub fn new(shader: &'a Shader) -> Result<Program<'a>, RunError> {
        let entry = shader.entry_point().ok_or(RunError::NoEntryPoint)?;
        let program = Program {
            shader,
            ops: Vec::new(),
            alus: Vec::new(),
            alu_sources: Vec::new(),
            planes: Vec::new(),
            intrinsics: Vec::new(),
            operands: Vec::new(),
            derefs: Vec::new(),
            textures: Vec::new(),
            copies: Vec::new(),
            calls: Vec::new(),
            registers: Vec::new(),
            copy_plans: Vec::new(),
            images: Vec::new(),
            constants: Vec::new(),
            functions: Vec::new(),
            layout: Layout::new(shader),
            io: IoPlan::default(),
            num_value_planes: 0,
            num_register_planes: 0,
        };
        let mut compiler = Compiler { program, numbers: HashMap::new(), queue: Vec::new() };
        if shader.functions[entry].body.is_none() {
            return Err(RunError::NoEntryPoint);
        }
        compiler.function_number(entry);
        // Functions are found while their callers are compiled.
        let mut done = 0;
        while let Some(&function) = compiler.queue.get(done) {
            compiler.compile_function(function, done)?;
            done += 1;
        }
        let mut program = compiler.program;
        program.io = IoPlan::new(&program)?;
        Ok(program)
    }

    /// Runs the shader.
    ///
    /// # Errors
    /// If it does not end within the limits, or executes an instruction for which there are no surroundings.
    pub fn run(&self, inputs: &Inputs, resources: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, RunError> {
        let mut machine = Machine::new(self, inputs, resources)?;
        machine.execute(limits)?;
        Ok(machine.finish())
    }

    pub(super) fn function_name(&self, function: Function) -> String {
        self.shader.functions[function].name.clone()
    }

    /// The error that an instruction has no counterpart in the environment.
    pub(super) fn unsupported(&self, origin: Origin, name: &'static str) -> RunError {
        RunError::Unsupported { function: self.function_name(origin.function), inst: origin.inst, name }
    }
}

/// An open construct of the control tree.
struct Open {
    /// Operations that wait for the place of the operation that closes the current list.
    waiting: Vec<usize>,
    kind: OpenKind,
}

enum OpenKind {
    Function,
    If { at: usize },
    Else { at: usize },
    Loop { head: u32 },
}

struct Compiler<'a> {
    program: Program<'a>,
    /// Number of a function in the program.
    numbers: HashMap<Function, usize>,
    queue: Vec<Function>,
}

impl<'a> Compiler<'a> {
    fn function_number(&mut self, function: Function) -> usize {
        if let Some(&number) = self.numbers.get(&function) {
            return number;
        }
        let number = self.queue.len();
        self.numbers.insert(function, number);
        self.queue.push(function);
        let mut routine = Routine::default();
        for parameter in &self.program.shader.functions[function].parameters {
            let value = Value {
                plane: self.program.num_value_planes,
                components: parameter.num_components,
                bits: parameter.bit_size,
            };
            self.program.num_value_planes += value.planes();
            routine.parameters.push(value);
        }
        self.program.functions.push(routine);
        number
    }

    fn compile_function(&mut self, function: Function, number: usize) -> Result<(), RunError> {
        let shader = self.program.shader;
        let Some(body) = &shader.functions[function].body else {
            // A declaration: calling it does nothing. The caller's error says so.
            self.program.functions[number].start = u32::MAX;
            return Ok(());
        };
        if !body.structured {
            return Err(RunError::Unstructured { function: shader.functions[function].name.clone() });
        }
        let mut code = FunctionCompiler {
            compiler: self,
            function,
            number,
            body,
            values: vec![Value::default(); body.num_defs()],
            addresses: HashMap::new(),
            registers: HashMap::new(),
            open: Vec::new(),
            locals: Vec::new(),
        };
        code.place_values()?;
        code.compile()?;
        let locals = std::mem::take(&mut code.locals);
        let mut initial = Vec::new();
        for &variable in &locals {
            if let Some(place) = self.program.layout.place(variable)
                && let Some(initializer) = &shader.variables[variable].initializer
            {
                let words = self.program.layout.initial_words(shader, shader.variables[variable].ty, initializer);
                initial.extend(words.into_iter().map(|(cell, word)| (place.address + cell, word)));
            }
        }
        let routine = &mut self.program.functions[number];
        routine.initial = initial;
        routine.locals = locals
            .iter()
            .filter_map(|&variable| self.program.layout.place(variable))
            .map(|place| (place.address, place.cells))
            .collect();
        Ok(())
    }
}

/// What compiling one function needs.
struct FunctionCompiler<'c, 'a> {
    compiler: &'c mut Compiler<'a>,
    function: Function,
    number: usize,
    body: &'a Body,
    /// By value number.
    values: Vec<Value>,
    /// Pointers that are known beforehand.
    addresses: HashMap<Def, u32>,
    /// Register of a handle, as its number in the program.
    registers: HashMap<Def, u32>,
    open: Vec<Open>,
    /// Variables of the function that code points at.
    locals: Vec<Variable>,
}

impl<'a> FunctionCompiler<'_, 'a> {
    fn malformed(&self, inst: Inst, what: &'static str) -> RunError {
        let name = match self.body.inst(inst) {
            InstData::Alu { op, .. } => op.name(),
            InstData::Intrinsic { op, .. } => op.name(),
            InstData::Deref { .. } => "deref",
            InstData::Call { .. } => "call",
            InstData::Tex(_) => "tex",
            InstData::LoadConst { .. } => "load_const",
            InstData::Jump(_) => "jump",
            InstData::Undef => "undef",
            InstData::Phi => "phi",
            InstData::ParallelCopy(_) => "parallel_copy",
        };
        let function = self.compiler.program.function_name(self.function);
        RunError::Malformed { function, inst, name, what }
    }

    fn origin(&self, inst: Inst) -> Origin {
        Origin { function: self.function, inst }
    }

    /// Gives every value that code makes its planes, every register its place, constants their words.
    fn place_values(&mut self) -> Result<(), RunError> {
        let body = self.body;
        let first_register = self.compiler.program.num_register_planes;
        for block in body.blocks() {
            for inst in body.insts(block) {
                if let Some(def) = body.inst_def(inst) {
                    self.place(def)?;
                    if let Some(words) = body.constant(inst) {
                        let value = self.values[def.index()];
                        for (component, &word) in (0u32..).zip(words) {
                            let plane = value.plane + component;
                            self.compiler.program.constants.push((plane, word as u32));
                            if value.bits == 64 {
                                let plane = plane + u32::from(value.components);
                                self.compiler.program.constants.push((plane, (word >> 32) as u32));
                            }
                        }
                    }
                    if body.intrinsic(inst) == Some(IntrinsicOp::DeclReg) {
                        self.declare_register(inst, def)?;
                    }
                }
                for entry in body.copies(inst).unwrap_or(&[]) {
                    if let Some(def) = entry.dest.expand() {
                        self.place(def)?;
                    }
                }
            }
        }
        let program = &mut self.compiler.program;
        program.functions[self.number].registers = (first_register, program.num_register_planes - first_register);
        Ok(())
    }

    fn place(&mut self, def: Def) -> Result<(), RunError> {
        let program = &mut self.compiler.program;
        let shape = self.body.shape(def);
        let value = Value { plane: program.num_value_planes, components: shape.num_components, bits: shape.bit_size };
        let total = u64::from(program.num_value_planes) + u64::from(value.planes());
        if total > MAX_PLANES {
            return Err(RunError::TooLarge { words: total });
        }
        program.num_value_planes = total as u32;
        self.values[def.index()] = value;
        Ok(())
    }

    fn declare_register(&mut self, inst: Inst, handle: Def) -> Result<(), RunError> {
        let index = |kind| self.body.index(inst, kind);
        let (components, bits) = (index(IndexKind::NumComponents), index(IndexKind::BitSize));
        if !(1..=16).contains(&components) || !matches!(bits, 1 | 8 | 16 | 32 | 64) {
            return Err(self.malformed(inst, "no such shape of a register"));
        }
        let register = Register {
            plane: self.compiler.program.num_register_planes,
            elements: (index(IndexKind::NumArrayElems) as u32).max(1),
            components: components as u8,
            bits: bits as u8,
        };
        let total = u64::from(register.plane) + u64::from(register.elements) * u64::from(register.stride());
        if total > MAX_PLANES {
            return Err(RunError::TooLarge { words: total });
        }
        let program = &mut self.compiler.program;
        program.num_register_planes = total as u32;
        self.registers.insert(handle, program.registers.len() as u32);
        program.registers.push(register);
        Ok(())
    }

    /// The value that source `number` reads.
    fn source(&self, inst: Inst, number: usize) -> Result<Value, RunError> {
        if number >= self.body.num_sources(inst) {
            return Err(self.malformed(inst, "a source is missing"));
        }
        self.value(inst, self.body.src(inst, number))
    }

    fn value(&self, inst: Inst, def: Def) -> Result<Value, RunError> {
        match self.values.get(def.index()) {
            Some(&value) if value.components != 0 => Ok(value),
            _ => Err(self.malformed(inst, "a source reads a value that no code makes")),
        }
    }

    fn push(&mut self, op: Op) -> usize {
        self.compiler.program.ops.push(op);
        self.compiler.program.ops.len() - 1
    }

    fn here(&self) -> u32 {
        self.compiler.program.ops.len() as u32
    }

    // ---- control flow -------------------------------------------------------------------------------------------------

    fn compile(&mut self) -> Result<(), RunError> {
        let body = self.body;
        self.compiler.program.functions[self.number].start = self.here();
        self.open.push(Open { waiting: Vec::new(), kind: OpenKind::Function });
        let mut block = body.start_block();
        loop {
            let jumped = self.compile_block(block)?;
            match body.node_after(block) {
                Some(CfNode::If(id)) if !jumped => {
                    let condition = body.src_def(body.if_condition(id));
                    let condition = match self.values.get(condition.index()) {
                        Some(&value) if value.components != 0 => value,
                        _ => {
                            let what = "the condition of an if is a value that no code makes";
                            let inst = body.last_inst(block).unwrap_or(Inst::new(0));
                            return Err(self.malformed(inst, what));
                        }
                    };
                    let at = self.push(Op::If { condition, otherwise: 0 });
                    self.open.push(Open { waiting: Vec::new(), kind: OpenKind::If { at } });
                    let first = body.then_list(id).first;
                    self.copies_on_edge(block, first)?;
                    block = first;
                    continue;
                }
                Some(CfNode::Loop(id)) if !jumped => {
                    let first = body.loop_body(id).first;
                    self.copies_on_edge(block, first)?;
                    self.push(Op::Loop);
                    let head = self.here();
                    self.open.push(Open { waiting: Vec::new(), kind: OpenKind::Loop { head } });
                    block = first;
                    continue;
                }
                // Behind a jump nothing of the list is reached.
                _ => {}
            }
            let Some(next) = self.close_list(block, jumped)? else { return Ok(()) };
            block = next;
        }
    }

    /// Ends the list that `block` stands in; the block where the code goes on.
    fn close_list(&mut self, block: Block, jumped: bool) -> Result<Option<Block>, RunError> {
        let body = self.body;
        let parent = body.block_parent(block).unwrap_or(CfParent::Function);
        if !jumped {
            let target = match parent {
                CfParent::Function => None,
                CfParent::Then(id) | CfParent::Else(id) => Some(body.block_after_if(id)),
                CfParent::Body(id) => Some(body.continue_target(id)),
                CfParent::Continue(id) => Some(body.loop_body(id).first),
            };
            if let Some(target) = target {
                self.copies_on_edge(block, target)?;
            }
        }
        let here = self.here();
        let Some(open) = self.open.pop() else { return Ok(None) };
        for at in open.waiting {
            match &mut self.compiler.program.ops[at] {
                Op::EndIf { nobody } | Op::EndLoop { nobody, .. } => *nobody = here,
                Op::Jump { end, .. } => *end = here,
                _ => {}
            }
        }
        match (open.kind, parent) {
            (OpenKind::If { at }, CfParent::Then(id)) => {
                if let Op::If { otherwise, .. } = &mut self.compiler.program.ops[at] {
                    *otherwise = here;
                }
                let at = self.push(Op::Else { end: 0 });
                self.open.push(Open { waiting: Vec::new(), kind: OpenKind::Else { at } });
                let first = body.else_list(id).first;
                self.copies_on_edge(body.block_before_if(id), first)?;
                Ok(Some(first))
            }
            (OpenKind::Else { at }, CfParent::Else(id)) => {
                if let Op::Else { end } = &mut self.compiler.program.ops[at] {
                    *end = here;
                }
                self.push_waiting(Op::EndIf { nobody: 0 });
                Ok(Some(body.block_after_if(id)))
            }
            (OpenKind::Loop { head }, CfParent::Body(id)) => {
                if let Some(list) = body.loop_continue_list(id) {
                    self.push(Op::Continue);
                    self.open.push(Open { waiting: Vec::new(), kind: OpenKind::Loop { head } });
                    return Ok(Some(list.first));
                }
                self.push_waiting(Op::EndLoop { head, nobody: 0 });
                Ok(Some(body.block_after_loop(id)))
            }
            (OpenKind::Loop { head }, CfParent::Continue(id)) => {
                self.push_waiting(Op::EndLoop { head, nobody: 0 });
                Ok(Some(body.block_after_loop(id)))
            }
            _ => {
                self.push(Op::End);
                Ok(None)
            }
        }
    }

    /// Adds an operation that goes to the end of the current list if no lane is left.
    fn push_waiting(&mut self, op: Op) {
        let at = self.push(op);
        if let Some(open) = self.open.last_mut() {
            open.waiting.push(at);
        }
    }

    /// The copies that the phis of `to` ask for when it is reached from `from`.
    fn copies_on_edge(&mut self, from: Block, to: Block) -> Result<(), RunError> {
        let body = self.body;
        let start = self.compiler.program.copies.len();
        for phi in body.phis(to) {
            // A source that is missing leaves what is there.
            let Some(source) = body.phi_source_for(phi, from) else { continue };
            let Some(def) = body.inst_def(phi) else { continue };
            let (dest, source) = (self.value(phi, def)?, self.value(phi, body.src_def(source))?);
            self.compiler.program.copies.push(Copy {
                dest: Span { register: false, plane: dest.plane },
                source: Span { register: false, plane: source.plane },
                planes: dest.planes().min(source.planes()),
            });
        }
        self.push_copies(start);
        Ok(())
    }

    fn push_copies(&mut self, start: usize) {
        let count = self.compiler.program.copies.len() - start;
        if count != 0 {
            self.push(Op::Copies { start: start as u32, count: count as u32 });
        }
    }

    // ---- instructions -------------------------------------------------------------------------------------------------

    /// Compiles the instructions of a block; whether it ends in a jump.
    fn compile_block(&mut self, block: Block) -> Result<bool, RunError> {
        let body = self.body;
        for inst in body.insts(block) {
            match *body.inst(inst) {
                InstData::Alu { op, .. } => self.compile_alu(inst, op)?,
                InstData::Deref { kind, modes, ty } => self.compile_deref(inst, kind, modes, ty)?,
                InstData::Call { callee, indirect } => {
                    if indirect {
                        return Err(self.malformed(inst, "calls through pointers cannot be run"));
                    }
                    self.compile_call(inst, callee)?;
                }
                InstData::Tex(_) => self.compile_texture(inst)?,
                InstData::Intrinsic { op, indices, .. } => {
                    self.compile_intrinsic(inst, op, indices)?;
                }
                InstData::LoadConst { .. } | InstData::Undef | InstData::Phi => {}
                InstData::ParallelCopy(_) => self.compile_parallel_copy(inst)?,
                InstData::Jump(kind) => {
                    self.compile_jump(inst, block, kind)?;
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn compile_jump(&mut self, inst: Inst, block: Block, kind: JumpKind) -> Result<(), RunError> {
        let innermost: Option<Loop> = self.body.block_parent(block).and_then(|p| self.body.innermost_loop(p));
        let kind = match (kind, innermost) {
            (JumpKind::Return, _) => Leave::Return,
            (JumpKind::Halt, _) => Leave::Halt,
            (JumpKind::Break, Some(id)) => {
                self.copies_on_edge(block, self.body.block_after_loop(id))?;
                Leave::Break
            }
            (JumpKind::Continue, Some(id)) => {
                self.copies_on_edge(block, self.body.continue_target(id))?;
                Leave::Continue
            }
            (JumpKind::Break | JumpKind::Continue, None) => return Err(self.malformed(inst, "not in a loop")),
            (JumpKind::Goto(_) | JumpKind::GotoIf { .. }, _) => {
                return Err(RunError::Unstructured { function: self.compiler.program.function_name(self.function) });
            }
        };
        self.push_waiting(Op::Jump { kind, end: 0 });
        Ok(())
    }

    fn compile_alu(&mut self, inst: Inst, op: AluOp) -> Result<(), RunError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Err(self.malformed(inst, "no result")) };
        let dest = self.value(inst, def)?;
        let info = op.info();
        let first = self.compiler.program.alu_sources.len() as u32;
        let mut bit_size = if info.output_type.is_unsized() { dest.bits } else { 0 };
        let mut unsized_seen = false;
        let mut narrow = dest.bits != 64;
        for number in 0..usize::from(info.num_inputs) {
            let value = self.source(inst, number)?;
            if !unsized_seen && info.input_types.get(number).is_some_and(|ty| ty.is_unsized()) {
                bit_size = value.bits;
                unsized_seen = true;
            }
            narrow &= value.bits != 64;
            let swizzle = body.swizzle(body.source(inst, number));
            let components = op.input_components(number, dest.components);
            let program = &mut self.compiler.program;
            let start = program.planes.len() as u32;
            for selector in swizzle.iter(usize::from(components)) {
                if selector >= value.components {
                    return Err(self.malformed(inst, "a swizzle selects a component that the value does not have"));
                }
                program.planes.push(value.plane + u32::from(selector));
            }
            let high = if value.bits == 64 { value.components } else { 0 };
            program.alu_sources.push(AluSource { start, components, high });
        }
        let mode = self.compiler.program.shader.info.float_controls_execution_mode;
        let plain = !mode.flushes_denormals(32) && !mode.rounds_toward_zero(32);
        let fast =
            narrow && is_fast(op, bit_size, plain) && (info.output_size == 0 || info.output_size == dest.components);
        let alu = Alu { op, bit_size, fast, num_sources: info.num_inputs, sources: first, dest };
        let number = self.compiler.program.alus.len() as u32;
        self.compiler.program.alus.push(alu);
        self.push(Op::Alu(number));
        Ok(())
    }

    fn compile_call(&mut self, inst: Inst, callee: Function) -> Result<(), RunError> {
        let shader = self.compiler.program.shader;
        let Some(function) = shader.functions.get(callee) else { return Err(self.malformed(inst, "no such function")) };
        if function.body.is_none() {
            return Err(self.malformed(inst, "the called function has no code"));
        }
        let expected = function.parameters.len();
        if self.body.num_sources(inst) != expected {
            return Err(self.malformed(inst, "the number of arguments is not that of the parameters"));
        }
        let arguments = self.compiler.program.operands.len() as u32;
        for number in 0..expected {
            let value = self.source(inst, number)?;
            self.compiler.program.operands.push(value);
        }
        let callee = self.compiler.function_number(callee) as u32;
        let call = Call { callee, arguments, num_arguments: expected as u16, origin: self.origin(inst) };
        let number = self.compiler.program.calls.len() as u32;
        self.compiler.program.calls.push(call);
        self.push(Op::Call(number));
        Ok(())
    }

    fn compile_parallel_copy(&mut self, inst: Inst) -> Result<(), RunError> {
        let start = self.compiler.program.copies.len();
        for entry in self.body.copies(inst).unwrap_or(&[]) {
            let (source, source_planes) = self.copy_end(inst, entry.source, entry.source_is_register)?;
            let (dest, planes) = match entry.dest.expand() {
                Some(def) => {
                    let value = self.value(inst, def)?;
                    (Span { register: false, plane: value.plane }, value.planes())
                }
                None => self.copy_end(inst, entry.dest_register, true)?,
            };
            let planes = planes.min(source_planes);
            self.compiler.program.copies.push(Copy { dest, source, planes });
        }
        self.push_copies(start);
        Ok(())
    }

    fn copy_end(&self, inst: Inst, number: u16, is_register: bool) -> Result<(Span, u32), RunError> {
        if is_register {
            let register = self.register(inst, usize::from(number))?;
            let register = self.compiler.program.registers[register as usize];
            return Ok((Span { register: true, plane: register.plane }, register.stride()));
        }
        let value = self.source(inst, usize::from(number))?;
        Ok((Span { register: false, plane: value.plane }, value.planes()))
    }

    /// Number of the register whose handle a source is.
    fn register(&self, inst: Inst, number: usize) -> Result<u32, RunError> {
        self.source(inst, number)?;
        match self.registers.get(&self.body.src(inst, number)) {
            Some(&register) => Ok(register),
            None => Err(self.malformed(inst, "a source that should be a register handle is none")),
        }
    }

    fn compile_texture(&mut self, inst: Inst) -> Result<(), RunError> {
        let body = self.body;
        let (Some(&data), Some(def)) = (body.tex(inst), body.inst_def(inst)) else {
            return Err(self.malformed(inst, "no result"));
        };
        let mut sources = [Value::default(); TEX_SOURCE_KINDS];
        for (number, source) in body.sources(inst).enumerate() {
            sources[body.tex_src_kind(source) as usize] = self.source(inst, number)?;
        }
        let texture = Texture { data, dest: self.value(inst, def)?, sources, origin: self.origin(inst) };
        let number = self.compiler.program.textures.len() as u32;
        self.compiler.program.textures.push(texture);
        self.push(Op::Texture(number));
        Ok(())
    }

    fn compile_intrinsic(&mut self, inst: Inst, op: IntrinsicOp, indices: [i32; MAX_INDICES]) -> Result<(), RunError> {
        let body = self.body;
        let info = op.info();
        if matches!(op, IntrinsicOp::DeclReg | IntrinsicOp::Nop | IntrinsicOp::Use | IntrinsicOp::DebugBreak) {
            return Ok(());
        }
        let sources = self.compiler.program.operands.len() as u32;
        for number in 0..info.num_srcs() {
            let value = self.source(inst, number)?;
            self.compiler.program.operands.push(value);
        }
        let dest = match body.inst_def(inst) {
            Some(def) => self.value(inst, def)?,
            None => Value::default(),
        };
        if info.has_dest() && dest.components == 0 {
            return Err(self.malformed(inst, "no result"));
        }
        let write_mask = if info.index_slot(IndexKind::WriteMask).is_some() {
            body.index(inst, IndexKind::WriteMask) as u32
        } else {
            u32::MAX
        };
        let mut extra = NULL;
        match op {
            IntrinsicOp::LoadReg | IntrinsicOp::LoadRegIndirect => extra = self.register(inst, 0)?,
            IntrinsicOp::StoreReg | IntrinsicOp::StoreRegIndirect => extra = self.register(inst, 1)?,
            IntrinsicOp::LoadDeref => {
                // Distance from the variable to what framebuffer fetches read instead.
                extra = self
                    .root_variable(body.src(inst, 0))
                    .and_then(|variable| self.compiler.program.layout.place(variable))
                    .filter(|place| place.framebuffer != NULL)
                    .map_or(0, |place| place.framebuffer - place.address);
            }
            IntrinsicOp::CopyDeref => {
                let plan = self.copy_plan(inst)?;
                extra = self.compiler.program.copy_plans.len() as u32;
                self.compiler.program.copy_plans.push(plan);
            }
            IntrinsicOp::LoadParam => {
                let number = body.index(inst, IndexKind::ParamIdx) as usize;
                let parameters = &self.compiler.program.functions[self.number].parameters;
                let Some(&value) = parameters.get(number) else {
                    return Err(self.malformed(inst, "no such parameter"));
                };
                self.compiler.program.copies.push(Copy {
                    dest: Span { register: false, plane: dest.plane },
                    source: Span { register: false, plane: value.plane },
                    planes: dest.planes().min(value.planes()),
                });
                self.push_copies(self.compiler.program.copies.len() - 1);
                return Ok(());
            }
            _ => {
                if let Some(plan) = ImagePlan::new(op) {
                    extra = self.compiler.program.images.len() as u32;
                    self.compiler.program.images.push(plan);
                }
            }
        }
        let intrinsic = Intrinsic {
            op,
            num_sources: info.num_srcs() as u8,
            sources,
            dest,
            indices,
            base: body.index(inst, IndexKind::Base),
            write_mask,
            extra,
            origin: self.origin(inst),
        };
        let number = self.compiler.program.intrinsics.len() as u32;
        self.compiler.program.intrinsics.push(intrinsic);
        self.push(Op::Intrinsic(number));
        Ok(())
    }

    // ---- derefs -------------------------------------------------------------------------------------------------------

    fn root_variable(&self, mut def: Def) -> Option<Variable> {
        let body = self.body;
        // The chain cannot be longer than the code.
        for _ in 0..body.num_insts() {
            if !body.is_def_live(def) {
                return None;
            }
            let inst = body.def_inst(def);
            match body.inst(inst) {
                InstData::Deref { kind: DerefKind::Var(variable), .. } => return Some(*variable),
                InstData::Deref { .. } if body.num_sources(inst) != 0 => def = body.src(inst, 0),
                _ => return None,
            }
        }
        None
    }

    fn compile_deref(
        &mut self,
        inst: Inst,
        kind: DerefKind,
        modes: crate::variable::VariableModes,
        ty: crate::entities::Type,
    ) -> Result<(), RunError> {
        let body = self.body;
        let shader = self.compiler.program.shader;
        let Some(def) = body.inst_def(inst) else { return Err(self.malformed(inst, "no result")) };
        let dest = self.value(inst, def)?;
        if let DerefKind::Var(variable) = kind {
            if shader.variables.get(variable).is_none() {
                return Err(self.malformed(inst, "no such variable"));
            }
            let known = self.compiler.program.layout.place(variable).is_some();
            let place = self.compiler.program.layout.add(shader, variable)?;
            if !known && shader.variables[variable].mode == crate::variable::VariableModes::FUNCTION_TEMP {
                self.locals.push(variable);
            }
            self.known_address(def, dest, place.address);
            return Ok(());
        }
        let parent = self.source(inst, 0)?;
        let parent_def = body.src(inst, 0);
        let parent_address = self.addresses.get(&parent_def).copied();
        let parent_type = body.is_def_live(parent_def).then(|| body.deref_type(parent_def)).flatten();
        let layout = &self.compiler.program.layout;
        let mut step = DerefStep { dest, parent, index: Value::default(), bound: u32::MAX, stride: 0, offset: 0 };
        match kind {
            DerefKind::Var(_) | DerefKind::ArrayWildcard | DerefKind::Cast { .. } => {}
            DerefKind::Array => {
                let elements = parent_type.and_then(|parent| layout.elements(shader, parent, modes));
                let Some((bound, stride)) = elements else {
                    return Err(self.malformed(inst, "the parent of an array deref has no elements"));
                };
                (step.bound, step.stride) = (bound, stride);
                step.index = self.source(inst, 1)?;
            }
            DerefKind::PtrAsArray => {
                let cast = body.is_def_live(parent_def).then(|| *body.inst(body.def_inst(parent_def)));
                step.stride = match cast {
                    Some(InstData::Deref { kind: DerefKind::Cast { ptr_stride, .. }, modes, .. })
                        if ptr_stride != 0 && modes.intersects(super::derefs::BYTE_MODES) =>
                    {
                        ptr_stride
                    }
                    _ => layout.stride(ty, modes),
                };
                step.index = self.source(inst, 1)?;
            }
            DerefKind::Struct(number) => {
                let offset = parent_type.and_then(|parent| layout.field(shader, parent, number, modes));
                let Some(offset) = offset else {
                    return Err(self.malformed(inst, "the parent of a struct deref has no such field"));
                };
                step.offset = offset;
            }
        }
        // What needs no lane's value is computed here.
        let index = match step.index.components {
            0 => Some(0),
            _ => body.constant_component_of(body.src(inst, 1)),
        };
        if let (Some(parent), Some(index)) = (parent_address, index) {
            self.known_address(def, dest, step.address(parent, index));
            return Ok(());
        }
        let number = self.compiler.program.derefs.len() as u32;
        self.compiler.program.derefs.push(step);
        self.push(Op::Deref(number));
        Ok(())
    }

    fn known_address(&mut self, def: Def, dest: Value, address: u32) {
        self.addresses.insert(def, address);
        self.compiler.program.constants.push((dest.plane, address));
    }

    /// How a copy goes: the vectors of the type, and the wildcards of both paths.
    fn copy_plan(&self, inst: Inst) -> Result<CopyPlan, RunError> {
        let (dest, source) = (self.body.src(inst, 0), self.body.src(inst, 1));
        let shader = self.compiler.program.shader;
        let layout = &self.compiler.program.layout;
        let ty = self.body.is_def_live(dest).then(|| self.body.deref_type(dest)).flatten();
        let Some(ty) = ty else { return Err(self.malformed(inst, "a source that should be a deref is none")) };
        let dest = self.wildcards(inst, dest)?;
        let source = self.wildcards(inst, source)?;
        if dest.len() != source.len() {
            return Err(self.malformed(inst, "the paths have different numbers of wildcards"));
        }
        let loops = dest.iter().zip(&source).map(|(d, s)| (d.0.min(s.0), d.1, s.1)).collect();
        CopyPlan::new(layout.leaves(shader, ty)?, loops)
    }

    /// Number of elements and distance for each wildcard of a path, from the root to the leaf.
    fn wildcards(&self, inst: Inst, mut def: Def) -> Result<Vec<(u32, u32)>, RunError> {
        let body = self.body;
        let mut found = Vec::new();
        for _ in 0..body.num_insts() {
            if !body.is_def_live(def) {
                break;
            }
            let at = body.def_inst(def);
            let InstData::Deref { kind, modes, .. } = *body.inst(at) else { break };
            if body.num_sources(at) == 0 {
                break;
            }
            let parent = body.src(at, 0);
            if kind == DerefKind::ArrayWildcard {
                let ty = body.is_def_live(parent).then(|| body.deref_type(parent)).flatten();
                let elements =
                    ty.and_then(|ty| self.compiler.program.layout.elements(self.compiler.program.shader, ty, modes));
                let Some(elements) = elements else {
                    return Err(self.malformed(inst, "the parent of a wildcard has no elements"));
                };
                found.push(elements);
            }
            def = parent;
        }
        found.reverse();
        Ok(found)
    }
}

impl Body {
    /// First component of a value that is a constant, sign-extended to 64 bits.
    fn constant_component_of(&self, def: Def) -> Option<i64> {
        if !self.is_def_live(def) {
            return None;
        }
        let bits = self.constant_component(def, 0)?;
        Some(match self.bit_size(def) {
            8 => i64::from(bits as i8),
            16 => i64::from(bits as i16),
            32 => i64::from(bits as i32),
            _ => bits as i64,
        })
    }
}
