//! Options of the front end and the bounds of its work.

use crate::builtins::variables;
use crate::extension::Extensions;
use crate::version::Version;

/// Options of a compilation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GlslOptions {
    /// The version of units without `#version`.
    pub default_version: Version,
    /// The extensions that exist: `#extension` accepts them, and their macros are defined.
    pub extensions: Extensions,
    /// The highest version of desktop GLSL that `#version` may name, if the target has a bound.
    pub max_version: Option<u16>,
    /// The same for GLSL ES.
    pub max_es_version: Option<u16>,
    /// Values of constants of the language, such as `gl_MaxLights`, instead of the smallest ones that the specification
    /// allows. Of several values of a constant, the last one counts.
    pub constants: ConstantValues,
    /// Whether the stages are a separable program, which redeclares `gl_PerVertex` if it uses its members.
    pub is_separable: bool,
    /// Whether each stage is a separate program of a pipeline. Programs of GLSL ES match exactly. Those of desktop
    /// versions may read inputs that the program before does not write; such programs have slots in the order of their
    /// declarations.
    pub has_separate_programs: bool,
    /// Macros defined before the first line, with their texts.
    pub definitions: Vec<(String, String)>,
    /// The bounds.
    pub limits: GlslLimits,
}

impl Default for GlslOptions {
    fn default() -> GlslOptions {
        GlslOptions {
            default_version: Version::DEFAULT,
            extensions: Extensions::ALL,
            max_version: None,
            max_es_version: None,
            constants: ConstantValues::default(),
            is_separable: false,
            has_separate_programs: false,
            definitions: Vec::new(),
            limits: GlslLimits::default(),
        }
    }
}

/// Values of constants of the language that an implementation chooses: names that begin with `gl_Max` or `gl_Min`.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ConstantValues(Vec<(&'static str, i32)>);

impl ConstantValues {
    /// The largest value.
    const MAX: i32 = 1 << 16;

    /// The largest length of an array of the language.
    const MAX_LENGTH: i32 = 8;

    /// Sets the value of a constant.
    ///
    /// # Errors
    /// A message if there is no such constant with a single value, or if the value is out of range.
    pub fn set(&mut self, name: &str, value: i32) -> Result<(), String> {
        let Some((name, is_length)) = variables::implementation_constant(name) else {
            let similar = tgsi_diagnostics::suggest(name, variables::implementation_constants());
            let hint = similar.map(|similar| format!(", did you mean `{similar}`?")).unwrap_or_default();
            return Err(format!("the language has no constant `{name}`{hint}"));
        };
        let range = match name {
            _ if is_length => 1..=Self::MAX_LENGTH,
            _ if name.starts_with("gl_Min") => -Self::MAX..=0,
            _ => 0..=Self::MAX,
        };
        if !range.contains(&value) {
            return Err(format!("`{name}` is from {} to {}", range.start(), range.end()));
        }
        self.0.push((name, value));
        Ok(())
    }

    /// The value of a constant, if one was set.
    pub fn get(&self, name: &str) -> Option<i32> {
        self.0.iter().rev().find(|(known, _)| *known == name).map(|&(_, value)| value)
    }
}

/// Bounds on the work for one unit. Exceeding one is an error with a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct GlslLimits {
    /// Bytes of the text.
    pub text_bytes: u64,
    /// Tokens of the text, tokens of all expansions of macros, and characters of tokens that `##` joins. Macros that use
    /// others twice double them with each level.
    pub tokens: u64,
    /// Nested parentheses, blocks, structs and conditional groups.
    pub nesting: u32,
    /// Registers of four components of one variable.
    pub registers: u32,
}

impl Default for GlslLimits {
    fn default() -> GlslLimits {
        GlslLimits { text_bytes: 1 << 26, tokens: 1 << 23, nesting: 256, registers: 1 << 16 }
    }
}
