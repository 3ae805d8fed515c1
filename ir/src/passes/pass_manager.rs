//! Runs passes: a record of what each did, and in builds with debug assertions the validator after each that changed something.
//!
//! The record goes to the target `tgsi_ir::passes` of the `log` crate: at debug level passes that changed something, at trace level the others.
//!
//! [`run_pass`] is the one place where a pass runs. The pipelines run theirs through [`Passes`], which leaves out those it was told to, and shows
//! the shader after each to a [`PassObserver`] if there is one; without one, neither a clock nor anything else is asked. Drivers run what they do themselves through
//! [`Passes::run_driver`], so that observers hear of it too.

use std::fmt;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use log::{Level, log, log_enabled};

use crate::body::Body;
use crate::entities::Inst;
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
/// In builds with debug assertions, if the shader does not validate after a pass that changed it: the message names the pass. The shader must
/// have been valid before.
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

    /// A pass of a driver has run: over its own form of the program perhaps, and there is nothing to leave out, as all of them are needed.
    fn after_driver(&mut self, run: &PassRun) {
        let _ = run;
    }
}

/// Control over the passes of a pipeline. The default runs all of them unobserved.
#[derive(Default)]
pub struct Passes<'a> {
    skipped: &'a [&'static str],
    observer: Option<&'a mut dyn PassObserver>,
    round: Round,
    /// Rounds of cleaning so far.
    cleanings: usize,
    stopped: bool,
    settled: Vec<Settled>,
    changes: Changes,
}

/// The code in which a pass has nothing left to do.
struct Settled {
    name: &'static str,
    variant: u128,
    /// When it was so.
    time: u64,
    /// The same in the body, if there is one only, and that large.
    seen: Option<Seen>,
}

/// When something was so in a body.
#[derive(Clone, Copy)]
struct Seen {
    cfg_epoch: u64,
    /// See [`Body::changed_since`].
    change_time: u64,
}

impl Seen {
    /// In small bodies to run a pass costs no more than to look at what changed; builds with debug assertions do, to find passes that are wrong about what concerns them.
    #[inline]
    fn now(shader: &mut Shader) -> Option<Seen> {
        let mut bodies = shader.bodies_mut();
        let body = bodies.next().filter(|body| body.is_large() || cfg!(debug_assertions))?;
        let seen = Seen { cfg_epoch: body.cfg_epoch(), change_time: body.change_time() };
        bodies.next().is_none().then_some(seen)
    }

    /// Whether it is known that nothing has changed since then that concerns a pass.
    #[cold]
    fn is_still_so(self, shader: &Shader, concerns: Concerns) -> bool {
        let mut bodies = shader.functions.values().filter_map(|function| function.body.as_ref());
        let Some(body) = bodies.next().filter(|body| body.cfg_epoch() == self.cfg_epoch) else { return false };
        body.changed_since(self.change_time).is_some_and(|changed| {
            changed.len() <= MAX_CHANGES.max(body.num_insts() / 16) && !changed.iter().any(|&inst| concerns(body, inst))
        })
    }
}

/// Whether a pass may have something to do because an instruction has changed, which may be gone by now. It must not take long.
pub(super) type Concerns = fn(&Body, Inst) -> bool;

/// Changes up to which each of them is looked at, even in small bodies, before a pass runs again.
const MAX_CHANGES: usize = 16;

/// What a pass that ran leaves to itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Leaves {
    /// Nothing: run again at once, it changes nothing.
    Nothing,
    /// Perhaps something, if it changed anything.
    Something,
}

/// Whose changes a pass may sleep through, as they leave nothing to it: a set of these.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ignores(pub(super) u8);

impl Ignores {
    /// Nobody's.
    pub(super) const NONE: Ignores = Ignores(0);
    /// Those of `opt_dce` and `remove_dead_variables`: what is left computes what it did, from what it did.
    pub(super) const REMOVALS: Ignores = Ignores(1 << 1);
    /// Those of `opt_cse`: equal values are one.
    pub(super) const CSE: Ignores = Ignores(1 << 2);
    /// Those of `opt_constant_folding`: values are constants.
    pub(super) const FOLDING: Ignores = Ignores(1 << 3);
    /// Those of `opt_algebraic`: operands read what a rule gives, not a copy of it.
    pub(super) const RULES: Ignores = Ignores(1 << 4);
    /// Those of `opt_shrink_vectors`: what is left are components of what there was.
    pub(super) const NARROWING: Ignores = Ignores(1 << 5);

    pub(super) const fn and(self, other: Ignores) -> Ignores {
        Ignores(self.0 | other.0)
    }
}

/// When whose changes were last made, by bit of [`Ignores`]; first those that nobody ignores.
#[derive(Default)]
struct Changes {
    clock: u64,
    last: [u64; 6],
    /// The code as the passes left it.
    epoch: u64,
}

impl Changes {
    fn note(&mut self, name: &str) {
        let kind = match name {
            "opt_dce" | "remove_dead_variables" => 1,
            "opt_cse" => 2,
            "opt_constant_folding" => 3,
            "opt_algebraic" => 4,
            "opt_shrink_vectors" => 5,
            _ => 0,
        };
        self.clock += 1;
        self.last[kind] = self.clock;
    }

    /// Whether there was a change since some time that is not ignored.
    fn any_since(&self, time: u64, ignores: Ignores) -> bool {
        self.last.iter().enumerate().any(|(kind, &last)| last > time && ignores.0 >> kind & 1 == 0)
    }
}

/// A pass that runs again and again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Again {
    pub(super) name: &'static str,
    /// Which of the passes of that name.
    pub(super) variant: u128,
    pub(super) leaves: Leaves,
    pub(super) ignores: Ignores,
    /// Which changes may leave something to it, of those that are not ignored; if there is none, all.
    pub(super) concerns: Option<Concerns>,
}

impl<'a> Passes<'a> {
    /// The same without passes of these names.
    pub fn without(self, skipped: &'a [&'static str]) -> Self {
        Passes { skipped, ..self }
    }

    /// The same with an observer.
    pub fn observed_by(self, observer: &'a mut dyn PassObserver) -> Self {
        Passes { observer: Some(observer), ..self }
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

    /// Runs a pass like [`run`](Self::run), but not if since the same variant of it last had nothing left to do only passes that it [ignores](Ignores) have changed something, or only
    /// instructions have changed that do not [concern](Concerns) it. All calls must be about one shader.
    ///
    /// # Panics
    /// As [`run_pass`], and in builds with debug assertions if a change did concern the pass.
    pub(super) fn run_again(
        &mut self,
        shader: &mut Shader,
        again: Again,
        pass: impl FnOnce(&mut Shader) -> bool,
    ) -> bool {
        let Again { name, variant, leaves, ignores, concerns } = again;
        let epoch = shader.inst_epoch();
        if self.changes.epoch != epoch {
            // By somebody else.
            self.changes.note("");
            self.changes.epoch = epoch;
        }
        // Names are compared by place: where one text stands at two places, a run is not left out.
        let same = |s: &Settled| std::ptr::eq(s.name, name) && s.variant == variant;
        let known = self.settled.iter().position(same);
        if let Some(settled) = known.map(|i| &mut self.settled[i]) {
            if !self.changes.any_since(settled.time, ignores) {
                return false;
            }
            if let (Some(seen), Some(concerns)) = (settled.seen, concerns)
                && seen.is_still_so(shader, concerns)
            {
                settled.time = self.changes.clock;
                settled.seen = Seen::now(shader);
                #[cfg(debug_assertions)]
                assert!(
                    self.is_left_out(name) || !pass(&mut shader.clone()),
                    "changes concerned {name} and it was left out"
                );
                return false;
            }
        }
        // Its own changes may concern it too, once others have been made.
        let seen = concerns.and_then(|_| Seen::now(shader));
        let changed = self.run(shader, name, pass);
        if !changed || leaves == Leaves::Nothing {
            let settled = Settled { name, variant, time: self.changes.clock, seen };
            match known {
                Some(i) => self.settled[i] = settled,
                None => self.settled.push(settled),
            }
        }
        changed
    }

    fn is_left_out(&self, name: &str) -> bool {
        self.stopped || self.skipped.contains(&name)
    }

    /// Runs a pass, unless it is left out or the pipeline was ended, and returns whether it changed anything.
    ///
    /// # Panics
    /// As [`run_pass`].
    pub fn run(&mut self, shader: &mut Shader, name: &'static str, pass: impl FnOnce(&mut Shader) -> bool) -> bool {
        if self.is_left_out(name) {
            return false;
        }
        let Some(observer) = &mut self.observer else {
            let changed = run_pass(shader, name, pass);
            self.ran(shader, name, changed);
            return changed;
        };
        let start = Instant::now();
        let changed = run_pass(shader, name, pass);
        let run = PassRun { name, round: self.round, changed, time: start.elapsed() };
        self.stopped = observer.after(&run, shader).is_break();
        self.ran(shader, name, changed);
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

    fn ran(&mut self, shader: &Shader, name: &str, changed: bool) {
        if changed {
            self.changes.note(name);
        }
        self.changes.epoch = shader.inst_epoch();
    }
}
