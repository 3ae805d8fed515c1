//! `verify FILE...`: the TGSI interpreter on the source is the truth for every stage and driver.

use std::path::PathBuf;

use serde::Serialize;
use tgsi::Shader;
use tgsi_ir::run::environment::RunLimits;

use super::Via;
use super::compare::first_mismatch;
use super::executor::Executor;
use super::inputs::{self, Kind};
use crate::args::Color;
use crate::commands::Failure;
use crate::diagnostics::{Reporter, Style};
use crate::input::{Problem, Source};
use crate::{batch, output, stages};

/// What comes out of it.
#[derive(Debug, Default, Serialize)]
struct Totals {
    shaders: usize,
    equal: usize,
    different: usize,
    error: usize,
    first: Vec<String>,
}

/// Result for one shader.
enum Verdict {
    Equal,
    Different(String),
    Error(String),
}

/// Verifies shaders; reports the first difference of each.
pub fn verify(files: &[PathBuf], seeds: u64, json: bool, color: Color) -> Result<bool, Failure> {
    let style = if files.len() > 1 { Style::Short } else { Style::Rich };
    let reporter = Reporter { style, color };
    let results = batch::for_each(files, |path| {
        let source = Source::read(path)?;
        let verdict = stages::checked(&source).map(|(shader, _)| one_shader(&shader, seeds));
        Ok((source, verdict))
    });
    let mut totals = Totals { shaders: files.len(), ..Totals::default() };
    for result in results {
        let (source, verdict): (Source, Result<Verdict, Problem>) = result?;
        match verdict {
            Ok(Verdict::Equal) => totals.equal += 1,
            Ok(Verdict::Different(message)) => {
                totals.different += 1;
                totals.first.push(format!("{}: {message}", source.path.display()));
            }
            Ok(Verdict::Error(message)) => {
                totals.error += 1;
                totals.first.push(format!("{}: {message}", source.path.display()));
            }
            Err(problem) => {
                totals.error += 1;
                reporter.problem(&source, &problem);
            }
        }
    }
    let text = if json {
        serde_json::to_string(&totals).unwrap_or_default() + "\n"
    } else {
        let mut text: String = totals.first.iter().map(|line| line.to_owned() + "\n").collect();
        text += &format!(
            "{} shaders: {} equal at every stage, {} different, {} errors\n",
            totals.shaders, totals.equal, totals.different, totals.error
        );
        text
    };
    output::write_stdout(text.as_bytes())?;
    Ok(totals.different == 0 && totals.error == 0)
}

fn one_shader(shader: &Shader, seeds: u64) -> Verdict {
    let mut executors = Vec::new();
    for (via, name) in Via::ALL {
        match Executor::new(shader, via) {
            Ok(executor) => executors.push((name, executor)),
            Err(message) => return Verdict::Error(format!("stage {name}: {message}")),
        }
    }
    for seed in 0..seeds {
        let inputs = inputs::make(shader, seed);
        let limits = RunLimits::default();
        let mut expected = None;
        for (name, executor) in &executors {
            let leftover = match executor.run(&inputs, limits) {
                Ok(leftover) => leftover,
                // A shader whose source does not end with these inputs has no result to compare.
                Err(_) if expected.is_none() => break,
                Err(message) => return Verdict::Error(format!("stage {name}, inputs {seed}: {message}")),
            };
            let Some(expected) = &expected else {
                expected = Some(leftover);
                continue;
            };
            if let Some(m) = first_mismatch(shader, Kind::of_seed(seed), expected, &leftover) {
                return Verdict::Different(format!(
                    "stage {name}, inputs {seed}: {} is {:08x} ({}), should be {:08x} ({})",
                    m.place,
                    m.found,
                    f32::from_bits(m.found),
                    m.expected,
                    f32::from_bits(m.expected)
                ));
            }
        }
    }
    Verdict::Equal
}
