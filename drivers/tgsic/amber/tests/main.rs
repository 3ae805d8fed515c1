//! Plays scripts with all executors: those of this folder, and those of an archive if there is one.
//!
//! `TGSIC_AMBER` is a folder with scripts, or an archive that `tar` unpacks; else `frontends/amber.tar.xz` in the folder
//! with reference data is used. `TGSIC_AMBER_FILTER` is a part of the names of scripts to play, `TGSIC_AMBER_VIA` a
//! list of executors, such as `cpu,tgsi`.

mod archive;
mod executors;

use std::path::Path;

use libtest_mimic::{Arguments, Failed, Trial};

use executors::Executors;

fn main() {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let programs = tgsi_amber::programs();
    let mut trials: Vec<Trial> = Vec::new();
    for file in archive::scripts_below(&folder) {
        for name in Executors::NAMES {
            let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let file = file.clone();
            let trial = Trial::test(format!("scripts::{stem}::{name}"), move || play(&file, name));
            trials.push(trial.with_ignored_flag(programs.is_err()));
        }
    }
    let data = archive::source();
    let is_ignored = programs.is_err() || data.is_none();
    let trial = Trial::test("archive", move || archive::play(data.as_deref()));
    trials.push(trial.with_ignored_flag(is_ignored));
    libtest_mimic::run(&arguments, trials).exit();
}

/// Plays a script, which must not be refused.
fn play(file: &Path, name: &str) -> Result<(), Failed> {
    let executors = Executors::new(&[name]);
    let script = archive::read(file).map_err(|refusal| refusal.to_string())?;
    let modules = tgsi_amber::Modules::of(&script).map_err(|refusal| refusal.to_string())?;
    for executor in executors.list() {
        let outcome = tgsi_amber::play(&script, &modules, executor).map_err(|refusal| refusal.to_string())?;
        let failures: Vec<String> =
            outcome.failures.iter().map(|failure| format!("line {}: {}", failure.line, failure.message)).collect();
        if !failures.is_empty() {
            return Err(failures.join("\n").into());
        }
        assert!(outcome.expectations > 0, "nothing is expected");
    }
    Ok(())
}
