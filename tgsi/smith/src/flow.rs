//! Control flow: branches, counted loops, switches, subroutines.

use super::Features;
use super::generator::{Context, Generator};
use super::registers::RegisterType;
use tgsi::shader::{Dst, Register, Src};
use tgsi::tables::{File, ImmediateType, Opcode, Processor};

/// Maximum nesting depth of blocks, including loops.
const MAX_DEPTH: u32 = 4;
const MAX_LOOPS: u32 = 2;
/// Maximum number of subroutines of a shader.
const MAX_SUBROUTINES: usize = 2;

impl Generator<'_> {
    /// Emits a statement of control flow, or another one where none is possible.
    pub(super) fn flow(&mut self, context: Context) {
        let deep = context.depth >= MAX_DEPTH || !self.features.contains(Features::FLOW);
        match self.choices.below(12) {
            0..4 if !deep => self.branch(context),
            4..6 if !deep && context.loops < MAX_LOOPS => self.counted_loop(context),
            6 | 7 if !deep && self.features.contains(Features::SWITCH) => self.switch(context),
            8 | 9 if context.in_loop || context.in_switch || context.can_continue => self.leave_block(context),
            10 if self.features.contains(Features::SUBROUTINES) => self.call(context),
            11 if self.features.contains(Features::SUBROUTINES) || context.depth > 0 => self.leave_early(context),
            _ => self.small_expression(),
        }
    }

    /// Opens an `IF`.
    pub(super) fn condition(&mut self) {
        let way = self.choices.below(4);
        match if self.integers { way } else { way & 2 } {
            0 => {
                let condition = self.modified_source(self.comparable(), 1);
                self.builder.if_(condition);
            }
            1 => {
                let condition = self.source(RegisterType::Integer, 1);
                self.builder.uif(condition);
            }
            way => {
                // More often true for only some lanes than arbitrary values.
                let (opcode, kind) = match way {
                    2 => (self.choices.of([Opcode::Slt, Opcode::Sge, Opcode::Sne, Opcode::Seq]), self.comparable()),
                    _ => (
                        self.choices.of([Opcode::Islt, Opcode::Isge, Opcode::Usne, Opcode::Fslt]),
                        RegisterType::Integer,
                    ),
                };
                let from = if opcode == Opcode::Fslt { RegisterType::Float } else { kind };
                let operands = [self.modified_source(from, 15), self.modified_source(from, 15)];
                let result = self.compute(kind, opcode, &operands).replicated(self.choices.below(4));
                if kind == RegisterType::Integer { self.builder.uif(result) } else { self.builder.if_(result) }
            }
        }
    }

    fn branch(&mut self, context: Context) {
        let inner = Context { depth: context.depth + 1, ..context };
        self.condition();
        let before = self.state.clone();
        self.block(inner);
        if self.choices.one_in(2) {
            let then = std::mem::replace(&mut self.state, before);
            self.state.temporaries.resize(self.temporaries.len(), 0);
            self.builder.else_();
            self.block(inner);
            self.state.meet(&then);
        } else {
            self.state.meet(&before);
        }
        self.builder.endif();
    }

    /// Emits a loop of at most four iterations, with its own counter.
    fn counted_loop(&mut self, context: Context) {
        if !self.integers {
            return self.float_loop(context);
        }
        let counter = self.builder.temporary();
        let (all, x) = (Src::new(counter).replicated(0), Src::new(counter).replicated(1));
        let rounds = 1 + self.choices.below(4) as u32;
        let mut start = self.builder.immediate_u32(&[0]).replicated(0);
        let mut limit = self.builder.immediate_u32(&[rounds]).replicated(0);
        let one = self.builder.immediate_u32(&[1]).replicated(0);
        let downwards = self.choices.one_in(4);
        if downwards {
            std::mem::swap(&mut start, &mut limit);
        }
        self.emit(Opcode::Mov, Some(dst(counter, 1)), &[start]);
        if !downwards && self.choices.one_in(4) {
            // The number of iterations depends on a value.
            let value = self.source(RegisterType::Integer, 1).replicated(0);
            let three = self.builder.immediate_u32(&[3]).replicated(0);
            self.emit(Opcode::And, Some(dst(counter, 4)), &[value, three]);
            limit = Src::new(counter).replicated(2);
        }
        let before = self.state.clone();
        self.state.forget_indices();
        self.builder.bgnloop();
        let test_first = self.choices.below(3) > 0;
        let body = |generator: &mut Self| {
            let inner = Context {
                depth: context.depth + 1,
                loops: context.loops + 1,
                in_loop: true,
                can_continue: test_first,
                in_switch: false,
                ..context
            };
            generator.block(inner);
        };
        if !test_first {
            // Count before the body, because a CONT in the body skips the rest.
            let opcode = if downwards { one.negated() } else { one };
            self.emit(Opcode::Uadd, Some(dst(counter, 1)), &[all, opcode]);
        }
        if test_first {
            let done = if downwards { Opcode::Useq } else { self.choices.of([Opcode::Usge, Opcode::Isge]) };
            self.emit(done, Some(dst(counter, 2)), &[all, limit]);
            if self.choices.one_in(4) {
                let zero = self.builder.immediate_u32(&[0]).replicated(0);
                self.emit(Opcode::Useq, Some(dst(counter, 2)), &[x, zero]);
                self.builder.uif(x);
                self.builder.else_();
            } else {
                self.builder.uif(x);
            }
            self.builder.brk();
            self.builder.endif();
            let step = if downwards { one.negated() } else { one };
            self.emit(Opcode::Uadd, Some(dst(counter, 1)), &[all, step]);
            body(self);
        } else {
            // The counter is already incremented, so the last iteration ends with the test, wherever the test is.
            let done = if downwards { Opcode::Useq } else { Opcode::Usge };
            self.emit(done, Some(dst(counter, 2)), &[all, limit]);
            body(self);
            self.builder.uif(x);
            self.builder.brk();
            self.builder.endif();
        }
        self.builder.endloop();
        let mut after = before;
        after.temporaries.resize(self.temporaries.len(), 0);
        after.forget_indices();
        self.state = after;
    }

    /// Emits a loop of the same kind with a float counter.
    fn float_loop(&mut self, context: Context) {
        let counter = self.builder.temporary();
        let (count, done) = (Src::new(counter).replicated(0), Src::new(counter).replicated(1));
        let rounds = 1.0 + self.choices.below(4) as f32;
        let start = self.builder.immediate_f32(&[0.0]).replicated(0);
        let one = self.builder.immediate_f32(&[1.0]).replicated(0);
        let mut limit = self.builder.immediate_f32(&[rounds]).replicated(0);
        self.emit(Opcode::Mov, Some(dst(counter, 1)), &[start]);
        if self.choices.one_in(4) {
            // The number of iterations depends on a value.
            let value = self.source(RegisterType::Small, 1).replicated(0).absolute_value();
            let three = self.builder.immediate_f32(&[3.0]).replicated(0);
            self.emit(Opcode::Min, Some(dst(counter, 4)), &[value, three]);
            limit = Src::new(counter).replicated(2);
        }
        let before = self.state.clone();
        self.state.forget_indices();
        self.builder.bgnloop();
        let opcode = self.choices.of([Opcode::Sge, Opcode::Slt]);
        self.emit(opcode, Some(dst(counter, 2)), &[count, limit]);
        self.builder.if_(done);
        if opcode == Opcode::Slt {
            self.builder.else_();
        }
        self.builder.brk();
        self.builder.endif();
        self.emit(Opcode::Add, Some(dst(counter, 1)), &[count, one]);
        self.block(Context {
            depth: context.depth + 1,
            loops: context.loops + 1,
            in_loop: true,
            can_continue: true,
            in_switch: false,
            ..context
        });
        self.builder.endloop();
        self.state = before;
        self.state.temporaries.resize(self.temporaries.len(), 0);
        self.state.forget_indices();
    }

    fn switch(&mut self, context: Context) {
        let inner = Context { depth: context.depth + 1, in_switch: true, ..context };
        let mut selector = self.source(RegisterType::Integer, 1);
        if self.choices.one_in(2) {
            let three = self.builder.immediate_u32(&[3]).replicated(0);
            selector = self.compute(RegisterType::Integer, Opcode::And, &[selector.replicated(0), three]);
        }
        let labels = 1 + self.choices.below(3);
        let default = self.choices.below(labels + 2);
        self.builder.switch(selector);
        let before = self.state.clone();
        for label in 0..=labels {
            self.state.meet(&before);
            if label == default {
                self.builder.default();
            } else if label == labels {
                break;
            }
            if label != default || self.choices.one_in(2) && label < labels {
                let value = self.choices.of([0, 1, 2, 3, u32::MAX, 0x3f80_0000]);
                let value = self.builder.immediate(ImmediateType::Int32, &[value]);
                self.builder.case(value);
            }
            if self.choices.below(5) < 4 {
                self.block(inner);
            }
            if self.choices.one_in(2) {
                self.builder.brk();
            }
        }
        self.builder.endswitch();
        self.state.meet(&before);
        self.state.forget_indices();
    }

    /// Emits `BRK` or `CONT`, mostly for only some lanes.
    fn leave_block(&mut self, context: Context) {
        let conditional = !self.choices.one_in(8);
        if conditional {
            self.condition();
        }
        if context.can_continue && self.choices.one_in(2) {
            self.builder.cont();
        } else {
            self.builder.brk();
        }
        if conditional {
            self.builder.endif();
        }
    }

    /// Emits `RET`, or `END` in a block.
    fn leave_early(&mut self, context: Context) {
        if self.stage == Processor::TessControl && context.subroutine.is_none() {
            return;
        }
        self.condition();
        if context.subroutine.is_some() {
            self.builder.ret();
        } else {
            self.diverged = true;
            let opcode = if self.choices.one_in(2) { Opcode::End } else { Opcode::Ret };
            self.emit(opcode, None, &[]);
        }
        self.builder.endif();
    }

    /// Emits a `CAL` of a subroutine; within a subroutine, only of a later one.
    fn call(&mut self, context: Context) {
        let first = context.subroutine.map_or(0, |number| number + 1);
        if first >= MAX_SUBROUTINES || context.loops > 1 {
            return;
        }
        let number = first + self.choices.below(MAX_SUBROUTINES - first);
        while self.subroutines.len() <= number {
            let subroutine = self.builder.subroutine();
            self.subroutines.push(subroutine);
        }
        self.builder.cal(self.subroutines[number]);
        self.state.forget_indices();
    }

    /// Emits the body of a subroutine.
    pub(super) fn subroutine(&mut self, number: usize) {
        self.builder.bgnsub(self.subroutines[number]);
        let context = Context { subroutine: Some(number), ..Context::default() };
        while self.wants_more() {
            self.statement(context);
        }
        if self.choices.one_in(4) {
            self.builder.ret();
        }
        self.builder.endsub();
    }

    /// Sets a component of an index register to a bounded value.
    pub(super) fn set_index(&mut self) {
        if !self.features.contains(Features::INDIRECT) || self.indices.is_empty() {
            return self.small_expression();
        }
        let position = self.choices.below(self.indices.len());
        let component = self.choices.below(4);
        let register = self.indices[position];
        let bound = self.choices.of([1u8, 3, 0, 2]);
        let way = self.choices.below(4);
        let value = match if self.integers { way } else { 3 } {
            3 => {
                // A small float between 0 and the bound.
                let value = self.source(RegisterType::Small, 15);
                let limit = self.builder.immediate_f32(&[f32::from(bound)]).replicated(0);
                let cut = self.compute(RegisterType::Small, Opcode::Min, &[value, limit]).absolute_value();
                let cut = self.compute(RegisterType::Small, Opcode::Min, &[cut, limit]);
                Some(cut)
            }
            _ => None,
        };
        let mask = 1 << component;
        match value {
            Some(value) => {
                let opcode = if !self.integers {
                    self.choices.of([Opcode::Arl, Opcode::Arr])
                } else if register.file == File::Address {
                    self.choices.of([Opcode::Arl, Opcode::Arr, Opcode::F2i])
                } else {
                    Opcode::F2i
                };
                self.emit(opcode, Some(dst(register, mask)), &[value.replicated(component)]);
            }
            None => {
                let value = self.modified_source(RegisterType::Integer, 1).replicated(0);
                let limit = self.builder.immediate_u32(&[u32::from(bound)]).replicated(0);
                let opcode = if bound == 2 { Opcode::Umin } else { self.choices.of([Opcode::And, Opcode::Umin]) };
                if self.choices.one_in(2) {
                    self.emit(opcode, Some(dst(register, mask)), &[value, limit]);
                } else {
                    let cut = self.compute(RegisterType::Integer, opcode, &[value, limit]);
                    self.emit(Opcode::Uarl, Some(dst(register, mask)), &[cut]);
                }
            }
        }
        if let Some(bounds) = self.state.bounds.get_mut(position) {
            bounds[component] = Some(bound);
        }
    }

    /// Initialises all arrays, and a register of each common kind.
    pub(super) fn first_values(&mut self) {
        // No array is read before it is completely written.
        for array in std::mem::take(&mut self.arrays) {
            for element in 0..array.array.size {
                let source = self.source(array.kind, 15);
                self.emit(Opcode::Mov, Some(dst(array.array.at(element), 15)), &[source]);
            }
            self.arrays.push(array);
        }
        for kind in [RegisterType::Float, RegisterType::Integer, RegisterType::Small] {
            let kind = self.available(kind);
            let source = self.source(kind, 15);
            let position = self.new_temporary(kind);
            let destination = self.to_temporary(position, 15);
            self.put_to(Opcode::Mov, destination, &[source]);
        }
    }
}

/// Returns some components of a register as a destination.
fn dst(register: Register, mask: u8) -> Dst {
    Dst::new(register).masked(mask)
}
