//! The machine code of a stretch: a loop over the quads of a block, in which every plane is a variable of the code
//! generator. Quads are independent.
//!
//! Control flow is as in the interpreter: masks represent the active lanes. A side of an `If` is skipped if no lane of
//! the quad takes it; a loop ends with its last lane.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I32X4, I64};
use cranelift_codegen::ir::{AbiParam, Block, InstBuilder, MemFlags, Signature, StackSlot, Value as Ir};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Variable};
use rustc_hash::FxHashMap;
use tgsi_ir::alu::AluOp;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::run::program::{Alu, Copy, Intrinsic, Leave, Op, Program, Value};

use super::alu::{Form, Lanes, dot, fma, form, shift_by_constant};
use super::calls::{Function, GENERAL, General};
use super::context::{Context, Memory, offsets};
use super::gathers;
use super::stretches::{Plane, Stretch, plane_of, written_planes};
use super::uniforms::{self, Place};
use super::wide::{self, Operand};
use crate::sampler::Known;

/// Bytes of a vector of four words.
pub(super) const VECTOR: i64 = 16;

/// An open construct.
enum Open {
    If { outer: Ir, otherwise: Ir, else_block: Block, merge: Block, in_else: bool },
    Loop { outer: Ir, outer_iteration: Option<Ir>, outer_in_loop: Option<Ir>, head: Block, exit: Block, start: usize },
}

/// Emits the code of one stretch.
pub(super) struct Emitter<'a, 'f> {
    pub program: &'a Program,
    pub builder: FunctionBuilder<'f>,
    pub keep_inactive: bool,
    /// Words of constant planes.
    pub constants: &'a FxHashMap<Plane, u32>,
    /// Numbers of the ALU instructions evaluated by calls, in the order in which code counts them.
    pub generals: &'a mut Vec<u32>,
    /// Units that code may read itself.
    pub known: &'a [Known],
    /// Indices of the out-of-line lookup functions, by the numbers of the texture instructions.
    pub outlined: &'a FxHashMap<u32, usize>,
    /// For each plane of registers, whether it stays in memory.
    pub in_memory: &'a [bool],
    /// Whether the processor has fused multiply-add.
    pub has_fma: bool,
    /// Whether the code is for x86-64.
    pub is_x86: bool,
    variables: FxHashMap<Plane, Variable>,
    /// Start and length of memory.
    memories: FxHashMap<Memory, (Ir, Ir)>,
    uniforms: FxHashMap<(Memory, u32, u32), Ir>,
    pub call_conv: CallConv,
    /// The stack memory for calls.
    pub area: Option<StackSlot>,
    pub context: Ir,
    words: Ir,
    registers: Ir,
    stride: Ir,
    /// Whether code is being emitted before the loop over the quads.
    pub before_quads: bool,
    /// The byte offset of the quad in a plane.
    pub quad: Ir,
    pub active: Variable,
    iteration: Variable,
    in_loop: Variable,
    steps: Variable,
    open: Vec<Open>,
    /// The number of loops among them.
    open_loops: usize,
    has_loops: bool,
}

/// Returns the flags of all accesses: their addresses are valid, but not aligned to vectors.
pub(super) fn trusted() -> MemFlags {
    MemFlags::new().with_notrap()
}

/// Returns the flags of loads from memory that is constant while the code runs: they may be hoisted.
pub(super) fn fixed() -> MemFlags {
    trusted().with_readonly().with_can_move()
}

impl<'a, 'f> Emitter<'a, 'f> {
    /// Creates an emitter for a function without blocks.
    pub fn new(
        program: &'a Program,
        mut builder: FunctionBuilder<'f>,
        keep_inactive: bool,
        constants: &'a FxHashMap<Plane, u32>,
        generals: &'a mut Vec<u32>,
        outlined: &'a FxHashMap<u32, usize>,
        call_conv: CallConv,
    ) -> Emitter<'a, 'f> {
        let active = builder.declare_var(I32X4);
        let iteration = builder.declare_var(I32X4);
        let in_loop = builder.declare_var(I32X4);
        let steps = builder.declare_var(I64);
        let none = Ir::from_u32(0);
        Emitter {
            program,
            builder,
            keep_inactive,
            constants,
            generals,
            known: &[],
            outlined,
            in_memory: &[],
            has_fma: false,
            is_x86: false,
            before_quads: false,
            variables: FxHashMap::default(),
            memories: FxHashMap::default(),
            uniforms: FxHashMap::default(),
            call_conv,
            area: None,
            context: none,
            words: none,
            registers: none,
            stride: none,
            quad: none,
            active,
            iteration,
            in_loop,
            steps,
            open: Vec::new(),
            open_loops: 0,
            has_loops: false,
        }
    }

    pub fn lanes(&mut self) -> Lanes<'_, 'f> {
        Lanes { builder: &mut self.builder }
    }

    /// Loads a field of the context.
    fn field(&mut self, offset: usize) -> Ir {
        self.builder.ins().load(I64, fixed(), self.context, offset as i32)
    }

    fn variable(&mut self, plane: Plane) -> Variable {
        if let Some(&variable) = self.variables.get(&plane) {
            return variable;
        }
        let variable = self.builder.declare_var(I32X4);
        self.variables.insert(plane, variable);
        variable
    }

    pub fn read(&mut self, plane: Plane) -> Ir {
        if let Some(&word) = self.constants.get(&plane) {
            return self.lanes().splat(word);
        }
        if self.is_in_memory(plane) {
            let address = self.address(plane);
            return self.builder.ins().load(I32X4, trusted(), address, 0);
        }
        let variable = self.variable(plane);
        self.builder.use_var(variable)
    }

    fn is_in_memory(&self, plane: Plane) -> bool {
        let register = plane.checked_sub(self.program.num_value_planes());
        register.and_then(|register| self.in_memory.get(register as usize)).copied().unwrap_or(false)
    }

    /// Writes a vector to a plane: only in the active lanes if the others must be kept, else in all.
    pub fn write(&mut self, plane: Plane, value: Ir, masked: bool) {
        if self.is_in_memory(plane) {
            let (active, old, address) = (self.builder.use_var(self.active), self.read(plane), self.address(plane));
            let value = self.lanes().select(active, value, old);
            self.builder.ins().store(trusted(), value, address, 0);
            return;
        }
        let variable = self.variable(plane);
        let values = self.program.num_value_planes();
        let kept = masked
            || self.keep_inactive
            || plane >= values
            || self.program.kept().get(plane as usize).copied().unwrap_or(true);
        let kept = kept && !self.before_quads;
        let value = if kept {
            let (active, old) = (self.builder.use_var(self.active), self.builder.use_var(variable));
            self.lanes().select(active, value, old)
        } else {
            value
        };
        self.builder.def_var(variable, value);
    }

    /// Returns the address of the quad in a plane.
    pub fn address(&mut self, plane: Plane) -> Ir {
        let values = self.program.num_value_planes();
        let (file, plane) = if plane < values { (self.words, plane) } else { (self.registers, plane - values) };
        let distance = self.builder.ins().imul_imm(self.stride, i64::from(plane));
        let address = self.builder.ins().iadd(file, distance);
        self.builder.ins().iadd(address, self.quad)
    }

    /// Returns the bytes of a plane.
    pub fn stride(&self) -> Ir {
        self.stride
    }

    /// Emits the whole function.
    pub fn function(mut self, stretch: &Stretch) {
        let entry = self.builder.create_block();
        self.builder.append_block_params_for_function_params(entry);
        self.builder.switch_to_block(entry);
        self.builder.seal_block(entry);
        self.context = self.builder.block_params(entry)[0];
        self.words = self.field(offsets::WORDS);
        self.registers = self.field(offsets::REGISTERS);
        self.stride = self.field(offsets::STRIDE);
        let end = self.field(offsets::END);
        let active_plane = self.field(offsets::ACTIVE);
        let limit = self.field(offsets::STEPS);
        self.invariants(stretch);
        let (head, body, next, exit) = (
            self.builder.create_block(),
            self.builder.create_block(),
            self.builder.create_block(),
            self.builder.create_block(),
        );
        let most = self.builder.declare_var(I64);
        let quad = self.builder.declare_var(I64);
        let zero = self.builder.ins().iconst(I64, 0);
        self.builder.def_var(most, zero);
        self.builder.def_var(quad, zero);
        self.builder.ins().jump(head, &[]);
        // A quad without active lanes is skipped.
        self.builder.switch_to_block(head);
        self.quad = self.builder.use_var(quad);
        let address = self.builder.ins().iadd(active_plane, self.quad);
        let active = self.builder.ins().load(I32X4, trusted(), address, 0);
        let any = self.builder.ins().vany_true(active);
        self.builder.ins().brif(any, body, &[], next, &[]);
        self.builder.switch_to_block(body);
        self.builder.seal_block(body);
        self.builder.def_var(self.active, active);
        self.builder.def_var(self.steps, zero);
        for &plane in &stretch.inputs {
            let address = self.address(plane);
            let value = self.builder.ins().load(I32X4, trusted(), address, 0);
            let variable = self.variable(plane);
            self.builder.def_var(variable, value);
        }
        let range = stretch.range.start as usize..stretch.range.end as usize;
        for (at, &op) in range.clone().zip(&self.program.ops()[range]) {
            if !stretch.invariants.contains(&(at as u32)) {
                self.operation(op, at, limit);
            }
        }
        for &plane in &stretch.outputs {
            let variable = self.variable(plane);
            let value = self.builder.use_var(variable);
            let address = self.address(plane);
            self.builder.ins().store(trusted(), value, address, 0);
        }
        if self.has_loops {
            let (old, steps) = (self.builder.use_var(most), self.builder.use_var(self.steps));
            let larger = self.builder.ins().umax(old, steps);
            self.builder.def_var(most, larger);
        }
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
        self.builder.seal_block(next);
        let following = self.builder.ins().iadd_imm(self.quad, VECTOR);
        self.builder.def_var(quad, following);
        let more = self.builder.ins().icmp(IntCC::UnsignedLessThan, following, end);
        self.builder.ins().brif(more, head, &[], exit, &[]);
        self.builder.seal_block(head);
        self.builder.switch_to_block(exit);
        self.builder.seal_block(exit);
        let most = self.builder.use_var(most);
        self.builder.ins().return_(&[most]);
        self.builder.finalize();
    }

    /// Returns start and length in bytes of memory.
    pub fn memory(&mut self, memory: Memory) -> (Ir, Ir) {
        if let Some(&found) = self.memories.get(&memory) {
            return found;
        }
        let (table, at) = match memory {
            Memory::Constants(number) => (self.context, offsets::CONSTANTS + number as usize * offsets::BUFFER),
            Memory::Vertex(number) => (self.field(offsets::VERTICES), number as usize * offsets::BUFFER),
            Memory::Storage(number) => (self.field(offsets::STORAGE), number as usize * offsets::BUFFER),
            Memory::Shared => (self.context, offsets::SHARED),
        };
        let [start, length] =
            [at, at + offsets::BUFFER_LENGTH].map(|at| self.builder.ins().load(I64, fixed(), table, at as i32));
        self.memories.insert(memory, (start, length));
        (start, length)
    }

    /// Loads word `number` of a place in all lanes; 0 if it is out of bounds.
    pub fn uniform(&mut self, place: Place, number: u32) -> Ir {
        let word = place.word + number;
        // The end of the words that must be in bounds.
        let end = place.word + (number / place.together + 1) * place.together;
        let key = (place.memory, word, end);
        if let Some(&value) = self.uniforms.get(&key) {
            return value;
        }
        let (start, length) = self.memory(place.memory);
        let inside = self.builder.ins().icmp_imm(IntCC::UnsignedGreaterThanOrEqual, length, i64::from(end) * 4);
        let address = self.builder.ins().iadd_imm(start, i64::from(word) * 4);
        let nothing = self.builder.ins().iadd_imm(self.context, offsets::ZERO as i64);
        let address = self.builder.ins().select(inside, address, nothing);
        let scalar = self.builder.ins().load(I32, trusted(), address, 0);
        let value = self.lanes().splat_value(scalar);
        self.uniforms.insert(key, value);
        value
    }

    fn operation(&mut self, op: Op, at: usize, limit: Ir) {
        let program = self.program;
        match op {
            Op::Alu(number) => self.alu(number),
            Op::Copies { start, count } => self.copies(&program.copies()[start as usize..(start + count) as usize]),
            Op::Intrinsic(number) => self.intrinsic(&program.intrinsics()[number as usize]),
            Op::Texture(number) => self.texture(number),
            Op::If { condition, .. } => self.start_if(condition),
            Op::Else { .. } => self.start_else(),
            Op::EndIf { .. } => self.end_if(),
            Op::Loop => self.start_loop(at),
            Op::Continue => self.next_iteration(),
            Op::EndLoop { .. } => self.end_loop(at, limit),
            Op::Jump { kind, .. } => self.jump(kind),
            // Stretches contain no other operations.
            Op::Deref(_) | Op::Call(_) | Op::Native { .. } | Op::End => {}
        }
    }

    fn any(&mut self, mask: Ir) -> Ir {
        self.builder.ins().vany_true(mask)
    }

    fn start_if(&mut self, condition: Value) {
        let condition = self.read(condition.plane);
        let condition = self.lanes().is_set(condition);
        let outer = self.builder.use_var(self.active);
        let taken = self.builder.ins().band(outer, condition);
        let otherwise = self.builder.ins().band_not(outer, condition);
        let (then, else_block, merge) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        let any = self.any(taken);
        self.builder.ins().brif(any, then, &[], else_block, &[]);
        self.builder.switch_to_block(then);
        self.builder.seal_block(then);
        self.builder.def_var(self.active, taken);
        self.open.push(Open::If { outer, otherwise, else_block, merge, in_else: false });
    }

    fn start_else(&mut self) {
        let Some(Open::If { otherwise, else_block, merge, in_else, .. }) = self.open.last_mut() else { return };
        let (otherwise, else_block, merge) = (*otherwise, *else_block, *merge);
        *in_else = true;
        self.builder.ins().jump(else_block, &[]);
        self.builder.switch_to_block(else_block);
        self.builder.seal_block(else_block);
        let any = self.any(otherwise);
        let start = self.builder.create_block();
        self.builder.ins().brif(any, start, &[], merge, &[]);
        self.builder.switch_to_block(start);
        self.builder.seal_block(start);
        self.builder.def_var(self.active, otherwise);
    }

    fn end_if(&mut self) {
        if let Some(Open::If { in_else: false, .. }) = self.open.last() {
            self.start_else();
        }
        let Some(Open::If { outer, merge, .. }) = self.open.pop() else { return };
        self.builder.ins().jump(merge, &[]);
        self.builder.switch_to_block(merge);
        self.builder.seal_block(merge);
        let active = if self.open_loops > 0 {
            let iteration = self.builder.use_var(self.iteration);
            self.builder.ins().band(outer, iteration)
        } else {
            outer
        };
        self.builder.def_var(self.active, active);
    }

    fn start_loop(&mut self, at: usize) {
        let outer = self.builder.use_var(self.active);
        let inside = self.open_loops > 0;
        let outer_iteration = inside.then(|| self.builder.use_var(self.iteration));
        let outer_in_loop = inside.then(|| self.builder.use_var(self.in_loop));
        self.builder.def_var(self.iteration, outer);
        self.builder.def_var(self.in_loop, outer);
        let (head, exit) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().jump(head, &[]);
        self.builder.switch_to_block(head);
        self.open.push(Open::Loop { outer, outer_iteration, outer_in_loop, head, exit, start: at });
        self.open_loops += 1;
        self.has_loops = true;
    }

    fn next_iteration(&mut self) {
        let in_loop = self.builder.use_var(self.in_loop);
        self.builder.def_var(self.iteration, in_loop);
        self.builder.def_var(self.active, in_loop);
    }

    fn end_loop(&mut self, at: usize, limit: Ir) {
        self.next_iteration();
        let Some(Open::Loop { outer, outer_iteration, outer_in_loop, head, exit, start }) = self.open.pop() else {
            return;
        };
        self.open_loops -= 1;
        let steps = self.builder.use_var(self.steps);
        let steps = self.builder.ins().iadd_imm(steps, (at - start) as i64);
        self.builder.def_var(self.steps, steps);
        let (again, endless) = (self.builder.create_block(), self.builder.create_block());
        let in_loop = self.builder.use_var(self.in_loop);
        let any = self.any(in_loop);
        self.builder.ins().brif(any, again, &[], exit, &[]);
        self.builder.switch_to_block(again);
        self.builder.seal_block(again);
        let too_many = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, steps, limit);
        self.builder.ins().brif(too_many, endless, &[], head, &[]);
        self.builder.seal_block(head);
        self.builder.set_cold_block(endless);
        self.builder.switch_to_block(endless);
        self.builder.seal_block(endless);
        self.builder.ins().return_(&[steps]);
        self.builder.switch_to_block(exit);
        self.builder.seal_block(exit);
        self.builder.def_var(self.active, outer);
        if let (Some(iteration), Some(in_loop)) = (outer_iteration, outer_in_loop) {
            self.builder.def_var(self.iteration, iteration);
            self.builder.def_var(self.in_loop, in_loop);
        }
    }

    fn jump(&mut self, kind: Leave) {
        let active = self.builder.use_var(self.active);
        let iteration = self.builder.use_var(self.iteration);
        let iteration = self.builder.ins().band_not(iteration, active);
        self.builder.def_var(self.iteration, iteration);
        if kind != Leave::Continue {
            let in_loop = self.builder.use_var(self.in_loop);
            let in_loop = self.builder.ins().band_not(in_loop, active);
            self.builder.def_var(self.in_loop, in_loop);
        }
        let nobody = self.lanes().splat(0);
        self.builder.def_var(self.active, nobody);
    }

    fn copies(&mut self, copies: &[Copy]) {
        let program = self.program;
        let mut values = Vec::new();
        for copy in copies {
            let (from, to) = (plane_of(program, copy.source), plane_of(program, copy.dest));
            values.extend((0..copy.planes).map(|number| (to + number, from + number)));
        }
        let values: Vec<(Plane, Ir)> = values.into_iter().map(|(to, from)| (to, self.read(from))).collect();
        for (plane, value) in values {
            self.write(plane, value, true);
        }
    }

    pub fn alu(&mut self, number: u32) {
        let program = self.program;
        let alu = &program.alus()[number as usize];
        let info = alu.op.info();
        let wide = (0..usize::from(alu.num_sources)).any(|source| program.alu_source_high(alu, source) != 0);
        let words = alu.dest.bits == 32 && !wide && matches!(alu.bit_size, 0 | 32);
        let mode = program.execution_mode();
        let plain = !mode.flushes_denormals(32) && !mode.rounds_toward_zero(32);
        let by_component = info.output_size == 0 && info.input_sizes.iter().all(|&size| size == 0);
        if alu.op.is_vec() && alu.dest.bits != 64 && !wide {
            let sources: Vec<Ir> = (0..usize::from(alu.num_sources.min(alu.dest.components)))
                .filter_map(|source| program.alu_source_planes(alu, source).first().copied())
                .map(|plane| self.read(plane))
                .collect();
            for (plane, value) in (alu.dest.plane..).zip(sources) {
                self.write(plane, value, false);
            }
            return;
        }
        if words && plain && matches!(alu.op, AluOp::Fdot2 | AluOp::Fdot3 | AluOp::Fdot4) {
            let [a, b] = [0, 1].map(|source| {
                program.alu_source_planes(alu, source).iter().map(|&plane| self.read(plane)).collect::<Vec<Ir>>()
            });
            if let Some(sum) = dot(&mut self.lanes(), &a, &b) {
                self.write(alu.dest.plane, sum, false);
            }
            return;
        }
        if self.moved(alu) || self.wide(alu, by_component) {
            return;
        }
        match form(alu.op).filter(|form| words && by_component && (plain || matches!(form, Form::Rule(_)))) {
            Some(form) => {
                let mut results = Vec::with_capacity(alu.dest.components.into());
                for component in 0..usize::from(alu.dest.components) {
                    let result = self.component(alu, component, form);
                    results.push(result);
                }
                for (plane, value) in (alu.dest.plane..).zip(results) {
                    self.write(plane, value, false);
                }
            }
            None => self.general(number),
        }
    }

    /// Emits opcodes that only move words; returns false for others.
    fn moved(&mut self, alu: &Alu) -> bool {
        let program = self.program;
        let planes = |source: usize| program.alu_source_planes(alu, source);
        let high = u32::from(program.alu_source_high(alu, 0));
        let from: Vec<Plane> = match alu.op {
            AluOp::Mov if alu.dest.bits == 64 => {
                planes(0).iter().copied().chain(planes(0).iter().map(|plane| plane + high)).collect()
            }
            AluOp::Pack642x32Split => planes(0).iter().chain(planes(1)).copied().collect(),
            AluOp::Unpack642x32SplitX => planes(0).to_vec(),
            AluOp::I2i32 | AluOp::U2u32 if alu.bit_size == 64 => planes(0).to_vec(),
            AluOp::Unpack642x32SplitY => planes(0).iter().map(|plane| plane + high).collect(),
            _ => return false,
        };
        let values: Vec<Ir> = from.into_iter().map(|plane| self.read(plane)).collect();
        for (plane, value) in (alu.dest.plane..alu.dest.plane + alu.dest.planes()).zip(values) {
            self.write(plane, value, false);
        }
        true
    }

    /// Emits opcodes with 64-bit operands or results; returns false if there is no rule for the opcode.
    fn wide(&mut self, alu: &Alu, by_component: bool) -> bool {
        let program = self.program;
        let highs: Vec<u32> =
            (0..usize::from(alu.num_sources)).map(|source| program.alu_source_high(alu, source).into()).collect();
        if !by_component
            || !matches!(alu.bit_size, 0 | 32 | 64)
            || (alu.dest.bits != 64 && highs.iter().all(|&high| high == 0))
        {
            return false;
        }
        let mode = program.execution_mode();
        let plain = [32, 64].iter().all(|&size| !mode.flushes_denormals(size) && !mode.rounds_toward_zero(size));
        let fma = (self.has_fma && alu.op == AluOp::Ffma).then_some((wide::fma as wide::WideRule, true));
        let rule = fma.or_else(|| wide::form(alu.op)).filter(|&(_, float)| plain || !float);
        let Some((rule, _)) = rule.filter(|_| matches!(alu.dest.bits, 32 | 64)) else { return false };
        let mut results = Vec::with_capacity(alu.dest.components.into());
        for component in 0..usize::from(alu.dest.components) {
            let mut operands = Vec::with_capacity(highs.len());
            let mut last = 0;
            for (source, &high) in highs.iter().enumerate() {
                last = program.alu_source_planes(alu, source).get(component).copied().unwrap_or(0);
                let low = self.read(last);
                operands.push(if high == 0 {
                    Operand::Word(low)
                } else {
                    let high = self.read(last + high);
                    Operand::Wide(self.lanes().join(low, high))
                });
            }
            let shifted = self.constants.get(&last).and_then(|&count| {
                let mut lanes = Lanes { builder: &mut self.builder };
                wide::shift_by_constant(&mut lanes, alu.op, &operands[0], count)
            });
            let Some(result) = shifted.or_else(|| rule(&mut self.lanes(), &operands)) else { return false };
            results.push(result);
        }
        let components = u32::from(alu.dest.components);
        for (plane, result) in (alu.dest.plane..).zip(results) {
            match result {
                Operand::Word(value) => self.write(plane, value, false),
                Operand::Wide(halves) => {
                    let [low, high] = self.lanes().split(halves);
                    self.write(plane, low, false);
                    self.write(plane + components, high, false);
                }
            }
        }
        true
    }

    fn component(&mut self, alu: &Alu, component: usize, form: Form) -> Ir {
        let program = self.program;
        let mut operands = Vec::with_capacity(3);
        let mut last = 0;
        for source in 0..usize::from(alu.num_sources) {
            last = program.alu_source_planes(alu, source).get(component).copied().unwrap_or(0);
            operands.push(self.read(last));
        }
        if let (Some(&count), 2) = (self.constants.get(&last), operands.len())
            && let Some(result) = shift_by_constant(&mut self.lanes(), alu.op, operands[0], count)
        {
            return result;
        }
        match form {
            Form::Call(Function::Fma) if self.has_fma => fma(&mut self.lanes(), &operands),
            Form::Rule(rule) | Form::Float(rule) => rule(&mut self.lanes(), &operands),
            Form::Call(function) => self.call(function.offset(), None, &operands, operands.len())[0],
        }
    }

    /// Emits an instruction without a rule: a call that evaluates it lane by lane.
    fn general(&mut self, number: u32) {
        let program = self.program;
        let alu = &program.alus()[number as usize];
        let mut operands = Vec::new();
        for source in 0..usize::from(alu.num_sources) {
            let planes = program.alu_source_planes(alu, source);
            let high = u32::from(program.alu_source_high(alu, source));
            let low: Vec<Ir> = planes.iter().map(|&plane| self.read(plane)).collect();
            operands.extend(low);
            if high != 0 {
                let high: Vec<Ir> = planes.iter().map(|&plane| self.read(plane + high)).collect();
                operands.extend(high);
            }
        }
        let vectors = General::new(program, alu).vectors();
        let position = self.generals.len();
        self.generals.push(number);
        let results = self.call(GENERAL, Some(position), &operands, vectors);
        for (plane, value) in (alu.dest.plane..alu.dest.plane + alu.dest.planes()).zip(results) {
            self.write(plane, value, false);
        }
    }

    /// Calls the function at an offset of the table with operands in `vectors` vectors of memory; returns the vectors
    /// that it leaves there. A call that evaluates an instruction also passes the list of instructions, and an index in
    /// it.
    fn call(&mut self, function: usize, instruction: Option<usize>, operands: &[Ir], vectors: usize) -> Vec<Ir> {
        let mut numbers = Vec::with_capacity(2);
        if let Some(position) = instruction {
            numbers.push(self.field(offsets::GENERALS));
            numbers.push(self.builder.ins().iconst(I64, position as i64));
        }
        let functions = self.field(offsets::FUNCTIONS);
        let callee = self.builder.ins().load(I64, fixed(), functions, function as i32);
        self.call_with_area(callee, &numbers, operands, vectors, vectors)
    }

    fn intrinsic(&mut self, intrinsic: &Intrinsic) {
        use IntrinsicOp as I;
        match intrinsic.op {
            I::LoadReg | I::LoadRegIndirect => self.load_register(intrinsic),
            I::StoreReg => self.store_register(intrinsic),
            I::StoreRegIndirect => self.store_element(intrinsic),
            I::LoadUniform | I::LoadUbo | I::LoadUboVec4 | I::LoadPerVertexInput | I::LoadSsbo | I::LoadShared => {
                self.load_memory(intrinsic)
            }
            I::LoadInput => self.load_input(intrinsic),
            I::StoreOutput => self.store_output(intrinsic),
            I::Terminate | I::Demote | I::TerminateIf | I::DemoteIf => self.kill(intrinsic),
            _ => self.derivative(intrinsic),
        }
    }

    /// Loads from constant buffers, vertices, storage buffers and shared memory.
    pub fn load_memory(&mut self, intrinsic: &Intrinsic) {
        let (program, dest) = (self.program, intrinsic.dest);
        let words = if let Some(place) = uniforms::place(program, intrinsic) {
            (0..dest.planes()).map(|word| self.uniform(place, word)).collect()
        } else if let Some(gather) = gathers::gather(program, intrinsic) {
            self.gather(&gather)
        } else {
            return;
        };
        // In memory the two words of a component are adjacent; in planes all low words come first.
        let each = dest.bits as usize / 32;
        for (at, word) in words.into_iter().enumerate() {
            let plane = at / each + at % each * usize::from(dest.components);
            self.write(dest.plane + plane as u32, word, false);
        }
    }

    fn load_register(&mut self, intrinsic: &Intrinsic) {
        let (program, dest) = (self.program, intrinsic.dest);
        let mut values = if intrinsic.op == IntrinsicOp::LoadReg {
            let register = program.registers()[intrinsic.extra as usize];
            let element = register.element(intrinsic.base as u32);
            let plane = |plane: u32| element.filter(|e| plane < e.planes()).map(|e| e.plane + plane);
            let planes: Vec<Option<u32>> = (0..dest.planes()).map(plane).collect();
            let read = |plane: Option<u32>| match plane {
                Some(plane) => self.read(program.num_value_planes() + plane),
                None => self.lanes().splat(0),
            };
            planes.into_iter().map(read).collect()
        } else {
            self.load_element(intrinsic)
        };
        let (fabs, fneg) = (intrinsic.index(IndexKind::LegacyFabs) != 0, intrinsic.index(IndexKind::LegacyFneg) != 0);
        let sign = 1u32 << (dest.bits.clamp(1, 32) - 1);
        // The sign is in the high words.
        let signed = values.len() - usize::from(dest.components);
        for value in &mut values[if dest.bits == 64 { signed } else { 0 }..] {
            if fabs {
                let rest = self.lanes().splat(!sign);
                *value = self.builder.ins().band(*value, rest);
            }
            if fneg {
                let sign = self.lanes().splat(sign);
                *value = self.builder.ins().bxor(*value, sign);
            }
        }
        for (plane, value) in (dest.plane..).zip(values) {
            self.write(plane, value, false);
        }
    }

    fn store_register(&mut self, intrinsic: &Intrinsic) {
        let program = self.program;
        let register = program.registers()[intrinsic.extra as usize];
        let Some(element) = register.element(intrinsic.base as u32) else { return };
        let saturate = intrinsic.index(IndexKind::LegacyFsat) != 0;
        for (from, to) in written_planes(program, intrinsic) {
            let mut word = self.read(from);
            if saturate {
                word = self.lanes().saturate(word);
            }
            self.write(program.num_value_planes() + element.plane + to, word, true);
        }
    }

    /// Returns the address of the quad in a component of inputs or outputs, and the stride of components.
    pub fn component_address(&mut self, file: usize, stride: usize, component: u32) -> (Ir, Ir) {
        let (file, stride) = (self.field(file), self.field(stride));
        let distance = self.builder.ins().imul_imm(stride, i64::from(component));
        let start = self.builder.ins().iadd(file, distance);
        (self.builder.ins().iadd(start, self.quad), stride)
    }

    fn load_input(&mut self, intrinsic: &Intrinsic) {
        if intrinsic.offset.is_none() {
            let values = self.load_input_element(intrinsic);
            for (plane, value) in (intrinsic.dest.plane..).zip(values) {
                self.write(plane, value, false);
            }
            return;
        }
        for component in 0..u32::from(intrinsic.dest.components) {
            let value = match intrinsic.component(component) {
                Some(at) => {
                    let (address, _) = self.component_address(offsets::INPUTS, offsets::INPUT_STRIDE, at);
                    self.builder.ins().load(I32X4, trusted(), address, 0)
                }
                None => self.lanes().splat(0),
            };
            self.write(intrinsic.dest.plane + component, value, false);
        }
    }

    fn store_output(&mut self, intrinsic: &Intrinsic) {
        for (plane, at) in self.program.stored(intrinsic) {
            let word = self.read(plane);
            let (address, _) = self.component_address(offsets::OUTPUTS, offsets::OUTPUT_STRIDE, at);
            let active = self.builder.use_var(self.active);
            let word = if self.program.always_stored().get(at as usize).copied().unwrap_or(false) {
                self.builder.ins().band(active, word)
            } else {
                let old = self.builder.ins().load(I32X4, trusted(), address, 0);
                self.lanes().select(active, word, old)
            };
            self.builder.ins().store(trusted(), word, address, 0);
        }
    }

    /// Emits differences of floats in the quad. Missing lanes count as 0.
    fn derivative(&mut self, intrinsic: &Intrinsic) {
        use IntrinsicOp as I;
        let Some(&source) = self.program.sources_of(intrinsic).first() else { return };
        let (plus, minus) = match intrinsic.op {
            I::DdxFine => ([1, 1, 3, 3], [0, 0, 2, 2]),
            I::DdyFine => ([2, 3, 2, 3], [0, 1, 0, 1]),
            I::Ddx | I::DdxCoarse => ([3; 4], [2; 4]),
            _ => ([2; 4], [0; 4]),
        };
        let exists = self.exists();
        for component in 0..u32::from(intrinsic.dest.components) {
            let value = self.read(source.plane + component);
            let value = self.builder.ins().band(value, exists);
            let (a, b) = (self.lanes().shuffle(value, plus), self.lanes().shuffle(value, minus));
            let difference = self.lanes().difference(a, b);
            self.write(intrinsic.dest.plane + component, difference, false);
        }
    }

    /// Emits all ones in the existing lanes of the quad.
    pub fn exists(&mut self) -> Ir {
        let start = self.field(offsets::EXISTS);
        let address = self.builder.ins().iadd(start, self.quad);
        self.builder.ins().load(I32X4, trusted(), address, 0)
    }
}

/// Returns the signature of a stretch's function: takes the context, returns the number of executed operations.
pub(super) fn signature(call_conv: CallConv) -> Signature {
    let mut signature = Signature::new(call_conv);
    signature.params.push(AbiParam::new(I64));
    signature.returns.push(AbiParam::new(I64));
    debug_assert_eq!(size_of::<*const Context>(), 8);
    signature
}
