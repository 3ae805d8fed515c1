//! Ranges of 32-bit integers: the minimum and maximum value, as signed numbers.
//!
//! A range is computed on demand from a few of the instructions that define a value. It holds for all values from
//! outside, so an index with a range within an array is in bounds wherever it is computed.

use crate::alu::AluOp;
use crate::body::{Body, InstData};
use crate::entities::{Def, Inst};

/// Maximum number of instructions visited for one range.
const MAX_INSTS: u32 = 24;

/// Inclusive bounds of a 32-bit number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntegerRange {
    /// The least value.
    pub low: i64,
    /// The greatest value.
    pub high: i64,
}

impl IntegerRange {
    /// Any 32-bit number.
    pub const ANY: IntegerRange = IntegerRange { low: i32::MIN as i64, high: i32::MAX as i64 };

    fn new(low: i64, high: i64) -> IntegerRange {
        let fits = low <= high && low >= IntegerRange::ANY.low && high <= IntegerRange::ANY.high;
        if fits { IntegerRange { low, high } } else { IntegerRange::ANY }
    }

    /// The range as unsigned numbers; `None` if it may include negative numbers.
    fn unsigned(self) -> Option<(i64, i64)> {
        (self.low >= 0).then_some((self.low, self.high))
    }

    fn or(self, other: IntegerRange) -> IntegerRange {
        IntegerRange { low: self.low.min(other.low), high: self.high.max(other.high) }
    }
}

/// Range of a component of a value.
pub fn integer_range(body: &Body, def: Def, component: usize) -> IntegerRange {
    if body.bit_size(def) != 32 {
        return IntegerRange::ANY;
    }
    Ranges { body, left: MAX_INSTS }.of(def, component)
}

struct Ranges<'a> {
    body: &'a Body,
    /// Remaining number of instructions to visit. It also bounds the recursion depth.
    left: u32,
}

impl Ranges<'_> {
    fn of(&mut self, def: Def, component: usize) -> IntegerRange {
        // Constants are cheap and typical operands of masks and limits, so they do not count.
        if let Some(word) = self.body.constant_component(def, component) {
            let value = i64::from(word as u32 as i32);
            return IntegerRange::new(value, value);
        }
        let Some(left) = self.left.checked_sub(1) else { return IntegerRange::ANY };
        self.left = left;
        let inst = self.body.def_inst(def);
        match *self.body.inst(inst) {
            InstData::Alu { op, .. } => self.of_alu(inst, op, component),
            InstData::Phi => {
                let mut values = self.body.sources(inst).map(|source| self.body.src_def(source)).filter(|&v| v != def);
                let Some(first) = values.next() else { return IntegerRange::ANY };
                let first = self.of(first, component);
                values.fold(
                    first,
                    |range, value| {
                        if range == IntegerRange::ANY { range } else { range.or(self.of(value, component)) }
                    },
                )
            }
            _ => IntegerRange::ANY,
        }
    }

    fn operand(&mut self, inst: Inst, number: usize, component: usize) -> IntegerRange {
        let source = self.body.source(inst, number);
        let def = self.body.src_def(source);
        if self.body.bit_size(def) != 32 {
            return IntegerRange::ANY;
        }
        self.of(def, usize::from(self.body.swizzle(source).get(component)))
    }

    fn of_alu(&mut self, inst: Inst, op: AluOp, component: usize) -> IntegerRange {
        use AluOp as O;
        if op == O::Mov {
            return self.operand(inst, 0, component);
        }
        if op.is_vec_or_mov() {
            return self.operand(inst, component, 0);
        }
        match op {
            O::B2i32 => IntegerRange::new(0, 1),
            O::Bcsel => self.operand(inst, 1, component).or(self.operand(inst, 2, component)),
            O::Iadd
            | O::Isub
            | O::Imul
            | O::Iand
            | O::Imin
            | O::Imax
            | O::Umin
            | O::Umax
            | O::Ishl
            | O::Ushr
            | O::Ishr
            | O::Umod
            | O::Udiv => {
                let (a, b) = (self.operand(inst, 0, component), self.operand(inst, 1, component));
                of_operation(op, a, b)
            }
            _ => IntegerRange::ANY,
        }
    }
}

fn of_operation(op: AluOp, a: IntegerRange, b: IntegerRange) -> IntegerRange {
    use AluOp as O;
    let (range, any) = (IntegerRange::new, IntegerRange::ANY);
    match op {
        O::Iadd => range(a.low + b.low, a.high + b.high),
        O::Isub => range(a.low - b.high, a.high - b.low),
        O::Imin => range(a.low.min(b.low), a.high.min(b.high)),
        O::Imax => range(a.low.max(b.low), a.high.max(b.high)),
        _ => match (op, a.unsigned(), b.unsigned()) {
            (O::Imul, Some(a), Some(b)) => range(a.0.saturating_mul(b.0), a.1.saturating_mul(b.1)),
            (O::Iand | O::Umin, Some(a), Some(b)) => range(if op == O::Iand { 0 } else { a.0.min(b.0) }, a.1.min(b.1)),
            // The other operand may be any number.
            (O::Iand | O::Umin, Some(a), None) => range(0, a.1),
            (O::Iand | O::Umin, None, Some(b)) => range(0, b.1),
            (O::Umax, Some(a), Some(b)) => range(a.0.max(b.0), a.1.max(b.1)),
            (O::Ishl, Some(a), Some(b)) if b.1 < 32 => range(a.0 << b.0, a.1 << b.1),
            (O::Ushr | O::Ishr, Some(a), Some(b)) if b.1 < 32 => range(a.0 >> b.1, a.1 >> b.0),
            (O::Ushr, None, Some(b)) if b.0 > 0 && b.1 < 32 => range(0, i64::from(u32::MAX) >> b.0),
            (O::Udiv, Some(a), Some(b)) if b.0 > 0 => range(a.0 / b.1, a.1 / b.0),
            (O::Udiv, None, Some(b)) if b.0 > 1 => range(0, i64::from(u32::MAX) / b.0),
            (O::Umod, _, Some(b)) if b.0 > 0 => range(0, b.1 - 1),
            _ => any,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tgsi_environment::Random;

    /// Bounds near the values that operations treat specially.
    const BOUNDS: [i64; 12] = [i32::MIN as i64, -70000, -33, -1, 0, 1, 2, 5, 31, 32, 65536, i32::MAX as i64];

    fn computed(op: AluOp, a: i32, b: i32) -> Option<i32> {
        let (ua, ub) = (a as u32, b as u32);
        Some(match op {
            AluOp::Iadd => a.wrapping_add(b),
            AluOp::Isub => a.wrapping_sub(b),
            AluOp::Imul => a.wrapping_mul(b),
            AluOp::Iand => a & b,
            AluOp::Imin => a.min(b),
            AluOp::Imax => a.max(b),
            AluOp::Umin => ua.min(ub) as i32,
            AluOp::Umax => ua.max(ub) as i32,
            AluOp::Ishl => a << (b & 31),
            AluOp::Ushr => (ua >> (b & 31)) as i32,
            AluOp::Ishr => a >> (b & 31),
            AluOp::Umod => ua.checked_rem(ub)? as i32,
            AluOp::Udiv => ua.checked_div(ub)? as i32,
            _ => return None,
        })
    }

    #[test]
    fn what_is_computed_lies_in_the_range() {
        use AluOp as O;
        let ops = [
            O::Iadd,
            O::Isub,
            O::Imul,
            O::Iand,
            O::Imin,
            O::Imax,
            O::Umin,
            O::Umax,
            O::Ishl,
            O::Ushr,
            O::Ishr,
            O::Umod,
            O::Udiv,
        ];
        let mut random = Random::new(1);
        let mut within = |range: IntegerRange, round: usize| match round {
            0 => range.low as i32,
            1 => range.high as i32,
            _ => (range.low + (random.bits() % (range.high - range.low + 1) as u64) as i64) as i32,
        };
        let pairs = || BOUNDS.iter().flat_map(|&low| BOUNDS.iter().map(move |&high| (low, high)));
        let ranges = || pairs().filter(|(low, high)| low <= high).map(|(low, high)| IntegerRange { low, high });
        let mut narrow = 0;
        for op in ops {
            for a in ranges() {
                for b in ranges() {
                    let result = of_operation(op, a, b);
                    narrow += usize::from(result != IntegerRange::ANY);
                    for (x, y) in (0..6).flat_map(|x| (0..6).map(move |y| (x, y))) {
                        let (x, y) = (within(a, x), within(b, y));
                        let Some(value) = computed(op, x, y) else { continue };
                        let inside = (result.low..=result.high).contains(&i64::from(value));
                        assert!(inside, "{op:?} of {x} in {a:?} and {y} in {b:?} is {value}, not in {result:?}");
                    }
                }
            }
        }
        assert!(narrow > 20_000, "{narrow}");
    }
}
