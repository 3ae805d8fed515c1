//! `translate`: compiles shaders for a driver.

use std::time::Instant;

use serde::Serialize;
use tgsi::diagnostic::Diagnostic;
use tgsi_compiler::Code;

use super::{Converted, Form, transform};
use crate::args::{Color, Files};
use crate::input::ShaderError;
use crate::input_shader::InputShader;
use crate::pass_log::{PassLog, TotalTimes};
use crate::plan::Plan;
use crate::policy::Policy;
use crate::status::{Failure, Status};

/// A line of the report: a shader that was translated. Sizes before are those of a TGSI source; IR has none (`null`).
#[derive(Serialize)]
struct Line {
    f: String,
    ok: bool,
    stage: &'static str,
    instructions_before: Option<u32>,
    instructions_after: u32,
    temporaries_before: Option<u32>,
    temporaries_after: u32,
    immediates_before: Option<u32>,
    immediates_after: u32,
    microseconds: u64,
}

/// The form of the report.
pub struct Report {
    /// A line of JSON a shader.
    pub json: bool,
    /// Texts as Mesa prints them.
    pub mesa: bool,
    /// Times of the passes over all shaders.
    pub time_passes: bool,
}

/// Translates shaders.
pub fn translate(files: &Files, plan: &Plan, report: Report, policy: &Policy, color: Color) -> Result<Status, Failure> {
    let Report { json, mesa, time_passes } = report;
    let total = TotalTimes::new(time_passes);
    let form = Form { extension: plan.driver.file_extension(), binary: plan.driver.is_binary() };
    let status = transform(files, form, color, |source| {
        let started = Instant::now();
        // Warnings are `check`'s business: they are about what was given, not about what comes out. Unless some are not
        // to be there.
        let (subject, warnings) = InputShader::checked(source, plan)?;
        if policy.denies() {
            let mut findings = policy.with_lints(&subject, warnings);
            findings.retain(Diagnostic::is_error);
            if !findings.is_empty() {
                return Err(ShaderError::Findings(findings));
            }
        }
        let before = match &subject {
            InputShader::Tgsi(shader) if json => Some(tgsi::scan::scan(shader)),
            _ => None,
        };
        let mut pass_log = PassLog::default();
        let stage = subject.interface().processor.name();
        let mut code = subject.into_code(plan, if total.is_enabled() { Some(&mut pass_log) } else { None })?;
        total.add(&pass_log.times);
        if let Code::Tgsi(_, options) = &mut code {
            options.mesa = mesa;
        }
        let after = json.then(|| plan.compiler.target().size(&code));
        let content = code.into_bytes();
        let microseconds = started.elapsed().as_micros() as u64;
        let line = after.map(|after| {
            let before = before.as_ref();
            let line = Line {
                f: source.path.display().to_string(),
                ok: true,
                stage,
                instructions_before: before.map(|s| s.num_instructions),
                instructions_after: after.instructions,
                temporaries_before: before.map(|s| s.temporaries),
                temporaries_after: after.temporaries,
                immediates_before: before.map(|s| s.immediate_count),
                immediates_after: after.immediates,
                microseconds,
            };
            serde_json::to_string(&line)
        });
        let line = line.transpose().map_err(|e| ShaderError::Other(e.to_string()))?;
        Ok(Converted { line, ..Converted::new(content) })
    })?;
    total.print();
    Ok(status)
}
