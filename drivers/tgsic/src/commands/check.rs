//! `check`: checks everything that a driver may rely on.

use crate::args::{CheckArguments, Color, DriverOptions};
use crate::batch;
use crate::diagnostics::Reporter;
use crate::input::{ShaderError, Source};
use crate::input_shader::InputShader;
use crate::plan::Plan;
use crate::policy::WarningPolicy;
use crate::status::{Failure, Status};

/// Checks shaders and shows the findings.
pub fn check(arguments: &CheckArguments, color: Color) -> Result<Status, Failure> {
    let CheckArguments { files, quiet, all, warnings, dialect } = arguments;
    let options = DriverOptions { dialect: Some(*dialect), ..DriverOptions::default() };
    let (policy, plan) = (WarningPolicy::new(warnings), Plan::for_driver(&options)?);
    let inputs = batch::inputs(files)?;
    let mut reporter = Reporter::for_inputs(inputs.len(), color);
    if *all {
        reporter.show_all();
    }
    let results = batch::for_each(&inputs, |path| {
        let source = Source::read(path)?;
        let findings = match InputShader::read(&source, &plan) {
            (Some(subject), findings) => policy.with_lints(&subject, findings),
            (None, findings) => policy.apply(findings),
        };
        Ok((source, Ok(findings)))
    });
    let mut status = Status::Success;
    for result in results {
        status = status.max(reporter.outcome(result, |source, mut findings| {
            if findings.iter().any(|d| d.is_error()) {
                findings.retain(|d| !quiet || d.is_error());
                reporter.problem(source, &ShaderError::Findings(findings));
                return Ok(Status::ShaderError);
            }
            if !quiet {
                reporter.diagnostics(source, &findings);
            }
            Ok(Status::Success)
        }));
    }
    Ok(status)
}
