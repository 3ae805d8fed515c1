//! The stages of a translation, from a checked shader to a driver's code.

use tgsi::Shader;
use tgsi::diagnostic::Diagnostic;
use tgsi::to_ir::ToIrOptions;
use tgsi_driver_tgsi::TgsiOptions;
use tgsi_ir::passes::pipeline;

use crate::args::Stage;
use crate::input::{Problem, Source};

/// Reads and checks a shader. Warnings come along; errors end it.
pub fn checked(source: &Source) -> Result<(Shader, Vec<Diagnostic>), Problem> {
    let (shader, mut findings) = source.shader()?;
    findings.extend(tgsi::check::check(&shader).diagnostics);
    if findings.iter().any(Diagnostic::is_error) {
        findings.retain(Diagnostic::is_error);
        return Err(Problem::Text(findings));
    }
    Ok((shader, findings))
}

/// The IR of a shader at a stage.
pub fn to_stage(shader: &Shader, stage: Stage) -> Result<tgsi_ir::Shader, Problem> {
    let mut ir = tgsi::to_ir::to_ir(shader, &ToIrOptions::default()).map_err(|e| Problem::Other(e.to_string()))?;
    if stage == Stage::Parsed {
        return Ok(ir);
    }
    pipeline::into_ssa(&mut ir);
    if stage == Stage::Ssa {
        return Ok(ir);
    }
    tgsi_driver_tgsi::lower(&mut ir, &TgsiOptions::default());
    Ok(ir)
}

/// A shader translated for the TGSI driver.
pub fn translate(shader: &Shader) -> Result<Shader, Problem> {
    let ir = to_stage(shader, Stage::Ssa)?;
    tgsi_driver_tgsi::translate(&ir, &TgsiOptions::default()).map_err(|e| Problem::Other(e.to_string()))
}
