//! The executors of shaders.

use tgsi_amber::Executor;
use tgsi_compiler::front_end::FrontEnd;
use tgsi_compiler::{Compiler, Driver, Stage};
use tgsi_environment::RunLimits;
use tgsi_verify::{Checker, ExecutorKind};

/// The limit of instructions of a run: loops of the scripts end before.
const STEPS: u64 = 50_000_000;

/// Executors by name.
pub struct Executors {
    front_end: &'static dyn FrontEnd,
    list: Vec<(Checker, ExecutorKind)>,
}

/// Returns a checker for code of a driver that can be run.
fn checker(name: &str) -> Checker {
    let row = tgsi_registry::find_row(name).expect("a driver");
    let target = row.driver.target(&[]).expect("no options");
    let compiler = tgsi_registry::compiler_for_runs(Compiler::for_target(target.into()));
    Checker::new(compiler, row.driver, row.runner)
}

impl Executors {
    /// All names: the stages of the IR for the TGSI driver, TGSI, and machine code.
    pub const NAMES: [&'static str; 6] = ["parsed", "ssa", "opt", "registers", "tgsi", "cpu"];

    /// Executors with these names.
    pub fn new(names: &[&str]) -> Executors {
        let front_end = tgsi_registry::find_front_end("spirv").expect("a front end");
        let tgsi = |kind| (checker("tgsi"), kind);
        let list = names.iter().map(|name| match *name {
            "parsed" => tgsi(ExecutorKind::Stage(Stage::Parsed)),
            "ssa" => tgsi(ExecutorKind::Stage(Stage::Ssa)),
            "opt" => tgsi(ExecutorKind::Stage(Stage::Opt)),
            "registers" => tgsi(ExecutorKind::Stage(Stage::Registers)),
            driver => {
                let checker = checker(driver);
                let name = Driver::name(checker.driver);
                (checker, ExecutorKind::Driver(name))
            }
        });
        Executors { front_end, list: list.collect() }
    }

    /// The executors, in the order of their names.
    pub fn list(&self) -> impl Iterator<Item = Executor<'_>> {
        self.list.iter().map(|(checker, kind)| Executor {
            front_end: self.front_end,
            checker,
            kind: *kind,
            limits: RunLimits { steps: STEPS, ..RunLimits::default() },
        })
    }
}
