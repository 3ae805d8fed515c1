//! Mutations that preserve the meaning leave shaders valid with the same results; others never make the check panic.

use super::{change_surroundings, keep_meaning, round_otherwise, spoil};
use crate::{Config, from_seed};
use tgsi::check::check;
use tgsi::tables::{File, Processor};
use tgsi::text::print;
use tgsi_environment::{AnalyticResources, Inputs, RunLimits};
use tgsi_run::{Program, run};

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
        // The clock counts steps, but it is not used.
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
            // It may run forever, but must not panic.
            let _ = run(&program, &Inputs { lanes: 4, ..Inputs::default() }, &mut AnalyticResources::default(), limits);
        }
    }
    assert!((100..600).contains(&refused), "{refused} of 600 refused");
}

#[test]
fn other_surroundings_are_valid_and_keep_what_stays() {
    let mut changed = 0;
    for seed in 0..300 {
        let shader = from_seed(seed, &Config::default()).expect("a shader");
        if matches!(shader.processor, Processor::Fragment | Processor::Compute) {
            assert_eq!(change_surroundings(&shader, seed).shader, shader);
            continue;
        }
        let variant = change_surroundings(&shader, seed);
        changed += usize::from(variant.shader != shader);
        let texts =
            || format!("{}\n{}", print(&shader, Default::default()), print(&variant.shader, Default::default()));
        for result in [&variant.shader, &round_otherwise(&variant.shader)] {
            assert!(!check(result).has_errors(), "seed {seed}: {:?}\n{}", check(result).diagnostics, texts());
        }
        let outputs = |shader| {
            let program = Program::new(shader).expect("it runs");
            let inputs = Inputs { lanes: 4, shared_size: 1024, buffers: vec![vec![0; 1024]; 4], ..Inputs::default() };
            run(&program, &inputs, &mut AnalyticResources::default(), RunLimits::default()).expect("it ends").outputs
        };
        let (before, after) = (outputs(&shader), outputs(&variant.shader));
        let declared = shader.declarations.iter().filter(|d| d.file == File::Output);
        for register in declared.flat_map(|d| d.first..=d.last).filter(|r| !variant.dropped.contains(r)) {
            for component in 0..4 {
                let words = |of: &tgsi_environment::LaneRegisters| of.component(register.into(), component).to_vec();
                assert_eq!(words(&before), words(&after), "seed {seed}\n{}", texts());
            }
        }
    }
    assert!(changed > 100, "{changed} of 300 changed");
}

#[test]
fn other_rounding_is_about_the_same() {
    let text = "VERT\nDCL OUT[0], POSITION\nIMM FLT32 {0.1, 0.7, 0.3, 1.7}\n\
                LRP OUT[0].x, IMM[0].xxxx, IMM[0].yyyy, IMM[0].zzzz\nMAD OUT[0].y, IMM[0].xxxx, IMM[0].yyyy, IMM[0].zzzz\n\
                DP2 OUT[0].z, IMM[0], IMM[0].yxwz\nDP4 OUT[0].w, IMM[0], IMM[0].yxwz\nEND\n";
    let shader = tgsi::text::parse(text.as_bytes()).expect("valid text").shader;
    let outputs = |shader: &tgsi::Shader| {
        let program = Program::new(shader).expect("it runs");
        let inputs = Inputs { lanes: 4, ..Inputs::default() };
        let outputs = run(&program, &inputs, &mut AnalyticResources::default(), RunLimits::default()).expect("it ends");
        [0, 1, 2, 3].map(|c| f32::from_bits(outputs.outputs.component(0, c)[0]))
    };
    let (one, other) = (outputs(&shader), outputs(&round_otherwise(&shader)));
    assert!(one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-6), "{one:?} {other:?}");
    assert_ne!(one, other);
}
