//! ALU instructions: rules where the opcode has one, else calls that evaluate them.

use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value as Ir};
use tgsi_ir::alu::AluOp;
use tgsi_ir::run::native::Alu;

use super::emitter::{Emitter, readonly_flags};
use super::rules::{Lanes, OpcodeRule, dot, fma, form, shift_by_constant};
use super::wide::{self, Operand};
use crate::native::analysis::accesses::LaneVector;
use crate::native::runtime::calls::{EVALUATE, EvaluatedAlu, Function};
use crate::native::runtime::context::offsets;

impl Emitter<'_, '_> {
    pub fn emit_alu(&mut self, number: u32) {
        let program = self.function.program;
        let alu = &program.alus()[number as usize];
        let info = alu.op.info();
        let wide = (0..usize::from(alu.num_sources)).any(|source| program.alu_source_high(alu, source) != 0);
        let words = alu.dest.bits == 32 && !wide && matches!(alu.bit_size, 0 | 32);
        let mode = program.execution_mode();
        let plain = !mode.flushes_denormals(32) && !mode.rounds_toward_zero(32);
        let by_component = info.output_size == 0 && info.input_sizes.iter().all(|&size| size == 0);
        if alu.op.is_vec() && alu.dest.bits != 64 && !wide {
            let sources: Vec<Ir> = (0..usize::from(alu.num_sources.min(alu.dest.components)))
                .filter_map(|source| program.alu_source_vectors(alu, source).first().copied())
                .map(|vector| self.read(vector))
                .collect();
            for (vector, value) in (alu.dest.vector..).zip(sources) {
                self.write(vector, value, false);
            }
            return;
        }
        if words && plain && matches!(alu.op, AluOp::Fdot2 | AluOp::Fdot3 | AluOp::Fdot4) {
            let [a, b] = [0, 1].map(|source| {
                program.alu_source_vectors(alu, source).iter().map(|&vector| self.read(vector)).collect::<Vec<Ir>>()
            });
            if let Some(sum) = dot(&mut self.lanes(), &a, &b) {
                self.write(alu.dest.vector, sum, false);
            }
            return;
        }
        if self.moved(alu) || self.wide(alu, by_component) {
            return;
        }
        match form(alu.op).filter(|form| words && by_component && (plain || matches!(form, OpcodeRule::Rule(_)))) {
            Some(form) => {
                let mut results = Vec::with_capacity(alu.dest.components.into());
                for component in 0..usize::from(alu.dest.components) {
                    let result = self.component(alu, component, form);
                    results.push(result);
                }
                for (vector, value) in (alu.dest.vector..).zip(results) {
                    self.write(vector, value, false);
                }
            }
            None => self.emit_evaluate_by_call(number),
        }
    }

    /// Emits opcodes that only move words; returns false for others.
    fn moved(&mut self, alu: &Alu) -> bool {
        let program = self.function.program;
        let vectors = |source: usize| program.alu_source_vectors(alu, source);
        let high = u32::from(program.alu_source_high(alu, 0));
        let from: Vec<LaneVector> = match alu.op {
            AluOp::Mov if alu.dest.bits == 64 => {
                vectors(0).iter().copied().chain(vectors(0).iter().map(|vector| vector + high)).collect()
            }
            AluOp::Pack642x32Split => vectors(0).iter().chain(vectors(1)).copied().collect(),
            AluOp::Unpack642x32SplitX => vectors(0).to_vec(),
            AluOp::I2i32 | AluOp::U2u32 if alu.bit_size == 64 => vectors(0).to_vec(),
            AluOp::Unpack642x32SplitY => vectors(0).iter().map(|vector| vector + high).collect(),
            _ => return false,
        };
        let values: Vec<Ir> = from.into_iter().map(|vector| self.read(vector)).collect();
        for (vector, value) in (alu.dest.vector..alu.dest.vector + alu.dest.vectors()).zip(values) {
            self.write(vector, value, false);
        }
        true
    }

    /// Emits opcodes with 64-bit operands or results; returns false if there is no rule for the opcode.
    fn wide(&mut self, alu: &Alu, by_component: bool) -> bool {
        let program = self.function.program;
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
        let fma = (self.function.has_fma && alu.op == AluOp::Ffma).then_some((wide::fma as wide::WideRule, true));
        let rule = fma.or_else(|| wide::form(alu.op)).filter(|&(_, float)| plain || !float);
        let Some((rule, _)) = rule.filter(|_| matches!(alu.dest.bits, 32 | 64)) else { return false };
        let mut results = Vec::with_capacity(alu.dest.components.into());
        for component in 0..usize::from(alu.dest.components) {
            let mut operands = Vec::with_capacity(highs.len());
            let mut last = 0;
            for (source, &high) in highs.iter().enumerate() {
                last = program.alu_source_vectors(alu, source).get(component).copied().unwrap_or(0);
                let low = self.read(last);
                operands.push(if high == 0 {
                    Operand::Word(low)
                } else {
                    let high = self.read(last + high);
                    Operand::Wide(self.lanes().join(low, high))
                });
            }
            let shifted = self.function.constants.get(&last).and_then(|&count| {
                let mut lanes = Lanes { builder: &mut self.builder };
                wide::shift_by_constant(&mut lanes, alu.op, &operands[0], count)
            });
            let Some(result) = shifted.or_else(|| rule(&mut self.lanes(), &operands)) else { return false };
            results.push(result);
        }
        let components = u32::from(alu.dest.components);
        for (vector, result) in (alu.dest.vector..).zip(results) {
            match result {
                Operand::Word(value) => self.write(vector, value, false),
                Operand::Wide(halves) => {
                    let [low, high] = self.lanes().split(halves);
                    self.write(vector, low, false);
                    self.write(vector + components, high, false);
                }
            }
        }
        true
    }

    fn component(&mut self, alu: &Alu, component: usize, form: OpcodeRule) -> Ir {
        let program = self.function.program;
        let mut operands = Vec::with_capacity(3);
        let mut last = 0;
        for source in 0..usize::from(alu.num_sources) {
            last = program.alu_source_vectors(alu, source).get(component).copied().unwrap_or(0);
            operands.push(self.read(last));
        }
        if let (Some(&count), 2) = (self.function.constants.get(&last), operands.len())
            && let Some(result) = shift_by_constant(&mut self.lanes(), alu.op, operands[0], count)
        {
            return result;
        }
        match form {
            OpcodeRule::Call(Function::Fma) if self.function.has_fma => fma(&mut self.lanes(), &operands),
            OpcodeRule::Rule(rule) | OpcodeRule::Float(rule) => rule(&mut self.lanes(), &operands),
            OpcodeRule::Call(function) => self.call(function.offset(), None, &operands, operands.len())[0],
        }
    }

    /// Emits an instruction without a rule: a call that evaluates it lane by lane.
    fn emit_evaluate_by_call(&mut self, number: u32) {
        let program = self.function.program;
        let alu = &program.alus()[number as usize];
        let mut operands = Vec::new();
        for source in 0..usize::from(alu.num_sources) {
            let vectors = program.alu_source_vectors(alu, source);
            let high = u32::from(program.alu_source_high(alu, source));
            let low: Vec<Ir> = vectors.iter().map(|&vector| self.read(vector)).collect();
            operands.extend(low);
            if high != 0 {
                let high: Vec<Ir> = vectors.iter().map(|&vector| self.read(vector + high)).collect();
                operands.extend(high);
            }
        }
        let vectors = EvaluatedAlu::new(program, alu).vectors();
        let position = self.evaluated.len();
        self.evaluated.push(number);
        let results = self.call(EVALUATE, Some(position), &operands, vectors);
        for (vector, value) in (alu.dest.vector..alu.dest.vector + alu.dest.vectors()).zip(results) {
            self.write(vector, value, false);
        }
    }

    /// Calls the function at an offset of the table with operands in `vectors` vectors of memory; returns the vectors
    /// that it leaves there. A call that evaluates an instruction also passes the list of instructions, and an index in
    /// it.
    fn call(&mut self, function: usize, instruction: Option<usize>, operands: &[Ir], vectors: usize) -> Vec<Ir> {
        let mut numbers = Vec::with_capacity(2);
        if let Some(position) = instruction {
            numbers.push(self.field(offsets::EVALUATED));
            numbers.push(self.builder.ins().iconst(I64, position as i64));
        }
        let functions = self.field(offsets::FUNCTIONS);
        let callee = self.builder.ins().load(I64, readonly_flags(), functions, function as i32);
        self.call_with_area(callee, &numbers, operands, vectors, vectors)
    }
}
