//! Measures a shader for a target.

use std::path::PathBuf;

use serde::Serialize;
use tgsi_compiler::{Fit, FitReport, LineCosts, Measurement};
use tgsi_diagnostics::Diagnostic;

use super::language::{ReadingError, Readings};
use crate::args::FitArguments;
use crate::input::{ShaderError, Source};
use crate::input_shader::InputShader;
use crate::plan::Plan;
use crate::policy::WarningPolicy;
use crate::status::Failure;

/// The result for a shader and a target.
pub(super) enum Outcome {
    /// The shader was measured.
    Measured(Box<Judged>),
    /// The target has no limits.
    NoLimits,
    /// The shader is not in the language of the target's driver.
    Language(ShaderError),
    /// The shader cannot be read, or not translated.
    Error(ShaderError),
}

/// The measurements of a shader for a target.
struct Measured {
    /// The measurement that determines the verdict.
    counted: Measurement,
    /// The other one of translation and shader as it is; `None` if it is not requested, or not possible.
    other: Option<Measurement>,
    /// Whether `counted` is the shader as it is.
    counts_as_is: bool,
}

/// The measurements of a shader for a target, and the findings about them.
pub(super) struct Judged {
    measured: Measured,
    /// The findings with a position in the source.
    pub(super) in_source: Vec<Diagnostic>,
    /// The findings with a position in the measured code.
    pub(super) in_code: Vec<Diagnostic>,
}

/// A line of JSON.
#[derive(Serialize)]
struct Line<'m> {
    f: String,
    #[serde(flatten)]
    report: FitReport<'m>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<LineCosts>>,
}

/// Measures a shader for the target with a number, and applies the policy to the findings.
pub(super) fn judge(
    readings: &mut Readings<'_>,
    source: &Source,
    (number, plan): (usize, &Plan),
    arguments: &FitArguments,
    policy: &WarningPolicy,
) -> Outcome {
    let subject = match readings.read(number, plan) {
        Ok(subject) => subject,
        Err(ReadingError::Language(problem)) => return Outcome::Language(problem),
        Err(ReadingError::Shader(problem)) => return Outcome::Error(problem),
    };
    match measure(subject, source, plan, arguments) {
        Err(problem) => Outcome::Error(problem),
        Ok(None) => Outcome::NoLimits,
        Ok(Some(measured)) => {
            let (in_source, in_code) = measured.findings();
            let (in_source, in_code) = (policy.apply(in_source), policy.apply(in_code));
            Outcome::Measured(Box::new(Judged { measured, in_source, in_code }))
        }
    }
}

/// Measures a shader, as it is and translated; `None` if the target has no limits.
fn measure(
    subject: &InputShader,
    source: &Source,
    plan: &Plan,
    arguments: &FitArguments,
) -> Result<Option<Measured>, ShaderError> {
    let text = (!source.has_words()).then_some(source.bytes.as_slice());
    let as_is = match subject {
        InputShader::Tgsi(shader) if arguments.as_is || arguments.json => plan.compiler.measure_as_is(shader, text),
        InputShader::Tgsi(_) => None,
        InputShader::Ir { .. } if arguments.as_is => {
            return Err(ShaderError::Other("this is IR: only its translation can be measured".into()));
        }
        InputShader::Ir { .. } => None,
    };
    let translated = if arguments.as_is {
        // A shader that cannot be translated can still be measured.
        let code = arguments.json.then(|| subject.code(plan).ok()).flatten();
        code.and_then(|code| plan.compiler.measure(code))
    } else {
        plan.compiler.measure(subject.code(plan)?)
    };
    let translated = match (translated, text) {
        (Some(translated), Some(text)) => Some(translated.with_source(text)),
        (translated, _) => translated,
    };
    let counts_as_is = arguments.as_is;
    let (counted, other) = if counts_as_is { (as_is, translated) } else { (translated, as_is) };
    Ok(counted.map(|counted| Measured { counted, other, counts_as_is }))
}

impl Measured {
    /// Returns the findings with a position in the source, and the others, which only have one in the measured code.
    fn findings(&self) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
        let Measurement { fit, text, .. } = &self.counted;
        let in_code = fit.findings();
        if self.counts_as_is {
            return (Vec::new(), in_code);
        }
        let (mut found, mut others) = (Vec::new(), Vec::new());
        for (mut in_source, in_code) in fit.source_findings().into_iter().zip(in_code) {
            if in_source.span.end > in_source.span.start {
                let code = text.get(in_code.span.start as usize..in_code.span.end as usize).unwrap_or_default();
                let code = format!("the first excess is `{}` of the translation", String::from_utf8_lossy(code));
                in_source.hint = Some(in_source.hint.map_or(code.clone(), |hint| format!("{hint}; {code}")));
                found.push(in_source);
            } else {
                others.push(in_code);
            }
        }
        (found, others)
    }

    /// Returns a name for the measured code, which differs from that of the file for a translation.
    fn name(&self, source: &Source) -> String {
        let path = source.name();
        if self.counts_as_is {
            path.to_string()
        } else {
            format!("{path} (translated for {})", self.counted.fit.target)
        }
    }
}

impl Judged {
    /// Whether any finding is an error.
    pub(super) fn is_wrong(&self) -> bool {
        self.in_source.iter().chain(&self.in_code).any(Diagnostic::is_error)
    }

    /// The counts that determine the verdict.
    pub(super) fn fit(&self) -> &Fit {
        &self.measured.counted.fit
    }

    /// The measurement that determines the verdict.
    pub(super) fn measurement(&self) -> &Measurement {
        &self.measured.counted
    }

    /// Returns all counts.
    pub(super) fn to_text(&self, source: &Source) -> String {
        format!("{}: {}", self.measured.name(source), self.fit())
    }

    /// Returns a line of JSON, if requested with the costs of lines.
    pub(super) fn to_json(&self, source: &Source, has_lines: bool) -> Result<String, Failure> {
        let Measured { counted, other, counts_as_is } = &self.measured;
        let (translated, as_is) =
            if *counts_as_is { (other.as_ref(), Some(counted)) } else { (Some(counted), other.as_ref()) };
        let report = FitReport { fits: !self.is_wrong(), ..FitReport::new(counted, translated, as_is) };
        let lines = has_lines.then(|| counted.line_costs());
        let line = Line { f: source.name(), report, lines };
        let text = serde_json::to_string(&line).map_err(|error| Failure::Usage(error.to_string()))?;
        Ok(text + "\n")
    }

    /// Returns the measured code as a source for showing findings in it.
    pub(super) fn code(&self, source: &Source) -> Source {
        Source::new(PathBuf::from(self.measured.name(source)), self.measured.counted.text.clone())
    }
}
