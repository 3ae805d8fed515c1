//! A shader as it was given, TGSI or IR, and the stages of its translation.

use tgsi::Shader;
use tgsi::diagnostic::{Diagnostic, Focus};
use tgsi::span::Span;
use tgsi::tables::File;
use tgsi::text::Reading;
use tgsi_driver_tgsi::{Dialect, DriverError, Interface, Pieces};
use tgsi_ir::passes::pass_manager::PassObserver;
use tgsi_ir::passes::pipeline;

use crate::args::Stage;
use crate::input::{Language, Problem, Source};
use crate::interface;
use crate::plan::Plan;

/// A shader as it was given.
pub enum Subject {
    /// TGSI.
    Tgsi(Shader),
    /// IR, valid.
    Ir {
        /// The shader.
        shader: Box<tgsi_ir::Shader>,
        /// What it takes and gives, as TGSI declarations.
        interface: Shader,
    },
}

impl Subject {
    /// A shader in the IR, which must be valid.
    pub fn of_ir(shader: tgsi_ir::Shader) -> Subject {
        let interface = interface::declarations(&shader);
        Subject::Ir { shader: Box::new(shader), interface }
    }

    /// Reads a shader as the plan says and checks it as far as every executor and driver relies on. Warnings come
    /// along; errors end it.
    pub fn checked(source: &Source, plan: &Plan) -> Result<(Subject, Vec<Diagnostic>), Problem> {
        let (subject, mut findings) = Subject::looked_at(source, plan)?;
        match subject {
            Some(subject) if !findings.iter().any(Diagnostic::is_error) => Ok((subject, findings)),
            _ => {
                findings.retain(Diagnostic::is_error);
                Err(Problem::Findings(findings))
            }
        }
    }

    /// Reads a shader as the plan says and gives everything that is found, errors as well; of a text that was not
    /// understood in all parts the rest is looked at.
    /// No shader then. What is wrong in one dialect and right in the other gets a hint.
    pub fn looked_at(source: &Source, plan: &Plan) -> Result<(Option<Subject>, Vec<Diagnostic>), Problem> {
        let (subject, mut findings) = Subject::read_as(source, plan)?;
        if plan.options.dialect == Dialect::Mesa
            && source.language != Language::Ir
            && subject.is_some()
            && let Some(first) = findings.iter_mut().find(|finding| finding.is_error())
            && !Subject::read_as(source, &plan.for_dialect(Dialect::Virgl))?.1.iter().any(Diagnostic::is_error)
        {
            first.hint = Some("as virgl's hosts read it, nothing is wrong: --dialect virgl".into());
        }
        Ok((subject, findings))
    }

    fn read_as(source: &Source, plan: &Plan) -> Result<(Option<Subject>, Vec<Diagnostic>), Problem> {
        let (mut shader, mut findings, gaps) = match source.language {
            Language::Ir => return Ok((Some(Subject::of_ir(source.ir()?)), Vec::new())),
            Language::Text => {
                let Reading { shader, diagnostics, gaps } = source.read_text();
                (shader, diagnostics, gaps)
            }
            Language::Tokens => {
                let (shader, warnings) = source.tgsi()?;
                (shader, warnings, None)
            }
        };
        tgsi_driver_tgsi::read_dialect(&mut shader, plan.options.dialect);
        let known = gaps.clone().unwrap_or_default();
        let report = tgsi::check::check_for(&shader, &known, &source.limits, plan.keep_subroutines());
        findings.extend(report.diagnostics);
        Ok((gaps.is_none().then_some(Subject::Tgsi(shader)), findings))
    }

    /// A TGSI shader with the declarations and properties that say what the shader takes and gives.
    pub fn interface(&self) -> &Shader {
        match self {
            Subject::Tgsi(shader) => shader,
            Subject::Ir { interface, .. } => interface,
        }
    }

    /// The IR at a stage, the last one that of the driver; IR that was given stands for the stage `parsed`.
    pub fn to_stage(&self, stage: Stage, plan: &Plan) -> Result<tgsi_ir::Shader, Problem> {
        self.observed(stage, plan, None)
    }

    /// The same under the eyes of an observer. Where that one ends it, the shader is as it was there.
    pub fn observed(
        &self,
        stage: Stage,
        plan: &Plan,
        observer: Option<&mut dyn PassObserver>,
    ) -> Result<tgsi_ir::Shader, Problem> {
        take_to(self.to_ir(plan)?, stage, plan, observer).map_err(|error| self.places().problem(error))
    }

    fn to_ir(&self, plan: &Plan) -> Result<tgsi_ir::Shader, Problem> {
        match self {
            Subject::Tgsi(shader) => {
                tgsi::to_ir::to_ir(shader, &plan.options.to_ir_options(plan.level)).map_err(|error| {
                    match error.span() {
                        Some(span) => Problem::Findings(vec![Diagnostic::error(error.code(), span, error.to_string())]),
                        None => Problem::Coded(error.code(), error.to_string()),
                    }
                })
            }
            Subject::Ir { shader, .. } => Ok((**shader).clone()),
        }
    }

    /// The interface that a translation must have, if it matters: hosts of virgl link shaders by it.
    pub fn kept_interface(&self, plan: &Plan) -> Option<Interface> {
        match self {
            Subject::Tgsi(shader) if plan.options.dialect == Dialect::Virgl => Some(Interface::of(shader)),
            _ => None,
        }
    }

    /// The shader translated by the TGSI driver; what was given is gone then, as large shaders need the room.
    pub fn into_translated(self, plan: &Plan, mut observer: Option<&mut dyn PassObserver>) -> Result<Shader, Problem> {
        let places = self.places();
        let whole = match self {
            Subject::Tgsi(shader) if Pieces::are_wanted(&shader, &plan.options) => {
                match Pieces::of(shader, &plan.options) {
                    Ok(pieces) => return translate_pieces(pieces, &places, plan, observer),
                    Err(shader) => Subject::Tgsi(*shader),
                }
            }
            subject => subject,
        };
        let interface = whole.kept_interface(plan);
        whole.into_translated_within(interface.as_ref(), &places, plan, &mut observer)
    }

    fn into_translated_within(
        self,
        interface: Option<&Interface>,
        places: &Places,
        plan: &Plan,
        observer: &mut Option<&mut dyn PassObserver>,
    ) -> Result<Shader, Problem> {
        let ir = self.to_ir(plan)?;
        drop(self);
        let ir = take_to(ir, Stage::Opt, plan, again(observer));
        ir.and_then(|ir| translate(ir, interface, plan, again(observer))).map_err(|error| places.problem(error))
    }

    /// The shader translated by the TGSI driver.
    pub fn translate(&self, plan: &Plan) -> Result<Shader, Problem> {
        if let Subject::Tgsi(shader) = self
            && Pieces::are_wanted(shader, &plan.options)
        {
            return Subject::Tgsi(shader.clone()).into_translated(plan, None);
        }
        let ir = self.observed(Stage::Opt, plan, None)?;
        translate(ir, self.kept_interface(plan).as_ref(), plan, None).map_err(|error| self.places().problem(error))
    }

    /// What an error of the driver may be about: the IR that it speaks of is nobody's text.
    fn places(&self) -> Places {
        let Subject::Tgsi(shader) = self else { return Places::default() };
        let temporaries = shader.declarations.iter().filter(|d| d.file == File::Temporary);
        let largest = temporaries.max_by_key(|d| u32::from(d.last) + 1 - u32::from(d.first.min(d.last)));
        Places { stage: Some(shader.processor_span), temporaries: largest.map(|d| d.span) }
    }
}

/// Runs the passes up to a stage over what conversion gave.
fn take_to(
    mut ir: tgsi_ir::Shader,
    stage: Stage,
    plan: &Plan,
    observer: Option<&mut dyn PassObserver>,
) -> Result<tgsi_ir::Shader, DriverError> {
    if stage == Stage::Parsed {
        return Ok(ir);
    }
    let mut passes = plan.passes();
    if let Some(observer) = observer {
        passes = passes.observed_by(observer);
    }
    pipeline::into_ssa_with(&mut ir, &mut passes);
    if stage == Stage::Ssa {
        return Ok(ir);
    }
    pipeline::optimize_with(&mut ir, &plan.options.compiler_options(), plan.level, &mut passes);
    if stage == Stage::Opt || passes.stopped() {
        return Ok(ir);
    }
    tgsi_driver_tgsi::lower_with(&mut ir, &plan.options, &mut passes)?;
    Ok(ir)
}

/// The same observer, to be given away once more.
fn again<'a>(observer: &'a mut Option<&mut dyn PassObserver>) -> Option<&'a mut dyn PassObserver> {
    match observer {
        Some(observer) => Some(&mut **observer),
        None => None,
    }
}

/// Places of a text of TGSI that an error of the driver is shown at.
#[derive(Default)]
struct Places {
    stage: Option<Span>,
    /// The largest declaration of temporaries.
    temporaries: Option<Span>,
}

impl Places {
    fn problem(&self, error: DriverError) -> Problem {
        let place = match error {
            DriverError::TooManyTemporaries(_) => self.temporaries.or(self.stage),
            _ => self.stage,
        };
        match place {
            Some(span) => Problem::Findings(vec![
                Diagnostic::error(error.code(), span, error.to_string()).with_focus(Focus::Register),
            ]),
            None => Problem::Coded(error.code(), error.to_string()),
        }
    }
}

fn translate_pieces(
    mut pieces: Pieces,
    places: &Places,
    plan: &Plan,
    mut observer: Option<&mut dyn PassObserver>,
) -> Result<Shader, Problem> {
    while let Some(piece) = pieces.next() {
        let interface = Some(pieces.interface());
        let translated = Subject::Tgsi(piece).into_translated_within(interface, places, plan, &mut observer)?;
        pieces.put(translated);
    }
    pieces.finish().map_err(|error| places.problem(error))
}

fn translate(
    ir: tgsi_ir::Shader,
    interface: Option<&Interface>,
    plan: &Plan,
    observer: Option<&mut dyn PassObserver>,
) -> Result<Shader, DriverError> {
    let mut passes = plan.passes();
    if let Some(observer) = observer {
        passes = passes.observed_by(observer);
    }
    tgsi_driver_tgsi::translate_with(ir, interface, &plan.options, &mut passes)
}
