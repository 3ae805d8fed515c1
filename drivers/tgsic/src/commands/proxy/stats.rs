//! Totals of a run of the proxy, as a table or JSON.

use std::time::Duration;

use serde::Serialize;
use tgsi_virgl::traffic::Traffic;

use super::translator::Totals;

/// Buckets for each power of two.
const STEPS: usize = 32;

/// A histogram of times, exact up to 64 microseconds and with relative steps of 1/32 beyond. Its memory does not depend
/// on the number of times.
#[derive(Clone, Default)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    max: u64,
}

impl Histogram {
    /// Adds a time.
    pub fn add(&mut self, time: Duration) {
        let microseconds = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let bucket = bucket_of(microseconds);
        if self.counts.len() <= bucket {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.total += 1;
        self.max = self.max.max(microseconds);
    }

    /// Returns the time in microseconds that `percent` percent of the times do not exceed.
    pub fn percentile(&self, percent: u64) -> u64 {
        let wanted = (self.total * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return value_of(bucket).min(self.max);
            }
        }
        0
    }

    fn times(&self) -> Times {
        Times { median: self.percentile(50), p99: self.percentile(99), max: self.max }
    }
}

fn bucket_of(value: u64) -> usize {
    let exponent = (64 - value.leading_zeros() as usize).saturating_sub(STEPS.ilog2() as usize + 1);
    // The leading bits; the first is always set beyond the linear part.
    exponent * STEPS + (value >> exponent) as usize
}

/// Returns the largest value of a bucket.
fn value_of(bucket: usize) -> u64 {
    let exponent = (bucket / STEPS).saturating_sub(1);
    let bits = (bucket - exponent * STEPS) as u64;
    (bits << exponent) | ((1 << exponent) - 1)
}

/// Times in microseconds.
#[derive(Clone, Copy, Serialize)]
struct Times {
    median: u64,
    p99: u64,
    max: u64,
}

#[derive(Clone, Copy, Serialize)]
struct ShaderTimes {
    all: Times,
    new: Times,
}

/// Bytes per megabyte.
const MEGABYTE: u64 = 1_000_000;

/// Totals of a run.
#[derive(Clone, Serialize)]
pub struct Report {
    clients: u64,
    unconnected: u64,
    unread: u64,
    shaders: u64,
    distinct: u64,
    shorter: u64,
    equal: u64,
    longer: u64,
    failed: u64,
    different: u64,
    instructions_before: u64,
    instructions_after: u64,
    microseconds: ShaderTimes,
    to_host: u64,
    to_client: u64,
    shader_bytes: u64,
    descriptors: u64,
    messages: u64,
    submits: u64,
    rewritten: u64,
    microseconds_a_megabyte: Option<f64>,
}

impl Report {
    /// Creates the report for the totals of shaders and traffic.
    pub fn new(totals: &Totals, traffic: &Traffic) -> Report {
        let (to_host, to_client, shader_bytes) =
            (traffic.to_host.get(), traffic.to_client.get(), traffic.shader_bytes.get());
        let other_bytes = (to_host + to_client).saturating_sub(shader_bytes);
        let other_nanoseconds = traffic.busy.get().saturating_sub(traffic.filtering.get());
        // For a few bytes the figure would be meaningless: opening a connection takes longer than they do.
        let a_megabyte = (other_bytes >= MEGABYTE).then(|| other_nanoseconds as f64 * 1000.0 / other_bytes as f64);
        Report {
            clients: traffic.clients.get(),
            unconnected: traffic.unconnected.get(),
            unread: traffic.unread.get(),
            shaders: totals.shaders,
            distinct: totals.distinct.len() as u64,
            shorter: totals.shorter,
            equal: totals.equal,
            longer: totals.longer,
            failed: totals.failed,
            different: totals.different,
            instructions_before: totals.before,
            instructions_after: totals.after,
            microseconds: ShaderTimes { all: totals.all_times.times(), new: totals.new_times.times() },
            to_host,
            to_client,
            shader_bytes,
            descriptors: traffic.descriptors.get(),
            messages: traffic.messages.get(),
            submits: traffic.submits.get(),
            rewritten: traffic.rewritten.get(),
            microseconds_a_megabyte: a_megabyte.map(|time| (time * 10.0).round() / 10.0),
        }
    }

    /// Formats the report as one JSON object.
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Formats the report as a table.
    pub fn table(&self) -> String {
        let ratio = match self.instructions_before {
            0 => String::new(),
            before => format!(" ({:.3} of them)", self.instructions_after as f64 / before as f64),
        };
        let times = |t: Times| format!("median {} us, p99 {} us, max {} us", t.median, t.p99, t.max);
        let mut rows = vec![
            ("clients", format!("{}, {} without a host, {} unread", self.clients, self.unconnected, self.unread)),
            ("shaders", format!("{}, {} distinct", self.shaders, self.distinct)),
            ("  translated", format!("{} shorter, {} equal, {} longer", self.shorter, self.equal, self.longer)),
            ("  unchanged", format!("{} failed, {} different", self.failed, self.different)),
            ("instructions", format!("{} before, {} after{ratio}", self.instructions_before, self.instructions_after)),
            ("a shader", times(self.microseconds.all)),
            ("a new shader", times(self.microseconds.new)),
            ("to the host", format!("{} bytes, {} of them shaders", self.to_host, self.shader_bytes)),
            ("to clients", format!("{} bytes, {} descriptors", self.to_client, self.descriptors)),
            ("messages", format!("{}, {} command buffers, {} rewritten", self.messages, self.submits, self.rewritten)),
        ];
        if let Some(time) = self.microseconds_a_megabyte {
            rows.push(("other traffic", format!("{time:.1} us per megabyte")));
        }
        rows.iter().map(|(name, value)| format!("{name:<14} {value}\n")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_in_order_and_close() {
        for value in (0..5000).chain((0..64).map(|shift| 1 << shift)).chain([u64::MAX]) {
            let bucket = bucket_of(value);
            let largest = value_of(bucket);
            assert!(largest >= value && (largest - value) as f64 <= value as f64 / 32.0, "{value}: {largest}");
            assert_eq!(bucket_of(largest), bucket, "{value}");
            assert!(value == 0 || bucket_of(value - 1) <= bucket, "{value}");
        }
    }

    #[test]
    fn percentiles() {
        let mut histogram = Histogram::default();
        assert_eq!((histogram.percentile(50), histogram.percentile(99)), (0, 0));
        for value in 1..=60 {
            histogram.add(Duration::from_micros(value));
        }
        assert_eq!((histogram.percentile(50), histogram.percentile(99), histogram.percentile(100)), (30, 60, 60));
        histogram.add(Duration::from_secs(3));
        assert_eq!((histogram.percentile(50), histogram.percentile(100), histogram.max), (31, 3_000_000, 3_000_000));
    }
}
