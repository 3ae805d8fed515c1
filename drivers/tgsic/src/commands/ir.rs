//! `ir`: the IR of shaders at a stage, or after a pass, and what becomes of it on the way.

use tgsi_compiler::Stage;

use super::{Done, Failure, Form, Status, passes, transform};
use crate::args::{Color, IrArguments};
use crate::input::Problem;
use crate::plan::{TotalTimes, Watch, pass_named};
use crate::subject::Subject;

/// Prints the IR.
pub fn ir(arguments: &IrArguments, color: Color) -> Result<Status, Failure> {
    let IrArguments { files, stage, dot, after, passes_to_run, print_changed, time_passes, passes: way } = arguments;
    let form = Form { extension: if *dot { "dot" } else { "nir" }, binary: false };
    let plan = way.plan()?;
    let after = after.as_deref().and_then(pass_named).map(|pass| pass.info().name);
    let stage = stage.unwrap_or(if after.is_some() { Stage::Opt } else { Stage::Ssa });
    let total = TotalTimes::wanted(*time_passes);
    let status = transform(files, form, color, |source| {
        let (subject, warnings) = Subject::checked(source, &plan)?;
        let mut watch = Watch { after, ..Watch::default() };
        if *print_changed {
            let start = subject.to_stage(Stage::Parsed, &plan)?;
            watch.changes = Some(format!("// parsed\n{}\n", tgsi_ir::text::print(&start)));
        }
        if !passes_to_run.is_empty() {
            let mut ir = subject.to_stage(Stage::Parsed, &plan)?;
            passes::run(&mut ir, passes_to_run, &plan, &mut watch)?;
            total.add(&watch.times);
            let text = if *dot { to_dot(&ir) } else { watch.changes.unwrap_or_else(|| tgsi_ir::text::print(&ir)) };
            return Ok(Done { warnings, ..Done::new(text.into_bytes()) });
        }
        let watched = after.is_some() || *print_changed || *time_passes;
        let ir = if watched { subject.observed(stage, &plan, &mut watch)? } else { subject.to_stage(stage, &plan)? };
        total.add(&watch.times);
        if let Some(pass) = after
            && !watch.reached
        {
            return Err(Problem::Other(format!("{pass} does not run on the way")));
        }
        let text = if *dot {
            to_dot(&ir)
        } else if let Some(mut changes) = watch.changes {
            // The driver's lowering is one step here; other stages end with what the last change left.
            if stage == Stage::Registers && !watch.reached {
                changes += &format!("// registers\n{}", tgsi_ir::text::print(&ir));
            }
            changes
        } else {
            tgsi_ir::text::print(&ir)
        };
        Ok(Done { warnings, ..Done::new(text.into_bytes()) })
    })?;
    total.show();
    Ok(status)
}

/// The block graphs of all functions.
fn to_dot(ir: &tgsi_ir::Shader) -> String {
    ir.functions.values().filter_map(|f| f.body.as_ref().map(|body| body.to_dot(&f.name))).collect()
}
