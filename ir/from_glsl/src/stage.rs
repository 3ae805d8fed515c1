//! A shader of a stage between the front half of the compiler, which reads it, and the assignment of its registers, for
//! which the other stages of its pipeline must be known.

use rustc_hash::FxHashSet;
use tgsi_diagnostics::Diagnostic;
use tgsi_ir::passes;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::passes::pipeline;
use tgsi_ir::passes::table::{PassId, PassSet};
use tgsi_ir::shader::ShaderStage;
use tgsi_ir::variable::VariableModes;

use crate::analyze::{SemanticError, UnitInfo, analyze, find_errors};
use crate::assign::{assign, usages};
use crate::ast::Ast;
use crate::compile::{Compiled, Module};
use crate::emit::{EmitError, Emitted, emit};
use crate::findings::{Finding, Findings};
use crate::link::{LinkError, Slots};
use crate::options::GlslOptions;
use crate::parse::parse;
use crate::preprocess::{LineMap, Preprocessed, preprocess_from};
use crate::program::{Program, VariableId};
use crate::slots::{Exceeded, find_exceeded};
use crate::symbol::Interner;
use crate::token::{TokenRange, Tokens};
use crate::version::Version;

/// The text of a unit: the bytes of an input from an offset on. Positions are those in the input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitText<'a> {
    /// The input, up to the end of the unit.
    pub(crate) text: &'a [u8],
    /// Where the unit begins.
    pub(crate) start: u32,
}

/// A shader that was read, with its IR in SSA form, before the assignment of registers.
pub(crate) struct StageUnit {
    pub(crate) interner: Interner,
    pub(crate) program: Program,
    /// Global variables that the code that is left uses.
    pub(crate) used: FxHashSet<VariableId>,
    /// Whether the program may be combined with stages of other programs.
    pub(crate) is_separable: bool,
    /// Whether it is a program without the other stages.
    pub(crate) is_separate: bool,
    tokens: Tokens,
    /// The lines of each unit, with its start.
    lines: Vec<(u32, LineMap)>,
    emitted: Emitted,
    findings: Findings,
}

impl StageUnit {
    /// Reads the units of a shader.
    ///
    /// # Errors
    /// All findings, if there are errors or a complete shader is not asked for.
    pub(crate) fn read(
        units: &[UnitText<'_>],
        stage: ShaderStage,
        options: &GlslOptions,
        is_complete: bool,
    ) -> Result<StageUnit, Vec<Diagnostic>> {
        let (mut interner, mut findings) = (Interner::new(), Findings::default());
        let (mut tokens, mut read) = (Tokens::default(), Vec::with_capacity(units.len()));
        for unit in units {
            let mut done = preprocess_from(unit.text, unit.start, tokens, options, &mut interner, &mut findings);
            tokens = std::mem::take(&mut done.tokens);
            let first: Option<&(Preprocessed, u32)> = read.first();
            if let Some(error) = first.and_then(|(first, _)| unit_error(stage, done.version, first.version)) {
                findings.add_at(&error, TokenRange::at(done.first), &tokens, &interner);
            }
            read.push((done, tokens.tokens.len() as u32));
        }
        let parsed: Vec<Ast> = read
            .iter()
            .map(|(unit, end)| {
                let range = unit.first..*end;
                parse(&tokens, range, unit.version, &unit.extensions, &options.limits, &interner, &mut findings)
            })
            .collect();
        let infos = read.iter().zip(&parsed).map(|((unit, _), ast)| {
            let info = UnitInfo {
                tokens: &tokens,
                version: unit.version,
                enabled: &unit.extensions,
                stage,
                invariant_all: unit.invariant_all,
                max_registers: options.limits.registers,
                constants: &options.constants,
            };
            (ast, info)
        });
        let infos: Vec<(&Ast, UnitInfo<'_>)> = infos.collect();
        let program = analyze(&infos, &mut interner, &mut findings);
        let lines: Vec<(u32, LineMap)> =
            units.iter().zip(read).map(|(unit, (read, _))| (unit.start, read.lines)).collect();
        let Some(program) = program else { return Err(with_lines(findings, &lines)) };
        let report = |findings: &mut Findings, error: SemanticError, place: TokenRange| {
            findings.add_at(&error, place, &tokens, &interner);
        };
        // With other errors, `main` may be a function that could not be read.
        let is_checked = is_complete && !findings.has_errors();
        let missing = if is_checked { find_errors(&program, &interner) } else { Vec::new() };
        for (error, tokens) in missing {
            report(&mut findings, error, tokens);
        }
        let main = program.main.filter(|_| is_complete && !findings.has_errors());
        let emitted = match main.map(|main| emit(&program, &interner, main)) {
            Some(Ok(emitted)) => emitted,
            Some(Err(error)) => {
                let (error, tokens) = match error {
                    EmitError::Undefined(function, tokens) => {
                        let name = interner.spelling(program.function(function).name).to_owned();
                        (SemanticError::FunctionUndefined { name }, tokens)
                    }
                    EmitError::TooManyCopies(tokens) => (
                        SemanticError::Limit { what: "copies of functions", limit: crate::emit::MAX_SPECIALIZATIONS },
                        tokens,
                    ),
                };
                report(&mut findings, error, tokens);
                return Err(with_lines(findings, &lines));
            }
            None => return Err(with_lines(findings, &lines)),
        };
        let (is_separable, is_separate) = (options.is_separable, options.has_separate_programs);
        let used = FxHashSet::default();
        let mut stage =
            StageUnit { interner, program, used, is_separable, is_separate, tokens, lines, emitted, findings };
        into_ssa(&mut stage.emitted);
        let usages = usages(&stage.emitted.shader);
        let of_interface = stage.emitted.interface.iter();
        // Accesses to counters have no derefs.
        let is_counter = |id| stage.program.types.summary(stage.program.variable(id).ty).counters > 0;
        let is_used = |id, variable| usages.contains_key(&variable) || is_counter(id);
        stage.used = of_interface.filter(|&&(id, variable)| is_used(id, variable)).map(|&(id, _)| id).collect();
        Ok(stage)
    }

    /// Emits the program again, after linking changed the layout of its variables.
    pub(crate) fn emit_again(&mut self) {
        if let Some(main) = self.program.main
            && let Ok(mut emitted) = emit(&self.program, &self.interner, main)
        {
            into_ssa(&mut emitted);
            self.emitted = emitted;
        }
    }

    /// Whether the findings have an error.
    pub(crate) fn has_errors(&self) -> bool {
        self.findings.has_errors()
    }

    /// Adds an error of linking.
    pub(crate) fn report(&mut self, error: &dyn Finding, place: TokenRange) {
        self.findings.add_at(error, place, &self.tokens, &self.interner);
    }

    /// Assigns registers and slots; variables between stages have those of `slots`, if linking assigned some.
    pub(crate) fn finish(self, slots: &Slots) -> Compiled {
        let StageUnit { interner, program, tokens, lines, emitted, mut findings, .. } = self;
        let Emitted { mut shader, origins, interface } = emitted;
        if findings.has_errors() {
            return Compiled { module: None, findings: with_lines(findings, &lines) };
        }
        let interface = assign(&mut shader, &program, &interner, &interface, slots);
        // Accesses that optimisation removed leave variables without a slot.
        passes::remove_dead_variables(&mut shader, VariableModes::SHADER_IN.union(VariableModes::SHADER_OUT));
        for Exceeded { error, place, other } in find_exceeded(&interface, &program, &interner) {
            let diagnostic = findings.add_at(&error, place, &tokens, &interner);
            if let (Some(diagnostic), Some((place, note))) = (diagnostic, other) {
                diagnostic.note(tokens.span(place), tgsi_diagnostics::Focus::Whole, note);
            }
        }
        if findings.has_errors() {
            return Compiled { module: None, findings: with_lines(findings, &lines) };
        }
        passes::lower_samplers(&mut shader);
        passes::lower_explicit_access(&mut shader);
        let origins = origins.iter().map(|&place| tokens.span(place)).collect();
        let main = program.main.map(|main| tokens.span(program.function(main).tokens)).unwrap_or_default();
        let module = Module { shader, origins, interface, main };
        Compiled { module: Some(module), findings: with_lines(findings, &lines) }
    }
}

/// The error of a further unit of a stage, by its version and that of the first one. ES has one unit for each stage.
fn unit_error(stage: ShaderStage, version: Version, first: Version) -> Option<LinkError> {
    let stage = stage_name(stage);
    if version.is_es() != first.is_es() {
        return Some(LinkError::Version { found: version.to_string(), other: stage, expected: first.to_string() });
    }
    version.is_es().then(|| LinkError::Units { stage, version: version.to_string() })
}

/// Brings the IR into SSA form. Registers and units are assigned to the remaining uniforms, and only then replace them.
fn into_ssa(emitted: &mut Emitted) {
    let resources = PassSet::of_numbers(&[PassId::lower_samplers as u32, PassId::lower_explicit_access as u32]);
    pipeline::into_ssa_with(&mut emitted.shader, &mut Passes::default().without(resources));
}

/// The name of a stage in messages.
pub(crate) fn stage_name(stage: ShaderStage) -> &'static str {
    match stage {
        ShaderStage::Vertex => "vertex",
        ShaderStage::TessCtrl => "tessellation control",
        ShaderStage::TessEval => "tessellation evaluation",
        ShaderStage::Geometry => "geometry",
        ShaderStage::Fragment => "fragment",
        _ => "compute",
    }
}

/// The findings, with the numbers that `#line` gives their lines, where these differ.
fn with_lines(findings: Findings, units: &[(u32, LineMap)]) -> Vec<Diagnostic> {
    let mut findings = findings.into_vec();
    for finding in findings.iter_mut().filter(|finding| finding.span.end > finding.span.start) {
        let at = finding.span.start;
        // The last unit that begins before. Several units need not be in order.
        let unit = units.iter().filter(|(start, _)| *start <= at).max_by_key(|(start, _)| *start);
        let Some((_, lines)) = unit.filter(|(_, lines)| lines.has_changes()) else { continue };
        let (line, source) = lines.line(at);
        if (line, source) != (lines.physical_line(at), 0) {
            finding.message.push_str(&format!(" (line {line} of source {source} by `#line`)"));
        }
    }
    findings
}
