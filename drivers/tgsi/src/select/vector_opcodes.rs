//! Recognises vectors with components computed by one TGSI opcode, and selects that opcode.
//!
//! ```text
//! vec4 1.0, (fmax x, 0.0), (x > 0.0 ? fpow (fmax y, 0.0), (fmax (fmin w, 128.0), -128.0) : 0.0), 1.0     LIT a
//! vec4 1.0, (fmul a.y, b.y), a.z, b.w                                                                    DST a, b
//! vec4 (fexp2 (ffloor x)), (ffract x), (fexp2 x), 1.0                                                    EXP x
//! vec4 f, (fdiv |x|, (fexp2 f)), l, 1.0    with l = flog2 |x|, f = ffloor l                              LOG x
//! ```
//!
//! The last component may be missing, and except for `DST` it may be any other value, which is copied. The parts become
//! dead if they have no other uses. Operands are components of the original values, with modifiers, and must be SSA: a
//! register may have changed since. The operand of `LIT` is packed if its components are in several values.

use arrayvec::ArrayVec;
use tgsi::shader::{Dst, Src};
use tgsi::tables::Opcode;
use tgsi_ir::alu::AluOp;
use tgsi_ir::{Def, Inst};
use tgsi_registers::chase;

use super::Selector;
use super::recognize::SelectedComponents;

const ONE: u64 = 0x3f80_0000;
const MAX_POWER: u64 = 0x4300_0000;
const LEAST_POWER: u64 = 0xc300_0000;

/// Component w of a result.
const W: u8 = 8;

/// A component of a value with the modifiers of an operand.
#[derive(Clone, Copy)]
struct Channel {
    term: SelectedComponents,
    absolute: bool,
    negate: bool,
}

impl Channel {
    fn negated(self) -> Channel {
        Channel { negate: !self.negate, ..self }
    }

    /// Whether one operand can read both.
    fn is_beside(&self, other: &Channel) -> bool {
        self.term.def == other.term.def && self.absolute == other.absolute && self.negate == other.negate
    }
}

/// The channels of an operand: a component for each channel read.
type Channels = [Option<Channel>; 4];

/// An opcode, its operands, and w of the result if it is another value.
struct Recognized {
    opcode: Opcode,
    operands: ArrayVec<Channels, 2>,
    w: Option<Channel>,
}

impl Selector<'_> {
    /// Emits the opcode recognised in a vector. Returns whether there is one.
    pub(super) fn recognized_vector(&mut self, inst: Inst, def: Def, op: AluOp) -> bool {
        let has_any = self.options.has_lit || self.options.has_exp;
        if !has_any || !matches!(op, AluOp::Vec3 | AluOp::Vec4) || self.body.bit_size(def) != 32 {
            return false;
        }
        let terms: ArrayVec<SelectedComponents, 4> =
            (0..self.body.num_sources(inst)).take(4).map(|number| self.term(inst, number, [0; 4])).collect();
        let Some(Recognized { opcode, operands, w }) = self.vector_opcode(&terms) else { return false };
        let mut read = operands.iter().flatten().flatten().chain(&w);
        let is_whole = |channels: &Channels| {
            let mut read = channels.iter().flatten();
            read.next().is_some_and(|first| read.all(|channel| channel.is_beside(first)))
        };
        if !read.all(|channel| self.is_at_hand(channel)) || opcode != Opcode::Lit && !operands.iter().all(is_whole) {
            return false;
        }
        let mut sources: ArrayVec<Src, 2> = ArrayVec::new();
        for channels in &operands {
            sources.push(if is_whole(channels) { self.channels(channels) } else { self.assembled(channels) });
        }
        let (dst, saturate) = self.alu_destination(def);
        let mask = if w.is_some() { dst.write_mask & !W } else { dst.write_mask };
        self.emit_saturated(opcode, dst.masked(mask), &sources, saturate);
        if let Some(w) = w.filter(|_| dst.write_mask & W != 0) {
            let source = self.channels(&[Some(w); 4]);
            self.emit_saturated(Opcode::Mov, dst.masked(W), &[source], saturate);
        }
        true
    }

    /// Whether a register holds the value until it is read here.
    fn is_at_hand(&self, channel: &Channel) -> bool {
        let def = channel.term.def;
        chase::load_reg_for_def(self.body, def).is_none()
            && !chase::is_folded(self.body, self.body.def_inst(def), self.options.modifiers())
    }

    /// The operand with components of one value as channels.
    fn channels(&mut self, channels: &Channels) -> Src {
        let Some(first) = channels.iter().flatten().next() else { return self.word(0) };
        let component = |channel: &Option<Channel>| channel.as_ref().unwrap_or(first).term.components[0];
        let swizzle = [0, 1, 2, 3].map(|number: usize| component(&channels[number]));
        let source = self.value(first.term.def).source(swizzle);
        Src { absolute: first.absolute, negate: first.negate, ..source }
    }

    /// The operand with components of several values as channels, copied to a temporary.
    fn assembled(&mut self, channels: &Channels) -> Src {
        let temp = self.temp();
        let mut done = 0u8;
        for first in channels.iter().flatten() {
            let together = channels.map(|channel| channel.filter(|channel| channel.is_beside(first)));
            let mask = (0..4u8).filter(|&c| together[usize::from(c)].is_some()).fold(0, |mask, c| mask | 1 << c);
            if mask & done == 0 {
                let source = self.channels(&together);
                self.emit(Opcode::Mov, Dst::new(temp).masked(mask), &[source]);
                done |= mask;
            }
        }
        Src::new(temp)
    }

    fn vector_opcode(&self, terms: &[SelectedComponents]) -> Option<Recognized> {
        let &[x, y, z, ref w @ ..] = terms else { return None };
        let is_one = |term: &SelectedComponents| self.is_word(*term, 1, ONE);
        let other = || w.first().filter(|w| !is_one(w) && !self.is_undef(w.def)).map(|&w| self.channel(w));
        if self.options.has_lit && is_one(&x) {
            if let Some(operand) = self.lit(y, z) {
                return Some(Recognized { opcode: Opcode::Lit, operands: [operand].into_iter().collect(), w: other() });
            }
            let operands = self.dst(y, z, *w.first()?)?;
            return Some(Recognized { opcode: Opcode::Dst, operands: operands.into_iter().collect(), w: None });
        }
        if !self.options.has_exp {
            return None;
        }
        let (opcode, operand) = match self.exp(x, y, z) {
            Some(operand) => (Opcode::Exp, operand),
            None => (Opcode::Log, self.log(x, y, z)?),
        };
        let operand = [Some(self.channel(operand)), None, None, None];
        Some(Recognized { opcode, operands: [operand].into_iter().collect(), w: other() })
    }

    /// Splits a term into the modifiers of an operand and its source.
    fn channel(&self, term: SelectedComponents) -> Channel {
        let (term, negate) = self.only(term, AluOp::Fneg).map_or((term, false), |term| (term, true));
        let inner = self.only(term, AluOp::Fabs).filter(|_| self.options.fuse_fabs);
        let (term, absolute) = inner.map_or((term, false), |term| (term, true));
        Channel { term, absolute, negate }
    }

    /// The only source of a term defined by `op`.
    fn only(&self, term: SelectedComponents, op: AluOp) -> Option<SelectedComponents> {
        self.made_by(term, op)?.first().copied()
    }

    fn same(&self, a: SelectedComponents, b: SelectedComponents) -> bool {
        self.same_term(a, b, 1)
    }

    /// The operand of `LIT`, given its results in y and z.
    fn lit(&self, y: SelectedComponents, z: SelectedComponents) -> Option<Channels> {
        let x = self.channel(self.with_word(y, AluOp::Fmax, 1, 0)?);
        let select = |op: AluOp| self.made_by(z, op);
        let (tested, power, zero) = if let Some(sources) = select(AluOp::FcselGt) {
            (self.channel(*sources.first()?), *sources.get(1)?, *sources.get(2)?)
        } else {
            let (sources, compare) = match select(AluOp::B32csel) {
                Some(sources) => (sources, AluOp::Flt32),
                None => (select(AluOp::Fcsel)?, AluOp::Slt),
            };
            let compared = self.made_by(*sources.first()?, compare)?;
            let (a, b) = (*compared.first()?, *compared.get(1)?);
            let tested = match (self.is_word(a, 1, 0), self.is_word(b, 1, 0)) {
                (true, _) => self.channel(b),
                (_, true) => self.channel(a).negated(),
                _ => return None,
            };
            (tested, *sources.get(1)?, *sources.get(2)?)
        };
        let power = self.made_by(power, AluOp::Fpow)?;
        let base = self.with_word(*power.first()?, AluOp::Fmax, 1, 0)?;
        let least = self.with_word(*power.get(1)?, AluOp::Fmax, 1, LEAST_POWER)?;
        let exponent = self.with_word(least, AluOp::Fmin, 1, MAX_POWER)?;
        let is_same = tested.absolute == x.absolute && tested.negate == x.negate && self.same(tested.term, x.term);
        let fits = self.is_word(zero, 1, 0) && is_same;
        fits.then_some([Some(x), Some(self.channel(base)), None, Some(self.channel(exponent))])
    }

    /// The operands of `DST`, given its results in y, z and w.
    fn dst(&self, y: SelectedComponents, z: SelectedComponents, w: SelectedComponents) -> Option<[Channels; 2]> {
        let factors = self.made_by(y, AluOp::Fmul)?;
        let (mut a, mut b) = (self.channel(*factors.first()?), self.channel(*factors.get(1)?));
        let (z, w) = (self.channel(z), self.channel(w));
        if !a.is_beside(&z) || !b.is_beside(&w) {
            std::mem::swap(&mut a, &mut b);
        }
        // Constants are better as separate copies or sums.
        let is_known = |channel: &Channel| self.body.def_constant(channel.term.def).is_some();
        let fits = a.is_beside(&z) && b.is_beside(&w) && !is_known(&a) && !is_known(&b);
        fits.then_some([[None, Some(a), Some(z), None], [None, Some(b), None, Some(w)]])
    }

    /// The operand of `EXP`, given its results in x, y and z.
    fn exp(&self, x: SelectedComponents, y: SelectedComponents, z: SelectedComponents) -> Option<SelectedComponents> {
        let operand = self.only(z, AluOp::Fexp2)?;
        let whole = self.only(self.only(x, AluOp::Fexp2)?, AluOp::Ffloor)?;
        let fraction = self.only(y, AluOp::Ffract)?;
        (self.same(whole, operand) && self.same(fraction, operand)).then_some(operand)
    }

    /// The operand of `LOG`, given its results in x, y and z.
    fn log(&self, x: SelectedComponents, y: SelectedComponents, z: SelectedComponents) -> Option<SelectedComponents> {
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
