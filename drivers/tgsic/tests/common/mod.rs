//! Runs the program, and provides shaders to run it on.
#![allow(dead_code, reason = "each test program uses a part")]

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A fragment shader that doubles its input.
pub const FRAG: &str = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL TEMP[0]\n\
                        ADD TEMP[0], IN[0], IN[0]\nMOV OUT[0], TEMP[0]\nEND\n";
/// A vertex shader that reads an undeclared register in line 5.
pub const WRONG: &str = "VERT\n\nDCL OUT[0], POSITION\n\nMOV OUT[0], TEMP[7]\nEND\n";

/// The output of a run of the program.
pub struct Output {
    pub status: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Output {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("text on standard output")
    }

    /// Returns the output, if the status is 0 and standard error is empty.
    #[track_caller]
    pub fn success(self) -> Output {
        assert_eq!((self.status, self.stderr.as_str()), (0, ""));
        self
    }
}

/// A folder to run the program in.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    pub fn with(files: &[(&str, &str)]) -> Folder {
        let folder = Folder::new();
        for (path, content) in files {
            folder.write(path, content.as_bytes());
        }
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: &[u8]) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, content).expect("written");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Returns the names of the entries of a folder, sorted.
    pub fn list(&self, name: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(name)).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    pub fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tgsic"));
        command.args(arguments).current_dir(self.0.path()).env_remove("TGSIC_LOG").env_remove("RUST_BACKTRACE");
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Output {
        run(self.command(arguments), b"")
    }

    pub fn run_on<S: AsRef<OsStr>>(&self, arguments: &[S], input: &[u8]) -> Output {
        run(self.command(arguments), input)
    }
}

pub fn run(mut command: Command, input: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // The program need not read its whole input.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("written");
    Output {
        status: output.status.code().unwrap_or(-1),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs the program on standard input.
pub fn tgsic<S: AsRef<OsStr>>(arguments: &[S], input: impl AsRef<[u8]>) -> Output {
    Folder::new().run_on(arguments, input.as_ref())
}

/// Returns the path of the repository.
pub fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Returns the demo shaders of the repository.
pub fn demo_shaders() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(repository().join("fixtures/demo")).expect("demo shaders");
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// Returns the folder of real shaders and recorded results.
pub fn shared() -> PathBuf {
    std::env::var_os("TGSIC_SHARED").map_or_else(|| repository().join("../shared"), PathBuf::from)
}

/// Returns all files below a folder with an extension.
pub fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
