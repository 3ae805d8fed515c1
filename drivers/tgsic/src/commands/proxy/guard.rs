//! A process beside the proxy that removes the socket's file when the proxy cannot: when it was killed.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::commands::Status;

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

/// The guard itself: its standard input ends when the proxy does, however that happens.
pub fn guard(socket: &Path) -> Status {
    let _ = io::copy(&mut io::stdin(), &mut io::sink());
    // After an orderly end there is nothing left, or somebody else listens.
    let _ = tgsi_driver_virgl::remove_stale(socket);
    Status::Well
}
