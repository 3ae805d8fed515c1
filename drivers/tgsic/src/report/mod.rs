//! Compares two runs of a compiler over the same shaders.
//!
//! A [run](run::CompilerRun) is parsed from the output of `tgsic translate --json` ([`json_lines`]), or from the text
//! of shader-db's `run` ([`shader_db`]); [`parse()`] detects the format. A [`Comparison`] pairs the shaders of two runs
//! and sums up their statistics. It is written as text, as JSON, or as an HTML page.

pub mod compare;
pub mod html;
pub mod json;
pub mod json_lines;
pub mod parse;
pub mod run;
pub mod shader_db;
pub mod statistics;
pub mod text;
pub mod texts;

pub use compare::Comparison;
pub use parse::parse;

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"f":"a\u0000é","ok":true,"stage":"FRAG","instructions_after":3,"temporaries_after":1,"immediates_after":0,"loops_after":null,"microseconds":1,"source":"s","result":null,"ir":"","passes":[{"pass":"p","round":"0.1","change":""}]}"#;
    const SHADER_DB: &str =
        "FILE a\nSTAT a - FS shader: 1 inst, 2:3 spills:fills, x\nRESULT a ok\nFILE a\nb%20 - VS shader: 8 threads\n";

    /// Truncated or damaged files are parsed or rejected; every parsed run can be compared and written.
    #[test]
    fn damaged_runs() {
        let whole = [JSON, SHADER_DB].map(|text| parse("whole", text.as_bytes(), true).unwrap());
        let mut read = 0;
        for text in [JSON, SHADER_DB] {
            for place in 0..text.len() {
                let mut damaged = text.as_bytes().to_vec();
                damaged[place] = b"\0\xff{9 \n"[place % 6];
                for bytes in [&text.as_bytes()[..place], &damaged] {
                    let Ok(run) = parse("damaged", bytes, true) else { continue };
                    read += 1;
                    for other in &whole {
                        for comparison in [Comparison::new(other, &run), Comparison::new(&run, other)] {
                            assert!(text::format(&comparison, 3).contains("== all"));
                            assert!(json::format(&comparison).is_object());
                            assert!(html::format(&comparison).ends_with("</html>\n"));
                        }
                    }
                    parse("again", shader_db::print(&run).as_bytes(), true)
                        .map(|again| assert!(!again.shaders.is_empty()))
                        .ok();
                }
            }
        }
        assert!(read > 100, "{read}");
    }
}
