//! Translates the shaders of the proxy. If anything fails, the shader is passed on unchanged.

use std::any::Any;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};
use tgsi::text::ParseResult;
use tgsi_compiler::{HostCompiler, HostTranslation};
use tgsi_environment::RunLimits;
use tgsi_verify::{DefectKind, compare};
use tgsi_virgl::cache::Cache;
use tgsi_virgl::shader::{Filtered, ShaderObject};

use super::record::{Recorder, hash, name_of};
use super::stats::Histogram;
use crate::input::ShaderError;
use crate::plan::Plan;

/// Sets of inputs for `--verify`.
const SEEDS: u64 = 6;

/// Maximum number of instructions that `--verify` executes, because a client waits.
const MAX_STEPS: u64 = 200_000;

/// Maximum number of hashes of distinct shaders kept for counting them.
const MAX_DISTINCT: usize = 1 << 20;

/// Bytes of texts in each of the two generations of the cache.
const GENERATION_BYTES: usize = 64 << 20;

/// Minimum number of worker threads, for machines with fewer CPUs.
const FEWEST_WORKERS: usize = 4;

/// Stack size of each worker thread.
const WORKER_STACK_BYTES: usize = 16 << 20;

/// The result of translating a shader.
#[derive(Clone, Debug)]
pub enum TranslationOutcome {
    /// A translation.
    Translated(Translated),
    /// There is no translation, for this reason.
    Failed(String),
    /// The translation computes different results.
    Different {
        /// The translation.
        text: Vec<u8>,
        /// The difference.
        reason: String,
    },
}

/// A translated shader.
#[derive(Clone, Debug)]
pub struct Translated {
    /// The new text; `None` if it equals the old one.
    pub text: Option<Vec<u8>>,
    /// Instructions of the source, END included.
    pub before: u32,
    /// Instructions of the translation.
    pub after: u32,
}

/// Sums over all shaders.
#[derive(Clone, Default)]
pub struct Totals {
    /// Shaders seen.
    pub shaders: u64,
    /// Hashes of the distinct shaders.
    pub distinct: HashSet<u128>,
    /// Shaders with a translation that has fewer instructions.
    pub shorter: u64,
    /// Shaders with a translation of equal length.
    pub equal: u64,
    /// Shaders with a translation that has more instructions.
    pub longer: u64,
    /// Shaders without a translation.
    pub failed: u64,
    /// Shaders with a translation that computes different results.
    pub different: u64,
    /// Instructions of all shaders with a translation, before it.
    pub before: u64,
    /// Instructions of their translations.
    pub after: u64,
    /// The time per shader, cached ones included.
    pub all_times: Histogram,
    /// The time per new shader.
    pub new_times: Histogram,
}

/// Translates shaders of all connections.
pub struct Translator {
    compiler: HostCompiler,
    verify: bool,
    recorder: Option<Recorder>,
    /// The threads that translate. Their number bounds the memory of the proxy, however many clients there are.
    workers: Option<ThreadPool>,
    cache: Cache<TranslationOutcome>,
    totals: Mutex<Totals>,
}

impl Translator {
    /// Creates a translator for a plan.
    pub fn new(plan: Plan, verify: bool, recorder: Option<Recorder>) -> Translator {
        Translator {
            compiler: HostCompiler::new(plan.compiler),
            verify,
            recorder,
            workers: workers(),
            cache: Cache::new(GENERATION_BYTES),
            totals: Mutex::default(),
        }
    }

    /// Returns the sums so far.
    pub fn totals(&self) -> Totals {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Totals> {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Translates a shader, or returns that it must be passed on unchanged.
    pub fn filter(&self, shader: &ShaderObject<'_>) -> Filtered {
        let started = Instant::now();
        let slot = self.cache.find(shader).unwrap_or_else(|| self.on_worker(|| self.cache.slot(shader)));
        let mut is_new = false;
        let outcome = slot.get_or_init(|| {
            is_new = true;
            self.on_worker(|| self.outcome(shader))
        });
        if is_new {
            log_outcome(shader, outcome);
        }
        let filtered = match outcome {
            TranslationOutcome::Translated(Translated { text: Some(text), .. }) => Filtered::Changed(text.clone()),
            _ => Filtered::Unchanged,
        };
        let time = started.elapsed();
        self.count(shader, outcome, is_new.then_some(time), time);
        if is_new && let Some(recorder) = &self.recorder {
            recorder.record(shader, outcome);
        }
        filtered
    }

    fn count(
        &self,
        shader: &ShaderObject<'_>,
        outcome: &TranslationOutcome,
        new_time: Option<Duration>,
        time: Duration,
    ) {
        let hash = new_time.map(|_| hash(shader.stage, shader.text));
        let mut totals = self.lock();
        totals.shaders += 1;
        totals.all_times.add(time);
        if let Some(time) = new_time {
            totals.new_times.add(time);
        }
        if let Some(hash) = hash
            && totals.distinct.len() < MAX_DISTINCT
        {
            totals.distinct.insert(hash);
        }
        match outcome {
            TranslationOutcome::Translated(Translated { before, after, .. }) => {
                totals.before += u64::from(*before);
                totals.after += u64::from(*after);
                match after.cmp(before) {
                    Ordering::Less => totals.shorter += 1,
                    Ordering::Equal => totals.equal += 1,
                    Ordering::Greater => totals.longer += 1,
                }
            }
            TranslationOutcome::Failed(_) => totals.failed += 1,
            TranslationOutcome::Different { .. } => totals.different += 1,
        }
    }

    /// Runs `run` on a worker. Heap memory that a client's thread allocates and frees would stay reserved after the
    /// client has disconnected.
    fn on_worker<R: Send>(&self, run: impl FnOnce() -> R + Send) -> R {
        match &self.workers {
            Some(workers) => workers.install(run),
            None => run(),
        }
    }

    /// Processes a new shader. A panic counts as a failure.
    fn outcome(&self, shader: &ShaderObject<'_>) -> TranslationOutcome {
        catch_unwind(AssertUnwindSafe(|| self.translate(shader)))
            .unwrap_or_else(|panic| TranslationOutcome::Failed(format!("panic: {}", message_of(&*panic))))
    }

    fn translate(&self, object: &ShaderObject<'_>) -> TranslationOutcome {
        let streams = object.stream_outputs > 0;
        let translation = match self.compiler.translate(object.text, object.stage.name(), streams) {
            Ok(translation) => translation,
            Err(error) => return TranslationOutcome::Failed(error.to_string()),
        };
        let HostTranslation { source, text, instructions_before: before, instructions_after: after, .. } = translation;
        if self.verify {
            // Compares the text that the host will parse.
            let read_again = match tgsi::text::read_within(&text, self.compiler.compiler().limits()) {
                ParseResult { shader, skipped: None, .. } => shader,
                ParseResult { diagnostics, .. } => {
                    return TranslationOutcome::Failed(ShaderError::Findings(diagnostics).brief());
                }
            };
            match compare(&source, &read_again, SEEDS, RunLimits::of_steps(MAX_STEPS)).defect() {
                None => {}
                Some(defect) if defect.kind == DefectKind::Difference => {
                    return TranslationOutcome::Different { text, reason: defect.to_string() };
                }
                Some(defect) => return TranslationOutcome::Failed(format!("it cannot be run: {defect}")),
            }
        }
        TranslationOutcome::Translated(Translated { before, after, text: (text != object.text).then_some(text) })
    }
}

/// Starts a worker thread per CPU, but at least [`FEWEST_WORKERS`], so that a few long shaders do not block short ones.
/// If that fails, clients translate on their own threads.
fn workers() -> Option<ThreadPool> {
    let count = thread::available_parallelism().map_or(1, usize::from).max(FEWEST_WORKERS);
    let builder = ThreadPoolBuilder::new().num_threads(count).stack_size(WORKER_STACK_BYTES);
    let built = builder.thread_name(|number| format!("worker-{number}")).build();
    built.inspect_err(|error| log::warn!("cannot start threads for translation: {error}")).ok()
}

/// Logs a failure, on the thread of the client that sent the shader.
fn log_outcome(shader: &ShaderObject<'_>, outcome: &TranslationOutcome) {
    match outcome {
        TranslationOutcome::Translated(_) => {}
        TranslationOutcome::Failed(reason) => log::warn!("{}: {reason}", name_of(shader.stage, shader.text)),
        TranslationOutcome::Different { reason, .. } => {
            log::error!("{}: the translation differs: {reason}", name_of(shader.stage, shader.text));
        }
    }
}

/// Returns the message of a panic.
fn message_of(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}
