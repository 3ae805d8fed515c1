//! `verify`: checks that every stage of a translation computes the same, with generated inputs or against recorded
//! results.

use serde::Serialize;
use tgsi_verify::{Checker, DefectKind, Verdict};

use super::recorded;
use crate::args::{Color, VerifyArguments};
use crate::diagnostics::Reporter;
use crate::input::Source;
use crate::input_shader::InputShader;
use crate::plan::Plan;
use crate::status::{Failure, Status};
use crate::{batch, output};

/// The totals of a run.
#[derive(Debug, Default, Serialize)]
struct Totals {
    shaders: usize,
    equal: usize,
    different: usize,
    error: usize,
    /// Shaders that terminate with no generated inputs, so that nothing was compared.
    without_result: usize,
    first: Vec<String>,
}

/// Verifies shaders; reports the first difference of each.
pub fn verify(arguments: &VerifyArguments, color: Color) -> Result<Status, Failure> {
    if let Some(vectors) = &arguments.vectors {
        return recorded::verify(vectors, arguments);
    }
    let plan = Plan::to_be_run(&arguments.passes, None)?;
    let checker = Checker { seeds: arguments.seeds, exact: arguments.exact, ..plan.checker() };
    let inputs = batch::inputs(&arguments.files)?;
    let reporter = Reporter::for_inputs(inputs.len(), color);
    let results = batch::for_each(&inputs, |path| {
        let source = Source::read(path)?;
        let verdict = InputShader::checked(&source, &plan).map(|(subject, _)| verdict(&subject, &checker, arguments));
        Ok((source, verdict))
    });
    let mut totals = Totals { shaders: inputs.len(), ..Totals::default() };
    let mut status = Status::Success;
    for result in results {
        status = status.max(reporter.outcome(result, |source, verdict| {
            let defect = match verdict {
                Verdict::Equal => {
                    totals.equal += 1;
                    return Ok(Status::Success);
                }
                Verdict::WithoutResult => {
                    totals.without_result += 1;
                    return Ok(Status::Success);
                }
                Verdict::Failed(defect) => defect,
            };
            totals.different += usize::from(defect.kind == DefectKind::Difference);
            totals.first.push(format!("{}: {defect}", source.name()));
            Ok(Status::ShaderError)
        }));
    }
    totals.error = totals.shaders - totals.equal - totals.different - totals.without_result;
    let text = if arguments.json {
        serde_json::to_string(&totals).unwrap_or_default() + "\n"
    } else {
        let mut text: String = totals.first.iter().map(|line| line.to_owned() + "\n").collect();
        let (where_equal, left_out) = match arguments.invariance {
            Some(_) => ("in all variants", "of other stages or that do not end"),
            None => ("at every stage", "that do not end"),
        };
        text += &format!(
            "{} shaders: {} equal {where_equal}, {} different, {} errors",
            totals.shaders, totals.equal, totals.different, totals.error
        );
        text += &plan.code_not_run();
        if totals.without_result > 0 {
            text += &format!(", {} {left_out}", totals.without_result);
        }
        text.push('\n');
        text
    };
    output::write_stdout(text.as_bytes())?;
    Ok(status)
}

fn verdict(subject: &InputShader, checker: &Checker, arguments: &VerifyArguments) -> Verdict {
    match (arguments.invariance, subject) {
        (Some(variants), InputShader::Tgsi(shader)) => return checker.compare_variants(shader, variants),
        (Some(_), InputShader::Ir { .. }) => return Verdict::WithoutResult,
        (None, _) => {}
    }
    let source = subject.source();
    let blamed = if arguments.each_pass { checker.first_broken_pass(&source) } else { None };
    blamed.map_or_else(|| checker.verify(&source), Verdict::Failed)
}
