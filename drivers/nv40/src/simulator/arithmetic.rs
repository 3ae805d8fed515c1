//! Arithmetic under a set of rules.

use super::Rules;

/// The processor, since the rules of the chips differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    Vertex,
    Fragment,
}

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Comparison {
    Less,
    LessEqual,
    Equal,
    NotEqual,
    GreaterEqual,
    Greater,
}

/// The operations of a processor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arithmetic {
    pub(super) rules: Rules,
    pub(super) stage: Stage,
}

/// Rounds towards zero.
fn truncate(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest).abs() > value.abs() { f32::from_bits(nearest.to_bits() - 1) } else { nearest }
}

impl Arithmetic {
    fn is_hardware(self) -> bool {
        self.rules == Rules::Hardware
    }

    fn is_hardware_vertex(self) -> bool {
        self.is_hardware() && self.stage == Stage::Vertex
    }

    /// Replaces a denormal by zero if the rules do.
    pub(super) fn flush(self, value: f32) -> f32 {
        if self.is_hardware() && value.is_subnormal() { 0f32.copysign(value) } else { value }
    }

    pub(super) fn multiply(self, a: f32, b: f32) -> f32 {
        let (a, b) = (self.flush(a), self.flush(b));
        if !self.is_hardware_vertex() {
            self.flush(a * b)
        } else if (a == 0.0 || b == 0.0) && a.is_finite() && b.is_finite() {
            0.0
        } else {
            self.flush(truncate(f64::from(a) * f64::from(b)))
        }
    }

    pub(super) fn add(self, a: f32, b: f32) -> f32 {
        self.flush(self.flush(a) + self.flush(b))
    }

    pub(super) fn multiply_add(self, a: f32, b: f32, c: f32) -> f32 {
        self.add(self.multiply(a, b), c)
    }

    pub(super) fn dot<const N: usize>(self, a: [f32; N], b: [f32; N]) -> f32 {
        let pairs = a.into_iter().zip(b);
        if self.is_hardware_vertex() {
            let products = pairs.map(|(a, b)| f64::from(self.flush(a)) * f64::from(self.flush(b)));
            self.flush(truncate(products.sum()))
        } else {
            let products = pairs.map(|(a, b)| self.multiply(a, b));
            products.reduce(|sum, product| self.add(sum, product)).unwrap_or_default()
        }
    }

    pub(super) fn minimum(self, a: f32, b: f32) -> f32 {
        if self.is_hardware_vertex() && (a.is_nan() || b.is_nan()) {
            f32::NAN
        } else if a < b || b.is_nan() {
            a
        } else {
            b
        }
    }

    pub(super) fn maximum(self, a: f32, b: f32) -> f32 {
        if self.is_hardware_vertex() && (a.is_nan() || b.is_nan()) {
            f32::NAN
        } else if a > b || b.is_nan() {
            a
        } else {
            b
        }
    }

    /// Returns 1 or 0.
    pub(super) fn compare(self, comparison: Comparison, a: f32, b: f32) -> f32 {
        if self.is_hardware_vertex() && (a.is_nan() || b.is_nan()) {
            return f32::NAN;
        }
        let (a, b) = (self.flush(a), self.flush(b));
        let holds = match comparison {
            Comparison::Less => a < b,
            Comparison::LessEqual => a <= b,
            Comparison::Equal => a == b,
            Comparison::NotEqual => a != b,
            Comparison::GreaterEqual => a >= b,
            Comparison::Greater => a > b,
        };
        f32::from(u8::from(holds))
    }

    pub(super) fn floor(self, value: f32) -> f32 {
        let floor = self.flush(value).floor();
        // The sum with zero has no sign.
        if self.is_hardware_vertex() { floor + 0.0 } else { floor }
    }

    pub(super) fn fraction(self, value: f32) -> f32 {
        let value = self.flush(value);
        value - value.floor()
    }

    pub(super) fn reciprocal(self, value: f32) -> f32 {
        self.flush(1.0 / self.flush(value))
    }

    /// The reciprocal square root, with a rounded root; NaN for negative numbers.
    pub(super) fn reciprocal_root(self, value: f32) -> f32 {
        let value = self.flush(value);
        if value == 0.0 { f32::INFINITY.copysign(value) } else { 1.0 / value.sqrt() }
    }

    pub(super) fn exponential(self, value: f32) -> f32 {
        self.flush(self.flush(value).exp2())
    }

    /// The binary logarithm; NaN for negative numbers.
    pub(super) fn logarithm(self, value: f32) -> f32 {
        self.flush(value).log2()
    }

    pub(super) fn sine(self, value: f32) -> f32 {
        self.flush(self.flush(value).sin())
    }

    pub(super) fn cosine(self, value: f32) -> f32 {
        self.flush(self.flush(value).cos())
    }

    /// Drops mantissa bits of a result that vertex programs have to 11 bits.
    fn partial(self, value: f32) -> f32 {
        if self.is_hardware_vertex() && value.is_finite() { f32::from_bits(value.to_bits() & !0xfff) } else { value }
    }

    /// `EXP`.
    pub(super) fn partial_exponential(self, value: f32) -> [f32; 4] {
        let floor = self.floor(value);
        let power = self.partial(self.exponential(value));
        [self.exponential(floor), self.fraction(value), power, 1.0]
    }

    /// `LOG`.
    pub(super) fn partial_logarithm(self, value: f32) -> [f32; 4] {
        let magnitude = self.flush(value).abs();
        if magnitude == 0.0 {
            return [f32::NEG_INFINITY, 1.0, f32::NEG_INFINITY, 1.0];
        }
        if !magnitude.is_finite() {
            return [magnitude, if magnitude.is_nan() { magnitude } else { 1.0 }, magnitude, 1.0];
        }
        // Denormals are normal after the scaling, which is exact.
        let (scaled, bias) = if magnitude.is_normal() { (magnitude, 127) } else { (magnitude * 16_777_216.0, 151) };
        let exponent = (scaled.to_bits() >> 23) as i32 - bias;
        let mantissa = f32::from_bits(scaled.to_bits() & 0x007f_ffff | 0x3f80_0000);
        [exponent as f32, mantissa, self.partial(self.logarithm(magnitude)), 1.0]
    }

    /// `LIT`.
    pub(super) fn lighting(self, [x, y, _, w]: [f32; 4]) -> [f32; 4] {
        let diffuse = if x > 0.0 { x } else { 0.0 };
        let base = if y > 0.0 { y } else { 0.0 };
        let power = f64::from(base).powf(f64::from(w.clamp(-128.0, 128.0))) as f32;
        [1.0, diffuse, if x > 0.0 { self.partial(self.flush(power)) } else { 0.0 }, 1.0]
    }

    /// `DST`.
    pub(super) fn distance(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        [1.0, self.multiply(a[1], b[1]), a[2], b[3]]
    }
}

/// Applies a function to each component.
pub(super) fn map2(a: [f32; 4], b: [f32; 4], function: impl Fn(f32, f32) -> f32) -> [f32; 4] {
    [0, 1, 2, 3].map(|component| function(a[component], b[component]))
}

/// The first three components.
pub(super) fn xyz([x, y, z, _]: [f32; 4]) -> [f32; 3] {
    [x, y, z]
}
