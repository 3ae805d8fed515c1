//! `passes`: the list of passes, and `ir --passes`, which runs some of them.

use std::ops::ControlFlow;
use std::time::Instant;

use tgsi_ir::Shader;
use tgsi_ir::passes::pass_manager::{PassObserver, PassRun, Round};
use tgsi_ir::passes::pipeline;
use tgsi_ir::passes::profiles::PROFILES;
use tgsi_ir::passes::table::{PassFn, PassId};

use super::{Failure, Status};
use crate::input::Problem;
use crate::output;
use crate::plan::{Plan, Watch};

/// All passes: name, sentence, function.
fn all() -> impl Iterator<Item = (&'static str, &'static str, PassFn)> {
    let of_ir = PassId::ALL.iter().map(|pass| pass.info()).map(|info| (info.name, info.about, info.run));
    of_ir.chain(tgsi_legacy::PASSES.iter().map(|pass| (pass.name, pass.about, pass.run)))
}

/// The names of all passes.
pub fn names() -> Vec<&'static str> {
    all().map(|(name, ..)| name).collect()
}

/// Lists the passes. Those of the pipelines have a star.
pub fn list() -> Result<Status, Failure> {
    let in_pipelines = pipeline::passes();
    let is_in_pipelines = |name: &str| in_pipelines.iter().any(|pass| pass.info().name == name);
    let mut text = String::new();
    for (name, about, _) in all() {
        let star = if is_in_pipelines(name) { '*' } else { ' ' };
        text += &format!("{star} {name:<36} {about}\n");
    }
    text += "* part of the pipelines `ssa` and `opt`\n\nProfiles of targets, which drivers run when they lower:\n";
    for profile in PROFILES {
        text += &format!("  {:<36} {}\n", profile.name, profile.about);
    }
    output::write_stdout(text.as_bytes())?;
    Ok(Status::Well)
}

/// Runs passes of these names in order. The shader is validated after each.
pub fn run(shader: &mut Shader, names: &[String], plan: &Plan, watch: &mut Watch) -> Result<(), Problem> {
    let options = plan.compiler.target().compiler_options();
    for name in names {
        let Some((name, _, pass)) = all().find(|(other, ..)| other == name) else {
            return Err(Problem::Other(format!("no pass `{name}`")));
        };
        let start = Instant::now();
        let changed = pass(shader, &options);
        let run = PassRun { name, round: Round::default(), changed, time: start.elapsed() };
        if let Err(errors) = tgsi_ir::validate::validate(shader) {
            return Err(Problem::Other(format!("the shader is not valid after {name}: {errors}")));
        }
        if let ControlFlow::Break(()) = watch.after(&run, shader) {
            break;
        }
    }
    Ok(())
}
