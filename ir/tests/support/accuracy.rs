//! Measures the error of functions on 32-bit floats, in units in the last place.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Number of operands computed at once.
pub const BLOCK: usize = 1024;
/// Distance between the operands of a sample. It is odd, so that all exponents, signs and low bits occur.
pub const SAMPLE_STEP: u64 = 4099;
/// Number of 32-bit operands.
pub const ALL: u64 = 1 << 32;

/// The greatest errors of a function.
#[derive(Clone, Copy, Debug, Default)]
pub struct GreatestErrors {
    /// In units in the last place of the exact result.
    pub ulps: f64,
    /// The operand with this error.
    pub at: u32,
    /// The greatest absolute error of operands with a finite exact result.
    pub absolute: f64,
}

impl GreatestErrors {
    fn add(&mut self, other: GreatestErrors) {
        if other.ulps > self.ulps {
            (self.ulps, self.at) = (other.ulps, other.at);
        }
        self.absolute = self.absolute.max(other.absolute);
    }
}

/// The error of a result in units in the last place of the exact one. It is infinite if only one of them is NaN, or if
/// only one is infinite with this sign. If the exact result is rounded to infinity, infinity is correct.
pub fn error(found: f32, exact: f64) -> f64 {
    if exact.is_nan() || found.is_nan() {
        return if exact.is_nan() && found.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if exact.is_infinite() {
        return if f64::from(found) == exact { 0.0 } else { f64::INFINITY };
    }
    // Infinity takes the place of the next number.
    let next = power_of_two(128);
    let found = if found.is_infinite() { next.copysign(found.into()) } else { found.into() };
    let exact = exact.clamp(-next, next);
    let exponent = (exact.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    (found - exact).abs() * power_of_two(23 - exponent.clamp(-126, 127))
}

/// 2 to a power within the normal range of `f64`.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// Measures the greatest errors over the operands `0, step, 2 * step, ..`. `evaluate` computes a block of results from
/// the bits of operands, `exact` the exact result.
pub fn measure(
    step: u64,
    evaluate: impl Fn(&[u32], &mut [u32]) + Sync,
    exact: impl Fn(f32) -> f64 + Sync,
) -> GreatestErrors {
    let count = ALL.div_ceil(step);
    let next = AtomicU64::new(0);
    let work = || {
        let (mut worst, mut operands, mut results) = (GreatestErrors::default(), Vec::new(), Vec::new());
        loop {
            let first = next.fetch_add(BLOCK as u64, Ordering::Relaxed);
            if first >= count {
                return worst;
            }
            operands.clear();
            operands.extend((first..count.min(first + BLOCK as u64)).map(|number| (number * step) as u32));
            results.clear();
            results.resize(operands.len(), 0);
            evaluate(&operands, &mut results);
            for (&at, &result) in operands.iter().zip(&results) {
                let (found, exact) = (f32::from_bits(result), exact(f32::from_bits(at)));
                let difference = (f64::from(found) - exact).abs();
                let absolute = if difference.is_finite() { difference } else { 0.0 };
                worst.add(GreatestErrors { ulps: error(found, exact), at, absolute });
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut worst = GreatestErrors::default();
        threads.into_iter().for_each(|thread| worst.add(thread.join().expect("no panic")));
        worst
    })
}

/// Returns the cells of each row of a table with this header.
pub fn table(page: &str, header: &str) -> Vec<Vec<String>> {
    let lines = page.lines().map(str::trim).skip_while(|line| *line != header);
    let lines = lines.skip(2).take_while(|line| line.starts_with('|'));
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect::<Vec<_>>();
    lines.map(|line| cells(line)[1..].to_vec()).collect()
}

/// The distance between tested operands: of a sample, or 1 with `TGSIC_EVERY=1`.
pub fn step() -> u64 {
    std::env::var("TGSIC_EVERY").ok().and_then(|every| every.parse().ok()).unwrap_or(SAMPLE_STEP).max(1)
}

/// Checks a function against its row `| name | most ulps | most absolute | at |`, also at the operand in the row, which
/// has the greatest error of all operands.
pub fn check(
    row: &[String],
    evaluate: impl Fn(&[u32], &mut [u32]) + Sync,
    exact: impl Fn(f32) -> f64 + Sync,
) -> Result<(), String> {
    // A dash means that the absolute error is not bounded.
    let number = |column: usize| match row.get(column)?.as_str() {
        "-" => Some(f64::INFINITY),
        cell => cell.parse::<f64>().ok(),
    };
    let worst = measure(step(), &evaluate, &exact);
    let mut report = format!("{}: {:.4} ulp at {:#010x}, absolute {:e}", row[0], worst.ulps, worst.at, worst.absolute);
    println!("{report}");
    let (Some(ulps), Some(absolute)) = (number(1), number(2)) else { return Err(report) };
    let at = row.get(3).and_then(|cell| u32::from_str_radix(cell.trim_start_matches("0x"), 16).ok());
    let Some(at) = at else { return Err(report) };
    let mut result = [0];
    evaluate(&[at], &mut result);
    let there = error(f32::from_bits(result[0]), exact(f32::from_bits(at)));
    report.push_str(&format!("; {there:.4} ulp at {at:#010x}"));
    if worst.ulps.max(there) <= ulps && worst.absolute <= absolute { Ok(()) } else { Err(report) }
}
