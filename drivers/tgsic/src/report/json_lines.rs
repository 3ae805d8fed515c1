//! Parses the output of `tgsic translate --json`: one object per line and shader.

use rayon::prelude::*;
use serde::Deserialize;

use super::parse::ReadError;
use super::run::{CompilerRun, RunBuilder};
use super::shader_db::MOST;
use super::statistics::shader_db_stage;
use super::texts::{PassChange, Texts};

const HINT: &str = "each line is an object with the keys that `tgsic translate --help` lists; print the run again";

/// The keys of a line that are used. Others are ignored.
#[derive(Deserialize)]
struct TranslationLine {
    f: String,
    #[serde(default = "compiled")]
    ok: bool,
    stage: String,
    instructions_after: u64,
    temporaries_after: u64,
    immediates_after: u64,
    loops_after: Option<u64>,
    microseconds: Option<u64>,
    source: Option<String>,
    result: Option<String>,
    ir: Option<String>,
    passes: Option<Vec<PassChange>>,
}

/// The default for lines without `ok`: the shader was compiled.
fn compiled() -> bool {
    true
}

/// A line with its texts packed.
struct Packed {
    line: TranslationLine,
    texts: Option<String>,
}

/// Parses a run.
///
/// # Errors
/// A line is not such an object.
pub fn parse(name: &str, bytes: &[u8], keep_texts: bool) -> Result<CompilerRun, ReadError> {
    let lines: Vec<(usize, &[u8])> =
        bytes.split(|&byte| byte == b'\n').enumerate().filter(|(_, line)| !line.trim_ascii().is_empty()).collect();
    let read: Vec<_> = lines.par_iter().map(|&(number, line)| read(number + 1, line, keep_texts)).collect();
    let mut builder = RunBuilder::new(name);
    for packed in read {
        let Packed { line, texts } = packed?;
        if let Some(microseconds) = line.microseconds {
            builder.add_time(microseconds);
        }
        if !line.ok {
            builder.result(&line.f, "failed");
            continue;
        }
        let statistics = [
            ("inst", Some(line.instructions_after)),
            ("loops", line.loops_after),
            ("temps", Some(line.temporaries_after)),
            ("imms", Some(line.immediates_after)),
        ];
        let statistics = statistics.into_iter().filter_map(|(name, value)| Some((name, value?)));
        // Four statistics never exceed the limit.
        let _ = builder.shader(&line.f, shader_db_stage(&line.stage), statistics, texts);
    }
    Ok(builder.finish())
}

fn read(number: usize, bytes: &[u8], keep_texts: bool) -> Result<Packed, ReadError> {
    let error = |column: usize, problem: String| ReadError { line: number, column: column.max(1), problem, hint: HINT };
    let mut line: TranslationLine = serde_json::from_slice(bytes).map_err(|wrong| {
        let text = wrong.to_string();
        let problem = text.rsplit_once(" at line ").map_or(text.as_str(), |(problem, _)| problem);
        error(wrong.column(), problem.to_owned())
    })?;
    let sizes = [line.instructions_after, line.temporaries_after, line.immediates_after, line.loops_after.unwrap_or(0)];
    if let Some(size) = sizes.into_iter().find(|&size| size > MOST) {
        return Err(error(1, format!("the size {size} is too large, the largest is {MOST}")));
    }
    let texts = Texts {
        source: line.source.take(),
        result: line.result.take(),
        ir: line.ir.take(),
        passes: line.passes.take().unwrap_or_default(),
    };
    let wanted = keep_texts && !texts.is_empty();
    let texts = wanted.then(|| texts.pack()).transpose().map_err(|wrong| error(1, wrong.to_string()))?;
    Ok(Packed { line, texts })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"f":"a.tgsi","ok":true,"stage":"FRAG","instructions_before":5,"instructions_after":3,"temporaries_before":null,"temporaries_after":1,"immediates_after":0,"microseconds":7,"source":"FRAG","x":[]}"#;

    #[test]
    fn lines_become_shaders() {
        let run = parse("run", format!("{LINE}\n\r\n{LINE}").as_bytes(), true).unwrap();
        assert_eq!(run.statistics, ["inst", "temps", "imms"]);
        assert_eq!(run.microseconds, Some(14));
        let keys: Vec<String> = run.shaders.iter().map(|shader| shader.key.to_string()).collect();
        assert_eq!(keys, ["a.tgsi FS", "a.tgsi FS #2"]);
        assert_eq!(run.shaders[0].values, [Some(3), Some(1), Some(0)]);
        assert!(run.shaders[0].texts.is_some());
        assert_eq!(parse("run", LINE.as_bytes(), false).unwrap().shaders[0].texts, None);
    }

    #[test]
    fn a_shader_that_failed_has_no_statistics() {
        let failed = LINE.replace("\"ok\":true", "\"ok\":false");
        let run = parse("run", failed.as_bytes(), false).unwrap();
        assert_eq!((run.shaders.len(), run.results["a.tgsi"].as_str()), (0, "failed"));
    }

    #[test]
    fn errors_have_a_place() {
        let error = |text: &str| parse("run", text.as_bytes(), true).unwrap_err();
        let broken = error(&format!("{LINE}\n{}", &LINE[..40]));
        assert_eq!((broken.line, broken.column), (2, 40));
        assert!(broken.problem.starts_with("EOF while parsing"), "{broken:?}");
        let missing = error("{\"f\":\"a\"}");
        assert_eq!((missing.line, missing.column, missing.problem.as_str()), (1, 9, "missing field `stage`"));
        assert_eq!(error(&LINE.replace("FRAG\",\"ins", "FRAG\",\"f\":\"b\",\"ins")).problem, "duplicate field `f`");
        assert!(error(&LINE.replace("_after\":3", "_after\":-3")).problem.contains("invalid value"));
        assert!(error(&LINE.replace("_after\":3", "_after\":9007199254740992")).problem.contains("too large"));
        let not_text = parse("run", b"{\"f\":\"\xff\"}", true).unwrap_err();
        assert!(not_text.problem.contains("unicode"), "{not_text:?}");
        let deep = "{\"f\":".to_owned() + &"[".repeat(100_000);
        assert!(!error(&deep).problem.is_empty());
    }
}
