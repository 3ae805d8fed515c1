//! Translates the shaders of the proxy. If anything fails, the shader is passed on unchanged.

use std::any::Any;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};
use tgsi::Shader;
use tgsi::tables::File;
use tgsi::text::{PrintOptions, print};
use tgsi_compiler::Code;
use tgsi_compiler::input::Language;
use tgsi_driver_virgl::shader::{Filtered, ShaderObject};
use tgsi_ir::passes::pipeline::Level;
use tgsi_ir::run::environment::RunLimits;

use super::cache::Cache;
use super::record::{Recorder, hash, name_of};
use super::stats::Histogram;
use crate::input::{ShaderError, Source};
use crate::input_shader::InputShader;
use crate::plan::Plan;
use crate::verify::{Verdict, compare_translated};

/// Sets of inputs that `--verify` makes.
const SEEDS: u64 = 6;

/// Instructions that `--verify` executes: a client waits.
const MAX_STEPS: u64 = 200_000;

/// Hashes of distinct shaders that are kept for counting them.
const MAX_DISTINCT: usize = 1 << 20;

/// Threads that translate where there are fewer processors.
const FEWEST_WORKERS: usize = 4;

/// Stack of each.
const WORKER_STACK_BYTES: usize = 16 << 20;

/// The result of translating a shader.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A translation.
    Translated(Translated),
    /// There is none, for this reason.
    Failed(String),
    /// It computes something else.
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
    /// The new text; `None` if it is the old one.
    pub text: Option<Vec<u8>>,
    /// Instructions before, END included.
    pub before: u32,
    /// Instructions after.
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
    /// Shaders with as many.
    pub equal: u64,
    /// Shaders with more.
    pub longer: u64,
    /// Shaders without a translation.
    pub failed: u64,
    /// Shaders with a translation that computes something else.
    pub different: u64,
    /// Instructions of those with a translation, before.
    pub before: u64,
    /// Instructions after.
    pub after: u64,
    /// The time per shader, cached ones included.
    pub all_times: Histogram,
    /// The time per new shader.
    pub new_times: Histogram,
}

/// Translates shaders of all connections.
pub struct Translator {
    plan: Plan,
    /// For shaders that the other one makes longer; `None` if it does nothing that could.
    plan_without_growth: Option<Plan>,
    verify: bool,
    recorder: Option<Recorder>,
    /// The threads that translate. Their number bounds what the proxy takes, however many clients there are.
    workers: Option<ThreadPool>,
    cache: Cache,
    totals: Mutex<Totals>,
}

impl Translator {
    /// A translator for a plan.
    pub fn new(plan: Plan, verify: bool, recorder: Option<Recorder>) -> Translator {
        let may_grow = plan.compiler.level() == Level::All;
        Translator {
            plan_without_growth: may_grow.then(|| plan.clone().with_level(Level::NoGrowth)),
            plan,
            verify,
            recorder,
            workers: workers(),
            cache: Cache::default(),
            totals: Mutex::default(),
        }
    }

    /// The sums so far.
    pub fn totals(&self) -> Totals {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Totals> {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Translates a shader, or returns that it is to be passed on unchanged.
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
            Outcome::Translated(Translated { text: Some(text), .. }) => Filtered::Changed(text.clone()),
            _ => Filtered::Unchanged,
        };
        let time = started.elapsed();
        self.count(shader, outcome, is_new.then_some(time), time);
        if is_new && let Some(recorder) = &self.recorder {
            recorder.record(shader, outcome);
        }
        filtered
    }

    fn count(&self, shader: &ShaderObject<'_>, outcome: &Outcome, new_time: Option<Duration>, time: Duration) {
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
            Outcome::Translated(Translated { before, after, .. }) => {
                totals.before += u64::from(*before);
                totals.after += u64::from(*after);
                match after.cmp(before) {
                    Ordering::Less => totals.shorter += 1,
                    Ordering::Equal => totals.equal += 1,
                    Ordering::Greater => totals.longer += 1,
                }
            }
            Outcome::Failed(_) => totals.failed += 1,
            Outcome::Different { .. } => totals.different += 1,
        }
    }

    /// Runs something on a worker. What a client's thread takes from the heap and leaves there would stay when the
    /// client has gone.
    fn on_worker<R: Send>(&self, run: impl FnOnce() -> R + Send) -> R {
        match &self.workers {
            Some(workers) => workers.install(run),
            None => run(),
        }
    }

    /// Works on a shader that has not come before. A panic is a failure like others.
    fn outcome(&self, shader: &ShaderObject<'_>) -> Outcome {
        catch_unwind(AssertUnwindSafe(|| self.translate(shader)))
            .unwrap_or_else(|panic| Outcome::Failed(format!("panic: {}", message_of(&*panic))))
    }

    fn translate(&self, shader: &ShaderObject<'_>) -> Outcome {
        match self.try_translate(shader) {
            Ok(outcome) => outcome,
            Err(problem) => Outcome::Failed(problem.brief()),
        }
    }

    fn try_translate(&self, object: &ShaderObject<'_>) -> Result<Outcome, ShaderError> {
        let path = PathBuf::from(object.stage.name());
        // Text it is on this way, whatever it looks like.
        let source = Source {
            path,
            bytes: object.text.to_vec(),
            language: Language::Text,
            limits: crate::limits::current(),
            strict: false,
        };
        let (subject, _) = InputShader::checked(&source, &self.plan)?;
        let before = subject.interface();
        if before.processor.name() != object.stage.name() {
            let (is, should) = (before.processor.name(), object.stage.name());
            return Err(ShaderError::Other(format!("the text is for stage {is}, the object for {should}")));
        }
        let instructions = |shader: &Shader| tgsi::scan::scan(shader).num_instructions;
        let mut after = tgsi_of(subject.code(&self.plan)?)?;
        if let Some(plan) = &self.plan_without_growth
            && instructions(&after) > instructions(before)
        {
            // Unrolled loops that let nothing go are not worth their length: every reader after us works through it
            // again.
            let other = tgsi_of(subject.code(plan)?)?;
            if instructions(&other) < instructions(&after) {
                after = other;
            }
        }
        if object.stream_outputs > 0 && outputs(before) != outputs(&after) {
            return Err(ShaderError::Other("outputs are streamed, and have other registers in the translation".into()));
        }
        let text = print(&after, PrintOptions { hex_floats: true, ..PrintOptions::default() }).into_bytes();
        if self.verify {
            // What is compared is what the host will read.
            let source = Source {
                path: source.path,
                bytes: text.clone(),
                language: Language::Text,
                limits: crate::limits::current(),
                strict: false,
            };
            let (read_again, _) = source.tgsi()?;
            let limits = RunLimits::of_steps(MAX_STEPS);
            match compare_translated(before, &read_again, SEEDS, limits) {
                Verdict::Equal | Verdict::WithoutResult => {}
                Verdict::Different(reason) => return Ok(Outcome::Different { text, reason }),
                Verdict::Error(reason) => return Err(ShaderError::Other(format!("it cannot be run: {reason}"))),
            }
        }
        Ok(Outcome::Translated(Translated {
            before: instructions(before),
            after: instructions(&after),
            text: (text != object.text).then_some(text),
        }))
    }
}

/// Hosts read TGSI.
fn tgsi_of(code: Code) -> Result<Shader, ShaderError> {
    code.into_tgsi()
        .ok_or_else(|| ShaderError::Other("hosts of virgl read TGSI, the driver makes something else".into()))
}

/// One thread a processor, and some more so that a few long shaders leave room for short ones. Without them clients
/// translate on their own threads.
fn workers() -> Option<ThreadPool> {
    let count = thread::available_parallelism().map_or(1, usize::from).max(FEWEST_WORKERS);
    let builder = ThreadPoolBuilder::new().num_threads(count).stack_size(WORKER_STACK_BYTES);
    let built = builder.thread_name(|number| format!("worker-{number}")).build();
    built.inspect_err(|error| log::warn!("no threads of their own for shaders: {error}")).ok()
}

/// Logs a failure, on the thread of the client that sent the shader.
fn log_outcome(shader: &ShaderObject<'_>, outcome: &Outcome) {
    match outcome {
        Outcome::Translated(_) => {}
        Outcome::Failed(reason) => log::warn!("{}: {reason}", name_of(shader.stage, shader.text)),
        Outcome::Different { reason, .. } => {
            log::error!("{}: the translation differs: {reason}", name_of(shader.stage, shader.text));
        }
    }
}

/// Registers of outputs, with their semantics.
fn outputs(shader: &Shader) -> Vec<(u16, u16, String)> {
    let mut outputs: Vec<_> = shader
        .declarations
        .iter()
        .filter(|declaration| declaration.file == File::Output)
        .map(|declaration| (declaration.first, declaration.last, format!("{:?}", declaration.semantic)))
        .collect();
    outputs.sort();
    outputs
}

/// The message of a panic.
fn message_of(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}
