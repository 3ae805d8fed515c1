//! Lists all passes by name, and runs some of them in any order.

use std::ops::ControlFlow;
use std::time::Instant;

use tgsi_ir::Shader;
use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::pass_manager::{PassObserver, PassRun, Round};
use tgsi_ir::passes::pipeline;
use tgsi_ir::passes::table::{PassFn, PassId};

/// A pass of the IR or of the register layer.
pub struct Pass {
    /// Its name.
    pub name: &'static str,
    /// Its effect, in one sentence.
    pub about: &'static str,
    /// Whether it is part of the pipelines.
    pub is_in_pipelines: bool,
    run: PassFn,
}

/// All passes.
pub fn all() -> impl Iterator<Item = Pass> {
    let in_pipelines = pipeline::passes();
    let of_ir = PassId::ALL.iter().map(move |pass| {
        let info = pass.info();
        let is_in_pipelines = in_pipelines.contains(pass);
        Pass { name: info.name, about: info.about, is_in_pipelines, run: info.run }
    });
    let of_legacy = tgsi_registers::PASSES.iter();
    of_ir.chain(of_legacy.map(|info| Pass {
        name: info.name,
        about: info.about,
        is_in_pipelines: false,
        run: info.run,
    }))
}

/// The names of all passes.
pub fn names() -> Vec<&'static str> {
    all().map(|pass| pass.name).collect()
}

/// Runs the named passes in order. The shader is validated after each.
///
/// # Errors
/// A name is unknown, or the shader is invalid after a pass.
pub fn run(
    shader: &mut Shader,
    names: &[String],
    options: &CompilerOptions,
    observer: &mut dyn PassObserver,
) -> Result<(), String> {
    for name in names {
        let pass = all().find(|pass| pass.name == name).ok_or_else(|| format!("no pass `{name}`"))?;
        let start = Instant::now();
        let changed = (pass.run)(shader, options);
        let run = PassRun { name: pass.name, round: Round::default(), changed, time: start.elapsed() };
        tgsi_ir::validate::validate(shader)
            .map_err(|errors| format!("the shader is not valid after {}: {errors}", pass.name))?;
        if let ControlFlow::Break(()) = observer.after(&run, shader) {
            break;
        }
    }
    Ok(())
}
