//! `print` and `encode`: convert between text and tokens.

use tgsi::text::{PrintOptions, print as print_shader};

use super::{FileFormat, ShaderOutput, transform};
use crate::args::{Color, Files};
use crate::input::ShaderError;
use crate::status::{Failure, Status};

/// Prints shaders as text.
pub fn print(files: &Files, mesa: bool, hex_floats: bool, color: Color) -> Result<Status, Failure> {
    transform(files, FileFormat { extension: "tgsi", binary: false }, color, |source| {
        let (shader, warnings) = source.tgsi()?;
        let text = print_shader(&shader, PrintOptions::default().with_mesa(mesa).with_hex_floats(hex_floats));
        Ok(ShaderOutput { warnings, ..ShaderOutput::new(text.into_bytes()) })
    })
}

/// Encodes shaders as tokens.
pub fn encode(files: &Files, color: Color) -> Result<Status, Failure> {
    transform(files, FileFormat { extension: "tok", binary: true }, color, |source| {
        let (shader, warnings) = source.tgsi()?;
        let words = tgsi::tokens::encode(&shader).map_err(|e| ShaderError::Coded(e.code(), e.to_string()))?;
        Ok(ShaderOutput { warnings, ..ShaderOutput::new(tgsi::tokens::bytes_from_words(&words)) })
    })
}
