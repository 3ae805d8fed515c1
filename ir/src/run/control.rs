//! The loop over the operations: control flow, copies, calls.

use tgsi_environment::KILLED_STEPS;

use super::error::RunError;
use super::machine::{Frame, Machine};
use super::ops::{Copy, JumpTarget, Op};

fn and(dest: &mut [u32], mask: &[u32]) {
    for (dest, &mask) in dest.iter_mut().zip(mask) {
        *dest &= mask;
    }
}

fn and_not(dest: &mut [u32], mask: &[u32]) {
    for (dest, &mask) in dest.iter_mut().zip(mask) {
        *dest &= !mask;
    }
}

impl Machine<'_, '_> {
    /// Executes from the start of the first function to its end.
    pub fn run_ops(&mut self, limit: u64) -> Result<(), RunError> {
        let program = self.program;
        let Some(main) = program.functions.first() else { return Ok(()) };
        let mut at = main.start as usize;
        self.calling[0] = true;
        while let Some(&op) = program.ops.get(at) {
            at += 1;
            self.steps += 1;
            if self.steps > limit {
                return Err(RunError::StepLimit { limit });
            }
            match op {
                Op::Alu(number) => self.run_alu(number),
                Op::Intrinsic(number) => self.run_intrinsic(number)?,
                Op::Deref(number) => self.run_deref(number),
                Op::Texture(number) => self.run_texture(number)?,
                Op::Copies { start, count } => self.run_copies(start as usize, count as usize),
                Op::Call(number) => at = self.enter_call(number, at)?,
                Op::If { condition, otherwise } => {
                    self.check_depth()?;
                    self.masks.extend_from_slice(&self.active);
                    // The else side first: it needs the mask from before.
                    for lane in 0..self.width {
                        let taken = self.get(condition, 0, lane) != 0;
                        self.masks.push(if taken { 0 } else { self.active[lane] });
                    }
                    let truth = self.masks.len() - self.width;
                    and_not(&mut self.active, &self.masks[truth..]);
                    self.frames.push(Frame::If);
                    self.mask_changed();
                    if !self.any {
                        at = otherwise as usize;
                    }
                }
                Op::Else { end } => {
                    let second = self.masks.len() - self.width;
                    self.active.copy_from_slice(&self.masks[second..]);
                    self.mask_changed();
                    if !self.any {
                        at = end as usize;
                    }
                }
                Op::EndIf { if_empty } => {
                    self.frames.pop();
                    let first = self.masks.len() - 2 * self.width;
                    self.active.copy_from_slice(&self.masks[first..first + self.width]);
                    self.masks.truncate(first);
                    and(&mut self.active, &self.iteration);
                    self.mask_changed();
                    if !self.any {
                        at = if_empty as usize;
                    }
                }
                Op::Loop => {
                    self.check_depth()?;
                    self.frames.push(Frame::Loop);
                    self.masks.extend_from_slice(&self.active);
                    self.masks.extend_from_slice(&self.iteration);
                    self.masks.extend_from_slice(&self.in_loop);
                    self.in_loop.copy_from_slice(&self.active);
                    self.iteration.copy_from_slice(&self.active);
                }
                Op::Continue => self.next_iteration(),
                Op::EndLoop { head, if_empty } => {
                    self.next_iteration();
                    if self.has_kills && self.steps > KILLED_STEPS {
                        self.release_killed();
                    }
                    if self.any {
                        at = head as usize;
                        continue;
                    }
                    self.frames.pop();
                    let width = self.width;
                    let first = self.masks.len() - 3 * width;
                    self.active.copy_from_slice(&self.masks[first..first + width]);
                    self.iteration.copy_from_slice(&self.masks[first + width..first + 2 * width]);
                    self.in_loop.copy_from_slice(&self.masks[first + 2 * width..]);
                    self.masks.truncate(first);
                    // Lanes that returned inside the loop have left all constructs.
                    and(&mut self.iteration, &self.in_function);
                    and(&mut self.in_loop, &self.in_function);
                    and(&mut self.active, &self.iteration);
                    self.mask_changed();
                    if !self.any {
                        at = if_empty as usize;
                    }
                }
                Op::Jump { kind, end } => {
                    self.has_jumped = true;
                    and_not(&mut self.iteration, &self.active);
                    match kind {
                        JumpTarget::Continue => {}
                        JumpTarget::Break => and_not(&mut self.in_loop, &self.active),
                        JumpTarget::Return => {
                            and_not(&mut self.in_loop, &self.active);
                            and_not(&mut self.in_function, &self.active);
                        }
                        JumpTarget::Halt => {
                            and_not(&mut self.in_loop, &self.active);
                            and_not(&mut self.in_function, &self.active);
                            and_not(&mut self.running, &self.active);
                        }
                    }
                    self.active.fill(0);
                    self.mask_changed();
                    at = end as usize;
                }
                Op::Native { region, end } => {
                    at = end as usize;
                    self.run_native(region, limit)?;
                }
                Op::End => match self.leave_call() {
                    Some(back) => at = back,
                    None => return Ok(()),
                },
            }
        }
        Ok(())
    }

    /// Reactivates the lanes that are still in the loop.
    fn next_iteration(&mut self) {
        self.iteration.copy_from_slice(&self.in_loop);
        self.active.copy_from_slice(&self.in_loop);
        self.mask_changed();
    }

    /// Takes the lanes of quads of which all lanes in the loop were killed out of it.
    fn release_killed(&mut self) {
        for quad in (0..self.lanes).step_by(4) {
            let lanes = quad..(quad + 4).min(self.lanes);
            let is_live = |lane: usize| self.outputs.live.get(self.output_lane(lane)).copied().unwrap_or(false);
            if lanes.clone().any(|lane| self.in_loop[lane] != 0 && is_live(lane)) {
                continue;
            }
            for mask in [&mut self.in_loop, &mut self.iteration, &mut self.active] {
                mask[lanes.clone()].fill(0);
            }
        }
        self.mask_changed();
    }

    fn enter_call(&mut self, number: u32, back: usize) -> Result<usize, RunError> {
        let program = self.program;
        if !self.any {
            return Ok(back);
        }
        self.check_depth()?;
        let call = program.calls[number as usize];
        let routine = &program.functions[call.callee as usize];
        if std::mem::replace(&mut self.calling[call.callee as usize], true) {
            return Err(RunError::Recursion { function: program.function_name(call.origin.function) });
        }
        let first = call.arguments as usize;
        let arguments = &program.operands[first..first + usize::from(call.num_arguments)];
        for (&argument, &parameter) in arguments.iter().zip(&routine.parameters) {
            for vector in 0..argument.vectors().min(parameter.vectors()) {
                self.result.copy_from_slice({
                    let start = (argument.vector + vector) as usize * self.width;
                    &self.words[start..start + self.width]
                });
                super::machine::put(&mut self.words, parameter.vector + vector, &self.result, &self.active, self.full);
            }
        }
        // Registers and variables of a function start as zero in each call.
        self.result.fill(0);
        for vector in 0..routine.registers.1 {
            let vector = routine.registers.0 + vector;
            super::machine::put(&mut self.registers, vector, &self.result, &self.active, self.full);
        }
        for &(address, cells) in &routine.locals {
            for cell in address..address.saturating_add(cells) {
                super::machine::put(&mut self.private, cell, &self.result, &self.active, self.full);
            }
        }
        for &(address, word) in &routine.initial {
            self.result.fill(word);
            super::machine::put(&mut self.private, address, &self.result, &self.active, self.full);
        }
        self.frames.push(Frame::Call { back: back as u32, callee: call.callee });
        self.masks.extend_from_slice(&self.active);
        self.masks.extend_from_slice(&self.iteration);
        self.masks.extend_from_slice(&self.in_loop);
        self.masks.extend_from_slice(&self.in_function);
        self.iteration.copy_from_slice(&self.active);
        self.in_loop.copy_from_slice(&self.active);
        self.in_function.copy_from_slice(&self.active);
        Ok(routine.start as usize)
    }

    /// Returns to the caller; `None` at the end of the shader.
    fn leave_call(&mut self) -> Option<usize> {
        let Some(Frame::Call { back, callee }) = self.frames.pop() else { return None };
        self.calling[callee as usize] = false;
        let width = self.width;
        let first = self.masks.len() - 4 * width;
        self.active.copy_from_slice(&self.masks[first..first + width]);
        self.iteration.copy_from_slice(&self.masks[first + width..first + 2 * width]);
        self.in_loop.copy_from_slice(&self.masks[first + 2 * width..first + 3 * width]);
        self.in_function.copy_from_slice(&self.masks[first + 3 * width..]);
        self.masks.truncate(first);
        for mask in [&mut self.active, &mut self.iteration, &mut self.in_loop, &mut self.in_function] {
            and(mask, &self.running);
        }
        self.mask_changed();
        Some(back as usize)
    }

    fn run_copies(&mut self, start: usize, count: usize) {
        let program = self.program;
        let copies = &program.copies[start..start + count];
        let width = self.width;
        self.copied.clear();
        for &Copy { source, vectors, .. } in copies {
            let file = if source.register { &self.registers } else { &self.words };
            let first = source.vector as usize * width;
            self.copied.extend_from_slice(&file[first..first + vectors as usize * width]);
        }
        let mut first = 0;
        for &Copy { dest, vectors, .. } in copies {
            let file = if dest.register { &mut self.registers } else { &mut self.words };
            for vector in dest.vector..dest.vector + vectors {
                super::machine::put(file, vector, &self.copied[first..first + width], &self.active, self.full);
                first += width;
            }
        }
    }
}
