//! How shaders go through the passes: what the command line says of them, and what it wants to see on the way.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tgsi_compiler::{Compiler, Driver, UnknownOption};
use tgsi_ir::Shader;
use tgsi_ir::passes::pass_manager::{PassObserver, PassRun};
use tgsi_ir::passes::pipeline::{self, Level};
use tgsi_ir::passes::table::{PassId, PassSet};

/// A driver with its options, and the compiler for it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The driver.
    pub driver: &'static dyn Driver,
    /// Names of the options that are set.
    options: Vec<String>,
    /// The compiler.
    pub compiler: Compiler,
}

impl Plan {
    /// The plan for a driver with options of these names.
    ///
    /// # Errors
    /// The driver has no such option.
    pub fn new(driver: &'static dyn Driver, options: Vec<String>) -> Result<Plan, UnknownOption> {
        let names: Vec<&str> = options.iter().map(String::as_str).collect();
        let target = Arc::from(driver.target(&names)?);
        let compiler = Compiler::for_target(target).with_limits(crate::limits::current());
        Ok(Plan { driver, options, compiler })
    }

    /// The same at a level.
    pub fn with_level(self, level: Level) -> Plan {
        Plan { compiler: self.compiler.with_level(level), ..self }
    }

    /// The same without some passes.
    pub fn without_passes(self, skipped: PassSet) -> Plan {
        Plan { compiler: self.compiler.without_passes(skipped), ..self }
    }

    /// The default options of the same driver for hosts of virgl; `None` if this plan is for those, or the driver has
    /// no such option.
    pub fn for_virgl(&self) -> Option<Plan> {
        let is_virgl = self.options.iter().any(|option| option == VIRGL);
        let other = (!is_virgl).then(|| Plan::new(self.driver, vec![VIRGL.to_owned()]))?.ok()?;
        Some(other.with_level(self.compiler.level()))
    }
}

/// The option for hosts of virgl.
pub const VIRGL: &str = "virgl";

/// The pass of a name, if it runs in the pipelines.
pub fn pass_named(name: &str) -> Option<PassId> {
    pipeline::passes().into_iter().find(|pass| pass.info().name == name)
}

/// What there is to see of one shader on its way.
#[derive(Default)]
pub struct Watch {
    /// The pass after whose first run it ends.
    pub after: Option<&'static str>,
    /// Whether that run was.
    pub reached: bool,
    /// The IR after each pass that changed it, each under a line that names the pass and the round; `None`: not wanted.
    pub changes: Option<String>,
    /// Times of the passes.
    pub times: PassTimes,
}

impl PassObserver for Watch {
    fn after(&mut self, run: &PassRun, shader: &Shader) -> ControlFlow<()> {
        self.times.add_run(run);
        if let Some(text) = &mut self.changes
            && run.changed
        {
            text.push_str(&format!("// after {}, round {}\n", run.name, run.round));
            text.push_str(&tgsi_ir::text::print(shader));
            text.push('\n');
        }
        if self.after == Some(run.name) {
            self.reached = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn after_driver(&mut self, run: &PassRun) {
        self.times.add_run(run);
    }
}

/// What the runs of a pass come to.
#[derive(Clone, Copy, Default)]
struct PassTime {
    runs: usize,
    changed: usize,
    time: Duration,
}

/// Times by pass.
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

    /// A table, the pass that took longest first.
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

/// Times of the passes over all shaders, which are worked on at the same time; `None`: not wanted.
pub struct TotalTimes(Option<Mutex<PassTimes>>);

impl TotalTimes {
    /// Totals, if they are wanted.
    pub fn wanted(wanted: bool) -> TotalTimes {
        TotalTimes(wanted.then(Mutex::default))
    }

    /// Whether they are.
    pub fn are_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Adds those of a shader.
    pub fn add(&self, times: &PassTimes) {
        if let Some(total) = &self.0 {
            let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
            for (&name, &more) in &times.by_pass {
                total.add(name, more);
            }
        }
    }

    /// Shows the table on standard error.
    pub fn show(self) {
        if let Some(total) = self.0 {
            crate::diagnostics::print(&total.into_inner().unwrap_or_else(PoisonError::into_inner).table());
        }
    }
}
