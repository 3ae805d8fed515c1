//! `ir`: the IR of shaders at a stage.

use super::{Done, Failure, Form, transform};
use crate::args::{Color, Files, Stage};
use crate::stages;

/// Prints the IR.
pub fn ir(files: &Files, stage: Stage, dot: bool, color: Color) -> Result<bool, Failure> {
    let form = Form { extension: if dot { "dot" } else { "nir" }, binary: false };
    transform(files, form, color, |source| {
        let (shader, warnings) = stages::checked(source)?;
        let ir = stages::to_stage(&shader, stage)?;
        let text = if dot { ir.main().to_dot() } else { tgsi_ir::text::print(&ir) };
        Ok(Done { warnings, ..Done::new(text.into_bytes()) })
    })
}
