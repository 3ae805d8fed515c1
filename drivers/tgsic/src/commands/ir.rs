//! `ir`: the IR of shaders at a stage.

use super::{Done, Failure, Form, Status, transform};
use crate::args::{Color, DriverOptions, Files, Stage};
use crate::subject::Subject;

/// Prints the IR.
pub fn ir(
    files: &Files,
    stage: Stage,
    dot: bool,
    driver_options: &DriverOptions,
    color: Color,
) -> Result<Status, Failure> {
    let form = Form { extension: if dot { "dot" } else { "nir" }, binary: false };
    let options = driver_options.tgsi();
    transform(files, form, color, |source| {
        let (subject, warnings) = Subject::checked(source)?;
        let ir = subject.to_stage(stage, &options)?;
        let text = if dot {
            let functions = ir.functions.values();
            functions.filter_map(|f| f.body.as_ref().map(|body| body.to_dot(&f.name))).collect()
        } else {
            tgsi_ir::text::print(&ir)
        };
        Ok(Done { warnings, ..Done::new(text.into_bytes()) })
    })
}
