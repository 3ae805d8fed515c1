//! The exit status, and the errors that end the program.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// An error that is not about the content of a shader. It ends the program, or the work on one file.
#[derive(Debug, Error)]
pub enum Failure {
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// The arguments contradict each other.
    #[error("{0}")]
    Usage(String),
    /// The proxy cannot start or continue.
    #[error(transparent)]
    Proxy(#[from] tgsi_virgl::ProxyError),
    /// A file of recorded results is malformed.
    #[error("{}:{line}: {problem}", path.display())]
    Vectors {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The error.
        problem: String,
    },
    /// The file of a run to compare is malformed.
    #[error("{}:{line}:{column}: {problem} ({hint})", path.display())]
    Run {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The error.
        problem: String,
        /// A remedy.
        hint: &'static str,
    },
    /// The file of sets of definitions is malformed.
    #[error("{}:{line}:{column}: {problem} ({hint})", path.display())]
    Variants {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The error.
        problem: String,
        /// A remedy.
        hint: &'static str,
    },
}

impl Failure {
    tgsi_diagnostics::error_codes! {
        Read => "T0810" "cannot-read",
        Write => "T0811" "cannot-write",
        Usage => "T0812" "usage",
        Proxy => "T0813" "proxy",
        Vectors => "T0814" "recorded-results",
        Run => "T0815" "malformed-run",
        Variants => "T0816" "malformed-variants",
    }

    /// Returns the file concerned.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Failure::Read { path, .. }
            | Failure::Write { path, .. }
            | Failure::Vectors { path, .. }
            | Failure::Run { path, .. }
            | Failure::Variants { path, .. } => Some(path),
            Failure::Usage(_) | Failure::Proxy(_) => None,
        }
    }
}

/// The exit status. With several inputs, the greatest one is used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Status {
    /// No errors.
    Success = 0,
    /// A shader has an error, or a comparison failed.
    ShaderError = 1,
    /// The arguments are wrong, or a file cannot be read or written.
    UsageError = 2,
}
