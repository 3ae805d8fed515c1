//! Shaders of a pipeline, ready to run by an executor.

use std::fmt;

use tgsi_compiler::Source;
use tgsi_compiler::front_end::{FrontEnd, ReadRequest, Resource};
use tgsi_diagnostics::Diagnostic;
use tgsi_environment::{Inputs, Outputs, Resources, RunLimits};
use tgsi_verify::{Checker, ExecutorError, ExecutorKind};

use crate::error::{Refusal, RefusalKind};
use crate::script::Attachment;

/// The way in which shaders are read, compiled and run.
#[derive(Clone, Copy)]
pub struct Executor<'a> {
    /// Reads modules.
    pub front_end: &'a dyn FrontEnd,
    /// Compiles.
    pub checker: &'a Checker,
    /// Runs.
    pub kind: ExecutorKind,
    /// The limits of a run.
    pub limits: RunLimits,
}

impl fmt::Debug for Executor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Executor({})", self.kind)
    }
}

/// A shader ready to run.
pub(crate) struct Program {
    /// The shader as it was read.
    pub ir: Box<tgsi_ir::Shader>,
    /// The registers of its descriptors.
    pub resources: Vec<Resource>,
    executor: tgsi_verify::Executor,
    limits: RunLimits,
    line: usize,
}

impl Program {
    /// Reads and compiles a shader. `counts` has the lengths of arrays of descriptors: set, binding, length.
    pub(crate) fn new(
        executor: Executor<'_>,
        module: &[u8],
        attachment: &Attachment,
        counts: &[(u32, u32, usize)],
    ) -> Result<Program, Refusal> {
        let line = attachment.line;
        let mut options = vec![format!("entry={}", attachment.entry)];
        options.extend(attachment.constants.iter().map(|(id, bits)| format!("spec={id}:{bits:#x}")));
        options.extend(counts.iter().map(|(set, binding, length)| format!("count={set}:{binding}:{length}")));
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let refused = |reason: String, detail: String| Refusal::new(line, RefusalKind::Shader, reason, detail);
        let reader = executor.front_end.reader(&options).map_err(|error| refused(error.to_string(), String::new()))?;
        let compiler = &executor.checker.compiler;
        let request = ReadRequest {
            limits: compiler.limits(),
            compiler: Some(compiler),
            path: None,
            stage: Some(attachment.stage),
        };
        let reading = reader.read(module, &request);
        if let Some(error) = reading.findings.iter().find(|finding| finding.is_error()) {
            let Diagnostic { code, message, .. } = error;
            return Err(refused(format!("{code} {}", code.name), message.clone()));
        }
        let Some(source @ Source::Ir(..)) = reading.source else {
            return Err(refused("the front end returns no shader".to_owned(), String::new()));
        };
        let compiled = executor.checker.executor(&source, executor.kind).map_err(|error| coded(error, line))?;
        let Source::Ir(ir, _) = source else {
            return Err(refused("the front end returns no shader".to_owned(), String::new()));
        };
        let (limits, resources) = (executor.limits, reading.interface.resources);
        Ok(Program { ir: Box::new(ir.into_owned()), resources, executor: compiled, limits, line })
    }

    /// Runs the shader.
    pub(crate) fn run(&self, inputs: &Inputs, resources: &mut dyn Resources) -> Result<Outputs, Refusal> {
        self.executor.run_with(inputs, resources, self.limits).map_err(|error| coded(error, self.line))
    }
}

/// The refusal for an error of an executor.
fn coded(error: ExecutorError, line: usize) -> Refusal {
    match error {
        ExecutorError::Compile(error) => {
            let code = error.code();
            Refusal::new(line, RefusalKind::Shader, format!("{code} {}", code.name), error.to_string())
        }
        ExecutorError::Run { code, message } => {
            Refusal::new(line, RefusalKind::Run, format!("{code} {}", code.name), message)
        }
        ExecutorError::Code(error) => Refusal::new(line, RefusalKind::Run, error.to_string(), String::new()),
        ExecutorError::Other(message) => Refusal::new(line, RefusalKind::Run, message, String::new()),
    }
}
