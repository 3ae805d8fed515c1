//! `verify FILE...`: compares every stage and driver with the interpretation of the input, TGSI or IR.

use std::cell::LazyCell;

use serde::Serialize;

use super::compare::{Rule, first_mismatch, first_mismatch_but};
use super::each_pass;
use super::executor::{self, Executor};
use super::inputs::{self, InputKind};
use super::invariance::compare_variants;
use super::open::OpenResults;
use crate::args::{Color, VerifyArguments};
use crate::diagnostics::Reporter;
use crate::input::Source;
use crate::input_shader::InputShader;
use crate::plan::Plan;
use crate::status::{Failure, Status};
use crate::{batch, output};
use tgsi_compiler::Stage;
use tgsi_smith::mutate::round_otherwise;

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

/// The result for one shader.
pub enum Verdict {
    /// All stages compute the same results.
    Equal,
    /// The input terminates with no generated inputs, so that there is nothing to compare.
    WithoutResult,
    /// A stage computes different results.
    Different(String),
    /// A stage cannot be compiled or run.
    Error(String),
}

/// Verifies shaders; reports the first difference of each.
pub fn verify(arguments: &VerifyArguments, color: Color) -> Result<Status, Failure> {
    let plan = Plan::to_be_run(&arguments.passes, None)?;
    let inputs = batch::inputs(&arguments.files)?;
    let reporter = Reporter::for_inputs(inputs.len(), color);
    let results = batch::for_each(&inputs, |path| {
        let source = Source::read(path)?;
        let verdict = InputShader::checked(&source, &plan).map(|(subject, _)| {
            if let Some(variants) = arguments.invariance {
                return compare_variants(&subject, variants, arguments.seeds, &plan);
            }
            let blamed =
                if arguments.each_pass { each_pass::first_broken_pass(&subject, arguments.seeds, &plan) } else { None };
            blamed.unwrap_or_else(|| one_shader(&subject, arguments.seeds, arguments.exact, &plan))
        });
        Ok((source, verdict))
    });
    let mut totals = Totals { shaders: inputs.len(), ..Totals::default() };
    let mut status = Status::Success;
    for result in results {
        status = status.max(reporter.outcome(result, |source, verdict| {
            let message = match verdict {
                Verdict::Equal => {
                    totals.equal += 1;
                    return Ok(Status::Success);
                }
                Verdict::WithoutResult => {
                    totals.without_result += 1;
                    return Ok(Status::Success);
                }
                Verdict::Different(message) => {
                    totals.different += 1;
                    message
                }
                Verdict::Error(message) => message,
            };
            totals.first.push(format!("{}: {message}", source.path.display()));
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

fn one_shader(subject: &InputShader, seeds: u64, exact: bool, plan: &Plan) -> Verdict {
    let shader = subject.interface();
    let mut executors = Vec::new();
    for via in executor::kinds_for(subject, plan) {
        let name = via.name();
        match Executor::if_any(subject, via, plan) {
            Ok(executor) => executors.extend(executor.map(|executor| (name, executor))),
            Err(problem) => return Verdict::Error(format!("stage {name}: {}", problem.brief())),
        }
    }
    // A consumer that rounds differently must compute the same results for the source and its translation.
    let otherwise = match subject {
        InputShader::Tgsi(source)
            if exact && plan.compiler.keeps_rounding(tgsi_to_ir::slots::stage_of(source.processor)) =>
        {
            let pair = subject.code(plan).and_then(|code| {
                let Some(translated) = code.into_tgsi() else { return Ok(None) };
                let source = Executor::tgsi(&round_otherwise(source))?;
                Ok(Some([source, Executor::tgsi(&round_otherwise(&translated))?]))
            });
            match pair {
                Ok(pair) => pair,
                Err(problem) => return Verdict::Error(problem.brief()),
            }
        }
        _ => None,
    };
    let integers = match subject.interface_integers(plan) {
        Ok(integers) => integers,
        Err(problem) => return Verdict::Error(format!("stage registers: {}", problem.brief())),
    };
    let open_results = LazyCell::new(|| {
        let optimized = subject.to_stage(Stage::Opt, plan).ok()?;
        Some(OpenResults::of_target(&optimized, plan.compiler.target()))
    });
    let mut ended = seeds == 0;
    for seed in 0..seeds {
        let mut inputs = inputs::make(shader, seed);
        if let Some(integers) = &integers {
            inputs::without_integers(&mut inputs, integers);
        }
        let limits = crate::limits::current().of_runs();
        let mut expected = None;
        for (name, executor) in &executors {
            let mut result = match executor.run(&inputs, limits) {
                Ok(result) => result,
                // A source that does not terminate with these inputs has no result to compare.
                Err(_) if expected.is_none() => break,
                Err(problem) => {
                    return Verdict::Error(format!("stage {name}, inputs {seed}: {}", problem.brief()));
                }
            };
            let Some(expected) = &expected else {
                expected = Some(result);
                ended = true;
                continue;
            };
            executor.settle(&mut result, expected);
            let kind = InputKind::of_seed(seed);
            let mismatch = if plan.is_run_by_device() && executor.is_code() {
                // Assumes that there are approximate operations.
                let approximate = true;
                let rule = if exact { Rule::ExactOnDevice { approximate } } else { Rule::CloseOnDevice(kind) };
                let open = || {
                    let lowered = subject.to_stage(Stage::Registers, plan).ok();
                    lowered.and_then(|lowered| OpenResults::new(&lowered).run(&inputs, limits))
                };
                first_mismatch_but(shader, rule, expected, &result, open)
            } else {
                let rule = if exact { Rule::Exact } else { Rule::Close(kind) };
                let open = || open_results.as_ref().and_then(|open| open.run(&inputs, limits));
                first_mismatch_but(shader, rule, expected, &result, open)
            };
            if let Some(m) = mismatch {
                return Verdict::Different(format!("stage {name}, inputs {seed}: {m}"));
            }
        }
        if let Some([source, translated]) = &otherwise
            && let (Ok(expected), Ok(found)) = (source.run(&inputs, limits), translated.run(&inputs, limits))
            && let Some(m) = first_mismatch(shader, Rule::Exact, &expected, &found)
        {
            return Verdict::Different(format!("stage driver, rounded differently, inputs {seed}: {m}"));
        }
    }
    if ended { Verdict::Equal } else { Verdict::WithoutResult }
}
