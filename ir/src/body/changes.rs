//! What changed in a body since a pass last had nothing left to do in it.
//!
//! A list of instructions, in the order in which they changed: new ones, and those that read something else than before, became something else, were moved, read alone what
//! others read too, lost the last reader, or are gone (in bodies without loops only what does more than compute). For the condition of an `if` it is the instruction that makes it.
//!
//! Times are places in that list. It is kept from the first time on that someone asks for one, and forgotten as a whole when it has become as long as the body: who asks for
//! what changed since then is told that nobody knows. Changes of the control flow are told by [`Body::cfg_epoch`] alone.

use cranelift_entity::EntityRef;

use super::{Body, InstData};
use crate::entities::{Def, Inst, Use, User};

/// Changes after which a list is forgotten even in the smallest of bodies.
const FEWEST: usize = 64;

/// What is entered into the list.
#[derive(Clone, Copy, PartialEq, PartialOrd, Default, Debug)]
enum Kept {
    #[default]
    Nothing,
    /// What [`Body::set_simplified`] needs.
    Alu,
    All,
}

/// The list.
#[derive(Clone, Default, Debug)]
pub(super) struct Changes {
    kept: Kept,
    insts: Vec<Inst>,
    /// The time of the first of them.
    start: u64,
    /// From here on each stands once in the list, and its node says so.
    once_from: usize,
}

/// Names a pass over ALU instructions and the switches of the target that it ran for.
pub(crate) type SimplifiedFor = (&'static str, u128);

impl Body {
    /// Notes that an instruction changed.
    #[inline(always)]
    pub(super) fn touch(&mut self, inst: Inst) {
        let node = &mut self.insts[inst];
        let is_kept = match self.changes.kept {
            Kept::Nothing => false,
            Kept::Alu => matches!(node.data, InstData::Alu { .. }),
            Kept::All => true,
        };
        if is_kept && !std::mem::replace(&mut node.touched, true) {
            self.enter_change(inst);
        }
    }

    fn enter_change(&mut self, inst: Inst) {
        if self.changes.insts.len() >= self.insts.len() + FEWEST {
            self.forget_changes();
        }
        self.changes.insts.push(inst);
    }

    /// Notes that who reads through a source changed.
    #[inline(always)]
    pub(super) fn touch_user(&mut self, source: Use) {
        if self.keeps_changes() {
            self.touch_kept_user(source);
        }
    }

    #[inline]
    fn touch_kept_user(&mut self, source: Use) {
        match self.user(source) {
            User::Inst(inst) => self.touch(inst),
            User::If(_) if self.changes.kept != Kept::All => {}
            User::If(_) => {
                if let Some(maker) = self.uses[source].def.expand().and_then(|def| self.try_def_inst(def)) {
                    self.touch(maker);
                }
            }
        }
    }

    /// Notes that a value has lost its last use.
    #[inline(always)]
    pub(super) fn touch_unused(&mut self, def: Def) {
        if self.changes.kept == Kept::All
            && let Some(maker) = self.try_def_inst(def)
        {
            self.touch(maker);
        }
    }

    /// Notes that an instruction goes. What only computes matters to what it read from a loop that it stood behind.
    #[inline]
    pub(super) fn touch_removed(&mut self, inst: Inst) {
        let computes = matches!(self.insts[inst].data, InstData::Alu { .. } | InstData::LoadConst { .. });
        if !computes || !self.loops.is_empty() {
            self.touch(inst);
        }
    }

    /// Forgets all changes: nobody knows what changed since any time until now.
    pub(super) fn forget_changes(&mut self) {
        for &inst in &self.changes.insts[self.changes.once_from..] {
            self.insts[inst].touched = false;
        }
        self.changes.start += self.changes.insts.len() as u64 + 1;
        self.changes.insts.clear();
        self.changes.once_from = 0;
    }

    /// The same after all instructions got other numbers.
    pub(super) fn renumber_changes(&mut self) {
        self.changes.start += self.changes.insts.len() as u64 + 1;
        self.changes.insts.clear();
        self.changes.once_from = 0;
        self.simplified_for = None;
    }

    /// Now; see [`changed_since`](Self::changed_since).
    pub(crate) fn change_time(&mut self) -> u64 {
        self.change_time_of(Kept::All)
    }

    fn change_time_of(&mut self, kept: Kept) -> u64 {
        if self.changes.kept < kept {
            self.changes.kept = kept;
        }
        for &inst in &self.changes.insts[self.changes.once_from..] {
            self.insts[inst].touched = false;
        }
        self.changes.once_from = self.changes.insts.len();
        self.changes.start + self.changes.insts.len() as u64
    }

    /// Whether changes are kept at all.
    #[inline(always)]
    pub(super) fn keeps_changes(&self) -> bool {
        self.changes.kept != Kept::Nothing
    }

    /// The instructions that changed since then, some of them more than once; none if that is not known. Some of them may be gone.
    pub(crate) fn changed_since(&self, time: u64) -> Option<&[Inst]> {
        let from = time.checked_sub(self.changes.start)?;
        self.changes.insts.get(from as usize..)
    }

    /// The ALU instructions that changed since the same pass last called [`set_simplified`](Self::set_simplified), each once; none if another did, or nobody yet, or if that is not known:
    /// then all are to be looked at. Some of them may be gone.
    pub(crate) fn take_unsimplified(&mut self, pass: SimplifiedFor) -> Option<Vec<Inst>> {
        let (simplified, time) = self.simplified_for.take()?;
        let changed = self.changed_since(time).filter(|_| simplified == pass)?;
        let is_alu = |inst: Inst| matches!(self.insts[inst].data, InstData::Alu { .. });
        let mut is_known = if changed.is_empty() { Vec::new() } else { vec![false; self.insts.len()] };
        let mut is_new = |inst: Inst| !std::mem::replace(&mut is_known[inst.index()], true);
        Some(changed.iter().copied().filter(|&inst| is_alu(inst) && is_new(inst)).collect())
    }

    /// Says that a pass has nothing left to do.
    pub(crate) fn set_simplified(&mut self, pass: SimplifiedFor) {
        self.simplified_for = Some((pass, self.change_time_of(Kept::Alu)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::alu::AluOp;
    use crate::shader::{Shader, Stage};

    #[test]
    fn what_changed_since_when() {
        let mut shader = Shader::new(Stage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let (x, y) = (b.u32_const(1), b.u32_const(2));
        let test = b.alu(AluOp::Ult, &[x, y]);
        b.alu(AluOp::Imul, &[x, y]);
        let id = b.push_if(test);
        let sum = b.alu(AluOp::Iadd, &[x, y]);
        b.end_if(id);
        let body = shader.main_mut();
        // Nobody knows what was before the first time.
        assert_eq!(body.changed_since(0), Some(&[][..]));
        let first = body.change_time();
        let adds = body.def_inst(sum);
        body.set_src(body.source(adds, 1), x);
        body.set_src(body.source(adds, 1), y);
        assert_eq!(body.changed_since(first), Some(&[adds][..]));
        // Again, for who asks from now on.
        let second = body.change_time();
        body.set_src(body.source(adds, 0), y);
        assert_eq!(body.changed_since(second), Some(&[adds][..]));
        assert_eq!(body.changed_since(first), Some(&[adds, adds][..]));
        // A condition is told by what makes it, and what nobody reads any more is told too.
        let third = body.change_time();
        let never = Builder::at_start(body).bool_const(false);
        let condition = body.if_condition(id);
        body.set_src(condition, never);
        let (makes, made) = (body.def_inst(never), body.def_inst(test));
        assert_eq!(body.changed_since(third), Some(&[makes, made][..]));
        // More than there are instructions are forgotten.
        let mut steps = 0;
        while body.changed_since(third).is_some() {
            body.set_src(body.source(adds, 0), if steps % 2 == 0 { x } else { y });
            body.change_time();
            steps += 1;
        }
        assert!((FEWEST..body.num_insts() + FEWEST).contains(&steps), "{steps}");
        let last = body.change_time();
        body.remove_inst(adds);
        assert_eq!(body.changed_since(last), Some(&[][..]));
    }
}
