//! Compares a shader with its translation: both are run by the TGSI interpreter.

use tgsi::Shader;
use tgsi_ir::run::environment::RunLimits;

use super::compare::{Rule, first_mismatch};
use super::executor::Executor;
use super::inputs::{self, InputKind};
use super::stages::Verdict;

/// Whether both compute the same with that many sets of generated inputs.
pub fn compare_translated(before: &Shader, after: &Shader, seeds: u64, limits: RunLimits) -> Verdict {
    let executors = Executor::tgsi(before).and_then(|b| Ok((b, Executor::tgsi(after)?)));
    let (source, result) = match executors {
        Ok(pair) => pair,
        Err(problem) => return Verdict::Error(problem.brief()),
    };
    let mut ended = false;
    for seed in 0..seeds {
        let inputs = inputs::make(before, seed);
        // What does not end before has no result to compare; what only then does not end is a difference.
        let Ok(expected) = source.run(&inputs, limits) else { continue };
        ended = true;
        match result.run(&inputs, limits) {
            Ok(found) => {
                if let Some(mismatch) = first_mismatch(before, Rule::Close(InputKind::of_seed(seed)), &expected, &found)
                {
                    return Verdict::Different(format!("inputs {seed}: {mismatch}"));
                }
            }
            Err(problem) => return Verdict::Different(format!("inputs {seed}: {}", problem.brief())),
        }
    }
    if ended { Verdict::Equal } else { Verdict::WithoutResult }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shader(text: &str) -> Shader {
        tgsi::text::parse(text.as_bytes()).expect("valid text").shader
    }

    #[test]
    fn differences_are_found() {
        let double = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nADD OUT[0], IN[0], IN[0]\nEND\n";
        let compare = |after: &str| compare_translated(&shader(double), &shader(after), 3, RunLimits::default());
        assert!(matches!(compare(double), Verdict::Equal));
        assert!(matches!(compare(&double.replace("ADD", "MUL")), Verdict::Different(_)));
        let endless = double.replace("ADD", "BGNLOOP\nENDLOOP\nADD");
        assert!(matches!(compare(&endless), Verdict::Different(_)));
        let limits = RunLimits::of_steps(1000);
        assert!(matches!(compare_translated(&shader(&endless), &shader(&endless), 3, limits), Verdict::WithoutResult));
    }
}
