//! Runs passes, logs the result of each and, in builds with debug assertions, validates the shader after each pass that
//! changed it.
//!
//! The log target is `tgsi_ir::passes` of the `log` crate: passes that changed the shader are logged at debug level,
//! the others at trace level.
//!
//! All passes run through [`run_pass`]. The pipelines use [`Passes`], which skips excluded passes and shows the shader
//! after each pass to a [`PassObserver`], if present; without an observer, passes are not timed. Drivers run their own
//! passes through [`Passes::run_driver`], so observers see them too.
//!
//! A pass that runs repeatedly runs only when it is *due*: when another pass has made a change that may give it work,
//! according to the rows of the [table](super::table). This is the only mechanism for not running passes needlessly.

use std::fmt;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use log::{Level, log, log_enabled};

use crate::options::CompilerOptions;
use crate::passes::pass_table::{PassSet, Schedule};
use crate::passes::table::Pass;
use crate::shader::Shader;

/// The log target.
#[doc(hidden)]
pub const LOG_TARGET: &str = "tgsi_ir::passes";

/// Returns the number of instructions in all bodies.
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

/// The position in a pipeline: shown as `2.3`, the third clean-up round of the optimiser's second round.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Round {
    /// Round of the optimiser, from 1; 0 before it.
    pub optimizing: usize,
    /// Clean-up round within it, from 1; 0 outside of clean-up.
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
    /// Its position in the pipeline.
    pub round: Round,
    /// Whether it changed anything.
    pub changed: bool,
    /// Its time, including the validator's in builds with debug assertions.
    pub time: Duration,
}

/// Observes the shader after every pass.
pub trait PassObserver {
    /// Called after a pass. [`ControlFlow::Break`] stops the pipeline and leaves the shader as it is.
    fn after(&mut self, run: &PassRun, shader: &Shader) -> ControlFlow<()>;

    /// Called after a pass of a driver, which may work on the driver's own form of the program. The driver's passes are
    /// all required, so they cannot be stopped.
    fn after_driver(&mut self, run: &PassRun) {
        let _ = run;
    }
}

/// Controls the passes of a pipeline. The default runs all of them without an observer.
#[derive(Default)]
pub struct Passes<'a> {
    skipped: PassSet,
    observer: Option<&'a mut dyn PassObserver>,
    round: Round,
    /// Number of clean-up rounds so far.
    cleanings: usize,
    stopped: bool,
    /// The time at which to stop optimising.
    deadline: Option<Instant>,
    /// The passes that are due.
    schedule: Schedule,
}

impl<'a> Passes<'a> {
    /// Skips these passes.
    pub fn without(self, skipped: PassSet) -> Self {
        Passes { skipped, ..self }
    }

    /// Sets an observer.
    pub fn observed_by(self, observer: &'a mut dyn PassObserver) -> Self {
        Passes { observer: Some(observer), ..self }
    }

    /// Sets a time at which to stop optimising. Lowerings that the target needs still run after it.
    pub fn until(self, deadline: Option<Instant>) -> Self {
        Passes { deadline, ..self }
    }

    /// Returns whether the deadline has passed.
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Returns whether the observer has stopped the pipeline.
    pub fn stopped(&self) -> bool {
        self.stopped
    }

    /// Returns the position in the pipeline for updating.
    pub(super) fn round_mut(&mut self) -> &mut Round {
        &mut self.round
    }

    /// Counts a clean-up round; returns whether the count is at most `most`.
    pub(super) fn may_clean(&mut self, most: usize) -> bool {
        self.cleanings += 1;
        self.cleanings <= most
    }

    /// Marks all passes as due, as they are initially.
    pub(super) fn set_all_due(&mut self) {
        self.schedule = Schedule::default();
    }

    /// Runs the passes of a list that are due, in order. Returns whether any changed the shader.
    ///
    /// # Panics
    /// As [`run_pass`].
    pub(super) fn run_due(&mut self, shader: &mut Shader, passes: &[Pass], options: &CompilerOptions) -> bool {
        let mut schedule = self.schedule;
        let progress = schedule.run_due(shader, passes, |shader, pass| {
            let applies = (pass.applies)(shader);
            self.run_where(shader, pass, options, applies)
        });
        self.schedule = schedule;
        progress
    }

    /// Runs a pass, unless it is skipped or the pipeline has stopped, and returns whether it changed the shader.
    ///
    /// # Panics
    /// As [`run_pass`].
    pub fn run(&mut self, shader: &mut Shader, pass: Pass, options: &CompilerOptions) -> bool {
        self.schedule.note_run(pass);
        let changed = self.run_where(shader, pass, options, true);
        if changed {
            self.schedule.note_change(shader, pass);
        }
        changed
    }

    /// Runs a pass if it `applies`; otherwise it changes nothing, but is still reported to the observer.
    fn run_where(&mut self, shader: &mut Shader, pass: Pass, options: &CompilerOptions, applies: bool) -> bool {
        if self.stopped || self.skipped.has(pass.number) {
            return false;
        }
        match &mut self.observer {
            None if !applies => false,
            None => run_pass(shader, pass.name, |shader| (pass.run)(shader, options)),
            Some(observer) => {
                let start = Instant::now();
                let changed = applies && run_pass(shader, pass.name, |shader| (pass.run)(shader, options));
                let run = PassRun { name: pass.name, round: self.round, changed, time: start.elapsed() };
                self.stopped = observer.after(&run, shader).is_break();
                changed
            }
        }
    }

    /// Runs a pass of a driver, on any data, and returns whether it changed anything. Such a pass is never skipped.
    pub fn run_driver(&mut self, name: &'static str, pass: impl FnOnce() -> bool) -> bool {
        let Some(observer) = &mut self.observer else { return pass() };
        let start = Instant::now();
        let changed = pass();
        observer.after_driver(&PassRun { name, round: Round::default(), changed, time: start.elapsed() });
        changed
    }

    /// Runs a pass of a driver over the IR, as [`run_pass`], and returns whether it changed anything.
    pub fn run_on(&mut self, shader: &mut Shader, name: &'static str, pass: impl FnOnce(&mut Shader) -> bool) -> bool {
        self.run_driver(name, || run_pass(shader, name, pass))
    }
}
