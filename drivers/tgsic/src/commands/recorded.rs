//! `verify --vectors`: compares with recorded results. Reads and prints them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use tgsi_run::vectors::Vector;
use tgsi_verify::{OpcodeTotals, RecordedTotals};

use crate::args::VerifyArguments;
use crate::input::Source;
use crate::input_shader::InputShader;
use crate::plan::Plan;
use crate::status::{Failure, Status};
use crate::{batch, output};

/// Runs every recorded vector on an executor and compares the results.
pub fn verify(vectors: &Path, arguments: &VerifyArguments) -> Result<Status, Failure> {
    let VerifyArguments { root, via, json, .. } = arguments;
    let plan = Plan::to_be_run(&arguments.passes, Some(*via))?;
    let checker = plan.checker();
    let by_shader = read(vectors)?;
    let shaders: Vec<(&String, &Vec<Vector>)> = by_shader.iter().collect();
    let results = batch::for_each(&shaders, |(file, vectors)| {
        let source = match Source::read_file(&root.join(file)) {
            Ok(source) => source,
            Err(failure) => return RecordedTotals::failed(vectors, failure),
        };
        match InputShader::checked(&source, &plan) {
            Ok((subject, _)) => checker.compare_recorded(&subject.source(), *via, vectors),
            Err(problem) => RecordedTotals::failed(vectors, problem.brief()),
        }
    });
    let mut totals = RecordedTotals::default();
    results.into_iter().for_each(|result| totals.add(result));
    let text = if *json {
        serde_json::to_string(&totals).unwrap_or_default() + "\n"
    } else {
        let mut text = format!(
            "{} vectors via {}: {} exact, {} close, {} different, {} errors\n",
            totals.vectors, via, totals.exact, totals.close, totals.different, totals.error
        );
        if totals.undetermined_words > 0 {
            text += &format!(
                "  {} words depend on uninitialised memory of the recording interpreter and were not compared\n",
                totals.undetermined_words
            );
        }
        if totals.open > 0 {
            text += &format!("  {} vectors that did not end because of an open operation\n", totals.open);
        }
        if totals.timed_out > 0 {
            text += &format!("  {} vectors of shaders that did not end\n", totals.timed_out);
        }
        for (reason, words) in &totals.open_words {
            text += &format!("  {words} open words differ: {reason}\n");
        }
        text += &opcode_table(&totals.opcodes);
        for line in &totals.first {
            text += &format!("  {line}\n");
        }
        text
    };
    output::write_stdout(text.as_bytes())?;
    Ok(if totals.different == 0 && totals.error == 0 && totals.timed_out == 0 {
        Status::Success
    } else {
        Status::ShaderError
    })
}

/// Returns the vectors of a file, by shader.
fn read(path: &Path) -> Result<BTreeMap<String, Vec<Vector>>, Failure> {
    let mut by_shader: BTreeMap<String, Vec<Vector>> = BTreeMap::new();
    for vector in vectors(path)? {
        let vector = vector?;
        by_shader.entry(vector.file.clone()).or_default().push(vector);
    }
    if by_shader.is_empty() { Err(no_vector(path)) } else { Ok(by_shader) }
}

/// Returns the vectors of a file, one per line; unpacks it if its name ends in `.gz`.
pub fn vectors(path: &Path) -> Result<impl Iterator<Item = Result<Vector, Failure>>, Failure> {
    let path = path.to_owned();
    let failure = {
        let path = path.clone();
        move |error| Failure::Read { path: path.clone(), error }
    };
    let file = std::fs::File::open(&path).map_err(&failure)?;
    let reader: Box<dyn Read> = if path.extension().is_some_and(|e| e == "gz") {
        Box::new(flate2::read::MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    Ok(BufReader::new(reader).lines().enumerate().filter_map(move |(number, line)| {
        let line = match line {
            Ok(line) if line.trim().is_empty() => return None,
            Ok(line) => line,
            Err(error) => return Some(Err(failure(error))),
        };
        let parsed = Vector::parse(&line).map_err(|error| Failure::Vectors {
            path: path.clone(),
            line: number + 1,
            problem: error.to_string(),
        });
        Some(parsed)
    }))
}

/// Returns the error for a file without vectors.
pub fn no_vector(path: &Path) -> Failure {
    Failure::Vectors { path: path.to_owned(), line: 1, problem: "there are no recorded results".into() }
}

/// Formats a line for each opcode with words that differ, and one for all others.
fn opcode_table(opcodes: &BTreeMap<&'static str, OpcodeTotals>) -> String {
    let mut text = String::new();
    let (differ, exact): (Vec<_>, Vec<_>) = opcodes.iter().partition(|(_, totals)| totals.exact < totals.words);
    if opcodes.is_empty() {
        return text;
    }
    text += "  shaders of one instruction, words by opcode:\n";
    text += "    opcode      words    exact    alike   within     open  outside  worst ulp  Vulkan's bound\n";
    for (name, OpcodeTotals { words, exact, alike, within, open, outside, worst_ulp, bound }) in differ {
        text += &format!(
            "    {name:8} {words:8} {exact:8} {alike:8} {within:8} {open:8} {outside:8} {worst_ulp:10.2}  {bound}\n"
        );
    }
    let words: usize = exact.iter().map(|(_, totals)| totals.words).sum();
    text + &format!("    {} others {words:6} words, all exact\n", exact.len())
}
