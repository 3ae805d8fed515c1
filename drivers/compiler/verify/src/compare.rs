//! Compares two TGSI shaders by running both in the TGSI interpreter.

use tgsi::Shader;
use tgsi_environment::RunLimits;

use crate::executor::{Executor, ExecutorKind};
use crate::inputs::{self, InputKind};
use crate::mismatch::{Rule, first_mismatch};
use crate::verdict::{CheckStep, Defect, Verdict};

/// Compares a shader with a changed one that should compute the same, such as a translation, for `seeds` sets of
/// generated inputs.
pub fn compare(before: &Shader, after: &Shader, seeds: u64, limits: RunLimits) -> Verdict {
    compare_results(before, after, seeds, limits).into()
}

/// Returns whether the first shader terminates with some inputs.
fn compare_results(before: &Shader, after: &Shader, seeds: u64, limits: RunLimits) -> Result<bool, Defect> {
    let source = Executor::tgsi(before);
    let source = source.map_err(|error| Defect::error(CheckStep::Executor(ExecutorKind::Tgsi), error))?;
    let changed = Executor::tgsi(after).map_err(|error| Defect::error(CheckStep::Changed, error))?;
    let mut ended = false;
    for seed in 0..seeds {
        let inputs = inputs::make_inputs(before, seed);
        // A source that does not terminate has no result to compare; if only the changed shader does not terminate,
        // that is a difference.
        let Ok(expected) = source.run(&inputs, limits) else { continue };
        ended = true;
        let found =
            changed.run(&inputs, limits).map_err(|error| Defect::difference(CheckStep::Changed, seed, error))?;
        if let Some(mismatch) = first_mismatch(before, Rule::Close(InputKind::of_seed(seed)), &expected, &found) {
            return Err(Defect::difference(CheckStep::Changed, seed, mismatch));
        }
    }
    Ok(ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shader(text: &str) -> Shader {
        tgsi::text::parse(text.as_bytes()).expect("valid text").shader
    }

    /// Expansions that are wrong only for few operands, which generated inputs contain.
    #[test]
    fn wrong_expansions_are_found() {
        let wrong = [
            // Rounds twice.
            ("ROUND TEMP[0], IN[0]", "ADD TEMP[0], IN[0], IMM[0].yyyy\nFLR TEMP[0], TEMP[0]"),
            // Computes 0 * -inf.
            (
                "POW TEMP[0], |IN[0].xxxx|, IN[0].yyyy",
                "LG2 TEMP[0], |IN[0].xxxx|\nMUL TEMP[0], TEMP[0], IN[0].yyyy\nEX2 TEMP[0], TEMP[0].xxxx",
            ),
            (
                "LIT TEMP[0], IN[0]",
                "MAX TEMP[0].xy, IN[0], IMM[0].zzzz\nMIN TEMP[0].w, IN[0], IMM[0].wwww\nMAX TEMP[0].w, TEMP[0], -IMM[0].wwww\n\
                 LG2 TEMP[1].x, TEMP[0].yyyy\nMUL TEMP[1].x, TEMP[1].xxxx, TEMP[0].wwww\nEX2 TEMP[1].x, TEMP[1].xxxx\n\
                 CMP TEMP[0].z, -TEMP[0].xxxx, TEMP[1].xxxx, IMM[0].zzzz\nMOV TEMP[0].y, TEMP[0].xxxx\n\
                 MOV TEMP[0].xw, IMM[0].xxxx",
            ),
            // Truncates a number slightly below an integer.
            (
                "F2I TEMP[0], IN[0]\nF2I TEMP[1], IN[0].yzwx\nIDIV TEMP[0], TEMP[0], TEMP[1]\nI2F TEMP[0], TEMP[0]",
                "TRUNC TEMP[0], IN[0]\nTRUNC TEMP[1], IN[0].yzwx\nRCP TEMP[2].x, TEMP[1].xxxx\nRCP TEMP[2].y, TEMP[1].yyyy\n\
                 RCP TEMP[2].z, TEMP[1].zzzz\nRCP TEMP[2].w, TEMP[1].wwww\nMUL TEMP[0], TEMP[0], TEMP[2]\n\
                 TRUNC TEMP[0], TEMP[0]\nCMP TEMP[0], -|TEMP[1]|, TEMP[0], -IMM[0].xxxx",
            ),
            // Loses the sign of a zero in an addition.
            ("RCP TEMP[0], IN[0].xxxx", "ADD TEMP[0], IN[0].xxxx, IMM[0].zzzz\nRCP TEMP[0], TEMP[0].xxxx"),
            // Reads beyond the end.
            (
                "F2I TEMP[0].x, IN[0].xxxx\nUARL ADDR[0].x, TEMP[0].xxxx\nMOV TEMP[0], CONST[ADDR[0].x]",
                "F2I TEMP[0].x, IN[0].xxxx\nIMIN TEMP[0].x, TEMP[0].xxxx, IMM[1].xxxx\nUARL ADDR[0].x, TEMP[0].xxxx\n\
                 MOV TEMP[0], CONST[ADDR[0].x]",
            ),
        ];
        let whole = |code: &str| {
            shader(&format!(
                "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL CONST[0..4]\nDCL TEMP[0..2]\nDCL ADDR[0]\n\
                 IMM[0] FLT32 {{1.0, 0.5, 0.0, 128.0}}\nIMM[1] UINT32 {{4, 0, 0, 0}}\n{code}\nMOV OUT[0], TEMP[0]\nEND\n"
            ))
        };
        let mut missed = Vec::new();
        for (right, wrong) in wrong {
            let verdict = compare(&whole(right), &whole(wrong), 60, RunLimits::default());
            if !matches!(verdict, Verdict::Failed(_)) {
                missed.push(right);
            }
        }
        assert_eq!(missed, Vec::<&str>::new());
    }

    #[test]
    fn differences_are_found() {
        let double = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nADD OUT[0], IN[0], IN[0]\nEND\n";
        let compared = |after: &str| compare(&shader(double), &shader(after), 3, RunLimits::default());
        assert!(matches!(compared(double), Verdict::Equal));
        assert!(matches!(compared(&double.replace("ADD", "MUL")), Verdict::Failed(_)));
        let endless = double.replace("ADD", "BGNLOOP\nENDLOOP\nADD");
        assert!(matches!(compared(&endless), Verdict::Failed(_)));
        let limits = RunLimits::of_steps(1000);
        assert!(matches!(compare(&shader(&endless), &shader(&endless), 3, limits), Verdict::WithoutResult));
    }
}
