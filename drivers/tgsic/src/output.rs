//! Where results go: standard output, a file, a tree of files. A file appears whole or not at all.

use std::io::{self, IsTerminal, Write};
use std::path::{Component, Path, PathBuf};

use crate::commands::Failure;

/// Writes a file: into a temporary file beside it first, which then takes its name.
pub fn write_file(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let failure = |error: io::Error| Failure::Write { path: path.to_owned(), error };
    // What is no plain file (a terminal, /dev/null, a pipe) cannot be replaced and is written to as it is.
    if path.exists() && !path.is_file() {
        return std::fs::write(path, content).map_err(failure);
    }
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new().prefix(".tgsic-").tempfile_in(folder).map_err(failure)?;
    file.write_all(content).map_err(failure)?;
    set_plain_permissions(file.path()).map_err(failure)?;
    file.persist(path).map_err(|e| failure(e.error))?;
    Ok(())
}

/// A temporary file is private; a result is not.
#[cfg(unix)]
fn set_plain_permissions(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn set_plain_permissions(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Writes text to standard output. A reader that went away is no error.
pub fn write_stdout(content: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(content).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Write { path: PathBuf::from("<stdout>"), error })
        }
        _ => Ok(()),
    }
}

/// Writes binary data to standard output, unless that is a terminal.
pub fn write_stdout_binary(content: &[u8]) -> Result<(), Failure> {
    if io::stdout().is_terminal() {
        return Err(Failure::Usage("tokens are binary and do not go to a terminal: use -o FILE or a pipe".into()));
    }
    write_stdout(content)
}

/// Where the result of `input` goes below `folder`: the path without root and parent steps, with another extension.
pub fn path_below(folder: &Path, input: &Path, extension: &str) -> PathBuf {
    let relative: PathBuf =
        input.components().filter(|c| matches!(c, Component::Normal(_))).map(|c| c.as_os_str()).collect();
    let relative = if relative.as_os_str().is_empty() { PathBuf::from("stdin") } else { relative };
    folder.join(relative.with_extension(extension))
}
