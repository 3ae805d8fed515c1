//! Control flow. As in the interpreter, masks represent the active lanes. A side of an `If` is skipped if no lane of
//! the quad takes it; a loop ends with its last lane.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value as Ir};
use tgsi_environment::KILLED_STEPS;
use tgsi_ir::run::native::{JumpTarget, Value};

use super::emitter::Emitter;
use super::masks::OpenConstruct;

impl Emitter<'_, '_> {
    fn any(&mut self, mask: Ir) -> Ir {
        self.builder.ins().vany_true(mask)
    }

    pub fn start_if(&mut self, condition: Value) {
        let condition = self.read(condition.vector);
        let condition = self.lanes().is_set(condition);
        let outer = self.builder.use_var(self.masks.active);
        let taken = self.builder.ins().band(outer, condition);
        let otherwise = self.builder.ins().band_not(outer, condition);
        let (then, else_block, merge) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        let any = self.any(taken);
        self.builder.ins().brif(any, then, &[], else_block, &[]);
        self.builder.switch_to_block(then);
        self.builder.seal_block(then);
        self.builder.def_var(self.masks.active, taken);
        self.masks.open.push(OpenConstruct::If { outer, otherwise, else_block, merge, in_else: false });
    }

    pub fn start_else(&mut self) {
        let Some(OpenConstruct::If { otherwise, else_block, merge, in_else, .. }) = self.masks.open.last_mut() else {
            return;
        };
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
        self.builder.def_var(self.masks.active, otherwise);
    }

    pub fn end_if(&mut self) {
        if let Some(OpenConstruct::If { in_else: false, .. }) = self.masks.open.last() {
            self.start_else();
        }
        let Some(OpenConstruct::If { outer, merge, .. }) = self.masks.open.pop() else { return };
        self.builder.ins().jump(merge, &[]);
        self.builder.switch_to_block(merge);
        self.builder.seal_block(merge);
        let active = if self.masks.open_loops > 0 {
            let iteration = self.builder.use_var(self.masks.iteration);
            self.builder.ins().band(outer, iteration)
        } else {
            outer
        };
        self.builder.def_var(self.masks.active, active);
    }

    pub fn start_loop(&mut self, at: usize) {
        let outer = self.builder.use_var(self.masks.active);
        let inside = self.masks.open_loops > 0;
        let outer_iteration = inside.then(|| self.builder.use_var(self.masks.iteration));
        let outer_in_loop = inside.then(|| self.builder.use_var(self.masks.in_loop));
        self.builder.def_var(self.masks.iteration, outer);
        self.builder.def_var(self.masks.in_loop, outer);
        let (head, exit) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().jump(head, &[]);
        self.builder.switch_to_block(head);
        self.masks.open.push(OpenConstruct::Loop { outer, outer_iteration, outer_in_loop, head, exit, start: at });
        self.masks.open_loops += 1;
        self.masks.has_loops = true;
    }

    pub fn next_iteration(&mut self) {
        let in_loop = self.builder.use_var(self.masks.in_loop);
        self.builder.def_var(self.masks.iteration, in_loop);
        self.builder.def_var(self.masks.active, in_loop);
    }

    pub fn end_loop(&mut self, at: usize, limit: Ir) {
        self.next_iteration();
        let Some(OpenConstruct::Loop { outer, outer_iteration, outer_in_loop, head, exit, start }) =
            self.masks.open.pop()
        else {
            return;
        };
        self.masks.open_loops -= 1;
        let steps = self.builder.use_var(self.masks.steps);
        let steps = self.builder.ins().iadd_imm(steps, (at - start) as i64);
        self.builder.def_var(self.masks.steps, steps);
        let (again, endless) = (self.builder.create_block(), self.builder.create_block());
        let in_loop = self.builder.use_var(self.masks.in_loop);
        let any = self.any(in_loop);
        self.builder.ins().brif(any, again, &[], exit, &[]);
        self.builder.switch_to_block(again);
        self.builder.seal_block(again);
        if let Some(killed) = self.masks.killed {
            let (check, live) = (self.builder.create_block(), self.builder.create_block());
            let many = self.builder.ins().icmp_imm(IntCC::UnsignedGreaterThan, steps, KILLED_STEPS as i64);
            self.builder.ins().brif(many, check, &[], live, &[]);
            self.builder.set_cold_block(check);
            self.builder.switch_to_block(check);
            self.builder.seal_block(check);
            let killed = self.builder.use_var(killed);
            let left = self.builder.ins().band_not(in_loop, killed);
            let any = self.any(left);
            self.builder.ins().brif(any, live, &[], exit, &[]);
            self.builder.switch_to_block(live);
            self.builder.seal_block(live);
        }
        let too_many = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, steps, limit);
        self.builder.ins().brif(too_many, endless, &[], head, &[]);
        self.builder.seal_block(head);
        self.builder.set_cold_block(endless);
        self.builder.switch_to_block(endless);
        self.builder.seal_block(endless);
        self.builder.ins().return_(&[steps]);
        self.builder.switch_to_block(exit);
        self.builder.seal_block(exit);
        self.builder.def_var(self.masks.active, outer);
        if let (Some(iteration), Some(in_loop)) = (outer_iteration, outer_in_loop) {
            self.builder.def_var(self.masks.iteration, iteration);
            self.builder.def_var(self.masks.in_loop, in_loop);
        }
    }

    pub fn emit_jump(&mut self, kind: JumpTarget) {
        let active = self.builder.use_var(self.masks.active);
        let iteration = self.builder.use_var(self.masks.iteration);
        let iteration = self.builder.ins().band_not(iteration, active);
        self.builder.def_var(self.masks.iteration, iteration);
        if kind != JumpTarget::Continue {
            let in_loop = self.builder.use_var(self.masks.in_loop);
            let in_loop = self.builder.ins().band_not(in_loop, active);
            self.builder.def_var(self.masks.in_loop, in_loop);
        }
        let if_empty = self.lanes().splat(0);
        self.builder.def_var(self.masks.active, if_empty);
    }
}
