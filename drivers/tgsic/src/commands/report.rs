//! `report`: compares two runs.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::args::ReportArguments;
use crate::input::STDIN;
use crate::report::run::CompilerRun;
use crate::report::{Comparison, html, json, parse, shader_db, text};
use crate::status::{Failure, Status};
use crate::{batch, output};

/// Maximum size of a run in bytes, unpacked. It is far above that of real runs with all texts, and bounds the memory
/// for inputs that may be endless.
const MAX_BYTES: u64 = 4 << 30;

/// Compares two runs, or prints one in the format of shader-db.
pub fn report(arguments: &ReportArguments) -> Result<Status, Failure> {
    let ReportArguments { old, new, json: as_json, shader_db: as_shader_db, html: page, most } = arguments;
    if *as_shader_db {
        let run = read(new.as_ref().unwrap_or(old), false)?;
        output::write_stdout(shader_db::print(&run).as_bytes())?;
        return Ok(Status::Success);
    }
    let Some(new) = new else {
        return Err(Failure::Usage("two runs are compared; --shader-db prints one".into()));
    };
    batch::inputs(&[old.clone(), new.clone()])?;
    let (old, new) = (read(old, page.is_some())?, read(new, page.is_some())?);
    let comparison = Comparison::new(&old, &new);
    if let Some(path) = page {
        output::write_file(path, html::format(&comparison).as_bytes())?;
    }
    if *as_json {
        output::write_stdout(format!("{}\n", json::format(&comparison)).as_bytes())?;
    } else {
        output::write_stdout(text::format(&comparison, *most).as_bytes())?;
    }
    Ok(Status::Success)
}

/// Reads a run, unpacking it if its name ends in `.gz`.
fn read(path: &Path, keep_texts: bool) -> Result<CompilerRun, Failure> {
    let failure = |error| Failure::Read { path: path.to_owned(), error };
    let is_packed = path.extension().is_some_and(|extension| extension == "gz");
    let (name, input): (String, Box<dyn Read>) = if path == Path::new(STDIN) {
        ("<stdin>".to_owned(), Box::new(std::io::stdin().lock()))
    } else {
        let file = File::open(path).map_err(failure)?;
        let input: Box<dyn Read> =
            if is_packed { Box::new(flate2::read::MultiGzDecoder::new(file)) } else { Box::new(file) };
        (path.display().to_string(), input)
    };
    let mut bytes = Vec::new();
    input.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failure)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(failure(std::io::Error::other(format!("a run has at most {MAX_BYTES} bytes"))));
    }
    parse(&name, &bytes, keep_texts).map_err(|wrong| Failure::Run {
        path: name.into(),
        line: wrong.line,
        column: wrong.column,
        problem: wrong.problem,
        hint: wrong.hint,
    })
}
