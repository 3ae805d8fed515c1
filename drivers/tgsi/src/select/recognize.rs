//! Recognises code that adapts a TGSI opcode to the IR's semantics, and selects that opcode.
//!
//! ```text
//! b32csel (ieq32 b, 0), ~0, (udiv a, b)                             UDIV a, b     (likewise UMOD, MOD)
//! b32csel (ieq32 (ior (iand o, 31), (ixor w, 32)), 0), a, (ubfe a, o, w)    UBFE a, o, w  (likewise IBFE)
//! b32csel (ieq32 w, 32), b, (bfi (bfm w, o), b, a)                  BFI a, b, o, w
//! pack_snorm_4x8 (b32csel (feq32 a, a), a, 0)                       PK4B a
//! fadd! (fsign a), 0.0                                              SSG a         (likewise DSSG)
//! ```
//!
//! The parts become dead if they have no other uses. All operands must be SSA: a register may have changed since.

use arrayvec::ArrayVec;
use tgsi::shader::Src;
use tgsi::tables::Opcode;
use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::{Def, Inst, Swizzle};
use tgsi_registers::chase;
use tgsi_registers::chase::Operand;

use super::{Selector, Value};

/// A value and the component read for each component of the result.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct SelectedComponents {
    pub(super) def: Def,
    pub(super) components: [u8; 4],
}

impl Selector<'_> {
    /// Source `number` of an instruction with the swizzle `outer`.
    pub(super) fn term(&self, inst: Inst, number: usize, outer: [u8; 4]) -> SelectedComponents {
        let source = self.body.source(inst, number);
        let swizzle = self.body.swizzle(source);
        SelectedComponents { def: self.body.src_def(source), components: swizzle.select(outer) }
    }

    /// The sources of a term if it is defined by `op`.
    pub(super) fn made_by(&self, term: SelectedComponents, op: AluOp) -> Option<ArrayVec<SelectedComponents, 4>> {
        let producer = self.body.def_inst(term.def);
        (self.body.alu_op(producer) == Some(op)).then(|| {
            (0..self.body.num_sources(producer).min(4)).map(|n| self.term(producer, n, term.components)).collect()
        })
    }

    pub(super) fn is_word(&self, term: SelectedComponents, count: usize, word: u64) -> bool {
        (0..count).all(|c| self.body.constant_component(term.def, usize::from(term.components[c])) == Some(word))
    }

    pub(super) fn same_term(&self, a: SelectedComponents, b: SelectedComponents, count: usize) -> bool {
        let [a, b] = [a, b].map(|term| AluSrc::new(term.def, Swizzle::new(&term.components)));
        a.equals(self.body, b, count)
    }

    /// The other source of a commutative operation with a constant.
    pub(super) fn with_word(
        &self,
        term: SelectedComponents,
        op: AluOp,
        count: usize,
        word: u64,
    ) -> Option<SelectedComponents> {
        let sources = self.made_by(term, op)?;
        let (a, b) = (*sources.first()?, *sources.get(1)?);
        if self.is_word(b, count, word) {
            Some(a)
        } else if self.is_word(a, count, word) {
            Some(b)
        } else {
            None
        }
    }

    /// Emits the opcode recognised in a selection; returns false for an ordinary one.
    pub(super) fn recognized(&mut self, inst: Inst, def: Def) -> bool {
        let count = usize::from(self.body.num_components(def));
        if self.body.bit_size(def) != 32 || count > 4 {
            return false;
        }
        let Some((opcode, terms)) =
            self.recognized_division(inst, count).or_else(|| self.recognized_field(inst, count))
        else {
            return false;
        };
        if terms.iter().any(|t| chase::load_reg_for_def(self.body, t.def).is_some() || self.body.bit_size(t.def) != 32)
        {
            return false;
        }
        let sources: ArrayVec<Src, 4> = terms.iter().map(|t| self.value(t.def).source(t.components)).collect();
        let (dst, _) = self.alu_destination(def);
        self.emit(opcode, dst, &sources);
        true
    }

    /// A source of an earlier instruction, if it cannot have changed.
    fn lasting_source(&mut self, inst: Inst, number: usize) -> Option<(Value, Swizzle)> {
        let chased = chase::chase_alu_src(self.body, inst, number, self.options.modifiers());
        matches!(chased.operand, Operand::Ssa(_)).then(|| self.alu_source(inst, number))
    }

    /// The value packed by `PK4B`, if a `pack_snorm_4x8` packs it with 0 for NaN.
    pub(super) fn recognized_pack(&mut self, inst: Inst) -> Option<Src> {
        let all = [0, 1, 2, 3];
        let packed = self.term(inst, 0, all);
        let parts = self.made_by(packed, AluOp::B32csel)?;
        let (condition, value, zero) = (*parts.first()?, *parts.get(1)?, *parts.get(2)?);
        let compared = self.made_by(condition, AluOp::Feq32)?;
        let same = compared.iter().all(|&term| self.same_term(term, value, 4));
        if !same || !self.is_word(zero, 4, 0) {
            return None;
        }
        let (value, swizzle) = self.lasting_source(self.body.def_inst(packed.def), 1)?;
        Some(value.source(swizzle.select(packed.components)))
    }

    /// The operand of a sign, and its component for each component of the result, if an exact sum with 0 is such a
    /// sign.
    pub(super) fn recognized_sign(&mut self, inst: Inst, count: usize) -> Option<(Value, Swizzle)> {
        if !self.exact {
            return None;
        }
        let all = [0, 1, 2, 3];
        let (a, b) = (self.term(inst, 0, all), self.term(inst, 1, all));
        let sign = match (self.is_word(b, count, 0), self.is_word(a, count, 0)) {
            (true, _) => a,
            (_, true) => b,
            _ => return None,
        };
        self.made_by(sign, AluOp::Fsign)?;
        let producer = self.body.def_inst(sign.def);
        let (value, swizzle) = self.lasting_source(producer, 0)?;
        // The exactness of the sign matters.
        self.exact = self.is_exact(producer);
        Some((value, Swizzle::new(&swizzle.select(sign.components))))
    }

    fn is_exact(&self, inst: Inst) -> bool {
        self.body.alu(inst).is_some_and(|(_, flags)| flags.is_exact())
    }

    fn recognized_division(&self, inst: Inst, count: usize) -> Option<(Opcode, ArrayVec<SelectedComponents, 4>)> {
        let all = [0, 1, 2, 3];
        let (condition, ones, value) = (self.term(inst, 0, all), self.term(inst, 1, all), self.term(inst, 2, all));
        if !self.is_word(ones, count, 0xffff_ffff) {
            return None;
        }
        let divisor = self.with_word(condition, AluOp::Ieq32, count, 0)?;
        [(AluOp::Udiv, Opcode::Udiv), (AluOp::Umod, Opcode::Umod), (AluOp::Irem, Opcode::Mod)].into_iter().find_map(
            |(op, opcode)| {
                let sources = self.made_by(value, op)?;
                self.same_term(*sources.get(1)?, divisor, count).then_some((opcode, sources))
            },
        )
    }

    fn recognized_field(&self, inst: Inst, count: usize) -> Option<(Opcode, ArrayVec<SelectedComponents, 4>)> {
        let all = [0, 1, 2, 3];
        let (condition, whole, field) = (self.term(inst, 0, all), self.term(inst, 1, all), self.term(inst, 2, all));
        if let Some(width) = self.with_word(condition, AluOp::Ieq32, count, 32) {
            let insert = self.made_by(field, AluOp::Bfi)?;
            let (mask, value, base) = (*insert.first()?, *insert.get(1)?, *insert.get(2)?);
            let parts = self.made_by(mask, AluOp::Bfm)?;
            let (own_width, offset) = (*parts.first()?, *parts.get(1)?);
            let fits = self.same_term(own_width, width, count) && self.same_term(value, whole, count);
            return fits.then(|| (Opcode::Bfi, [base, value, offset, width].into_iter().collect()));
        }
        let neither = self.with_word(condition, AluOp::Ieq32, count, 0)?;
        let (op, opcode) = match self.made_by(field, AluOp::Ubfe) {
            Some(_) => (AluOp::Ubfe, Opcode::Ubfe),
            None => (AluOp::Ibfe, Opcode::Ibfe),
        };
        let sources = self.made_by(field, op)?;
        let (value, offset, width) = (*sources.first()?, *sources.get(1)?, *sources.get(2)?);
        let parts = self.made_by(neither, AluOp::Ior)?;
        let matches = |low: SelectedComponents, high: SelectedComponents| {
            self.with_word(low, AluOp::Iand, count, 31).is_some_and(|t| self.same_term(t, offset, count))
                && self.with_word(high, AluOp::Ixor, count, 32).is_some_and(|t| self.same_term(t, width, count))
        };
        let (a, b) = (*parts.first()?, *parts.get(1)?);
        ((matches(a, b) || matches(b, a)) && self.same_term(value, whole, count)).then_some((opcode, sources))
    }
}
