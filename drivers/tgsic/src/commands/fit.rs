//! `fit`: reports whether shaders fit targets, and how much of their limits they use.

use std::path::PathBuf;

use serde::Serialize;
use tgsi_compiler::{Fit, FitReport, Measurement};
use tgsi_diagnostics::Diagnostic;

use super::fit_matrix;
use crate::args::{Color, FitArguments, PassArguments};
use crate::batch;
use crate::diagnostics::Reporter;
use crate::input::{ShaderError, Source};
use crate::input_shader::InputShader;
use crate::output;
use crate::plan::Plan;
use crate::policy::WarningPolicy;
use crate::status::{Failure, Status};

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
    in_source: Vec<Diagnostic>,
    /// The findings with a position in the measured code.
    in_code: Vec<Diagnostic>,
}

/// The result for a shader and a target; without a measurement, the target has no limits.
pub(super) type Outcome = Result<Option<Judged>, ShaderError>;

/// A line of JSON.
#[derive(Serialize)]
struct Line<'m> {
    f: String,
    #[serde(flatten)]
    report: FitReport<'m>,
}

/// Measures shaders for each target.
pub fn fit(arguments: &FitArguments, color: Color) -> Result<Status, Failure> {
    let plans = plans(&arguments.passes)?;
    let policy = WarningPolicy::new(&arguments.warnings);
    let inputs = batch::inputs(&batch::shaders_in_folders(&arguments.files)?)?;
    let reporter = Reporter::for_inputs(inputs.len(), color);
    let results = batch::for_each(&inputs, |path| {
        let source = Source::read(path)?;
        let judge = |(_, plan): &(String, Plan)| judge(&source, plan, arguments, &policy);
        let outcomes: Vec<Outcome> = plans.iter().map(judge).collect();
        Ok((source, Ok(outcomes)))
    });
    let targets: Vec<&str> = plans.iter().map(|(name, _)| name.as_str()).collect();
    if targets.len() > 1 && !arguments.json {
        output::write_stdout(fit_matrix::render(&targets, &results).as_bytes())?;
    }
    let mut status = Status::Success;
    for result in results {
        let show = |source: &Source, outcomes| show(source, outcomes, &plans, arguments.json, &reporter);
        status = status.max(reporter.outcome(result, show));
    }
    Ok(status)
}

/// Shows the results for a shader: the counts of a single target, as JSON those of each, and all findings.
fn show(
    source: &Source,
    outcomes: Vec<Outcome>,
    plans: &[(String, Plan)],
    as_json: bool,
    reporter: &Reporter,
) -> Result<Status, Failure> {
    let has_limits = outcomes.iter().any(|outcome| !matches!(outcome, Ok(None)));
    let mut is_wrong = false;
    let mut problems = Vec::new();
    for ((name, plan), outcome) in plans.iter().zip(outcomes) {
        match outcome {
            Ok(Some(judged)) => {
                is_wrong |= judged.is_wrong();
                if as_json {
                    output::write_stdout(judged.to_json(source)?.as_bytes())?;
                    continue;
                }
                if plans.len() == 1 {
                    output::write_stdout(judged.to_text(source).as_bytes())?;
                }
                reporter.diagnostics(source, &judged.in_source);
                reporter.diagnostics(&judged.code(source), &judged.in_code);
            }
            // The matrix shows it.
            Ok(None) if has_limits && !as_json => {}
            Ok(None) => {
                let message = format!("the driver `{}` has no limits", plan.driver.name());
                problems.push((name.as_str(), ShaderError::Other(message)));
            }
            Err(problem) => problems.push((name.as_str(), problem)),
        }
    }
    is_wrong |= !problems.is_empty();
    for problem in by_content(problems, plans.len()) {
        reporter.problem(source, &problem);
    }
    Ok(if is_wrong { Status::ShaderError } else { Status::Success })
}

/// Returns the targets, without repetitions, and their plans. Without `--target`, it is the driver with its defaults.
fn plans(arguments: &PassArguments) -> Result<Vec<(String, Plan)>, Failure> {
    let Some(list) = &arguments.driver_options.target else {
        let plan = Plan::from_arguments(arguments)?;
        return Ok(vec![(plan.driver.name().to_owned(), plan)]);
    };
    let mut plans: Vec<(String, Plan)> = Vec::new();
    for name in list.split(',') {
        if plans.iter().all(|(known, _)| known != name) {
            let mut arguments = arguments.clone();
            arguments.driver_options.target = Some(name.to_owned());
            plans.push((name.to_owned(), Plan::from_arguments(&arguments)?));
        }
    }
    Ok(plans)
}

/// Merges equal errors of several targets, such as those of the source. The others name their targets.
fn by_content(problems: Vec<(&str, ShaderError)>, targets: usize) -> Vec<ShaderError> {
    let mut merged: Vec<(ShaderError, Vec<&str>)> = Vec::new();
    for (target, problem) in problems {
        match merged.iter_mut().find(|(known, _)| *known == problem) {
            Some((_, names)) => names.push(target),
            None => merged.push((problem, vec![target])),
        }
    }
    let named = |(problem, names): (ShaderError, Vec<&str>)| {
        if names.len() == targets { problem } else { problem.for_targets(&names.join(", ")) }
    };
    merged.into_iter().map(named).collect()
}

/// Measures a shader, and applies the policy to the findings.
fn judge(source: &Source, plan: &Plan, arguments: &FitArguments, policy: &WarningPolicy) -> Outcome {
    let Some(measured) = measure(source, plan, arguments)? else { return Ok(None) };
    let (in_source, in_code) = measured.findings();
    let (in_source, in_code) = (policy.apply(in_source), policy.apply(in_code));
    Ok(Some(Judged { measured, in_source, in_code }))
}

/// Measures a shader, as it is and translated; `None` if the target has no limits.
fn measure(source: &Source, plan: &Plan, arguments: &FitArguments) -> Result<Option<Measured>, ShaderError> {
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

    /// Returns all counts.
    fn to_text(&self, source: &Source) -> String {
        format!("{}: {}", self.measured.name(source), self.fit())
    }

    /// Returns a line of JSON.
    fn to_json(&self, source: &Source) -> Result<String, Failure> {
        let Measured { counted, other, counts_as_is } = &self.measured;
        let (translated, as_is) =
            if *counts_as_is { (other.as_ref(), Some(counted)) } else { (Some(counted), other.as_ref()) };
        let report = FitReport { fits: !self.is_wrong(), ..FitReport::new(counted, translated, as_is) };
        let line = Line { f: source.name(), report };
        let text = serde_json::to_string(&line).map_err(|error| Failure::Usage(error.to_string()))?;
        Ok(text + "\n")
    }

    /// Returns the measured code as a source for showing findings in it.
    fn code(&self, source: &Source) -> Source {
        Source::new(PathBuf::from(self.measured.name(source)), self.measured.counted.text.clone())
    }
}
