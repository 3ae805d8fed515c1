//! `ir`: prints the IR of shaders at a stage, after a pass, or after every pass that changes it.

use tgsi_compiler::Stage;

use super::{FileFormat, ShaderOutput, transform};
use crate::args::{Color, IrArguments};
use crate::input::ShaderError;
use crate::input_shader::InputShader;
use crate::pass_list;
use crate::pass_log::{PassLog, TotalTimes};
use crate::plan::{Plan, pass_named};
use crate::status::{Failure, Status};

/// Prints the IR.
pub fn ir(arguments: &IrArguments, color: Color) -> Result<Status, Failure> {
    let IrArguments { files, stage, dot, after, passes_to_run, print_changed, time_passes, passes: way } = arguments;
    let form = FileFormat { extension: if *dot { "dot" } else { "nir" }, binary: false };
    let plan = Plan::from_arguments(way)?;
    let after = after.as_deref().and_then(pass_named).map(|pass| pass.info().name);
    let stage = stage.unwrap_or(if after.is_some() { Stage::Opt } else { Stage::Ssa });
    let total = TotalTimes::new(*time_passes);
    let status = transform(files, form, color, |source| {
        let (subject, warnings) = InputShader::checked(source, &plan)?;
        let mut pass_log = PassLog { stop_after: after, ..PassLog::default() };
        if *print_changed {
            let start = subject.to_stage(Stage::Parsed, &plan)?;
            pass_log.changes = Some(format!("// parsed\n{}\n", tgsi_ir::text::print(&start)));
        }
        if !passes_to_run.is_empty() {
            let mut ir = subject.to_stage(Stage::Parsed, &plan)?;
            let options = plan.compiler.target().compiler_options(ir.stage);
            pass_list::run(&mut ir, passes_to_run, &options, &mut pass_log).map_err(ShaderError::Other)?;
            total.add(&pass_log.times);
            let text = if *dot { to_dot(&ir) } else { pass_log.changes.unwrap_or_else(|| tgsi_ir::text::print(&ir)) };
            return Ok(ShaderOutput { warnings, ..ShaderOutput::new(text.into_bytes()) });
        }
        let observed = after.is_some() || *print_changed || *time_passes;
        let ir =
            if observed { subject.observed(stage, &plan, &mut pass_log)? } else { subject.to_stage(stage, &plan)? };
        total.add(&pass_log.times);
        if let Some(pass) = after
            && !pass_log.stopped
        {
            return Err(ShaderError::Other(format!("{pass} does not run before this stage")));
        }
        let text = if *dot {
            to_dot(&ir)
        } else if let Some(mut changes) = pass_log.changes {
            // The driver's lowering is one step here; other stages end with the last change.
            if stage == Stage::Registers && !pass_log.stopped {
                changes += &format!("// registers\n{}", tgsi_ir::text::print(&ir));
            }
            changes
        } else {
            tgsi_ir::text::print(&ir)
        };
        Ok(ShaderOutput { warnings, ..ShaderOutput::new(text.into_bytes()) })
    })?;
    total.print();
    Ok(status)
}

/// Formats the block graphs of all functions.
fn to_dot(ir: &tgsi_ir::Shader) -> String {
    ir.functions.values().filter_map(|f| f.body.as_ref().map(|body| body.to_dot(&f.name))).collect()
}
