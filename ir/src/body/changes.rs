//! Records the ALU instructions that changed since a pass set a mark: new ones, and ones that got another source or
//! opcode, were moved, or became the only use of a value.
//!
//! A pass that visits ALU instructions independently sets a mark when it reaches a fixpoint. Its next run then visits
//! only the changed instructions instead of the whole body.

use super::{Body, InstData};
use crate::entities::{Inst, Use, User};

/// Identifies a pass and the target options that it ran with.
pub(crate) type MarkKey = (&'static str, u128);

/// The mark, and the changes since.
#[derive(Clone, Default, Debug)]
pub(super) struct Changes {
    mark: Option<MarkKey>,
    /// Whether a mark was ever set: before that, changes are not recorded.
    is_kept: bool,
    /// The changed instructions. Each occurs once; its node has the flag `touched`.
    insts: Vec<Inst>,
}

impl Body {
    /// Records that an instruction changed.
    #[inline(always)]
    pub(super) fn touch(&mut self, inst: Inst) {
        if self.changes.is_kept {
            self.touch_kept(inst);
        }
    }

    #[inline]
    fn touch_kept(&mut self, inst: Inst) {
        let node = &mut self.insts[inst];
        if matches!(node.data, InstData::Alu { .. }) && !std::mem::replace(&mut node.touched, true) {
            self.changes.insts.push(inst);
        }
    }

    /// Records that the user of a source changed.
    #[inline(always)]
    pub(super) fn touch_user(&mut self, source: Use) {
        if self.changes.is_kept
            && let User::Inst(inst) = self.user(source)
        {
            self.touch_kept(inst);
        }
    }

    /// Whether changes are recorded at all.
    #[inline(always)]
    pub(super) fn keeps_changes(&self) -> bool {
        self.changes.is_kept
    }

    /// Clears the mark, because all instructions were renumbered.
    pub(super) fn renumber_changes(&mut self) {
        self.changes.mark = None;
        self.changes.insts.clear();
    }

    /// Returns the instructions that changed since the same pass set its mark, each once, and clears the mark. Some of
    /// them may have been removed. Returns `None` if another pass, or none, set the last mark: then the pass must visit
    /// the whole body.
    pub(crate) fn take_changed(&mut self, pass: MarkKey) -> Option<Vec<Inst>> {
        let mark = self.changes.mark.take();
        let changed = self.forget_changes();
        (mark == Some(pass)).then_some(changed)
    }

    /// Sets the mark of a pass that has reached its fixpoint.
    pub(crate) fn set_mark(&mut self, pass: MarkKey) {
        self.forget_changes();
        self.changes.is_kept = true;
        self.changes.mark = Some(pass);
    }

    fn forget_changes(&mut self) -> Vec<Inst> {
        for &inst in &self.changes.insts {
            self.insts[inst].touched = false;
        }
        std::mem::take(&mut self.changes.insts)
    }
}

#[cfg(test)]
mod tests {
    use crate::Builder;
    use crate::alu::AluOp;
    use crate::shader::{Shader, Stage};

    #[test]
    fn changes_since_a_mark() {
        let (pass, other) = (("pass", 1), ("pass", 2));
        let mut shader = Shader::new(Stage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let (x, y) = (b.u32_const(1), b.u32_const(2));
        let sum = b.alu(AluOp::Iadd, &[x, y]);
        let body = shader.main_mut();
        assert_eq!(body.take_changed(pass), None, "there was no mark");
        body.set_mark(pass);
        assert_eq!(body.take_changed(pass), Some(vec![]));
        assert_eq!(body.take_changed(pass), None, "the mark is gone");
        body.set_mark(pass);
        let add = body.def_inst(sum);
        body.set_src(body.source(add, 1), x);
        body.set_src(body.source(add, 1), y);
        let product = Builder::at_end(body).alu(AluOp::Imul, &[sum, sum]);
        let mul = body.def_inst(product);
        assert_eq!(body.take_changed(pass), Some(vec![add, mul]));
        body.set_mark(other);
        body.set_src(body.source(mul, 0), x);
        assert_eq!(body.take_changed(pass), None, "of another target");
    }
}
