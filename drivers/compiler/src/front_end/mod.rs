//! The interface of front ends: [`FrontEnd`] describes a language, [`Reader`] is the front end with its options set.
//!
//! A front end turns bytes into a [`Source`]: a TGSI shader, or IR with a [`SourceMap`](crate::SourceMap)
//! from the origins of its instructions to places in the source. Everything else about a language (file extensions,
//! recognition by content, options, limits, error codes) is in its [`FrontEnd`], so that a new language is a type that
//! implements the two traits, and one row of the registry (package `tgsi-registry`).
//!
//! The front ends of TGSI text, TGSI tokens and IR text are here.

mod embedded;
mod error;
mod interface;
mod ir_text;
mod tgsi_text;
mod tgsi_tokens;

use std::fmt::Debug;
use std::path::Path;

use tgsi::limits::{LimitInfo, Limits};
use tgsi_diagnostics::{Diagnostic, ErrorCode};
use tgsi_ir::shader::ShaderStage;

use crate::driver::{DriverOption, UnknownOption};
use crate::{Compiler, Source};

pub use embedded::{findings as embedded_findings, several as several_shaders};
pub use error::InputError;
pub use interface::{
    BlockMember, ComponentType, Descriptor, Interface, InterfaceVariable, Resource, ResourceKind, SamplerUniform,
    SpecializationConstant, Subroutine, Uniform, UniformError, UniformMember,
};
pub use ir_text::{IR_TEXT, IrText};
pub use tgsi_text::{TGSI_TEXT, TgsiText};
pub use tgsi_tokens::{TGSI_TOKENS, TgsiTokens};

/// How sure a front end is that an input is in its language.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Recognition {
    /// The input cannot be in the language.
    No,
    /// The content does not contradict the language.
    Possible,
    /// The content identifies the language, for example by a magic number.
    Certain,
}

/// The unit of positions in a source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PositionUnit {
    /// Bytes of a text: positions have lines and columns.
    Bytes,
    /// 32-bit words of a binary form.
    Words,
}

/// A front end: its name, how its language is recognised, its options, and the constructor of its readers.
pub trait FrontEnd: Debug + Send + Sync {
    /// The name that the command line uses.
    fn name(&self) -> &'static str;

    /// One sentence for `--help`.
    fn about(&self) -> &'static str;

    /// Extensions of files in the language, without the dot.
    fn file_extensions(&self) -> &'static [&'static str];

    /// The unit of the positions that its sources and findings have.
    fn position_unit(&self) -> PositionUnit {
        PositionUnit::Bytes
    }

    /// Recognises the language by the content of an input.
    fn recognize(&self, bytes: &[u8]) -> Recognition;

    /// The options, in the order in which they are listed.
    fn options(&self) -> &'static [DriverOption] {
        &[]
    }

    /// The limits that bound its inputs.
    fn limits(&self) -> &'static [LimitInfo];

    /// The codes of its errors and warnings.
    fn error_codes(&self) -> Vec<ErrorCode>;

    /// The pages of its error codes, in the format of [`tgsi::explain`], which has those of the front ends here.
    fn explanations(&self) -> &'static str {
        ""
    }

    /// The stages of the shaders of an input that consists of several, in pipeline order; empty for other inputs.
    fn stages(&self, bytes: &[u8]) -> Vec<ShaderStage> {
        let _ = bytes;
        Vec::new()
    }

    /// The front end with the options of these names set.
    ///
    /// # Errors
    /// [`UnknownOption`].
    fn reader(&self, options: &[&str]) -> Result<Box<dyn Reader>, UnknownOption>;

    /// Narrows the spans of findings to the tokens that they are about. Called before findings are shown, so that
    /// valid sources do not pay for the exact positions.
    fn focus(&self, bytes: &[u8], findings: &mut [Diagnostic]) {
        let _ = (bytes, findings);
    }
}

/// A front end with its options set.
pub trait Reader: Debug + Send + Sync {
    /// Reads an input. If the request has a compiler, also checks the properties that the compiler relies on. Reports all
    /// findings: parts that are not understood do not hide errors elsewhere.
    fn read(&self, bytes: &[u8], request: &ReadRequest<'_>) -> Reading;

    /// Reads the shaders of a pipeline together. A language that matches inputs and outputs by name gives both the same
    /// slots, and reports errors of the interfaces between stages. In a language in which a shader may consist of
    /// several units, inputs of one stage are [one shader](Reading::part_of).
    fn read_pipeline(&self, inputs: &[(&[u8], ReadRequest<'_>)]) -> Vec<Reading> {
        inputs.iter().map(|(bytes, request)| self.read(bytes, request)).collect()
    }
}

/// The surroundings of a read.
#[derive(Clone, Copy, Debug)]
pub struct ReadRequest<'a> {
    /// The limits.
    pub limits: &'a Limits,
    /// The compiler for the source; its target may read TGSI in another dialect. Without one, only the syntax is
    /// checked.
    pub compiler: Option<&'a Compiler>,
    /// The path of the input, whose extension decides where the content is ambiguous.
    pub path: Option<&'a Path>,
    /// The stage of the shader to read, of an input that consists of [several](FrontEnd::stages).
    pub stage: Option<ShaderStage>,
}

/// The result of a read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The source; `None` if the input is not understood. It can be compiled if no finding is an error.
    pub source: Option<Source<'static>>,
    /// The findings.
    pub findings: Vec<Diagnostic>,
    /// The interface, of languages that have names.
    pub interface: Interface,
    /// Of a reading of a pipeline: the input whose reading has the source, if this input is a further unit of that
    /// shader. The findings are those in this input.
    pub part_of: Option<usize>,
}

impl Reading {
    /// A reading without names.
    pub fn new(source: Option<Source<'static>>, findings: Vec<Diagnostic>) -> Reading {
        Reading { source, findings, interface: Interface::default(), part_of: None }
    }

    /// Whether there is a source, or the input is a part of another one, without errors.
    pub fn is_valid(&self) -> bool {
        (self.source.is_some() || self.part_of.is_some()) && !self.findings.iter().any(Diagnostic::is_error)
    }
}

/// Finds the front end for an input: one that is certain by the content, else one for the extension of the file that
/// the content does not contradict, else the first one that the content does not contradict.
pub fn detect<'f>(front_ends: &[&'f dyn FrontEnd], path: Option<&Path>, bytes: &[u8]) -> Option<&'f dyn FrontEnd> {
    let recognized: Vec<_> = front_ends.iter().map(|&front_end| (front_end, front_end.recognize(bytes))).collect();
    let certain = recognized.iter().find(|(_, recognition)| *recognition == Recognition::Certain);
    let extension = path.and_then(Path::extension).and_then(|extension| extension.to_str());
    let mut possible = recognized.iter().filter(|(_, recognition)| *recognition == Recognition::Possible);
    let named = possible
        .clone()
        .find(|(front_end, _)| extension.is_some_and(|extension| front_end.file_extensions().contains(&extension)));
    certain.or(named).or_else(|| possible.next()).map(|&(front_end, _)| front_end)
}

/// Checks the names of options against those of a front end.
///
/// # Errors
/// [`UnknownOption`] for the first one that is not among them.
fn check_options(front_end: &dyn FrontEnd, names: &[&str]) -> Result<(), UnknownOption> {
    let known = front_end.options();
    match names.iter().find(|name| known.iter().all(|option| option.name != **name)) {
        None => Ok(()),
        Some(name) => Err(UnknownOption { name: (*name).to_owned(), options: known, problem: None }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides() {
        let front_ends: [&dyn FrontEnd; 3] = [&TGSI_TEXT, &TGSI_TOKENS, &IR_TEXT];
        for (bytes, name) in [
            (&b"FRAG\nEND\n"[..], "tgsi"),
            (b"", "tgsi"),
            (b"; a remark\nVERT", "tgsi"),
            (b"\n  shader: MESA_SHADER_VERTEX\n", "ir"),
            (b"shader:", "ir"),
            (b"\x02\x02\x00\x00\x00\x00\x00\x00", "tokens"),
            (b"\xef\xbb\xbfFRAG\n", "tgsi"),
            (b"0x202, 0x0, 0x12, 0x34", "tokens"),
            (b"FACE 12", "tgsi"),
        ] {
            let found = detect(&front_ends, None, bytes).map(FrontEnd::name);
            assert_eq!(found, Some(name), "{bytes:?}");
            // The file extension does not override the content.
            let found = detect(&front_ends, Some(Path::new("a.nir")), bytes).map(FrontEnd::name);
            assert_eq!(found, Some(name), "{bytes:?}");
        }
    }

    #[test]
    fn options_are_known() {
        for front_end in [&TGSI_TEXT as &dyn FrontEnd, &TGSI_TOKENS, &IR_TEXT] {
            for option in front_end.options() {
                assert!(front_end.reader(&[option.name]).is_ok(), "{} {}", front_end.name(), option.name);
            }
            let error = front_end.reader(&["no_such_option"]).expect_err("an error");
            assert!(error.to_string().contains("no_such_option"));
        }
    }
}
