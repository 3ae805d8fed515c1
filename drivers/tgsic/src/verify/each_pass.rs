//! `verify --each-pass`: after every pass that changed something, the IR must be valid and compute the results from
//! before all passes.
//!
//! The reference is the IR as converted or given, so that errors of the conversion are not blamed on a pass; the
//! comparison of stages finds those.

use std::ops::ControlFlow;

use tgsi_compiler::Stage;
use tgsi_environment::Inputs;
use tgsi_ir::Shader;
use tgsi_ir::passes::pass_manager::{PassObserver, PassRun};

use super::compare::{Rule, first_mismatch};
use super::executor::{RunResult, run_ir};
use super::inputs::{self, InputKind};
use super::stages::Verdict;
use crate::input_shader::InputShader;
use crate::plan::Plan;

/// Checks the IR after every pass, until one breaks it.
struct Checker<'a> {
    /// The interface of the shader.
    interface: &'a tgsi::Shader,
    /// Inputs with which the IR terminates, with their numbers and results.
    expected: Vec<(u64, Inputs, RunResult)>,
    blamed: Option<Verdict>,
}

/// Returns the damage done by the first pass that breaks a shader; `None` if none does.
pub fn first_broken_pass(subject: &InputShader, seeds: u64, plan: &Plan) -> Option<Verdict> {
    let error = |problem: crate::input::ShaderError| Some(Verdict::Error(format!("stage opt: {}", problem.brief())));
    let start = match subject.to_stage(Stage::Parsed, plan) {
        Ok(start) => start,
        Err(problem) => return error(problem),
    };
    let mut checker = Checker::new(subject.interface(), &start, seeds);
    match subject.observed(Stage::Opt, plan, &mut checker) {
        Ok(_) => checker.blamed,
        Err(problem) => error(problem),
    }
}

impl<'a> Checker<'a> {
    /// Creates a checker that expects the results of `start`.
    fn new(interface: &'a tgsi::Shader, start: &Shader, seeds: u64) -> Checker<'a> {
        let expected = (0..seeds).filter_map(|seed| {
            let inputs = inputs::make(interface, seed);
            // Without a result there is nothing to compare.
            let result = run_ir(start, &inputs, crate::limits::current().of_runs()).ok()?;
            Some((seed, inputs, result))
        });
        Checker { interface, expected: expected.collect(), blamed: None }
    }

    fn check(&self, shader: &Shader) -> Result<(), Defect> {
        tgsi_ir::validate::validate(shader).map_err(|errors| Defect::Error(format!("is not valid: {errors}")))?;
        for (seed, inputs, expected) in &self.expected {
            let result = run_ir(shader, inputs, crate::limits::current().of_runs())
                .map_err(|problem| Defect::Error(format!("inputs {seed}: {}", problem.brief())))?;
            if let Some(mismatch) =
                first_mismatch(self.interface, Rule::Close(InputKind::of_seed(*seed)), expected, &result)
            {
                return Err(Defect::Different(format!("inputs {seed}: {mismatch}")));
            }
        }
        Ok(())
    }
}

/// The defect found after a pass.
enum Defect {
    Different(String),
    Error(String),
}

impl PassObserver for Checker<'_> {
    fn after(&mut self, run: &PassRun, shader: &Shader) -> ControlFlow<()> {
        if !run.changed {
            return ControlFlow::Continue(());
        }
        let after = |what: String| format!("after {}, round {}: {what}", run.name, run.round);
        self.blamed = Some(match self.check(shader) {
            Ok(()) => return ControlFlow::Continue(()),
            Err(Defect::Different(what)) => Verdict::Different(after(what)),
            Err(Defect::Error(what)) => Verdict::Error(after(what)),
        });
        ControlFlow::Break(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tgsi_ir::Cursor;
    use tgsi_ir::passes::pass_manager::Round;

    use super::*;

    fn subject(text: &str) -> InputShader {
        InputShader::Tgsi(tgsi::text::parse(text.as_bytes()).expect("valid text").shader)
    }

    fn ir(text: &str) -> Shader {
        subject(text)
            .to_stage(Stage::Ssa, &Plan::new(tgsi_registry::default_driver(), Vec::new()).expect("a plan"))
            .unwrap_or_else(|problem| panic!("{}", problem.brief()))
    }

    /// Checks a shader after a pass against one that doubles its input, and returns the verdict.
    fn verdict(after: &Shader, changed: bool) -> Option<(bool, String)> {
        let subject = subject(DOUBLES);
        let mut checker = Checker::new(subject.interface(), &ir(DOUBLES), 3);
        assert_eq!(checker.expected.len(), 3);
        let round = Round { optimizing: 2, cleaning: 1 };
        let run = PassRun { name: "opt_wrong", round, changed, time: Duration::ZERO };
        let ends = checker.after(&run, after).is_break();
        assert_eq!(ends, checker.blamed.is_some());
        checker.blamed.map(|verdict| match verdict {
            Verdict::Different(what) => (true, what),
            Verdict::Error(what) => (false, what),
            Verdict::Equal | Verdict::WithoutResult => panic!("nothing to blame"),
        })
    }

    const DOUBLES: &str =
        "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nADD OUT[0], IN[0], IN[0]\nEND\n";

    #[test]
    fn a_pass_that_changes_the_meaning_is_named() {
        assert_eq!(verdict(&ir(DOUBLES), true), None);
        let squares = ir(&DOUBLES.replace("ADD", "MUL"));
        assert_eq!(verdict(&squares, false), None);
        let (different, what) = verdict(&squares, true).expect("a verdict");
        assert!(different && what.starts_with("after opt_wrong, round 2.1: inputs 0: OUT[0].x lane 0 is "), "{what}");
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
        let (different, what) = verdict(&broken, true).expect("a verdict");
        assert!(!different && what.starts_with("after opt_wrong, round 2.1: is not valid: "), "{what}");
    }
}
