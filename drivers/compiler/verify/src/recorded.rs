//! Compares with recorded results.
//!
//! Words need not be equal bit by bit: [`Agreement`] defines which are close. A device may round as Vulkan allows:
//!
//! - The result of a shader of one instruction must be within the bound that Vulkan gives for its opcode
//!   ([`crate::precision`]).
//! - In other shaders errors add up, and no bound follows from those of their operations. There the tolerance is that
//!   of [`Agreement`]: a thousandth, or 1e-5.
//! - Words that Vulkan or the driver leaves open are not compared, and are counted by kind ([`crate::open`]).

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use serde::Serialize;
use tgsi::Shader;
use tgsi_compiler::{Source, Stage};
use tgsi_environment::{Inputs, Outputs};
use tgsi_run::vectors::{Agreement, UninitialisedWords, Vector, as_recorded};

use crate::checker::Checker;
use crate::executor::ExecutorKind;
use crate::interface::interface;
use crate::mismatch::is_kept;
use crate::open::OpenResults;
use crate::precision::{OpcodeTotals, only_instruction};

/// Maximum number of listed differences.
const MAX_LISTED: usize = 20;

/// The agreement with recorded results.
#[derive(Debug, Default, Serialize)]
pub struct RecordedTotals {
    /// Vectors.
    pub vectors: usize,
    /// Vectors with the same bits.
    pub exact: usize,
    /// Vectors with words that are close, or open.
    pub close: usize,
    /// Vectors with a word that differs.
    pub different: usize,
    /// Vectors of shaders that cannot be compiled or run.
    pub error: usize,
    /// Vectors with a run that did not terminate and need not, because of an open operation.
    pub open: usize,
    /// Vectors of shaders with a run that took too long on a device and was abandoned.
    #[serde(rename = "unended")]
    pub timed_out: usize,
    /// Words that depend on uninitialised memory of the recording interpreter and were not compared; see
    /// [`UninitialisedWords`].
    pub undetermined_words: usize,
    /// Words that the device may compute differently, and did, by reason.
    pub open_words: BTreeMap<&'static str, usize>,
    /// Results of shaders of one instruction that a device ran.
    pub opcodes: BTreeMap<&'static str, OpcodeTotals>,
    /// The first differences and errors.
    pub first: Vec<String>,
}

/// The reason for a word that is infinite or NaN as a float.
const SPECIAL_RESULT: &str = "infinity or NaN as a result";
/// See [`Vector::excuse_device`].
const SPECIAL_OPERAND: &str = "infinity, NaN, denormal or number beyond 2^24 as an operand of an approximate operation";

impl RecordedTotals {
    /// The totals of vectors of a shader that cannot be read, compiled or run.
    pub fn failed(vectors: &[Vector], problem: impl Display) -> RecordedTotals {
        let first = vectors.first().map(|vector| format!("{}: {problem}", vector.file)).into_iter().collect();
        RecordedTotals { vectors: vectors.len(), error: vectors.len(), first, ..RecordedTotals::default() }
    }

    /// Adds other totals.
    pub fn add(&mut self, other: RecordedTotals) {
        self.vectors += other.vectors;
        self.exact += other.exact;
        self.close += other.close;
        self.different += other.different;
        self.error += other.error;
        self.undetermined_words += other.undetermined_words;
        self.open += other.open;
        self.timed_out += other.timed_out;
        other.open_words.into_iter().for_each(|(reason, words)| self.open(reason, words));
        other.opcodes.iter().for_each(|(name, other)| self.opcodes.entry(name).or_default().add(other));
        self.first.extend(other.first);
        self.first.truncate(MAX_LISTED);
    }

    /// Lists a difference or an error of a vector.
    fn list(&mut self, vector: &Vector, what: impl Display) {
        self.first.push(format!("{} seed {}: {what}", vector.file, vector.seed));
    }

    fn open(&mut self, reason: &'static str, words: usize) {
        if words > 0 {
            *self.open_words.entry(reason).or_default() += words;
        }
    }
}

impl Checker {
    /// Runs a valid shader on an executor with recorded inputs, and compares the results with the recorded ones.
    pub fn compare_recorded(&self, source: &Source<'_>, kind: ExecutorKind, vectors: &[Vector]) -> RecordedTotals {
        let source = match source {
            Source::Tgsi(shader) => Source::from(as_recorded(shader)),
            Source::Ir(..) => source.borrowed(),
        };
        let executor = match self.executor(&source, kind) {
            Ok(executor) => executor,
            Err(problem) => return RecordedTotals::failed(vectors, problem),
        };
        let shader = &*interface(&source);
        let runs = RecordedRuns {
            checker: self,
            source: &source,
            shader,
            uninitialised: UninitialisedWords::new(shader),
            is_on_device: matches!(kind, ExecutorKind::Driver(_)) && self.is_run_by_device(),
            lowered: OnceCell::new(),
            open: OnceCell::new(),
        };
        let mut totals = RecordedTotals { vectors: vectors.len(), ..RecordedTotals::default() };
        for (number, vector) in vectors.iter().enumerate() {
            let inputs = vector.inputs(shader);
            match executor.run(&inputs, self.limits) {
                Ok(result) => runs.compare(vector, &inputs, &result.outputs, &mut totals),
                Err(problem) if problem.is_device_lost() => {
                    totals.timed_out = vectors.len() - number;
                    totals.list(vector, problem);
                    break;
                }
                Err(problem) => match runs.open().and_then(|open| open.endless(&inputs, self.limits)) {
                    Some(reason) => {
                        totals.open += 1;
                        totals.list(vector, format!("did not end because of an open operation: {reason}"));
                    }
                    None => {
                        totals.error += 1;
                        totals.list(vector, problem);
                    }
                },
            }
        }
        totals.first.truncate(MAX_LISTED);
        totals
    }
}

/// A shader that runs with recorded inputs.
struct RecordedRuns<'a> {
    checker: &'a Checker,
    source: &'a Source<'a>,
    /// The declarations of the source.
    shader: &'a Shader,
    uninitialised: UninitialisedWords,
    /// Whether a device runs the shader.
    is_on_device: bool,
    /// The IR from which the driver's code was emitted.
    lowered: OnceCell<Option<tgsi_ir::Shader>>,
    open: OnceCell<Option<OpenResults>>,
}

impl RecordedRuns<'_> {
    /// Returns the IR from which the driver's code was emitted, if a device runs the code.
    fn lowered(&self) -> Option<&tgsi_ir::Shader> {
        let lowered = || self.checker.compiler.ir_at(Stage::Registers, self.source.borrowed()).ok();
        self.lowered.get_or_init(|| if self.is_on_device { lowered() } else { None }).as_ref()
    }

    /// Returns the words that a device leaves open.
    fn open(&self) -> Option<&OpenResults> {
        self.open.get_or_init(|| self.lowered().map(OpenResults::new)).as_ref()
    }

    /// Returns whether results may depend on the device for special operands.
    fn depends_on_device(&self) -> bool {
        self.lowered().is_some_and(|lowered| self.checker.depends_on_device(lowered))
    }

    /// Compares the results of a run.
    fn compare(&self, vector: &Vector, inputs: &Inputs, outputs: &Outputs, totals: &mut RecordedTotals) {
        let mut comparison = vector.compare(outputs);
        let is_exact = comparison.verdict() == Agreement::Exact;
        totals.undetermined_words += self.uninitialised.excuse(self.shader, vector, &mut comparison);
        let only = only_instruction(self.shader).filter(|_| self.is_on_device);
        let outside = if let Some(instruction) = only {
            let depends = self.depends_on_device();
            let is_open = |lane| depends && vector.reads_unbounded(Some(lane));
            let undetermined =
                if is_exact { BTreeSet::new() } else { self.uninitialised.undetermined(self.shader, vector) };
            let opcode = totals.opcodes.entry(instruction.opcode.name()).or_default();
            let outside = opcode.count(instruction, vector, inputs, outputs, &undetermined, is_open);
            outside.map(|(place, expected, found)| (place, Some(expected), Some(found)))
        } else {
            if self.is_on_device {
                let before = comparison.different.len();
                comparison.different.retain(|word| word.expected.is_none_or(is_kept));
                totals.open(SPECIAL_RESULT, before - comparison.different.len());
            }
            if !comparison.different.is_empty() && self.depends_on_device() {
                totals.open(SPECIAL_OPERAND, vector.excuse_device(&mut comparison));
            }
            if let Some(open) = self.open().filter(|_| !comparison.different.is_empty()) {
                for (reason, words) in open.excuse(vector, inputs, self.checker.limits, &mut comparison) {
                    totals.open(reason, words);
                }
            }
            let first = comparison.different.first();
            first.map(|word| (word.position.clone(), word.expected, word.found))
        };
        match outside {
            Some((place, expected, found)) => {
                let word = |word: Option<u32>| word.map_or("nothing".to_owned(), |word| format!("{word:08x}"));
                totals.different += 1;
                totals.list(vector, format!("{place}: recorded {}, found {}", word(expected), word(found)));
            }
            None if comparison.verdict() == Agreement::Exact => totals.exact += 1,
            None => totals.close += 1,
        }
    }
}
