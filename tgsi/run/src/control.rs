//! Control flow: execution masks, loops, switches and subroutines.
//!
//! Entering a block pushes its masks on [`Machine::saved`] and a [`Frame`] that records which. Jumps are only an
//! optimisation: a block without executing lanes is skipped. Nothing depends on labels except the target of `CAL`.

use super::machine::Machine;
use super::program::Op;
use tgsi::tables::Opcode;
use tgsi_environment::KILLED_STEPS;

/// Where execution continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flow {
    Next,
    Jump(usize),
    Stop,
    /// The masks of the open blocks take too much memory.
    TooDeep,
}

/// An open block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Frame {
    /// Saved: condition mask.
    If,
    /// Saved: loop mask, continue mask.
    Loop { start: usize },
    /// Saved: switch mask, switch targets.
    Switch,
    /// Saved: condition, loop, continue, switch, function mask, switch targets.
    Call { return_to: usize },
}

/// An instruction number that no `CASE` has: the lane enters no label of the switch.
const NOWHERE: u32 = u32::MAX;

impl Machine<'_> {
    pub(super) fn control(&mut self, number: usize, op: &Op) -> Flow {
        let partner = op.partner as usize;
        if self.saved.len() > self.most_words {
            return Flow::TooDeep;
        }
        match op.opcode {
            Opcode::If | Opcode::Uif => {
                self.fetch_sources(op);
                self.saved.extend_from_slice(&self.cond);
                self.frames.push(Frame::If);
                let float = op.opcode == Opcode::If;
                for (mask, &condition) in self.cond.iter_mut().zip(&self.scratch[0]) {
                    // -0.0 is false as a float, NaN true.
                    let taken = if float { f32::from_bits(condition) != 0.0 } else { condition != 0 };
                    if !taken {
                        *mask = 0;
                    }
                }
                self.update_exec();
                if self.any_executes { Flow::Next } else { Flow::Jump(partner) }
            }
            Opcode::Else => {
                let Some(outer) = self.saved.len().checked_sub(self.lanes) else { return Flow::Stop };
                for (mask, outer) in self.cond.iter_mut().zip(&self.saved[outer..]) {
                    *mask = !*mask & outer;
                }
                self.update_exec();
                if self.any_executes { Flow::Next } else { Flow::Jump(partner) }
            }
            Opcode::Endif => {
                if self.frames.pop() != Some(Frame::If) {
                    return Flow::Stop;
                }
                restore(&mut self.saved, &mut self.cond);
                self.update_exec();
                Flow::Next
            }
            Opcode::Bgnloop => {
                if !self.any_executes {
                    return Flow::Jump(partner + 1);
                }
                self.saved.extend_from_slice(&self.loops);
                self.saved.extend_from_slice(&self.cont);
                self.frames.push(Frame::Loop { start: number + 1 });
                Flow::Next
            }
            Opcode::Endloop => {
                let Some(&Frame::Loop { start }) = self.frames.last() else { return Flow::Stop };
                // Lanes that executed CONT rejoin.
                if let Some(entry) = self.saved.len().checked_sub(self.lanes) {
                    self.cont.copy_from_slice(&self.saved[entry..]);
                }
                self.update_exec();
                if self.steps > KILLED_STEPS {
                    self.release_killed();
                }
                if self.any_executes {
                    return Flow::Jump(start);
                }
                self.frames.pop();
                restore(&mut self.saved, &mut self.cont);
                restore(&mut self.saved, &mut self.loops);
                self.update_exec();
                Flow::Next
            }
            Opcode::Brk | Opcode::Cont => {
                let mask = match op.opcode {
                    Opcode::Cont => &mut self.cont,
                    _ if op.leaves_switch => &mut self.switch,
                    _ => &mut self.loops,
                };
                clear(mask, &self.exec);
                self.update_exec();
                Flow::Next
            }
            Opcode::Switch => self.enter_switch(op),
            Opcode::Case | Opcode::Default => {
                // The mask has only lanes of this switch: the others have no target.
                for (mask, &target) in self.switch.iter_mut().zip(&self.switch_targets) {
                    if target as usize == number {
                        *mask = u32::MAX;
                    }
                }
                self.update_exec();
                if self.any_executes { Flow::Next } else { Flow::Jump(partner) }
            }
            Opcode::Endswitch => {
                if self.frames.pop() != Some(Frame::Switch) {
                    return Flow::Stop;
                }
                restore(&mut self.saved, &mut self.switch_targets);
                restore(&mut self.saved, &mut self.switch);
                self.update_exec();
                Flow::Next
            }
            Opcode::Cal => {
                if !self.any_executes {
                    return Flow::Next;
                }
                for mask in [&self.cond, &self.loops, &self.cont, &self.switch, &self.func, &self.switch_targets] {
                    self.saved.extend_from_slice(mask);
                }
                self.calls.push(self.frames.len());
                self.frames.push(Frame::Call { return_to: number + 1 });
                // Only the calling lanes run the subroutine, so that it returns when the last of them does.
                self.func.copy_from_slice(&self.exec);
                Flow::Jump(partner)
            }
            Opcode::Ret => {
                clear(&mut self.func, &self.exec);
                self.update_exec();
                if self.func.iter().any(|&lane| lane != 0) { Flow::Next } else { self.leave_subroutine() }
            }
            Opcode::Endsub => self.leave_subroutine(),
            // In a block, END only stops the lanes that reach it.
            Opcode::End if !self.frames.is_empty() => {
                clear(&mut self.running, &self.exec);
                self.update_exec();
                if self.running.iter().any(|&lane| lane != 0) { Flow::Next } else { Flow::Stop }
            }
            Opcode::End => Flow::Stop,
            _ => Flow::Next,
        }
    }

    /// Finds the label at which each lane enters: the first `CASE` with the bits of its selector, otherwise `DEFAULT`.
    fn enter_switch(&mut self, op: &Op) -> Flow {
        self.fetch_sources(op);
        self.saved.extend_from_slice(&self.switch);
        self.saved.extend_from_slice(&self.switch_targets);
        self.frames.push(Frame::Switch);
        let selector: Vec<u32> = self.scratch[0][..self.lanes].to_vec();
        let mut targets = vec![NOWHERE; self.lanes];
        let mut default = NOWHERE;
        let mut label = op.partner;
        while let Some(case) = self.program.code.get(label as usize) {
            match case.opcode {
                Opcode::Case => {
                    self.fetch_sources(case);
                    for (lane, target) in targets.iter_mut().enumerate() {
                        if *target == NOWHERE && self.scratch[0][lane] == selector[lane] {
                            *target = label;
                        }
                    }
                }
                Opcode::Default => default = label,
                _ => break,
            }
            label = case.partner;
            // Each label tried is a step, so that the limit bounds the work of a switch with many labels.
            self.steps += 1;
        }
        for (lane, target) in targets.iter_mut().enumerate() {
            if self.exec[lane] == 0 {
                *target = NOWHERE;
            } else if *target == NOWHERE {
                *target = default;
            }
        }
        self.switch_targets = targets;
        self.switch.fill(0);
        self.update_exec();
        Flow::Jump(op.partner as usize)
    }

    /// Returns to the instruction after the `CAL`, from any open blocks of the subroutine; stops in the main program.
    fn leave_subroutine(&mut self) -> Flow {
        let Some(position) = self.calls.pop() else { return Flow::Stop };
        while self.frames.len() > position + 1 {
            let rows = match self.frames.pop() {
                Some(Frame::If) => 1,
                Some(Frame::Loop { .. } | Frame::Switch) => 2,
                Some(Frame::Call { .. }) => 6,
                None => 0,
            };
            self.saved.truncate(self.saved.len().saturating_sub(rows * self.lanes));
        }
        let Some(Frame::Call { return_to }) = self.frames.pop() else { return Flow::Stop };
        restore(&mut self.saved, &mut self.switch_targets);
        restore(&mut self.saved, &mut self.func);
        restore(&mut self.saved, &mut self.switch);
        restore(&mut self.saved, &mut self.cont);
        restore(&mut self.saved, &mut self.loops);
        restore(&mut self.saved, &mut self.cond);
        self.update_exec();
        Flow::Jump(return_to)
    }

    /// Takes the lanes of quads of which all executing lanes were killed out of the loop.
    fn release_killed(&mut self) {
        let mut is_changed = false;
        for quad in (0..self.lanes).step_by(4) {
            let lanes = quad..(quad + 4).min(self.lanes);
            let is_any = |of: &dyn Fn(usize) -> bool| lanes.clone().any(|lane| self.exec[lane] != 0 && of(lane));
            if is_any(&|lane| self.killed[lane] != 0) && !is_any(&|lane| self.killed[lane] == 0) {
                is_changed = true;
                for lane in lanes {
                    self.loops[lane] &= !self.exec[lane];
                }
            }
        }
        if is_changed {
            self.update_exec();
        }
    }

    /// Recomputes the execution mask.
    pub(super) fn update_exec(&mut self) {
        let (mut all, mut any) = (u32::MAX, 0);
        for (lane, exec) in self.exec.iter_mut().enumerate() {
            *exec = self.cond[lane]
                & self.loops[lane]
                & self.cont[lane]
                & self.switch[lane]
                & self.func[lane]
                & self.running[lane];
            all &= *exec;
            any |= *exec;
        }
        self.all_execute = all == u32::MAX;
        self.any_executes = any != 0;
    }
}

/// Pops a mask.
fn restore(saved: &mut Vec<u32>, mask: &mut [u32]) {
    if let Some(start) = saved.len().checked_sub(mask.len()) {
        mask.copy_from_slice(&saved[start..]);
        saved.truncate(start);
    }
}

fn clear(mask: &mut [u32], lanes: &[u32]) {
    for (mask, lanes) in mask.iter_mut().zip(lanes) {
        *mask &= !lanes;
    }
}
