//! A process beside the proxy that removes the socket's file when the proxy cannot: when it was killed.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::status::Status;

/// The guard of a socket's file, for as long as this lasts.
pub struct Guard(Child);

impl Guard {
    /// Starts the guard. Without one the file stays if the proxy is killed, until the next proxy takes its place.
    pub fn start(socket: &Path) -> Option<Guard> {
        let started = std::env::current_exe().and_then(|program| {
            let mut command = Command::new(program);
            command.arg("proxy-guard").arg("--").arg(socket);
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            // What the terminal sends to end the proxy must not end the guard.
            command.process_group(0).spawn()
        });
        started.map(Guard).inspect_err(|error| log::warn!("{} has no guard: {error}", socket.display())).ok()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Delays between attempts in milliseconds. The kernel ends a process in no certain order, so that its socket may still
/// seem to listen.
const LOOKS: [u64; 6] = [0, 5, 20, 100, 500, 2000];

/// The guard itself: its standard input ends when the proxy does, however that happens.
pub fn guard(socket: &Path) -> Status {
    let file = || std::fs::symlink_metadata(socket).map(|now| (now.dev(), now.ino())).ok();
    let guarded = file();
    let _ = io::copy(&mut io::stdin(), &mut io::sink());
    for milliseconds in LOOKS {
        std::thread::sleep(Duration::from_millis(milliseconds));
        // After an orderly end there is nothing left, or a file of somebody else.
        if guarded.is_none() || file() != guarded || tgsi_virgl::remove_stale(socket).is_ok() {
            break;
        }
    }
    Status::Success
}
