//! Checks shaders with results that are defined bit by bit: text and tokens reproduce them, and all stages compute the
//! same results.
//!
//! This is the comparison of `verify --exact FILE` for a large number of small shaders: each stage is compiled from the
//! one before, and nothing is parsed.

use std::any::Any;
use std::cell::{Cell, OnceCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use tgsi::Shader;
use tgsi::check::Report;
use tgsi_compiler::{CompileError, Stage};
use tgsi_environment::{AnalyticResources, Inputs, Outputs, RunLimits};
use tgsi_run::{OpcodeCounts, Program, RunError, run_counted};
use tgsi_smith::reduce::{Limits, reduce};

use super::compare::{Rule, first_mismatch, first_mismatch_but};
use super::executor::RunResult;
use super::inputs::{self, InputKind};
use super::open::OpenResults;
use crate::input::ShaderError;
use crate::plan::Plan;

/// Maximum number of instructions that a run may execute, far above the need of generated loops.
const STEPS: u64 = 400_000;

/// A defect in the translation of a shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// The step that failed: a stage, the check, text or tokens.
    pub stage: &'static str,
    /// The error of the target.
    pub message: String,
    /// Whether a stage computes different results; if not, it cannot be compiled or run.
    pub is_difference: bool,
    /// Whether a run took too long on a device and was abandoned.
    pub is_unended: bool,
}

impl Defect {
    /// Returns whether this looks like the same defect.
    pub fn resembles(&self, other: &Defect) -> bool {
        // Instruction numbers change with the shader, so they are not compared.
        let beginning =
            |defect: &Defect| defect.message.chars().filter(|c| !c.is_ascii_digit()).take(24).collect::<String>();
        self.stage == other.stage
            && self.is_difference == other.is_difference
            && (self.is_difference || beginning(self) == beginning(other))
    }
}

impl std::fmt::Display for Defect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.stage, self.message)
    }
}

fn defect(stage: &'static str, message: impl ToString) -> Defect {
    Defect { stage, message: message.to_string(), is_difference: false, is_unended: false }
}

/// The parameters of a verification.
#[derive(Clone, Debug)]
pub struct Verification<'a> {
    /// Passes and dialect.
    pub plan: &'a Plan,
    /// Sets of inputs.
    pub inputs: u64,
    /// Whether words are compared bit by bit.
    pub exact: bool,
}

/// The freedom of a device in computing the results of a shader.
struct Device {
    /// Whether there are operations that it may round differently.
    approximate: bool,
    /// The IR from which the code was emitted.
    lowered: tgsi_ir::Shader,
}

/// Returns whether the error is that a construct has no form in the target's dialect.
fn is_not_in_dialect(error: &CompileError) -> bool {
    matches!(error.code().name, "unsupported-opcode" | "unsupported-file")
}

impl Verification<'_> {
    /// Verifies a shader. A panic counts as a defect.
    pub fn verify(&self, shader: &Shader, counts: &mut OpcodeCounts) -> Result<(), Defect> {
        caught(|stage| self.verify_at(shader, counts, stage))
    }

    /// Checks that a shader that may be invalid is rejected or compiles to all stages without a panic; it need not
    /// terminate, and results need not agree.
    pub fn survives(&self, shader: &Shader) -> Result<(), Defect> {
        let result = caught(|stage| self.verify_at(shader, &mut OpcodeCounts::default(), stage));
        result.or_else(|defect| if defect.message.starts_with(PANIC) { Err(defect) } else { Ok(()) })
    }

    /// Checks that two shaders compute the same results without compilation.
    pub fn compare(&self, original: &Shader, changed: &Shader) -> Result<(), Defect> {
        let programs = (Program::new(original), Program::new(changed));
        let (original_program, changed_program) =
            (programs.0.map_err(|e| defect("original", e))?, programs.1.map_err(|e| defect("changed", e))?);
        let limits = RunLimits { steps: STEPS, ..RunLimits::default() };
        for seed in 0..self.inputs {
            let inputs = inputs::make(original, seed);
            let run = |program: &Program| {
                let mut resources = AnalyticResources::default();
                tgsi_run::run(program, &inputs, &mut resources, limits).map(|outputs| RunResult { outputs, resources })
            };
            // A shader that does not terminate has no result to compare.
            let Ok(expected) = run(&original_program) else { continue };
            let found = run(&changed_program).map_err(|e| defect("changed", format!("inputs {seed}: {e}")))?;
            if let Some(mismatch) = first_mismatch(original, Rule::Close(InputKind::of_seed(seed)), &expected, &found) {
                let message = format!("inputs {seed}: {mismatch}");
                return Err(Defect { is_difference: true, ..defect("changed", message) });
            }
        }
        Ok(())
    }

    /// Returns the smallest shader found with the same defect.
    pub fn reduce(&self, shader: &Shader, defect: &Defect, limits: Limits) -> Shader {
        // Prefers the looser comparison if it shows the defect: it does not need the exactly defined results of
        // generated shaders, which reduction loses.
        let close = Verification { exact: false, ..self.clone() };
        let fails = |verification: &Verification<'_>, shader: &Shader| {
            let result = verification.verify(shader, &mut OpcodeCounts::default());
            result.is_err_and(|found| found.resembles(defect))
        };
        let verification = if fails(&close, shader) { &close } else { self };
        reduce(shader, limits, &mut |shader| fails(verification, shader))
    }

    fn verify_at(
        &self,
        shader: &Shader,
        counts: &mut OpcodeCounts,
        current: &Cell<&'static str>,
    ) -> Result<(), Defect> {
        let mut read = shader.clone();
        let report: Report = self.plan.compiler.check(&mut read, &tgsi::text::Gaps::default());
        let shader = &read;
        if let Some(error) = report.diagnostics.iter().find(|d| d.is_error()) {
            return Err(defect("check", error));
        }
        current.set("text");
        keeps_text(shader)?;
        current.set("tokens");
        keeps_tokens(shader)?;
        current.set("tgsi");
        let program = Program::new(shader).map_err(|e| defect("tgsi", e))?;
        let mut inputs: Vec<Inputs> = (0..self.inputs).map(|seed| inputs::make(shader, seed)).collect();
        // Integers at the interface are known only for the optimised shader.
        let mut optimized = None;
        let integers = if self.plan.has_integers(shader) {
            None
        } else {
            current.set(Stage::Opt.name());
            let at = |error: CompileError| defect(Stage::Opt.name(), ShaderError::from(error).brief());
            let mut compilation = self.plan.compiler.start(shader).map_err(at)?;
            compilation.advance(Stage::Opt).map_err(at)?;
            let at = |error: CompileError| defect(Stage::Registers.name(), ShaderError::from(error).brief());
            let integers = compilation.interface_integers().map_err(at)?;
            optimized = Some(compilation.into_ir());
            integers
        };
        if let Some(integers) = &integers {
            inputs.iter_mut().for_each(|inputs| inputs::without_integers(inputs, integers));
        }
        current.set("tgsi");
        // Devices need not keep a NaN, and a comparison may depend on the value that replaces it.
        if self.plan.is_run_by_device() {
            inputs.iter_mut().for_each(inputs::without_nan);
        }
        let mut expected = Vec::with_capacity(inputs.len());
        let limits = RunLimits { steps: STEPS, ..RunLimits::default() };
        for (seed, inputs) in inputs.iter().enumerate() {
            let mut resources = AnalyticResources::default();
            match run_counted(&program, inputs, &mut resources, limits, counts) {
                Ok(outputs) => expected.push(Some(RunResult { outputs, resources })),
                // Shaders that were not generated need not terminate for all inputs.
                Err(RunError::StepLimit { .. }) if !self.exact => expected.push(None),
                Err(error) => return Err(defect("tgsi", format!("inputs {seed}: {error}"))),
            }
        }
        // One instruction may become several in another form.
        let wider = RunLimits { steps: 50 * STEPS, ..RunLimits::default() };
        let device: OnceCell<Device> = OnceCell::new();
        let approximated = Cell::new(false);
        let compare = |stage, run: &dyn Fn(&Inputs, &mut AnalyticResources) -> Result<Outputs, String>| {
            for (seed, (inputs, expected)) in inputs.iter().zip(&expected).enumerate() {
                let Some(expected) = expected else { continue };
                let mut resources = AnalyticResources::default();
                let converted = integers.as_ref().filter(|_| is_lowered(stage)).map(|integers| {
                    let mut inputs = inputs.clone();
                    integers.to_floats(&mut inputs);
                    (integers, inputs)
                });
                let fed = converted.as_ref().map_or(inputs, |(_, inputs)| inputs);
                let outputs = run(fed, &mut resources);
                let mut outputs = outputs.map_err(|e| defect(stage, format!("inputs {seed}: {e}")))?;
                if let Some((integers, _)) = &converted {
                    integers.to_integers(&mut outputs);
                    integers.mixed_to_integers(&mut outputs, &expected.outputs);
                }
                let found = RunResult { outputs, resources };
                let kind = InputKind::of_seed(seed as u64);
                let is_approximate = approximated.get() && ![IR, SSA].contains(&stage);
                let mismatch = match (self.exact, device.get()) {
                    (exact, None) => {
                        let rule = match exact {
                            true if is_approximate => Rule::ExactOnDevice { approximate: true },
                            true => Rule::Exact,
                            false => Rule::Close(kind),
                        };
                        let target = self.plan.compiler.target();
                        let open = || OpenResults::of_target(optimized.as_ref()?, target).run(inputs, wider);
                        first_mismatch_but(shader, rule, expected, &found, open)
                    }
                    (exact, Some(Device { approximate, lowered })) => {
                        let approximate = *approximate;
                        let rule = if exact { Rule::ExactOnDevice { approximate } } else { Rule::CloseOnDevice(kind) };
                        let open = || OpenResults::new(lowered).run(inputs, wider);
                        first_mismatch_but(shader, rule, expected, &found, open)
                    }
                };
                if let Some(mismatch) = mismatch {
                    let message = format!("inputs {seed}: {mismatch}");
                    return Err(Defect { is_difference: true, ..defect(stage, message) });
                }
            }
            Ok(())
        };
        let compare_ir = |stage, ir: &tgsi_ir::Shader| {
            let program = tgsi_ir::run::Program::new(ir).map_err(|e| defect(stage, e))?;
            compare(stage, &|inputs, resources| program.run(inputs, resources, wider).map_err(|e| e.to_string()))
        };
        let in_driver = |error: CompileError| defect(DRIVER, ShaderError::from(error).brief());
        current.set("ir");
        let mut compilation =
            self.plan.compiler.start(shader).map_err(|error| defect("ir", ShaderError::from(error).brief()))?;
        approximated.set(self.plan.is_approximated(compilation.ir()));
        compare_ir(IR, compilation.ir())?;
        for stage in [Stage::Ssa, Stage::Opt, Stage::Registers] {
            current.set(stage.name());
            compilation.advance(stage).map_err(|error| defect(stage.name(), ShaderError::from(error).brief()))?;
            compare_ir(stage.name(), compilation.ir())?;
        }
        current.set(DRIVER);
        if self.plan.is_run_by_device() {
            let approximate = self.plan.is_approximate(compilation.ir());
            device.get_or_init(|| Device { approximate, lowered: compilation.ir().clone() });
        }
        let code = match compilation.finish() {
            // A dialect does not have all of TGSI.
            Err(error) if is_not_in_dialect(&error) => return Ok(()),
            code => code.map_err(in_driver)?,
        };
        match tgsi_registry::runner(self.plan.compiler.target(), &code) {
            Some(runner) => {
                let runner = runner.map_err(|error| defect(DRIVER, error))?;
                compare(DRIVER, &|inputs, resources| runner.run(inputs, resources, wider))
                    .map_err(|defect| Defect { is_unended: runner.is_unended(), ..defect })
            }
            None => Ok(()),
        }
    }
}

/// The steps before lowering.
const IR: &str = "ir";
const SSA: &str = "ssa";

/// Returns whether a step runs the lowered shader.
fn is_lowered(stage: &str) -> bool {
    stage == DRIVER || stage == Stage::Registers.name()
}

/// The step that runs the code of the driver.
const DRIVER: &str = "driver";

/// The prefix of panic messages.
const PANIC: &str = "panic: ";

/// Runs a check that records its current step. A panic is a defect of that step.
fn caught(work: impl FnOnce(&Cell<&'static str>) -> Result<(), Defect>) -> Result<(), Defect> {
    let current = Cell::new("check");
    quiet_panics();
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(|| work(&current)));
    QUIET.set(false);
    result.unwrap_or_else(|panic| Err(defect(current.get(), format!("{PANIC}{}", panic_message(&*panic)))))
}

/// Checks that the printed text parses back to a shader that prints identically.
fn keeps_text(shader: &Shader) -> Result<(), Defect> {
    let text = tgsi::text::print(shader, Default::default());
    let parsed = tgsi::text::parse(text.as_bytes()).map_err(|errors| {
        defect("text", errors.first().map_or_else(|| "does not parse".to_owned(), ToString::to_string))
    })?;
    if tgsi::text::print(&parsed.shader, Default::default()) == text {
        Ok(())
    } else {
        Err(defect("text", "parses to a shader that prints differently"))
    }
}

/// Checks that the tokens decode to a shader that encodes and prints identically.
fn keeps_tokens(shader: &Shader) -> Result<(), Defect> {
    let words = tgsi::tokens::encode(shader).map_err(|e| defect("tokens", e))?;
    let decoded = tgsi::tokens::decode(&words).map_err(|e| defect("tokens", e))?;
    if !decoded.encoding_quirks.is_empty() {
        return Err(defect("tokens", "decode to a shader that encodes differently"));
    }
    let text = |shader| tgsi::text::print(shader, Default::default());
    if text(&decoded) == text(shader) {
        Ok(())
    } else {
        Err(defect("tokens", "decode to a shader that prints differently"))
    }
}

thread_local! {
    /// Whether panics of this thread are reported as defects of a shader.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Silences panics that are reported as defects.
fn quiet_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                previous(info);
            }
        }));
    });
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("without a message").to_owned()
}
