//! Intervals of the results that Vulkan's bounds allow, see [`crate::precision`].

use std::f64::consts::PI;

/// An interval around the exact result.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Range {
    pub low: f64,
    /// The exact result.
    pub value: f64,
    pub high: f64,
}

/// Returns the distance of neighbouring 32-bit floats at a value.
pub fn ulp(value: f64) -> f64 {
    let exponent = if value.abs() < f64::from(f32::MIN_POSITIVE) { -126.0 } else { value.abs().log2().floor() };
    (exponent - 23.0).exp2()
}

pub fn exact(value: f64) -> Range {
    Range { low: value, value, high: value }
}

/// Returns the interval of a power. The driver emits powers of zero and with an exponent of zero explicitly. For
/// negative bases, Vulkan has no requirement.
pub fn power(x: f64, y: f64) -> Option<Range> {
    match (x, y) {
        (_, 0.0) | (1.0, _) => Some(exact(1.0)),
        (0.0, y) => Some(exact(if y < 0.0 { f64::INFINITY } else { 0.0 })),
        _ => Some(exact(x).log2()?.times(y).exp2()),
    }
}

pub fn periodic(x: f64, of: fn(f64) -> f64) -> Option<Range> {
    // The nearest float to pi is greater than pi.
    (x.abs() <= f64::from(PI as f32)).then(|| exact(of(x)).widened(2f64.powi(-11)))
}

impl Range {
    fn widened(self, by: f64) -> Range {
        Range { low: self.low - by, high: self.high + by, ..self }
    }

    /// Widens the interval at both ends by this many units in the last place.
    fn rounded(self, ulps: f64) -> Range {
        Range { low: self.low - ulps * ulp(self.low), high: self.high + ulps * ulp(self.high), ..self }
    }

    /// Returns the interval of a monotonic function.
    fn mapped(self, of: impl Fn(f64) -> f64) -> Range {
        let (a, b) = (of(self.low), of(self.high));
        Range { low: a.min(b), value: of(self.value), high: a.max(b) }
    }

    pub fn divided(self, by: Range) -> Option<Range> {
        let is_bounded = |x: f64| (2f64.powi(-126)..=2f64.powi(126)).contains(&x.abs());
        if !(is_bounded(by.low) && is_bounded(by.high)) {
            return None;
        }
        let ends = [self.low / by.low, self.low / by.high, self.high / by.low, self.high / by.high];
        let (low, high) = ends.into_iter().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
        Some(Range { low, value: self.value / by.value, high }.rounded(2.5))
    }

    pub fn inverse_root(self) -> Option<Range> {
        (self.low > 0.0).then(|| self.mapped(|x| 1.0 / x.sqrt()).rounded(2.0))
    }

    pub fn exp2(self) -> Range {
        let ulps = 3.0 + 2.0 * self.low.abs().max(self.high.abs());
        self.mapped(f64::exp2).rounded(ulps)
    }

    pub fn log2(self) -> Option<Range> {
        (self.low > 0.0).then(|| {
            let is_near_one = self.low >= 0.5 && self.high <= 2.0;
            let log = self.mapped(f64::log2);
            if is_near_one { log.widened(2f64.powi(-21)) } else { log.rounded(3.0) }
        })
    }

    /// A correctly rounded product.
    fn times(self, by: f64) -> Range {
        self.mapped(|x| x * by).rounded(0.5)
    }

    /// Returns whether a float is a possible rounding of a number in the interval.
    pub fn has(self, found: f32, saturate: bool) -> bool {
        let clamp = |x: f64| if saturate { x.clamp(0.0, 1.0) } else { x };
        let (low, high) = (clamp(self.low), clamp(self.high));
        let is_tiny = |x: f64| x.abs() < f64::from(f32::MIN_POSITIVE);
        let found = f64::from(found);
        (low..=high).contains(&found)
            || found == 0.0 && (is_tiny(low) || is_tiny(high))
            || found == f64::INFINITY && high > f64::from(f32::MAX)
            || found == f64::NEG_INFINITY && low < f64::from(f32::MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_as_wide_as_vulkan_says() {
        let x = f64::from(0.3f32);
        let within = |range: Range, ulps: f64| {
            let at = |ulps: f64| (range.value + ulps * ulp(range.value)) as f32;
            assert!(range.has(at(ulps - 0.6), false) && range.has(at(0.6 - ulps), false), "{range:?}");
            assert!(!range.has(at(ulps + 0.6), false) && !range.has(at(-0.6 - ulps), false), "{range:?}");
        };
        within(exact(1.0).divided(exact(x)).expect("bounded"), 2.5);
        within(exact(x).inverse_root().expect("positive"), 2.0);
        within(exact(x).exp2(), 3.6);
        within(exact(5.3).log2().expect("positive"), 3.0);
        assert_eq!(exact(1.5).log2().map(|range| range.high - range.value), Some(2f64.powi(-21)));
        assert_eq!(exact(1.0).divided(exact(0.0)), None);
        assert_eq!(periodic(4.0, f64::sin), None);
        assert_eq!(power(0.0, -1.0), Some(exact(f64::INFINITY)));
        assert_eq!(power(-2.0, 2.0), None);
    }

    #[test]
    fn special_results_stand_for_what_they_round() {
        let tiny = exact(-126.5).exp2();
        assert!(tiny.has(0.0, false) && !tiny.has(-1.0, false));
        assert!(exact(130.0).exp2().has(f32::INFINITY, false));
        assert!(exact(3.0).exp2().has(1.0, true) && !exact(3.0).exp2().has(0.5, true));
    }
}
