//! ALU opcodes as machine code: a value is four 32-bit lanes of type `i32x4`.
//!
//! The rules have the results of [`tgsi_ir::alu::evaluate`], bit for bit except for the payload of NaN. Opcodes without
//! a rule are evaluated lane by lane by a call; see [`crate::native::runtime::calls`].

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32X4, I8X16, I32, I32X4, I64};
use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlags, Value};
use cranelift_frontend::FunctionBuilder;
use tgsi_ir::alu::AluOp;

use crate::native::runtime::calls::Function;

/// Emits code for an opcode from its operands.
pub(super) type Rule = fn(&mut Lanes<'_, '_>, &[Value]) -> Value;

/// The translation of an opcode.
#[derive(Clone, Copy)]
pub(super) enum OpcodeRule {
    /// A rule for 32-bit operands.
    Rule(Rule),
    /// The same for floats; valid unless the execution mode flushes denormals or rounds toward zero.
    Float(Rule),
    /// A library function called for each lane, under the same condition.
    Call(Function),
}

/// Emits code for operations on four lanes.
pub(super) struct Lanes<'b, 'f> {
    pub builder: &'b mut FunctionBuilder<'f>,
}

/// Returns the flags for bitcasts between vectors with different lanes.
pub(super) fn flags() -> MemFlags {
    MemFlags::new().with_endianness(Endianness::Little)
}

impl Lanes<'_, '_> {
    fn float(&mut self, value: Value) -> Value {
        self.builder.ins().bitcast(F32X4, flags(), value)
    }

    fn word(&mut self, value: Value) -> Value {
        self.builder.ins().bitcast(I32X4, flags(), value)
    }

    /// Emits the same word in all lanes.
    pub fn splat(&mut self, word: u32) -> Value {
        let bytes: Vec<u8> = (0..4).flat_map(|_| word.to_le_bytes()).collect();
        let constant = self.builder.func.dfg.constants.insert(bytes.into());
        self.builder.ins().vconst(I32X4, constant)
    }

    fn splat_float(&mut self, value: f32) -> Value {
        let words = self.splat(value.to_bits());
        self.float(words)
    }

    fn binary(&mut self, operands: &[Value], make: impl Fn(&mut FunctionBuilder<'_>, Value, Value) -> Value) -> Value {
        let (a, b) = (self.float(operands[0]), self.float(operands[1]));
        let result = make(self.builder, a, b);
        self.word(result)
    }

    fn unary(&mut self, operands: &[Value], make: impl Fn(&mut FunctionBuilder<'_>, Value) -> Value) -> Value {
        let a = self.float(operands[0]);
        let result = make(self.builder, a);
        self.word(result)
    }

    /// Emits all ones where a comparison of floats holds.
    fn compare(&mut self, condition: FloatCC, operands: &[Value]) -> Value {
        let (a, b) = (self.float(operands[0]), self.float(operands[1]));
        self.builder.ins().fcmp(condition, a, b)
    }

    fn compare_words(&mut self, condition: IntCC, operands: &[Value]) -> Value {
        self.builder.ins().icmp(condition, operands[0], operands[1])
    }

    /// Emits all ones where a word is not 0.
    pub fn is_set(&mut self, value: Value) -> Value {
        let zero = self.splat(0);
        self.builder.ins().icmp(IntCC::NotEqual, value, zero)
    }

    /// Emits `a` where a mask of all ones or zeros is set, else `b`.
    pub fn select(&mut self, mask: Value, a: Value, b: Value) -> Value {
        self.builder.ins().bitselect(mask, a, b)
    }

    /// Emits a float where a mask is set, else +0.
    fn where_set(&mut self, mask: Value, value: f32) -> Value {
        let one = self.splat(value.to_bits());
        self.builder.ins().band(mask, one)
    }

    /// Emits the smaller (with `FloatCC::LessThan`) or larger of two numbers; -0 is below +0.
    fn extreme(&mut self, condition: FloatCC, order: IntCC, operands: &[Value]) -> Value {
        let (a, b) = (operands[0], operands[1]);
        let better = self.compare(condition, operands);
        let no_number = self.compare(FloatCC::Unordered, &[b, b]);
        let equal = self.compare(FloatCC::Equal, operands);
        let by_sign = self.compare_words(order, operands);
        let tie = self.builder.ins().band(equal, by_sign);
        let mask = self.builder.ins().bor(better, no_number);
        let mask = self.builder.ins().bor(mask, tie);
        self.select(mask, a, b)
    }

    /// Clamps to 0..1; NaN becomes +0.
    pub fn saturate(&mut self, value: Value) -> Value {
        let (zero, one) = (self.splat(0), self.splat(1f32.to_bits()));
        let above = self.compare(FloatCC::GreaterThan, &[value, zero]);
        let value = self.builder.ins().band(above, value);
        let below = self.compare(FloatCC::LessThan, &[value, one]);
        self.select(below, value, one)
    }

    /// Emits an operation lane by lane with scalars.
    fn by_lane(&mut self, operands: &[Value], make: fn(&mut FunctionBuilder<'_>, Value, Value) -> Value) -> Value {
        let mut result = operands[0];
        let second = operands.last().copied().unwrap_or(operands[0]);
        for lane in 0..4 {
            let a = self.builder.ins().extractlane(operands[0], lane);
            let b = self.builder.ins().extractlane(second, lane);
            let value = make(self.builder, a, b);
            result = self.builder.ins().insertlane(result, value, lane);
        }
        result
    }

    /// Permutes the lanes of a vector.
    pub fn shuffle(&mut self, value: Value, lanes: [u8; 4]) -> Value {
        let bytes = self.builder.ins().bitcast(I8X16, flags(), value);
        let mask: Vec<u8> = lanes.iter().flat_map(|&lane| (0..4).map(move |byte| lane * 4 + byte)).collect();
        let mask = self.builder.func.dfg.immediates.push(mask.into());
        let shuffled = self.builder.ins().shuffle(bytes, bytes, mask);
        self.word(shuffled)
    }

    /// Permutes the lanes of two vectors of words: 0 to 3 are those of `a`, 4 to 7 those of `b`.
    pub fn shuffle_two(&mut self, a: Value, b: Value, lanes: [u8; 4]) -> Value {
        let (a, b) = (self.builder.ins().bitcast(I8X16, flags(), a), self.builder.ins().bitcast(I8X16, flags(), b));
        let mask: Vec<u8> = lanes.iter().flat_map(|&lane| (0..4).map(move |byte| lane * 4 + byte)).collect();
        let mask = self.builder.func.dfg.immediates.push(mask.into());
        let shuffled = self.builder.ins().shuffle(a, b, mask);
        self.builder.ins().bitcast(I32X4, flags(), shuffled)
    }

    /// Transposes four rows.
    pub fn transpose(&mut self, [a, b, c, d]: [Value; 4]) -> [Value; 4] {
        const LOW: [u8; 4] = [0, 4, 1, 5];
        const HIGH: [u8; 4] = [2, 6, 3, 7];
        let pairs = [(a, b, LOW), (c, d, LOW), (a, b, HIGH), (c, d, HIGH)];
        let [ab_low, cd_low, ab_high, cd_high] = pairs.map(|(a, b, lanes)| self.shuffle_two(a, b, lanes));
        let columns = [(ab_low, cd_low, [0, 1, 4, 5]), (ab_low, cd_low, [2, 3, 6, 7])];
        let others = [(ab_high, cd_high, [0, 1, 4, 5]), (ab_high, cd_high, [2, 3, 6, 7])];
        let [x, y] = columns.map(|(a, b, lanes)| self.shuffle_two(a, b, lanes));
        let [z, w] = others.map(|(a, b, lanes)| self.shuffle_two(a, b, lanes));
        [x, y, z, w]
    }

    /// Emits the difference of two floats.
    pub fn difference(&mut self, a: Value, b: Value) -> Value {
        self.binary(&[a, b], |builder, a, b| builder.ins().fsub(a, b))
    }

    /// Emits a scalar in all lanes.
    pub fn splat_value(&mut self, value: Value) -> Value {
        debug_assert_eq!(self.builder.func.dfg.value_type(value), I32);
        self.builder.ins().splat(I32X4, value)
    }
}

fn fadd(lanes: &mut Lanes<'_, '_>, o: &[Value]) -> Value {
    lanes.binary(o, |builder, a, b| builder.ins().fadd(a, b))
}

fn fsub(lanes: &mut Lanes<'_, '_>, o: &[Value]) -> Value {
    lanes.binary(o, |builder, a, b| builder.ins().fsub(a, b))
}

fn fmul(lanes: &mut Lanes<'_, '_>, o: &[Value]) -> Value {
    lanes.binary(o, |builder, a, b| builder.ins().fmul(a, b))
}

/// Emits a product and a sum that are rounded once, on processors with that instruction.
pub(super) fn fma(lanes: &mut Lanes<'_, '_>, o: &[Value]) -> Value {
    let [a, b, c] = [0, 1, 2].map(|operand| lanes.float(o[operand]));
    let result = lanes.builder.ins().fma(a, b, c);
    lanes.word(result)
}

fn negated(lanes: &mut Lanes<'_, '_>, condition: FloatCC, o: &[Value]) -> Value {
    let mask = lanes.compare(condition, o);
    lanes.builder.ins().bnot(mask)
}

/// Returns the translation of an opcode with 32-bit operands and result; `None` if it is evaluated lane by lane.
pub(super) fn form(op: AluOp) -> Option<OpcodeRule> {
    use AluOp as A;
    use FloatCC as F;
    use OpcodeRule::{Call, Float, Rule};
    Some(match op {
        A::Mov => Rule(|_, o| o[0]),
        A::Fneg => Rule(|l, o| {
            let sign = l.splat(0x8000_0000);
            l.builder.ins().bxor(o[0], sign)
        }),
        A::Fabs => Rule(|l, o| {
            let rest = l.splat(0x7fff_ffff);
            l.builder.ins().band(o[0], rest)
        }),
        A::Fsat => Float(|l, o| l.saturate(o[0])),
        A::FclampPos => Float(|l, o| {
            let zero = l.splat(0);
            let above = l.compare(F::GreaterThan, &[o[0], zero]);
            l.builder.ins().band(above, o[0])
        }),
        A::Fsign => Float(|l, o| {
            let zero = l.splat(0);
            let above = l.compare(F::GreaterThan, &[o[0], zero]);
            let below = l.compare(F::LessThan, &[o[0], zero]);
            let equal = l.compare(F::Equal, &[o[0], zero]);
            let (above, below) = (l.where_set(above, 1.0), l.where_set(below, -1.0));
            let zero = l.builder.ins().band(equal, o[0]);
            let result = l.builder.ins().bor(above, below);
            l.builder.ins().bor(result, zero)
        }),
        A::Frcp => Float(|l, o| {
            let one = l.splat_float(1.0);
            l.unary(o, |builder, a| builder.ins().fdiv(one, a))
        }),
        A::Frsq => Float(|l, o| {
            let one = l.splat_float(1.0);
            l.unary(o, |builder, a| {
                let root = builder.ins().sqrt(a);
                builder.ins().fdiv(one, root)
            })
        }),
        A::Fsqrt => Float(|l, o| l.unary(o, |builder, a| builder.ins().sqrt(a))),
        A::Fexp2 => Call(Function::Exp2),
        A::Flog2 => Call(Function::Log2),
        A::Fsin => Call(Function::Sin),
        A::Fcos => Call(Function::Cos),
        A::Fpow => Call(Function::Pow),
        A::Ftrunc => Float(|l, o| l.unary(o, |builder, a| builder.ins().trunc(a))),
        A::Fceil => Float(|l, o| l.unary(o, |builder, a| builder.ins().ceil(a))),
        A::Ffloor => Float(|l, o| l.unary(o, |builder, a| builder.ins().floor(a))),
        A::Ffract => Float(|l, o| {
            l.unary(o, |builder, a| {
                let floor = builder.ins().floor(a);
                builder.ins().fsub(a, floor)
            })
        }),
        A::FroundEven => Float(|l, o| l.unary(o, |builder, a| builder.ins().nearest(a))),
        A::Fadd => Float(fadd),
        A::Fsub => Float(fsub),
        A::Fmul => Float(fmul),
        A::Fdiv => Float(|l, o| l.binary(o, |builder, a, b| builder.ins().fdiv(a, b))),
        A::Fmulz => Float(|l, o| {
            let zero = l.splat(0);
            let product = fmul(l, o);
            let a = l.compare(F::Equal, &[o[0], zero]);
            let b = l.compare(F::Equal, &[o[1], zero]);
            let either = l.builder.ins().bor(a, b);
            l.builder.ins().band_not(product, either)
        }),
        A::Fmin => Float(|l, o| l.extreme(F::LessThan, IntCC::SignedLessThan, o)),
        A::Fmax => Float(|l, o| l.extreme(F::GreaterThan, IntCC::SignedGreaterThan, o)),
        A::Fmad => Float(|l, o| {
            let product = fmul(l, o);
            fadd(l, &[product, o[2]])
        }),
        A::FlrpMad => Float(|l, o| {
            let difference = fsub(l, &o[1..]);
            let product = fmul(l, &[o[0], difference]);
            fadd(l, &[product, o[2]])
        }),
        A::Flrp => Float(|l, o| {
            let one = l.splat(1f32.to_bits());
            let rest = fsub(l, &[one, o[2]]);
            let a = fmul(l, &[o[0], rest]);
            let b = fmul(l, &[o[1], o[2]]);
            fadd(l, &[a, b])
        }),
        A::Fcsel => Float(|l, o| {
            let zero = l.splat(0);
            let condition = l.compare(F::NotEqual, &[o[0], zero]);
            l.select(condition, o[1], o[2])
        }),
        A::Flt32 => Float(|l, o| l.compare(F::LessThan, o)),
        A::Fge32 => Float(|l, o| l.compare(F::GreaterThanOrEqual, o)),
        A::Feq32 => Float(|l, o| l.compare(F::Equal, o)),
        A::Fneu32 => Float(|l, o| l.compare(F::NotEqual, o)),
        A::Fltu32 => Float(|l, o| negated(l, F::GreaterThanOrEqual, o)),
        A::Fgeu32 => Float(|l, o| negated(l, F::LessThan, o)),
        A::Fequ32 => Float(|l, o| {
            let unordered = l.compare(F::Unordered, o);
            let equal = l.compare(F::Equal, o);
            l.builder.ins().bor(unordered, equal)
        }),
        A::Fneo32 => Float(|l, o| {
            let ordered = l.compare(F::Ordered, o);
            let different = l.compare(F::NotEqual, o);
            l.builder.ins().band(ordered, different)
        }),
        A::Funord32 => Float(|l, o| l.compare(F::Unordered, o)),
        A::Ford32 => Float(|l, o| l.compare(F::Ordered, o)),
        A::Slt => Float(|l, o| {
            let mask = l.compare(F::LessThan, o);
            l.where_set(mask, 1.0)
        }),
        A::Sge => Float(|l, o| {
            let mask = l.compare(F::GreaterThanOrEqual, o);
            l.where_set(mask, 1.0)
        }),
        A::Seq => Float(|l, o| {
            let mask = l.compare(F::Equal, o);
            l.where_set(mask, 1.0)
        }),
        A::Sne => Float(|l, o| {
            let mask = l.compare(F::NotEqual, o);
            l.where_set(mask, 1.0)
        }),
        A::Ilt32 => Rule(|l, o| l.compare_words(IntCC::SignedLessThan, o)),
        A::Ige32 => Rule(|l, o| l.compare_words(IntCC::SignedGreaterThanOrEqual, o)),
        A::Ieq32 => Rule(|l, o| l.compare_words(IntCC::Equal, o)),
        A::Ine32 => Rule(|l, o| l.compare_words(IntCC::NotEqual, o)),
        A::Ult32 => Rule(|l, o| l.compare_words(IntCC::UnsignedLessThan, o)),
        A::Uge32 => Rule(|l, o| l.compare_words(IntCC::UnsignedGreaterThanOrEqual, o)),
        A::B32csel => Rule(|l, o| {
            let condition = l.is_set(o[0]);
            l.select(condition, o[1], o[2])
        }),
        A::B2b32 => Rule(|l, o| l.is_set(o[0])),
        A::B2f32 => Rule(|l, o| {
            let mask = l.is_set(o[0]);
            l.where_set(mask, 1.0)
        }),
        A::B2i32 => Rule(|l, o| {
            let (mask, one) = (l.is_set(o[0]), l.splat(1));
            l.builder.ins().band(mask, one)
        }),
        A::Iadd => Rule(|l, o| l.builder.ins().iadd(o[0], o[1])),
        A::Isub => Rule(|l, o| l.builder.ins().isub(o[0], o[1])),
        A::Imul => Rule(|l, o| l.builder.ins().imul(o[0], o[1])),
        A::Ineg => Rule(|l, o| l.builder.ins().ineg(o[0])),
        A::Iabs => Rule(|l, o| l.builder.ins().iabs(o[0])),
        A::Inot => Rule(|l, o| l.builder.ins().bnot(o[0])),
        A::Iand => Rule(|l, o| l.builder.ins().band(o[0], o[1])),
        A::Ior => Rule(|l, o| l.builder.ins().bor(o[0], o[1])),
        A::Ixor => Rule(|l, o| l.builder.ins().bxor(o[0], o[1])),
        A::Imin => Rule(|l, o| l.builder.ins().smin(o[0], o[1])),
        A::Imax => Rule(|l, o| l.builder.ins().smax(o[0], o[1])),
        A::Umin => Rule(|l, o| l.builder.ins().umin(o[0], o[1])),
        A::Umax => Rule(|l, o| l.builder.ins().umax(o[0], o[1])),
        A::Ishl => Rule(|l, o| l.by_lane(o, |builder, a, count| builder.ins().ishl(a, count))),
        A::Ishr => Rule(|l, o| l.by_lane(o, |builder, a, count| builder.ins().sshr(a, count))),
        A::Ushr => Rule(|l, o| l.by_lane(o, |builder, a, count| builder.ins().ushr(a, count))),
        A::Udiv => Rule(|l, o| l.by_lane(o, |builder, a, b| divide(builder, a, b, true))),
        A::Umod => Rule(|l, o| l.by_lane(o, |builder, a, b| remainder(builder, a, b, false))),
        A::Idiv => Rule(|l, o| l.by_lane(o, |builder, a, b| divide(builder, a, b, false))),
        A::Irem => Rule(|l, o| l.by_lane(o, |builder, a, b| remainder(builder, a, b, true))),
        A::UmulHigh => Rule(|l, o| l.by_lane(o, |builder, a, b| builder.ins().umulhi(a, b))),
        A::ImulHigh => Rule(|l, o| l.by_lane(o, |builder, a, b| builder.ins().smulhi(a, b))),
        A::BitCount => Rule(|l, o| l.by_lane(o, |builder, a, _| builder.ins().popcnt(a))),
        A::UfindMsb => Rule(|l, o| {
            l.by_lane(o, |builder, a, _| {
                let zeros = builder.ins().clz(a);
                builder.ins().irsub_imm(zeros, 31)
            })
        }),
        A::Ubfe => Rule(|l, o| bitfield_extract(l, o, false)),
        A::Ibfe => Rule(|l, o| bitfield_extract(l, o, true)),
        A::Bfm => Rule(|l, o| {
            l.by_lane(o, |builder, width, offset| {
                let one = builder.ins().iconst(I32, 1);
                let bits = builder.ins().ishl(one, width);
                let bits = builder.ins().iadd_imm(bits, -1);
                builder.ins().ishl(bits, offset)
            })
        }),
        A::Bfi => Rule(|l, o| {
            // The second operand is shifted to the lowest set bit of the mask.
            let moved = l.by_lane(&[o[0], o[1]], |builder, mask, value| {
                let zeros = builder.ins().ctz(mask);
                builder.ins().ishl(value, zeros)
            });
            l.select(o[0], moved, o[2])
        }),
        A::Ffma => Call(Function::Fma),
        A::I2f32 => Float(|l, o| {
            let result = l.builder.ins().fcvt_from_sint(F32X4, o[0]);
            l.word(result)
        }),
        A::U2f32 => Float(|l, o| {
            let result = l.builder.ins().fcvt_from_uint(F32X4, o[0]);
            l.word(result)
        }),
        A::F2i32 => Float(|l, o| {
            let value = l.float(o[0]);
            l.builder.ins().fcvt_to_sint_sat(I32X4, value)
        }),
        A::F2u32 => Float(|l, o| {
            let value = l.float(o[0]);
            l.builder.ins().fcvt_to_uint_sat(I32X4, value)
        }),
        _ => return None,
    })
}

/// Extracts a bit field: the second operand is the offset, the third the width, both modulo 32. A field ends with the
/// word.
fn bitfield_extract(lanes: &mut Lanes<'_, '_>, o: &[Value], signed: bool) -> Value {
    let mut result = o[0];
    for lane in 0..4 {
        let [value, offset, width] = [0, 1, 2].map(|operand| lanes.builder.ins().extractlane(o[operand], lane));
        let builder = &mut *lanes.builder;
        let offset = builder.ins().band_imm(offset, 31);
        let width = builder.ins().band_imm(width, 31);
        let end = builder.ins().iadd(offset, width);
        let most = builder.ins().iconst(I32, 32);
        let end = builder.ins().umin(end, most);
        // Shifts to the top and down again, in 64 bits because the shift count may equal the width of the word.
        let value = builder.ins().uextend(I64, value);
        let up = builder.ins().irsub_imm(end, 64);
        let value = builder.ins().ishl(value, up);
        let width = builder.ins().isub(end, offset);
        let down = builder.ins().irsub_imm(width, 64);
        let value = if signed { builder.ins().sshr(value, down) } else { builder.ins().ushr(value, down) };
        let value = builder.ins().ireduce(I32, value);
        let empty = builder.ins().icmp_imm(IntCC::Equal, width, 0);
        let zero = builder.ins().iconst(I32, 0);
        let value = builder.ins().select(empty, zero, value);
        result = builder.ins().insertlane(result, value, lane);
    }
    result
}

/// Emits a quotient; 0 where the divisor is 0. The division cannot trap.
fn divide(builder: &mut FunctionBuilder<'_>, a: Value, b: Value, unsigned: bool) -> Value {
    let zero = builder.ins().iconst(I32, 0);
    let one = builder.ins().iconst(I32, 1);
    let by_zero = builder.ins().icmp_imm(IntCC::Equal, b, 0);
    let divisor = builder.ins().select(by_zero, one, b);
    if unsigned {
        let quotient = builder.ins().udiv(a, divisor);
        return builder.ins().select(by_zero, zero, quotient);
    }
    let by_minus_one = builder.ins().icmp_imm(IntCC::Equal, b, -1);
    let divisor = builder.ins().select(by_minus_one, one, divisor);
    let quotient = builder.ins().sdiv(a, divisor);
    let negated = builder.ins().ineg(a);
    let quotient = builder.ins().select(by_minus_one, negated, quotient);
    builder.ins().select(by_zero, zero, quotient)
}

/// Emits a remainder; 0 where the divisor is 0.
fn remainder(builder: &mut FunctionBuilder<'_>, a: Value, b: Value, signed: bool) -> Value {
    let one = builder.ins().iconst(I32, 1);
    // Replaces the divisor by 1, which leaves 0.
    let by_zero = builder.ins().icmp_imm(IntCC::Equal, b, 0);
    let divisor = builder.ins().select(by_zero, one, b);
    if !signed {
        return builder.ins().urem(a, divisor);
    }
    let by_minus_one = builder.ins().icmp_imm(IntCC::Equal, b, -1);
    let divisor = builder.ins().select(by_minus_one, one, divisor);
    builder.ins().srem(a, divisor)
}

/// Emits a shift of all lanes by a constant, if the opcode is a shift.
pub(super) fn shift_by_constant(lanes: &mut Lanes<'_, '_>, op: AluOp, value: Value, count: u32) -> Option<Value> {
    if !matches!(op, AluOp::Ishl | AluOp::Ishr | AluOp::Ushr) {
        return None;
    }
    let count = lanes.builder.ins().iconst(I32, i64::from(count & 31));
    Some(match op {
        AluOp::Ishl => lanes.builder.ins().ishl(value, count),
        AluOp::Ishr => lanes.builder.ins().sshr(value, count),
        _ => lanes.builder.ins().ushr(value, count),
    })
}

/// Emits a sum of products, the last component first.
pub(super) fn dot(lanes: &mut Lanes<'_, '_>, a: &[Value], b: &[Value]) -> Option<Value> {
    let mut sum = None;
    for (&a, &b) in a.iter().zip(b).rev() {
        let product = fmul(lanes, &[a, b]);
        sum = Some(match sum {
            Some(sum) => fadd(lanes, &[sum, product]),
            None => product,
        });
    }
    sum
}
