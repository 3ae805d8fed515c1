//! ALU opcodes with 64-bit operands or results as machine code: a value is two vectors of two lanes.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F32X4, F64X2, I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::FunctionBuilder;
use tgsi_ir::alu::AluOp;

use super::rules::{Lanes, flags};

/// Four lanes of an operand.
#[derive(Clone, Copy)]
pub(super) enum Operand {
    /// `i32x4`.
    Word(Value),
    /// Two of `i64x2`: lanes 0 and 1, lanes 2 and 3.
    Wide([Value; 2]),
}

/// Emits code for an opcode; `None` if an operand has the wrong size.
pub(super) type WideRule = fn(&mut Lanes<'_, '_>, &[Operand]) -> Option<Operand>;

impl Lanes<'_, '_> {
    /// Builds 64-bit lanes from their low and high words.
    pub fn join(&mut self, low: Value, high: Value) -> [Value; 2] {
        [[0, 4, 1, 5], [2, 6, 3, 7]].map(|lanes| {
            let words = self.shuffle_two(low, high, lanes);
            self.builder.ins().bitcast(I64X2, flags(), words)
        })
    }

    /// Splits 64-bit lanes into low and high words.
    pub fn split(&mut self, value: [Value; 2]) -> [Value; 2] {
        let [a, b] = value.map(|half| self.builder.ins().bitcast(I32X4, flags(), half));
        [[0, 2, 4, 6], [1, 3, 5, 7]].map(|lanes| self.shuffle_two(a, b, lanes))
    }

    /// Emits the same 64 bits in both lanes.
    fn splat_wide(&mut self, bits: u64) -> Value {
        let bytes: Vec<u8> = (0..2).flat_map(|_| bits.to_le_bytes()).collect();
        let constant = self.builder.func.dfg.constants.insert(bytes.into());
        self.builder.ins().vconst(I64X2, constant)
    }

    fn as_floats(&mut self, value: Value) -> Value {
        self.builder.ins().bitcast(F64X2, flags(), value)
    }

    fn as_words(&mut self, value: Value) -> Value {
        self.builder.ins().bitcast(I64X2, flags(), value)
    }
}

fn wide(operand: &Operand) -> Option<[Value; 2]> {
    match *operand {
        Operand::Wide(halves) => Some(halves),
        Operand::Word(_) => None,
    }
}

fn word(operand: &Operand) -> Option<Value> {
    match *operand {
        Operand::Word(value) => Some(value),
        Operand::Wide(_) => None,
    }
}

fn unary(
    lanes: &mut Lanes<'_, '_>,
    o: &[Operand],
    make: impl Fn(&mut FunctionBuilder<'_>, Value) -> Value,
) -> Option<Operand> {
    let value = wide(o.first()?)?.map(|half| {
        let value = lanes.as_floats(half);
        let result = make(lanes.builder, value);
        lanes.as_words(result)
    });
    Some(Operand::Wide(value))
}

fn binary(
    lanes: &mut Lanes<'_, '_>,
    o: &[Operand],
    make: impl Fn(&mut FunctionBuilder<'_>, Value, Value) -> Value,
) -> Option<Operand> {
    let (a, b) = (wide(o.first()?)?, wide(o.get(1)?)?);
    let value = [0, 1].map(|half| {
        let (a, b) = (lanes.as_floats(a[half]), lanes.as_floats(b[half]));
        let result = make(lanes.builder, a, b);
        lanes.as_words(result)
    });
    Some(Operand::Wide(value))
}

/// Emits products and sums that are rounded once, on processors with that instruction.
pub(super) fn fma(lanes: &mut Lanes<'_, '_>, o: &[Operand]) -> Option<Operand> {
    let [a, b, c] = [wide(o.first()?)?, wide(o.get(1)?)?, wide(o.get(2)?)?];
    let value = [0, 1].map(|half| {
        let [a, b, c] = [a, b, c].map(|halves| lanes.as_floats(halves[half]));
        let result = lanes.builder.ins().fma(a, b, c);
        lanes.as_words(result)
    });
    Some(Operand::Wide(value))
}

fn integers(
    lanes: &mut Lanes<'_, '_>,
    o: &[Operand],
    make: impl Fn(&mut FunctionBuilder<'_>, Value, Value) -> Value,
) -> Option<Operand> {
    let (a, b) = (wide(o.first()?)?, wide(o.get(1)?)?);
    Some(Operand::Wide([0, 1].map(|half| make(lanes.builder, a[half], b[half]))))
}

/// Converts the 64-bit masks of a comparison to 32 bits.
fn truth(lanes: &mut Lanes<'_, '_>, mask: [Value; 2]) -> Option<Operand> {
    Some(Operand::Word(lanes.split(mask)[0]))
}

fn compare(lanes: &mut Lanes<'_, '_>, o: &[Operand], condition: FloatCC) -> Option<Operand> {
    let (a, b) = (wide(o.first()?)?, wide(o.get(1)?)?);
    let mask = [0, 1].map(|half| {
        let (a, b) = (lanes.as_floats(a[half]), lanes.as_floats(b[half]));
        lanes.builder.ins().fcmp(condition, a, b)
    });
    truth(lanes, mask)
}

fn compare_integers(lanes: &mut Lanes<'_, '_>, o: &[Operand], condition: IntCC) -> Option<Operand> {
    let (a, b) = (wide(o.first()?)?, wide(o.get(1)?)?);
    let mask = [0, 1].map(|half| lanes.builder.ins().icmp(condition, a[half], b[half]));
    truth(lanes, mask)
}

/// Computes lane by lane with 64-bit scalars. The second operand may be words, which are zero-extended.
fn scalars(
    lanes: &mut Lanes<'_, '_>,
    o: &[Operand],
    make: impl Fn(&mut FunctionBuilder<'_>, Value, Value) -> Value,
) -> Option<Operand> {
    let a = wide(o.first()?)?;
    let mut result = a;
    for lane in 0..4u8 {
        let (half, at) = (usize::from(lane / 2), lane % 2);
        let first = lanes.builder.ins().extractlane(a[half], at);
        let second = match o.get(1) {
            Some(Operand::Wide(b)) => lanes.builder.ins().extractlane(b[half], at),
            Some(Operand::Word(b)) => {
                let word = lanes.builder.ins().extractlane(*b, lane);
                lanes.builder.ins().uextend(I64, word)
            }
            None => first,
        };
        let value = make(lanes.builder, first, second);
        result[half] = lanes.builder.ins().insertlane(result[half], value, at);
    }
    Some(Operand::Wide(result))
}

/// Converts each 64-bit lane to a word.
fn by_lane(
    lanes: &mut Lanes<'_, '_>,
    operand: &Operand,
    make: impl Fn(&mut FunctionBuilder<'_>, Value) -> Value,
) -> Option<Operand> {
    let halves = wide(operand)?;
    let mut result = lanes.splat(0);
    for lane in 0..4u8 {
        let value = lanes.builder.ins().extractlane(halves[usize::from(lane / 2)], lane % 2);
        let value = make(lanes.builder, value);
        result = lanes.builder.ins().insertlane(result, value, lane);
    }
    Some(Operand::Word(result))
}

/// Converts the first two lanes of a vector to a 64-bit vector, and the last two to another.
fn widen(
    lanes: &mut Lanes<'_, '_>,
    o: &[Operand],
    make: impl Fn(&mut FunctionBuilder<'_>, Value) -> Value,
) -> Option<Operand> {
    let value = word(o.first()?)?;
    let upper = lanes.shuffle(value, [2, 3, 2, 3]);
    let halves = [value, upper].map(|value| {
        let result = make(lanes.builder, value);
        lanes.as_words(result)
    });
    Some(Operand::Wide(halves))
}

/// Returns the translation of an opcode, and whether it computes floats; `None` if it is evaluated lane by lane.
pub(super) fn form(op: AluOp) -> Option<(WideRule, bool)> {
    use AluOp as A;
    use FloatCC as F;
    let float: WideRule = match op {
        A::Fneg => |l, o| unary(l, o, |b, a| b.ins().fneg(a)),
        A::Fabs => |l, o| unary(l, o, |b, a| b.ins().fabs(a)),
        A::Fsqrt => |l, o| unary(l, o, |b, a| b.ins().sqrt(a)),
        A::Ffloor => |l, o| unary(l, o, |b, a| b.ins().floor(a)),
        A::Fceil => |l, o| unary(l, o, |b, a| b.ins().ceil(a)),
        A::Ftrunc => |l, o| unary(l, o, |b, a| b.ins().trunc(a)),
        A::FroundEven => |l, o| unary(l, o, |b, a| b.ins().nearest(a)),
        A::Ffract => |l, o| {
            unary(l, o, |b, a| {
                let floor = b.ins().floor(a);
                b.ins().fsub(a, floor)
            })
        },
        A::Frcp => |l, o| {
            let one = l.splat_wide(1f64.to_bits());
            let one = l.as_floats(one);
            unary(l, o, |b, a| b.ins().fdiv(one, a))
        },
        A::Frsq => |l, o| {
            let one = l.splat_wide(1f64.to_bits());
            let one = l.as_floats(one);
            unary(l, o, |b, a| {
                let root = b.ins().sqrt(a);
                b.ins().fdiv(one, root)
            })
        },
        A::Fadd => |l, o| binary(l, o, |b, x, y| b.ins().fadd(x, y)),
        A::Fsub => |l, o| binary(l, o, |b, x, y| b.ins().fsub(x, y)),
        A::Fmul => |l, o| binary(l, o, |b, x, y| b.ins().fmul(x, y)),
        A::Fdiv => |l, o| binary(l, o, |b, x, y| b.ins().fdiv(x, y)),
        A::Flt32 => |l, o| compare(l, o, F::LessThan),
        A::Fge32 => |l, o| compare(l, o, F::GreaterThanOrEqual),
        A::Feq32 => |l, o| compare(l, o, F::Equal),
        A::Fneu32 => |l, o| compare(l, o, F::NotEqual),
        A::F2f64 => |l, o| {
            widen(l, o, |b, value| {
                let value = b.ins().bitcast(F32X4, flags(), value);
                b.ins().fvpromote_low(value)
            })
        },
        A::F2f32 => |l, o| {
            let [a, b] = wide(o.first()?)?.map(|half| {
                let value = l.as_floats(half);
                let value = l.builder.ins().fvdemote(value);
                l.builder.ins().bitcast(I32X4, flags(), value)
            });
            Some(Operand::Word(l.shuffle_two(a, b, [0, 1, 4, 5])))
        },
        A::F2i32 => |l, o| {
            let floats = wide(o.first()?)?.map(|half| l.as_floats(half));
            by_lane(l, &Operand::Wide(floats), |b, value| b.ins().fcvt_to_sint_sat(I32, value))
        },
        A::F2u32 => |l, o| {
            let floats = wide(o.first()?)?.map(|half| l.as_floats(half));
            by_lane(l, &Operand::Wide(floats), |b, value| b.ins().fcvt_to_uint_sat(I32, value))
        },
        A::I2f32 => |l, o| {
            by_lane(l, o.first()?, |b, value| {
                let value = b.ins().fcvt_from_sint(F32, value);
                b.ins().bitcast(I32, flags(), value)
            })
        },
        A::U2f32 => |l, o| {
            by_lane(l, o.first()?, |b, value| {
                let value = b.ins().fcvt_from_uint(F32, value);
                b.ins().bitcast(I32, flags(), value)
            })
        },
        A::I2f64 => |l, o| {
            widen(l, o, |b, value| {
                let value = b.ins().swiden_low(value);
                b.ins().fcvt_from_sint(F64X2, value)
            })
        },
        A::U2f64 => |l, o| {
            widen(l, o, |b, value| {
                let value = b.ins().uwiden_low(value);
                b.ins().fcvt_from_uint(F64X2, value)
            })
        },
        _ => return integer_form(op).map(|rule| (rule, false)),
    };
    Some((float, true))
}

fn integer_form(op: AluOp) -> Option<WideRule> {
    use AluOp as A;
    use IntCC as I;
    Some(match op {
        A::Iadd => |l, o| integers(l, o, |b, x, y| b.ins().iadd(x, y)),
        A::Isub => |l, o| integers(l, o, |b, x, y| b.ins().isub(x, y)),
        A::Iand => |l, o| integers(l, o, |b, x, y| b.ins().band(x, y)),
        A::Ior => |l, o| integers(l, o, |b, x, y| b.ins().bor(x, y)),
        A::Ixor => |l, o| integers(l, o, |b, x, y| b.ins().bxor(x, y)),
        A::Ineg => |l, o| Some(Operand::Wide(wide(o.first()?)?.map(|half| l.builder.ins().ineg(half)))),
        A::Inot => |l, o| Some(Operand::Wide(wide(o.first()?)?.map(|half| l.builder.ins().bnot(half)))),
        A::Ieq32 => |l, o| compare_integers(l, o, I::Equal),
        A::Ine32 => |l, o| compare_integers(l, o, I::NotEqual),
        A::Ilt32 => |l, o| compare_integers(l, o, I::SignedLessThan),
        A::Ige32 => |l, o| compare_integers(l, o, I::SignedGreaterThanOrEqual),
        A::Ult32 => |l, o| compare_integers(l, o, I::UnsignedLessThan),
        A::Uge32 => |l, o| compare_integers(l, o, I::UnsignedGreaterThanOrEqual),
        A::B32csel => |l, o| {
            let condition = word(o.first()?)?;
            let condition = l.is_set(condition);
            let (a, b) = (wide(o.get(1)?)?, wide(o.get(2)?)?);
            let mask = l.join(condition, condition);
            Some(Operand::Wide([0, 1].map(|half| l.select(mask[half], a[half], b[half]))))
        },
        A::Imul => |l, o| scalars(l, o, |b, x, y| b.ins().imul(x, y)),
        A::Ishl => |l, o| scalars(l, o, |b, x, count| b.ins().ishl(x, count)),
        A::Ishr => |l, o| scalars(l, o, |b, x, count| b.ins().sshr(x, count)),
        A::Ushr => |l, o| scalars(l, o, |b, x, count| b.ins().ushr(x, count)),
        A::Iabs => |l, o| {
            scalars(l, o, |b, x, _| {
                let negated = b.ins().ineg(x);
                let is_negative = b.ins().icmp_imm(I::SignedLessThan, x, 0);
                b.ins().select(is_negative, negated, x)
            })
        },
        A::UfindMsb => |l, o| {
            by_lane(l, o.first()?, |b, value| {
                let zeros = b.ins().clz(value);
                let index = b.ins().irsub_imm(zeros, 63);
                b.ins().ireduce(I32, index)
            })
        },
        A::U2u64 => |l, o| {
            let (low, zero) = (word(o.first()?)?, l.splat(0));
            Some(Operand::Wide(l.join(low, zero)))
        },
        A::I2i64 => |l, o| {
            let low = word(o.first()?)?;
            let count = l.builder.ins().iconst(I32, 31);
            let high = l.builder.ins().sshr(low, count);
            Some(Operand::Wide(l.join(low, high)))
        },
        _ => return None,
    })
}

/// Emits a shift of 64-bit lanes by a constant, if the opcode is a shift.
pub(super) fn shift_by_constant(lanes: &mut Lanes<'_, '_>, op: AluOp, value: &Operand, count: u32) -> Option<Operand> {
    let make: fn(&mut FunctionBuilder<'_>, Value, Value) -> Value = match op {
        AluOp::Ishl => |builder, half, count| builder.ins().ishl(half, count),
        AluOp::Ushr => |builder, half, count| builder.ins().ushr(half, count),
        AluOp::Ishr => |builder, half, count| builder.ins().sshr(half, count),
        _ => return None,
    };
    let halves = wide(value)?;
    let count = lanes.builder.ins().iconst(I64, i64::from(count & 63));
    Some(Operand::Wide(halves.map(|half| make(lanes.builder, half, count))))
}
