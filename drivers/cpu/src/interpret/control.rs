//! The loop over the operations: control flow and copies.

use super::{MAX_MASK_WORDS, Run};
use crate::error::RunError;
use crate::program::{Leave, Op};

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

impl Run<'_> {
    /// Executes from the start to the end.
    pub(super) fn execute(&mut self, limit: u64) -> Result<(), RunError> {
        let program = self.program;
        let mut at = 0;
        while let Some(&op) = program.ops.get(at) {
            at += 1;
            self.block.steps += 1;
            if self.block.steps > limit {
                return Err(RunError::StepLimit { limit });
            }
            match op {
                Op::Lane { op, masked, dest, sources } => self.block.run_lane(op, masked, dest, sources),
                Op::General(number) => self.run_general(number),
                Op::Copies(number) => self.run_copies(number),
                Op::Intrinsic(number) => self.run_intrinsic(number)?,
                Op::Texture(number) => self.run_texture(number),
                Op::Step(number) => self.run_step(number),
                Op::End => break,
                _ => at = self.control(op, at)?,
            }
        }
        Ok(())
    }

    /// Executes control flow; where to go on.
    fn control(&mut self, op: Op, mut at: usize) -> Result<usize, RunError> {
        let block = &mut *self.block;
        let width = block.width;
        match op {
            Op::If { condition, otherwise } => {
                if block.masks.len() > MAX_MASK_WORDS {
                    return Err(RunError::TooLarge { words: block.masks.len() as u64 });
                }
                let start = condition as usize * width;
                block.masks.extend_from_slice(&block.active);
                for lane in 0..width {
                    let taken = block.words[start + lane] != 0;
                    block.masks.push(if taken { 0 } else { block.active[lane] });
                }
                let second = block.masks.len() - width;
                and_not(&mut block.active, &block.masks[second..]);
                block.mask_changed();
                if !block.any {
                    at = otherwise as usize;
                }
            }
            Op::Else { end } => {
                let second = block.masks.len() - width;
                block.active.copy_from_slice(&block.masks[second..]);
                block.mask_changed();
                if !block.any {
                    at = end as usize;
                }
            }
            Op::EndIf { nobody } => {
                let first = block.masks.len() - 2 * width;
                block.active.copy_from_slice(&block.masks[first..first + width]);
                block.masks.truncate(first);
                and(&mut block.active, &block.iteration);
                block.mask_changed();
                if !block.any {
                    at = nobody as usize;
                }
            }
            Op::Loop => {
                if block.masks.len() > MAX_MASK_WORDS {
                    return Err(RunError::TooLarge { words: block.masks.len() as u64 });
                }
                block.masks.extend_from_slice(&block.active);
                block.masks.extend_from_slice(&block.iteration);
                block.masks.extend_from_slice(&block.in_loop);
                block.in_loop.copy_from_slice(&block.active);
                block.iteration.copy_from_slice(&block.active);
            }
            Op::Continue => {
                block.iteration.copy_from_slice(&block.in_loop);
                block.active.copy_from_slice(&block.in_loop);
                block.mask_changed();
            }
            Op::EndLoop { head, nobody } => {
                block.iteration.copy_from_slice(&block.in_loop);
                block.active.copy_from_slice(&block.in_loop);
                block.mask_changed();
                if block.any {
                    return Ok(head as usize);
                }
                let first = block.masks.len() - 3 * width;
                block.active.copy_from_slice(&block.masks[first..first + width]);
                block.iteration.copy_from_slice(&block.masks[first + width..first + 2 * width]);
                block.in_loop.copy_from_slice(&block.masks[first + 2 * width..]);
                block.masks.truncate(first);
                // Lanes that ended inside have left everything.
                and(&mut block.iteration, &block.running);
                and(&mut block.in_loop, &block.running);
                and(&mut block.active, &block.iteration);
                block.mask_changed();
                if !block.any {
                    at = nobody as usize;
                }
            }
            Op::Jump { kind, end } => {
                and_not(&mut block.iteration, &block.active);
                if kind != Leave::Continue {
                    and_not(&mut block.in_loop, &block.active);
                }
                if kind == Leave::Shader {
                    and_not(&mut block.running, &block.active);
                }
                block.active.fill(0);
                block.mask_changed();
                at = end as usize;
            }
            _ => {}
        }
        Ok(at)
    }

    fn run_copies(&mut self, number: u32) {
        let copies = &self.program.copies[number as usize];
        let block = &mut *self.block;
        if let [copy] = copies[..] {
            block.copy_plane(copy.dest, copy.source);
            return;
        }
        let width = block.width;
        let mut copied = std::mem::take(&mut block.copied);
        copied.clear();
        for copy in copies {
            copied.extend_from_slice(block.plane(copy.source));
        }
        for (copy, words) in copies.iter().zip(copied.chunks_exact(width)) {
            block.put(copy.dest, words);
        }
        block.copied = copied;
    }

    fn run_step(&mut self, number: u32) {
        let step = self.program.steps[number as usize];
        self.set_lanes(step.dest, 0, |run, lane| {
            let parent = run.block.get(step.parent, 0, lane) as u32;
            step.address(parent, run.block.get_signed(step.index, 0, lane)).into()
        });
    }
}
