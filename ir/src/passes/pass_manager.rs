//! Runs passes: a record of what each did, and in builds with debug assertions the validator after each that changed
//! something.
//!
//! The record goes to the target `tgsi_ir::passes` of the `log` crate: at debug level passes that changed something, at
//! trace level the others.
//!
//! All passes run through [`run_pass`]. The pipelines run theirs through [`Passes`], which leaves out those
//! it was told to, and shows the shader after each to a [`PassObserver`] if there is one; without one, neither a clock
//! nor anything else is asked. Drivers run what they do themselves through [`Passes::run_driver`], so that observers
//! hear of it too.
//!
//! Passes that run again and again do so only when they are *due*: when a pass has changed something that may leave
//! them something to do, as the rows of the [table](super::table) say. That is the one mechanism for not running a pass
//! needlessly.

use std::fmt;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use log::{Level, log, log_enabled};

use crate::options::CompilerOptions;
use crate::passes::table::{Pass, PassSet};
use crate::shader::Shader;

/// Target of the record.
pub const LOG_TARGET: &str = "tgsi_ir::passes";

/// Number of instructions in all bodies.
pub fn count_instructions(shader: &Shader) -> usize {
    let bodies = shader.functions.values().filter_map(|f| f.body.as_ref());
    bodies.map(|body| body.blocks().map(|block| body.insts(block).count()).sum::<usize>()).sum()
}

/// Runs a pass under a name and returns whether it changed anything.
///
/// # Panics
/// In builds with debug assertions, if the shader does not validate after a pass that changed it: the message names the
/// pass. The shader must have been valid before.
pub fn run_pass(shader: &mut Shader, name: &str, pass: impl FnOnce(&mut Shader) -> bool) -> bool {
    let recording = log_enabled!(target: LOG_TARGET, Level::Debug);
    let before = if recording { count_instructions(shader) } else { 0 };
    let start = recording.then(Instant::now);
    let progress = pass(shader);
    if let Some(start) = start {
        let time = start.elapsed();
        let after = count_instructions(shader);
        let level = if progress { Level::Debug } else { Level::Trace };
        let verdict = if progress { "changed" } else { "no change" };
        log!(target: LOG_TARGET, level, "{name}: {verdict}, {before} -> {after} instructions, {time:?}");
    }
    #[cfg(debug_assertions)]
    if progress && let Err(errors) = crate::validate::validate(shader) {
        panic!("pass {name} broke the shader: {errors}");
    }
    progress
}

/// Where a pipeline is: shown as `2.3`, the third round of cleaning within the second round of the optimiser.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Round {
    /// Round of the optimiser, from 1; 0 before it.
    pub optimizing: usize,
    /// Round of cleaning there, from 1; 0 outside of it.
    pub cleaning: usize,
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.optimizing, self.cleaning)
    }
}

/// One run of a pass in a pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PassRun {
    /// The pass.
    pub name: &'static str,
    /// When.
    pub round: Round,
    /// Whether it changed anything.
    pub changed: bool,
    /// Time it took (in builds with debug assertions that of the validator too).
    pub time: Duration,
}

/// Someone who looks at the shader after every pass.
pub trait PassObserver {
    /// A pass has run; [`ControlFlow::Break`] leaves the shader as it is now: no pass after this one runs.
    fn after(&mut self, run: &PassRun, shader: &Shader) -> ControlFlow<()>;

    /// A pass of a driver has run: over its own form of the program perhaps, and there is nothing to leave out, as all
    /// of them are needed.
    fn after_driver(&mut self, run: &PassRun) {
        let _ = run;
    }
}

/// Control over the passes of a pipeline. The default runs all of them unobserved.
#[derive(Default)]
pub struct Passes<'a> {
    skipped: PassSet,
    observer: Option<&'a mut dyn PassObserver>,
    round: Round,
    /// Rounds of cleaning so far.
    cleanings: usize,
    stopped: bool,
    /// When to stop optimising.
    deadline: Option<Instant>,
    /// Passes that have nothing to do until another changes something. The others are due.
    settled: PassSet,
}

impl<'a> Passes<'a> {
    /// The same without some passes.
    pub fn without(self, skipped: PassSet) -> Self {
        Passes { skipped, ..self }
    }

    /// The same with an observer.
    pub fn observed_by(self, observer: &'a mut dyn PassObserver) -> Self {
        Passes { observer: Some(observer), ..self }
    }

    /// The same with a time at which to stop optimising. What a target needs is still done after it.
    pub fn until(self, deadline: Option<Instant>) -> Self {
        Passes { deadline, ..self }
    }

    /// Whether it is time to stop optimising.
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether the observer has ended it.
    pub fn stopped(&self) -> bool {
        self.stopped
    }

    /// Says where the pipeline is.
    pub(super) fn round_mut(&mut self) -> &mut Round {
        &mut self.round
    }

    /// Counts one more round of cleaning; whether there are no more than so many.
    pub(super) fn may_clean(&mut self, most: usize) -> bool {
        self.cleanings += 1;
        self.cleanings <= most
    }

    /// Says that any pass may have something to do. Before the first one runs that is so.
    pub(super) fn set_all_due(&mut self) {
        self.settled = PassSet::default();
    }

    /// Runs those of a list that are due, in order. Returns whether any changed something.
    ///
    /// # Panics
    /// As [`run_pass`].
    pub(super) fn run_due(&mut self, shader: &mut Shader, passes: &[Pass], options: &CompilerOptions) -> bool {
        let mut progress = false;
        for &pass in passes {
            if self.settled.insert(pass.id) && self.run_where(shader, pass, options, pass.applies(shader)) {
                progress = true;
            }
        }
        progress
    }

    /// Runs a pass, unless it is left out or the pipeline was ended, and returns whether it changed anything.
    ///
    /// # Panics
    /// As [`run_pass`].
    pub fn run(&mut self, shader: &mut Shader, pass: Pass, options: &CompilerOptions) -> bool {
        self.settled.insert(pass.id);
        self.run_where(shader, pass, options, true)
    }

    /// The same. A pass that does not apply to the shader changes nothing; the observer hears of it like of others.
    fn run_where(&mut self, shader: &mut Shader, pass: Pass, options: &CompilerOptions, applies: bool) -> bool {
        if self.stopped || self.skipped.contains(pass.id) {
            return false;
        }
        let changed = match &mut self.observer {
            None if !applies => false,
            None => run_pass(shader, pass.name, |shader| (pass.run)(shader, options)),
            Some(observer) => {
                let start = Instant::now();
                let changed = applies && run_pass(shader, pass.name, |shader| (pass.run)(shader, options));
                let run = PassRun { name: pass.name, round: self.round, changed, time: start.elapsed() };
                self.stopped = observer.after(&run, shader).is_break();
                changed
            }
        };
        if changed {
            self.settled.remove_all(pass.enables(shader));
        }
        changed
    }

    /// Runs a pass of a driver, whatever it works on, and returns whether it changed anything. It is never left out.
    pub fn run_driver(&mut self, name: &'static str, pass: impl FnOnce() -> bool) -> bool {
        let Some(observer) = &mut self.observer else { return pass() };
        let start = Instant::now();
        let changed = pass();
        observer.after_driver(&PassRun { name, round: Round::default(), changed, time: start.elapsed() });
        changed
    }
}
