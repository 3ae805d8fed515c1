//! An input shader, as TGSI or IR, read by its front end and checked.

use std::borrow::Cow;

use tgsi::Shader;
use tgsi_compiler::front_end::{IR_TEXT, Interface, Reading};
use tgsi_compiler::reflection::Reflection;
use tgsi_compiler::{Code, CompileError, Compiler, SourceMap, Stage};
use tgsi_diagnostics::Diagnostic;
use tgsi_ir::passes::pass_manager::PassObserver;
use tgsi_verify::ExecutorError;

use crate::input::{ShaderError, Source};
use crate::plan::Plan;

/// A value with warnings, or errors instead of it.
pub type Checked<T> = Result<(T, Vec<Diagnostic>), ShaderError>;

/// An input shader.
pub enum InputShader {
    /// TGSI.
    Tgsi(Shader),
    /// Valid IR.
    Ir {
        /// The shader.
        shader: Box<tgsi_ir::Shader>,
        /// The places of its instructions in the source.
        places: SourceMap,
        /// Its interface, as TGSI declarations.
        interface: Shader,
        /// Its interface by name.
        names: Box<Interface>,
    },
}

impl InputShader {
    /// Reads a shader with the options of the plan, and makes the checks that executors and drivers rely on. Returns
    /// warnings with the shader, and errors instead of it.
    pub fn checked(source: &Source, plan: &Plan) -> Checked<InputShader> {
        InputShader::without_errors(InputShader::read(source, plan))
    }

    /// Reads the shaders of a pipeline. Languages with names match inputs and outputs by name. A source that is a
    /// further unit of the shader of another source has warnings only.
    pub fn checked_pipeline(sources: &[Source], plan: &Plan) -> Vec<Checked<Option<InputShader>>> {
        let readings = Source::parse_pipeline(sources, Some(&plan.compiler)).into_iter().zip(sources);
        let read = |(reading, source): (Reading, &Source)| {
            if reading.part_of.is_some() && reading.is_valid() {
                return Ok((None, reading.findings));
            }
            let read = InputShader::with_dialect_hint(source, plan, InputShader::of_reading(reading));
            InputShader::without_errors(read).map(|(shader, warnings)| (Some(shader), warnings))
        };
        readings.map(read).collect()
    }

    /// Returns warnings with the shader, or errors instead of it.
    fn without_errors((subject, mut findings): (Option<InputShader>, Vec<Diagnostic>)) -> Checked<InputShader> {
        match subject {
            Some(subject) if !findings.iter().any(Diagnostic::is_error) => Ok((subject, findings)),
            _ => {
                findings.retain(Diagnostic::is_error);
                Err(ShaderError::Findings(findings))
            }
        }
    }

    /// Reads a shader with the options of the plan and returns all findings, errors included. If parts of a text cannot
    /// be parsed, the rest is checked, but no shader is returned. An error in one dialect gets a hint if the input is
    /// valid in the other.
    pub fn read(source: &Source, plan: &Plan) -> (Option<InputShader>, Vec<Diagnostic>) {
        InputShader::with_dialect_hint(source, plan, InputShader::read_in_dialect(source, plan))
    }

    fn with_dialect_hint(
        source: &Source,
        plan: &Plan,
        (subject, mut findings): (Option<InputShader>, Vec<Diagnostic>),
    ) -> (Option<InputShader>, Vec<Diagnostic>) {
        if let Some(virgl) = plan.for_virgl()
            && !source.is_in(&IR_TEXT)
            && subject.is_some()
            && let Some(first) = findings.iter_mut().find(|finding| finding.is_error())
            && !InputShader::read_in_dialect(source, &virgl).1.iter().any(Diagnostic::is_error)
        {
            first.hint = Some("the shader is valid for virgl hosts: use --dialect virgl".into());
        }
        (subject, findings)
    }

    fn read_in_dialect(source: &Source, plan: &Plan) -> (Option<InputShader>, Vec<Diagnostic>) {
        InputShader::of_reading(source.parse(Some(&plan.compiler)))
    }

    fn of_reading(reading: Reading) -> (Option<InputShader>, Vec<Diagnostic>) {
        let Reading { source: shader, findings, interface: names, .. } = reading;
        let shader = shader.map(|shader| match shader {
            tgsi_compiler::Source::Tgsi(shader) => InputShader::Tgsi(shader.into_owned()),
            tgsi_compiler::Source::Ir(shader, places) => {
                let interface = tgsi_verify::interface(&(&*shader).into()).into_owned();
                let names = Box::new(names);
                InputShader::Ir { shader: Box::new(shader.into_owned()), places, interface, names }
            }
        });
        (shader, findings)
    }

    /// Returns a TGSI shader with the declarations and properties that describe the inputs and outputs of the shader.
    pub fn interface(&self) -> &Shader {
        match self {
            InputShader::Tgsi(shader) => shader,
            InputShader::Ir { interface, .. } => interface,
        }
    }

    /// Returns the interface by name, if the language has names.
    pub fn names(&self) -> Option<&Interface> {
        match self {
            InputShader::Ir { names, .. } if **names != Interface::default() => Some(names),
            _ => None,
        }
    }

    /// Returns the shader for the compiler.
    pub fn source(&self) -> tgsi_compiler::Source<'_> {
        match self {
            InputShader::Tgsi(shader) => shader.into(),
            InputShader::Ir { shader, places, .. } => tgsi_compiler::Source::Ir(Cow::Borrowed(shader), places.clone()),
        }
    }

    /// Converts the shader to one for the compiler.
    pub fn into_source(self) -> tgsi_compiler::Source<'static> {
        match self {
            InputShader::Tgsi(shader) => shader.into(),
            InputShader::Ir { shader, places, .. } => tgsi_compiler::Source::Ir(Cow::Owned(*shader), places),
        }
    }

    /// Returns the IR at a stage; an IR input is at stage `parsed`.
    pub fn to_stage(&self, stage: Stage, plan: &Plan) -> Result<tgsi_ir::Shader, ShaderError> {
        Ok(plan.compiler.ir_at(stage, self.source())?)
    }

    /// Like [`to_stage`](Self::to_stage), with an observer. If that stops the compilation, the shader is returned as it
    /// is then.
    pub fn observed(
        &self,
        stage: Stage,
        plan: &Plan,
        observer: &mut dyn PassObserver,
    ) -> Result<tgsi_ir::Shader, ShaderError> {
        let mut compilation = plan.compiler.start(self.source())?.observed_by(observer);
        compilation.advance(stage)?;
        Ok(compilation.into_ir())
    }

    /// Compiles to the driver's code.
    pub fn code(&self, plan: &Plan) -> Result<Code, ShaderError> {
        Ok(self.compiler(plan).start(self.source())?.finish()?)
    }

    /// Returns the compiler of a plan, with the names of the shader.
    fn compiler(&self, plan: &Plan) -> Compiler {
        self.names().map_or_else(|| plan.compiler.clone(), |names| plan.compiler.with_names(names))
    }

    /// Compiles to the driver's code. Consumes the shader, because large shaders need the memory.
    pub fn into_code(self, plan: &Plan, observer: Option<&mut dyn PassObserver>) -> Result<Code, ShaderError> {
        let compiler = self.compiler(plan);
        let compilation = compiler.start(self.into_source())?;
        Ok(match observer {
            Some(observer) => compilation.observed_by(observer).finish(),
            None => compilation.finish(),
        }?)
    }

    /// Returns the driver's assignments for the interface; `None` if it assigns nothing.
    pub fn reflect(&self, plan: &Plan) -> Result<Option<Reflection>, ShaderError> {
        Ok(plan.compiler.start(self.source())?.reflect()?)
    }
}

impl From<CompileError> for ShaderError {
    fn from(error: CompileError) -> ShaderError {
        match error.span() {
            Some(_) => ShaderError::Findings(vec![error.diagnostic()]),
            None => ShaderError::Coded(error.code(), error.to_string()),
        }
    }
}

impl From<ExecutorError> for ShaderError {
    fn from(error: ExecutorError) -> ShaderError {
        match error {
            ExecutorError::Compile(error) => error.into(),
            ExecutorError::Run { code, message } => ShaderError::Coded(code, message),
            ExecutorError::Code(_) | ExecutorError::Other(_) => ShaderError::Other(error.to_string()),
        }
    }
}
