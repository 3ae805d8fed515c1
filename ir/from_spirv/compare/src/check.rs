//! All comparisons of a module.

use std::process::Command;

use tgsi::limits::Limits;
use tgsi_compiler::front_end::{FrontEnd, ReadRequest, Reading};
use tgsi_compiler::{Compiler, Source, Stage};
use tgsi_from_spirv::SPIRV;
use tgsi_ir::shader::ShaderStage;
use tgsi_spirv_mutate::{capture, define, mutate_by};
use tgsi_spirv_vulkan::native::{NativeInterface, NativeOutputs, NativeRun, NativeStage};

use crate::difference::{Difference, differences};
use crate::interpret::interpret;
use crate::seed::Setup;
use crate::translated::{options, run_translated};

/// Most steps of a module; those of changed modules may be more.
const STEPS: u64 = 1_000_000;
const CHANGED_STEPS: u64 = 16 * STEPS;
/// The set of the buffer for outputs of vertex shaders.
const CAPTURE_SET: u32 = 7;
/// Changes that Mesa 22.3 refuses.
const REFUSED_BY_MESA: [&str; 1] = ["premerge"];

/// Which comparisons are made.
#[derive(Clone, Debug)]
pub struct Checks {
    /// The seed of contents.
    pub seed: u64,
    /// Gives undefined behaviour a result first.
    pub define: bool,
    /// Runs the module on Vulkan.
    pub vulkan: bool,
    /// Runs the driver's SPIR-V on Vulkan, too.
    pub translated: bool,
    /// Uses the front end. Without it, changed modules are compared on Vulkan.
    pub front_end: bool,
    /// The seeds of changed modules.
    pub mutants: (u64, u64),
    /// Changes of each.
    pub changes: usize,
    /// Passes of `spirv-opt`, such as `--ssa-rewrite`: each gives a changed module.
    pub passes: Vec<String>,
}

/// A result of the comparisons of a module.
#[derive(Clone, PartialEq, Debug)]
pub enum Report {
    /// Runs do not support it.
    Skipped(String),
    /// The front end or the driver refuses it.
    Refused(String),
    /// An executor fails.
    Failed(String),
    /// Two executors differ: their names, and the differences.
    Differs(String, Vec<Difference>),
    /// These executors agree.
    Same(String),
}

/// The executors of a module.
struct Module<'a> {
    words: &'a [u32],
    native: &'a NativeInterface,
    setup: &'a Setup,
    steps: u64,
}

/// Compares the results of a module.
pub fn check(words: &[u32], checks: &Checks) -> Vec<Report> {
    let mut reports = Vec::new();
    let defined = checks.define.then(|| define(words));
    let words = match &defined {
        Some(Ok(defined)) => defined,
        Some(Err(error)) => return vec![Report::Skipped(error.to_string())],
        None => words,
    };
    let captured = capture(words, CAPTURE_SET, 0);
    let words = captured.as_ref().map_or(words, |captured| captured);
    let native = match NativeInterface::new(words, None) {
        Ok(native) => native,
        Err(reason) => return vec![Report::Skipped(reason)],
    };
    let setup = match Setup::new(&native, checks.seed) {
        Ok(setup) => setup,
        Err(reason) => return vec![Report::Skipped(reason)],
    };
    let module = Module { words, native: &native, setup: &setup, steps: STEPS };
    let reference = if checks.front_end { module.front_end(checks, &mut reports) } else { None };
    if checks.front_end && reference.is_none() && !checks.vulkan {
        return reports;
    }
    if checks.vulkan && native.is_lower_left {
        reports.push(Report::Skipped("vulkan: positions from the lower left".to_owned()));
    }
    let on_vulkan = (checks.vulkan && !native.is_lower_left).then(|| module.on_vulkan());
    let on_vulkan = match on_vulkan {
        Some(Err(error)) => {
            reports.push(Report::Failed(format!("vulkan: {error}")));
            None
        }
        Some(Ok(outputs)) => Some(outputs),
        None => None,
    };
    if let (Some(vulkan), Some((interpreted, source, names))) = (&on_vulkan, &reference) {
        module.compare("vulkan, parsed", vulkan, interpreted, &mut reports);
        if checks.translated {
            match run_translated(source, &names.interface, &native, &setup) {
                Ok(found) => module.compare("vulkan, translated", vulkan, &found, &mut reports),
                Err(error) => reports.push(Report::Refused(format!("translated: {error}"))),
            }
        }
    }
    for seed in checks.mutants.0..checks.mutants.1 {
        let is_suitable = |name: &str| checks.front_end || !REFUSED_BY_MESA.contains(&name);
        let mutation = match mutate_by(words, seed, checks.changes, is_suitable) {
            Ok(mutation) => mutation,
            Err(error) => {
                reports.push(Report::Skipped(format!("mutate: {error}")));
                break;
            }
        };
        let name = format!("mutant {seed} [{}]", mutation.applied.join(" "));
        let changed = Module { words: &mutation.words, steps: CHANGED_STEPS, ..module };
        match (&reference, &on_vulkan) {
            (Some((expected, ..)), _) => changed.mutant(&name, expected, checks, &mut reports),
            (None, Some(expected)) if !checks.front_end => match changed.on_vulkan() {
                Ok(found) => module.compare(&format!("vulkan, {name}"), expected, &found, &mut reports),
                Err(error) => reports.push(Report::Failed(format!("vulkan, {name}: {error}"))),
            },
            _ => {}
        }
    }
    for pass in &checks.passes {
        let Some((expected, ..)) = &reference else { break };
        match optimized(words, pass) {
            Ok(words) => {
                let changed = Module { words: &words, steps: CHANGED_STEPS, ..module };
                changed.mutant(pass, expected, checks, &mut reports);
            }
            Err(error) => reports.push(Report::Skipped(format!("{pass}: {error}"))),
        }
    }
    reports
}

/// The module after a pass of `spirv-opt`.
fn optimized(words: &[u32], pass: &str) -> Result<Vec<u32>, String> {
    let text = |error: std::io::Error| error.to_string();
    let folder = std::env::temp_dir();
    let [before, after] = ["before", "after"].map(|name| folder.join(format!("{}-{name}.spv", std::process::id())));
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(&before, bytes).map_err(text)?;
    let output = Command::new("spirv-opt").arg(pass).arg(&before).arg("-o").arg(&after).output();
    let result = output.map_err(text).and_then(|output| match output.status.success() {
        true => std::fs::read(&after).map_err(text),
        false => Err(String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or("it fails").to_owned()),
    });
    for file in [before, after] {
        let _ = std::fs::remove_file(file);
    }
    let bytes = result?;
    let (words, _) = bytes.as_chunks::<4>();
    Ok(words.iter().map(|&word| u32::from_le_bytes(word)).collect())
}

impl Module<'_> {
    fn on_vulkan(&self) -> Result<NativeOutputs, String> {
        let Setup { push, bindings, work } = self.setup;
        NativeRun { words: self.words, interface: self.native, push, bindings, work }.run()
    }

    fn compare(&self, names: &str, expected: &NativeOutputs, found: &NativeOutputs, reports: &mut Vec<Report>) {
        let found = differences(self.native, expected, found);
        reports.push(match found.is_empty() {
            true => Report::Same(names.to_owned()),
            false => Report::Differs(names.to_owned(), found),
        });
    }

    fn read(&self) -> Result<(Source<'static>, Reading), String> {
        let stage = match self.native.stage {
            NativeStage::Compute(_) => ShaderStage::Compute,
            NativeStage::Vertex => ShaderStage::Vertex,
            _ => ShaderStage::Fragment,
        };
        let entry = format!("entry={}", self.native.entry);
        let reader = SPIRV.reader(&[&entry, "environment=vulkan"]).map_err(|error| error.to_string())?;
        let limits = Limits::default();
        let request = ReadRequest { limits: &limits, compiler: None, path: None, stage: Some(stage) };
        let bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut reading = reader.read(&bytes, &request);
        match reading.source.take().filter(|_| !reading.findings.iter().any(|finding| finding.is_error())) {
            Some(source) => Ok((source, reading)),
            None => {
                let message = reading.findings.iter().find(|finding| finding.is_error()).map(ToString::to_string);
                Err(message.unwrap_or_else(|| "no source".to_owned()))
            }
        }
    }

    /// Runs the shader of the front end at two stages. Returns the results of the first.
    fn front_end(
        &self,
        checks: &Checks,
        reports: &mut Vec<Report>,
    ) -> Option<(NativeOutputs, Source<'static>, Reading)> {
        let _ = checks;
        let (source, reading) = match self.read() {
            Ok(read) => read,
            Err(error) => {
                reports.push(Report::Refused(format!("front end: {error}")));
                return None;
            }
        };
        let compiler = Compiler::new(options());
        let mut parsed = None;
        for stage in [Stage::Parsed, Stage::Opt] {
            let shader = match compiler.ir_at(stage, source.borrowed()) {
                Ok(shader) => shader,
                Err(error) => {
                    reports.push(Report::Refused(format!("{}: {error}", stage.name())));
                    break;
                }
            };
            match interpret(&shader, &reading.interface, self.native, self.setup, self.steps) {
                Err(error) => reports.push(Report::Failed(format!("{}: {error}", stage.name()))),
                Ok(outputs) => match &parsed {
                    None => parsed = Some(outputs),
                    Some(expected) => {
                        self.compare(&format!("parsed, {}", stage.name()), expected, &outputs, reports);
                    }
                },
            }
            parsed.as_ref()?;
        }
        Some((parsed?, source, reading))
    }

    /// Compares the shader of a changed module with that of the original.
    fn mutant(&self, name: &str, expected: &NativeOutputs, checks: &Checks, reports: &mut Vec<Report>) {
        let mut inner = Vec::new();
        let found = self.front_end(checks, &mut inner);
        for report in inner {
            match report {
                Report::Refused(error) => reports.push(Report::Refused(format!("{name}: {error}"))),
                Report::Failed(error) => reports.push(Report::Failed(format!("{name}: {error}"))),
                Report::Differs(names, all) => reports.push(Report::Differs(format!("{name}: {names}"), all)),
                Report::Skipped(_) | Report::Same(_) => {}
            }
        }
        if let Some((outputs, ..)) = found {
            self.compare(&format!("parsed, {name}"), expected, &outputs, reports);
        }
    }
}
