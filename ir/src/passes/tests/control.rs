//! Tests the control over pipelines.

use std::ops::ControlFlow;

use super::*;
use crate::passes::pass_manager::{PassObserver, PassRun, Passes, Round};
use crate::passes::pipeline::{OptLevel, into_ssa_with, optimize_with};
use crate::passes::table::{PassId, PassSet};
use crate::shader::ShaderStage;

const OPTIONS: Options = Options { statements: 30, functions: 2, returns: true, kills: false };

/// Records all runs, and stops after the `end`th.
struct Recorder {
    runs: Vec<PassRun>,
    texts: Vec<String>,
    end: usize,
}

fn recorded(seed: u64, skipped: &[PassId], level: OptLevel, end: usize) -> (Recorder, Shader) {
    recorded_of(random_shader(seed, OPTIONS), skipped, level, end)
}

fn recorded_of(mut shader: Shader, skipped: &[PassId], level: OptLevel, end: usize) -> (Recorder, Shader) {
    let mut recorder = Recorder { runs: Vec::new(), texts: Vec::new(), end };
    let mut passes = Passes::default().without(PassSet::of(skipped)).observed_by(&mut recorder);
    let options = CompilerOptions { source_modifiers: true, ..CompilerOptions::default() };
    into_ssa_with(&mut shader, &mut passes);
    optimize_with(&mut shader, &options, level, &mut passes);
    assert_eq!(passes.stopped(), recorder.runs.len() == end);
    (recorder, shader)
}

impl PassObserver for Recorder {
    fn after(&mut self, run: &PassRun, shader: &Shader) -> ControlFlow<()> {
        self.runs.push(*run);
        self.texts.push(print(shader));
        if self.runs.len() == self.end { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn names(recorder: &Recorder) -> Vec<&'static str> {
    let mut names = Vec::new();
    for run in &recorder.runs {
        if !names.contains(&run.name) {
            names.push(run.name);
        }
    }
    names
}

#[test]
fn the_list_of_passes_is_what_runs() {
    let sorted = |names: &[&'static str]| {
        let mut names = names.to_vec();
        names.sort_unstable();
        names
    };
    let passes: Vec<_> = pipeline::passes().iter().map(|pass| pass.info().name).collect();
    // The list has the order for code of one block; with control flow some passes run earlier as well.
    let (recorder, _) = recorded_of(Shader::new(ShaderStage::Vertex), &[], OptLevel::Full, usize::MAX);
    assert_eq!(names(&recorder), passes);
    for seed in 0..20 {
        let (recorder, _) = recorded(seed, &[], OptLevel::Full, usize::MAX);
        assert_eq!(sorted(&names(&recorder)), sorted(&passes));
        let (recorder, _) = recorded(seed, &[PassId::opt_dce, PassId::opt_if], OptLevel::Full, usize::MAX);
        assert_eq!(names(&recorder).len(), passes.len() - 2);
        assert!(!names(&recorder).contains(&"opt_if") && !names(&recorder).contains(&"opt_dce"));
    }
}

#[test]
fn the_optimiser_does_not_repeat_what_into_ssa_has_done() {
    let (recorder, _) = recorded_of(Shader::new(ShaderStage::Vertex), &[], OptLevel::Full, usize::MAX);
    for name in ["opt_copy_prop", "opt_constant_folding", "opt_dead_cf", "lower_reg_intrinsics_to_ssa"] {
        assert_eq!(recorder.runs.iter().filter(|run| run.name == name).count(), 1, "{name}");
    }
}

#[test]
fn control_changes_nothing_by_itself() {
    for seed in 0..20 {
        let (recorder, controlled) = recorded(seed, &[], OptLevel::Full, usize::MAX);
        let mut plain = random_shader(seed, OPTIONS);
        into_ssa(&mut plain);
        pipeline::optimize(&mut plain, &CompilerOptions { source_modifiers: true, ..CompilerOptions::default() });
        assert_eq!(print(&plain), print(&controlled), "seed {seed}");
        // A pass that reports no change has not changed the shader.
        for (run, texts) in recorder.runs[1..].iter().zip(recorder.texts.windows(2)) {
            assert!(run.changed || texts[0] == texts[1], "seed {seed}: {}", run.name);
        }
    }
}

#[test]
fn the_end_is_where_the_observer_says() {
    for seed in 0..10 {
        let (all, _) = recorded(seed, &[], OptLevel::Full, usize::MAX);
        for end in (1..all.runs.len()).step_by(7) {
            let (some, shader) = recorded(seed, &[], OptLevel::Full, end);
            assert_eq!((some.runs.len(), &print(&shader)), (end, &all.texts[end - 1]), "seed {seed}");
        }
    }
}

#[test]
fn levels_and_rounds() {
    for seed in 0..20 {
        let (recorder, _) = recorded(seed, &[], OptLevel::LowerOnly, usize::MAX);
        assert!(recorder.runs.iter().all(|run| run.round.optimizing == 0));
        assert!(!names(&recorder).contains(&"opt_if") && names(&recorder).contains(&"opt_algebraic_late"));
        let (recorder, _) = recorded(seed, &[], OptLevel::NoSizeGrowth, usize::MAX);
        assert!(!recorder.runs.iter().any(|run| run.name == "opt_loop_unroll" && run.changed));
        let first = |name: &str| recorder.runs.iter().find(|run| run.name == name).map(|run| run.round);
        assert_eq!(first("inline_functions"), Some(Round { optimizing: 0, cleaning: 0 }));
        assert_eq!(first("opt_copy_prop"), Some(Round { optimizing: 0, cleaning: 0 }));
        assert_eq!(first("opt_algebraic"), Some(Round { optimizing: 0, cleaning: 1 }));
        assert_eq!(first("opt_if"), Some(Round { optimizing: 1, cleaning: 0 }));
    }
}
