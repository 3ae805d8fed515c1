//! `fit`: reports whether shaders fit a target, and how much of its limits they use.

use std::path::PathBuf;

use serde::Serialize;
use tgsi_compiler::{FitReport, Measurement};
use tgsi_diagnostics::Diagnostic;

use crate::args::{Color, FitArguments};
use crate::batch;
use crate::diagnostics::Reporter;
use crate::input::{ShaderError, Source};
use crate::input_shader::InputShader;
use crate::output;
use crate::plan::Plan;
use crate::policy::WarningPolicy;
use crate::status::{Failure, Status};

/// The measurements of a shader.
struct Measured {
    /// The translation; `None` if it failed and was not requested.
    translated: Option<Measurement>,
    /// The shader as it is; `None` for IR.
    as_is: Option<Measurement>,
    /// Whether `as_is` determines the verdict.
    counts_as_is: bool,
}

/// A line of JSON.
#[derive(Serialize)]
struct Line<'m> {
    f: String,
    #[serde(flatten)]
    report: FitReport<'m>,
}

/// Measures shaders.
pub fn fit(arguments: &FitArguments, color: Color) -> Result<Status, Failure> {
    let plan = Plan::from_arguments(&arguments.passes)?;
    let policy = WarningPolicy::new(&arguments.warnings);
    let inputs = batch::inputs(&arguments.files)?;
    let reporter = Reporter::for_inputs(inputs.len(), color);
    let results = batch::for_each(&inputs, |path| {
        let source = Source::read(path)?;
        let measured = measure(&source, &plan, arguments);
        Ok((source, measured))
    });
    let mut status = Status::Success;
    for result in results {
        status = status.max(reporter.outcome(result, |source, measured: Measured| {
            let Some(counted) = measured.counted() else { return Ok(Status::ShaderError) };
            let (in_source, in_code) = findings(&measured, counted);
            let (in_source, in_code) = (policy.apply(in_source), policy.apply(in_code));
            let is_wrong = in_source.iter().chain(&in_code).any(Diagnostic::is_error);
            let text = if arguments.json {
                let report = FitReport::new(counted, measured.translated.as_ref(), measured.as_is.as_ref());
                line(source, FitReport { fits: !is_wrong, ..report })?
            } else {
                format!("{}: {}", name(source, &measured), counted.fit)
            };
            output::write_stdout(text.as_bytes())?;
            if !arguments.json {
                reporter.diagnostics(source, &in_source);
                reporter.diagnostics(&of_measured(source, &measured, counted), &in_code);
            }
            Ok(if is_wrong { Status::ShaderError } else { Status::Success })
        }));
    }
    Ok(status)
}

/// Measures a shader, as it is and translated.
fn measure(source: &Source, plan: &Plan, arguments: &FitArguments) -> Result<Measured, ShaderError> {
    let (subject, _) = InputShader::checked(source, plan)?;
    let text = (!source.has_words()).then_some(source.bytes.as_slice());
    let as_is = match &subject {
        InputShader::Tgsi(shader) if arguments.as_is || arguments.json => plan.compiler.measure_as_is(shader, text),
        InputShader::Tgsi(_) => None,
        InputShader::Ir { .. } if arguments.as_is => {
            return Err(ShaderError::Other("this is IR: only its translation can be measured".into()));
        }
        InputShader::Ir { .. } => None,
    };
    let translated = if arguments.as_is {
        // A shader that cannot be translated can still be measured.
        let code = arguments.json.then(|| subject.into_code(plan, None).ok()).flatten();
        code.and_then(|code| plan.compiler.measure(code))
    } else {
        plan.compiler.measure(subject.into_code(plan, None)?)
    };
    let translated = match (translated, text) {
        (Some(translated), Some(text)) => Some(translated.with_source(text)),
        (translated, _) => translated,
    };
    let measured = Measured { translated, as_is, counts_as_is: arguments.as_is };
    if measured.counted().is_none() {
        return Err(ShaderError::Other(format!("the driver `{}` has no limits", plan.driver.name())));
    }
    Ok(measured)
}

impl Measured {
    /// Returns the measurement that determines the verdict.
    fn counted(&self) -> Option<&Measurement> {
        if self.counts_as_is { self.as_is.as_ref() } else { self.translated.as_ref() }
    }
}

/// Returns the findings with a position in the source, and the others, which only have one in the measured code.
fn findings(measured: &Measured, counted: &Measurement) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    let in_code = counted.fit.findings();
    if measured.counts_as_is {
        return (Vec::new(), in_code);
    }
    let (mut found, mut others) = (Vec::new(), Vec::new());
    for (mut in_source, in_code) in counted.fit.source_findings().into_iter().zip(in_code) {
        if in_source.span.end > in_source.span.start {
            let code = counted.text.get(in_code.span.start as usize..in_code.span.end as usize).unwrap_or_default();
            let code = format!("the first excess is `{}` of the translation", String::from_utf8_lossy(code));
            in_source.hint = Some(in_source.hint.map_or(code.clone(), |hint| format!("{hint}; {code}")));
            found.push(in_source);
        } else {
            others.push(in_code);
        }
    }
    (found, others)
}

/// Returns a line of JSON.
fn line(source: &Source, report: FitReport<'_>) -> Result<String, Failure> {
    let line = Line { f: source.path.display().to_string(), report };
    let text = serde_json::to_string(&line).map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(text + "\n")
}

/// Returns a name for the measured code, which differs from that of the file for a translation.
fn name(source: &Source, measured: &Measured) -> String {
    let path = source.path.display();
    match measured.counted() {
        Some(counted) if !measured.counts_as_is => format!("{path} (translated for {})", counted.fit.target),
        _ => path.to_string(),
    }
}

/// Returns the measured code as a source for showing findings in it.
fn of_measured(source: &Source, measured: &Measured, counted: &Measurement) -> Source {
    Source::new(PathBuf::from(name(source, measured)), counted.text.clone())
}
