//! Texts that are the shaders of several stages, as RetroArch has them: a macro selects one.

use std::borrow::Cow;

use tgsi_ir::shader::ShaderStage;

use crate::options::GlslOptions;

/// The macros by which a text is the shader of a stage, as RetroArch defines them.
const STAGE_MACROS: &[(&str, ShaderStage)] = &[("VERTEX", ShaderStage::Vertex), ("FRAGMENT", ShaderStage::Fragment)];

/// The stages of a text that has conditions with each of the macros; none for other texts.
pub(crate) fn stages(text: &[u8]) -> Vec<ShaderStage> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_start);
    let conditions = lines.filter(|line| line.starts_with(b"#if") || line.starts_with(b"#el"));
    let mut found = [false; STAGE_MACROS.len()];
    for word in conditions.flat_map(|line| line.split(|byte| !is_word(byte))) {
        for (found, (name, _)) in found.iter_mut().zip(STAGE_MACROS) {
            *found |= word == name.as_bytes();
        }
    }
    match found == [true; STAGE_MACROS.len()] {
        true => STAGE_MACROS.iter().map(|&(_, stage)| stage).collect(),
        false => Vec::new(),
    }
}

/// The stage whose macro the options define.
pub(crate) fn defined_stage(options: &GlslOptions) -> Option<ShaderStage> {
    let is_defined = |name: &str| options.definitions.iter().any(|(known, _)| known == name);
    STAGE_MACROS.iter().find(|(name, _)| is_defined(name)).map(|&(_, stage)| stage)
}

/// The options with the macro of a stage, if the text has conditions with the macros and the options define none of
/// them.
pub(crate) fn with_stage_macro<'a>(text: &[u8], stage: ShaderStage, options: &'a GlslOptions) -> Cow<'a, GlslOptions> {
    if defined_stage(options).is_some() || stages(text).is_empty() {
        return Cow::Borrowed(options);
    }
    let names = STAGE_MACROS.iter().filter(|&&(_, other)| other == stage);
    let mut options = options.clone();
    options.definitions.extend(names.map(|&(name, _)| (name.to_owned(), "1".to_owned())));
    Cow::Owned(options)
}
