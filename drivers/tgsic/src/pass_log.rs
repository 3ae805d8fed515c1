//! Records pass runs for `--print-changed`, `--after`, `--time-passes` and `--texts`.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tgsi_ir::Shader;
use tgsi_ir::passes::pass_manager::{PassObserver, PassRun};

use crate::report::texts::{PassChange, difference};

/// Records the passes that run on one shader, and can stop after one of them.
#[derive(Default)]
pub struct PassLog {
    /// Stop after the first run of this pass.
    pub stop_after: Option<&'static str>,
    /// Whether that pass has run.
    pub stopped: bool,
    /// The IR after each pass that changed it, each under a line that names the pass and the round; `None` records
    /// nothing.
    pub changes: Option<String>,
    /// The changes of each pass; `None` records nothing.
    pub differences: Option<Differences>,
    /// Times of the passes.
    pub times: PassTimes,
}

impl PassObserver for PassLog {
    fn after(&mut self, run: &PassRun, shader: &Shader) -> ControlFlow<()> {
        self.times.add_run(run);
        if let Some(text) = &mut self.changes
            && run.changed
        {
            text.push_str(&format!("// after {}, round {}\n", run.name, run.round));
            text.push_str(&tgsi_ir::text::print(shader));
            text.push('\n');
        }
        if let Some(differences) = &mut self.differences
            && run.changed
        {
            differences.add(run.name, run.round.to_string(), shader);
        }
        if self.stop_after == Some(run.name) {
            self.stopped = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn after_driver(&mut self, run: &PassRun) {
        self.times.add_run(run);
    }
}

/// The changes of passes, in order.
pub struct Differences {
    /// The current IR.
    current: String,
    /// The change of each pass.
    pub passes: Vec<PassChange>,
}

impl Differences {
    /// Starts recording at this IR.
    pub fn new(start: String) -> Differences {
        Differences { current: start, passes: Vec::new() }
    }

    /// Records the change of a pass.
    pub fn add(&mut self, pass: &str, round: String, shader: &Shader) {
        let text = tgsi_ir::text::print(shader);
        let change = difference(&self.current, &text);
        self.passes.push(PassChange { pass: pass.to_owned(), round, change });
        self.current = text;
    }
}

/// Totals of the runs of one pass.
#[derive(Clone, Copy, Default)]
struct PassTime {
    runs: usize,
    changed: usize,
    time: Duration,
}

/// Run counts and times by pass.
#[derive(Default)]
pub struct PassTimes {
    by_pass: BTreeMap<&'static str, PassTime>,
}

impl PassTimes {
    fn add_run(&mut self, run: &PassRun) {
        self.add(run.name, PassTime { runs: 1, changed: usize::from(run.changed), time: run.time });
    }

    fn add(&mut self, name: &'static str, more: PassTime) {
        let total = self.by_pass.entry(name).or_default();
        total.runs += more.runs;
        total.changed += more.changed;
        total.time += more.time;
    }

    /// Formats a table, the slowest pass first.
    pub fn table(&self) -> String {
        let mut rows: Vec<(&str, PassTime)> = self.by_pass.iter().map(|(&name, &total)| (name, total)).collect();
        rows.sort_by_key(|&(_, total)| std::cmp::Reverse(total.time));
        let sum = rows.iter().fold(PassTime::default(), |sum, (_, row)| PassTime {
            runs: sum.runs + row.runs,
            changed: sum.changed + row.changed,
            time: sum.time + row.time,
        });
        rows.push(("all", sum));
        let mut text = format!("{:<34} {:>9} {:>9} {:>12}\n", "pass", "runs", "changed", "ms");
        for (name, PassTime { runs, changed, time }) in rows {
            text += &format!("{name:<34} {runs:>9} {changed:>9} {:>12.3}\n", time.as_secs_f64() * 1000.0);
        }
        text
    }
}

/// [`PassTimes`] summed over all shaders by many threads; `None` without `--time-passes`.
pub struct TotalTimes(Option<Mutex<PassTimes>>);

impl TotalTimes {
    /// Creates totals of zero, or disabled totals.
    pub fn new(enabled: bool) -> TotalTimes {
        TotalTimes(enabled.then(Mutex::default))
    }

    /// Returns whether times are recorded.
    pub fn is_enabled(&self) -> bool {
        self.0.is_some()
    }

    /// Adds the times of one shader.
    pub fn add(&self, times: &PassTimes) {
        if let Some(total) = &self.0 {
            let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
            for (&name, &more) in &times.by_pass {
                total.add(name, more);
            }
        }
    }

    /// Prints the table on standard error.
    pub fn print(self) {
        if let Some(total) = self.0 {
            crate::diagnostics::print(&total.into_inner().unwrap_or_else(PoisonError::into_inner).table());
        }
    }
}
