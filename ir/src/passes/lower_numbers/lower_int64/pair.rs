//! Emits arithmetic on pairs of words, the building blocks of all lowerings. All operations are modulo 2^64.

use crate::alu::AluOp;
use crate::entities::Def;
use crate::passes::lower_numbers::arithmetic::Arithmetic;

/// A 64-bit integer as two words.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub lo: Def,
    pub hi: Def,
}

impl Arithmetic<'_> {
    /// Returns the halves of a source of the instruction.
    pub(crate) fn pair(&mut self, source: usize) -> Pair {
        let value = self.source(source);
        self.split(value)
    }

    /// Returns the halves of a value.
    pub(crate) fn split(&mut self, value: Def) -> Pair {
        let lo = self.op(AluOp::Unpack642x32SplitX, &[value]);
        Pair { lo, hi: self.op(AluOp::Unpack642x32SplitY, &[value]) }
    }

    /// Returns the value with these halves.
    pub(crate) fn join(&mut self, pair: Pair) -> Def {
        self.op(AluOp::Pack642x32Split, &[pair.lo, pair.hi])
    }

    /// Emits an operation on each half.
    pub(crate) fn each64(&mut self, op: AluOp, a: Pair, b: Pair) -> Pair {
        Pair { lo: self.op(op, &[a.lo, b.lo]), hi: self.op(op, &[a.hi, b.hi]) }
    }

    /// `condition ? a : b`
    pub(crate) fn select64(&mut self, condition: Def, a: Pair, b: Pair) -> Pair {
        Pair { lo: self.bcsel(condition, a.lo, b.lo), hi: self.bcsel(condition, a.hi, b.hi) }
    }

    /// Returns a word with the bits in which the numbers differ, combined from both halves.
    pub(crate) fn difference(&mut self, a: Pair, b: Pair) -> Def {
        let bits = self.each64(AluOp::Ixor, a, b);
        self.ior(bits.lo, bits.hi)
    }

    pub(crate) fn add64(&mut self, a: Pair, b: Pair) -> Pair {
        let lo = self.iadd(a.lo, b.lo);
        let overflows = self.ult(lo, a.lo);
        let carry = self.b2i32(overflows);
        let hi = self.iadd(a.hi, b.hi);
        Pair { lo, hi: self.iadd(hi, carry) }
    }

    /// Emits the sum with an unsigned word.
    pub(crate) fn add_word64(&mut self, a: Pair, word: Def) -> Pair {
        let lo = self.iadd(a.lo, word);
        let overflows = self.ult(lo, word);
        let carry = self.b2i32(overflows);
        Pair { lo, hi: self.iadd(a.hi, carry) }
    }

    pub(crate) fn sub64(&mut self, a: Pair, b: Pair) -> Pair {
        let lo = self.isub(a.lo, b.lo);
        let overflows = self.ult(a.lo, b.lo);
        let borrow = self.b2i32(overflows);
        let hi = self.isub(a.hi, b.hi);
        Pair { lo, hi: self.isub(hi, borrow) }
    }

    pub(crate) fn neg64(&mut self, a: Pair) -> Pair {
        let zero = self.int(0);
        self.sub64(Pair { lo: zero, hi: zero }, a)
    }

    pub(crate) fn abs64(&mut self, a: Pair) -> Pair {
        let is_negative = self.is_negative(a.hi);
        let negated = self.neg64(a);
        self.select64(is_negative, negated, a)
    }

    /// Returns the low half of the product.
    pub(crate) fn mul64(&mut self, a: Pair, b: Pair) -> Pair {
        let lo = self.imul(a.lo, b.lo);
        let high = self.umul_high(a.lo, b.lo);
        let first = self.imul(a.lo, b.hi);
        let second = self.imul(a.hi, b.lo);
        let crossed = self.iadd(first, second);
        Pair { lo, hi: self.iadd(high, crossed) }
    }

    /// Returns the high half of the product of unsigned numbers.
    pub(crate) fn umul_high64(&mut self, a: Pair, b: Pair) -> Pair {
        // The second word of the product: three summands, of which only the carries are kept.
        let zero = self.int(0);
        let low = self.umul_high(a.lo, b.lo);
        let second = Pair { lo: low, hi: zero };
        let part = self.imul(a.lo, b.hi);
        let second = self.add_word64(second, part);
        let part = self.imul(a.hi, b.lo);
        let second = self.add_word64(second, part);
        // The third and the fourth word.
        let mut high = Pair { lo: self.imul(a.hi, b.hi), hi: self.umul_high(a.hi, b.hi) };
        let parts = [self.umul_high(a.lo, b.hi), self.umul_high(a.hi, b.lo), second.hi];
        for part in parts {
            high = self.add_word64(high, part);
        }
        high
    }

    /// Converts the high half of an unsigned product to that of the signed product of the same bits: a negative number
    /// contributed 2^64 too much.
    pub(crate) fn signed_high64(&mut self, a: Pair, b: Pair, mut high: Pair) -> Pair {
        let zero = self.int(0);
        for (factor, other) in [(a, b), (b, a)] {
            let is_negative = self.is_negative(factor.hi);
            let surplus = self.select64(is_negative, other, Pair { lo: zero, hi: zero });
            high = self.sub64(high, surplus);
        }
        high
    }

    /// Returns whether a shift count reaches into the other half. Counts are modulo 64.
    pub(crate) fn is_high(&mut self, count: Def) -> Def {
        let bit = self.iand_imm(count, 32);
        let zero = self.int(0);
        self.ine(bit, zero)
    }

    pub(crate) fn shl64(&mut self, a: Pair, count: Def) -> Pair {
        // Shifts of words use the count modulo 32. The bits for the other half are shifted by 1 and by 31 - count, as a
        // shift by 32 - 0 would be no shift at all.
        let complement = self.inot(count);
        let lo = self.ishl(a.lo, count);
        let hi = self.ishl(a.hi, count);
        let over = self.ushr_imm(a.lo, 1);
        let over = self.ushr(over, complement);
        let hi = self.ior(hi, over);
        let is_high = self.is_high(count);
        let zero = self.int(0);
        self.select64(is_high, Pair { lo: zero, hi: lo }, Pair { lo, hi })
    }

    pub(crate) fn shr64(&mut self, a: Pair, count: Def, is_signed: bool) -> Pair {
        let complement = self.inot(count);
        let lo = self.ushr(a.lo, count);
        let hi = if is_signed { self.ishr(a.hi, count) } else { self.ushr(a.hi, count) };
        let over = self.ishl_imm(a.hi, 1);
        let over = self.ishl(over, complement);
        let lo = self.ior(lo, over);
        let is_high = self.is_high(count);
        let filler = if is_signed { self.ishr_imm(a.hi, 31) } else { self.int(0) };
        self.select64(is_high, Pair { lo: hi, hi: filler }, Pair { lo, hi })
    }

    pub(crate) fn ult64(&mut self, a: Pair, b: Pair) -> Def {
        self.less64(AluOp::Ult, a, b)
    }

    pub(crate) fn ilt64(&mut self, a: Pair, b: Pair) -> Def {
        self.less64(AluOp::Ilt, a, b)
    }

    fn less64(&mut self, op: AluOp, a: Pair, b: Pair) -> Def {
        let high = self.op(op, &[a.hi, b.hi]);
        let same = self.ieq(a.hi, b.hi);
        let low = self.ult(a.lo, b.lo);
        let low = self.iand(same, low);
        self.ior(high, low)
    }

    /// Returns the number of the highest bit, -1 for 0.
    pub(crate) fn find_msb64(&mut self, a: Pair) -> Def {
        let (lo, hi) = (self.op(AluOp::UfindMsb, &[a.lo]), self.op(AluOp::UfindMsb, &[a.hi]));
        let is_low = self.is_negative(hi);
        let beyond = self.iadd_imm(hi, 32);
        self.bcsel(is_low, lo, beyond)
    }
}
