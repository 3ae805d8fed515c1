//! Recognises vectors whose components are those of a TGSI opcode: it is that opcode.
//!
//! ```text
//! vec4 1.0, (fmax x, 0.0), (x > 0.0 ? fpow (fmax y, 0.0), (fmax (fmin w, 128.0), -128.0) : 0.0), 1.0     LIT a
//! vec4 1.0, (fmul a.y, b.y), a.z, b.w                                                                    DST a, b
//! vec4 (fexp2 (ffloor x)), (ffract x), (fexp2 x), 1.0                                                    EXP x
//! vec4 f, (fdiv |x|, (fexp2 f)), l, 1.0    with l = flog2 |x|, f = ffloor l                              LOG x
//! ```
//!
//! The last component may be missing. What the parts compute becomes dead if nothing else reads it. Operands must be
//! components of one value each, as the source had them, without modifiers, and SSA: a register may have changed since.

use arrayvec::ArrayVec;
use tgsi::shader::Src;
use tgsi::tables::Opcode;
use tgsi_ir::alu::AluOp;
use tgsi_ir::{Def, Inst};
use tgsi_legacy::chase;

use super::Selector;
use super::recognize::Term;

const ONE: u64 = 0x3f80_0000;
const MOST_POWER: u64 = 0x4300_0000;
const LEAST_POWER: u64 = 0xc300_0000;

/// The channels of an operand: a component of one value for each that is read.
type Channels = [Option<Term>; 4];

impl Selector<'_> {
    /// Emits the opcode whose result a vector is. Returns whether there is one.
    pub(super) fn recognized_vector(&mut self, inst: Inst, def: Def, op: AluOp) -> bool {
        let has_any = self.options.has_lit || self.options.has_exp;
        if !has_any || !matches!(op, AluOp::Vec3 | AluOp::Vec4) || self.body.bit_size(def) != 32 {
            return false;
        }
        let terms: ArrayVec<Term, 4> =
            (0..self.body.num_sources(inst)).take(4).map(|number| self.term(inst, number, [0; 4])).collect();
        let Some((opcode, operands)) = self.vector_opcode(&terms) else { return false };
        let mut sources: ArrayVec<Src, 2> = ArrayVec::new();
        for channels in operands {
            let Some(first) = channels.iter().flatten().next() else { return false };
            let is_one_value = channels.iter().flatten().all(|term| term.def == first.def);
            let producer = self.body.def_inst(first.def);
            let is_elsewhere = chase::load_reg_for_def(self.body, first.def).is_some()
                || chase::is_folded(self.body, producer, self.options.modifiers());
            if !is_one_value || is_elsewhere {
                return false;
            }
            let component = |term: &Option<Term>| term.map_or(first.components[0], |term| term.components[0]);
            let swizzle = [0, 1, 2, 3].map(|channel: usize| component(&channels[channel]));
            sources.push(self.value(first.def).source(swizzle));
        }
        let (dst, saturate) = self.alu_destination(def);
        self.emit_saturated(opcode, dst, &sources, saturate);
        true
    }

    fn vector_opcode(&self, terms: &[Term]) -> Option<(Opcode, ArrayVec<Channels, 2>)> {
        let &[x, y, z, ref w @ ..] = terms else { return None };
        let is_one = |term: &Term| self.is_word(*term, 1, ONE);
        if self.options.has_lit && is_one(&x) {
            if w.iter().all(is_one)
                && let Some(operand) = self.lit(y, z)
            {
                return Some((Opcode::Lit, [operand].into_iter().collect()));
            }
            let operands = self.dst(y, z, *w.first()?)?;
            return Some((Opcode::Dst, operands.into_iter().collect()));
        }
        if !self.options.has_exp || !w.iter().all(is_one) {
            return None;
        }
        let (opcode, operand) = match self.exp(x, y, z) {
            Some(operand) => (Opcode::Exp, operand),
            None => (Opcode::Log, self.log(x, y, z)?),
        };
        Some((opcode, [[Some(operand), None, None, None]].into_iter().collect()))
    }

    /// The only source of a term that `op` makes.
    fn only(&self, term: Term, op: AluOp) -> Option<Term> {
        self.made_by(term, op)?.first().copied()
    }

    fn same(&self, a: Term, b: Term) -> bool {
        self.same_term(a, b, 1)
    }

    /// The operand of `LIT`, of its results in y and z.
    fn lit(&self, y: Term, z: Term) -> Option<Channels> {
        let x = self.with_word(y, AluOp::Fmax, 1, 0)?;
        let select = |op: AluOp| self.made_by(z, op);
        let (tested, power, zero) = if let Some(sources) = select(AluOp::FcselGt) {
            (*sources.first()?, *sources.get(1)?, *sources.get(2)?)
        } else {
            let (sources, compare) = match select(AluOp::B32csel) {
                Some(sources) => (sources, AluOp::Flt32),
                None => (select(AluOp::Fcsel)?, AluOp::Slt),
            };
            let compared = self.made_by(*sources.first()?, compare)?;
            let is_positive = self.is_word(*compared.first()?, 1, 0);
            (*compared.get(1).filter(|_| is_positive)?, *sources.get(1)?, *sources.get(2)?)
        };
        let power = self.made_by(power, AluOp::Fpow)?;
        let base = self.with_word(*power.first()?, AluOp::Fmax, 1, 0)?;
        let least = self.with_word(*power.get(1)?, AluOp::Fmax, 1, LEAST_POWER)?;
        let exponent = self.with_word(least, AluOp::Fmin, 1, MOST_POWER)?;
        let fits = self.is_word(zero, 1, 0) && self.same(tested, x);
        fits.then_some([Some(x), Some(base), None, Some(exponent)])
    }

    /// The operands of `DST`, of its results in y, z and w.
    fn dst(&self, y: Term, z: Term, w: Term) -> Option<[Channels; 2]> {
        let factors = self.made_by(y, AluOp::Fmul)?;
        let (mut a, mut b) = (*factors.first()?, *factors.get(1)?);
        if a.def != z.def || b.def != w.def {
            std::mem::swap(&mut a, &mut b);
        }
        // What is known is better as a copy or sum of its own.
        let is_known = |term: Term| self.body.def_constant(term.def).is_some();
        let fits = a.def == z.def && b.def == w.def && !is_known(a) && !is_known(b);
        fits.then_some([[None, Some(a), Some(z), None], [None, Some(b), None, Some(w)]])
    }

    /// The operand of `EXP`, of its results in x, y and z.
    fn exp(&self, x: Term, y: Term, z: Term) -> Option<Term> {
        let operand = self.only(z, AluOp::Fexp2)?;
        let whole = self.only(self.only(x, AluOp::Fexp2)?, AluOp::Ffloor)?;
        let fraction = self.only(y, AluOp::Ffract)?;
        (self.same(whole, operand) && self.same(fraction, operand)).then_some(operand)
    }

    /// The operand of `LOG`, of its results in x, y and z.
    fn log(&self, x: Term, y: Term, z: Term) -> Option<Term> {
        let magnitude = self.only(z, AluOp::Flog2)?;
        let operand = self.only(magnitude, AluOp::Fabs)?;
        let (dividend, power) = match self.made_by(y, AluOp::Fdiv) {
            Some(sources) => (*sources.first()?, *sources.get(1)?),
            None => {
                let factors = self.made_by(y, AluOp::Fmul)?;
                let (a, b) = (*factors.first()?, *factors.get(1)?);
                match self.only(b, AluOp::Frcp) {
                    Some(power) => (a, power),
                    None => (b, self.only(a, AluOp::Frcp)?),
                }
            }
        };
        let fits = self.same(self.only(x, AluOp::Ffloor)?, z)
            && self.same(self.only(power, AluOp::Fexp2)?, x)
            && self.same(dividend, magnitude);
        fits.then_some(operand)
    }
}
