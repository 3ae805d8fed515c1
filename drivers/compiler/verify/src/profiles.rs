//! Tests that the profiles of the IR keep the meaning of TGSI shaders.

use tgsi_compiler::{Compiler, Stage};
use tgsi_driver_tgsi::TgsiOptions;
use tgsi_environment::RunLimits;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::passes::profiles::PROFILES;
use tgsi_smith::{Config, from_seed};

use crate::executor::Executor;
use crate::inputs::{self, InputKind};
use crate::mismatch::{Rule, first_mismatch};

/// Shaders that each profile runs on.
const SHADERS: u64 = 300;

#[test]
fn profiles_keep_the_meaning() {
    let compiler = Compiler::new(TgsiOptions::default());
    let limits = RunLimits::of_steps(2_000_000);
    let mut changed = vec![0; PROFILES.len()];
    for seed in 0..SHADERS {
        let source = from_seed(seed, &Config::default()).expect("a shader");
        let executor = Executor::tgsi(&source).unwrap_or_else(|problem| panic!("{problem}"));
        let opt = compiler.ir_at(Stage::Opt, &source).unwrap_or_else(|error| panic!("{error}"));
        for (profile, changed) in PROFILES.iter().zip(&mut changed) {
            let mut ir = opt.clone();
            let options = compiler.target().compiler_options(ir.stage);
            *changed += u64::from(profile.run(&mut ir, &options, &mut Passes::default()));
            tgsi_ir::validate::validate(&ir).unwrap_or_else(|errors| panic!("seed {seed}, {}: {errors}", profile.name));
            let after = Executor::ir(&ir);
            for kind in 0..3 {
                let inputs = inputs::make_inputs(&source, kind);
                let Ok(expected) = executor.run(&inputs, limits) else { continue };
                let found = after.run(&inputs, limits);
                let found = found.unwrap_or_else(|p| panic!("seed {seed}, {}: {p}", profile.name));
                // Counters are in buffers then.
                let is_moved = profile.name == "resources" && !expected.outputs.counters.is_empty();
                let mismatch = first_mismatch(&source, Rule::Close(InputKind::of_seed(kind)), &expected, &found);
                if let Some(mismatch) = mismatch.filter(|_| !is_moved) {
                    panic!("seed {seed}, {}, inputs {kind}: {mismatch}", profile.name);
                }
            }
        }
    }
    for (profile, changed) in PROFILES.iter().zip(changed) {
        assert!(changed > SHADERS / 8, "{} changed {changed} shaders", profile.name);
    }
}
