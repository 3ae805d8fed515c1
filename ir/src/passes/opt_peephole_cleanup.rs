//! Undoes what a conversion from TGSI makes of simple things. A small table; the algebraic engine is another pass.
//!
//! ```text
//! before:                              after:
//!     %1 = flt %0, %x                      %1 = flt %0, %x
//!     %2 = b2i32 %1                        if %1 {
//!     %3 = ineg %2
//!     %4 = ine %3, 0
//!     if %4 {
//! ```
//!
//! Every rule holds bit for bit, NaNs and denormals included, so that `exact` does not matter:
//! - tests of a boolean in disguise (`b2i32 b`, `ineg(b2i32 b)`, its `inot`, `b2f32 b`, a selection of constants, `slt` and the like)
//!   against zero are the boolean;
//! - `inot`, `iand`, `ior`, `ixor` of masks `ineg(b2i32 b)` are masks of booleans; `iand` of a mask with 1 or 1.0 is a conversion;
//! - complements of integer comparisons and of float equality;
//! - `fneg fneg`, `fabs fneg`, `fabs fabs`, `fsat fsat`, `ineg ineg`, `inot inot`, neutral and absorbing integer operands, conversions between integers of one size;
//! - selections by a constant, of equal values, by an `inot`, of boolean constants;
//! - packing what was unpacked and the reverse.
//!
//! Not among them: `fmul(x, 1.0)` (makes a signalling NaN quiet), anything where a result could be flushed to zero under the execution mode.
//! One sweep in the order of the text.

use arrayvec::ArrayVec;

use crate::alu::{AluOp, BaseType, ExecutionMode};
use crate::body::{Body, InstData, MAX_COMPONENTS, Swizzle};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::shader::Shader;

/// See the [module](self).
pub fn opt_peephole_cleanup(shader: &mut Shader) -> bool {
    let mode = shader.info.float_controls_execution_mode;
    let mut progress = false;
    for body in shader.bodies_mut() {
        for block in body.blocks_vec() {
            let mut next = body.first_inst(block);
            while let Some(inst) = next {
                next = body.next_inst(inst);
                if let InstData::Alu { op, .. } = *body.inst(inst) {
                    progress |= simplify(body, inst, op, mode);
                }
            }
        }
    }
    progress
}

/// What an instruction turns into.
enum New {
    /// Something that exists.
    Is(AluSrc),
    /// An operation on things that exist.
    Alu(AluOp, ArrayVec<AluSrc, 3>),
    /// An operation on another: `op(inner(sources))`, and again.
    Chain(&'static [AluOp], ArrayVec<AluSrc, 3>),
    /// The same bits in every component.
    Constant(u64),
    /// A vector of components.
    Vector(ArrayVec<AluSrc, MAX_COMPONENTS>),
}

fn list(sources: &[AluSrc]) -> ArrayVec<AluSrc, 3> {
    sources.iter().take(3).copied().collect()
}

fn simplify(body: &mut Body, inst: Inst, op: AluOp, mode: ExecutionMode) -> bool {
    let Some(def) = body.inst_def(inst) else { return false };
    let look = Look { body, inst, count: usize::from(body.num_components(def)), mode };
    let Some(new) = look.rule(op) else { return false };
    let (count, bit_size) = (body.num_components(def), body.bit_size(def));
    let flags = body.alu(inst).map(|(_, flags)| flags).unwrap_or_default();
    let mut b = Builder::new(body, Cursor::Before(inst));
    let value = match new {
        New::Is(source) => b.mov(source, count),
        New::Alu(op, sources) => {
            b.flags = flags;
            b.alu_sized(op, count, &sources)
        }
        New::Chain(ops, sources) => {
            let Some((first, rest)) = ops.split_first() else { return false };
            let mut value = b.alu_sized(*first, count, &sources);
            for &op in rest {
                value = b.alu_sized(op, count, &[value.into()]);
            }
            value
        }
        New::Constant(bits) => b.constant(bit_size, &[bits; MAX_COMPONENTS][..usize::from(count)]),
        New::Vector(sources) => b.vec(&sources),
    };
    if b.body.shape(value) != b.body.shape(def) || value == def {
        debug_assert!(false, "a rule for {op} changes the shape");
        return false;
    }
    body.replace_all_uses(def, value);
    body.remove_inst(inst);
    true
}

/// A wide value that is zero or not as a boolean says.
struct Disguised {
    boolean: AluSrc,
    inverted: bool,
}

struct Look<'a> {
    body: &'a Body,
    inst: Inst,
    /// Components of the result.
    count: usize,
    mode: ExecutionMode,
}

impl Look<'_> {
    fn operand(&self, inst: Inst, number: usize) -> AluSrc {
        let source = self.body.source(inst, number);
        AluSrc::new(self.body.src_def(source), self.body.swizzle(source))
    }

    /// The ALU instruction behind an operand.
    fn behind(&self, operand: AluSrc) -> Option<(AluOp, Inst)> {
        let inst = self.body.def_inst(operand.def);
        Some((self.body.alu_op(inst)?, inst))
    }

    /// Operand `number` of a per-component instruction, as seen through an operand that reads its result.
    fn through(&self, inst: Inst, number: usize, outer: Swizzle) -> AluSrc {
        let inner = self.operand(inst, number);
        AluSrc::new(inner.def, outer.compose(inner.swizzle))
    }

    /// The operand of a per-component instruction of one opcode behind an operand.
    fn unary(&self, operand: AluSrc, op: AluOp) -> Option<AluSrc> {
        let (found, inst) = self.behind(operand)?;
        (found == op).then(|| self.through(inst, 0, operand.swizzle))
    }

    /// Whether the components of an operand that count are constants of some kind.
    fn all(&self, operand: AluSrc, mut kind: impl FnMut(u64) -> bool) -> bool {
        let Some(values) = self.body.def_constant(operand.def) else { return false };
        operand.swizzle.iter(self.count).all(|c| values.get(usize::from(c)).is_some_and(|&v| kind(v)))
    }

    fn ones(&self, operand: AluSrc) -> u64 {
        match self.body.bit_size(operand.def) {
            64 => u64::MAX,
            bits => (1 << bits) - 1,
        }
    }

    fn same(&self, a: AluSrc, b: AluSrc) -> bool {
        a.def == b.def && a.swizzle.iter(self.count).eq(b.swizzle.iter(self.count))
    }

    /// The boolean of which an operand is the mask: `ineg(b2i32 b)`, or a selection of all ones and zero.
    fn mask(&self, operand: AluSrc) -> Option<AluSrc> {
        if let Some(number) = self.unary(operand, AluOp::Ineg) {
            return self.boolean_number(number);
        }
        let (AluOp::Bcsel, inst) = self.behind(operand)? else { return None };
        let ones = self.ones(operand);
        let (yes, no) = (self.through(inst, 1, operand.swizzle), self.through(inst, 2, operand.swizzle));
        (self.all(yes, |v| v == ones) && self.all(no, |v| v == 0)).then(|| self.through(inst, 0, operand.swizzle))
    }

    /// The 1-bit boolean that an operand is 1 or 0 for.
    fn boolean_number(&self, operand: AluSrc) -> Option<AluSrc> {
        let (op, inst) = self.behind(operand)?;
        if !matches!(op, AluOp::B2i32 | AluOp::B2i16 | AluOp::B2i8 | AluOp::B2i64) {
            return None;
        }
        let boolean = self.through(inst, 0, operand.swizzle);
        (self.body.bit_size(boolean.def) == 1).then_some(boolean)
    }

    /// The boolean that says whether an integer is zero.
    fn disguised_integer(&self, operand: AluSrc) -> Option<Disguised> {
        if let Some(boolean) = self.mask(operand).or_else(|| self.boolean_number(operand)) {
            return Some(Disguised { boolean, inverted: false });
        }
        if let Some(boolean) = self.unary(operand, AluOp::Inot).and_then(|inner| self.mask(inner)) {
            return Some(Disguised { boolean, inverted: true });
        }
        self.disguised_selection(operand, |v| v == 0)
    }

    /// The boolean that says whether a float is zero.
    fn disguised_float(&self, operand: AluSrc) -> Option<Disguised> {
        let (op, inst) = self.behind(operand)?;
        if matches!(op, AluOp::B2f16 | AluOp::B2f32 | AluOp::B2f64) {
            let boolean = self.through(inst, 0, operand.swizzle);
            return (self.body.bit_size(boolean.def) == 1).then_some(Disguised { boolean, inverted: false });
        }
        let bits = self.body.bit_size(operand.def);
        let magnitude = self.ones(operand) >> 1;
        let denormal = |v: u64| v & magnitude != 0 && v & magnitude & !mantissa(bits) == 0;
        let selection = self.disguised_selection(operand, |v| v & magnitude == 0)?;
        let (yes, no) = (self.through(inst, 1, operand.swizzle), self.through(inst, 2, operand.swizzle));
        (self.all(yes, |v| !denormal(v)) && self.all(no, |v| !denormal(v))).then_some(selection)
    }

    /// A selection of constants of which one is zero and the other not.
    fn disguised_selection(&self, operand: AluSrc, is_zero: impl Fn(u64) -> bool) -> Option<Disguised> {
        let (AluOp::Bcsel, inst) = self.behind(operand)? else { return None };
        let (yes, no) = (self.through(inst, 1, operand.swizzle), self.through(inst, 2, operand.swizzle));
        let boolean = self.through(inst, 0, operand.swizzle);
        if self.all(yes, |v| !is_zero(v)) && self.all(no, &is_zero) {
            Some(Disguised { boolean, inverted: false })
        } else if self.all(yes, &is_zero) && self.all(no, |v| !is_zero(v)) {
            Some(Disguised { boolean, inverted: true })
        } else {
            None
        }
    }

    fn boolean(&self, boolean: AluSrc, inverted: bool) -> New {
        if inverted { New::Alu(AluOp::Inot, list(&[boolean])) } else { New::Is(boolean) }
    }

    fn rule(&self, op: AluOp) -> Option<New> {
        use AluOp as O;
        let operands = self.body.num_sources(self.inst);
        let a = if operands > 0 { self.operand(self.inst, 0) } else { return None };
        let b = if operands > 1 { Some(self.operand(self.inst, 1)) } else { None };
        match op {
            O::Ine | O::Ieq => self.integer_test(op, a, b?),
            O::Fneu | O::Feq => self.float_test(op, a, b?),
            O::Inot => self.complement(a),
            O::Fneg => {
                let flushed = self.mode.flushes_denormals(self.body.bit_size(a.def));
                self.unary(a, O::Fneg).filter(|_| !flushed).map(New::Is)
            }
            O::Fabs => {
                let inner = self.unary(a, O::Fneg).or_else(|| self.unary(a, O::Fabs))?;
                Some(New::Alu(O::Fabs, list(&[inner])))
            }
            O::Ineg => self.unary(a, O::Ineg).map(New::Is),
            O::Fsat => {
                let (inner, _) = self.behind(a)?;
                matches!(inner, O::Fsat | O::B2f16 | O::B2f32 | O::B2f64).then_some(New::Is(a))
            }
            O::Iadd | O::Ior | O::Ixor | O::Iand | O::Imul => self.integer_operation(op, a, b?),
            O::Ishl | O::Ishr | O::Ushr => {
                // Only the low bits of the count matter.
                let low = u64::from(self.body.bit_size(a.def)).checked_sub(1)?;
                self.all(b?, |v| v & low == 0).then_some(New::Is(a))
            }
            O::Bcsel => self.selection(a, b?, self.operand(self.inst, 2)),
            O::Pack642x32 => self.pack_of(a, O::Unpack642x32),
            O::Unpack642x32 => self.pack_of(a, O::Pack642x32),
            O::Pack642x32Split => {
                let (low, high) = (self.unary(a, O::Unpack642x32SplitX)?, self.unary(b?, O::Unpack642x32SplitY)?);
                self.same(low, high).then_some(New::Is(low))
            }
            O::Unpack642x32SplitX | O::Unpack642x32SplitY => {
                let (O::Pack642x32Split, inst) = self.behind(a)? else { return None };
                Some(New::Is(self.through(inst, usize::from(op == O::Unpack642x32SplitY), a.swizzle)))
            }
            _ => self.integer_conversion(op, a),
        }
    }

    fn integer_test(&self, op: AluOp, a: AluSrc, b: AluSrc) -> Option<New> {
        let equal = op == AluOp::Ieq;
        for (value, constant) in [(a, b), (b, a)] {
            if self.body.bit_size(value.def) == 1 {
                // A comparison of booleans with a constant.
                if self.all(constant, |v| v == 0) {
                    return Some(self.boolean(value, equal));
                }
                if self.all(constant, |v| v == 1) {
                    return Some(self.boolean(value, !equal));
                }
            } else if self.all(constant, |v| v == 0)
                && let Some(found) = self.disguised_integer(value)
            {
                return Some(self.boolean(found.boolean, found.inverted != equal));
            }
        }
        None
    }

    fn float_test(&self, op: AluOp, a: AluSrc, b: AluSrc) -> Option<New> {
        let equal = op == AluOp::Feq;
        for (value, constant) in [(a, b), (b, a)] {
            let magnitude = self.ones(value) >> 1;
            if !self.all(constant, |v| v & magnitude == 0) {
                continue;
            }
            if let Some(found) = self.disguised_float(value) {
                return Some(self.boolean(found.boolean, found.inverted != equal));
            }
            // The comparisons that give 1.0 or 0.0.
            let (inner, inst) = self.behind(value)?;
            let comparison = match inner {
                AluOp::Slt => AluOp::Flt,
                AluOp::Sge => AluOp::Fge,
                AluOp::Seq => AluOp::Feq,
                AluOp::Sne => AluOp::Fneu,
                _ => continue,
            };
            let sources = list(&[self.through(inst, 0, value.swizzle), self.through(inst, 1, value.swizzle)]);
            return Some(match (equal, comparison) {
                (false, _) => New::Alu(comparison, sources),
                (true, AluOp::Feq) => New::Alu(AluOp::Fneu, sources),
                (true, AluOp::Fneu) => New::Alu(AluOp::Feq, sources),
                (true, AluOp::Flt) => New::Chain(&[AluOp::Flt, AluOp::Inot], sources),
                (true, _) => New::Chain(&[AluOp::Fge, AluOp::Inot], sources),
            });
        }
        None
    }

    fn complement(&self, a: AluSrc) -> Option<New> {
        let (op, inst) = self.behind(a)?;
        let opposite = match op {
            AluOp::Inot => return Some(New::Is(self.through(inst, 0, a.swizzle))),
            AluOp::Ieq => AluOp::Ine,
            AluOp::Ine => AluOp::Ieq,
            AluOp::Ilt => AluOp::Ige,
            AluOp::Ige => AluOp::Ilt,
            AluOp::Ult => AluOp::Uge,
            AluOp::Uge => AluOp::Ult,
            AluOp::Feq => AluOp::Fneu,
            AluOp::Fneu => AluOp::Feq,
            _ => {
                let boolean = self.mask(a).filter(|_| self.is_only_use(a.def))?;
                return Some(New::Chain(self.mask_of(AluOp::Inot, a)?, list(&[boolean])));
            }
        };
        // A comparison that is needed as it is as well does not get a twin.
        if !self.is_only_use(a.def) {
            return None;
        }
        Some(New::Alu(opposite, list(&[self.through(inst, 0, a.swizzle), self.through(inst, 1, a.swizzle)])))
    }

    fn is_only_use(&self, def: Def) -> bool {
        self.body.single_use(def).is_some()
    }

    /// The operations that make a mask of a boolean operation.
    fn mask_of(&self, op: AluOp, like: AluSrc) -> Option<&'static [AluOp]> {
        use AluOp as O;
        if self.body.bit_size(like.def) != 32 {
            return None;
        }
        Some(match op {
            O::Inot => &[O::Inot, O::B2i32, O::Ineg],
            O::Iand => &[O::Iand, O::B2i32, O::Ineg],
            O::Ior => &[O::Ior, O::B2i32, O::Ineg],
            O::Ixor => &[O::Ixor, O::B2i32, O::Ineg],
            _ => return None,
        })
    }

    fn integer_operation(&self, op: AluOp, a: AluSrc, b: AluSrc) -> Option<New> {
        use AluOp as O;
        let ones = self.ones(a);
        for (value, constant) in [(a, b), (b, a)] {
            let (zero, one, full) =
                (self.all(constant, |v| v == 0), self.all(constant, |v| v == 1), self.all(constant, |v| v == ones));
            match op {
                O::Iadd | O::Ior | O::Ixor if zero => return Some(New::Is(value)),
                O::Iand | O::Imul if zero => return Some(New::Constant(0)),
                O::Imul if one => return Some(New::Is(value)),
                O::Iand if full => return Some(New::Is(value)),
                O::Ior if full => return Some(New::Constant(ones)),
                O::Iand if one || self.all(constant, |v| v == u64::from(1f32.to_bits())) => {
                    if self.body.bit_size(value.def) == 32
                        && let Some(boolean) = self.mask(value)
                    {
                        return Some(New::Alu(if one { O::B2i32 } else { O::B2f32 }, list(&[boolean])));
                    }
                }
                _ => {}
            }
        }
        match op {
            O::Iand | O::Ior if self.same(a, b) => return Some(New::Is(a)),
            O::Ixor if self.same(a, b) => return Some(New::Constant(0)),
            O::Iand | O::Ior | O::Ixor => {}
            _ => return None,
        }
        let (left, right) = (self.mask(a)?, self.mask(b)?);
        // Both operands may be components of one mask.
        let is_only_user = |def| self.body.uses_of(def).all(|source| self.body.user(source).inst() == Some(self.inst));
        if !is_only_user(a.def) || !is_only_user(b.def) {
            return None;
        }
        Some(New::Chain(self.mask_of(op, a)?, list(&[left, right])))
    }

    fn selection(&self, condition: AluSrc, yes: AluSrc, no: AluSrc) -> Option<New> {
        if self.same(yes, no) {
            return Some(New::Is(yes));
        }
        if let Some(values) = self.body.def_constant(condition.def) {
            let chosen: ArrayVec<AluSrc, MAX_COMPONENTS> = (0..self.count)
                .map(|i| {
                    let taken = values.get(usize::from(condition.swizzle.get(i))).is_some_and(|&v| v != 0);
                    let side = if taken { yes } else { no };
                    AluSrc::component(side.def, side.swizzle.get(i))
                })
                .collect();
            let first = chosen.first()?.def;
            if chosen.iter().all(|s| s.def == first) {
                let swizzle = chosen.iter().enumerate().fold(Swizzle(0), |s, (i, c)| s.with(i, c.swizzle.get(0)));
                return Some(New::Is(AluSrc::new(first, swizzle)));
            }
            return Some(New::Vector(chosen));
        }
        if let Some(opposite) = self.unary(condition, AluOp::Inot) {
            return Some(New::Alu(AluOp::Bcsel, list(&[opposite, no, yes])));
        }
        if self.body.bit_size(yes.def) == 1 {
            if self.all(yes, |v| v == 1) && self.all(no, |v| v == 0) {
                return Some(New::Is(condition));
            }
            if self.all(yes, |v| v == 0) && self.all(no, |v| v == 1) {
                return Some(New::Alu(AluOp::Inot, list(&[condition])));
            }
        }
        None
    }

    /// A packing of both halves of what `inverse` made, in order.
    fn pack_of(&self, a: AluSrc, inverse: AluOp) -> Option<New> {
        let (found, inst) = self.behind(a)?;
        let halves = usize::from(self.body.alu_op(self.inst)?.input_components(0, 1));
        (found == inverse && a.swizzle.is_identity(halves)).then(|| New::Is(self.operand(inst, 0)))
    }

    /// A conversion between integers, or booleans, of one size.
    fn integer_conversion(&self, op: AluOp, a: AluSrc) -> Option<New> {
        let info = op.info();
        let (input, output) = (info.input_types.first()?, info.output_type);
        let is_number = |base| matches!(base, BaseType::Int | BaseType::Uint);
        let kept = is_number(input.base) && is_number(output.base)
            || input.base == BaseType::Bool && output.base == BaseType::Bool;
        (op.is_conversion() && kept && self.body.bit_size(a.def) == output.bit_size).then_some(New::Is(a))
    }
}

fn mantissa(bit_size: u8) -> u64 {
    match bit_size {
        16 => 0x3ff,
        32 => 0x7f_ffff,
        _ => 0xf_ffff_ffff_ffff,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{AluFlags, Shape};
    use crate::passes::{opt_copy_prop, opt_dce};
    use crate::shader::Stage;

    /// Makes a value, simplifies, and hands the value that is read in its place to the check.
    fn check(make: impl Fn(&mut Builder<'_>, Def, Def) -> Def, check: impl Fn(&Body, Def, Def, Def)) {
        let mut shader = Shader::new(Stage::Fragment);
        let mut b = Builder::at_end(shader.main_mut());
        let (x, y) = (b.undef(4, 32), b.undef(4, 32));
        b.flags = AluFlags::EXACT;
        let value = make(&mut b, x, y);
        let user = b.intrinsic(crate::intrinsics::IntrinsicOp::StorePreamble, &[value], &[], None);
        while opt_peephole_cleanup(&mut shader) | opt_copy_prop(&mut shader) {}
        opt_dce(&mut shader);
        let body = shader.main();
        check(body, body.src(user, 0), x, y);
    }

    fn op(body: &Body, def: Def) -> Option<AluOp> {
        body.alu_op(body.def_inst(def))
    }

    fn mask(b: &mut Builder<'_>, boolean: Def) -> Def {
        let number = b.alu(AluOp::B2i32, &[boolean]);
        b.alu(AluOp::Ineg, &[number])
    }

    #[test]
    fn tests_of_masks() {
        check(
            |b, x, y| {
                let less = b.alu(AluOp::Flt, &[x, y]);
                let mask = mask(b, less);
                let zero = b.constant(32, &[0; 4]);
                b.alu(AluOp::Ine, &[mask, zero])
            },
            |body, value, x, _| {
                assert_eq!(op(body, value), Some(AluOp::Flt));
                assert_eq!(body.src(body.def_inst(value), 0), x);
            },
        );
        // One component, through a swizzle.
        check(
            |b, x, y| {
                let less = b.alu(AluOp::Slt, &[x, y]);
                let minus_zero = b.f32_const(-0.0);
                b.alu_sized(AluOp::Fneu, 1, &[AluSrc::component(less, 2), minus_zero.into()])
            },
            |body, value, _, _| {
                assert_eq!(op(body, value), Some(AluOp::Flt));
                assert_eq!(body.swizzle(body.source(body.def_inst(value), 1)).get(0), 2);
                assert!(body.alu(body.def_inst(value)).unwrap().1.is_exact());
            },
        );
        // A chain of masks.
        check(
            |b, x, y| {
                let left = b.alu(AluOp::Flt, &[x, y]);
                let left = mask(b, left);
                let right = b.alu(AluOp::Ilt, &[x, y]);
                let right = mask(b, right);
                let both = b.alu(AluOp::Iand, &[left, right]);
                let neither = b.alu(AluOp::Inot, &[both]);
                let zero = b.constant(32, &[0; 4]);
                b.alu(AluOp::Ieq, &[zero, neither])
            },
            |body, value, _, _| {
                assert_eq!((op(body, value), body.shape(value)), (Some(AluOp::Iand), Shape::new(4, 1)));
            },
        );
    }

    #[test]
    fn what_is_not_exact_stays() {
        check(
            |b, x, _| {
                let one = b.constant(32, &[u64::from(1f32.to_bits()); 4]);
                b.alu(AluOp::Fmul, &[x, one])
            },
            |body, value, _, _| assert_eq!(op(body, value), Some(AluOp::Fmul)),
        );
        check(
            |b, x, y| {
                let less = b.alu(AluOp::Flt, &[x, y]);
                b.alu(AluOp::Inot, &[less])
            },
            |body, value, _, _| assert_eq!(op(body, value), Some(AluOp::Inot)),
        );
    }

    #[test]
    fn selections() {
        check(
            |b, x, y| {
                let condition = b.constant(1, &[1, 0, 1, 0]);
                b.alu(AluOp::Bcsel, &[condition, x, y])
            },
            |body, value, x, y| {
                let vec = body.def_inst(value);
                assert_eq!(body.alu_op(vec), Some(AluOp::Vec4));
                assert_eq!((body.src(vec, 0), body.src(vec, 1), body.swizzle(body.source(vec, 3)).get(0)), (x, y, 3));
            },
        );
        check(|b, x, _| b.alu(AluOp::Fneg, &[x]), |body, value, _, _| assert_eq!(op(body, value), Some(AluOp::Fneg)));
        check(
            |b, x, _| {
                let once = b.alu(AluOp::Fneg, &[x]);
                b.alu(AluOp::Fneg, &[once])
            },
            |_, value, x, _| assert_eq!(value, x),
        );
    }
}
