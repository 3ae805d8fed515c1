//! Mesa's linkers of OpenGL and OpenGL ES, called by a C program on EGL without a window system.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The linkers.
pub struct Linkers {
    program: PathBuf,
    folder: tempfile::TempDir,
}

/// The API that links a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Api {
    /// OpenGL 4.5, texts.
    Gl,
    /// OpenGL ES 3.2, texts.
    Es,
    /// OpenGL 4.5, modules of SPIR-V.
    Spirv,
}

/// A program: the code of its stages, with glslang's short names of the stages.
pub struct Program {
    pub api: Api,
    pub shaders: Vec<(&'static str, Vec<u8>)>,
}

/// The Debian packages required.
const PACKAGES: &str = "apt-get install gcc libc6-dev libegl-dev libgl-dev libegl1 libegl-mesa0 libgl1 libgl1-mesa-dri";

impl Linkers {
    /// Compiles the C program, and tries it.
    ///
    /// # Errors
    /// A missing component.
    pub fn new() -> Result<Linkers, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let program = folder.path().join("gl_link");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/linkers/gl_link.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-O1", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program).arg(&source);
        let output = compiler.args(["-lEGL", "-lGL"]).output();
        let output = output.map_err(|error| format!("no C compiler: {error} ({PACKAGES})"))?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            let lacks = ["EGL/egl.h", "GL/gl.h", "-lEGL", "-lGL"].into_iter().any(|part| message.contains(part));
            assert!(lacks, "{message}");
            return Err(format!("no EGL and OpenGL to build with ({PACKAGES})"));
        }
        let linkers = Linkers { program, folder };
        linkers.run("").map_err(|error| format!("no Mesa without a window system: {error} ({PACKAGES})"))?;
        Ok(linkers)
    }

    fn run(&self, lines: &str) -> Result<String, String> {
        let mut child = Command::new(&self.program)
            .env("LIBGL_ALWAYS_SOFTWARE", "true")
            .env("GALLIUM_DRIVER", "llvmpipe")
            .env("MESA_SHADER_CACHE_DISABLE", "true")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut input = child.stdin.take().expect("a pipe");
        let lines = lines.to_owned();
        // If the program ends early, writing fails; its exit status is checked instead.
        let writer = std::thread::spawn(move || drop(input.write_all(lines.as_bytes())));
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        drop(writer.join());
        match output.status.code() {
            Some(2) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            _ => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        }
    }

    /// Links programs. Returns the messages for those that do not link, by number.
    pub fn link(&self, programs: &[Program]) -> BTreeMap<usize, String> {
        // Tests run in parallel.
        let folder = tempfile::tempdir_in(self.folder.path()).expect("a folder");
        let mut lines = Vec::new();
        for (number, program) in programs.iter().enumerate() {
            let api = match program.api {
                Api::Gl => "gl",
                Api::Es => "es",
                Api::Spirv => "spirv",
            };
            let mut line = format!("{number}\t{api}");
            for (stage, code) in &program.shaders {
                let file = folder.path().join(format!("{number}.{stage}"));
                std::fs::write(&file, code).expect("a file");
                let _ = write!(line, "\t{stage}\t{}", file.display());
            }
            lines.push(line + "\n");
        }
        let mut said = BTreeMap::new();
        let mut next = 0;
        while next < lines.len() {
            let output = self.run(&lines[next..].concat()).expect("a run");
            let mut done = 0;
            for line in output.lines() {
                let Some((number, message)) = line.split_once('\t') else { continue };
                let Ok(number) = number.parse() else { continue };
                if message.is_empty() {
                    continue;
                }
                done += 1;
                if message != "linked" {
                    said.insert(number, message.to_owned());
                }
            }
            next += done;
            if next < lines.len() {
                said.insert(next, "Mesa crashed".to_owned());
                next += 1;
            }
        }
        said
    }
}
