//! The reasons why a script is not played.

use std::fmt;

use thiserror::Error;

/// The kind of a reason.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum RefusalKind {
    /// The script is malformed.
    Syntax,
    /// A command, or a form of it, that this crate lacks.
    Command,
    /// The source of a shader does not become a module: a program is missing, or reports errors.
    Source,
    /// The front end or the driver refuses a shader.
    Shader,
    /// The executor cannot run a shader.
    Run,
}

impl fmt::Display for RefusalKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RefusalKind::Syntax => "syntax",
            RefusalKind::Command => "command",
            RefusalKind::Source => "source",
            RefusalKind::Shader => "shader",
            RefusalKind::Run => "run",
        })
    }
}

/// The reason why a script is not played, or not to its end.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line}: {kind}: {reason}{}", if detail.is_empty() { String::new() } else { format!(" ({detail})") })]
pub struct Refusal {
    /// The line in the script, from 1.
    pub line: usize,
    /// Its kind.
    pub kind: RefusalKind,
    /// A few words that are equal for equal reasons: a command, a code.
    pub reason: String,
    /// Details beside the reason; may be empty.
    pub detail: String,
}

impl Refusal {
    /// A malformed line.
    pub fn syntax(line: usize, reason: impl Into<String>) -> Refusal {
        Refusal { line, kind: RefusalKind::Syntax, reason: reason.into(), detail: String::new() }
    }

    /// A command that is missing.
    pub fn command(line: usize, reason: impl Into<String>) -> Refusal {
        Refusal { line, kind: RefusalKind::Command, reason: reason.into(), detail: String::new() }
    }

    /// Another reason.
    pub fn new(line: usize, kind: RefusalKind, reason: impl Into<String>, detail: impl Into<String>) -> Refusal {
        Refusal { line, kind, reason: reason.into(), detail: detail.into() }
    }
}
