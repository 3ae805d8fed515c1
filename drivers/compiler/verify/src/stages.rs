//! Compares every stage of a compilation, and the code, with the interpretation of the source, TGSI or IR.

use std::cell::{Cell, OnceCell};

use tgsi::Shader;
use tgsi_compiler::{CompileError, InterfaceIntegers, Source, Stage};
use tgsi_environment::{Inputs, RunLimits};
use tgsi_smith::mutate::round_otherwise;

use crate::checker::Checker;
use crate::executor::{Executor, ExecutorError, ExecutorKind, RunResult};
use crate::inputs::{self, InputKind};
use crate::interface::interface;
use crate::mismatch::{Rule, first_mismatch, first_mismatch_but};
use crate::open::OpenResults;
use crate::verdict::{CheckStep, Defect, DefectKind, Verdict};

/// Instructions that a stage may execute for each instruction of the source, because one instruction of 64-bit numbers
/// may become many.
const STEPS_PER_STEP: u64 = 50;

impl Checker {
    /// Runs a valid shader with generated inputs, at every stage and as code of the driver, and compares the results.
    /// With [`exact`](Self::exact) and a target that keeps rounding, source and code must also agree for a consumer
    /// that rounds differently inside `MAD`, `LRP` and dot products.
    pub fn verify(&self, source: &Source<'_>) -> Verdict {
        let step = Cell::new(CheckStep::Executor(ExecutorKind::of_source(source)));
        let mut result = compare_stages(self, source, false, &step);
        if let (Ok(_), true, Source::Tgsi(shader)) = (&result, self.exact, source)
            && self.keeps_rounding(shader)
        {
            let rounded = self.compare_rounded(shader);
            result = result.and_then(|ended| rounded.map(|()| ended));
        }
        result.into()
    }

    /// Compares a source with its code, for a consumer that rounds differently.
    fn compare_rounded(&self, source: &Shader) -> Result<(), Defect> {
        let step = CheckStep::Executor(ExecutorKind::Driver(self.driver.name()));
        let error = |error: ExecutorError| Defect::error(step, error);
        let code = self.compiler.compile(source).map_err(|problem| error(problem.into()))?;
        let Some(translated) = code.into_tgsi() else { return Ok(()) };
        let integers = self.interface_integers(&source.into(), source.processor);
        let integers = integers.map_err(|problem| error(problem.into()))?;
        let [before, after] = [source, &translated].map(|shader| Executor::tgsi(&round_otherwise(shader)));
        let (before, after) = (before.map_err(error)?, after.map_err(error)?.with_integers(integers.clone()));
        for seed in 0..self.seeds {
            let inputs = inputs_for(source, seed, integers.as_ref());
            let (Ok(expected), Ok(mut found)) = (before.run(&inputs, self.limits), after.run(&inputs, self.limits))
            else {
                continue;
            };
            after.settle(&mut found, &expected);
            if let Some(mismatch) = first_mismatch(source, Rule::Exact, &expected, &found) {
                return Err(Defect::difference(step, seed, format!("rounded differently, {mismatch}")));
            }
        }
        Ok(())
    }
}

/// A run of the source.
struct SourceRun {
    seed: u64,
    inputs: Inputs,
    expected: RunResult,
}

/// Compares all stages and the code. Returns whether the source terminates with some inputs. `step` tracks the
/// current step for error reports. Shaders of the generator must terminate, and a driver may lack a form for some of
/// their constructs.
pub fn compare_stages(
    checker: &Checker,
    source: &Source<'_>,
    is_generated: bool,
    step: &Cell<CheckStep>,
) -> Result<bool, Defect> {
    let shader = &*interface(source);
    let enter = |kind| step.set(CheckStep::Executor(kind));
    let error = |error: ExecutorError| Defect::error(step.get(), error);
    let compile_error = |problem: CompileError| {
        let kind = if problem.is_limit() { DefectKind::Limit } else { DefectKind::Error };
        Defect { kind, ..error(problem.into()) }
    };

    enter(ExecutorKind::Stage(Stage::Registers));
    let integers = checker.interface_integers(source, shader.processor).map_err(compile_error)?;
    let first = ExecutorKind::of_source(source);
    enter(first);
    let executor = match source {
        Source::Tgsi(shader) => Executor::tgsi(shader).map_err(error)?,
        Source::Ir(shader, _) => Executor::ir(shader),
    };
    let textures = checker.textures(shader);
    let executor = executor.with_textures(textures);
    let mut runs = Vec::new();
    for seed in 0..checker.seeds {
        let mut inputs = inputs_for(shader, seed, integers.as_ref());
        // Devices need not keep a NaN, and a comparison may depend on the value that replaces it.
        if is_generated && checker.is_run_by_device() {
            inputs::without_nan(&mut inputs);
        }
        match executor.run(&inputs, checker.limits) {
            Ok(expected) => runs.push(SourceRun { seed, inputs, expected }),
            Err(problem) if is_generated && checker.exact => return Err(error(problem).with_inputs(seed)),
            // A source that does not terminate with these inputs has no result to compare.
            Err(_) => {}
        }
    }
    let ended = checker.seeds == 0 || !runs.is_empty();

    enter(ExecutorKind::Stage(Stage::Parsed));
    let mut compilation = checker.compiler.start(source.borrowed()).map_err(compile_error)?;
    let is_approximated = checker.exact && checker.is_approximated(compilation.ir());
    let optimized = OnceCell::new();
    let open = || {
        let optimized = optimized.get_or_init(|| {
            let shader = checker.compiler.ir_at(Stage::Opt, source.borrowed()).ok()?;
            Some(OpenResults::of_target(&shader, checker.compiler.target()).with_textures(textures))
        });
        optimized.as_ref()
    };
    let rule = |kind: InputKind, stage: Stage| match checker.exact {
        true if is_approximated && stage > Stage::Ssa => Rule::ExactOnDevice { approximate: true },
        true => Rule::Exact,
        false => Rule::Close(kind),
    };
    let compared = Compared { checker, shader, runs, step };
    for stage in [Stage::Parsed, Stage::Ssa, Stage::Opt] {
        enter(ExecutorKind::Stage(stage));
        compilation.advance(stage).map_err(compile_error)?;
        if first != ExecutorKind::Stage(stage) {
            let executor = Executor::ir(compilation.ir()).with_textures(textures);
            compared.compare(&executor, &|kind| rule(kind, stage), &open)?;
        }
    }
    let (registers, driver) = (ExecutorKind::Stage(Stage::Registers), ExecutorKind::Driver(checker.driver.name()));
    enter(registers);
    compilation.advance(Stage::Registers).map_err(compile_error)?;
    let executor = Executor::ir(compilation.ir()).with_integers(integers.clone()).with_textures(textures);
    let lowered = checker.is_run_by_device().then(|| compilation.ir().clone());
    // A target that cannot express a shader may reject it as late as here; its lowered IR means nothing then.
    enter(driver);
    let runner = match compilation.finish() {
        // A dialect does not have all of TGSI.
        Err(problem) if is_generated && is_not_in_dialect(&problem) => None,
        code => checker.runner(&code.map_err(compile_error)?).map_err(|problem| error(problem.into()))?,
    };
    let rule = |kind| rule(kind, Stage::Registers);
    enter(registers);
    compared.compare(&executor, &rule, &open)?;
    let Some(runner) = runner else { return Ok(ended) };
    enter(driver);
    let executor = Executor::code(runner).with_integers(integers).with_textures(textures);
    match lowered {
        None => compared.compare(&executor, &rule, &open)?,
        Some(lowered) => {
            let approximate = checker.is_approximate(&lowered);
            let rule = |kind| match checker.exact {
                true => Rule::ExactOnDevice { approximate },
                false => Rule::CloseOnDevice(kind),
            };
            let open = OnceCell::new();
            let open = || Some(open.get_or_init(|| OpenResults::new(&lowered).with_textures(textures)));
            compared.compare(&executor, &rule, &open)?;
        }
    }
    Ok(ended)
}

/// Generates inputs, without values that the target cannot represent if it reads these integers as floats.
fn inputs_for(shader: &Shader, seed: u64, integers: Option<&InterfaceIntegers>) -> Inputs {
    let mut inputs = inputs::make_inputs(shader, seed);
    if let Some(integers) = integers {
        inputs::without_integers(&mut inputs, integers);
    }
    inputs
}

/// Returns whether the error is that a construct has no form in the target's dialect.
fn is_not_in_dialect(error: &CompileError) -> bool {
    matches!(error.code().name, "unsupported-opcode" | "unsupported-file")
}

/// The runs of a source that all stages are compared with.
struct Compared<'a> {
    checker: &'a Checker,
    /// The declarations of the source.
    shader: &'a Shader,
    runs: Vec<SourceRun>,
    step: &'a Cell<CheckStep>,
}

impl Compared<'_> {
    /// Compares the results of an executor with those of the source. `open` finds open words if there is a mismatch.
    fn compare<'o>(
        &self,
        executor: &Executor,
        rule: &dyn Fn(InputKind) -> Rule,
        open: &dyn Fn() -> Option<&'o OpenResults>,
    ) -> Result<(), Defect> {
        for SourceRun { seed, inputs, expected } in &self.runs {
            let steps = self.checker.limits.steps.max(expected.outputs.steps.saturating_mul(STEPS_PER_STEP));
            let limits = RunLimits { steps, ..self.checker.limits };
            let mut found = executor.run(inputs, limits).map_err(|error| {
                let kind = if error.is_device_lost() { DefectKind::TimedOut } else { DefectKind::Error };
                Defect { kind, ..Defect::error(self.step.get(), error).with_inputs(*seed) }
            })?;
            executor.settle(&mut found, expected);
            let open = || open().and_then(|open| open.run(inputs, limits));
            let rule = rule(InputKind::of_seed(*seed));
            if let Some(mismatch) = first_mismatch_but(self.shader, rule, expected, &found, open) {
                return Err(Defect::difference(self.step.get(), *seed, mismatch));
            }
        }
        Ok(())
    }
}
