//! Parses a run in either format.

use super::run::CompilerRun;
use super::{json_lines, shader_db};

/// An error in the file of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in bytes.
    pub column: usize,
    /// The error.
    pub problem: String,
    /// A remedy.
    pub hint: &'static str,
}

/// The hint for files that are not runs.
const WHAT_RUNS_ARE: &str =
    "a run is the output of `tgsic translate --json`, or lines such as `a.shader_test - FS shader: 20 inst, 2 temps`";

/// Parses a run: JSON lines if it begins with `{`, otherwise shader-db's text. Texts of shaders are kept on request.
///
/// # Errors
/// The file is not a run, or is damaged.
pub fn parse(name: &str, bytes: &[u8], keep_texts: bool) -> Result<CompilerRun, ReadError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let run = match first {
        Some(b'{') => json_lines::parse(name, bytes, keep_texts)?,
        _ => shader_db::parse(name, bytes)?,
    };
    if run.shaders.is_empty() && run.results.is_empty() {
        let problem = if first.is_none() { "the file is empty" } else { "there is no shader here" };
        return Err(ReadError { line: 1, column: 1, problem: problem.into(), hint: WHAT_RUNS_ARE });
    }
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_run() {
        for (bytes, problem) in [
            (&b""[..], "the file is empty"),
            (b" \n\n", "the file is empty"),
            (b"FRAG\nEND\n", "there is no shader here"),
            (b"\x00\xff\xfe", "there is no shader here"),
            (b"[1]", "there is no shader here"),
        ] {
            let error = parse("run", bytes, true).unwrap_err();
            assert_eq!((error.line, error.column, error.problem.as_str()), (1, 1, problem));
        }
    }

    #[test]
    fn the_first_character_decides() {
        let json =
            br#" {"f":"a","ok":true,"stage":"FRAG","instructions_after":3,"temporaries_after":1,"immediates_after":0}"#;
        assert_eq!(parse("run", json, false).unwrap().shaders.len(), 1);
        assert_eq!(parse("run", b"\xef\xbb\xbfa - FS shader: 3 inst", false).unwrap().shaders.len(), 1);
        assert_eq!(parse("run", b"RESULT a nolink", false).unwrap().results["a"], "nolink");
    }
}
