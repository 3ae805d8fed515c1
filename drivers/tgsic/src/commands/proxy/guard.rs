//! A process that removes the proxy's socket file if the proxy is killed and cannot do so itself.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::status::Status;

/// The guard of a socket file, which lives until this is dropped.
pub struct Guard(Child);

impl Guard {
    /// Starts the guard. Without a guard, the file of a killed proxy remains until the next proxy replaces it.
    pub fn start(socket: &Path) -> Option<Guard> {
        let started = std::env::current_exe().and_then(|program| {
            let mut command = Command::new(program);
            command.arg("proxy-guard").arg("--").arg(socket);
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            // Signals that the terminal sends to end the proxy must not end the guard.
            command.process_group(0).spawn()
        });
        started.map(Guard).inspect_err(|error| log::warn!("no guard for {}: {error}", socket.display())).ok()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Delays between attempts in milliseconds. The kernel tears a process down in no fixed order, so its socket may still
/// seem to listen.
const LOOKS: [u64; 6] = [0, 5, 20, 100, 500, 2000];

/// Runs the guard. Its standard input ends when the proxy ends for any reason.
pub fn guard(socket: &Path) -> Status {
    let file = || std::fs::symlink_metadata(socket).map(|now| (now.dev(), now.ino())).ok();
    let guarded = file();
    let _ = io::copy(&mut io::stdin(), &mut io::sink());
    for milliseconds in LOOKS {
        std::thread::sleep(Duration::from_millis(milliseconds));
        // After an orderly exit, the file is missing or belongs to another process.
        if guarded.is_none() || file() != guarded || tgsi_virgl::remove_stale(socket).is_ok() {
            break;
        }
    }
    Status::Success
}
