//! 64-bit opcodes: floats and integers in channel pairs xy and zw, low word first.
//!
//! Which pairs are computed and which channels are written depends on the opcode's shape:
//!
//! | shape | a pair is computed if | written |
//! |---|---|---|
//! | one or three 64-bit sources, 32 -> 64 bit | both its channels are in the mask | both |
//! | two sources | one of its channels is | both |
//! | comparison | one of its channels is | its first channel in the mask |
//! | 64 -> 32 bit | there is an n-th channel in the mask for the n-th pair | that channel |

use super::kernel::{Kernel, boolean, channels, double, f};
use tgsi::tables::Opcode;

impl Kernel<'_> {
    /// Returns a pair of a source.
    fn pair(&self, source: usize, pair: usize, lane: usize) -> u64 {
        u64::from(self.word(source, 2 * pair + 1, lane)) << 32 | u64::from(self.word(source, 2 * pair, lane))
    }

    fn set_pair(&mut self, pair: usize, lane: usize, value: u64) {
        self.set(2 * pair, lane, value as u32);
        self.set(2 * pair + 1, lane, (value >> 32) as u32);
    }

    /// Computes the pairs for which `wanted` accepts their bits of the mask. The function gets (kernel, pair, lane).
    fn pairs(&mut self, wanted: impl Fn(u8) -> bool, function: impl Fn(&Self, usize, usize) -> u64) -> u8 {
        let mut written = 0;
        for pair in 0..2 {
            if wanted(self.mask >> (2 * pair) & 3) {
                for lane in 0..self.lanes {
                    let value = function(self, pair, lane);
                    self.set_pair(pair, lane, value);
                }
                written |= 3 << (2 * pair);
            }
        }
        written
    }

    fn wide1(&mut self, function: impl Fn(u64) -> u64) -> u8 {
        self.pairs(|bits| bits == 3, |k, pair, lane| function(k.pair(0, pair, lane)))
    }

    fn wide2(&mut self, function: impl Fn(u64, u64) -> u64) -> u8 {
        self.pairs(|bits| bits != 0, |k, pair, lane| function(k.pair(0, pair, lane), k.pair(1, pair, lane)))
    }

    fn d1(&mut self, function: impl Fn(f64) -> f64) -> u8 {
        self.wide1(|a| function(f64::from_bits(a)).to_bits())
    }

    fn d2(&mut self, function: impl Fn(f64, f64) -> f64) -> u8 {
        self.wide2(|a, b| function(f64::from_bits(a), f64::from_bits(b)).to_bits())
    }

    fn d3(&mut self, function: impl Fn(f64, f64, f64) -> f64) -> u8 {
        self.pairs(
            |bits| bits == 3,
            |k, pair, lane| {
                let [a, b, c] = [0, 1, 2].map(|source| f64::from_bits(k.pair(source, pair, lane)));
                function(a, b, c).to_bits()
            },
        )
    }

    /// Operations with a 32-bit second operand, which is in the first channel of the pair.
    fn wide_by_word(&mut self, function: impl Fn(u64, u32) -> u64) -> u8 {
        self.pairs(|bits| bits != 0, |k, pair, lane| function(k.pair(0, pair, lane), k.word(1, 2 * pair, lane)))
    }

    fn compare(&mut self, function: impl Fn(u64, u64) -> bool) -> u8 {
        let mut written = 0;
        for pair in 0..2 {
            let bits = self.mask >> (2 * pair) & 3;
            if bits == 0 {
                continue;
            }
            let channel = 2 * pair + usize::from(bits & 1 == 0);
            for lane in 0..self.lanes {
                let value = function(self.pair(0, pair, lane), self.pair(1, pair, lane));
                self.set(channel, lane, boolean(value));
            }
            written |= 1 << channel;
        }
        written
    }

    fn compare_d(&mut self, function: impl Fn(f64, f64) -> bool) -> u8 {
        self.compare(|a, b| function(f64::from_bits(a), f64::from_bits(b)))
    }

    /// Widens 32 to 64 bits: channel x gives the first pair, y the second.
    fn widen(&mut self, function: impl Fn(u32) -> u64) -> u8 {
        self.pairs(|bits| bits == 3, |k, pair, lane| function(k.word(0, pair, lane)))
    }

    /// Narrows 64 to 32 bits: the first pair gives the first channel of the mask, the second pair the second.
    fn narrow(&mut self, function: impl Fn(u64) -> u32) -> u8 {
        let mut written = 0;
        for (pair, channel) in channels(self.mask).take(2).enumerate() {
            for lane in 0..self.lanes {
                let value = function(self.pair(0, pair, lane));
                self.set(channel, lane, value);
            }
            written |= 1 << channel;
        }
        written
    }
}

/// `a * 2^b`, correctly rounded: scaled in steps of which only the last can round.
fn ldexp(mut a: f64, b: i32) -> f64 {
    let power = |exponent: i32| f64::from_bits(((exponent + 1023) as u64) << 52);
    let mut exponent = i64::from(b);
    for _ in 0..2 {
        if exponent > 1023 {
            a *= power(1023);
            exponent -= 1023;
        } else if exponent < -1022 {
            // Stay 53 bits above the smallest normal exponent, so that only the last step can make the result denormal.
            a *= power(-1022 + 53);
            exponent += 1022 - 53;
        }
    }
    a * power(exponent.clamp(-1022, 1023) as i32)
}

fn d(word: u64) -> f64 {
    f64::from_bits(word)
}

pub(super) fn execute(kernel: &mut Kernel<'_>, opcode: Opcode) -> u8 {
    match opcode {
        Opcode::Dadd => kernel.d2(double::add),
        Opcode::Dmul => kernel.d2(double::mul),
        Opcode::Ddiv => kernel.d2(double::div),
        Opcode::Dmin => kernel.d2(double::min),
        Opcode::Dmax => kernel.d2(double::max),
        Opcode::Dmad => kernel.d3(|a, b, c| double::add(double::mul(a, b), c)),
        Opcode::Dfma => kernel.d3(f64::mul_add),
        // As recorded: -0 is kept, and the sign of NaN changes.
        Opcode::Dabs => kernel.d1(f64::abs),
        Opcode::Dneg => kernel.wide1(|a| a ^ 1 << 63),
        Opcode::Drcp => kernel.d1(|a| double::div(1.0, a)),
        Opcode::Dsqrt => kernel.d1(double::sqrt),
        Opcode::Drsq => kernel.d1(|a| double::div(1.0, double::sqrt(a))),
        Opcode::Dfrac => kernel.d1(|a| double::sub(a, a.floor())),
        Opcode::Dflr => kernel.d1(f64::floor),
        Opcode::Dtrunc => kernel.d1(f64::trunc),
        Opcode::Dceil => kernel.d1(f64::ceil),
        Opcode::Dround => kernel.d1(f64::round_ties_even),
        Opcode::Dssg => kernel.d1(|a| {
            if a > 0.0 {
                1.0
            } else if a < 0.0 {
                -1.0
            } else {
                0.0
            }
        }),
        Opcode::Dldexp => kernel.wide_by_word(|a, b| ldexp(d(a), b as i32).to_bits()),
        Opcode::Dslt => kernel.compare_d(|a, b| a < b),
        Opcode::Dsge => kernel.compare_d(|a, b| a >= b),
        Opcode::Dseq => kernel.compare_d(|a, b| a == b),
        Opcode::Dsne => kernel.compare_d(|a, b| a != b),
        Opcode::U64seq => kernel.compare(|a, b| a == b),
        Opcode::U64sne => kernel.compare(|a, b| a != b),
        Opcode::U64slt => kernel.compare(|a, b| a < b),
        Opcode::U64sge => kernel.compare(|a, b| a >= b),
        Opcode::I64slt => kernel.compare(|a, b| (a as i64) < (b as i64)),
        Opcode::I64sge => kernel.compare(|a, b| (a as i64) >= (b as i64)),
        Opcode::I64min => kernel.wide2(|a, b| (a as i64).min(b as i64) as u64),
        Opcode::I64max => kernel.wide2(|a, b| (a as i64).max(b as i64) as u64),
        Opcode::U64min => kernel.wide2(u64::min),
        Opcode::U64max => kernel.wide2(u64::max),
        Opcode::I64abs => kernel.wide1(|a| (a as i64).wrapping_abs() as u64),
        Opcode::I64neg => kernel.wide1(u64::wrapping_neg),
        Opcode::I64ssg => kernel.wide1(|a| (a as i64).signum() as u64),
        Opcode::U64add => kernel.wide2(u64::wrapping_add),
        Opcode::U64mul => kernel.wide2(u64::wrapping_mul),
        Opcode::I64div => kernel.wide2(|a, b| if b == 0 { 0 } else { (a as i64).wrapping_div(b as i64) as u64 }),
        Opcode::I64mod => kernel.wide2(|a, b| if b == 0 { u64::MAX } else { (a as i64).wrapping_rem(b as i64) as u64 }),
        Opcode::U64div => kernel.wide2(|a, b| a.checked_div(b).unwrap_or(u64::MAX)),
        Opcode::U64mod => kernel.wide2(|a, b| a.checked_rem(b).unwrap_or(u64::MAX)),
        Opcode::U64shl => kernel.wide_by_word(u64::wrapping_shl),
        Opcode::U64shr => kernel.wide_by_word(u64::wrapping_shr),
        Opcode::I64shr => kernel.wide_by_word(|a, b| (a as i64).wrapping_shr(b) as u64),
        Opcode::F2d => kernel.widen(|a| f64::from(f(a)).to_bits()),
        Opcode::I2d => kernel.widen(|a| f64::from(a as i32).to_bits()),
        Opcode::U2d => kernel.widen(|a| f64::from(a).to_bits()),
        Opcode::F2i64 => kernel.widen(|a| f(a) as i64 as u64),
        Opcode::F2u64 => kernel.widen(|a| f(a) as u64),
        Opcode::I2i64 => kernel.widen(|a| i64::from(a as i32) as u64),
        Opcode::U2i64 => kernel.widen(u64::from),
        Opcode::D2i64 => kernel.wide1(|a| d(a) as i64 as u64),
        Opcode::D2u64 => kernel.wide1(|a| d(a) as u64),
        Opcode::I642d => kernel.wide1(|a| (a as i64 as f64).to_bits()),
        Opcode::U642d => kernel.wide1(|a| (a as f64).to_bits()),
        Opcode::D2f => kernel.narrow(|a| (d(a) as f32).to_bits()),
        Opcode::D2i => kernel.narrow(|a| d(a) as i32 as u32),
        Opcode::D2u => kernel.narrow(|a| d(a) as u32),
        Opcode::I642f => kernel.narrow(|a| (a as i64 as f32).to_bits()),
        Opcode::U642f => kernel.narrow(|a| (a as f32).to_bits()),
        // All other opcodes have another class.
        other => {
            other.lacks_code();
            0
        }
    }
}
