//! `verify --vectors`: compares with recorded results.
//!
//! Words need not be equal bit by bit: [`Agreement`] defines which are close. A device may round as Vulkan allows:
//!
//! - The result of a shader of one instruction must be within the bound that Vulkan gives for its opcode
//!   ([`super::precision`]).
//! - In other shaders errors add up, and no bound follows from those of their operations. There the tolerance is that
//!   of [`Agreement`]: a thousandth, or 1e-5.
//! - Words that Vulkan or the driver leaves open are not compared, and are counted by kind ([`super::open`]).

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::Serialize;
use tgsi_compiler::Stage;
use tgsi_run::vectors::{Agreement, UninitialisedWords, Vector, as_recorded};

use super::compare::is_kept;
use super::executor::Executor;
use super::open::OpenResults;
use super::precision::{ByOpcode, only_instruction};
use crate::args::VerifyArguments;
use crate::executor_kind::ExecutorKind;
use crate::input::Source;
use crate::input_shader::InputShader;
use crate::plan::Plan;
use crate::status::{Failure, Status};
use crate::{batch, output};

/// Maximum number of listed differences.
const MAX_LISTED: usize = 20;

/// The totals of a run.
#[derive(Debug, Default, Serialize)]
struct Totals {
    vectors: usize,
    exact: usize,
    close: usize,
    different: usize,
    error: usize,
    /// Vectors with a run that did not terminate and need not, because of an open operation.
    open: usize,
    /// Vectors of shaders with a run that took too long on a device and was abandoned.
    unended: usize,
    /// Words that depend on uninitialised memory of the recording interpreter and were not compared; see
    /// [`UninitialisedWords`].
    undetermined_words: usize,
    /// Words that the device may compute differently, and did, by reason.
    open_words: BTreeMap<&'static str, usize>,
    /// Results of shaders of one instruction that a device ran.
    opcodes: ByOpcode,
    first: Vec<String>,
}

/// The reason for a word that is infinite or NaN as a float.
const SPECIAL_RESULT: &str = "infinity or NaN as a result";
/// See [`Vector::excuse_device`].
const SPECIAL_OPERAND: &str = "infinity, NaN, denormal or number beyond 2^24 as an operand of an approximate operation";

impl Totals {
    fn open(&mut self, reason: &'static str, words: usize) {
        if words > 0 {
            *self.open_words.entry(reason).or_default() += words;
        }
    }
}

/// Runs every recorded vector on an executor and compares the results.
pub fn verify(vectors: &Path, arguments: &VerifyArguments) -> Result<Status, Failure> {
    let VerifyArguments { root, via, json, .. } = arguments;
    let json = *json;
    let plan = Plan::to_be_run(&arguments.passes, Some(*via))?;
    let by_shader = read(vectors)?;
    let shaders: Vec<(&String, &Vec<Vector>)> = by_shader.iter().collect();
    let results = batch::for_each(&shaders, |(file, vectors)| one_shader(file, vectors, root, *via, &plan));
    let mut totals = Totals::default();
    for result in results {
        totals.vectors += result.vectors;
        totals.exact += result.exact;
        totals.close += result.close;
        totals.different += result.different;
        totals.error += result.error;
        totals.undetermined_words += result.undetermined_words;
        totals.open += result.open;
        totals.unended += result.unended;
        result.open_words.into_iter().for_each(|(reason, words)| totals.open(reason, words));
        totals.opcodes.add(result.opcodes);
        totals.first.extend(result.first);
    }
    totals.first.truncate(MAX_LISTED);
    let text = if json {
        serde_json::to_string(&totals).unwrap_or_default() + "\n"
    } else {
        let mut text = format!(
            "{} vectors via {}: {} exact, {} close, {} different, {} errors\n",
            totals.vectors,
            via.name(),
            totals.exact,
            totals.close,
            totals.different,
            totals.error
        );
        if totals.undetermined_words > 0 {
            text += &format!(
                "  {} words depend on uninitialised memory of the recording interpreter and were not compared\n",
                totals.undetermined_words
            );
        }
        if totals.open > 0 {
            text += &format!("  {} vectors that did not end because of an open operation\n", totals.open);
        }
        if totals.unended > 0 {
            text += &format!("  {} vectors of shaders that did not end\n", totals.unended);
        }
        for (reason, words) in &totals.open_words {
            text += &format!("  {words} open words differ: {reason}\n");
        }
        text += &totals.opcodes.text();
        for line in &totals.first {
            text += &format!("  {line}\n");
        }
        text
    };
    output::write_stdout(text.as_bytes())?;
    Ok(if totals.different == 0 && totals.error == 0 && totals.unended == 0 {
        Status::Success
    } else {
        Status::ShaderError
    })
}

/// Returns the vectors of a file, by shader.
fn read(path: &Path) -> Result<BTreeMap<String, Vec<Vector>>, Failure> {
    let mut by_shader: BTreeMap<String, Vec<Vector>> = BTreeMap::new();
    for vector in vectors(path)? {
        let vector = vector?;
        by_shader.entry(vector.file.clone()).or_default().push(vector);
    }
    if by_shader.is_empty() { Err(no_vector(path)) } else { Ok(by_shader) }
}

/// Returns the vectors of a file, one per line; unpacks it if its name ends in `.gz`.
pub fn vectors(path: &Path) -> Result<impl Iterator<Item = Result<Vector, Failure>>, Failure> {
    let path = path.to_owned();
    let failure = {
        let path = path.clone();
        move |error| Failure::Read { path: path.clone(), error }
    };
    let file = std::fs::File::open(&path).map_err(&failure)?;
    let reader: Box<dyn Read> = if path.extension().is_some_and(|e| e == "gz") {
        Box::new(flate2::read::MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    Ok(BufReader::new(reader).lines().enumerate().filter_map(move |(number, line)| {
        let line = match line {
            Ok(line) if line.trim().is_empty() => return None,
            Ok(line) => line,
            Err(error) => return Some(Err(failure(error))),
        };
        let parsed = Vector::parse(&line).map_err(|error| Failure::Vectors {
            path: path.clone(),
            line: number + 1,
            problem: error.to_string(),
        });
        Some(parsed)
    }))
}

/// Returns the error for a file without vectors.
pub fn no_vector(path: &Path) -> Failure {
    Failure::Vectors { path: path.to_owned(), line: 1, problem: "there are no recorded results".into() }
}

fn one_shader(file: &str, vectors: &[Vector], root: &Path, via: ExecutorKind, plan: &Plan) -> Totals {
    let mut totals = Totals { vectors: vectors.len(), ..Totals::default() };
    let failed = |mut totals: Totals, message: String| {
        totals.error = totals.vectors;
        totals.first = vec![format!("{file}: {message}")];
        totals
    };
    let source = match Source::read(&root.join(file)) {
        Ok(source) => source,
        Err(failure) => return failed(totals, failure.to_string()),
    };
    let subject = match InputShader::checked(&source, plan) {
        Ok((InputShader::Tgsi(shader), _)) => InputShader::Tgsi(as_recorded(&shader)),
        Ok((subject, _)) => subject,
        Err(problem) => return failed(totals, problem.brief()),
    };
    let shader = subject.interface();
    let executor = match Executor::new(&subject, via, plan) {
        Ok(executor) => executor,
        Err(problem) => return failed(totals, problem.brief()),
    };
    let uninitialised = UninitialisedWords::new(shader);
    let on_device = matches!(via, ExecutorKind::Driver(_)) && plan.is_run_by_device();
    // The driver's code was emitted from this stage.
    let lowered = OnceCell::new();
    let lowered = || lowered.get_or_init(|| subject.to_stage(Stage::Registers, plan).ok()).as_ref();
    let open_results = OnceCell::new();
    let instruction = match &subject {
        InputShader::Tgsi(shader) if on_device => only_instruction(shader),
        _ => None,
    };
    for (number, vector) in vectors.iter().enumerate() {
        let inputs = vector.inputs(shader);
        let limits = crate::limits::current().of_runs();
        match executor.run(&inputs, limits) {
            Err(problem) if executor.is_unended() => {
                totals.unended = vectors.len() - number;
                totals.first.push(format!("{file} seed {}: {}", vector.seed, problem.brief()));
                break;
            }
            Err(problem) => {
                let results = lowered().filter(|_| on_device);
                let results = results.map(|lowered| open_results.get_or_init(|| OpenResults::new(lowered)));
                if let Some(reason) = results.and_then(|results| results.endless(&inputs, limits)) {
                    totals.open += 1;
                    totals.first.push(format!(
                        "{file} seed {}: did not end because of an open operation: {reason}",
                        vector.seed
                    ));
                    continue;
                }
                totals.error += 1;
                totals.first.push(format!("{file} seed {}: {}", vector.seed, problem.brief()));
            }
            Ok(result) => {
                let mut comparison = vector.compare(&result.outputs);
                let is_exact = comparison.verdict() == Agreement::Exact;
                totals.undetermined_words += uninitialised.excuse(shader, vector, &mut comparison);
                if let Some(instruction) = instruction {
                    let depends = lowered().is_some_and(|lowered| plan.depends_on_device(lowered));
                    let is_open = |lane| depends && vector.reads_unbounded(Some(lane));
                    let undetermined =
                        if is_exact { BTreeSet::new() } else { uninitialised.undetermined(shader, vector) };
                    let outputs = &result.outputs;
                    let outside = totals.opcodes.count(instruction, vector, &inputs, outputs, &undetermined, is_open);
                    match outside {
                        Some((place, expected, found)) => {
                            totals.different += 1;
                            let what = format!("{place}: recorded {expected:08x}, found {found:08x}");
                            totals.first.push(format!("{file} seed {}: {what}", vector.seed));
                        }
                        None if comparison.verdict() == Agreement::Exact => totals.exact += 1,
                        None => totals.close += 1,
                    }
                    continue;
                }
                if on_device {
                    let before = comparison.different.len();
                    comparison.different.retain(|word| word.expected.is_none_or(is_kept));
                    totals.open(SPECIAL_RESULT, before - comparison.different.len());
                }
                if on_device
                    && !comparison.different.is_empty()
                    && let Some(lowered) = lowered()
                {
                    if plan.depends_on_device(lowered) {
                        totals.open(SPECIAL_OPERAND, vector.excuse_device(&mut comparison));
                    }
                    let results = open_results.get_or_init(|| OpenResults::new(lowered));
                    for (reason, words) in results.excuse(vector, &inputs, limits, &mut comparison) {
                        totals.open(reason, words);
                    }
                }
                match comparison.verdict() {
                    Agreement::Exact => totals.exact += 1,
                    Agreement::Close => totals.close += 1,
                    Agreement::Different => {
                        totals.different += 1;
                        let what = comparison.different.first().map(|d| {
                            let word = |w: Option<u32>| w.map_or("nothing".to_string(), |w| format!("{w:08x}"));
                            format!("{}: recorded {}, found {}", d.position, word(d.expected), word(d.found))
                        });
                        totals.first.push(format!("{file} seed {}: {}", vector.seed, what.unwrap_or_default()));
                    }
                }
            }
        }
    }
    totals.first.truncate(MAX_LISTED);
    totals
}
