//! `print` and `encode`: convert between text and tokens.

use tgsi::text::{PrintOptions, print as print_shader};

use super::{Converted, Form, transform};
use crate::args::{Color, Files};
use crate::input::ShaderError;
use crate::status::{Failure, Status};

/// Prints shaders as text.
pub fn print(files: &Files, mesa: bool, hex_floats: bool, color: Color) -> Result<Status, Failure> {
    transform(files, Form { extension: "tgsi", binary: false }, color, |source| {
        let (shader, warnings) = source.tgsi()?;
        let text = print_shader(&shader, PrintOptions::default().with_mesa(mesa).with_hex_floats(hex_floats));
        Ok(Converted { warnings, ..Converted::new(text.into_bytes()) })
    })
}

/// Encodes shaders as tokens.
pub fn encode(files: &Files, color: Color) -> Result<Status, Failure> {
    transform(files, Form { extension: "tok", binary: true }, color, |source| {
        let (shader, warnings) = source.tgsi()?;
        let words = tgsi::tokens::encode(&shader).map_err(|e| ShaderError::Coded(e.code(), e.to_string()))?;
        Ok(Converted { warnings, ..Converted::new(tgsi::tokens::bytes_from_words(&words)) })
    })
}
