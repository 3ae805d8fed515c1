//! Checks each pass: after every pass that changed something, the IR must be valid and compute the results from before
//! all passes.
//!
//! The reference is the IR as converted or given, so that errors of the conversion are not blamed on a pass; the
//! comparison of stages finds those.

use std::ops::ControlFlow;

use tgsi_compiler::{CompileError, Source, Stage};
use tgsi_environment::{Inputs, RunLimits};
use tgsi_ir::Shader;
use tgsi_ir::passes::pass_manager::{PassObserver, PassRun};

use crate::checker::Checker;
use crate::executor::{Executor, ExecutorError, ExecutorKind, RunResult};
use crate::inputs::{self, InputKind};
use crate::interface::interface;
use crate::mismatch::{Rule, first_mismatch};
use crate::verdict::{CheckStep, Defect};

impl Checker {
    /// Validates and runs the IR of a valid shader after every pass that changed it. Returns the damage done by the
    /// first pass that breaks it; `None` if no pass does.
    pub fn first_broken_pass(&self, source: &Source<'_>) -> Option<Defect> {
        let interface = interface(source);
        let error = |problem: CompileError| {
            Defect::error(CheckStep::Executor(ExecutorKind::Stage(Stage::Opt)), ExecutorError::from(problem))
        };
        let start = match self.compiler.ir_at(Stage::Parsed, source.borrowed()) {
            Ok(start) => start,
            Err(problem) => return Some(error(problem)),
        };
        let mut observer = Observer::new(&interface, &start, self.seeds, self.limits);
        let compiled = self
            .compiler
            .start(source.borrowed())
            .and_then(|compilation| compilation.observed_by(&mut observer).advance(Stage::Opt));
        compiled.err().map(error).or(observer.blamed)
    }
}

/// Checks the IR after every pass, until one breaks it.
struct Observer<'a> {
    /// The interface of the shader.
    interface: &'a tgsi::Shader,
    /// Inputs with which the IR terminates, with their numbers and results.
    expected: Vec<(u64, Inputs, RunResult)>,
    limits: RunLimits,
    blamed: Option<Defect>,
}

impl<'a> Observer<'a> {
    /// Creates an observer that expects the results of `start`.
    fn new(interface: &'a tgsi::Shader, start: &Shader, seeds: u64, limits: RunLimits) -> Observer<'a> {
        let start = Executor::ir(start);
        let expected = (0..seeds).filter_map(|seed| {
            let inputs = inputs::make_inputs(interface, seed);
            // Without a result there is nothing to compare.
            let result = start.run(&inputs, limits).ok()?;
            Some((seed, inputs, result))
        });
        Observer { interface, expected: expected.collect(), limits, blamed: None }
    }

    fn check(&self, step: CheckStep, shader: &Shader) -> Result<(), Defect> {
        let invalid = |errors| Defect::error(step, format!("is not valid: {errors}"));
        tgsi_ir::validate::validate(shader).map_err(invalid)?;
        let executor = Executor::ir(shader);
        for (seed, inputs, expected) in &self.expected {
            let result = executor.run(inputs, self.limits);
            let result = result.map_err(|error| Defect::error(step, error).with_inputs(*seed))?;
            let rule = Rule::Close(InputKind::of_seed(*seed));
            if let Some(mismatch) = first_mismatch(self.interface, rule, expected, &result) {
                return Err(Defect::difference(step, *seed, mismatch));
            }
        }
        Ok(())
    }
}

impl PassObserver for Observer<'_> {
    fn after(&mut self, run: &PassRun, shader: &Shader) -> ControlFlow<()> {
        if run.changed {
            self.blamed = self.check(CheckStep::Pass(run.name, run.round), shader).err();
        }
        if self.blamed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tgsi_compiler::Compiler;
    use tgsi_driver_tgsi::TgsiOptions;
    use tgsi_ir::Cursor;
    use tgsi_ir::passes::pass_manager::Round;

    use super::*;
    use crate::verdict::DefectKind;

    fn tgsi(text: &str) -> tgsi::Shader {
        tgsi::text::parse(text.as_bytes()).expect("valid text").shader
    }

    fn ir(text: &str) -> Shader {
        let compiler = Compiler::new(TgsiOptions::default());
        compiler.ir_at(Stage::Ssa, tgsi(text)).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Checks a shader after a pass against one that doubles its input, and returns the defect.
    fn defect(after: &Shader, changed: bool) -> Option<Defect> {
        let interface = tgsi(DOUBLES);
        let mut observer = Observer::new(&interface, &ir(DOUBLES), 3, RunLimits::default());
        assert_eq!(observer.expected.len(), 3);
        let round = Round { optimizing: 2, cleaning: 1 };
        let run = PassRun { name: "opt_wrong", round, changed, time: Duration::ZERO };
        let ends = observer.after(&run, after).is_break();
        assert_eq!(ends, observer.blamed.is_some());
        observer.blamed
    }

    const DOUBLES: &str =
        "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nADD OUT[0], IN[0], IN[0]\nEND\n";

    #[test]
    fn a_pass_that_changes_the_meaning_is_named() {
        assert_eq!(defect(&ir(DOUBLES), true), None);
        let squares = ir(&DOUBLES.replace("ADD", "MUL"));
        assert_eq!(defect(&squares, false), None);
        let defect = defect(&squares, true).expect("a defect");
        assert_eq!(defect.kind, DefectKind::Difference);
        let what = defect.to_string();
        assert!(what.starts_with("after opt_wrong, round 2.1, inputs 0: OUT[0].x lane 0 is "), "{what}");
    }

    #[test]
    fn a_pass_that_breaks_the_shader_is_named() {
        let mut broken = ir(DOUBLES);
        for body in broken.bodies_mut() {
            // Moves the operand of the load behind it.
            let block = body.blocks_vec()[0];
            let first = body.insts(block).next().expect("an instruction");
            body.move_inst(Cursor::BlockEnd(block), first);
        }
        let defect = defect(&broken, true).expect("a defect");
        assert_eq!(defect.kind, DefectKind::Error);
        let what = defect.to_string();
        assert!(what.starts_with("after opt_wrong, round 2.1: is not valid: "), "{what}");
    }
}
