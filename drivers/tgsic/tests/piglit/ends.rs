//! The two ends of the wire, and the proxy between them: processes on private sockets in a temporary folder.
//!
//! The client library has the path of its socket built in, `/tmp/.virgl_test`. So every client gets its own mount
//! namespace with a folder of the test as `/tmp`. All processes have a mark in their environment, so that leftover
//! processes are found; all are killed when the ends are dropped.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Set by signals that end a run.
static STOP: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// From now on, signals to end let the ends be dropped, with all processes; a second one ends the program at once.
pub fn catch_signals() {
    for number in [SIGINT, SIGTERM, SIGHUP] {
        let _ = signal_hook::flag::register_conditional_shutdown(number, 128 + number, Arc::clone(&STOP));
        let _ = signal_hook::flag::register(number, Arc::clone(&STOP));
    }
}

/// Returns an error after a signal to end.
pub fn go_on() -> Result<(), String> {
    if STOP.load(Ordering::Relaxed) { Err("ended by a signal".to_owned()) } else { Ok(()) }
}

/// Timeout on a busy machine for operations that usually complete at once.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// The variable that marks the processes; its value is the temporary folder.
const MARK: &str = "TGSIC_PIGLIT";
const HOST: &str = "virgl_test_server";

/// The locations of piglit and the host.
pub struct Installed {
    /// piglit's folder, with `bin/` and `tests/`.
    pub piglit: PathBuf,
    unshare: &'static [&'static str],
}

impl Installed {
    /// Searches for all requirements; returns an error that names a missing one.
    pub fn find() -> Result<Installed, String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        for (program, package) in [(HOST, "virgl-server"), ("cc", "gcc")] {
            if !std::env::split_paths(&path).any(|folder| folder.join(program).is_file()) {
                return Err(format!("there is no {program} (Debian: {package})"));
            }
        }
        for (header, package) in [("EGL/egl.h", "libegl-dev"), ("GL/gl.h", "libgl-dev")] {
            if !Path::new("/usr/include").join(header).is_file() {
                return Err(format!("there is no {header} (Debian: {package})"));
            }
        }
        let named = std::env::var_os("PIGLIT_SOURCE_DIR").map(PathBuf::from);
        let libraries = fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
        let piglit = named
            .into_iter()
            .chain(libraries.map(|library| library.join("piglit")))
            .find(|folder| folder.join("bin/shader_runner").is_file())
            .ok_or(
                "there is no shader_runner in piglit/bin below /usr/lib/* (Debian: piglit; see PIGLIT_SOURCE_DIR)",
            )?;
        let ways: [&[&str]; 2] = [&["-m"], &["-m", "-r"]];
        let unshare = ways
            .into_iter()
            .find(|way| {
                let mut command = Command::new("unshare");
                command.args(*way).args(["mount", "--bind", "/", "/tmp"]).stderr(Stdio::null());
                command.status().is_ok_and(|status| status.success())
            })
            .ok_or("no mount namespaces: `unshare -m mount --bind` fails")?;
        Ok(Installed { piglit, unshare })
    }
}

/// A host, optionally behind a proxy, and the socket for clients.
pub struct Ends<'i> {
    installed: &'i Installed,
    folder: tempfile::TempDir,
    host: Child,
    proxy: Option<Child>,
}

impl<'i> Ends<'i> {
    /// Starts only a host.
    pub fn straight(installed: &'i Installed) -> Result<Ends<'i>, String> {
        Ends::start(installed, false, &[])
    }

    /// Starts a host behind a proxy.
    pub fn proxied(installed: &'i Installed) -> Result<Ends<'i>, String> {
        let mut ends = Ends::start(installed, true, &[])?;
        ends.start_proxy()?;
        Ok(ends)
    }

    /// Starts only a host, with a preloaded library and its variables.
    #[allow(dead_code, reason = "for the tests of that library")]
    pub fn preloaded(
        installed: &'i Installed,
        library: &Path,
        variables: &[(&str, &Path)],
    ) -> Result<Ends<'i>, String> {
        let variables: Vec<(&str, &Path)> = variables.iter().copied().chain([("LD_PRELOAD", library)]).collect();
        Ends::start(installed, false, &variables)
    }

    fn start(installed: &'i Installed, proxied: bool, variables: &[(&str, &Path)]) -> Result<Ends<'i>, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
        fs::create_dir(folder.path().join("tmp")).map_err(|error| format!("no folder for clients: {error}"))?;
        let socket = folder.path().join(if proxied { "host" } else { "tmp/.virgl_test" });
        let host = start_host(folder.path(), &socket, variables)?;
        Ok(Ends { installed, folder, host, proxy: None })
    }

    /// Returns the socket that clients connect to.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("tmp/.virgl_test")
    }

    /// Returns the folder for shaders recorded by the proxy.
    pub fn record(&self) -> PathBuf {
        self.folder.path().join("shaders")
    }

    /// Returns the last output of the host (or the proxy).
    pub fn log(&self, name: &str) -> String {
        let bytes = fs::read(self.folder.path().join(name)).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(10)..].join("\n")
    }

    /// Starts a proxy if there is no running one.
    pub fn start_proxy(&mut self) -> Result<(), String> {
        let folder = self.folder.path();
        let program = option_env!("CARGO_BIN_EXE_tgsic").ok_or("tests of another package have no proxy")?;
        let mut command = marked(program, folder);
        command.arg("proxy").arg("--listen").arg(self.socket()).arg("--connect").arg(folder.join("host"));
        command.arg("--record").arg(self.record()).arg(format!("--stats={}", folder.join("stats.json").display()));
        let mut proxy = spawn(&mut command, &folder.join("proxy.log"))?;
        let listening = wait_for(|| self.socket().exists());
        if !listening || !alive(&mut proxy) {
            kill_all(&mut proxy);
            return Err(format!("the proxy does not listen: {}", self.log("proxy.log")));
        }
        self.proxy = Some(proxy);
        Ok(())
    }

    /// Starts a host again on the same socket, after it was killed.
    pub fn restart_host(&mut self) -> Result<(), String> {
        self.host = start_host(self.folder.path(), &self.folder.path().join("host"), &[])?;
        Ok(())
    }

    /// Returns the command that runs a client in its namespace.
    pub fn client(&self, program: &Path) -> Command {
        let mut command = marked("unshare", self.folder.path());
        command.args(self.installed.unshare).args(["sh", "-c", "ulimit -c 0; mount --bind \"$0\" /tmp && exec \"$@\""]);
        command.arg(self.folder.path().join("tmp")).arg(program).current_dir("/").stdin(Stdio::null());
        command.env("GALLIUM_DRIVER", "virpipe").env("PIGLIT_PLATFORM", "surfaceless_egl");
        command.env("PIGLIT_SOURCE_DIR", &self.installed.piglit).env_remove("DISPLAY").process_group(0);
        command
    }

    /// Returns whether all processes are still running.
    pub fn running(&mut self) -> bool {
        alive(&mut self.host) && self.proxy.as_mut().is_none_or(alive)
    }

    /// Returns the host's process.
    pub fn host_id(&self) -> u32 {
        self.host.id()
    }

    /// Returns the proxy's process.
    pub fn proxy_id(&self) -> Option<u32> {
        self.proxy.as_ref().map(Child::id)
    }

    /// Reaps the host after it was killed.
    pub fn reap_host(&mut self) {
        let _ = self.host.wait();
    }

    /// Reaps the proxy after it was killed.
    pub fn reap_proxy(&mut self) {
        if let Some(mut proxy) = self.proxy.take() {
            let _ = proxy.wait();
        }
    }

    /// Ends the proxy with a signal and returns its totals.
    pub fn end_proxy(&mut self) -> Result<Value, String> {
        let mut proxy = self.proxy.take().ok_or("there is no proxy")?;
        signal(proxy.id(), Signal::TERM);
        let Some(status) = wait(&mut proxy, PATIENCE) else {
            kill_all(&mut proxy);
            return Err(format!("the proxy does not end: {}", self.log("proxy.log")));
        };
        if !status.success() {
            return Err(format!("the proxy ended with {status}: {}", self.log("proxy.log")));
        }
        if self.socket().exists() {
            return Err("the proxy left its socket's file".to_owned());
        }
        let text = fs::read(self.folder.path().join("stats.json")).map_err(|error| format!("no totals: {error}"))?;
        serde_json::from_slice(&text).map_err(|error| format!("totals: {error}"))
    }

    /// Ends the host and returns the processes that are still running.
    pub fn end_host(&mut self) -> Vec<String> {
        // Only the host itself may remain: its children must have ended with their clients.
        let _ = self.host.kill();
        let _ = self.host.wait();
        let mut left = Vec::new();
        wait_for(|| {
            left = marked_processes(self.folder.path());
            left.is_empty()
        });
        left.iter().map(|&id| format!("{id} ({})", command_line(id))).collect()
    }
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        if let Some(proxy) = &mut self.proxy {
            kill_all(proxy);
        }
        kill_all(&mut self.host);
        for id in marked_processes(self.folder.path()) {
            signal(id, Signal::KILL);
        }
    }
}

/// Returns a command with the mark in its environment.
fn marked(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.env(MARK, folder).env("LIBGL_ALWAYS_SOFTWARE", "1").env("LP_NUM_THREADS", "0");
    command.env("MESA_SHADER_CACHE_DISABLE", "true").env_remove("GALLIUM_DRIVER").env_remove("TGSIC_LOG");
    command
}

fn start_host(folder: &Path, socket: &Path, variables: &[(&str, &Path)]) -> Result<Child, String> {
    let mut command = marked(HOST, folder);
    command.envs(variables.iter().copied());
    command.arg("--use-egl-surfaceless").arg(format!("--socket-path={}", socket.display()));
    // The file of a killed host remains and would be mistaken for the new one's.
    let _ = fs::remove_file(socket);
    let mut host = spawn(&mut command, &folder.join("host.log"))?;
    // The host starts to listen shortly after the file appears.
    if wait_for(|| socket.exists()) && alive(&mut host) {
        sleep(Duration::from_millis(50));
        return Ok(host);
    }
    kill_all(&mut host);
    Err(format!("the host does not listen: {}", fs::read_to_string(folder.join("host.log")).unwrap_or_default()))
}

fn spawn(command: &mut Command, log: &Path) -> Result<Child, String> {
    let log = File::options().create(true).append(true).open(log).and_then(|log| Ok((log.try_clone()?, log)));
    let (stdout, stderr) = log.map_err(|error| format!("no log: {error}"))?;
    command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).process_group(0);
    command.spawn().map_err(|error| format!("{}: {error}", command.get_program().display()))
}

/// Waits until a condition holds, up to a timeout.
pub fn wait_for(mut holds: impl FnMut() -> bool) -> bool {
    let started = Instant::now();
    loop {
        if holds() {
            return true;
        }
        if started.elapsed() > PATIENCE {
            return false;
        }
        sleep(Duration::from_millis(2));
    }
}

/// Returns the status of a process that ends before a timeout.
pub fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let started = Instant::now();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if started.elapsed() > limit {
            return None;
        }
        sleep(Duration::from_millis(2));
    }
}

fn alive(child: &mut Child) -> bool {
    matches!(child.try_wait(), Ok(None))
}

fn pid(id: u32) -> Option<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw)
}

/// Sends a signal to a process.
pub fn signal(id: u32, signal: Signal) {
    if let Some(pid) = pid(id) {
        let _ = kill_process(pid, signal);
    }
}

/// Kills a child and all of its process group.
pub fn kill_all(child: &mut Child) {
    if let Some(pid) = pid(child.id()) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Returns the processes with the mark of a folder. Zombies have no environment and are excluded.
fn marked_processes(folder: &Path) -> Vec<u32> {
    let mark = format!("{MARK}={}", folder.display());
    let carries = |id: &u32| {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|variable| variable == mark.as_bytes())
    };
    processes().filter(carries).collect()
}

fn command_line(id: u32) -> String {
    let bytes = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

/// Returns the children of a process that are running.
pub fn children(id: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    let running = |child: &u32| fs::read(format!("/proc/{child}/environ")).is_ok_and(|bytes| !bytes.is_empty());
    text.split_whitespace().filter_map(|word| word.parse().ok()).filter(running).collect()
}

/// Returns the numbers of open files and threads of a process.
pub fn held(id: u32) -> (usize, usize) {
    let count = |what: &str| fs::read_dir(format!("/proc/{id}/{what}")).map_or(0, Iterator::count);
    (count("fd"), count("task"))
}
