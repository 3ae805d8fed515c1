//! `translate`: compiles shaders for a driver.

use std::time::Instant;

use serde::Serialize;
use tgsi::tables::Opcode;
use tgsi_compiler::reflection::Reflection;
use tgsi_compiler::{Code, CodeSize, Stage};
use tgsi_diagnostics::Diagnostic;

use super::{ShaderOutput, transform};
use crate::args::{Color, Files};
use crate::input::{ShaderError, Source};
use crate::input_shader::InputShader;
use crate::pass_log::{Differences, PassLog, TotalTimes};
use crate::plan::Plan;
use crate::policy::WarningPolicy;
use crate::report::shader_db;
use crate::report::statistics::shader_db_stage;
use crate::report::texts::Texts;
use crate::status::{Failure, Status};

/// A line of JSON for a translated shader. The sizes before are those of a TGSI source and `null` for IR.
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
    loops_after: Option<usize>,
    microseconds: u64,
    #[serde(flatten)]
    texts: Option<Texts>,
}

impl Line {
    /// Formats the line like shader-db's `run`.
    fn shader_db(&self) -> String {
        let statistics = [
            ("inst", self.instructions_after.into()),
            ("loops", self.loops_after.unwrap_or(0) as u64),
            ("temps", self.temporaries_after.into()),
            ("imms", self.immediates_after.into()),
        ];
        let line = shader_db::line(&self.f, shader_db_stage(self.stage), &statistics);
        line.trim_end().to_owned()
    }
}

/// The line that is printed for each shader.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// A line of JSON.
    Json {
        /// With source, result, and the changes of each pass.
        texts: bool,
    },
    /// A line in the format of shader-db.
    ShaderDb,
    /// The driver's assignments, as a line of JSON.
    Interface,
}

/// The form of the report.
pub struct Report {
    /// The lines that are printed for each shader, instead of its code.
    pub lines: Option<Lines>,
    /// Print texts like Mesa.
    pub mesa: bool,
    /// Print the times of the passes over all shaders.
    pub time_passes: bool,
    /// Print binary code as text.
    pub assembly: bool,
}

/// Translates shaders.
pub fn translate(
    files: &Files,
    plan: &Plan,
    report: Report,
    policy: &WarningPolicy,
    color: Color,
) -> Result<Status, Failure> {
    let Report { lines, mesa, time_passes, assembly } = report;
    let total = TotalTimes::new(time_passes);
    let status = transform(files, plan.form(assembly), color, |source| {
        let started = Instant::now();
        // Warnings are left to `check`, because they are about the source and not about the result. Denied warnings are
        // errors here too.
        let (subject, warnings) = InputShader::checked(source, plan)?;
        if policy.denies() {
            let mut findings = policy.with_lints(&subject, warnings);
            findings.retain(Diagnostic::is_error);
            if !findings.is_empty() {
                return Err(ShaderError::Findings(findings));
            }
        }
        let before = match &subject {
            InputShader::Tgsi(shader) if lines.is_some() => Some(CodeSize::from(shader)),
            _ => None,
        };
        let reading = started.elapsed();
        let mut texts = match lines {
            Some(Lines::Json { texts: true }) => Some(texts_before_code(source, &subject, plan)?),
            _ => None,
        };
        let started = Instant::now();
        let mut pass_log = PassLog::default();
        let stage = subject.interface().processor.name();
        let interface = match lines {
            Some(Lines::Interface) => Some(reflection_line(source, subject.reflect(plan)?, plan)?),
            _ => None,
        };
        let mut code = subject.into_code(plan, if total.is_enabled() { Some(&mut pass_log) } else { None })?;
        total.add(&pass_log.times);
        if let Code::Tgsi(_, options) = &mut code {
            options.mesa = mesa;
        }
        let after = lines.map(|_| (plan.compiler.target().size(&code), loops(&code)));
        let wants_text = assembly || matches!(lines, Some(Lines::Json { texts: true }));
        let text = if wants_text { tgsi_registry::disassembly(&code).transpose() } else { Ok(None) };
        let text = text.map_err(ShaderError::Other)?;
        let is_binary = text.is_none() && matches!(code, Code::Binary(_) | Code::Object(_));
        let auxiliary_files = code.auxiliary_files().to_vec();
        let content = text.map_or_else(|| code.into_bytes(), String::into_bytes);
        let microseconds = (reading + started.elapsed()).as_micros() as u64;
        if let Some(texts) = &mut texts
            && !is_binary
        {
            texts.result = Some(String::from_utf8_lossy(&content).into_owned());
        }
        let line = after.map(|(after, loops_after)| {
            let before = before.as_ref();
            let line = Line {
                f: source.name(),
                ok: true,
                stage,
                instructions_before: before.map(|s| s.instructions),
                instructions_after: after.instructions,
                temporaries_before: before.map(|s| s.temporaries),
                temporaries_after: after.temporaries,
                immediates_before: before.map(|s| s.immediates),
                immediates_after: after.immediates,
                loops_after,
                microseconds,
                texts,
            };
            if lines == Some(Lines::ShaderDb) { Ok(line.shader_db()) } else { serde_json::to_string(&line) }
        });
        let line = line.transpose().map_err(|e| ShaderError::Other(e.to_string()))?;
        Ok(ShaderOutput { line: interface.or(line), auxiliary_files, ..ShaderOutput::new(content) })
    })?;
    total.print();
    Ok(status)
}

/// A line of JSON with the driver's assignments for the interface of a shader.
#[derive(Serialize)]
struct ReflectionLine {
    f: String,
    #[serde(flatten)]
    reflection: Reflection,
}

/// Returns the driver's assignments for the interface of a shader, as a line of JSON with the name of its file.
pub(super) fn reflection_line(
    source: &Source,
    reflection: Option<Reflection>,
    plan: &Plan,
) -> Result<String, ShaderError> {
    let none = || ShaderError::Other(format!("the driver {} assigns nothing to the interface", plan.driver.name()));
    let line = ReflectionLine { f: source.name(), reflection: reflection.ok_or_else(none)? };
    serde_json::to_string(&line).map_err(|e| ShaderError::Other(e.to_string()))
}

/// Counts the loops of the code; returns `None` if it is not TGSI.
fn loops(code: &Code) -> Option<usize> {
    match code {
        Code::Tgsi(shader, _) => Some(shader.instructions.iter().filter(|i| i.opcode == Opcode::Bgnloop).count()),
        Code::Text(_) | Code::Binary(_) | Code::Object(_) => None,
    }
}

/// Returns the source, and the changes of each pass before code generation.
fn texts_before_code(source: &Source, subject: &InputShader, plan: &Plan) -> Result<Texts, ShaderError> {
    let text = match subject {
        InputShader::Tgsi(shader) if source.has_words() => {
            tgsi::text::print(shader, tgsi::text::PrintOptions::default())
        }
        _ => String::from_utf8_lossy(&source.bytes).into_owned(),
    };
    let start = tgsi_ir::text::print(&subject.to_stage(Stage::Parsed, plan)?);
    let mut pass_log = PassLog { differences: Some(Differences::new(start.clone())), ..PassLog::default() };
    let lowered = subject.observed(Stage::Registers, plan, &mut pass_log)?;
    let mut passes = Vec::new();
    if let Some(mut differences) = pass_log.differences {
        differences.add(Stage::Registers.name(), String::new(), &lowered);
        passes = differences.passes;
    }
    Ok(Texts { source: Some(text), result: None, ir: Some(start), passes })
}
