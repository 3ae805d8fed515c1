//! `fit`: reports whether shaders fit targets, and how much of their limits they use.

mod html;
mod language;
mod lines;
mod matrix;
mod measure;
mod variants;

use crate::args::{Color, FitArguments, PassArguments};
use crate::batch;
use crate::diagnostics::Reporter;
use crate::input::{ShaderError, Source};
use crate::output;
use crate::plan::Plan;
use crate::policy::WarningPolicy;
use crate::status::{Failure, Status};
use language::Readings;
use measure::Outcome;
use variants::Variant;

/// The results for a shader: one for each target, or the failure to read it.
type ShaderResult = Result<(Source, Result<Vec<Outcome>, ShaderError>), Failure>;

/// Measures shaders for each target.
pub fn fit(arguments: &FitArguments, color: Color) -> Result<Status, Failure> {
    if arguments.languages {
        let plans = plans(&arguments.passes, true)?;
        output::write_stdout(language::render(&plans).as_bytes())?;
        return Ok(Status::Success);
    }
    let plans = plans(&arguments.passes, false)?;
    let policy = WarningPolicy::new(&arguments.warnings);
    let variants = arguments.variants.as_deref().map(variants::read).transpose()?.unwrap_or_default();
    let inputs = batch::inputs(&batch::shaders_in_folders(&arguments.files)?)?;
    let sources = batch::for_each(&inputs, Source::read);
    let subjects: Vec<(&Source, Variant)> =
        sources.iter().flatten().flat_map(|source| with(source, &variants)).collect();
    let reporter = Reporter::for_inputs(inputs.len().max(subjects.len()), color);
    let mut measured = batch::for_each(&subjects, |(source, variant)| {
        let mut readings = Readings::new(source, &variant.options, arguments.any_language);
        let judge = |(number, (_, plan)): (usize, &(String, Plan))| {
            measure::judge(&mut readings, source, (number, plan), arguments, &policy)
        };
        let outcomes: Vec<Outcome> = plans.iter().enumerate().map(judge).collect();
        (variant.shown(source), Ok(outcomes))
    })
    .into_iter();
    let mut results: Vec<ShaderResult> = Vec::new();
    for source in sources {
        match source {
            Ok(source) => results.extend(measured.by_ref().take(with(&source, &variants).len()).map(Ok)),
            Err(failure) => results.push(Err(failure)),
        }
    }
    if let Some(path) = &arguments.html {
        output::write_file(path, html::format(&plans, &results).as_bytes())?;
    }
    let targets: Vec<&str> = plans.iter().map(|(name, _)| name.as_str()).collect();
    if targets.len() > 1 && !arguments.json {
        output::write_stdout(matrix::render(&targets, &results).as_bytes())?;
    }
    let mut status = Status::Success;
    for result in results {
        let show = |source: &Source, outcomes| show(source, outcomes, &plans, arguments, &reporter);
        status = status.max(reporter.outcome(result, show));
    }
    Ok(status)
}

/// Returns a shader with each set of definitions. A shader in a language without macros is measured once.
fn with<'s>(source: &'s Source, variants: &[Variant]) -> Vec<(&'s Source, Variant)> {
    let has_macros = source.front_end.options().iter().any(|option| option.name == "define");
    if !has_macros || variants.is_empty() {
        return vec![(source, Variant::default())];
    }
    variants.iter().map(|variant| (source, variant.clone())).collect()
}

/// Shows the results for a shader: the counts of a single target, as JSON those of each, and all findings.
fn show(
    source: &Source,
    outcomes: Vec<Outcome>,
    plans: &[(String, Plan)],
    arguments: &FitArguments,
    reporter: &Reporter,
) -> Result<Status, Failure> {
    let has_limits = outcomes.iter().any(|outcome| !matches!(outcome, Outcome::NoLimits));
    let mut is_wrong = false;
    let mut problems = Vec::new();
    for ((name, plan), outcome) in plans.iter().zip(outcomes) {
        match outcome {
            Outcome::Measured(judged) => {
                is_wrong |= judged.is_wrong();
                if arguments.json {
                    output::write_stdout(judged.to_json(source, arguments.lines)?.as_bytes())?;
                    continue;
                }
                if plans.len() == 1 || arguments.lines {
                    output::write_stdout(judged.to_text(source).as_bytes())?;
                }
                if arguments.lines {
                    output::write_stdout(format!("\n{}\n", lines::render(judged.measurement())).as_bytes())?;
                }
                reporter.diagnostics(source, &judged.in_source);
                reporter.diagnostics(&judged.code(source), &judged.in_code);
            }
            // The matrix shows it.
            Outcome::NoLimits if has_limits && !arguments.json => {}
            Outcome::NoLimits => {
                let message = format!("the driver `{}` has no limits", plan.driver.name());
                problems.push((name.as_str(), ShaderError::Other(message), false));
            }
            Outcome::Language(problem) => problems.push((name, problem, true)),
            Outcome::Error(problem) => problems.push((name, problem, false)),
        }
    }
    is_wrong |= !problems.is_empty();
    for problem in by_content(problems, plans.len()) {
        reporter.problem(source, &problem);
    }
    Ok(if is_wrong { Status::ShaderError } else { Status::Success })
}

/// Returns the targets, without repetitions, and their plans. Without `--target`, it is the driver with its defaults, or
/// with `are_all` each of its targets.
fn plans(arguments: &PassArguments, are_all: bool) -> Result<Vec<(String, Plan)>, Failure> {
    let plan_for = |name: &str| {
        let mut arguments = arguments.clone();
        arguments.driver_options.target = Some(name.to_owned());
        Ok((name.to_owned(), Plan::from_arguments(&arguments)?))
    };
    let Some(list) = &arguments.driver_options.target else {
        let plan = Plan::from_arguments(arguments)?;
        if are_all {
            return plan.driver.profiles().iter().map(|profile| plan_for(profile.name)).collect();
        }
        return Ok(vec![(plan.driver.name().to_owned(), plan)]);
    };
    let mut plans: Vec<(String, Plan)> = Vec::new();
    for name in list.split(',') {
        if plans.iter().all(|(known, _)| known != name) {
            plans.push(plan_for(name)?);
        }
    }
    Ok(plans)
}

/// Merges equal errors of several targets, such as those of the source. The others, and those of a target's language,
/// name their targets.
fn by_content(problems: Vec<(&str, ShaderError, bool)>, targets: usize) -> Vec<ShaderError> {
    let mut merged: Vec<(ShaderError, bool, Vec<&str>)> = Vec::new();
    for (target, problem, is_of_language) in problems {
        match merged.iter_mut().find(|(known, is_named, _)| *known == problem && *is_named == is_of_language) {
            Some((.., names)) => names.push(target),
            None => merged.push((problem, is_of_language, vec![target])),
        }
    }
    let named = |(problem, is_named, names): (ShaderError, bool, Vec<&str>)| {
        if names.len() == targets && !is_named { problem } else { problem.for_targets(&names.join(", ")) }
    };
    merged.into_iter().map(named).collect()
}
