//! Checks a driver on generated shaders, and prints the first one with a defect, reduced.
//!
//! ```sh
//! cargo run -p tgsi-verify --example generated
//! ```

use std::process::ExitCode;

use tgsi_compiler::{Compiler, Driver};
use tgsi_driver_tgsi::{DRIVER, runner};
use tgsi_smith::from_seed;
use tgsi_smith::reduce::Limits;
use tgsi_verify::Checker;

/// Number of shaders.
const SHADERS: u64 = 200;

fn main() -> ExitCode {
    let target = DRIVER.target(&[]).expect("options of the driver");
    let compiler = Compiler::for_target(target.into());
    let checker = Checker { exact: true, ..Checker::new(compiler, &DRIVER, Some(runner)) };
    let config = checker.generator_config();
    for seed in 0..SHADERS {
        let shader = from_seed(seed, &config).expect("generated shaders are valid");
        if let Some(defect) = checker.verify_generated(&shader).defect() {
            let small = checker.reduce(&shader, &defect, Limits { candidates: 20_000 });
            let text = tgsi::text::print(&small, Default::default());
            println!("seed {seed}: {defect}\n{text}");
            return ExitCode::FAILURE;
        }
    }
    println!("{SHADERS} shaders compute the same at every stage");
    ExitCode::SUCCESS
}
