//! Flow of fragment programs, for each lane.

use super::Lane;
use crate::isa::FragmentLimits;
use crate::isa::fragment::{Flow, FragmentOp, Instruction};
use crate::simulator::Trap;

/// A construct that surrounds the next slot.
#[derive(Clone, Copy, Debug)]
pub(super) enum Open {
    /// A then part: at the else part, execution continues after it.
    Then { otherwise: u32, end: u32 },
    /// A loop.
    Loop { body: u32, end: u32, remaining: u8, counter: u32, step: u8, has_counter: bool },
    /// A subroutine.
    Call { return_to: u32 },
}

impl Lane {
    /// The counter of the innermost `LOOP`.
    pub(super) fn counter(&self) -> u32 {
        let counter = |open: &Open| match *open {
            Open::Loop { counter, has_counter: true, .. } => Some(counter),
            _ => None,
        };
        self.open.iter().rev().find_map(counter).unwrap_or(0)
    }

    /// Continues at a slot, which may end constructs, or ends the program.
    pub(super) fn advance(&mut self, slot: u32, is_end: bool) {
        self.at = (!is_end).then(|| self.leave(slot));
    }

    /// Leaves the constructs that end at a slot. Returns the next slot.
    fn leave(&mut self, mut slot: u32) -> u32 {
        while let Some(open) = self.open.last_mut() {
            match open {
                Open::Then { otherwise, end } if *otherwise == slot => {
                    slot = *end;
                    self.open.pop();
                }
                Open::Loop { body, end, remaining, counter, step, .. } if *end == slot => {
                    *remaining -= 1;
                    if *remaining == 0 {
                        self.open.pop();
                    } else {
                        *counter += u32::from(*step);
                        slot = *body;
                    }
                }
                _ => break,
            }
        }
        slot
    }

    fn push(&mut self, at: u32, open: Open, limits: &FragmentLimits) -> Result<(), Trap> {
        let is_same = |other: &&Open| std::mem::discriminant(*other) == std::mem::discriminant(&open);
        let limit = match open {
            Open::Then { .. } => limits.ifs,
            Open::Loop { .. } => limits.loops,
            Open::Call { .. } => limits.calls,
        };
        if self.open.iter().filter(is_same).count() >= limit.into() {
            return Err(Trap::Stack(at));
        }
        self.open.push(open);
        Ok(())
    }

    /// Executes a flow instruction.
    pub(super) fn flow(
        &mut self,
        instruction: &Instruction,
        at: u32,
        passes: bool,
        limits: &FragmentLimits,
    ) -> Result<(), Trap> {
        let next = at + 1;
        match (instruction.op, instruction.flow) {
            (FragmentOp::If, Some(Flow::If { otherwise, end })) if passes => {
                if otherwise != end {
                    self.push(at, Open::Then { otherwise, end }, limits)?;
                }
                self.advance(next, instruction.end);
            }
            (FragmentOp::If, Some(Flow::If { otherwise, .. })) => self.advance(otherwise, false),
            (op, Some(Flow::Repeat { count, start, step, end })) => {
                if count == 0 {
                    self.advance(end, false);
                    return Ok(());
                }
                let has_counter = op == FragmentOp::Loop;
                let counter = start.into();
                self.push(at, Open::Loop { body: next, end, remaining: count, counter, step, has_counter }, limits)?;
                self.advance(next, instruction.end);
            }
            (_, Some(Flow::Call { target })) if passes => {
                self.push(at, Open::Call { return_to: next }, limits)?;
                self.advance(target, false);
            }
            (FragmentOp::Brk, _) if passes => loop {
                match self.open.pop() {
                    Some(Open::Loop { end, .. }) => {
                        self.advance(end, false);
                        break;
                    }
                    Some(Open::Then { .. }) => {}
                    Some(Open::Call { .. }) | None => return Err(Trap::Stack(at)),
                }
            },
            (FragmentOp::Ret, _) if passes => loop {
                match self.open.pop() {
                    Some(Open::Call { return_to }) => {
                        self.advance(return_to, false);
                        break;
                    }
                    Some(_) => {}
                    None => {
                        self.at = None;
                        break;
                    }
                }
            },
            _ => self.advance(next, instruction.end),
        }
        Ok(())
    }
}
