//! Errors of a run.

use tgsi_environment::MAX_LANES;

use crate::entities::Inst;

tgsi_diagnostics::error_table! {
    /// The reason why a shader could not be executed to its end.
    #[derive(Clone, PartialEq, Eq, Debug)]
    #[non_exhaustive]
    pub enum RunError {
        "T1400" "step-limit" StepLimit { limit: u64 } "gave up after {limit} instructions";
        "T1401" "too-many-lanes" TooManyLanes { lanes: usize } "{lanes} lanes; at most {MAX_LANES} can be run at once";
        "T1402" "too-large" TooLarge { words: u64 } "the values and variables need too much memory ({words} words)";
        "T1403" "too-much-output" TooMuchOutput { words: u64 } "more than {words} words of vertices are emitted";
        "T1404" "no-entry-point" NoEntryPoint "the shader has no entry point with code";
        "T1405" "unstructured" Unstructured { function: String } "function {function} has unstructured control flow";
        // The function is called while it is executing.
        "T1406" "recursion" Recursion { function: String } "function {function} is called recursively";
        // Global memory, ray tracing and similar, which `Inputs` does not describe.
        "T1407" "unsupported" Unsupported { function: String, inst: Inst, name: &'static str }
            "function {function}, {inst} ({name}): nothing in the environment corresponds to it";
        // The shader is not valid. `name` is the opcode.
        "T1408" "malformed" Malformed { function: String, inst: Inst, name: &'static str, what: &'static str }
            "function {function}, {inst} ({name}): {what}";
    }
}
