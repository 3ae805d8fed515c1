//! Replaces TGSI texts that are sent to a host, such as virglrenderer.
//!
//! The client has already declared the stage and perhaps output registers, and every later reader parses the text
//! again. So a translation has the stage of the source, keeps its outputs if they are named, and is no longer than the
//! source where possible.

use tgsi::Shader;
use tgsi::tables::File;
use tgsi::text::{PrintOptions, print};
use tgsi_diagnostics::Diagnostic;
use tgsi_ir::passes::pipeline::OptLevel;

use crate::front_end::{Reading, TGSI_TEXT};
use crate::{CompileError, Compiler, Source};

/// A compiler for a host.
#[derive(Clone, Debug)]
pub struct HostCompiler {
    compiler: Compiler,
    /// For shaders that `compiler` makes longer; `None` if it does nothing that could.
    without_growth: Option<Compiler>,
}

/// A translation for a host.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HostTranslation {
    /// The source.
    pub source: Shader,
    /// The text of the translation.
    pub text: Vec<u8>,
    /// Instructions of the source, END included.
    pub instructions_before: u32,
    /// Instructions of the translation.
    pub instructions_after: u32,
}

/// The reason why there is no translation. Its text is one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The text has errors, of which this is the first, or the compiler reports an error with a position in it.
    #[error("{0}")]
    Text(Box<Diagnostic>),
    /// It cannot be compiled.
    #[error("{0} [{code}]", code = .0.code())]
    Compile(CompileError),
    /// The text is for another stage than the client declared.
    #[error("the text is for stage {text}, the object for {object}")]
    Stage {
        /// The stage of the text.
        text: &'static str,
        /// The stage of the object.
        object: &'static str,
    },
    /// Output registers that the client names have moved.
    #[error("outputs are streamed, and have other registers in the translation")]
    Outputs,
    /// The code of the target is not TGSI.
    #[error("virgl hosts read TGSI, but the driver emits another language")]
    NotTgsi,
}

impl From<CompileError> for HostError {
    fn from(error: CompileError) -> HostError {
        match error.span() {
            Some(_) => HostError::Text(Box::new(error.diagnostic())),
            None => HostError::Compile(error),
        }
    }
}

impl HostCompiler {
    /// Returns a host compiler that translates as `compiler` does, for the dialect of its target.
    pub fn new(compiler: Compiler) -> HostCompiler {
        let may_grow = compiler.level() == OptLevel::Full;
        HostCompiler { without_growth: may_grow.then(|| compiler.clone().with_level(OptLevel::NoSizeGrowth)), compiler }
    }

    /// Returns the compiler.
    pub fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    /// Translates a shader text sent for an object of stage `stage`, given by its name in TGSI text (`VERT`). The input
    /// is always parsed as text, even if it looks like tokens. With `streams`, the client names output registers by
    /// number, so they must stay in place.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn translate(&self, text: &[u8], stage: &'static str, streams: bool) -> Result<HostTranslation, HostError> {
        let Reading { source, findings, .. } = self.compiler.read(&TGSI_TEXT, text);
        if let Some(first) = findings.into_iter().find(Diagnostic::is_error) {
            return Err(HostError::Text(Box::new(first)));
        }
        let Some(Source::Tgsi(source)) = source else { return Err(HostError::NotTgsi) };
        let source = source.into_owned();
        if source.processor.name() != stage {
            return Err(HostError::Stage { text: source.processor.name(), object: stage });
        }
        let mut translated = tgsi_of(&self.compiler, &source)?;
        if let Some(compiler) = &self.without_growth
            && translated.instructions.len() > source.instructions.len()
        {
            // Unrolled loops that enable no simplification are not worth their length.
            let other = tgsi_of(compiler, &source)?;
            if other.instructions.len() < translated.instructions.len() {
                translated = other;
            }
        }
        if streams && outputs(&source) != outputs(&translated) {
            return Err(HostError::Outputs);
        }
        let text = print(&translated, PrintOptions::default().with_hex_floats(true)).into_bytes();
        let (instructions_before, instructions_after) =
            (source.instructions.len() as u32, translated.instructions.len() as u32);
        Ok(HostTranslation { source, text, instructions_before, instructions_after })
    }
}

fn tgsi_of(compiler: &Compiler, source: &Shader) -> Result<Shader, HostError> {
    compiler.compile(source)?.into_tgsi().ok_or(HostError::NotTgsi)
}

/// Returns the registers of outputs, with their semantics.
fn outputs(shader: &Shader) -> Vec<(u16, u16, String)> {
    let declarations = shader.declarations.iter().filter(|declaration| declaration.file == File::Output);
    let mut outputs: Vec<_> = declarations
        .map(|declaration| (declaration.first, declaration.last, format!("{:?}", declaration.semantic)))
        .collect();
    outputs.sort_unstable();
    outputs
}
