//! `translate`: shaders for a driver.

use std::time::Instant;

use serde::Serialize;
use tgsi::text::{PrintOptions, print};

use super::{Done, Failure, Form, transform};
use crate::args::{Color, DriverName, Files};
use crate::input::Problem;
use crate::stages;

/// A line of the report.
#[derive(Serialize)]
struct Line {
    f: String,
    ok: bool,
    stage: &'static str,
    instructions_before: u32,
    instructions_after: u32,
    temporaries_before: u32,
    temporaries_after: u32,
    immediates_before: u32,
    immediates_after: u32,
    microseconds: u64,
}

/// Translates shaders.
pub fn translate(files: &Files, driver: DriverName, json: bool, mesa: bool, color: Color) -> Result<bool, Failure> {
    let DriverName::Tgsi = driver;
    let form = Form { extension: "tgsi", binary: false };
    transform(files, form, color, |source| {
        let started = Instant::now();
        let (shader, _) = stages::checked(source)?;
        let result = stages::translate(&shader)?;
        let text = print(&result, PrintOptions { mesa, ..PrintOptions::default() });
        let microseconds = started.elapsed().as_micros() as u64;
        let line = json.then(|| {
            let (before, after) = (tgsi::scan::scan(&shader), tgsi::scan::scan(&result));
            let line = Line {
                f: source.path.display().to_string(),
                ok: true,
                stage: shader.processor.name(),
                instructions_before: before.num_instructions,
                instructions_after: after.num_instructions,
                temporaries_before: before.temporaries,
                temporaries_after: after.temporaries,
                immediates_before: before.immediate_count,
                immediates_after: after.immediate_count,
                microseconds,
            };
            serde_json::to_string(&line)
        });
        let line = line.transpose().map_err(|e| Problem::Other(e.to_string()))?;
        Ok(Done { line, ..Done::new(text.into_bytes()) })
    })
}
