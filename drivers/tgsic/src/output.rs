//! Writes results to standard output, a file, or a tree of files. A file appears whole or not at all.

use std::io::{self, IsTerminal, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::NamedTempFile;
use tgsi_compiler::Companion;

use crate::input::STDIN;
use crate::status::Failure;

/// The file format of the results.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Extension of files below `--out-dir`.
    pub extension: &'static str,
    /// Not for terminals.
    pub binary: bool,
}

/// Writes a file: into a temporary file beside it first, which then takes its name.
pub fn write_file(path: &Path, content: &[u8]) -> Result<(), Failure> {
    write_files(path, content, &[])
}

/// As [`write_file`], with files that belong to it and differ from it in the extension: all appear, or none. Beside
/// what is no plain file (a terminal, `/dev/null`, a pipe) there are none.
pub fn write_files(path: &Path, content: &[u8], companions: &[Companion]) -> Result<(), Failure> {
    let mut files = Vec::new();
    if std::fs::metadata(path).map_or(true, |known| known.is_file()) {
        files.extend(companions.iter().map(|file| (path.with_extension(file.extension), file.text.as_bytes())));
    }
    if let Some((same, _)) = files.iter().find(|(other, _)| other == path) {
        let extension = same.extension().unwrap_or_default().to_string_lossy();
        return Err(Failure::Usage(format!("a file with the extension `{extension}` is written beside the result")));
    }
    files.push((path.to_owned(), content));
    let mut prepared = Vec::with_capacity(files.len());
    for (path, content) in &files {
        prepared.push(prepare(path, content).map_err(|error| Failure::Write { path: path.clone(), error })?);
    }
    for ((path, _), prepared) in files.into_iter().zip(prepared) {
        let Some((file, target)) = prepared else { continue };
        file.persist(target).map_err(|error| Failure::Write { path, error: error.error })?;
    }
    Ok(())
}

/// As [`write_files`], and makes the folders that lead there.
pub fn write_files_below(path: &Path, content: &[u8], companions: &[Companion]) -> Result<(), Failure> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(|error| Failure::Write { path: parent.to_owned(), error })?;
    }
    write_files(path, content, companions)
}

/// Follows dangling links; other paths are returned as they are.
fn through_links(path: &Path) -> io::Result<PathBuf> {
    /// As many as Linux follows.
    const MOST_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(target) = std::fs::read_link(&path) else { return Ok(path) };
        // An absolute target takes the place of the whole.
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::other("too many links"))
}

/// Writes a temporary file beside the one at `path`; it, and whose name it takes. What is no plain file cannot be
/// replaced, and is written to as it is: `None`.
fn prepare(path: &Path, content: &[u8]) -> io::Result<Option<(NamedTempFile, PathBuf)>> {
    let known = std::fs::metadata(path).ok();
    if known.as_ref().is_some_and(|m| !m.is_file()) {
        return std::fs::write(path, content).map(|()| None);
    }
    // A link stays a link: what it leads to is replaced.
    let path = if known.is_some() { path.canonicalize()? } else { through_links(path)? };
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tgsic-");
    // A temporary file is private by default; a result has the permissions that any new file has.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // The temporary file goes with this value if anything fails.
    let mut file = builder.tempfile_in(folder).map_err(without_temporary_name)?;
    file.as_file_mut().write_all(content)?;
    if let Some(known) = known {
        file.as_file().set_permissions(known.permissions())?;
    }
    Ok(Some((file, path)))
}

/// The name of the temporary file means nothing to anybody: the message names the result.
fn without_temporary_name(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.rsplit_once(" at path \"") {
        Some((what, _)) => io::Error::new(error.kind(), what.to_owned()),
        None => error,
    }
}

/// Writes text to standard output. A reader that went away is no error. After any other failure nothing more is
/// written: it is reported once, however many results there are.
pub fn write_stdout(content: &[u8]) -> Result<(), Failure> {
    static ENDED: AtomicBool = AtomicBool::new(false);
    if ENDED.load(Ordering::Relaxed) {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    out.write_all(content).and_then(|()| out.flush()).or_else(|error| {
        ENDED.store(true, Ordering::Relaxed);
        match error.kind() {
            io::ErrorKind::BrokenPipe => Ok(()),
            _ => Err(Failure::Write { path: PathBuf::from("<stdout>"), error }),
        }
    })
}

/// Writes binary data to standard output, unless that is a terminal.
pub fn write_stdout_binary(content: &[u8]) -> Result<(), Failure> {
    if io::stdout().is_terminal() {
        return Err(Failure::Usage(
            "binary data does not go to a terminal: use -o FILE or a pipe (or `translate --assembly`)".into(),
        ));
    }
    write_stdout(content)
}

/// Where the result of `input` goes below `folder`: its path with steps upwards resolved, kept below the folder
/// wherever it leads, with another extension.
pub fn path_below(folder: &Path, input: &Path, extension: &str) -> PathBuf {
    if input == Path::new(STDIN) {
        return folder.join("stdin").with_extension(extension);
    }
    let mut target = PathBuf::with_capacity(folder.as_os_str().len() + input.as_os_str().len() + extension.len() + 2);
    target.push(folder);
    let mut depth = 0usize;
    for component in input.components() {
        match component {
            Component::Normal(name) => {
                target.push(name);
                depth += 1;
            }
            // A step upwards takes the one before back; from the top there is nowhere to go.
            Component::ParentDir if depth > 0 => {
                target.pop();
                depth -= 1;
            }
            Component::ParentDir | Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    if depth > 0 {
        target.set_extension(extension);
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_below_a_folder() {
        for (input, place) in [
            ("a.tgsi", "out/a.tok"),
            ("/x/a.frag.tgsi", "out/x/a.frag.tok"),
            ("../a/./b", "out/a/b.tok"),
            ("a/../../b/../c", "out/c.tok"),
            ("-", "out/stdin.tok"),
        ] {
            assert_eq!(path_below(Path::new("out"), Path::new(input), "tok"), Path::new(place));
        }
    }
}
