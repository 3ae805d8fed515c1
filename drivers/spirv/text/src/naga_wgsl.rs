//! WGSL by naga: its SPIR-V reader, its validator, its WGSL writer. Groups and bindings are the sets and
//! bindings of the module.

use std::error::Error;
use std::fmt::Write as _;

use naga::back::wgsl;
use naga::front::spv;
use naga::valid::{Capabilities, ValidationFlags, Validator};

use crate::error::TextError;
use crate::naga_workarounds::{rewrite_queries, rewrite_words};
use crate::name_values::name_values;
use crate::options::TextOptions;

const NAGA: &str = "naga";

/// Translates a module.
///
/// # Errors
/// [`TextError`].
pub fn translate(words: &[u32], options: &TextOptions) -> Result<String, TextError> {
    // Keeps positions as in the source: the host determines the direction of y.
    let reader_options = spv::Options { adjust_coordinate_space: false, ..spv::Options::default() };
    let words = rewrite_words(words, options.contract);
    let mut module = spv::Frontend::new(words.into_iter(), &reader_options)
        .parse()
        .map_err(|error| TextError::Reader(NAGA, chain(&error)))?;
    rewrite_queries(&mut module);
    name_values(&mut module);
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .map_err(|error| TextError::Validator(NAGA, chain(error.as_inner())))?;
    let mut text = String::new();
    wgsl::Writer::new(&mut text, wgsl::WriterFlags::empty())
        .write(&module, &info)
        .map_err(|error| TextError::Writer(NAGA, chain(&error)))?;
    Ok(with_directives(with_workgroup_size(text)))
}

/// Adds directives that naga omits: subgroups are an extension, and lookups with derivatives and subgroup operations
/// must be allowed where WGSL cannot prove that control flow is uniform.
fn with_directives(text: String) -> String {
    let mut directives = String::new();
    if text.contains("subgroup") {
        directives.push_str("enable subgroups;\n");
    }
    // All `enable` directives must come first; naga writes those that it supports.
    let (enables, rest) = text.split_at(
        text.rfind("enable ")
            .map_or(0, |at| text.get(at..).and_then(|rest| rest.find('\n')).map_or(at, |end| at + end + 1)),
    );
    let enables = if enables.lines().all(|line| line.is_empty() || line.starts_with("enable ")) { enables } else { "" };
    let rest = if enables.is_empty() { text.as_str() } else { rest };
    directives.push_str(enables);
    directives.push_str("diagnostic(off, derivative_uniformity);\n");
    if text.contains("subgroup") {
        directives.push_str("diagnostic(off, subgroup_uniformity);\n");
    }
    directives + rest
}

/// Inserts a workgroup size of the constants 0, 1, 2 if there are such constants: naga writes only literals.
fn with_workgroup_size(text: String) -> String {
    let name = |id: u32| {
        let (_, rest) = text.split_once(&format!("@id({id}) override "))?;
        rest.split_once(':').map(|(name, _)| name)
    };
    match [name(0), name(1), name(2)] {
        [Some(x), Some(y), Some(z)] => {
            text.replacen("@workgroup_size(1, 1, 1)", &format!("@workgroup_size({x}, {y}, {z})"), 1)
        }
        _ => text,
    }
}

/// Concatenates the message of an error with those of its causes.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}
