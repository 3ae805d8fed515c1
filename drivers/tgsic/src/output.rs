//! Writes results to standard output, a file, or a tree of files. Files are written atomically.

use std::io::{self, IsTerminal, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::NamedTempFile;
use tgsi_compiler::AuxiliaryFile;

use crate::input::STDIN;
use crate::status::Failure;

/// The file format of the results.
#[derive(Clone, Copy, Debug)]
pub struct FileFormat {
    /// Extension of files below `--out-dir`.
    pub extension: &'static str,
    /// Whether results must not be written to terminals.
    pub binary: bool,
}

/// Writes a file atomically: first into a temporary file in the same folder, which is then renamed.
pub fn write_file(path: &Path, content: &[u8]) -> Result<(), Failure> {
    write_files(path, content, &[])
}

/// Like [`write_file`], with auxiliary files that differ from the file in the extension: all are written, or none. If
/// `path` is not a regular file (a terminal, `/dev/null`, a pipe), auxiliary files are not written.
pub fn write_files(path: &Path, content: &[u8], auxiliary_files: &[AuxiliaryFile]) -> Result<(), Failure> {
    let mut files = Vec::new();
    if std::fs::metadata(path).map_or(true, |known| known.is_file()) {
        files.extend(auxiliary_files.iter().map(|file| (path.with_extension(file.extension), file.text.as_bytes())));
    }
    if let Some((same, _)) = files.iter().find(|(other, _)| other == path) {
        let extension = same.extension().unwrap_or_default().to_string_lossy();
        return Err(Failure::Usage(format!("an accompanying file has the extension `{extension}`")));
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

/// Like [`write_files`], but creates missing folders.
pub fn write_files_below(path: &Path, content: &[u8], auxiliary_files: &[AuxiliaryFile]) -> Result<(), Failure> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(|error| Failure::Write { path: parent.to_owned(), error })?;
    }
    write_files(path, content, auxiliary_files)
}

/// Follows dangling links; returns other paths unchanged.
fn through_links(path: &Path) -> io::Result<PathBuf> {
    /// The limit of Linux.
    const MAX_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(target) = std::fs::read_link(&path) else { return Ok(path) };
        // An absolute target replaces the whole path.
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::other("too many links"))
}

/// Writes a temporary file in the folder of `path`; returns it with the path to rename it to. If `path` is not a
/// regular file, writes to it directly and returns `None`.
fn prepare(path: &Path, content: &[u8]) -> io::Result<Option<(NamedTempFile, PathBuf)>> {
    let known = std::fs::metadata(path).ok();
    if known.as_ref().is_some_and(|m| !m.is_file()) {
        return std::fs::write(path, content).map(|()| None);
    }
    // Replaces the target of a link, not the link.
    let path = if known.is_some() { path.canonicalize()? } else { through_links(path)? };
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tgsic-");
    // A temporary file is private by default; a result must have the permissions of any new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // If anything fails, dropping this value removes the temporary file.
    let mut file = builder.tempfile_in(folder).map_err(without_temporary_name)?;
    file.as_file_mut().write_all(content)?;
    if let Some(known) = known {
        file.as_file().set_permissions(known.permissions())?;
    }
    Ok(Some((file, path)))
}

/// Removes the name of the temporary file from an error: the message names the result instead.
fn without_temporary_name(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.rsplit_once(" at path \"") {
        Some((what, _)) => io::Error::new(error.kind(), what.to_owned()),
        None => error,
    }
}

/// Writes text to standard output. A closed pipe is not an error. Other failures are reported only once: after one,
/// nothing more is written.
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
            "binary data is not written to a terminal: use -o FILE or a pipe (or `translate --assembly`)".into(),
        ));
    }
    write_stdout(content)
}

/// Returns the output path for `input` below `folder`: its path with `..` resolved, never outside the folder, and with
/// another extension.
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
            // `..` removes the component before it; at the top it is ignored.
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
