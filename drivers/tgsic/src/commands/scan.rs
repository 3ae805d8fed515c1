//! `scan`: prints the summary of a shader that drivers use.

use serde_json::{Map, Value};
use tgsi_compiler::front_end::{Interface, Reading, TGSI_TEXT, TGSI_TOKENS};
use tgsi_diagnostics::Diagnostic;

use super::{FileFormat, ShaderOutput, transform};
use crate::args::{Color, Files};
use crate::input::{ShaderError, Source};
use crate::status::{Failure, Status};

/// Prints the summary of shaders.
pub fn scan(files: &Files, json: bool, color: Color) -> Result<Status, Failure> {
    let form = FileFormat { extension: if json { "json" } else { "txt" }, binary: false };
    transform(files, form, color, |source| {
        if !source.is_in(&TGSI_TEXT) && !source.is_in(&TGSI_TOKENS) {
            return names(source, json);
        }
        let (shader, warnings) = source.tgsi()?;
        let scan = tgsi::scan::scan(&shader);
        let mut value = serde_json::to_value(&scan).map_err(|e| ShaderError::Other(e.to_string()))?;
        if let (true, Value::Object(fields)) = (source.is_in(&TGSI_TEXT), &mut value) {
            let origin = serde_json::to_value(tgsi::text::origin(&source.bytes));
            fields.insert("origin".into(), origin.map_err(|e| ShaderError::Other(e.to_string()))?);
        }
        let text = if json {
            let mut object = Map::new();
            object.insert("f".into(), Value::String(source.name()));
            if let Value::Object(fields) = value {
                object.extend(fields);
            }
            Value::Object(object).to_string() + "\n"
        } else {
            readable(&value)
        };
        Ok(ShaderOutput { warnings, ..ShaderOutput::new(text.into_bytes()) })
    })
}

/// The interface by name of a shader in a language with names.
fn names(source: &Source, json: bool) -> Result<ShaderOutput, ShaderError> {
    let Reading { source: shader, findings, interface, .. } = source.parse(None);
    if shader.is_none() || findings.iter().any(Diagnostic::is_error) {
        return Err(ShaderError::Findings(findings));
    }
    if interface == Interface::default() {
        // The error of IR.
        source.tgsi()?;
    }
    let text = match json {
        true => {
            let value = serde_json::to_value(&interface).map_err(|e| ShaderError::Other(e.to_string()))?;
            let mut object = Map::new();
            object.insert("f".into(), Value::String(source.name()));
            if let Value::Object(fields) = value {
                object.extend(fields);
            }
            Value::Object(object).to_string() + "\n"
        }
        false => interface.to_text(),
    };
    Ok(ShaderOutput { warnings: findings, ..ShaderOutput::new(text.into_bytes()) })
}

/// Formats each informative field in one line. Leaves out zeros, empty lists, false, and the tail of a list that only
/// repeats its last element.
fn readable(value: &Value) -> String {
    let Value::Object(fields) = value else { return String::new() };
    fields
        .iter()
        .filter(|(_, value)| says_something(value))
        .map(|(name, value)| format!("{name}: {}\n", brief(value)))
        .collect()
}

fn brief(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => {
            let used = values.iter().rposition(|v| Some(v) != values.last()).map_or(1, |p| p + 2);
            let shown: Vec<String> = values.iter().take(used).map(brief).collect();
            let rest = if used < values.len() { ", ..." } else { "" };
            format!("{}{rest}", shown.join(", "))
        }
        Value::Object(fields) => {
            let shown: Vec<String> = fields
                .iter()
                .filter(|(_, v)| says_something(v) && v.as_i64() != Some(-1))
                .map(|(k, v)| format!("{k} {}", brief(v)))
                .collect();
            shown.join(", ")
        }
        other => other.to_string(),
    }
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_i64() != Some(0),
        Value::String(text) => !text.is_empty(),
        Value::Array(values) => values.iter().any(|v| says_something(v) && v.as_i64() != Some(-1)),
        Value::Object(fields) => fields.values().any(says_something),
    }
}
