//! A running `virgl_test_server`, and the commands of its protocol that compile a shader.

use std::fs::File as OsFile;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tgsi::Shader;
use tgsi::tables::Processor;

/// The answer of the host to a shader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HostAnswer {
    /// It compiles.
    Taken,
    /// The connection was closed; the message in the host's log.
    Refused(String),
}

/// Trivial shaders for the other stages.
const FRAGMENT: &str =
    "FRAG\nDCL OUT[0], COLOR\nIMM[0] FLT32 {0x3f800000, 0x00000000, 0x00000000, 0x3f800000}\nMOV OUT[0], IMM[0]\nEND\n";
const EVALUATION: &str = "TESS_EVAL\nPROPERTY TES_PRIM_MODE 4\nPROPERTY TES_SPACING 2\nPROPERTY TES_VERTEX_ORDER_CW 0\nPROPERTY TES_POINT_MODE 0\n\
DCL OUT[0], POSITION\nIMM[0] FLT32 {0x3f800000, 0x00000000, 0x00000000, 0x3f800000}\nMOV OUT[0], IMM[0]\nEND\n";

/// The time limit for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A host process, terminated on drop.
pub struct Host {
    server: Child,
    folder: PathBuf,
    connection: Option<UnixStream>,
    log_read: usize,
}

impl Host {
    /// Starts a host; none if the program does not exist.
    pub fn start() -> Option<Host> {
        let folder = std::env::temp_dir().join(format!("tgsic-virgl-{}", std::process::id()));
        std::fs::create_dir_all(&folder).ok()?;
        let log = OsFile::create(folder.join("log")).ok()?;
        let socket = folder.join("socket");
        let mut command = Command::new("virgl_test_server");
        command.arg("--use-egl-surfaceless").arg(format!("--socket-path={}", socket.display()));
        command.env_remove("GALLIUM_DRIVER").env_remove("DISPLAY");
        command.env("LIBGL_ALWAYS_SOFTWARE", "1").env("LP_NUM_THREADS", "0").env("MESA_SHADER_CACHE_DISABLE", "true");
        command.stdin(Stdio::null()).stdout(log.try_clone().ok()?).stderr(log);
        let Ok(server) = command.spawn() else {
            let _ = std::fs::remove_dir_all(&folder);
            return None;
        };
        Some(Host { server, folder, connection: None, log_read: 0 })
    }

    /// The host's log since the last query.
    fn news(&mut self) -> String {
        let log = std::fs::read(self.folder.join("log")).unwrap_or_default();
        let new = log.get(self.log_read..).unwrap_or_default();
        self.log_read = log.len();
        let text = String::from_utf8_lossy(new);
        // Programs are printed whole.
        let lines = text.lines().filter(|line| {
            ["error", "failed", "Failed", "rror:", "Illegal", "mmediate", "not "].iter().any(|w| line.contains(w))
        });
        lines.take(12).collect::<Vec<_>>().join(" | ")
    }

    fn connect(&mut self) -> UnixStream {
        let start = Instant::now();
        loop {
            if let Ok(mut stream) = UnixStream::connect(self.folder.join("socket")) {
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                let name = b"tgsic\0";
                let mut hello = words(&[name.len() as u32, 8]);
                hello.extend(name);
                hello.extend(words(&[1, 11, 0]));
                if stream.write_all(&hello).is_ok() && read_words(&mut stream, 3).is_some() {
                    return stream;
                }
            }
            assert!(start.elapsed() < PATIENCE, "the host does not answer: {}", self.news());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Makes the host compile a shader, with a vertex shader that writes its inputs.
    pub fn offer(&mut self, shader: &Shader, text: &str, partner: &str) -> HostAnswer {
        let mut stream = match self.connection.take() {
            Some(stream) => stream,
            None => self.connect(),
        };
        let stage = match shader.processor {
            Processor::Vertex => 0,
            Processor::Fragment => 1,
            Processor::Geometry => 2,
            Processor::TessControl => 3,
            Processor::TessEval => 4,
            _ => 5,
        };
        let mut commands = Vec::new();
        let mut handles = [0u32; 6];
        let mut stages = vec![(stage, text)];
        if stage != 5 {
            for (other, stand_in) in [(0, partner), (1, FRAGMENT)] {
                if other != stage {
                    stages.push((other, stand_in));
                }
            }
        }
        if stage == 3 {
            stages.push((4, EVALUATION));
        }
        for (number, &(stage, text)) in stages.iter().enumerate() {
            let handle = number as u32 + 1;
            handles[stage as usize] = handle;
            create(&mut commands, handle, stage, text);
        }
        if stage == 5 {
            commands.extend([31 | 2 << 16, 1, 5]);
            commands.extend([37 | 8 << 16, 1, 1, 1, 0, 0, 0, 0, 0]);
        } else {
            commands.push(52 | 6 << 16);
            commands.extend(handles);
        }
        for number in 0..stages.len() as u32 {
            commands.extend([3 | 4 << 8 | 1 << 16, number + 1]);
        }
        let mut message = words(&[commands.len() as u32, 6]);
        message.extend(words(&commands));
        message.extend(words(&[2, 7, 0, 0]));
        if stream.write_all(&message).is_ok() && read_words(&mut stream, 3).is_some() {
            self.connection = Some(stream);
            let news = self.news();
            // The host drops shaders that it cannot convert.
            if news.contains("failed to convert") { HostAnswer::Refused(news) } else { HostAnswer::Taken }
        } else {
            HostAnswer::Refused(self.news())
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.connection = None;
        let _ = self.server.kill();
        let _ = self.server.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Appends the command that creates a shader, in parts if it is long.
fn create(commands: &mut Vec<u32>, handle: u32, stage: u32, text: &str) {
    const LONGEST_PART: usize = 60_000;
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    let length = bytes.len() as u32;
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let text: Vec<u32> = bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    for (number, part) in text.chunks(LONGEST_PART).enumerate() {
        let place = if number == 0 { length } else { 1 << 31 | (number * LONGEST_PART * 4) as u32 };
        let shared_memory = if stage == 5 { 32768 } else { 0 };
        commands.push(1 | 4 << 8 | (part.len() as u32 + 5) << 16);
        commands.extend([handle, stage, place, length / 2 + 16, shared_memory]);
        commands.extend(part);
    }
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn read_words(stream: &mut UnixStream, count: usize) -> Option<Vec<u32>> {
    let mut bytes = vec![0; 4 * count];
    stream.read_exact(&mut bytes).ok()?;
    Some(bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect())
}
