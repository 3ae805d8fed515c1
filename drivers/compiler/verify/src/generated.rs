//! Checks shaders with results that are defined bit by bit: text and tokens reproduce them, and all stages compute the
//! same results.

use std::any::Any;
use std::cell::Cell;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use tgsi::Shader;
use tgsi::text::SkippedParts;
use tgsi_compiler::Source;
use tgsi_environment::RunLimits;
use tgsi_smith::reduce::{Limits, reduce};

use crate::checker::Checker;
use crate::stages::compare_stages;
use crate::verdict::{CheckStep, Defect, DefectKind, Verdict};

/// Maximum number of instructions that a run may execute, far above the need of generated loops.
const STEPS: u64 = 400_000;

/// The steps before any run.
const CHECK: &str = "check";
const TEXT: &str = "text";
const TOKENS: &str = "tokens";

impl Checker {
    /// Checks a shader of [`tgsi_smith`], or one that it has mutated: the source is valid, text and tokens reproduce it,
    /// and all stages compute the same results. A panic is a defect. A driver may lack a form for some opcodes and
    /// files. With [`exact`](Self::exact), the shader must terminate, as generated shaders do.
    pub fn verify_generated(&self, shader: &Shader) -> Verdict {
        let limits = RunLimits { steps: self.limits.steps.min(STEPS), ..self.limits };
        let checker = Checker { limits, ..self.clone() };
        caught(|step| {
            let mut read = shader.clone();
            let report = checker.compiler.check(&mut read, &SkippedParts::default());
            if let Some(error) = report.diagnostics.iter().find(|finding| finding.is_error()) {
                return Err(Defect::error(step.get(), error));
            }
            step.set(CheckStep::Source(TEXT));
            keeps_text(&read)?;
            step.set(CheckStep::Source(TOKENS));
            keeps_tokens(&read)?;
            compare_stages(&checker, &(&read).into(), true, step)
        })
        .into()
    }

    /// Checks that a shader that may be invalid is rejected or compiles to all stages without a panic; it need not
    /// terminate, and results need not agree. Returns the panic.
    pub fn panic_of(&self, shader: &Shader) -> Option<Defect> {
        self.verify_generated(shader).defect().filter(|defect| defect.kind == DefectKind::Panic)
    }

    /// Returns the defect that [`verify`](Self::verify) finds, or the panic.
    pub fn defect_of(&self, source: &Source<'_>) -> Option<Defect> {
        caught(|step| compare_stages(self, source, false, step)).err()
    }

    /// Returns the smallest shader found for which [`verify_generated`](Self::verify_generated) returns the same defect.
    pub fn reduce(&self, shader: &Shader, defect: &Defect, limits: Limits) -> Shader {
        // Prefers the looser comparison if it shows the defect: it does not need the exactly defined results of
        // generated shaders, which reduction loses.
        let close = Checker { exact: false, ..self.clone() };
        let fails = |checker: &Checker, shader: &Shader| {
            checker.verify_generated(shader).defect().is_some_and(|found| found.resembles(defect))
        };
        let checker = if fails(&close, shader) { &close } else { self };
        reduce(shader, limits, &mut |shader| fails(checker, shader))
    }
}

/// Runs a check that records its current step. A panic is a defect of that step.
fn caught(work: impl FnOnce(&Cell<CheckStep>) -> Result<bool, Defect>) -> Result<bool, Defect> {
    let step = Cell::new(CheckStep::Source(CHECK));
    quiet_panics();
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(|| work(&step)));
    QUIET.set(false);
    result.unwrap_or_else(|panic| {
        Err(Defect { kind: DefectKind::Panic, ..Defect::error(step.get(), panic_message(&*panic)) })
    })
}

/// Checks that the printed text parses back to a shader that prints identically.
fn keeps_text(shader: &Shader) -> Result<(), Defect> {
    let defect = |message: String| Defect::error(CheckStep::Source(TEXT), message);
    let text = tgsi::text::print(shader, Default::default());
    let parsed = tgsi::text::parse(text.as_bytes());
    let parsed = parsed
        .map_err(|errors| defect(errors.first().map_or_else(|| "does not parse".to_owned(), ToString::to_string)))?;
    if tgsi::text::print(&parsed.shader, Default::default()) == text {
        Ok(())
    } else {
        Err(defect("parses to a shader that prints differently".to_owned()))
    }
}

/// Checks that the tokens decode to a shader that encodes and prints identically.
fn keeps_tokens(shader: &Shader) -> Result<(), Defect> {
    let defect = |message: &dyn Display| Defect::error(CheckStep::Source(TOKENS), message);
    let words = tgsi::tokens::encode(shader).map_err(|error| defect(&error))?;
    let decoded = tgsi::tokens::decode(&words).map_err(|error| defect(&error))?;
    if !decoded.encoding_quirks.is_empty() {
        return Err(defect(&"decode to a shader that encodes differently"));
    }
    let text = |shader| tgsi::text::print(shader, Default::default());
    if text(&decoded) == text(shader) { Ok(()) } else { Err(defect(&"decode to a shader that prints differently")) }
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
