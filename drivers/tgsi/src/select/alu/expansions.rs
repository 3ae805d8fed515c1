//! ALU operations that are several instructions, or depend on features of the target.

use tgsi::shader::{Dst, Src};
use tgsi::tables::{File, Opcode};
use tgsi_ir::Def;
use tgsi_ir::alu::AluOp;

use super::{Sources, absolute, first_channels, negated, operand};
use crate::DriverError;
use crate::select::{Selector, Value};

impl Selector<'_> {
    /// Emits an instruction per distinct source channel.
    pub(super) fn per_channel(&mut self, opcode: Opcode, dst: Dst, sources: &Sources, saturate: bool) {
        // The destination may be a register that the sources read: later parts must not read results of earlier ones.
        let selected = |c: usize| -> arrayvec::ArrayVec<u8, 4> { sources.iter().map(|s| s.1.get(c) & 3).collect() };
        let mut parts: arrayvec::ArrayVec<(u8, usize), 4> = arrayvec::ArrayVec::new();
        for c in (0..4).filter(|c| dst.write_mask & 1 << c != 0) {
            match parts.iter_mut().find(|p| selected(p.1) == selected(c)) {
                Some(part) => part.0 |= 1 << c,
                None => parts.push((1 << c, c)),
            }
        }
        let overlaps = parts.len() > 1 && sources.iter().any(|s| s.0.register == dst.register);
        let target = if overlaps { self.temp() } else { dst.register };
        for &(mask, channel) in &parts {
            let operands: arrayvec::ArrayVec<Src, 4> =
                sources.iter().map(|(value, swizzle)| value.lane(swizzle.get(channel) & 3)).collect();
            if opcode == Opcode::Sqrt && !self.options.has_sqrt {
                self.emit_square_root(Dst::new(target).masked(mask), operands[0], saturate);
            } else {
                self.emit_saturated(opcode, Dst::new(target).masked(mask), &operands, saturate);
            }
        }
        if overlaps {
            self.emit(Opcode::Mov, dst, &[Src::new(target)]);
        }
    }

    /// Emits the largest integer that is not greater than an operand.
    pub(super) fn emit_floor(&mut self, dst: Dst, src: Src, saturate: bool) {
        if self.options.has_flr {
            self.emit_saturated(Opcode::Flr, dst, &[src], saturate);
            return;
        }
        // The fraction of an infinity is NaN, which clamps to 0, so that the infinity is kept.
        let m = dst.write_mask;
        let fraction = self.temp();
        self.emit_saturated(Opcode::Frc, Dst::new(fraction).masked(m), &[src], self.options.has_sat);
        let mut fraction = Src::new(fraction);
        if !self.options.has_sat {
            let zero = self.float(0.0);
            fraction = self.computed(Opcode::Max, m, &[fraction, zero]);
        }
        self.emit_saturated(Opcode::Add, dst, &[src, negated(fraction)], saturate);
    }

    /// Emits an operand without its fraction.
    pub(super) fn emit_truncation(&mut self, dst: Dst, src: Src, saturate: bool) {
        let m = dst.write_mask;
        let magnitude = match self.options.fuse_fabs {
            true => absolute(src),
            false => self.computed(Opcode::Max, m, &[src, negated(src)]),
        };
        let whole = self.temp();
        self.emit_floor(Dst::new(whole).masked(m), magnitude, false);
        self.select_negative(dst, [src, negated(Src::new(whole)), Src::new(whole)], saturate);
    }

    /// `CMP`: the second operand where the first is negative, else the third.
    pub(super) fn select_negative(&mut self, dst: Dst, operands: [Src; 3], saturate: bool) {
        let (zero, m) = (self.float(0.0), dst.write_mask);
        if self.options.has_cmp {
            let [a, b, c] = operands;
            if self.options.cmp_reads_two_temporaries && are_different_temporaries(&operands) {
                // Adding -0 preserves every value.
                let none = negated(zero);
                let first = self.computed(Opcode::Cmp, m, &[a, b, none]);
                let second = self.computed(Opcode::Cmp, m, &[a, none, c]);
                self.emit_saturated(Opcode::Add, dst, &[first, second], saturate);
            } else {
                self.emit_saturated(Opcode::Cmp, dst, &operands, saturate);
            }
            return;
        }
        if self.options.native_integers {
            let is_negative = self.computed(Opcode::Fslt, m, &[operands[0], zero]);
            self.emit_saturated(Opcode::Ucmp, dst, &[is_negative, operands[1], operands[2]], saturate);
            return;
        }
        let is_negative = self.computed(Opcode::Slt, m, &[operands[0], zero]);
        self.select_by_float(dst, [is_negative, operands[1], operands[2]], saturate);
    }

    /// Emits the second operand where the first compares with 0 as given, else the third. The comparison gives an
    /// integer or a float, depending on the target.
    pub(super) fn select_where(&mut self, compare: (Opcode, Opcode), dst: Dst, [a, b, c]: [Src; 3], saturate: bool) {
        let zero = self.float(0.0);
        if self.options.native_integers {
            let is_so = self.computed(compare.0, dst.write_mask, &[a, zero]);
            self.emit_saturated(Opcode::Ucmp, dst, &[is_so, b, c], saturate);
        } else {
            let is_so = self.computed(compare.1, dst.write_mask, &[a, zero]);
            self.select_by_float(dst, [is_so, b, c], saturate);
        }
    }

    /// The second operand where the first is 1.0, the third where it is 0.0.
    pub(super) fn select_by_float(&mut self, dst: Dst, [factor, b, c]: [Src; 3], saturate: bool) {
        if self.options.has_cmp || self.options.native_integers {
            self.select_negative(dst, [negated(factor), b, c], saturate);
            return;
        }
        // One of the products is 0; `LRP` would lose a small value next to a large one.
        let m = dst.write_mask;
        if self.is_zero(&c, m) {
            self.emit_saturated(Opcode::Mul, dst, &[factor, b], saturate);
            return;
        }
        let one = self.float(1.0);
        let rest = self.computed(Opcode::Add, m, &[one, negated(factor)]);
        if self.is_zero(&b, m) {
            self.emit_saturated(Opcode::Mul, dst, &[rest, c], saturate);
            return;
        }
        let other = self.computed(Opcode::Mul, m, &[rest, c]);
        if self.options.fuse_mad {
            // The result is not rounded: one of the products is 0.
            self.emit_saturated(Opcode::Mad, dst, &[factor, b, other], saturate);
        } else {
            let first = self.computed(Opcode::Mul, m, &[factor, b]);
            self.emit_saturated(Opcode::Add, dst, &[first, other], saturate);
        }
    }

    /// Whether the components of a mask are zeros.
    fn is_zero(&self, src: &Src, mask: u8) -> bool {
        crate::machine::operands::immediate_words(&self.program.constants, src)
            .is_some_and(|words| (0..4).all(|c| mask & 1 << c == 0 || words[c] << 1 == 0))
    }

    /// Emits 1.0 where both factors are non-zero, else 0.0.
    pub(super) fn both_factors_count(&mut self, a: Src, b: Src, mask: u8) -> Src {
        let zero = self.float(0.0);
        let first = self.computed(Opcode::Sne, mask, &[a, zero]);
        let second = self.computed(Opcode::Sne, mask, &[b, zero]);
        self.computed(Opcode::Mul, mask, &[first, second])
    }

    /// `fmulz(a, b) + c`.
    pub(super) fn multiply_or_zero_and_add(&mut self, dst: Dst, [a, b, c]: [Src; 3], saturate: bool) {
        let product = self.temp();
        self.emit_multiply_or_zero(Dst::new(product).masked(dst.write_mask), a, b, false);
        self.emit_saturated(Opcode::Add, dst, &[Src::new(product), c], saturate);
    }

    /// Emits a dot product in which zero times anything is zero. The shader's property implies that for `DP2` to `DP4`;
    /// without it the products are summed.
    pub(super) fn emit_dot_or_zero(&mut self, dst: Dst, op: AluOp, sources: &Sources, saturate: bool) {
        let count: usize = match op {
            AluOp::Fdot2Madz | AluOp::Fdot2MadzReplicated => 2,
            AluOp::Fdot3Madz | AluOp::Fdot3MadzReplicated => 3,
            _ => 4,
        };
        let [a, b] = [0, 1].map(|number| first_channels(&sources[number], count));
        if self.shader.info.use_legacy_math_rules {
            let opcode = [Opcode::Dp2, Opcode::Dp3, Opcode::Dp4][count - 2];
            self.emit_saturated(opcode, dst, &[a, b], saturate);
            return;
        }
        let products = self.temp();
        self.emit_multiply_or_zero(Dst::new(products).masked((1 << count) - 1), a, b, false);
        let product = |lane: u8| Value::new(products).lane(lane);
        let (mut sum, last) = (product(0), count as u8 - 1);
        for lane in 1..last {
            sum = self.computed(Opcode::Add, 1, &[sum, product(lane)]).swizzled([0; 4]);
        }
        self.emit_saturated(Opcode::Add, dst, &[sum, product(last)], saturate);
    }

    /// Emits a product that is 0 where a factor is 0, whatever the other factor is.
    pub(super) fn emit_multiply_or_zero(&mut self, dst: Dst, a: Src, b: Src, saturate: bool) {
        let (zero, m) = (self.float(0.0), dst.write_mask);
        let product = self.computed(Opcode::Mul, m, &[a, b]);
        let counts = self.both_factors_count(a, b, m);
        if self.options.has_cmp || self.options.native_integers {
            self.select_negative(dst, [negated(counts), product, zero], saturate);
            return;
        }
        // The product may be NaN where it does not count, and would make any sum NaN: clamp it, to 0 there and to
        // infinities elsewhere.
        let one = self.float(1.0);
        let rest = self.computed(Opcode::Add, m, &[one, negated(counts)]);
        let inverse = self.temp();
        for channel in (0..4u8).filter(|c| m & 1 << c != 0) {
            self.emit(Opcode::Rcp, Dst::new(inverse).masked(1 << channel), &[rest.swizzled([channel; 4])]);
        }
        let most = self.computed(Opcode::Add, m, &[Src::new(inverse), negated(one)]);
        let least = self.computed(Opcode::Add, m, &[one, negated(Src::new(inverse))]);
        // Of two zeros the first one is returned, which is not negative.
        let above = self.computed(Opcode::Max, m, &[least, product]);
        self.emit_saturated(Opcode::Min, dst, &[most, above], saturate);
    }

    /// The square root without `SQRT`: the reciprocal of the reciprocal root, which is also correct for zero and
    /// infinity.
    fn emit_square_root(&mut self, dst: Dst, src: Src, saturate: bool) {
        let root = self.computed(Opcode::Rsq, 1, &[src]);
        self.emit_saturated(Opcode::Rcp, dst, &[root.swizzled([0; 4])], saturate);
    }

    /// `UDIV`, `UMOD` and `MOD` by zero give all ones, the IR gives 0; and the IR's `imod` takes the divisor's sign.
    pub(super) fn select_division(&mut self, def: Def, op: AluOp, sources: &Sources) -> Result<(), DriverError> {
        let (dst, _) = self.alu_destination(def);
        let (a, b) = (operand(&sources[0]), operand(&sources[1]));
        let opcode = match op {
            AluOp::Udiv => Opcode::Udiv,
            AluOp::Umod => Opcode::Umod,
            _ => Opcode::Mod,
        };
        let never_zero = crate::machine::operands::immediate_words(&self.program.constants, &b)
            .is_some_and(|words| (0..4).all(|c| dst.write_mask & 1 << c == 0 || words[c] != 0));
        if never_zero && op != AluOp::Imod {
            self.emit(opcode, dst, &[a, b]);
            return Ok(());
        }
        let m = dst.write_mask;
        let mut result = self.computed(opcode, m, &[a, b]);
        let zero = self.word(0);
        if op == AluOp::Imod {
            // remainder + divisor where the remainder is not 0 and the signs differ.
            let sum = self.computed(Opcode::Uadd, m, &[result, b]);
            let sign = self.computed(Opcode::Xor, m, &[result, b]);
            let negative = self.computed(Opcode::Islt, m, &[sign, zero]);
            let adjust = self.computed(Opcode::Ucmp, m, &[result, negative, zero]);
            result = self.computed(Opcode::Ucmp, m, &[adjust, sum, result]);
        }
        self.emit(Opcode::Ucmp, dst, &[b, result, zero]);
        Ok(())
    }
}

/// Whether the operands are three different temporaries.
fn are_different_temporaries([a, b, c]: &[Src; 3]) -> bool {
    let is_temporary = |src: &Src| src.register.file == File::Temporary;
    let differ = |a: &Src, b: &Src| a.register != b.register;
    [a, b, c].into_iter().all(is_temporary) && differ(a, b) && differ(b, c) && differ(a, c)
}
