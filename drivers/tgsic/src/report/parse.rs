//! Reads a run, whichever form it has.

use super::run::Run;
use super::{json_lines, shader_db};

/// What is wrong with the file of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in bytes.
    pub column: usize,
    /// What is wrong there.
    pub problem: String,
    /// What can be done.
    pub hint: &'static str,
}

/// The hint for files that are no runs.
const WHAT_RUNS_ARE: &str =
    "a run is what `tgsic translate --json` prints, or lines such as `a.shader_test - FS shader: 20 inst, 2 temps`";

/// Reads a run: lines of JSON if the first thing is `{`, else shader-db's text. Texts of shaders are kept if they are
/// asked for.
///
/// # Errors
/// The file is no run, or is broken.
pub fn parse(name: &str, bytes: &[u8], keep_texts: bool) -> Result<Run, ReadError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let run = match first {
        Some(b'{') => json_lines::parse(name, bytes, keep_texts)?,
        _ => shader_db::parse(name, bytes)?,
    };
    if run.shaders.is_empty() && run.results.is_empty() {
        let problem = if first.is_none() { "the file is empty" } else { "no shader is found here" };
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
            (b"FRAG\nEND\n", "no shader is found here"),
            (b"\x00\xff\xfe", "no shader is found here"),
            (b"[1]", "no shader is found here"),
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
