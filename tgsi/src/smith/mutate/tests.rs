//! What keeps the meaning stays valid and computes the same; what spoils it never makes the check panic.

use super::{keep_meaning, spoil};
use crate::check::check;
use crate::run::{Program, run};
use crate::smith::{Config, from_seed};
use crate::text::print;
use tgsi_ir::run::environment::{AnalyticResources, Inputs, RunLimits};

#[test]
fn meaning_is_kept() {
    for seed in 0..300 {
        let shader = from_seed(seed, &Config::default()).expect("a shader");
        let mutated = keep_meaning(&shader, seed);
        let texts = || format!("{}\n{}", print(&shader, Default::default()), print(&mutated, Default::default()));
        assert!(!check(&mutated).has_errors(), "seed {seed}: {:?}\n{}", check(&mutated).diagnostics, texts());
        let result = |shader| {
            let program = Program::new(shader).expect("it runs");
            let inputs = Inputs { lanes: 4, shared_size: 1024, buffers: vec![vec![0; 1024]; 4], ..Inputs::default() };
            let mut resources = AnalyticResources::default();
            let outputs = run(&program, &inputs, &mut resources, RunLimits::default()).expect("it ends");
            (outputs.outputs, outputs.buffers, outputs.emitted, outputs.vertices, outputs.live)
        };
        // The clock counts steps, but nobody reads it.
        assert_eq!(result(&shader), result(&mutated), "seed {seed}\n{}", texts());
    }
}

#[test]
fn spoilt_shaders_are_refused_or_run() {
    let limits = RunLimits { steps: 2000, ..RunLimits::default() };
    let mut refused = 0;
    for seed in 0..600 {
        let shader = from_seed(seed, &Config { size: 20, ..Config::default() }).expect("a shader");
        let spoilt = spoil(&shader, seed);
        if check(&spoilt).has_errors() {
            refused += 1;
        } else if let Ok(program) = Program::new(&spoilt) {
            // It may run for ever, but must not break anything.
            let _ = run(&program, &Inputs { lanes: 4, ..Inputs::default() }, &mut AnalyticResources::default(), limits);
        }
    }
    assert!((100..600).contains(&refused), "{refused} of 600 refused");
}
