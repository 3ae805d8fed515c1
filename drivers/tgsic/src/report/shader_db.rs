//! Reads and writes the text of shader-db.
//!
//! A line `NAME - STAGE shader: 20 inst, 0 loops, 3 temps` describes a shader. Other words, such as `STAT`, may precede
//! the name. A value is a number and a name of one word, and `1:2 spills:fills` is two values; other items are prose
//! and ignored. Files that are compiled repeatedly, and their results, have lines `FILE NAME` and `RESULT NAME ok`. All
//! other lines are messages of the driver and ignored.

use super::parse::ReadError;
use super::run::{CompilerRun, MAX_STATISTICS, RunBuilder};

/// The largest value that programs computing with doubles (such as browsers) represent exactly.
pub const MOST: u64 = (1 << 53) - 1;

/// Statistics that shader-db's `report.py` requires.
const EXPECTED: [&str; 3] = ["loops", "spills", "fills"];

/// Parses a run.
///
/// # Errors
/// A line of one of these forms is malformed.
pub fn parse(name: &str, bytes: &[u8]) -> Result<CompilerRun, ReadError> {
    let mut builder = RunBuilder::new(name);
    for (number, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end();
        read_line(line, &mut builder).map_err(|wrong| {
            let column = wrong.at.map_or(1, |at| at.as_ptr() as usize - line.as_ptr() as usize + 1);
            ReadError { line: number + 1, column, problem: wrong.problem, hint: wrong.hint }
        })?;
    }
    Ok(builder.finish())
}

/// An error in a line.
struct LineError<'a> {
    /// The part of the line.
    at: Option<&'a str>,
    problem: String,
    hint: &'static str,
}

fn read_line<'a>(line: &'a str, builder: &mut RunBuilder) -> Result<(), LineError<'a>> {
    if let Some(file) = line.strip_prefix("FILE ") {
        builder.begin_file(&from_one_word(file.trim()));
        return Ok(());
    }
    if let Some(rest) = line.strip_prefix("RESULT ") {
        let (file, result) = rest.trim().rsplit_once(' ').ok_or_else(|| LineError {
            at: Some(rest),
            problem: "expected a file and its result".into(),
            hint: "for example `RESULT a.shader_test ok`",
        })?;
        builder.result(&from_one_word(file.trim()), result);
        return Ok(());
    }
    let Some((head, values)) = line.split_once(" shader: ") else { return Ok(()) };
    let Some((name, stage)) = head.split_once(" - ") else { return Ok(()) };
    let stage = stage.trim();
    let Some(name) = name.split_whitespace().next_back().filter(|_| !stage.is_empty()) else { return Ok(()) };
    let statistics = read_values(values)?;
    builder.shader(&from_one_word(name), &from_one_word(stage), statistics, None).map_err(|_| LineError {
        at: Some(values),
        problem: format!("this run has more than {MAX_STATISTICS} different statistics"),
        hint: "statistics are numbers with a name, the same names for all shaders",
    })
}

fn read_values(values: &str) -> Result<Vec<(&str, u64)>, LineError<'_>> {
    let mut found = Vec::new();
    for item in values.split(',') {
        let mut words = item.split_whitespace();
        let (Some(value), Some(name), None) = (words.next(), words.next(), words.next()) else { continue };
        let pairs = value.split(':').zip(name.split(':'));
        if value.split(':').count() != name.split(':').count() {
            continue;
        }
        for (value, name) in pairs {
            if !name.is_empty() && !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
                found.push((name, number(value)?));
            }
        }
    }
    if found.is_empty() {
        return Err(LineError {
            at: Some(values),
            problem: "expected statistics of the shader".into(),
            hint: "numbers with a name, separated by commas: `20 inst, 2 temps`",
        });
    }
    Ok(found)
}

fn number(digits: &str) -> Result<u64, LineError<'_>> {
    digits.parse().ok().filter(|&value| value <= MOST).ok_or_else(|| LineError {
        at: Some(digits),
        problem: format!("the number is too large, the largest is {MOST}"),
        hint: "no statistic of a shader is so large: the line is damaged",
    })
}

/// Formats a run as lines for shader-db's `report.py`, which requires loops, spills and fills.
pub fn print(run: &CompilerRun) -> String {
    run.shaders
        .iter()
        .map(|shader| {
            let known =
                run.statistics.iter().zip(&shader.values).filter_map(|(name, value)| Some((&**name, (*value)?)));
            line(&shader.key.name, &shader.key.stage, &known.collect::<Vec<_>>())
        })
        .collect()
}

/// Formats the line of a shader. White space, control characters and `%` in its name are percent-encoded, because names
/// end at white space; reading decodes them.
pub fn line(name: &str, stage: &str, statistics: &[(&str, u64)]) -> String {
    let missing = EXPECTED.iter().filter(|name| statistics.iter().all(|(known, _)| known != *name));
    let mut items: Vec<String> = statistics.iter().map(|(name, value)| format!("{value} {name}")).collect();
    items.extend(missing.map(|name| format!("0 {name}")));
    format!("{} - {} shader: {}\n", one_word(name), one_word(stage), items.join(", "))
}

fn one_word(name: &str) -> String {
    let mut word = String::with_capacity(name.len());
    for c in name.chars() {
        if is_escaped(c) {
            word.extend(c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("%{byte:02X}")));
        } else {
            word.push(c);
        }
    }
    if word.is_empty() { "%".into() } else { word }
}

/// Returns whether a character cannot occur in a name in a line.
fn is_escaped(c: char) -> bool {
    c.is_whitespace() || c.is_control() || c == '%'
}

/// Decodes a name that [`one_word`] encoded. In names from other programs, `%` stays unless [`one_word`] would have
/// written exactly this sequence.
fn from_one_word(word: &str) -> String {
    let mut name = String::with_capacity(word.len());
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('%') {
        name.push_str(before);
        match escaped_char(after) {
            Some((c, after)) => {
                name.push(c);
                rest = after;
            }
            None => {
                name.push('%');
                rest = after;
            }
        }
    }
    name + rest
}

/// Decodes the character at the beginning of `text`, without its first `%`; also returns the rest.
fn escaped_char(text: &str) -> Option<(char, &str)> {
    let mut bytes: Vec<u8> = Vec::with_capacity(4);
    let mut rest = text;
    while bytes.len() < 4 {
        let digits = rest.get(..2).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = rest.get(2..)?;
        if let Ok(c) = std::str::from_utf8(&bytes) {
            return c.chars().next().filter(|&c| is_escaped(c)).map(|c| (c, rest));
        }
        rest = rest.strip_prefix('%')?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> CompilerRun {
        parse("run", text.as_bytes()).unwrap()
    }

    #[test]
    fn lines_of_shaders() {
        let run = read(
            "Thread 1 took 2 seconds\r\nshaders/a/1.shader_test - FS shader: 30 inst, 2 tex, 5 temps\r\n\
             STAT b - VS shader: 7 inst\nb - VS shader: 8 inst,  9 tex\n\
             c - FS SIMD8 shader: 20 inst, 1 loops, 5 cycles, 1:2 spills:fills, Promoted 3 constants, compacted 10 to 5 bytes.\n",
        );
        assert_eq!(run.statistics, ["inst", "tex", "temps", "loops", "cycles", "spills", "fills"]);
        let keys: Vec<String> = run.shaders.iter().map(|shader| shader.key.to_string()).collect();
        assert_eq!(keys, ["shaders/a/1.shader_test FS", "b VS", "b VS #2", "c FS SIMD8"]);
        assert_eq!(run.shaders[2].values, [Some(8), Some(9), None]);
        assert_eq!(run.shaders[3].values[3..], [Some(1), Some(5), Some(1), Some(2)]);
    }

    #[test]
    fn files_and_results() {
        let run = read(
            "FILE a\nSTAT a - FS shader: 1 inst\nSTAT a - FS shader: 2 inst\nRESULT a crash6\nFILE a\n\
             STAT a - FS shader: 3 inst\nRESULT a ok\nRESULT b nolink\n",
        );
        assert_eq!(run.shaders.len(), 1);
        assert_eq!(run.shaders[0].values, [Some(3)]);
        assert_eq!(
            run.results.into_iter().collect::<Vec<_>>(),
            [("a".into(), "ok".into()), ("b".into(), "nolink".into())]
        );
    }

    #[test]
    fn errors_have_a_place() {
        for (text, line, column, problem) in [
            ("\na - FS shader: nothing", 2, 16, "expected statistics of the shader"),
            ("a - FS shader: 1 inst, 99999999999999999999 temps", 1, 24, "the number is too large"),
            ("RESULT a", 1, 8, "expected a file and its result"),
        ] {
            let error = parse("run", text.as_bytes()).unwrap_err();
            assert_eq!((error.line, error.column), (line, column), "{text}");
            assert!(error.problem.starts_with(problem), "{error:?}");
        }
        let many: Vec<String> = (0..100).map(|i| format!("{i} s{i}")).collect();
        assert!(parse("run", format!("a - FS shader: {}", many.join(",")).as_bytes()).is_err());
    }

    #[test]
    fn what_is_written_is_read() {
        let text = "a - FS shader: 3 inst, 1 temps, 0 loops, 0 spills, 0 fills\n\
                    a - FS shader: 4 inst, 1 temps, 0 loops, 0 spills, 0 fills\n";
        assert_eq!(print(&read(text)), text);
        assert_eq!(
            print(&read("a - FS shader: 1 inst, 2 loops")),
            "a - FS shader: 1 inst, 2 loops, 0 spills, 0 fills\n"
        );
        for name in ["a b\n%\u{a0}\u{3000}", "100%", "%41", "%", "%2", "%é", "%C3%A9", "%25", "%%20", "\u{85}"] {
            let run = read(&line(name, "FS", &[("inst", 1)]));
            assert_eq!(run.shaders[0].key.name, name);
        }
        // Names from other programs stay unchanged.
        assert_eq!(read("%41%C3%A9%C2%zz%E3%80 - FS shader: 1 inst").shaders[0].key.name, "%41%C3%A9%C2%zz%E3%80");
        assert_eq!(
            line("a b\n%\u{a0}", "FS", &[("inst", 1), ("loops", 0), ("spills", 0), ("fills", 0)]),
            "a%20b%0A%25%C2%A0 - FS shader: 1 inst, 0 loops, 0 spills, 0 fills\n"
        );
    }
}
