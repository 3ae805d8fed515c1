//! Compiles a body to the flat list of operations: assigns lane vectors to values and registers, and flattens control
//! flow.
//!
//! The walk over the control tree uses an explicit stack ([`OpenConstruct`]), so nesting does not use native stack.
//! Operations with an unknown jump target are recorded in the construct at the end of which they continue.

use hashbrown::HashMap;

use cranelift_entity::EntityRef;

use crate::body::{Body, CfNode, CfParent, InstData};
use crate::entities::{Block, Def, Function, Inst, User, Variable};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::run::error::RunError;
use crate::run::ops::{Copy, Op, Origin, Register, Routine, Span, Value};
use crate::run::program::Program;
use crate::shader::Shader;

/// Maximum number of lane vectors of values and registers.
const MAX_VECTORS: u64 = 1 << 24;

/// Adds a function and its callees to a program.
pub(super) fn compile(program: Program, shader: &Shader, entry: Function) -> Result<Program, RunError> {
    let mut compiler = Compiler { program, shader, numbers: HashMap::new(), queue: Vec::new() };
    compiler.function_number(entry);
    // Functions are discovered while their callers are compiled.
    let mut done = 0;
    while let Some(&function) = compiler.queue.get(done) {
        compiler.compile_function(function, done)?;
        done += 1;
    }
    Ok(compiler.program)
}

/// An open construct of the control tree.
struct OpenConstruct {
    /// Operations that need the index of the operation that closes the current list.
    waiting: Vec<usize>,
    kind: OpenKind,
}

enum OpenKind {
    Function,
    If { at: usize },
    Else { at: usize },
    Loop { head: u32 },
}

pub(super) struct Compiler<'a> {
    pub(super) program: Program,
    pub(super) shader: &'a Shader,
    /// Number of a function in the program.
    numbers: HashMap<Function, usize>,
    queue: Vec<Function>,
}

impl<'a> Compiler<'a> {
    pub(super) fn function_number(&mut self, function: Function) -> usize {
        if let Some(&number) = self.numbers.get(&function) {
            return number;
        }
        let number = self.queue.len();
        self.numbers.insert(function, number);
        self.queue.push(function);
        let mut routine = Routine::default();
        for parameter in &self.shader.functions[function].parameters {
            let value = Value {
                vector: self.program.num_value_vectors,
                components: parameter.num_components,
                bits: parameter.bit_size,
            };
            self.program.num_value_vectors += value.vectors();
            self.program.kept.resize(self.program.num_value_vectors as usize, true);
            routine.parameters.push(value);
        }
        self.program.functions.push(routine);
        number
    }

    fn compile_function(&mut self, function: Function, number: usize) -> Result<(), RunError> {
        let shader = self.shader;
        let Some(body) = &shader.functions[function].body else {
            // A declaration: calling it does nothing; the caller reports the error.
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
        code.allocate_values()?;
        code.compile()?;
        let locals = std::mem::take(&mut code.locals);
        let mut initial = Vec::new();
        for &variable in &locals {
            if let Some(allocation) = self.program.layout.allocation(variable)
                && let Some(initializer) = &shader.variables[variable].initializer
            {
                let words = self.program.layout.initial_words(shader, shader.variables[variable].ty, initializer);
                initial.extend(words.into_iter().map(|(cell, word)| (allocation.address + cell, word)));
            }
        }
        let routine = &mut self.program.functions[number];
        routine.initial = initial;
        routine.locals = locals
            .iter()
            .filter_map(|&variable| self.program.layout.allocation(variable))
            .map(|allocation| (allocation.address, allocation.cells))
            .collect();
        Ok(())
    }
}

/// The state of compiling one function.
pub(super) struct FunctionCompiler<'c, 'a> {
    pub(super) compiler: &'c mut Compiler<'a>,
    pub(super) function: Function,
    pub(super) number: usize,
    pub(super) body: &'a Body,
    /// Values by number.
    values: Vec<Value>,
    /// Pointers with a known address.
    pub(super) addresses: HashMap<Def, u32>,
    /// Register number in the program of each handle.
    pub(super) registers: HashMap<Def, u32>,
    open: Vec<OpenConstruct>,
    /// Variables of the function that the code refers to.
    pub(super) locals: Vec<Variable>,
}

impl<'a> FunctionCompiler<'_, 'a> {
    pub(super) fn malformed(&self, inst: Inst, what: &'static str) -> RunError {
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

    pub(super) fn origin(&self, inst: Inst) -> Origin {
        Origin { function: self.function, inst }
    }

    /// Assigns lane vectors to all values and registers, and words to constants.
    fn allocate_values(&mut self) -> Result<(), RunError> {
        let body = self.body;
        let first_register = self.compiler.program.num_register_vectors;
        for block in body.blocks() {
            for inst in body.insts(block) {
                if let Some(def) = body.inst_def(inst) {
                    let kept = self.leaves_its_loop(def, block);
                    self.allocate(def, kept)?;
                    if let Some(words) = body.constant(inst) {
                        let value = self.values[def.index()];
                        for (component, &word) in (0u32..).zip(words) {
                            let vector = value.vector + component;
                            self.compiler.program.constants.push((vector, word as u32));
                            if value.bits == 64 {
                                let vector = vector + u32::from(value.components);
                                self.compiler.program.constants.push((vector, (word >> 32) as u32));
                            }
                        }
                    }
                    if body.intrinsic(inst) == Some(IntrinsicOp::DeclReg) {
                        self.declare_register(inst, def)?;
                    }
                }
                for entry in body.copies(inst).unwrap_or(&[]) {
                    if let Some(def) = entry.dest.expand() {
                        self.allocate(def, true)?;
                    }
                }
            }
        }
        let program = &mut self.compiler.program;
        program.functions[self.number].registers = (first_register, program.num_register_vectors - first_register);
        Ok(())
    }

    /// Whether a value is used outside of the innermost loop that defines it. Uses in nested loops do not count.
    fn leaves_its_loop(&self, def: Def, block: Block) -> bool {
        let body = self.body;
        let loop_of = |block: Block| body.block_parent(block).and_then(|parent| body.innermost_loop(parent));
        let Some(home) = loop_of(block) else { return false };
        body.uses_of(def).any(|source| {
            let at = match body.user(source) {
                User::Inst(inst) if body.is_phi(inst) => Some(body.phi_predecessor(source)),
                User::Inst(inst) => body.inst_block(inst),
                User::If(id) => Some(body.block_before_if(id)),
            };
            let mut at = at.and_then(loop_of);
            while let Some(inner) = at {
                if inner == home {
                    return false;
                }
                at = body.loop_parent(inner).and_then(|parent| body.innermost_loop(parent));
            }
            true
        })
    }

    fn allocate(&mut self, def: Def, kept: bool) -> Result<(), RunError> {
        let program = &mut self.compiler.program;
        let shape = self.body.shape(def);
        let value = Value { vector: program.num_value_vectors, components: shape.num_components, bits: shape.bit_size };
        let total = u64::from(program.num_value_vectors) + u64::from(value.vectors());
        if total > MAX_VECTORS {
            return Err(RunError::TooLarge { words: total });
        }
        program.num_value_vectors = total as u32;
        program.kept.resize(total as usize, kept);
        self.values[def.index()] = value;
        Ok(())
    }

    fn declare_register(&mut self, inst: Inst, handle: Def) -> Result<(), RunError> {
        let index = |kind| self.body.index(inst, kind);
        let (components, bits) = (index(IndexKind::NumComponents), index(IndexKind::BitSize));
        if !(1..=16).contains(&components) || !matches!(bits, 1 | 8 | 16 | 32 | 64) {
            return Err(self.malformed(inst, "invalid shape of a register"));
        }
        let register = Register {
            vector: self.compiler.program.num_register_vectors,
            elements: (index(IndexKind::NumArrayElems) as u32).max(1),
            components: components as u8,
            bits: bits as u8,
        };
        let total = u64::from(register.vector) + u64::from(register.elements) * u64::from(register.stride());
        if total > MAX_VECTORS {
            return Err(RunError::TooLarge { words: total });
        }
        let program = &mut self.compiler.program;
        program.num_register_vectors = total as u32;
        self.registers.insert(handle, program.registers.len() as u32);
        program.registers.push(register);
        Ok(())
    }

    /// The value that source `number` reads.
    pub(super) fn source(&self, inst: Inst, number: usize) -> Result<Value, RunError> {
        if number >= self.body.num_sources(inst) {
            return Err(self.malformed(inst, "a source is missing"));
        }
        self.value(inst, self.body.src(inst, number))
    }

    pub(super) fn value(&self, inst: Inst, def: Def) -> Result<Value, RunError> {
        match self.values.get(def.index()) {
            Some(&value) if value.components != 0 => Ok(value),
            _ => Err(self.malformed(inst, "a source reads a value that no code defines")),
        }
    }

    pub(super) fn push(&mut self, op: Op) -> usize {
        self.compiler.program.ops.push(op);
        self.compiler.program.ops.len() - 1
    }

    fn here(&self) -> u32 {
        self.compiler.program.ops.len() as u32
    }

    fn compile(&mut self) -> Result<(), RunError> {
        let body = self.body;
        self.compiler.program.functions[self.number].start = self.here();
        self.open.push(OpenConstruct { waiting: Vec::new(), kind: OpenKind::Function });
        let mut block = body.start_block();
        loop {
            let jumped = self.compile_block(block)?;
            match body.node_after(block) {
                Some(CfNode::If(id)) if !jumped => {
                    let condition = body.src_def(body.if_condition(id));
                    let condition = match self.values.get(condition.index()) {
                        Some(&value) if value.components != 0 => value,
                        _ => {
                            let what = "the condition of an if is a value that no code defines";
                            let inst = body.last_inst(block).unwrap_or(Inst::new(0));
                            return Err(self.malformed(inst, what));
                        }
                    };
                    let at = self.push(Op::If { condition, otherwise: 0 });
                    self.open.push(OpenConstruct { waiting: Vec::new(), kind: OpenKind::If { at } });
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
                    self.open.push(OpenConstruct { waiting: Vec::new(), kind: OpenKind::Loop { head } });
                    block = first;
                    continue;
                }
                // Code after a jump is unreachable.
                _ => {}
            }
            let Some(next) = self.close_list(block, jumped)? else { return Ok(()) };
            block = next;
        }
    }

    /// Closes the list that contains `block`. Returns the block where the code continues.
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
                Op::EndIf { if_empty } | Op::EndLoop { if_empty, .. } => *if_empty = here,
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
                self.open.push(OpenConstruct { waiting: Vec::new(), kind: OpenKind::Else { at } });
                let first = body.else_list(id).first;
                self.copies_on_edge(body.block_before_if(id), first)?;
                Ok(Some(first))
            }
            (OpenKind::Else { at }, CfParent::Else(id)) => {
                if let Op::Else { end } = &mut self.compiler.program.ops[at] {
                    *end = here;
                }
                self.push_waiting(Op::EndIf { if_empty: 0 });
                Ok(Some(body.block_after_if(id)))
            }
            (OpenKind::Loop { head }, CfParent::Body(id)) => {
                if let Some(list) = body.loop_continue_list(id) {
                    self.push(Op::Continue);
                    self.open.push(OpenConstruct { waiting: Vec::new(), kind: OpenKind::Loop { head } });
                    return Ok(Some(list.first));
                }
                self.push_waiting(Op::EndLoop { head, if_empty: 0 });
                Ok(Some(body.block_after_loop(id)))
            }
            (OpenKind::Loop { head }, CfParent::Continue(id)) => {
                self.push_waiting(Op::EndLoop { head, if_empty: 0 });
                Ok(Some(body.block_after_loop(id)))
            }
            _ => {
                self.push(Op::End);
                Ok(None)
            }
        }
    }

    /// Adds an operation that continues at the end of the current list if no lane is active.
    pub(super) fn push_waiting(&mut self, op: Op) {
        let at = self.push(op);
        if let Some(open) = self.open.last_mut() {
            open.waiting.push(at);
        }
    }

    /// Adds the copies for the phis of `to` on the edge from `from`.
    pub(super) fn copies_on_edge(&mut self, from: Block, to: Block) -> Result<(), RunError> {
        let body = self.body;
        let start = self.compiler.program.copies.len();
        for phi in body.phis(to) {
            // A phi without a source for the edge keeps its value.
            let Some(source) = body.phi_source_for(phi, from) else { continue };
            let Some(def) = body.inst_def(phi) else { continue };
            let (dest, source) = (self.value(phi, def)?, self.value(phi, body.src_def(source))?);
            self.compiler.program.copies.push(Copy {
                dest: Span { register: false, vector: dest.vector },
                source: Span { register: false, vector: source.vector },
                vectors: dest.vectors().min(source.vectors()),
            });
        }
        self.push_copies(start);
        Ok(())
    }

    pub(super) fn push_copies(&mut self, start: usize) {
        let count = self.compiler.program.copies.len() - start;
        if count != 0 {
            self.push(Op::Copies { start: start as u32, count: count as u32 });
        }
    }
}
