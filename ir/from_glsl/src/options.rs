//! Options of the front end and the bounds of its work.

use crate::extension::Extensions;
use crate::version::Version;

/// Options of a compilation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GlslOptions {
    /// The version of units without `#version`.
    pub default_version: Version,
    /// The extensions that exist: those whose macros are defined and that `#extension` accepts.
    pub extensions: Extensions,
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
            definitions: Vec::new(),
            limits: GlslLimits::default(),
        }
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
